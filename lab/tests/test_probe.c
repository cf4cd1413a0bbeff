/*
 * The search for steering bits on curves whose answer is known: devices that choose a channel by
 * address bits, by sums of bits, or not at all, with noise and with pages that cost something.
 */
#include "cmocka_all.h"

#include "lab/probe/description.h"
#include "lab/probe/steering.h"
#include "sim/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 2048, MOST_UNITS = 4096 };

/* A made-up device: requests go to one of 2^count units; the busiest decides. */
typedef struct {
    int low, count;    /* bits that choose the unit */
    bool hashed;       /* the parity of every count-th bit instead */
    double noise;      /* +- this part */
    size_t page_bytes; /* strides beyond this are slower and slower; 0: none */
    size_t parallel;   /* units that are busy when all requests that there are come; 0: all */
    uint64_t random;
} made_up;

static uint64_t unit_of(const made_up *device, uint64_t address)
{
    uint64_t number = address >> device->low & (((uint64_t)1 << device->count) - 1);
    if (!device->hashed)
        return number;
    for (int b = device->low + device->count; b < 40; b++)
        number ^= (address >> b & 1) << (b % device->count);
    return number;
}

static double random_part(made_up *device)
{
    device->random = device->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(device->random >> 11) / (double)((uint64_t)1 << 53);
}

static restride_status rate_of(void *context, size_t stride, double *rate)
{
    made_up *device = context;
    static size_t load[MOST_UNITS];
    memset(load, 0, sizeof load);
    size_t busiest = 0;
    for (uint64_t n = 0; n < REQUESTS; n++) {
        size_t *at = &load[unit_of(device, n * stride)];
        if (++*at > busiest)
            busiest = *at;
    }
    double speed = (double)REQUESTS / (double)busiest;
    if (device->parallel > 0 && speed > (double)device->parallel)
        speed = (double)device->parallel;
    if (device->page_bytes > 0 && stride > device->page_bytes)
        speed /= 1 + 0.5 * log2((double)stride / (double)device->page_bytes);
    *rate = 1e6 * speed * (1 + device->noise * (2 * random_part(device) - 1));
    return RESTRIDE_OK;
}

static rs_probe_steering probe(made_up *device)
{
    rs_probe_steering found;
    const rs_probe_source source = {.rate = rate_of, .context = device};
    assert_int_equal(rs_probe_find_steering(&found, &source, 64, (size_t)1 << 20, 0.1),
                     RESTRIDE_OK);
    return found;
}

static uint64_t bits(int low, int high)
{
    return (((uint64_t)1 << (high + 1)) - 1) & ~(((uint64_t)1 << low) - 1);
}

static void finds_the_bits_of_plain_interleaving(void **state)
{
    (void)state;
    for (int low = 6; low <= 9; low++)
        for (int count = 1; count <= 7; count++) {
            made_up device = {.low = low, .count = count, .noise = 0.03, .random = 17};
            rs_probe_steering found = probe(&device);
            assert_int_equal(found.bits, bits(low, low + count - 1));
            int first, last;
            assert_true(rs_probe_steering_range(&found, &first, &last));
            assert_int_equal(first, 6);
            assert_int_equal(last, low + count - 1);
            assert_true(fabs(found.worst * (1 << count) - 1) < 0.15);
        }
}

/* The thesis' device: losing the lowest bits costs nothing as long as enough units are left. */
static void finds_the_range_where_low_bits_can_be_spared(void **state)
{
    (void)state;
    made_up device = {.low = 6, .count = 8, .parallel = 32, .noise = 0.03, .random = 5};
    rs_probe_steering found = probe(&device);
    int first, last;
    assert_int_equal(found.bits, bits(9, 13));
    assert_true(rs_probe_steering_range(&found, &first, &last));
    assert_int_equal(first, 6);
    assert_int_equal(last, 13);
}

static void finds_nothing_where_addresses_are_hashed(void **state)
{
    (void)state;
    made_up device = {.low = 6, .count = 5, .hashed = true, .noise = 0.03, .random = 99};
    rs_probe_steering found = probe(&device);
    int first, last;
    assert_int_equal(found.bits, 0);
    assert_false(rs_probe_steering_range(&found, &first, &last));
}

/* Pages make large strides slow, powers of two or not. */
static void is_not_misled_by_pages(void **state)
{
    (void)state;
    made_up hashed = {
        .low = 6, .count = 5, .hashed = true, .noise = 0.03, .page_bytes = 16384, .random = 3};
    assert_int_equal(probe(&hashed).bits, 0);
    made_up plain = {.low = 8, .count = 4, .noise = 0.03, .page_bytes = 4096, .random = 4};
    assert_int_equal(probe(&plain).bits, bits(8, 11));
}

static void is_not_misled_by_noise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        made_up device = {.low = 6, .count = 5, .hashed = true, .noise = 0.05, .random = seed};
        rs_probe_steering found = probe(&device);
        if (found.bits != 0)
            fail_msg("bits %llx with seed %llu", (unsigned long long)found.bits,
                     (unsigned long long)seed);
        assert_true(found.scatter > 0.01 && found.scatter < 0.1);
    }
}

static restride_status fails(void *context, size_t stride, double *rate)
{
    size_t *left = context;
    *rate = 1;
    return (*left)-- == 0 ? rs_fail(RESTRIDE_DEVICE_ERROR, "stride %zu failed", stride)
                          : RESTRIDE_OK;
}

static void gives_failures_back(void **state)
{
    (void)state;
    for (size_t calls = 0; calls < 40; calls++) {
        size_t left = calls;
        rs_probe_steering found;
        const rs_probe_source source = {.rate = fails, .context = &left};
        assert_int_equal(rs_probe_find_steering(&found, &source, 64, 4096, 0.1),
                         RESTRIDE_DEVICE_ERROR);
    }
    rs_probe_steering found;
    const rs_probe_source source = {.rate = fails};
    assert_int_equal(rs_probe_find_steering(&found, &source, 96, 4096, 0.1),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(rs_probe_find_steering(&found, &source, 4096, 64, 0.1),
                     RESTRIDE_INVALID_ARGUMENT);
}

/* Time to read all of a memory with growing strides, when `unit` bytes come at once. */
static void finds_units(void **state)
{
    (void)state;
    enum { COUNT = 6, FIRST = 16 };
    for (size_t unit = FIRST; unit <= FIRST << (COUNT - 1); unit *= 2) {
        size_t strides[COUNT];
        double seconds[COUNT];
        made_up device = {.random = unit};
        for (size_t i = 0; i < COUNT; i++) {
            strides[i] = (size_t)FIRST << i;
            seconds[i] = strides[i] <= unit ? 1 : (double)unit / (double)strides[i];
            seconds[i] *= 1 + 0.05 * (2 * random_part(&device) - 1);
        }
        seconds[0] *= 1.2; /* so many words a second are nearly more than the processors take */
        assert_int_equal(rs_probe_find_unit(strides, seconds, COUNT), unit);
    }
}

#ifdef RESTRIDE_HAVE_CONFIG
static void describes_what_was_found(void **state)
{
    (void)state;
    made_up device = {.low = 7, .count = 6, .random = 1};
    rs_probe_steering steering = probe(&device);
    const rs_probe_findings findings = {.name = "a made-up device",
                                        .processors = 7,
                                        .fetch_bytes = 64,
                                        .bytes_a_second = 64e9,
                                        .steering = &steering};
    rs_text text = RS_TEXT_EMPTY;
    assert_int_equal(rs_probe_describe(&text, &findings, rs_sim_device_text("t10"), "t10"),
                     RESTRIDE_OK);
    rs_sim_device described;
    assert_int_equal(rs_sim_device_parse(&described, text.data, "described"), RESTRIDE_OK);
    assert_string_equal(described.name, "a made-up device");
    assert_int_equal(described.processors, 7);
    assert_int_equal(described.sector_bytes, 32); /* the base's */
    assert_int_equal(described.fetch_bytes, 64);
    assert_int_equal(described.warp, 16); /* the base's */
    assert_int_equal(described.channels, 64);
    assert_int_equal(described.interleave_bytes, 64);
    assert_true(fabs(described.fetch_ns - 64) < 0.5);
    assert_non_null(strstr(text.data, "processors = 7 ; measured"));
    assert_null(strstr(text.data, "warp = 16 ; measured"));
    rs_text_free(&text);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_bits_of_plain_interleaving),
        cmocka_unit_test(finds_the_range_where_low_bits_can_be_spared),
        cmocka_unit_test(finds_nothing_where_addresses_are_hashed),
        cmocka_unit_test(is_not_misled_by_pages),
        cmocka_unit_test(is_not_misled_by_noise),
        cmocka_unit_test(gives_failures_back),
        cmocka_unit_test(finds_units),
#ifdef RESTRIDE_HAVE_CONFIG
        cmocka_unit_test(describes_what_was_found),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
