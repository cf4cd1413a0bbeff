/* Windows on an OpenCL device: see window.h. The kernels are src/engine/kernels/window.cl. */
#include "engine/opencl/window.h"

#include "base/arithmetic.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/device/device.h"
#include "engine/opencl/error.h"

#include <stdlib.h>

extern const char rs_opencl_window_kernels[];

enum {
    MOST_GRANULE = 16,
    MOST_MIXED_GRANULES =
        16384, /* two tables of 32 KiB: every device has as much constant memory */
    MOST_ITEMS = 256,
    MOST_GROUPS = 16384,
    DIRECTIONS = 2
};

static const char *const kernel_names[DIRECTIONS] = {"window_out", "window_in"};

struct rs_opencl_window {
    const cl_icd_dispatch *api;
    size_t record_bytes;
    size_t granule;
    cl_program program;
    cl_kernel kernels[DIRECTIONS];
    size_t items; /* of a work-group */
};

/* ---- the source ---- */

static size_t choose_granule(const rs_record *record)
{
    size_t granule = rs_size_gcd(MOST_GRANULE, record->size);
    for (size_t i = 0; i < record->leaf_count; i++)
        granule =
            rs_size_gcd(rs_size_gcd(granule, record->leaves[i].size), record->leaves[i].offset);
    return granule;
}

static bool is_mixed(const rs_record *record)
{
    return rs_record_run(record, 0) < record->leaf_count;
}

/* One number for each granule of a record: of its leaf, the first granule or the number of them. */
static void write_table(rs_text *text, const rs_record *record, size_t granule, const char *name,
                        bool offsets)
{
    rs_text_format(text, "constant ushort %s[] = {", name);
    for (size_t i = 0; i < record->leaf_count; i++) {
        const rs_leaf *leaf = &record->leaves[i];
        for (size_t at = 0; at < leaf->size; at += granule)
            rs_text_format(text, "%zu,", (offsets ? leaf->offset : leaf->size) / granule);
    }
    rs_text_add_string(text, "};\n");
}

static char *write_macros(const rs_window_shape *shape, size_t granule)
{
    const rs_record *record = shape->record;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "#define GRANULE %s\n#define WIDTH %zu\n#define TILE %zu\n%s",
                   rs_device_word_type(granule), record->size / granule, shape->tile,
                   shape->from_soa ? "#define FROM_SOA\n" : "");
    if (is_mixed(record)) {
        rs_text_add_string(&text, "#define MIXED\n");
        write_table(&text, record, granule, "leaf_offset", true);
        write_table(&text, record, granule, "leaf_size", false);
    } else {
        rs_text_format(&text, "#define LEAF %zu\n", record->leaves[0].size / granule);
    }
    return rs_text_take(&text);
}

static restride_status check_shape(const rs_window_shape *shape, size_t granule)
{
    bool mixed = is_mixed(shape->record);
    if (mixed && shape->record->size / granule > MOST_MIXED_GRANULES)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Records of %zu bytes in members of several sizes are too large for the "
                       "tables of a window.",
                       shape->record->size);
    if (mixed && shape->from_soa)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "An array that the program has in SoA has members of one size.");
    return RESTRIDE_OK;
}

/* ---- building ---- */

static restride_status build(rs_opencl_window *window, cl_context context, cl_device_id device,
                             const rs_window_shape *shape)
{
    const cl_icd_dispatch *api = window->api;
    char *macros = write_macros(shape, window->granule);
    if (macros == NULL)
        return rs_fail_memory("a window");
    const char *sources[] = {macros, rs_opencl_window_kernels};
    cl_int code;
    window->program = api->clCreateProgramWithSource(context, 2, sources, NULL, &code);
    free(macros);
    if (code == CL_SUCCESS)
        code = api->clBuildProgram(window->program, 1, &device, "", NULL, NULL);
    window->items = MOST_ITEMS;
    for (int i = 0; i < DIRECTIONS && code == CL_SUCCESS; i++) {
        size_t items = 0;
        window->kernels[i] = api->clCreateKernel(window->program, kernel_names[i], &code);
        if (code == CL_SUCCESS)
            code = api->clGetKernelWorkGroupInfo(
                window->kernels[i], device, CL_KERNEL_WORK_GROUP_SIZE, sizeof items, &items, NULL);
        if (code == CL_SUCCESS && items < window->items)
            window->items = items;
    }
    return code == CL_SUCCESS ? RESTRIDE_OK
                              : rs_opencl_fail(code, "building the kernels of a window");
}

restride_status rs_opencl_window_create(rs_opencl_window **window, const cl_icd_dispatch *api,
                                        cl_context context, cl_device_id device,
                                        const rs_window_shape *shape)
{
    *window = NULL;
    size_t granule = choose_granule(shape->record);
    restride_status status = check_shape(shape, granule);
    if (status != RESTRIDE_OK)
        return status;
    rs_opencl_window *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("a window");
    *created =
        (rs_opencl_window){.api = api, .record_bytes = shape->record->size, .granule = granule};
    status = build(created, context, device, shape);
    if (status == RESTRIDE_OK)
        *window = created;
    else
        rs_opencl_window_destroy(created);
    return status;
}

size_t rs_opencl_window_granule(const rs_opencl_window *window)
{
    return window->granule;
}

void rs_opencl_window_destroy(rs_opencl_window *window)
{
    if (window == NULL)
        return;
    for (int i = 0; i < DIRECTIONS; i++)
        if (window->kernels[i] != NULL)
            window->api->clReleaseKernel(window->kernels[i]);
    if (window->program != NULL)
        window->api->clReleaseProgram(window->program);
    free(window);
}

/* ---- copying ---- */

/* The end of the part's records, in bytes. */
static size_t end_of_records(const rs_opencl_window *window, const rs_window_part *part)
{
    size_t all = part->count * window->record_bytes;
    size_t end = part->end < all ? part->end : all;
    return end > part->first ? end : part->first;
}

restride_status rs_opencl_window_enqueue(const rs_opencl_window *window, cl_command_queue queue,
                                         const rs_window_part *part, rs_window_direction direction,
                                         cl_uint wait_count, const cl_event *wait_list,
                                         cl_event *event)
{
    cl_kernel kernel = window->kernels[direction];
    const cl_ulong count = part->count, tail = end_of_records(window, part), end = part->end;
    const cl_ulong first = part->first / window->granule;
    const cl_ulong granules = (tail - part->first + window->granule - 1) / window->granule;
    const struct {
        size_t size;
        const void *value;
    } arguments[] = {{sizeof part->array, &part->array},
                     {sizeof count, &count},
                     {sizeof part->window, &part->window},
                     {sizeof first, &first},
                     {sizeof granules, &granules},
                     {sizeof tail, &tail},
                     {sizeof end, &end}};
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < sizeof arguments / sizeof arguments[0] && code == CL_SUCCESS; i++)
        code = window->api->clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
    size_t groups = (granules > end - tail ? granules : end - tail) / window->items + 1;
    size_t global = (groups < MOST_GROUPS ? groups : MOST_GROUPS) * window->items;
    if (code == CL_SUCCESS)
        code = window->api->clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &window->items,
                                                   wait_count, wait_list, event);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "enqueuing a window");
}
