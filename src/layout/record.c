/*
 * Records: one C structure as leaves that move as a whole (Sung thesis, section 5.5; padding leaves
 * are our addition, so that a conversion loses no byte).
 *
 * What rs_record_complete() establishes, and everything else relies on: the leaves cover the
 * structure exactly once in the order of their offsets, and the natural alignment of each leaf
 * divides both its offset and the structure's size. From this follows that a leaf stays aligned in
 * every layout of an array of such structures, whatever its length. Of a packed structure only the
 * first half is true, which is enough for the host: it moves bytes.
 */
#include "layout/record.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The largest power of two that divides `value`; 0 counts as divisible by everything. */
static size_t power_of_two_factor(size_t value)
{
    return value == 0 ? SIZE_MAX / 2 + 1 : value & (~value + 1);
}

/* More come of damaged descriptions alone, and would fill the memory. */
enum { MOST_LEAVES = 1 << 20 };

static restride_status append(rs_record *record, rs_leaf leaf)
{
    if (record->leaf_count == MOST_LEAVES)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "A structure with more than %d members, padding included, is not "
                       "supported; leave out what is not converted.",
                       MOST_LEAVES);
    /* The capacity is the next power of two, so it need not be stored. */
    if ((record->leaf_count & (record->leaf_count - 1)) == 0) {
        size_t capacity = record->leaf_count == 0 ? 1 : record->leaf_count * 2;
        rs_leaf *leaves = realloc(record->leaves, capacity * sizeof *leaves);
        if (leaves == NULL)
            return rs_fail_memory("a structure's members");
        record->leaves = leaves;
    }
    record->leaves[record->leaf_count++] = leaf;
    return RESTRIDE_OK;
}

static restride_status append_named(rs_record *record, rs_leaf leaf)
{
    if (leaf.name != NULL) {
        leaf.name = strdup(leaf.name);
        if (leaf.name == NULL)
            return rs_fail_memory("a member's name");
    }
    restride_status status = append(record, leaf);
    if (status != RESTRIDE_OK)
        free(leaf.name);
    return status;
}

restride_status rs_record_add_leaf(rs_record *record, const char *name, size_t offset, size_t size)
{
    if (name == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The member at byte %zu has no name; give it one, because padding is "
                       "added by completing the record.",
                       offset);
    rs_leaf leaf = {.name = (char *)name, .offset = offset, .size = size, .padding = false};
    return append_named(record, leaf);
}

/* Covers the bytes from `begin` to `end` with padding leaves. */
static restride_status append_padding(rs_record *record, size_t begin, size_t end, size_t alignment)
{
    while (begin < end) {
        size_t size = power_of_two_factor(begin);
        if (size > alignment)
            size = alignment;
        while (size > end - begin)
            size /= 2;
        rs_leaf leaf = {.name = NULL, .offset = begin, .size = size, .padding = true};
        restride_status status = append(record, leaf);
        if (status != RESTRIDE_OK)
            return status;
        begin += size;
    }
    return RESTRIDE_OK;
}

/* Whether `leaf` may follow the leaves that end at byte `end` of a structure. */
static restride_status check_place(const rs_leaf *leaf, size_t end, size_t size)
{
    if (leaf->size == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Member \"%s\" has 0 bytes; leave it out of the record.", leaf->name);
    if (leaf->offset < end)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Member \"%s\" at byte %zu overlaps the member before it, which ends at "
                       "byte %zu; list members once, in the order of their offsets.",
                       leaf->name, leaf->offset, end);
    if (leaf->offset > size || leaf->size > size - leaf->offset)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Member \"%s\" of %zu bytes at byte %zu reaches past the end of the "
                       "structure, which has %zu bytes.",
                       leaf->name, leaf->size, leaf->offset, size);
    return RESTRIDE_OK;
}

static size_t natural_alignment(const rs_leaf *leaf)
{
    return leaf->alignment != 0 ? leaf->alignment : power_of_two_factor(leaf->size);
}

static restride_status check_alignment(const rs_leaf *leaf, size_t alignment)
{
    size_t natural = natural_alignment(leaf);
    if (leaf->offset % natural != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Member \"%s\" of %zu bytes lies at byte %zu, which is not a multiple of "
                       "%zu; a packed structure like this cannot change its layout.",
                       leaf->name, leaf->size, leaf->offset, natural);
    if (natural > alignment)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Member \"%s\" of %zu bytes needs an alignment of %zu but the structure "
                       "has only %zu; a packed structure like this cannot change its layout.",
                       leaf->name, leaf->size, natural, alignment);
    return RESTRIDE_OK;
}

static restride_status check_size(size_t size, size_t alignment)
{
    if (size == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The structure has 0 bytes; a record needs at least one member.");
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The structure's alignment is %zu, which is not a power of two.", alignment);
    if (size % alignment != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The structure's size of %zu bytes is not a multiple of its alignment of "
                       "%zu.",
                       size, alignment);
    return RESTRIDE_OK;
}

static restride_status complete_record(rs_record *record, size_t size, size_t alignment,
                                       bool packed)
{
    restride_status status = check_size(size, alignment);
    if (status != RESTRIDE_OK)
        return status;
    /* The names move to the complete list only when it is whole, so a failure leaves the record as
     * it was. */
    rs_record complete = {.size = size, .alignment = alignment};
    size_t end = 0;
    for (size_t i = 0; status == RESTRIDE_OK && i < record->leaf_count; i++) {
        const rs_leaf *leaf = &record->leaves[i];
        if (leaf->padding)
            continue; /* a record that was completed before; its gaps are found again */
        status = check_place(leaf, end, size);
        if (status == RESTRIDE_OK && !packed)
            status = check_alignment(leaf, alignment);
        if (status == RESTRIDE_OK)
            status = append_padding(&complete, end, leaf->offset, alignment);
        if (status == RESTRIDE_OK)
            status = append(&complete, *leaf);
        end = leaf->offset + leaf->size;
    }
    if (status == RESTRIDE_OK)
        status = append_padding(&complete, end, size, alignment);
    if (status != RESTRIDE_OK) {
        free(complete.leaves);
        return status;
    }
    free(record->leaves);
    *record = complete;
    return RESTRIDE_OK;
}

restride_status rs_record_complete(rs_record *record, size_t size, size_t alignment)
{
    return complete_record(record, size, alignment, false);
}

/* What the members want, where each lies at a multiple of what it wants; else 1. */
static size_t alignment_as_it_lies(const rs_record *record, size_t size)
{
    size_t alignment = 1;
    for (size_t i = 0; i < record->leaf_count; i++) {
        size_t natural = natural_alignment(&record->leaves[i]);
        if (record->leaves[i].offset % natural != 0)
            return 1;
        alignment = natural > alignment ? natural : alignment;
    }
    return size % alignment == 0 ? alignment : 1;
}

restride_status rs_record_complete_packed(rs_record *record, size_t size)
{
    return complete_record(record, size, alignment_as_it_lies(record, size), true);
}

bool rs_record_equal(const rs_record *a, const rs_record *b)
{
    if (a->size != b->size || a->alignment != b->alignment || a->leaf_count != b->leaf_count)
        return false;
    for (size_t i = 0; i < a->leaf_count; i++)
        if (a->leaves[i].offset != b->leaves[i].offset || a->leaves[i].size != b->leaves[i].size ||
            a->leaves[i].padding != b->leaves[i].padding)
            return false;
    return true;
}

size_t rs_record_run(const rs_record *record, size_t first)
{
    size_t end = first;
    while (end < record->leaf_count && record->leaves[end].size == record->leaves[first].size)
        end++;
    return end - first;
}

restride_status rs_record_copy(rs_record *copy, const rs_record *record)
{
    *copy = (rs_record){.size = record->size, .alignment = record->alignment};
    for (size_t i = 0; i < record->leaf_count; i++) {
        restride_status status = append_named(copy, record->leaves[i]);
        if (status != RESTRIDE_OK) {
            rs_record_free(copy);
            return status;
        }
    }
    return RESTRIDE_OK;
}

void rs_record_free(rs_record *record)
{
    for (size_t i = 0; i < record->leaf_count; i++)
        free(record->leaves[i].name);
    free(record->leaves);
    *record = (rs_record){.size = 0};
}
