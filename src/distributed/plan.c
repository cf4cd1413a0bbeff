/* Public functions of redistributions: see redistribution.h. */
#include "base/arithmetic.h"
#include "base/status.h"
#include "distributed/redistribution.h"
#include "engine/peer.h"
#include "transpose/choose.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SCRATCH_BYTES = 64 << 20 };

/* ---- arguments ---- */

static uint64_t mix(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ b[i]) * 0x100000001B3u; /* FNV-1a */
    return sum;
}

static uint64_t mix_text(uint64_t sum, const char *text)
{
    return text == NULL ? mix(sum, "?", 1) : mix(sum, text, strlen(text) + 1);
}

static restride_status check_processes(const rs_redistribution_task *task)
{
    for (int side = 0; side < 2; side++) {
        const size_t needed = task->counts.processes[side];
        if (needed > (size_t)task->group->size)
            return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                           "The layout \"%.200s\" needs %zu processes and the group has %d; start "
                           "more, or write larger blocks.",
                           task->layouts[side]->expression_text, needed, task->group->size);
    }
    return RESTRIDE_OK;
}

static restride_status check_arguments(rs_redistribution_task *task, const char *dimensions,
                                       const char *from, const char *to)
{
    if (task->engine == NULL || dimensions == NULL || from == NULL || to == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_plan_redistribute needs an engine, dimensions and two layouts.");
    const char *texts[] = {from, to};
    restride_status status = rs_exchange_choose(task->group, task->engine, &task->way);
    for (int side = 0; status == RESTRIDE_OK && side < 2; side++)
        status = rs_layout_parse_spread(&task->layouts[side], dimensions, texts[side], NULL);
    if (status == RESTRIDE_OK)
        status = rs_layout_check_element(task->layouts[0], &task->unit);
    size_t bytes;
    if (status == RESTRIDE_OK && !rs_layout_count_bytes(task->layouts[0], task->unit, &bytes))
        status = rs_fail(RESTRIDE_OVERFLOW, "The array \"%.200s\" is too large.", dimensions);
    if (status == RESTRIDE_OK)
        status = rs_counts_make(&task->counts, task->layouts[0], task->layouts[1], task->unit);
    return status == RESTRIDE_OK ? check_processes(task) : status;
}

static size_t part_bytes(const rs_redistribution_task *task, int side)
{
    size_t bytes = 0;
    const size_t rank = (size_t)task->group->rank;
    for (size_t q = 0; q < task->counts.processes[1 - side]; q++)
        bytes += side == 0 ? rs_counts_bytes(&task->counts, rank, q)
                           : rs_counts_bytes(&task->counts, q, rank);
    return bytes;
}

/* ---- running ---- */

static restride_status run_passes(restride_plan *const passes[RS_LOCAL_PASSES], void *buffer,
                                  bool *has_begun)
{
    restride_status status = RESTRIDE_OK;
    for (int i = 0; status == RESTRIDE_OK && i < RS_LOCAL_PASSES; i++) {
        bool begun = false;
        if (passes[i] != NULL)
            status = rs_plan_run(passes[i], buffer, NULL, &begun);
        *has_begun = *has_begun || begun || (passes[i] != NULL && status == RESTRIDE_OK);
    }
    return status;
}

/* What flows one way leaves from the end of the buffer. */
static size_t leaves_from(const rs_redistribution *r)
{
    const size_t capacity = rs_size_larger(r->bytes[0], r->bytes[1]);
    return r->leaving > 0 ? capacity - r->leaving : r->swapped;
}

static restride_status prepare(const rs_redistribution *r, void *buffer)
{
    return r->exchange == NULL
               ? RESTRIDE_OK
               : rs_exchange_prepare(r->exchange, buffer, r->swapped, leaves_from(r), r->leaving);
}

static size_t exchange_scratch(const rs_redistribution *r)
{
    return r->move_count == 0 ? 0 : rs_exchange_chunks(r->way) * r->chunk_bytes;
}

static restride_status pass_before(const restride_plan *plan, void *buffer, bool *has_begun)
{
    const rs_redistribution *r = plan->own;
    restride_status status = run_passes(r->passes[0], buffer, has_begun);
    *has_begun = *has_begun || r->move_count > 0;
    return status == RESTRIDE_OK ? prepare(r, buffer) : status;
}

/* Partners reach into this buffer as soon as it is mapped. */
static restride_status send_all(const restride_plan *plan, void *buffer, rs_overlap *beside)
{
    const rs_redistribution *r = plan->own;
    restride_status status = RESTRIDE_OK;
    bool mapped = false;
    if (r->peers != NULL) {
        rs_overlap_wait(beside, r->move_count);
        status = rs_peers_map(r->peers, r->group, buffer, r->moves, r->swaps, &mapped);
    }
    if (status == RESTRIDE_OK && mapped)
        status = rs_peers_swap(r->peers, r->group, buffer, r->moves, r->swaps, r->work + 1);
    if (status == RESTRIDE_OK && r->exchange != NULL)
        status = rs_exchange_run(r->exchange, buffer, mapped ? r->swaps : 0, beside);
    return status;
}

/* One that fails before it sends does so all the same, because the others wait for its messages,
 * and hear of it afterwards. */
static restride_status run_passes_and_send(const restride_plan *plan, void *buffer, bool *has_begun)
{
    const rs_redistribution *r = plan->own;
    restride_status status = pass_before(plan, buffer, has_begun);
    rs_overlap *beside = status == RESTRIDE_OK ? r->overlap : NULL;
    rs_overlap_begin(beside, buffer);
    const restride_status sent = send_all(plan, buffer, beside);
    const restride_status worked = rs_overlap_end(beside, sent != RESTRIDE_OK);
    status = sent != RESTRIDE_OK ? sent : status != RESTRIDE_OK ? status : worked;
    return status == RESTRIDE_OK ? run_passes(r->passes[1], buffer, has_begun) : status;
}

/* All processes agree before a byte moves, and at the end. */
static restride_status run_agreed(const restride_plan *plan, void *buffer, restride_status status,
                                  bool *has_begun)
{
    const rs_redistribution *r = plan->own;
    status = rs_group_agree(r->group, status, r->work);
    if (status != RESTRIDE_OK)
        return status;
    bool done = false;
    if (r->peers != NULL && r->mirror.side > 0) {
        *has_begun = true;
        status = rs_mirror_run(&r->mirror, r->peers, r->group, plan->engine, buffer, r->moves,
                               r->swaps, r->work + 1, &done);
    }
    if (!done && !r->group->broken) {
        const restride_status moved = run_passes_and_send(plan, buffer, has_begun);
        status = moved == RESTRIDE_OK ? status : moved;
    }
    rs_peers_unmap(r->peers);
    return r->group->broken ? status : rs_group_agree(r->group, status, r->work + 2);
}

static restride_status run(const restride_plan *plan, void *buffer, bool *has_begun)
{
    const rs_redistribution *r = plan->own;
    restride_status status = RESTRIDE_OK;
    if (buffer == NULL && plan->bytes > 0)
        status = rs_fail(RESTRIDE_INVALID_ARGUMENT,
                         "Process %d gives no buffer, and its part has %zu bytes.", r->group->rank,
                         plan->bytes);
    else if (plan->bytes > 0)
        status = plan->engine->operations->check_buffer(plan->engine, buffer, plan->bytes,
                                                        RS_BUFFER_CHANGED);
    *has_begun = false;
    return run_agreed(plan, buffer, status, has_begun);
}

/* ---- describing ---- */

static size_t scratch_bytes(const restride_plan *plan)
{
    const rs_redistribution *r = plan->own;
    size_t most = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < RS_LOCAL_PASSES; i++)
            most = rs_size_larger(most, restride_plan_scratch_bytes(r->passes[side][i]));
    most = rs_size_larger(most, rs_overlap_scratch_bytes(r->overlap));
    return most + exchange_scratch(r) + r->move_count * sizeof *r->moves;
}

static json_t *describe_passes(const rs_redistribution *r, int side)
{
    json_t *passes = json_array();
    for (int i = 0; passes != NULL && i < RS_LOCAL_PASSES; i++)
        if (r->passes[side][i] != NULL &&
            json_array_append_new(passes, rs_plan_describe(r->passes[side][i])) != 0) {
            json_decref(passes);
            return NULL;
        }
    return passes;
}

/* The extents of a part's terms, slowest first; null where a tile is ragged, or with a record. */
static json_t *shape_of(const restride_layout *part)
{
    size_t size = 1;
    json_t *shape = json_array();
    for (int t = 0; t < part->term_count; t++) {
        const rs_term *term = &part->terms[t];
        const size_t extent = part->dimensions[term->dimension].extent;
        size_t count =
            term->modulus != 0 ? term->modulus : rs_size_divide_up(extent, term->divisor);
        count = extent == 0 ? 0 : count;
        size *= count;
        json_array_append_new(shape, json_integer((json_int_t)count));
    }
    if (part->record < 0 && size == part->size)
        return shape;
    json_decref(shape);
    return json_null();
}

static restride_status keep_shapes(const rs_redistribution_task *task, rs_redistribution *r)
{
    restride_status status = RESTRIDE_OK;
    for (int side = 0; status == RESTRIDE_OK && side < 2; side++) {
        restride_layout *part;
        status = rs_spread_part(&part, task->layouts[side], (size_t)task->group->rank, NULL);
        if (status == RESTRIDE_OK)
            r->shapes[side] = shape_of(part);
        restride_layout_destroy(part);
    }
    return status;
}

static json_t *describe(const restride_plan *plan)
{
    const rs_redistribution *r = plan->own;
    size_t sent = 0;
    size_t messages = 0;
    for (size_t i = 0; i < r->move_count; i++) {
        sent += r->moves[i].to >= 0 ? r->moves[i].bytes : 0;
        messages += r->moves[i].to >= 0 ? rs_size_divide_up(r->moves[i].bytes, r->chunk_bytes) : 0;
    }
    return json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:O, s:O, s:o, "
        "s:o, s:o}",
        "engine", plan->engine->operations->name, "from", plan->from, "to", plan->to, "rank",
        r->group->rank, "processes", r->group->size, "bytes", (json_int_t)plan->bytes,
        "bytes_before", (json_int_t)r->bytes[0], "bytes_after", (json_int_t)r->bytes[1],
        "bytes_sent", (json_int_t)sent, "rounds", (json_int_t)r->move_count, "messages",
        (json_int_t)messages, "chunk_bytes", (json_int_t)r->chunk_bytes, "scratch_bytes",
        (json_int_t)scratch_bytes(plan), "mirror_blocks", r->peers != NULL && r->mirror.side > 0,
        "shape_before", r->shapes[0], "shape_after", r->shapes[1], "passes_before",
        describe_passes(r, 0), "passes_beside", rs_overlap_describe(r->overlap), "passes_after",
        describe_passes(r, 1));
}

static void destroy(void *own)
{
    rs_redistribution *r = own;
    rs_exchange_close(r->exchange);
    rs_overlap_close(r->overlap);
    rs_peers_close(r->peers);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < RS_LOCAL_PASSES; i++)
            restride_plan_destroy(r->passes[side][i]);
    for (int side = 0; side < 2; side++)
        json_decref(r->shapes[side]);
    free(r->moves);
    free(r);
}

static const rs_plan_kind kind = {run, scratch_bytes, describe, destroy};

/* ---- planning ---- */

/* Of what is granted, half is for the local passes and a quarter for chunks; the list of messages
 * finds room in the rest. */
static void share_scratch(rs_redistribution_task *task, rs_redistribution *r)
{
    task->options.method = NULL;
    r->way = task->way;
    r->chunk_bytes = rs_exchange_chunk_bytes(r->way);
    const size_t chunks = rs_exchange_chunks(r->way);
    if (task->granted != 0) {
        r->chunk_bytes = rs_size_smaller(r->chunk_bytes, task->granted / 4 / chunks);
        r->chunk_bytes = rs_size_larger(r->chunk_bytes, 1);
        task->options.scratch_bytes = rs_size_larger(task->granted / 2, 1);
        return;
    }
    const rs_engine_traits traits = task->engine->operations->traits(task->engine);
    const size_t larger = rs_size_larger(r->bytes[0], r->bytes[1]);
    if (rs_choose_scratch_bound(larger, &traits, NULL) > MOST_SCRATCH_BYTES)
        task->options.scratch_bytes = MOST_SCRATCH_BYTES - chunks * r->chunk_bytes;
}

/* Between devices, mapping a buffer costs 20 ms on an H200; chunks from device to device cost so
 * much more than that from here on. */
static const size_t mapping_pays_from = (size_t)20 << 30;
static const size_t mirror_pays_from = (size_t)8 << 30;

static void choose_peers(const rs_redistribution_task *task, rs_redistribution *r)
{
    r->by_peers = rs_peers_may(task->group, task->engine);
    if (r->by_peers && task->engine->operations->peer->mirror != NULL)
        r->mirror = rs_mirror_find(task->layouts[0], task->layouts[1], task->unit);
    if (r->way != RS_EXCHANGE_DEVICE || task->group->peer_memory == RESTRIDE_PEER_MEMORY_KEPT)
        return;
    size_t bytes = 0;
    for (size_t p = 0; p < task->counts.processes[0]; p++)
        for (size_t q = 0; q < task->counts.processes[1]; q++)
            bytes += rs_counts_bytes(&task->counts, p, q);
    r->by_peers = r->by_peers && bytes / (size_t)task->group->size >=
                                     (r->mirror.side > 0 ? mirror_pays_from : mapping_pays_from);
}

/* The pass next to the exchange, or NULL. */
static restride_plan **pass_beside(rs_redistribution *r, int side)
{
    restride_plan **passes = r->passes[side];
    int i = side == 0 ? RS_LOCAL_PASSES - 1 : 0;
    const int last = side == 0 ? 0 : RS_LOCAL_PASSES - 1;
    while (i != last && passes[i] == NULL)
        i += side == 0 ? -1 : 1;
    return &passes[i];
}

static void plan_overlap(const rs_redistribution_task *task, rs_redistribution *r)
{
    const rs_overlap_task beside = {.engine = task->engine,
                                    .moves = r->moves,
                                    .move_count = r->move_count,
                                    .least_bytes = task->group->overlap_from,
                                    .processes = (size_t)task->group->size,
                                    .options = &task->options};
    if (r->way != RS_EXCHANGE_HOST || r->move_count == 0)
        return;
    const bool moves_apart = leaves_from(r) != r->swapped; /* between the passes and messages */
    rs_overlap_plan(&r->overlap, &beside, moves_apart ? NULL : pass_beside(r, 0),
                    pass_beside(r, 1));
}

static restride_status check_scratch(const restride_plan *plan, size_t granted)
{
    const size_t taken = scratch_bytes(plan);
    if (granted == 0 || taken <= granted)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The passes and messages of this redistribution take %zu bytes of scratch "
                   "memory; grant so much instead of %zu.",
                   taken, granted);
}

static restride_status create_plan(restride_plan **plan, const rs_redistribution_task *task,
                                   rs_redistribution *r)
{
    restride_status status =
        rs_plan_create(plan, task->engine, rs_size_larger(r->bytes[0], r->bytes[1]),
                       task->layouts[0]->expression_text, task->layouts[1]->expression_text);
    if (status != RESTRIDE_OK)
        return status;
    (*plan)->kind = &kind;
    (*plan)->own = r;
    status = check_scratch(*plan, task->granted);
    if (status == RESTRIDE_OK && r->by_peers)
        status = rs_peers_open(&r->peers, task->engine, task->group);
    if (status == RESTRIDE_OK && r->move_count > 0)
        status = rs_exchange_open(&r->exchange, r->way, r->group, task->engine, r->moves,
                                  r->move_count, r->chunk_bytes);
    return status;
}

/* Makes the plan for agreed arguments; it fails on all processes or on none. */
static restride_status make(restride_plan **plan, rs_redistribution_task *task,
                            rs_redistribution *r)
{
    for (int side = 0; side < 2; side++)
        r->bytes[side] = part_bytes(task, side);
    share_scratch(task, r);
    restride_status status = rs_redistribution_plan_local(task, r);
    if (!r->group->broken)
        status = rs_group_agree(r->group, status, r->work);
    if (status != RESTRIDE_OK)
        return status;
    choose_peers(task, r);
    status = rs_redistribution_plan_messages(task, r);
    if (status == RESTRIDE_OK)
        plan_overlap(task, r);
    if (status == RESTRIDE_OK)
        status = keep_shapes(task, r);
    if (status == RESTRIDE_OK)
        status = create_plan(plan, task, r);
    return rs_group_agree(r->group, status, r->work);
}

restride_status restride_plan_redistribute(restride_plan **plan, restride_group *group,
                                           restride_engine *engine, const char *dimensions,
                                           const char *from, const char *to, size_t element_bytes,
                                           const restride_plan_options *options)
{
    if (plan != NULL)
        *plan = NULL;
    if (plan == NULL || group == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_plan_redistribute needs a group and a place for the plan.");
    rs_redistribution_task task = {.group = group, .engine = engine, .unit = element_bytes};
    if (options != NULL) {
        task.options = *options;
        task.granted = options->scratch_bytes;
    }
    rs_redistribution *r = calloc(1, sizeof *r);
    restride_status status =
        r == NULL ? rs_fail_memory("a plan") : check_arguments(&task, dimensions, from, to);
    uint64_t work = mix_text(mix_text(mix_text(0xCBF29CE484222325u, dimensions), from), to);
    const size_t numbers[] = {
        element_bytes, task.granted, (size_t)group->size, task.way,
        engine != NULL && rs_peers_may(group, engine) ? (size_t)group->peer_memory : 0};
    work = mix(work, numbers, sizeof numbers);
    status = rs_group_agree(group, status, work);
    if (status == RESTRIDE_OK) {
        r->group = group;
        r->work = work;
        status = make(plan, &task, r);
    }
    if (status != RESTRIDE_OK && *plan == NULL && r != NULL)
        destroy(r);
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(*plan); /* and what it has */
        *plan = NULL;
    }
    rs_counts_free(&task.counts);
    restride_layout_destroy(task.layouts[0]);
    restride_layout_destroy(task.layouts[1]);
    return status;
}

size_t restride_plan_local_bytes(const restride_plan *plan)
{
    return restride_plan_bytes(plan);
}
