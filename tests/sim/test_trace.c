/* Recorded work-items become warps, and their accesses go to other layouts. */
#include "cmocka_all.h"
#include "restride/layout.h"
#include "sim/kernel.h"
#include "sim/replay.h"
#include "sim/trace.h"

#include <stdlib.h>
#include <string.h>

enum { WARP = 4 };

/* A stream like the recorder's, in memory. */
typedef struct {
    FILE *file;
    char *bytes;
    size_t size;
} stream;

static void begin(stream *made)
{
    made->file = open_memstream(&made->bytes, &made->size);
    assert_non_null(made->file);
}

static void put(stream *to, uint32_t kind, uint32_t items, const void *entries, size_t count,
                size_t size)
{
    const rs_trace_block block = {kind, items, count};
    assert_int_equal(fwrite(&block, sizeof block, 1, to->file), 1);
    assert_int_equal(fwrite(entries, size, count, to->file), count);
}

static void put_buffer(stream *to, uint64_t address, uint64_t bytes)
{
    const rs_trace_buffer buffer = {address, bytes};
    put(to, RS_TRACE_BUFFERS, 0, &buffer, 1, sizeof buffer);
}

static void put_group(stream *to, uint32_t items, const rs_trace_access accesses[], size_t count)
{
    put(to, RS_TRACE_GROUP, items, accesses, count, sizeof accesses[0]);
}

static rs_trace *finish(stream *written)
{
    rs_trace *trace;
    put(written, RS_TRACE_END, 0, "", 0, 1);
    fclose(written->file);
    written->file = fmemopen(written->bytes, written->size, "rb");
    assert_int_equal(rs_trace_create(&trace, written->file, WARP), RESTRIDE_OK);
    return trace;
}

static void end(stream *read, rs_trace *trace)
{
    rs_trace_destroy(trace);
    fclose(read->file);
    free(read->bytes);
}

static void expect_together(const rs_trace_group *group, size_t which, size_t count,
                            const uint64_t addresses[])
{
    const rs_trace_slice *slice = &group->together[which];
    assert_int_equal(slice->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(group->accesses[slice->first + i].address, addresses[i]);
}

/* Item 1 leaves the loop of sites 1 and 2 sooner, item 2 takes another way by site 9, and item 5 is
 * of the second warp. Items come in any order, as after barriers. */
static void accesses_of_one_instruction_are_made_at_once(void **state)
{
    (void)state;
    const rs_trace_access accesses[] = {{100, 1, 0, 4, 0}, {101, 1, 1, 4, 0}, {102, 1, 2, 4, 0},
                                        {200, 2, 0, 4, 0}, {201, 2, 1, 4, 0}, {902, 9, 2, 4, 1},
                                        {105, 1, 5, 4, 0}, {110, 1, 0, 4, 0}, {210, 2, 0, 4, 0},
                                        {112, 1, 2, 4, 0}, {300, 3, 0, 4, 1}, {301, 3, 1, 4, 1},
                                        {302, 3, 2, 4, 1}};
    stream made;
    begin(&made);
    put_buffer(&made, 64, 1000);
    put_group(&made, 6, accesses, sizeof accesses / sizeof accesses[0]);
    rs_trace *trace = finish(&made);
    const rs_trace_group *group;
    assert_int_equal(rs_trace_next(trace, &group), RESTRIDE_OK);
    assert_non_null(group);
    assert_int_equal(group->warp_count, 2);
    assert_int_equal(group->warps[0].first, 0);
    assert_int_equal(group->warps[0].count, 6);
    expect_together(group, 0, 3, (const uint64_t[]){100, 101, 102});
    expect_together(group, 1, 1, (const uint64_t[]){902});
    expect_together(group, 2, 2, (const uint64_t[]){200, 201});
    expect_together(group, 3, 2, (const uint64_t[]){110, 112});
    expect_together(group, 4, 1, (const uint64_t[]){210});
    expect_together(group, 5, 3, (const uint64_t[]){300, 301, 302});
    assert_int_equal(group->warps[1].count, 1);
    expect_together(group, 6, 1, (const uint64_t[]){105});
    size_t count;
    assert_int_equal(rs_trace_buffers(trace, &count)->bytes, 1000);
    assert_int_equal(count, 1);
    assert_int_equal(rs_trace_next(trace, &group), RESTRIDE_OK);
    assert_null(group);
    end(&made, trace);
}

/* A copy of the whole group: a warp of its own, as many elements at once as a warp has items. */
static void copies_of_a_group_are_made_by_warps(void **state)
{
    (void)state;
    rs_trace_access accesses[7];
    for (uint32_t i = 0; i < 6; i++)
        accesses[i] = (rs_trace_access){100 + 4 * i, 0, RS_TRACE_WHOLE_GROUP, 4, 0};
    accesses[6] = (rs_trace_access){500, 1, RS_TRACE_WHOLE_GROUP, 4, 1};
    stream made;
    begin(&made);
    put_buffer(&made, 0, 1000);
    put_group(&made, 2, accesses, 7);
    rs_trace *trace = finish(&made);
    const rs_trace_group *group;
    assert_int_equal(rs_trace_next(trace, &group), RESTRIDE_OK);
    assert_int_equal(group->warp_count, 2);
    assert_int_equal(group->warps[0].count, 0);
    assert_int_equal(group->warps[1].count, 3);
    expect_together(group, 0, 4, (const uint64_t[]){100, 104, 108, 112});
    expect_together(group, 1, 2, (const uint64_t[]){116, 120});
    expect_together(group, 2, 1, (const uint64_t[]){500});
    end(&made, trace);
}

static void broken_recordings_get_a_sentence(void **state)
{
    (void)state;
    const rs_trace_access access = {0, 1, 9, 4, 0};
    static const size_t lengths[] = {0, 7, 16, 40};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        stream made;
        begin(&made);
        put_group(&made, 10, &access, 1);
        rs_trace *trace = finish(&made);
        fclose(made.file);
        made.file = fmemopen(made.bytes, lengths[i] > 0 ? lengths[i] : 1, "rb");
        rs_trace_destroy(trace);
        assert_int_equal(rs_trace_create(&trace, made.file, WARP), RESTRIDE_OK);
        const rs_trace_group *group;
        restride_status status = rs_trace_next(trace, &group);
        if (status == RESTRIDE_OK && group != NULL)
            status = rs_trace_next(trace, &group);
        assert_int_equal(status, RESTRIDE_IO);
        end(&made, trace);
    }
    /* A work-item that the group does not have, an instruction that no kernel has. */
    static const rs_trace_access wrong[] = {{0, 1, 9, 4, 0}, {0, 1U << 30, 0, 4, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        stream made;
        begin(&made);
        put_group(&made, 9, &wrong[i], 1);
        rs_trace *trace = finish(&made);
        const rs_trace_group *group;
        assert_int_equal(rs_trace_next(trace, &group), RESTRIDE_SYNTAX);
        end(&made, trace);
    }
    /* More accesses than any memory holds, of which one is there. */
    stream made;
    begin(&made);
    put_group(&made, 10, &access, 1);
    rs_trace *trace = finish(&made);
    ((rs_trace_block *)(void *)made.bytes)->count = (uint64_t)1 << 44;
    const rs_trace_group *group;
    assert_int_equal(rs_trace_next(trace, &group), RESTRIDE_IO);
    end(&made, trace);
}

/* Every warp of the recording, access by access, against the built-in kernel over the same records.
 */
static void a_recording_is_the_same_as_the_kernel(void **state)
{
    (void)state;
    enum { RECORDS = 1000, FIELDS = 5, ITEMS = 8, BASE = 1 << 20 };
    rs_sim_device device;
    assert_int_equal(rs_sim_device_parse(&device, rs_sim_device_text("k20"), "k20"), RESTRIDE_OK);
    static const char *const layouts[] = {"i f", "f i", "i/4 f i%4", "i/7 f i%7"};
    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++) {
        restride_layout *from, *to;
        assert_int_equal(restride_layout_parse(&from, "i:1000 f:5", "i f"), RESTRIDE_OK);
        assert_int_equal(restride_layout_parse(&to, "i:1000 f:5", layouts[l]), RESTRIDE_OK);
        device.warp = WARP;
        rs_sim_memory *memory;
        assert_int_equal(rs_sim_memory_create(&memory, &device), RESTRIDE_OK);
        const rs_sim_kernel kernel = {to, 4, FIELDS, false, 0};
        assert_int_equal(rs_sim_run_kernel(memory, &kernel), RESTRIDE_OK);
        const rs_sim_counts expected = rs_sim_finish(memory);
        rs_sim_memory_destroy(memory);

        stream made;
        begin(&made);
        put_buffer(&made, BASE, (uint64_t)4 * RECORDS * FIELDS);
        for (uint32_t first = 0; first < RECORDS; first += ITEMS) {
            rs_trace_access accesses[ITEMS * FIELDS];
            for (uint32_t n = 0; n < ITEMS * FIELDS; n++)
                accesses[n] = (rs_trace_access){BASE + 4 * (uint64_t)(first * FIELDS + n),
                                                n % FIELDS, n / FIELDS, 4, 0};
            put_group(&made, ITEMS, accesses, ITEMS * FIELDS);
        }
        rs_trace *trace = finish(&made);
        const rs_sim_array array = {BASE, (uint64_t)4 * RECORDS * FIELDS, 0, from, to, 4};
        assert_int_equal(rs_sim_memory_create(&memory, &device), RESTRIDE_OK);
        const rs_trace_group *group;
        while (rs_trace_next(trace, &group) == RESTRIDE_OK && group != NULL)
            assert_int_equal(rs_sim_replay(memory, &array, 1, group), RESTRIDE_OK);
        const rs_sim_counts counts = rs_sim_finish(memory);
        assert_memory_equal(&counts, &expected, sizeof counts);
        rs_sim_memory_destroy(memory);
        end(&made, trace);
        restride_layout_destroy(from);
        restride_layout_destroy(to);
    }
}

/* Accesses of a record: a float4 stays whole where its floats stay side by side, a copy of the
 * structure is made by members. */
static void accesses_are_split_where_a_layout_parts_them(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        uint32_t bytes;
        size_t accesses;
    } cases[] = {{"i f", 16, 1}, {"f i", 16, 4}, {"i/4 f i%4", 16, 4}, {"i f", 32, 7},
                 {"f i", 32, 7}, {"i f", 8, 1},  {"f i", 8, 2},        {"i/4 f i%4", 32, 7}};
    static const char dims[] =
        "i:64 f{ float x; float y; float z; float w; double m; int a; int b; }";
    rs_sim_device device;
    assert_int_equal(rs_sim_device_parse(&device, rs_sim_device_text("h100"), "h100"), RESTRIDE_OK);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        restride_layout *from, *to;
        assert_int_equal(restride_layout_parse(&from, dims, "i f"), RESTRIDE_OK);
        assert_int_equal(restride_layout_parse(&to, dims, cases[c].expression), RESTRIDE_OK);
        rs_trace_access accesses[WARP];
        for (uint32_t i = 0; i < WARP; i++)
            accesses[i] = (rs_trace_access){4096 + 32 * (uint64_t)i, 0, i, cases[c].bytes, 0};
        stream made;
        begin(&made);
        put_group(&made, WARP, accesses, WARP);
        rs_trace *trace = finish(&made);
        const rs_trace_group *group;
        assert_int_equal(rs_trace_next(trace, &group), RESTRIDE_OK);
        rs_sim_memory *memory;
        assert_int_equal(rs_sim_memory_create(&memory, &device), RESTRIDE_OK);
        const rs_sim_array array = {4096, 64 * 32, 0, from, from, 1};
        rs_sim_array mapped = array;
        if (strcmp(cases[c].expression, "i f") != 0)
            mapped.to = to;
        assert_int_equal(rs_sim_replay(memory, &mapped, 1, group), RESTRIDE_OK);
        const rs_sim_counts counts = rs_sim_finish(memory);
        assert_int_equal(counts.accesses, cases[c].accesses);
        assert_int_equal(counts.useful_bytes, WARP * cases[c].bytes);
        /* Outside the array. */
        mapped.address += 32;
        assert_int_equal(rs_sim_replay(memory, &mapped, 1, group), RESTRIDE_INVALID_ARGUMENT);
        rs_sim_memory_destroy(memory);
        end(&made, trace);
        restride_layout_destroy(from);
        restride_layout_destroy(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_of_one_instruction_are_made_at_once),
        cmocka_unit_test(copies_of_a_group_are_made_by_warps),
        cmocka_unit_test(broken_recordings_get_a_sentence),
        cmocka_unit_test(a_recording_is_the_same_as_the_kernel),
        cmocka_unit_test(accesses_are_split_where_a_layout_parts_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
