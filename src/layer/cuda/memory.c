/*
 * Memory: allocations by their addresses, and the commands that name addresses.
 *
 * An array is a whole allocation, of which a kernel's argument names a record: the first, or one in
 * the middle, such as a piece that an allocator hands out. So nothing needs to be known of what a
 * kernel reaches from there, in either direction. An address inside a record stays in the program's
 * layout; whenever one is used, so does the whole. Memory that
 * no record stands for is never converted: of the host, mapped from elsewhere, of modules, of
 * arrays for textures, of other processes.
 *
 * A call that names an address of an allocation has it in the program's layout. What is all
 * replaced needs no conversion.
 */
#include "base/list.h"
#include "layer/core/buffer.h"
#include "layer/core/events.h"
#include "layer/core/restore.h"
#include "layer/cuda/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- allocations by address ---- */

static uintptr_t first_of(const rs_cuda_buffer *buffer)
{
    return (uintptr_t)buffer->core.handle;
}

/* How many allocations begin at the address or below. */
static size_t count_below(uintptr_t address) RS_LOCKED
{
    size_t low = 0, high = rs_cuda.memory.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (first_of(rs_cuda.memory.all[middle]) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

rs_cuda_buffer *rs_cuda_buffer_at(uintptr_t address)
{
    const size_t below = count_below(address);
    rs_cuda_buffer *buffer = below > 0 ? rs_cuda.memory.all[below - 1] : NULL;
    return buffer != NULL && address - first_of(buffer) < buffer->core.size ? buffer : NULL;
}

static bool add_place(rs_cuda_buffer *buffer) RS_LOCKED
{
    if (!RS_LIST_GROW(rs_cuda.memory.all, rs_cuda.memory.count))
        return false;
    const size_t below = count_below(first_of(buffer));
    rs_cuda_buffer **place = rs_cuda.memory.all + below;
    memmove(place + 1, place, (rs_cuda.memory.count - below) * sizeof *place);
    *place = buffer;
    rs_cuda.memory.count++;
    return true;
}

static void remove_place(const rs_cuda_buffer *buffer) RS_LOCKED
{
    const size_t below = count_below(first_of(buffer));
    rs_cuda_buffer **place = rs_cuda.memory.all + below - 1;
    memmove(place, place + 1, (rs_cuda.memory.count - below) * sizeof *place);
    rs_cuda.memory.count--;
}

/* Without a record it is never converted. */
static bool add_buffer(rs_cuda_buffer *buffer) RS_LOCKED
{
    if (!add_place(buffer))
        return false;
    if (!rs_map_set(&rs_the_layer()->buffers, buffer->core.handle, buffer)) {
        remove_place(buffer);
        return false;
    }
    rs_the_layer()->generation++;
    return true;
}

/* Takes the record out: the memory's content ends, in whatever layout. */
static rs_cuda_buffer *take_out(uintptr_t address) RS_LOCKED
{
    rs_cuda_buffer *buffer = rs_map_remove(&rs_the_layer()->buffers, (const void *)address);
    if (buffer == NULL)
        return NULL;
    remove_place(buffer);
    buffer->core.blank = 0; /* it may come back */
    buffer->core.context->buffer_count--;
    rs_the_layer()->generation++;
    return buffer;
}

static void forget(rs_cuda_buffer *buffer) RS_LOCKED
{
    rs_buffer_forget(&buffer->core);
    free(buffer);
}

/* A record that is left where new memory lies is of memory whose release was not seen. */
static void drop_stale(uintptr_t address, size_t size) RS_LOCKED
{
    for (size_t below = count_below(address + size - 1); below > 0;
         below = count_below(address + size - 1)) {
        const rs_cuda_buffer *stale = rs_cuda.memory.all[below - 1];
        if (first_of(stale) + stale->core.size <= address)
            return;
        forget(take_out(first_of(stale)));
    }
}

static void new_buffer(uintptr_t address, size_t size, const char *kept) RS_LOCKED
{
    rs_context *context = rs_cuda_current_context();
    rs_cuda_buffer *buffer = context != NULL ? calloc(1, sizeof *buffer) : NULL;
    if (buffer == NULL || address == 0 || size == 0 || rs_cuda.captures > 0) {
        free(buffer);
        return;
    }
    drop_stale(address, size);
    buffer->core = (rs_buffer){.handle = (rs_allocation)address,
                               .references = 1,
                               .context = context,
                               .size = size,
                               .kept_reason = kept};
    if (!add_buffer(buffer)) {
        free(buffer);
        return;
    }
    context->buffer_count++;
    rs_buffer_set_blank(&buffer->core);
}

static const char managed[] = "the memory is managed: the host may use it at any time";

/* Pools may have memory of the host, or managed memory. NULL: it is the device's own. */
static const char *why_pooled_stays(uintptr_t address)
{
    enum { MEMORY_TYPE = 2, IS_MANAGED = 8 };
    uint64_t type = 0, is_managed = 0;
    if (rs_cuda.more.cuPointerGetAttribute == NULL ||
        rs_cuda.more.cuPointerGetAttribute(&type, MEMORY_TYPE, address) != RS_CUDA_SUCCESS ||
        rs_cuda.more.cuPointerGetAttribute(&is_managed, IS_MANAGED, address) != RS_CUDA_SUCCESS)
        return "the driver does not say whether the host may use the memory";
    if (is_managed != 0)
        return managed;
    return type == RS_CUDA_MEMORY_DEVICE ? NULL : "the memory is the host's";
}

static rs_word allocate(const rs_entry *entry, const rs_word *w, const char *kept)
{
    const rs_word result = rs_entry_call(entry, w);
    const uintptr_t *address = (const uintptr_t *)w[0];
    if ((rs_cuda_result)result != RS_CUDA_SUCCESS || address == NULL || rs_cuda_is_frozen())
        return result;
    if (entry->kind->stream >= 0)
        kept = why_pooled_stays(*address);
    rs_layer_lock(rs_the_layer());
    new_buffer(*address, w[entry->kind->bytes], kept);
    rs_layer_unlock(rs_the_layer());
    rs_cuda_is_frozen();
    return result;
}

rs_word rs_follow_allocate(const rs_entry *entry, rs_word *w)
{
    return allocate(entry, w, NULL);
}

rs_word rs_follow_allocate_kept(const rs_entry *entry, rs_word *w)
{
    return allocate(entry, w, managed);
}

/* ---- releases ---- */

/* The driver waits for commands that use the memory, but a conversion may be one that it does not
 * know to be one. A release that it refuses leaves the memory: without a record it must be as the
 * program has it. */
rs_word rs_follow_free(const rs_entry *entry, rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    if (rs_cuda_is_frozen())
        return rs_entry_call(entry, w);
    rs_layer_lock(layer);
    rs_cuda_buffer *buffer = take_out(w[0]);
    rs_event ready = buffer != NULL ? buffer->core.ready : NULL;
    if (ready != NULL)
        rs_api_event_retain(ready);
    rs_layer_unlock(layer);
    if (ready != NULL) {
        rs_api_event_wait(ready);
        rs_api_event_release(ready);
    }
    const rs_word result = rs_entry_call(entry, w);
    if (buffer == NULL)
        return result;
    rs_layer_lock(layer);
    if ((rs_cuda_result)result != RS_CUDA_SUCCESS && add_buffer(buffer))
        buffer->core.context->buffer_count++;
    else
        forget(buffer);
    rs_layer_unlock(layer);
    return result;
}

/* In a stream, behind the last conversion. */
rs_word rs_follow_free_later(const rs_entry *entry, rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    rs_command command;
    if (rs_cuda_is_frozen())
        return rs_entry_call(entry, w);
    rs_layer_lock(layer);
    rs_cuda_queue *queue = rs_cuda_queue_of(w[entry->kind->stream], entry->is_per_thread);
    rs_cuda_buffer *buffer = (rs_cuda_buffer *)rs_buffer_find(layer, (rs_allocation)w[0]);
    if (queue == NULL || buffer == NULL)
        return rs_cuda_pass(entry, w);
    rs_command_start(&command, layer, &queue->core, queue, 0, NULL);
    if (rs_cuda.captures == 0) /* else all conversions are over */
        rs_command_touch(&command, &buffer->core);
    const rs_word result =
        rs_cuda_apply_waits(&command) != 0 ? (rs_word)rs_api_lost : rs_entry_call(entry, w);
    if ((rs_cuda_result)result == RS_CUDA_SUCCESS)
        forget(take_out(w[0]));
    rs_command_end(&command);
    return result;
}

/* ---- copies ---- */

enum { MOST_POINTERS = 2 };

/* Whether the call replaces all bytes of the memory that its first address names. */
static bool replaces_all(const rs_entry *entry, const rs_word *w, const rs_cuda_buffer *buffer,
                         const rs_cuda_buffer *other)
{
    return entry->kind->bytes >= 0 && buffer != NULL && buffer != other && !buffer->core.is_lost &&
           w[0] == first_of(buffer) && w[entry->kind->bytes] == buffer->core.size;
}

/* An array that is all replaced takes no conversion back. One that is all filled with one byte
 * (`is_fill`) stays in its layout, too: the bytes of each layout are the same ones in another
 * order. */
static rs_word follow(const rs_entry *entry, rs_word *w, bool is_fill)
{
    rs_layer *layer = rs_the_layer();
    rs_cuda_buffer *buffers[MOST_POINTERS] = {NULL, NULL};
    size_t count = 0;
    rs_command command;
    if (rs_cuda_is_frozen())
        return rs_entry_call(entry, w);
    rs_layer_lock(layer);
    const rs_word stream = entry->kind->stream >= 0 ? w[entry->kind->stream] : 0;
    rs_cuda_queue *queue = rs_cuda_queue_of(stream, entry->is_per_thread);
    for (int i = 0; count < MOST_POINTERS && entry->kind->pointers >> i != 0; i++)
        if ((entry->kind->pointers >> i & 1) != 0)
            buffers[count++] = rs_cuda_buffer_at(w[i]);
    if (!rs_cuda_follows(queue)) {
        for (size_t i = 0; i < count; i++)
            if (buffers[i] != NULL)
                buffers[i]->core.blank = 0;
        return rs_cuda_pass(entry, w);
    }
    const bool replaces = replaces_all(entry, w, buffers[0], buffers[1]);
    rs_command_start(&command, layer, &queue->core, queue, 0, NULL);
    for (size_t i = 0; i < count; i++) {
        if (buffers[i] != NULL && i == 0 && replaces)
            rs_command_touch(&command, &buffers[i]->core);
        else if (buffers[i] != NULL)
            rs_command_use(&command, &buffers[i]->core, NULL);
    }
    const bool is_locked = replaces && buffers[0]->core.layout != NULL;
    if (is_locked && command.error == 0)
        command.error = rs_cuda_apply_waits(&command);
    const rs_word result =
        is_locked ? (command.error != 0 ? (rs_word)command.error : rs_entry_call(entry, w))
                  : rs_cuda_call_with(entry, w, &command, buffers, count);
    if (replaces && (rs_cuda_result)result == RS_CUDA_SUCCESS) {
        if (is_fill)
            rs_buffer_set_blank(&buffers[0]->core);
        else
            rs_buffer_set_layout(&buffers[0]->core, NULL);
    }
    rs_command_end(&command);
    return result;
}

rs_word rs_follow_copy(const rs_entry *entry, rs_word *w)
{
    return follow(entry, w, false);
}

rs_word rs_follow_fill(const rs_entry *entry, rs_word *w)
{
    return follow(entry, w, true);
}

/* ---- what keeps memory in the program's layout ---- */

static void keep(uintptr_t address, const char *why)
{
    rs_layer *layer = rs_the_layer();
    rs_layer_lock(layer);
    const rs_cuda_buffer *buffer = rs_cuda_buffer_at(address);
    rs_allocation handle = buffer != NULL ? buffer->core.handle : NULL;
    rs_layer_unlock(layer);
    if (handle != NULL)
        rs_buffer_keep(layer, handle, why);
}

rs_word rs_follow_keep(const rs_entry *entry, rs_word *w)
{
    for (int i = 0; entry->kind->pointers >> i != 0; i++)
        if ((entry->kind->pointers >> i & 1) != 0 && !rs_cuda_is_frozen())
            keep(w[i], "the program gives the memory to others (textures, tensor maps, processes)");
    return rs_entry_call(entry, w);
}

/* cuTexObjectCreate(object, resource, ...): CUDA_RESOURCE_DESC begins with its type, and a linear
 * one goes on with its address. */
rs_word rs_follow_keep_resource(const rs_entry *entry, rs_word *w)
{
    enum { LINEAR = 2, PITCHED = 3 };
    struct {
        int type;
        uintptr_t address;
    } resource = {0, 0};
    if (w[1] != 0)
        memcpy(&resource, (const void *)w[1], sizeof resource);
    if ((resource.type == LINEAR || resource.type == PITCHED) && !rs_cuda_is_frozen())
        keep(resource.address, "a texture reads the memory");
    return rs_entry_call(entry, w);
}
