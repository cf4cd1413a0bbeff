/*
 * How fast a device permutes the axes of tensors in place, every element verified on the host.
 *
 *     time_permute opencl|cuda DIMS:AXES:BYTES...       for example 600x500x400:2x0x1:4
 *
 * One line a tensor: GB/s (2 x bytes / time, the median of nine runs), the ratio to a copy of the
 * same bytes from buffer to buffer, the time of the second plan, scratch memory, stages; and a line
 * for each stage.
 */
#include "lab.h"
#include "restride/restride.h"
#include "transpose/plan.h"

#include <jansson.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9, MOST_RANK = 16, PARTS = 16 };

typedef struct {
    int rank;
    size_t dims[MOST_RANK];
    int axes[MOST_RANK];
    size_t unit;
    size_t bytes;
} tensor;

static restride_engine *engine;
static rs_transfer *transfer;

/* The median of what `plan` takes, or a copy to `target` without one; negative after a failure. */
static double median(restride_plan *plan, void *buffer, void *target, size_t bytes)
{
    double times[RUNS + 1];
    for (int i = 0; i <= RUNS; i++) {
        double start = lab_now();
        restride_status status =
            plan != NULL ? restride_execute(plan, buffer)
                         : transfer->operations->copy(transfer, target, 0, buffer, 0, bytes, NULL);
        if (status == RESTRIDE_OK)
            status = transfer->operations->finish(transfer);
        if (status != RESTRIDE_OK)
            return -1;
        times[i] = lab_now() - start;
    }
    return lab_median(times + 1, RUNS); /* the first one warms up */
}

/* Byte b of element e. */
static unsigned char value(size_t element, size_t byte)
{
    uint64_t mixed = (element * 16 + byte + 1) * 0x9E3779B97F4A7C15u;
    return (unsigned char)(mixed >> 56);
}

/* A part of a tensor in host memory, filled or checked by a thread. */
typedef struct {
    const tensor *t;
    unsigned char *bytes;
    size_t begin, end; /* elements */
    size_t wrong;
} tensor_part;

static void *fill_part(void *argument)
{
    const tensor_part *p = argument;
    for (size_t e = p->begin; e < p->end; e++)
        for (size_t b = 0; b < p->t->unit; b++)
            p->bytes[e * p->t->unit + b] = value(e, b);
    return NULL;
}

static void *check_part(void *argument)
{
    tensor_part *p = argument;
    const tensor *t = p->t;
    size_t strides[MOST_RANK];
    size_t stride = 1;
    for (int i = t->rank; i-- > 0;) {
        strides[i] = stride;
        stride *= t->dims[i];
    }
    size_t index[MOST_RANK] = {0};
    size_t from = 0;
    size_t rest = p->begin;
    for (int k = t->rank; k-- > 0; rest /= t->dims[t->axes[k]]) {
        index[k] = rest % t->dims[t->axes[k]];
        from += index[k] * strides[t->axes[k]];
    }
    for (size_t e = p->begin; e < p->end; e++) {
        for (size_t b = 0; b < t->unit; b++)
            p->wrong += p->bytes[e * t->unit + b] != value(from, b);
        for (int k = t->rank; k-- > 0;) {
            from += strides[t->axes[k]];
            if (++index[k] < t->dims[t->axes[k]])
                break;
            from -= strides[t->axes[k]] * index[k];
            index[k] = 0;
        }
    }
    return NULL;
}

/* All elements in parts, a thread each; returns how many bytes are wrong. */
static size_t work_in_parts(void *(*work)(void *part), const tensor *t, unsigned char *bytes)
{
    pthread_t threads[PARTS];
    tensor_part parts[PARTS];
    size_t elements = t->bytes / t->unit;
    size_t wrong = 0;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = (tensor_part){t, bytes, elements / PARTS * i, elements / PARTS * (i + 1), 0};
        if (i + 1 == PARTS)
            parts[i].end = elements;
        if (pthread_create(&threads[i], NULL, work, &parts[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < PARTS; i++) {
        pthread_join(threads[i], NULL);
        wrong += parts[i].wrong;
    }
    return wrong;
}

/* One stage alone, whatever it makes of the array. */
static double stage_median(const restride_plan *plan, size_t stage, void *buffer)
{
    const rs_engine_operations *o = engine->operations;
    double times[RUNS + 1];
    void *scratch = NULL;
    size_t kept;
    size_t bytes = o->scratch_bytes(plan->stages[stage], &kept);
    if (bytes != 0 && o->acquire_scratch(engine, bytes, &scratch) != RESTRIDE_OK)
        return -1;
    for (int i = 0; i <= RUNS; i++) {
        double start = lab_now();
        restride_status status = o->run(plan->stages[stage], buffer, scratch, NULL, NULL);
        if (status == RESTRIDE_OK)
            status = transfer->operations->finish(transfer);
        times[i] = status == RESTRIDE_OK ? lab_now() - start : -1;
    }
    if (scratch != NULL)
        o->release_scratch(engine, bytes, scratch);
    return lab_median(times + 1, RUNS);
}

static bool report(const tensor *t, restride_plan *plan, double plan_time, void *buffer,
                   void *target, size_t wrong)
{
    double time = median(plan, buffer, NULL, t->bytes);
    double copy = median(NULL, buffer, target, t->bytes);
    char *text = restride_plan_describe(plan);
    json_t *described = json_loads(text == NULL ? "{}" : text, 0, NULL);
    printf("%.0f GB/s, %.2f of the copy, plan %.2f ms, scratch %.3f %%, %zu stages, wrong %zu\n",
           2 * (double)t->bytes / time / 1e6, copy / time, plan_time,
           100 * (double)restride_plan_scratch_bytes(plan) / (double)t->bytes,
           json_array_size(json_object_get(described, "stages")), wrong);
    size_t i = 0;
    json_t *stage;
    json_array_foreach(json_object_get(described, "stages"), i, stage) printf(
        "    %.2f of the copy, %s, tile %lld: %lld of %lld x %lld elements of %lld bytes\n",
        copy / stage_median(plan, i, buffer), json_string_value(json_object_get(stage, "name")),
        (long long)json_integer_value(json_object_get(stage, "tile")),
        (long long)json_integer_value(json_object_get(stage, "blocks")),
        (long long)json_integer_value(json_object_get(stage, "rows")),
        (long long)json_integer_value(json_object_get(stage, "cols")),
        (long long)json_integer_value(json_object_get(stage, "element_bytes")));
    json_decref(described);
    free(text);
    return time > 0 && wrong == 0;
}

static bool measure(const tensor *t)
{
    const rs_transfer_operations *o = transfer->operations;
    unsigned char *host = malloc(t->bytes);
    void *buffer = NULL;
    void *target = NULL;
    restride_plan *plan = NULL;
    double plan_time = 0;
    restride_status status =
        host == NULL ? RESTRIDE_OUT_OF_MEMORY : o->allocate(transfer, t->bytes, &buffer);
    if (status == RESTRIDE_OK)
        status = o->allocate(transfer, t->bytes, &target);
    if (status == RESTRIDE_OK)
        work_in_parts(fill_part, t, host);
    if (status == RESTRIDE_OK)
        status = lab_upload(transfer, buffer, host, t->bytes);
    for (int i = 0; i < 2 && status == RESTRIDE_OK; i++) {
        restride_plan_destroy(plan);
        double start = lab_now();
        status = restride_plan_permute(&plan, engine, t->rank, t->dims, t->axes, t->unit);
        plan_time = lab_now() - start;
    }
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, buffer);
    if (status == RESTRIDE_OK)
        status = o->finish(transfer);
    if (status == RESTRIDE_OK)
        status = lab_download(transfer, host, buffer, t->bytes);
    bool good = status == RESTRIDE_OK &&
                report(t, plan, plan_time, buffer, target, work_in_parts(check_part, t, host));
    if (status != RESTRIDE_OK)
        printf("%s\n", restride_last_error());
    restride_plan_destroy(plan);
    o->release(transfer, buffer);
    o->release(transfer, target);
    free(host);
    return good;
}

static bool read_tensor(const char *text, tensor *t)
{
    *t = (tensor){.bytes = 1};
    char *end = NULL;
    for (const char *at = text; t->rank < MOST_RANK; at = end + 1) {
        t->dims[t->rank] = strtoull(at, &end, 10);
        t->bytes *= t->dims[t->rank++];
        if (*end != 'x')
            break;
    }
    for (int k = 0; k < t->rank && (*end == ':' || *end == 'x'); k++)
        t->axes[k] = (int)strtol(end + 1, &end, 10);
    if (*end != ':')
        return false;
    t->unit = strtoull(end + 1, &end, 10);
    t->bytes *= t->unit;
    return *end == '\0' && t->bytes != 0;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    restride_status status = lab_open(&engine, arguments[1]);
    if (status == RESTRIDE_OK)
        status = rs_transfer_open(engine, &transfer);
    if (status != RESTRIDE_OK) {
        puts(restride_last_error());
        return 77;
    }
    bool good = true;
    for (int i = 2; i < count; i++) {
        tensor t;
        printf("%s: ", arguments[i]);
        if (read_tensor(arguments[i], &t))
            good = measure(&t) && good;
        else
            puts("not DIMS:AXES:BYTES"), good = false;
        fflush(stdout);
    }
    transfer->operations->close(transfer);
    restride_engine_destroy(engine);
    return good ? 0 : 1;
}
