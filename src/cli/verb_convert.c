/* restride convert FILE: changes the layout of a file's array, in place. */
#include "base/text.h"
#include "cli/array.h"
#include "cli/cli.h"
#include "console/fail.h"
#include "layout/layout.h"

#include <string.h>

/* ---- options ---- */

typedef struct {
    rs_array_options array;
    const char *dims;
    const char *from;
    const char *to;
} convert_options;

static int read_options(int argc, char **argv, convert_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("dims", convert_options, dims)},
        {RS_CLI_TEXT("from", convert_options, from)},
        {RS_CLI_TEXT("to", convert_options, to)},
        RS_ARRAY_OPTIONS(convert_options),
        {0},
    };
    *options = (convert_options){.array = {.verb = "convert"}};
    int exit_status = rs_array_read_options(&options->array, argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (options->from == NULL || options->to == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "convert",
                           "It needs --from and --to, the layout now and the one wanted.");
    if (options->dims == NULL && (options->array.unit != 0 || options->array.offset.given))
        return rs_cli_fail(RS_EXIT_USAGE, "convert",
                           "--dtype and --offset belong to files without a header; give --dims "
                           "too.");
    options->array.raw = options->dims != NULL;
    return RS_EXIT_DONE;
}

/* ---- layouts ---- */

typedef struct {
    restride_layout *from;
    restride_layout *to;
} layouts;

static restride_status parse_layouts(const convert_options *options, layouts *l)
{
    restride_status status = restride_layout_parse(&l->from, options->dims, options->from);
    if (status == RESTRIDE_OK)
        status = restride_layout_parse(&l->to, options->dims, options->to);
    return status;
}

/* The elements in the order of the file, in C or Fortran order alike. */
static restride_status layouts_of_npy(const rs_file_array *array, const convert_options *options,
                                      layouts *l)
{
    rs_record record;
    if (!array->npy.structured)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The elements of %s are no structures, so --dims must name its dimensions "
                       "and --dtype and --offset the rest.",
                       array->file.path);
    restride_status status = rs_npy_record(&array->npy, array->file.path, &record);
    if (status != RESTRIDE_OK)
        return status;
    size_t count = array->npy.data_bytes / array->npy.item_bytes;
    status = rs_layout_of_record(&l->from, &record, count, options->from);
    if (status == RESTRIDE_OK)
        status = rs_layout_of_record(&l->to, &record, count, options->to);
    rs_record_free(&record);
    return status;
}

/* ---- the verb ---- */

/* After check_sizes(). */
static size_t bytes_of(const rs_file_array *array, const restride_layout *layout)
{
    size_t bytes;
    return rs_layout_count_bytes(layout, array->unit, &bytes) ? bytes : 0;
}

/* Whether the file is as large as both layouts: it does not grow for the sake of padding. */
static restride_status check_sizes(const rs_file_array *array, const layouts *l)
{
    if (l->from->record < 0 && l->from->unit == 0 && array->unit == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "No dimension is a structure, so --dtype must say how large the elements "
                       "are, or a type behind the dimensions.");
    size_t from;
    size_t to;
    if (!rs_layout_count_bytes(l->from, array->unit, &from) ||
        !rs_layout_count_bytes(l->to, array->unit, &to))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "The array \"%s\" is more bytes than 64 bits can count; its extents are too "
                       "large.",
                       l->from->dims_text);
    if (from == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The array \"%s\" is empty; there is nothing to convert.",
                       l->from->dims_text);
    if (from != to)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The layouts take %zu and %zu bytes because of padding, and a file keeps "
                       "its size; leave out \":pad\".",
                       from, to);
    return rs_array_check_bytes(array, from);
}

static restride_status make_plan(const rs_file_array *array, const layouts *l, restride_plan **plan)
{
    const restride_plan_options options = rs_array_plan_options(array, bytes_of(array, l->from));
    return restride_plan_convert_with(plan, array->engine, l->from, l->to,
                                      l->from->record >= 0 ? 0 : array->unit, &options);
}

static int convert(rs_file_array *array, const void *how)
{
    const convert_options *options = how;
    static const char note[] = "The header still describes the elements as they were.";
    layouts l = {NULL, NULL};
    restride_plan *plan = NULL;
    restride_status status =
        array->is_npy ? layouts_of_npy(array, options, &l) : parse_layouts(options, &l);
    if (status == RESTRIDE_OK)
        status = check_sizes(array, &l);
    if (status == RESTRIDE_OK)
        status = make_plan(array, &l, &plan);
    const rs_array_run run = {plan,          status == RESTRIDE_OK ? bytes_of(array, l.from) : 0,
                              options->from, options->to,
                              NULL,          array->is_npy ? note : NULL};
    int exit_status = status == RESTRIDE_OK ? rs_array_convert(array, &run)
                                            : rs_cli_fail_last(RS_EXIT_FAILED, "convert");
    restride_plan_destroy(plan);
    restride_layout_destroy(l.from);
    restride_layout_destroy(l.to);
    return exit_status;
}

/* The change in words: a journal is resumed by the same words alone. */
static char *describe(const convert_options *options)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, "convert");
    if (options->dims != NULL)
        rs_text_format(&text, " --dims '%s' --dtype %zu --offset %zu", options->dims,
                       options->array.unit, options->array.offset.bytes);
    rs_text_format(&text, " --from '%s' --to '%s'", options->from, options->to);
    return rs_text_take(&text);
}

int rs_verb_convert(int argc, char **argv)
{
    convert_options options;
    int exit_status = read_options(argc, argv, &options);
    return exit_status != RS_EXIT_DONE
               ? exit_status
               : rs_array_change(&options.array, describe(&options), convert, &options);
}
