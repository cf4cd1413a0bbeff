/*
 * Fuzzes the reader of .npy headers, in a file that is larger than its first bytes say. A header
 * that is read can be written, read again, and is the same; its members cover the element.
 */
#include "file/npy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_written(const rs_npy *npy)
{
    char *header = malloc(npy->header_bytes);
    check(header != NULL);
    rs_npy again;
    if (rs_npy_write(npy, "file", npy->rank, npy->shape, npy->fortran_order, header) ==
        RESTRIDE_OK) {
        check(rs_npy_read(&again, "file", header, npy->header_bytes, SIZE_MAX) == RESTRIDE_OK);
        check(again.rank == npy->rank && again.data_bytes == npy->data_bytes &&
              again.item_bytes == npy->item_bytes && again.fortran_order == npy->fortran_order);
        check(strcmp(again.type, npy->type) == 0);
        rs_npy_free(&again);
    }
    free(header);
}

static void check_record(const rs_npy *npy)
{
    rs_record record;
    if (rs_npy_record(npy, "file", &record) != RESTRIDE_OK)
        return;
    size_t end = 0;
    for (size_t i = 0; i < record.leaf_count; i++) {
        check(record.leaves[i].offset == end);
        end += record.leaves[i].size;
    }
    check(end == npy->item_bytes);
    rs_record_free(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rs_npy npy;
    if (rs_npy_read(&npy, "file", bytes, count, SIZE_MAX) != RESTRIDE_OK)
        return 0;
    check_written(&npy);
    check_record(&npy);
    rs_npy_free(&npy);
    return 0;
}
