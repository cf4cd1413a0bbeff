/*
 * n rows of unequal parts, [n][A|B|...], become n times A, n times B and so on, in place. Ragged
 * tiles and records whose members differ in size both need this (Sung thesis, sections 4.1.1 and
 * 5.4, generalised). The cheapest of four ways is taken:
 *
 *     whole    all rows pass through scratch memory at once
 *     tails    the last part of each row is split off, when scratch memory holds all of them
 *     blocks   blocks of as many rows as the chip holds are taken apart; then the parts of the
 *              blocks are transposed as super-elements; rows left over are joined at the end
 *     units    the rows are transposed as elements of the largest size that divides all parts
 *
 * Where a part holds several super-elements, the transposition of blocks or units separates these,
 * too; another transposition of that part joins them again (gather_members()).
 */
#include "transpose/separate.h"
#include "base/arithmetic.h"
#include "transpose/cost.h"

enum { MOST_LOOPS = 64, MOST_TAILS = 4 };

typedef struct {
    rs_strided_part context;
    size_t rows;
    size_t row_bytes;
    size_t unit; /* divides the members of all parts */
    size_t count;
    const rs_piece *pieces;
} job;

static rs_strided_part behind(const rs_strided_part *context, size_t bytes)
{
    rs_strided_part moved = *context;
    moved.offset += bytes;
    return moved;
}

static rs_transpose_task unzip_task(const job *j, size_t blocks, size_t rows)
{
    return (rs_transpose_task){.method = RS_TRANSPOSE_UNZIP,
                               .count = blocks,
                               .rows = rows,
                               .cols = j->row_bytes,
                               .unit = 1,
                               .pieces = j->pieces,
                               .piece_count = j->count};
}

static void add_whole(rs_sequence *s, const job *j)
{
    const rs_transpose_task task = unzip_task(j, 1, j->rows);
    rs_sequence_task(s, &j->context, &task);
}

/* [size / unit][rows][width] for each member becomes [rows][size / unit][width]. */
static void gather_members(rs_sequence *s, const job *j, size_t rows, size_t width)
{
    size_t done = 0;
    for (size_t i = 0; i < j->count; i++) {
        const rs_piece *piece = &j->pieces[i];
        const rs_strided_part here = behind(&j->context, done);
        rs_sequence_transpose(s, &here, piece->count, piece->unit / j->unit, rows, width);
        done += piece->count * (piece->unit / j->unit) * rows * width;
    }
}

static void add_units(rs_sequence *s, const job *j)
{
    rs_sequence_transpose(s, &j->context, 1, j->rows, j->row_bytes / j->unit, j->unit);
    gather_members(s, j, j->rows, j->unit);
}

/* Memory holds the parts of all blocks, then the parts of the rows left over. Moves each of the
 * latter behind the same part of the blocks. */
static void join_rest(rs_sequence *s, const job *j, size_t full, size_t rest)
{
    size_t members = 0;
    for (size_t i = 0; i < j->count; i++)
        members += j->pieces[i].count;
    rs_piece *pieces = rs_arena_take(s->arena, 2 * members, sizeof *pieces);
    if (pieces == NULL)
        return;
    size_t next = 0;
    for (size_t i = 0; i < j->count; i++)
        for (size_t k = 0; k < j->pieces[i].count; k++, next++) {
            pieces[next] = (rs_piece){1, full * j->pieces[i].unit, 2 * next};
            pieces[members + next] = (rs_piece){1, rest * j->pieces[i].unit, 2 * next + 1};
        }
    const rs_transpose_task task = {.method = RS_TRANSPOSE_REORDER,
                                    .count = 1,
                                    .rows = 1,
                                    .cols = j->rows * j->row_bytes,
                                    .unit = 1,
                                    .pieces = pieces,
                                    .piece_count = 2 * members};
    rs_sequence_task(s, &j->context, &task);
}

/* As many rows as the chip holds, or somewhat fewer when those divide the number of rows. */
static size_t rows_of_block(const rs_sequence *s, const job *j)
{
    size_t chip = s->traits.group_bytes != 0 ? s->traits.group_bytes : s->traits.chip_bytes;
    size_t most = chip / j->row_bytes;
    if (most > j->rows / 2)
        most = j->rows / 2;
    for (size_t rows = most; rows > most / 4 && rows > 1; rows--)
        if (j->rows % rows == 0)
            return rows;
    return most;
}

static void add_blocks(rs_sequence *s, const job *j)
{
    size_t rows = rows_of_block(s, j);
    if (rows < 2)
        return;
    size_t blocks = j->rows / rows;
    size_t rest = j->rows % rows;
    const rs_transpose_task task = unzip_task(j, blocks, rows);
    rs_sequence_task(s, &j->context, &task);
    rs_sequence_transpose(s, &j->context, 1, blocks, j->row_bytes / j->unit, rows * j->unit);
    gather_members(s, j, blocks, rows * j->unit);
    if (rest == 0)
        return;
    const rs_strided_part end = behind(&j->context, blocks * rows * j->row_bytes);
    const rs_transpose_task last = unzip_task(j, 1, rest);
    rs_sequence_task(s, &end, &last);
    join_rest(s, j, blocks * rows, rest);
}

static restride_status take_apart(rs_sequence *s, const job *j);

static void add_tails(rs_sequence *s, const job *j)
{
    const rs_piece *last = &j->pieces[j->count - 1];
    size_t tail = last->count * last->unit;
    size_t most = s->scratch_limit / 2 / j->rows;
    if (j->count > MOST_TAILS || tail > most)
        return;
    job kept = *j;
    kept.count--;
    kept.row_bytes -= tail;
    const rs_transpose_task task = {.method = RS_TRANSPOSE_SPLIT,
                                    .count = 1,
                                    .rows = j->rows,
                                    .cols = kept.row_bytes / j->unit,
                                    .tail = tail / j->unit,
                                    .unit = j->unit};
    rs_sequence_task(s, &j->context, &task);
    const rs_strided_part end = behind(&j->context, j->rows * kept.row_bytes);
    rs_sequence_transpose(s, &end, last->count, last->unit / j->unit, j->rows, j->unit);
    if (kept.count == 1)
        rs_sequence_transpose(s, &j->context, 1, j->rows, j->pieces->count, j->pieces->unit);
    else if (take_apart(s, &kept) != RESTRIDE_OK)
        *s = rs_sequence_begin(s); /* the way fails: its first steps are not enough */
}

static restride_status take_apart(rs_sequence *s, const job *j)
{
    static void (*const ways[])(rs_sequence *, const job *) = {add_whole, add_tails, add_blocks,
                                                               add_units};
    rs_sequence best = rs_sequence_begin(s);
    double best_cost = RS_COST_IMPOSSIBLE;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        rs_sequence tried = rs_sequence_begin(s);
        ways[i](&tried, j);
        double cost = tried.count == 0 ? RS_COST_IMPOSSIBLE : rs_sequence_cost(&tried);
        if (cost < best_cost) {
            best = tried;
            best_cost = cost;
        }
    }
    rs_sequence_append(s, &best);
    if (best_cost >= RS_COST_IMPOSSIBLE)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "%zu rows of %zu parts with %zu bytes cannot be taken apart within %zu "
                       "bytes of scratch memory; grant more.",
                       j->rows, j->count, j->row_bytes, s->budget);
    return RESTRIDE_OK;
}

/* One part of a row inside the loops that were around the whole row. */
static const rs_loop_tree *put_loops(rs_arena *arena, const rs_loop_tree *const loops[],
                                     size_t depth, const rs_loop_tree *part)
{
    const rs_loop_tree *inside = part->members ? part->children[0] : part;
    while (inside != NULL && depth > 0) {
        depth--;
        inside = rs_tree_loop(arena, loops[depth], loops[depth]->count, inside);
    }
    if (inside == NULL || !part->members)
        return inside;
    return rs_tree_loop(arena, part, part->count, inside);
}

restride_status rs_separate(rs_sequence *sequence, const rs_strided_part *context,
                            const rs_loop_tree *tree, const rs_loop_tree **row)
{
    const rs_loop_tree *loops[MOST_LOOPS];
    size_t depth = 0;
    job j = {.context = *context, .rows = 1};
    for (; tree->kind == RS_TREE_LOOP && depth < MOST_LOOPS; tree = tree->children[0]) {
        loops[depth++] = tree;
        j.rows *= tree->count;
    }
    if (tree->kind != RS_TREE_ROW)
        return rs_fail(RESTRIDE_UNSUPPORTED, "More than %d nested tiles; convert in steps.",
                       MOST_LOOPS);
    rs_piece *pieces = rs_arena_take(sequence->arena, tree->count, sizeof *pieces);
    const rs_loop_tree **parts = rs_arena_take(sequence->arena, tree->count, sizeof *parts);
    if (pieces == NULL || parts == NULL)
        return rs_fail_memory("the parts of a row");
    for (size_t i = 0; i < tree->count; i++) {
        const rs_loop_tree *part = tree->children[i];
        size_t count = part->members ? part->count : 1;
        pieces[i] = (rs_piece){count, part->bytes / count, 0};
        j.unit = rs_size_gcd(j.unit, pieces[i].unit);
        parts[i] = put_loops(sequence->arena, loops, depth, part);
        if (parts[i] == NULL)
            return rs_fail_memory("the parts of a row");
    }
    j.row_bytes = tree->bytes;
    j.count = tree->count;
    j.pieces = pieces;
    *row = rs_tree_row(sequence->arena, parts, tree->count);
    if (*row == NULL)
        return rs_fail_memory("the parts of a row");
    return take_apart(sequence, &j);
}
