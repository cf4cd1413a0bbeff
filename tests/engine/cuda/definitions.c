/* See definitions.h. */
#include "definitions.h"
#include "../../transpose/reference.h"

#include <string.h>

static size_t divisor_of(size_t a, size_t b)
{
    return b == 0 ? a : divisor_of(b, a % b);
}

/* Where the element at (row, col) of the result comes from; engine/host/shuffle.h. */
static size_t shuffled(rs_transpose_method method, size_t rows, size_t cols, size_t row, size_t col)
{
    size_t c = divisor_of(rows, cols);
    size_t b = cols / c;
    size_t a = rows / c;
    switch (method) {
    case RS_TRANSPOSE_C2R_ROTATE:
        return (row + col / b) % rows * cols + col;
    case RS_TRANSPOSE_C2R_COLUMNS:
        return (col + row * cols - row / a) % rows * cols + col;
    default:
        return row * cols + ((row + col / b) % rows + col * rows) % cols;
    }
}

typedef enum { GATHER, SCATTER } direction;

static void reference_shuffle(unsigned char *after, const unsigned char *before,
                              const rs_transpose_task *task, rs_transpose_method method,
                              direction way)
{
    for (size_t row = 0; row < task->rows; row++)
        for (size_t col = 0; col < task->cols; col++) {
            size_t here = (row * task->cols + col) * task->unit;
            size_t there = shuffled(method, task->rows, task->cols, row, col) * task->unit;
            memcpy(after + (way == GATHER ? here : there), before + (way == GATHER ? there : here),
                   task->unit);
        }
}

static void reference_tails(unsigned char *after, const unsigned char *before,
                            const rs_transpose_task *task)
{
    size_t width = task->cols + task->tail;
    for (size_t row = 0; row < task->rows; row++)
        for (size_t col = 0; col < width; col++) {
            size_t joined = (row * width + col) * task->unit;
            size_t split = task->unit *
                           (col < task->cols
                                ? row * task->cols + col
                                : task->rows * task->cols + (col - task->cols) * task->rows + row);
            bool join = task->method == RS_TRANSPOSE_JOIN;
            memcpy(after + (join ? joined : split), before + (join ? split : joined), task->unit);
        }
}

static void reference_tiles(unsigned char *after, const unsigned char *before,
                            const rs_transpose_task *task)
{
    size_t edge = task->tile;
    for (size_t row = 0; row < task->rows; row++)
        for (size_t col = 0; col < task->cols; col++) {
            size_t mirror_row = row / edge * edge + col % edge;
            size_t mirror_col = col / edge * edge + row % edge;
            memcpy(after + (row * task->cols + col) * task->unit,
                   before + (mirror_row * task->cols + mirror_col) * task->unit, task->unit);
        }
}

/* 210! */
static void reference_reverse(unsigned char *after, const unsigned char *before,
                              const rs_transpose_task *task)
{
    for (size_t a = 0; a < task->rows; a++)
        for (size_t b = 0; b < task->tile; b++)
            for (size_t c = 0; c < task->cols; c++)
                memcpy(after + ((c * task->tile + b) * task->rows + a) * task->unit,
                       before + ((a * task->tile + b) * task->cols + c) * task->unit, task->unit);
}

void reference_stage(unsigned char *after, const unsigned char *before,
                     const rs_transpose_task *task)
{
    switch (task->method) {
    case RS_TRANSPOSE_JOIN:
    case RS_TRANSPOSE_SPLIT:
        reference_tails(after, before, task);
        break;
    case RS_TRANSPOSE_TILES:
        reference_tiles(after, before, task);
        break;
    case RS_TRANSPOSE_REVERSE:
        reference_reverse(after, before, task);
        break;
    case RS_TRANSPOSE_C2R_ROTATE:
    case RS_TRANSPOSE_C2R_COLUMNS:
        reference_shuffle(after, before, task, task->method, GATHER);
        break;
    case RS_TRANSPOSE_R2C_ROWS:
        reference_shuffle(after, before, task, RS_TRANSPOSE_C2R_ROWS, GATHER);
        break;
    case RS_TRANSPOSE_C2R_ROWS:
        reference_shuffle(after, before, task, RS_TRANSPOSE_C2R_ROWS, SCATTER);
        break;
    case RS_TRANSPOSE_R2C_COLUMNS:
        reference_shuffle(after, before, task, RS_TRANSPOSE_C2R_COLUMNS, SCATTER);
        break;
    case RS_TRANSPOSE_R2C_ROTATE:
        reference_shuffle(after, before, task, RS_TRANSPOSE_C2R_ROTATE, SCATTER);
        break;
    default:
        reference_transpose(after, before, task->count, task->rows, task->cols, task->unit);
    }
}
