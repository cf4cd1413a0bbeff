/*
 * restride sim KERNEL.cl: what layouts of a kernel's arrays would do on a device. The kernel is run
 * once, in Oclgrind; every access goes to the model of each layout as it is recorded.
 */
#include "cli/cli.h"
#include "cli/sim.h"
#include "console/fail.h"
#include "console/options.h"
#include "layout/layout.h"
#include "sim/replay.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GIVEN = 128, MOST_ARRAYS = RS_SIM_MOST_PARAMETERS + 16, ALIGNMENT = 256 };

static const char as_written[] = "as written";

typedef struct {
    const char *file;
    const char *kernel;
    const char *values[MOST_GIVEN];
    size_t value_count;
    const char *dims[MOST_GIVEN];
    size_t dims_count;
    const char *layouts[RS_SIM_MOST_LAYOUTS];
    size_t layout_count;
    size_t global[3];
    size_t local[3];
    rs_sim_forms forms;
    char **compiler;
    size_t compiler_count;
} kernel_options;

/* A buffer of the kernel. */
typedef struct {
    rs_sim_parameter *parameter;
    const char *dims; /* as given; NULL */
    restride_layout *layout;
    size_t element_bytes; /* 1 where the layout has a record */
    bool has_fields;      /* so that a layout without a name is for it too */
} buffer;

/* The arrays in one layout, and the memory that they lie in. */
typedef struct {
    rs_sim_array arrays[MOST_ARRAYS];
    restride_layout *layouts[RS_SIM_MOST_PARAMETERS]; /* of buffers; NULL: as written */
    rs_sim_memory *memory;
} variant;

typedef struct {
    const kernel_options *options;
    rs_sim_device device;
    rs_sim_signature signature;
    buffer buffers[RS_SIM_MOST_PARAMETERS];
    size_t buffer_count;
    variant *variants; /* one for each layout, behind that of the kernel as written */
    size_t variant_count;
} comparison;

/* ---- options ---- */

static bool add(const char *list[], size_t *count, size_t most, const char *value)
{
    if (*count == most)
        return false;
    list[(*count)++] = value;
    return true;
}

static bool take_extents(const char *text, void *field)
{
    size_t *extents = field;
    int count;
    if (!rs_cli_read_list(text, ',', 3, extents, &count))
        return false;
    for (int i = count; i < 3; i++)
        extents[i] = 1;
    return extents[0] > 0 && extents[1] > 0 && extents[2] > 0;
}

static bool take_value(const char *text, void *into)
{
    kernel_options *options = into;
    return add(options->values, &options->value_count, MOST_GIVEN, text);
}

static bool take_dims(const char *text, void *into)
{
    kernel_options *options = into;
    return add(options->dims, &options->dims_count, MOST_GIVEN, text);
}

/* One place is for the kernel as it is written. */
static bool take_layout(const char *text, void *into)
{
    kernel_options *options = into;
    return add(options->layouts, &options->layout_count, RS_SIM_MOST_LAYOUTS - 1, text);
}

static int read_options(int argc, char **argv, kernel_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("kernel", kernel_options, kernel)},
        {RS_CLI_OWN("global", kernel_options, global, take_extents)},
        {RS_CLI_OWN("local", kernel_options, local, take_extents)},
        {RS_CLI_WHOLE("arg", take_value)},
        {RS_CLI_WHOLE("dims", take_dims)},
        {RS_CLI_WHOLE("layout", take_layout)},
        RS_SIM_FORM_OPTIONS(kernel_options),
        {0},
    };
    int own = 2;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    *options = (kernel_options){.file = argv[1], .forms = {.device = "h100"}};
    options->compiler = argv + (own < argc ? own + 1 : argc);
    options->compiler_count = (size_t)(own < argc ? argc - own - 1 : 0);
    int exit_status = rs_cli_read_only_options("sim", own - 1, argv + 1, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (options->global[0] == 0)
        return rs_cli_fail(RS_EXIT_USAGE, "sim",
                           "Give the number of work-items by --global; restride sim KERNEL.cl "
                           "--help has an example.");
    return RS_EXIT_DONE;
}

/* ---- names ---- */

static const char *skip_space(const char *text)
{
    return text + strspn(text, " \t");
}

/* Splits "NAME: REST"; false when it does not begin so. */
static bool split_name(const char *text, const char **name, size_t *length, const char **rest)
{
    *name = skip_space(text);
    *length = 0;
    while (isalnum((unsigned char)(*name)[*length]) || (*name)[*length] == '_')
        (*length)++;
    const char *colon = skip_space(*name + *length);
    if (*length == 0 || *colon != ':')
        return false;
    *rest = skip_space(colon + 1);
    return true;
}

/* The parameter of "NAME: REST"; NULL, with a sentence, when there is none. */
static rs_sim_parameter *find_named(comparison *c, const char *text, const char **rest)
{
    const char *name;
    size_t length;
    if (split_name(text, &name, &length, rest))
        return rs_sim_find_parameter(&c->signature, name, length);
    rs_fail(RESTRIDE_INVALID_ARGUMENT, "\"%s\" is not of the form 'NAME: ...'.", text);
    return NULL;
}

/* ---- values and arrays ---- */

/* "y x" for "y:100 x:200": the dimensions from slowest to fastest, as C stores them. */
static char *natural_order(const char *dims)
{
    rs_text text = RS_TEXT_EMPTY;
    while (*dims != '\0') {
        size_t length = strcspn(dims, " \t:{");
        rs_text_add(&text, dims, length);
        rs_text_add_string(&text, " ");
        dims += length;
        dims += *dims == '{' ? strcspn(dims, "}") : strcspn(dims, " \t");
        dims = skip_space(dims + (*dims == '}'));
    }
    return rs_text_take(&text);
}

static restride_status fail_without_value(const rs_sim_parameter *parameter)
{
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "Parameter %s has no value; give one by --arg '%s: ...'.", parameter->name,
                   parameter->name);
}

/* The array has the dimensions that were given; without a value it is as large, with zeros. */
static restride_status use_dims(buffer *made)
{
    rs_sim_parameter *parameter = made->parameter;
    char *order = natural_order(made->dims);
    if (order == NULL)
        return rs_fail_memory("an array's dimensions");
    restride_status status = restride_layout_parse(&made->layout, made->dims, order);
    free(order);
    if (status != RESTRIDE_OK)
        return status;
    made->element_bytes = made->layout->record >= 0 ? 1 : parameter->bytes;
    size_t size = restride_layout_size(made->layout) * made->element_bytes;
    if (!parameter->given)
        status = rs_sim_give_zeros(parameter, size / parameter->bytes);
    return status != RESTRIDE_OK || size == parameter->size
               ? status
               : rs_fail(RESTRIDE_INVALID_ARGUMENT,
                         "The dimensions of %s make %zu bytes, but the array has %zu.",
                         parameter->name, size, parameter->size);
}

/* The array is a row of elements, or of structures with their members. */
static restride_status use_elements(buffer *made)
{
    const rs_sim_parameter *parameter = made->parameter;
    if (!parameter->given)
        return fail_without_value(parameter);
    size_t elements = parameter->size / parameter->bytes;
    made->element_bytes = parameter->has_record ? 1 : parameter->bytes;
    if (parameter->has_record)
        return rs_layout_of_record(&made->layout, &parameter->record, elements, "i f");
    rs_text dims = RS_TEXT_EMPTY;
    rs_text_format(&dims, "i:%zu", elements);
    restride_status status = dims.failed ? rs_fail_memory("an array's dimensions")
                                         : restride_layout_parse(&made->layout, dims.data, "i");
    rs_text_free(&dims);
    return status;
}

static restride_status make_buffer(comparison *c, rs_sim_parameter *parameter)
{
    buffer *made = &c->buffers[c->buffer_count++];
    *made = (buffer){.parameter = parameter};
    for (size_t i = 0; i < c->options->dims_count; i++) {
        const char *rest = NULL;
        const rs_sim_parameter *named = find_named(c, c->options->dims[i], &rest);
        if (named == NULL)
            return RESTRIDE_INVALID_ARGUMENT;
        made->dims = named == parameter ? rest : made->dims;
    }
    made->has_fields = made->dims != NULL || parameter->has_record;
    return made->dims != NULL ? use_dims(made) : use_elements(made);
}

static restride_status give_values(comparison *c)
{
    for (size_t i = 0; i < c->options->value_count; i++) {
        const char *rest = NULL;
        rs_sim_parameter *parameter = find_named(c, c->options->values[i], &rest);
        if (parameter == NULL || rs_sim_give(parameter, rest) != RESTRIDE_OK)
            return RESTRIDE_INVALID_ARGUMENT;
    }
    for (size_t i = 0; i < c->signature.count; i++) {
        rs_sim_parameter *parameter = &c->signature.parameters[i];
        restride_status status = RESTRIDE_OK;
        if (parameter->place == RS_SIM_BUFFER)
            status = make_buffer(c, parameter);
        else if (!parameter->given)
            status = fail_without_value(parameter);
        if (status != RESTRIDE_OK)
            return status;
    }
    return RESTRIDE_OK;
}

/* ---- layouts ---- */

static restride_status lay_out(variant *made, const comparison *c, size_t which,
                               const char *expression)
{
    const buffer *array = &c->buffers[which];
    restride_layout_destroy(made->layouts[which]);
    made->layouts[which] = NULL;
    return array->dims == NULL && array->parameter->has_record
               ? rs_layout_of_record(&made->layouts[which], &array->parameter->record,
                                     array->parameter->size / array->parameter->bytes, expression)
               : restride_layout_parse(&made->layouts[which],
                                       array->dims != NULL ? array->dims : array->layout->dims_text,
                                       expression);
}

/* One part of --layout, with the name of an array or for all. */
static restride_status lay_out_part(variant *made, comparison *c, const char *part)
{
    const char *name;
    const char *expression = part;
    size_t length;
    const rs_sim_parameter *parameter = NULL;
    if (split_name(part, &name, &length, &expression)) {
        parameter = rs_sim_find_parameter(&c->signature, name, length);
        if (parameter == NULL)
            return RESTRIDE_INVALID_ARGUMENT;
        if (parameter->place != RS_SIM_BUFFER)
            return rs_fail(RESTRIDE_INVALID_ARGUMENT, "Parameter %s is no array.", parameter->name);
    }
    bool any = false;
    restride_status status = RESTRIDE_OK;
    for (size_t b = 0; b < c->buffer_count && status == RESTRIDE_OK; b++) {
        if (parameter == NULL ? !c->buffers[b].has_fields : c->buffers[b].parameter != parameter)
            continue;
        any = true;
        status = lay_out(made, c, b, expression);
    }
    return status != RESTRIDE_OK || any
               ? status
               : rs_fail(RESTRIDE_INVALID_ARGUMENT,
                         "Layout \"%s\" is for no array: none has structures; give an array's "
                         "dimensions by --dims 'NAME: i:N f:S'.",
                         part);
}

static restride_status read_layouts(variant *made, comparison *c, const char *text)
{
    char *copy = strdup(text);
    char *rest = copy;
    restride_status status = copy != NULL ? RESTRIDE_OK : rs_fail_memory("a layout");
    while (status == RESTRIDE_OK && rest != NULL) {
        char *part = rest;
        rest = strchr(part, ';');
        if (rest != NULL)
            *rest++ = '\0';
        status = lay_out_part(made, c, skip_space(part));
    }
    free(copy);
    return status;
}

static restride_status make_variants(comparison *c)
{
    c->variant_count = c->options->layout_count + 1;
    c->variants = calloc(c->variant_count, sizeof *c->variants);
    if (c->variants == NULL)
        return rs_fail_memory("the layouts");
    restride_status status = RESTRIDE_OK;
    for (size_t v = 0; v < c->variant_count && status == RESTRIDE_OK; v++) {
        status = rs_sim_memory_create(&c->variants[v].memory, &c->device);
        if (v > 0 && status == RESTRIDE_OK)
            status = read_layouts(&c->variants[v], c, c->options->layouts[v - 1]);
    }
    return status;
}

/* ---- the run ---- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Places the arrays of one layout one behind another, then the constants of the program. */
static void place(const comparison *c, variant *placed, const rs_trace_buffer *recorded,
                  size_t count)
{
    const rs_trace_buffer *own = recorded + (count - c->buffer_count);
    uint64_t base = 0;
    for (size_t b = 0; b < c->buffer_count; b++) {
        const buffer *array = &c->buffers[b];
        const restride_layout *to = placed->layouts[b] != NULL ? placed->layouts[b] : array->layout;
        placed->arrays[b] = (rs_sim_array){own[b].address, own[b].bytes, base,
                                           array->layout,  to,           array->element_bytes};
        base += aligned(restride_layout_size(to) * array->element_bytes);
    }
    for (size_t i = c->buffer_count; i < count; i++) {
        const rs_trace_buffer *constant = &recorded[i - c->buffer_count];
        placed->arrays[i] =
            (rs_sim_array){.address = constant->address, .bytes = constant->bytes, .base = base};
        base += aligned(constant->bytes);
    }
}

/* The buffers that Oclgrind allocated last are the kernel's arrays, in their order. */
static restride_status place_all(comparison *c, const rs_trace_buffer *recorded, size_t count)
{
    bool known = count >= c->buffer_count;
    for (size_t b = 0; known && b < c->buffer_count; b++)
        known = recorded[count - c->buffer_count + b].bytes == c->buffers[b].parameter->size;
    if (!known || count > MOST_ARRAYS)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The kernel's arrays were not found in Oclgrind's recording.");
    for (size_t v = 0; v < c->variant_count; v++)
        place(c, &c->variants[v], recorded, count);
    return RESTRIDE_OK;
}

static restride_status replay(comparison *c, FILE *stream)
{
    rs_trace *trace;
    const rs_trace_group *group;
    bool placed = false;
    size_t count = 0;
    restride_status status = rs_trace_create(&trace, stream, c->device.warp);
    while (status == RESTRIDE_OK) {
        status = rs_trace_next(trace, &group);
        if (status != RESTRIDE_OK || group == NULL)
            break;
        if (!placed) {
            const rs_trace_buffer *buffers = rs_trace_buffers(trace, &count);
            status = place_all(c, buffers, count);
            placed = true;
        }
        for (size_t v = 0; v < c->variant_count && status == RESTRIDE_OK; v++)
            status = rs_sim_replay(c->variants[v].memory, c->variants[v].arrays, count, group);
    }
    rs_trace_destroy(trace);
    return status;
}

static void choose_local(const comparison *c, size_t local[3])
{
    enum { MOST = 128 };
    const kernel_options *options = c->options;
    memcpy(local, options->local, sizeof options->local);
    if (local[0] > 0)
        return;
    local[0] = local[1] = local[2] = 1;
    while (local[0] < MOST && options->global[0] % (2 * local[0]) == 0)
        local[0] *= 2;
}

static restride_status run(comparison *c)
{
    const kernel_options *options = c->options;
    rs_sim_launch launch = {.file = options->file,
                            .signature = &c->signature,
                            .options = options->compiler,
                            .option_count = options->compiler_count};
    memcpy(launch.global, options->global, sizeof launch.global);
    choose_local(c, launch.local);
    for (int i = 0; i < 3; i++)
        if (launch.global[i] % launch.local[i] != 0)
            return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                           "Work-groups of %zu do not divide %zu work-items; change --local.",
                           launch.local[i], launch.global[i]);
    rs_sim_running *running;
    FILE *stream;
    restride_status status = rs_sim_launch_start(&running, &launch, &stream);
    if (status == RESTRIDE_OK)
        status = replay(c, stream);
    return rs_sim_launch_end(running, status);
}

static restride_status compare(comparison *c)
{
    const kernel_options *options = c->options;
    restride_status status = rs_sim_read_device(&c->device, options->forms.device);
    if (status == RESTRIDE_OK)
        status = rs_sim_signature_read(&c->signature, options->file, options->kernel,
                                       options->compiler, options->compiler_count);
    if (status == RESTRIDE_OK)
        status = give_values(c);
    if (status == RESTRIDE_OK)
        status = make_variants(c);
    return status == RESTRIDE_OK ? run(c) : status;
}

static int report(comparison *c)
{
    rs_sim_result results[RS_SIM_MOST_LAYOUTS] = {{.load = NULL}};
    restride_status status = RESTRIDE_OK;
    for (size_t v = 0; v < c->variant_count && status == RESTRIDE_OK; v++) {
        results[v].layout = v == 0 ? as_written : c->options->layouts[v - 1];
        status = rs_sim_take_result(&results[v], c->variants[v].memory);
    }
    const rs_sim_report made = {&c->device, "kernel", c->signature.kernel, results,
                                c->variant_count};
    int exit_status = status == RESTRIDE_OK ? rs_sim_write_report(&made, &c->options->forms)
                                            : rs_cli_fail_last(RS_EXIT_FAILED, "sim");
    for (size_t v = 0; v < c->variant_count; v++)
        free(results[v].load);
    return exit_status;
}

static void free_comparison(comparison *c)
{
    for (size_t v = 0; c->variants != NULL && v < c->variant_count; v++) {
        rs_sim_memory_destroy(c->variants[v].memory);
        for (size_t b = 0; b < c->buffer_count; b++)
            restride_layout_destroy(c->variants[v].layouts[b]);
    }
    for (size_t b = 0; b < c->buffer_count; b++)
        restride_layout_destroy(c->buffers[b].layout);
    free(c->variants);
    rs_sim_signature_free(&c->signature);
    free(c);
}

int rs_sim_kernel_verb(int argc, char **argv)
{
    if (rs_cli_helps(argc, argv, rs_help_sim_kernel))
        return RS_EXIT_DONE;
    kernel_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    const char *dot = strrchr(options.file, '.');
    if (dot != NULL && strncmp(dot, ".cu", 3) == 0)
        return rs_cli_fail(RS_EXIT_FAILED, "sim",
                           "%s is CUDA C++, and only kernels of OpenCL C are run here.",
                           options.file);
    comparison *c = calloc(1, sizeof *c);
    if (c == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, "sim", "There is not enough memory.");
    c->options = &options;
    exit_status = compare(c) == RESTRIDE_OK ? report(c) : rs_cli_fail_last(RS_EXIT_FAILED, "sim");
    free_comparison(c);
    return exit_status;
}
