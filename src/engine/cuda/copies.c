/* Copies from one buffer to another: the kernels of all devices on the caller's stream. */
#include "engine/cuda/cuda.h"

static restride_status create(restride_engine *engine, const rs_copy_task *task, rs_stage **stage)
{
    *stage = NULL;
    restride_status status = engine->operations->enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    status = rs_device_copies_create(engine, task, stage);
    engine->operations->leave(engine);
    return status;
}

static restride_status run(const rs_stage *stage, const void *from, void *to,
                           rs_under_way *under_way)
{
    restride_engine *engine = stage->engine;
    restride_status status = engine->operations->enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    rs_device_sequence sequence = {.engine = (rs_device_engine *)engine};
    rs_device_copies_enqueue(stage, &sequence, (rs_device_memory)(uintptr_t)from, to);
    engine->operations->leave(engine);
    under_way->has_begun =
        under_way->has_begun || sequence.has_launched || rs_cuda_is_of_earlier_work(sequence.code);
    return sequence.code == 0 ? RESTRIDE_OK : rs_cuda_fail(sequence.code, "launching a kernel");
}

static void destroy(rs_stage *stage)
{
    restride_engine *engine = stage->engine;
    /* Without a context that can be entered its memory is gone already. */
    bool entered = engine->operations->enter(engine) == RESTRIDE_OK;
    const rs_cuda_engine *own = (const rs_cuda_engine *)engine;
    if (entered)
        own->api->cuStreamSynchronize(own->stream); /* a run may use its tables */
    rs_device_copies_destroy(stage);
    if (entered)
        engine->operations->leave(engine);
}

const rs_copy_operations rs_cuda_copies = {.create = create,
                                           .run = run,
                                           .scratch_bytes = rs_device_copies_bytes,
                                           .describe = rs_device_copies_describe,
                                           .destroy = destroy,
                                           .are_addresses = true};
