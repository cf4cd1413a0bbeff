/*
 * Methods for devices, whose memory on chip holds no panel of a large matrix. In the pictures a
 * matrix of R x C elements is to become C x R.
 *
 *     tiles    R'.m.C'.m    each tile of m x m where it is    R'.m.C'.m    210!    C'.m.R'.m
 *
 * After the first pass the m elements that end side by side are side by side, so the second moves
 * them together, from wherever they are to their place: two passes where the thesis's 3-stage
 * methods take three, for every m that divides both sides. The host does so with large m, whose
 * tiles need no chip (offers.c).
 *
 *     C2R      rows are shuffled on chip, columns rotated and shuffled; R2C is the way back
 *
 * (Catanzaro, Keller and Garland 2014, section 3), for sides without a common divisor. Element
 * (i, j) moves in its row to (i + j R) mod C; then row i, column j receives row (i C + j) mod R.
 * With j = p w + t, the rotation by t inside panels of w columns goes before, and what is left, row
 * (i C + p w) mod R, is the same for all columns of the panel, so rows of panels move as a whole.
 * R2C goes backward with the inverses of R modulo C and of C modulo R.
 */
#include "transpose/device_methods.h"
#include "base/arithmetic.h"
#include "base/number.h"
#include "transpose/device_cost.h"

#include <stdint.h>
#include <stdio.h>

enum { PANEL_BYTES = 256, MOST_PANEL = 64 };

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
    rs_method_add_stage(choice, problem, RS_TRANSPOSE_TILES)->tile = tile;
    if (m->rows == tile && m->cols == tile)
        return true;
    rs_transpose_task *reverse = rs_method_add_stage(choice, problem, RS_TRANSPOSE_REVERSE);
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
    rs_method_add_stage(choice, problem, RS_TRANSPOSE_GROUPS)->tile = tiles.rows;
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
    return panel > RS_DEVICE_LEAST_PANEL ? panel : RS_DEVICE_LEAST_PANEL;
}

void rs_device_offer_c2r(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    if (problem->traits.chip_only)
        offers->take(offers, method, (rs_tiles){0, choose_panel(problem->matrices->unit)});
}

static bool suits(const rs_problem *problem, rs_tiles tiles)
{
    const rs_matrices *m = problem->matrices;
    return problem->traits.chip_only && tiles.rows == 0 && tiles.cols >= RS_DEVICE_LEAST_PANEL &&
           tiles.cols % RS_DEVICE_LEAST_PANEL == 0 && rs_device_is_word(m->unit) &&
           m->offset % m->unit == 0 && m->rows <= INT32_MAX && m->cols <= INT32_MAX &&
           m->rows > 1 && m->cols > 1 && rs_size_gcd(m->rows, m->cols) == 1;
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
        rs_transpose_task *task = rs_method_add_stage(choice, problem, orders[to_rows][i]);
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
