/*
 * Sparse matrix times vector in ELL form, each row stored consecutively (thesis, section 5.6 and
 * table 5.1). The matrix is read from a file in Matrix Market form (--input), or made up with
 * --count rows of at most --width entries around the diagonal.
 */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t rows, width;
    float *values;
    uint32_t *columns;
} ell;

typedef struct {
    uint32_t row, column;
    float value;
} entry;

static int by_place(const void *a, const void *b)
{
    const entry *left = a, *right = b;
    if (left->row != right->row)
        return left->row < right->row ? -1 : 1;
    return (left->column > right->column) - (left->column < right->column);
}

/* The entries in ELL form; rows are padded to whole tiles. */
static ell make_ell(size_t rows, entry *entries, size_t count)
{
    ell made = {.rows = (rows + APP_TILE - 1) / APP_TILE * APP_TILE};
    uint32_t *lengths = example_allocate(made.rows, sizeof *lengths);
    for (size_t i = 0; i < count; i++)
        if (++lengths[entries[i].row] > made.width)
            made.width = lengths[entries[i].row];
    memset(lengths, 0, made.rows * sizeof *lengths);
    made.values = example_allocate(made.rows * made.width, sizeof(float));
    made.columns = example_allocate(made.rows * made.width, sizeof(uint32_t));
    qsort(entries, count, sizeof *entries, by_place);
    for (size_t i = 0; i < count; i++) {
        const size_t place = entries[i].row * made.width + lengths[entries[i].row]++;
        made.values[place] = entries[i].value;
        made.columns[place] = entries[i].column;
    }
    free(lengths);
    return made;
}

static ell read_matrix(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[1024] = "";
    size_t rows, columns, stored, count = 0;
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        example_fail("%s could not be read.", path);
    const int symmetric = strstr(line, "symmetric") != NULL;
    do
        if (fgets(line, sizeof line, file) == NULL)
            example_fail("%s ends before its sizes.", path);
    while (line[0] == '%');
    if (sscanf(line, "%zu %zu %zu", &rows, &columns, &stored) != 3 || stored > 1u << 28)
        example_fail("%s has no sizes where they should be.", path);
    entry *entries = example_allocate(2 * stored, sizeof *entries);
    for (size_t i = 0; i < stored; i++) {
        unsigned row, column;
        double value;
        if (fscanf(file, "%u %u %lf", &row, &column, &value) != 3 || row < 1 || row > rows ||
            column < 1 || column > columns)
            example_fail("%s: entry %zu is wrong.", path, i + 1);
        entries[count++] = (entry){row - 1, column - 1, (float)value};
        if (symmetric && row != column)
            entries[count++] = (entry){column - 1, row - 1, (float)value};
    }
    fclose(file);
    ell made = make_ell(rows, entries, count);
    free(entries);
    return made;
}

/* Rows between half and all of the width, in a band. */
static ell make_up(size_t rows, size_t width)
{
    entry *entries = example_allocate(rows * width, sizeof *entries);
    size_t count = 0;
    for (size_t row = 0; row < rows; row++) {
        size_t length = row == 0 ? width : width / 2 + row * 2654435761u % (width / 2 + 1);
        size_t start = row > 2 * width ? row - 2 * width : 0;
        for (size_t k = 0; k < length; k++) {
            size_t column = start + k * 4 + row % 3;
            entries[count++] = (entry){(uint32_t)row, (uint32_t)(column < rows ? column : k),
                                       1.0f / (float)(k + 1)};
        }
    }
    ell made = make_ell(rows, entries, count);
    free(entries);
    return made;
}

int main(int argc, char **argv)
{
    app_options options = app_read_options(
        argc, argv, (app_options){.count = 17281, .width = 62, .iterations = 30, .device = "any"});
    ell matrix =
        options.input != NULL ? read_matrix(options.input) : make_up(options.count, options.width);
    options.count = matrix.rows;
    options.width = matrix.width;
    const size_t words = matrix.rows * matrix.width, bytes = words * sizeof(float);
    uint32_t *data = example_allocate(words, sizeof *data);
    float *x = example_allocate(matrix.rows, sizeof *x);
    float *y = example_allocate(matrix.rows, sizeof *y);
    for (size_t i = 0; i < matrix.rows; i++)
        x[i] = (float)(i % 17) - 8.0f;

    example_device device = app_open(&options);
    cl_program program = example_build(&device, "spmv.cl", app_build_options(&options));
    cl_kernel kernel = example_kernel(program, "multiply");
    app_to_layout(&options, matrix.width, (const uint32_t *)matrix.values, data);
    cl_mem buffers[4] = {example_buffer(&device, bytes, data)};
    app_to_layout(&options, matrix.width, matrix.columns, data);
    buffers[1] = example_buffer(&device, bytes, data);
    buffers[2] = example_buffer(&device, matrix.rows * sizeof *x, x);
    buffers[3] = example_buffer(&device, matrix.rows * sizeof *y, y);
    const cl_ulong count = matrix.rows;
    for (cl_uint i = 0; i < 4; i++)
        example_set_argument(kernel, i, sizeof buffers[i], &buffers[i]);
    example_set_argument(kernel, 4, sizeof count, &count);
    const app_times times = app_launch(&options, &device, kernel, matrix.rows, NULL, NULL);
    example_read(&device, buffers[3], matrix.rows * sizeof *y, y);
    app_print("spmv", &options, &times, 2.0 * (double)bytes, y, matrix.rows * sizeof *y);

    for (int i = 0; i < 4; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    example_close(&device);
    free(times.seconds);
    free(matrix.values);
    free(matrix.columns);
    free(data);
    free(x);
    free(y);
    return EXIT_SUCCESS;
}
