/* Launches of every kernel of the program `calls`, once and again and again (calls.c). */
#include "calls.h"

#include <stdlib.h>
#include <time.h>

static void launch_part(cl_command_queue queue, cl_kernel kernel, size_t first, size_t count)
{
    cl_event event;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, &first, &count, NULL, wait_count(), wait_list(),
                                 &event));
    check(clFlush(queue));
    chain(event);
}

static void launch(cl_kernel kernel)
{
    launch_part(any_queue(), kernel, 0, cell_count);
}

static void model_bump(int b, cl_uint by, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        cell *c = &model[b][i];
        c->x += (float)by;
        c->v[by % 3] = c->x;
        c->n ^= by * 2654435761u;
        c->tag++;
    }
}

void do_bump(int b)
{
    cl_uint by = random_below(7);
    check(clSetKernelArg(bump, 0, sizeof(cl_mem), &buffers[b]));
    check(clSetKernelArg(bump, 1, sizeof by, &by));
    launch(bump);
    model_bump(b, by, 0, cell_count);
}

void do_join(int b)
{
    int from = (int)random_below(BUFFERS);
    check(clSetKernelArg(join, 0, sizeof(cl_mem), &buffers[b]));
    check(clSetKernelArg(join, 1, sizeof(cl_mem), &buffers[from]));
    launch(join);
    for (size_t i = 0; i < cell_count; i++) {
        model[b][i].n += model[from][i].n;
        model[b][i].v[1] = model[from][i].v[2];
    }
}

/* Two queues read one buffer at once, with nothing between them. */
void do_take(int b)
{
    cl_event events[QUEUES];
    uint32_t *got = malloc(cell_count * sizeof *got);
    check(clSetKernelArg(take, 0, sizeof(cl_mem), &buffers[b]));
    check(clSetKernelArg(take, 1, sizeof(cl_mem), &out));
    for (int i = 0; i < QUEUES; i++) {
        check(clEnqueueNDRangeKernel(queues[i], take, 1, NULL, &cell_count, NULL, wait_count(),
                                     wait_list(), &events[i]));
        check(clFlush(queues[i]));
    }
    check(clEnqueueReadBuffer(queues[0], out, CL_TRUE, 0, cell_count * sizeof *got, got, QUEUES,
                              events, NULL));
    for (size_t i = 0; i < cell_count; i++)
        if (got[i] != model[b][i].n + model[b][i].tag)
            fail("a sum differs", (long)i);
    cl_ulong time;
    cl_uint references;
    if (clGetEventProfilingInfo(events[0], CL_PROFILING_COMMAND_END, sizeof time, &time, NULL) !=
        CL_PROFILING_INFO_NOT_AVAILABLE)
        fail("a queue without profiling has times", 0);
    /* A driver may drop its own reference a moment after the event is complete. */
    references = 0;
    for (int i = 0; i < 60000 && references != 1; i++) {
        const struct timespec millisecond = {0, 1000000};
        if (i > 0)
            nanosleep(&millisecond, NULL);
        check(clFinish(queues[0]));
        check(clGetEventInfo(events[0], CL_EVENT_REFERENCE_COUNT, sizeof references, &references,
                             NULL));
    }
    if (references != 1)
        fail("an event has another number of references", (long)references);
    for (int i = 0; i < QUEUES; i++)
        clReleaseEvent(events[i]);
    free(got);
}

void do_words(int b)
{
    cl_uint by = random_below(1000);
    check(clSetKernelArg(words, 0, sizeof(cl_mem), &buffers[b]));
    check(clSetKernelArg(words, 1, sizeof by, &by));
    launch(words);
    for (size_t i = 0; i < cell_count; i++)
        model[b][i].n += by;
}

/* Low bits alone: what is a float elsewhere stays a number. */
void do_sweep(int b)
{
    cl_uint by = random_below(200), count = (cl_uint)cell_count;
    uint32_t *planes = (uint32_t *)model[b];
    check(clSetKernelArg(sweep, 0, sizeof(cl_mem), &buffers[b]));
    check(clSetKernelArg(sweep, 1, sizeof count, &count));
    check(clSetKernelArg(sweep, 2, sizeof by, &by));
    launch(sweep);
    for (uint32_t f = 0; f < sizeof(cell) / 4; f++)
        for (size_t i = 0; i < cell_count; i++)
            planes[f * cell_count + i] ^= (by + f) << f;
}

void do_both(int b)
{
    check(clSetKernelArg(both, 0, sizeof(cl_mem), &buffers[b]));
    check(clSetKernelArg(both, 1, sizeof(cl_mem), &buffers[b]));
    launch(both);
    for (size_t i = 0; i < cell_count; i++)
        model[b][i].tag = (uint8_t)model[b][i].n;
}

/* ---- launches that repeat ---- */

enum { VIEW_CELLS = VIEW_BYTES / sizeof(cell) };

/* The words of a view's cells, as `words` has them. */
static void bump_view(cl_command_queue queue, int b, cl_uint by)
{
    uint32_t *there = (uint32_t *)((uint8_t *)model[b] + VIEW_ORIGIN);
    check(clSetKernelArg(words, 0, sizeof(cl_mem), &views[b]));
    check(clSetKernelArg(words, 1, sizeof by, &by));
    launch_part(queue, words, 0, VIEW_CELLS);
    for (size_t i = 0; i < VIEW_CELLS; i++)
        there[i * 6 + 4] += by;
}

/* The driver refuses it, and nothing has changed. */
static void refuse_launch(cl_command_queue queue, cl_kernel kernel)
{
    const size_t too_large = (size_t)1 << 40;
    if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &cell_count, &too_large, wait_count(),
                               wait_list(), NULL) == CL_SUCCESS)
        fail("a work-group of 2^40 work-items was launched", 0);
}

/* A copy takes the place of the kernel. */
static void clone_bump(void)
{
    cl_int error;
    cl_kernel copy = clCloneKernel(bump, &error);
    if (error != CL_SUCCESS) /* the driver has none */
        return;
    check(clReleaseKernel(bump));
    bump = copy;
}

/* What comes between two launches on buffer *b that are alike otherwise: most often nothing. */
static void come_between(cl_command_queue queue, int *b)
{
    switch (random_below(24)) {
    case 0: /* another buffer, with the same kernel */
        *b = (int)random_below(BUFFERS);
        break;
    case 1: /* its handle may be the one of the buffer before */
        do_new_buffer(*b);
        break;
    case 2:
        refuse_launch(queue, bump);
        break;
    case 3:
        clone_bump();
        break;
    case 4: /* a view as well, whose handle may be that of an earlier one */
        settle();
        end_view(*b);
        make_view(*b);
        bump_view(queue, *b, 3);
        break;
    case 5:
        do_hold(*b);
        break;
    case 6:
        do_read(*b);
        break;
    case 7:
        do_write(*b);
        break;
    default: /* its arguments are set, and most programs set them again */
        if (random_below(2) == 0)
            return;
    }
    if (random_below(8) == 0)
        settle();
    check(clSetKernelArg(bump, 0, sizeof(cl_mem), &buffers[*b]));
}

/* One kernel again and again, on one queue and mostly on one buffer. */
void do_again(int b)
{
    const int i = (int)random_below(QUEUES);
    const uint32_t times = 2 + random_below(10);
    cl_uint by = random_below(7);
    for (uint32_t n = 0; n < times; n++) {
        const size_t first = random_below(4) == 0 ? random_below((uint32_t)cell_count) : 0;
        if (n > 0)
            come_between(queues[i], &b);
        else
            check(clSetKernelArg(bump, 0, sizeof(cl_mem), &buffers[b]));
        if (n == 0 || random_below(2) == 0) {
            by = random_below(7);
            check(clSetKernelArg(bump, 1, sizeof by, &by));
        }
        launch_part(queues[i], bump, first, cell_count - first);
        model_bump(b, by, first, cell_count - first);
    }
}
