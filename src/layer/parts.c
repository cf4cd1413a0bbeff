/* Parts of converted buffers: see parts.h. */
#include "layer/parts.h"

#include "layer/timing.h"

#include <stdlib.h>

/* ---- which tiles ---- */

/* The whole tiles around [offset, offset + size), as records; false when the bytes are not worth a
 * part or it cannot be made. */
static bool find_tiles(const rs_buffer *buffer, size_t offset, size_t size, rs_part *part)
{
    const rs_residence *residence = buffer->residence;
    if (residence == NULL || size == 0 || offset >= buffer->size || size > buffer->size - offset)
        return false;
    size_t record = residence->record.size, tile_bytes = record * residence->tile;
    size_t count = buffer->size / record, end = offset + size;
    if (tile_bytes / record != residence->tile || offset >= count * record)
        return false;
    part->first = offset / tile_bytes * tile_bytes;
    size_t tiles = (end - part->first + tile_bytes - 1) / tile_bytes;
    size_t last = count * record - part->first; /* bytes of records from there on */
    part->bytes = tiles > last / tile_bytes ? last : tiles * tile_bytes;
    part->records = part->bytes / record;
    if (end - part->first > part->bytes)
        part->bytes = end - part->first;
    return part->bytes <= buffer->size / 2;
}

/* ---- commands on the scratch buffer ---- */

static cl_int convert(const rs_command *command, const rs_part *part,
                      rs_marshal_direction direction, cl_uint wait_count, const cl_event *wait_list,
                      cl_event *event)
{
    rs_timing_count_part(part->bytes);
    return rs_opencl_marshal_enqueue(part->residence->marshal, command->queue->handle,
                                     part->scratch, part->records, direction, wait_count, wait_list,
                                     event) == RESTRIDE_OK
               ? CL_SUCCESS
               : CL_OUT_OF_RESOURCES;
}

/* The tiles as they are now, in AoS; the command waits for that. */
static cl_int fetch(rs_command *command, rs_part *part)
{
    cl_event copied = NULL, converted = NULL;
    cl_int error = rs_driver()->clEnqueueCopyBuffer(
        command->queue->handle, part->buffer->handle, part->scratch, part->first, 0, part->bytes,
        command->wait_count, command->wait_list, &copied);
    if (error != CL_SUCCESS)
        return error;
    error = convert(command, part, RS_ASTA_TO_AOS, 1, &copied, &converted);
    rs_driver()->clReleaseEvent(copied);
    if (error != CL_SUCCESS)
        return error;
    rs_command_wait(command, converted);
    rs_driver()->clReleaseEvent(converted);
    return command->error;
}

static cl_int put_back(rs_command *command, rs_part *part, cl_event event)
{
    cl_event converted = NULL, copied = NULL;
    cl_int error = convert(command, part, RS_AOS_TO_ASTA, 1, &event, &converted);
    if (error != CL_SUCCESS)
        return error;
    error = rs_driver()->clEnqueueCopyBuffer(command->queue->handle, part->scratch,
                                             part->buffer->handle, 0, part->first, part->bytes, 1,
                                             &converted, &copied);
    rs_driver()->clReleaseEvent(converted);
    if (error == CL_SUCCESS)
        rs_buffer_changed(part->buffer, command->queue, copied);
    return error;
}

/* ---- reaching ---- */

static bool make_part(rs_command *command, rs_buffer *buffer, size_t offset, size_t size,
                      rs_part_use use, rs_part *part)
{
    *part = (rs_part){.buffer = buffer, .use = use};
    if (!find_tiles(buffer, offset, size, part))
        return false;
    part->residence = rs_residence_on_device(buffer, command->queue->device);
    if (part->residence == NULL)
        return false;
    part->scratch = rs_driver()->clCreateBuffer(
        buffer->context->handle, CL_MEM_READ_WRITE | (buffer->program_flags & RS_HOST_ACCESS),
        part->bytes, NULL, NULL);
    if (part->scratch == NULL)
        return false;
    if (use == RS_PART_READ)
        rs_command_touch(command, buffer->handle);
    else
        rs_command_own(command, buffer);
    bool replaces = use == RS_PART_WRITE && offset == part->first && size == part->bytes;
    if (command->error == CL_SUCCESS && !replaces)
        command->error = fetch(command, part);
    return true;
}

/* A sub-buffer's bytes are reached as its parent's; the sub-buffer itself where the parent is in
 * AoS, or where the driver may refuse the command. */
static cl_mem reach_view(rs_command *command, cl_mem handle, const rs_view *view, size_t *offset,
                         size_t size, rs_part_use use, rs_part *part)
{
    if (!view->host_may_access || *offset > view->size || size > view->size - *offset) {
        rs_command_use(command, handle, NULL);
        return handle;
    }
    size_t place = view->origin + *offset;
    cl_mem reached = rs_part_reach(command, view->parent->handle, &place, size, use, part);
    if (part->scratch == NULL)
        return handle;
    *offset = place;
    return reached;
}

cl_mem rs_part_reach(rs_command *command, cl_mem handle, size_t *offset, size_t size,
                     rs_part_use use, rs_part *part)
{
    rs_buffer *buffer = rs_buffer_find(handle);
    const rs_view *view = rs_view_find(handle);
    *part = (rs_part){0};
    if (view != NULL)
        return reach_view(command, handle, view, offset, size, use, part);
    if (buffer == NULL || command->queue == NULL || command->error != CL_SUCCESS ||
        buffer->context->handle != command->queue->context)
        return handle;
    if (make_part(command, buffer, *offset, size, use, part)) {
        *offset -= part->first;
        return part->scratch;
    }
    rs_part_drop(part);
    /* A few bytes would not have ended the layout. */
    command->keeps_run = size <= buffer->size / 2;
    rs_command_use(command, handle, NULL);
    command->keeps_run = false;
    return handle;
}

void rs_part_drop(rs_part *part)
{
    if (part->scratch != NULL)
        rs_driver()->clReleaseMemObject(part->scratch);
    *part = (rs_part){0};
}

cl_int rs_part_close(rs_command *command, rs_part *part, cl_event event)
{
    cl_int error = CL_SUCCESS;
    if (part->scratch != NULL && part->use == RS_PART_WRITE)
        error = put_back(command, part, event);
    rs_part_drop(part); /* the commands hold it until they are done */
    return error;
}

/* ---- maps ---- */

bool rs_part_keep_mapped(rs_part *part, void *mapped, size_t offset, size_t size, bool writes)
{
    rs_map_part *kept = calloc(1, sizeof *kept);
    if (kept == NULL)
        return false;
    *kept = (rs_map_part){mapped, part->scratch,          part->first, offset, size,
                          writes, part->buffer->map_parts};
    part->buffer->map_parts = kept;
    *part = (rs_part){0};
    return true;
}

rs_map_part *rs_part_of_map(rs_buffer *buffer, const void *mapped)
{
    rs_map_part **place = &buffer->map_parts;
    while (*place != NULL && (*place)->mapped != mapped)
        place = &(*place)->next;
    rs_map_part *found = *place;
    if (found != NULL)
        *place = found->next;
    return found;
}
