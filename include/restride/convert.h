/*
 * Conversion of an array between two layouts in its own memory, in one call.
 *
 *     struct body { float x; double m; } bodies[1003] = {{0}};
 *     bodies[1002].m = 7;
 *     restride_status status =
 *         restride_convert(bodies, "i:1003 f{ float x; double m; }", "i f", "f i");
 *     assert(status == RESTRIDE_OK);
 *     const double *m = (const double *)(void *)bodies + 1003;   // behind x and its padding
 *     assert(m[1002] == 7);
 *
 * Three tiers: restride_convert() plans and runs; restride_convert_with() has an engine that keeps
 * its plans; restride_plan_convert_with() in restride/plan.h takes options and makes a plan that
 * tells what it costs. restride/layout.h has the words for arrays and layouts.
 */
#ifndef RESTRIDE_CONVERT_H
#define RESTRIDE_CONVERT_H

#include "restride/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Converts an array in host memory from layout `from` to layout `to`, in place, on all processors.
 * `dimensions` says how large the elements are: with a record, "i:1003 f{ float x; double m; }", or
 * with a type behind them, "y:64 x:64 float". The array has as many bytes as the larger of both
 * layouts (restride_layout_bytes()); no alignment is needed. Scratch memory: as
 * restride_transpose().
 *
 * After any error the array is unchanged, and the sentence ends with that: RESTRIDE_SYNTAX,
 * RESTRIDE_INVALID_ARGUMENT, RESTRIDE_OVERFLOW, RESTRIDE_UNSUPPORTED where the size of the elements
 * is missing, RESTRIDE_OUT_OF_MEMORY. Thread-safe on different arrays. Since 0.1.
 */
RESTRIDE_API restride_status restride_convert(void *array, const char *dimensions, const char *from,
                                              const char *to);

/*
 * The same with the engine's threads, or on its device: `array` is what restride_execute() takes.
 * The engine keeps the last eight plans of such calls, so the same words again need no planning;
 * restride_engine_forget_plans() frees them. NULL: an engine of the host for this call alone.
 *
 * `bytes` is the size of the array, checked before anything moves: RESTRIDE_INVALID_ARGUMENT unless
 * it is what the dimensions say, the larger of both layouts; SIZE_MAX: not checked. After an error
 * the sentence ends with what is left of the array; with the engine of the host it is unchanged.
 * Thread-safe on different arrays. Since 0.1.
 */
RESTRIDE_API restride_status restride_convert_with(restride_engine *engine, void *array,
                                                   size_t bytes, const char *dimensions,
                                                   const char *from, const char *to);

#ifdef __cplusplus
}
#endif
#endif
