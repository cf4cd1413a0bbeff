/* Irregular references on generated launches, checked against their definition; several references;
 * and bad input. */
#include "cmocka_all.h"
#include "irregular/irregular.h"
#include "irregular/launches.h"
#include "transpose/reference.h"

#include <stdlib.h>
#include <string.h>

static void every_thread_reads_its_object_within_the_bounds(void **state)
{
    (void)state;
    uint64_t seed = 71;
    for (int n = 0; n < 1500; n++) {
        launch_case made = make_case(&seed);
        for (int method = RESTRIDE_IRREGULAR_AUTO; method <= METHODS; method++)
            if (method != RESTRIDE_IRREGULAR_AUTO || n % 4 == 0)
                check_method(&made, method, 1 + n % 3);
        free_case(&made);
    }
}

static void the_best_method_that_is_allowed_wins(void **state)
{
    (void)state;
    uint64_t seed = 41;
    for (int n = 0; n < 200; n++) {
        launch_case made = make_case(&seed);
        size_t budget = made.reference.object_bytes * test_random(&seed, made.launch.threads + 1);
        size_t best = SIZE_MAX;
        for (int method = 1; method <= METHODS; method++) {
            size_t count = planned(&made, (restride_irregular_method)method, budget);
            best = count < best ? count : best;
        }
        assert_int_equal(planned(&made, RESTRIDE_IRREGULAR_AUTO, budget), best);
        free_case(&made);
    }
}

/* 32 threads of one warp read every eighth object: 4 transactions for copies and for a new order,
 * which takes no memory. */
static void memory_decides_between_equals(void **state)
{
    (void)state;
    uint32_t index[32];
    for (uint32_t t = 0; t < 32; t++)
        index[t] = 8 * t;
    const restride_launch launch = {32, 32, 32};
    const restride_reference reference = {index, sizeof *index, 256, 4};
    restride_irregular *plan;
    assert_int_equal(restride_irregular_plan(&plan, &launch, &reference, 1, NULL), RESTRIDE_OK);
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    assert_int_equal(facts.transactions_after, 4);
    assert_int_equal(facts.extra_bytes, 0);
    restride_irregular_destroy(plan);
}

/* Two warps: the first ends with one of the 31 threads that read the second object. Both objects
 * are in one segment, so the second warp needs no copy. */
static void padding_stores_no_object_twice_without_need(void **state)
{
    (void)state;
    uint32_t index[64];
    for (uint32_t t = 0; t < 64; t++)
        index[t] = t < 31 ? 0 : t < 62 ? 1 : 2;
    const restride_launch launch = {64, 32, 32};
    const restride_reference reference = {index, sizeof *index, 3, 4};
    const restride_irregular_options how = {.method = RESTRIDE_IRREGULAR_PADDING};
    restride_irregular *plan;
    assert_int_equal(restride_irregular_plan(&plan, &launch, &reference, 1, &how), RESTRIDE_OK);
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    assert_int_equal(facts.transactions_after, 2);
    assert_int_equal(facts.extra_bytes, 0);
    restride_irregular_destroy(plan);
}

/* Eight threads that read every fourth of 32 objects: 4 segments become 1. The gather reads 8
 * objects and writes 1 segment; the index array takes 2, read and written: 13 for the 3 saved by a
 * launch. Where nothing is saved, no number of launches suffices. */
static void break_even_counts_what_reordering_moves(void **state)
{
    (void)state;
    const uint32_t index[] = {0, 4, 8, 12, 16, 20, 24, 28};
    const restride_launch launch = {8, 8, 32};
    const restride_reference reference = {index, 4, 32, 4};
    const restride_irregular_options options = {.method = RESTRIDE_IRREGULAR_DUPLICATION};
    restride_irregular *plan;
    assert_int_equal(restride_irregular_plan(&plan, &launch, &reference, 1, &options), RESTRIDE_OK);
    restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    assert_int_equal(facts.transactions_before, 4);
    assert_int_equal(facts.transactions_after, 1);
    assert_int_equal(facts.break_even, 5);
    restride_irregular_destroy(plan);
    const uint32_t far[] = {0, 8, 16, 24, 4, 12, 20, 28};
    const restride_reference apart = {far, 4, 32, 32};
    assert_int_equal(restride_irregular_plan(&plan, &launch, &apart, 1, &options), RESTRIDE_OK);
    facts = restride_irregular_plan_facts(plan, 0);
    assert_int_equal(facts.break_even, SIZE_MAX);
    restride_irregular_destroy(plan);
}

/* What copies for one warp save and take. */
typedef struct {
    size_t saved;
    size_t slots;
} warp_offer;

static size_t find_offers(const launch_case *made, warp_offer *offers)
{
    size_t count = 0;
    for (size_t first = 0; first < made->launch.threads; first += made->launch.warp) {
        size_t left = made->launch.threads - first;
        restride_launch one = made->launch;
        one.threads = left < one.warp ? left : one.warp;
        size_t different = 0;
        for (size_t t = first; t < first + one.threads; t++) {
            size_t before = first;
            while (made->index[before] != made->index[t])
                before++;
            different += before == t;
        }
        size_t bytes = made->reference.object_bytes;
        size_t segments = (different * bytes + one.segment_bytes - 1) / one.segment_bytes;
        offers[count++] = (warp_offer){
            marked_segments(&one, made->index + first, made->reference.objects, bytes) - segments,
            segments * one.segment_bytes / bytes};
    }
    return count;
}

/* Against the best of all choices of warps: the greedy choice loses less than one warp's saving. */
static void partial_duplication_spends_its_budget_well(void **state)
{
    (void)state;
    enum { WARPS = 10 };
    uint64_t seed = 19;
    size_t gained = 0;
    for (int n = 0; n < 200; n++) {
        launch_case made = {{0, 4, 16}, {NULL, 8, 64, 4}, NULL, NULL};
        uint64_t index[4 * WARPS];
        made.launch.threads = 4 * (1 + test_random(&seed, WARPS));
        for (size_t t = 0; t < made.launch.threads; t++)
            index[t] = test_random(&seed, 1 + test_random(&seed, 64));
        made.index = index;
        made.reference.index = index;
        warp_offer offers[WARPS];
        size_t count = find_offers(&made, offers);
        size_t budget = 1 + test_random(&seed, 4 * count);
        size_t best = 0;
        size_t largest = 0;
        for (size_t choice = 0; choice < (size_t)1 << count; choice++) {
            size_t saved = 0;
            size_t slots = 0;
            for (size_t w = 0; w < count; w++)
                if ((choice >> w & 1) != 0) {
                    saved += offers[w].saved;
                    slots += offers[w].slots;
                }
            best = slots <= budget && saved > best ? saved : best;
        }
        for (size_t w = 0; w < count; w++)
            largest = offers[w].saved > largest ? offers[w].saved : largest;
        size_t before = marked_segments(&made.launch, index, 64, 4);
        size_t saved = before - planned(&made, RESTRIDE_IRREGULAR_PARTIAL, 4 * budget);
        assert_true(saved <= best);
        assert_true(saved + largest > best || best == 0);
        gained += saved;
    }
    assert_true(gained > 0);
}

/* Transactions without which no order of data and threads can do. */
static size_t least_of(const restride_launch *launch, const restride_reference *reference)
{
    unsigned char *seen = calloc(reference->objects, 1);
    assert_non_null(seen);
    size_t different = 0;
    for (size_t t = 0; t < launch->threads; t++) {
        size_t object = reference->index_bytes == 4 ? ((const uint32_t *)reference->index)[t]
                                                    : ((const uint64_t *)reference->index)[t];
        different += seen[object] == 0;
        seen[object] = 1;
    }
    free(seen);
    size_t bytes = different * reference->object_bytes;
    size_t segments = (bytes + launch->segment_bytes - 1) / launch->segment_bytes;
    size_t warps = (launch->threads + launch->warp - 1) / launch->warp;
    return segments > warps ? segments : warps;
}

static void several_references_share_the_budget(void **state)
{
    (void)state;
    enum { THREADS = 320 };
    uint32_t index[THREADS];
    for (uint32_t t = 0; t < THREADS; t++)
        index[t] = 16 * t;
    const restride_launch launch = {THREADS, 32, 32};
    const restride_reference references[] = {{index, 4, 16 * THREADS, 4},
                                             {index, 4, 16 * THREADS, 4}};
    /* The copies of a warp take 128 bytes, and those of all warps of one reference 1280. */
    for (size_t budget = 128; budget <= 2560; budget += 128) {
        const restride_irregular_options how = {.method = RESTRIDE_IRREGULAR_PARTIAL,
                                                .extra_bytes = budget};
        restride_irregular *plan;
        assert_int_equal(restride_irregular_plan(&plan, &launch, references, 2, &how), RESTRIDE_OK);
        assert_int_equal(restride_irregular_plan_facts(plan, 0).extra_bytes +
                             restride_irregular_plan_facts(plan, 1).extra_bytes,
                         budget);
        restride_irregular_destroy(plan);
    }
}

static void several_references_share_the_order_of_threads(void **state)
{
    (void)state;
    enum { THREADS = 1000, OBJECTS = 300 };
    uint64_t seed = 8;
    uint32_t first[THREADS];
    uint64_t second[THREADS];
    float a[OBJECTS];
    double b[OBJECTS];
    for (size_t t = 0; t < THREADS; t++) {
        first[t] = (uint32_t)test_random(&seed, OBJECTS);
        second[t] = (first[t] + test_random(&seed, 3)) % OBJECTS;
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        a[i] = (float)i;
        b[i] = 1000.0 + (double)i;
    }
    const restride_launch launch = {THREADS, 32, 32};
    const restride_reference references[] = {{first, sizeof *first, OBJECTS, sizeof *a},
                                             {second, sizeof *second, OBJECTS, sizeof *b}};
    for (int method = RESTRIDE_IRREGULAR_AUTO; method <= METHODS; method++) {
        const restride_irregular_options options = {.method = (restride_irregular_method)method};
        restride_irregular *plan;
        assert_int_equal(restride_irregular_plan(&plan, &launch, references, 2, &options),
                         RESTRIDE_OK);
        size_t order[THREADS];
        uint32_t index32[THREADS];
        uint64_t index64[THREADS];
        restride_irregular_order(plan, order);
        assert_int_equal(restride_irregular_index(plan, 0, index32), RESTRIDE_OK);
        assert_int_equal(restride_irregular_index(plan, 1, index64), RESTRIDE_OK);
        float *slots_a = malloc(restride_irregular_slots(plan, 0) * sizeof *slots_a);
        double *slots_b = malloc(restride_irregular_slots(plan, 1) * sizeof *slots_b);
        assert_true(slots_a != NULL && slots_b != NULL);
        restride_irregular_gather(plan, 0, a, slots_a);
        restride_irregular_gather(plan, 1, b, slots_b);
        for (size_t t = 0; t < THREADS; t++) {
            assert_true(slots_a[index32[t]] == a[first[order[t]]]);
            assert_true(slots_b[index64[t]] == b[second[order[t]]]);
        }
        size_t before = 0;
        size_t after = 0;
        for (size_t r = 0; r < 2; r++) {
            const restride_irregular_facts facts = restride_irregular_plan_facts(plan, r);
            assert_true(facts.transactions_after <= facts.transactions_bound);
            if (restride_irregular_moves_threads(plan))
                assert_int_equal(facts.transactions_best, least_of(&launch, &references[r]));
            before += facts.transactions_before;
            after += facts.transactions_after;
        }
        assert_true(after < before);
        free(slots_a);
        free(slots_b);
        restride_irregular_destroy(plan);
    }
}

/* Everything that a plan says, in one piece of memory. */
static unsigned char *tell_plan(const launch_case *made, int method, int processors, size_t *bytes)
{
    const restride_irregular_options options = {.method = (restride_irregular_method)method,
                                                .processors = processors};
    restride_irregular *plan;
    assert_int_equal(restride_irregular_plan(&plan, &made->launch, &made->reference, 1, &options),
                     RESTRIDE_OK);
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    size_t numbers = made->launch.threads * sizeof(size_t);
    size_t slots = restride_irregular_slots(plan, 0) * made->reference.object_bytes;
    *bytes = sizeof facts + 2 * numbers + slots;
    unsigned char *told = malloc(*bytes);
    assert_non_null(told);
    memcpy(told, &facts, sizeof facts);
    restride_irregular_order(plan, (size_t *)(told + sizeof facts));
    assert_int_equal(restride_irregular_index(plan, 0, told + sizeof facts + numbers), RESTRIDE_OK);
    restride_irregular_gather(plan, 0, made->array, told + sizeof facts + 2 * numbers);
    restride_irregular_destroy(plan);
    return told;
}

static void plans_are_the_same_by_any_number_of_threads(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (int n = 0; n < 300; n++) {
        launch_case made = make_case(&seed);
        for (int method = 1; method <= METHODS; method++) {
            size_t bytes, others;
            unsigned char *one = tell_plan(&made, method, 1, &bytes);
            unsigned char *other = tell_plan(&made, method, 2 + n % 7, &others);
            assert_int_equal(bytes, others);
            assert_memory_equal(one, other, bytes);
            free(other);
            free(one);
        }
        free_case(&made);
    }
}

static void sorting_is_stable_on_any_number_of_threads(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int n = 0; n < 60; n++) {
        size_t count = 1 + test_random(&seed, 5000);
        size_t most = PICK(&seed, 0, 1, 100, 5000, 1U << 22, SIZE_MAX - 1);
        size_t *keys = malloc(count * sizeof *keys);
        size_t *order = malloc(count * sizeof *order);
        size_t *sorted = malloc(count * sizeof *sorted);
        assert_true(keys != NULL && order != NULL && sorted != NULL);
        for (size_t i = 0; i < count; i++)
            keys[i] = test_random(&seed, most + 1);
        assert_int_equal(
            rs_order_by_key(order, sorted, keys, count, most, 1 + test_random(&seed, 5)),
            RESTRIDE_OK);
        for (size_t i = 1; i < count; i++)
            assert_true(keys[order[i - 1]] < keys[order[i]] ||
                        (keys[order[i - 1]] == keys[order[i]] && order[i - 1] < order[i]));
        for (size_t i = 0; i < count; i++)
            assert_true(sorted[i] == keys[order[i]]);
        free(sorted);
        free(order);
        free(keys);
    }
}

static void says(restride_status expected, const char *part, const restride_launch *launch,
                 const restride_reference *reference, size_t count,
                 const restride_irregular_options *options)
{
    restride_irregular *plan = (restride_irregular *)&plan;
    assert_int_equal(restride_irregular_plan(&plan, launch, reference, count, options), expected);
    assert_null(plan);
    if (strstr(restride_last_error(), part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", restride_last_error(), part);
}

static void bad_input_gets_a_sentence(void **state)
{
    (void)state;
    const uint32_t index[] = {0, 1, 5, 2};
    const restride_launch launch = {4, 32, 32};
    const restride_reference good = {index, 4, 6, 4};
    restride_reference bad = good;
    bad.objects = 5;
    says(RESTRIDE_INVALID_ARGUMENT, "Thread 2 of reference 0 reads object 5", &launch, &bad, 1,
         NULL);
    uint32_t several[1000]; /* of which the first is told, whichever processor finds it */
    for (uint32_t t = 0; t < 1000; t++)
        several[t] = t < 7 ? 0 : t;
    const restride_reference behind = {several, sizeof *several, 5, 4};
    for (int processors = 1; processors < 5; processors++)
        says(RESTRIDE_INVALID_ARGUMENT, "Thread 7 of reference 0 reads object 7",
             &(restride_launch){1000, 32, 32}, &behind, 1,
             &(restride_irregular_options){.processors = processors});
    bad.objects = 0;
    says(RESTRIDE_INVALID_ARGUMENT, "empty array", &launch, &bad, 1, NULL);
    bad.objects = SIZE_MAX / 2;
    says(RESTRIDE_OVERFLOW, "too large", &launch, &bad, 1, NULL);
    bad = good;
    bad.index_bytes = 3;
    says(RESTRIDE_INVALID_ARGUMENT, "index array", &launch, &bad, 1, NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "nothing to reorder", &(restride_launch){0, 32, 32}, &good, 1,
         NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "at most 8", &launch, &good, 9, NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "warp of 0", &(restride_launch){4, 0, 32}, &good, 1, NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "warp of 1025", &(restride_launch){4, 1025, 32}, &good, 1,
         NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "segment of 0", &(restride_launch){4, 32, 0}, &good, 1, NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "not a method", &launch, &good, 1,
         &(restride_irregular_options){.method = (restride_irregular_method)17});
    says(RESTRIDE_INVALID_ARGUMENT, "must stay", &launch, &good, 1,
         &(restride_irregular_options){.method = RESTRIDE_IRREGULAR_PADDING, .keep_threads = 1});
    says(
        RESTRIDE_UNSUPPORTED, "the budget allows 3", &launch, &good, 1,
        &(restride_irregular_options){.method = RESTRIDE_IRREGULAR_DUPLICATION, .extra_bytes = 15});
}

static void what_is_not_there_has_no_slots(void **state)
{
    (void)state;
    uint32_t P[64], index[64] = {7};
    for (uint32_t t = 0; t < 64; t++)
        P[t] = t;
    restride_irregular *plan = NULL;
    const restride_reference reference = {P, sizeof P[0], 64, sizeof(float)};
    assert_int_equal(
        restride_irregular_plan(&plan, &(restride_launch){64, 32, 32}, &reference, 1, NULL),
        RESTRIDE_OK);
    assert_int_equal(restride_irregular_slots(plan, 1), 0);
    assert_int_equal(restride_irregular_plan_facts(plan, 1).extra_bytes, 0);
    restride_irregular_gather(plan, 1, P, index);
    restride_irregular_scatter(plan, 1, index, P);
    assert_int_equal(restride_irregular_index(plan, 1, index), RESTRIDE_INVALID_ARGUMENT);
    assert_non_null(strstr(restride_last_error(), "one of its 1 references"));
    assert_int_equal(restride_irregular_index(plan, 0, NULL), RESTRIDE_INVALID_ARGUMENT);
    restride_irregular_order(plan, NULL);
    assert_int_equal(restride_irregular_index(NULL, 0, index), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_irregular_slots(NULL, 0), 0);
    assert_int_equal(restride_irregular_plan_method(NULL), RESTRIDE_IRREGULAR_AUTO);
    assert_int_equal(index[0], 7);
    restride_irregular_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_reads_its_object_within_the_bounds),
        cmocka_unit_test(the_best_method_that_is_allowed_wins),
        cmocka_unit_test(memory_decides_between_equals),
        cmocka_unit_test(padding_stores_no_object_twice_without_need),
        cmocka_unit_test(break_even_counts_what_reordering_moves),
        cmocka_unit_test(partial_duplication_spends_its_budget_well),
        cmocka_unit_test(several_references_share_the_budget),
        cmocka_unit_test(several_references_share_the_order_of_threads),
        cmocka_unit_test(plans_are_the_same_by_any_number_of_threads),
        cmocka_unit_test(sorting_is_stable_on_any_number_of_threads),
        cmocka_unit_test(bad_input_gets_a_sentence),
        cmocka_unit_test(what_is_not_there_has_no_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
