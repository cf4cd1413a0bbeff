/*
 * Fuzzes journals. The input is a list of edits of four bytes to the numbers of a journal that was
 * interrupted; its checksums are then made to fit, so that only the checks behind them can help. A
 * journal that is refused leaves its file as it was, and one that is accepted comes to an end,
 * touching nothing beyond the file.
 */
#include "file/journal_format.h"
#include "file/journaled.h"
#include "file/mark.h"
#include "file/sum.h"
#include "transpose/plan.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum {
    HEADER = 16,
    ARRAY = 1800,
    FILE_BYTES = HEADER + ARRAY,
    PURPOSE = 4,
    EDIT = 4,
    SLOT_WORDS = 40
};

static const rs_piece pieces[] = {{3, 2, 2}, {1, 4, 0}, {2, 8, 1}};

#define TASK(name, height, width, bytes)                                                           \
    .method = RS_TRANSPOSE_##name, .outer = 1, .count = 1, .rows = (height), .cols = (width),      \
    .unit = (bytes)
#define PIECES .pieces = pieces, .piece_count = 3

/* Interrupted after some steps of a stage; a journal of two stages has more to lie about. */
static const struct {
    size_t task_count;
    rs_transpose_task tasks[2];
    size_t step_bytes;
    size_t steps;
} bases[] = {
    {1, {{TASK(CHAINS, 30, 20, 3)}}, 100, 3},
    {2, {{TASK(PANELS, 10, 18, 5)}, {TASK(CHAINS, 18, 10, 5)}}, 200, 1},
    {1, {{TASK(PANELS, 20, 30, 3)}}, 48, 9},
    {1, {{TASK(PANELS, 20, 30, 3)}}, 48, 40},
    {2, {{TASK(SQUARE, 20, 20, 4)}, {TASK(SQUARE, 20, 20, 4)}}, 100, 1},
    {2, {{TASK(SPLIT, 20, 14, 5), .tail = 4}, {TASK(JOIN, 20, 14, 5), .tail = 4}}, 90, 5},
    {1, {{TASK(UNZIP, 20, 26, 1), PIECES}}, 30, 20},
    {2, {{TASK(ZIP, 20, 26, 1), PIECES}, {TASK(REORDER, 1, 26, 1), PIECES}}, 600, 1},
    {1,
     {{.method = RS_TRANSPOSE_FUSED,
       .outer = 1,
       .count = 1,
       .rows = 5,
       .cols = 9,
       .inner_rows = 2,
       .inner_cols = 5,
       .unit = 4}},
     80,
     2},
};
enum { BASE_COUNT = sizeof bases / sizeof bases[0] };

static struct {
    unsigned char file[FILE_BYTES];
    unsigned char *journal;
    size_t journal_bytes;
    rs_journal_places places;
    size_t plan_bytes;
} interrupted[BASE_COUNT];

static char folder[] = "/tmp/restride-fuzz-XXXXXX";
static char file_path[64];
static char journal_path[64];

/* In place of the C library's: nobody takes power away here, and waiting for the disk is slow. */
int fdatasync(int descriptor)
{
    (void)descriptor;
    return 0;
}

int fsync(int descriptor)
{
    return fdatasync(descriptor);
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    int descriptor = open(path, O_WRONLY | O_CREAT, 0600);
    check(descriptor >= 0 && ftruncate(descriptor, 0) == 0 &&
          write(descriptor, bytes, count) == (ssize_t)count);
    close(descriptor);
}

static size_t read_file(const char *path, void *bytes, size_t most)
{
    int descriptor = open(path, O_RDONLY);
    ssize_t count = read(descriptor, bytes, most);
    check(descriptor >= 0 && count >= 0);
    close(descriptor);
    return (size_t)count;
}

/* ---- journals to begin with ---- */

typedef struct {
    size_t steps_left;
    volatile sig_atomic_t stop;
} counter;

static void count_step(void *context, size_t done, size_t total)
{
    counter *c = context;
    (void)done;
    (void)total;
    if (--c->steps_left == 0)
        c->stop = 1;
}

static void interrupt(size_t base)
{
    rs_transpose_task tasks[2];
    restride_plan plan = {.bytes = ARRAY, .stage_count = bases[base].task_count, .tasks = tasks};
    memcpy(tasks, bases[base].tasks, sizeof tasks);
    counter c = {bases[base].steps, 0};
    rs_file file;
    check(rs_file_open(&file, file_path, true) == RESTRIDE_OK);
    const rs_journaled how = {.file = &file,
                              .journal = journal_path,
                              .purpose = "fuzz",
                              .step_bytes = bases[base].step_bytes,
                              .run = {count_step, &c},
                              .stop = &c.stop};
    const rs_journaled_change change = {&plan, HEADER, "header, 16 bytes", HEADER};
    check(rs_journaled_run(&how, &change) == RESTRIDE_IO);
    rs_file_close(&file);
}

static void keep(size_t base)
{
    enum { MOST = 1 << 20 };
    rs_journal_head head;
    unsigned char *journal = malloc(MOST);
    check(journal != NULL);
    check(read_file(file_path, interrupted[base].file, FILE_BYTES) == FILE_BYTES);
    interrupted[base].journal = journal;
    interrupted[base].journal_bytes = read_file(journal_path, journal, MOST);
    check(interrupted[base].journal_bytes < MOST && rs_journal_get_head(&head, journal));
    check(rs_journal_find_places(&head, &interrupted[base].places));
    interrupted[base].plan_bytes = head.plan_bytes;
}

static void clean_up(void)
{
    unlink(file_path);
    unlink(journal_path);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    check(mkdtemp(folder) != NULL && atexit(clean_up) == 0);
    snprintf(file_path, sizeof file_path, "%s/file", folder);
    snprintf(journal_path, sizeof journal_path, "%s/journal", folder);
    for (size_t i = 0; i < BASE_COUNT; i++) {
        unsigned char bytes[FILE_BYTES];
        for (size_t k = 0; k < FILE_BYTES; k++)
            bytes[k] = (unsigned char)(k * 2654435761u >> 13);
        write_file(file_path, bytes, FILE_BYTES);
        interrupt(i);
        keep(i);
        unlink(journal_path);
    }
    return 0;
}

/* ---- edits ---- */

/* The word that a number stands for: of the head, of the plan, or of one of the slots. */
static unsigned char *find_word(unsigned char *journal, size_t base, size_t number)
{
    enum { HEAD_WORDS = 13, MAGIC = 16, WORD = RS_JOURNAL_WORD_BYTES };
    size_t plan_words = interrupted[base].plan_bytes / WORD;
    number %= HEAD_WORDS + plan_words + 2 * SLOT_WORDS;
    if (number < HEAD_WORDS)
        return journal + MAGIC + number * WORD;
    number -= HEAD_WORDS;
    if (number < plan_words)
        return journal + RS_JOURNAL_PURPOSE_PLACE + PURPOSE + number * WORD;
    number -= plan_words;
    return journal + interrupted[base].places.slots[number / SLOT_WORDS] +
           number % SLOT_WORDS * WORD;
}

static void edit(unsigned char *journal, size_t base, const uint8_t *bytes)
{
    unsigned char *word = find_word(journal, base, bytes[0] | (size_t)bytes[1] << 8);
    uint64_t value = rs_journal_get_word(word);
    const uint64_t values[] = {
        bytes[3],
        (uint64_t)1 << bytes[3] % 64,
        value + bytes[3],
        value - bytes[3],
        value * bytes[3],
        ~(uint64_t)bytes[3],
        rs_journal_get_word(find_word(journal, base, bytes[3])),
    };
    rs_journal_put_word(word, values[bytes[2] % (sizeof values / sizeof values[0])]);
}

/* Checksums of what the numbers now say, where that is in the journal at all. */
static void mend_head(unsigned char *journal, size_t bytes, const rs_file_identity *file)
{
    rs_journal_head head;
    rs_journal_get_head(&head, journal);
    head.device = file->device;
    head.inode = file->inode;
    head.birth = file->birth;
    rs_journal_put_head(&head, journal);
    unsigned char *purpose = journal + RS_JOURNAL_PURPOSE_PLACE;
    if (head.purpose_bytes > bytes - RS_JOURNAL_PURPOSE_PLACE ||
        head.plan_bytes > bytes - RS_JOURNAL_PURPOSE_PLACE - head.purpose_bytes)
        return;
    head.checksum = rs_journal_head_sum(journal, purpose, head.purpose_bytes,
                                        purpose + head.purpose_bytes, head.plan_bytes);
    rs_journal_put_head(&head, journal);
}

/* The sums of the payload, and of the file outside the ranges that it now has. */
static void mend_content(rs_journal_record *r, const unsigned char *ranges,
                         const unsigned char *payload, size_t base)
{
    size_t left = r->payload_bytes;
    r->written = 0;
    r->outside = rs_sum_bytes(0, interrupted[base].file, FILE_BYTES);
    for (size_t i = 0; i < r->range_count; i++) {
        rs_journal_range range;
        rs_journal_get_ranges(&range, 1, ranges + i * RS_JOURNAL_RANGE_BYTES);
        if (range.length > left || range.offset > FILE_BYTES ||
            range.length > FILE_BYTES - range.offset)
            return;
        r->written += rs_sum_bytes(range.offset, payload, range.length);
        r->outside -=
            rs_sum_bytes(range.offset, interrupted[base].file + range.offset, range.length);
        payload += range.length;
        left -= range.length;
    }
}

static void mend_slot(unsigned char *slot, size_t bytes, size_t base)
{
    rs_journal_record r;
    rs_journal_get_record(&r, slot);
    size_t left = bytes - RS_JOURNAL_RECORD_BYTES;
    if (r.range_count > left / RS_JOURNAL_RANGE_BYTES)
        return;
    left -= r.range_count * RS_JOURNAL_RANGE_BYTES;
    if (r.payload_bytes > left || r.carried_bytes > left - r.payload_bytes)
        return;
    size_t front = RS_JOURNAL_RECORD_BYTES + r.range_count * RS_JOURNAL_RANGE_BYTES;
    mend_content(&r, slot + RS_JOURNAL_RECORD_BYTES, slot + front, base);
    rs_journal_put_record(&r, slot);
    r.checksum =
        rs_journal_record_sum(slot, front, slot + front + r.payload_bytes, r.carried_bytes);
    rs_journal_put_record(&r, slot);
}

static void mend(unsigned char *journal, size_t base)
{
    rs_file file;
    rs_file_identity known;
    check(rs_file_open(&file, file_path, false) == RESTRIDE_OK &&
          rs_file_identify(&file, &known) == RESTRIDE_OK);
    rs_file_close(&file);
    size_t bytes = interrupted[base].journal_bytes;
    mend_head(journal, bytes, &known);
    for (int i = 0; i < 2; i++)
        mend_slot(journal + interrupted[base].places.slots[i],
                  bytes - interrupted[base].places.slots[i], base);
}

/* ---- one input ---- */

static restride_status resume(void)
{
    rs_file file;
    check(rs_file_open(&file, file_path, true) == RESTRIDE_OK);
    const rs_journaled how = {.file = &file, .journal = journal_path, .purpose = "fuzz"};
    rs_journaled_found found;
    restride_status status = rs_journaled_resume(&how, &found);
    rs_mark_clear(&file, NULL); /* for the next one */
    rs_file_close(&file);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count == 0)
        return 0;
    size_t base = bytes[0] % BASE_COUNT;
    size_t journal_bytes = interrupted[base].journal_bytes;
    unsigned char *journal = malloc(journal_bytes);
    check(journal != NULL);
    memcpy(journal, interrupted[base].journal, journal_bytes);
    for (size_t i = 1; i + EDIT <= count; i += EDIT)
        edit(journal, base, bytes + i);
    write_file(file_path, interrupted[base].file, FILE_BYTES);
    mend(journal, base);
    write_file(journal_path, journal, journal_bytes);
    free(journal);

    unsigned char after[FILE_BYTES + 1];
    restride_status status = resume();
    check(read_file(file_path, after, sizeof after) == FILE_BYTES);
    if (status != RESTRIDE_OK)
        check(status == RESTRIDE_INVALID_ARGUMENT &&
              memcmp(after, interrupted[base].file, FILE_BYTES) == 0);
    unlink(journal_path);
    return 0;
}
