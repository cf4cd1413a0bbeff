/* The public half: checks what is asked, lets the methods compete, and applies the winner. */
#include "base/arithmetic.h"
#include "engine/host/team.h"
#include "irregular/irregular.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    size_t index_bytes;
    size_t objects;
    size_t object_bytes;
    rs_arrangement arrangement;
    restride_irregular_facts facts;
} planned_reference;

struct restride_irregular {
    restride_irregular_method method;
    size_t threads;
    size_t count;
    size_t processors;
    size_t *order; /* NULL: the threads stay */
    planned_reference reference[RS_MOST_REFERENCES];
};

typedef struct {
    restride_irregular_method method;
    const char *name;
    bool moves_threads;
    restride_status (*arrange)(rs_arrangement *arrangement, const rs_reads *reads, size_t budget);
} method_row;

/* Of methods that do equally well the first is taken. */
static const method_row methods[] = {
    {RESTRIDE_IRREGULAR_PARTIAL, "Partial duplication", false, rs_duplicate_part},
    {RESTRIDE_IRREGULAR_APPROXIMATION, "Approximation", true, rs_approximate},
    {RESTRIDE_IRREGULAR_PADDING, "Padding", true, rs_pad},
    {RESTRIDE_IRREGULAR_DUPLICATION, "Duplication", false, rs_duplicate},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* What is asked, checked; the references with their indices as size_t. */
typedef struct {
    const restride_launch *launch;
    const restride_reference *references;
    size_t count;
    restride_irregular_options options;
    rs_reads reads[RS_MOST_REFERENCES];
    size_t before[RS_MOST_REFERENCES];
} request;

static size_t processors(const restride_irregular_options *options)
{
    long found = options->processors > 0 ? options->processors : sysconf(_SC_NPROCESSORS_ONLN);
    return found < 1 ? 1 : found > RS_MOST_PROCESSORS ? RS_MOST_PROCESSORS : (size_t)found;
}

restride_status rs_check_launch(const restride_launch *launch, size_t count)
{
    if (launch == NULL || launch->threads == 0 || count == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "There is nothing to reorder: give at least one thread and one reference.");
    if (count > RS_MOST_REFERENCES)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A plan takes at most %d references, not %zu; make two plans.",
                       RS_MOST_REFERENCES, count);
    if (launch->warp == 0 || launch->warp > RS_MOST_WARP)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A warp of %zu threads is not possible; give 1 to %d.", launch->warp,
                       RS_MOST_WARP);
    if (launch->segment_bytes == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A memory segment of 0 bytes is not possible; give 32 for today's GPUs.");
    return RESTRIDE_OK;
}

/* No method makes more slots than this product counts; the sizes after it need no more checks. */
static bool sizes_fit(const restride_launch *launch, const restride_reference *reference)
{
    size_t warps = launch->threads / launch->warp + 1;
    size_t slots, gaps;
    return rs_size_multiply(warps, launch->segment_bytes, &gaps) &&
           rs_size_add(launch->threads, launch->warp, &slots) &&
           rs_size_add(slots, reference->objects, &slots) && rs_size_add(slots, gaps, &slots) &&
           rs_size_multiply(slots, 2 * sizeof(size_t), &gaps) &&
           rs_size_multiply(slots, reference->object_bytes, &slots);
}

restride_status rs_check_reference(const restride_launch *launch,
                                   const restride_reference *reference, size_t number)
{
    if (reference->index == NULL || (reference->index_bytes != 4 && reference->index_bytes != 8))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Reference %zu has no index array of 4- or 8-byte integers.", number);
    if (reference->objects == 0 || reference->object_bytes == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Reference %zu has an empty array: give the number and the size of its "
                       "objects.",
                       number);
    if (!sizes_fit(launch, reference))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "Reference %zu, with %zu objects of %zu bytes, is too large for this "
                       "machine's sizes.",
                       number, reference->objects, reference->object_bytes);
    return RESTRIDE_OK;
}

typedef struct {
    const restride_reference *reference;
    size_t *object;
    atomic_size_t offender; /* the first thread that reads behind the array; or SIZE_MAX */
} widening;

static void accuse(widening *w, size_t t)
{
    size_t first = atomic_load(&w->offender);
    while (t < first && !atomic_compare_exchange_weak(&w->offender, &first, t))
        continue;
}

static void widen(void *context, size_t begin, size_t end)
{
    widening *w = context;
    size_t objects = w->reference->objects;
    size_t offender = SIZE_MAX;
    for (size_t t = begin; t < end; t++) {
        w->object[t] = rs_index_read(w->reference->index, w->reference->index_bytes, t);
        if (w->object[t] >= objects && offender == SIZE_MAX)
            offender = t;
    }
    if (offender != SIZE_MAX)
        accuse(w, offender);
}

/* The largest number that an index with a sign can hold. */
static size_t most_signed(size_t bytes)
{
    return bytes == sizeof(int32_t) ? INT32_MAX : (size_t)INT64_MAX;
}

static restride_status take_reference(request *asked, size_t number)
{
    const restride_reference *reference = &asked->references[number];
    const restride_launch *launch = asked->launch;
    restride_status status = rs_check_reference(launch, reference, number);
    if (status != RESTRIDE_OK)
        return status;
    size_t *object = malloc(launch->threads * sizeof *object);
    if (object == NULL)
        return rs_fail_memory("the index array");
    asked->reads[number] = (rs_reads){
        object,       launch->threads,       reference->objects,         reference->object_bytes,
        launch->warp, launch->segment_bytes, processors(&asked->options)};
    widening widened = {reference, object, SIZE_MAX};
    rs_share_items(processors(&asked->options), launch->threads, widen, &widened);
    size_t offender = atomic_load(&widened.offender);
    if (offender != SIZE_MAX)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Thread %zu of reference %zu reads object %zu%s, but there are only %zu; "
                       "mend the index array.",
                       offender, number, object[offender],
                       object[offender] > most_signed(reference->index_bytes)
                           ? " (a negative number, if the index has a sign)"
                           : "",
                       reference->objects);
    asked->before[number] = rs_count_transactions(&asked->reads[number], object);
    return RESTRIDE_OK;
}

static void plan_reference(restride_irregular *plan, const request *asked, size_t r,
                           rs_arrangement *arrangement)
{
    planned_reference *planned = &plan->reference[r];
    *planned = (planned_reference){.index_bytes = asked->references[r].index_bytes,
                                   .objects = asked->reads[r].objects,
                                   .object_bytes = asked->reads[r].object_bytes,
                                   .arrangement = *arrangement};
    planned->facts.transactions_before = asked->before[r];
    planned->facts.transactions_after = rs_count_transactions(&asked->reads[r], arrangement->index);
    planned->facts.transactions_bound = arrangement->bound;
    planned->facts.extra_bytes = arrangement->extra * asked->reads[r].object_bytes;
}

/* One budget for all: those first in the list take what they need. */
static size_t budget_for(const restride_irregular *plan, const request *asked, size_t r)
{
    if (asked->options.extra_bytes == 0)
        return SIZE_MAX;
    size_t left = asked->options.extra_bytes;
    for (size_t i = 0; i < asked->count; i++)
        left -= plan->reference[i].facts.extra_bytes;
    return left / asked->reads[r].object_bytes;
}

/* Arranges all references: in their threads' order, or in that of the leader. */
static restride_status arrange(restride_irregular *plan, const request *asked,
                               const method_row *method, size_t leader)
{
    *plan = (restride_irregular){.method = method->method,
                                 .threads = asked->launch->threads,
                                 .count = asked->count,
                                 .processors = processors(&asked->options)};
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < asked->count; i++) {
        size_t r = (leader + i) % asked->count;
        const rs_reads *reads = &asked->reads[r];
        rs_arrangement arrangement;
        if (method->moves_threads && i > 0)
            status = rs_follow(&arrangement, reads, plan->order);
        else
            status = method->arrange(&arrangement, reads, budget_for(plan, asked, r));
        if (status != RESTRIDE_OK)
            break;
        if (arrangement.order != NULL)
            plan->order = arrangement.order;
        arrangement.order = NULL;
        plan_reference(plan, asked, r, &arrangement);
    }
    return status;
}

static void clear(restride_irregular *plan)
{
    free(plan->order);
    for (size_t r = 0; r < RS_MOST_REFERENCES; r++)
        rs_arrangement_free(&plan->reference[r].arrangement);
    *plan = (restride_irregular){0};
}

static size_t total(const restride_irregular *plan, bool of_bytes)
{
    size_t sum = 0;
    for (size_t r = 0; r < plan->count; r++)
        sum += of_bytes ? plan->reference[r].facts.extra_bytes
                        : plan->reference[r].facts.transactions_after;
    return sum;
}

static bool is_better(const restride_irregular *plan, const restride_irregular *best)
{
    if (best->count == 0)
        return true;
    size_t own = total(plan, false);
    size_t other = total(best, false);
    return own < other || (own == other && total(plan, true) < total(best, true));
}

static bool is_asked_for(const method_row *method, const restride_irregular_options *options)
{
    if (options->method != RESTRIDE_IRREGULAR_AUTO)
        return method->method == options->method;
    return !method->moves_threads || options->keep_threads == 0;
}

static restride_status compete(restride_irregular *best, const request *asked)
{
    for (size_t m = 0; m < METHODS; m++)
        for (size_t leader = 0; is_asked_for(&methods[m], &asked->options) && leader < asked->count;
             leader++) {
            restride_irregular plan;
            restride_status status = arrange(&plan, asked, &methods[m], leader);
            if (status == RESTRIDE_OK && is_better(&plan, best)) {
                clear(best);
                *best = plan;
            } else {
                clear(&plan);
            }
            bool optional = asked->options.method == RESTRIDE_IRREGULAR_AUTO || leader > 0;
            if (status != RESTRIDE_OK && !(status == RESTRIDE_UNSUPPORTED && optional))
                return status;
            if (!methods[m].moves_threads)
                break;
        }
    return RESTRIDE_OK;
}

size_t rs_break_even(const restride_irregular_facts *facts, const rs_reads *reads, size_t filled,
                     size_t slots, size_t index_bytes)
{
    if (facts->transactions_after >= facts->transactions_before)
        return SIZE_MAX;
    size_t index = reads->threads * index_bytes / reads->segment_bytes + 1;
    size_t cost = filled * rs_segments(reads, 1) + rs_segments(reads, slots) + 2 * index;
    size_t saved = facts->transactions_before - facts->transactions_after;
    return cost / saved + (cost % saved > 0);
}

static void complete_facts(restride_irregular *plan, const request *asked)
{
    for (size_t r = 0; r < plan->count; r++) {
        restride_irregular_facts *facts = &plan->reference[r].facts;
        const rs_reads *reads = &asked->reads[r];
        const rs_arrangement *arrangement = &plan->reference[r].arrangement;
        facts->transactions_best = plan->order == NULL
                                       ? rs_best_in_order(reads)
                                       : rs_least_in_any_order(reads, arrangement->read);
        facts->break_even = rs_break_even(facts, reads, arrangement->slots - arrangement->empty,
                                          arrangement->slots, plan->reference[r].index_bytes);
    }
}

restride_status rs_check_options(const restride_irregular_options *options)
{
    for (size_t m = 0; m < METHODS; m++)
        if (methods[m].method == options->method) {
            if (methods[m].moves_threads && options->keep_threads != 0)
                return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                               "%s moves threads, which must stay here; choose a method of "
                               "duplication.",
                               methods[m].name);
            return RESTRIDE_OK;
        }
    return options->method == RESTRIDE_IRREGULAR_AUTO
               ? RESTRIDE_OK
               : rs_fail(RESTRIDE_INVALID_ARGUMENT,
                         "%d is not a method of reordering; use one of restride/irregular.h.",
                         (int)options->method);
}

static restride_status make(restride_irregular *plan, request *asked)
{
    restride_status status = rs_check_options(&asked->options);
    for (size_t r = 0; status == RESTRIDE_OK && r < asked->count; r++)
        status = take_reference(asked, r);
    if (status == RESTRIDE_OK)
        status = compete(plan, asked);
    if (status == RESTRIDE_OK)
        complete_facts(plan, asked);
    for (size_t r = 0; r < asked->count; r++)
        free((size_t *)asked->reads[r].object);
    return status;
}

restride_status restride_irregular_plan(restride_irregular **plan, const restride_launch *launch,
                                        const restride_reference references[], size_t count,
                                        const restride_irregular_options *options)
{
    if (plan != NULL)
        *plan = NULL;
    if (plan == NULL || references == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A plan needs references and a place to be stored.");
    restride_status status = rs_check_launch(launch, count);
    if (status != RESTRIDE_OK)
        return status;
    request asked = {.launch = launch, .references = references, .count = count};
    if (options != NULL)
        asked.options = *options;
    restride_irregular *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rs_fail_memory("the plan");
    status = make(made, &asked);
    if (status != RESTRIDE_OK) {
        restride_irregular_destroy(made);
        return status;
    }
    *plan = made;
    return RESTRIDE_OK;
}

void restride_irregular_destroy(restride_irregular *plan)
{
    if (plan == NULL)
        return;
    clear(plan);
    free(plan);
}

/* Of a plan or a reference that is not there: a reference without slots. */
static const planned_reference *find(const restride_irregular *plan, size_t reference)
{
    static const planned_reference nothing;
    return plan != NULL && reference < plan->count ? &plan->reference[reference] : &nothing;
}

restride_irregular_method restride_irregular_plan_method(const restride_irregular *plan)
{
    return plan == NULL ? RESTRIDE_IRREGULAR_AUTO : plan->method;
}

int restride_irregular_moves_threads(const restride_irregular *plan)
{
    return plan != NULL && plan->order != NULL;
}

restride_irregular_facts restride_irregular_plan_facts(const restride_irregular *plan,
                                                       size_t reference)
{
    return find(plan, reference)->facts;
}

size_t restride_irregular_slots(const restride_irregular *plan, size_t reference)
{
    return find(plan, reference)->arrangement.slots;
}

/* Numbers on their way to the caller. */
typedef struct {
    const size_t *from; /* NULL: 0, 1, 2, ... */
    void *to;
    size_t bytes; /* of one there */
} copying;

static void copy_numbers(void *context, size_t begin, size_t end)
{
    const copying *c = context;
    for (size_t t = begin; t < end; t++) {
        size_t number = c->from == NULL ? t : c->from[t];
        if (c->bytes == sizeof(uint32_t))
            ((uint32_t *)c->to)[t] = (uint32_t)number;
        else
            ((uint64_t *)c->to)[t] = number;
    }
}

void restride_irregular_order(const restride_irregular *plan, size_t order[])
{
    if (plan == NULL || order == NULL)
        return;
    copying copied = {plan->order, order, sizeof *order};
    rs_share_items(plan->processors, plan->threads, copy_numbers, &copied);
}

restride_status restride_irregular_index(const restride_irregular *plan, size_t reference,
                                         void *index)
{
    const planned_reference *planned = find(plan, reference);
    const rs_arrangement *arrangement = &planned->arrangement;
    if (arrangement->slots == 0 || index == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_irregular_index needs a plan, one of its %zu references, and a "
                       "place for the index array.",
                       plan == NULL ? 0 : plan->count);
    if (planned->index_bytes == 4 && arrangement->slots - 1 > UINT32_MAX)
        return rs_fail(RESTRIDE_OVERFLOW,
                       "Reference %zu has %zu slots, more than 4 bytes can number; give an index "
                       "array of 8-byte integers.",
                       reference, arrangement->slots);
    copying copied = {arrangement->index, index, planned->index_bytes};
    rs_share_items(plan->processors, plan->threads, copy_numbers, &copied);
    return RESTRIDE_OK;
}

/* Bytes on their way into the slots. */
typedef struct {
    const planned_reference *planned;
    const unsigned char *array;
    unsigned char *slots;
} gathering;

static void gather_part(void *context, const rs_host_member *member)
{
    const gathering *work = context;
    size_t bytes = work->planned->object_bytes;
    const size_t *source = work->planned->arrangement.source;
    size_t begin, end;
    rs_host_team_share(member, work->planned->arrangement.slots, &begin, &end);
    for (size_t s = begin; s < end; s++)
        if (source[s] == RS_EMPTY_SLOT)
            memset(work->slots + s * bytes, 0, bytes);
        else
            memcpy(work->slots + s * bytes, work->array + source[s] * bytes, bytes);
}

void restride_irregular_gather(const restride_irregular *plan, size_t reference, const void *array,
                               void *slots)
{
    gathering work = {find(plan, reference), array, slots};
    if (work.planned->arrangement.slots == 0)
        return;
    rs_host_team_run(plan->processors, gather_part, &work);
}

void restride_irregular_scatter(const restride_irregular *plan, size_t reference, const void *slots,
                                void *array)
{
    const planned_reference *planned = find(plan, reference);
    size_t bytes = planned->object_bytes;
    const unsigned char *from = slots;
    unsigned char *to = array;
    for (size_t s = planned->arrangement.slots; s-- > 0;)
        if (planned->arrangement.source[s] != RS_EMPTY_SLOT)
            memcpy(to + planned->arrangement.source[s] * bytes, from + s * bytes, bytes);
}
