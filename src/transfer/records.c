/*
 * Transform on transfer: an array changes between AoS and ASTA while it travels (the transformer in
 * the transfer path of Tseng 2014, in software). A chunk of whole tiles lies at the same place in
 * both layouts, so each is converted by itself:
 *
 *     up      host    [pinned]    staging on the device, converted there    its place in the buffer
 *     down    its place in the buffer    staging, converted there    [pinned]    host
 *
 * Four chunks are in the ring: while one is converted the others travel. Conversion on the device
 * takes a few percent of the time on the bus, so the transfer is as fast as a plain copy.
 */
#include "base/arithmetic.h"
#include "engine/host/team.h"
#include "engine/transfer.h"
#include "layout/layout.h"
#include "restride/plan.h"
#include "restride/transfer.h"
#include "transpose/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 4,
    LEAST_CHUNK_BYTES = 4 << 20,
    MOST_CHUNK_BYTES = 128 << 20,
    COPY_THREADS = 8,
    LEAST_COPY_BYTES = 2 << 20 /* for several threads */
};

typedef struct {
    void *staging;    /* on the device */
    rs_pinned pinned; /* none when the host array is */
    rs_ticket ticket;
} slot;

typedef enum { UP, DOWN, DIRECTIONS } direction;

struct restride_transfer {
    rs_transfer *lanes;
    bool pinned;
    size_t bytes;
    size_t chunk_bytes;
    size_t chunk_count;
    restride_plan *whole[DIRECTIONS]; /* of a chunk */
    restride_plan *rest[DIRECTIONS];  /* of the last one; NULL: it is whole */
    slot slots[SLOTS];
};

/* ---- layouts ---- */

/* An AoS or ASTA array, without its number of records. */
typedef struct {
    rs_layout_form form;
    size_t tile;
    const rs_record *record; /* NULL: */
    size_t members;
    size_t count;
    size_t bytes; /* of a record */
} array_form;

static restride_status read_form(array_form *a, const restride_layout *layout, size_t elem_size)
{
    *a = (array_form){0};
    a->form = rs_layout_classify(layout, &a->tile);
    if (a->form != RS_FORM_AOS && a->form != RS_FORM_ASTA)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "\"%s\" is neither AoS nor ASTA, so its chunks are not contiguous; copy the "
                       "array as it is and convert it on the device.",
                       layout->expression_text);
    int field = layout->record >= 0 ? layout->record : 1;
    a->count = layout->dimensions[1 - field].extent;
    a->members = layout->dimensions[field].extent;
    if (!rs_size_multiply(a->members, elem_size, &a->bytes))
        return rs_fail(RESTRIDE_OVERFLOW, "%zu elements of %zu bytes are more than memory.",
                       a->members, elem_size);
    if (layout->record >= 0) {
        a->record = &layout->dimensions[field].record;
        a->bytes = a->record->size;
    }
    if (a->form == RS_FORM_AOS)
        a->tile = 1;
    return RESTRIDE_OK;
}

static bool same_array(const array_form *a, const array_form *b)
{
    if ((a->record == NULL) != (b->record == NULL) || a->count != b->count ||
        a->members != b->members)
        return false;
    return a->record == NULL || rs_record_equal(a->record, b->record);
}

/* The layout of `count` such records. */
static restride_status layout_of(restride_layout **layout, const array_form *a, size_t count)
{
    char expression[64] = "i f";
    char dims[64];
    if (a->form == RS_FORM_ASTA)
        snprintf(expression, sizeof expression, "i/%zu f i%%%zu", a->tile, a->tile);
    if (a->record != NULL)
        return rs_layout_of_record(layout, a->record, count, expression);
    snprintf(dims, sizeof dims, "i:%zu f:%zu", count, a->members);
    return restride_layout_parse(layout, dims, expression);
}

static restride_status plan_chunk(restride_plan **plan, restride_engine *engine,
                                  const array_form *from, const array_form *to, size_t count,
                                  size_t elem_size)
{
    restride_layout *source = NULL;
    restride_layout *target = NULL;
    restride_status status = layout_of(&source, from, count);
    if (status == RESTRIDE_OK)
        status = layout_of(&target, to, count);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert_with(plan, engine, source, target, elem_size, NULL);
    restride_layout_destroy(source);
    restride_layout_destroy(target);
    return status;
}

/* ---- making one ---- */

/* Large enough that a chunk's fixed cost is small, and small enough that the last one is soon done.
 */
static size_t default_chunk(const rs_transfer *lanes, size_t bytes)
{
    size_t chunk = bytes / lanes->chunks;
    chunk = chunk > LEAST_CHUNK_BYTES ? chunk : LEAST_CHUNK_BYTES;
    return chunk < MOST_CHUNK_BYTES ? chunk : MOST_CHUNK_BYTES;
}

/* Records of a chunk: whole tiles of both layouts, about as many bytes as wanted. */
static restride_status choose_chunk(restride_transfer *t, const array_form *from,
                                    const array_form *to, size_t wanted, size_t *records)
{
    size_t step = from->tile / rs_size_gcd(from->tile, to->tile);
    size_t step_bytes;
    if (!rs_size_multiply(step, to->tile, &step) ||
        !rs_size_multiply(step, from->bytes, &step_bytes))
        return rs_fail(RESTRIDE_OVERFLOW, "Tiles of %zu and %zu records have no chunk in common.",
                       from->tile, to->tile);
    size_t steps = wanted / step_bytes > 0 ? wanted / step_bytes : 1;
    *records = steps * step < from->count ? steps * step : from->count;
    t->chunk_bytes = *records * from->bytes;
    t->chunk_count = from->count / *records + (from->count % *records != 0);
    return RESTRIDE_OK;
}

static restride_status allocate_slots(restride_transfer *t)
{
    const rs_transfer_operations *operations = t->lanes->operations;
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < SLOTS && i < t->chunk_count && status == RESTRIDE_OK; i++) {
        status = operations->allocate(t->lanes, t->chunk_bytes, &t->slots[i].staging);
        if (status == RESTRIDE_OK && !t->pinned)
            status = operations->pin(t->lanes, t->chunk_bytes, &t->slots[i].pinned);
    }
    return status;
}

static restride_status prepare(restride_transfer *t, restride_engine *engine,
                               const array_form *host, const array_form *device, size_t elem_size,
                               size_t wanted)
{
    size_t records = 1;
    restride_status status = rs_transfer_open(engine, &t->lanes);
    if (status == RESTRIDE_OK && wanted == 0)
        wanted = default_chunk(t->lanes, t->bytes);
    if (status == RESTRIDE_OK)
        status = choose_chunk(t, host, device, wanted, &records);
    if (status == RESTRIDE_OK)
        status = allocate_slots(t);
    const array_form *const ends[] = {host, device};
    for (int d = UP; d < DIRECTIONS && status == RESTRIDE_OK; d++) {
        size_t rest = host->count % records;
        status = plan_chunk(&t->whole[d], engine, ends[d], ends[1 - d], records, elem_size);
        if (status == RESTRIDE_OK && rest != 0)
            status = plan_chunk(&t->rest[d], engine, ends[d], ends[1 - d], rest, elem_size);
    }
    return status;
}

restride_status restride_transfer_create(restride_transfer **transfer, restride_engine *engine,
                                         const restride_layout *host, const restride_layout *device,
                                         size_t elem_size, const restride_transfer_options *options)
{
    static const restride_transfer_options none = {0};
    options = options != NULL ? options : &none;
    if (transfer != NULL)
        *transfer = NULL;
    if (transfer == NULL || engine == NULL || host == NULL || device == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_transfer_create needs an engine, two layouts and a place for the "
                       "result.");
    array_form from;
    array_form to;
    restride_status status = rs_layout_check_element(host, &elem_size);
    if (status == RESTRIDE_OK)
        status = read_form(&from, host, elem_size);
    if (status == RESTRIDE_OK)
        status = read_form(&to, device, elem_size);
    if (status != RESTRIDE_OK)
        return status;
    size_t bytes;
    if (!same_array(&from, &to))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The layouts of host and device are not those of the same array.");
    if (!rs_size_multiply(from.count, from.bytes, &bytes))
        return rs_fail(RESTRIDE_OVERFLOW, "%zu records of %zu bytes are more than memory.",
                       from.count, from.bytes);
    if (bytes == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "%zu records of %zu bytes hold nothing; an array has at least one byte.",
                       from.count, from.bytes);
    restride_transfer *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("a transfer");
    created->bytes = bytes;
    created->pinned = options->pinned != 0;
    status = prepare(created, engine, &from, &to, elem_size, options->chunk_bytes);
    if (status != RESTRIDE_OK) {
        restride_transfer_destroy(created);
        return status;
    }
    *transfer = created;
    return RESTRIDE_OK;
}

void restride_transfer_destroy(restride_transfer *transfer)
{
    if (transfer == NULL)
        return;
    for (int i = 0; transfer->lanes != NULL && i < SLOTS; i++) {
        transfer->lanes->operations->unpin(transfer->lanes, &transfer->slots[i].pinned);
        transfer->lanes->operations->release(transfer->lanes, transfer->slots[i].staging);
    }
    if (transfer->lanes != NULL)
        transfer->lanes->operations->close(transfer->lanes);
    for (int d = UP; d < DIRECTIONS; d++) {
        restride_plan_destroy(transfer->whole[d]);
        restride_plan_destroy(transfer->rest[d]);
    }
    free(transfer);
}

size_t restride_transfer_bytes(const restride_transfer *transfer)
{
    return transfer == NULL ? 0 : transfer->bytes;
}

size_t restride_transfer_staging_bytes(const restride_transfer *transfer)
{
    if (transfer == NULL)
        return 0;
    size_t count = transfer->chunk_count < SLOTS ? transfer->chunk_count : SLOTS;
    return count * transfer->chunk_bytes;
}

/* ---- copies on the host ---- */

/* One thread cannot keep up with a bus. */
static void copy_on_host(void *to, const void *from, size_t bytes)
{
    rs_host_team_copy(bytes < LEAST_COPY_BYTES ? 1 : COPY_THREADS, to, from, bytes);
}

/* ---- running ---- */

/* One way of an array. */
typedef struct {
    restride_transfer *transfer;
    direction direction;
    unsigned char *array;
    void *buffer;
    bool *has_begun; /* something that writes to the array or the buffer, where it goes */
} journey;

static size_t bytes_of(const journey *j, size_t chunk)
{
    const restride_transfer *t = j->transfer;
    size_t begin = chunk * t->chunk_bytes;
    return t->bytes - begin < t->chunk_bytes ? t->bytes - begin : t->chunk_bytes;
}

static slot *slot_of(const journey *j, size_t chunk)
{
    return &j->transfer->slots[chunk % SLOTS];
}

/* The chunk in staging memory, converted. The engine's queue runs it behind what is there. */
static restride_status convert(const journey *j, size_t chunk)
{
    const restride_transfer *t = j->transfer;
    restride_plan *rest = t->rest[j->direction];
    bool last = rest != NULL && chunk + 1 == t->chunk_count;
    bool staging_has_begun;
    return rs_plan_run(last ? rest : t->whole[j->direction], slot_of(j, chunk)->staging, NULL,
                       &staging_has_begun);
}

/* Between the slot's staging memory and the host, pinned or the array itself. */
static rs_transfer_block block_of(const journey *j, size_t chunk)
{
    const restride_transfer *t = j->transfer;
    const slot *s = slot_of(j, chunk);
    return (rs_transfer_block){
        .host = t->pinned ? j->array + chunk * t->chunk_bytes : s->pinned.pointer,
        .device = s->staging,
        .row_bytes = bytes_of(j, chunk),
        .rows = 1,
        .has_begun = t->pinned && j->direction == DOWN ? j->has_begun : NULL};
}

static restride_status wait_for(const journey *j, size_t chunk)
{
    slot *s = slot_of(j, chunk);
    rs_ticket ticket = s->ticket;
    s->ticket = NULL;
    return j->transfer->lanes->operations->wait(j->transfer->lanes, ticket);
}

static restride_status send(const journey *j, size_t chunk)
{
    const restride_transfer *t = j->transfer;
    slot *s = slot_of(j, chunk);
    if (!t->pinned)
        copy_on_host(s->pinned.pointer, j->array + chunk * t->chunk_bytes, bytes_of(j, chunk));
    const rs_transfer_block block = block_of(j, chunk);
    return t->lanes->operations->upload(t->lanes, &block, &s->ticket);
}

/* What has arrived is converted and put in its place; the slot is free then. */
static restride_status take_in(const journey *j, size_t chunk)
{
    const restride_transfer *t = j->transfer;
    const rs_transfer_operations *operations = t->lanes->operations;
    restride_status status = wait_for(j, chunk);
    if (status == RESTRIDE_OK)
        status = convert(j, chunk);
    if (status == RESTRIDE_OK)
        status = operations->copy(t->lanes, j->buffer, chunk * t->chunk_bytes,
                                  slot_of(j, chunk)->staging, 0, bytes_of(j, chunk), j->has_begun);
    return status == RESTRIDE_OK ? operations->finish(t->lanes) : status;
}

static restride_status bring_up(const journey *j)
{
    size_t count = j->transfer->chunk_count;
    restride_status status = RESTRIDE_OK;
    for (size_t chunk = 0; chunk < count && chunk < SLOTS && status == RESTRIDE_OK; chunk++)
        status = send(j, chunk);
    for (size_t chunk = 0; chunk < count && status == RESTRIDE_OK; chunk++) {
        status = take_in(j, chunk);
        if (status == RESTRIDE_OK && chunk + SLOTS < count)
            status = send(j, chunk + SLOTS);
    }
    return status;
}

/* Out of the buffer, converted, and on its way. */
static restride_status put_out(const journey *j, size_t chunk)
{
    const restride_transfer *t = j->transfer;
    const rs_transfer_operations *operations = t->lanes->operations;
    slot *s = slot_of(j, chunk);
    restride_status status = operations->copy(t->lanes, s->staging, 0, j->buffer,
                                              chunk * t->chunk_bytes, bytes_of(j, chunk), NULL);
    if (status == RESTRIDE_OK)
        status = convert(j, chunk);
    if (status == RESTRIDE_OK)
        status = operations->finish(t->lanes);
    const rs_transfer_block block = block_of(j, chunk);
    return status == RESTRIDE_OK ? operations->download(t->lanes, &block, &s->ticket) : status;
}

static restride_status receive(const journey *j, size_t chunk)
{
    const restride_transfer *t = j->transfer;
    restride_status status = wait_for(j, chunk);
    if (status == RESTRIDE_OK && !t->pinned) {
        *j->has_begun = true;
        copy_on_host(j->array + chunk * t->chunk_bytes, slot_of(j, chunk)->pinned.pointer,
                     bytes_of(j, chunk));
    }
    return status;
}

static restride_status bring_down(const journey *j)
{
    size_t count = j->transfer->chunk_count;
    restride_status status = RESTRIDE_OK;
    for (size_t step = 0; step < count + SLOTS && status == RESTRIDE_OK; step++) {
        if (step >= SLOTS)
            status = step - SLOTS < count ? receive(j, step - SLOTS) : RESTRIDE_OK;
        if (status == RESTRIDE_OK && step < count)
            status = put_out(j, step);
    }
    return status;
}

/* After an error nothing may be under way in memory that the caller is about to free. */
static void abandon(const journey *j)
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", restride_last_error());
    j->transfer->lanes->operations->finish(j->transfer->lanes);
    for (size_t i = 0; i < SLOTS; i++)
        wait_for(j, i);
    rs_fail(RESTRIDE_DEVICE_ERROR, "%s", sentence);
}

static restride_status travel(const journey *j)
{
    if (j->transfer == NULL || j->array == NULL || j->buffer == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A transfer needs its object, an array in host memory and a buffer of the "
                       "device.");
    restride_engine *engine = j->transfer->lanes->engine;
    restride_status status =
        engine->operations->check_buffer(engine, j->buffer, j->transfer->bytes, RS_BUFFER_COPIED);
    if (status == RESTRIDE_OK) {
        status = j->direction == UP ? bring_up(j) : bring_down(j);
        if (status != RESTRIDE_OK)
            abandon(j);
    }
    if (status == RESTRIDE_OK)
        return RESTRIDE_OK;
    return rs_fail_leaving(status, j->direction == UP ? "buffer" : "array", *j->has_begun);
}

restride_status restride_transfer_upload(restride_transfer *transfer, void *buffer,
                                         const void *array)
{
    /* Nothing writes to the array on the way up; a block has one pointer for both ways. */
    unsigned char *read_only;
    memcpy(&read_only, &array, sizeof read_only);
    bool has_begun = false;
    return travel(&(journey){transfer, UP, read_only, buffer, &has_begun});
}

restride_status restride_transfer_download(restride_transfer *transfer, void *array, void *buffer)
{
    bool has_begun = false;
    return travel(&(journey){transfer, DOWN, array, buffer, &has_begun});
}
