/*
 * 100! and 0100! by planned chains (kernels/chains.cu): how wide a walker is, how many there are,
 * and the tables that say where each begins.
 *
 * No scratch memory: what a chain would overwrite too early waits in the registers of the walker
 * that needs it. The tables take two positions a walker, one a longer cycle, and, where there are
 * cycles of a few elements, a bit an element.
 */
#include "engine/cuda/cuda.h"
#include "engine/cuda/cycles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_cuda_chains_kernel[];

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

restride_status rs_cuda_chains_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    bool narrow = task->rows * task->cols <= UINT32_MAX;
    size_t words = task->unit / stage->word;
    size_t lanes = 1;
    while (lanes < MOST_LANES && lanes < words)
        lanes *= 2;
    /* Slices begin at whole lines of an element: two walkers must not share a sector. */
    size_t slice_words = lanes;
    size_t slices = (words - 1) / slice_words + 1;
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word},
        {"LANES", NULL, lanes},
        {"DEPTH", NULL, DEPTH},
        {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, BLOCKS},
        {"position", narrow ? "uint" : "ulong", 0},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status = rs_cuda_kernel_create(&launch->kernel, rs_cuda_engine_of(stage),
                                                   "chains", rs_cuda_chains_kernel, defines,
                                                   sizeof defines / sizeof defines[0], THREADS, 0);
    if (status != RESTRIDE_OK)
        return status;
    launch->grid = launch->kernel.resident;
    launch->cooperative = true;
    size_t walkers = launch->grid * (THREADS / lanes);
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
        slice_words,
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
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        rs_cuda_add_argument(launch, arguments[i]);
    snprintf(stage->shape, sizeof stage->shape,
             "%zu chains and %zu whole cycles by %zu walkers of %zu threads", cycles.chain_count,
             cycles.whole_count, walkers, lanes);
    rs_cuda_cycles_free(&cycles);
    return status;
}
