/* What the stages of all devices share: the table of methods, and the life of a stage. */
#include "engine/device/device.h"

#include <stdlib.h>

static const rs_device_method *const methods[RS_TRANSPOSE_METHOD_COUNT] = {
    [RS_TRANSPOSE_PANELS] = &rs_device_panels,
    [RS_TRANSPOSE_CHAINS] = &rs_device_chains,
    [RS_TRANSPOSE_SQUARE] = &rs_device_square,
    [RS_TRANSPOSE_BOXES] = &rs_device_boxes,
    [RS_TRANSPOSE_SLOTS] = &rs_device_slots,
    [RS_TRANSPOSE_COPY_BACK] = &rs_device_copy_back,
    [RS_TRANSPOSE_JOIN] = &rs_device_join,
    [RS_TRANSPOSE_SPLIT] = &rs_device_split,
    [RS_TRANSPOSE_FUSED] = &rs_device_fused,
    [RS_TRANSPOSE_PTTWAC] = &rs_device_claims_100,
    [RS_TRANSPOSE_PIPT] = &rs_device_cycles_100,
    [RS_TRANSPOSE_PTTWAC_PANELS] = &rs_device_claims_010,
    [RS_TRANSPOSE_PIPT_PANELS] = &rs_device_cycles_010,
    [RS_TRANSPOSE_UNZIP] = &rs_device_unzip,
    [RS_TRANSPOSE_ZIP] = &rs_device_zip,
    [RS_TRANSPOSE_REORDER] = &rs_device_reorder,
    [RS_TRANSPOSE_TILES] = &rs_device_tiles,
    [RS_TRANSPOSE_REVERSE] = &rs_device_reverse,
    [RS_TRANSPOSE_SHUFFLE_ROWS] = &rs_device_shuffle_rows,
    [RS_TRANSPOSE_ROTATE] = &rs_device_rotate,
    [RS_TRANSPOSE_SHUFFLE_COLUMNS] = &rs_device_shuffle_columns,
};

const rs_device_method *rs_device_find_method(rs_transpose_method method)
{
    return (size_t)method < RS_TRANSPOSE_METHOD_COUNT ? methods[method] : NULL;
}

const char *rs_device_word_type(size_t bytes)
{
    static const char *const types[] = {"uchar", "ushort", "uint", "ulong", "uint4"};
    int index = 0;
    while (bytes >>= 1)
        index++;
    return types[index];
}

size_t rs_device_choose_word(const rs_transpose_task *task, size_t bytes)
{
    size_t word = 16;
    while (bytes % word != 0 || task->offset % word != 0 ||
           (task->outer > 1 && task->pitch % word != 0) ||
           (task->repeats > 1 && task->repeat_pitch % word != 0))
        word /= 2;
    return word;
}

restride_status rs_device_create_stage(rs_device_engine *engine, const rs_device_method *method,
                                       const rs_transpose_task *task, size_t scratch_limit,
                                       rs_device_stage **created)
{
    *created = NULL;
    rs_device_stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL)
        return rs_fail_memory("a stage");
    stage->base.engine = &engine->base;
    stage->method = method;
    stage->task = *task;
    stage->word = rs_device_choose_word(task, task->unit);
    restride_status status = method->prepare(stage, scratch_limit);
    stage->task.pieces = NULL;
    if (status != RESTRIDE_OK) {
        rs_device_destroy_stage(stage);
        return status;
    }
    *created = stage;
    return RESTRIDE_OK;
}

void rs_device_enqueue_stage(const rs_device_stage *stage, rs_device_sequence *sequence,
                             rs_device_memory buffer, rs_device_memory scratch)
{
    const rs_transpose_task *all = &stage->task;
    rs_device_stage some = *stage;
    for (size_t i = 0; i == 0 || i < all->repeats; i++)
        for (size_t o = 0; o < all->outer; o += RS_DEVICE_MOST_MATRICES) {
            some.task.offset = all->offset + i * all->repeat_pitch + o * all->pitch;
            some.task.outer = rs_size_smaller(all->outer - o, RS_DEVICE_MOST_MATRICES);
            stage->method->enqueue(&some, sequence, buffer, scratch);
        }
}

json_t *rs_device_describe_stage(const rs_device_stage *stage)
{
    const rs_transpose_task *task = &stage->task;
    const rs_named_number numbers[] = {
        {"blocks", task->outer * task->count},
        {"rows", task->rows},
        {"cols", task->cols},
        {"tail", task->tail},
        {"tile", task->tile},
        {"element_bytes", task->unit},
        {"pieces", task->piece_count},
        {"repeats", task->repeats},
        {"word_bytes", stage->word},
        {"work_items", stage->items},
        {"scratch_bytes", stage->scratch_bytes},
        {"kept_bytes", stage->kept_bytes},
    };
    json_t *object =
        json_pack("{s:s, s:s}", "name", stage->method->elementary, "method", stage->method->name);
    return rs_describe_numbers(object, numbers, sizeof numbers / sizeof numbers[0]);
}

void rs_device_destroy_stage(rs_device_stage *stage)
{
    if (stage->method->forget != NULL)
        stage->method->forget(stage);
    free(stage);
}
