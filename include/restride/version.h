/*
 * The version of these headers, and of the library that a program runs with.
 *
 *     #if RESTRIDE_VERSION < 100                    // 0.1.0
 *     #error "This program needs Restride 0.1 or newer."
 *     #endif
 *     printf("built with %s, running with %s\n", RESTRIDE_VERSION_STRING,
 *            restride_version_string());
 *     assert(restride_version() >= RESTRIDE_VERSION);
 *
 * Before 1.0 a new minor version may change the interface; the shared library's name
 * (librestride.so.0) changes with the major version.
 */
#ifndef RESTRIDE_VERSION_H
#define RESTRIDE_VERSION_H

#include "restride/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The build and the packages read these three. */
#define RESTRIDE_VERSION_MAJOR 0
#define RESTRIDE_VERSION_MINOR 1
#define RESTRIDE_VERSION_PATCH 0

/* One number for comparisons: major x 10000 + minor x 100 + patch. */
#define RESTRIDE_VERSION                                                                           \
    (RESTRIDE_VERSION_MAJOR * 10000 + RESTRIDE_VERSION_MINOR * 100 + RESTRIDE_VERSION_PATCH)

#define RESTRIDE_VERSION_TEXT_(x) #x
#define RESTRIDE_VERSION_TEXT(x) RESTRIDE_VERSION_TEXT_(x)

/* "0.1.0" */
#define RESTRIDE_VERSION_STRING                                                                    \
    RESTRIDE_VERSION_TEXT(RESTRIDE_VERSION_MAJOR)                                                  \
    "." RESTRIDE_VERSION_TEXT(RESTRIDE_VERSION_MINOR) "." RESTRIDE_VERSION_TEXT(                   \
        RESTRIDE_VERSION_PATCH)

/* The version of the library that runs, as RESTRIDE_VERSION and RESTRIDE_VERSION_STRING give that
 * of the headers. Thread-safe. Since 0.1. */
RESTRIDE_API int restride_version(void);
RESTRIDE_API const char *restride_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
