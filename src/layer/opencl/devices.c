/*
 * `restride run --device`: a program that asks for a GPU alone, or takes the first device of the
 * first platform, gets the device that the user named. cpu and gpu stand for the kind; any other
 * word is a part of a device's name, in any case of letters.
 */
#include "layer/core/report.h"
#include "layer/opencl/driver.h"

#include "base/text.h"
#include "engine/open.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static bool is_chosen(cl_device_id device)
{
    cl_device_type type = 0;
    rs_driver()->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    char *name = rs_api_device_name(device);
    const bool chosen =
        rs_device_is_called(rs_the_layer()->settings.device, (type & CL_DEVICE_TYPE_GPU) != 0,
                            name != NULL ? name : "");
    free(name);
    return chosen;
}

/* The chosen devices of a platform; their number. */
static cl_uint find_chosen(cl_platform_id platform, cl_device_id chosen[MOST])
{
    cl_device_id all[MOST];
    cl_uint count = 0, found = 0;
    if (rs_driver()->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, all, &count) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < count && i < MOST; i++)
        if (is_chosen(all[i]))
            chosen[found++] = all[i];
    return found;
}

/* Tells that no platform has a chosen device, and which devices there are. */
static void note_missing(void)
{
    cl_platform_id platforms[MOST];
    cl_device_id devices[MOST];
    cl_uint platform_count = 0, count;
    rs_text names = RS_TEXT_EMPTY;
    rs_driver()->clGetPlatformIDs(MOST, platforms, &platform_count);
    for (cl_uint p = 0; p < platform_count && p < MOST; p++) {
        if (find_chosen(platforms[p], devices) > 0 ||
            rs_driver()->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &count) !=
                CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < count && i < MOST; i++) {
            char *name = rs_api_device_name(devices[i]);
            rs_text_format(&names, "%s%s", names.size > 0 ? ", " : "", name != NULL ? name : "");
            free(name);
        }
    }
    if (names.data != NULL) {
        rs_layer_lock(rs_the_layer());
        rs_report_note(rs_the_layer(),
                       "--device %s: no device is of this kind or has this word in its name; there "
                       "are: %s.",
                       rs_the_layer()->settings.device, names.data);
        rs_report_write(rs_the_layer(), false);
        rs_layer_unlock(rs_the_layer());
    }
    rs_text_free(&names);
}

/* Whether a question is the driver's to refuse, whatever devices there are. */
static bool is_refused(cl_platform_id platform, cl_device_type type)
{
    static const cl_device_type kinds = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU |
                                        CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
                                        CL_DEVICE_TYPE_CUSTOM;
    cl_uint count;
    cl_int error = rs_driver()->clGetDeviceIDs(platform, type, 0, NULL, &count);
    return (error != CL_SUCCESS && error != CL_DEVICE_NOT_FOUND) || type == 0 ||
           (type != CL_DEVICE_TYPE_ALL && (type & ~kinds) != 0);
}

static cl_int CL_API_CALL get_devices(cl_platform_id platform, cl_device_type type, cl_uint room,
                                      cl_device_id *devices, cl_uint *count)
{
    cl_device_id chosen[MOST];
    cl_uint found = find_chosen(platform, chosen);
    if (is_refused(platform, type) || (devices == NULL && count == NULL) ||
        (devices != NULL && room == 0))
        return rs_driver()->clGetDeviceIDs(platform, type, room, devices, count);
    if (count != NULL)
        *count = found;
    if (found == 0)
        return CL_DEVICE_NOT_FOUND;
    for (cl_uint i = 0; devices != NULL && i < room && i < found; i++)
        devices[i] = chosen[i];
    return CL_SUCCESS;
}

/* Platforms with a chosen device alone. */
static cl_int CL_API_CALL get_platforms(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    cl_platform_id all[MOST];
    cl_device_id chosen[MOST];
    cl_uint present = 0, found = 0;
    cl_int error = rs_driver()->clGetPlatformIDs(MOST, all, &present);
    if (error != CL_SUCCESS || (platforms == NULL && count == NULL) ||
        (platforms != NULL && room == 0))
        return rs_driver()->clGetPlatformIDs(room, platforms, count);
    for (cl_uint i = 0; i < present && i < MOST; i++) {
        if (find_chosen(all[i], chosen) == 0)
            continue;
        if (platforms != NULL && found < room)
            platforms[found] = all[i];
        found++;
    }
    if (count != NULL)
        *count = found;
    if (found == 0)
        note_missing();
    return CL_SUCCESS;
}

static cl_platform_id platform_of(const cl_context_properties *properties)
{
    cl_platform_id platform = NULL;
    for (; properties != NULL && properties[0] != 0; properties += 2)
        if (properties[0] == CL_CONTEXT_PLATFORM)
            return (cl_platform_id)properties[1];
    get_platforms(1, &platform, NULL);
    return platform;
}

static cl_context CL_API_CALL
create_context_from_type(const cl_context_properties *properties, cl_device_type type,
                         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                         void *data, cl_int *error)
{
    cl_device_id chosen[MOST];
    cl_platform_id platform = platform_of(properties);
    cl_uint found = find_chosen(platform, chosen);
    if (found > 0 && !is_refused(platform, type))
        return rs_new_context(
            rs_driver()->clCreateContext(properties, found, chosen, notify, data, error));
    return rs_new_context(
        rs_driver()->clCreateContextFromType(properties, type, notify, data, error));
}

void rs_layer_add_devices(cl_icd_dispatch *table)
{
    if (rs_the_layer()->settings.device == NULL)
        return;
    table->clGetPlatformIDs = get_platforms;
    table->clGetDeviceIDs = get_devices;
    table->clCreateContextFromType = create_context_from_type;
}
