/*
 * Transposes a matrix of L x S elements, L = group * side + over, by groups of lines
 * (kernels/groups.cu). 010! of each group makes super-elements of `group` elements. They form a
 * square of side x side, S - side columns beside it and `over` lines below it. Columns and lines
 * are kept aside: (S - side) L + over * side elements in the plan's memory, with a flag for each
 * part of a group. From tall to wide:
 *
 *     save the `over` lines    groups    square    store the lines    store the columns
 *
 * From wide to tall the steps run in reverse order.
 */
#include "base/arithmetic.h"
#include "engine/cuda/cuda.h"

#include <stdint.h>
#include <stdio.h>

extern const char rs_cuda_groups_kernel[];
extern const char rs_cuda_strips_kernel[];

enum {
    THREADS = 512,
    BLOCKS = 3, /* on each multiprocessor: some load while others wait or store */
    LEAST_SIDE = 32,
    MOST_GROUP = 32,
    LARGEST_GROUP_BYTES = 1024, /* of a super-element */
    PART_STEP = 8,
    GOAL_BYTES = 16,
    BANKS_BYTES = 128,
    FLAG_BYTES = 4,
    LINE_BYTES = 128,
    WIDE_BYTES = 8, /* words of this size and above: an element's words come at run time */
    STRIP_BLOCKS = 256,
    MOST_WORDS = (1 << 16) - 1 /* of a part: the bound of divide_small() */
};

typedef struct {
    bool tall;
    size_t longer;
    size_t shorter;
    size_t group;
    size_t side;
    size_t over;
    size_t unit;
    size_t word;
    size_t parts;        /* of a panel; a block holds one at a time */
    size_t part;         /* elements of each line of a part */
    size_t pitch;        /* words from one line of a part to the next on chip */
    size_t shared_bytes; /* of a part */
    size_t flags_bytes;
    size_t lines_bytes;   /* of the `over` lines */
    size_t columns_bytes; /* of the columns that the square does not have */
} grouping;

/* Neighbouring threads read the elements of one super-element, which are in different lines: the
 * pitch puts those lines into different banks. */
static size_t choose_pitch(const grouping *g)
{
    size_t words = g->part * (g->unit / g->word);
    size_t banks = BANKS_BYTES / g->word;
    size_t apart = banks / g->group % banks;
    return words + (banks + apart - words % banks) % banks;
}

static size_t whole_lines(size_t bytes)
{
    return rs_size_divide_up(bytes, LINE_BYTES) * LINE_BYTES;
}

/* Cuts panels into the fewest parts of which a multiprocessor holds BLOCKS. The longest pitch that
 * choose_pitch() can return is assumed. */
static void cut_panels(grouping *g, const rs_cuda_engine *engine)
{
    size_t room = engine->shared_bytes / BLOCKS - RS_CUDA_RESERVED_BYTES - GOAL_BYTES -
                  g->group * (PART_STEP * g->unit + BANKS_BYTES);
    room = rs_size_smaller(room, MOST_WORDS * g->word - g->group * PART_STEP * g->unit);
    g->parts = rs_size_divide_up(g->group * g->shorter * g->unit, room);
    g->part = rs_size_divide_up(rs_size_divide_up(g->shorter, g->parts), PART_STEP) * PART_STEP;
    g->parts = rs_size_divide_up(g->shorter, g->part);
    g->pitch = choose_pitch(g);
    g->shared_bytes = GOAL_BYTES + g->group * g->pitch * g->word;
}

static grouping make_grouping(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    grouping g = {.tall = task->rows > task->cols, .group = task->tile, .unit = task->unit};
    g.longer = rs_size_larger(task->rows, task->cols);
    g.shorter = rs_size_smaller(task->rows, task->cols);
    g.side = rs_size_smaller(g.longer / g.group, g.shorter);
    g.over = g.longer - g.group * g.side;
    g.word = rs_cuda_word(task);
    cut_panels(&g, engine);
    g.flags_bytes = whole_lines(g.side * g.parts * FLAG_BYTES);
    g.lines_bytes = whole_lines(rs_size_multiply_capped(g.over * g.shorter, g.unit));
    g.columns_bytes = rs_size_multiply_capped((g.shorter - g.side) * g.group,
                                              rs_size_multiply_capped(g.side, g.unit));
    return g;
}

size_t rs_cuda_groups_bytes(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    if (task->outer != 1 || task->tile < 2 || task->tile > MOST_GROUP ||
        task->unit > LARGEST_GROUP_BYTES / task->tile ||
        rs_size_larger(task->rows, task->cols) > UINT32_MAX / MOST_GROUP)
        return SIZE_MAX;
    const grouping g = make_grouping(engine, task);
    if (g.side < LEAST_SIDE ||
        g.parts > engine->multiprocessors) /* all parts of a panel must be resident at once */
        return SIZE_MAX;
    return rs_size_add_capped(g.flags_bytes, rs_size_add_capped(g.lines_bytes, g.columns_bytes));
}

/* A rectangle of the matrix that is saved in `kept`, or stored from there. */
typedef struct {
    size_t first; /* element of the matrix */
    size_t rows;
    size_t width;
    size_t pitch;
    bool transposed; /* as it is kept */
    bool saves;
    rs_cuda_pointer kept;
} strip;

static restride_status add_strip(rs_cuda_stage *stage, const grouping *g, const strip *s)
{
    if (s->rows == 0 || s->width == 0)
        return RESTRIDE_OK;
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, g->word}, {"THREADS", NULL, THREADS}, {"BLOCKS", NULL, BLOCKS}};
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status = rs_cuda_kernel_create(&launch->kernel, rs_cuda_engine_of(stage),
                                                   "strips", rs_cuda_strips_kernel, defines,
                                                   sizeof defines / sizeof defines[0], THREADS, 0);
    if (status != RESTRIDE_OK)
        return status;
    launch->offset += s->first * g->unit;
    launch->grid = rs_size_smaller(rs_size_divide_up(s->rows * s->width, THREADS), STRIP_BLOCKS);
    const uint64_t arguments[] = {s->rows,          s->width, s->pitch * (g->unit / g->word),
                                  s->transposed,    s->saves, s->kept,
                                  g->unit / g->word};
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    return RESTRIDE_OK;
}

static restride_status add_groups(rs_cuda_stage *stage, const grouping *g, rs_cuda_pointer flags,
                                  rs_cuda_pointer columns)
{
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, g->word}, {"SINGLE", NULL, g->unit == g->word && g->word < WIDE_BYTES},
        {"TALL", NULL, g->tall},       {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, BLOCKS},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status = rs_cuda_kernel_create(
        &launch->kernel, rs_cuda_engine_of(stage), "groups", rs_cuda_groups_kernel, defines,
        sizeof defines / sizeof defines[0], THREADS, g->shared_bytes);
    if (status != RESTRIDE_OK)
        return status;
    launch->grid = rs_size_smaller(launch->kernel.resident, g->side * g->parts);
    launch->cooperative = true;
    size_t unit_words = g->unit / g->word;
    size_t tall_pitch = g->group * g->shorter * unit_words;
    size_t wide_pitch = g->longer * unit_words;
    const uint64_t arguments[] = {g->tall ? tall_pitch : wide_pitch,
                                  g->tall ? wide_pitch : tall_pitch,
                                  g->shorter,
                                  g->side,
                                  g->side,
                                  flags,
                                  columns,
                                  g->group,
                                  unit_words,
                                  g->parts,
                                  g->part,
                                  g->pitch};
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    return RESTRIDE_OK;
}

/* The launches in their order from tall to wide; from wide to tall the order is reversed. */
typedef enum { TALL_LINES, GROUPS, SQUARE, WIDE_LINES, WIDE_COLUMNS, STEPS } step;

static restride_status add_step(rs_cuda_stage *stage, const grouping *g, rs_cuda_pointer kept,
                                step s)
{
    rs_cuda_pointer lines = kept + g->flags_bytes;
    rs_cuda_pointer columns = lines + g->lines_bytes;
    size_t wide = g->group * g->side;
    const strip strips[STEPS] = {
        [TALL_LINES] = {wide * g->shorter, 1, g->over * g->shorter, 0, false, g->tall, lines},
        [WIDE_LINES] = {wide, g->shorter, g->over, g->longer, true, !g->tall, lines},
        [WIDE_COLUMNS] = {g->side * g->longer, g->shorter - g->side, wide, g->longer, false,
                          !g->tall, columns},
    };
    const rs_cuda_square square = {1, 0, g->side, g->group * g->unit, g->longer * g->unit};
    if (s == GROUPS)
        return add_groups(stage, g, kept, columns);
    return s == SQUARE ? rs_cuda_add_square(stage, &square) : add_strip(stage, g, &strips[s]);
}

restride_status rs_cuda_groups_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    size_t bytes = rs_cuda_groups_bytes(engine, task);
    if (bytes == SIZE_MAX)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Groups of %zu lines of %zu x %zu elements of %zu bytes do not suit %s.",
                       task->tile, task->rows, task->cols, task->unit, engine->name);
    const grouping g = make_grouping(engine, task);
    restride_status status = rs_cuda_keep(&stage->launches[0], engine, NULL, bytes);
    rs_cuda_pointer kept = stage->launches[0].table;
    for (int i = 0; status == RESTRIDE_OK && i < STEPS; i++)
        status = add_step(stage, &g, kept, g.tall ? (step)i : (step)(STEPS - 1 - i));
    snprintf(stage->shape, sizeof stage->shape,
             "%zu groups of %zu, %zu lines and %zu columns kept aside", g.side, g.group, g.over,
             g.shorter - g.side);
    return status;
}
