/*
 * A square matrix: each pair of mirror tiles changes places, part by part, through a small buffer
 * that stays in the first-level cache. One pass over the matrix.
 *
 * The next pair of tiles is asked for while one is moved. Tiles are four lines wide: where rows are
 * no whole lines, a tile has one line more than that in each row, which comes and goes once more
 * for its neighbour. Eight lines make hardware expect the rest of the row, which is not needed.
 * In a file a plan asks for tiles as wide as a page.
 *
 * TILES is the same for each of the squares that a matrix is cut into, where they are.
 */
#include "engine/host/host.h"

#include <stdbool.h>
#include <string.h>

enum {
    TILE_ROW_BYTES = 256,
    LEAST_ROW_BYTES = 128,
    MOST_EDGE = 64,
    LEAST_EDGE = 4,
    LINE_BYTES = 64,
    SINGLE_EDGE = 16
};

/* The side of the parts of a tile that pass through the buffer. */
static size_t part_edge(const rs_host_stage *stage)
{
    size_t edge = stage->tile.edge != 0 ? stage->tile.edge : SINGLE_EDGE;
    return edge < stage->edge ? edge : stage->edge;
}

/* A pair of tiles stays in the first level; narrow elements have rows of two lines instead. */
static size_t default_edge(size_t unit)
{
    size_t edge = TILE_ROW_BYTES / unit;
    size_t narrow = LEAST_ROW_BYTES / unit;
    return edge <= MOST_EDGE ? edge : narrow > MOST_EDGE ? narrow : MOST_EDGE;
}

/* Elements along a side of a square. */
static size_t side_of(const rs_transpose_task *task)
{
    return task->method == RS_TRANSPOSE_TILES ? task->tile : task->rows;
}

restride_status rs_host_square_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    bool stored = task->method == RS_TRANSPOSE_SQUARE && task->tile != 0;
    size_t edge = stored ? task->tile : default_edge(task->unit);
    stage->edge = edge < LEAST_EDGE ? LEAST_EDGE : edge;
    rs_host_fit_threads(stage, 0, part_edge(stage) * part_edge(stage) * task->unit, scratch_limit);
    return RESTRIDE_OK;
}

/* A tile and its mirror image, clipped at the border. */
typedef struct {
    unsigned char *here;
    unsigned char *mirror;
    size_t height; /* of the tile here; the mirror tile has it as its width */
    size_t width;
    bool diagonal;
} tile_pair;

static tile_pair find_pair(const rs_host_stage *stage, unsigned char *matrix, size_t tile_row,
                           size_t tile_col)
{
    size_t n = side_of(&stage->task);
    size_t stride = stage->task.cols;
    size_t unit = stage->task.unit;
    size_t i = tile_row * stage->edge;
    size_t j = tile_col * stage->edge;
    return (tile_pair){.here = matrix + (i * stride + j) * unit,
                       .mirror = matrix + (j * stride + i) * unit,
                       .height = n - i < stage->edge ? n - i : stage->edge,
                       .width = n - j < stage->edge ? n - j : stage->edge,
                       .diagonal = tile_row == tile_col};
}

/* What has been asked for of the next pair, a few rows at each of many turns: more lines at once
 * than the first level can wait for would hold up the work between. */
typedef struct {
    const rs_host_stage *stage;
    const tile_pair *pair;
    size_t row;
    size_t turn;
    size_t turns;
} request;

enum { TURNS_A_PART = 4 };

static void ask_row(const unsigned char *row, size_t bytes)
{
    for (size_t byte = 0; byte < bytes - 1; byte += LINE_BYTES)
        __builtin_prefetch(row + byte, 1, 2);
    __builtin_prefetch(row + bytes - 1, 1, 2);
}

/* The next rows of both tiles, into the second level. */
static void ask(request *r)
{
    const rs_host_stage *stage = r->stage;
    size_t stride = stage->task.cols * stage->task.unit;
    size_t bytes = stage->edge * stage->task.unit;
    size_t end = r->turn < r->turns ? stage->edge * ++r->turn / r->turns : r->row;
    for (; r->row < end; r->row++) {
        ask_row(r->pair->here + r->row * stride, bytes);
        ask_row(r->pair->mirror + r->row * stride, bytes);
    }
}

static void copy_rows(unsigned char *target, size_t stride, const unsigned char *source,
                      size_t row_bytes, size_t rows)
{
    if (row_bytes == LINE_BYTES) /* most of them: no call for each */
        for (size_t row = 0; row < rows; row++)
            memcpy(target + row * stride, source + row * LINE_BYTES, LINE_BYTES);
    else
        for (size_t row = 0; row < rows; row++)
            memcpy(target + row * stride, source + row * row_bytes, row_bytes);
}

/* Rows [i, i + height) and columns [j, j + width) of the tile here change places with those of the
 * mirror tile. */
static void swap_parts(const rs_host_stage *stage, const tile_pair *pair, unsigned char *buffer,
                       size_t i, size_t j, request *asked)
{
    size_t unit = stage->task.unit;
    size_t stride = stage->task.cols * unit;
    size_t step = part_edge(stage);
    size_t height = pair->height - i < step ? pair->height - i : step;
    size_t width = pair->width - j < step ? pair->width - j : step;
    unsigned char *here = pair->here + i * stride + j * unit;
    unsigned char *mirror = pair->mirror + j * stride + i * unit;
    ask(asked);
    rs_host_tile_transpose(&stage->tile, here, stride, buffer, height * unit, height, width);
    ask(asked);
    if (here != mirror)
        rs_host_tile_transpose(&stage->tile, mirror, stride, here, stride, width, height);
    ask(asked);
    copy_rows(mirror, stride, buffer, height * unit, width);
    ask(asked);
}

static void swap_tiles(const rs_host_stage *stage, const tile_pair *pair, const tile_pair *next,
                       unsigned char *buffer)
{
    size_t step = part_edge(stage);
    size_t across = (stage->edge - 1) / step + 1;
    size_t parts = across * across;
    request asked = {.stage = stage, .pair = next, .turns = parts > 1 ? parts * TURNS_A_PART : 1};
    for (size_t i = 0; i < pair->height; i += step)
        for (size_t j = 0; j < pair->width && (!pair->diagonal || j <= i); j += step)
            swap_parts(stage, pair, buffer, i, j, &asked);
}

/* Where square number `index` of all matrices begins. */
static unsigned char *find_square(const rs_host_run *run, size_t index)
{
    const rs_transpose_task *task = &run->stage->task;
    size_t side = side_of(task);
    size_t across = task->cols / side;
    size_t squares = across * (task->rows / side);
    size_t inside = index % squares;
    return run->data + index / squares * task->pitch +
           (inside / across * task->cols + inside % across) * side * task->unit;
}

void rs_host_square_work(void *context, const rs_host_member *member)
{
    rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    unsigned char *buffer = run->scratch + member->index * stage->own_bytes;
    const rs_transpose_task *task = &stage->task;
    size_t side = side_of(task);
    size_t tiles = (side - 1) / stage->edge + 1;
    size_t items = task->outer * (task->rows / side) * (task->cols / side) * tiles;
    rs_host_loop loop = rs_host_loop_begin(member, items, 1);
    for (size_t i, end; rs_host_loop_next(&loop, &i, &end);) {
        size_t tile_row = tiles - 1 - i % tiles; /* the longest row first, for balance */
        unsigned char *matrix = find_square(run, i / tiles);
        tile_pair pair = find_pair(stage, matrix, tile_row, 0);
        for (size_t tile_col = 0; tile_col <= tile_row; tile_col++) {
            tile_pair next =
                find_pair(stage, matrix, tile_row, tile_col + (tile_col < tile_row ? 1 : 0));
            swap_tiles(stage, &pair, &next, buffer);
            rs_host_done(run,
                         (pair.diagonal ? 1 : 2) * pair.height * pair.width * stage->task.unit);
            pair = next;
        }
    }
}
