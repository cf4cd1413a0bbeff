/* The slow and simple way; see reference.h. */
#include "reference.h"
#include "cmocka_all.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { CANARY_BYTES = 128, CANARY = 0xA7 };

size_t test_random(uint64_t *state, size_t bound)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (size_t)((z ^ (z >> 31)) % bound);
}

void reference_transpose(unsigned char *target, const unsigned char *source, size_t batch,
                         size_t rows, size_t cols, size_t unit)
{
    for (size_t b = 0; b < batch; b++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                memcpy(target + ((b * cols + j) * rows + i) * unit,
                       source + ((b * rows + i) * cols + j) * unit, unit);
}

void reference_permute(unsigned char *target, const unsigned char *source, int rank,
                       const size_t dims[], const int axes[], size_t unit)
{
    enum { MOST_RANK = 16 };
    size_t strides[MOST_RANK];
    size_t elements = 1;
    for (int i = rank; i-- > 0;) {
        strides[i] = elements;
        elements *= dims[i];
    }
    size_t index[MOST_RANK] = {0};
    for (size_t e = 0; e < elements; e++) {
        size_t from = 0;
        for (int k = 0; k < rank; k++)
            from += index[k] * strides[axes[k]];
        memcpy(target + e * unit, source + from * unit, unit);
        for (int k = rank; k-- > 0 && ++index[k] == dims[axes[k]];)
            index[k] = 0;
    }
}

bool reference_converted(const restride_layout *from, const restride_layout *to, size_t unit,
                         const unsigned char *before, const unsigned char *after)
{
    const rs_record *record = from->record >= 0 ? &from->dimensions[from->record].record : NULL;
    const size_t scale = record != NULL ? 1 : unit;
    size_t index[RS_LAYOUT_MAX_RANK] = {0};
    size_t elements = 1;
    for (int d = 0; d < from->rank; d++)
        elements *= from->dimensions[d].extent;
    for (size_t e = 0; e < elements; e++) {
        const size_t size = record != NULL ? record->leaves[index[from->record]].size : unit;
        if (memcmp(before + restride_layout_offset(from, index) * scale,
                   after + restride_layout_offset(to, index) * scale, size) != 0)
            return false;
        for (int d = from->rank; d-- > 0 && ++index[d] == from->dimensions[d].extent;)
            index[d] = 0;
    }
    return true;
}

guarded_buffer guarded_create(size_t size, size_t misalignment, uint64_t seed)
{
    guarded_buffer buffer = {NULL, size, NULL};
    size_t whole = size + misalignment + 2 * CANARY_BYTES;
    assert_int_equal(posix_memalign(&buffer.allocation, 64, whole), 0);
    memset(buffer.allocation, CANARY, whole);
    buffer.bytes = (unsigned char *)buffer.allocation + CANARY_BYTES + misalignment;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = test_random(&seed, SIZE_MAX);
        memcpy(buffer.bytes + i, &word, size - i < 8 ? size - i : 8);
    }
    return buffer;
}

bool guarded_intact(const guarded_buffer *buffer)
{
    for (size_t i = 1; i <= CANARY_BYTES; i++)
        if (buffer->bytes[-(ptrdiff_t)i] != CANARY || buffer->bytes[buffer->size + i - 1] != CANARY)
            return false;
    return true;
}

void guarded_free(guarded_buffer *buffer)
{
    free(buffer->allocation);
}
