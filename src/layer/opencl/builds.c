/* Builds of programs: the options and devices that a program's kernels come from. */
#include "layer/opencl/programs.h"

#include "layer/core/knowledge.h"

#include <stdlib.h>
#include <string.h>

/* The devices of a build: those that are named, or all of the program. */
static void set_devices(rs_layer_program *program, cl_uint count, const cl_device_id *devices)
{
    size_t size = count * sizeof *devices;
    free((void *)program->devices);
    program->devices = NULL;
    program->device_count = 0;
    if (devices == NULL && rs_driver()->clGetProgramInfo(program->handle, CL_PROGRAM_DEVICES, 0,
                                                         NULL, &size) != CL_SUCCESS)
        return;
    cl_device_id *list = malloc(size + sizeof *list);
    if (list == NULL)
        return;
    if (devices != NULL)
        memcpy((void *)list, (const void *)devices, size);
    else if (rs_driver()->clGetProgramInfo(program->handle, CL_PROGRAM_DEVICES, size, (void *)list,
                                           NULL) != CL_SUCCESS)
        size = 0;
    program->devices = (void *)list;
    program->device_count = (cl_uint)(size / sizeof *list);
}

unsigned rs_program_recorded_build(const rs_layer_program *program)
{
    return program != NULL && program->is_as_recorded && program->builds_under_way == 0
               ? program->builds
               : 0;
}

unsigned rs_program_build(cl_program handle)
{
    rs_layer_lock(rs_the_layer());
    const unsigned number = rs_program_recorded_build(rs_program_find(handle));
    rs_layer_unlock(rs_the_layer());
    return number;
}

/* One call that builds or compiles. */
typedef struct {
    cl_program handle;
    unsigned number;
    double start;
    bool
        is_recorded; /* the record has its options: no kernel in use, nor another build, needs it */
    bool has_ended;
    unsigned users; /* the call, and the function that the driver is to call */
    void(CL_CALLBACK *notify)(cl_program, void *); /* the program's */
    void *data;
} build;

/* What is not followed. */
static const char header_programs[] =
    "the program was compiled with headers that are programs; give them as files (-I)";
static const char several_parts[] =
    "the program was linked from several programs; build their sources as one program";
static const char link_options[] =
    "the program was linked with options; link it without, or build it in one call";

/* Puts the options into the record, NULL for a source that has header programs. The driver may
 * still refuse them. Called with the lock; NULL when memory is short, or there is no record. */
static build *begin_build(rs_layer_program *program, const char *options, cl_uint device_count,
                          const cl_device_id *devices,
                          void(CL_CALLBACK *notify)(cl_program, void *), void *data) RS_LOCKED
{
    build *begun = program != NULL ? calloc(1, sizeof *begun) : NULL;
    if (begun == NULL) {
        if (program != NULL)
            program->is_as_recorded = false;
        return NULL;
    }
    *begun = (build){.handle = program->handle,
                     .number = ++program->builds,
                     .start = rs_seconds_now(),
                     .is_recorded = program->live_kernels == 0 && program->builds_under_way == 0,
                     .users = notify != NULL ? 2 : 1,
                     .notify = notify,
                     .data = data};
    program->builds_under_way++;
    if (!begun->is_recorded)
        return begun;
    rs_program_forget_rewriting(program);
    free(program->options);
    program->options = options != NULL ? strdup(options) : NULL;
    if (program->core.source != NULL)
        program->unknown = options != NULL ? NULL : header_programs;
    program->core.hash = rs_knowledge_hash(program->core.source, program->options);
    set_devices(program, device_count, devices);
    return begun;
}

/* What the driver refuses because kernels are in use, or commands with them, changes nothing: but
 * then the options in the record are not those of the program. */
static void end_build(build *begun, cl_int error) RS_LOCKED
{
    rs_layer_program *program = rs_program_find(begun->handle);
    if (program != NULL && program->builds_under_way > 0 && !begun->has_ended) {
        program->builds_under_way--;
        program->build_seconds = rs_seconds_now() - begun->start;
        if (begun->is_recorded)
            program->is_as_recorded = error == CL_SUCCESS && program->builds == begun->number;
        else if (error != CL_INVALID_OPERATION)
            program->is_as_recorded = false;
    }
    begun->has_ended = true;
}

static void release_build(build *begun)
{
    if (--begun->users == 0)
        free(begun);
}

/* Whether the driver has built what the record says, for all devices. */
static bool is_built(const rs_layer_program *program)
{
    bool built = program->device_count > 0 && program->options != NULL &&
                 rs_program_was_built_with(program, program->options);
    for (cl_uint d = 0; d < program->device_count && built; d++) {
        cl_build_status status = CL_BUILD_ERROR;
        rs_driver()->clGetProgramBuildInfo(program->handle, program->devices[d],
                                           CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL);
        built = status == CL_BUILD_SUCCESS;
    }
    return built;
}

/* The driver has built, or not, and its call may have returned long ago, or not yet. The program
 * may make its kernels from here. */
static void CL_CALLBACK note_end(cl_program handle, void *data)
{
    build *begun = data;
    rs_layer_lock(rs_the_layer());
    const rs_layer_program *program = rs_program_find(begun->handle);
    bool built = program != NULL && is_built(program);
    const build ended = *begun;
    end_build(begun, built ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE);
    release_build(begun);
    rs_layer_unlock(rs_the_layer());
    ended.notify(handle, ended.data);
}

/* After the driver's call. */
static cl_int return_from_build(build *begun, cl_int error)
{
    if (begun == NULL)
        return error;
    rs_layer_lock(rs_the_layer());
    if (begun->notify == NULL || error != CL_SUCCESS)
        end_build(begun, error);
    release_build(begun);
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL compile_program(cl_program handle, cl_uint device_count,
                                          const cl_device_id *devices, const char *options,
                                          cl_uint header_count, const cl_program *headers,
                                          const char **header_names,
                                          void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    const char *options_of_source = options != NULL ? options : "";
    rs_program_wait_prepared(handle);
    rs_layer_lock(rs_the_layer());
    build *begun =
        begin_build(rs_program_find(handle), header_count == 0 ? options_of_source : NULL,
                    device_count, devices, notify, data);
    rs_layer_unlock(rs_the_layer());
    const bool noted = begun != NULL && notify != NULL;
    return return_from_build(
        begun, rs_driver()->clCompileProgram(handle, device_count, devices, options, header_count,
                                             headers, header_names, noted ? note_end : notify,
                                             noted ? begun : data));
}

/* A program linked from one compiled source alone is that source, built with those options. */
static void take_over_source(rs_layer_program *linked, const rs_layer_program *compiled)
{
    linked->core.source = strdup(compiled->core.source);
    linked->options = strdup(compiled->options);
    linked->unknown = NULL;
    set_devices(linked, compiled->device_count, (void *)compiled->devices);
    linked->build_seconds = compiled->build_seconds;
    linked->core.hash = rs_knowledge_hash(linked->core.source, linked->options);
}

/* One call that links. */
typedef struct {
    cl_context context;
    cl_program compiled; /* the one part, NULL: there are several, or options */
    const char *unknown; /* why the linked program cannot be rewritten then */
    unsigned number;     /* of the part's build */
    bool is_recorded;    /* the linked program */
    unsigned users;      /* the call, and the function that the driver is to call */
    void(CL_CALLBACK *notify)(cl_program, void *); /* the program's */
    void *data;
} linking;

/* Makes the record of the linked program, once: the program may have released it since. */
static void record_linked(linking *begun, cl_program handle) RS_LOCKED
{
    if (begun->is_recorded || handle == NULL)
        return;
    begun->is_recorded = true;
    rs_layer_program *linked = rs_program_new(handle, begun->context, NULL, begun->unknown);
    const rs_layer_program *compiled = rs_program_find(begun->compiled);
    if (begun->number == 0 || rs_program_recorded_build(compiled) != begun->number)
        return;
    if (linked != NULL && compiled->core.source != NULL && compiled->options != NULL)
        take_over_source(linked, compiled);
    else if (linked != NULL && compiled->unknown != NULL)
        linked->unknown = compiled->unknown;
}

static void leave_linking(linking *begun)
{
    if (--begun->users == 0)
        free(begun);
}

/* The driver has linked, or not, and its call may not have returned yet. The program may make its
 * kernels from here; what could not be linked may be gone when the call returns. */
static void CL_CALLBACK note_linked(cl_program handle, void *data)
{
    linking *begun = data;
    size_t kernels;
    const bool is_linked =
        rs_driver()->clGetProgramInfo(handle, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels,
                                      NULL) == CL_SUCCESS;
    rs_layer_lock(rs_the_layer());
    const linking ended = *begun;
    if (is_linked)
        record_linked(begun, handle);
    leave_linking(begun);
    rs_layer_unlock(rs_the_layer());
    ended.notify(handle, ended.data);
}

static cl_program CL_API_CALL link_program(cl_context context, cl_uint device_count,
                                           const cl_device_id *devices, const char *options,
                                           cl_uint count, const cl_program *programs,
                                           void(CL_CALLBACK *notify)(cl_program, void *),
                                           void *data, cl_int *error)
{
    const bool has_options = options != NULL && options[0] != '\0';
    const bool is_plain = count == 1 && programs != NULL && !has_options;
    linking *begun = malloc(sizeof *begun);
    if (begun == NULL) /* its kernels are never rewritten then */
        return rs_driver()->clLinkProgram(context, device_count, devices, options, count, programs,
                                          notify, data, error);
    *begun = (linking){
        .context = context,
        .compiled = is_plain ? programs[0] : NULL,
        .unknown = is_plain ? "what the program was linked from is not known; build it in one call"
                   : has_options ? link_options
                                 : several_parts,
        .number = is_plain ? rs_program_build(programs[0]) : 0,
        .users = notify != NULL ? 2 : 1,
        .notify = notify,
        .data = data};
    cl_program handle = rs_driver()->clLinkProgram(context, device_count, devices, options, count,
                                                   programs, notify != NULL ? note_linked : NULL,
                                                   notify != NULL ? begun : data, error);
    rs_layer_lock(rs_the_layer());
    record_linked(begun, handle);
    leave_linking(begun);
    rs_layer_unlock(rs_the_layer());
    return handle;
}

static cl_int CL_API_CALL build_program(cl_program handle, cl_uint device_count,
                                        const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    const char *options_of_source = options;
    bool has_headers = false;
    rs_program_wait_prepared(handle);
    rs_layer_lock(rs_the_layer());
    rs_layer_program *program = rs_program_find(handle);
    if (program != NULL && program->origin_options != NULL)
        options_of_source = program->origin_options;
    build *begun = begin_build(program, options_of_source != NULL ? options_of_source : "",
                               device_count, devices, notify, data);
    has_headers = begun != NULL && begun->is_recorded && program->core.source != NULL &&
                  program->options != NULL && strstr(program->core.source, "include") != NULL;
    rs_layer_unlock(rs_the_layer());
    /* Headers must be read as they are now, and from the present folder; all else can wait for a
     * kernel. */
    if (has_headers)
        rs_program_prepare(handle);
    const bool noted = begun != NULL && notify != NULL;
    return return_from_build(begun, rs_driver()->clBuildProgram(handle, device_count, devices,
                                                                options, noted ? note_end : notify,
                                                                noted ? begun : data));
}

void rs_layer_add_builds(cl_icd_dispatch *table)
{
    table->clBuildProgram = build_program;
    table->clCompileProgram = compile_program;
    table->clLinkProgram = link_program;
}
