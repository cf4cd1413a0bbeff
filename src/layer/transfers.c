/*
 * Commands that move a buffer's bytes. Each needs AoS (design section 8), with three exceptions
 * that need no conversion: a command that replaces every byte, a copy of a whole buffer onto
 * another of the same size (the copy has the same layout), and unmapping.
 *
 * A blocking command is enqueued without blocking while the layer is locked, and waited for after:
 * other threads may have to enqueue what it waits for.
 */
#include "layer/coherence.h"
#include "layer/timing.h"

/* Ends a command whose blocking form was asked for: `mine` is its event. */
static cl_int end_blocking(rs_command *command, cl_int error, cl_bool blocking, cl_event mine,
                           cl_event *event)
{
    if (blocking && error == CL_SUCCESS) {
        if (event != NULL) {
            *event = mine;
            rs_driver()->clRetainEvent(mine);
        }
        rs_command_end(command);
        error = rs_driver()->clWaitForEvents(1, &mine);
        rs_driver()->clReleaseEvent(mine);
        rs_layer_lock();
        rs_timing_harvest();
        rs_layer_unlock();
        return error;
    }
    rs_command_end(command);
    return error;
}

/* Runs the enqueue CALL unless the conversion before it failed. */
#define RS_CALL(command, call) ((command).error != CL_SUCCESS ? (command).error : rs_driver()->call)

static bool covers_all(cl_mem handle, size_t offset, size_t size)
{
    rs_buffer *buffer = rs_buffer_find(handle);
    return buffer != NULL && offset == 0 && size == buffer->size;
}

/* After a command that replaced every byte. */
static void set_residence(cl_mem handle, const rs_residence *residence)
{
    rs_buffer *buffer = rs_buffer_find(handle);
    if (buffer == NULL)
        return;
    buffer->residence = residence;
    if (residence == NULL)
        rs_buffer_end_run(buffer);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                      size_t offset, size_t size, void *data, cl_uint wait_count,
                                      const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    cl_event mine = NULL;
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_command_use(&command, buffer, NULL);
    cl_int error = RS_CALL(command, clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset, size, data,
                                                        command.wait_count, command.wait_list,
                                                        blocking ? &mine : event));
    return end_blocking(&command, error, blocking, mine, event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t size, const void *data,
                                       cl_uint wait_count, const cl_event *wait_list,
                                       cl_event *event)
{
    rs_command command;
    cl_event mine = NULL;
    rs_command_begin(&command, queue, wait_count, wait_list);
    bool all = covers_all(buffer, offset, size);
    if (all)
        rs_command_touch(&command, buffer);
    else
        rs_command_use(&command, buffer, NULL);
    cl_int error =
        RS_CALL(command, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, size, data,
                                              command.wait_count, command.wait_list,
                                              blocking ? &mine : event));
    if (all && error == CL_SUCCESS)
        set_residence(buffer, NULL);
    return end_blocking(&command, error, blocking, mine, event);
}

static cl_int CL_API_CALL read_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           const size_t *buffer_origin, const size_t *host_origin,
                                           const size_t *region, size_t buffer_row,
                                           size_t buffer_slice, size_t host_row, size_t host_slice,
                                           void *data, cl_uint wait_count,
                                           const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    cl_event mine = NULL;
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_command_use(&command, buffer, NULL);
    cl_int error =
        RS_CALL(command, clEnqueueReadBufferRect(queue, buffer, CL_FALSE, buffer_origin,
                                                 host_origin, region, buffer_row, buffer_slice,
                                                 host_row, host_slice, data, command.wait_count,
                                                 command.wait_list, blocking ? &mine : event));
    return end_blocking(&command, error, blocking, mine, event);
}

static cl_int CL_API_CALL write_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t *buffer_origin, const size_t *host_origin,
                                            const size_t *region, size_t buffer_row,
                                            size_t buffer_slice, size_t host_row, size_t host_slice,
                                            const void *data, cl_uint wait_count,
                                            const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    cl_event mine = NULL;
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_command_use(&command, buffer, NULL);
    cl_int error =
        RS_CALL(command, clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, buffer_origin,
                                                  host_origin, region, buffer_row, buffer_slice,
                                                  host_row, host_slice, data, command.wait_count,
                                                  command.wait_list, blocking ? &mine : event));
    return end_blocking(&command, error, blocking, mine, event);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                      size_t pattern_size, size_t offset, size_t size,
                                      cl_uint wait_count, const cl_event *wait_list,
                                      cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, queue, wait_count, wait_list);
    bool all = covers_all(buffer, offset, size);
    if (all)
        rs_command_touch(&command, buffer);
    else
        rs_command_use(&command, buffer, NULL);
    cl_int error =
        RS_CALL(command, clEnqueueFillBuffer(queue, buffer, pattern, pattern_size, offset, size,
                                             command.wait_count, command.wait_list, event));
    if (all && error == CL_SUCCESS)
        set_residence(buffer, NULL);
    rs_command_end(&command);
    return error;
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem source, cl_mem destination,
                                      size_t source_offset, size_t destination_offset, size_t size,
                                      cl_uint wait_count, const cl_event *wait_list,
                                      cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_buffer *from = rs_buffer_find(source);
    rs_buffer *to = rs_buffer_find(destination);
    bool all = from != to && covers_all(destination, destination_offset, size);
    bool same = all && covers_all(source, source_offset, size) && to->pinned == NULL &&
                to->map_count == 0 && to->context == from->context;
    if (same) {
        rs_command_touch(&command, source);
        rs_command_touch(&command, destination);
    } else {
        rs_command_use(&command, source, NULL);
        if (all)
            rs_command_touch(&command, destination);
        else
            rs_command_use(&command, destination, NULL);
    }
    cl_int error = RS_CALL(
        command, clEnqueueCopyBuffer(queue, source, destination, source_offset, destination_offset,
                                     size, command.wait_count, command.wait_list, event));
    if (all && error == CL_SUCCESS)
        set_residence(destination, same ? from->residence : NULL);
    rs_command_end(&command);
    return error;
}

static cl_int CL_API_CALL copy_buffer_rect(cl_command_queue queue, cl_mem source,
                                           cl_mem destination, const size_t *source_origin,
                                           const size_t *destination_origin, const size_t *region,
                                           size_t source_row, size_t source_slice,
                                           size_t destination_row, size_t destination_slice,
                                           cl_uint wait_count, const cl_event *wait_list,
                                           cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_command_use(&command, source, NULL);
    rs_command_use(&command, destination, NULL);
    cl_int error =
        RS_CALL(command, clEnqueueCopyBufferRect(queue, source, destination, source_origin,
                                                 destination_origin, region, source_row,
                                                 source_slice, destination_row, destination_slice,
                                                 command.wait_count, command.wait_list, event));
    rs_command_end(&command);
    return error;
}

static cl_int CL_API_CALL copy_image_to_buffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                               const size_t *origin, const size_t *region,
                                               size_t offset, cl_uint wait_count,
                                               const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_command_use(&command, buffer, NULL);
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
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_command_use(&command, buffer, NULL);
    cl_int error =
        RS_CALL(command, clEnqueueCopyBufferToImage(queue, buffer, image, offset, origin, region,
                                                    command.wait_count, command.wait_list, event));
    rs_command_end(&command);
    return error;
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem handle, cl_bool blocking,
                                    cl_map_flags flags, size_t offset, size_t size,
                                    cl_uint wait_count, const cl_event *wait_list, cl_event *event,
                                    cl_int *error_ret)
{
    rs_command command;
    cl_event mine = NULL;
    void *mapped = NULL;
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_command_use(&command, handle, NULL);
    cl_int error = command.error;
    if (error == CL_SUCCESS)
        mapped = rs_driver()->clEnqueueMapBuffer(queue, handle, CL_FALSE, flags, offset, size,
                                                 command.wait_count, command.wait_list,
                                                 blocking ? &mine : event, &error);
    rs_buffer *buffer = rs_buffer_find(handle);
    if (error == CL_SUCCESS && buffer != NULL)
        buffer->map_count++;
    error = end_blocking(&command, error, blocking, mine, event);
    if (error_ret != NULL)
        *error_ret = error;
    return error == CL_SUCCESS ? mapped : NULL;
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem handle, void *mapped,
                                cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, queue, wait_count, wait_list);
    rs_command_touch(&command, handle);
    cl_int error =
        RS_CALL(command, clEnqueueUnmapMemObject(queue, handle, mapped, command.wait_count,
                                                 command.wait_list, event));
    rs_buffer *buffer = rs_buffer_find(handle);
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
    rs_command_begin(&command, queue, wait_count, wait_list);
    for (cl_uint i = 0; handles != NULL && i < count; i++)
        rs_command_use(&command, handles[i], NULL);
    cl_int error =
        RS_CALL(command, clEnqueueMigrateMemObjects(queue, count, handles, flags,
                                                    command.wait_count, command.wait_list, event));
    rs_command_end(&command);
    return error;
}

static cl_int CL_API_CALL native_kernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *),
                                        void *arguments, size_t argument_size, cl_uint count,
                                        const cl_mem *handles, const void **places,
                                        cl_uint wait_count, const cl_event *wait_list,
                                        cl_event *event)
{
    rs_command command;
    rs_command_begin(&command, queue, wait_count, wait_list);
    for (cl_uint i = 0; handles != NULL && i < count; i++)
        rs_command_use(&command, handles[i], NULL);
    cl_int error = RS_CALL(
        command, clEnqueueNativeKernel(queue, function, arguments, argument_size, count, handles,
                                       places, command.wait_count, command.wait_list, event));
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
