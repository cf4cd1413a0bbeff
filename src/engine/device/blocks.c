/*
 * Stages whose blocks fit into local memory: panels (010! by barrier synchronisation), tiles in
 * their own places, and the square. src/engine/kernels/blocks.cl has the kernels. No scratch
 * memory.
 */
#include "engine/device/device.h"

#include <stdio.h>

enum {
    GROUP_ITEMS = 256,
    GROUP_BYTES = 12 << 10, /* of small blocks together */
    MOST_EDGE = 128,
    SQUARE_BYTES = 40 << 10,
    PACKED_BYTES = 4,
    PANEL_WORD = 8,
    TILE_WORD = 4
};

/* Of so many elements side by side. */
static size_t words_of(const rs_device_stage *stage, size_t elements)
{
    return elements * stage->task.unit / stage->word;
}

/* Elements of one or two bytes move four bytes at once, where rows and tiles are whole words. */
static void pack(rs_device_stage *stage, size_t tile)
{
    const rs_transpose_task *task = &stage->task;
    bool whole =
        task->cols * task->unit % PACKED_BYTES == 0 && tile * task->unit % PACKED_BYTES == 0;
    if (task->unit < PACKED_BYTES && PACKED_BYTES % task->unit == 0 && whole &&
        rs_device_choose_word(task, PACKED_BYTES) == PACKED_BYTES)
        stage->word = PACKED_BYTES;
}

/* An odd distance between rows, where there is room for it. */
static size_t choose_pitch(size_t rows, size_t row_words, size_t word, size_t local_bytes)
{
    size_t odd = row_words | 1;
    return rows * odd * word <= local_bytes ? odd : row_words;
}

static restride_status refuse(const rs_device_stage *stage, size_t rows, size_t cols)
{
    return rs_fail(RESTRIDE_DEVICE_LIMIT,
                   "A block of %zu x %zu elements of %zu bytes does not fit into the device's %zu "
                   "bytes of local memory; take a smaller block.",
                   rows, cols, stage->task.unit, rs_device_engine_of(stage)->local_bytes);
}

static bool block_fits(const rs_device_stage *stage, size_t rows, size_t cols)
{
    size_t most = rs_device_engine_of(stage)->local_bytes;
    if (most / stage->word > RS_DEVICE_MOST_BLOCK_WORDS)
        most = RS_DEVICE_MOST_BLOCK_WORDS * stage->word;
    return rows <= most / stage->task.unit && cols <= most / stage->task.unit / rows;
}

static uint32_t element_words(const rs_device_stage *stage)
{
    size_t unit = stage->task.unit;
    return (uint32_t)(unit > stage->word ? unit / stage->word : 1);
}

/* With an edge of 0, that of panels and tiles. Their elements are single words, or have as many as
 * the launch says; beyond words of `most_single` bytes the first is no faster. */
static restride_status create_kernel(rs_device_stage *stage, const char *name, size_t edge,
                                     size_t most_single)
{
    const bool single = element_words(stage) == 1 && stage->word <= most_single;
    size_t unit = stage->task.unit;
    char options[128];
    int length =
        snprintf(options, sizeof options, "-D WORD=%s -D PACK=%zu",
                 rs_device_word_type(stage->word), unit < stage->word ? stage->word / unit : 1);
    char *rest = options + length;
    size_t room = sizeof options - (size_t)length;
    if (edge > 0)
        snprintf(rest, room, " -D EDGE=%zu -D ELEMENT_WORDS=%u", edge, element_words(stage));
    else
        snprintf(rest, room, " -D ELEMENT_WORDS=%s", single ? "1" : "element_words");
    return rs_device_create_kernels(rs_device_engine_of(stage), rs_device_blocks_kernels, options,
                                    &name, 1, stage->kernels);
}

static size_t choose_items(const rs_device_stage *stage)
{
    size_t most = rs_device_engine_of(stage)->work_items;
    return most < GROUP_ITEMS ? most : GROUP_ITEMS;
}

/* ---- panels ---- */

static size_t blocks_a_group(const rs_device_stage *stage)
{
    const rs_transpose_task *task = &stage->task;
    size_t blocks = GROUP_BYTES / (task->rows * task->cols * task->unit);
    blocks = blocks < task->count ? blocks : task->count;
    return blocks > 1 ? blocks : 1;
}

static restride_status prepare_panels(rs_device_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    rs_transpose_task *task = &stage->task;
    if (!block_fits(stage, task->rows, task->cols))
        return refuse(stage, task->rows, task->cols);
    size_t block = task->rows * task->cols * task->unit;
    if (task->pitch == task->count * block) { /* then all blocks lie one after the other */
        task->count *= task->outer;
        task->outer = 1;
    }
    stage->items = choose_items(stage);
    return create_kernel(stage, "panels", 0, PANEL_WORD);
}

static void enqueue_panels(const rs_device_stage *stage, rs_device_sequence *sequence,
                           rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    const rs_transpose_task *task = &stage->task;
    const size_t blocks = blocks_a_group(stage);
    const size_t pitch = choose_pitch(blocks * task->rows, words_of(stage, task->cols), stage->word,
                                      rs_device_engine_of(stage)->local_bytes);
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(task->offset / stage->word),
        RS_ULONG(task->pitch / stage->word),
        RS_ULONG(task->count),
        RS_UINT(blocks),
        RS_UINT(task->rows),
        RS_UINT(task->cols),
        RS_UINT(pitch),
        RS_UINT(element_words(stage)),
        RS_LOCAL_MEMORY(blocks * task->rows * pitch * stage->word),
    };
    rs_device_launch_kernel(stage, sequence, 0, arguments, sizeof arguments / sizeof arguments[0],
                            rs_size_divide_up(task->count, blocks));
}

const rs_device_method rs_device_panels = {"010!", "BS: blocks through local memory",
                                           prepare_panels, enqueue_panels, NULL};

/* ---- tiles ---- */

/* Tiles side by side that a group takes. */
static size_t tiles_a_group(const rs_device_stage *stage)
{
    const rs_transpose_task *task = &stage->task;
    size_t tile_bytes = task->tile * task->tile * task->unit;
    size_t a_row = task->cols / task->tile;
    size_t across = GROUP_BYTES / tile_bytes;
    across = across < a_row ? across : a_row;
    return across > 1 ? across : 1;
}

static restride_status prepare_tiles(rs_device_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    if (!block_fits(stage, task->tile, task->tile))
        return refuse(stage, task->tile, task->tile);
    pack(stage, task->tile);
    stage->items = choose_items(stage);
    return create_kernel(stage, "tiles", 0, TILE_WORD);
}

static void enqueue_tiles(const rs_device_stage *stage, rs_device_sequence *sequence,
                          rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    const rs_transpose_task *task = &stage->task;
    const size_t across = tiles_a_group(stage);
    const size_t pitch = choose_pitch(task->tile, words_of(stage, across * task->tile), stage->word,
                                      rs_device_engine_of(stage)->local_bytes);
    const size_t groups_a_row = rs_size_divide_up(task->cols / task->tile, across);
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(task->offset / stage->word),
        RS_ULONG(task->pitch / stage->word),
        RS_ULONG(words_of(stage, task->cols)),
        RS_ULONG(groups_a_row),
        RS_UINT(task->tile),
        RS_UINT(across),
        RS_UINT(pitch),
        RS_UINT(element_words(stage)),
        RS_LOCAL_MEMORY(task->tile * pitch * stage->word),
    };
    rs_device_launch_kernel(stage, sequence, 0, arguments, sizeof arguments / sizeof arguments[0],
                            task->rows / task->tile * groups_a_row);
}

const rs_device_method rs_device_tiles = {"0100!0010!", "tiles transposed in their places",
                                          prepare_tiles, enqueue_tiles, NULL};

/* ---- square ---- */

static size_t pair_bytes(const rs_device_stage *stage, size_t edge)
{
    return 2 * edge * (words_of(stage, edge) | 1) * stage->word;
}

static size_t choose_edge(const rs_device_stage *stage)
{
    size_t local = rs_device_engine_of(stage)->local_bytes;
    size_t most = local < SQUARE_BYTES ? local : SQUARE_BYTES;
    size_t edge = MOST_EDGE;
    while (edge > 1 && pair_bytes(stage, edge) > most)
        edge /= 2;
    return edge;
}

static restride_status prepare_square(rs_device_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    pack(stage, MOST_EDGE);
    size_t edge = choose_edge(stage);
    if (edge * stage->task.unit % stage->word != 0) { /* hardly any local memory */
        stage->word = stage->task.unit;
        edge = choose_edge(stage);
    }
    if (pair_bytes(stage, edge) > rs_device_engine_of(stage)->local_bytes)
        return refuse(stage, 2, 1);
    stage->task.tile = edge;
    stage->items = choose_items(stage);
    return create_kernel(stage, "square", edge, 0);
}

static void enqueue_square(const rs_device_stage *stage, rs_device_sequence *sequence,
                           rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    const rs_transpose_task *task = &stage->task;
    size_t along = rs_size_divide_up(task->rows, task->tile);
    along += along % 2;
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(task->offset / stage->word),
        RS_ULONG(task->pitch / stage->word),
        RS_ULONG(task->rows),
        RS_ULONG(along + 1),
        RS_LOCAL_MEMORY(pair_bytes(stage, task->tile)),
    };
    rs_device_launch_kernel(stage, sequence, 0, arguments, sizeof arguments / sizeof arguments[0],
                            (along + 1) * (along / 2));
}

const rs_device_method rs_device_square = {"square", "mirror tiles change places", prepare_square,
                                           enqueue_square, NULL};
