/* What the files of the emulated CUDA driver share. */
#ifndef RS_TESTS_CUDA_DRIVER_H
#define RS_TESTS_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int result;
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, UNKNOWN = 999 };

#define MAY_FAIL()                                                                                 \
    if (emulated_fails(__func__))                                                                  \
    return UNKNOWN

#define EXPORT __attribute__((visibility("default"))) result

/* Writes the call to the log; whether it is to fail. */
bool emulated_fails(const char *name);

/* Ends the program when something was written beside a piece of memory. */
void emulated_check_memory(void);

#endif
