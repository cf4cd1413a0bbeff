/*
 * The memory model against definitions: sectors counted by marking, caches against a list searched
 * from its end, channels by their formula; and against what was measured on an H100.
 */
#include "cmocka_all.h"
#include "sim/kernel.h"
#include "transpose/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A device that is simple enough to work out by hand. */
static const char plain[] = "[device]\nname = plain\n"
                            "[threads]\nwarp = 4\nprocessors = 1\nlaunch_ns = 0\nclock_ghz = 1\n"
                            "[access]\nlines_ns = 1:10 4:40\noverlap = 100\n"
                            "[caches]\nsector_bytes = 32\nl1_bytes = 0\nl1_ways = 1\n"
                            "l2_bytes = 1K\nl2_ways = 2\n"
                            "[memory]\nfetch_bytes = 32\nchannels = 4\nbanks = 2\n"
                            "row_bytes = 64\ninterleave_bytes = 32\nqueue = 1\n"
                            "fetch_ns = 3\nrow_ns = 5\n"
                            "[latency]\nresident = 2\nin_flight = 1\nl1_ns = 0\nl2_ns = 0\n"
                            "memory_ns = 0\n"
                            "[steering]\nchannel = none\nbank = none\n";

/* `text` with the first line that begins with `key` replaced by `line`. The caller frees it. */
static char *with_line(const char *text, const char *key, const char *line)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    const char *end = strchr(at, '\n');
    size_t size = strlen(text) + strlen(line) + 1;
    char *changed = malloc(size);
    assert_non_null(changed);
    memcpy(changed, text, (size_t)(at - text));
    changed[at - text] = '\0';
    strcat(changed, line);
    strcat(changed, end);
    return changed;
}

static void parse_with(rs_sim_device *device, const char *key, const char *line)
{
    char *text = with_line(plain, key, line);
    assert_int_equal(rs_sim_device_parse(device, text, "test"), RESTRIDE_OK);
    free(text);
}

static rs_sim_memory *create(const rs_sim_device *device)
{
    rs_sim_memory *memory;
    assert_int_equal(rs_sim_memory_create(&memory, device), RESTRIDE_OK);
    return memory;
}

static void bad_descriptions_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *key, *line, *says;
    } cases[] = {
        {"warp", "warp = 0", "test:4: warp is unknown, given twice"},
        {"warp", "warp = four", "test:4: warp"},
        {"warp", "warp = 4\nwarp = 4", "test:5: warp"},
        {"warp", "wrap = 4", "test:4: wrap"},
        {"warp", "warp = 2000", "warp is more than 1024"},
        {"clock_ghz", "clock_ghz = 0", "clock_ghz is 0"},
        {"queue", "", "queue is missing in section [memory]"},
        {"lines_ns", "lines_ns = 4:1 2:7", "lines_ns"},
        {"lines_ns", "lines_ns = 4", "lines_ns"},
        {"overlap", "overlap = 0.5", "overlap is less than 1"},
        {"in_flight", "in_flight = 0", "in_flight"},
        {"l2_ns", "l2_ns = 3", "l1_ns is more than l2_ns, or l2_ns more than memory_ns"},
        {"fetch_bytes", "fetch_bytes = 16", "fetch_bytes is not between"},
        {"sector_bytes", "sector_bytes = 48", "sector_bytes does not divide"},
        {"row_bytes", "row_bytes = 40", "row_bytes is not a multiple"},
        {"l2_bytes", "l2_bytes = 1000", "l2_bytes is 0 or not a multiple"},
        {"l2_bytes", "l2_bytes = 99999999999G", "l2_bytes"},
        {"fetch_ns", "fetch_ns = nan", "fetch_ns"},
        {"bank =", "bank = 12", "bank"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rs_sim_device device;
        char *text = with_line(plain, cases[i].key, cases[i].line);
        assert_int_not_equal(rs_sim_device_parse(&device, text, "test"), RESTRIDE_OK);
        if (strstr(restride_last_error(), cases[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", restride_last_error(), cases[i].says);
        free(text);
    }
}

static void shipped_devices_are_sound(void **state)
{
    (void)state;
    size_t count = 0;
    for (; rs_sim_device_name(count) != NULL; count++) {
        rs_sim_device device;
        const char *name = rs_sim_device_name(count);
        assert_int_equal(rs_sim_device_parse(&device, rs_sim_device_text(name), name), RESTRIDE_OK);
    }
    assert_int_equal(count, 6);
    assert_null(rs_sim_device_text("no such device"));
}

enum { SPAN = 4096 };

/* Lanes from `begin` on, `stride` bytes apart, or anywhere; round the end of the span. */
static void choose_addresses(uint64_t addresses[], size_t lanes, size_t begin, size_t stride,
                             size_t bytes, uint64_t *seed)
{
    for (size_t lane = 0; lane < lanes; lane++)
        addresses[lane] = stride == 0 ? 4 * test_random(seed, (SPAN - bytes) / 4)
                                      : (begin + lane * stride) % (SPAN - bytes) / 4 * 4;
}

/* Sectors and lines are those that hold a byte that is asked for, when lanes lie to each other as
 * in an access before, or nearly so, as well. */
static void accesses_are_split_into_lines_and_sectors(void **state)
{
    (void)state;
    enum { LANES = 32, ACCESSES = 20000, STRIDES = 5, ODD = 8 };
    static const size_t strides[STRIDES] = {0, 4, 12, 32, 132};
    rs_sim_device device;
    parse_with(&device, "warp", "warp = 32");
    uint64_t seed = 31;
    size_t sectors = 0;
    size_t lines = 0;
    size_t useful = 0;
    rs_sim_memory *memory = create(&device);
    rs_sim_start_warp(memory);
    for (int n = 0; n < ACCESSES; n++) {
        uint64_t addresses[LANES];
        size_t lanes = LANES - test_random(&seed, 2);
        size_t bytes = (size_t)4 << test_random(&seed, 3);
        unsigned char mark[SPAN] = {0};
        choose_addresses(addresses, lanes, 4 * test_random(&seed, 64),
                         strides[test_random(&seed, STRIDES)], bytes, &seed);
        if (test_random(&seed, ODD) == 0) /* one lane elsewhere, and not the last one */
            addresses[1 + test_random(&seed, lanes - 2)] = 4 * test_random(&seed, SPAN / 4 - 4);
        for (size_t lane = 0; lane < lanes; lane++)
            memset(mark + addresses[lane], 1, bytes);
        for (size_t b = 0; b < SPAN; b += 32)
            sectors += memchr(mark + b, 1, 32) != NULL;
        for (size_t b = 0; b < SPAN; b += RS_SIM_LINE)
            lines += memchr(mark + b, 1, RS_SIM_LINE) != NULL;
        useful += lanes * bytes;
        rs_sim_access(memory, addresses, lanes, bytes, false);
        const rs_sim_counts counts = rs_sim_finish(memory);
        assert_int_equal(counts.sectors, sectors);
        assert_int_equal(counts.lines, lines);
        assert_int_equal(counts.requests, sectors - counts.l2_hits);
        assert_int_equal(counts.moved_bytes, 32 * counts.requests);
        assert_int_equal(counts.useful_bytes, useful);
    }
    rs_sim_memory_destroy(memory);
}

/* Two ways, four sets: a line hits when fewer than two others of its set came since. */
static void reads_hit_what_was_used_last(void **state)
{
    (void)state;
    enum { STEPS = 3000, SETS = 4, WAYS = 2 };
    rs_sim_device device;
    assert_int_equal(rs_sim_device_parse(&device, plain, "test"), RESTRIDE_OK);
    uint64_t seed = 77;
    size_t history[STEPS];
    size_t expected = 0;
    rs_sim_memory *memory = create(&device);
    rs_sim_start_warp(memory);
    for (size_t n = 0; n < STEPS; n++) {
        size_t line = test_random(&seed, 20);
        size_t others = 0;
        bool hit = false;
        for (size_t back = n; back-- > 0 && others < WAYS;) {
            if (history[back] == line) {
                hit = true;
                break;
            }
            bool again = history[back] % SETS != line % SETS;
            for (size_t later = back + 1; later < n && !again; later++)
                again = history[later] == history[back];
            others += again ? 0 : 1;
        }
        expected += hit ? 1 : 0;
        history[n] = line;
        const uint64_t address = line * RS_SIM_LINE;
        rs_sim_access(memory, &address, 1, 4, false);
    }
    const rs_sim_counts counts = rs_sim_finish(memory);
    assert_int_equal(counts.l2_hits, expected);
    assert_int_equal(counts.requests, STEPS - expected);
    assert_true(expected > STEPS / 10);
    rs_sim_memory_destroy(memory);
}

/* What a store covers is written once, when it leaves; of a unit covered in part the rest is read.
 */
static void stores_meet_before_they_are_written(void **state)
{
    (void)state;
    rs_sim_device device;
    assert_int_equal(rs_sim_device_parse(&device, plain, "test"), RESTRIDE_OK);
    for (size_t words = 1; words <= 8; words++) {
        rs_sim_memory *memory = create(&device);
        rs_sim_start_warp(memory);
        for (size_t w = 0; w < words; w++) {
            const uint64_t address = 64 + 4 * w;
            rs_sim_access(memory, &address, 1, 4, true);
        }
        const rs_sim_counts counts = rs_sim_finish(memory);
        assert_int_equal(counts.requests, words == 8 ? 1 : 2);
        rs_sim_memory_destroy(memory);
    }
}

/* A stride of one channel's period goes to one channel, unless steering bits spread it. */
static void steering_bits_spread_a_stride(void **state)
{
    (void)state;
    enum { REQUESTS = 64, PERIOD = 4 * 32 };
    rs_sim_device straight, steered;
    assert_int_equal(rs_sim_device_parse(&straight, plain, "test"), RESTRIDE_OK);
    parse_with(&steered, "channel =", "channel = 0x80 0x100");
    for (int masks = 0; masks < 2; masks++) {
        rs_sim_memory *memory = create(masks == 0 ? &straight : &steered);
        rs_sim_start_warp(memory);
        for (uint64_t n = 0; n < REQUESTS; n++) {
            const uint64_t address = n * PERIOD;
            rs_sim_access(memory, &address, 1, 4, false);
        }
        const rs_sim_counts counts = rs_sim_finish(memory);
        assert_int_equal(counts.requests, REQUESTS);
        for (size_t c = 0; c < 4; c++)
            assert_int_equal(rs_sim_channel_requests(memory, c), masks == 1 ? REQUESTS / 4
                                                                 : c == 0   ? REQUESTS
                                                                            : 0);
        assert_true(counts.busiest == (masks == 1 ? 1.0 : 4.0));
        rs_sim_memory_destroy(memory);
    }
}

/* The four units of a line: a steering bit, and the end of a row, lie below its 128 bytes. */
static void units_of_a_line_may_part(void **state)
{
    (void)state;
    static const uint64_t units[] = {0, 32, 64, 96};
    static const struct {
        uint64_t channel_mask, bank_mask;
        size_t row_bytes;
        size_t of_first; /* requests of channel 0 */
        size_t row_hits;
    } cases[] = {{0, 0, 128, 4, 3}, {0x20, 0, 128, 2, 2}, {0, 0x40, 128, 4, 2}, {0, 0, 64, 4, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        rs_sim_device device;
        parse_with(&device, "interleave_bytes", "interleave_bytes = 128");
        device.row_bytes = cases[c].row_bytes;
        device.channel_masks = device.bank_masks = 1;
        device.channel_mask[0] = cases[c].channel_mask;
        device.bank_mask[0] = cases[c].bank_mask;
        rs_sim_memory *memory = create(&device);
        rs_sim_start_warp(memory);
        rs_sim_access(memory, units, 4, 4, false);
        const rs_sim_counts counts = rs_sim_finish(memory);
        assert_int_equal(counts.requests, 4);
        assert_int_equal(rs_sim_channel_requests(memory, 0), cases[c].of_first);
        assert_int_equal(counts.row_hits, cases[c].row_hits);
        rs_sim_memory_destroy(memory);
    }
}

/* Two rows of one bank in turn: every request opens one, unless a queue can put them in order. */
static void a_queue_saves_rows(void **state)
{
    (void)state;
    rs_sim_device without, with;
    assert_int_equal(rs_sim_device_parse(&without, plain, "test"), RESTRIDE_OK);
    parse_with(&with, "queue", "queue = 8");
    size_t hits[2];
    for (int queued = 0; queued < 2; queued++) {
        rs_sim_memory *memory = create(queued == 0 ? &without : &with);
        rs_sim_start_warp(memory);
        for (uint64_t n = 0; n < 8; n++) {
            const uint64_t address = n % 2 * 4096 + n / 2 % 2 * 128 + n / 4 * 65536;
            rs_sim_access(memory, &address, 1, 4, false);
        }
        const rs_sim_counts counts = rs_sim_finish(memory);
        assert_int_equal(counts.requests, 8);
        assert_true(counts.memory_ns == 8 * 3.0 + (double)(8 - counts.row_hits) * 5.0);
        hits[queued] = counts.row_hits;
        rs_sim_memory_destroy(memory);
    }
    assert_int_equal(hits[0], 0);
    assert_int_equal(hits[1], 4);
}

static void the_pipeline_takes_time_by_lines(void **state)
{
    (void)state;
    rs_sim_device device;
    assert_int_equal(rs_sim_device_parse(&device, plain, "test"), RESTRIDE_OK);
    static const double expected[] = {10, 20, 30, 40};
    for (size_t lines = 1; lines <= 4; lines++) {
        uint64_t addresses[4];
        for (size_t lane = 0; lane < 4; lane++)
            addresses[lane] = lane % lines * RS_SIM_LINE;
        rs_sim_memory *memory = create(&device);
        rs_sim_start_warp(memory);
        rs_sim_access(memory, addresses, 4, 4, false);
        assert_true(rs_sim_finish(memory).access_ns == expected[lines - 1]);
        rs_sim_memory_destroy(memory);
    }
}

/* One processor of two resident warps: each waits 100 ns for memory and 20 for the L2, and what
 * others wait at the same time does not count. */
static void reads_wait_with_those_of_other_warps(void **state)
{
    (void)state;
    static const struct {
        size_t warps, in_flight;
        double expected;
    } cases[] = {{1, 1, 120}, {2, 1, 120}, {3, 1, 180}, {4, 1, 240}, {4, 2, 120}};
    rs_sim_device device;
    assert_int_equal(rs_sim_device_parse(&device, plain, "test"), RESTRIDE_OK);
    device.memory_ns = 100;
    device.l2_ns = 20;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        device.in_flight = cases[c].in_flight;
        rs_sim_memory *memory = create(&device);
        for (uint64_t warp = 0; warp < cases[c].warps; warp++) {
            const uint64_t line = warp * RS_SIM_LINE;
            /* The line before is in the L2, but the farthest one counts; stores wait for nothing.
             */
            const uint64_t both[] = {line, warp > 0 ? line - RS_SIM_LINE : line};
            rs_sim_start_warp(memory);
            rs_sim_access(memory, both, 2, 4, false);
            rs_sim_access(memory, &line, 1, 4, false);
            rs_sim_access(memory, &line, 1, 4, true);
        }
        assert_true(rs_sim_finish(memory).latency_ns == cases[c].expected);
        rs_sim_memory_destroy(memory);
    }
}

/* The norm: one time alone is itself, and of two equal ones the power tells. */
static void times_are_joined_by_a_norm(void **state)
{
    (void)state;
    assert_true(rs_sim_joined((const double[]){0, 0, 0}, 3, 4) == 0);
    assert_true(rs_sim_joined((const double[]){0, 7, 0}, 3, 4) == 7);
    assert_true(rs_sim_joined((const double[]){5, 5}, 2, 1) == 10);
}

static rs_sim_counts run(const rs_sim_device *device, const char *dims, const char *expression,
                         size_t fields, size_t bytes)
{
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, dims, expression), RESTRIDE_OK);
    rs_sim_memory *memory = create(device);
    const rs_sim_kernel kernel = {layout, 4, fields, true, bytes};
    assert_int_equal(rs_sim_run_kernel(memory, &kernel), RESTRIDE_OK);
    const rs_sim_counts counts = rs_sim_finish(memory);
    rs_sim_memory_destroy(memory);
    restride_layout_destroy(layout);
    return counts;
}

/* Lines that the accesses of a layout touch, by its offsets alone. */
static size_t lines_by_offsets(const char *dims, const char *expression, size_t fields)
{
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, dims, expression), RESTRIDE_OK);
    size_t records = restride_layout_extent(layout, 0);
    size_t lines = 0;
    for (size_t first = 0; first < records; first += 32)
        for (size_t f = 0; f < fields; f++) {
            size_t seen[32];
            size_t count = 0;
            for (size_t i = first; i < first + 32 && i < records; i++) {
                size_t line = restride_layout_offset(layout, (size_t[]){i, f}) * 4 / RS_SIM_LINE;
                size_t k = 0;
                while (k < count && seen[k] != line)
                    k++;
                if (k == count)
                    seen[count++] = line;
            }
            lines += count;
        }
    restride_layout_destroy(layout);
    return lines;
}

/* All elements once, whole lines: nothing is moved twice, in ragged layouts either. */
static void a_kernel_reads_and_writes_each_field_once(void **state)
{
    (void)state;
    rs_sim_device device;
    assert_int_equal(rs_sim_device_parse(&device, rs_sim_device_text("h100"), "h100"), RESTRIDE_OK);
    static const char *const layouts[] = {"i f", "f i", "i/32 f i%32", "i/48 f i%48"};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        const rs_sim_counts counts = run(&device, "i:10016 f:6", layouts[i], 6, 0);
        assert_int_equal(counts.warps, 313);
        assert_int_equal(counts.accesses, 2 * 6 * 313);
        /* The second array begins at a line's border like the first one. */
        assert_int_equal(counts.lines, 2 * lines_by_offsets("i:10016 f:6", layouts[i], 6));
        assert_int_equal(counts.useful_bytes, 2 * 6 * 4 * 10016);
        /* Both arrays, and the part of their last units that they do not fill. */
        assert_in_range(counts.moved_bytes, counts.useful_bytes, counts.useful_bytes + 2 * 6 * 128);
        const rs_sim_counts again = run(&device, "i:10016 f:6", layouts[i], 6, 0);
        assert_memory_equal(&counts, &again, sizeof counts);
    }
}

/* Kernels over K of S words on an H100, useful GB/s as measured (docs/simulation.md). */
static void ratios_are_those_of_an_h100(void **state)
{
    (void)state;
    enum { AOS, SOA, ASTA, LAYOUTS };
    static const struct {
        size_t size, fields;
        double measured[LAYOUTS];
    } rows[] = {{4, 4, {3020, 2950, 3016}},  {5, 5, {3004, 2972, 3004}},
                {8, 8, {1054, 2898, 2997}},  {16, 16, {644, 2812, 2966}},
                {19, 19, {579, 2805, 2953}}, {32, 32, {443, 2751, 2931}},
                {64, 64, {416, 2691, 2876}}, {8, 1, {255, 2335, 2130}},
                {16, 4, {396, 2843, 2819}},  {32, 4, {211, 2825, 2762}}};
    static const char *const layouts[LAYOUTS] = {"i f", "f i", "i/32 f i%32"};
    enum { ELEMENTS = 400000000, BYTES = 80 << 20 };
    rs_sim_device device;
    assert_int_equal(rs_sim_device_parse(&device, rs_sim_device_text("h100"), "h100"), RESTRIDE_OK);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        double speed[LAYOUTS];
        char dims[64];
        snprintf(dims, sizeof dims, "i:%zu f:%zu", ELEMENTS / rows[r].size, rows[r].size);
        for (int l = 0; l < LAYOUTS; l++) {
            const rs_sim_counts counts = run(&device, dims, layouts[l], rows[r].fields, BYTES);
            speed[l] = (double)counts.useful_bytes / counts.ns;
        }
        print_message("%2zu,%2zu: %5.0f %5.0f %5.0f, measured %4.0f %4.0f %4.0f\n", rows[r].size,
                      rows[r].fields, speed[AOS], speed[SOA], speed[ASTA], rows[r].measured[AOS],
                      rows[r].measured[SOA], rows[r].measured[ASTA]);
        for (int a = 0; a < LAYOUTS; a++)
            for (int b = 0; b < LAYOUTS; b++) {
                double measured = rows[r].measured[a] / rows[r].measured[b];
                double predicted = speed[a] / speed[b];
                assert_true(predicted < 1.25 * measured && measured < 1.25 * predicted);
                /* Less than one in a hundred is no order. */
                assert_true(measured < 1.01 || predicted > 1);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_descriptions_get_a_sentence),
        cmocka_unit_test(shipped_devices_are_sound),
        cmocka_unit_test(accesses_are_split_into_lines_and_sectors),
        cmocka_unit_test(reads_hit_what_was_used_last),
        cmocka_unit_test(stores_meet_before_they_are_written),
        cmocka_unit_test(steering_bits_spread_a_stride),
        cmocka_unit_test(units_of_a_line_may_part),
        cmocka_unit_test(a_queue_saves_rows),
        cmocka_unit_test(the_pipeline_takes_time_by_lines),
        cmocka_unit_test(reads_wait_with_those_of_other_warps),
        cmocka_unit_test(times_are_joined_by_a_norm),
        cmocka_unit_test(a_kernel_reads_and_writes_each_field_once),
        cmocka_unit_test(ratios_are_those_of_an_h100),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
