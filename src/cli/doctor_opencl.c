/* restride doctor, OpenCL: the loader, whether programs get our layer, the drivers, and a small
 * conversion on every device. */
#include "cli/doctor.h"
#include "cli/process.h"
#include "console/parts.h"
#include "engine/opencl/drivers.h"
#include "engine/opencl/marshal.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char loader_name[] = "libOpenCL.so.1";
enum { MOST_PLATFORMS = 32, MOST_DEVICES = 64, TEXT_ROOM = 256, TILE = 32 };

/* --- The loader and the layer --- */

/* Set to the layer's path in the child that finds out whether its loader loads the layer. */
static const char question[] = "RESTRIDE_DOCTOR_LAYER";

bool rs_doctor_is_asked_for_layer(bool *loaded)
{
    const char *layer = getenv(question);
    void *loader = layer ? dlopen(loader_name, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *address = loader ? dlsym(loader, "clGetPlatformIDs") : NULL;
    cl_int(CL_API_CALL * get_platforms)(cl_uint, cl_platform_id *, cl_uint *) = NULL;
    memcpy(&get_platforms, &address, sizeof address);
    cl_uint count = 0;
    if (get_platforms)
        get_platforms(0, NULL, &count);
    *loaded = get_platforms && dlopen(layer, RTLD_NOW | RTLD_NOLOAD) != NULL;
    return layer != NULL;
}

/* In a child process: runs this program with the environment of `restride run`. Without
 * `with_audit` only loaders that know OPENCL_LAYERS load the layer. */
static void ask(const char *layer, bool with_audit)
{
    static char name[] = "restride";
    static char verb[] = "doctor";
    char *const arguments[] = {name, verb, NULL};
    if (setenv(question, layer, 1) != 0 || rs_process_add_layer() != RESTRIDE_OK)
        _exit(1);
    if (!with_audit)
        unsetenv("LD_AUDIT");
    execv("/proc/self/exe", arguments);
    _exit(1);
}

static bool gets_layer(const char *layer, bool with_audit)
{
    const pid_t child = fork();
    if (child < 0)
        return false;
    if (child == 0)
        ask(layer, with_audit);
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The file that the loader was mapped from into this process: several may be installed, some of
 * them without layers. The name alone when it is not there. */
static const char *loader_file(void)
{
    static char path[4096];
    char line[4096 + 128];
    snprintf(path, sizeof path, "%s", loader_name);
    FILE *maps = dlopen(loader_name, RTLD_NOW | RTLD_LOCAL) ? fopen("/proc/self/maps", "r") : NULL;
    while (maps && fgets(line, sizeof line, maps))
        if (strchr(line, '/') && strstr(line, "/libOpenCL.so"))
            snprintf(path, sizeof path, "%.*s", (int)strcspn(strchr(line, '/'), "\n"),
                     strchr(line, '/'));
    if (maps)
        fclose(maps);
    return path;
}

static void report_layer(json_t *findings)
{
    char *layer = NULL;
    if (rs_cli_part_path(RS_PART_LAYER, &layer) != RESTRIDE_OK)
        rs_doctor_add(findings, "OpenCL layer", RS_DOCTOR_MISSING, NULL, "%s",
                      restride_last_error());
    else if (gets_layer(layer, false))
        rs_doctor_add(findings, "OpenCL layer", RS_DOCTOR_WORKS, NULL, "%s is loaded by %s", layer,
                      loader_file());
    else if (gets_layer(layer, true))
        rs_doctor_add(findings, "OpenCL layer", RS_DOCTOR_WORKS, NULL,
                      "%s is put upon %s, which knows no layers", layer, loader_file());
    else
        rs_doctor_add(
            findings, "OpenCL layer", RS_DOCTOR_MISSING,
            "install a loader that knows layers (apt-get install ocl-icd-libopencl1), and "
            "put its folder first in LD_LIBRARY_PATH",
            "neither %s nor ld.so (LD_AUDIT) loads %s", loader_file(), layer);
    free(layer);
}

/* --- The devices --- */

/* AoS records {k, 1000 + k}, the numbers that one tile of ASTA must turn into two runs. */
static bool is_converted(const cl_uint words[2 * TILE])
{
    for (cl_uint k = 0; k < TILE; k++)
        if (words[k] != k || words[TILE + k] != 1000 + k)
            return false;
    return true;
}

static restride_status convert(const cl_icd_dispatch *api, cl_context context, cl_device_id device,
                               cl_command_queue queue, cl_mem buffer)
{
    cl_uint words[2 * TILE];
    for (cl_uint k = 0; k < TILE; k++) {
        words[2 * k] = k;
        words[2 * k + 1] = 1000 + k;
    }
    rs_leaf leaves[] = {{.name = "a", .size = sizeof(cl_uint)},
                        {.name = "b", .offset = sizeof(cl_uint), .size = sizeof(cl_uint)}};
    const rs_record record = {2 * sizeof(cl_uint), sizeof(cl_uint), 2, leaves};
    rs_opencl_marshal *marshal = NULL;
    restride_status status =
        rs_opencl_marshal_create(&marshal, api, context, device, &record, TILE);
    if (status != RESTRIDE_OK)
        return status;
    if (api->clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL) !=
        CL_SUCCESS)
        status = rs_fail(RESTRIDE_DEVICE_ERROR, "a buffer could not be written");
    if (status == RESTRIDE_OK)
        status =
            rs_opencl_marshal_enqueue(marshal, queue, buffer, TILE, RS_AOS_TO_ASTA, 0, NULL, NULL);
    if (status == RESTRIDE_OK && api->clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof words,
                                                          words, 0, NULL, NULL) != CL_SUCCESS)
        status = rs_fail(RESTRIDE_DEVICE_ERROR, "a buffer could not be read");
    if (status == RESTRIDE_OK && !is_converted(words))
        status = rs_fail(RESTRIDE_DEVICE_ERROR,
                         "a small conversion gave wrong elements; report it with this output");
    rs_opencl_marshal_destroy(marshal);
    return status;
}

/* Converts one tile on the device and compares every element. */
static restride_status try_device(const cl_icd_dispatch *api, cl_device_id device)
{
    cl_int code = CL_SUCCESS;
    cl_mem buffer = NULL;
    cl_command_queue queue = NULL;
    cl_context context = api->clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        queue = api->clCreateCommandQueue(context, device, 0, &code);
    if (code == CL_SUCCESS)
        buffer = api->clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * TILE * sizeof(cl_uint), NULL,
                                     &code);
    const restride_status status =
        code == CL_SUCCESS
            ? convert(api, context, device, queue, buffer)
            : rs_fail(RESTRIDE_DEVICE_ERROR, "no context could be made (OpenCL error %d)", code);
    if (buffer)
        api->clReleaseMemObject(buffer);
    if (queue)
        api->clReleaseCommandQueue(queue);
    if (context)
        api->clReleaseContext(context);
    return status;
}

/* A platform begins with its driver's table of functions. */
static void report_driver(json_t *findings, const char *platform, cl_platform_id handle)
{
    void *function;
    Dl_info place = {0};
    memcpy(&function, *(void **)handle, sizeof function);
    const bool known = dladdr(function, &place) != 0;
    rs_doctor_add(findings, "OpenCL driver", RS_DOCTOR_WORKS, NULL, "%s: %s%s", platform,
                  known ? place.dli_fname : "in an unknown file",
                  rs_opencl_has_added(handle) ? ", which no .icd file names" : "");
}

static bool check_device(json_t *findings, const cl_icd_dispatch *api, const char *platform,
                         cl_device_id device)
{
    char name[TEXT_ROOM] = "a device without a name";
    char version[TEXT_ROOM] = "OpenCL";
    cl_ulong local_memory = 0;
    api->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    api->clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version, version, NULL);
    api->clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_memory, &local_memory,
                         NULL);
    const bool works = try_device(api, device) == RESTRIDE_OK;
    json_t *finding =
        works ? rs_doctor_add(findings, "OpenCL device", RS_DOCTOR_WORKS, NULL,
                              "%s (%s, %s, %llu KiB local memory)", name, platform, version,
                              (unsigned long long)(local_memory / 1024))
              : rs_doctor_add(findings, "OpenCL device", RS_DOCTOR_FAILS, NULL, "%s (%s, %s): %s",
                              name, platform, version, restride_last_error());
    if (finding) {
        json_object_set_new(finding, "device", json_string(name));
        json_object_set_new(finding, "platform", json_string(platform));
        json_object_set_new(finding, "version", json_string(version));
        json_object_set_new(finding, "local_memory", json_integer((json_int_t)local_memory));
    }
    return works;
}

/* The number of devices of all platforms that work. */
static int check_platforms(json_t *findings, const cl_icd_dispatch *api)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    int working = 0;
    if (api->clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < platform_count && i < MOST_PLATFORMS; i++) {
        char platform[TEXT_ROOM] = "a platform without a name";
        cl_device_id devices[MOST_DEVICES];
        cl_uint device_count = 0;
        api->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
        report_driver(findings, platform, platforms[i]);
        const cl_int code = api->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MOST_DEVICES,
                                                devices, &device_count);
        if (code != CL_SUCCESS) {
            rs_doctor_add(findings, "OpenCL device", RS_DOCTOR_FAILS,
                          "if it is there, the driver may lack its files, its rights to the device "
                          "or a folder that it can write",
                          "%s has no device (OpenCL error %d)", platform, code);
            continue;
        }
        for (cl_uint k = 0; k < device_count && k < MOST_DEVICES; k++)
            working += check_device(findings, api, platform, devices[k]);
    }
    return working;
}

/* Without a driver loaders need not load layers. */
static bool has_driver(json_t *findings, const cl_icd_dispatch *api)
{
    static const char *const choices[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH",
                                          "OCL_ICD_FILENAMES"};
    const char *chosen = NULL;
    cl_uint count = 0;
    if (api->clGetPlatformIDs(0, NULL, &count) == CL_SUCCESS && count > 0)
        return true;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0] && chosen == NULL; i++)
        chosen = getenv(choices[i]) != NULL ? choices[i] : NULL;
    if (chosen != NULL)
        rs_doctor_add(findings, "OpenCL driver", RS_DOCTOR_MISSING,
                      "unset this variable, or let it name a driver's .icd file or their folder",
                      "%s=%s names no driver that works", chosen, getenv(chosen));
    else
        rs_doctor_add(
            findings, "OpenCL driver", RS_DOCTOR_MISSING,
            "apt-get install pocl-opencl-icd for the CPU, or your GPU driver's OpenCL package",
            "%s finds no driver", loader_file());
    return false;
}

static void check_everything(json_t *findings)
{
    const cl_icd_dispatch *api = rs_opencl_api();
    if (!api) {
        rs_doctor_add(findings, "OpenCL loader", RS_DOCTOR_MISSING,
                      "apt-get install ocl-icd-libopencl1; if it is there, put its folder first in "
                      "LD_LIBRARY_PATH",
                      "%s: %s", loader_file(), restride_last_error());
        return;
    }
    rs_doctor_add(findings, "OpenCL loader", RS_DOCTOR_WORKS, NULL, "%s", loader_file());
    if (!has_driver(findings, api))
        return;
    report_layer(findings);
    if (check_platforms(findings, api) == 0)
        rs_doctor_add(
            findings, "OpenCL device", RS_DOCTOR_MISSING,
            "apt-get install pocl-opencl-icd for the CPU, or mend what the lines above name",
            "no device works here");
}

/* --- Drivers that crash --- */

/* Writes the findings as JSON; does not return. */
static void answer(int descriptor)
{
    json_t *findings = json_array();
    if (findings)
        check_everything(findings);
    _exit(findings && json_dumpfd(findings, descriptor, 0) == 0 ? 0 : 1);
}

/* Some drivers end the process on machines that they do not support. So the checks run in a child.
 */
void rs_doctor_check_opencl(json_t *findings)
{
    int ends[2];
    if (pipe(ends) != 0) {
        rs_doctor_add(findings, "OpenCL", RS_DOCTOR_MISSING, NULL, "no pipe could be made");
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        answer(ends[1]);
    }
    close(ends[1]);
    json_t *found = child > 0 ? json_loadfd(ends[0], 0, NULL) : NULL;
    close(ends[0]);
    int status = 0;
    if (child > 0)
        waitpid(child, &status, 0);
    if (found)
        json_array_extend(findings, found);
    else if (WIFSIGNALED(status))
        rs_doctor_add(
            findings, "OpenCL", RS_DOCTOR_MISSING,
            "try without each file of /etc/OpenCL/vendors, and replace the driver that it names",
            "a driver crashed (%s)", strsignal(WTERMSIG(status)));
    else
        rs_doctor_add(findings, "OpenCL", RS_DOCTOR_MISSING, NULL, "the checks could not be run");
    json_decref(found);
}
