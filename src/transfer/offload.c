/*
 * A matrix in host memory, transposed through a device (Sung 2014, section 6). With R x C elements
 * and panels of w columns:
 *
 *     none    R.C to the device    C.R there    back
 *     back    R.C to the device    100!: C'.R.w    for each panel: w.R, and back
 *     both    for each panel: R.w to the device    w.R    back
 *
 * In the last one the bus works both ways at once. The result of panel k goes where rows of the
 * matrix lie that other panels want; so before it those rows are read into all panels that are
 * still to come. What has been read when panel k is sent back is an L of its columns and of the
 * rows below its result. With x of the result back, 2x - x^2 of the matrix have been read: reading
 * is ahead until the half, then sending goes on alone, and both ways take 1.25 times as long as one
 * way, not twice.
 *
 * The lanes of the transfer are the paper's command queues. Parts are transposed one after the
 * other on the engine's own queue, since one of them fills the device.
 */
#include "base/arithmetic.h"
#include "engine/transfer.h"
#include "restride/plan.h"
#include "restride/transfer.h"
#include "restride/transpose.h"
#include "transfer/panels.h"
#include "transpose/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct restride_offload {
    rs_transfer *transfer;
    size_t bytes;
    restride_overlap overlap;
    rs_panels panels;
    restride_plan *first; /* the whole matrix, or its first stage; NULL: none */
    restride_plan *panel;
    restride_plan *last_panel; /* where it is narrower than the others */
    void *whole;               /* the matrix on the device, or NULL: */
    void **parts;              /* each panel for itself, or as a part of `whole` */
    rs_ticket *arrived;        /* a panel */
    rs_ticket *cleared;        /* the place of its result: all there has been read */
    rs_ticket *returned;       /* its result */
};

/* ---- making one ---- */

static restride_status plan_panels(restride_offload *o, restride_engine *engine)
{
    const rs_panels *p = &o->panels;
    size_t last = rs_panels_end(p, p->count - 1) - rs_panels_begin(p, p->count - 1);
    restride_status status =
        restride_plan_transpose(&o->panel, engine, p->rows, p->width, p->unit, 1);
    if (status == RESTRIDE_OK && last != p->width)
        status = restride_plan_transpose(&o->last_panel, engine, p->rows, last, p->unit, 1);
    return status;
}

static restride_status allocate_tables(restride_offload *o)
{
    size_t count = o->panels.count;
    o->parts = calloc(count, sizeof *o->parts);
    o->arrived = calloc(count, sizeof *o->arrived);
    o->cleared = calloc(count, sizeof *o->cleared);
    o->returned = calloc(count, sizeof *o->returned);
    if (o->parts == NULL || o->arrived == NULL || o->cleared == NULL || o->returned == NULL)
        return rs_fail_memory("the parts of a matrix");
    return RESTRIDE_OK;
}

static size_t panel_bytes(const rs_panels *p, size_t k)
{
    return (rs_panels_end(p, k) - rs_panels_begin(p, k)) * p->rows * p->unit;
}

/* Whatever the overlap, the matrix has its place before there is a plan: walking the cycles of one
 * that is larger than the device's memory takes minutes. */
static restride_status allocate_whole(restride_offload *o)
{
    return o->transfer->operations->allocate(o->transfer, o->bytes, &o->whole);
}

static restride_status prepare_none(restride_offload *o, restride_engine *engine)
{
    o->panels.width = o->panels.cols;
    o->panels.count = 1;
    restride_status status = allocate_whole(o);
    if (status == RESTRIDE_OK)
        status = restride_plan_transpose(&o->first, engine, o->panels.rows, o->panels.cols,
                                         o->panels.unit, 1);
    return status;
}

static restride_status prepare_back(restride_offload *o, restride_engine *engine, size_t wanted)
{
    rs_panels *p = &o->panels;
    if (!rs_panels_cut_evenly(p, p->rows, p->cols, p->unit, wanted, o->transfer->alignment))
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "%zu columns have no factor that cuts the matrix into equal parts at "
                       "multiples of %zu bytes; use another overlap.",
                       p->cols, o->transfer->alignment);
    restride_status status = allocate_tables(o);
    if (status == RESTRIDE_OK)
        status = allocate_whole(o);
    size_t each = panel_bytes(p, 0);
    for (size_t k = 0; k < p->count && status == RESTRIDE_OK; k++)
        status = o->transfer->operations->part(o->transfer, o->whole, k * each, each, &o->parts[k]);
    if (status == RESTRIDE_OK)
        status =
            restride_plan_transpose(&o->first, engine, p->rows, p->count, p->width * p->unit, 1);
    return status == RESTRIDE_OK ? plan_panels(o, engine) : status;
}

static restride_status prepare_both(restride_offload *o, restride_engine *engine, size_t wanted)
{
    rs_panels *p = &o->panels;
    *p = rs_panels_cut(p->rows, p->cols, p->unit, wanted);
    restride_status status = allocate_tables(o);
    for (size_t k = 0; k < p->count && status == RESTRIDE_OK; k++)
        status = o->transfer->operations->allocate(o->transfer, panel_bytes(p, k), &o->parts[k]);
    return status == RESTRIDE_OK ? plan_panels(o, engine) : status;
}

static restride_status prepare(restride_offload *o, restride_engine *engine,
                               const restride_offload_options *options)
{
    restride_status status = rs_transfer_open(engine, &o->transfer);
    if (status != RESTRIDE_OK)
        return status;
    if (o->bytes > o->transfer->memory_bytes)
        return rs_fail(RESTRIDE_OUT_OF_MEMORY,
                       "The device has %zu bytes of memory, but the matrix takes %zu.",
                       o->transfer->memory_bytes, o->bytes);
    switch (o->overlap) {
    case RESTRIDE_OVERLAP_NONE:
        return prepare_none(o, engine);
    case RESTRIDE_OVERLAP_BACK:
        return prepare_back(o, engine, options->parts);
    default:
        return prepare_both(o, engine, options->parts);
    }
}

static restride_status create(restride_offload **offload, restride_engine *engine,
                              const restride_offload *model,
                              const restride_offload_options *options)
{
    restride_offload *created = malloc(sizeof *created);
    if (created == NULL)
        return rs_fail_memory("a transposition through a device");
    *created = *model;
    restride_status status = prepare(created, engine, options);
    if (status != RESTRIDE_OK) {
        restride_offload_destroy(created);
        return status;
    }
    *offload = created;
    return RESTRIDE_OK;
}

restride_status restride_offload_transpose(restride_offload **offload, restride_engine *engine,
                                           size_t rows, size_t cols, size_t elem_size,
                                           const restride_offload_options *options)
{
    static const restride_offload_options none = {0};
    options = options != NULL ? options : &none;
    if (offload != NULL)
        *offload = NULL;
    if (offload == NULL || engine == NULL || rows == 0 || cols == 0 || elem_size == 0 ||
        options->overlap > RESTRIDE_OVERLAP_BOTH)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_offload_transpose needs an engine, a matrix with elements, an "
                       "overlap that exists and a place for the result.");
    restride_offload model = {.overlap = options->overlap,
                              .panels = {.rows = rows, .cols = cols, .unit = elem_size}};
    size_t elements;
    if (!rs_size_multiply(rows, cols, &elements) ||
        !rs_size_multiply(elements, elem_size, &model.bytes))
        return rs_fail(RESTRIDE_OVERFLOW, "%zu x %zu elements of %zu bytes are more than memory.",
                       rows, cols, elem_size);
    if (options->overlap != RESTRIDE_OVERLAP_CHOOSE)
        return create(offload, engine, &model, options);
    /* Panels may be too narrow for the bus, or have no plan. */
    model.overlap = RESTRIDE_OVERLAP_BOTH;
    restride_status status = create(offload, engine, &model, options);
    if (status == RESTRIDE_OK && (*offload)->panels.count > 1)
        return RESTRIDE_OK;
    restride_offload_destroy(*offload);
    *offload = NULL;
    if (status != RESTRIDE_OK && status != RESTRIDE_UNSUPPORTED && status != RESTRIDE_DEVICE_LIMIT)
        return status;
    model.overlap = RESTRIDE_OVERLAP_NONE;
    return create(offload, engine, &model, options);
}

void restride_offload_destroy(restride_offload *offload)
{
    if (offload == NULL)
        return;
    rs_transfer *transfer = offload->transfer;
    for (size_t k = 0; offload->parts != NULL && k < offload->panels.count; k++)
        if (offload->parts[k] != NULL && offload->whole != NULL)
            transfer->operations->release_part(transfer, offload->parts[k]);
        else if (offload->parts[k] != NULL)
            transfer->operations->release(transfer, offload->parts[k]);
    if (transfer != NULL) {
        transfer->operations->release(transfer, offload->whole);
        transfer->operations->close(transfer);
    }
    restride_plan_destroy(offload->first);
    restride_plan_destroy(offload->panel);
    restride_plan_destroy(offload->last_panel);
    free(offload->parts);
    free(offload->arrived);
    free(offload->cleared);
    free(offload->returned);
    free(offload);
}

size_t restride_offload_parts(const restride_offload *offload)
{
    return offload == NULL ? 0 : offload->panels.count;
}

restride_overlap restride_offload_overlap(const restride_offload *offload)
{
    return offload == NULL ? RESTRIDE_OVERLAP_NONE : offload->overlap;
}

/* ---- running ---- */

static restride_status wait_for(const restride_offload *o, rs_ticket *ticket)
{
    rs_ticket taken = *ticket;
    *ticket = NULL;
    return o->transfer->operations->wait(o->transfer, taken);
}

/* Transposes on the device, and waits. */
static restride_status execute(const restride_offload *o, restride_plan *plan, void *buffer)
{
    bool part_has_begun;
    restride_status status = rs_plan_run(plan, buffer, NULL, &part_has_begun);
    return status == RESTRIDE_OK ? o->transfer->operations->finish(o->transfer) : status;
}

static restride_status execute_panel(const restride_offload *o, size_t k)
{
    bool narrower = o->last_panel != NULL && k + 1 == o->panels.count;
    return execute(o, narrower ? o->last_panel : o->panel, o->parts[k]);
}

/* Up, or, with `has_begun`, down. */
static restride_status move_whole(const restride_offload *o, void *matrix, bool *has_begun)
{
    const rs_transfer_block block = {.host = matrix,
                                     .device = o->whole,
                                     .row_bytes = o->bytes,
                                     .rows = 1,
                                     .has_begun = has_begun};
    rs_ticket ticket = NULL;
    restride_status status = has_begun == NULL
                                 ? o->transfer->operations->upload(o->transfer, &block, &ticket)
                                 : o->transfer->operations->download(o->transfer, &block, &ticket);
    return status == RESTRIDE_OK ? o->transfer->operations->wait(o->transfer, ticket) : status;
}

/* Rows `begin` to `end` of panel k. */
static restride_status upload_rows(const restride_offload *o, unsigned char *matrix, size_t k,
                                   size_t begin, size_t end, rs_ticket *ticket)
{
    const rs_panels *p = &o->panels;
    size_t width = (rs_panels_end(p, k) - rs_panels_begin(p, k)) * p->unit;
    const rs_transfer_block block = {.host = matrix +
                                             (begin * p->cols + rs_panels_begin(p, k)) * p->unit,
                                     .host_pitch = p->cols * p->unit,
                                     .device = o->parts[k],
                                     .device_offset = begin * width,
                                     .device_pitch = width,
                                     .row_bytes = width,
                                     .rows = end - begin};
    return begin == end ? RESTRIDE_OK
                        : o->transfer->operations->upload(o->transfer, &block, ticket);
}

/* All that is read, in the order in which it is wanted. A NULL ticket is one with the ticket before
 * it: commands of a lane run in order. */
static restride_status upload_panels(restride_offload *o, unsigned char *matrix)
{
    const rs_panels *p = &o->panels;
    restride_status status = RESTRIDE_OK;
    size_t read_rows = 0;
    for (size_t k = 0; k < p->count && status == RESTRIDE_OK; k++) {
        size_t below = rs_panels_rows_below(p, k);
        status = upload_rows(o, matrix, k, read_rows, p->rows, &o->arrived[k]);
        for (size_t j = k + 1; j < p->count && status == RESTRIDE_OK; j++)
            status = upload_rows(o, matrix, j, read_rows, below,
                                 j + 1 == p->count ? &o->cleared[k] : NULL);
        read_rows = below;
    }
    return status;
}

static restride_status download_panel(restride_offload *o, unsigned char *matrix, size_t k,
                                      bool *has_begun)
{
    const rs_panels *p = &o->panels;
    const rs_transfer_block block = {.host = matrix + rs_panels_begin(p, k) * p->rows * p->unit,
                                     .device = o->parts[k],
                                     .row_bytes = panel_bytes(p, k),
                                     .rows = 1,
                                     .has_begun = has_begun};
    return o->transfer->operations->download(o->transfer, &block, &o->returned[k]);
}

/* Transposes panel after panel and sends each back; *has_begun: one is on its way to the matrix. */
static restride_status return_panels(restride_offload *o, unsigned char *matrix, bool *has_begun)
{
    restride_status status = RESTRIDE_OK;
    for (size_t k = 0; k < o->panels.count && status == RESTRIDE_OK; k++) {
        status = wait_for(o, &o->arrived[k]);
        if (status == RESTRIDE_OK)
            status = execute_panel(o, k);
        if (status == RESTRIDE_OK)
            status = wait_for(o, &o->cleared[k]);
        if (status == RESTRIDE_OK)
            status = download_panel(o, matrix, k, has_begun);
    }
    return status;
}

/* Nothing is under way when a run returns, after an error too; the first error counts. */
static restride_status wait_for_all(restride_offload *o, restride_status status)
{
    rs_ticket *const tickets[] = {o->arrived, o->cleared, o->returned};
    for (int t = 0; t < 3; t++)
        for (size_t k = 0; k < o->panels.count; k++) {
            if (tickets[t][k] == NULL)
                continue;
            if (status == RESTRIDE_OK) {
                status = wait_for(o, &tickets[t][k]);
                continue;
            }
            char sentence[1024];
            snprintf(sentence, sizeof sentence, "%s", restride_last_error());
            wait_for(o, &tickets[t][k]);
            rs_fail(status, "%s", sentence);
        }
    return status;
}

static restride_status run_none(restride_offload *o, void *matrix, bool *has_begun)
{
    restride_status status = move_whole(o, matrix, NULL);
    if (status == RESTRIDE_OK)
        status = execute(o, o->first, o->whole);
    return status == RESTRIDE_OK ? move_whole(o, matrix, has_begun) : status;
}

static restride_status run_back(restride_offload *o, void *matrix, bool *has_begun)
{
    restride_status status = move_whole(o, matrix, NULL);
    if (status == RESTRIDE_OK)
        status = execute(o, o->first, o->whole);
    if (status == RESTRIDE_OK)
        status = return_panels(o, matrix, has_begun);
    return wait_for_all(o, status);
}

static restride_status run_both(restride_offload *o, void *matrix, bool *has_begun)
{
    restride_status status = upload_panels(o, matrix);
    if (status == RESTRIDE_OK)
        status = return_panels(o, matrix, has_begun);
    return wait_for_all(o, status);
}

restride_status restride_offload_run(restride_offload *offload, void *matrix)
{
    if (offload == NULL || matrix == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_offload_run needs an offload and a matrix.");
    bool has_begun = false;
    restride_status status =
        offload->overlap == RESTRIDE_OVERLAP_NONE   ? run_none(offload, matrix, &has_begun)
        : offload->overlap == RESTRIDE_OVERLAP_BACK ? run_back(offload, matrix, &has_begun)
                                                    : run_both(offload, matrix, &has_begun);
    return status == RESTRIDE_OK ? status : rs_fail_leaving(status, "matrix", has_begun);
}
