/*
 * How Restride reports errors.
 *
 * Every call that can fail returns a restride_status. When it is not RESTRIDE_OK,
 * restride_last_error() gives one sentence: what went wrong, where, and what to do. A failed call
 * that would have created an object stores NULL instead.
 *
 *     restride_layout *layout;
 *     restride_status status = restride_layout_parse(&layout, "i:64 f:5", "i/32 f");
 *     assert(status == RESTRIDE_SYNTAX && layout == NULL);
 *     puts(restride_status_name(status));   // RESTRIDE_SYNTAX
 *     puts(restride_last_error());          // At character 1 of the layout "i/32 f": the part ...
 */
#ifndef RESTRIDE_STATUS_H
#define RESTRIDE_STATUS_H

#if defined(__GNUC__)
#define RESTRIDE_API __attribute__((visibility("default")))
#else
#define RESTRIDE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are stable: new ones are added at the end. */
typedef enum {
    RESTRIDE_OK = 0,
    RESTRIDE_INVALID_ARGUMENT = 1, /* an argument breaks the rules its declaration states */
    RESTRIDE_SYNTAX = 2,           /* a layout, dimension list or annotation could not be parsed */
    RESTRIDE_OVERFLOW = 3,         /* a size does not fit in size_t */
    RESTRIDE_OUT_OF_MEMORY = 4,    /* host memory could not be allocated */
    RESTRIDE_UNSUPPORTED = 5,      /* valid, but no plan, engine or build here can do it */
    RESTRIDE_DEVICE_ERROR = 6,     /* an OpenCL or CUDA call failed */
    RESTRIDE_DEVICE_LIMIT =
        7,          /* the device has too little local memory, or another limit is too small */
    RESTRIDE_IO = 8 /* a file, pipe or process failed */
} restride_status;

/* The name of a status as it is written in C: "RESTRIDE_SYNTAX". Never NULL; a static string.
 * Thread-safe. Since 0.1. */
RESTRIDE_API const char *restride_status_name(restride_status status);

/* A status in plain English. Never NULL; a static string. Thread-safe. */
RESTRIDE_API const char *restride_status_string(restride_status status);

/* The sentence of the last call that failed in the calling thread, or "" when none has failed.
 * Valid until the next Restride call of that thread. Thread-safe. */
RESTRIDE_API const char *restride_last_error(void);

/* Stores a sentence for the calling thread and returns `status`, for the checks that a binding to
 * another language makes itself. Copies the first 1000 bytes. Thread-safe. Since 0.1. */
RESTRIDE_API restride_status restride_set_error(restride_status status, const char *sentence);

#ifdef __cplusplus
}
#endif
#endif
