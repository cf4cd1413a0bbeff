/*
 * Fuzzes the parser of layouts: the dimension list up to the first newline, the expression behind
 * it. In a layout that is accepted the first and the last element lie inside the array, and the
 * offset of an element leads back to it.
 */
#include "layout/layout.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_element(const restride_layout *layout, const size_t index[])
{
    size_t back[RS_LAYOUT_MAX_RANK] = {0};
    size_t offset = restride_layout_offset(layout, index);
    check(offset < restride_layout_size(layout));
    check(rs_layout_index(layout, offset, back) == 0);
    check(memcmp(back, index, (size_t)layout->rank * sizeof *index) == 0);
}

static void check_layout(const restride_layout *layout)
{
    size_t first[RS_LAYOUT_MAX_RANK] = {0};
    size_t last[RS_LAYOUT_MAX_RANK] = {0};
    bool empty = false;
    for (int d = 0; d < layout->rank; d++) {
        empty = empty || layout->dimensions[d].extent == 0;
        last[d] = layout->dimensions[d].extent - 1;
    }
    if (!empty) {
        check_element(layout, first);
        check_element(layout, last);
    }
    char *source;
    if (restride_layout_accessor(layout, RESTRIDE_DIALECT_C, "a", &source) == RESTRIDE_OK)
        free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *dims = calloc(1, count + 2);
    check(dims != NULL);
    memcpy(dims, bytes, count);
    char *newline = strchr(dims, '\n');
    char *expression = newline == NULL ? dims + count + 1 : newline + 1;
    if (newline != NULL)
        *newline = '\0';
    restride_layout *layout;
    rs_layout_fault fault;
    if (rs_layout_parse(&layout, dims, expression, &fault) == RESTRIDE_OK)
        check_layout(layout);
    restride_layout_destroy(layout);
    free(dims);
    return 0;
}
