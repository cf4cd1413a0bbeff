/*
 * Conversions between layouts against their definition: every element is where
 * restride_layout_offset() says. `test_convert all` runs more pairs, and larger ones.
 */
#include "cmocka_all.h"
#include "host_engine.h"
#include "layout/generate.h"
#include "layout/layout.h"
#include "reference.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *dims;
    const char *from;
    const char *to;
    size_t unit; /* 0 with a record */
    int threads;
    size_t scratch;
} problem;

typedef struct {
    restride_layout *from;
    restride_layout *to;
    size_t from_bytes;
    size_t to_bytes;
    restride_engine *engine;
} setting;

static void say(const problem *p)
{
    print_message("\"%s\": \"%s\" to \"%s\", %zu bytes, %d threads, scratch %zu\n", p->dims,
                  p->from, p->to, p->unit, p->threads, p->scratch);
}

static restride_layout *parse(const problem *p, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, p->dims, expression) != RESTRIDE_OK) {
        say(p);
        fail_msg("%s", restride_last_error());
    }
    return layout;
}

static void execute(const problem *p, const setting *s, bool back, unsigned char *data)
{
    restride_plan *plan;
    const restride_plan_options options = {.scratch_bytes = p->scratch};
    if (restride_plan_convert_with(&plan, s->engine, back ? s->to : s->from, back ? s->from : s->to,
                                   p->unit, &options) != RESTRIDE_OK) {
        say(p);
        fail_msg("%s", restride_last_error());
    }
    size_t bytes = s->from_bytes > s->to_bytes ? s->from_bytes : s->to_bytes;
    size_t bound = p->scratch != 0
                       ? p->scratch
                       : bytes / 200 + (size_t)(p->threads > 0 ? p->threads : 64) * (4 << 20);
    if (restride_plan_scratch_bytes(plan) > bound) {
        say(p);
        fail_msg("%zu bytes of scratch, %zu allowed", restride_plan_scratch_bytes(plan), bound);
    }
    if (restride_execute(plan, data) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    restride_plan_destroy(plan);
}

/* There, compared with the definition, and back. */
static void check(const problem *p, size_t misalignment, uint64_t seed)
{
    setting s = {.from = parse(p, p->from), .to = parse(p, p->to)};
    assert_int_equal(test_host_engine(&s.engine, p->threads), RESTRIDE_OK);
    size_t scale = p->unit != 0 ? p->unit : 1;
    s.from_bytes = restride_layout_size(s.from) * scale;
    s.to_bytes = restride_layout_size(s.to) * scale;
    size_t size = s.from_bytes > s.to_bytes ? s.from_bytes : s.to_bytes;
    guarded_buffer buffer = guarded_create(size, misalignment, seed);
    unsigned char *before = malloc(size + 1);
    assert_non_null(before);
    memcpy(before, buffer.bytes, size);
    execute(p, &s, false, buffer.bytes);
    bool there =
        reference_converted(s.from, s.to, p->unit, before, buffer.bytes) && guarded_intact(&buffer);
    const setting home = {.from = s.from, .to = s.from};
    execute(p, &s, true, buffer.bytes);
    bool back = reference_converted(home.from, home.to, p->unit, before, buffer.bytes) &&
                guarded_intact(&buffer);
    bool padded = strstr(p->from, ":pad") != NULL || strstr(p->to, ":pad") != NULL;
    if (!padded && memcmp(before, buffer.bytes, size) != 0)
        back = false;
    if (!there || !back) {
        say(p);
        fail_msg("wrong %s, seed %llu", there ? "on the way back" : "there",
                 (unsigned long long)seed);
    }
    free(before);
    guarded_free(&buffer);
    restride_engine_destroy(s.engine);
    restride_layout_destroy(s.from);
    restride_layout_destroy(s.to);
}

static void check_random(uint64_t *seed)
{
    static const size_t units[] = {1, 2, 4, 8, 12, 3};
    made_layout from;
    made_layout to;
    make_layout(&from, seed);
    make_another(&to, &from, seed);
    const problem p = {from.dims,
                       from.expression,
                       to.expression,
                       from.record >= 0 ? 0 : units[made_random(seed, 6)],
                       1 + (int)made_random(seed, 3),
                       0};
    check(&p, made_random(seed, 65), *seed);
}

/* Whether there are plans both ways within the scratch memory. */
static bool has_plans(const problem *p)
{
    setting s = {.from = parse(p, p->from), .to = parse(p, p->to)};
    const restride_plan_options options = {.scratch_bytes = p->scratch};
    bool planned = true;
    assert_int_equal(test_host_engine(&s.engine, p->threads), RESTRIDE_OK);
    for (int back = 0; planned && back < 2; back++) {
        restride_plan *plan;
        const restride_status status =
            restride_plan_convert_with(&plan, s.engine, back == 1 ? s.to : s.from,
                                       back == 1 ? s.from : s.to, p->unit, &options);
        planned = status == RESTRIDE_OK;
        assert_true(planned || status == RESTRIDE_UNSUPPORTED);
        restride_plan_destroy(plan);
    }
    restride_engine_destroy(s.engine);
    restride_layout_destroy(s.from);
    restride_layout_destroy(s.to);
    return planned;
}

/* With little scratch memory a conversion is refused or right. */
static void test_little_scratch(void **state)
{
    (void)state;
    static const problem unequal[] = {
        {"a:72 b:5 c packed{ char[11] m; char[3] n; }", "b/2 c a b%2", "a b c", 0, 1, 1500},
        {"a:72 b:5 c packed{ char[11] m; char[3] n; }", "b/2 c a b%2", "a b c", 0, 1, 2048},
    };
    size_t planned = 0;
    for (size_t i = 0; i < sizeof unequal / sizeof unequal[0]; i++)
        if (has_plans(&unequal[i]))
            check(&unequal[i], i, i);
    uint64_t seed = 65;
    for (int i = 0; i < 1000; i++) {
        made_layout from;
        made_layout to;
        make_layout(&from, &seed);
        make_another(&to, &from, &seed);
        const problem p = {from.dims,
                           from.expression,
                           to.expression,
                           from.record >= 0 ? 0 : 3,
                           1,
                           256 + made_random(&seed, 4000)};
        if (!has_plans(&p))
            continue;
        planned++;
        check(&p, made_random(&seed, 65), seed);
    }
    assert_true(planned > 100);
}

static void test_generated(void **state)
{
    (void)state;
    uint64_t seed = 63;
    for (int i = 0; i < 2000; i++)
        check_random(&seed);
}

static void test_generated_long(void **state)
{
    (void)state;
    uint64_t seed = 64;
    for (int i = 0; i < 100000; i++)
        check_random(&seed);
}

#define MIXED "f{ float x; double m; char kind; short v[3]; int id; }"

static const problem chosen[] = {
    {"i:1003 f:7", "i f", "f i", 4, 2, 0},
    {"i:1003 f:7", "i f", "i/32 f i%32", 4, 2, 0},
    {"i:1003 f:7", "i/32 f i%32", "i/48 f i%48", 4, 2, 0},
    {"i:1003 f:7", "i/32 f i%32", "f i", 8, 2, 0},
    {"i:100000 f:5", "i/32 f i%32", "i/64 f i%64", 4, 2, 0},
    {"r:1001 k:33", "r k", "r/32 k r%32", 4, 2, 0},
    {"r:1001 k:33", "k r", "r/32 k r%32", 8, 2, 0},
    {"y:70 x:300 e:5", "y x e", "y/32 x/128 e y%32 x%128", 4, 2, 0},
    {"y:70 x:300 e:5", "y x e", "x/128 y/32 e x%128 y%32", 4, 2, 0},
    {"y:96 x:256 e:19", "e y x", "y/32 x/128 e y%32 x%128", 4, 2, 0},
    {"y:333 x:777", "y/8 x/8 y%8 x%8", "x y", 4, 3, 0},
    {"i:1000 f:3", "i/100 i/10%10 f i%10", "f i", 2, 1, 0},
    {"i:1003 f:3", "i f", "i/32:pad f i%32", 4, 2, 0},
    {"y:30 x:45 e:3", "y x e", "x/16:pad y/8:pad e x%16 y%8", 4, 2, 0},
    {"i:4 f:2", "i/3 f i%3", "i/3 i/3%1:pad f i%3", 4, 2, 0},
    {"i:10007 " MIXED, "i f", "f i", 0, 2, 0},
    {"i:10007 " MIXED, "i f", "i/32 f i%32", 0, 2, 0},
    {"i:10007 " MIXED, "i/48 f i%48", "i/32 f i%32", 0, 2, 0},
    {"i:10007 " MIXED, "i/32 f i%32", "f i", 0, 3, 0},
    {"i:200000 " MIXED, "i f", "f i", 0, 2, 0},
    {"i:199999 " MIXED, "f i", "i f", 0, 2, 0},
    {"i:40000 f{ char c[13]; double d; }", "i f", "f i", 0, 2, 0},
    {"y:100 x:100 " MIXED, "y x f", "x y f", 0, 2, 0},
    {"y:101 x:103 " MIXED, "y x f", "y/8 x/16 f y%8 x%16", 0, 2, 0},
    {"y:101 x:103 " MIXED, "f y x", "y/8 x/16 f y%8 x%16", 0, 2, 0},
    {"i:100000 " MIXED, "i f", "f i", 0, 1, 300000},
    {"i:3 f:0", "i f", "f i", 4, 1, 0},
};

static void test_chosen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++)
        check(&chosen[i], i % 9, i);
}

static void test_large(void **state)
{
    (void)state;
    static const problem large[] = {
        {"i:3000000 " MIXED, "i f", "f i", 0, 2, 0},
        {"i:2999999 " MIXED, "i/32 f i%32", "f i", 0, 2, 0},
        {"y:3001 x:4003 e:5", "y x e", "y/32 x/128 e y%32 x%128", 4, 2, 0},
        {"y:3001 x:4003 e:5", "e y x", "y/32 x/128 e y%32 x%128", 4, 2, 0},
        {"y:3001 x:4003 e:5", "y x e", "x/32 e y/100 x%32 y%100", 4, 2, 0},
        {"y:9000 x:45 e:19", "y x e", "y x/32 e x%32", 8, 2, 0},
        {"y:500000 x:45", "y x/32 x%32", "x/32 y x%32", 4, 2, 0},
        {"i:10000019 f:8", "i f", "f i", 4, 2, 0},
        {"i:10000019 f:8", "i/48 f i%48", "i/32 f i%32", 4, 2, 0},
    };
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        check(&large[i], i % 9, i);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *dims[2];
        const char *layouts[2];
        size_t unit;
        restride_status status;
    } cases[] = {
        {{"i:64 f:5", "i:64 f:5"}, {"i f", "f i"}, 0, RESTRIDE_UNSUPPORTED},
        {{"i:64 f:5", "i:65 f:5"}, {"i f", "f i"}, 4, RESTRIDE_INVALID_ARGUMENT},
        {{"i:64 f:5", "i:64 g:5"}, {"i f", "g i"}, 4, RESTRIDE_INVALID_ARGUMENT},
        {{"i:64 f{ float x; }", "i:64 f{ float x; }"},
         {"i f", "f i"},
         4,
         RESTRIDE_INVALID_ARGUMENT},
        {{"i:64 f{ float x; }", "i:64 f{ double x; }"},
         {"i f", "f i"},
         0,
         RESTRIDE_INVALID_ARGUMENT},
        {{"i:1000000000000 f:5", "i:1000000000000 f:5"},
         {"i f", "f i"},
         10000000,
         RESTRIDE_OVERFLOW},
    };
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 1), RESTRIDE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        restride_layout *layouts[2];
        restride_plan *plan;
        for (int k = 0; k < 2; k++)
            assert_int_equal(
                restride_layout_parse(&layouts[k], cases[i].dims[k], cases[i].layouts[k]),
                RESTRIDE_OK);
        assert_int_equal(
            restride_plan_convert_with(&plan, engine, layouts[0], layouts[1], cases[i].unit, NULL),
            cases[i].status);
        assert_null(plan);
        assert_true(strlen(restride_last_error()) > 20);
        restride_layout_destroy(layouts[0]);
        restride_layout_destroy(layouts[1]);
    }
    restride_engine_destroy(engine);
}

/* Each missing argument alone. */
static void test_arguments(void **state)
{
    (void)state;
    restride_engine *engine;
    restride_layout *layout;
    restride_plan *plan = NULL;
    restride_tuning tuning;
    const size_t dims[] = {2, 3};
    const int axes[] = {1, 0};
    assert_int_equal(test_host_engine(&engine, 1), RESTRIDE_OK);
    assert_int_equal(restride_layout_parse(&layout, "i:4 f:2", "i f"), RESTRIDE_OK);
    for (int missing = 0; missing < 4; missing++) {
        restride_engine *e = missing == 0 ? NULL : engine;
        const restride_layout *from = missing == 1 ? NULL : layout,
                              *to = missing == 2 ? NULL : layout;
        restride_plan **p = missing == 3 ? NULL : &plan;
        assert_int_equal(restride_plan_convert_with(p, e, from, to, 4, NULL),
                         RESTRIDE_INVALID_ARGUMENT);
        assert_int_equal(restride_plan_permute(p, e, 2, missing == 1 ? NULL : dims,
                                               missing == 2 ? NULL : axes, 4),
                         RESTRIDE_INVALID_ARGUMENT);
        if (missing == 3)
            break;
        assert_null(plan);
        assert_int_equal(restride_tune_convert(e, from, to, 4, NULL, &tuning),
                         RESTRIDE_INVALID_ARGUMENT);
        assert_int_equal(restride_tune_permute(e, 2, missing == 1 ? NULL : dims,
                                               missing == 2 ? NULL : axes, 4, NULL, &tuning),
                         RESTRIDE_INVALID_ARGUMENT);
    }
    assert_int_equal(restride_tune_transpose(NULL, 512, 512, 4, 1, NULL, &tuning),
                     RESTRIDE_INVALID_ARGUMENT);
    restride_layout_destroy(layout);
    restride_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_generated_long),
                                           cmocka_unit_test(test_large)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_generated), cmocka_unit_test(test_little_scratch),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
