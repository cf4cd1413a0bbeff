/*
 * The model's counts, bit for bit as they were when it searched and moved whole lines: every
 * device, with caches that are small enough to evict, over accesses of all kinds.
 */
#include "cmocka_all.h"
#include "sim/kernel.h"
#include "sim/memory.h"
#include "transpose/reference.h"

#include <inttypes.h>
#include <string.h>

enum { WARPS = 3000, ACCESSES = 6, MOST_LANES = 64 };

static uint64_t mix(uint64_t hash, uint64_t value)
{
    for (int byte = 0; byte < 8; byte++)
        hash = (hash ^ (value >> (8 * byte) & 0xff)) * 0x100000001b3;
    return hash;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t hash_counts(rs_sim_memory *memory)
{
    const rs_sim_counts c = rs_sim_finish(memory);
    const uint64_t values[] = {c.warps,
                               c.accesses,
                               c.useful_bytes,
                               c.lines,
                               c.sectors,
                               c.l1_hits,
                               c.l2_hits,
                               c.requests,
                               c.row_hits,
                               c.moved_bytes,
                               bits_of(c.access_ns),
                               bits_of(c.busiest)};
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        hash = mix(hash, values[i]);
    for (size_t i = 0; i < rs_sim_memory_device(memory)->channels; i++)
        hash = mix(hash, rs_sim_channel_requests(memory, i));
    return hash;
}

/* What the lanes of one access do. */
typedef enum { SIDE_BY_SIDE, STRIDED, SCATTERED, BACKWARDS, CROSSING, MIXED, PATTERNS } pattern;

static uint64_t lane_address(pattern which, uint64_t base, size_t lane, size_t bytes,
                             uint64_t *seed)
{
    switch (which) {
    case SIDE_BY_SIDE:
        return base * 4 + lane * bytes;
    case STRIDED:
        return base * 4 + lane * 52;
    case SCATTERED:
        return test_random(seed, 1 << 22) / bytes * bytes;
    case BACKWARDS:
        return base * 4 + (MOST_LANES - lane) * 36;
    default: /* over the border of lines, at odd bytes */
        return base + lane * 61;
    }
}

static void run(rs_sim_memory *memory, pattern which, uint64_t seed)
{
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    for (size_t w = 0; w < WARPS; w++) {
        rs_sim_start_warp(memory);
        for (size_t a = 0; a < ACCESSES; a++) {
            const pattern present = which == MIXED ? (pattern)test_random(&seed, MIXED) : which;
            size_t bytes = sizes[test_random(&seed, 5)];
            size_t lanes = 1 + test_random(&seed, MOST_LANES);
            bool writes = test_random(&seed, 3) == 0;
            uint64_t base = w * 512 + test_random(&seed, 4096);
            uint64_t addresses[MOST_LANES];
            for (size_t lane = 0; lane < lanes; lane++)
                addresses[lane] = lane_address(present, base, lane, bytes, &seed);
            rs_sim_access(memory, addresses, lanes, bytes, writes);
        }
    }
}

/* The device as described, or with caches that hold next to nothing, so that lines are evicted. */
static uint64_t hash_of(const char *name, pattern which, bool small)
{
    rs_sim_device device;
    rs_sim_memory *memory;
    assert_int_equal(rs_sim_device_parse(&device, rs_sim_device_text(name), name), RESTRIDE_OK);
    if (small) {
        device.l1.bytes = device.l1.bytes > 0 ? 3 * 4 * RS_SIM_LINE : 0;
        device.l1.ways = 4;
        device.l2.bytes = 5 * 16 * RS_SIM_LINE;
        device.l2.ways = 16;
    }
    assert_int_equal(rs_sim_memory_create(&memory, &device), RESTRIDE_OK);
    run(memory, which, 7);
    uint64_t hash = hash_counts(memory);
    rs_sim_memory_destroy(memory);
    return hash;
}

static void counts_are_what_they_were(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        bool small;
        uint64_t hashes[PATTERNS];
    } golden[] = {
        {"gtx480",
         false,
         {0xf64d4fc8478aef57, 0x2cac0632dd738a5e, 0xc86f971e31a4df17, 0xd282e503ffa1697b,
          0x2579a5ebeea31571, 0x2aed9eeda7d91d83}},
        {"gtx480",
         true,
         {0x50ebd3f4ccf92276, 0x495eaf03b9ed2093, 0x57ff565f248c15bb, 0x86b40dec64e448e2,
          0xf8ca59f46b576fea, 0x77e6db478971cbb2}},
        {"t10",
         false,
         {0x028b3fab199af72e, 0x14ac8befd9690402, 0x35789c8290868c51, 0x5320517b7f3541eb,
          0x6339437cec32fa47, 0xd867aad6fc4261c6}},
        {"t10",
         true,
         {0xda1f410f6667dba4, 0x1794b46caed8448a, 0xe4edc80f14b76c88, 0x6d0ab3ed4d8ba310,
          0x03183715a9043162, 0x66d7e2ed10684605}},
        {"k20",
         false,
         {0x62fae3fc65c75927, 0xf1d65c5e25cec7b9, 0x64a648658989a02f, 0xac1871db0e873b25,
          0xfc783cfdaf21c7dc, 0xf1b1b89100bceb0a}},
        {"k20",
         true,
         {0xf1830f1c5109e89d, 0xa43b9e9c4fc4b163, 0x4a07e364c8b5e0c0, 0x793ac5351c330910,
          0xc8c5afe3b1fd071d, 0x20a1c49004251806}},
        {"h100",
         false,
         {0x0682e22141984cc4, 0xbe6cf95826e25c3b, 0xb1a672dc4b6f160d, 0xbf7a279370b63a06,
          0x0729bc51eeefcf8c, 0x75b1c01f059aa1f7}},
        {"h100",
         true,
         {0xfea63ab4f123d4c2, 0x13fcfb3d5a59ec58, 0xffe2b606dc6dc173, 0x230f6f86ce9f4f1d,
          0x22077fca7dc23af2, 0x792a0b7545ace0d1}},
    };
    for (size_t g = 0; g < sizeof golden / sizeof golden[0]; g++)
        for (int p = 0; p < PATTERNS; p++) {
            uint64_t hash = hash_of(golden[g].device, (pattern)p, golden[g].small);
            print_message("%s %d %d 0x%016" PRIx64 "\n", golden[g].device, golden[g].small, p,
                          hash);
            assert_true(hash == golden[g].hashes[p]);
        }
}

/* The kernel over records, whole and in part, in every kind of layout. */
static void kernels_count_what_they_did(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        uint64_t hash;
    } golden[] = {
        {"i f", 0xf0c441ed16dc6be2},
        {"f i", 0x9cedf9ef8cb3583a},
        {"i/32 f i%32", 0xa0868d31555f246a},
        {"i/48 f i%48", 0x780329f6ac944e18},
    };
    static const char *const devices[] = {"gtx480", "t10", "k20", "h100"}; /* in this order */
    for (size_t g = 0; g < sizeof golden / sizeof golden[0]; g++) {
        rs_sim_device device;
        rs_sim_memory *memory;
        restride_layout *layout;
        uint64_t hash = 0;
        for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
            const char *name = devices[d];
            assert_int_equal(rs_sim_device_parse(&device, rs_sim_device_text(name), name),
                             RESTRIDE_OK);
            assert_int_equal(restride_layout_parse(&layout, "i:20011 f:9", golden[g].expression),
                             RESTRIDE_OK);
            for (size_t fields = 4; fields <= 9; fields += 5) {
                assert_int_equal(rs_sim_memory_create(&memory, &device), RESTRIDE_OK);
                const rs_sim_kernel kernel = {layout, 4, fields, fields == 9, 0};
                assert_int_equal(rs_sim_run_kernel(memory, &kernel), RESTRIDE_OK);
                hash = mix(hash, hash_counts(memory));
                rs_sim_memory_destroy(memory);
            }
            restride_layout_destroy(layout);
        }
        print_message("%s 0x%016" PRIx64 "\n", golden[g].expression, hash);
        assert_true(hash == golden[g].hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_what_they_were),
        cmocka_unit_test(kernels_count_what_they_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
