#include "irregular/device_cases.h"
#include "cmocka_all.h"
#include "engine/device/sort.h"
#include "irregular/irregular.h"
#include "irregular/launches.h"
#include "restride/irregular_device.h"
#include "transpose/reference.h"

#include <stdlib.h>
#include <string.h>

static const char doing[] = "testing";

static rs_device_engine *device_of(restride_engine *engine)
{
    assert_int_equal(engine->operations->enter(engine), RESTRIDE_OK);
    return (rs_device_engine *)engine;
}

static rs_device_memory create(restride_engine *engine, const void *content, size_t bytes)
{
    rs_device_engine *device = device_of(engine);
    rs_device_memory memory;
    assert_int_equal(device->device->allocate(device, bytes, &memory), RESTRIDE_OK);
    if (content != NULL)
        assert_int_equal(device->device->write(device, memory, content, bytes, doing), RESTRIDE_OK);
    engine->operations->leave(engine);
    return memory;
}

static void read_back(restride_engine *engine, void *content, rs_device_memory memory, size_t bytes)
{
    rs_device_engine *device = device_of(engine);
    assert_int_equal(device->device->read(device, content, memory, bytes, doing), RESTRIDE_OK);
    engine->operations->leave(engine);
}

static void release(restride_engine *engine, rs_device_memory memory)
{
    rs_device_engine *device = device_of(engine);
    device->device->release(device, memory);
    engine->operations->leave(engine);
}

static uint32_t *random_numbers(uint64_t *seed, size_t count, size_t bound)
{
    uint32_t *numbers = malloc(count * sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)test_random(seed, bound);
    return numbers;
}

/* One number more than is summed stays as it is. */
static void test_sums(restride_engine *engine, uint64_t seed, size_t count, size_t most)
{
    for (size_t n = 0; n < count; n++) {
        size_t numbers = n == 0 ? most : 1 + test_random(&seed, PICK(&seed, 10, most / 4, most));
        uint32_t *values = random_numbers(&seed, numbers + 1, PICK(&seed, 2, 1000, UINT32_MAX));
        rs_device_memory memory = create(engine, values, (numbers + 1) * sizeof *values);
        uint32_t *summed = malloc((numbers + 1) * sizeof *summed);
        assert_non_null(summed);
        rs_sorter sorter;
        size_t total = 0;
        assert_int_equal(rs_sorter_create(&sorter, device_of(engine), numbers), RESTRIDE_OK);
        rs_device_sequence sequence = {.engine = (rs_device_engine *)engine};
        rs_sorter_sum(&sorter, &sequence, memory, numbers);
        assert_int_equal(rs_sorter_total(&sorter, &sequence, numbers, &total), RESTRIDE_OK);
        rs_sorter_destroy(&sorter);
        engine->operations->leave(engine);
        read_back(engine, summed, memory, (numbers + 1) * sizeof *summed);
        uint32_t sum = 0;
        for (size_t i = 0; i < numbers; i++) {
            assert_int_equal(summed[i], sum);
            sum += values[i];
        }
        assert_int_equal(total, sum);
        assert_int_equal(summed[numbers], values[numbers]);
        release(engine, memory);
        free(summed);
        free(values);
    }
}

static void test_sorting(restride_engine *engine, uint64_t seed, size_t count, size_t most)
{
    for (size_t n = 0; n < count; n++) {
        size_t pairs_count =
            n == 0 ? most : 1 + test_random(&seed, PICK(&seed, 10, most / 4, most));
        size_t most_key = PICK(&seed, 0, 1, 255, 256, 70000, UINT32_MAX);
        bool numbered = test_random(&seed, 2) == 0;
        size_t bytes = pairs_count * sizeof(uint32_t);
        uint32_t *keys = random_numbers(&seed, pairs_count, most_key + 1);
        uint32_t *values = random_numbers(&seed, pairs_count, UINT32_MAX);
        uint32_t *sorted_keys = malloc(bytes);
        uint32_t *sorted_values = malloc(bytes);
        size_t *wide = malloc(pairs_count * sizeof *wide);
        size_t *order = malloc(pairs_count * sizeof *order);
        assert_true(sorted_keys != NULL && sorted_values != NULL && wide != NULL && order != NULL);
        rs_sorter_pairs pairs = {create(engine, keys, bytes), create(engine, values, bytes),
                                 create(engine, NULL, bytes), create(engine, NULL, bytes)};
        rs_sorter sorter;
        assert_int_equal(rs_sorter_create(&sorter, device_of(engine), pairs_count), RESTRIDE_OK);
        rs_device_sequence sequence = {.engine = (rs_device_engine *)engine};
        rs_sorter_sort(&sorter, &sequence, &pairs, pairs_count, most_key, numbered);
        assert_int_equal(rs_device_finish(&sequence, doing), RESTRIDE_OK);
        rs_sorter_destroy(&sorter);
        engine->operations->leave(engine);
        read_back(engine, sorted_keys, pairs.keys, bytes);
        read_back(engine, sorted_values, pairs.values, bytes);
        for (size_t i = 0; i < pairs_count; i++)
            wide[i] = keys[i];
        assert_int_equal(rs_order_by_key(order, NULL, wide, pairs_count, most_key, 1), RESTRIDE_OK);
        for (size_t i = 0; i < pairs_count; i++) {
            assert_int_equal(sorted_keys[i], keys[order[i]]);
            assert_int_equal(sorted_values[i], numbered ? order[i] : values[order[i]]);
        }
        const rs_device_memory memories[] = {pairs.keys, pairs.values, pairs.other_keys,
                                             pairs.other_values};
        for (int i = 0; i < 4; i++)
            release(engine, memories[i]);
        free(order);
        free(wide);
        free(sorted_values);
        free(sorted_keys);
        free(values);
        free(keys);
    }
}

/* ---- plans ---- */

static launch_case make_large(uint64_t *seed, size_t threads)
{
    launch_case made = {{threads, PICK(seed, 3, 32, 32, 300, 1024), PICK(seed, 32, 128)},
                        {NULL, 8, 1 + test_random(seed, threads), PICK(seed, 4, 6, 12)},
                        NULL,
                        NULL};
    made.index = malloc(threads * sizeof *made.index);
    assert_non_null(made.index);
    made.reference.index = made.index;
    size_t hubs = 1 + made.reference.objects / 50;
    for (size_t t = 0; t < threads; t++)
        made.index[t] = test_random(seed, t % 3 == 0 ? hubs : made.reference.objects);
    make_array(&made, seed);
    return made;
}

static void check_numbers(restride_engine *engine, rs_device_memory memory,
                          const uint64_t *expected, size_t count)
{
    uint32_t *numbers = malloc(count * sizeof *numbers);
    assert_non_null(numbers);
    read_back(engine, numbers, memory, count * sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(numbers[i], expected[i]);
    free(numbers);
}

static void check_threads(restride_engine *engine, const restride_irregular_device *made,
                          const restride_irregular *expected, const launch_case *launched)
{
    size_t threads = launched->launch.threads;
    uint64_t *numbers = malloc(threads * sizeof *numbers);
    assert_non_null(numbers);
    assert_int_equal(restride_irregular_index(expected, 0, numbers), RESTRIDE_OK);
    check_numbers(engine, restride_irregular_device_index(made), numbers, threads);
    rs_device_memory order = restride_irregular_device_order(made);
    assert_int_equal(order != NULL, restride_irregular_moves_threads(expected));
    restride_irregular_order(expected, (size_t *)numbers);
    if (order != NULL)
        check_numbers(engine, order, numbers, threads);
    free(numbers);
}

static void check_data(restride_engine *engine, const restride_irregular_device *made,
                       const restride_irregular *expected, const launch_case *launched)
{
    enum { GUARD = 64 };
    size_t array_bytes = launched->reference.objects * launched->reference.object_bytes;
    size_t slot_bytes = restride_irregular_slots(expected, 0) * launched->reference.object_bytes;
    unsigned char *slots = malloc(slot_bytes + GUARD);
    unsigned char *read = malloc(slot_bytes + GUARD + array_bytes);
    assert_true(slots != NULL && read != NULL);
    memset(slots, 0x5c, slot_bytes + GUARD);
    rs_device_memory array = create(engine, launched->array, array_bytes);
    rs_device_memory memory = create(engine, slots, slot_bytes + GUARD);
    restride_irregular_gather(expected, 0, launched->array, slots);
    assert_int_equal(restride_irregular_device_gather(made, array, memory), RESTRIDE_OK);
    read_back(engine, read, memory, slot_bytes + GUARD);
    assert_memory_equal(read, slots, slot_bytes + GUARD);
    restride_status back = restride_irregular_device_scatter(made, memory, array);
    assert_int_equal(back, restride_irregular_device_order(made) == NULL ? RESTRIDE_UNSUPPORTED
                                                                         : RESTRIDE_OK);
    read_back(engine, read, array, array_bytes);
    assert_memory_equal(read, launched->array, array_bytes);
    release(engine, memory);
    release(engine, array);
    free(read);
    free(slots);
}

static void check_plan(restride_engine *engine, const launch_case *launched,
                       restride_irregular_method method, bool wide)
{
    const restride_irregular_options options = {.method = method, .processors = 1};
    size_t threads = launched->launch.threads;
    uint32_t *narrow = malloc(threads * sizeof *narrow);
    assert_non_null(narrow);
    for (size_t t = 0; t < threads; t++)
        narrow[t] = (uint32_t)launched->index[t];
    restride_reference reference = launched->reference;
    reference.index_bytes = wide ? 8 : 4;
    rs_device_memory index =
        wide ? create(engine, launched->index, threads * 8) : create(engine, narrow, threads * 4);
    reference.index = index;
    restride_irregular *expected;
    restride_irregular_device *made;
    assert_int_equal(
        restride_irregular_plan(&expected, &launched->launch, &launched->reference, 1, &options),
        RESTRIDE_OK);
    if (restride_irregular_device_plan(&made, engine, &launched->launch, &reference, &options) !=
        RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    assert_int_equal(restride_irregular_device_method(made), method);
    assert_int_equal(restride_irregular_device_slots(made), restride_irregular_slots(expected, 0));
    restride_irregular_facts facts = restride_irregular_device_facts(made);
    restride_irregular_facts host = restride_irregular_plan_facts(expected, 0);
    if (!wide) /* the host's plan counts the bytes of its own index array */
        host.break_even = facts.break_even;
    assert_memory_equal(&facts, &host, sizeof facts);
    check_threads(engine, made, expected, launched);
    check_data(engine, made, expected, launched);
    restride_irregular_device_destroy(made);
    restride_irregular_destroy(expected);
    release(engine, index);
    free(narrow);
}

static void test_plans(restride_engine *engine, uint64_t seed, size_t count, size_t most)
{
    for (size_t n = 0; n < count; n++) {
        launch_case made =
            n % 4 == 0 ? make_large(&seed, most - test_random(&seed, most / 3)) : make_case(&seed);
        check_plan(engine, &made, RESTRIDE_IRREGULAR_APPROXIMATION, n % 2 == 0);
        check_plan(engine, &made, RESTRIDE_IRREGULAR_DUPLICATION, n % 2 == 1);
        free_case(&made);
    }
}

/* ---- bad input ---- */

static void says(restride_status expected, const char *part, restride_engine *engine,
                 const restride_launch *launch, const restride_reference *reference,
                 const restride_irregular_options *options)
{
    restride_irregular_device *plan = (restride_irregular_device *)&plan;
    assert_int_equal(restride_irregular_device_plan(&plan, engine, launch, reference, options),
                     expected);
    assert_null(plan);
    if (strstr(restride_last_error(), part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", restride_last_error(), part);
}

static void buffers_of_a_wrong_size_are_refused(restride_engine *engine,
                                                const restride_launch *launch,
                                                const restride_reference *reference)
{
    restride_irregular_device *plan;
    assert_int_equal(restride_irregular_device_plan(&plan, engine, launch, reference, NULL),
                     RESTRIDE_OK);
    rs_device_memory small = create(engine, NULL, 20);
    rs_device_memory large = create(engine, NULL, 24);
    assert_int_equal(restride_irregular_device_gather(plan, small, large),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_irregular_device_gather(plan, large, small),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_irregular_device_scatter(plan, small, large),
                     RESTRIDE_INVALID_ARGUMENT);
    release(engine, large);
    release(engine, small);
    restride_irregular_device_destroy(plan);
    restride_irregular_device_destroy(NULL);
}

static void test_bad_input(restride_engine *engine)
{
    const uint32_t index[] = {0, 1, 5, 2};
    rs_device_memory memory = create(engine, index, sizeof index);
    const restride_launch launch = {4, 32, 32};
    const restride_launch too_long = {5, 32, 32};
    const restride_reference good = {memory, 4, 6, 4};
    restride_reference bad = good;
    bad.objects = 5;
    says(RESTRIDE_INVALID_ARGUMENT, "Thread 2 reads behind the array", engine, &launch, &bad, NULL);
    bad.objects = UINT32_MAX;
    says(RESTRIDE_UNSUPPORTED, "32 bits", engine, &launch, &bad, NULL);
    bad.objects = 0;
    says(RESTRIDE_INVALID_ARGUMENT, "empty array", engine, &launch, &bad, NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "nothing to reorder", engine, &(restride_launch){0, 32, 32},
         &good, NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "20", engine, &too_long, &good, NULL);
    says(RESTRIDE_INVALID_ARGUMENT, "needs an engine", NULL, &launch, &good, NULL);
    says(RESTRIDE_UNSUPPORTED, "on the host alone", engine, &launch, &good,
         &(restride_irregular_options){.method = RESTRIDE_IRREGULAR_PADDING});
    says(
        RESTRIDE_UNSUPPORTED, "the budget is 15 bytes", engine, &launch, &good,
        &(restride_irregular_options){.method = RESTRIDE_IRREGULAR_DUPLICATION, .extra_bytes = 15});
    says(RESTRIDE_INVALID_ARGUMENT, "must stay", engine, &launch, &good,
         &(restride_irregular_options){.method = RESTRIDE_IRREGULAR_APPROXIMATION,
                                       .keep_threads = 1});
    restride_engine *host;
    assert_int_equal(restride_engine_create_host(&host, 1), RESTRIDE_OK);
    says(RESTRIDE_UNSUPPORTED, "host memory", host, &launch, &good, NULL);
    restride_engine_destroy(host);
    buffers_of_a_wrong_size_are_refused(engine, &launch, &good);
    release(engine, memory);
}

static const device_cases *given;

static void sums_are_those_of_the_host(void **state)
{
    (void)state;
    test_sums(given->engine, given->seed, given->count, given->most);
}

static void sorting_is_stable(void **state)
{
    (void)state;
    test_sorting(given->engine, given->seed, given->count, given->most);
}

static void plans_are_those_of_the_host(void **state)
{
    (void)state;
    test_plans(given->engine, given->seed, given->count, given->most_threads);
}

static void bad_input_gets_a_sentence(void **state)
{
    (void)state;
    test_bad_input(given->engine);
}

int device_cases_run(const device_cases *cases)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_host),
        cmocka_unit_test(sorting_is_stable),
        cmocka_unit_test(plans_are_those_of_the_host),
        cmocka_unit_test(bad_input_gets_a_sentence),
    };
    given = cases;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
