/* The bytes of a journal; see journal_format.h and lab/docs/journal.md. */
#include "file/journal_format.h"
#include "base/arithmetic.h"
#include "file/sum.h"

#include <string.h>

enum { PAGE_BYTES = 4096, MAGIC_BYTES = 16 };

static const char head_magic[MAGIC_BYTES + 1] = "restride-journal";
const uint64_t rs_journal_record_magic = 0x32706574735F7372; /* "rs_step2" */
const uint64_t rs_journal_end_magic = 0x32646E655F5F7372;    /* "rs__end2" */

/* ---- numbers ---- */

uint64_t rs_journal_get_word(const unsigned char *bytes)
{
    uint64_t word = 0;
    for (int i = RS_JOURNAL_WORD_BYTES; i-- > 0;)
        word = word << 8 | bytes[i];
    return word;
}

void rs_journal_put_word(unsigned char *bytes, uint64_t word)
{
    for (int i = 0; i < RS_JOURNAL_WORD_BYTES; i++, word >>= 8)
        bytes[i] = (unsigned char)word;
}

/* The numbers of a structure in their order in the file. */
typedef struct {
    size_t count;
    const size_t *offsets;
} fields;

#define FIELDS(offsets) ((fields){sizeof(offsets) / sizeof(offsets)[0], offsets})

static const size_t head_fields[] = {
    offsetof(rs_journal_head, version),     offsetof(rs_journal_head, checksum),
    offsetof(rs_journal_head, identity),    offsetof(rs_journal_head, device),
    offsetof(rs_journal_head, inode),       offsetof(rs_journal_head, birth),
    offsetof(rs_journal_head, file_bytes),  offsetof(rs_journal_head, ranges),
    offsetof(rs_journal_head, payload),     offsetof(rs_journal_head, carried),
    offsetof(rs_journal_head, stash_bytes), offsetof(rs_journal_head, purpose_bytes),
    offsetof(rs_journal_head, plan_bytes),
};
_Static_assert(MAGIC_BYTES + sizeof head_fields / sizeof head_fields[0] * RS_JOURNAL_WORD_BYTES ==
                   RS_JOURNAL_HEAD_BYTES,
               "a field of the head is missing");

static const size_t record_fields[] = {
    offsetof(rs_journal_record, magic),         offsetof(rs_journal_record, checksum),
    offsetof(rs_journal_record, identity),      offsetof(rs_journal_record, sequence),
    offsetof(rs_journal_record, range_count),   offsetof(rs_journal_record, payload_bytes),
    offsetof(rs_journal_record, carried_bytes), offsetof(rs_journal_record, stash_sum),
    offsetof(rs_journal_record, outside),       offsetof(rs_journal_record, written),
    offsetof(rs_journal_record, next.stage),    offsetof(rs_journal_record, next.part),
    offsetof(rs_journal_record, next.leader),   offsetof(rs_journal_record, next.position),
    offsetof(rs_journal_record, next.done),
};
_Static_assert(sizeof record_fields / sizeof record_fields[0] * RS_JOURNAL_WORD_BYTES ==
                   RS_JOURNAL_RECORD_BYTES,
               "a field of a record is missing");

static const size_t end_fields[] = {
    offsetof(rs_journal_end, magic),
    offsetof(rs_journal_end, checksum),
    offsetof(rs_journal_end, identity),
    offsetof(rs_journal_end, content),
};
_Static_assert(sizeof end_fields / sizeof end_fields[0] * RS_JOURNAL_WORD_BYTES ==
                   RS_JOURNAL_END_BYTES,
               "a field of the end is missing");

static void write_fields(fields f, const void *structure, unsigned char *bytes)
{
    for (size_t i = 0; i < f.count; i++) {
        uint64_t word;
        memcpy(&word, (const char *)structure + f.offsets[i], sizeof word);
        rs_journal_put_word(bytes + i * RS_JOURNAL_WORD_BYTES, word);
    }
}

static void read_fields(fields f, void *structure, const unsigned char *bytes)
{
    for (size_t i = 0; i < f.count; i++) {
        uint64_t word = rs_journal_get_word(bytes + i * RS_JOURNAL_WORD_BYTES);
        memcpy((char *)structure + f.offsets[i], &word, sizeof word);
    }
}

void rs_journal_put_head(const rs_journal_head *head, unsigned char *bytes)
{
    memcpy(bytes, head_magic, MAGIC_BYTES);
    write_fields(FIELDS(head_fields), head, bytes + MAGIC_BYTES);
}

bool rs_journal_get_head(rs_journal_head *head, const unsigned char *bytes)
{
    read_fields(FIELDS(head_fields), head, bytes + MAGIC_BYTES);
    return memcmp(bytes, head_magic, MAGIC_BYTES) == 0;
}

void rs_journal_put_end(const rs_journal_end *end, unsigned char *bytes)
{
    write_fields(FIELDS(end_fields), end, bytes);
}

void rs_journal_get_end(rs_journal_end *end, const unsigned char *bytes)
{
    read_fields(FIELDS(end_fields), end, bytes);
}

void rs_journal_put_record(const rs_journal_record *record, unsigned char *bytes)
{
    write_fields(FIELDS(record_fields), record, bytes);
}

void rs_journal_get_record(rs_journal_record *record, const unsigned char *bytes)
{
    read_fields(FIELDS(record_fields), record, bytes);
}

void rs_journal_put_ranges(const rs_journal_range ranges[], size_t count, unsigned char *bytes)
{
    for (size_t i = 0; i < count; i++, bytes += RS_JOURNAL_RANGE_BYTES) {
        rs_journal_put_word(bytes, ranges[i].offset);
        rs_journal_put_word(bytes + RS_JOURNAL_WORD_BYTES, ranges[i].length);
    }
}

void rs_journal_get_ranges(rs_journal_range ranges[], size_t count, const unsigned char *bytes)
{
    for (size_t i = 0; i < count; i++, bytes += RS_JOURNAL_RANGE_BYTES)
        ranges[i] = (rs_journal_range){rs_journal_get_word(bytes),
                                       rs_journal_get_word(bytes + RS_JOURNAL_WORD_BYTES)};
}

/* ---- checksums ---- */

/* Fewer bytes than a word, as a word. */
static uint64_t get_rest(const unsigned char *bytes, size_t count)
{
    unsigned char word[RS_JOURNAL_WORD_BYTES] = {0};
    if (count > 0)
        memcpy(word, bytes, count);
    return rs_journal_get_word(word);
}

static uint64_t add_to_sum(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *next = bytes;
    sum = rs_sum_mix(sum, count);
    for (; count >= RS_JOURNAL_WORD_BYTES;
         count -= RS_JOURNAL_WORD_BYTES, next += RS_JOURNAL_WORD_BYTES)
        sum = rs_sum_mix(sum, rs_journal_get_word(next));
    return rs_sum_mix(sum, get_rest(next, count));
}

uint64_t rs_journal_head_sum(const unsigned char *front, const void *purpose, size_t purpose_bytes,
                             const void *plan, size_t plan_bytes)
{
    size_t skipped = MAGIC_BYTES + 2 * RS_JOURNAL_WORD_BYTES;
    uint64_t sum = add_to_sum(1, front + skipped, RS_JOURNAL_HEAD_BYTES - skipped);
    sum = add_to_sum(sum, purpose, purpose_bytes);
    return add_to_sum(sum, plan, plan_bytes);
}

/* A record and an end begin with magic and checksum. */
enum { SKIPPED = 2 * RS_JOURNAL_WORD_BYTES };

uint64_t rs_journal_record_sum(const unsigned char *front, size_t front_bytes, const void *carried,
                               size_t carried_bytes)
{
    uint64_t sum = add_to_sum(2, front + SKIPPED, front_bytes - SKIPPED);
    return add_to_sum(sum, carried, carried_bytes);
}

uint64_t rs_journal_end_sum(const unsigned char *bytes)
{
    return add_to_sum(4, bytes + SKIPPED, RS_JOURNAL_END_BYTES - SKIPPED);
}

/* ---- places ---- */

static bool add_all(const uint64_t sizes[], size_t count, size_t *sum)
{
    *sum = 0;
    for (size_t i = 0; i < count; i++)
        if (!rs_size_add(*sum, sizes[i], sum))
            return false;
    return rs_size_round_up(*sum, PAGE_BYTES, sum);
}

bool rs_journal_find_places(const rs_journal_head *head, rs_journal_places *places)
{
    size_t range_bytes;
    size_t slot_bytes;
    const uint64_t front[] = {RS_JOURNAL_PURPOSE_PLACE, head->purpose_bytes, head->plan_bytes};
    if (!add_all(front, sizeof front / sizeof front[0], &places->slots[0]) ||
        !rs_size_multiply(head->ranges, RS_JOURNAL_RANGE_BYTES, &range_bytes))
        return false;
    const uint64_t slot[] = {RS_JOURNAL_RECORD_BYTES, range_bytes, head->payload, head->carried};
    return add_all(slot, sizeof slot / sizeof slot[0], &slot_bytes) &&
           rs_size_add(places->slots[0], slot_bytes, &places->slots[1]) &&
           rs_size_add(places->slots[1], slot_bytes, &places->stash) &&
           rs_size_add(places->stash, head->stash_bytes, &places->end);
}
