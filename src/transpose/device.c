/*
 * Methods for devices, whose memory on chip holds no panel of a large matrix. In the pictures a
 * matrix of R x C elements is to become C x R.
 *
 *     tiles    R'.m.C'.m    each tile of m x m where it is    R'.m.C'.m    210!    C'.m.R'.m
 *
 * After the first pass the m elements that end side by side are side by side, so the second moves
 * them together, from wherever they are to their place: two passes where the thesis's 3-stage
 * methods take three, for every m that divides both sides.
 *
 *     C2R      rows are shuffled on chip, columns rotated and shuffled; R2C is the way back
 *
 * (Catanzaro, Keller and Garland 2014, section 3), for sides without a common divisor. Element
 * (i, j) moves in its row to (i + j R) mod C; then row i, column j receives row (i C + j) mod R.
 * With j = p w + t, the rotation by t inside panels of w columns goes before, and what is left, row
 * (i C + p w) mod R, is the same for all columns of the panel, so rows of panels move as a whole.
 * R2C goes backward with the inverses of R modulo C and of C modulo R.
 */
#include "transpose/device.h"
#include "base/arithmetic.h"
#include "base/number.h"
#include "transpose/cost.h"

#include <stdint.h>
#include <stdio.h>

enum {
    LARGEST_SQUARE_UNIT = 256,
    PANEL_BYTES = 256,
    LEAST_PANEL = 32,
    MOST_PANEL = 64,
    REGISTER_BYTES = 160, /* of a row, in each of MOST_ITEMS work-items */
    REGISTER_VALUES = 64,
    MOST_ITEMS = 1024,
    MOST_BYTES_OF_A_ROW = 32 << 10, /* that are shuffled one by one without taking far longer */
    MOST_GRANULES = 65535,          /* of a block */
    MEMBER_BYTES = 8,               /* of a granule's entry in a table */
    PART_BYTES = 48,                /* of a part's entries */
    SIZE_WIDTH_BITS = 63,
    LAUNCH_BYTES = 6 << 20
};

/* ---- costs: the weights were fitted to measurements on one GPU (lab/docs/performance.md) ---- */

/* Runs that are no whole lines cost most of a line more. */
static double runs_cost(size_t run_bytes, const rs_engine_traits *traits)
{
    double line = (double)traits->line_bytes;
    double cost = 1.2 + 0.1 * line / (double)run_bytes;
    if (run_bytes % traits->line_bytes != 0)
        cost += 0.2 + 0.5 * line / (double)run_bytes;
    return cost;
}

/* Elements that move one by one take longer than the memory when they are short. */
static double short_elements(size_t unit)
{
    return unit == 1 ? 1 : unit == 2 ? 0.4 : 0;
}

static double panels_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)scratch_limit;
    double block = (double)(task->rows * task->cols * task->unit);
    double chip = (double)traits->chip_bytes;
    if (block > chip)
        return RS_COST_IMPOSSIBLE;
    return 1.03 + 0.25 * block / chip + 0.6 * short_elements(task->unit);
}

static double chains_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)scratch_limit;
    return runs_cost(task->unit, traits);
}

static double square_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                          size_t scratch_limit)
{
    (void)scratch_limit;
    if (task->unit > LARGEST_SQUARE_UNIT)
        return RS_COST_IMPOSSIBLE;
    return task->cols * task->unit % traits->line_bytes == 0 ? 1.1 : 1.34;
}

static double tiles_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)scratch_limit;
    double bytes = (double)(task->tile * task->tile * task->unit);
    double chip = (double)traits->chip_bytes;
    if (bytes > chip)
        return RS_COST_IMPOSSIBLE;
    bool aligned = task->tile * task->unit % traits->line_bytes == 0;
    return (aligned ? 1.02 : 1.08) + 0.15 * bytes / chip;
}

static bool is_word(size_t unit)
{
    return unit <= 16 && (unit & (unit - 1)) == 0;
}

static double rows_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                        size_t scratch_limit)
{
    (void)scratch_limit;
    size_t values = REGISTER_BYTES / task->unit;
    values = values < REGISTER_VALUES ? values : REGISTER_VALUES;
    if (!is_word(task->unit) || task->cols > values * MOST_ITEMS)
        return RS_COST_IMPOSSIBLE;
    double cost = task->cols * task->unit <= traits->chip_bytes ? 1.05 : 1.25;
    if (task->unit == 1 && task->cols > MOST_BYTES_OF_A_ROW)
        cost += 16; /* 124 GB/s in all with rows of 46351, where 10007 make 409 */
    return cost + short_elements(task->unit);
}

static double rotation_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                            size_t scratch_limit)
{
    size_t window = (task->tile + LEAST_PANEL) * (task->tile + 1) * task->unit;
    bool fits = task->tile * (task->tile - 1) / 2 * task->unit * task->outer <= scratch_limit;
    if (!fits || window > traits->chip_bytes || task->rows < task->tile)
        return RS_COST_IMPOSSIBLE;
    return 1.3 + short_elements(task->unit);
}

static double columns_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                           size_t scratch_limit)
{
    (void)scratch_limit;
    return runs_cost(task->tile * task->unit + 1, traits) + short_elements(task->unit);
}

/* Two tiles at least are under way in local memory, with rows an odd distance apart. */
static double fused_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    size_t tile = task->inner_rows * (task->inner_cols + 1) * task->unit;
    if (2 * tile > traits->chip_bytes)
        return RS_COST_IMPOSSIBLE;
    return runs_cost(task->inner_rows * task->inner_cols * task->unit, traits) + 0.15 +
           rs_fused_wait(task, scratch_limit);
}

static double baseline_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                            size_t scratch_limit)
{
    return rs_baseline_cost(task, traits->chip_bytes, scratch_limit);
}

/* Rows of unequal members pass through local memory, granule by granule; places have 16 bits. */
static double zip_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                       size_t scratch_limit)
{
    size_t granule = 16;
    for (size_t i = 0; i < task->piece_count; i++)
        granule = rs_size_gcd(granule, task->pieces[i].unit);
    size_t row = task->cols / granule;
    if (task->cols > traits->chip_bytes / task->rows || row > MOST_GRANULES / task->rows ||
        row * MEMBER_BYTES > scratch_limit)
        return RS_COST_IMPOSSIBLE;
    return 1.1 + 2 / (double)granule;
}

/* Swaps: two passes, when a part slides or changes places with another. */
static double reorder_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                           size_t scratch_limit)
{
    (void)traits;
    size_t levels = 1;
    while (levels < SIZE_WIDTH_BITS && (size_t)1 << levels < task->piece_count)
        levels++;
    return task->piece_count * levels * PART_BYTES <= scratch_limit ? 2 : RS_COST_IMPOSSIBLE;
}

/* Each launch moves what the scratch memory has besides the tails; an idle device could move
 * LAUNCH_BYTES meanwhile. */
static double tails_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                         size_t scratch_limit)
{
    (void)traits;
    size_t tails = task->rows * task->tail * task->unit;
    if (tails > scratch_limit / 2)
        return RS_COST_IMPOSSIBLE;
    double bytes = (double)task->outer * (double)task->rows * (double)(task->cols * task->unit);
    double launches = 2 * bytes / (double)(scratch_limit - tails) + 2;
    return 1.5 + launches * LAUNCH_BYTES / bytes;
}

double rs_device_cost(const rs_transpose_task *task, const rs_engine_traits *traits,
                      size_t scratch_limit)
{
    static double (*const costs[RS_TRANSPOSE_METHOD_COUNT])(const rs_transpose_task *,
                                                            const rs_engine_traits *, size_t) = {
        [RS_TRANSPOSE_PANELS] = panels_cost,   [RS_TRANSPOSE_CHAINS] = chains_cost,
        [RS_TRANSPOSE_SQUARE] = square_cost,   [RS_TRANSPOSE_TILES] = tiles_cost,
        [RS_TRANSPOSE_REVERSE] = chains_cost,  [RS_TRANSPOSE_SHUFFLE_ROWS] = rows_cost,
        [RS_TRANSPOSE_ROTATE] = rotation_cost, [RS_TRANSPOSE_SHUFFLE_COLUMNS] = columns_cost,
        [RS_TRANSPOSE_UNZIP] = zip_cost,       [RS_TRANSPOSE_ZIP] = zip_cost,
        [RS_TRANSPOSE_REORDER] = reorder_cost, [RS_TRANSPOSE_JOIN] = tails_cost,
        [RS_TRANSPOSE_SPLIT] = tails_cost,     [RS_TRANSPOSE_FUSED] = fused_cost,
        [RS_TRANSPOSE_PIPT] = baseline_cost,   [RS_TRANSPOSE_PIPT_PANELS] = baseline_cost,
        [RS_TRANSPOSE_PTTWAC] = baseline_cost, [RS_TRANSPOSE_PTTWAC_PANELS] = baseline_cost,
    };
    return costs[task->method] == NULL ? RS_COST_IMPOSSIBLE
                                       : costs[task->method](task, traits, scratch_limit);
}

/* ---- tiles and 210! ---- */

void rs_device_offer_tiles(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    const rs_matrices *m = problem->matrices;
    size_t divisor = rs_size_gcd(m->rows, m->cols);
    for (size_t tile = 2; tile <= divisor && tile * tile <= problem->traits.group_bytes / m->unit;
         tile++)
        if (divisor % tile == 0)
            offers->take(offers, method, (rs_tiles){tile, tile});
}

bool rs_device_build_tiles(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    const rs_matrices *m = problem->matrices;
    size_t tile = tiles.rows;
    if (tile < 2 || tiles.cols != tile || m->rows % tile != 0 || m->cols % tile != 0)
        return false;
    rs_methods_add(choice, problem, RS_TRANSPOSE_TILES)->tile = tile;
    if (m->rows == tile && m->cols == tile)
        return true;
    rs_transpose_task *reverse = rs_methods_add(choice, problem, RS_TRANSPOSE_REVERSE);
    reverse->rows = m->rows / tile;
    reverse->tile = tile;
    reverse->cols = m->cols / tile;
    reverse->unit = tile * m->unit;
    return true;
}

void rs_device_explain_tiles(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                             size_t size)
{
    size_t unit = problem->matrices->unit;
    size_t tile = choice->tiles.rows;
    snprintf(why, size,
             "Tiles of %zu x %zu take %zu bytes (the chip holds %zu); super-elements have %zu "
             "bytes.",
             tile, tile, tile * tile * unit, problem->traits.chip_bytes, tile * unit);
}

/* ---- groups that leave a square of super-elements ---- */

/* As many lines of the longer side together as the sides' quotient says, rounded down and up. */
void rs_device_offer_groups(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    const rs_matrices *m = problem->matrices;
    size_t longer = rs_size_larger(m->rows, m->cols);
    size_t shorter = rs_size_smaller(m->rows, m->cols);
    offers->take(offers, method, (rs_tiles){longer / shorter, 0});
    if (longer % shorter != 0)
        offers->take(offers, method, (rs_tiles){longer / shorter + 1, 0});
}

bool rs_device_build_groups(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    const rs_matrices *m = problem->matrices;
    size_t longer = rs_size_larger(m->rows, m->cols);
    if (tiles.rows < 2 || tiles.cols != 0 || tiles.rows > longer)
        return false;
    rs_methods_add(choice, problem, RS_TRANSPOSE_GROUPS)->tile = tiles.rows;
    return true;
}

void rs_device_explain_groups(const rs_stage_choice *choice, const rs_problem *problem, char *why,
                              size_t size)
{
    const rs_matrices *m = problem->matrices;
    snprintf(
        why, size,
        "Groups of %zu %s are transposed on chip, one after the other; their super-elements of %zu "
        "bytes are a square, but for a few that are kept aside.",
        choice->tiles.rows, m->rows > m->cols ? "rows" : "columns", choice->tiles.rows * m->unit);
}

/* ---- C2R and R2C ---- */

static size_t choose_panel(size_t unit)
{
    size_t panel = PANEL_BYTES / unit;
    panel = panel < MOST_PANEL ? panel : MOST_PANEL;
    return panel > LEAST_PANEL ? panel : LEAST_PANEL;
}

void rs_device_offer_c2r(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    if (problem->traits.chip_only)
        offers->take(offers, method, (rs_tiles){0, choose_panel(problem->matrices->unit)});
}

static bool suits(const rs_problem *problem, rs_tiles tiles)
{
    const rs_matrices *m = problem->matrices;
    return problem->traits.chip_only && tiles.rows == 0 && tiles.cols >= LEAST_PANEL &&
           tiles.cols % LEAST_PANEL == 0 && is_word(m->unit) && m->offset % m->unit == 0 &&
           m->rows <= INT32_MAX && m->cols <= INT32_MAX && m->rows > 1 && m->cols > 1 &&
           rs_size_gcd(m->rows, m->cols) == 1;
}

/* The three stages in the order of C2R, or of R2C; the first is returned. */
static rs_transpose_task *add_shuffles(rs_stage_choice *choice, const rs_problem *problem,
                                       size_t rows, size_t cols, size_t panel, bool to_rows)
{
    static const rs_transpose_method orders[2][3] = {
        {RS_TRANSPOSE_SHUFFLE_ROWS, RS_TRANSPOSE_ROTATE, RS_TRANSPOSE_SHUFFLE_COLUMNS},
        {RS_TRANSPOSE_SHUFFLE_COLUMNS, RS_TRANSPOSE_ROTATE, RS_TRANSPOSE_SHUFFLE_ROWS},
    };
    rs_transpose_task *stages = &choice->tasks[choice->count];
    for (int i = 0; i < 3; i++) {
        rs_transpose_task *task = rs_methods_add(choice, problem, orders[to_rows][i]);
        task->rows = rows;
        task->cols = cols;
        task->tile = panel;
    }
    return stages;
}

bool rs_device_build_c2r(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    if (!suits(problem, tiles))
        return false;
    size_t rows = problem->matrices->rows;
    size_t cols = problem->matrices->cols;
    rs_transpose_task *stages = add_shuffles(choice, problem, rows, cols, tiles.cols, false);
    stages[0].factor = rows % cols;
    stages[0].shift = 1 % cols;
    stages[2].factor = cols % rows;
    stages[2].shift = tiles.cols % rows;
    return true;
}

/* From R x C as C2R leaves it to where it began: that is a matrix of C x R, whose rows are short
 * when R is. */
bool rs_device_build_r2c(rs_stage_choice *choice, const rs_problem *problem, rs_tiles tiles)
{
    if (!suits(problem, tiles))
        return false;
    size_t rows = problem->matrices->cols;
    size_t cols = problem->matrices->rows;
    rs_transpose_task *stages = add_shuffles(choice, problem, rows, cols, tiles.cols, true);
    size_t row_inverse = rs_number_inverse(rows, cols);
    size_t col_inverse = rs_number_inverse(cols, rows);
    stages[0].factor = col_inverse;
    stages[0].shift = (rows - tiles.cols % rows * col_inverse % rows) % rows;
    stages[1].backward = true;
    stages[2].factor = row_inverse;
    stages[2].shift = (cols - row_inverse) % cols;
    return true;
}
