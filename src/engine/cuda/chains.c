/*
 * 100! and 0100! by planned chains (kernels/chains.cu): how wide a walker is, how many there are,
 * and the tables that say where each begins.
 *
 * No scratch memory: what a chain would overwrite too early waits on chip for the walker that needs
 * it. The tables take two positions a walker, one a longer cycle, and, where there are
 * cycles of a few elements, a bit an element.
 */
#include "base/arithmetic.h"
#include "engine/cuda/cuda.h"
#include "engine/cuda/cycles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_cuda_chains_kernel[];
extern const char rs_cuda_carry_kernel[];

enum { THREADS = 256, BLOCKS = 6, DEPTH = 2, MOST_LANES = 32, COUNTER_BYTES = 128 };

/* The parts of the table on the device, each at a multiple of 8 bytes. */
typedef struct {
    size_t ends;
    size_t whole;
    size_t marks;
    size_t bytes;
} table_places;

static table_places lay_out(const rs_cuda_cycles *cycles, size_t position_bytes)
{
    table_places p = {.ends = COUNTER_BYTES};
    p.whole = p.ends + 2 * cycles->chain_count * position_bytes;
    p.marks = p.whole + (cycles->whole_count * position_bytes + 7) / 8 * 8;
    p.bytes = p.marks + cycles->mark_words * sizeof *cycles->marks;
    return p;
}

static void put_positions(unsigned char *target, const size_t *positions, size_t count,
                          size_t position_bytes)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t narrow = (uint32_t)positions[i];
        uint64_t wide = positions[i];
        memcpy(target + i * position_bytes,
               position_bytes == sizeof narrow ? (const void *)&narrow : (const void *)&wide,
               position_bytes);
    }
}

static restride_status keep_tables(rs_cuda_launch *launch, const rs_cuda_engine *engine,
                                   const rs_cuda_cycles *cycles, const table_places *p,
                                   size_t position_bytes)
{
    unsigned char *bytes = calloc(1, p->bytes);
    if (bytes == NULL)
        return rs_fail_memory("the cycles of a transposition");
    put_positions(bytes + p->ends, cycles->ends, 2 * cycles->chain_count, position_bytes);
    put_positions(bytes + p->whole, cycles->whole, cycles->whole_count, position_bytes);
    if (cycles->mark_words > 0)
        memcpy(bytes + p->marks, cycles->marks, cycles->mark_words * sizeof *cycles->marks);
    restride_status status = rs_cuda_keep(launch, engine, bytes, p->bytes);
    free(bytes);
    return status;
}

/* How the elements are cut into slices, and who moves them. */
typedef struct {
    size_t threads; /* of a walker */
    size_t walkers; /* of a block */
    size_t slice_words;
} cutting;

/* ---- walkers that move words through registers ---- */

static restride_status create_kernel(const rs_cuda_stage *stage, rs_cuda_launch *launch,
                                     const char *position, cutting *cut)
{
    size_t words = stage->task.unit / stage->word;
    size_t lanes = 1;
    while (lanes < MOST_LANES && lanes < words)
        lanes *= 2;
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word}, {"LANES", NULL, lanes},   {"DEPTH", NULL, DEPTH},
        {"THREADS", NULL, THREADS},        {"BLOCKS", NULL, BLOCKS}, {"position", position, 0},
    };
    /* Slices begin at whole lines of an element: two walkers must not share a sector. */
    *cut = (cutting){lanes, THREADS / lanes, lanes};
    return rs_cuda_kernel_create(&launch->kernel, rs_cuda_engine_of(stage), "chains",
                                 rs_cuda_chains_kernel, defines, sizeof defines / sizeof defines[0],
                                 THREADS, 0);
}

/* ---- walkers that have the bulk copy engine move slices (kernels/carry.cu) ---- */

enum {
    CARRY_WORD_BYTES = 16,
    CARRY_ARCHITECTURE = 90,
    CARRY_LEAST_UNIT = 1024,
    CARRY_SLICE_BYTES = 16384, /* lab/docs/performance.md has others */
    CARRY_BLOCKS = 2,          /* a multiprocessor */
    CARRY_HALF_BYTES = 8192,   /* under way a walker, at most, while others are stored */
    CARRY_MOST_DEPTH = 8,
    CARRY_LINE_BYTES = 128,
    CARRY_BELLS = 2,
    BELL_BYTES = 8
};

/* Shorter elements are moved as fast through registers. */
static bool is_carried(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    return engine->architecture >= CARRY_ARCHITECTURE && rs_cuda_word(task) == CARRY_WORD_BYTES &&
           task->unit >= CARRY_LEAST_UNIT;
}

/* Slices of about equal size, which begin at whole lines of an element. */
static size_t carry_slice_bytes(const rs_cuda_stage *stage)
{
    size_t unit = stage->task.unit;
    size_t count = rs_size_divide_up(unit, CARRY_SLICE_BYTES);
    size_t lines = rs_size_divide_up(rs_size_divide_up(unit, count), CARRY_LINE_BYTES);
    return rs_size_smaller(lines * CARRY_LINE_BYTES, unit);
}

/* In which a slice lies on chip: of few sizes, each of which has a kernel of its own. */
static size_t carry_slot_bytes(size_t slice)
{
    size_t slot = CARRY_LEAST_UNIT;
    while (slot < slice)
        slot += slot % 3 == 0 ? slot / 3 : slot / 2;
    return slot;
}

static restride_status create_carrying_kernel(const rs_cuda_stage *stage, rs_cuda_launch *launch,
                                              const char *position, cutting *cut)
{
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    size_t slice = carry_slice_bytes(stage);
    size_t slot = carry_slot_bytes(slice);
    size_t depth = CARRY_HALF_BYTES / slot;
    depth = depth < 1 ? 1 : depth < CARRY_MOST_DEPTH ? depth : CARRY_MOST_DEPTH;
    size_t walker_bytes = (2 * depth + 1) * slot + CARRY_BELLS * BELL_BYTES;
    size_t room = engine->shared_bytes / CARRY_BLOCKS - RS_CUDA_RESERVED_BYTES;
    size_t blocks = walker_bytes <= room ? CARRY_BLOCKS : 1;
    size_t walkers = (blocks > 1 ? room : engine->shared_bytes_a_block) / walker_bytes;
    if (walkers == 0)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Slices of %zu bytes do not fit into the shared memory of %s.", slice,
                       engine->name);
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, CARRY_WORD_BYTES},
        {"SLOT_WORDS", NULL, slot / CARRY_WORD_BYTES},
        {"DEPTH", NULL, depth},
        {"TEAM", NULL, MOST_LANES},
        {"THREADS", NULL, walkers * MOST_LANES},
        {"BLOCKS", NULL, blocks},
        {"position", position, 0},
    };
    *cut = (cutting){1, walkers, slice / CARRY_WORD_BYTES};
    return rs_cuda_kernel_create(&launch->kernel, engine, "carry", rs_cuda_carry_kernel, defines,
                                 sizeof defines / sizeof defines[0], walkers * MOST_LANES,
                                 walkers * walker_bytes);
}

/* ---- both ---- */

restride_status rs_cuda_chains_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    bool narrow = task->rows * task->cols <= UINT32_MAX;
    const char *position = narrow ? "uint" : "ulong";
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    cutting cut = {0};
    restride_status status = is_carried(rs_cuda_engine_of(stage), task)
                                 ? create_carrying_kernel(stage, launch, position, &cut)
                                 : create_kernel(stage, launch, position, &cut);
    if (status != RESTRIDE_OK)
        return status;
    size_t words = task->unit / stage->word;
    size_t slices = (words - 1) / cut.slice_words + 1;
    launch->grid = launch->kernel.resident;
    launch->cooperative = true;
    size_t walkers = launch->grid * cut.walkers;
    size_t all_slices = slices * task->outer;
    size_t at_once = all_slices < walkers ? all_slices : walkers;

    rs_cuda_cycles cycles;
    status = rs_cuda_cycles_create(&cycles, task->rows, task->cols, walkers / at_once);
    if (status != RESTRIDE_OK)
        return status;
    size_t position_bytes = narrow ? sizeof(uint32_t) : sizeof(uint64_t);
    const table_places p = lay_out(&cycles, position_bytes);
    status = keep_tables(launch, rs_cuda_engine_of(stage), &cycles, &p, position_bytes);
    const uint64_t arguments[] = {
        task->pitch / stage->word,
        all_slices,
        slices,
        cut.slice_words,
        at_once,
        task->rows,
        task->cols,
        words,
        launch->table,
        launch->table + p.ends,
        cycles.chain_count,
        launch->table + p.whole,
        cycles.whole_count,
        launch->table + p.marks,
        cycles.mark_words,
    };
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    snprintf(stage->shape, sizeof stage->shape,
             "%zu chains and %zu whole cycles by %zu walkers of %zu threads, slices of %zu bytes",
             cycles.chain_count, cycles.whole_count, walkers, cut.threads,
             cut.slice_words * stage->word);
    rs_cuda_cycles_free(&cycles);
    return status;
}
