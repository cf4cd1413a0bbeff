/*
 * An OpenCL layer that makes the device below it a GPU whose kernels take made-up times, so that
 * what is decided by measuring can be tested: the profiling times of a launch are those that
 * MADE_UP_TIMES gives for its kernel,
 *
 *     MADE_UP_TIMES="grow 100 20, aos_to_asta 50 50, asta_to_aos 50 50"
 *
 * in microseconds: of the first kernel of that name, and of any that has more arguments than the
 * first (a rewritten one). So much later it is then for a program that keeps such a clock
 * (made_up_clock.c). With MADE_UP_COMPILER its compiler is slow, calls the function that the
 * program gave to the last context, from a thread of its own, and ends with the program: the exit
 * status is then 3 if someone is still inside. It works for one at a time.
 *
 *     made_up_fault = "kernel 2 3"
 *
 * in a program that has this variable (no environment variable: other threads read those at any
 * time) makes the second and third call of a kind fail that come after it was set, until it is
 * NULL again. The kinds are buffer (clCreateBuffer), queue (clCreateCommandQueue),
 * migrate, kernel, marker, barrier, and run: a kernel that fails while it runs, and with it the
 * copies, reads and kernels that wait for its event.
 *
 * With MADE_UP_LAZY=1 the second queue begins when it is flushed for the first time, as any may,
 * and the third cannot be flushed, as one on the device.
 *
 * With MADE_UP_LAUNCHES=none a launch without an event does nothing, and with MADE_UP_CPU=1 the
 * device stays the kind that it is.
 *
 * Into the file that MADE_UP_TALLY names it writes at the end how many launches went to queues
 * with profiling, how many to others, and how many programs were built.
 *
 *     MADE_UP_MACRO=1
 *
 * lets the compiler predefine MADE_UP_MACRO, but not where it builds for a second device alone.
 *
 * Programs come from an intermediate language too, which is OpenCL C; a program of built-in kernels
 * has one that is called "twice"; and programs are linked with any options, which say nothing.
 *
 * Rectangles must lie in lines and slices that are all in the buffer. Everything else goes through.
 */
#ifndef RS_TESTS_MADE_UP_GPU_H
#define RS_TESTS_MADE_UP_GPU_H

#include <CL/cl_icd.h>
#include <stdbool.h>
#include <stddef.h>

/* What the layer below does. */
extern const cl_icd_dispatch *below;

/* Each file puts its functions into the table. */
void add_times(cl_icd_dispatch *table);
void add_faults(cl_icd_dispatch *table);
void add_queues(cl_icd_dispatch *table);
void add_rectangles(cl_icd_dispatch *table);
void add_compiler(cl_icd_dispatch *table);

/* A kernel was launched: its event, or NULL, gets the time. */
void take_time(cl_event event, cl_kernel kernel);

/* Whether this call of a kind is to fail. */
bool fails(const char *kind);

/* In place of a kernel that fails while it runs. */
cl_int enqueue_failure(cl_command_queue queue, cl_uint wait_count, const cl_event *wait_list,
                       cl_event *event);

/* After a command was enqueued: what waits for one that fails, fails too. Returns `error`. */
cl_int pass_on(cl_int error, cl_uint wait_count, const cl_event *wait_list, const cl_event *event);

/* Programs that were built so far. */
size_t count_builds(void);

#endif
