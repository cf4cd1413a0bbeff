/*
 * Permutations of super-elements by planned chains: 100!, 210! (A x B x C to C x B x A), the column
 * shuffle of C2R, and 1000! with 0010! at once, whose super-elements are tiles that are transposed
 * as they move. src/engine/kernels/chains.cl has the kernels and says how it works.
 *
 * When the stage is made, kernels walk the cycles by indices alone and divide them into pieces.
 * Scratch: one super-element a piece, so one in `piece_length`, which follows from the limit. Kept:
 * two positions a piece, and one for each short cycle; when those take too much, they are found
 * again in every run.
 */
#include "base/arithmetic.h"
#include "engine/device/device.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BATCH = 8, /* super-elements under way at once */
    FEW_ROWS = 65535,
    BEST_PIECE = 16 * BATCH + 1,
    LEAST_PIECE = 2 * BATCH + 1,
    BUSY_ITEMS = 1 << 17, /* that keep a GPU busy */
    TEAM = 32,            /* neighbours that are likely to move together */
    WALK_PIECES = 2,      /* mean length of a walk */
    LEADER_PARTS = 16,    /* of the limit */
    SHORT_PIECES = 2,     /* cycles up to this length move whole */
    GROUP_ITEMS = 256,
    WALK_ITEMS = 64,
    TILES_BYTES = 24 << 10, /* of tiles that a group has under way */

    SHAPE_NUMBERS = 6,
    MOST_ARGUMENTS = 24
};

enum {
    FIND_STARTS,
    MEASURE_WALKS,
    CUT_WALKS,
    SAVE_ENDS,
    MOVE_CHAINS,
    KERNELS,
    /* Of tiles: */
    TURN_PIECES = MOVE_CHAINS,
    TURN_CYCLES,
    TURN_FIXED,
    TILE_KERNELS
};
static const char *const kernel_names[] = {"find_starts", "measure_walks", "cut_walks", "save_ends",
                                           "move_chains"};
static const char *const tile_kernel_names[] = {"find_starts", "measure_walks", "cut_walks",
                                                "save_ends",   "turn_pieces",   "turn_cycles",
                                                "turn_fixed"};

/* Super-elements that are transposed as they move; all zero: they are not. */
typedef struct {
    uint32_t rows; /* elements */
    uint32_t cols;
    uint32_t element_words;
    uint32_t pitch;
    uint32_t room; /* under way at once */
} tile_shape;

typedef struct {
    uint64_t shape[SHAPE_NUMBERS]; /* total, a, b, c, magic of a, magic of b */
    bool columns;                  /* COLUMNS, not REVERSE */
    bool wide;                     /* positions of 64 bits */
    uint32_t words;                /* of a super-element; of a panel's row */
    uint32_t split;                /* of those a work-item has */
    uint32_t row_words;            /* COLUMNS */
    tile_shape tile;
    uint32_t threshold;
    uint32_t short_length;
    size_t piece_length;
    uint32_t pieces;
    rs_device_memory piece_starts;
    rs_device_memory piece_ends;
    uint64_t leader_count; /* short cycles; positions to look at when they are not listed */
    uint32_t listed;
    rs_device_memory leaders; /* NULL when they are not listed */
} chain_plan;

/* ---- memory on the device ---- */

static void release(rs_device_engine *engine, rs_device_memory memory)
{
    if (memory != NULL)
        engine->device->release(engine, memory);
}

static restride_status allocate(rs_device_engine *engine, size_t count, size_t size,
                                rs_device_memory *memory)
{
    size_t bytes;
    *memory = NULL;
    if (!rs_size_multiply(count, size, &bytes))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "The tables of a transposition have more bytes than a size can hold.");
    return engine->device->allocate(engine, bytes > 0 ? bytes : 1, memory);
}

static size_t position_bytes(const chain_plan *plan)
{
    return plan->wide ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* ---- arguments ---- */

typedef struct {
    rs_device_argument list[MOST_ARGUMENTS];
    size_t count;
} arguments;

static void add(arguments *to, rs_device_argument argument)
{
    to->list[to->count++] = argument;
}

static void add_shape(arguments *to, const chain_plan *plan)
{
    for (size_t i = 0; i < SHAPE_NUMBERS; i++)
        add(to, RS_ARGUMENT(plan->shape[i]));
}

static void add_place(arguments *to, const chain_plan *plan)
{
    add(to, RS_ARGUMENT(plan->words));
    if (plan->columns)
        add(to, RS_ARGUMENT(plan->row_words));
}

/* ---- planning ---- */

/* What planning has on the device for a while. */
typedef struct {
    rs_device_stage *stage;
    chain_plan *plan;
    size_t limit;
    rs_device_memory counts;
    rs_device_memory starts;
    rs_device_memory lengths;
    rs_device_memory firsts;
    rs_device_memory found_leaders;
    uint32_t starts_capacity;
    uint32_t leaders_capacity;
    uint32_t found[2]; /* starts of walks, leaders */
} planning;

static rs_device_engine *engine_of(const planning *p)
{
    return rs_device_engine_of(p->stage);
}

static size_t items_of(const planning *p, size_t wanted)
{
    size_t most = engine_of(p)->work_items;
    return wanted < most ? wanted : most;
}

static size_t super_element_bytes(const rs_device_stage *stage, const chain_plan *plan)
{
    return plan->words * stage->word;
}

/* Bytes that a piece takes: what it saves in each matrix, and its place in the tables. */
static size_t piece_bytes(const rs_device_stage *stage, const chain_plan *plan)
{
    return stage->task.outer * super_element_bytes(stage, plan) + 2 * position_bytes(plan);
}

/* The list of leaders has the rest of the limit. */
static size_t most_pieces(const planning *p)
{
    return (p->limit - p->limit / LEADER_PARTS) / piece_bytes(p->stage, p->plan);
}

/* A whole number of batches of loads, and the last move, which loads nothing. */
static size_t round_piece(size_t length)
{
    return rs_device_groups(length, BATCH) * BATCH + 1;
}

/* Long pieces where there is much to move, short ones where there is little, and as long as the
 * limit asks for. */
static void choose_piece_length(const planning *p)
{
    const rs_transpose_task *task = &p->stage->task;
    size_t total = (size_t)p->plan->shape[0];
    size_t items = total * task->outer * p->plan->words;
    size_t length = items / BUSY_ITEMS;
    length = length < LEAST_PIECE ? LEAST_PIECE : length > BEST_PIECE ? BEST_PIECE : length;
    double most_pieces = 0.85 * (double)p->limit / (double)piece_bytes(p->stage, p->plan);
    double least = (double)total / (most_pieces > 1 ? most_pieces : 1);
    if (least > (double)length)
        length = least < UINT32_MAX / 16 ? (size_t)least : UINT32_MAX / 16;
    p->plan->piece_length = round_piece(length - 1);
    double walk = (double)WALK_PIECES * (double)p->plan->piece_length;
    p->plan->short_length = (uint32_t)(SHORT_PIECES * p->plan->piece_length);
    /* When all is shorter than a walk, cuts would only cost. */
    p->plan->threshold = walk > (double)total ? 0 : (uint32_t)(4294967296.0 / walk);
    if (p->plan->threshold == 0 && p->plan->piece_length >= total)
        p->plan->short_length = UINT32_MAX;
}

static restride_status read_back(const planning *p, rs_device_memory from, void *to, size_t bytes)
{
    return engine_of(p)->device->read(engine_of(p), to, from, bytes,
                                      "reading the cycles of a transposition");
}

static restride_status write_to(const planning *p, const void *from, rs_device_memory to,
                                size_t bytes)
{
    return engine_of(p)->device->write(engine_of(p), to, from, bytes,
                                       "writing the cycles of a transposition");
}

static restride_status find_starts(planning *p)
{
    static const uint32_t zeros[2] = {0, 0};
    restride_status status = write_to(p, zeros, p->counts, sizeof zeros);
    if (status != RESTRIDE_OK)
        return status;
    arguments list = {.count = 0};
    add(&list, RS_ARGUMENT(p->counts));
    add(&list, RS_ARGUMENT(p->starts));
    add(&list, RS_ARGUMENT(p->starts_capacity));
    add(&list, RS_ARGUMENT(p->found_leaders));
    add(&list, RS_ARGUMENT(p->leaders_capacity));
    add(&list, RS_ARGUMENT(p->plan->threshold));
    add(&list, RS_ARGUMENT(p->plan->short_length));
    add_shape(&list, p->plan);
    size_t items = items_of(p, GROUP_ITEMS);
    rs_device_sequence sequence = {.engine = engine_of(p)};
    rs_device_launch(&sequence, p->stage->kernels[FIND_STARTS], list.list, list.count,
                     rs_device_groups((size_t)p->plan->shape[0], items), 1, items);
    status = rs_device_finish(&sequence, "looking for the cycles of a transposition");
    return status == RESTRIDE_OK ? read_back(p, p->counts, p->found, sizeof p->found) : status;
}

/* Finds them a second time when there was no room for all. */
static restride_status list_starts(planning *p)
{
    rs_device_engine *engine = engine_of(p);
    size_t position = position_bytes(p->plan);
    size_t total = (size_t)p->plan->shape[0];
    size_t leaders = p->limit / LEADER_PARTS / position;
    leaders = leaders < total / 2 ? leaders : total / 2;
    p->leaders_capacity = leaders < UINT32_MAX / 2 ? (uint32_t)leaders : UINT32_MAX / 2;
    size_t walks = total / 4096 * (p->plan->threshold / 524288 + 1) + 4096;
    p->starts_capacity = walks < UINT32_MAX / 2 ? (uint32_t)walks : UINT32_MAX / 2;
    restride_status status = allocate(engine, 2, sizeof(uint32_t), &p->counts);
    if (status == RESTRIDE_OK)
        status = allocate(engine, p->leaders_capacity, position, &p->found_leaders);
    for (int attempt = 0; attempt < 2 && status == RESTRIDE_OK; attempt++) {
        status = allocate(engine, p->starts_capacity, position, &p->starts);
        if (status == RESTRIDE_OK)
            status = find_starts(p);
        if (status != RESTRIDE_OK || p->found[0] <= p->starts_capacity)
            return status;
        release(engine, p->starts);
        p->starts = NULL;
        p->starts_capacity = p->found[0];
    }
    return status;
}

/* Keeps the list of leaders if it is complete. */
static restride_status keep_leaders(planning *p)
{
    rs_device_engine *engine = engine_of(p);
    chain_plan *plan = p->plan;
    plan->listed = p->found[1] <= p->leaders_capacity;
    plan->leader_count = p->found[1];
    if (!plan->listed)
        plan->leader_count = plan->shape[0];
    if (!plan->listed || p->found[1] == 0)
        return RESTRIDE_OK;
    size_t bytes = p->found[1] * position_bytes(plan);
    restride_status status = allocate(engine, p->found[1], position_bytes(plan), &plan->leaders);
    if (status != RESTRIDE_OK)
        return status;
    return engine->device->copy(engine, plan->leaders, p->found_leaders, bytes,
                                "keeping the cycles of a transposition");
}

/* The number of pieces of all walks, whose lengths become the numbers of their first pieces. */
static size_t number_pieces(uint32_t *firsts, const uint32_t *lengths, size_t count,
                            size_t piece_length)
{
    size_t pieces = 0;
    for (size_t i = 0; i < count; i++) {
        firsts[i] = (uint32_t)pieces;
        pieces += rs_device_groups(lengths[i], piece_length);
    }
    return pieces;
}

/* Longer pieces until they fit into the limit; a walk has at least one. */
static size_t fit_pieces(const planning *p, uint32_t *firsts, const uint32_t *lengths)
{
    size_t most = most_pieces(p);
    for (;;) {
        size_t pieces = number_pieces(firsts, lengths, p->found[0], p->plan->piece_length);
        if (pieces <= most || p->plan->piece_length > UINT32_MAX / 4)
            return pieces;
        p->plan->piece_length = round_piece(p->plan->piece_length * 5 / 4);
    }
}

static restride_status measure_walks(planning *p)
{
    restride_status status = allocate(engine_of(p), p->found[0], sizeof(uint32_t), &p->lengths);
    if (status != RESTRIDE_OK)
        return status;
    arguments list = {.count = 0};
    add(&list, RS_ARGUMENT(p->starts));
    add(&list, RS_ARGUMENT(p->found[0]));
    add(&list, RS_ARGUMENT(p->lengths));
    add(&list, RS_ARGUMENT(p->plan->threshold));
    add_shape(&list, p->plan);
    size_t items = items_of(p, WALK_ITEMS);
    rs_device_sequence sequence = {.engine = engine_of(p)};
    rs_device_launch(&sequence, p->stage->kernels[MEASURE_WALKS], list.list, list.count,
                     rs_device_groups(p->found[0], items), 1, items);
    return rs_device_finish(&sequence, "measuring the cycles of a transposition");
}

static restride_status cut_walks(planning *p)
{
    chain_plan *plan = p->plan;
    uint32_t piece_length = (uint32_t)plan->piece_length;
    restride_status status =
        allocate(engine_of(p), plan->pieces, position_bytes(plan), &plan->piece_starts);
    if (status == RESTRIDE_OK)
        status = allocate(engine_of(p), plan->pieces, position_bytes(plan), &plan->piece_ends);
    if (status != RESTRIDE_OK)
        return status;
    arguments list = {.count = 0};
    add(&list, RS_ARGUMENT(p->starts));
    add(&list, RS_ARGUMENT(p->found[0]));
    add(&list, RS_ARGUMENT(p->firsts));
    add(&list, RS_ARGUMENT(piece_length));
    add(&list, RS_ARGUMENT(plan->piece_starts));
    add(&list, RS_ARGUMENT(plan->piece_ends));
    add(&list, RS_ARGUMENT(plan->threshold));
    add_shape(&list, plan);
    size_t items = items_of(p, WALK_ITEMS);
    rs_device_sequence sequence = {.engine = engine_of(p)};
    rs_device_launch(&sequence, p->stage->kernels[CUT_WALKS], list.list, list.count,
                     rs_device_groups(p->found[0], items), 1, items);
    return rs_device_finish(&sequence, "cutting the cycles of a transposition");
}

static restride_status make_pieces(planning *p)
{
    size_t bytes = p->found[0] * sizeof(uint32_t);
    uint32_t *lengths = malloc(2 * bytes);
    if (lengths == NULL)
        return rs_fail_memory("the cycles of a transposition");
    uint32_t *firsts = lengths + p->found[0];
    restride_status status = measure_walks(p);
    if (status == RESTRIDE_OK)
        status = read_back(p, p->lengths, lengths, bytes);
    if (status == RESTRIDE_OK) {
        p->plan->pieces = (uint32_t)fit_pieces(p, firsts, lengths);
        status = allocate(engine_of(p), p->found[0], sizeof(uint32_t), &p->firsts);
    }
    if (status == RESTRIDE_OK)
        status = write_to(p, firsts, p->firsts, bytes);
    if (status == RESTRIDE_OK)
        status = cut_walks(p);
    free(lengths);
    return status;
}

/* Without pieces: every cycle moves whole, however long. */
static void leave_cycles_whole(planning *p)
{
    p->plan->threshold = 0;
    p->plan->short_length = UINT32_MAX;
}

static restride_status plan_pieces(planning *p)
{
    choose_piece_length(p);
    restride_status status = list_starts(p);
    if (status == RESTRIDE_OK && p->found[0] > most_pieces(p)) {
        leave_cycles_whole(p);
        status = find_starts(p);
    }
    if (status == RESTRIDE_OK)
        status = keep_leaders(p);
    if (status == RESTRIDE_OK && p->found[0] != 0)
        status = make_pieces(p);
    const rs_device_memory passing[] = {p->counts, p->starts, p->lengths, p->firsts,
                                        p->found_leaders};
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        release(engine_of(p), passing[i]);
    return status;
}

static restride_status create_kernels(rs_device_stage *stage, const chain_plan *plan)
{
    bool tiles = plan->tile.rows != 0;
    char options[200];
    int length = snprintf(options, sizeof options,
                          "-D WORD=%s -D POSITION=%s -D TEAM=%d -D SPLIT=%u -D BATCH=%d -D %s",
                          rs_device_word_type(stage->word), plan->wide ? "ulong -D WIDE" : "uint",
                          TEAM, plan->split, BATCH,
                          !plan->columns               ? "REVERSE"
                          : plan->shape[1] <= FEW_ROWS ? "FEW_ROWS"
                                                       : "COLUMNS");
    if (tiles)
        snprintf(options + length, sizeof options - (size_t)length, " -D FUSED -D ELEMENT_WORDS=%u",
                 plan->tile.element_words);
    return rs_device_create_kernels(rs_device_engine_of(stage), RS_KERNELS_CHAINS, options,
                                    tiles ? tile_kernel_names : kernel_names,
                                    tiles ? TILE_KERNELS : KERNELS, stage->kernels);
}

static restride_status prepare(rs_device_stage *stage, const chain_plan *shape, size_t limit)
{
    chain_plan *plan = malloc(sizeof *plan);
    if (plan == NULL)
        return rs_fail_memory("a stage");
    *plan = *shape;
    stage->plan = plan;
    planning p = {.stage = stage, .plan = plan, .limit = limit};
    stage->items = items_of(&p, GROUP_ITEMS);
    restride_status status = create_kernels(stage, plan);
    if (status == RESTRIDE_OK && plan->shape[0] > 1)
        status = plan_pieces(&p);
    size_t listed = plan->listed ? (size_t)plan->leader_count : 0;
    stage->scratch_bytes = stage->task.outer * plan->pieces * super_element_bytes(stage, plan);
    stage->kept_bytes = (2 * (size_t)plan->pieces + listed) * position_bytes(plan);
    return status;
}

static uint64_t magic(size_t divisor, bool wide)
{
    return wide ? UINT64_MAX / divisor : UINT32_MAX / divisor;
}

/* Of super-elements of `words` words. */
static chain_plan reversal(const rs_transpose_task *task, size_t middle, size_t words)
{
    size_t total = task->rows * middle * task->cols;
    bool wide = total > UINT32_MAX;
    return (chain_plan){
        .shape = {total, task->rows, middle, task->cols, magic(task->rows, wide),
                  magic(middle, wide)},
        .wide = wide,
        .words = (uint32_t)words,
        .split = 1,
    };
}

static restride_status prepare_reversal(rs_device_stage *stage, size_t middle, size_t limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t words = task->unit / stage->word;
    if (words > UINT32_MAX)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Elements of %zu bytes are longer than a device moves at once.", task->unit);
    const chain_plan shape = reversal(task, middle, words);
    return prepare(stage, &shape, limit);
}

static restride_status prepare_chains(rs_device_stage *stage, size_t scratch_limit)
{
    return prepare_reversal(stage, 1, scratch_limit);
}

static restride_status prepare_reverse(rs_device_stage *stage, size_t scratch_limit)
{
    return prepare_reversal(stage, stage->task.tile, scratch_limit);
}

static size_t tile_bytes(const rs_device_stage *stage, const tile_shape *tile)
{
    return (size_t)tile->rows * tile->pitch * stage->word;
}

/* As many tiles under way as TILES_BYTES hold, but one at least, and the end of the piece. */
static restride_status prepare_fused(rs_device_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t local = rs_device_engine_of(stage)->local_bytes;
    size_t element_words = task->unit / stage->word;
    size_t most = RS_DEVICE_MOST_BLOCK_WORDS / element_words;
    if (task->inner_rows > most || task->inner_cols > most / task->inner_rows ||
        2 * task->inner_rows * (task->inner_cols * element_words + 1) > local / stage->word)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Two tiles of %zu x %zu elements of %zu bytes do not fit into the device's "
                       "%zu bytes of local memory; take smaller tiles.",
                       task->inner_rows, task->inner_cols, task->unit, local);
    chain_plan shape = reversal(task, 1, task->inner_rows * task->inner_cols * element_words);
    shape.tile = (tile_shape){.rows = (uint32_t)task->inner_rows,
                              .cols = (uint32_t)task->inner_cols,
                              .element_words = (uint32_t)element_words,
                              .pitch = (uint32_t)(task->inner_cols * element_words) | 1};
    size_t room = (local < TILES_BYTES ? local : TILES_BYTES) / tile_bytes(stage, &shape.tile);
    shape.tile.room = (uint32_t)(room > BATCH ? BATCH : room > 2 ? room - 1 : 1);
    return prepare(stage, &shape, scratch_limit);
}

static restride_status prepare_columns(rs_device_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    if (stage->word != task->unit)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Elements of %zu bytes at offset %zu are not words of the device; use "
                       "another method.",
                       task->unit, task->offset);
    size_t panel = task->tile;
    size_t panels = rs_device_groups(task->cols, panel);
    const chain_plan shape = {
        .shape = {task->rows * panels, task->rows, task->factor, task->shift,
                  magic(task->rows, true), magic(task->rows, false)},
        .columns = true,
        .wide = panels > UINT32_MAX / task->rows,
        .words = (uint32_t)panel,
        .split = panel % (2 * TEAM) == 0 ? (uint32_t)(panel / TEAM) : 1,
        .row_words = (uint32_t)task->cols,
    };
    return prepare(stage, &shape, scratch_limit);
}

/* ---- the run ---- */

/* Groups for some super-elements, in whole teams of work-items (find_item() of the kernels). */
static size_t count_groups(const rs_device_stage *stage, size_t super_elements)
{
    const chain_plan *plan = stage->plan;
    size_t lanes = plan->words / plan->split;
    size_t teams = lanes <= TEAM ? rs_device_groups(super_elements, TEAM / lanes)
                                 : super_elements * rs_device_groups(lanes, TEAM);
    return rs_device_groups(teams * TEAM, stage->items);
}

/* One step for some matrices; the arguments before the shape's are the step's own. */
static void launch_step(const rs_device_stage *stage, rs_device_sequence *sequence, int kernel,
                        arguments *list, size_t groups, size_t matrices)
{
    add_place(list, stage->plan);
    add_shape(list, stage->plan);
    rs_device_launch(sequence, stage->kernels[kernel], list->list, list->count, groups, matrices,
                     stage->items);
}

/* The arguments point to what they are made of. */
static void add_pieces(const chain_plan *plan, const rs_device_memory *scratch, arguments *to)
{
    add(to, RS_ARGUMENT(plan->piece_starts));
    add(to, RS_ARGUMENT(plan->piece_ends));
    add(to, RS_ARGUMENT(plan->pieces));
    add(to, RS_ARGUMENT(*scratch));
}

static void save_ends(const rs_device_stage *stage, rs_device_sequence *sequence,
                      const arguments *matrix, rs_device_memory scratch, size_t matrices)
{
    const chain_plan *plan = stage->plan;
    arguments save = *matrix;
    add(&save, RS_ARGUMENT(plan->piece_ends));
    add(&save, RS_ARGUMENT(plan->pieces));
    add(&save, RS_ARGUMENT(scratch));
    launch_step(stage, sequence, SAVE_ENDS, &save, count_groups(stage, plan->pieces), matrices);
}

/* Pieces and short cycles at once. */
static void move_chains(const rs_device_stage *stage, rs_device_sequence *sequence,
                        const arguments *matrix, rs_device_memory scratch, size_t matrices)
{
    const chain_plan *plan = stage->plan;
    size_t leaders = (size_t)plan->leader_count;
    uint64_t cycle_groups = leaders != 0 ? count_groups(stage, leaders) : 0;
    size_t piece_groups = plan->pieces != 0 ? count_groups(stage, plan->pieces) : 0;
    arguments move = *matrix;
    add_pieces(plan, &scratch, &move);
    add(&move, RS_ARGUMENT(plan->leaders));
    add(&move, RS_ARGUMENT(plan->listed));
    add(&move, RS_ARGUMENT(plan->leader_count));
    add(&move, RS_ARGUMENT(cycle_groups));
    add(&move, RS_ARGUMENT(plan->threshold));
    add(&move, RS_ARGUMENT(plan->short_length));
    if (cycle_groups + piece_groups != 0)
        launch_step(stage, sequence, MOVE_CHAINS, &move, (size_t)cycle_groups + piece_groups,
                    matrices);
}

/* ---- tiles ---- */

static void add_tile(const rs_device_stage *stage, arguments *to)
{
    const tile_shape *tile = &((const chain_plan *)stage->plan)->tile;
    add(to, RS_ARGUMENT(tile->rows));
    add(to, RS_ARGUMENT(tile->cols));
    add(to, RS_ARGUMENT(tile->pitch));
    add(to, RS_ARGUMENT(tile->room));
    add(to, RS_LOCAL_MEMORY((tile->room + 1) * tile_bytes(stage, tile)));
}

/* A group each for some tiles that move. */
static void launch_tiles(const rs_device_stage *stage, rs_device_sequence *sequence, int kernel,
                         arguments *list, size_t tiles, size_t matrices)
{
    add_place(list, stage->plan);
    add_shape(list, stage->plan);
    add_tile(stage, list);
    if (tiles != 0)
        rs_device_launch(sequence, stage->kernels[kernel], list->list, list->count, tiles, matrices,
                         stage->items);
}

/* Position p stays where p (cols - 1) is a multiple of total - 1. */
static void launch_fixed(const rs_device_stage *stage, rs_device_sequence *sequence,
                         arguments *list, size_t matrices)
{
    const chain_plan *plan = stage->plan;
    size_t last = (size_t)plan->shape[0] - 1;
    size_t fixed = rs_size_gcd(stage->task.cols - 1, last);
    uint64_t step = fixed != 0 ? last / fixed : 0;
    add(list, RS_ARGUMENT(step));
    add_tile(stage, list);
    rs_device_launch(sequence, stage->kernels[TURN_FIXED], list->list, list->count, fixed + 1,
                     matrices, stage->items);
}

static void move_tiles(const rs_device_stage *stage, rs_device_sequence *sequence,
                       const arguments *matrix, rs_device_memory scratch, size_t matrices)
{
    const chain_plan *plan = stage->plan;
    arguments pieces = *matrix;
    add_pieces(plan, &scratch, &pieces);
    launch_tiles(stage, sequence, TURN_PIECES, &pieces, plan->pieces, matrices);
    arguments cycles = *matrix;
    add(&cycles, RS_ARGUMENT(plan->leaders));
    add(&cycles, RS_ARGUMENT(plan->listed));
    add(&cycles, RS_ARGUMENT(plan->leader_count));
    add(&cycles, RS_ARGUMENT(plan->threshold));
    add(&cycles, RS_ARGUMENT(plan->short_length));
    launch_tiles(stage, sequence, TURN_CYCLES, &cycles, (size_t)plan->leader_count, matrices);
    arguments fixed = *matrix;
    launch_fixed(stage, sequence, &fixed, matrices);
}

static void enqueue_matrices(const rs_device_stage *stage, rs_device_sequence *sequence,
                             rs_device_memory buffer, rs_device_memory scratch, size_t outer,
                             size_t matrices)
{
    const chain_plan *plan = stage->plan;
    uint64_t first = (stage->task.offset + outer * stage->task.pitch) / stage->word;
    uint64_t matrix_words = stage->task.pitch / stage->word;
    const arguments matrix = {{RS_ARGUMENT(buffer), RS_ARGUMENT(first), RS_ARGUMENT(matrix_words)},
                              3};
    if (plan->pieces != 0)
        save_ends(stage, sequence, &matrix, scratch, matrices);
    if (plan->tile.rows != 0)
        move_tiles(stage, sequence, &matrix, scratch, matrices);
    else
        move_chains(stage, sequence, &matrix, scratch, matrices);
}

static void enqueue(const rs_device_stage *stage, rs_device_sequence *sequence,
                    rs_device_memory buffer, rs_device_memory scratch)
{
    for (size_t o = 0; o < stage->task.outer; o += RS_DEVICE_MOST_MATRICES) {
        size_t left = stage->task.outer - o;
        enqueue_matrices(stage, sequence, buffer, scratch, o,
                         left < RS_DEVICE_MOST_MATRICES ? left : RS_DEVICE_MOST_MATRICES);
    }
}

static void forget(rs_device_stage *stage)
{
    chain_plan *plan = stage->plan;
    if (plan == NULL)
        return;
    const rs_device_memory kept[] = {plan->piece_starts, plan->piece_ends, plan->leaders};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        release(rs_device_engine_of(stage), kept[i]);
    free(plan);
}

const rs_device_method rs_device_chains = {"100!", "planned chains", prepare_chains, enqueue,
                                           forget};
const rs_device_method rs_device_fused = {"1000! 0010!", "planned chains of tiles", prepare_fused,
                                          enqueue, forget};
const rs_device_method rs_device_reverse = {"210!", "planned chains", prepare_reverse, enqueue,
                                            forget};
const rs_device_method rs_device_shuffle_columns = {
    "column shuffle", "planned chains of rows of panels", prepare_columns, enqueue, forget};
