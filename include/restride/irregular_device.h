/*
 * Irregular references on a device: plans made and applied where the index array and the data are.
 *
 * Two methods of restride/irregular.h run on a device and give the same plans as on the host, in
 * milliseconds where the host takes seconds. Buffers are what restride_execute() of the engine
 * takes: a cl_mem, or a CUdeviceptr cast to a pointer.
 *
 *     restride_reference a = {P, sizeof(uint32_t), 1000, sizeof(float)};   // P: a buffer
 *     restride_launch launch = {64, 32, 32};
 *     restride_irregular_device *plan;
 *     restride_status status = restride_irregular_device_plan(&plan, engine, &launch, &a, NULL);
 *     assert(status == RESTRIDE_OK);
 *     assert(restride_irregular_device_slots(plan) == 1000);   // objects of the buffer `slots`
 *     status = restride_irregular_device_gather(plan, A, slots);
 *     assert(status == RESTRIDE_OK);
 *     void *new_P = restride_irregular_device_index(plan);   // thread t reads slots[new_P[t]]
 *     void *order = restride_irregular_device_order(plan);   // and does the work of order[t]
 *     assert(new_P != NULL && order != NULL);
 *     restride_irregular_device_destroy(plan);
 */
#ifndef RESTRIDE_IRREGULAR_DEVICE_H
#define RESTRIDE_IRREGULAR_DEVICE_H

#include "restride/engine.h"
#include "restride/irregular.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A plan. It never changes, so any number of threads may use it at once. */
typedef struct restride_irregular_device restride_irregular_device;

/*
 * Makes a plan on a device, by APPROXIMATION or DUPLICATION. AUTO takes APPROXIMATION, or
 * DUPLICATION when threads must stay. `reference->index` is a buffer, which is read and not kept.
 * `options` may be NULL; its `processors` is ignored. The engine must outlive the plan, which the
 * caller destroys.
 *
 * Takes about 20 bytes a thread and 60 bytes an object of device memory. The plan keeps 8 and 4 of
 * them.
 *
 * Errors are those of restride_irregular_plan() and these. RESTRIDE_UNSUPPORTED: another method,
 * 2^32 threads or objects, or a host engine. RESTRIDE_DEVICE_LIMIT: the device's groups are too
 * small. RESTRIDE_DEVICE_ERROR: a call of the device failed.
 */
RESTRIDE_API restride_status restride_irregular_device_plan(
    restride_irregular_device **plan, restride_engine *engine, const restride_launch *launch,
    const restride_reference *reference, const restride_irregular_options *options);

/* Frees a plan; NULL is allowed. */
RESTRIDE_API void restride_irregular_device_destroy(restride_irregular_device *plan);

/* The method of a plan and its facts, like restride_irregular_plan_method() and
 * restride_irregular_plan_facts(). */
RESTRIDE_API restride_irregular_method
restride_irregular_device_method(const restride_irregular_device *plan);
RESTRIDE_API restride_irregular_facts
restride_irregular_device_facts(const restride_irregular_device *plan);

/* The number of slots, each as large as an object. */
RESTRIDE_API size_t restride_irregular_device_slots(const restride_irregular_device *plan);

/* Two buffers of a plan, each with launch.threads unsigned integers of 4 bytes. The index names the
 * slot that a new thread reads. The order names the thread whose work it does, or is NULL where
 * threads stay. */
RESTRIDE_API void *restride_irregular_device_index(const restride_irregular_device *plan);
RESTRIDE_API void *restride_irregular_device_order(const restride_irregular_device *plan);

/*
 * Fill the slots from the array, or the array from the slots. The second is for kernels that write
 * what they read; it is RESTRIDE_UNSUPPORTED where objects have several slots. The two buffers must
 * be different. The slots' buffer holds restride_irregular_device_slots() objects. Both return when
 * the work is done.
 */
RESTRIDE_API restride_status restride_irregular_device_gather(const restride_irregular_device *plan,
                                                              void *array, void *slots);
RESTRIDE_API restride_status
restride_irregular_device_scatter(const restride_irregular_device *plan, void *slots, void *array);

#ifdef __cplusplus
}
#endif
#endif
