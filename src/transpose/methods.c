/*
 * The table of methods (Sung thesis, chapter 4; Sung 2014, sections 4 and 7.4). In the pictures a
 * matrix of R x C elements is to become C x R; R = R'm and C = C'n.
 *
 *     2-stage    R'.m.C    010!  R'.C.m    100!  C.R'.m            m rows together
 *                R.C'.n    100!  C'.R.n    010!  C'.n.R            n columns together
 *     3-stage    R.C'.n    100!  C'.R'.m.n    0010!  C'.R'.n.m    0100!  C'.n.R'.m
 *                R'.m.C'.n  0100!  R'.C'.m.n  0010!  R'.C'.n.m    100!   C'.n.R'.m
 *     4-stage    R'.m.C'.n  0100!  R'.C'.m.n  0010!  R'.C'.n.m    1000!  C'.R'.n.m  0100! C'.n.R'.m
 *
 * 0010! and 0100! are stages with a count or an outer number of matrices, 1000! is 100! with longer
 * elements. The 2-stage methods need no factors: what m leaves over of the rows stays behind as a
 * small matrix and is joined at the end (pad); what n leaves over of the columns is split off first
 * (unpad). That is a third pass, so factors are preferred. Blocks that are square need no scratch
 * memory, however large they are. Methods with two tile sizes take factors only.
 *
 * C2R and R2C shuffle whole rows and whole columns of any shape (engine/host/shuffle.h): two passes
 * when the sides have no common divisor, three otherwise.
 */
#include "transpose/methods.h"
#include "base/arithmetic.h"
#include "transpose/cost.h"
#include "transpose/device_methods.h"
#include "transpose/offers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- stages ---- */

static double cost_of(const rs_transpose_task *task, const rs_problem *problem)
{
    return rs_cost_of_transpose(task, &problem->traits, problem->scratch_limit);
}

/* `outer` matrices that lie one after the other instead of each of the whole matrices. As many rows
 * as columns are a square, whose mirror tiles may change places instead. */
static void add_chains(rs_stage_choice *choice, const rs_problem *problem, size_t outer,
                       size_t rows, size_t cols, size_t unit)
{
    if (rows == 1 || cols == 1)
        return;
    rs_transpose_task *task = rs_method_add_stage(choice, problem, RS_TRANSPOSE_CHAINS);
    task->outer *= outer;
    task->pitch /= outer;
    task->rows = rows;
    task->cols = cols;
    task->unit = unit;
    if (rows != cols)
        return;
    rs_transpose_task square = *task;
    square.method = RS_TRANSPOSE_SQUARE;
    square.tile = rs_cost_stored_edge(unit, &problem->traits);
    if (cost_of(&square, problem) < cost_of(task, problem))
        *task = square;
}

/* Blocks pass through the chip, one for each worker; or one at a time, where there is no room. */
static void add_blocks(rs_stage_choice *choice, const rs_problem *problem, size_t count,
                       size_t rows, size_t cols)
{
    if (rows == 1 || cols == 1)
        return;
    rs_transpose_task *task = rs_method_add_stage(choice, problem, RS_TRANSPOSE_PANELS);
    task->count = count;
    task->rows = rows;
    task->cols = cols;
    if (!problem->granted && !problem->named)
        return;
    rs_transpose_task copy = *task;
    copy.method = RS_TRANSPOSE_COPY;
    if (cost_of(&copy, problem) < cost_of(task, problem))
        *task = copy;
}

/* ---- methods without tiles ---- */

static bool build_nothing(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)choice;
    (void)tiles;
    return problem->matrices->rows == 1 || problem->matrices->cols == 1;
}

static bool build_direct(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    const rs_matrices *m = problem->matrices;
    add_chains(choice, problem, 1, m->rows, m->cols, m->unit);
    return choice->count != 0;
}

static void explain_direct(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                           size_t size)
{
    (void)choice;
    snprintf(why, size, "Elements of %zu bytes are long enough to move one by one.",
             problem->matrices->unit);
}

/* As one block: through the chip, or with all threads where more scratch memory was granted. */
static bool build_copy(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    const rs_matrices *m = problem->matrices;
    size_t bytes = m->rows * m->cols * m->unit;
    if (!problem->granted && !problem->named &&
        bytes > rs_size_multiply_capped(4, problem->traits.chip_bytes))
        return false;
    add_blocks(choice, problem, 1, m->rows, m->cols);
    return choice->count != 0;
}

/* The chip of a device, together with its registers, holds all of a matrix. */
static bool build_on_chip(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    rs_method_add_stage(choice, problem, RS_TRANSPOSE_ON_CHIP);
    return true;
}

static void explain_copy(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                         size_t size)
{
    const rs_matrices *m = problem->matrices;
    if (choice->tasks[0].method == RS_TRANSPOSE_PANELS)
        snprintf(why, size,
                 "A matrix of %zu bytes passes as a whole through a buffer that stays on chip.",
                 m->rows * m->cols * m->unit);
    else
        snprintf(why, size,
                 "The scratch memory holds the whole matrix, which is transposed out of place and "
                 "copied back.");
}

static bool build_pipt(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    rs_method_add_stage(choice, problem, RS_TRANSPOSE_PIPT);
    return true;
}

static bool build_pttwac(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    rs_method_add_stage(choice, problem, RS_TRANSPOSE_PTTWAC);
    return true;
}

/* ---- the sides cut once: 2-stage methods and squares ---- */

typedef struct {
    bool by_rows;
    size_t along;  /* the side that is cut */
    size_t across; /* the other */
    size_t part;
    size_t blocks;
    size_t rest;
} cut;

static cut make_cut(const rs_problem *problem, bool by_rows, size_t part)
{
    const rs_matrices *m = problem->matrices;
    cut c = {by_rows, by_rows ? m->rows : m->cols, by_rows ? m->cols : m->rows, part, 0, 0};
    c.blocks = part == 0 ? 0 : c.along / part;
    c.rest = part == 0 ? 0 : c.along % part;
    return c;
}

static void add_tails(rs_stage_choice *choice, const rs_problem *problem, const cut *c)
{
    if (c->rest == 0)
        return;
    rs_transpose_task *task =
        rs_method_add_stage(choice, problem, c->by_rows ? RS_TRANSPOSE_JOIN : RS_TRANSPOSE_SPLIT);
    task->rows = c->across;
    task->cols = c->blocks * c->part;
    task->tail = c->rest;
}

/* With one block there is nothing to move; the matrices of a batch stay as far apart as they are,
 * though the rest of each is left out. */
static void add_cut_chains(rs_stage_choice *choice, const rs_problem *problem, const cut *c)
{
    const rs_matrices *m = problem->matrices;
    add_chains(choice, problem, 1, c->by_rows ? c->blocks : m->rows,
               c->by_rows ? m->cols : c->blocks, c->part * m->unit);
}

static bool build_cut(rs_stage_choice *choice, const rs_problem *problem, const cut *c)
{
    const rs_matrices *m = problem->matrices;
    if (c->blocks == 0 || c->part == 1 || c->part == c->along)
        return false;
    size_t rows = c->by_rows ? c->part : m->rows;
    size_t cols = c->by_rows ? m->cols : c->part;
    if (c->by_rows) {
        add_blocks(choice, problem, c->blocks, rows, cols);
        add_cut_chains(choice, problem, c);
        add_tails(choice, problem, c);
    } else {
        add_tails(choice, problem, c);
        add_cut_chains(choice, problem, c);
        add_blocks(choice, problem, c->blocks, rows, cols);
    }
    return choice->count != 0;
}

static bool build_row_blocks(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    const cut c = make_cut(problem, true, tiles.rows);
    return tiles.cols == 0 && build_cut(choice, problem, &c);
}

static bool build_column_blocks(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    const cut c = make_cut(problem, false, tiles.cols);
    return tiles.rows == 0 && build_cut(choice, problem, &c);
}

static void explain_blocks(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                           size_t size)
{
    bool by_rows = choice->tiles.rows != 0;
    const cut c = make_cut(problem, by_rows, by_rows ? choice->tiles.rows : choice->tiles.cols);
    size_t unit = problem->matrices->unit;
    snprintf(why, size,
             "Blocks of %zu %s take %zu bytes (the chip holds %zu), super-elements have %zu bytes; "
             "%zu %s stay over.",
             c.part, by_rows ? "rows" : "columns", c.part * c.across * unit,
             problem->traits.chip_bytes, c.part * unit, c.rest, by_rows ? "rows" : "columns");
}

static void add_squares(rs_stage_choice *choice, const rs_problem *problem, const cut *c)
{
    const rs_matrices *m = problem->matrices;
    rs_transpose_task *task = rs_method_add_stage(choice, problem, RS_TRANSPOSE_SQUARE);
    task->rows = c->across;
    task->cols = c->across;
    task->tile = rs_cost_stored_edge(m->unit, &problem->traits);
    if (c->blocks > 1) {
        task->outer *= c->blocks;
        task->pitch = c->across * c->across * m->unit;
    }
}

/* Blocks as high as wide, which transpose in place: of the longer side, as many as it holds. */
static bool build_squares(rs_stage_choice *choice, const rs_problem *problem)
{
    const rs_matrices *m = problem->matrices;
    bool by_rows = m->rows >= m->cols;
    const cut c = make_cut(problem, by_rows, by_rows ? m->cols : m->rows);
    if (c.blocks > 1 && c.rest != 0 && m->batch > 1) /* they would be at two distances */
        return false;
    if (by_rows) {
        add_squares(choice, problem, &c);
        add_cut_chains(choice, problem, &c);
        add_tails(choice, problem, &c);
    } else {
        add_tails(choice, problem, &c);
        add_cut_chains(choice, problem, &c);
        add_squares(choice, problem, &c);
    }
    return true;
}

static bool build_square(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    return problem->matrices->rows == problem->matrices->cols && build_squares(choice, problem);
}

/* Thesis, section 4.1: with values of the matrix in the padding, so that it needs no more memory.
 */
static bool build_near_square(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    const rs_matrices *m = problem->matrices;
    size_t longer = m->rows > m->cols ? m->rows : m->cols;
    size_t shorter = m->rows > m->cols ? m->cols : m->rows;
    return longer != shorter && longer / shorter == 1 && build_squares(choice, problem);
}

static bool build_row_squares(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    return problem->matrices->rows / problem->matrices->cols > 1 && build_squares(choice, problem);
}

static bool build_column_squares(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    return problem->matrices->cols / problem->matrices->rows > 1 && build_squares(choice, problem);
}

static void explain_squares(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                            size_t size)
{
    (void)choice;
    const rs_matrices *m = problem->matrices;
    bool by_rows = m->rows >= m->cols;
    const cut c = make_cut(problem, by_rows, by_rows ? m->cols : m->rows);
    snprintf(why, size,
             "%zu square%s of %zu x %zu %s transposed in place, so super-elements have %zu bytes "
             "and the blocks no bound; %zu %s stay over.",
             c.blocks, c.blocks == 1 ? "" : "s", c.part, c.part, c.blocks == 1 ? "is" : "are",
             c.part * m->unit, c.rest, by_rows ? "rows" : "columns");
}

/* ---- both sides cut: 3-stage and 4-stage methods ---- */

typedef struct {
    size_t m;
    size_t n;
    size_t rows; /* R' */
    size_t cols; /* C' */
    size_t unit;
} grid;

static bool make_grid(grid *g, const rs_problem *problem, rs_tiles tiles)
{
    const rs_matrices *m = problem->matrices;
    if (tiles.rows < 2 || tiles.cols < 2 || tiles.rows >= m->rows || tiles.cols >= m->cols ||
        m->rows % tiles.rows != 0 || m->cols % tiles.cols != 0)
        return false;
    *g = (grid){tiles.rows, tiles.cols, m->rows / tiles.rows, m->cols / tiles.cols, m->unit};
    return true;
}

/* Moves the tiles of the columns, or of the rows, together. False when that leaves nothing to gain
 * for `more` stages. */
static bool begin_grid(rs_stage_choice *choice, const rs_problem *problem, const grid *g,
                       bool columns, size_t more)
{
    if (columns)
        add_chains(choice, problem, 1, problem->matrices->rows, g->cols, g->n * g->unit);
    else
        add_chains(choice, problem, g->rows, g->m, g->cols, g->n * g->unit);
    const double least = rs_cost_least(&problem->traits, 1, g->unit);
    return cost_of(&choice->tasks[0], problem) + (double)more * least < choice->highest;
}

static bool build_columns_first(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    grid g;
    if (!make_grid(&g, problem, tiles) || !begin_grid(choice, problem, &g, true, 2))
        return false;
    add_blocks(choice, problem, g.cols * g.rows, g.m, g.n);
    add_chains(choice, problem, g.cols, g.rows, g.n, g.m * g.unit);
    return true;
}

static bool build_rows_first(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    grid g;
    if (!make_grid(&g, problem, tiles) || !begin_grid(choice, problem, &g, false, 2))
        return false;
    add_blocks(choice, problem, g.rows * g.cols, g.m, g.n);
    add_chains(choice, problem, 1, g.rows, problem->matrices->cols, g.m * g.unit);
    return true;
}

static bool build_four_stages(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    grid g;
    if (!make_grid(&g, problem, tiles) || !begin_grid(choice, problem, &g, false, 3))
        return false;
    add_blocks(choice, problem, g.rows * g.cols, g.m, g.n);
    add_chains(choice, problem, 1, g.rows, g.cols, g.m * g.n * g.unit);
    add_chains(choice, problem, g.cols, g.rows, g.n, g.m * g.unit);
    return true;
}

static bool build_fused_stages(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    grid g;
    if (!make_grid(&g, problem, tiles) || !begin_grid(choice, problem, &g, false, 2))
        return false;
    rs_transpose_task *fused = rs_method_add_stage(choice, problem, RS_TRANSPOSE_FUSED);
    fused->rows = g.rows;
    fused->cols = g.cols;
    fused->inner_rows = g.m;
    fused->inner_cols = g.n;
    add_chains(choice, problem, g.cols, g.rows, g.n, g.m * g.unit);
    return true;
}

/* The thesis's own ways to move what the stages move, and how the flags of its tiles lie. */
typedef struct {
    rs_transpose_method elements;
    rs_transpose_method tiles;
    size_t spreading;
    bool padded;
    bool remapped;
} baseline;

static bool build_baseline(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles,
                           const baseline *way)
{
    choice->highest = INFINITY; /* that of what the stages are replaced with */
    if (!build_columns_first(choice, problem, tiles))
        return false;
    for (size_t i = 0; i < choice->count; i++) {
        rs_transpose_task *task = &choice->tasks[i];
        bool elements = task->method != RS_TRANSPOSE_PANELS && task->method != RS_TRANSPOSE_COPY;
        task->method = elements ? way->elements : way->tiles;
        task->spreading = way->spreading;
        task->padded = way->padded;
        task->remapped = way->remapped;
    }
    return true;
}

static bool build_spread_claims(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    static const baseline way = {RS_TRANSPOSE_PTTWAC, RS_TRANSPOSE_PTTWAC_PANELS, 16, true, false};
    return build_baseline(choice, problem, tiles, &way);
}

static bool build_packed_claims(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    static const baseline way = {RS_TRANSPOSE_PTTWAC, RS_TRANSPOSE_PTTWAC_PANELS, 1, false, false};
    return build_baseline(choice, problem, tiles, &way);
}

static bool build_remapped_claims(rs_stage_choice *choice, const rs_problem *problem,
                                  rs_tiles tiles)
{
    static const baseline way = {RS_TRANSPOSE_PTTWAC, RS_TRANSPOSE_PTTWAC_PANELS, 1, false, true};
    return build_baseline(choice, problem, tiles, &way);
}

static bool build_cycles(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    static const baseline way = {RS_TRANSPOSE_PIPT, RS_TRANSPOSE_PIPT_PANELS, 0, false, false};
    return build_baseline(choice, problem, tiles, &way);
}

static void explain_grid(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                         size_t size)
{
    size_t unit = problem->matrices->unit;
    rs_tiles t = choice->tiles;
    snprintf(why, size,
             "Tiles of %zu x %zu take %zu bytes (the chip holds %zu); super-elements have %zu and "
             "%zu bytes.",
             t.rows, t.cols, t.rows * t.cols * unit, problem->traits.chip_bytes, t.cols * unit,
             t.rows * unit);
}

/* ---- C2R and R2C ---- */

/* C2R takes the matrix as rows x cols, R2C its transpose. Without a common divisor of the sides
 * there is nothing to rotate. */
static bool build_shuffles(rs_stage_choice *choice, const rs_problem *problem, bool to_rows)
{
    static const rs_transpose_method orders[2][3] = {
        {RS_TRANSPOSE_C2R_ROTATE, RS_TRANSPOSE_C2R_ROWS, RS_TRANSPOSE_C2R_COLUMNS},
        {RS_TRANSPOSE_R2C_COLUMNS, RS_TRANSPOSE_R2C_ROWS, RS_TRANSPOSE_R2C_ROTATE},
    };
    const rs_matrices *m = problem->matrices;
    bool rotate = rs_size_gcd(m->rows, m->cols) > 1;
    for (int i = 0; i < 3; i++) {
        bool rotation = i == (to_rows ? 2 : 0);
        if (rotation && !rotate)
            continue;
        rs_transpose_task *task = rs_method_add_stage(choice, problem, orders[to_rows][i]);
        task->rows = to_rows ? m->cols : m->rows;
        task->cols = to_rows ? m->rows : m->cols;
    }
    return true;
}

static bool build_c2r(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    return build_shuffles(choice, problem, false);
}

static bool build_r2c(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    (void)tiles;
    return build_shuffles(choice, problem, true);
}

/* ---- the table: what is found among few tile sizes spares many of the methods behind ---- */

static const rs_method methods[] = {
    {"nothing", false, 0, build_nothing, rs_offer_once,
     "A single row and a single column are the same bytes.", NULL},
    {"square", false, 1, build_square, rs_offer_once, "Mirror tiles of a square change places.",
     NULL},
    {"direct", false, 1, build_direct, rs_offer_once, NULL, explain_direct},
    {"copy", false, 1, build_copy, rs_offer_once, NULL, explain_copy},
    {"on chip", false, 1, build_on_chip, rs_offer_once,
     "All of a matrix is read before anything of it is written: the chip holds it.", NULL},
    {"pad-square-unpad", false, 2, build_near_square, rs_offer_once, NULL, explain_squares},
    {"2-stage squares 100!", false, 2, build_row_squares, rs_offer_once, NULL, explain_squares},
    {"2-stage 100! squares", false, 2, build_column_squares, rs_offer_once, NULL, explain_squares},
    {"C2R", false, 2, build_c2r, rs_offer_once,
     "Rows are shuffled one by one, then columns; sides with a common divisor rotate first.", NULL},
    {"R2C", false, 2, build_r2c, rs_offer_once,
     "Columns are shuffled one by one, then rows; sides with a common divisor rotate last.", NULL},
    {"tiles 210!", false, 1, rs_device_build_tiles, rs_offer_tiles, NULL, rs_device_explain_tiles},
    {"C2R in panels", false, 3, rs_device_build_c2r, rs_device_offer_c2r,
     "The sides have no common divisor: rows are shuffled on chip, then columns rotated and "
     "shuffled.",
     NULL},
    {"R2C in panels", false, 3, rs_device_build_r2c, rs_device_offer_c2r,
     "The sides have no common divisor: columns are shuffled and rotated, then rows shuffled on "
     "chip.",
     NULL},
    {"groups and square", false, 2, rs_device_build_groups, rs_device_offer_groups, NULL,
     rs_device_explain_groups},
    {"2-stage 010! 100!", false, 2, build_row_blocks, rs_offer_row_blocks, NULL, explain_blocks},
    {"2-stage 100! 010!", false, 2, build_column_blocks, rs_offer_column_blocks, NULL,
     explain_blocks},
    {"3-stage 100! 0010! 0100!", false, 3, build_columns_first, rs_offer_grids, NULL, explain_grid},
    {"3-stage 0100! 0010! 100!", false, 3, build_rows_first, rs_offer_grids, NULL, explain_grid},
    {"4-stage 0100! 0010! 1000! 0100!", false, 4, build_four_stages, rs_offer_grids, NULL,
     explain_grid},
    {"4-stage fused", false, 3, build_fused_stages, rs_offer_small_grids, NULL, explain_grid},
    {"P-IPT", true, 1, build_pipt, rs_offer_once,
     "A baseline: each cycle of the elements has a thread.", NULL},
    {"PTTWAC", true, 1, build_pttwac, rs_offer_once,
     "A baseline: threads share the cycles of the elements and claim positions.", NULL},
    {"3-stage P-IPT", true, 3, build_cycles, rs_offer_small_grids, NULL, explain_grid},
    {"3-stage PTTWAC", true, 3, build_spread_claims, rs_offer_small_grids, NULL, explain_grid},
    {"3-stage PTTWAC packed", true, 3, build_packed_claims, rs_offer_small_grids, NULL,
     explain_grid},
    {"3-stage PTTWAC remapped", true, 3, build_remapped_claims, rs_offer_small_grids, NULL,
     explain_grid},
};

size_t rs_methods_count(void)
{
    return sizeof methods / sizeof methods[0];
}

const rs_method *rs_methods_at(size_t index)
{
    return &methods[index];
}

const rs_method *rs_methods_find(const char *name)
{
    for (size_t i = 0; i < rs_methods_count(); i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}
