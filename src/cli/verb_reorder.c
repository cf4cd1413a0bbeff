/* restride reorder INDEX: an order of data and threads for A[P[t]]. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/reorder.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "file/npy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 256 };

typedef struct {
    const char *index_path;
    const char *data_path;
    const char *write_index;
    const char *write_order;
    const char *write_slots;
    const char *svg;
    const char *engine;
    const char *device;
    size_t objects;
    size_t object_bytes;
    size_t threads;
    bool keep_threads;
    bool explain;
    bool json;
    restride_launch launch;
    restride_irregular_options plan;
} reorder_options;

/* A .npy file in memory. */
typedef struct {
    rs_text text;
    rs_npy npy;
    const unsigned char *values;
} npy_file;

/* ---- options ---- */

static bool take_method(const char *text, void *field)
{
    restride_irregular_method *method = field;
    for (int i = 0; i < RS_REORDER_METHODS; i++)
        if (strcmp(text, rs_reorder_methods[i].name) == 0) {
            *method = (restride_irregular_method)i;
            return true;
        }
    return false;
}

static int check_options(const reorder_options *options, int arguments)
{
    if (arguments != 1)
        return rs_cli_fail(RS_EXIT_USAGE, "reorder",
                           "Give one index file, not %d; restride reorder --help explains.",
                           arguments);
    bool described = options->objects > 0 && options->object_bytes > 0;
    bool partly = options->objects > 0 || options->object_bytes > 0;
    if ((options->data_path != NULL) == partly || partly != described)
        return rs_cli_fail(RS_EXIT_USAGE, "reorder",
                           "Say what the array is, by --data or by --objects and --type.");
    if (options->write_slots != NULL && options->data_path == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "reorder",
                           "--write-slots needs the array itself: give --data.");
    if (options->device != NULL && !rs_cli_is_device_engine(options->engine))
        return rs_cli_fail(RS_EXIT_USAGE, "reorder",
                           "--device is for plans made on a device: give --engine opencl or cuda.");
    return RS_EXIT_DONE;
}

static int read_options(int argc, char **argv, reorder_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("data", reorder_options, data_path)},
        {RS_CLI_COUNT("objects", reorder_options, objects, 1, SIZE_MAX)},
        {RS_CLI_OWN("type", reorder_options, object_bytes, rs_cli_take_unit)},
        {RS_CLI_COUNT("warp", reorder_options, launch.warp, 1, SIZE_MAX)},
        {RS_CLI_BYTES("segment", reorder_options, launch.segment_bytes, 1, SIZE_MAX)},
        {RS_CLI_OWN("method", reorder_options, plan.method, take_method)},
        {RS_CLI_BYTES("budget", reorder_options, plan.extra_bytes, 1, SIZE_MAX)},
        {RS_CLI_FLAG("keep-threads", reorder_options, keep_threads)},
        {RS_CLI_COUNT("threads", reorder_options, threads, 1, MOST_THREADS)},
        {RS_CLI_TEXT("write-index", reorder_options, write_index)},
        {RS_CLI_TEXT("write-order", reorder_options, write_order)},
        {RS_CLI_TEXT("write-slots", reorder_options, write_slots)},
        {RS_CLI_TEXT("svg", reorder_options, svg)},
        {RS_CLI_OWN("engine", reorder_options, engine, rs_cli_take_engine)},
        {RS_CLI_TEXT("device", reorder_options, device)},
        {RS_CLI_FLAG("explain", reorder_options, explain)},
        {RS_CLI_FLAG("json", reorder_options, json)},
        {0},
    };
    *options = (reorder_options){.launch = {0, 32, 32}, .engine = "host"};
    int exit_status = rs_cli_read_options("reorder", argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    options->plan.keep_threads = options->keep_threads;
    options->plan.processors = (int)options->threads;
    exit_status = check_options(options, argc - optind);
    options->index_path = exit_status == RS_EXIT_DONE ? argv[optind] : NULL;
    return exit_status;
}

/* ---- files ---- */

static void close_npy(npy_file *file)
{
    rs_npy_free(&file->npy);
    rs_text_free(&file->text);
}

static restride_status open_npy(npy_file *file, const char *path)
{
    *file = (npy_file){.text = RS_TEXT_EMPTY};
    restride_status status = rs_text_read_file(&file->text, path);
    if (status == RESTRIDE_OK)
        status = rs_npy_read(&file->npy, path, file->text.data, file->text.size, file->text.size);
    if (status != RESTRIDE_OK) {
        rs_text_free(&file->text);
        return status;
    }
    if (file->npy.fortran_order && file->npy.rank > 1) {
        close_npy(file);
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The array in %s is in Fortran order; save it in C order.", path);
    }
    file->values = (const unsigned char *)file->text.data + file->npy.header_bytes;
    return RESTRIDE_OK;
}

/* The header's quotes are part of the type's text. */
static restride_status check_index(const npy_file *file, const char *path)
{
    static const char *const types[] = {"<u4", "<i4", "<u8", "<i8"};
    size_t length = strlen(file->npy.type);
    for (size_t i = 0; file->npy.rank == 1 && i < sizeof types / sizeof types[0]; i++)
        if (length == strlen(types[i]) + 2 && strncmp(file->npy.type + 1, types[i], 3) == 0)
            return RESTRIDE_OK;
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The array in %s, of type %s, cannot be an index: save one axis of 4- or 8-byte "
                   "integers.",
                   path, file->npy.type);
}

/* One axis of `count` entries, then the axes of `like` from its second on, if there is one. */
static restride_status write_npy(const char *path, const char *type, size_t count,
                                 const rs_npy *like, const void *values, size_t bytes)
{
    enum { PREFIX = 10, ALIGNMENT = 64 };
    rs_text header = RS_TEXT_EMPTY;
    rs_text_format(&header, "{'descr': %s, 'fortran_order': False, 'shape': (%zu,", type, count);
    for (int axis = 1; like != NULL && axis < like->rank; axis++)
        rs_text_format(&header, " %zu,", like->shape[axis]);
    rs_text_add_string(&header, "), }");
    while ((PREFIX + header.size + 1) % ALIGNMENT != 0 && !header.failed)
        rs_text_add_string(&header, " ");
    rs_text_add_string(&header, "\n");
    rs_text file = RS_TEXT_EMPTY;
    const char length[] = {(char)(header.size & 0xff), (char)(header.size >> 8)};
    rs_text_add(&file, "\x93NUMPY\1\0", 8);
    rs_text_add(&file, length, sizeof length);
    rs_text_add(&file, header.data, header.size);
    rs_text_add(&file, values, bytes);
    restride_status status;
    if (header.size > UINT16_MAX)
        status = rs_fail(RESTRIDE_UNSUPPORTED, "The type of the array is too long for %s.", path);
    else if (header.failed || file.failed)
        status = rs_fail_memory("a file's contents");
    else
        status = rs_text_write_file(path, file.data, file.size);
    rs_text_free(&header);
    rs_text_free(&file);
    return status;
}

static restride_status write_index(const rs_reorder_plan *plan, const reorder_options *options,
                                   const npy_file *index)
{
    size_t bytes = options->launch.threads * index->npy.item_bytes;
    void *values = malloc(bytes);
    if (values == NULL)
        return rs_fail_memory("the new index array");
    restride_status status = rs_reorder_index(plan, values);
    if (status == RESTRIDE_OK)
        status = write_npy(options->write_index, index->npy.type, options->launch.threads, NULL,
                           values, bytes);
    free(values);
    return status;
}

static restride_status write_order(const rs_reorder_plan *plan, const reorder_options *options)
{
    size_t bytes = options->launch.threads * sizeof(size_t);
    size_t *order = malloc(bytes);
    if (order == NULL)
        return rs_fail_memory("the order of threads");
    restride_status status = rs_reorder_order(plan, order);
    if (status == RESTRIDE_OK)
        status =
            write_npy(options->write_order, "'<u8'", options->launch.threads, NULL, order, bytes);
    free(order);
    return status;
}

static restride_status write_slots(const rs_reorder_plan *plan, const reorder_options *options,
                                   const npy_file *data)
{
    size_t bytes = plan->slots * options->object_bytes;
    void *slots = malloc(bytes);
    if (slots == NULL)
        return rs_fail_memory("the new array");
    restride_status status = rs_reorder_gather(plan, data->values, slots);
    if (status == RESTRIDE_OK)
        status =
            write_npy(options->write_slots, data->npy.type, plan->slots, &data->npy, slots, bytes);
    free(slots);
    return status;
}

/* ---- work ---- */

static restride_status write_files(const rs_reorder_plan *plan, const reorder_options *options,
                                   const npy_file *index, const npy_file *data)
{
    restride_status status = RESTRIDE_OK;
    if (options->write_index != NULL)
        status = write_index(plan, options, index);
    if (status == RESTRIDE_OK && options->write_order != NULL)
        status = write_order(plan, options);
    if (status == RESTRIDE_OK && options->write_slots != NULL)
        status = write_slots(plan, options, data);
    if (status == RESTRIDE_OK && options->svg != NULL)
        status = rs_reorder_draw(plan, options->svg);
    return status;
}

static restride_status make_report(rs_reorder_report *r, const rs_reorder_place *place,
                                   const reorder_options *options, const npy_file *index,
                                   const npy_file *data)
{
    rs_reorder_plan plan;
    restride_status status = rs_reorder_make(&plan, place, &options->plan);
    if (status != RESTRIDE_OK)
        return status;
    r->used = rs_reorder_tell(&plan);
    r->engine = options->engine;
    if (place->engine != NULL) {
        r->device = rs_cli_engine_device(place->engine);
        if (r->device == NULL)
            status = rs_fail_memory("the report");
    }
    if (status == RESTRIDE_OK)
        status = write_files(&plan, options, index, data);
    rs_reorder_free(&plan);
    if (status == RESTRIDE_OK && options->explain)
        status = rs_reorder_try_methods(r, place, &options->plan);
    return status;
}

static restride_status open_place(rs_reorder_place *place, reorder_options *options,
                                  const npy_file *index)
{
    restride_status status = check_index(index, options->index_path);
    if (status != RESTRIDE_OK)
        return status;
    options->launch.threads = index->npy.shape[0];
    const restride_reference reference = {index->values, index->npy.item_bytes, options->objects,
                                          options->object_bytes};
    return rs_reorder_open(place, options->engine, options->device, &options->launch, &reference);
}

static int reorder(reorder_options *options, const npy_file *index, const npy_file *data)
{
    rs_reorder_place place;
    if (open_place(&place, options, index) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "reorder");
    rs_reorder_report made = {.tried_count = 0};
    int exit_status;
    if (make_report(&made, &place, options, index, data) != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "reorder");
    else
        exit_status = options->json ? rs_reorder_print_json(&made) : rs_reorder_print_text(&made);
    rs_reorder_free_report(&made);
    rs_reorder_close(&place);
    return exit_status;
}

int rs_verb_reorder(int argc, char **argv)
{
    reorder_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    npy_file index;
    npy_file data = {.text = RS_TEXT_EMPTY};
    if (open_npy(&index, options.index_path) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "reorder");
    if (options.data_path != NULL && open_npy(&data, options.data_path) != RESTRIDE_OK) {
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "reorder");
    } else {
        if (options.data_path != NULL) {
            options.objects = data.npy.rank > 0 ? data.npy.shape[0] : 1;
            options.object_bytes = data.npy.data_bytes / options.objects;
        }
        exit_status = reorder(&options, &index, &data);
        if (options.data_path != NULL)
            close_npy(&data);
    }
    close_npy(&index);
    return exit_status;
}
