/*
 * Data in host memory converted by a device: test_transfer opencl|cuda. Every byte is compared with
 * the definition, and bytes around the host's memory stay as they are.
 */
#include "../engine/lab.h"
#include "restride/layout.h"
#include "restride/restride.h"
#include "restride/transfer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CANARY_BYTES = 256, CANARY = 0x5c, SKIPPED = 77 };

static restride_engine *engine;

/* ---- memory of the host with canaries ---- */

typedef struct {
    restride_host_memory *memory;
    unsigned char *bytes;
    size_t size;
} guarded;

static guarded guarded_create(size_t size)
{
    guarded g = {.size = size};
    assert_int_equal(restride_host_memory_create(&g.memory, engine, size + 2 * CANARY_BYTES),
                     RESTRIDE_OK);
    unsigned char *start = restride_host_memory_pointer(g.memory);
    memset(start, CANARY, size + 2 * CANARY_BYTES);
    g.bytes = start + CANARY_BYTES;
    return g;
}

static void guarded_destroy(guarded *g)
{
    for (size_t i = 1; i <= CANARY_BYTES; i++)
        if (g->bytes[-(ptrdiff_t)i] != CANARY || g->bytes[g->size + i - 1] != CANARY)
            fail_msg("a byte beside the array has changed");
    restride_host_memory_destroy(g->memory);
}

static void fill(unsigned char *bytes, size_t size)
{
    unsigned state = 20140215;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
}

/* ---- matrices ---- */

static void check_offload(size_t rows, size_t cols, size_t unit, restride_overlap overlap,
                          size_t parts)
{
    const restride_offload_options options = {overlap, parts};
    restride_offload *offload;
    restride_status status =
        restride_offload_transpose(&offload, engine, rows, cols, unit, &options);
    if (status == RESTRIDE_UNSUPPORTED && overlap == RESTRIDE_OVERLAP_BACK)
        return;
    if (status != RESTRIDE_OK)
        fail_msg("%zu x %zu: %s", rows, cols, restride_last_error());
    size_t size = rows * cols * unit;
    guarded matrix = guarded_create(size);
    unsigned char *before = malloc(size);
    fill(before, size);
    memcpy(matrix.bytes, before, size);
    if (restride_offload_run(offload, matrix.bytes) != RESTRIDE_OK)
        fail_msg("%zu x %zu: %s", rows, cols, restride_last_error());
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            if (memcmp(matrix.bytes + (j * rows + i) * unit, before + (i * cols + j) * unit,
                       unit) != 0)
                fail_msg("%zu x %zu of %zu bytes, overlap %d, %zu parts: row %zu, column %zu", rows,
                         cols, unit, (int)overlap, restride_offload_parts(offload), j, i);
    free(before);
    guarded_destroy(&matrix);
    restride_offload_destroy(offload);
}

static void matrices_are_transposed(void **state)
{
    (void)state;
    static const struct {
        size_t rows;
        size_t cols;
        size_t unit;
    } cases[] = {{64, 96, 4}, {96, 64, 4}, {100, 100, 8}, {37, 128, 4}, {128, 256, 1},
                 {3, 512, 4}, {1, 200, 4}, {60, 36, 12},  {72, 40, 16}, {256, 128, 2}};
    static const size_t parts[] = {0, 3, 8};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int overlap = RESTRIDE_OVERLAP_CHOOSE; overlap <= RESTRIDE_OVERLAP_BOTH; overlap++)
            for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
                check_offload(cases[c].rows, cases[c].cols, cases[c].unit,
                              (restride_overlap)overlap, parts[p]);
}

/* A matrix that the paper's overlap cuts into aligned parts on any device. */
static void the_way_back_is_overlapped(void **state)
{
    (void)state;
    const restride_offload_options options = {RESTRIDE_OVERLAP_BACK, 4};
    restride_offload *offload;
    assert_int_equal(restride_offload_transpose(&offload, engine, 128, 64, 4, &options),
                     RESTRIDE_OK);
    assert_int_equal(restride_offload_parts(offload), 4);
    assert_int_equal(restride_offload_parts(NULL), 0);
    assert_int_equal(restride_offload_overlap(NULL), RESTRIDE_OVERLAP_NONE);
    assert_int_equal(restride_offload_overlap(offload), RESTRIDE_OVERLAP_BACK);
    restride_offload_destroy(offload);
    check_offload(128, 64, 4, RESTRIDE_OVERLAP_BACK, 4);
}

static void an_offload_runs_again(void **state)
{
    (void)state;
    restride_offload *offload;
    unsigned char before[48 * 48];
    unsigned char matrix[48 * 48];
    fill(before, sizeof before);
    memcpy(matrix, before, sizeof matrix);
    assert_int_equal(restride_offload_transpose(&offload, engine, 48, 48, 1, NULL), RESTRIDE_OK);
    assert_int_equal(restride_offload_run(offload, matrix), RESTRIDE_OK);
    assert_memory_not_equal(matrix, before, sizeof matrix);
    assert_int_equal(restride_offload_run(offload, matrix), RESTRIDE_OK);
    assert_memory_equal(matrix, before, sizeof matrix);
    restride_offload_destroy(offload);
}

/* ---- arrays of structures ---- */

typedef struct {
    const char *dims; /* with one %zu: the records */
    size_t elem_size; /* 0: a record */
    const char *host;
    const char *device;
    size_t record_bytes;
} array_case;

static restride_layout *parse(const array_case *c, size_t count, const char *expression)
{
    char dims[128];
    snprintf(dims, sizeof dims, c->dims, count);
    restride_layout *layout;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    return layout;
}

/* Compares elements by both layouts' offsets: each as many bytes as lie before the next member. */
static void compare(const array_case *c, size_t count, const restride_layout *host,
                    const restride_layout *device, const unsigned char *here,
                    const unsigned char *there)
{
    size_t members = restride_layout_extent(host, 1);
    size_t scale = c->elem_size != 0 ? c->elem_size : 1;
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < members; f++) {
            const size_t index[] = {i, f};
            size_t from = restride_layout_offset(host, index) * scale;
            size_t to = restride_layout_offset(device, index) * scale;
            size_t bytes = c->elem_size != 0 ? c->elem_size : 1;
            if (memcmp(here + from, there + to, bytes) != 0)
                fail_msg("%s of %zu, %s to %s: record %zu, member %zu", c->dims, count, c->host,
                         c->device, i, f);
        }
}

static void check_transfer(const array_case *c, size_t count, int pinned, size_t chunk_bytes)
{
    restride_layout *host = parse(c, count, c->host);
    restride_layout *device = parse(c, count, c->device);
    const restride_transfer_options options = {pinned, chunk_bytes};
    restride_transfer *transfer;
    if (restride_transfer_create(&transfer, engine, host, device, c->elem_size, &options) !=
        RESTRIDE_OK)
        fail_msg("%s of %zu: %s", c->dims, count, restride_last_error());
    size_t size = count * c->record_bytes;
    assert_int_equal(restride_transfer_bytes(transfer), size);
    /* At most four chunks, of whole records. */
    size_t staging = restride_transfer_staging_bytes(transfer);
    assert_int_equal(restride_transfer_bytes(NULL) + restride_transfer_staging_bytes(NULL), 0);
    assert_true(staging > 0 && staging % c->record_bytes == 0 && staging <= 4 * size);
    rs_transfer *lanes;
    void *buffer;
    assert_int_equal(rs_transfer_open(engine, &lanes), RESTRIDE_OK);
    assert_int_equal(lanes->operations->allocate(lanes, size, &buffer), RESTRIDE_OK);

    guarded array = guarded_create(size);
    guarded back = guarded_create(size);
    unsigned char *there = malloc(size);
    fill(array.bytes, size);
    if (restride_transfer_upload(transfer, buffer, array.bytes) != RESTRIDE_OK)
        fail_msg("%s of %zu up: %s", c->dims, count, restride_last_error());
    for (int twice = 0; twice < 2; twice++) {
        rs_ticket ticket;
        const rs_transfer_block block = {
            .host = there, .device = buffer, .row_bytes = size, .rows = 1};
        assert_int_equal(lanes->operations->download(lanes, &block, &ticket), RESTRIDE_OK);
        assert_int_equal(lanes->operations->wait(lanes, ticket), RESTRIDE_OK);
        compare(c, count, host, device, array.bytes, there);
        /* The second time after a download, which leaves the buffer as it is. */
        if (restride_transfer_download(transfer, back.bytes, buffer) != RESTRIDE_OK)
            fail_msg("%s of %zu down: %s", c->dims, count, restride_last_error());
        assert_memory_equal(back.bytes, array.bytes, size);
    }
    free(there);
    guarded_destroy(&array);
    guarded_destroy(&back);
    lanes->operations->release(lanes, buffer);
    lanes->operations->close(lanes);
    restride_transfer_destroy(transfer);
    restride_layout_destroy(host);
    restride_layout_destroy(device);
}

static void arrays_change_on_their_way(void **state)
{
    (void)state;
    static const array_case cases[] = {
        {"i:%zu f{ float x[8]; }", 0, "i f", "i/32 f i%32", 32},
        {"i:%zu f{ float x[5]; }", 0, "i f", "i/16 f i%16", 20},
        {"i:%zu f{ double x[3]; }", 0, "i/8 f i%8", "i f", 24},
        {"i:%zu f{ float x[2]; }", 0, "i f", "i f", 8},
    };
    static const size_t counts[] = {1, 31, 32, 640, 1000};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
            for (int pinned = 0; pinned < 2; pinned++) {
                check_transfer(&cases[c], counts[n], pinned, 0);
                check_transfer(&cases[c], counts[n], pinned, 2048);
            }
}

static void arrays_of_elements_change_too(void **state)
{
    (void)state;
    static const array_case cases[] = {
        {"i:%zu f:8", 4, "i f", "i/32 f i%32", 32},
        {"i:%zu f:3", 8, "i f", "i/16 f i%16", 24},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int pinned = 0; pinned < 2; pinned++)
            check_transfer(&cases[c], 1024, pinned, 4096);
}

/* ---- bad input ---- */

/* Records that there are none of, and rows of more bytes than a size can hold, which would begin
 * at 0 again. */
static void refuse_arrays_of_no_size(void)
{
    static const array_case of_records = {"i:%zu f{ float x[4]; }", 0, "i f", "i/32 f i%32", 16};
    static const array_case of_elements = {"i:%zu f:3", 0, "i f", "i/32 f i%32", 0};
    restride_layout *from = parse(&of_records, 0, "i f");
    restride_layout *to = parse(&of_records, 0, "i/32 f i%32");
    restride_transfer *transfer = NULL;
    assert_int_equal(restride_transfer_create(&transfer, engine, from, to, 0, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_non_null(strstr(restride_last_error(), "0 records of 16 bytes hold nothing"));
    assert_null(transfer);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    from = parse(&of_elements, 64, "i f");
    to = parse(&of_elements, 64, "i/32 f i%32");
    assert_int_equal(restride_transfer_create(&transfer, engine, from, to, SIZE_MAX / 3 + 1, NULL),
                     RESTRIDE_OVERFLOW);
    assert_non_null(strstr(restride_last_error(), "3 elements of 6148914691236517206 bytes"));
    restride_layout_destroy(from);
    restride_layout_destroy(to);
}

static void errors_have_sentences(void **state)
{
    (void)state;
    static const array_case plain = {"i:%zu f{ float x[4]; }", 0, "i f", "f i", 16};
    restride_layout *aos = parse(&plain, 64, "i f");
    restride_layout *soa = parse(&plain, 64, "f i");
    restride_layout *asta = parse(&plain, 64, "i/32 f i%32");
    restride_layout *longer = parse(&plain, 65, "i/32 f i%32");
    restride_transfer *transfer;
    assert_int_equal(restride_transfer_create(&transfer, engine, aos, soa, 0, NULL),
                     RESTRIDE_UNSUPPORTED);
    assert_non_null(strstr(restride_last_error(), "\"f i\" is neither AoS nor ASTA"));
    assert_int_equal(restride_transfer_create(&transfer, engine, aos, longer, 0, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_transfer_create(&transfer, engine, aos, asta, 4, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_null(transfer);
    refuse_arrays_of_no_size();

    restride_engine *host;
    restride_offload *offload;
    restride_host_memory *memory;
    assert_int_equal(restride_engine_create_host(&host, 1), RESTRIDE_OK);
    assert_int_equal(restride_transfer_create(&transfer, host, aos, asta, 0, NULL),
                     RESTRIDE_UNSUPPORTED);
    assert_int_equal(restride_offload_transpose(&offload, host, 4, 4, 4, NULL),
                     RESTRIDE_UNSUPPORTED);
    assert_int_equal(restride_host_memory_create(&memory, host, 100), RESTRIDE_UNSUPPORTED);
    restride_engine_destroy(host);

    assert_int_equal(restride_offload_transpose(&offload, engine, 0, 4, 4, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(
        restride_offload_transpose(&offload, engine, (size_t)1 << 40, (size_t)1 << 40, 4, NULL),
        RESTRIDE_OVERFLOW);
    assert_int_equal(restride_offload_run(NULL, &offload), RESTRIDE_INVALID_ARGUMENT);

    /* A buffer that is too small is not written to. */
    assert_int_equal(restride_transfer_create(&transfer, engine, aos, asta, 0, NULL), RESTRIDE_OK);
    rs_transfer *lanes;
    void *buffer;
    unsigned char array[64 * 16] = {0};
    assert_int_equal(rs_transfer_open(engine, &lanes), RESTRIDE_OK);
    assert_int_equal(lanes->operations->allocate(lanes, 512, &buffer), RESTRIDE_OK);
    assert_int_equal(restride_transfer_upload(transfer, buffer, array), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_transfer_upload(transfer, NULL, array), RESTRIDE_INVALID_ARGUMENT);
    lanes->operations->release(lanes, buffer);
    lanes->operations->close(lanes);
    restride_transfer_destroy(transfer);
    restride_layout_destroy(aos);
    restride_layout_destroy(soa);
    restride_layout_destroy(asta);
    restride_layout_destroy(longer);
}

/* A place that holds anything else than NULL after a failure would be destroyed by many a program.
 */
static void failures_leave_null(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 3};
    static const int axes[] = {1, 0};
    char anything;
    void *places[9];
    for (int i = 0; i < 9; i++)
        places[i] = &anything;
    const restride_status statuses[] = {
        restride_engine_create_host((restride_engine **)&places[0], -1),
        restride_plan_transpose((restride_plan **)&places[1], NULL, 2, 3, 4, 1),
        restride_plan_permute((restride_plan **)&places[2], NULL, 2, sizes, axes, 4),
        restride_plan_convert((restride_plan **)&places[3], engine, NULL, NULL),
        restride_host_memory_create((restride_host_memory **)&places[4], engine, 0),
        restride_offload_transpose((restride_offload **)&places[5], engine, 0, 3, 4, NULL),
        restride_transfer_create((restride_transfer **)&places[6], engine, NULL, NULL, 4, NULL),
        restride_irregular_plan((restride_irregular **)&places[7], NULL, NULL, 1, NULL),
        restride_layout_parse((restride_layout **)&places[8], NULL, NULL),
    };
    for (int i = 0; i < 9; i++) {
        assert_int_equal(statuses[i], RESTRIDE_INVALID_ARGUMENT);
        assert_null(places[i]);
    }
}

/* The emulated driver fails where it is told to. */
static void a_failing_driver_is_reported(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuMemcpy2DAsync_v2", "cuLaunchKernel",
                                        "cuEventSynchronize", "cuMemcpyDtoHAsync_v2",
                                        "cuStreamSynchronize"};
    unsigned char matrix[64 * 64 * 4];
    unsigned char before[sizeof matrix];
    fill(before, sizeof before);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const restride_offload_options options = {RESTRIDE_OVERLAP_BOTH, 2};
        restride_offload *offload;
        memcpy(matrix, before, sizeof matrix);
        assert_int_equal(restride_offload_transpose(&offload, engine, 64, 64, 4, &options),
                         RESTRIDE_OK);
        setenv("EMULATED_FAIL", calls[i], 1);
        assert_int_equal(restride_offload_run(offload, matrix), RESTRIDE_DEVICE_ERROR);
        unsetenv("EMULATED_FAIL");
        if (strstr(restride_last_error(), "undefined") == NULL)
            assert_memory_equal(matrix, before, sizeof matrix);
        restride_offload_destroy(offload);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "opencl";
    if (lab_open(&engine, name) != RESTRIDE_OK) {
        printf("%s\n", restride_last_error());
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_transposed),
        cmocka_unit_test(the_way_back_is_overlapped),
        cmocka_unit_test(an_offload_runs_again),
        cmocka_unit_test(arrays_change_on_their_way),
        cmocka_unit_test(arrays_of_elements_change_too),
        cmocka_unit_test(errors_have_sentences),
        cmocka_unit_test(failures_leave_null),
    };
    const struct CMUnitTest emulated_tests[] = {cmocka_unit_test(a_failing_driver_is_reported)};
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    if (strcmp(name, "cuda") == 0 && getenv("EMULATED_FOLDER") != NULL)
        failures += cmocka_run_group_tests(emulated_tests, NULL, NULL);
    restride_engine_destroy(engine);
    return failures;
}
