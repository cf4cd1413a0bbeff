/*
 * Functions of OpenCL that count, fail on demand and pass the call on. They are the program's own,
 * so the library finds these before the loader's; such a program exports its symbols.
 */
#ifndef RS_TESTS_ENGINE_OPENCL_CALLS_H
#define RS_TESTS_ENGINE_OPENCL_CALLS_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

/* False when there is no loader. */
bool opencl_calls_open(void);

/* From now on the call of that number fails with `code`; 0: none. Calls of `function` are counted
 * alone; NULL: all calls that may fail. */
void opencl_calls_fail_at(size_t number, const char *function, cl_int code);

/* Since then: how many calls there were, and the function that failed, or NULL. */
size_t opencl_calls_count(void);
const char *opencl_calls_failed(void);

/* Objects that were created and not released. */
long opencl_calls_alive(void);

#endif
