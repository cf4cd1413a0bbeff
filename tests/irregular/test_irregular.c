/*
 * Irregular references against their definition: transactions counted by marking segments, every
 * thread's object compared, bounds on generated launches, and on small ones the optimum over all
 * orders of data and threads.
 */
#include "cmocka_all.h"
#include "irregular/irregular.h"
#include "transpose/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS = 4 };

/* A launch with one reference and its random array. */
typedef struct {
    restride_launch launch;
    restride_reference reference;
    uint64_t *index;
    unsigned char *array;
} launch_case;

static size_t pick(uint64_t *state, const size_t *values, size_t count)
{
    return values[test_random(state, count)];
}
#define PICK(state, ...)                                                                           \
    pick(state, (const size_t[]){__VA_ARGS__}, sizeof(size_t[]){__VA_ARGS__} / sizeof(size_t))

/* Even, or such that a few objects are read most of the time, or each once. */
static size_t pick_object(uint64_t *state, size_t kind, size_t t, size_t objects)
{
    size_t object = test_random(state, objects);
    for (size_t i = 0; kind == 1 && i < 3; i++)
        object = test_random(state, object + 1);
    return kind == 2 ? t * 7 % objects : object;
}

static void make_array(launch_case *made, uint64_t *state)
{
    size_t bytes = made->reference.objects * made->reference.object_bytes;
    made->array = malloc(bytes);
    assert_non_null(made->array);
    for (size_t i = 0; i < bytes; i++)
        made->array[i] = (unsigned char)test_random(state, 256);
}

static launch_case make_case(uint64_t *state)
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

static void free_case(launch_case *made)
{
    free(made->index);
    free(made->array);
}

/* Transactions by their definition. */
static size_t marked_segments(const restride_launch *launch, const uint64_t *index, size_t slots,
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

static size_t warps_of(const launch_case *made)
{
    return (made->launch.threads + made->launch.warp - 1) / made->launch.warp;
}

/* Whether a segment holds the objects of a whole warp, and none straddles a border. */
static bool segment_holds_warp(const launch_case *made)
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

static void check_method(const launch_case *made, int method, int processors)
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

/* Transactions after a plan; SIZE_MAX when there is none. */
static size_t planned(const launch_case *made, restride_irregular_method method, size_t budget)
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

/* Steps through all permutations of values[0 .. count), in lexicographic order. */
static bool next_permutation(uint64_t *values, size_t count)
{
    size_t i = count - 1;
    while (i > 0 && values[i - 1] >= values[i])
        i--;
    if (i == 0)
        return false;
    size_t k = count - 1;
    while (values[k] <= values[i - 1])
        k--;
    for (size_t a = i - 1, b = k; a < b; a = count, b = 0) {
        uint64_t swapped = values[a];
        values[a] = values[b];
        values[b] = swapped;
    }
    for (size_t a = i, b = count - 1; a < b; a++, b--) {
        uint64_t swapped = values[a];
        values[a] = values[b];
        values[b] = swapped;
    }
    return true;
}

/* The fewest transactions over all orders of threads and of data, without copies. */
static size_t exhaustive(const launch_case *made)
{
    enum { MOST = 8 };
    uint64_t object[MOST];
    size_t threads = made->launch.threads;
    memcpy(object, made->index, threads * sizeof *object);
    for (size_t i = 1; i < threads; i++)
        for (size_t k = i; k > 0 && object[k - 1] > object[k]; k--) {
            uint64_t swapped = object[k];
            object[k] = object[k - 1];
            object[k - 1] = swapped;
        }
    size_t best = SIZE_MAX;
    do { /* equal threads give equal orders: each multiset order once */
        uint64_t place[MOST];
        for (size_t i = 0; i < made->reference.objects; i++)
            place[i] = i;
        do {
            uint64_t index[MOST];
            for (size_t t = 0; t < threads; t++)
                index[t] = place[object[t]];
            size_t count = marked_segments(&made->launch, index, made->reference.objects,
                                           made->reference.object_bytes);
            best = count < best ? count : best;
        } while (next_permutation(place, made->reference.objects));
    } while (next_permutation(object, threads));
    return best;
}

static void small_launches_come_near_the_optimum(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int n = 0; n < 60; n++) {
        launch_case made = {{1 + test_random(&seed, 6), 2 + test_random(&seed, 2), 0},
                            {NULL, 8, 1 + test_random(&seed, 4), 4},
                            NULL,
                            NULL};
        made.launch.segment_bytes = 4 * made.launch.warp;
        uint64_t index[6];
        for (size_t t = 0; t < made.launch.threads; t++)
            index[t] = test_random(&seed, made.reference.objects);
        made.index = index;
        made.reference.index = index;
        size_t best = exhaustive(&made);
        size_t warps = warps_of(&made);
        assert_true(best >= warps);
        assert_true(planned(&made, RESTRIDE_IRREGULAR_AUTO, 0) <= best);
        assert_int_equal(planned(&made, RESTRIDE_IRREGULAR_PADDING, 0), warps);
        size_t approximated = planned(&made, RESTRIDE_IRREGULAR_APPROXIMATION, 0);
        assert_true(approximated >= best);
        assert_true(approximated <= best + warps);
    }
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
    const restride_launch launch = {THREADS, 32, 128};
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
            before += facts.transactions_before;
            after += facts.transactions_after;
        }
        assert_true(after < before);
        free(slots_a);
        free(slots_b);
        restride_irregular_destroy(plan);
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
        assert_true(keys != NULL && order != NULL);
        for (size_t i = 0; i < count; i++)
            keys[i] = test_random(&seed, most + 1);
        assert_int_equal(rs_order_by_key(order, keys, count, most, 1 + test_random(&seed, 5)),
                         RESTRIDE_OK);
        for (size_t i = 1; i < count; i++)
            assert_true(keys[order[i - 1]] < keys[order[i]] ||
                        (keys[order[i - 1]] == keys[order[i]] && order[i - 1] < order[i]));
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

/* The column indices of a Matrix Market file, row by row: what SpMV reads of its vector. */
static uint32_t *read_columns(const char *path, size_t *count, size_t *columns)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    char line[256];
    size_t rows = 0;
    size_t entries = 0;
    while (fgets(line, sizeof line, file) != NULL && line[0] == '%')
        continue;
    assert_int_equal(sscanf(line, "%zu %zu %zu", &rows, columns, &entries), 3);
    uint32_t *index = malloc(entries * sizeof *index);
    assert_non_null(index);
    for (*count = 0; *count < entries && fgets(line, sizeof line, file) != NULL; (*count)++) {
        assert_int_equal(sscanf(line, "%u", &index[*count]), 1);
        index[*count]--;
    }
    fclose(file);
    assert_int_equal(*count, entries);
    return index;
}

static void a_real_matrix_gains(void **state)
{
    (void)state;
    size_t count = 0;
    size_t columns = 0;
    uint32_t *index = read_columns(RESTRIDE_SHARED_DATA "/bcsstk18.mtx", &count, &columns);
    if (index == NULL) {
        print_message("skipped: there is no bcsstk18.mtx beside the checkout\n");
        skip();
    }
    const restride_launch launch = {count, 32, 128};
    const restride_reference reference = {index, 4, columns, 4};
    for (int method = 1; method <= METHODS; method++) {
        const restride_irregular_options options = {.method = (restride_irregular_method)method};
        restride_irregular *plan;
        assert_int_equal(restride_irregular_plan(&plan, &launch, &reference, 1, &options),
                         RESTRIDE_OK);
        const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
        print_message("bcsstk18, method %d: %zu to %zu of at best %zu, bound %zu, %zu bytes more\n",
                      method, facts.transactions_before, facts.transactions_after,
                      facts.transactions_best, facts.transactions_bound, facts.extra_bytes);
        assert_true(facts.transactions_after <= facts.transactions_bound);
        assert_true(facts.transactions_after < facts.transactions_before);
        restride_irregular_destroy(plan);
    }
    free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_reads_its_object_within_the_bounds),
        cmocka_unit_test(the_best_method_that_is_allowed_wins),
        cmocka_unit_test(break_even_counts_what_reordering_moves),
        cmocka_unit_test(small_launches_come_near_the_optimum),
        cmocka_unit_test(partial_duplication_spends_its_budget_well),
        cmocka_unit_test(several_references_share_the_order_of_threads),
        cmocka_unit_test(sorting_is_stable_on_any_number_of_threads),
        cmocka_unit_test(bad_input_gets_a_sentence),
        cmocka_unit_test(a_real_matrix_gains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
