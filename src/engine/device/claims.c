/*
 * 010! and 100! as the papers move their elements: PTTWAC and P-IPT (Sung thesis, sections 4.5 and
 * 4.6), for plans that are named, to compare with. src/engine/kernels/claims.cl has the kernels.
 *
 * Scratch: a bit for each super-element of PTTWAC's 100!; its flags of 010! lie in local memory.
 */
#include "engine/device/device.h"

#include <stdio.h>

enum {
    TILE_ITEMS = 256,
    MOST_GROUPS = 65536,
    MOST_WORD = 8,
    MOST_ELEMENT_WORDS = 64, /* that a work-item holds */
    FLAG_BITS = 32,
    LOCAL_PADDING = 32 /* of words of flags, one is left out */
};

static restride_status create_kernels(rs_device_stage *stage, const char *const names[],
                                      size_t count, size_t element_words)
{
    char options[64];
    snprintf(options, sizeof options, "-D WORD=%s -D ELEMENT_WORDS=%zu",
             rs_device_word_type(stage->word), element_words);
    return rs_device_create_kernels(rs_device_engine_of(stage), rs_device_claims_kernels, options,
                                    names, count, stage->kernels);
}

static void choose_word(rs_device_stage *stage)
{
    stage->word = rs_size_smaller(stage->word, MOST_WORD);
}

/* ---- 010! ---- */

static uint32_t flag_shift(const rs_transpose_task *task)
{
    uint32_t shift = 5;
    for (size_t factor = 1; factor < task->spreading; factor *= 2)
        shift--;
    return shift;
}

/* Over which flags are dealt in turn: as many as hold them all. */
static size_t remapped_words(const rs_transpose_task *task)
{
    return task->rows * task->cols / FLAG_BITS + 1;
}

static size_t flag_words(const rs_transpose_task *task)
{
    size_t total = task->rows * task->cols;
    size_t words = task->remapped ? remapped_words(task) : (total >> flag_shift(task)) + 1;
    return task->padded ? words + words / LOCAL_PADDING + 1 : words;
}

static restride_status prepare_tiles(rs_device_stage *stage, const char *kernel, size_t local)
{
    rs_transpose_task *task = &stage->task;
    choose_word(stage);
    size_t element_words = task->unit / stage->word;
    if (task->rows > UINT32_MAX / task->cols || element_words > MOST_ELEMENT_WORDS ||
        local > rs_device_engine_of(stage)->local_bytes)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Cycles of %zu x %zu elements of %zu bytes are more than a group follows; "
                       "take a smaller block.",
                       task->rows, task->cols, task->unit);
    stage->items = rs_size_smaller(rs_device_engine_of(stage)->work_items, TILE_ITEMS);
    return create_kernels(stage, &kernel, 1, element_words);
}

static restride_status prepare_claims_010(rs_device_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    return prepare_tiles(stage, "claims_010", flag_words(&stage->task) * sizeof(uint32_t));
}

static restride_status prepare_cycles_010(rs_device_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    return prepare_tiles(stage, "cycles_010", 0);
}

static void enqueue_tiles(const rs_device_stage *stage, rs_device_sequence *sequence,
                          rs_device_memory buffer, bool flags)
{
    const rs_transpose_task *task = &stage->task;
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(task->offset / stage->word),
        RS_ULONG(task->pitch / stage->word),
        RS_UINT(task->rows),
        RS_UINT(task->cols),
        RS_UINT(flag_words(task)),
        RS_UINT(flag_shift(task)),
        RS_UINT(task->padded),
        RS_UINT(task->remapped ? remapped_words(task) : 0),
        RS_LOCAL_MEMORY(flag_words(task) * sizeof(uint32_t)),
    };
    const size_t plain = 5; /* that both kernels have */
    const size_t count = flags ? sizeof arguments / sizeof arguments[0] : plain;
    rs_device_launch_kernel(stage, sequence, 0, arguments, count, task->count);
}

static void enqueue_claims_010(const rs_device_stage *stage, rs_device_sequence *sequence,
                               rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    enqueue_tiles(stage, sequence, buffer, true);
}

static void enqueue_cycles_010(const rs_device_stage *stage, rs_device_sequence *sequence,
                               rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    enqueue_tiles(stage, sequence, buffer, false);
}

/* ---- 100! ---- */

enum { MOVE, CLEAR };

static uint64_t element_flag_words(const rs_transpose_task *task)
{
    return task->rows * task->cols / FLAG_BITS + 1;
}

/* A super-element, and the answer. */
static size_t held_bytes(const rs_device_stage *stage)
{
    return stage->task.unit + stage->word;
}

static restride_status prepare_elements(rs_device_stage *stage, const char *const kernels[],
                                        size_t count)
{
    choose_word(stage);
    size_t words = stage->task.unit / stage->word;
    if (held_bytes(stage) > rs_device_engine_of(stage)->local_bytes)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Elements of %zu bytes do not fit into the device's %zu bytes of local "
                       "memory; take another method.",
                       stage->task.unit, rs_device_engine_of(stage)->local_bytes);
    stage->items = rs_size_smaller(rs_size_smaller(words, rs_device_engine_of(stage)->simd_items),
                                   rs_device_engine_of(stage)->work_items);
    return create_kernels(stage, kernels, count, 1);
}

static restride_status prepare_claims_100(rs_device_stage *stage, size_t scratch_limit)
{
    static const char *const kernels[] = {[MOVE] = "claims_100", [CLEAR] = "clear_flags"};
    size_t matrices = rs_size_smaller(stage->task.outer, RS_DEVICE_MOST_MATRICES);
    stage->scratch_bytes = matrices * element_flag_words(&stage->task) * sizeof(uint32_t);
    if (stage->scratch_bytes > scratch_limit)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "The flags of %zu x %zu elements take %zu bytes of scratch memory, and %zu "
                       "are granted.",
                       stage->task.rows, stage->task.cols, stage->scratch_bytes, scratch_limit);
    return prepare_elements(stage, kernels, sizeof kernels / sizeof kernels[0]);
}

static restride_status prepare_cycles_100(rs_device_stage *stage, size_t scratch_limit)
{
    static const char *const kernels[] = {[MOVE] = "cycles_100"};
    (void)scratch_limit;
    return prepare_elements(stage, kernels, 1);
}

static size_t element_groups(const rs_transpose_task *task)
{
    return rs_size_smaller(task->rows * task->cols, MOST_GROUPS);
}

static void enqueue_claims_100(const rs_device_stage *stage, rs_device_sequence *sequence,
                               rs_device_memory buffer, rs_device_memory scratch)
{
    const rs_transpose_task *task = &stage->task;
    const uint64_t flags = element_flag_words(task);
    const uint64_t all_flags = task->outer * flags;
    const rs_device_argument clear[] = {RS_ARGUMENT(scratch), RS_ARGUMENT(all_flags)};
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(task->offset / stage->word),
        RS_ULONG(task->pitch / stage->word),
        RS_ARGUMENT(scratch),
        RS_ARGUMENT(flags),
        RS_ULONG(task->rows),
        RS_ULONG(task->cols),
        RS_UINT(task->unit / stage->word),
        RS_LOCAL_MEMORY(held_bytes(stage)),
    };
    rs_device_launch(sequence, stage->kernels[CLEAR], clear, 2,
                     rs_size_smaller(rs_size_divide_up(all_flags, stage->items), MOST_GROUPS), 1,
                     stage->items);
    rs_device_launch_kernel(stage, sequence, MOVE, arguments,
                            sizeof arguments / sizeof arguments[0], element_groups(task));
}

static void enqueue_cycles_100(const rs_device_stage *stage, rs_device_sequence *sequence,
                               rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    const rs_transpose_task *task = &stage->task;
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(task->offset / stage->word),
        RS_ULONG(task->pitch / stage->word),
        RS_ULONG(task->rows),
        RS_ULONG(task->cols),
        RS_UINT(task->unit / stage->word),
        RS_LOCAL_MEMORY(held_bytes(stage)),
    };
    rs_device_launch_kernel(stage, sequence, MOVE, arguments,
                            sizeof arguments / sizeof arguments[0], element_groups(task));
}

const rs_device_method rs_device_claims_010 = {"010!", "PTTWAC: claimed flags in local memory",
                                               prepare_claims_010, enqueue_claims_010, NULL};
const rs_device_method rs_device_cycles_010 = {"010!", "P-IPT: a work-item a cycle",
                                               prepare_cycles_010, enqueue_cycles_010, NULL};
const rs_device_method rs_device_claims_100 = {"100!", "PTTWAC: claimed flags", prepare_claims_100,
                                               enqueue_claims_100, NULL};
const rs_device_method rs_device_cycles_100 = {"100!", "P-IPT: a group a cycle", prepare_cycles_100,
                                               enqueue_cycles_100, NULL};
