/*
 * BOXES: pass 1 of a permutation of axes in two passes (engine/slots.h; kernels/boxes.cl has the
 * kernel). A group has a few boxes.
 *
 * No scratch memory; a table of digits is kept. It is chosen with SLOTS where a whole permutation
 * takes two passes that way and more by transpositions.
 */
#include "engine/boxes.h"
#include "base/arithmetic.h"
#include "engine/device/device.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ITEMS = 256,
    MORE_ITEMS = 512,
    MUCH_BYTES = 32 << 10,
    UNIT_GROUPS = 64, /* of a compute unit, one after the other; few enough to share their tables */
    MOST_NUMBERS = 2 * RS_BOX_LISTS * RS_SLOTS_MOST_DIGITS
};

typedef struct {
    rs_box_cut cut;
    rs_device_memory table;
} box_plan;

static restride_status keep_digits(rs_device_stage *stage, box_plan *b)
{
    rs_device_engine *engine = rs_device_engine_of(stage);
    uint32_t numbers[MOST_NUMBERS];
    size_t count = 0;
    for (int list = 0; list < RS_BOX_LISTS; list++)
        for (size_t i = 0; i < b->cut.lists[list].count; i++) {
            numbers[count++] = (uint32_t)b->cut.lists[list].digits[i].extent;
            numbers[count++] = (uint32_t)b->cut.lists[list].digits[i].weight;
        }
    stage->kept_bytes = rs_size_larger(count, 1) * sizeof numbers[0];
    restride_status status = engine->device->allocate(engine, stage->kept_bytes, &b->table);
    if (status == RESTRIDE_OK && count > 0)
        status = engine->device->write(engine, b->table, numbers, count * sizeof numbers[0],
                                       "writing the digits of a permutation");
    return status;
}

static restride_status create_box_kernel(rs_device_stage *stage, const box_plan *b)
{
    static const char *const names[] = {"permute_boxes"};
    /* Words that are accessed one by one are rare: elements of one have the kernel of several. */
    const bool single = b->cut.unit_words == 1 && b->cut.vector > 1;
    char options[120];
    snprintf(options, sizeof options, "-D WORD=%s -D WIDE=%s -D VECTOR=%zu%s",
             rs_device_word_type(stage->word), rs_device_word_type(stage->word * b->cut.vector),
             b->cut.vector, single ? " -D SINGLE" : "");
    return rs_device_create_kernels(rs_device_engine_of(stage), rs_device_boxes_kernels, options,
                                    names, 1, stage->kernels);
}

static restride_status prepare_boxes(rs_device_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_device_engine *engine = rs_device_engine_of(stage);
    rs_slots slots;
    box_plan *b = calloc(1, sizeof *b);
    if (b == NULL)
        return rs_fail_memory("a stage");
    stage->plan = b;
    if (!rs_slots_of(&slots, &stage->task) ||
        !rs_boxes_cut(&b->cut, &slots, &stage->task,
                      rs_size_larger(engine->box_bytes, engine->local_bytes)))
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Boxes of %zu elements of %zu bytes do not suit the device's %zu bytes of "
                       "local memory; leave the choice of the method to the planner.",
                       stage->task.tile, stage->task.unit, engine->local_bytes);
    size_t items = b->cut.local_bytes > MUCH_BYTES ? MORE_ITEMS : ITEMS;
    stage->items = rs_size_smaller(items, engine->work_items);
    restride_status status = create_box_kernel(stage, b);
    return status == RESTRIDE_OK ? keep_digits(stage, b) : status;
}

static void enqueue(const rs_device_stage *stage, rs_device_sequence *sequence,
                    rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    const box_plan *b = stage->plan;
    uint32_t counts = 0;
    for (int list = RS_BOX_LISTS; list-- > 0;)
        counts = counts << 8 | (uint32_t)b->cut.lists[list].count;
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(stage->task.offset / stage->word),
        RS_ULONG(stage->task.pitch / stage->word),
        RS_ARGUMENT(b->table),
        RS_ARGUMENT(counts),
        RS_UINT(b->cut.boxes),
        RS_UINT(b->cut.rows),
        RS_UINT(b->cut.run),
        RS_UINT(b->cut.width),
        RS_UINT(b->cut.across),
        RS_UINT(b->cut.down),
        RS_UINT(b->cut.step),
        RS_UINT(b->cut.low),
        RS_UINT(b->cut.along),
        RS_UINT(b->cut.aligned ? 0 : b->cut.vector - 1),
        RS_UINT(b->cut.room),
        RS_UINT(b->cut.unit_words),
        RS_LOCAL_MEMORY(b->cut.local_bytes),
    };
    size_t most =
        rs_size_larger(rs_device_engine_of(stage)->units * UNIT_GROUPS / stage->task.outer, 1);
    size_t share = rs_size_divide_up(b->cut.boxes, most);
    rs_device_launch_kernel(stage, sequence, 0, arguments, sizeof arguments / sizeof arguments[0],
                            rs_size_divide_up(b->cut.boxes, share));
}

static void forget(rs_device_stage *stage)
{
    rs_device_engine *engine = rs_device_engine_of(stage);
    box_plan *b = stage->plan;
    if (b != NULL && b->table != NULL)
        engine->device->release(engine, b->table);
    free(b);
}

const rs_device_method rs_device_boxes = {"boxes", "elements change places inside boxes",
                                          prepare_boxes, enqueue, forget};
