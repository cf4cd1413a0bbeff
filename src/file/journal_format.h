/*
 * The bytes of a journal (lab/docs/journal.md): numbers of 64 bits with the lowest byte first,
 * whatever machine writes them and however it lays out structures. Whoever changes this, or what
 * change.c writes into the plan, raises RS_JOURNAL_VERSION; journals of other versions are refused.
 */
#ifndef RS_FILE_JOURNAL_FORMAT_H
#define RS_FILE_JOURNAL_FORMAT_H

#include "file/journal.h"

enum {
    RS_JOURNAL_VERSION = 2,
    RS_JOURNAL_WORD_BYTES = 8,
    RS_JOURNAL_HEAD_BYTES = 120,
    RS_JOURNAL_END_PLACE = 512, /* a sector of its own: it is written later than the head */
    RS_JOURNAL_END_BYTES = 32,
    RS_JOURNAL_PURPOSE_PLACE = 1024,
    RS_JOURNAL_RECORD_BYTES = 120,
    RS_JOURNAL_RANGE_BYTES = 16
};

/* The purpose and the plan lie at RS_JOURNAL_PURPOSE_PLACE. */
typedef struct {
    uint64_t version;
    uint64_t checksum; /* of what follows, purpose and plan included */
    uint64_t identity; /* of this journal; its records carry it */
    uint64_t device;   /* of the changed file, as the next three */
    uint64_t inode;
    uint64_t birth; /* in nanoseconds since 1970; 0: not known */
    uint64_t file_bytes;
    uint64_t ranges;
    uint64_t payload;
    uint64_t carried;
    uint64_t stash_bytes;
    uint64_t purpose_bytes;
    uint64_t plan_bytes;
} rs_journal_head;

/* At RS_JOURNAL_END_PLACE when the change is complete, zeros before. */
typedef struct {
    uint64_t magic;
    uint64_t checksum; /* of what follows */
    uint64_t identity;
    uint64_t content; /* sum of what the change has written to (sum.h) */
} rs_journal_end;

/* Behind it lie the ranges, the payload and the carried bytes of a step. */
typedef struct {
    uint64_t magic;
    uint64_t checksum; /* of all that follows but the payload */
    uint64_t identity;
    uint64_t sequence; /* from 1; odd ones lie in slot 1 */
    uint64_t range_count;
    uint64_t payload_bytes;
    uint64_t carried_bytes;
    uint64_t stash_sum; /* of the stash at that time */
    uint64_t outside;   /* sum of what the change may write to, these ranges left out */
    uint64_t written;   /* sum of these ranges: of the payload */
    rs_journal_cursor next;
} rs_journal_record;

extern const uint64_t rs_journal_record_magic;
extern const uint64_t rs_journal_end_magic;

uint64_t rs_journal_get_word(const unsigned char *bytes);
void rs_journal_put_word(unsigned char *bytes, uint64_t word);

void rs_journal_put_head(const rs_journal_head *head, unsigned char *bytes);
/* False: the bytes do not begin like a journal. */
bool rs_journal_get_head(rs_journal_head *head, const unsigned char *bytes);

void rs_journal_put_end(const rs_journal_end *end, unsigned char *bytes);
void rs_journal_get_end(rs_journal_end *end, const unsigned char *bytes);

void rs_journal_put_record(const rs_journal_record *record, unsigned char *bytes);
void rs_journal_get_record(rs_journal_record *record, const unsigned char *bytes);

void rs_journal_put_ranges(const rs_journal_range ranges[], size_t count, unsigned char *bytes);
void rs_journal_get_ranges(rs_journal_range ranges[], size_t count, const unsigned char *bytes);

/* `front` is a head, or a record and its ranges; magic, version and checksum are left out. */
uint64_t rs_journal_head_sum(const unsigned char *front, const void *purpose, size_t purpose_bytes,
                             const void *plan, size_t plan_bytes);
uint64_t rs_journal_record_sum(const unsigned char *front, size_t front_bytes, const void *carried,
                               size_t carried_bytes);
uint64_t rs_journal_end_sum(const unsigned char *bytes);

/* Where things lie, in bytes of the journal. */
typedef struct {
    size_t slots[2];
    size_t stash;
    size_t end;
} rs_journal_places;

/* False: they are more than a size can hold. */
bool rs_journal_find_places(const rs_journal_head *head, rs_journal_places *places);

#endif
