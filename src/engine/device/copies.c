/*
 * Copies from one buffer to another on a device (engine/copy_cut.h; kernels/copies.cl has the
 * kernel): one launch for each group of parts. No scratch memory; a table of each is kept.
 */
#include "base/arithmetic.h"
#include "engine/copy_cut.h"
#include "engine/device/device.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ITEMS = 128, /* of a group */
    LARGE_ITEMS = 256,
    LARGE_BYTES = 24 << 10
};

typedef struct {
    rs_copy_cut cut;
    rs_device_kernel kernel;
    rs_device_memory table;
    size_t table_bytes;
    size_t items;
} device_copy;

typedef struct {
    rs_stage base;
    size_t count;
    device_copy *copies;
} device_copies;

static rs_device_engine *engine_of(const device_copies *copies)
{
    return (rs_device_engine *)copies->base.engine;
}

/*
 * Reads of one group hide behind writes of others, so many small groups are faster than few large
 * ones: 0.79 of a copy became 0.89 on an H200 with 28800 x 7200 floats. That needs half of a
 * multiprocessor's 2048 threads. Of 228 KB of local memory, 9 boxes of 24 KB leave 1152. A box of
 * 30 KB leaves 896, and 256 threads were faster: 0.80 for 0.69. At 21 KB 128 still were.
 */
static size_t items_of(const rs_copy_cut *cut, const rs_device_engine *engine)
{
    return rs_size_smaller(cut->local_bytes > LARGE_BYTES ? LARGE_ITEMS : ITEMS,
                           engine->work_items);
}

static restride_status create_kernel(rs_device_engine *engine, device_copy *copy)
{
    static const char *const names[] = {"copy_boxes"};
    const rs_copy_cut *cut = &copy->cut;
    const rs_copy_banks *banks = &cut->banks;
    char options[320];
    copy->items = items_of(cut, engine);
    snprintf(options, sizeof options,
             "-D WORD=%s -D WORD_SIZE=%zu -D EVEN_VECTOR=%zu -D EVEN_WIDE=%s -D UNEVEN_VECTOR=%zu "
             "-D UNEVEN_WIDE=%s -D SKEW=%zu -D ITEMS=%zu%s%s",
             rs_device_word_type(cut->word), cut->word, banks->even_vector,
             rs_device_word_type(cut->word * banks->even_vector), banks->uneven_vector,
             rs_device_word_type(cut->word * banks->uneven_vector), banks->skew, copy->items,
             cut->scatter ? " -D SCATTER" : "", cut->direct ? " -D DIRECT" : "");
    return rs_device_create_kernels(engine, rs_device_copies_kernels, options, names, 1,
                                    &copy->kernel);
}

/* The numbers go to the device. */
static restride_status keep_table(rs_device_engine *engine, device_copy *copy)
{
    copy->table_bytes = copy->cut.number_count * sizeof *copy->cut.numbers;
    restride_status status = engine->device->allocate(engine, copy->table_bytes, &copy->table);
    if (status == RESTRIDE_OK)
        status = engine->device->write(engine, copy->table, copy->cut.numbers, copy->table_bytes,
                                       "writing the places of a conversion");
    free(copy->cut.numbers);
    copy->cut.numbers = NULL;
    return status;
}

static restride_status fail_cut(const rs_device_engine *engine, rs_copy_cut_result result)
{
    return result == RS_COPY_CUT_NO_MEMORY
               ? rs_fail_memory("the places of a conversion")
               : rs_fail(RESTRIDE_DEVICE_LIMIT,
                         "A part of this conversion does not suit the device's %zu bytes of local "
                         "memory; use the host engine.",
                         engine->local_bytes);
}

static restride_status add_group(device_copies *copies, const rs_copy_part *parts,
                                 const rs_copy_group *group, bool *is_suited)
{
    rs_device_engine *engine = engine_of(copies);
    device_copy *copy = &copies->copies[copies->count];
    rs_copy_cut_result result = rs_copy_cut_group(&copy->cut, parts, group, engine->local_bytes);
    *is_suited = result != RS_COPY_CUT_UNSUITED;
    if (result != RS_COPY_CUT)
        return fail_cut(engine, result);
    copies->count++;
    restride_status status = create_kernel(engine, copy);
    return status == RESTRIDE_OK ? keep_table(engine, copy) : status;
}

/* The parts of records are together where that suits, and else one by one. */
static restride_status add_parts(device_copies *copies, const rs_copy_part *parts,
                                 const rs_copy_group *group)
{
    bool is_suited = true;
    restride_status status = add_group(copies, parts, group, &is_suited);
    if (is_suited || group->count == 1)
        return status;
    status = RESTRIDE_OK;
    for (size_t p = 0; status == RESTRIDE_OK && p < group->count; p++) {
        const rs_copy_group alone = {.count = 1, .shared = parts[p].axis_count};
        status = add_group(copies, &parts[p], &alone, &is_suited);
    }
    return status;
}

void rs_device_copies_destroy(rs_stage *base)
{
    device_copies *copies = (device_copies *)base;
    rs_device_engine *engine = engine_of(copies);
    for (size_t i = 0; i < copies->count; i++) {
        if (copies->copies[i].table != NULL)
            engine->device->release(engine, copies->copies[i].table);
        free(copies->copies[i].cut.numbers);
    }
    free(copies->copies);
    free(copies);
}

restride_status rs_device_copies_create(restride_engine *engine, const rs_copy_task *task,
                                        rs_stage **stage)
{
    *stage = NULL;
    size_t most = 1;
    for (size_t i = 0; i < task->group_count; i++)
        most += task->groups[i].count;
    device_copies *copies = calloc(1, sizeof *copies);
    if (copies == NULL)
        return rs_fail_memory("a stage");
    copies->base.engine = engine;
    copies->copies = calloc(most, sizeof *copies->copies);
    restride_status status = copies->copies == NULL ? rs_fail_memory("a stage") : RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < task->group_count; i++)
        status = add_parts(copies, task->parts + task->groups[i].first, &task->groups[i]);
    if (status == RESTRIDE_OK)
        *stage = &copies->base;
    else
        rs_device_copies_destroy(&copies->base);
    return status;
}

static void enqueue(const device_copy *copy, rs_device_sequence *sequence,
                    const rs_device_place *from, const rs_device_place *to)
{
    const rs_copy_cut *cut = &copy->cut;
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(from->memory),
        RS_ARGUMENT(to->memory),
        RS_ULONG(from->offset / cut->word),
        RS_ULONG(to->offset / cut->word),
        RS_ARGUMENT(copy->table),
        RS_UINT(cut->axes),
        RS_UINT(cut->boxes),
        RS_ULONG(cut->blocks[0]),
        RS_ULONG(cut->extents[0]),
        RS_ULONG(cut->blocks[1]),
        RS_ULONG(cut->extents[1]),
        RS_UINT(cut->rows),
        RS_UINT(cut->run),
        RS_UINT(cut->by),
        RS_UINT(cut->pitch),
        RS_UINT(cut->banks.shift),
        RS_UINT(cut->classes),
        RS_ULONG(cut->rows_begin),
        RS_ULONG(cut->classes_begin),
        RS_LOCAL_MEMORY(cut->local_bytes),
    };
    rs_device_launch(sequence, copy->kernel, arguments, sizeof arguments / sizeof arguments[0],
                     cut->boxes, 1, copy->items);
}

void rs_device_copies_enqueue_at(const rs_stage *base, rs_device_sequence *sequence,
                                 rs_device_place from, rs_device_place to)
{
    const device_copies *copies = (const device_copies *)base;
    for (size_t i = 0; i < copies->count; i++)
        enqueue(&copies->copies[i], sequence, &from, &to);
}

void rs_device_copies_enqueue(const rs_stage *base, rs_device_sequence *sequence,
                              rs_device_memory from, rs_device_memory to)
{
    rs_device_copies_enqueue_at(base, sequence, (rs_device_place){from, 0},
                                (rs_device_place){to, 0});
}

size_t rs_device_copies_bytes(const rs_stage *base)
{
    const device_copies *copies = (const device_copies *)base;
    size_t bytes = 0;
    for (size_t i = 0; i < copies->count; i++)
        bytes += copies->copies[i].table_bytes;
    return bytes;
}

/* The first part is usually all but the rests of ragged tiles. */
json_t *rs_device_copies_describe(const rs_stage *base)
{
    const device_copies *copies = (const device_copies *)base;
    const device_copy none = {.items = 0};
    const device_copy *first = copies->count > 0 ? &copies->copies[0] : &none;
    const rs_copy_cut *cut = &first->cut;
    const rs_named_number numbers[] = {
        {"launches", copies->count},
        {"boxes", cut->boxes},
        {"box_bytes", cut->box_words * cut->word},
        {"rows", cut->rows},
        {"run_bytes", cut->pitch * cut->word},
        {"classes", cut->classes},
        {"word_bytes", cut->word},
        {"even_vector", cut->banks.even_vector},
        {"uneven_vector", cut->banks.uneven_vector},
        {"shift", cut->banks.shift},
        {"local_bytes", cut->local_bytes},
        {"threads", first->items},
        {"kept_bytes", rs_device_copies_bytes(base)},
    };
    json_t *object = json_pack("{s:s, s:s}", "name", "copy", "method",
                               cut->direct    ? "runs of both sides"
                               : cut->scatter ? "boxes on chip, in the order of the target"
                                              : "boxes on chip, in the order of the source");
    return rs_describe_numbers(object, numbers, sizeof numbers / sizeof numbers[0]);
}
