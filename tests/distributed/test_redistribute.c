/* Redistributions among threads as processes, against the definition: TEST [SEED COUNT]. */
#include "at_random.h"
#include "cmocka_all.h"
#include "random_cases.h"
#include "threads.h"

#include "restride/distributed.h"
#include "restride/restride.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t first_seed = 1;
static size_t case_count = 400;

static void random_redistributions(void **state)
{
    (void)state;
    use_peer_memory(false);
    redistribute_at_random(NULL, first_seed, case_count);
}

static void in_each_others_memory(void **state)
{
    (void)state;
    use_peer_memory(true);
    redistribute_at_random(NULL, first_seed, case_count / 4);
    use_peer_memory(false);
}

/* Most random cases have no stage that leaves each message's bytes where they are. */
static void beside_messages(void **state)
{
    (void)state;
    overlap_all(true);
    const size_t beside = redistribute_at_random(NULL, first_seed, case_count);
    use_peer_memory(true);
    redistribute_at_random(NULL, first_seed, case_count / 4);
    use_peer_memory(false);
    overlap_all(false);
    assert_true(beside * 20 > case_count);
}

/* ---- failures ---- */

/* What each process does wrong, and what all get for it. */
typedef struct {
    const char *froms[3]; /* of each process */
    size_t scratch[3];
    bool no_buffer[3];
    double seconds;
    restride_status planned; /* on all */
    restride_status executed;
    const char *words; /* of some process */
    bool heard[3];     /* it has said them */
} fault;

static void fail_on_purpose(restride_group *group, void *context)
{
    fault *f = context;
    const int rank = restride_group_rank(group);
    const restride_plan_options options = {.scratch_bytes = f->scratch[rank]};
    float part[12];
    float before[12];
    for (int i = 0; i < 12; i++)
        part[i] = before[i] = (float)(100 * rank + i);
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(restride_engine_create_host(&engine, 1), RESTRIDE_OK);
    restride_group_set_timeout(group, f->seconds);
    restride_group_set_timeout(group, -1); /* is ignored */
    restride_status status = restride_plan_redistribute(&plan, group, engine, "r:6 c:6 float",
                                                        f->froms[rank], "@c/2 c%2 r", 0, &options);
    if (status != f->planned)
        fail_msg("process %d: planned with %s, %s", rank, restride_status_name(status),
                 restride_last_error());
    if (status == RESTRIDE_OK) {
        status = restride_execute(plan, f->no_buffer[rank] ? NULL : part);
        if (status != f->executed)
            fail_msg("process %d: run with %s, %s", rank, restride_status_name(status),
                     restride_last_error());
        if (strstr(restride_last_error(), "unchanged") != NULL)
            assert_memory_equal(part, before, sizeof part);
    }
    f->heard[rank] = strstr(restride_last_error(), f->words) != NULL;
    if (status == RESTRIDE_IO) { /* and again: the group is no more */
        restride_plan *another;
        assert_int_equal(restride_plan_redistribute(&another, group, engine, "r:6 c:6 float",
                                                    "@r/2 r%2 c", "@c/2 c%2 r", 0, NULL),
                         RESTRIDE_IO);
        assert_null(another);
    }
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

#define ROWS "@r/2 r%2 c"

static void each_process_hears_of_a_failure(void **state)
{
    (void)state;
    fault faults[] = {
        {.froms = {ROWS, ROWS, "@r/2 c r%2"},
         .planned = RESTRIDE_INVALID_ARGUMENT,
         .words = "gives other arguments than process 0"},
        {.froms = {ROWS, ROWS, ROWS},
         .scratch = {0, 9999999, 0},
         .planned = RESTRIDE_INVALID_ARGUMENT,
         .words = "gives other arguments than process 0"},
        {.froms = {ROWS, "@r/2 c", ROWS}, .planned = RESTRIDE_SYNTAX, .words = "r%2 is missing"},
        {.froms = {"@r r%1 c", "@r r%1 c", "@r r%1 c"},
         .planned = RESTRIDE_INVALID_ARGUMENT,
         .words = "needs 6 processes and the group has 3"},
        {.froms = {ROWS, ROWS, ROWS},
         .scratch = {100, 100, 100},
         .planned = RESTRIDE_UNSUPPORTED,
         .words = "scratch memory"},
        {.froms = {ROWS, ROWS, ROWS},
         .no_buffer = {false, false, true},
         .executed = RESTRIDE_INVALID_ARGUMENT,
         .words = "gives no buffer"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        faults[i].seconds = 60;
        run_processes(3, fail_on_purpose, &faults[i]);
        for (int p = 0; p < 3; p++)
            if (!faults[i].heard[p])
                fail_msg("fault %zu: process %d did not hear \"%s\"", i, p, faults[i].words);
    }
}

/* A process whose messages stop: all end within the time-out, and say that the buffers are lost. */
static void none_waits_for_ever(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        fault f = {.froms = {ROWS, ROWS, ROWS},
                   .seconds = 0.5,
                   .executed = RESTRIDE_IO,
                   .words = "serves no more calls"};
        struct timespec begun;
        struct timespec ended;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        overlap_all(way >= 2);
        fail_message(1, way % 2);
        run_processes(3, fail_on_purpose, &f);
        fail_message(-1, -1);
        overlap_all(false);
        clock_gettime(CLOCK_MONOTONIC, &ended);
        assert_true(ended.tv_sec - begun.tv_sec < 5);
    }
}

static void groups_check_their_arguments(void **state)
{
    (void)state;
    restride_group *group;
    assert_int_equal(restride_group_create(&group, NULL, NULL, 0, 2), RESTRIDE_INVALID_ARGUMENT);
    assert_null(group);
    assert_int_equal(restride_group_create(&group, NULL, NULL, 1, 1), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_group_create(NULL, NULL, NULL, 0, 1), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_group_create(&group, NULL, NULL, 0, 1), RESTRIDE_OK);
    assert_int_equal(restride_group_rank(group), 0);
    assert_int_equal(restride_group_size(group), 1);
    restride_plan *plan;
    assert_int_equal(restride_plan_redistribute(&plan, group, NULL, "r:4 float", "r", "r", 0, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_null(plan);
    restride_group_destroy(group);
    restride_group_destroy(NULL);
    assert_int_equal(restride_group_rank(NULL), 0);
    assert_int_equal(restride_group_size(NULL), 0);
    assert_int_equal(restride_plan_local_bytes(NULL), 0);
}

/* ---- what is told ---- */

static void describe(restride_group *group, void *context)
{
    size_t *sent = context;
    const int rank = restride_group_rank(group);
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(restride_engine_create_host(&engine, 1), RESTRIDE_OK);
    assert_int_equal(restride_plan_redistribute(&plan, group, engine, "r:8 c:8 float", "@r/4 r%4 c",
                                                "@c/4 c%4 r", 0, NULL),
                     RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"processes\": 2"));
    assert_non_null(strstr(text, "\"bytes_before\": 128"));
    const char *bytes = strstr(text, "\"bytes_sent\": ");
    assert_non_null(bytes);
    sent[rank] = strtoul(bytes + strlen("\"bytes_sent\": "), NULL, 10);
    free(text);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

/* Half of what each of two processes has goes to the other, and no byte more. */
static void a_plan_tells_what_it_sends(void **state)
{
    (void)state;
    size_t sent[2] = {0, 0};
    run_processes(2, describe, sent);
    assert_int_equal(sent[0], 64);
    assert_int_equal(sent[1], 64);
}

/* How many local passes a process needs. */
typedef struct {
    const char *from;
    const char *to;
    size_t passes;
} local_work;

static void count_passes(restride_group *group, void *context)
{
    const local_work *expected = context;
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(restride_engine_create_host(&engine, 1), RESTRIDE_OK);
    assert_int_equal(restride_plan_redistribute(&plan, group, engine, "r:64 c:64 double",
                                                expected->from, expected->to, 0, NULL),
                     RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    assert_non_null(text);
    size_t passes = 0; /* each has its own device; the plan as a whole has none */
    for (const char *at = text; (at = strstr(at, "\"device\"")) != NULL; at++)
        passes++;
    if (passes != expected->passes)
        fail_msg("\"%s\" to \"%s\": %zu passes, not %zu", expected->from, expected->to, passes,
                 expected->passes);
    free(text);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

/* Tiles that go to processes move there in the pass that also changes their order. */
static void few_local_passes_suffice(void **state)
{
    (void)state;
    local_work works[] = {
        {"@r/32 r%32 c", "@r/32 r%32 c", 0}, {"@r/32 r%32 c", "@c/32 r c%32", 1},
        {"@r/32 c r%32", "@c/32 r c%32", 1}, {"@r/32 r%32 c", "@c/32 c%32 r", 2},
        {"@r/32 c r%32", "@c/32 c%32 r", 1},
    };
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        run_processes(2, count_passes, &works[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_redistributions),
        cmocka_unit_test(in_each_others_memory),
        cmocka_unit_test(beside_messages),
        cmocka_unit_test(each_process_hears_of_a_failure),
        cmocka_unit_test(none_waits_for_ever),
        cmocka_unit_test(groups_check_their_arguments),
        cmocka_unit_test(a_plan_tells_what_it_sends),
        cmocka_unit_test(few_local_passes_suffice),
    };
    random_cases(argc, argv, &first_seed, &case_count);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
