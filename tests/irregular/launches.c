#include "irregular/launches.h"
#include "cmocka_all.h"
#include "transpose/reference.h"

#include <stdlib.h>
#include <string.h>

size_t pick(uint64_t *state, const size_t *values, size_t count)
{
    return values[test_random(state, count)];
}
/* Even, or such that a few objects are read most of the time, or each once. */
static size_t pick_object(uint64_t *state, size_t kind, size_t t, size_t objects)
{
    size_t object = test_random(state, objects);
    for (size_t i = 0; kind == 1 && i < 3; i++)
        object = test_random(state, object + 1);
    return kind == 2 ? t * 7 % objects : object;
}

void make_array(launch_case *made, uint64_t *state)
{
    size_t bytes = made->reference.objects * made->reference.object_bytes;
    made->array = malloc(bytes);
    assert_non_null(made->array);
    for (size_t i = 0; i < bytes; i++)
        made->array[i] = (unsigned char)test_random(state, 256);
}

launch_case make_case(uint64_t *state)
{
    launch_case made = {{1 + test_random(state, PICK(state, 9, 100, 600)),
                         PICK(state, 1, 2, 3, 4, 8, 32, 32, 32),
                         PICK(state, 1, 4, 7, 16, 32, 32, 64, 128, 128)},
                        {NULL, 8, 1 + test_random(state, PICK(state, 4, 60, 900)),
                         PICK(state, 1, 4, 4, 4, 8, 12, 20, 64, 100)},
                        NULL,
                        NULL};
    made.index = malloc(made.launch.threads * sizeof *made.index);
    assert_non_null(made.index);
    size_t kind = test_random(state, 3);
    for (size_t t = 0; t < made.launch.threads; t++)
        made.index[t] = pick_object(state, kind, t, made.reference.objects);
    made.reference.index = made.index;
    make_array(&made, state);
    return made;
}

void free_case(launch_case *made)
{
    free(made->index);
    free(made->array);
}

/* Transactions by their definition. */
size_t marked_segments(const restride_launch *launch, const uint64_t *index, size_t slots,
                       size_t object_bytes)
{
    size_t segments = slots * object_bytes / launch->segment_bytes + 1;
    unsigned char *mark = malloc(segments);
    assert_non_null(mark);
    size_t total = 0;
    for (size_t first = 0; first < launch->threads; first += launch->warp) {
        memset(mark, 0, segments);
        for (size_t t = first; t < first + launch->warp && t < launch->threads; t++)
            for (size_t b = 0; b < object_bytes; b++)
                mark[(index[t] * object_bytes + b) / launch->segment_bytes] = 1;
        for (size_t s = 0; s < segments; s++)
            total += mark[s];
    }
    free(mark);
    return total;
}

size_t warps_of(const launch_case *made)
{
    return (made->launch.threads + made->launch.warp - 1) / made->launch.warp;
}

/* Whether a segment holds the objects of a whole warp, and none straddles a border. */
bool segment_holds_warp(const launch_case *made)
{
    return made->launch.segment_bytes % (made->launch.warp * made->reference.object_bytes) == 0;
}

static void check_order(const restride_irregular *plan, size_t *order, size_t threads)
{
    unsigned char *seen = calloc(threads, 1);
    assert_non_null(seen);
    restride_irregular_order(plan, order);
    for (size_t t = 0; t < threads; t++) {
        assert_true(order[t] < threads);
        assert_int_equal(seen[order[t]]++, 0);
        assert_true(restride_irregular_moves_threads(plan) != 0 || order[t] == t);
    }
    free(seen);
}

static void check_values(const restride_irregular *plan, const launch_case *made,
                         const size_t *order, const uint64_t *index)
{
    size_t bytes = made->reference.object_bytes;
    size_t slots = restride_irregular_slots(plan, 0);
    unsigned char *slot = malloc(slots * bytes + 1);
    unsigned char *back = malloc(made->reference.objects * bytes);
    assert_true(slot != NULL && back != NULL);
    slot[slots * bytes] = 0x5a;
    restride_irregular_gather(plan, 0, made->array, slot);
    assert_int_equal(slot[slots * bytes], 0x5a);
    for (size_t t = 0; t < made->launch.threads; t++) {
        assert_true(index[t] < slots);
        assert_memory_equal(slot + index[t] * bytes, made->array + made->index[order[t]] * bytes,
                            bytes);
    }
    memcpy(back, made->array, made->reference.objects * bytes);
    for (size_t t = 0; t < made->launch.threads; t++)
        memset(back + made->index[t] * bytes, 0, bytes);
    restride_irregular_scatter(plan, 0, slot, back);
    assert_memory_equal(back, made->array, made->reference.objects * bytes);
    free(back);
    free(slot);
}

static size_t segments_of(const launch_case *made, size_t bytes)
{
    return (bytes + made->launch.segment_bytes - 1) / made->launch.segment_bytes;
}

/* By its definition: the reads of all that fills slots, the writes of the slots, and the reading
 * and writing of an index array against what a launch saves. */
static void check_break_even(const restride_irregular *plan, const launch_case *made,
                             const restride_irregular_facts *facts)
{
    size_t bytes = made->reference.object_bytes;
    size_t slots = restride_irregular_slots(plan, 0);
    unsigned char *ones = malloc(made->reference.objects * bytes);
    unsigned char *slot = malloc(slots * bytes);
    assert_true(ones != NULL && slot != NULL);
    memset(ones, 0xff, made->reference.objects * bytes);
    restride_irregular_gather(plan, 0, ones, slot);
    size_t filled = 0;
    for (size_t s = 0; s < slots; s++)
        filled += slot[s * bytes] != 0;
    free(slot);
    free(ones);
    if (facts->transactions_after >= facts->transactions_before) {
        assert_true(facts->break_even == SIZE_MAX);
        return;
    }
    size_t index = made->launch.threads * made->reference.index_bytes / made->launch.segment_bytes;
    size_t cost =
        filled * segments_of(made, bytes) + segments_of(made, slots * bytes) + 2 * (index + 1);
    size_t saved = facts->transactions_before - facts->transactions_after;
    assert_int_equal(facts->break_even, (cost + saved - 1) / saved);
}

static void check_facts(const restride_irregular *plan, const launch_case *made,
                        const uint64_t *index)
{
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    const restride_irregular_method method = restride_irregular_plan_method(plan);
    size_t bytes = made->reference.object_bytes;
    size_t slots = restride_irregular_slots(plan, 0);
    assert_int_equal(facts.transactions_before,
                     marked_segments(&made->launch, made->index, made->reference.objects, bytes));
    assert_int_equal(facts.transactions_after, marked_segments(&made->launch, index, slots, bytes));
    assert_true(facts.transactions_after <= facts.transactions_bound);
    assert_true(facts.transactions_after >= facts.transactions_best ||
                method == RESTRIDE_IRREGULAR_DUPLICATION);
    size_t more =
        method == RESTRIDE_IRREGULAR_DUPLICATION ? slots : slots - made->reference.objects;
    assert_int_equal(facts.extra_bytes, more * bytes);
    check_break_even(plan, made, &facts);
    if (segment_holds_warp(made) && method != RESTRIDE_IRREGULAR_APPROXIMATION)
        assert_int_equal(facts.transactions_after, warps_of(made));
    if (method == RESTRIDE_IRREGULAR_PARTIAL)
        assert_int_equal(facts.transactions_after, facts.transactions_best);
    if (method == RESTRIDE_IRREGULAR_APPROXIMATION)
        assert_int_equal(slots, made->reference.objects);
}

/* The paper's bound, worked out from the counts of accesses alone. */
static void check_paper_bound(const restride_irregular *plan, const launch_case *made)
{
    if (!segment_holds_warp(made) || made->launch.warp == 1)
        return;
    size_t *count = calloc(made->reference.objects, sizeof *count);
    assert_non_null(count);
    for (size_t t = 0; t < made->launch.threads; t++)
        count[made->index[t]]++;
    size_t alone = 0;
    size_t rest = 0;
    for (size_t i = 0; i < made->reference.objects; i++) {
        alone += count[i] == 1;
        rest += count[i] == 1                   ? 0
                : count[i] >= made->launch.warp ? count[i] % made->launch.warp
                                                : count[i];
    }
    rest += alone % made->launch.warp;
    size_t bound = warps_of(made) + (rest + made->launch.warp - 1) / made->launch.warp;
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    assert_true(facts.transactions_after <= bound);
    assert_int_equal(facts.transactions_bound, bound);
    free(count);
}

void check_method(const launch_case *made, int method, int processors)
{
    const restride_irregular_options options = {.method = (restride_irregular_method)method,
                                                .processors = processors};
    restride_irregular *plan;
    assert_int_equal(restride_irregular_plan(&plan, &made->launch, &made->reference, 1, &options),
                     RESTRIDE_OK);
    size_t *order = malloc(made->launch.threads * sizeof *order);
    uint64_t *index = malloc(made->launch.threads * sizeof *index);
    assert_true(order != NULL && index != NULL);
    check_order(plan, order, made->launch.threads);
    assert_int_equal(restride_irregular_index(plan, 0, index), RESTRIDE_OK);
    check_values(plan, made, order, index);
    check_facts(plan, made, index);
    if (method == RESTRIDE_IRREGULAR_APPROXIMATION)
        check_paper_bound(plan, made);
    free(index);
    free(order);
    restride_irregular_destroy(plan);
}

/* Transactions after a plan; SIZE_MAX when there is none. */
size_t planned(const launch_case *made, restride_irregular_method method, size_t budget)
{
    const restride_irregular_options options = {.method = method, .extra_bytes = budget};
    restride_irregular *plan;
    restride_status status =
        restride_irregular_plan(&plan, &made->launch, &made->reference, 1, &options);
    if (status == RESTRIDE_UNSUPPORTED)
        return SIZE_MAX;
    assert_int_equal(status, RESTRIDE_OK);
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    assert_true(budget == 0 || facts.extra_bytes <= budget);
    restride_irregular_destroy(plan);
    return facts.transactions_after;
}
