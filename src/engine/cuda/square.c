/* A square in place (kernels/square.cu): mirror tiles, two in the shared memory of a block. Where
 * rows are whole lines the runs of a tile are as well; where they are not every run shares its
 * lines at the ends with others, so tiles are larger. No scratch memory. */
#include "base/arithmetic.h"
#include "engine/cuda/cuda.h"

#include <stdint.h>
#include <stdio.h>

extern const char rs_cuda_square_kernel[];

enum {
    LINE_BYTES = 128,
    SECTOR_BYTES = 32,
    THREADS = 256,
    MOST_THREADS = 512,
    NARROW_BYTES = 4,
    MOST_CONSTANT = 4, /* narrow words of an element */
    MOST_BLOCKS = 1 << 30,
    MOST_WORDS = (1 << 16) - 1, /* of a tile: what short division takes */
    WIDEST_WORD = 16
};

/* The elements along a side of a tile, for elements of up to `unit` bytes
 * (lab/docs/performance.md). */
static const struct {
    size_t unit;
    size_t whole_lines;
    size_t split_lines;
    size_t split_threads;
} edges[] = {
    {4, 64, 96, 512},  {8, 32, 48, 256},      {16, 32, 48, 256}, {24, 32, 40, 512},
    {32, 24, 32, 512}, {48, 24, 24, 512},     {64, 16, 24, 512}, {128, 12, 16, 512},
    {256, 8, 12, 512}, {SIZE_MAX, 4, 6, 512},
};

typedef struct {
    size_t edge;
    size_t threads;
} tiling;

static size_t pair_bytes(const rs_cuda_square *q, size_t word, size_t edge)
{
    return 2 * edge * rs_cuda_tile_pitch(edge, q->unit / word, word) * word;
}

/* Narrower words keep the load and store units busy, not the memory. Rows that do not even begin at
 * sectors want more threads. */
static tiling choose_tiling(const rs_cuda_engine *engine, const rs_cuda_square *q, size_t word)
{
    bool split = q->unit >= NARROW_BYTES && q->row_bytes % LINE_BYTES != 0;
    size_t i = 0;
    while (edges[i].unit < q->unit)
        i++;
    size_t split_threads = q->row_bytes % SECTOR_BYTES == 0 ? edges[i].split_threads : MOST_THREADS;
    tiling t = split ? (tiling){edges[i].split_lines, split_threads}
                     : (tiling){edges[i].whole_lines, THREADS};
    t.edge = rs_size_smaller(t.edge, q->side);
    while (t.edge > 1 && pair_bytes(q, word, t.edge) > engine->shared_bytes_a_block)
        t.edge /= 2;
    return t;
}

/* Constants make single words up to 5 % faster and few narrow ones up to 40 %. For others, and for
 * a tile of its own size, the launch says it all. */
static restride_status create_kernel(rs_cuda_kernel *kernel, const rs_cuda_engine *engine,
                                     const char *name, const rs_cuda_square *q, size_t word,
                                     const tiling *t)
{
    const size_t unit_words = q->unit / word;
    const bool pays =
        unit_words == 1 || (unit_words <= MOST_CONSTANT && word > 1 && word <= NARROW_BYTES);
    const bool constant =
        (pays && t->edge < q->side) || t->edge * t->edge * unit_words > MOST_WORDS;
    const bool steady = constant && (unit_words > 1 || t->threads % (t->edge * unit_words) == 0);
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, word},
        {"THREADS", NULL, steady ? t->threads : MOST_THREADS},
        {"BLOCKS", NULL, 1},
        {"CONSTANT", NULL, constant},
        {"UNIT_WORDS", NULL, unit_words},
        {"TILE", NULL, t->edge},
        {"TILE_PITCH", NULL, rs_cuda_tile_pitch(t->edge, unit_words, word)},
    };
    const size_t without_constants = 4;
    return rs_cuda_kernel_create(kernel, engine, name, rs_cuda_square_kernel, defines,
                                 constant ? sizeof defines / sizeof defines[0] : without_constants,
                                 t->threads, pair_bytes(q, word, t->edge));
}

restride_status rs_cuda_add_square(rs_cuda_stage *stage, const rs_cuda_square *q)
{
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    size_t word = stage->word;
    size_t unit_words = q->unit / word;
    const tiling t = choose_tiling(engine, q, word);
    size_t pitch = rs_cuda_tile_pitch(t.edge, unit_words, word);
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status = create_kernel(&launch->kernel, engine, "square", q, word, &t);
    if (status != RESTRIDE_OK)
        return status;
    size_t tiles = (q->side - 1) / t.edge + 1;
    size_t items = tiles * (tiles + 1) / 2 * q->outer;
    launch->grid = items < MOST_BLOCKS ? items : MOST_BLOCKS;
    const uint64_t arguments[] = {q->pitch / word, q->outer, q->side,   q->row_bytes / word,
                                  t.edge,          pitch,    unit_words};
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    snprintf(stage->shape, sizeof stage->shape, "tiles of %zu x %zu", t.edge, t.edge);
    return RESTRIDE_OK;
}

restride_status rs_cuda_square_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_square q = {task->outer, task->pitch, task->rows, task->unit,
                              task->cols * task->unit};
    return rs_cuda_add_square(stage, &q);
}

/* ---- mirror blocks ---- */

/* A block of the grid takes a tile of `own` and its mirror tile of `other`. */
restride_status rs_cuda_mirror(const rs_cuda_engine *engine, const rs_cuda_mirror_blocks *b)
{
    const uintptr_t both = b->own | b->other | b->unit | b->row_bytes | WIDEST_WORD;
    const size_t word = both & -both;
    const rs_cuda_square q = {1, 0, rs_size_larger(b->rows, b->cols), b->unit, b->row_bytes};
    const tiling t = choose_tiling(engine, &q, word);
    const bool diagonal = b->own == b->other;
    rs_cuda_kernel kernel;
    restride_status status =
        create_kernel(&kernel, engine, diagonal ? "square" : "mirror", &q, word, &t);
    if (status != RESTRIDE_OK)
        return status;
    const size_t tall = rs_size_divide_up(b->rows, t.edge);
    const size_t items =
        diagonal ? tall * (tall + 1) / 2 : tall * rs_size_divide_up(b->cols, t.edge);
    rs_cuda_pointer own = b->own;
    rs_cuda_pointer other = b->other;
    uint64_t none = 0;
    uint64_t one = 1;
    uint64_t rows = b->rows;
    uint64_t cols = b->cols;
    uint64_t row_words = b->row_bytes / word;
    uint64_t edge = t.edge;
    uint64_t unit_words = b->unit / word;
    uint64_t pitch = rs_cuda_tile_pitch(t.edge, unit_words, word);
    void *for_square[] = {&own, &none, &one, &rows, &row_words, &edge, &pitch, &unit_words, NULL};
    void *for_mirror[] = {&own, &other, &rows, &cols, &row_words, &edge, &pitch, &unit_words, NULL};
    rs_cuda_result code = engine->api->cuLaunchKernel(
        kernel.function, (unsigned)rs_size_smaller(items, MOST_BLOCKS), 1, 1,
        (unsigned)kernel.threads, 1, 1, (unsigned)kernel.shared_bytes, engine->stream,
        diagonal ? for_square : for_mirror, NULL);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "exchanging mirror blocks");
}
