/*
 * Two of the three passes of C2R and R2C: the row shuffle and the rotation of columns inside panels
 * (Catanzaro, Keller and Garland 2014). src/engine/kernels/shuffles.cl has the kernels. Scratch:
 * none for rows; for the rotation what strips need of each other, within the limit.
 */
#include "engine/device/device.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ROW_BYTES_AN_ITEM = 96, /* of a row in registers */
    MOST_ROW_BYTES_AN_ITEM = 160,
    LEAST_ROW_ITEMS = 128,
    MOST_ROW_ITEMS = 1024,
    MOST_VALUES = 64,
    ROTATE_ITEMS = 512,
    LEAST_PANEL = 32,
    MOST_STEP = 64,
    GROUPS_A_UNIT = 4, /* that run at the same time */
    MOST_LAUNCHES = 8
};

static restride_status refuse_unit(const rs_device_stage *stage)
{
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "Elements of %zu bytes at offset %zu are not words of the device; use another "
                   "method.",
                   stage->task.unit, stage->task.offset);
}

/* ---- rows ---- */

/* What the task's columns ask for; `values` is 0 when a row is too long. */
typedef struct {
    size_t items;
    size_t values;
    size_t part;
} row_shape;

static row_shape choose_row(const rs_device_stage *stage)
{
    const rs_device_engine *engine = rs_device_engine_of(stage);
    size_t cols = stage->task.cols;
    size_t best = rs_size_smaller(ROW_BYTES_AN_ITEM / stage->word, MOST_VALUES);
    size_t most = rs_size_smaller(MOST_ROW_BYTES_AN_ITEM / stage->word, MOST_VALUES);
    size_t parts = rs_size_divide_up(cols, engine->local_bytes / stage->word);
    row_shape shape = {LEAST_ROW_ITEMS, 0, rs_size_divide_up(cols, parts)};
    while (shape.items < MOST_ROW_ITEMS && cols > shape.items * best)
        shape.items *= 2;
    while (shape.items > engine->work_items)
        shape.items /= 2;
    size_t values = rs_size_divide_up(cols, shape.items);
    values += (4 - values % 4) % 4; /* fewer programs */
    if (values <= most)
        shape.values = values;
    return shape;
}

static restride_status prepare_rows(rs_device_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    if (stage->word != stage->task.unit)
        return refuse_unit(stage);
    const row_shape shape = choose_row(stage);
    if (shape.values == 0)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Rows of %zu elements of %zu bytes are longer than what a work-group can "
                       "hold; use another method.",
                       stage->task.cols, stage->task.unit);
    char options[128];
    snprintf(options, sizeof options,
             "-D WORD=%s -D VALUES=%zu -D PANEL=32 -D STEP=32 -D ITEMS=%zu",
             rs_device_word_type(stage->word), shape.values, shape.items);
    static const char *const name = "shuffle_rows";
    stage->items = shape.items;
    return rs_device_create_kernels(rs_device_engine_of(stage), rs_device_shuffles_kernels, options,
                                    &name, 1, stage->kernels);
}

static void enqueue_rows(const rs_device_stage *stage, rs_device_sequence *sequence,
                         rs_device_memory buffer, rs_device_memory scratch)
{
    (void)scratch;
    const rs_transpose_task *task = &stage->task;
    const row_shape shape = choose_row(stage);
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(buffer),
        RS_ULONG(task->offset / stage->word),
        RS_ULONG(task->pitch / stage->word),
        RS_UINT(task->cols),
        RS_ULONG(task->shift),
        RS_UINT(task->factor),
        RS_UINT(shape.items * task->factor % task->cols),
        RS_UINT(shape.part),
        RS_LOCAL_MEMORY(shape.part * stage->word),
    };
    rs_device_launch_kernel(stage, sequence, 0, arguments, sizeof arguments / sizeof arguments[0],
                            task->rows);
}

const rs_device_method rs_device_shuffle_rows = {"row shuffle", "rows through registers",
                                                 prepare_rows, enqueue_rows, NULL};

/* ---- rotation ---- */

typedef struct {
    size_t panels;
    size_t strips;  /* of a panel */
    size_t at_once; /* panels that have scratch memory at the same time */
    size_t strip_bytes;
} rotation_shape;

static size_t window_bytes(const rs_device_stage *stage, size_t step)
{
    return (stage->task.tile + step) * (stage->task.tile + 1) * stage->word;
}

/* Rows that a group writes at once. */
static size_t rotation_step(const rs_device_stage *stage)
{
    size_t panel = stage->task.tile;
    bool fits = window_bytes(stage, MOST_STEP) <= rs_device_engine_of(stage)->local_bytes;
    return panel % MOST_STEP == 0 && fits ? MOST_STEP : LEAST_PANEL;
}

/* Panels at once and strips of each, so that as few rows as possible are passed one after the other
 * in whole waves of groups. */
static rotation_shape choose_rotation(const rs_device_stage *stage, size_t limit)
{
    const rs_transpose_task *task = &stage->task;
    rotation_shape shape = {.panels = rs_size_divide_up(task->cols, task->tile),
                            .strip_bytes =
                                task->tile * (task->tile - 1) / 2 * stage->word * task->outer};
    size_t wave = rs_device_engine_of(stage)->units * GROUPS_A_UNIT;
    size_t most = task->rows / (task->tile + 1);
    size_t room = limit / shape.strip_bytes; /* strips that have scratch memory at the same time */
    double best = 0;
    for (size_t launches = 1; launches <= MOST_LAUNCHES && launches <= shape.panels; launches++) {
        size_t at_once = rs_size_divide_up(shape.panels, launches);
        size_t strips = rs_size_smaller(room / at_once, most);
        if (strips == 0)
            continue;
        double waves = (double)(launches * rs_size_divide_up(at_once * strips, wave));
        if (best == 0 || waves / (double)strips < best) {
            best = waves / (double)strips;
            shape.at_once = at_once;
            shape.strips = strips;
        }
    }
    if (best == 0) {
        shape.strips = 1;
        shape.at_once = room > 1 ? room : 1;
    }
    return shape;
}

static restride_status prepare_rotation(rs_device_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    if (stage->word != task->unit)
        return refuse_unit(stage);
    if (task->rows < task->tile || task->tile % LEAST_PANEL != 0 ||
        window_bytes(stage, LEAST_PANEL) > rs_device_engine_of(stage)->local_bytes ||
        rs_device_engine_of(stage)->work_items < ROTATE_ITEMS)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Panels of %zu columns of %zu rows are not rotated on this device; use "
                       "another method.",
                       task->tile, task->rows);
    if (task->tile * (task->tile - 1) / 2 * task->unit * task->outer > scratch_limit)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "A rotation of %zu columns of %zu matrices takes more than %zu bytes of "
                       "scratch memory; grant more, or use another method.",
                       task->tile, task->outer, scratch_limit);
    rotation_shape *shape = malloc(sizeof *shape);
    if (shape == NULL)
        return rs_fail_memory("a stage");
    *shape = choose_rotation(stage, scratch_limit);
    stage->plan = shape;
    stage->scratch_bytes = shape->at_once * shape->strips * shape->strip_bytes;
    char options[128];
    snprintf(options, sizeof options, "-D WORD=%s -D VALUES=1 -D PANEL=%zu -D STEP=%zu -D ITEMS=%d",
             rs_device_word_type(stage->word), task->tile, rotation_step(stage), ROTATE_ITEMS);
    static const char *const names[] = {"save_strips", "rotate_columns"};
    stage->items = ROTATE_ITEMS;
    return rs_device_create_kernels(rs_device_engine_of(stage), rs_device_shuffles_kernels, options,
                                    names, 2, stage->kernels);
}

static void enqueue_rotation(const rs_device_stage *stage, rs_device_sequence *sequence,
                             rs_device_memory buffer, rs_device_memory scratch)
{
    const rs_transpose_task *task = &stage->task;
    const rotation_shape *shape = stage->plan;
    for (size_t panel = 0; panel < shape->panels; panel += shape->at_once) {
        const size_t panels = rs_size_smaller(shape->panels - panel, shape->at_once);
        const rs_device_argument arguments[] = {
            RS_ARGUMENT(buffer),
            RS_ARGUMENT(scratch),
            RS_ULONG(task->offset / stage->word),
            RS_ULONG(task->pitch / stage->word),
            RS_ULONG(task->rows),
            RS_ULONG(task->cols),
            RS_ULONG(panel),
            RS_UINT(panels),
            RS_UINT(shape->strips),
            RS_UINT(task->backward),
            RS_LOCAL_MEMORY(window_bytes(stage, rotation_step(stage))),
        };
        const size_t count = sizeof arguments / sizeof arguments[0];
        rs_device_launch_kernel(stage, sequence, 0, arguments, count - 1, panels * shape->strips);
        rs_device_launch_kernel(stage, sequence, 1, arguments, count, panels * shape->strips);
    }
}

static void forget_rotation(rs_device_stage *stage)
{
    free(stage->plan);
}

const rs_device_method rs_device_rotate = {"column rotation", "panels in strips", prepare_rotation,
                                           enqueue_rotation, forget_rotation};
