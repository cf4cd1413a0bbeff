/*
 * The CUDA engine: stages on a caller's stream (create.c makes an engine). A stage is prepared when
 * its plan is made: kernels are compiled or taken from the cache, tables are copied to the device.
 * Running it is a launch or two.
 */
#include "base/arithmetic.h"
#include "engine/cuda/cuda.h"
#include "restride/cuda.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 128,
    BUFFER_ALIGNMENT = 16,
    /* 7/8 of 0.25 % of the matrix and a MiB: stages keep tables besides what a run takes. */
    SCRATCH_PARTS = 458,
    SCRATCH_BYTES = 7 << 17,
    MOST_HOST_POSITIONS = 1 << 15, /* whose cycles are walked on the host */
    LONG_UNIT = 1024,
    WALKED_BYTES = 16 << 20 /* from which on three launches take less time than one that waits */
};

static const rs_cuda_method methods[RS_TRANSPOSE_METHOD_COUNT] = {
    [RS_TRANSPOSE_PANELS] = {"010!", "BS, gangs of blocks", rs_cuda_panels_prepare},
    [RS_TRANSPOSE_CHAINS] = {"100!", "planned chains behind a gate", rs_cuda_chains_prepare},
    [RS_TRANSPOSE_SQUARE] = {"square", "mirror tiles change places", rs_cuda_square_prepare},
    [RS_TRANSPOSE_GROUPS] = {"010! square", "groups on chip, mirror tiles", rs_cuda_groups_prepare},
    [RS_TRANSPOSE_JOIN] = {"pad", "rows move apart", rs_cuda_tails_prepare},
    [RS_TRANSPOSE_SPLIT] = {"unpad", "rows move together", rs_cuda_tails_prepare},
    [RS_TRANSPOSE_ON_CHIP] = {"on chip", "all blocks meet once", rs_cuda_on_chip_prepare},
    [RS_TRANSPOSE_C2R_ROTATE] = {"rotation", "C2R", rs_cuda_columns_prepare},
    [RS_TRANSPOSE_C2R_ROWS] = {"row shuffle", "C2R", rs_cuda_rows_prepare},
    [RS_TRANSPOSE_C2R_COLUMNS] = {"column shuffle", "C2R", rs_cuda_columns_prepare},
    [RS_TRANSPOSE_R2C_COLUMNS] = {"column shuffle", "R2C", rs_cuda_columns_prepare},
    [RS_TRANSPOSE_R2C_ROWS] = {"row shuffle", "R2C", rs_cuda_rows_prepare},
    [RS_TRANSPOSE_R2C_ROTATE] = {"rotation", "R2C", rs_cuda_columns_prepare},
};

static const rs_cuda_method slim_panels = {"010!", "BS, a block a panel", rs_cuda_slim_prepare};

/* ---- contexts ---- */

/* Every call to the driver is made in the engine's context, whatever the thread has at the time. */
static restride_status enter(const rs_cuda_engine *engine)
{
    rs_cuda_result code = engine->api->cuCtxPushCurrent(engine->context);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "entering the engine's context");
}

static void leave(const rs_cuda_engine *engine)
{
    rs_cuda_context context;
    engine->api->cuCtxPopCurrent(&context);
}

/* ---- making stages ---- */

size_t rs_cuda_word(const rs_transpose_task *task)
{
    enum { LONGEST_WORD = 16 };
    size_t all = task->unit | task->offset | task->pitch | LONGEST_WORD;
    all |= task->repeats > 1 ? task->repeat_pitch : 0;
    return all & -all; /* the lowest bit */
}

restride_status rs_cuda_keep(rs_cuda_launch *launch, const rs_cuda_engine *engine,
                             const void *content, size_t bytes)
{
    rs_cuda_result code = engine->api->cuMemAlloc(&launch->table, bytes);
    if (code != 0) {
        launch->table = 0;
        return rs_cuda_fail(code, "allocating the tables of a plan");
    }
    launch->table_bytes = bytes;
    code = content == NULL
               ? engine->api->cuMemsetD8Async(launch->table, 0, bytes, engine->stream)
               : engine->api->cuMemcpyHtoDAsync(launch->table, content, bytes, engine->stream);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "copying the tables of a plan");
}

rs_cuda_launch *rs_cuda_add_launch(rs_cuda_stage *stage)
{
    rs_cuda_launch *launch = &stage->launches[stage->launch_count++];
    launch->offset = stage->task.offset;
    return launch;
}

void rs_cuda_add_arguments(rs_cuda_launch *launch, const uint64_t *values, size_t count)
{
    memcpy(launch->arguments + launch->argument_count, values, count * sizeof *values);
    launch->argument_count += count;
}

static void leave_scratch(const rs_cuda_engine *engine, const rs_device_stage *portable)
{
    rs_cuda_shared *shared = engine->shared;
    pthread_mutex_lock(&shared->mutex);
    shared->scratch_users -= portable->scratch_bytes != 0;
    if (shared->scratch_users == 0 && shared->scratch != 0) {
        engine->api->cuMemFree(shared->scratch);
        shared->scratch = 0;
        shared->scratch_bytes = 0;
    }
    pthread_mutex_unlock(&shared->mutex);
}

static void free_stage(rs_cuda_stage *stage)
{
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    for (size_t i = 0; i < stage->portable_count; i++) {
        leave_scratch(engine, stage->portable[i]);
        rs_device_destroy_stage(stage->portable[i]);
    }
    for (size_t i = 0; i < RS_CUDA_MOST_LAUNCHES; i++)
        if (stage->launches[i].table != 0)
            engine->api->cuMemFree(stage->launches[i].table);
    free(stage);
}

/* The largest that a stage wants; growing waits for what is under way. */
static restride_status keep_scratch(const rs_cuda_engine *engine, size_t bytes)
{
    rs_cuda_shared *shared = engine->shared;
    rs_cuda_result code = 0;
    pthread_mutex_lock(&shared->mutex);
    if (bytes > shared->scratch_bytes) {
        if (shared->scratch != 0)
            engine->api->cuMemFree(shared->scratch);
        code = engine->api->cuMemAlloc(&shared->scratch, bytes);
        shared->scratch = code == 0 ? shared->scratch : 0;
        shared->scratch_bytes = code == 0 ? bytes : 0;
    }
    pthread_mutex_unlock(&shared->mutex);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "allocating scratch memory");
}

static restride_status prepare_portable(rs_cuda_stage *stage, const rs_transpose_task *task,
                                        size_t scratch_limit)
{
    rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    rs_device_stage *made;
    restride_status status = rs_device_create_stage(
        &engine->common, rs_device_find_method(task->method), task, scratch_limit, &made);
    if (status != RESTRIDE_OK)
        return status;
    stage->portable[stage->portable_count++] = made;
    pthread_mutex_lock(&engine->shared->mutex);
    engine->shared->scratch_users += made->scratch_bytes != 0;
    pthread_mutex_unlock(&engine->shared->mutex);
    return keep_scratch(engine, made->scratch_bytes);
}

/* One launch is soonest done where there is little to move; and the bulk copy engine moves long
 * elements. */
bool rs_cuda_walks_on_device(const rs_transpose_task *task)
{
    if (task->rows > MOST_HOST_POSITIONS / task->cols)
        return true;
    size_t all = rs_size_multiply_capped(task->outer, task->rows * task->cols * task->unit);
    return task->unit < LONG_UNIT && all >= WALKED_BYTES;
}

bool rs_cuda_is_packed(const rs_transpose_task *task)
{
    enum { WORD_BYTES = 4 };
    bool narrow = task->unit == 1 || task->unit == 2;
    return narrow && rs_size_gcd(task->cols * task->unit, WORD_BYTES) == WORD_BYTES &&
           task->tile * task->unit % WORD_BYTES == 0 &&
           rs_device_choose_word(task, WORD_BYTES) == WORD_BYTES;
}

/* Whether the kernels of all devices serve the task: what CUDA has no kernels of its own for,
 * squares of one and two bytes, which they move four bytes at once, and chains of so many elements
 * that walking their cycles is left to the device. */
static bool is_portable(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    if (task->method == RS_TRANSPOSE_CHAINS)
        return rs_cuda_walks_on_device(task);
    if (task->method == RS_TRANSPOSE_SQUARE)
        return rs_cuda_is_packed(task);
    if (task->method == RS_TRANSPOSE_PANELS)
        return task->rows * task->cols <= engine->common.local_bytes / task->unit &&
               !rs_cuda_slim_suits(engine, task) && !rs_cuda_panels_are_narrow(task);
    return methods[task->method].prepare == NULL;
}

static const rs_cuda_method *find_method(const rs_cuda_engine *engine,
                                         const rs_transpose_task *task)
{
    bool is_slim = task->method == RS_TRANSPOSE_PANELS && rs_cuda_slim_suits(engine, task);
    return is_slim ? &slim_panels : &methods[task->method];
}

/* A stage of several tasks, one after the other; its descriptions are those of the first. */
static restride_status create_stage(restride_engine *base, const rs_transpose_task *tasks,
                                    size_t count, size_t scratch_limit, rs_stage **created)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    *created = NULL;
    restride_status status = enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL)
        status = rs_fail_memory("a stage");
    for (size_t i = count; status == RESTRIDE_OK && i-- > 0;) {
        stage->base.engine = base;
        stage->method = find_method(engine, &tasks[i]);
        stage->task = tasks[i];
        stage->word = rs_cuda_word(&tasks[i]);
        status = is_portable(engine, &tasks[i]) ? prepare_portable(stage, &tasks[i], scratch_limit)
                                                : stage->method->prepare(stage, scratch_limit);
        stage->task.pieces = NULL;
    }
    if (status == RESTRIDE_OK)
        *created = &stage->base;
    else if (stage != NULL)
        free_stage(stage);
    leave(engine);
    return status;
}

static restride_status create_transpose(restride_engine *base, const rs_transpose_task *task,
                                        size_t scratch_limit, rs_stage **created)
{
    *created = NULL;
    if (methods[task->method].prepare == NULL && rs_device_find_method(task->method) == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The CUDA engine has no stage of that kind; leave the choice of the method "
                       "to the planner.");
    return create_stage(base, task, 1, scratch_limit, created);
}

/* The size that all leaves of a record have; 0 when they differ. */
static size_t uniform_leaf(const rs_record *record)
{
    for (size_t i = 0; i < record->leaf_count; i++)
        if (record->leaves[i].size != record->leaves[0].size)
            return 0;
    return record->leaves[0].size;
}

/* Whole tiles are one task and the ragged one another. */
static restride_status create_tiles(restride_engine *base, const rs_marshal_task *task,
                                    const rs_transpose_task *of_rows, rs_stage **created)
{
    size_t whole = task->count / task->tile;
    size_t ragged = task->count % task->tile;
    bool to_asta = task->direction == RS_AOS_TO_ASTA;
    bool uniform = of_rows->method == RS_TRANSPOSE_PANELS;
    rs_transpose_task tasks[] = {*of_rows, *of_rows};
    tasks[0].count = whole;
    tasks[1].count = 1;
    tasks[1].offset = whole * task->tile * task->record->size;
    const size_t rows[] = {task->tile, ragged};
    for (int i = 0; i < 2; i++)
        *(to_asta || !uniform ? &tasks[i].rows : &tasks[i].cols) = rows[i];
    if (whole == 0)
        return create_stage(base, &tasks[1], 1, SIZE_MAX, created);
    return create_stage(base, tasks, ragged != 0 ? 2 : 1, SIZE_MAX, created);
}

/* AoS and ASTA are 010! on tiles of T x S leaves, or of T records whose leaves differ in size. */
static restride_status create_marshal(restride_engine *base, const rs_marshal_task *task,
                                      rs_stage **created)
{
    *created = NULL;
    const rs_record *record = task->record;
    size_t leaf = uniform_leaf(record);
    bool to_asta = task->direction == RS_AOS_TO_ASTA;
    if (leaf != 0) {
        const rs_transpose_task of_rows = {.method = RS_TRANSPOSE_PANELS,
                                           .outer = 1,
                                           .rows = to_asta ? 0 : record->leaf_count,
                                           .cols = to_asta ? record->leaf_count : 0,
                                           .unit = leaf};
        return create_tiles(base, task, &of_rows, created);
    }
    rs_piece *pieces = malloc(record->leaf_count * sizeof *pieces);
    if (pieces == NULL)
        return rs_fail_memory("a stage");
    for (size_t i = 0; i < record->leaf_count; i++)
        pieces[i] = (rs_piece){1, record->leaves[i].size, 0};
    const rs_transpose_task of_rows = {.method = to_asta ? RS_TRANSPOSE_UNZIP : RS_TRANSPOSE_ZIP,
                                       .outer = 1,
                                       .cols = record->size,
                                       .unit = 1,
                                       .pieces = pieces,
                                       .piece_count = record->leaf_count};
    restride_status status = create_tiles(base, task, &of_rows, created);
    free(pieces);
    return status;
}

static size_t scratch_bytes(const rs_stage *base, size_t *kept)
{
    const rs_cuda_stage *stage = (const rs_cuda_stage *)base;
    size_t scratch = 0;
    *kept = 0;
    for (size_t i = 0; i < stage->launch_count; i++)
        *kept += stage->launches[i].table_bytes;
    for (size_t i = 0; i < stage->portable_count; i++) {
        *kept += stage->portable[i]->kept_bytes;
        if (stage->portable[i]->scratch_bytes > scratch)
            scratch = stage->portable[i]->scratch_bytes;
    }
    return scratch;
}

/* What the stages of plans that are still there want was allocated with them. */
static restride_status acquire_scratch(restride_engine *base, size_t bytes, void **scratch)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    restride_status status = enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    status = keep_scratch(engine, bytes);
    leave(engine);
    *scratch = (void *)engine->shared->scratch;
    return status;
}

static void release_scratch(restride_engine *base, size_t bytes, void *scratch)
{
    (void)base;
    (void)bytes;
    (void)scratch;
}

/* ---- running them ---- */

static restride_status check_buffer(restride_engine *base, void *buffer, size_t bytes,
                                    rs_buffer_use use)
{
    (void)use;
    rs_cuda_engine *engine = (rs_cuda_engine *)base;
    rs_cuda_pointer pointer = (rs_cuda_pointer)buffer;
    rs_cuda_pointer start = 0;
    size_t size = 0;
    if (pointer % BUFFER_ALIGNMENT != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "The buffer is not at a multiple of %d bytes.",
                       BUFFER_ALIGNMENT);
    restride_status status = enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_result code = engine->api->cuMemGetAddressRange(&start, &size, pointer);
    leave(engine);
    if (code != 0)
        return rs_cuda_fail(
            code, "asking for the buffer's size (is it device memory of the engine's context?)");
    size_t behind = size - (pointer - start);
    if (behind < bytes)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The buffer has %zu bytes, but the array takes %zu.", behind, bytes);
    return RESTRIDE_OK;
}

static rs_cuda_result launch(const rs_cuda_engine *engine, const rs_cuda_launch *l,
                             rs_cuda_pointer buffer)
{
    uint64_t values[RS_CUDA_MOST_ARGUMENTS + 1] = {buffer + l->offset};
    void *pointers[RS_CUDA_MOST_ARGUMENTS + 1] = {values};
    for (size_t i = 0; i < l->argument_count; i++) {
        values[i + 1] = l->arguments[i];
        pointers[i + 1] = &values[i + 1];
    }
    unsigned grid = (unsigned)l->grid;
    unsigned threads = (unsigned)l->kernel.threads;
    unsigned shared = (unsigned)l->kernel.shared_bytes;
    if (l->cooperative)
        return engine->api->cuLaunchCooperativeKernel(l->kernel.function, grid, 1, 1, threads, 1, 1,
                                                      shared, engine->stream, pointers);
    return engine->api->cuLaunchKernel(l->kernel.function, grid, 1, 1, threads, 1, 1, shared,
                                       engine->stream, pointers, NULL);
}

/* The launches of a stage follow each other on the stream without others between them, which have
 * the same scratch memory. */
static rs_cuda_result run_portable(const rs_cuda_stage *stage, void *buffer, bool *has_begun)
{
    rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    rs_device_sequence sequence = {.engine = &engine->common};
    pthread_mutex_lock(&engine->shared->mutex);
    for (size_t i = 0; i < stage->portable_count; i++)
        rs_device_enqueue_stage(stage->portable[i], &sequence, buffer,
                                (rs_device_memory)engine->shared->scratch);
    pthread_mutex_unlock(&engine->shared->mutex);
    *has_begun = sequence.has_launched;
    return sequence.code;
}

/* So do these, which may keep something aside for one another. */
static rs_cuda_result run_launches(const rs_cuda_stage *stage, void *buffer, bool *has_begun)
{
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    pthread_mutex_lock(&engine->shared->mutex);
    rs_cuda_result code = 0;
    rs_cuda_pointer place = (rs_cuda_pointer)buffer;
    for (size_t r = 0; r == 0 || r < stage->task.repeats; r++, place += stage->task.repeat_pitch)
        for (size_t i = 0; code == 0 && i < stage->launch_count; i++) {
            code = launch(engine, &stage->launches[i], place);
            *has_begun = *has_begun || code == 0;
        }
    pthread_mutex_unlock(&engine->shared->mutex);
    return code;
}

bool rs_cuda_is_of_earlier_work(rs_cuda_result code)
{
    static const rs_cuda_result codes[] = {214, 220, 226, 700, 702, 710,
                                           714, 715, 716, 717, 718, 719};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static restride_status run(const rs_stage *base, void *buffer, void *scratch, rs_progress *progress,
                           rs_under_way *under_way)
{
    (void)scratch; /* the same as the engine's own */
    (void)progress;
    const rs_cuda_stage *stage = (const rs_cuda_stage *)base;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    restride_status status = enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    bool has_begun = false;
    rs_cuda_result code = run_portable(stage, buffer, &has_begun);
    if (code == 0)
        code = run_launches(stage, buffer, &has_begun);
    leave(engine);
    if (under_way != NULL && (has_begun || rs_cuda_is_of_earlier_work(code)))
        under_way->has_begun = true;
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "launching a kernel");
}

/* ---- descriptions ---- */

static json_t *describe_stage(const rs_stage *base)
{
    const rs_cuda_stage *stage = (const rs_cuda_stage *)base;
    const rs_transpose_task *task = &stage->task;
    if (stage->portable_count > 0)
        return rs_device_describe_stage(stage->portable[stage->portable_count - 1]);
    json_t *object = json_pack("{s:s, s:s, s:s}", "name", stage->method->elementary, "method",
                               stage->method->name, "shape", stage->shape);
    const rs_named_number numbers[] = {
        {"blocks", task->outer * task->count},
        {"rows", task->rows},
        {"cols", task->cols},
        {"tail", task->tail},
        {"element_bytes", task->unit},
        {"access_bytes", stage->word},
        {"grid", stage->launches[0].grid},
        {"threads_per_block", stage->launches[0].kernel.threads},
        {"shared_bytes_per_block", stage->launches[0].kernel.shared_bytes},
        {"table_bytes", stage->launches[0].table_bytes},
    };
    return rs_describe_numbers(object, numbers, sizeof numbers / sizeof numbers[0]);
}

static json_t *describe_device(const restride_engine *base)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    return json_sprintf("%s, driver for CUDA %d.%d", engine->name, engine->driver_version / 1000,
                        engine->driver_version % 1000 / 10);
}

static rs_engine_traits traits(const restride_engine *base)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    /* What the tiles of all blocks hold together, less the room that tiles at the edges waste. */
    size_t chip = engine->multiprocessors * (engine->shared_bytes - 8 * RS_CUDA_RESERVED_BYTES);
    return (rs_engine_traits){.chip_bytes = chip / 10 * 8,
                              .group_bytes = engine->common.local_bytes,
                              .box_bytes = engine->common.box_bytes,
                              .line_bytes = LINE_BYTES,
                              .workers = 1,
                              .scratch_parts = SCRATCH_PARTS,
                              .scratch_bytes = SCRATCH_BYTES,
                              .cost = rs_cuda_cost,
                              .engine = base,
                              .least_cost = RS_CUDA_LEAST_COST,
                              .cache_bytes = engine->cache_bytes};
}

static void destroy_stage(rs_stage *base)
{
    rs_cuda_stage *stage = (rs_cuda_stage *)base;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    /* Without a context that can be entered its memory is gone already. */
    bool entered = enter(engine) == RESTRIDE_OK;
    if (entered)
        engine->api->cuStreamSynchronize(engine->stream); /* a run may use its tables */
    free_stage(stage);
    if (entered)
        leave(engine);
}

static void destroy(restride_engine *base)
{
    rs_cuda_engine *engine = (rs_cuda_engine *)base;
    if (enter(engine) == RESTRIDE_OK) {
        rs_cuda_forget_programs(engine);
        if (engine->shared->scratch != 0)
            engine->api->cuMemFree(engine->shared->scratch);
        engine->api->cuMemFree(engine->anchor);
        leave(engine);
    }
    pthread_mutex_destroy(&engine->shared->mutex);
    free(engine->shared);
    free(engine);
}

static restride_status enter_device(restride_engine *base)
{
    return enter((const rs_cuda_engine *)base);
}

static void leave_device(restride_engine *base)
{
    leave((const rs_cuda_engine *)base);
}

const rs_engine_operations rs_cuda_operations = {
    .name = "cuda",
    .traits = traits,
    .create_marshal = create_marshal,
    .create_transpose = create_transpose,
    .scratch_bytes = scratch_bytes,
    .acquire_scratch = acquire_scratch,
    .release_scratch = release_scratch,
    .check_buffer = check_buffer,
    .run = run,
    .describe_stage = describe_stage,
    .describe_device = describe_device,
    .transfer = &rs_cuda_transfer,
    .peer = &rs_cuda_peer,
    .copy = &rs_cuda_copies,
    .enter = enter_device,
    .leave = leave_device,
    .destroy_stage = destroy_stage,
    .destroy = destroy,
};
