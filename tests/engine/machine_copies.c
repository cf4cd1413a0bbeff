/* Conversions from one buffer to another on a device; see machine.h. */
#include "../copy_cases.h"
#include "../transpose/reference.h"
#include "cmocka_all.h"
#include "machine.h"
#include "transpose/copy_back.h"
#include "transpose/copy_parts.h"

#include <stdlib.h>
#include <string.h>

static void check(const test_machine *machine, const copy_case *c, uint64_t seed)
{
    const copy_arrays a = copy_case_sizes(c);
    restride_plan *plan = copy_case_plan(c, machine->engine);
    guarded_buffer before = guarded_create(a.from_bytes, 0, seed);
    unsigned char *source = malloc(a.from_bytes);
    unsigned char *target = calloc(1, a.to_bytes);
    assert_true(source != NULL && target != NULL);
    void *from = machine->create(before.bytes, a.from_bytes);
    void *to = machine->create(target, a.to_bytes);
    if (restride_execute_copy(plan, from, to) != RESTRIDE_OK)
        copy_case_fail(c, restride_last_error());
    if (!machine->read(to, target, a.to_bytes) || !machine->read(from, source, a.from_bytes))
        copy_case_fail(c, "a canary changed");
    if (memcmp(source, before.bytes, a.from_bytes) != 0)
        copy_case_fail(c, "the source changed");
    if (!copy_case_holds(c, source, target))
        copy_case_fail(c, "wrong elements");
    machine->destroy(to);
    machine->destroy(from);
    free(target);
    free(source);
    guarded_free(&before);
    restride_plan_destroy(plan);
}

/*
 * The same in place, through scratch memory for some or all of the arrays. False where the layouts
 * leave bytes out: then there is no such plan.
 */
static bool plan_back(const test_machine *machine, const copy_case *c, size_t scratch_bytes,
                      restride_plan **plan)
{
    restride_layout *from;
    restride_layout *to;
    rs_arena arena = {0};
    rs_copy_task task = {0};
    bool dropped;
    const restride_plan_options options = {.scratch_bytes = scratch_bytes, .method = "copy"};
    const copy_arrays a = copy_case_sizes(c);
    assert_int_equal(restride_layout_parse(&from, c->dims, c->from), RESTRIDE_OK);
    assert_int_equal(restride_layout_parse(&to, c->dims, c->to), RESTRIDE_OK);
    restride_status status = rs_copy_parts(&task, &arena, from, to, c->unit);
    if (status == RESTRIDE_OK)
        status = rs_plan_create(plan, machine->engine, a.from_bytes, c->from, c->to);
    if (status == RESTRIDE_OK)
        status = rs_copy_back_replace(*plan, &task, &options, &dropped);
    if (status != RESTRIDE_OK) {
        assert_int_equal(status, RESTRIDE_UNSUPPORTED);
        restride_plan_destroy(*plan);
    }
    rs_arena_free(&arena);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return status == RESTRIDE_OK;
}

/* Returns how many parts of the array are in scratch memory together; 0: there is no plan. */
static size_t check_back(const test_machine *machine, const copy_case *c, uint64_t seed,
                         size_t scratch_bytes)
{
    const copy_arrays a = copy_case_sizes(c);
    restride_plan *plan = NULL;
    if (!plan_back(machine, c, scratch_bytes, &plan))
        return 0;
    if (restride_plan_scratch_bytes(plan) > scratch_bytes || plan->stage_count != 1)
        copy_case_fail(c, "more scratch memory than granted");
    const size_t together = plan->tasks[0].tile;
    guarded_buffer before = guarded_create(a.from_bytes, 0, seed);
    unsigned char *after = malloc(a.to_bytes);
    assert_non_null(after);
    void *buffer = machine->create(before.bytes, a.from_bytes);
    if (restride_execute(plan, buffer) != RESTRIDE_OK)
        copy_case_fail(c, restride_last_error());
    if (!machine->read(buffer, after, a.to_bytes))
        copy_case_fail(c, "a canary changed");
    if (!copy_case_holds(c, before.bytes, after))
        copy_case_fail(c, "wrong elements in place");
    machine->destroy(buffer);
    free(after);
    guarded_free(&before);
    restride_plan_destroy(plan);
    return together;
}

/* Batches go some arrays at a time, of which the last may be fewer. */
static void check_batches(const test_machine *machine, uint64_t seed)
{
    static const struct {
        copy_case problem;
        size_t scratch_bytes;
        size_t together;
    } cases[] = {
        {{"b:11 y:40 x:50", "b y x", "b x y", 4, ""}, 3 * 8000 + 7000, 3},
        {{"b:7 y:33 x:35", "b y x", "b x y", 4, ""}, 5 * 4620 + 3000, 4},
        {{"b:7 y:33 x:35", "b y x", "b x y", 1, ""}, 6 * 1155 + 1000, 0},
        {{"b:40 y:13 x:15", "b y x", "b x y", 1, ""}, 33 * 195 + 2500, 16},
        {{"y:60 x:70", "y x", "x y", 4, ""}, 16800, 0},
        {{"i:1000 f:5", "i f", "f i", 3, ""}, 15000 + 4096, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t together =
            check_back(machine, &cases[i].problem, seed, cases[i].scratch_bytes);
        if (together != cases[i].together)
            fail_msg("batch %zu: %zu arrays at a time, not %zu", i, together, cases[i].together);
    }
}

enum { BACK_ONE_IN = 4, TABLES_BYTES = 4096 }; /* kernels take long to build */

/* The number that follows `"name":` in a description. */
static size_t described(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtoul(at + strlen(name), NULL, 10);
}

/* Groups are small unless too few boxes fit (engine/device/copies.c). */
static void check_threads(const test_machine *machine)
{
    static const struct {
        copy_case problem;
        size_t threads;
    } cases[] = {
        {{"y:1800 x:1801", "y x", "x y", 4, ""}, 128},
        {{"a:30 b:40 c:20 d:50 e:33", "a b c d e", "e b d a c", 4, ""}, 128},
        {{"i:5003 f:18", "i f", "f i", 8, ""}, 128},
        {{"a:51 b:60 c:70", "a b c", "b a c", 4, ""}, 128},
        {{"a:96 b:80 c:70 d:60", "a b c d", "d c b a", 4, ""}, 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        restride_plan *plan = copy_case_plan(&cases[i].problem, machine->engine);
        char *text = restride_plan_describe(plan);
        assert_non_null(text);
        if (described(text, "\"threads\":") != cases[i].threads)
            copy_case_fail(&cases[i].problem, text);
        free(text);
        restride_plan_destroy(plan);
    }
}

void machine_test_copies(const test_machine *machine, uint64_t seed, size_t count, bool reduced)
{
    if (!reduced)
        check_threads(machine);
    check_batches(machine, seed);
    for (size_t i = 0; i < copy_case_count && !reduced; i++)
        check(machine, &copy_cases[i], seed + i);
    for (size_t i = 0; i < count; i++) {
        copy_case c;
        copy_case_random(&c, &seed);
        check(machine, &c, seed);
        if (i % BACK_ONE_IN == 0)
            check_back(machine, &c, seed, copy_case_sizes(&c).from_bytes + (1 << 20));
        copy_case_random_tensor(&c, &seed, reduced ? 3000 : 60000);
        check(machine, &c, seed);
        if (i % BACK_ONE_IN == 1)
            check_back(machine, &c, seed, copy_case_sizes(&c).from_bytes / 2 + TABLES_BYTES);
    }
}
