/*
 * Commands that move a buffer's bytes. Each needs the program's layout (design section 8): of a few
 * bytes, those alone (parts.h); of many, the whole buffer. Three need no conversion: a command that
 * replaces every byte, a copy of a whole buffer onto another of the same size (the copy has the
 * same layout), and unmapping.
 *
 * A blocking command is enqueued without blocking while the layer is locked, and waited for after:
 * other threads may have to enqueue what it waits for.
 */
#include "layer/core/parts.h"
#include "layer/core/report.h"
#include "layer/core/restore.h"
#include "layer/core/timing.h"
#include "layer/opencl/driver.h"

#include <stdlib.h>

/* Ends a command; `mine` is its event, if the layer has asked for one: it goes to the program,
 * which may not want it. */
static cl_int end_command(rs_command *command, cl_int error, cl_bool blocking, cl_event mine,
                          cl_event *event) RS_UNLOCKS
{
    if (mine == NULL || error != CL_SUCCESS) {
        if (mine != NULL)
            rs_driver()->clReleaseEvent(mine);
        rs_command_end(command);
        return error;
    }
    if (event != NULL) {
        *event = mine;
        rs_driver()->clRetainEvent(mine);
    }
    rs_command_end(command);
    if (blocking)
        error = rs_driver()->clWaitForEvents(1, &mine);
    rs_driver()->clReleaseEvent(mine);
    if (error != CL_SUCCESS)
        rs_layer_look_for_failures(rs_the_layer());
    if (blocking) {
        rs_layer_lock(rs_the_layer());
        rs_timing_collect(rs_the_layer());
        rs_knowledge_note_wait(rs_the_layer());
        rs_report_keep_up(rs_the_layer());
        rs_layer_unlock(rs_the_layer());
    }
    return error;
}

/* Runs the enqueue CALL unless the conversion before it failed. */
#define RS_CALL(command, call) ((command).error != CL_SUCCESS ? (command).error : rs_driver()->call)

static bool covers_all(cl_mem handle, size_t offset, size_t size) RS_LOCKED
{
    rs_buffer *buffer = rs_buffer_find(rs_the_layer(), handle);
    return buffer != NULL && offset == 0 && size == buffer->size;
}

/* After a command that replaced every byte. */
static void set_layout(cl_mem handle, const rs_device_layout *layout) RS_LOCKED
{
    rs_buffer *buffer = rs_buffer_find(rs_the_layer(), handle);
    if (buffer == NULL)
        return;
    rs_buffer_set_layout(buffer, layout);
    if (layout == NULL)
        rs_buffer_end_run(buffer);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                      size_t offset, size_t size, void *data, cl_uint wait_count,
                                      const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    rs_part part;
    cl_event mine = NULL;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    cl_mem from = rs_part_open(&command, buffer, &offset, size, RS_PART_READ, &part);
    cl_int error = RS_CALL(command, clEnqueueReadBuffer(queue, from, CL_FALSE, offset, size, data,
                                                        command.wait_count, command.wait_list,
                                                        blocking ? &mine : event));
    rs_part_close(&command, &part, NULL);
    return end_command(&command, error, blocking, mine, event);
}

/* For a command that writes `size` bytes at *offset: what it is to write to. */
static cl_mem open_to_write(rs_command *command, cl_mem buffer, size_t *offset, size_t size,
                            bool all, rs_part *part) RS_LOCKED
{
    *part = (rs_part){0};
    if (!all)
        return rs_part_open(command, buffer, offset, size, RS_PART_REPLACE, part);
    rs_command_touch(command, rs_buffer_behind(rs_the_layer(), buffer));
    return buffer;
}

/* After a command that wrote to a part or to all of a buffer. */
static cl_int finish_writing(rs_command *command, cl_int error, cl_mem buffer, bool all,
                             rs_part *part, cl_event event) RS_LOCKED
{
    if (error == CL_SUCCESS && all)
        set_layout(buffer, NULL);
    if (error == CL_SUCCESS)
        return rs_part_close(command, part, event);
    rs_part_drop(part);
    return error;
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t size, const void *data,
                                       cl_uint wait_count, const cl_event *wait_list,
                                       cl_event *event)
{
    rs_command command;
    rs_part part;
    cl_event mine = NULL;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    bool all = covers_all(buffer, offset, size);
    cl_mem to = open_to_write(&command, buffer, &offset, size, all, &part);
    bool needs_event = blocking || part.scratch != NULL;
    cl_int error = RS_CALL(command, clEnqueueWriteBuffer(queue, to, CL_FALSE, offset, size, data,
                                                         command.wait_count, command.wait_list,
                                                         needs_event ? &mine : event));
    error = finish_writing(&command, error, buffer, all, &part, mine);
    return end_command(&command, error, blocking, mine, event);
}

/* ---- rectangles ---- */

/* A rectangle in a buffer, as OpenCL gives it. */
typedef struct {
    const size_t *origin, *region;
    size_t row, slice; /* pitches in bytes, 0: as narrow as the region */
} rectangle;

static size_t row_of(const rectangle *r)
{
    return r->row != 0 ? r->row : r->region[0];
}

static size_t slice_of(const rectangle *r)
{
    return r->slice != 0 ? r->slice : row_of(r) * r->region[1];
}

/* The bytes from its first to its last; false when the driver is going to refuse it. Drivers may
 * want the buffer to have its last slice as a whole (NVIDIA's does). */
static bool lines_of(const rectangle *r, rs_part_lines *lines)
{
    if (r->origin == NULL || r->region == NULL || r->region[0] == 0 || r->region[1] == 0 ||
        r->region[2] == 0)
        return false;
    const size_t row = row_of(r), slice = slice_of(r);
    lines->offset = r->origin[2] * slice + r->origin[1] * row + r->origin[0];
    lines->size = (r->region[2] - 1) * slice + (r->region[1] - 1) * row + r->region[0];
    lines->pitch = row;
    lines->room = r->region[2] * slice;
    return true;
}

/* Lets the command work on the rectangle's bytes alone, and those between its rows, if they are
 * few; `origin` becomes the rectangle's place in what is returned. */
static cl_mem open_rectangle(rs_command *command, cl_mem buffer, const rectangle *r,
                             rs_part_use use, rs_part *part, size_t origin[3]) RS_LOCKED
{
    rs_part_lines lines;
    *part = (rs_part){0};
    for (int i = 0; i < 3; i++)
        origin[i] = r->origin != NULL ? r->origin[i] : 0;
    if (!lines_of(r, &lines)) {
        rs_command_use(command, rs_buffer_behind(rs_the_layer(), buffer), NULL);
        return buffer;
    }
    cl_mem opened = rs_part_open_lines(command, buffer, &lines, use, part);
    if (part->scratch != NULL) {
        origin[2] = lines.offset / slice_of(r);
        origin[1] = lines.offset % slice_of(r) / row_of(r);
        origin[0] = lines.offset % slice_of(r) % row_of(r);
    }
    return opened;
}

static cl_int CL_API_CALL read_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           const size_t *buffer_origin, const size_t *host_origin,
                                           const size_t *region, size_t buffer_row,
                                           size_t buffer_slice, size_t host_row, size_t host_slice,
                                           void *data, cl_uint wait_count,
                                           const cl_event *wait_list, cl_event *event)
{
    const rectangle from = {buffer_origin, region, buffer_row, buffer_slice};
    rs_command command;
    rs_part part;
    size_t origin[3];
    cl_event mine = NULL;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    cl_mem opened = open_rectangle(&command, buffer, &from, RS_PART_READ, &part, origin);
    cl_int error =
        RS_CALL(command, clEnqueueReadBufferRect(queue, opened, CL_FALSE,
                                                 buffer_origin != NULL ? origin : NULL, host_origin,
                                                 region, buffer_row, buffer_slice, host_row,
                                                 host_slice, data, command.wait_count,
                                                 command.wait_list, blocking ? &mine : event));
    rs_part_close(&command, &part, NULL);
    return end_command(&command, error, blocking, mine, event);
}

static cl_int CL_API_CALL write_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t *buffer_origin, const size_t *host_origin,
                                            const size_t *region, size_t buffer_row,
                                            size_t buffer_slice, size_t host_row, size_t host_slice,
                                            const void *data, cl_uint wait_count,
                                            const cl_event *wait_list, cl_event *event)
{
    const rectangle to = {buffer_origin, region, buffer_row, buffer_slice};
    rs_command command;
    rs_part part;
    size_t origin[3];
    cl_event mine = NULL;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    cl_mem opened = open_rectangle(&command, buffer, &to, RS_PART_CHANGE, &part, origin);
    bool needs_event = blocking || part.scratch != NULL;
    cl_int error =
        RS_CALL(command, clEnqueueWriteBufferRect(queue, opened, CL_FALSE,
                                                  buffer_origin != NULL ? origin : NULL,
                                                  host_origin, region, buffer_row, buffer_slice,
                                                  host_row, host_slice, data, command.wait_count,
                                                  command.wait_list, needs_event ? &mine : event));
    error = finish_writing(&command, error, buffer, false, &part, mine);
    return end_command(&command, error, blocking, mine, event);
}

/* ---- on the device ---- */

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                      size_t pattern_size, size_t offset, size_t size,
                                      cl_uint wait_count, const cl_event *wait_list,
                                      cl_event *event)
{
    rs_command command;
    rs_part part;
    cl_event mine = NULL;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    bool all = covers_all(buffer, offset, size);
    cl_mem to = buffer;
    part = (rs_part){0};
    if (pattern_size != 0 && offset % pattern_size == 0)
        to = open_to_write(&command, buffer, &offset, size, all, &part);
    else /* the driver is going to refuse it, which it might not at another offset */
        rs_command_use(&command, rs_buffer_behind(rs_the_layer(), buffer), NULL);
    cl_int error = RS_CALL(command, clEnqueueFillBuffer(queue, to, pattern, pattern_size, offset,
                                                        size, command.wait_count, command.wait_list,
                                                        part.scratch != NULL ? &mine : event));
    error = finish_writing(&command, error, buffer, all, &part, mine);
    return end_command(&command, error, CL_FALSE, mine, event);
}

/* Buffers that are one, or parts of one: the driver looks whether a copy between them overlaps. */
static bool share_bytes(cl_mem a, cl_mem b) RS_LOCKED
{
    const rs_buffer *buffer = rs_buffer_behind(rs_the_layer(), a);
    return a == b || (buffer != NULL && buffer == rs_buffer_behind(rs_the_layer(), b));
}

/* Whether a copy of all bytes may take the layout along. */
static bool copies_layout(rs_command *command, cl_mem source, size_t source_offset,
                          cl_mem destination, size_t size) RS_LOCKED
{
    const rs_buffer *from = rs_buffer_find(rs_the_layer(), source);
    rs_buffer *to = rs_buffer_find(rs_the_layer(), destination);
    if (from == NULL || !covers_all(source, source_offset, size) || to->kept_reason != NULL ||
        to->map_count > 0 || to->map_parts != NULL || to->context != from->context)
        return false;
    return from->layout == NULL ||
           (command->queue != NULL && command->queue->context == to->context->handle &&
            command->queue->device == from->layout->device &&
            rs_command_reserve(command, to, from->layout));
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem source, cl_mem destination,
                                      size_t source_offset, size_t destination_offset, size_t size,
                                      cl_uint wait_count, const cl_event *wait_list,
                                      cl_event *event)
{
    rs_command command;
    rs_part source_part = {0}, part = {0};
    cl_mem from = source, to = destination;
    cl_event mine = NULL;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    bool shared = share_bytes(source, destination);
    bool all = !shared && covers_all(destination, destination_offset, size);
    bool same = all && copies_layout(&command, source, source_offset, destination, size);
    if (shared) {
        rs_command_use(&command, rs_buffer_behind(rs_the_layer(), source), NULL);
        rs_command_use(&command, rs_buffer_behind(rs_the_layer(), destination), NULL);
    } else if (same) {
        rs_command_touch(&command, rs_buffer_behind(rs_the_layer(), source));
        rs_command_touch(&command, rs_buffer_behind(rs_the_layer(), destination));
    } else {
        from = rs_part_open(&command, source, &source_offset, size, RS_PART_READ, &source_part);
        to = open_to_write(&command, destination, &destination_offset, size, all, &part);
    }
    cl_int error =
        RS_CALL(command, clEnqueueCopyBuffer(queue, from, to, source_offset, destination_offset,
                                             size, command.wait_count, command.wait_list,
                                             part.scratch != NULL ? &mine : event));
    rs_part_drop(&source_part);
    error = finish_writing(&command, error, destination, all && !same, &part, mine);
    if (same && error == CL_SUCCESS)
        set_layout(destination, rs_buffer_find(rs_the_layer(), source)->layout);
    else if (same)
        rs_buffer_unreserve(rs_buffer_find(rs_the_layer(), destination));
    return end_command(&command, error, CL_FALSE, mine, event);
}

static cl_int CL_API_CALL copy_buffer_rect(cl_command_queue queue, cl_mem source,
                                           cl_mem destination, const size_t *source_origin,
                                           const size_t *destination_origin, const size_t *region,
                                           size_t source_row, size_t source_slice,
                                           size_t destination_row, size_t destination_slice,
                                           cl_uint wait_count, const cl_event *wait_list,
                                           cl_event *event)
{
    const rectangle read = {source_origin, region, source_row, source_slice};
    const rectangle write = {destination_origin, region, destination_row, destination_slice};
    rs_command command;
    rs_part source_part = {0}, part = {0};
    size_t from_origin[3] = {0}, to_origin[3] = {0};
    cl_mem from = source, to = destination;
    cl_event mine = NULL;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    bool apart =
        !share_bytes(source, destination) && source_origin != NULL && destination_origin != NULL;
    if (apart) {
        from = open_rectangle(&command, source, &read, RS_PART_READ, &source_part, from_origin);
        to = open_rectangle(&command, destination, &write, RS_PART_CHANGE, &part, to_origin);
    } else {
        rs_command_use(&command, rs_buffer_behind(rs_the_layer(), source), NULL);
        rs_command_use(&command, rs_buffer_behind(rs_the_layer(), destination), NULL);
    }
    cl_int error =
        RS_CALL(command, clEnqueueCopyBufferRect(
                             queue, from, to, apart ? from_origin : source_origin,
                             apart ? to_origin : destination_origin, region, source_row,
                             source_slice, destination_row, destination_slice, command.wait_count,
                             command.wait_list, part.scratch != NULL ? &mine : event));
    rs_part_drop(&source_part);
    error = finish_writing(&command, error, destination, false, &part, mine);
    return end_command(&command, error, CL_FALSE, mine, event);
}

static cl_int CL_API_CALL copy_image_to_buffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                               const size_t *origin, const size_t *region,
                                               size_t offset, cl_uint wait_count,
                                               const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    rs_command_use(&command, rs_buffer_behind(rs_the_layer(), buffer), NULL);
    cl_int error =
        RS_CALL(command, clEnqueueCopyImageToBuffer(queue, image, buffer, origin, region, offset,
                                                    command.wait_count, command.wait_list, event));
    rs_command_end(&command);
    return error;
}

static cl_int CL_API_CALL copy_buffer_to_image(cl_command_queue queue, cl_mem buffer, cl_mem image,
                                               size_t offset, const size_t *origin,
                                               const size_t *region, cl_uint wait_count,
                                               const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    rs_command_use(&command, rs_buffer_behind(rs_the_layer(), buffer), NULL);
    cl_int error =
        RS_CALL(command, clEnqueueCopyBufferToImage(queue, buffer, image, offset, origin, region,
                                                    command.wait_count, command.wait_list, event));
    rs_command_end(&command);
    return error;
}

/* ---- maps ---- */

enum { MAP_WRITES = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION };

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem handle, cl_bool blocking,
                                    cl_map_flags flags, size_t offset, size_t size,
                                    cl_uint wait_count, const cl_event *wait_list, cl_event *event,
                                    cl_int *error_ret)
{
    rs_command command;
    rs_part part;
    cl_event mine = NULL;
    void *mapped = NULL;
    size_t place = offset;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    /* A sub-buffer is mapped itself: the driver counts its maps. */
    bool is_view = rs_view_find(rs_the_layer(), handle) != NULL;
    cl_mem opened = handle;
    part = (rs_part){0};
    if (is_view)
        rs_command_use(&command, rs_buffer_behind(rs_the_layer(), handle), NULL);
    else
        opened = rs_part_open(&command, handle, &place, size, RS_PART_READ, &part);
    cl_int error = command.error;
    if (error == CL_SUCCESS)
        mapped = rs_driver()->clEnqueueMapBuffer(queue, opened, CL_FALSE, flags, place, size,
                                                 command.wait_count, command.wait_list,
                                                 blocking ? &mine : event, &error);
    rs_buffer *buffer = rs_buffer_behind(rs_the_layer(), handle);
    if (error == CL_SUCCESS && part.scratch != NULL) {
        if (!rs_part_keep_mapped(&part, mapped, offset, size, (flags & MAP_WRITES) != 0))
            error = CL_OUT_OF_HOST_MEMORY;
    } else if (error == CL_SUCCESS && buffer != NULL) {
        buffer->map_count++;
    }
    rs_part_drop(&part);
    error = end_command(&command, error, blocking, mine, event);
    if (error_ret != NULL)
        *error_ret = error;
    return error == CL_SUCCESS ? mapped : NULL;
}

/* Puts the bytes of a map that was a part into the buffer, wherever that is by now: others may have
 * changed its tiles meanwhile. */
static cl_int copy_from_map(rs_command *command, rs_buffer *buffer, const rs_map_part *map,
                            cl_event unmapped) RS_LOCKED
{
    rs_part part;
    cl_event copied = NULL;
    size_t offset = map->offset;
    rs_command_wait(command, unmapped);
    cl_mem to = rs_part_open(command, buffer->handle, &offset, map->size, RS_PART_REPLACE, &part);
    if (part.scratch == NULL)
        rs_command_wait_for_users(command, buffer);
    cl_int error =
        RS_CALL(*command, clEnqueueCopyBuffer(command->queue->handle, map->scratch, to,
                                              map->offset - map->first, offset, map->size,
                                              command->wait_count, command->wait_list, &copied));
    if (error == CL_SUCCESS && part.scratch == NULL) {
        rs_driver()->clRetainEvent(copied);
        rs_buffer_changed(buffer, command->queue, copied);
    }
    error = finish_writing(command, error, buffer->handle, false, &part, copied);
    if (copied != NULL)
        rs_driver()->clReleaseEvent(copied);
    return error;
}

static cl_int unmap_part(rs_command *command, rs_buffer *buffer, rs_map_part *map,
                         cl_event *event) RS_UNLOCKS
{
    cl_event mine = NULL;
    cl_int error =
        RS_CALL(*command, clEnqueueUnmapMemObject(command->queue->handle, map->scratch, map->mapped,
                                                  command->wait_count, command->wait_list, &mine));
    if (error == CL_SUCCESS && map->writes)
        error = copy_from_map(command, buffer, map, mine);
    rs_driver()->clReleaseMemObject(map->scratch);
    free(map);
    return end_command(command, error, CL_FALSE, mine, event);
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem handle, void *mapped,
                                cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    rs_buffer *buffer = rs_buffer_behind(rs_the_layer(), handle);
    rs_map_part *map = rs_buffer_find(rs_the_layer(), handle) != NULL && command.queue != NULL
                           ? rs_part_of_map(buffer, mapped)
                           : NULL;
    if (map != NULL)
        return unmap_part(&command, buffer, map, event);
    rs_command_touch(&command, rs_buffer_behind(rs_the_layer(), handle));
    cl_int error =
        RS_CALL(command, clEnqueueUnmapMemObject(queue, handle, mapped, command.wait_count,
                                                 command.wait_list, event));
    if (error == CL_SUCCESS && buffer != NULL && buffer->map_count > 0)
        buffer->map_count--;
    rs_command_end(&command);
    return error;
}

static cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint count, const cl_mem *handles,
                                  cl_mem_migration_flags flags, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    for (cl_uint i = 0; handles != NULL && i < count; i++)
        rs_command_use(&command, rs_buffer_behind(rs_the_layer(), handles[i]), NULL);
    cl_int error =
        RS_CALL(command, clEnqueueMigrateMemObjects(queue, count, handles, flags,
                                                    command.wait_count, command.wait_list, event));
    rs_command_end(&command);
    return error;
}

static const char native_reason[] =
    "the program runs native kernels, which may wait for what it does next";

/* How many the driver has not answered to. */
static void count_native_kernels(int more) RS_LOCKED
{
    rs_opencl.native_count += more;
    rs_the_layer()->paused = rs_opencl.native_count > 0 ? native_reason : NULL;
}

/* A native kernel may wait for the host, and so would every conversion behind it: there is none
 * any more, unless the driver refuses it. */
static cl_int CL_API_CALL native_kernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *),
                                        void *arguments, size_t argument_size, cl_uint count,
                                        const cl_mem *handles, const void **places,
                                        cl_uint wait_count, const cl_event *wait_list,
                                        cl_event *event)
{
    rs_command command;
    rs_layer_lock(rs_the_layer());
    count_native_kernels(1);
    rs_layer_unlock(rs_the_layer());
    rs_layer_restore(rs_the_layer());
    rs_command_begin(&command, rs_the_layer(), queue, wait_count, wait_list);
    for (cl_uint i = 0; handles != NULL && i < count; i++)
        rs_command_use(&command, rs_buffer_behind(rs_the_layer(), handles[i]), NULL);
    cl_int error = RS_CALL(
        command, clEnqueueNativeKernel(queue, function, arguments, argument_size, count, handles,
                                       places, command.wait_count, command.wait_list, event));
    count_native_kernels(-1);
    if (error == CL_SUCCESS && rs_the_layer()->frozen == NULL)
        rs_the_layer()->frozen = native_reason;
    rs_command_end(&command);
    return error;
}

void rs_layer_add_transfers(cl_icd_dispatch *table)
{
    table->clEnqueueReadBuffer = read_buffer;
    table->clEnqueueWriteBuffer = write_buffer;
    table->clEnqueueReadBufferRect = read_buffer_rect;
    table->clEnqueueWriteBufferRect = write_buffer_rect;
    table->clEnqueueFillBuffer = fill_buffer;
    table->clEnqueueCopyBuffer = copy_buffer;
    table->clEnqueueCopyBufferRect = copy_buffer_rect;
    table->clEnqueueCopyImageToBuffer = copy_image_to_buffer;
    table->clEnqueueCopyBufferToImage = copy_buffer_to_image;
    table->clEnqueueMapBuffer = map_buffer;
    table->clEnqueueUnmapMemObject = unmap;
    table->clEnqueueMigrateMemObjects = migrate;
    table->clEnqueueNativeKernel = native_kernel;
}
