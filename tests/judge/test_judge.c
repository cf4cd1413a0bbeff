/* The judge: what is counted against its definition, and what it says of measured programs. */
#include "cmocka_all.h"
#include "judge/model.h"
#include "lab/cli/judge.h"

#include <string.h>

static uint32_t state = 1;

static uint32_t next(uint32_t below)
{
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % below;
}

enum { SPACE = 1 << 14, ROUNDS = 100000 };

/* Units with a byte that some lane touches, byte by byte. */
static size_t count_units(const uint64_t addresses[], size_t bytes, size_t unit)
{
    static unsigned char touched[SPACE];
    size_t units = 0;
    memset(touched, 0, sizeof touched);
    for (int lane = 0; lane < RS_JUDGE_LANES; lane++)
        memset(touched + addresses[lane], 1, bytes);
    for (size_t u = 0; u < SPACE; u += unit)
        units += memchr(touched + u, 1, unit) != NULL;
    return units;
}

static size_t count_conflicts(const uint64_t addresses[], size_t bytes)
{
    static unsigned char touched[SPACE];
    size_t most = 0;
    memset(touched, 0, sizeof touched);
    for (int lane = 0; lane < RS_JUDGE_LANES; lane++)
        memset(touched + addresses[lane], 1, bytes);
    for (size_t bank = 0; bank < 32; bank++) {
        size_t words = 0;
        for (size_t at = 4 * bank; at < SPACE; at += 128)
            words += memchr(touched + at, 1, 4) != NULL;
        most = words > most ? words : most;
    }
    return most;
}

static void units_are_those_that_bytes_lie_in(void **unused)
{
    static const size_t widths[] = {1, 2, 4, 8, 16};
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t addresses[RS_JUDGE_LANES];
        size_t bytes = widths[next(5)];
        uint32_t stride = next(400), base = next(256);
        for (uint32_t lane = 0; lane < RS_JUDGE_LANES; lane++)
            addresses[lane] = round % 2 == 0 ? base + lane * stride : next(SPACE - 16);
        assert_int_equal(rs_judge_units(addresses, RS_JUDGE_LANES, bytes, RS_JUDGE_SECTOR),
                         count_units(addresses, bytes, RS_JUDGE_SECTOR));
        assert_int_equal(rs_judge_units(addresses, RS_JUDGE_LANES, bytes, RS_SIM_LINE),
                         count_units(addresses, bytes, RS_SIM_LINE));
        if (round % 8 == 0)
            assert_int_equal(rs_judge_conflicts(addresses, RS_JUDGE_LANES, bytes),
                             count_conflicts(addresses, bytes));
    }
}

/* An array of words in which each word is a field. */
static rs_judge_argument array_of(rs_judge_lanes lanes, int words, int group)
{
    rs_judge_argument a = {.name = "p",
                           .element = 4 * words,
                           .count = 1 << 15,
                           .lanes = lanes,
                           .group = group,
                           .visits = 1,
                           .reads = true,
                           .field_count = words};
    for (int f = 0; f < words; f++)
        a.fields[f] = (rs_judge_field){4 * f, 4};
    return a;
}

/* Every layout puts each field at a place of its own, and leaves no gap in whole tiles. */
static void layouts_are_permutations(void **unused)
{
    static const rs_judge_layout layouts[] = {{1, 1, false},  {0, 1, false},  {8, 1, false},
                                              {32, 1, false}, {32, 4, false}, {16, 3, false},
                                              {1, 1, true}};
    enum { ELEMENTS = 32 * 12, WORDS = 5 };
    (void)unused;
    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++) {
        bool seen[ELEMENTS * WORDS] = {false};
        rs_judge_argument a = array_of(RS_LANES_ONE, WORDS, 1);
        a.count = ELEMENTS;
        for (int i = 0; i < ELEMENTS; i++)
            for (int f = 0; f < WORDS; f++) {
                uint64_t at = rs_judge_address(&a, &layouts[l], i, f);
                assert_int_equal(at % 4, 0);
                assert_in_range(at / 4, 0, ELEMENTS * WORDS - 1);
                assert_false(seen[at / 4]);
                seen[at / 4] = true;
            }
    }
}

/* More fields touch no less of anything, in any layout and class. */
static void more_fields_touch_no_less(void **unused)
{
    static const rs_judge_layout layouts[] = {
        {1, 1, false}, {0, 1, false}, {32, 1, false}, {32, 4, false}};
    (void)unused;
    for (int lanes = RS_LANES_ONE; lanes <= RS_LANES_WALK; lanes++)
        for (size_t l = 0; l < 4 && lanes != RS_LANES_WITHIN; l++) {
            rs_judge_traffic before = {.requests = 0}, t;
            for (int used = 1; used <= 18; used++) {
                rs_judge_argument a =
                    array_of((rs_judge_lanes)lanes, 18, lanes == RS_LANES_GROUP ? 4 : 1);
                a.field_count = used;
                assert_true(rs_judge_count(&t, &a, &layouts[l]));
                assert_true(t.requests >= before.requests && t.sectors >= before.sectors &&
                            t.lines >= before.lines && t.fresh >= before.fresh &&
                            t.fetches >= before.fetches);
                before = t;
            }
        }
}

/* One element a lane: in tiles of 32 and more each load is as many sectors as it has bytes, which
 * no layout can undercut; the structures need no fewer. */
static void tiles_need_the_fewest_sectors(void **unused)
{
    (void)unused;
    for (int words = 1; words <= 80; words++) {
        rs_judge_argument a = array_of(RS_LANES_ONE, words, 1);
        rs_judge_traffic aos, tile;
        assert_true(rs_judge_count(&aos, &a, &rs_judge_aos));
        for (int width = 32; width <= 128; width *= 2) {
            assert_true(rs_judge_count(&tile, &a, &(rs_judge_layout){.tile = width, .group = 1}));
            assert_true(tile.sectors == 4.0 * words && tile.requests == words);
            assert_true(aos.sectors >= tile.sectors && aos.lines >= tile.lines);
        }
        assert_true(aos.sectors == words * (words < 8 ? 4.0 * words : 32.0));
        assert_true(aos.conflicts >= tile.conflicts);
    }
}

/* A gain is promised only from 10 % on; nothing is offered where lanes share elements. */
static void little_is_left_alone(void **unused)
{
    rs_judge_device device;
    (void)unused;
    assert_int_equal(rs_judge_read_device(&device, "h200"), RESTRIDE_OK);
    for (int lanes = RS_LANES_ONE; lanes <= RS_LANES_UNKNOWN; lanes++)
        for (int words = 1; words <= 80; words += 3) {
            rs_judge_kernel kernel = {.name = "k", .argument_count = 2};
            rs_judgement found[RS_JUDGE_MOST_ARGUMENTS];
            double gain;
            kernel.arguments[0] = array_of((rs_judge_lanes)lanes, words, 1);
            kernel.arguments[0].writes = words % 2 == 0;
            kernel.arguments[1] = array_of(RS_LANES_ONE, 1, 1);
            assert_int_equal(rs_judge(&kernel, &device, found, &gain), RESTRIDE_OK);
            bool changes = found[0].layout.tile != 1 || found[0].layout.split;
            assert_true(gain >= 1 && found[0].gain >= 1 && found[0].reason != NULL);
            assert_true(changes ? gain >= 1.10 : gain == 1);
            if (words <= 4 || lanes == RS_LANES_WITHIN || lanes == RS_LANES_UNKNOWN)
                assert_false(changes);
            assert_false(found[1].layout.tile != 1);
        }
}

/* What the programs of restride-lab judge did on an H200. */
static void programs_are_judged_as_measured(void **unused)
{
    static const struct {
        const char *name;
        bool gains;
        int group;
    } programs[] = {{"gibbs", true, 1},
                    {"dslash", true, 4},
                    {"projectile", true, 1},
                    {"nbody, 16 k", true, 1},
                    {"nbody, many threads", false, 1},
                    {"options in place", true, 1},
                    {"xsbench", false, 1},
                    {"su3", false, 1},
                    {"particles", true, 1},
                    {"lbm", true, 1},
                    {"black-scholes", false, 1}};
    rs_judge_device device;
    (void)unused;
    assert_int_equal(rs_judge_read_device(&device, "h200"), RESTRIDE_OK);
    for (size_t i = 0; i < rs_judge_rows(0); i++) {
        rs_judge_row row = rs_judge_row_at(i, 1, 1);
        rs_judge_kernel kernel;
        rs_judgement found[RS_JUDGE_MOST_ARGUMENTS];
        double gain;
        rs_judge_row_kernel(&row, &kernel);
        assert_int_equal(rs_judge(&kernel, &device, found, &gain), RESTRIDE_OK);
        assert_string_equal(row.name, programs[i].name);
        assert_int_equal(gain >= 1.10, programs[i].gains);
        assert_int_equal(found[0].layout.group, programs[i].group);
    }
}

/* Visits for each thread are those of so many; what all threads read one after the other gains from
 * tiles in launches that leave most of the device idle, and loses in others. */
static void visits_for_each_thread_are_those_of_all(void **unused)
{
    rs_judge_device device;
    (void)unused;
    assert_int_equal(rs_judge_read_device(&device, "h200"), RESTRIDE_OK);
    for (int many = 1 << 10; many <= 1 << 22; many *= 2) {
        const double threads = many;
        rs_judge_kernel each = {.name = "k", .argument_count = 1, .threads = threads};
        const rs_judge_layout tiles = {.tile = 32, .group = 1};
        const char *reason;
        double gain, same;
        each.arguments[0] = array_of(RS_LANES_SAME, 10, 1);
        each.arguments[0].field_count = 4;
        rs_judge_kernel all = each;
        each.arguments[0].for_each = true;
        each.instructions_for_each = 20;
        all.arguments[0].visits = threads;
        all.instructions = 20 * threads;
        assert_int_equal(rs_judge_compare(&each, &device, &tiles, &gain, &reason), RESTRIDE_OK);
        assert_int_equal(rs_judge_compare(&all, &device, &tiles, &same, &reason), RESTRIDE_OK);
        assert_true(gain == same);
        assert_int_equal(gain > 1.1, many <= 1 << 15);
        assert_true(many < 1 << 18 || gain < 1);
    }
}

/* An argument in several uses: one layout for all, by the sum of what they touch. */
static void uses_of_one_array_have_one_layout(void **unused)
{
    static const struct {
        rs_judge_lanes second;
        double visits;
        bool changes;
    } cases[] = {{RS_LANES_ONE, 1, true},
                 {RS_LANES_GATHER, 1, false},
                 {RS_LANES_WITHIN, 64, false},
                 {RS_LANES_UNKNOWN, 1, false},
                 {RS_LANES_GATHER, 0.03, true}};
    rs_judge_device device;
    (void)unused;
    assert_int_equal(rs_judge_read_device(&device, "h200"), RESTRIDE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rs_judge_kernel kernel = {.name = "k", .argument_count = 2};
        rs_judgement found[RS_JUDGE_MOST_ARGUMENTS];
        double gain;
        kernel.arguments[0] = array_of(RS_LANES_ONE, 16, 1);
        kernel.arguments[0].writes = true;
        kernel.arguments[1] = array_of(cases[i].second, 16, 1);
        kernel.arguments[1].visits = cases[i].visits;
        kernel.arguments[1].continues = true;
        kernel.arguments[0].count = kernel.arguments[1].count = 1 << 22;
        assert_int_equal(rs_judge_touched(&kernel, 0), 64);
        assert_int_equal(rs_judge(&kernel, &device, found, &gain), RESTRIDE_OK);
        if ((gain >= 1.1) != cases[i].changes)
            fail_msg("case %zu: %f", i, gain);
        assert_int_equal(found[0].layout.tile, found[1].layout.tile);
        kernel.arguments[0].is_fixed = true;
        assert_int_equal(rs_judge(&kernel, &device, found, &gain), RESTRIDE_OK);
        assert_true(found[0].layout.tile == 1 && gain <= 1);
    }
}

/* Fields that lie apart are those of all uses, in their order. */
static void fields_of_all_uses_lie_apart(void **unused)
{
    rs_judge_kernel kernel = {.name = "k", .argument_count = 2};
    (void)unused;
    for (int u = 0; u < 2; u++) {
        kernel.arguments[u] = array_of(RS_LANES_ONE, 12, 1);
        kernel.arguments[u].field_count = 2;
        kernel.arguments[u].continues = u == 1;
    }
    kernel.arguments[0].fields[1] = (rs_judge_field){40, 4};
    kernel.arguments[1].fields[0] = (rs_judge_field){24, 8};
    kernel.arguments[1].fields[1] = (rs_judge_field){40, 4};
    assert_int_equal(rs_judge_touched(&kernel, 0), 16);
    kernel.arguments[1].field_count = 1;
    assert_int_equal(rs_judge_touched(&kernel, 0), 16);
    kernel.arguments[1].continues = false;
    assert_int_equal(rs_judge_touched(&kernel, 0), 8);
    assert_int_equal(rs_judge_touched(&kernel, 1), 8);
}

/* What a processor computes anyway leaves nothing to gain. */
static void instructions_bound_a_kernel(void **unused)
{
    rs_judge_device device;
    (void)unused;
    assert_int_equal(rs_judge_read_device(&device, "h200"), RESTRIDE_OK);
    for (int busy = 0; busy < 2; busy++) {
        rs_judge_kernel kernel = {
            .name = "k", .argument_count = 1, .instructions = busy ? 20000 : 20};
        rs_judgement found[RS_JUDGE_MOST_ARGUMENTS];
        double gain;
        kernel.arguments[0] = array_of(RS_LANES_ONE, 16, 1);
        kernel.arguments[0].writes = true;
        assert_int_equal(rs_judge(&kernel, &device, found, &gain), RESTRIDE_OK);
        assert_int_equal(gain >= 1.1, !busy);
        assert_int_equal(strstr(found[0].reason, "arithmetic") != NULL, busy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_those_that_bytes_lie_in),
        cmocka_unit_test(layouts_are_permutations),
        cmocka_unit_test(more_fields_touch_no_less),
        cmocka_unit_test(tiles_need_the_fewest_sectors),
        cmocka_unit_test(little_is_left_alone),
        cmocka_unit_test(programs_are_judged_as_measured),
        cmocka_unit_test(visits_for_each_thread_are_those_of_all),
        cmocka_unit_test(uses_of_one_array_have_one_layout),
        cmocka_unit_test(fields_of_all_uses_lie_apart),
        cmocka_unit_test(instructions_bound_a_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
