/*
 * Buffers: their creation, references, sub-buffers, and the uses that keep them in AoS for good
 * (host pointers, images that view them). A buffer that kernels may not write cannot be converted
 * in place, so it is created writable; the program still sees the flags it asked for.
 */
#include "layer/core/parts.h"
#include "layer/core/report.h"
#include "layer/core/restore.h"
#include "layer/opencl/driver.h"

#include <stdlib.h>
#include <string.h>

enum { KERNEL_ACCESS = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY };

static cl_mem_flags writable(cl_mem_flags flags)
{
    cl_mem_flags access = flags & KERNEL_ACCESS;
    bool narrow = access == CL_MEM_READ_ONLY || access == CL_MEM_WRITE_ONLY;
    if (rs_the_layer()->settings.policy == RS_POLICY_OFF || !narrow ||
        (flags & CL_MEM_USE_HOST_PTR) != 0)
        return flags;
    return (flags & ~access) | CL_MEM_READ_WRITE;
}

static void new_buffer(cl_mem handle, cl_context context_handle, cl_mem_flags flags, size_t size,
                       const char *kept_reason)
{
    rs_layer_lock(rs_the_layer());
    rs_context *context = rs_context_of(context_handle);
    rs_layer_buffer *buffer = context != NULL ? calloc(1, sizeof *buffer) : NULL;
    if (buffer != NULL && rs_map_set(&rs_the_layer()->buffers, handle, buffer)) {
        buffer->flags = flags;
        buffer->core = (rs_buffer){.handle = handle,
                                   .references = 1,
                                   .context = context,
                                   .size = size,
                                   .kept_reason = kept_reason};
        if ((flags & CL_MEM_USE_HOST_PTR) != 0)
            buffer->core.kept_reason =
                "the buffer lives in the program's own memory (CL_MEM_USE_HOST_PTR)";
        context->buffer_count++;
        rs_the_layer()->generation++;
    } else {
        free(buffer); /* without a record it is never converted */
    }
    rs_layer_unlock(rs_the_layer());
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void *host, cl_int *error)
{
    cl_mem handle = rs_driver()->clCreateBuffer(context, writable(flags), size, host, error);
    if (handle != NULL)
        new_buffer(handle, context, flags, size, NULL);
    return handle;
}

static cl_mem CL_API_CALL create_buffer_with_properties(cl_context context,
                                                        const cl_mem_properties *properties,
                                                        cl_mem_flags flags, size_t size, void *host,
                                                        cl_int *error)
{
    bool plain = properties == NULL || properties[0] == 0;
    cl_mem handle = rs_driver()->clCreateBufferWithProperties(
        context, properties, plain ? writable(flags) : flags, size, host, error);
    if (handle != NULL)
        new_buffer(handle, context, flags, size,
                   plain ? NULL : "the buffer was created with properties of an extension");
    return handle;
}

static cl_mem refuse(cl_int error, cl_int *error_ret)
{
    if (error_ret != NULL)
        *error_ret = error;
    return NULL;
}

/* A sub-buffer without access flags has its parent's, and may not have wider ones: those that the
 * program gave. */
static cl_int inherit_access(cl_mem parent, cl_mem_flags *flags)
{
    rs_layer_lock(rs_the_layer());
    const rs_layer_buffer *buffer = rs_layer_buffer_find(parent);
    cl_mem_flags access = buffer != NULL ? buffer->flags & KERNEL_ACCESS : 0;
    rs_layer_unlock(rs_the_layer());
    if ((*flags & KERNEL_ACCESS) == 0)
        *flags |= access;
    bool narrow = access == CL_MEM_READ_ONLY || access == CL_MEM_WRITE_ONLY;
    return narrow && (*flags & KERNEL_ACCESS) != access ? CL_INVALID_VALUE : CL_SUCCESS;
}

/* False when memory is short: the parent must stay in AoS then. */
static bool new_view(cl_mem handle, cl_mem parent, cl_mem_flags flags,
                     const cl_buffer_region *region)
{
    rs_layer_lock(rs_the_layer());
    rs_layer_buffer *buffer = rs_layer_buffer_find(parent);
    rs_view *view = buffer != NULL ? calloc(1, sizeof *view) : NULL;
    bool kept = view != NULL && rs_map_set(&rs_the_layer()->views, handle, view);
    if (kept) {
        *view = (rs_view){1, &buffer->core, region->origin, region->size,
                          ((flags | buffer->flags) & RS_HOST_ACCESS) == 0};
        buffer->core.view_count++;
        rs_the_layer()->generation++;
    } else {
        free(view);
    }
    rs_layer_unlock(rs_the_layer());
    return kept || buffer == NULL;
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem parent, cl_mem_flags flags,
                                            cl_buffer_create_type type, const void *info,
                                            cl_int *error_ret)
{
    cl_int error = inherit_access(parent, &flags);
    if (error == CL_SUCCESS && type != CL_BUFFER_CREATE_TYPE_REGION)
        error = rs_buffer_keep(rs_the_layer(), parent,
                               "a sub-buffer of an unknown type views the buffer");
    if (error != CL_SUCCESS)
        return refuse(error, error_ret);
    cl_mem handle = rs_driver()->clCreateSubBuffer(parent, flags, type, info, error_ret);
    if (handle == NULL || type != CL_BUFFER_CREATE_TYPE_REGION ||
        new_view(handle, parent, flags, info))
        return handle;
    error = rs_buffer_keep(rs_the_layer(), parent,
                           "there was not enough memory to follow a sub-buffer");
    if (error == CL_SUCCESS)
        return handle;
    rs_driver()->clReleaseMemObject(handle);
    return refuse(error, error_ret);
}

/* An image over a buffer's bytes. */
static cl_int keep_for_image(const cl_image_desc *description)
{
    return description != NULL
               ? rs_buffer_keep(rs_the_layer(), description->buffer, "an image views the buffer")
               : CL_SUCCESS;
}

static cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags,
                                       const cl_image_format *format,
                                       const cl_image_desc *description, void *host, cl_int *error)
{
    cl_int kept = keep_for_image(description);
    if (kept != CL_SUCCESS)
        return refuse(kept, error);
    return rs_driver()->clCreateImage(context, flags, format, description, host, error);
}

static cl_mem CL_API_CALL create_image_with_properties(
    cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
    const cl_image_format *format, const cl_image_desc *description, void *host, cl_int *error)
{
    cl_int kept = keep_for_image(description);
    if (kept != CL_SUCCESS)
        return refuse(kept, error);
    return rs_driver()->clCreateImageWithProperties(context, properties, flags, format, description,
                                                    host, error);
}

static cl_int CL_API_CALL retain_mem(cl_mem handle)
{
    cl_int error = rs_driver()->clRetainMemObject(handle);
    rs_layer_lock(rs_the_layer());
    rs_buffer *buffer = rs_buffer_find(rs_the_layer(), handle);
    rs_view *view = rs_view_find(rs_the_layer(), handle);
    if (buffer != NULL && error == CL_SUCCESS)
        buffer->references++;
    if (view != NULL && error == CL_SUCCESS)
        view->references++;
    rs_layer_unlock(rs_the_layer());
    return error;
}

/* Ends the record of a buffer when neither the program nor a sub-buffer holds it. */
static void end_unused(rs_buffer *buffer) RS_LOCKED
{
    if (buffer->references > 0 || buffer->view_count > 0)
        return;
    rs_context *context = buffer->context;
    rs_map_remove(&rs_the_layer()->buffers, buffer->handle);
    rs_buffer_forget(buffer);
    free(buffer);
    context->buffer_count--;
    rs_context_trim(context);
}

static cl_int CL_API_CALL release_mem(cl_mem handle)
{
    rs_layer_lock(rs_the_layer());
    rs_buffer *buffer = rs_buffer_find(rs_the_layer(), handle);
    rs_view *view = rs_view_find(rs_the_layer(), handle);
    if (buffer != NULL && buffer->references > 0) {
        buffer->references--;
        end_unused(buffer);
    }
    if (view != NULL && --view->references == 0) {
        rs_map_remove(&rs_the_layer()->views, handle);
        view->parent->view_count--;
        rs_the_layer()->generation++;
        end_unused(view->parent);
        free(view);
    }
    rs_layer_unlock(rs_the_layer());
    return rs_driver()->clReleaseMemObject(handle);
}

static cl_int CL_API_CALL get_mem_info(cl_mem handle, cl_mem_info name, size_t value_size,
                                       void *value, size_t *value_size_ret)
{
    cl_int error = rs_driver()->clGetMemObjectInfo(handle, name, value_size, value, value_size_ret);
    if (name == CL_MEM_FLAGS && error == CL_SUCCESS && value != NULL) {
        rs_layer_lock(rs_the_layer());
        const rs_layer_buffer *buffer = rs_layer_buffer_find(handle);
        /* "No flag" means read and write; the driver says so in its own way. */
        if (buffer != NULL && (buffer->flags & KERNEL_ACCESS) != 0)
            memcpy(value, &buffer->flags, sizeof buffer->flags);
        rs_layer_unlock(rs_the_layer());
    }
    if (name == CL_MEM_MAP_COUNT && error == CL_SUCCESS && value != NULL) {
        rs_layer_lock(rs_the_layer());
        const rs_buffer *buffer = rs_buffer_find(rs_the_layer(), handle);
        for (const rs_map_part *map = buffer != NULL ? buffer->map_parts : NULL; map != NULL;
             map = map->next)
            ++*(cl_uint *)value;
        rs_layer_unlock(rs_the_layer());
    }
    return error;
}

/*
 * Functions of extensions that the layer does not see. Those below take no buffer whose bytes could
 * be in another layout; the address of any other function ends all conversions, for it may read a
 * buffer behind our back.
 */
static const char *const harmless_extensions[] = {
    "clGet",
    "clIcd",
    "clCreateFrom",
    "clCreateSubDevices",
    "clRetainDevice",
    "clReleaseDevice",
    "clTerminateContext",
    "clUnload",
    "clLogMessages",
    "clCreateEventFrom",
    "clCreateSemaphore",
    "clRetainSemaphore",
    "clReleaseSemaphore",
    "clEnqueueWaitSemaphore",
    "clEnqueueSignalSemaphore",
    "clEnqueueAcquire", /* of objects that other libraries share: they have no record here */
    "clEnqueueRelease",
    "clSVM",
    "clEnqueueSVM",
    "clHostMem",
    "clDeviceMem",
    "clSharedMem",
    "clMem", /* unified memory by pointers, not buffers */
    "clEnqueueMem",
    "clSetKernelArgMemPointer",
    "clSetContextDestructorCallback",
    "clSetProgramSpecializationConstant",
    "clSetProgramReleaseCallback",
    "clCreateProgramWithIL",
    "clCreateCommandQueueWithProperties",
};

static void judge_extension(const char *name)
{
    if (name == NULL || strncmp(name, "cl", 2) != 0)
        return;
    for (size_t i = 0; i < sizeof harmless_extensions / sizeof harmless_extensions[0]; i++)
        if (strncmp(name, harmless_extensions[i], strlen(harmless_extensions[i])) == 0)
            return;
    rs_layer_freeze(rs_the_layer(),
                    "the program uses an extension that works on buffers out of the layer's sight");
    rs_layer_lock(rs_the_layer());
    rs_report_note(rs_the_layer(),
                   "The program asked for the extension function %s; from then on nothing was "
                   "converted, because the layer cannot see what that function does to buffers.",
                   name);
    rs_layer_unlock(rs_the_layer());
}

static void *CL_API_CALL get_extension_address(const char *name)
{
    judge_extension(name);
    return rs_driver()->clGetExtensionFunctionAddress(name);
}

static void *CL_API_CALL get_extension_address_for_platform(cl_platform_id platform,
                                                            const char *name)
{
    judge_extension(name);
    return rs_driver()->clGetExtensionFunctionAddressForPlatform(platform, name);
}

void rs_layer_add_buffers(cl_icd_dispatch *table)
{
    table->clCreateBuffer = create_buffer;
    table->clCreateBufferWithProperties = create_buffer_with_properties;
    table->clCreateSubBuffer = create_sub_buffer;
    table->clCreateImage = create_image;
    table->clCreateImageWithProperties = create_image_with_properties;
    table->clRetainMemObject = retain_mem;
    table->clReleaseMemObject = release_mem;
    table->clGetMemObjectInfo = get_mem_info;
    table->clGetExtensionFunctionAddress = get_extension_address;
    table->clGetExtensionFunctionAddressForPlatform = get_extension_address_for_platform;
}
