/*
 * The core of the layer: where each buffer's bytes lie, which launches gain by another layout, and
 * the conversions between a program's commands. It names no API. What an API has to supply are the
 * functions of this header and of converter.h; layer/opencl has them for OpenCL.
 *
 *     opencl/   the calls of a program: commands, kernels, programs, queues, buffers
 *        |
 *     core/     choice -> knowledge -> policy       which form of a kernel a launch uses
 *        |      parts -> coherence -> device_layouts   buffers, conversions, order between commands
 *        |      process_exit, report, timing, events
 *        v
 *     api.h, converter.h   what the core asks of the API:  <- opencl/api.c, opencl/converter.c
 *
 * The words fit OpenCL and CUDA:
 *   stream  an OpenCL queue or a CUDA stream: commands in order, or (OpenCL) in any order
 *   event   completes with a command; one reference is held by whoever keeps it
 *   memory  a buffer, or an allocation by its first address. Interior pointers and sub-buffers are
 *           found by the API's side, which hands the core the record of the whole and a range.
 *           Pinned, managed and host memory never leaves the program's layout:
 *           rs_buffer.kept_reason.
 *   group   what shares memory and streams: a context
 *
 * A layer (rs_layer in state.h) is the context of all of this. The API's side makes one when it is
 * loaded; each record of the core leads to the layer that it is of.
 *
 * Errors are the API's own numbers; 0 is success in both. Handles are compared and handed back,
 * never looked into. The functions take no lock of the layer and are called with it, but those that
 * say otherwise.
 */
#ifndef RS_LAYER_API_H
#define RS_LAYER_API_H

#include "layer/core/locks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *rs_event;
typedef void *rs_stream;
typedef void *rs_allocation;
typedef void *rs_device;
typedef void *rs_group;

/* The errors that a program gets for commands that the layer cannot let through. */
extern const int rs_api_lost;      /* the buffer's content, or what a conversion needs */
extern const int rs_api_no_memory; /* on the host */
extern const char rs_api_lost_name[];

/* Notes an error of the API for restride_last_error(), by its name. */
void rs_api_fail(int error, const char *what);

/* ---- events ---- */

void rs_api_event_retain(rs_event event);
void rs_api_event_release(rs_event event);

/* 0: complete; more: not yet; less: the command has failed, and how. */
int rs_api_event_status(rs_event event);

/* Waits for it. Called without the lock. */
int rs_api_event_wait(rs_event event) RS_UNLOCKED;

/* Calls the function once it is complete or has failed, from any thread, which may be this one. If
 * that cannot be, it is never called. Called without the lock. */
void rs_api_event_notify(rs_event event, void (*function)(void *data), void *data) RS_UNLOCKED;

/* When the command of `first` began and that of `last` ended, in nanoseconds of one clock; false
 * where that is not known. */
bool rs_api_event_times(rs_event first, rs_event last, uint64_t *start, uint64_t *end);

/* ---- streams ---- */

/* A new stream, in order; 0 or an error. */
int rs_api_stream_open(rs_group group, rs_device device, rs_stream *stream);

/* Its commands go on. */
void rs_api_stream_close(rs_stream stream);

/* Hands over all commands so far. */
int rs_api_stream_flush(rs_stream stream);
void rs_api_stream_finish(rs_stream stream);

/* An event that completes after everything given to the stream so far. */
int rs_api_stream_mark(rs_stream stream, rs_event *event);

/* ---- memory, groups, devices ---- */

/* Memory that the host may access as the program may access another buffer. NULL: there is
 * none. Commands that are under way keep what was released. */
rs_allocation rs_api_memory_create(rs_group group, size_t bytes, rs_allocation like) RS_LOCKED;
void rs_api_memory_release(rs_allocation memory);

/* All its bytes, in a stream that has finished: 0 or an error. */
int rs_api_memory_read(rs_stream stream, rs_allocation memory, size_t bytes, void *to) RS_LOCKED;
int rs_api_memory_write(rs_stream stream, rs_allocation memory, size_t bytes,
                        const void *from) RS_LOCKED;

bool rs_api_group_retain(rs_group group);
void rs_api_group_release(rs_group group);

/* As the driver says it; the caller frees it. NULL when it cannot be had. */
char *rs_api_device_name(rs_device device);
bool rs_api_device_is_cpu(rs_device device);

#endif
