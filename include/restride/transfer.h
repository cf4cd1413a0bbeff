/*
 * Data in host memory that a device converts: on the way to the device and back, or both in one
 * call. For the OpenCL and the CUDA engine.
 *
 *     restride_offload *offload;   // a matrix in host memory, in place
 *     restride_status status =
 *         restride_offload_transpose(&offload, engine, 300, 200, sizeof(float), NULL);
 *     assert(status == RESTRIDE_OK && restride_offload_run(offload, matrix) == RESTRIDE_OK);
 *     restride_offload_destroy(offload);
 *
 *     restride_transfer *transfer; // AoS here, ASTA in a buffer of the device
 *     status = restride_transfer_create(&transfer, engine, aos, asta, 0, NULL);
 *     assert(status == RESTRIDE_OK);
 *     status = restride_transfer_upload(transfer, buffer, array);
 *     assert(status == RESTRIDE_OK);
 *     status = restride_transfer_download(transfer, array, buffer);   // and back
 *     assert(status == RESTRIDE_OK);
 *     restride_transfer_destroy(transfer);
 *
 * Host memory goes over the bus at full speed, and beside other work, only where the device may
 * read it by itself: restride_host_memory_create() allocates such pinned memory.
 */
#ifndef RESTRIDE_TRANSFER_H
#define RESTRIDE_TRANSFER_H

#include "restride/engine.h"
#include "restride/layout.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pinned memory ---- */

typedef struct restride_host_memory restride_host_memory;

/* `bytes` of host memory pinned for the engine's device. The engine must outlive it.
 * RESTRIDE_UNSUPPORTED for the host engine, which needs none. Thread-safe. */
RESTRIDE_API restride_status restride_host_memory_create(restride_host_memory **memory,
                                                         restride_engine *engine, size_t bytes);

/* Where it begins; valid until it is destroyed. */
RESTRIDE_API void *restride_host_memory_pointer(const restride_host_memory *memory);

/* Frees pinned memory, in which nothing may be under way; NULL is allowed. */
RESTRIDE_API void restride_host_memory_destroy(restride_host_memory *memory);

/* ---- a matrix in host memory, transposed through the device ---- */

/* What runs at the same time. */
typedef enum {
    RESTRIDE_OVERLAP_CHOOSE = 0, /* RESTRIDE_OVERLAP_BOTH where it suits the shape */
    /* Nothing: the matrix goes to the device, is transposed there, and comes back. */
    RESTRIDE_OVERLAP_NONE = 1,
    /* The last stages with the way back (Sung 2014, section 6, figure 5): after the first stage the
     * matrix consists of parts that are finished and copied back one after the other. */
    RESTRIDE_OVERLAP_BACK = 2,
    /* Both ways with each other: panels of columns arrive as parts of their own, so that the first
     * stage is done by the copy, and a part is sent back as soon as what lay in its place has been
     * read. */
    RESTRIDE_OVERLAP_BOTH = 3
} restride_overlap;

/* All zero: everything is chosen. */
typedef struct {
    restride_overlap overlap;
    size_t parts; /* that are under way by themselves (Q in the paper); the shape may want fewer */
} restride_offload_options;

typedef struct restride_offload restride_offload;

/*
 * Prepares the transposition of a rows x cols row-major matrix of `elem_size`-byte elements in host
 * memory, in place. The object keeps device memory as large as the matrix, and what the plans of
 * its parts take. The engine must outlive it. `options` may be NULL. RESTRIDE_UNSUPPORTED for the
 * host engine, and where an overlap or a shape has no plan on this device.
 */
RESTRIDE_API restride_status restride_offload_transpose(restride_offload **offload,
                                                        restride_engine *engine, size_t rows,
                                                        size_t cols, size_t elem_size,
                                                        const restride_offload_options *options);

/*
 * Transposes the matrix and returns when that is done. After an error the sentence ends with what
 * is left of the matrix: it is unchanged, or its content is undefined, when a device failed while
 * results were on their way back. One run of an object at a time.
 */
RESTRIDE_API restride_status restride_offload_run(restride_offload *offload, void *matrix);

/* The parts that are used, and how they overlap. */
RESTRIDE_API size_t restride_offload_parts(const restride_offload *offload);
RESTRIDE_API restride_overlap restride_offload_overlap(const restride_offload *offload);

/* Frees an offload that is not running; NULL is allowed. */
RESTRIDE_API void restride_offload_destroy(restride_offload *offload);

/* ---- transform on transfer ---- */

/* All zero: everything is chosen. */
typedef struct {
    /* Not 0: the host array is pinned, and copied without a stop in staging memory. */
    int pinned;
    size_t chunk_bytes; /* that travel at once, about; 0: 4 to 128 MiB */
} restride_transfer_options;

typedef struct restride_transfer restride_transfer;

/*
 * Prepares transfers of an array that has layout `host` in host memory and `device` in the device's
 * memory. Both are AoS or ASTA of the same dimensions, a record or else elements of `elem_size`
 * bytes: their tiles are contiguous, so the array is cut into chunks of whole tiles that are
 * converted in staging memory on the device while the next ones travel (in software what Tseng 2014
 * does in hardware). Other layouts are RESTRIDE_UNSUPPORTED: copy, and convert on the device.
 *
 * The object keeps four chunks of staging memory on the device and, unless the host array is
 * pinned, four on the host. The engine must outlive it, the layouts need not.
 */
RESTRIDE_API restride_status restride_transfer_create(
    restride_transfer **transfer, restride_engine *engine, const restride_layout *host,
    const restride_layout *device, size_t elem_size, const restride_transfer_options *options);

/* From host to device; `buffer` is what restride_execute() takes. Returns when the array is there.
 * After an error the sentence ends with what is left of the buffer: it is unchanged, or its content
 * is undefined. One transfer of an object at a time. */
RESTRIDE_API restride_status restride_transfer_upload(restride_transfer *transfer, void *buffer,
                                                      const void *array);

/* From device to host; the buffer stays as it is. After an error the sentence ends with
 * what is left of the array. */
RESTRIDE_API restride_status restride_transfer_download(restride_transfer *transfer, void *array,
                                                        void *buffer);

/* Bytes of the array; and device memory that the object keeps. */
RESTRIDE_API size_t restride_transfer_bytes(const restride_transfer *transfer);
RESTRIDE_API size_t restride_transfer_staging_bytes(const restride_transfer *transfer);

/* Frees a transfer that is not running; NULL is allowed. */
RESTRIDE_API void restride_transfer_destroy(restride_transfer *transfer);

#ifdef __cplusplus
}
#endif
#endif
