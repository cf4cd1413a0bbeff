/*
 * UNZIP and ZIP: 010! for rows whose members differ in size (Sung thesis, section 5.4). A block of
 * rows passes through local memory; src/engine/kernels/moves.cl has the kernel. No scratch memory;
 * kept: two numbers for each granule of a row.
 */
#include "base/arithmetic.h"
#include "engine/device/device.h"

#include <stdio.h>
#include <stdlib.h>

enum { GROUP_ITEMS = 256, GROUP_BYTES = 12 << 10, MEMBER_NUMBERS = 2 };

typedef struct {
    size_t granule;
    size_t blocks; /* of a group */
    rs_device_memory members;
} zip_plan;

/* The largest word that divides every member and is no larger than what moves at once. */
static size_t choose_granule(const rs_transpose_task *task, size_t word)
{
    size_t granule = word;
    for (size_t i = 0; i < task->piece_count; i++)
        granule = rs_size_gcd(granule, task->pieces[i].unit);
    return granule;
}

static size_t choose_blocks(const rs_transpose_task *task)
{
    size_t blocks = GROUP_BYTES / (task->rows * task->cols);
    blocks = blocks < task->count ? blocks : task->count;
    return blocks > 1 ? blocks : 1;
}

/* What the kernel's `members` says of each granule of a row. */
static void list_members(uint32_t *numbers, const rs_transpose_task *task, size_t granule)
{
    size_t start = 0;
    for (size_t i = 0; i < task->piece_count; i++) {
        size_t size = task->pieces[i].unit / granule;
        for (size_t member = 0; member < task->pieces[i].count; member++, start += size)
            for (size_t g = 0; g < size; g++) {
                *numbers++ = (uint32_t)(start | size << 16);
                *numbers++ = size == 1 ? 0 : UINT32_MAX / (uint32_t)size + 1;
            }
    }
}

static restride_status keep_members(rs_device_stage *stage, zip_plan *plan)
{
    rs_device_engine *engine = rs_device_engine_of(stage);
    size_t bytes = stage->task.cols / plan->granule * MEMBER_NUMBERS * sizeof(uint32_t);
    uint32_t *numbers = malloc(bytes);
    if (numbers == NULL)
        return rs_fail_memory("the members of a row");
    list_members(numbers, &stage->task, plan->granule);
    restride_status status = engine->device->allocate(engine, bytes, &plan->members);
    if (status == RESTRIDE_OK)
        status =
            engine->device->write(engine, plan->members, numbers, bytes, "keeping a row's members");
    stage->kept_bytes = bytes;
    free(numbers);
    return status;
}

static restride_status create_kernel(rs_device_stage *stage, const zip_plan *plan)
{
    char options[160];
    snprintf(options, sizeof options, "-D WORD=%s -D GRANULE=%s -D GRANULES=%zu%s",
             rs_device_word_type(stage->word), rs_device_word_type(plan->granule),
             stage->word / plan->granule, stage->task.method == RS_TRANSPOSE_ZIP ? " -D ZIP" : "");
    static const char *const name = "zip_rows";
    return rs_device_create_kernels(rs_device_engine_of(stage), rs_device_moves_kernels, options,
                                    &name, 1, stage->kernels);
}

static restride_status refuse(const rs_transpose_task *task)
{
    return rs_fail(RESTRIDE_DEVICE_LIMIT,
                   "A block of %zu rows with %zu bytes does not fit into the device's local "
                   "memory; take a smaller block.",
                   task->rows, task->cols);
}

static restride_status prepare(rs_device_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    rs_device_engine *engine = rs_device_engine_of(stage);
    if (task->cols > engine->local_bytes / task->rows)
        return refuse(task);
    size_t block = task->rows * task->cols;
    stage->word = rs_device_choose_word(task, block);
    size_t granule = choose_granule(task, stage->word);
    if (block / granule > RS_DEVICE_MOST_BLOCK_WORDS)
        return refuse(task);
    if (task->cols / granule * MEMBER_NUMBERS * sizeof(uint32_t) > scratch_limit)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The table of rows of %zu bytes takes more than %zu bytes of scratch "
                       "memory; grant more.",
                       task->cols, scratch_limit);
    zip_plan *plan = malloc(sizeof *plan);
    if (plan == NULL)
        return rs_fail_memory("a stage");
    *plan = (zip_plan){granule, choose_blocks(task), NULL};
    while (plan->blocks * block / granule > RS_DEVICE_MOST_BLOCK_WORDS)
        plan->blocks--;
    stage->plan = plan;
    stage->items = engine->work_items < GROUP_ITEMS ? engine->work_items : GROUP_ITEMS;
    restride_status status = create_kernel(stage, plan);
    return status == RESTRIDE_OK ? keep_members(stage, plan) : status;
}

static void enqueue(const rs_device_stage *stage, rs_device_sequence *sequence,
                    rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    const rs_transpose_task *task = &stage->task;
    const zip_plan *plan = stage->plan;
    const size_t block_words = task->rows * task->cols / stage->word;
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(task->offset / stage->word),
        RS_ULONG(task->pitch / stage->word),
        RS_ULONG(task->count),
        RS_UINT(plan->blocks),
        RS_UINT(block_words),
        RS_UINT(task->cols / plan->granule),
        RS_UINT(task->rows),
        RS_ARGUMENT(plan->members),
        RS_LOCAL_MEMORY(plan->blocks * block_words * stage->word),
    };
    rs_device_launch_kernel(stage, sequence, 0, arguments, sizeof arguments / sizeof arguments[0],
                            rs_size_divide_up(task->count, plan->blocks));
}

static void forget(rs_device_stage *stage)
{
    zip_plan *plan = stage->plan;
    rs_device_engine *engine = rs_device_engine_of(stage);
    if (plan != NULL && plan->members != NULL)
        engine->device->release(engine, plan->members);
    free(plan);
}

const rs_device_method rs_device_unzip = {"010!", "BS: rows of unequal members", prepare, enqueue,
                                          forget};
const rs_device_method rs_device_zip = {"010!", "BS: rows of unequal members, back", prepare,
                                        enqueue, forget};
