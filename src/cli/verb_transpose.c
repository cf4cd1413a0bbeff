/* restride transpose FILE: permutes the axes of a file's array, in place. */
#include "base/text.h"
#include "cli/array.h"
#include "cli/cli.h"
#include "console/fail.h"
#include "restride/restride.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

typedef struct {
    rs_array_options array;
    const char *axes;
} transpose_options;

static int check_shape(const transpose_options *options)
{
    const rs_array_options *array = &options->array;
    size_t extents[RS_ARRAY_MAX_RANK];
    int rank;
    if (array->shape == NULL && (array->unit != 0 || array->offset.given))
        return rs_cli_fail(RS_EXIT_USAGE, array->verb,
                           "--dtype and --offset belong to files without a header; give --shape "
                           "too.");
    if (array->shape == NULL)
        return RS_EXIT_DONE;
    if (!rs_cli_read_list(array->shape, 'x', RS_ARRAY_MAX_RANK, extents, &rank))
        return rs_cli_fail(RS_EXIT_USAGE, array->verb,
                           "--shape takes extents (300x200), not "
                           "\"%s\".",
                           array->shape);
    for (int i = 0; i < rank; i++)
        if (extents[i] == 0)
            return rs_cli_fail(RS_EXIT_USAGE, array->verb,
                               "An array of shape %s is empty; there is nothing to transpose.",
                               array->shape);
    if (array->unit == 0)
        return rs_cli_fail(RS_EXIT_USAGE, array->verb,
                           "--shape needs --dtype, the type or the bytes of an element.");
    return RS_EXIT_DONE;
}

static int read_options(int argc, char **argv, transpose_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("axes", transpose_options, axes)},
        {RS_CLI_TEXT("shape", transpose_options, array.shape)},
        RS_ARRAY_OPTIONS(transpose_options),
        {0},
    };
    *options = (transpose_options){.array = {.verb = "transpose"}};
    int exit_status = rs_array_read_options(&options->array, argc, argv, table, options);
    options->array.raw = options->array.shape != NULL;
    return exit_status == RS_EXIT_DONE ? check_shape(options) : exit_status;
}

/* ---- axes ---- */

/* Axis k of the result is axis axes[k] of the array. */
static int read_axes(const rs_file_array *array, const char *text, int axes[])
{
    size_t numbers[RS_ARRAY_MAX_RANK];
    bool seen[RS_ARRAY_MAX_RANK] = {false};
    int count = array->rank;
    for (int i = 0; i < array->rank; i++)
        numbers[i] = (size_t)(array->rank - 1 - i);
    bool valid = text == NULL || rs_cli_read_list(text, ',', RS_ARRAY_MAX_RANK, numbers, &count);
    valid = valid && count == array->rank;
    for (int i = 0; valid && i < count; i++) {
        valid = numbers[i] < (size_t)count && !seen[numbers[i]];
        if (valid)
            seen[numbers[i]] = true;
        axes[i] = (int)numbers[i];
    }
    if (!valid)
        return rs_cli_fail(RS_EXIT_USAGE, "transpose",
                           "--axes takes each of the %d axes from 0 on once, not \"%s\".",
                           array->rank, text);
    return RS_EXIT_DONE;
}

/* The array as it lies in memory, in C order, and its permutation. */
typedef struct {
    size_t extents[RS_ARRAY_MAX_RANK];
    int permutation[RS_ARRAY_MAX_RANK];
} in_memory;

/* In Fortran order the memory holds the axes from the last to the first. */
static in_memory memory_of(const rs_file_array *array, const int axes[])
{
    in_memory memory;
    int last = array->rank - 1;
    for (int i = 0; i < array->rank; i++) {
        memory.extents[i] = array->shape[array->fortran_order ? last - i : i];
        memory.permutation[i] = array->fortran_order ? last - axes[i] : axes[i];
    }
    return memory;
}

static restride_status make_plan(const rs_file_array *array, const int axes[], size_t bytes,
                                 restride_plan **plan)
{
    const in_memory memory = memory_of(array, axes);
    const restride_plan_options options = rs_array_plan_options(array, bytes);
    return restride_plan_permute_with(plan, array->engine, array->rank, memory.extents,
                                      memory.permutation, array->unit, &options);
}

/* ---- the verb ---- */

static int transpose(rs_file_array *array, const void *how)
{
    const transpose_options *options = how;
    int axes[RS_ARRAY_MAX_RANK];
    size_t shape[RS_ARRAY_MAX_RANK];
    char from[400];
    char to[400];
    char *header = NULL;
    restride_plan *plan = NULL;
    size_t bytes = array->unit;
    int exit_status = read_axes(array, options->axes, axes);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    for (int i = 0; i < array->rank; i++) {
        shape[i] = array->shape[axes[i]];
        bytes *= shape[i];
    }
    rs_array_write_shape(from, sizeof from, array->rank, array->shape);
    rs_array_write_shape(to, sizeof to, array->rank, shape);
    restride_status status = make_plan(array, axes, bytes, &plan);
    if (status == RESTRIDE_OK && array->is_npy) {
        header = malloc(array->npy.header_bytes);
        status = header == NULL ? rs_fail_memory("a header")
                                : rs_npy_write(&array->npy, array->file.path, array->rank, shape,
                                               false, header);
    }
    const rs_array_run run = {plan, bytes, from, to, header, NULL};
    exit_status = status == RESTRIDE_OK ? rs_array_convert(array, &run)
                                        : rs_cli_fail_last(RS_EXIT_FAILED, "transpose");
    free(header);
    restride_plan_destroy(plan);
    return exit_status;
}

/* The change in words: a journal is resumed by the same words alone. */
static char *describe(const transpose_options *options)
{
    const rs_array_options *array = &options->array;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, "transpose");
    if (array->shape != NULL)
        rs_text_format(&text, " --shape %s --dtype %zu --offset %zu", array->shape, array->unit,
                       array->offset.bytes);
    if (options->axes != NULL)
        rs_text_format(&text, " --axes %s", options->axes);
    return rs_text_take(&text);
}

int rs_verb_transpose(int argc, char **argv)
{
    transpose_options options;
    int exit_status = read_options(argc, argv, &options);
    return exit_status != RS_EXIT_DONE
               ? exit_status
               : rs_array_change(&options.array, describe(&options), transpose, &options);
}
