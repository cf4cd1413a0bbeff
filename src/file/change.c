/* Changes as bytes; see change.h. */
#include "file/change.h"
#include "base/arithmetic.h"
#include "file/journal_format.h"
#include "file/steps.h"

#include <stdlib.h>
#include <string.h>

enum { CHANGE_WORDS = 4, TASK_WORDS = 14, PIECE_WORDS = 3 };

/* The numbers of the methods in a journal: their places here. Other methods are replaced. */
static const rs_transpose_method methods[] = {
    RS_TRANSPOSE_PANELS, RS_TRANSPOSE_CHAINS, RS_TRANSPOSE_SQUARE,
    RS_TRANSPOSE_JOIN,   RS_TRANSPOSE_SPLIT,  RS_TRANSPOSE_FUSED,
    RS_TRANSPOSE_UNZIP,  RS_TRANSPOSE_ZIP,    RS_TRANSPOSE_REORDER,
};
enum { METHOD_COUNT = sizeof methods / sizeof methods[0] };

/* The fields of a task in their order in a journal, behind the method. */
static const size_t task_fields[] = {
    offsetof(rs_transpose_task, offset),     offsetof(rs_transpose_task, outer),
    offsetof(rs_transpose_task, pitch),      offsetof(rs_transpose_task, count),
    offsetof(rs_transpose_task, rows),       offsetof(rs_transpose_task, cols),
    offsetof(rs_transpose_task, tail),       offsetof(rs_transpose_task, inner_rows),
    offsetof(rs_transpose_task, inner_cols), offsetof(rs_transpose_task, unit),
    offsetof(rs_transpose_task, repeats),    offsetof(rs_transpose_task, repeat_pitch),
    offsetof(rs_transpose_task, piece_count)};
enum { FIELD_COUNT = sizeof task_fields / sizeof task_fields[0] };
_Static_assert(FIELD_COUNT + 1 == TASK_WORDS, "a field of the task is missing");

/* ---- making ---- */

/*
 * The forms that have steps of their own. The stages of C2R and R2C are one transposition together,
 * for which the steps of 100! serve. Tiles that are not all of a matrix are done with the 210! that
 * follows (replace_reverse()). False for a stage that is thereby done.
 */
static bool replace(rs_transpose_task *task)
{
    switch (task->method) {
    case RS_TRANSPOSE_C2R_ROTATE:
    case RS_TRANSPOSE_C2R_ROWS:
    case RS_TRANSPOSE_R2C_ROTATE:
    case RS_TRANSPOSE_R2C_ROWS:
        return false;
    case RS_TRANSPOSE_TILES:
        task->method = RS_TRANSPOSE_SQUARE;
        return task->rows == task->tile && task->cols == task->tile;
    case RS_TRANSPOSE_R2C_COLUMNS: {
        size_t rows = task->rows;
        task->method = RS_TRANSPOSE_CHAINS;
        task->rows = task->cols;
        task->cols = rows;
        return true;
    }
    case RS_TRANSPOSE_C2R_COLUMNS:
    case RS_TRANSPOSE_PIPT:
    case RS_TRANSPOSE_PTTWAC:
        task->method = RS_TRANSPOSE_CHAINS;
        return true;
    case RS_TRANSPOSE_COPY:
        task->method = RS_TRANSPOSE_PANELS;
        return true;
    default:
        return true;
    }
}

/* As long as a tile's row is whole parts of at most RUN_BYTES. */
static size_t run_of(size_t tile, size_t unit)
{
    enum { RUN_BYTES = 4096 };
    size_t parts = 1;
    while (parts < tile && (tile % parts != 0 || tile / parts * unit > RUN_BYTES))
        parts++;
    return tile / parts;
}

/* 210! and the tiles before it are one transposition: 100!, then 010!. Returns how many stages. */
static size_t replace_reverse(const rs_transpose_task *task, rs_transpose_task parts[2])
{
    const size_t unit = task->unit / task->tile;
    const size_t run = run_of(task->tile, unit);
    for (int i = 0; i < 2; i++) {
        parts[i] = *task;
        parts[i].tile = 0;
        parts[i].rows = task->rows * task->tile;
    }
    parts[0].method = RS_TRANSPOSE_CHAINS;
    parts[0].cols = task->cols * task->tile / run;
    parts[0].unit = run * unit;
    parts[1].method = RS_TRANSPOSE_PANELS;
    parts[1].count = parts[0].cols;
    parts[1].cols = run;
    parts[1].unit = unit;
    return 2;
}

static restride_status allocate(rs_change *change, size_t tasks, size_t pieces)
{
    change->tasks = calloc(tasks + 1, sizeof *change->tasks);
    change->pieces = calloc(pieces + 1, sizeof *change->pieces);
    return change->tasks == NULL || change->pieces == NULL ? rs_fail_memory("a change of a file")
                                                           : RESTRIDE_OK;
}

/* Adds a task behind the others, with its pieces at `pieces`; returns where the next ones go. */
static rs_piece *add_task(rs_change *change, const rs_transpose_task *task, rs_piece *pieces)
{
    rs_transpose_task *own = &change->tasks[change->task_count++];
    *own = *task;
    own->pieces = pieces;
    if (task->piece_count > 0)
        memcpy(pieces, task->pieces, task->piece_count * sizeof *pieces);
    return pieces + task->piece_count;
}

/* A last tile that is not full becomes a task of its own. */
static size_t split_tail(const rs_transpose_task *task, rs_transpose_task parts[2])
{
    bool whole = task->tail == 0 || task->piece_count == 0;
    parts[0] = *task;
    if (whole)
        return 1;
    parts[0].tail = 0;
    parts[1] = parts[0];
    parts[1].offset += task->count * task->rows * task->cols;
    parts[1].count = 1;
    parts[1].rows = task->tail;
    if (task->count > 0)
        return 2;
    parts[0] = parts[1];
    return 1;
}

restride_status rs_change_make(rs_change *change, const rs_transpose_task tasks[],
                               size_t task_count)
{
    size_t piece_count = 0;
    *change = (rs_change){0};
    for (size_t i = 0; i < task_count; i++)
        piece_count += 2 * tasks[i].piece_count;
    restride_status status = allocate(change, 2 * task_count, piece_count);
    rs_piece *pieces = change->pieces;
    for (size_t i = 0; i < task_count && status == RESTRIDE_OK; i++) {
        rs_transpose_task parts[2];
        size_t part_count = tasks[i].method == RS_TRANSPOSE_REVERSE
                                ? replace_reverse(&tasks[i], parts)
                                : split_tail(&tasks[i], parts);
        for (size_t part = 0; part < part_count; part++)
            if (replace(&parts[part]))
                pieces = add_task(change, &parts[part], pieces);
    }
    return status;
}

void rs_change_free(rs_change *change)
{
    free(change->tasks);
    free(change->pieces);
    free(change->header);
    *change = (rs_change){0};
}

/* ---- writing ---- */

static unsigned char *put(unsigned char *place, uint64_t word)
{
    rs_journal_put_word(place, word);
    return place + RS_JOURNAL_WORD_BYTES;
}

static size_t number_of(rs_transpose_method method)
{
    size_t number = 0;
    while (number < METHOD_COUNT && methods[number] != method)
        number++;
    return number;
}

static unsigned char *put_task(unsigned char *place, const rs_transpose_task *task)
{
    place = put(place, number_of(task->method));
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t value;
        memcpy(&value, (const char *)task + task_fields[i], sizeof value);
        place = put(place, value);
    }
    return place;
}

static unsigned char *put_piece(unsigned char *place, const rs_piece *piece)
{
    place = put(place, piece->count);
    place = put(place, piece->unit);
    return put(place, piece->place);
}

static size_t count_words(const rs_change *change)
{
    size_t words = CHANGE_WORDS + change->task_count * TASK_WORDS;
    for (size_t i = 0; i < change->task_count; i++)
        words += change->tasks[i].piece_count * PIECE_WORDS;
    return words;
}

restride_status rs_change_write(const rs_change *change, void **bytes, size_t *count)
{
    *count = count_words(change) * RS_JOURNAL_WORD_BYTES + change->header_bytes;
    unsigned char *place = malloc(*count);
    *bytes = place;
    if (place == NULL)
        return rs_fail_memory("a change of a file");
    place = put(place, change->offset);
    place = put(place, change->bytes);
    place = put(place, change->header_bytes);
    place = put(place, change->task_count);
    for (size_t i = 0; i < change->task_count; i++)
        place = put_task(place, &change->tasks[i]);
    for (size_t i = 0; i < change->task_count; i++)
        for (size_t k = 0; k < change->tasks[i].piece_count; k++)
            place = put_piece(place, &change->tasks[i].pieces[k]);
    if (change->header_bytes > 0)
        memcpy(place, change->header, change->header_bytes);
    return RESTRIDE_OK;
}

/* ---- reading: no number is believed ---- */

typedef struct {
    const unsigned char *next;
    size_t words; /* that are left */
} word_list;

static uint64_t take(word_list *list)
{
    if (list->words == 0)
        return 0;
    const unsigned char *word = list->next;
    list->words--;
    list->next += RS_JOURNAL_WORD_BYTES;
    return rs_journal_get_word(word);
}

static bool take_task(word_list *list, rs_transpose_task *task)
{
    uint64_t number = take(list);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t value = take(list);
        memcpy((char *)task + task_fields[i], &value, sizeof value);
    }
    if (number >= METHOD_COUNT)
        return false;
    task->method = methods[number];
    return true;
}

static bool take_tasks(rs_change *change, word_list *list)
{
    size_t piece_count = 0;
    for (size_t i = 0; i < change->task_count; i++)
        if (!take_task(list, &change->tasks[i]) ||
            !rs_size_add(piece_count, change->tasks[i].piece_count, &piece_count))
            return false;
    if (piece_count != list->words / PIECE_WORDS || list->words % PIECE_WORDS != 0)
        return false;
    rs_piece *piece = change->pieces;
    for (size_t i = 0; i < change->task_count; i++) {
        change->tasks[i].pieces = piece;
        for (size_t k = 0; k < change->tasks[i].piece_count; k++) {
            size_t count = take(list);
            size_t unit = take(list);
            *piece++ = (rs_piece){count, unit, take(list)};
        }
        if (!rs_steps_suit(&change->tasks[i], change->bytes))
            return false;
    }
    return true;
}

/* The array lies behind the header and in the file. */
static bool lies_in_file(const rs_change *change, size_t file_bytes)
{
    size_t end;
    return rs_size_add(change->offset, change->bytes, &end) && end <= file_bytes &&
           change->header_bytes <= change->offset;
}

bool rs_change_read(rs_change *change, const void *bytes, size_t count, size_t file_bytes,
                    restride_status *status)
{
    word_list list = {bytes, count / RS_JOURNAL_WORD_BYTES};
    *status = RESTRIDE_OK;
    *change = (rs_change){0};
    change->offset = take(&list);
    change->bytes = take(&list);
    change->header_bytes = take(&list);
    change->task_count = take(&list);
    size_t left = count % RS_JOURNAL_WORD_BYTES + list.words * RS_JOURNAL_WORD_BYTES;
    if (!lies_in_file(change, file_bytes) || change->header_bytes > left ||
        (left - change->header_bytes) % RS_JOURNAL_WORD_BYTES != 0)
        return false;
    list.words = (left - change->header_bytes) / RS_JOURNAL_WORD_BYTES;
    if (change->task_count > list.words / TASK_WORDS)
        return false;
    change->header = malloc(change->header_bytes + 1);
    *status = allocate(change, change->task_count,
                       (list.words - change->task_count * TASK_WORDS) / PIECE_WORDS);
    if (*status == RESTRIDE_OK && change->header == NULL)
        *status = rs_fail_memory("a header");
    if (*status != RESTRIDE_OK || !take_tasks(change, &list))
        return false;
    memcpy(change->header, list.next, change->header_bytes);
    return true;
}
