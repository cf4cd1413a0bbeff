/* See torn.h. */
#include "torn.h"

#include "../engine/lab.h"
#include "cmocka_all.h"
#include "restride/restride.h"
#include "restride/transfer.h"
#include "transpose/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char unchanged[] = " is unchanged.";
static const char undefined[] = " is undefined now.";

/* One call of the library that changes `bytes` bytes at a target. */
typedef struct {
    const torn_device *device;
    const char *name;
    const char *what; /* the target, as sentences call it */
    size_t bytes;
    unsigned char *content; /* of the target before it */
    void *object;           /* the library's: a plan, a transfer, an offload */
    void *buffer;           /* on the device; NULL: none */
    unsigned char *array;   /* on the host; NULL: none */
    bool is_on_device;      /* the target is the buffer */
    restride_status (*run)(void *object, void *buffer, void *array);
} journey;

/* How often a target was said to be unchanged, and undefined. */
static size_t claims[2];

static void put_content(const journey *j, rs_transfer *lanes)
{
    if (!j->is_on_device)
        memcpy(j->array, j->content, j->bytes);
    else
        assert_int_equal(lab_upload(lanes, j->buffer, j->content, j->bytes), RESTRIDE_OK);
}

static bool has_changed(const journey *j, rs_transfer *lanes)
{
    unsigned char *found = j->array;
    if (j->is_on_device) {
        found = malloc(j->bytes);
        assert_non_null(found);
        assert_int_equal(lab_download(lanes, found, j->buffer, j->bytes), RESTRIDE_OK);
    }
    bool changed = memcmp(found, j->content, j->bytes) != 0;
    if (j->is_on_device)
        free(found);
    return changed;
}

/* A sentence has one claim, its last words. */
static bool ends_with(const char *sentence, const char *what, const char *claim)
{
    char end[128];
    snprintf(end, sizeof end, "%s%s", what, claim);
    size_t length = strlen(sentence);
    return length > strlen(end) && strcmp(sentence + length - strlen(end), end) == 0;
}

static void check_claim(const journey *j, const char *function, size_t n, bool changed)
{
    const char *sentence = restride_last_error();
    bool says_unchanged = ends_with(sentence, j->what, unchanged);
    bool says_undefined = ends_with(sentence, j->what, undefined);
    bool says_twice = strstr(sentence, unchanged) != NULL && strstr(sentence, undefined) != NULL;
    if (says_unchanged == says_undefined || says_twice || (changed && says_unchanged))
        fail_msg("%s, call %zu of %s: \"%s\", and the %s %s", j->name, n, function, sentence,
                 j->what, changed ? "has changed" : "has not");
    /* Where no kernel was started, and no stage came before, nothing has begun. */
    if (n == 1 && function == j->device->launch && j->is_on_device && says_undefined &&
        strncmp(sentence, "Stage", 5) != 0)
        fail_msg("%s: the first launch failed, but \"%s\"", j->name, sentence);
    claims[says_undefined]++;
}

/* The n-th call of a function fails; false when there is none. */
static bool fail_once(const journey *j, rs_transfer *lanes, const char *function, size_t n)
{
    put_content(j, lanes);
    j->device->fail_at(function, n);
    restride_status status = j->run(j->object, j->buffer, j->array);
    bool has_failed = j->device->has_failed();
    j->device->fail_at(NULL, 0);
    if (!has_failed) {
        if (status != RESTRIDE_OK)
            fail_msg("%s: %s", j->name, restride_last_error());
        return false;
    }
    if (status == RESTRIDE_OK)
        fail_msg("%s: call %zu of %s failed and nobody knew", j->name, n, function);
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", restride_last_error());
    bool changed = has_changed(j, lanes);
    rs_fail(status, "%s", sentence);
    check_claim(j, function, n, changed);
    return true;
}

static void fill(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
}

static void check(const journey *j)
{
    rs_transfer *lanes;
    assert_int_equal(rs_transfer_open(j->device->engine, &lanes), RESTRIDE_OK);
    for (const char *const *function = j->device->functions; *function != NULL; function++)
        for (size_t n = 1; fail_once(j, lanes, *function, n); n++)
            continue;
    lanes->operations->close(lanes);
}

/* Some failures came before anything had begun, and some later. */
static void check_claims(void)
{
    assert_true(claims[false] > 0);
    assert_true(claims[true] > 0);
    memset(claims, 0, sizeof claims);
}

/* Fills the target, runs all failures, and the call once more without one. */
static void check_filled(journey *j)
{
    j->content = malloc(j->bytes);
    assert_non_null(j->content);
    fill(j->content, j->bytes);
    check(j);
    if (j->run(j->object, j->buffer, j->array) != RESTRIDE_OK)
        fail_msg("%s: %s", j->name, restride_last_error());
    free(j->content);
}

static void *make_buffer(rs_transfer *lanes, size_t bytes)
{
    void *buffer;
    assert_int_equal(lanes->operations->allocate(lanes, bytes, &buffer), RESTRIDE_OK);
    return buffer;
}

static restride_layout *parse(const char *dims, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    return layout;
}

/* ---- executions ---- */

static restride_status execute(void *plan, void *buffer, void *array)
{
    (void)array;
    return restride_execute(plan, buffer);
}

static void watch(void *context, size_t done, size_t total)
{
    (void)context;
    (void)done;
    (void)total;
}

/* Each stage is waited for. */
static restride_status execute_watched(void *plan, void *buffer, void *array)
{
    (void)array;
    const restride_run_options options = {.progress = watch};
    return restride_execute_with(plan, buffer, &options);
}

static void check_plan(const torn_device *device, restride_plan *plan, const char *name,
                       size_t bytes)
{
    rs_transfer *lanes;
    assert_int_equal(rs_transfer_open(device->engine, &lanes), RESTRIDE_OK);
    journey j = {.device = device,
                 .name = name,
                 .what = "buffer",
                 .bytes = bytes,
                 .object = plan,
                 .buffer = make_buffer(lanes, bytes),
                 .is_on_device = true};
    restride_status (*const runs[])(void *, void *, void *) = {execute, execute_watched};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        j.run = runs[i];
        check_filled(&j);
    }
    lanes->operations->release(lanes, j.buffer);
    lanes->operations->close(lanes);
    restride_plan_destroy(plan);
}

static void check_matrices(const torn_device *device)
{
    static const struct {
        const char *method;
        size_t rows, cols;
    } cases[] = {{NULL, 97, 101},        {NULL, 150, 150},   {NULL, 61, 90},
                 {"tiles 210!", 64, 96}, {"square", 64, 64}, {"direct", 60, 90}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const restride_plan_options options = {.method = cases[i].method};
        restride_plan *plan;
        restride_status status = restride_plan_transpose_with(&plan, device->engine, cases[i].rows,
                                                              cases[i].cols, 4, 1, &options);
        if (status == RESTRIDE_UNSUPPORTED && cases[i].method != NULL)
            continue;
        if (status != RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        char name[64];
        snprintf(name, sizeof name, "%zu x %zu", cases[i].rows, cases[i].cols);
        check_plan(device, plan, name, 4 * cases[i].rows * cases[i].cols);
    }
}

static void check_records(const torn_device *device)
{
    static const struct {
        const char *dims;
        const char *to;
        size_t elem_size;
    } cases[] = {{"i:301 f{ float x; double m; char kind; }", "i/32 f i%32", 0},
                 {"i:301 f{ float x; double m; char kind; }", "f i", 0},
                 {"i:333 f:5", "i/32 f i%32", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        restride_layout *from = parse(cases[i].dims, "i f");
        restride_layout *to = parse(cases[i].dims, cases[i].to);
        restride_plan *plan;
        if (restride_plan_convert_with(&plan, device->engine, from, to, cases[i].elem_size, NULL) !=
            RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        size_t scale = cases[i].elem_size == 0 ? 1 : cases[i].elem_size;
        check_plan(device, plan, cases[i].dims, restride_layout_size(from) * scale);
        restride_layout_destroy(from);
        restride_layout_destroy(to);
    }
}

/* A stage of several launches that follow one another. */
static void check_repeats(const torn_device *device)
{
    enum { SIDE = 64, REPEATS = 3, MATRIX_BYTES = 4 * SIDE * SIDE };
    const rs_transpose_task task = {.method = RS_TRANSPOSE_SQUARE,
                                    .outer = 1,
                                    .pitch = MATRIX_BYTES,
                                    .count = 1,
                                    .rows = SIDE,
                                    .cols = SIDE,
                                    .unit = 4,
                                    .repeats = REPEATS,
                                    .repeat_pitch = MATRIX_BYTES};
    size_t bytes = (size_t)REPEATS * MATRIX_BYTES;
    restride_plan *plan;
    if (rs_plan_create(&plan, device->engine, bytes, "a", "b") != RESTRIDE_OK ||
        rs_plan_add_transposes(plan, &task, 1, bytes) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    check_plan(device, plan, "repeated squares", bytes);
}

static void check_executions(void **state)
{
    const torn_device *device = *state;
    check_repeats(device);
    check_matrices(device);
    check_records(device);
    check_claims();
}

/* ---- transfers ---- */

static restride_status upload(void *transfer, void *buffer, void *array)
{
    return restride_transfer_upload(transfer, buffer, array);
}

static restride_status download(void *transfer, void *buffer, void *array)
{
    return restride_transfer_download(transfer, array, buffer);
}

/* Four chunks are in the ring; there are more, and the last one is shorter. */
static void check_transfer(const torn_device *device, int pinned)
{
    static const char dims[] = "i:1000 f:5";
    const restride_transfer_options options = {pinned, 2560};
    restride_layout *host = parse(dims, "i f");
    restride_layout *there = parse(dims, "i/32 f i%32");
    restride_transfer *transfer;
    rs_transfer *lanes;
    if (restride_transfer_create(&transfer, device->engine, host, there, 4, &options) !=
        RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    assert_int_equal(rs_transfer_open(device->engine, &lanes), RESTRIDE_OK);
    size_t bytes = restride_transfer_bytes(transfer);
    unsigned char *array = calloc(bytes, 1);
    assert_non_null(array);
    journey j = {.device = device,
                 .name = pinned ? "up, pinned" : "up",
                 .what = "buffer",
                 .bytes = bytes,
                 .object = transfer,
                 .buffer = make_buffer(lanes, bytes),
                 .array = array,
                 .is_on_device = true,
                 .run = upload};
    check_filled(&j);
    j.name = pinned ? "down, pinned" : "down";
    j.what = "array";
    j.is_on_device = false;
    j.run = download;
    check_filled(&j);
    free(array);
    lanes->operations->release(lanes, j.buffer);
    lanes->operations->close(lanes);
    restride_transfer_destroy(transfer);
    restride_layout_destroy(host);
    restride_layout_destroy(there);
}

static void check_transfers(void **state)
{
    const torn_device *device = *state;
    for (int pinned = 0; pinned < 2; pinned++)
        check_transfer(device, pinned);
    check_claims();
}

/* ---- offloads ---- */

static restride_status run_offload(void *offload, void *buffer, void *array)
{
    (void)buffer;
    return restride_offload_run(offload, array);
}

static void check_offloads(void **state)
{
    const torn_device *device = *state;
    static const char *const names[] = {"offload in one", "way back overlapped",
                                        "both ways overlapped"};
    enum { ROWS = 128, COLS = 64 };
    for (int overlap = RESTRIDE_OVERLAP_NONE; overlap <= RESTRIDE_OVERLAP_BOTH; overlap++) {
        const restride_offload_options options = {(restride_overlap)overlap, 4};
        restride_offload *offload;
        if (restride_offload_transpose(&offload, device->engine, ROWS, COLS, 4, &options) !=
            RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        unsigned char *matrix = malloc(4 * ROWS * COLS);
        assert_non_null(matrix);
        journey j = {.device = device,
                     .name = names[overlap - RESTRIDE_OVERLAP_NONE],
                     .what = "matrix",
                     .bytes = 4 * ROWS * COLS,
                     .object = offload,
                     .array = matrix,
                     .run = run_offload};
        check_filled(&j);
        free(matrix);
        restride_offload_destroy(offload);
    }
    check_claims();
}

/* ---- memory ---- */

/* A matrix that is larger than the device's memory is refused before anything is planned for it. */
static void check_memory(void **state)
{
    const torn_device *device = *state;
    for (int overlap = RESTRIDE_OVERLAP_CHOOSE; overlap <= RESTRIDE_OVERLAP_BOTH; overlap++) {
        const restride_offload_options options = {(restride_overlap)overlap, 0};
        restride_offload *offload;
        device->fail_at(device->build, 1);
        restride_status status = restride_offload_transpose(
            &offload, device->engine, (size_t)1 << 20, (size_t)1 << 24, 4, &options);
        bool has_built = device->has_failed();
        device->fail_at(NULL, 0);
        if (status != RESTRIDE_OUT_OF_MEMORY || has_built)
            fail_msg("overlap %d: status %d, %s", overlap, status, restride_last_error());
    }
}

int torn_run(const torn_device *device)
{
    torn_device tested = *device;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(check_memory, &tested),
        cmocka_unit_test_prestate(check_executions, &tested),
        cmocka_unit_test_prestate(check_transfers, &tested),
        cmocka_unit_test_prestate(check_offloads, &tested),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(tested.engine);
    return failed;
}
