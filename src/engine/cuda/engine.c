/*
 * The CUDA engine: stages on a caller's stream, in the context that is current when the engine is
 * made. A stage is prepared when its plan is made: kernels are compiled or taken from the cache,
 * tables are copied to the device. Running it is a launch or two.
 */
#include "base/arithmetic.h"
#include "engine/cuda/cuda.h"
#include "restride/cuda.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 128,
    RESERVED_SHARED_BYTES = 1024, /* of each block, for the driver */
    LEAST_ARCHITECTURE = 80,      /* copies into shared memory that pass no register */
    BUFFER_ALIGNMENT = 16,
    STREAM_PER_THREAD = 2,
    SCRATCH_PARTS = 400, /* 0.25 % of the matrix, and a MiB */
    SCRATCH_BYTES = 1 << 20
};

static const rs_cuda_method methods[RS_TRANSPOSE_METHOD_COUNT] = {
    [RS_TRANSPOSE_PANELS] = {"010!", "BS, gangs of blocks", rs_cuda_panels_prepare},
    [RS_TRANSPOSE_CHAINS] = {"100!", "planned chains behind a gate", rs_cuda_chains_prepare},
    [RS_TRANSPOSE_SQUARE] = {"square", "mirror tiles change places", rs_cuda_square_prepare},
    [RS_TRANSPOSE_JOIN] = {"pad", "rows move apart", rs_cuda_tails_prepare},
    [RS_TRANSPOSE_SPLIT] = {"unpad", "rows move together", rs_cuda_tails_prepare},
    [RS_TRANSPOSE_C2R_ROTATE] = {"rotation", "C2R", rs_cuda_columns_prepare},
    [RS_TRANSPOSE_C2R_ROWS] = {"row shuffle", "C2R", rs_cuda_rows_prepare},
    [RS_TRANSPOSE_C2R_COLUMNS] = {"column shuffle", "C2R", rs_cuda_columns_prepare},
    [RS_TRANSPOSE_R2C_COLUMNS] = {"column shuffle", "R2C", rs_cuda_columns_prepare},
    [RS_TRANSPOSE_R2C_ROWS] = {"row shuffle", "R2C", rs_cuda_rows_prepare},
    [RS_TRANSPOSE_R2C_ROTATE] = {"rotation", "R2C", rs_cuda_columns_prepare},
};

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
    return rs_size_gcd(rs_size_gcd(task->unit, task->offset), rs_size_gcd(task->pitch, 16));
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
    void *zeros = content == NULL ? calloc(1, bytes) : NULL;
    if (content == NULL && zeros == NULL)
        return rs_fail_memory("the tables of a plan");
    code = engine->api->cuMemcpyHtoD(launch->table, content != NULL ? content : zeros, bytes);
    free(zeros);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "copying the tables of a plan");
}

rs_cuda_launch *rs_cuda_add_launch(rs_cuda_stage *stage)
{
    rs_cuda_launch *launch = &stage->launches[stage->launch_count++];
    launch->offset = stage->task.offset;
    return launch;
}

void rs_cuda_add_argument(rs_cuda_launch *launch, uint64_t value)
{
    launch->arguments[launch->argument_count++] = value;
}

static void free_stage(rs_cuda_stage *stage)
{
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    for (size_t i = 0; i < RS_CUDA_MOST_LAUNCHES; i++) {
        rs_cuda_kernel_destroy(&stage->launches[i].kernel, engine);
        if (stage->launches[i].table != 0)
            engine->api->cuMemFree(stage->launches[i].table);
    }
    free(stage);
}

/* A stage of several tasks, one launch each; its descriptions are those of the first. */
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
        stage->method = &methods[tasks[i].method];
        stage->task = tasks[i];
        stage->word = rs_cuda_word(&tasks[i]);
        status = stage->method->prepare(stage, scratch_limit);
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
    if (methods[task->method].prepare == NULL)
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

/* AoS and ASTA are 010! on tiles of T x S leaves; the ragged tile is a panel of its own. */
static restride_status create_marshal(restride_engine *base, const rs_marshal_task *task,
                                      rs_stage **created)
{
    *created = NULL;
    size_t leaf = uniform_leaf(task->record);
    if (leaf == 0)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The CUDA engine converts records whose members all have the same size, and "
                       "this one of %zu bytes mixes sizes; use the OpenCL engine.",
                       task->record->size);
    size_t width = task->record->leaf_count;
    bool to_asta = task->direction == RS_AOS_TO_ASTA;
    size_t whole = task->count / task->tile;
    size_t ragged = task->count % task->tile;
    const rs_transpose_task tiles = {.method = RS_TRANSPOSE_PANELS,
                                     .outer = 1,
                                     .count = whole,
                                     .rows = to_asta ? task->tile : width,
                                     .cols = to_asta ? width : task->tile,
                                     .unit = leaf};
    rs_transpose_task last = tiles;
    last.offset = whole * task->tile * width * leaf;
    last.count = 1;
    last.rows = to_asta ? ragged : width;
    last.cols = to_asta ? width : ragged;
    if (whole == 0)
        return create_stage(base, &last, 1, 0, created);
    const rs_transpose_task both[] = {tiles, last};
    return create_stage(base, both, ragged != 0 ? 2 : 1, 0, created);
}

static size_t scratch_bytes(const rs_stage *base, size_t *kept)
{
    const rs_cuda_stage *stage = (const rs_cuda_stage *)base;
    *kept = 0;
    for (size_t i = 0; i < stage->launch_count; i++)
        *kept += stage->launches[i].table_bytes;
    return 0;
}

/* ---- running them ---- */

static restride_status check_buffer(restride_engine *base, void *buffer, size_t bytes)
{
    rs_cuda_engine *engine = (rs_cuda_engine *)base;
    rs_cuda_pointer pointer = (rs_cuda_pointer)buffer;
    rs_cuda_pointer start = 0;
    size_t size = 0;
    if (pointer % BUFFER_ALIGNMENT != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The buffer is not at a multiple of %d bytes; it was not changed.",
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
                       "The buffer has %zu bytes, but the array takes %zu; it was not changed.",
                       behind, bytes);
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

static restride_status run(const rs_stage *base, void *buffer, void *scratch, rs_progress *progress)
{
    (void)scratch; /* what a stage needs it keeps */
    (void)progress;
    const rs_cuda_stage *stage = (const rs_cuda_stage *)base;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    restride_status status = enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    rs_cuda_result code = 0;
    for (size_t i = 0; code == 0 && i < stage->launch_count; i++)
        code = launch(engine, &stage->launches[i], (rs_cuda_pointer)buffer);
    leave(engine);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "launching a kernel");
}

/* ---- descriptions ---- */

static json_t *describe_stage(const rs_stage *base)
{
    const rs_cuda_stage *stage = (const rs_cuda_stage *)base;
    const rs_transpose_task *task = &stage->task;
    json_t *object = json_pack("{s:s, s:s, s:s}", "name", stage->method->elementary, "method",
                               stage->method->name, "shape", stage->shape);
    const struct {
        const char *name;
        size_t value;
    } numbers[] = {
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
    for (size_t i = 0; object != NULL && i < sizeof numbers / sizeof numbers[0]; i++)
        json_object_set_new(object, numbers[i].name, json_integer((json_int_t)numbers[i].value));
    return object;
}

static json_t *describe_device(const restride_engine *base)
{
    return json_string(((const rs_cuda_engine *)base)->name);
}

static rs_engine_traits traits(const restride_engine *base)
{
    const rs_cuda_engine *engine = (const rs_cuda_engine *)base;
    /* What the tiles of all blocks hold together, less the room that tiles at the edges waste. */
    size_t chip = engine->multiprocessors * (engine->shared_bytes - 8 * RESERVED_SHARED_BYTES);
    return (rs_engine_traits){.chip_bytes = chip / 10 * 8,
                              .line_bytes = LINE_BYTES,
                              .workers = 1,
                              .scratch_parts = SCRATCH_PARTS,
                              .scratch_bytes = SCRATCH_BYTES,
                              .cost = rs_cuda_cost,
                              .engine = base};
}

static void destroy_stage(rs_stage *base)
{
    rs_cuda_stage *stage = (rs_cuda_stage *)base;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    /* Without a context that can be entered its memory is gone already. */
    bool entered = enter(engine) == RESTRIDE_OK;
    free_stage(stage);
    if (entered)
        leave(engine);
}

static void destroy(restride_engine *base)
{
    free(base);
}

static const rs_engine_operations operations = {
    .name = "cuda",
    .traits = traits,
    .create_marshal = create_marshal,
    .create_transpose = create_transpose,
    .scratch_bytes = scratch_bytes,
    .check_buffer = check_buffer,
    .run = run,
    .describe_stage = describe_stage,
    .describe_device = describe_device,
    .transfer = &rs_cuda_transfer,
    .destroy_stage = destroy_stage,
    .destroy = destroy,
};

/* ---- engines ---- */

static restride_status read_device(rs_cuda_engine *engine)
{
    rs_cuda_device device;
    int major = 0;
    int minor = 0;
    int multiprocessors = 0;
    int shared = 0;
    int shared_a_block = 0;
    int cooperative = 0;
    const struct {
        int attribute;
        int *value;
    } questions[] = {
        {RS_CUDA_ATTRIBUTE_MAJOR, &major},
        {RS_CUDA_ATTRIBUTE_MINOR, &minor},
        {RS_CUDA_ATTRIBUTE_MULTIPROCESSORS, &multiprocessors},
        {RS_CUDA_ATTRIBUTE_SHARED_BYTES, &shared},
        {RS_CUDA_ATTRIBUTE_SHARED_BYTES_A_BLOCK, &shared_a_block},
        {RS_CUDA_ATTRIBUTE_COOPERATIVE, &cooperative},
    };
    rs_cuda_result code = engine->api->cuCtxGetDevice(&device);
    if (code == 0)
        code = engine->api->cuDeviceGetName(engine->name, (int)sizeof engine->name, device);
    if (code == 0)
        code = engine->api->cuDriverGetVersion(&engine->driver_version);
    for (size_t i = 0; code == 0 && i < sizeof questions / sizeof questions[0]; i++)
        code =
            engine->api->cuDeviceGetAttribute(questions[i].value, questions[i].attribute, device);
    if (code != 0)
        return rs_cuda_fail(code, "asking for the device's limits");
    engine->architecture = 10 * major + minor;
    engine->multiprocessors = (size_t)multiprocessors;
    engine->shared_bytes = (size_t)shared;
    engine->shared_bytes_a_block = (size_t)shared_a_block;
    if (engine->architecture < LEAST_ARCHITECTURE || !cooperative)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "%s has compute capability %d.%d; the CUDA engine needs 8.0 or newer: use "
                       "the OpenCL engine there.",
                       engine->name, major, minor);
    return RESTRIDE_OK;
}

restride_status restride_engine_create_cuda(restride_engine **engine, void *cu_stream)
{
    if (engine == NULL || (uintptr_t)cu_stream == STREAM_PER_THREAD)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_engine_create_cuda needs a place for the engine and a stream that "
                       "is the same for all threads.");
    *engine = NULL;
    const rs_cuda_driver *api = rs_cuda_driver_api();
    if (api == NULL)
        return RESTRIDE_UNSUPPORTED;
    rs_cuda_context context = NULL;
    rs_cuda_result code = api->cuCtxGetCurrent(&context);
    if (code != 0)
        return rs_cuda_fail(code, "asking for the current context");
    if (context == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "No CUDA context is current in this thread; make one current (cuCtxCreate, "
                       "or any call of the CUDA runtime) before the engine.");
    rs_cuda_engine *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("an engine");
    created->base.operations = &operations;
    created->api = api;
    created->context = context;
    memcpy(&created->stream, &cu_stream, sizeof created->stream);
    restride_status status = read_device(created);
    if (status != RESTRIDE_OK) {
        free(created);
        return status;
    }
    *engine = &created->base;
    return RESTRIDE_OK;
}
