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

/* Allocates `bytes` of host memory that is pinned for the engine's device. The engine must outlive
 * it. RESTRIDE_UNSUPPORTED: a host engine, which needs none. Thread-safe. */
RESTRIDE_API restride_status restride_host_memory_create(restride_host_memory **memory,
                                                         restride_engine *engine, size_t bytes);

/* The address of pinned memory, valid until it is destroyed. */
RESTRIDE_API void *restride_host_memory_pointer(const restride_host_memory *memory);

/* Frees pinned memory, in which nothing may be under way; NULL is allowed. */
RESTRIDE_API void restride_host_memory_destroy(restride_host_memory *memory);

/* ---- a matrix in host memory, transposed through the device ---- */

/* What runs at the same time. */
typedef enum {
    RESTRIDE_OVERLAP_CHOOSE = 0, /* RESTRIDE_OVERLAP_BOTH where it suits the shape */
    /* Nothing: the matrix goes to the device, is transposed there, and comes back. */
    RESTRIDE_OVERLAP_NONE = 1,
    /* The last stages overlap with the way back. After the first stage the matrix consists of
     * parts, which are finished and copied back one after the other (Sung 2014, section 6, figure
     * 5). */
    RESTRIDE_OVERLAP_BACK = 2,
    /* Both ways overlap. Panels of columns arrive as parts of their own, so the copy does the first
     * stage. A part is sent back once the data that lay in its place have been read. */
    RESTRIDE_OVERLAP_BOTH = 3
} restride_overlap;

/* All zero: everything is chosen. */
typedef struct {
    restride_overlap overlap;
    size_t parts; /* that are under way by themselves (Q in the paper); the shape may want fewer */
} restride_offload_options;

typedef struct restride_offload restride_offload;

/*
 * Prepares the in-place transposition of a row-major matrix in host memory through a device. The
 * object keeps device memory as large as the matrix, and the memory of its plans. The engine must
 * outlive it. `options` may be NULL. RESTRIDE_UNSUPPORTED: a host engine, or no plan for this
 * overlap or shape on the device.
 */
RESTRIDE_API restride_status restride_offload_transpose(restride_offload **offload,
                                                        restride_engine *engine, size_t rows,
                                                        size_t cols, size_t elem_size,
                                                        const restride_offload_options *options);

/* Transposes the matrix and returns when that is done. After an error the sentence ends with the
 * state of the matrix: unchanged, or undefined when a device failed while results came back. An
 * object has one run at a time. */
RESTRIDE_API restride_status restride_offload_run(restride_offload *offload, void *matrix);

/* The number of parts of an offload, and how they overlap. */
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
 * Prepares transfers of an array that has layout `host` in host memory and layout `device` on the
 * device. Both must be AoS or ASTA of the same dimensions; others are RESTRIDE_UNSUPPORTED. The
 * elements are a record, or have `elem_size` bytes.
 *
 * The array travels in chunks of whole tiles. Each is converted in staging memory on the device
 * while the next ones travel. (Tseng 2014 does this in hardware.) The object keeps four chunks on
 * the device, and four on the host unless the host array is pinned. The engine must outlive it; the
 * layouts need not.
 */
RESTRIDE_API restride_status restride_transfer_create(
    restride_transfer **transfer, restride_engine *engine, const restride_layout *host,
    const restride_layout *device, size_t elem_size, const restride_transfer_options *options);

/* Copies an array from host to device and converts it. `buffer` is what restride_execute() takes.
 * Returns when the array is there. After an error the sentence ends with the state of the buffer:
 * unchanged or undefined. An object has one transfer at a time. */
RESTRIDE_API restride_status restride_transfer_upload(restride_transfer *transfer, void *buffer,
                                                      const void *array);

/* Copies an array from device to host and converts it; the buffer stays as it is. After an error
 * the sentence ends with the state of the host array. */
RESTRIDE_API restride_status restride_transfer_download(restride_transfer *transfer, void *array,
                                                        void *buffer);

/* The bytes of the array, and the device memory that a transfer keeps. */
RESTRIDE_API size_t restride_transfer_bytes(const restride_transfer *transfer);
RESTRIDE_API size_t restride_transfer_staging_bytes(const restride_transfer *transfer);

/* Frees a transfer that is not running; NULL is allowed. */
RESTRIDE_API void restride_transfer_destroy(restride_transfer *transfer);

#ifdef __cplusplus
}
#endif
#endif
