/* The layer's records by handle, its lock and its clock: see state.h. */
#include "layer/core/state.h"

#include <time.h>

rs_layer rs_the_layer;

static pthread_mutex_t layer_mutex;

void rs_layer_init_lock(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&layer_mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void rs_layer_lock(void)
{
    pthread_mutex_lock(&layer_mutex);
}

void rs_layer_unlock(void)
{
    pthread_mutex_unlock(&layer_mutex);
}

rs_context *rs_context_find(rs_group handle)
{
    return rs_map_get(&rs_the_layer.contexts, handle);
}

rs_queue *rs_queue_find(rs_stream handle)
{
    return rs_map_get(&rs_the_layer.queues, handle);
}

rs_buffer *rs_buffer_find(rs_allocation handle)
{
    return rs_map_get(&rs_the_layer.buffers, handle);
}

rs_view *rs_view_find(rs_allocation handle)
{
    return rs_map_get(&rs_the_layer.views, handle);
}

rs_buffer *rs_buffer_behind(rs_allocation handle)
{
    const rs_view *view = rs_view_find(handle);
    return view != NULL ? view->parent : rs_buffer_find(handle);
}

rs_program *rs_program_find(void *handle)
{
    return rs_map_get(&rs_the_layer.programs, handle);
}

rs_kernel *rs_kernel_find(void *handle)
{
    return rs_map_get(&rs_the_layer.kernels, handle);
}

double rs_layer_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const rs_target *rs_kernel_target(const rs_kernel *kernel, size_t index)
{
    for (size_t i = 0; i < kernel->target_count; i++)
        if (kernel->targets[i].index == index)
            return &kernel->targets[i];
    return NULL;
}
