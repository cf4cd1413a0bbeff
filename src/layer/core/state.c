/* The layer's records by handle, its lock and its clock: see state.h. */
#include "layer/core/state.h"

#include <unistd.h>

void rs_layer_init_locks(rs_layer *layer)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&layer->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_mutex_init(&layer->changes.mutex, NULL);
    pthread_cond_init(&layer->changes.condition, NULL);
}

void rs_layer_init(rs_layer *layer)
{
    rs_layer_init_locks(layer);
    rs_layer_read_settings(layer);
    layer->loaded_at = rs_seconds_now();
    layer->generation = 1;
    layer->unseen = 1;
    layer->process = getpid();
}

void rs_layer_lock(rs_layer *layer) RS_LOCK_FUNCTION
{
    pthread_mutex_lock(&layer->mutex);
}

void rs_layer_unlock(rs_layer *layer) RS_LOCK_FUNCTION
{
    pthread_mutex_unlock(&layer->mutex);
}

rs_context *rs_context_find(rs_layer *layer, rs_group handle)
{
    return rs_map_get(&layer->contexts, handle);
}

rs_queue *rs_queue_find(rs_layer *layer, rs_stream handle)
{
    return rs_map_get(&layer->queues, handle);
}

rs_queue *rs_queue_of(rs_layer *layer, rs_stream handle) RS_LOCK_FUNCTION
{
    rs_queue *queue = rs_queue_find(layer, handle);
    if (queue != NULL || handle == NULL)
        return queue;
    rs_layer_unlock(layer);
    rs_queue_follow(layer, handle);
    rs_layer_lock(layer);
    return rs_queue_find(layer, handle);
}

void rs_layer_note_thread(rs_layer *layer)
{
    if (rs_layer_has_noted_thread(layer))
        return;
    layer->has_several_threads = layer->has_a_thread;
    if (!layer->has_a_thread)
        layer->first_thread = pthread_self();
    layer->has_a_thread = true;
}

rs_buffer *rs_buffer_find(rs_layer *layer, rs_allocation handle)
{
    return rs_map_get(&layer->buffers, handle);
}

rs_view *rs_view_find(rs_layer *layer, rs_allocation handle)
{
    return rs_map_get(&layer->views, handle);
}

rs_buffer *rs_buffer_behind(rs_layer *layer, rs_allocation handle)
{
    const rs_view *view = rs_view_find(layer, handle);
    return view != NULL ? view->parent : rs_buffer_find(layer, handle);
}

rs_kernel *rs_kernel_find(rs_layer *layer, void *handle)
{
    return rs_map_get(&layer->kernels, handle);
}
