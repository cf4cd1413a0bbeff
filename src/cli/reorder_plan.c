/* Plans on the host and on devices under one roof; see reorder.h. */
#include "cli/reorder.h"
#include "console/engines.h"
#include "console/progress.h"
#include "engine/device/device.h"

#include <stdint.h>
#include <stdlib.h>

static const char doing[] = "reordering";

/* ---- memory of a device ---- */

/* All of these run between the engine's enter() and leave(). */
static rs_device_engine *device_of(const rs_reorder_place *place)
{
    return (rs_device_engine *)place->engine;
}

static restride_status upload(const rs_reorder_place *place, const void *content, size_t bytes,
                              rs_device_memory *memory)
{
    rs_device_engine *device = device_of(place);
    restride_status status = device->device->allocate(device, bytes, memory);
    if (status != RESTRIDE_OK || content == NULL)
        return status;
    status = device->device->write(device, *memory, content, bytes, doing);
    if (status != RESTRIDE_OK) {
        device->device->release(device, *memory);
        *memory = NULL;
    }
    return status;
}

static void release(const rs_reorder_place *place, rs_device_memory memory)
{
    if (memory != NULL)
        device_of(place)->device->release(device_of(place), memory);
}

static restride_status upload_index(rs_reorder_place *place)
{
    restride_status status = place->engine->operations->enter(place->engine);
    if (status != RESTRIDE_OK)
        return status;
    status = upload(place, place->reference.index,
                    place->launch.threads * place->reference.index_bytes, &place->index);
    place->engine->operations->leave(place->engine);
    return status;
}

/* ---- places ---- */

restride_status rs_reorder_open(rs_reorder_place *place, const char *engine, const char *device,
                                const restride_launch *launch, const restride_reference *reference)
{
    *place = (rs_reorder_place){NULL, *launch, *reference, NULL};
    if (!rs_cli_is_device_engine(engine))
        return RESTRIDE_OK;
    restride_status status = rs_cli_open_engine(&place->engine, engine, device, 0);
    if (status != RESTRIDE_OK)
        return status;
    status = upload_index(place);
    if (status != RESTRIDE_OK)
        rs_reorder_close(place);
    return status;
}

void rs_reorder_close(rs_reorder_place *place)
{
    if (place->engine == NULL)
        return;
    if (place->engine->operations->enter(place->engine) == RESTRIDE_OK) {
        release(place, place->index);
        place->engine->operations->leave(place->engine);
    }
    restride_engine_destroy(place->engine);
    *place = (rs_reorder_place){0};
}

/* ---- plans ---- */

static restride_status make_on_host(rs_reorder_plan *plan, const restride_irregular_options *how)
{
    const rs_reorder_place *place = plan->place;
    restride_status status =
        restride_irregular_plan(&plan->on_host, &place->launch, &place->reference, 1, how);
    if (status != RESTRIDE_OK)
        return status;
    plan->method = restride_irregular_plan_method(plan->on_host);
    plan->moves_threads = restride_irregular_moves_threads(plan->on_host) != 0;
    plan->slots = restride_irregular_slots(plan->on_host, 0);
    plan->facts = restride_irregular_plan_facts(plan->on_host, 0);
    return RESTRIDE_OK;
}

static restride_status make_on_device(rs_reorder_plan *plan, const restride_irregular_options *how)
{
    const rs_reorder_place *place = plan->place;
    restride_reference reference = place->reference;
    reference.index = place->index;
    restride_status status = restride_irregular_device_plan(&plan->on_device, place->engine,
                                                            &place->launch, &reference, how);
    if (status != RESTRIDE_OK)
        return status;
    plan->method = restride_irregular_device_method(plan->on_device);
    plan->moves_threads = restride_irregular_device_order(plan->on_device) != NULL;
    plan->slots = restride_irregular_device_slots(plan->on_device);
    plan->facts = restride_irregular_device_facts(plan->on_device);
    return RESTRIDE_OK;
}

restride_status rs_reorder_make(rs_reorder_plan *plan, const rs_reorder_place *place,
                                const restride_irregular_options *how)
{
    *plan = (rs_reorder_plan){.place = place};
    double start = rs_seconds_now();
    restride_status status =
        place->engine == NULL ? make_on_host(plan, how) : make_on_device(plan, how);
    plan->seconds = rs_seconds_now() - start;
    return status;
}

void rs_reorder_free(rs_reorder_plan *plan)
{
    restride_irregular_destroy(plan->on_host);
    restride_irregular_device_destroy(plan->on_device);
    *plan = (rs_reorder_plan){0};
}

/* ---- their arrays ---- */

static restride_status read_device(const rs_reorder_plan *plan, rs_device_memory memory, void *to,
                                   size_t bytes)
{
    const rs_reorder_place *place = plan->place;
    restride_status status = place->engine->operations->enter(place->engine);
    if (status != RESTRIDE_OK)
        return status;
    status = device_of(place)->device->read(device_of(place), to, memory, bytes, doing);
    place->engine->operations->leave(place->engine);
    return status;
}

/* The device's integers have 4 bytes, those wanted 4 or 8. */
static restride_status read_numbers(const rs_reorder_plan *plan, rs_device_memory memory,
                                    void *numbers, size_t bytes)
{
    size_t count = plan->place->launch.threads;
    if (bytes == sizeof(uint32_t))
        return read_device(plan, memory, numbers, count * bytes);
    uint32_t *narrow = malloc(count * sizeof *narrow);
    if (narrow == NULL)
        return rs_fail_memory("a device's numbers");
    restride_status status = read_device(plan, memory, narrow, count * sizeof *narrow);
    for (size_t t = 0; status == RESTRIDE_OK && t < count; t++)
        ((uint64_t *)numbers)[t] = narrow[t];
    free(narrow);
    return status;
}

restride_status rs_reorder_index(const rs_reorder_plan *plan, void *index)
{
    if (plan->on_host != NULL)
        return restride_irregular_index(plan->on_host, 0, index);
    return read_numbers(plan, restride_irregular_device_index(plan->on_device), index,
                        plan->place->reference.index_bytes);
}

restride_status rs_reorder_order(const rs_reorder_plan *plan, size_t order[])
{
    if (plan->on_host != NULL) {
        restride_irregular_order(plan->on_host, order);
        return RESTRIDE_OK;
    }
    if (plan->moves_threads)
        return read_numbers(plan, restride_irregular_device_order(plan->on_device), order,
                            sizeof *order);
    for (size_t t = 0; t < plan->place->launch.threads; t++)
        order[t] = t;
    return RESTRIDE_OK;
}

/* Between enter() and leave(). */
static restride_status gather_on_device(const rs_reorder_plan *plan, const void *array, void *slots)
{
    const rs_reorder_place *place = plan->place;
    size_t bytes = place->reference.object_bytes;
    rs_device_memory from = NULL;
    rs_device_memory to = NULL;
    restride_status status = upload(place, array, place->reference.objects * bytes, &from);
    if (status == RESTRIDE_OK)
        status = upload(place, NULL, plan->slots * bytes, &to);
    if (status == RESTRIDE_OK)
        status = restride_irregular_device_gather(plan->on_device, from, to);
    if (status == RESTRIDE_OK)
        status =
            device_of(place)->device->read(device_of(place), slots, to, plan->slots * bytes, doing);
    release(place, to);
    release(place, from);
    return status;
}

restride_status rs_reorder_gather(const rs_reorder_plan *plan, const void *array, void *slots)
{
    if (plan->on_host != NULL) {
        restride_irregular_gather(plan->on_host, 0, array, slots);
        return RESTRIDE_OK;
    }
    restride_engine *engine = plan->place->engine;
    restride_status status = engine->operations->enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    status = gather_on_device(plan, array, slots);
    engine->operations->leave(engine);
    return status;
}
