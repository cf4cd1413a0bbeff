/*
 * Programs: the source and options that the program gave are kept, and when its first kernel is
 * made the rewriter is asked for a second program, built beside the first. The program's own
 * handle, source, build log and kernels stay the driver's own; only launches choose between the
 * two.
 */
#include "layer/programs.h"

#include "base/log.h"
#include "base/text.h"
#include "layer/knowledge.h"
#include "layer/report.h"
#include "layer/residences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- records ---- */

static rs_program *new_program(cl_program handle, cl_context context, char *source,
                               const char *unknown)
{
    rs_layer_lock();
    rs_program *program = calloc(1, sizeof *program);
    if (program == NULL || !rs_map_set(&rs_the_layer.programs, handle, program)) {
        free(program);
        free(source);
        program = NULL;
    } else {
        program->handle = handle;
        program->references = 1;
        program->number = ++rs_the_layer.program_count;
        program->context = context;
        program->source = source;
        program->unknown = unknown;
        program->builds = 1;
        program->is_as_recorded = true;
    }
    rs_layer_unlock();
    return program;
}

static void forget_rewriting(rs_program *program)
{
    if (program->rewritten != NULL)
        rs_driver()->clReleaseProgram(program->rewritten);
    json_decref(program->kernels);
    free(program->left);
    program->left = NULL;
    program->rewritten = NULL;
    program->kernels = NULL;
    program->preparation = RS_UNPREPARED;
}

void rs_program_trim(rs_program *program)
{
    if (program->references > 0 || program->live_kernels > 0)
        return;
    forget_rewriting(program);
    free(program->source);
    free(program->options);
    free(program->origin_options);
    free((void *)program->devices);
    free(program);
}

/* ---- devices ---- */

/* The devices of a build: those that are named, or all of the program. */
static void set_devices(rs_program *program, cl_uint count, const cl_device_id *devices)
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
    program->devices = list;
    program->device_count = (cl_uint)(size / sizeof *list);
}

static cl_uint address_bits(cl_device_id device)
{
    cl_uint bits = 64;
    rs_driver()->clGetDeviceInfo(device, CL_DEVICE_ADDRESS_BITS, sizeof bits, &bits, NULL);
    return bits;
}

static bool same_address_bits(const rs_program *program)
{
    for (cl_uint d = 1; d < program->device_count; d++)
        if (address_bits(program->devices[d]) != address_bits(program->devices[0]))
            return false;
    return true;
}

/* ---- creation ---- */

static char *join_source(cl_uint count, const char **strings, const size_t *lengths)
{
    rs_text text = RS_TEXT_EMPTY;
    for (cl_uint i = 0; i < count; i++) {
        size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
        rs_text_add(&text, strings[i], length);
    }
    return rs_text_take(&text);
}

static cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count,
                                                 const char **strings, const size_t *lengths,
                                                 cl_int *error)
{
    cl_program handle =
        rs_driver()->clCreateProgramWithSource(context, count, strings, lengths, error);
    if (handle != NULL)
        new_program(handle, context, join_source(count, strings, lengths), NULL);
    return handle;
}

static cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count,
                                                 const cl_device_id *devices, const size_t *lengths,
                                                 const unsigned char **binaries, cl_int *statuses,
                                                 cl_int *error)
{
    cl_program handle = rs_driver()->clCreateProgramWithBinary(context, count, devices, lengths,
                                                               binaries, statuses, error);
    if (handle == NULL)
        return NULL;
    char *source = NULL, *options = NULL;
    bool known = count == 1 && rs_binary_origin(binaries[0], lengths[0], &source, &options);
    rs_program *program = new_program(
        handle, context, source,
        known ? NULL : "the program was made from a binary, and its source is not known");
    if (program != NULL)
        program->origin_options = options;
    else
        free(options);
    return handle;
}

static cl_program CL_API_CALL create_with_il(cl_context context, const void *il, size_t length,
                                             cl_int *error)
{
    cl_program handle = rs_driver()->clCreateProgramWithIL(context, il, length, error);
    if (handle != NULL)
        new_program(handle, context, NULL, "the program was made from an intermediate language");
    return handle;
}

static cl_program CL_API_CALL create_with_built_in(cl_context context, cl_uint count,
                                                   const cl_device_id *devices, const char *names,
                                                   cl_int *error)
{
    cl_program handle =
        rs_driver()->clCreateProgramWithBuiltInKernels(context, count, devices, names, error);
    if (handle != NULL)
        new_program(handle, context, NULL, "its kernels are built into the device");
    return handle;
}

unsigned rs_program_build(cl_program handle)
{
    rs_layer_lock();
    const rs_program *program = rs_program_find(handle);
    unsigned number = program != NULL && program->is_as_recorded && program->builds_under_way == 0
                          ? program->builds
                          : 0;
    rs_layer_unlock();
    return number;
}

/* One call that builds or compiles. */
typedef struct {
    cl_program handle;
    unsigned number;
    bool
        is_recorded; /* the record has its options: no kernel in use, nor another build, needs it */
    bool has_ended;
    unsigned users; /* the call, and the function that the driver is to call */
    void(CL_CALLBACK *notify)(cl_program, void *); /* the program's */
    void *data;
} build;

/* Puts the options into the record. The driver may still refuse them. Called with the lock; NULL
 * when memory is short, or there is no record. */
static build *begin_build(rs_program *program, const char *options, cl_uint device_count,
                          const cl_device_id *devices,
                          void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    build *begun = program != NULL ? calloc(1, sizeof *begun) : NULL;
    if (begun == NULL) {
        if (program != NULL)
            program->is_as_recorded = false;
        return NULL;
    }
    *begun = (build){.handle = program->handle,
                     .number = ++program->builds,
                     .is_recorded = program->live_kernels == 0 && program->builds_under_way == 0,
                     .users = notify != NULL ? 2 : 1,
                     .notify = notify,
                     .data = data};
    program->builds_under_way++;
    if (!begun->is_recorded)
        return begun;
    forget_rewriting(program);
    free(program->options);
    program->options = options != NULL ? strdup(options) : NULL;
    program->hash = rs_knowledge_hash(program->source, program->options);
    set_devices(program, device_count, devices);
    return begun;
}

/* What the driver refuses because kernels are in use, or commands with them, changes nothing: but
 * then the options in the record are not those of the program. */
static void end_build(build *begun, cl_int error)
{
    rs_program *program = rs_program_find(begun->handle);
    if (program != NULL && program->builds_under_way > 0 && !begun->has_ended) {
        program->builds_under_way--;
        if (begun->is_recorded)
            program->is_as_recorded = error == CL_SUCCESS && program->builds == begun->number;
        else if (error != CL_INVALID_OPERATION)
            program->is_as_recorded = false;
    }
    begun->has_ended = true;
}

static void let_go(build *begun)
{
    if (--begun->users == 0)
        free(begun);
}

/* Whether the driver has built what the record says, for all devices. */
static bool is_built(const rs_program *program)
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
    rs_layer_lock();
    const rs_program *program = rs_program_find(begun->handle);
    bool built = program != NULL && is_built(program);
    const build ended = *begun;
    end_build(begun, built ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE);
    let_go(begun);
    rs_layer_unlock();
    ended.notify(handle, ended.data);
}

/* After the driver's call. */
static cl_int return_from_build(build *begun, cl_int error)
{
    if (begun == NULL)
        return error;
    rs_layer_lock();
    if (begun->notify == NULL || error != CL_SUCCESS)
        end_build(begun, error);
    let_go(begun);
    rs_layer_unlock();
    return error;
}

static cl_int CL_API_CALL compile_program(cl_program handle, cl_uint device_count,
                                          const cl_device_id *devices, const char *options,
                                          cl_uint header_count, const cl_program *headers,
                                          const char **header_names,
                                          void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    const char *options_of_source = options != NULL ? options : "";
    rs_layer_lock();
    build *begun =
        begin_build(rs_program_find(handle), header_count == 0 ? options_of_source : NULL,
                    device_count, devices, notify, data);
    rs_layer_unlock();
    const bool noted = begun != NULL && notify != NULL;
    return return_from_build(
        begun, rs_driver()->clCompileProgram(handle, device_count, devices, options, header_count,
                                             headers, header_names, noted ? note_end : notify,
                                             noted ? begun : data));
}

/* A program linked from one compiled source alone is that source, built with those options. */
static void take_over_source(rs_program *linked, const rs_program *compiled)
{
    linked->source = strdup(compiled->source);
    linked->options = strdup(compiled->options);
    linked->unknown = NULL;
    set_devices(linked, compiled->device_count, compiled->devices);
    linked->hash = rs_knowledge_hash(linked->source, linked->options);
}

static cl_program CL_API_CALL link_program(cl_context context, cl_uint device_count,
                                           const cl_device_id *devices, const char *options,
                                           cl_uint count, const cl_program *programs,
                                           void(CL_CALLBACK *notify)(cl_program, void *),
                                           void *data, cl_int *error)
{
    const unsigned number = count == 1 && programs != NULL ? rs_program_build(programs[0]) : 0;
    cl_program handle = rs_driver()->clLinkProgram(context, device_count, devices, options, count,
                                                   programs, notify, data, error);
    if (handle == NULL)
        return NULL;
    rs_layer_lock();
    rs_program *linked = new_program(handle, context, NULL, "the program was linked from parts");
    const rs_program *compiled = number != 0 && rs_program_build(programs[0]) == number
                                     ? rs_program_find(programs[0])
                                     : NULL;
    bool plain = options == NULL || options[0] == '\0';
    if (linked != NULL && plain && compiled != NULL && compiled->source != NULL &&
        compiled->options != NULL)
        take_over_source(linked, compiled);
    rs_layer_unlock();
    return handle;
}

static cl_int CL_API_CALL retain_program(cl_program handle)
{
    cl_int error = rs_driver()->clRetainProgram(handle);
    rs_layer_lock();
    rs_program *program = rs_program_find(handle);
    if (program != NULL && error == CL_SUCCESS)
        program->references++;
    rs_layer_unlock();
    return error;
}

static cl_int CL_API_CALL release_program(cl_program handle)
{
    rs_layer_lock();
    rs_program *program = rs_program_find(handle);
    if (program != NULL && --program->references == 0) {
        rs_map_remove(&rs_the_layer.programs, handle);
        rs_program_trim(program);
    }
    rs_layer_unlock();
    return rs_driver()->clReleaseProgram(handle);
}

/* ---- rewriting ---- */

/* Whether something in a program may be an array of records: a structure in its source, or a flat
 * array that a comment or the configuration tells. */
static bool may_have_records(const rs_program *program)
{
    static const char *const signs[] = {"struct", "include", "DL:", "restride:"};
    bool found = strstr(program->options, "struct") != NULL ||
                 json_object_size(json_object_get(rs_the_layer.settings.config, "records")) > 0;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        found = found || strstr(program->source, signs[i]) != NULL;
    return found;
}

/* Why no rewriting is worth trying, or NULL. */
static const char *reason_to_leave(const rs_program *program)
{
    if (rs_the_layer.settings.policy == RS_POLICY_OFF)
        return "the policy is off";
    if (rs_the_layer.frozen != NULL)
        return rs_the_layer.frozen;
    if (program->unknown != NULL)
        return program->unknown;
    if (program->source == NULL || program->options == NULL)
        return "its source is not known";
    if (program->device_count == 0)
        return "it is not known which devices the program was built for";
    if (!same_address_bits(program))
        return "the program was built for devices with addresses of different sizes";
    if (!may_have_records(program))
        return "the program has no structures";
    return NULL;
}

static void add_default(json_t *layouts, const char *kernel)
{
    const int tile = (int)rs_the_layer.settings.tile;
    json_object_set_new(layouts, kernel,
                        rs_policy_of_kernel(kernel) == RS_POLICY_SOA
                            ? json_string("f i")
                            : json_sprintf("i/%d f i%%%d", tile, tile));
}

/* The layout that the policy wants in each kernel that has one of its own, and in all others. */
static json_t *default_layouts(void)
{
    const char *kernel;
    json_t *section, *layouts = json_object();
    add_default(layouts, "*");
    json_object_foreach(json_object_get(rs_the_layer.settings.config, "kernels"), kernel, section)
        add_default(layouts, kernel);
    return layouts;
}

/* Arrays that the program keeps in SoA lie well already: only policy asta changes them. */
static bool changes_soa(void)
{
    const char *kernel;
    json_t *section;
    bool found = rs_policy_of_kernel("*") == RS_POLICY_ASTA;
    json_object_foreach(json_object_get(rs_the_layer.settings.config, "kernels"), kernel, section)
        found = found || rs_policy_of_kernel(kernel) == RS_POLICY_ASTA;
    return found;
}

/* Asks the compilers of all devices, which must agree. */
static bool ask_compilers(const rs_program *program, json_t *names, json_t *values, json_t *macros,
                          bool *differ)
{
    json_t *before = json_deep_copy(macros);
    bool known = rs_macros_ask(program, program->devices[0], names, values, macros);
    for (cl_uint d = 1; d < program->device_count && known; d++) {
        json_t *other = json_deep_copy(before);
        known = rs_macros_ask(program, program->devices[d], names, values, other);
        *differ = known && !json_equal(macros, other);
        json_decref(other);
        known = known && !*differ;
    }
    json_decref(before);
    return known;
}

static void tell(const rs_program *program, const char *why)
{
    rs_layer_lock();
    rs_report_note("Program %u was not rewritten: %s", program->number, why);
    rs_layer_unlock();
}

/* The rewriter's reply, after as many questions about macros as it has (each answer can uncover new
 * ones). */
static json_t *ask_rewriter(const rs_program *program)
{
    enum { ROUNDS = 8 };
    json_t *source = json_string(program->source);
    if (source == NULL) {
        tell(program, "its source is not a text in UTF-8.");
        return NULL;
    }
    json_t *request =
        json_pack("{s:o, s:o, s:s, s:i, s:o, s:b, s:b, s:{}}", "source", source, "file",
                  json_sprintf("program-%u.cl", program->number), "options", program->options,
                  "address_bits", (int)address_bits(program->devices[0]), "defaults",
                  default_layouts(), "soa", (int)changes_soa(), "full", 1, "macros");
    if (rs_the_layer.settings.config != NULL)
        json_object_set(request, "config", rs_the_layer.settings.config);
    json_t *reply = NULL;
    for (int round = 0; request != NULL && round < ROUNDS; round++) {
        json_decref(reply);
        reply = NULL;
        if (rs_rewriter_ask(rs_the_layer.settings.rewriter, request, &reply) != RESTRIDE_OK) {
            tell(program, restride_last_error());
            break;
        }
        json_t *unknown = json_object_get(reply, "unknown_macros");
        json_t *values = json_object_get(reply, "unknown_values");
        if (json_array_size(unknown) == 0 && json_array_size(values) == 0)
            break;
        bool differ = false;
        bool known =
            ask_compilers(program, unknown, values, json_object_get(request, "macros"), &differ);
        if (!known || round == ROUNDS - 1) {
            tell(program, differ ? "the compilers of its devices define the macros that its "
                                   "source tests differently."
                                 : "the device's compiler could not be asked about the macros "
                                   "that its source tests.");
            json_decref(reply);
            reply = NULL;
            break;
        }
    }
    json_decref(request);
    const char *refused = json_string_value(json_object_get(reply, "error"));
    if (refused != NULL)
        tell(program, refused);
    return reply;
}

/* Why the rewriter left the whole source as it is, with the place; NULL when it did not. */
static char *reason_of_reply(const json_t *reply)
{
    const char *reason = json_string_value(json_object_get(reply, "reason"));
    const char *file = json_string_value(json_object_get(reply, "file"));
    rs_text text = RS_TEXT_EMPTY;
    if (reply == NULL)
        reason = "the rewriter did not answer";
    if (reason == NULL)
        return NULL;
    if (file != NULL)
        rs_text_format(&text, "%s:%lld: ", file,
                       (long long)json_integer_value(json_object_get(reply, "line")));
    rs_text_add_string(&text, reason);
    return rs_text_take(&text);
}

/* Says in every argument that was to be transformed that it stays as it is. */
static void keep_all(json_t *kernels, const char *reason)
{
    size_t i, j;
    json_t *kernel, *argument;
    json_array_foreach(kernels, i, kernel)
    {
        json_array_foreach(json_object_get(kernel, "arguments"), j, argument)
        {
            const char *status = json_string_value(json_object_get(argument, "status"));
            if (status == NULL || strcmp(status, "transformed") != 0)
                continue;
            json_object_set_new(argument, "status", json_string("kept"));
            rs_report_own_layout(argument);
            json_object_set_new(argument, "reason", json_string(reason));
        }
    }
}

/* The text of one line of the source, without the spaces around it; NULL when there is none. */
static json_t *source_line(const char *source, json_int_t line)
{
    for (; line > 1 && source != NULL; line--) {
        source = strchr(source, '\n');
        source += source != NULL;
    }
    if (source == NULL || line < 1)
        return NULL;
    source += strspn(source, " \t");
    size_t length = strcspn(source, "\r\n");
    while (length > 0 && (source[length - 1] == ' ' || source[length - 1] == '\t'))
        length--;
    return json_stringn(source, length);
}

/* Shows the line that is the reason beside the reason; lines of headers are not at hand. */
static void add_source_lines(const rs_program *program, json_t *kernels)
{
    size_t i, j;
    json_t *kernel, *argument;
    char own_file[32];
    snprintf(own_file, sizeof own_file, "program-%u.cl", program->number);
    json_array_foreach(kernels, i, kernel)
    {
        json_array_foreach(json_object_get(kernel, "arguments"), j, argument)
        {
            const char *file = json_string_value(json_object_get(argument, "file"));
            json_t *line = json_object_get(argument, "line");
            if (file != NULL && line != NULL && strcmp(file, own_file) == 0)
                json_object_set_new(argument, "source_line",
                                    source_line(program->source, json_integer_value(line)));
        }
    }
}

/* Builds without warnings, which are none of the program's: PoCL counts them on its standard error.
 */
static cl_int build_silently(const rs_program *program, cl_program rewritten, const char *options)
{
    rs_text silent = RS_TEXT_EMPTY;
    rs_text_format(&silent, "%s -w", options);
    cl_int error = silent.failed
                       ? CL_OUT_OF_HOST_MEMORY
                       : rs_driver()->clBuildProgram(rewritten, program->device_count,
                                                     program->devices, silent.data, NULL, NULL);
    rs_text_free(&silent);
    return error;
}

static cl_program build_rewritten(const rs_program *program, const char *source,
                                  const char *options)
{
    cl_int error = CL_SUCCESS;
    cl_program rewritten =
        rs_driver()->clCreateProgramWithSource(program->context, 1, &source, NULL, &error);
    if (rewritten == NULL)
        return NULL;
    error = build_silently(program, rewritten, options);
    if (error == CL_SUCCESS)
        return rewritten;
    char log[1024] = "";
    for (cl_uint d = 0; d < program->device_count && log[0] == '\0'; d++)
        rs_driver()->clGetProgramBuildInfo(rewritten, program->devices[d], CL_PROGRAM_BUILD_LOG,
                                           sizeof log - 1, log, NULL);
    rs_log(RS_LOG_WARNING, "the rewritten source of program %u does not build: %s", program->number,
           log);
    rs_driver()->clReleaseProgram(rewritten);
    return NULL;
}

/* What came of rewriting a program. */
typedef struct {
    char *left;
    json_t *kernels;
    cl_program program;
} rewriting;

static rewriting rewrite(const rs_program *program)
{
    json_t *reply = ask_rewriter(program);
    rewriting made = {.left = reason_of_reply(reply),
                      .kernels = json_incref(json_object_get(reply, "kernels"))};
    const char *source = json_string_value(json_object_get(reply, "source"));
    const char *options = json_string_value(json_object_get(reply, "options"));
    add_source_lines(program, made.kernels);
    if (source != NULL)
        made.program = build_rewritten(program, source, options);
    if (source != NULL && made.program == NULL)
        keep_all(made.kernels, "the device's compiler refused the rewritten source");
    json_decref(reply);
    return made;
}

static void take_over(rs_program *program, const rewriting *made)
{
    size_t i;
    json_t *kernel;
    program->left = made->left;
    program->kernels = made->kernels;
    program->rewritten = made->program;
    json_array_foreach(program->kernels, i, kernel)
    {
        const char *name = json_string_value(json_object_get(kernel, "name"));
        rs_kernel_facts *facts = name != NULL ? rs_report_kernel(program->number, name) : NULL;
        if (facts != NULL && facts->arguments == NULL)
            facts->arguments = json_incref(json_object_get(kernel, "arguments"));
    }
    rs_report_write();
}

/* Waits, not for ever, while another thread prepares the program: it may be the one that this call
 * keeps from going on. Returns the record with the lock, NULL when there is nothing to prepare. */
static rs_program *lock_unprepared(cl_program handle)
{
    static const struct timespec pause = {0, 100000};
    const double longest = 30, end = rs_layer_clock() + longest;
    for (;;) {
        rs_layer_lock();
        rs_program *program = rs_program_find(handle);
        if (program != NULL && program->preparation == RS_UNPREPARED)
            return program;
        if (program == NULL || program->preparation == RS_PREPARED || rs_build_is_inside() ||
            rs_layer_clock() > end)
            return NULL;
        rs_layer_unlock();
        nanosleep(&pause, NULL);
    }
}

/* The compiler is not called under the lock: the driver may call the program from there, by the
 * function that the program gave to its context. */
void rs_program_prepare(cl_program handle)
{
    rs_program *program = lock_unprepared(handle);
    const char *reason = program != NULL ? reason_to_leave(program) : NULL;
    if (reason != NULL) {
        program->left = strdup(reason);
        program->preparation = RS_PREPARED;
    } else if (program != NULL && rs_build_begin()) {
        program->preparation = RS_BEING_PREPARED;
        program->live_kernels++;
        rs_layer_unlock();
        const rewriting made = rewrite(program);
        rs_layer_lock();
        rs_build_end();
        take_over(program, &made);
        program->preparation = RS_PREPARED;
        program->live_kernels--;
        rs_program_trim(program);
    }
    rs_layer_unlock();
}

/* ---- building ---- */

static cl_int CL_API_CALL build_program(cl_program handle, cl_uint device_count,
                                        const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    const char *options_of_source = options;
    bool has_headers = false;
    rs_layer_lock();
    rs_program *program = rs_program_find(handle);
    if (program != NULL && program->origin_options != NULL)
        options_of_source = program->origin_options;
    build *begun = begin_build(program, options_of_source != NULL ? options_of_source : "",
                               device_count, devices, notify, data);
    has_headers = begun != NULL && begun->is_recorded && program->source != NULL &&
                  program->options != NULL && strstr(program->source, "include") != NULL;
    rs_layer_unlock();
    /* Headers must be read as they are now, and from the present folder; all else can wait for a
     * kernel. */
    if (has_headers)
        rs_program_prepare(handle);
    const bool noted = begun != NULL && notify != NULL;
    return return_from_build(begun, rs_driver()->clBuildProgram(handle, device_count, devices,
                                                                options, noted ? note_end : notify,
                                                                noted ? begun : data));
}

void rs_layer_add_programs(cl_icd_dispatch *table)
{
    table->clCreateProgramWithSource = create_with_source;
    table->clCreateProgramWithBinary = create_with_binary;
    table->clCreateProgramWithIL = create_with_il;
    table->clCreateProgramWithBuiltInKernels = create_with_built_in;
    table->clCompileProgram = compile_program;
    table->clLinkProgram = link_program;
    table->clRetainProgram = retain_program;
    table->clReleaseProgram = release_program;
    table->clBuildProgram = build_program;
}
