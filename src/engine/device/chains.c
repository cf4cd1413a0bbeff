/*
 * Permutations of super-elements by planned chains: 100!, 210! (A x B x C to C x B x A), the column
 * shuffle of C2R, and 1000! with 0010! at once, whose super-elements are tiles that are transposed
 * as they move. src/engine/kernels/chains.cl has the kernels and says how it works.
 *
 * When the stage is made, the cycles are cut into pieces (chains.h). Scratch: one super-element a
 * piece; the limit decides how long pieces are. Kept: two positions a piece, and one for each
 * short cycle. Where the short cycles take too much, every run finds them again.
 */
#include "engine/device/chains.h"
#include "base/arithmetic.h"
#include "base/number.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FEW_ROWS = 65535,
    BEST_PIECE = 16 * RS_CHAINS_BATCH + 1,
    LEAST_PIECE = 2 * RS_CHAINS_BATCH + 1,
    BUSY_ITEMS = 1 << 17, /* enough of them keep a GPU busy */
    SPLIT_LANES = 32,     /* of a long super-element, next to each other: a memory line */
    MOST_SPLIT = 8,       /* words of a super-element for one work-item */
    LONG_SPLIT = 4,       /* the same for wide words, where several teams share one */
    SPLIT_BATCH = RS_CHAINS_BATCH / 2, /* loads in flight where a work-item has several words */
    NARROW_BYTES = 4,
    MIDDLE_BYTES = 8,
    OPTION_BYTES = 300,
    LEADER_PARTS = 16, /* one part of the limit is for the list of leaders */
    GROUP_ITEMS = 64,
    PLANNING_ITEMS = 64,
    TILES_BYTES = 24 << 10 /* of local memory, for the tiles that a group has in flight */
};

/* The kernels of a run, numbered after those of planning. */
enum {
    SAVE_ENDS = RS_CHAINS_JOIN_MARKS + 1,
    MOVE_CHAINS,
    MOVE_UNLISTED,
    /* Of tiles: */
    TURN_PIECES = MOVE_CHAINS,
    TURN_CYCLES,
    TURN_FIXED
};
static const char *const family_kernels[] = {"cut_families"};
static const char *const walk_kernels[] = {"walk_marks", "pick_cuts", "join_marks"};
static const char *const run_kernels[] = {"save_ends", "move_chains", "move_unlisted"};
static const char *const tile_kernels[] = {"save_ends", "turn_pieces", "turn_cycles", "turn_fixed"};

/* ---- planning ---- */

static rs_device_engine *engine_of(const rs_chains_planning *p)
{
    return rs_device_engine_of(p->stage);
}

void rs_chains_release(const rs_device_stage *stage, rs_device_memory memory)
{
    rs_device_engine *engine = rs_device_engine_of(stage);
    if (memory != NULL)
        engine->device->release(engine, memory);
}

restride_status rs_chains_allocate(const rs_chains_planning *p, size_t count, size_t size,
                                   rs_device_memory *memory)
{
    size_t bytes;
    *memory = NULL;
    if (!rs_size_multiply(count, size, &bytes))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "The tables of a transposition have more bytes than a size can hold.");
    return engine_of(p)->device->allocate(engine_of(p), bytes > 0 ? bytes : 1, memory);
}

size_t rs_chains_position_bytes(const rs_chains_plan *plan)
{
    return plan->wide ? sizeof(uint64_t) : sizeof(uint32_t);
}

void rs_chains_add(rs_chains_arguments *to, rs_device_argument argument)
{
    to->list[to->count++] = argument;
}

void rs_chains_add_shape(rs_chains_arguments *to, const rs_chains_plan *plan)
{
    size_t numbers = plan->digits != NULL ? 1 : RS_CHAINS_SHAPE_NUMBERS;
    for (size_t i = 0; i < numbers; i++)
        rs_chains_add(to, RS_ARGUMENT(plan->shape[i]));
    if (plan->digits != NULL)
        rs_chains_add(to, RS_ARGUMENT(plan->digits));
}

static size_t items_of(rs_device_engine *engine, size_t wanted)
{
    return wanted < engine->work_items ? wanted : engine->work_items;
}

size_t rs_chains_round_items(const rs_chains_planning *p, size_t items)
{
    size_t group = items_of(engine_of(p), PLANNING_ITEMS);
    return rs_size_divide_up(items, group) * group;
}

void rs_chains_launch(const rs_chains_planning *p, rs_device_sequence *sequence, int kernel,
                      const rs_chains_arguments *arguments, size_t items)
{
    size_t group = items_of(engine_of(p), PLANNING_ITEMS);
    rs_device_launch(sequence, p->stage->kernels[kernel], arguments->list, arguments->count,
                     rs_size_divide_up(items, group), 1, group);
}

static size_t super_element_bytes(const rs_device_stage *stage, const rs_chains_plan *plan)
{
    return plan->words * stage->word;
}

/* Bytes that a piece takes: what it saves in each matrix, and its place in the tables. */
static size_t piece_bytes(const rs_device_stage *stage, const rs_chains_plan *plan)
{
    return stage->task.outer * super_element_bytes(stage, plan) +
           2 * rs_chains_position_bytes(plan);
}

/* The list of leaders has the rest of the limit. */
size_t rs_chains_most_pieces(const rs_chains_planning *p)
{
    size_t most = (p->limit - p->limit / LEADER_PARTS) / piece_bytes(p->stage, p->plan);
    return most < UINT32_MAX / 2 ? most : UINT32_MAX / 2;
}

size_t rs_chains_most_leaders(const rs_chains_planning *p)
{
    size_t most = p->limit / LEADER_PARTS / rs_chains_position_bytes(p->plan);
    return most < UINT32_MAX / 2 ? most : UINT32_MAX / 2;
}

/* A whole number of batches of loads, and the last move, which loads nothing. */
static size_t round_piece(double length)
{
    size_t whole = length < RS_CHAINS_WHOLE ? (size_t)length : RS_CHAINS_WHOLE;
    return rs_size_divide_up(whole - 1, RS_CHAINS_BATCH) * RS_CHAINS_BATCH + 1;
}

size_t rs_chains_first_length(const rs_chains_planning *p, double share)
{
    const rs_transpose_task *task = &p->stage->task;
    size_t total = (size_t)p->plan->shape[0];
    size_t length = total * task->outer * p->plan->words / BUSY_ITEMS;
    length = length < LEAST_PIECE ? LEAST_PIECE : length > BEST_PIECE ? BEST_PIECE : length;
    double most = 0.9 * (double)rs_chains_most_pieces(p) * share; /* the rest is for chance */
    double least = (double)total / (most > 1 ? most : 1);
    return round_piece(least > (double)length ? least : (double)length);
}

size_t rs_chains_longer(const rs_chains_planning *p, size_t length, size_t pieces)
{
    size_t most = rs_chains_most_pieces(p);
    double more = 1.1 * (double)pieces / (double)(most > 1 ? most : 1);
    return round_piece(more * (double)length + RS_CHAINS_BATCH);
}

/* Kernels are compiled for a few splits: they skip words past the end of a super-element, which for
 * wide words takes more registers. COLUMNS cannot skip and needs the exact split. */
static uint32_t compiled_split(const rs_chains_plan *plan, size_t word)
{
    static const uint32_t wide[] = {1, 2, 3, LONG_SPLIT, 6, MOST_SPLIT};
    static const uint32_t middle[] = {1, 2, 4, MOST_SPLIT};
    static const uint32_t narrow[] = {1, 4, MOST_SPLIT};
    const uint32_t *splits = word < NARROW_BYTES ? narrow : word <= MIDDLE_BYTES ? middle : wide;
    if (plan->columns)
        return plan->split;
    while (*splits < plan->split)
        splits++;
    return *splits;
}

/* Kernels of planning compute positions alone: their WORD does not matter. */
static restride_status create_planning_kernels(rs_device_stage *stage, const rs_chains_plan *plan,
                                               const char *permutation)
{
    rs_device_engine *engine = rs_device_engine_of(stage);
    char options[OPTION_BYTES];
    snprintf(options, sizeof options, "-D WORD=uint %s", permutation);
    if (plan->modulus == 0)
        return rs_device_create_kernels(engine, rs_device_walks_kernels, options, walk_kernels,
                                        sizeof walk_kernels / sizeof walk_kernels[0],
                                        &stage->kernels[RS_CHAINS_WALK_MARKS]);
    snprintf(options, sizeof options, "-D WORD=uint -D POSITION=%s", plan->wide ? "ulong" : "uint");
    return rs_device_create_kernels(engine, rs_device_families_kernels, options, family_kernels, 1,
                                    &stage->kernels[RS_CHAINS_CUT_FAMILIES]);
}

static restride_status create_kernels(rs_device_stage *stage, const rs_chains_plan *plan)
{
    bool tiles = plan->tile.rows != 0;
    const uint32_t *digits = plan->digit_counts;
    char permutation[OPTION_BYTES / 2];
    int length = snprintf(permutation, sizeof permutation, "-D POSITION=%s -D %s",
                          plan->wide ? "ulong -D WIDE" : "uint",
                          !plan->columns               ? "REVERSE"
                          : plan->shape[1] <= FEW_ROWS ? "FEW_ROWS"
                                                       : "COLUMNS");
    if (plan->digits != NULL)
        snprintf(permutation + length, sizeof permutation - (size_t)length,
                 " -D DIGITS=%u -D FIRST=%u -D SECOND=%u -D THIRD=%u",
                 digits[0] + digits[1] + digits[2], digits[0], digits[1], digits[2]);
    restride_status status = create_planning_kernels(stage, plan, permutation);
    const uint32_t split = compiled_split(plan, stage->word);
    const int batch = plan->columns || split == 1 ? RS_CHAINS_BATCH : SPLIT_BATCH;
    char options[OPTION_BYTES];
    length = snprintf(options, sizeof options, "-D WORD=%s %s -D TEAM=%zu -D SPLIT=%u -D BATCH=%d",
                      rs_device_word_type(stage->word), permutation,
                      rs_device_engine_of(stage)->simd_items, split, batch);
    if (tiles)
        snprintf(options + length, sizeof options - (size_t)length, " -D FUSED -D ELEMENT_WORDS=%u",
                 plan->tile.element_words);
    return status != RESTRIDE_OK
               ? status
               : rs_device_create_kernels(rs_device_engine_of(stage), rs_device_chains_kernels,
                                          options, tiles ? tile_kernels : run_kernels,
                                          tiles ? sizeof tile_kernels / sizeof tile_kernels[0]
                                                : sizeof run_kernels / sizeof run_kernels[0],
                                          &stage->kernels[SAVE_ENDS]);
}

uint32_t rs_chains_bits(uint64_t total)
{
    uint32_t bits = 1;
    while (bits < 64 && (total - 1) >> bits != 0)
        bits++;
    return bits;
}

static restride_status prepare(rs_device_stage *stage, const rs_chains_plan *shape, size_t limit)
{
    rs_chains_plan *plan = malloc(sizeof *plan);
    if (plan == NULL)
        return rs_fail_memory("a stage");
    *plan = *shape;
    plan->bits = rs_chains_bits(plan->shape[0]);
    plan->lanes = (uint32_t)rs_size_divide_up(plan->words, plan->split);
    uint32_t team = (uint32_t)rs_device_engine_of(stage)->simd_items;
    if (plan->lanes > team)
        plan->lanes = (uint32_t)rs_size_divide_up(plan->lanes, team) * team;
    stage->plan = plan;
    stage->items = items_of(rs_device_engine_of(stage), GROUP_ITEMS);
    const rs_chains_planning p = {stage, plan, limit};
    restride_status status = create_kernels(stage, plan);
    if (status == RESTRIDE_OK && plan->shape[0] > 1)
        status = plan->modulus != 0 ? rs_chains_by_families(&p) : rs_chains_by_walks(&p);
    stage->scratch_bytes = stage->task.outer * plan->pieces * super_element_bytes(stage, plan);
    stage->kept_bytes =
        rs_chains_room(plan->piece_room, plan->leader_room) * rs_chains_position_bytes(plan);
    return status;
}

static uint64_t magic(size_t divisor, bool wide)
{
    return wide ? UINT64_MAX / divisor : UINT32_MAX / divisor;
}

/* Words of a super-element for one work-item: as many as one team needs to move all of it, or else
 * as many as allowed, since a memory line that two teams share is loaded and stored twice. */
static uint32_t choose_split(const rs_device_stage *stage, size_t words)
{
    size_t team = rs_device_engine_of(stage)->simd_items;
    size_t split = rs_size_divide_up(words, team);
    size_t most = stage->word <= MIDDLE_BYTES ? MOST_SPLIT : LONG_SPLIT;
    return (uint32_t)(split <= MOST_SPLIT ? split : most);
}

/* 210! of super-elements of `words` words; with a middle of 1 it is 100! (base/cycles.h). */
static rs_chains_plan reversal(const rs_device_stage *stage, size_t middle, size_t words)
{
    const rs_transpose_task *task = &stage->task;
    size_t total = task->rows * middle * task->cols;
    bool wide = total > UINT32_MAX;
    return (rs_chains_plan){
        .shape = {total, task->rows, middle, task->cols, magic(task->rows, wide),
                  magic(middle, wide)},
        .wide = wide,
        .words = (uint32_t)words,
        .split = choose_split(stage, words),
        .modulus = middle == 1 && total > 1 ? total - 1 : 0,
        .factor = task->cols,
        .fields = 1,
    };
}

static restride_status prepare_reversal(rs_device_stage *stage, size_t middle, size_t limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t words = task->unit / stage->word;
    if (words > UINT32_MAX)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Elements of %zu bytes are longer than a device moves at once.", task->unit);
    const rs_chains_plan shape = reversal(stage, middle, words);
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

/* ---- slots ---- */

/* Pass 2 of a permutation of axes in two passes (engine/slots.h). */
static restride_status prepare_slots(rs_device_stage *stage, size_t scratch_limit)
{
    rs_slots slots;
    size_t bytes = rs_size_multiply_capped(stage->task.tile, stage->task.unit);
    if (!rs_slots_of(&slots, &stage->task) || slots.axes.elements > UINT32_MAX / 2 ||
        slots.phases[0].count == 0)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Slots of %zu elements do not suit these axes; leave the choice of the "
                       "method to the planner.",
                       stage->task.tile);
    stage->word = rs_device_choose_word(&stage->task, bytes);
    rs_chains_plan shape = {.shape = {slots.axes.elements / slots.slot},
                            .words = (uint32_t)(bytes / stage->word),
                            .split = choose_split(stage, bytes / stage->word),
                            .fields = 1};
    restride_status status = rs_chains_keep_digits(stage, &shape, &slots);
    if (status == RESTRIDE_OK)
        status =
            prepare(stage, &shape,
                    scratch_limit - rs_size_smaller(scratch_limit, rs_chains_digits_bytes(&shape)));
    if (stage->plan == NULL)
        rs_chains_release(stage, shape.digits);
    stage->kept_bytes += rs_chains_digits_bytes(&shape);
    return status;
}

static size_t tile_bytes(const rs_device_stage *stage, const rs_chains_tile *tile)
{
    return (size_t)tile->rows * tile->pitch * stage->word;
}

/* A group holds the tile at the end of its piece and at least one tile in flight (TILES_BYTES). */
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
    rs_chains_plan shape = reversal(stage, 1, task->inner_rows * task->inner_cols * element_words);
    shape.tile = (rs_chains_tile){.rows = (uint32_t)task->inner_rows,
                                  .cols = (uint32_t)task->inner_cols,
                                  .element_words = (uint32_t)element_words,
                                  .pitch = (uint32_t)(task->inner_cols * element_words) | 1};
    size_t room = (local < TILES_BYTES ? local : TILES_BYTES) / tile_bytes(stage, &shape.tile);
    shape.tile.room = (uint32_t)(room > RS_CHAINS_BATCH ? RS_CHAINS_BATCH
                                 : room > 2             ? room - 1
                                                        : 1);
    return prepare(stage, &shape, scratch_limit);
}

/*
 * Row y of panel p receives from row y * factor + p * shift. If 1 - factor has an inverse modulo
 * the rows, row p * turn stays, and numbers counted from it are only multiplied by the factor.
 */
static void find_turn(rs_chains_plan *plan, const rs_transpose_task *task)
{
    size_t less = (task->rows + 1 - task->factor % task->rows) % task->rows; /* 1 - factor */
    if (rs_size_gcd(less, task->rows) != 1)
        return;
    plan->modulus = task->rows;
    plan->factor = task->factor;
    plan->turn = rs_number_multiply(task->shift % task->rows, rs_number_inverse(less, task->rows),
                                    task->rows);
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
    size_t panels = rs_size_divide_up(task->cols, panel);
    rs_chains_plan shape = {
        .shape = {task->rows * panels, task->rows, task->factor, task->shift,
                  magic(task->rows, true), magic(task->rows, false)},
        .columns = true,
        .wide = panels > UINT32_MAX / task->rows,
        .words = (uint32_t)panel,
        .split = panel % (2 * SPLIT_LANES) == 0 ? (uint32_t)(panel / SPLIT_LANES) : 1,
        .row_words = (uint32_t)task->cols,
        .fields = panels,
    };
    find_turn(&shape, task);
    return prepare(stage, &shape, scratch_limit);
}

/* ---- the run ---- */

/* Work-groups for some super-elements, in whole teams (find_item() of the kernels). A team is as
 * many neighbouring work-items as the device's SIMD width; another size would be slower, not wrong.
 */
static size_t count_groups(const rs_device_stage *stage, size_t super_elements)
{
    const rs_chains_plan *plan = stage->plan;
    size_t lanes = plan->lanes;
    size_t team = rs_device_engine_of(stage)->simd_items;
    size_t teams = lanes <= team ? rs_size_divide_up(super_elements, team / lanes)
                                 : super_elements * rs_size_divide_up(lanes, team);
    return rs_size_divide_up(teams * team, stage->items);
}

static void add_place(rs_chains_arguments *to, const rs_chains_plan *plan)
{
    rs_chains_add(to, RS_ARGUMENT(plan->words));
    rs_chains_add(to, RS_ARGUMENT(plan->lanes));
    if (plan->columns)
        rs_chains_add(to, RS_ARGUMENT(plan->row_words));
}

/* One step; the arguments before the shape's are the step's own. */
static void launch_step(const rs_device_stage *stage, rs_device_sequence *sequence, int kernel,
                        rs_chains_arguments *list, size_t groups)
{
    add_place(list, stage->plan);
    rs_chains_add_shape(list, stage->plan);
    rs_device_launch_kernel(stage, sequence, kernel, list->list, list->count, groups);
}

/* The arguments keep pointers to the plan's members and to *scratch. */
static void add_pieces(rs_chains_arguments *to, const rs_chains_plan *plan,
                       const rs_device_memory *scratch)
{
    rs_chains_add(to, RS_ARGUMENT(plan->positions));
    rs_chains_add(to, RS_ARGUMENT(plan->piece_room));
    rs_chains_add(to, RS_ARGUMENT(plan->pieces));
    rs_chains_add(to, RS_ARGUMENT(*scratch));
}

static void save_ends(const rs_device_stage *stage, rs_device_sequence *sequence,
                      const rs_chains_arguments *matrix, rs_device_memory scratch)
{
    const rs_chains_plan *plan = stage->plan;
    rs_chains_arguments save = *matrix;
    add_pieces(&save, plan, &scratch);
    launch_step(stage, sequence, SAVE_ENDS, &save, count_groups(stage, plan->pieces));
}

/* Moves pieces and short cycles in one launch. */
static void move_chains(const rs_device_stage *stage, rs_device_sequence *sequence,
                        const rs_chains_arguments *matrix, rs_device_memory scratch)
{
    const rs_chains_plan *plan = stage->plan;
    uint64_t leaders = plan->listed ? plan->leader_count : 0;
    uint64_t cycle_groups = leaders != 0 ? count_groups(stage, (size_t)leaders) : 0;
    size_t piece_groups = plan->pieces != 0 ? count_groups(stage, plan->pieces) : 0;
    rs_chains_arguments move = *matrix;
    add_pieces(&move, plan, &scratch);
    rs_chains_add(&move, RS_ARGUMENT(leaders));
    rs_chains_add(&move, RS_ARGUMENT(cycle_groups));
    launch_step(stage, sequence, MOVE_CHAINS, &move, (size_t)cycle_groups + piece_groups);
}

/* Each work-item tests one position. */
static void move_unlisted(const rs_device_stage *stage, rs_device_sequence *sequence,
                          const rs_chains_arguments *matrix)
{
    const rs_chains_plan *plan = stage->plan;
    size_t groups = rs_size_divide_up((size_t)plan->leader_count, stage->items);
    rs_chains_arguments move = *matrix;
    rs_chains_add(&move, RS_ARGUMENT(plan->leader_count));
    rs_chains_add(&move, RS_ARGUMENT(plan->short_length));
    add_place(&move, plan);
    rs_chains_add_shape(&move, plan);
    rs_chains_add(&move, RS_LOCAL_MEMORY((stage->items + 1) * rs_chains_position_bytes(plan)));
    rs_device_launch_kernel(stage, sequence, MOVE_UNLISTED, move.list, move.count, groups);
}

/* ---- tiles ---- */

static void add_tile(const rs_device_stage *stage, rs_chains_arguments *to)
{
    const rs_chains_tile *tile = &((const rs_chains_plan *)stage->plan)->tile;
    rs_chains_add(to, RS_ARGUMENT(tile->rows));
    rs_chains_add(to, RS_ARGUMENT(tile->cols));
    rs_chains_add(to, RS_ARGUMENT(tile->pitch));
    rs_chains_add(to, RS_ARGUMENT(tile->room));
    rs_chains_add(to, RS_LOCAL_MEMORY((tile->room + 1) * tile_bytes(stage, tile)));
}

/* One work-group for each piece or cycle of tiles. */
static void launch_tiles(const rs_device_stage *stage, rs_device_sequence *sequence, int kernel,
                         rs_chains_arguments *list, size_t tiles)
{
    add_place(list, stage->plan);
    rs_chains_add_shape(list, stage->plan);
    add_tile(stage, list);
    rs_device_launch_kernel(stage, sequence, kernel, list->list, list->count, tiles);
}

/* Position p stays where p (cols - 1) is a multiple of total - 1. */
static void launch_fixed(const rs_device_stage *stage, rs_device_sequence *sequence,
                         rs_chains_arguments *list)
{
    const rs_chains_plan *plan = stage->plan;
    size_t last = (size_t)plan->shape[0] - 1;
    size_t fixed = rs_size_gcd(stage->task.cols - 1, last);
    rs_chains_add(list, RS_ULONG(fixed != 0 ? last / fixed : 0));
    add_tile(stage, list);
    rs_device_launch_kernel(stage, sequence, TURN_FIXED, list->list, list->count, fixed + 1);
}

static void move_tiles(const rs_device_stage *stage, rs_device_sequence *sequence,
                       const rs_chains_arguments *matrix, rs_device_memory scratch)
{
    const rs_chains_plan *plan = stage->plan;
    rs_chains_arguments pieces = *matrix;
    add_pieces(&pieces, plan, &scratch);
    launch_tiles(stage, sequence, TURN_PIECES, &pieces, plan->pieces);
    rs_chains_arguments cycles = *matrix;
    rs_chains_add(&cycles, RS_ARGUMENT(plan->positions));
    rs_chains_add(&cycles, RS_ARGUMENT(plan->piece_room));
    rs_chains_add(&cycles, RS_ARGUMENT(plan->listed));
    rs_chains_add(&cycles, RS_ARGUMENT(plan->leader_count));
    rs_chains_add(&cycles, RS_ARGUMENT(plan->short_length));
    launch_tiles(stage, sequence, TURN_CYCLES, &cycles, (size_t)plan->leader_count);
    rs_chains_arguments fixed = *matrix;
    launch_fixed(stage, sequence, &fixed);
}

static void enqueue(const rs_device_stage *stage, rs_device_sequence *sequence,
                    rs_device_memory buffer, rs_device_memory scratch)
{
    const rs_chains_plan *plan = stage->plan;
    const rs_chains_arguments matrix = {{RS_ARGUMENT(buffer),
                                         RS_ULONG(stage->task.offset / stage->word),
                                         RS_ULONG(stage->task.pitch / stage->word)},
                                        3};
    if (plan->pieces != 0)
        save_ends(stage, sequence, &matrix, scratch);
    if (plan->tile.rows != 0) {
        move_tiles(stage, sequence, &matrix, scratch);
        return;
    }
    move_chains(stage, sequence, &matrix, scratch);
    if (plan->leader_count != 0 && !plan->listed)
        move_unlisted(stage, sequence, &matrix);
}

static void destroy_plan(rs_device_stage *stage)
{
    rs_chains_plan *plan = stage->plan;
    if (plan == NULL)
        return;
    rs_chains_release(stage, plan->positions);
    rs_chains_release(stage, plan->digits);
    free(plan);
}

const rs_device_method rs_device_chains = {"100!", "planned chains", prepare_chains, enqueue,
                                           destroy_plan};
const rs_device_method rs_device_fused = {"1000! 0010!", "planned chains of tiles", prepare_fused,
                                          enqueue, destroy_plan};
const rs_device_method rs_device_slots = {"slots", "planned chains by digits", prepare_slots,
                                          enqueue, destroy_plan};
const rs_device_method rs_device_reverse = {"210!", "planned chains", prepare_reverse, enqueue,
                                            destroy_plan};
const rs_device_method rs_device_shuffle_columns = {
    "column shuffle", "planned chains of rows of panels", prepare_columns, enqueue, destroy_plan};
