/*
 * REORDER: parts of each matrix come into another order, by the steps of order.h.
 * src/engine/kernels/moves.cl has the kernels. Scratch: what waits of all matrices; kept: three
 * numbers for each part of each step.
 */
#include "base/arithmetic.h"
#include "engine/device/device.h"
#include "engine/device/order.h"

#include <stdio.h>
#include <stdlib.h>

enum { GROUP_ITEMS = 256, PART_NUMBERS = 3 };
enum { REVERSE_PARTS, COPY_PARTS, KERNELS };
static const char *const kernel_names[KERNELS] = {"reverse_parts", "copy_parts"};

typedef struct {
    rs_order order;
    uint64_t *works; /* of each step */
    rs_device_memory *tables;
} reorder_plan;

static size_t part_work(rs_order_kind kind, const rs_order_part *part, size_t word)
{
    size_t words = part->bytes / word;
    return kind == RS_ORDER_REVERSE ? words / 2 : words;
}

/* The table of one step, in words; the result is the work of all its parts. */
static uint64_t fill_table(uint64_t *table, const reorder_plan *plan, const rs_order_step *step,
                           size_t word)
{
    uint64_t work = 0;
    for (size_t i = 0; i < step->count; i++) {
        const rs_order_part *part = &plan->order.parts[step->first + i];
        work += part_work(step->kind, part, word);
        *table++ = part->from / word;
        *table++ =
            (step->kind == RS_ORDER_REVERSE ? part->from + part->bytes - word : part->to) / word;
        *table++ = work;
    }
    return work;
}

static restride_status keep_tables(rs_device_stage *stage, reorder_plan *plan)
{
    rs_device_engine *engine = rs_device_engine_of(stage);
    const rs_order *order = &plan->order;
    uint64_t *table = malloc((order->part_count + 1) * PART_NUMBERS * sizeof *table);
    restride_status status = table == NULL ? rs_fail_memory("the parts of a buffer") : RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < order->step_count; i++) {
        size_t bytes = order->steps[i].count * PART_NUMBERS * sizeof *table;
        plan->works[i] = fill_table(table, plan, &order->steps[i], stage->word);
        status = engine->device->allocate(engine, bytes, &plan->tables[i]);
        if (status == RESTRIDE_OK)
            status = engine->device->write(engine, plan->tables[i], table, bytes,
                                           "keeping the parts of a buffer");
        stage->kept_bytes += bytes;
    }
    free(table);
    return status;
}

/* Every distance in the buffer is a whole number of words. */
static size_t choose_word(const rs_transpose_task *task)
{
    size_t word = rs_device_choose_word(task, task->pieces[0].count * task->pieces[0].unit);
    for (size_t i = 1; i < task->piece_count; i++)
        word = rs_size_gcd(word, task->pieces[i].count * task->pieces[i].unit);
    return word;
}

static size_t table_bytes(const rs_order *order)
{
    return order->part_count * PART_NUMBERS * sizeof(uint64_t);
}

/* Without waiting when there is no room besides the tables. */
static restride_status choose_order(reorder_plan *plan, const rs_transpose_task *task,
                                    size_t scratch_limit)
{
    restride_status status =
        rs_order_create(&plan->order, task->pieces, task->piece_count, scratch_limit / task->outer);
    if (status != RESTRIDE_OK ||
        table_bytes(&plan->order) + task->outer * plan->order.waiting <= scratch_limit)
        return status;
    rs_order_free(&plan->order);
    status = rs_order_create(&plan->order, task->pieces, task->piece_count, 0);
    if (status == RESTRIDE_OK && table_bytes(&plan->order) > scratch_limit)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The table for %zu parts takes more than %zu bytes of scratch memory; grant "
                       "more.",
                       task->piece_count, scratch_limit);
    return status;
}

static restride_status prepare(rs_device_stage *stage, size_t scratch_limit)
{
    rs_device_engine *engine = rs_device_engine_of(stage);
    reorder_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return rs_fail_memory("a stage");
    stage->plan = plan;
    stage->word = choose_word(&stage->task);
    restride_status status = choose_order(plan, &stage->task, scratch_limit);
    if (status != RESTRIDE_OK)
        return status;
    plan->works = calloc(plan->order.step_count + 1, sizeof *plan->works);
    plan->tables = calloc(plan->order.step_count + 1, sizeof *plan->tables);
    if (plan->works == NULL || plan->tables == NULL)
        return rs_fail_memory("a stage");
    stage->items = engine->work_items < GROUP_ITEMS ? engine->work_items : GROUP_ITEMS;
    stage->scratch_bytes = stage->task.outer * plan->order.waiting;
    char options[64];
    snprintf(options, sizeof options, "-D WORD=%s", rs_device_word_type(stage->word));
    status = rs_device_create_kernels(engine, rs_device_moves_kernels, options, kernel_names,
                                      KERNELS, stage->kernels);
    return status == RESTRIDE_OK ? keep_tables(stage, plan) : status;
}

static void enqueue_step(const rs_device_stage *stage, rs_device_sequence *sequence,
                         rs_device_memory buffer, rs_device_memory scratch, size_t number)
{
    const reorder_plan *plan = stage->plan;
    const rs_order_step *step = &plan->order.steps[number];
    const rs_device_argument matrix[] = {RS_ARGUMENT(buffer),
                                         RS_ULONG(stage->task.offset / stage->word),
                                         RS_ULONG(stage->task.pitch / stage->word)};
    const rs_device_argument parts[] = {RS_ARGUMENT(plan->tables[number]), RS_ULONG(step->count),
                                        RS_ARGUMENT(plan->works[number])};
    const rs_device_argument reversal[] = {matrix[0], matrix[1], matrix[2],
                                           parts[0],  parts[1],  parts[2]};
    const rs_device_argument copying[] = {matrix[0],
                                          matrix[1],
                                          matrix[2],
                                          RS_ARGUMENT(scratch),
                                          RS_ULONG(plan->order.waiting / stage->word),
                                          RS_ULONG(step->kind == RS_ORDER_SAVE),
                                          parts[0],
                                          parts[1],
                                          parts[2]};
    size_t groups = rs_size_divide_up((size_t)plan->works[number], stage->items);
    if (step->kind == RS_ORDER_REVERSE)
        rs_device_launch_kernel(stage, sequence, REVERSE_PARTS, reversal,
                                sizeof reversal / sizeof reversal[0], groups);
    else
        rs_device_launch_kernel(stage, sequence, COPY_PARTS, copying,
                                sizeof copying / sizeof copying[0], groups);
}

static void enqueue(const rs_device_stage *stage, rs_device_sequence *sequence,
                    rs_device_memory buffer, rs_device_memory scratch)
{
    const reorder_plan *plan = stage->plan;
    for (size_t i = 0; i < plan->order.step_count; i++)
        enqueue_step(stage, sequence, buffer, scratch, i);
}

static void forget(rs_device_stage *stage)
{
    reorder_plan *plan = stage->plan;
    rs_device_engine *engine = rs_device_engine_of(stage);
    if (plan == NULL)
        return;
    for (size_t i = 0; plan->tables != NULL && i < plan->order.step_count; i++)
        if (plan->tables[i] != NULL)
            engine->device->release(engine, plan->tables[i]);
    rs_order_free(&plan->order);
    free(plan->works);
    free(plan->tables);
    free(plan);
}

const rs_device_method rs_device_reorder = {"reorder", "swaps", prepare, enqueue, forget};
