/*
 * How fast a device permutes the axes of tensors in place, every element verified on the host.
 *
 *     time_permute opencl|cuda [OPTION] DIMS:AXES:BYTES...       for example 600x500x400:2x0x1:4
 *     time_permute opencl|cuda [OPTION] --random COUNT SEED KIND...
 *     time_permute opencl|cuda [OPTION] --check COUNT SEED KIND...
 *
 * One line a tensor: GB/s (2 x bytes / time, the median of nine runs), the ratio to a copy of the
 * same bytes from buffer to buffer, the passes that it took and that the plan expected, the time of
 * the second plan, scratch memory, stages; and a line for each stage.
 *
 * A KIND of random tensors is "even" or "any", floats of rank 3 to 6 whose axes are even or not, or
 * "mixed", which has matrices, batches and elements of other sizes too. Behind them come the median
 * and the least of the ratios, and of how many the time is within 25 % of the expected. With
 * --check they have 30 kB to 300 MB, and nothing is timed.
 *
 * What lies before and behind a tensor must not change either. --scratch PERCENT bounds the memory
 * of the plans by a part of the array, --most BYTES the size of random tensors.
 */
#include "lab.h"
#include "restride/restride.h"
#include "transpose/cost.h"
#include "transpose/plan.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9, MOST_RANK = 16, PARTS = 16, MOST_RANDOM_BYTES = 900000000, GUARD_BYTES = 4096 };

typedef struct {
    int rank;
    size_t dims[MOST_RANK];
    int axes[MOST_RANK];
    size_t unit;
    size_t bytes;
} tensor;

static restride_engine *engine;
static rs_transfer *transfer;

/* The array before it is permuted, which lies in the same bytes for all tensors. The array is a
 * part of the buffer. */
static size_t room;
static void *original;
static void *buffer;
static void *array;
static unsigned char *host;
static double scratch_percent; /* 0: what the planner takes by itself */

/* The median of what `plan` takes, or a copy without one; negative after a failure. */
static double median(restride_plan *plan, size_t bytes)
{
    double times[RUNS + 1];
    for (int i = 0; i <= RUNS; i++) {
        double start = lab_now();
        restride_status status =
            plan != NULL
                ? restride_execute(plan, array)
                : transfer->operations->copy(transfer, buffer, 0, original, 0, bytes, NULL);
        if (status == RESTRIDE_OK)
            status = transfer->operations->finish(transfer);
        if (status != RESTRIDE_OK)
            return -1;
        times[i] = lab_now() - start;
    }
    return lab_median(times + 1, RUNS); /* the first one warms up */
}

static unsigned char value(size_t byte)
{
    uint64_t mixed = (byte + 1) * 0x9E3779B97F4A7C15u;
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
    for (size_t b = p->begin; b < p->end; b++)
        p->bytes[b] = value(b);
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
            p->wrong += p->bytes[e * t->unit + b] != value(GUARD_BYTES + from * t->unit + b);
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

/* What lies before an array of so many bytes, and behind it. */
static size_t check_guards(size_t bytes)
{
    size_t wrong = 0;
    for (size_t b = 0; b < GUARD_BYTES; b++) {
        size_t behind = GUARD_BYTES + bytes + b;
        wrong += host[b] != value(b);
        wrong += host[behind] != value(behind);
    }
    return wrong;
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
static double stage_median(const restride_plan *plan, size_t stage)
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
        restride_status status = o->run(plan->stages[stage], array, scratch, NULL, NULL);
        if (status == RESTRIDE_OK)
            status = transfer->operations->finish(transfer);
        times[i] = status == RESTRIDE_OK ? lab_now() - start : -1;
    }
    if (scratch != NULL)
        o->release_scratch(engine, bytes, scratch);
    return lab_median(times + 1, RUNS);
}

/* What was seen of a tensor. */
typedef struct {
    double ratio;    /* to the copy */
    double expected; /* passes */
    size_t wrong;
} result;

/* Passes that the planner expects of a stage. */
static double stage_expected(const restride_plan *plan, size_t stage)
{
    const rs_engine_traits traits = engine->operations->traits(engine);
    size_t limit = plan->bytes / traits.scratch_parts + traits.scratch_bytes;
    return rs_cost_of_transpose(&plan->tasks[stage], &traits, limit);
}

static void report_stages(const restride_plan *plan, const json_t *stages, double copy)
{
    size_t i = 0;
    json_t *stage;
    json_array_foreach(stages, i, stage)
        printf("    %.2f passes (%.2f expected), %s, tile %lld: %lld of %lld x %lld elements of "
               "%lld bytes\n",
               stage_median(plan, i) / copy, stage_expected(plan, i),
               json_string_value(json_object_get(stage, "name")),
               (long long)json_integer_value(json_object_get(stage, "tile")),
               (long long)json_integer_value(json_object_get(stage, "blocks")),
               (long long)json_integer_value(json_object_get(stage, "rows")),
               (long long)json_integer_value(json_object_get(stage, "cols")),
               (long long)json_integer_value(json_object_get(stage, "element_bytes")));
}

static void report(const tensor *t, restride_plan *plan, double plan_time, result *r)
{
    double time = median(plan, t->bytes);
    double copy = median(NULL, t->bytes);
    char *text = restride_plan_describe(plan);
    json_t *described = json_loads(text == NULL ? "{}" : text, 0, NULL);
    const json_t *stages = json_object_get(described, "stages");
    r->ratio = copy / time;
    r->expected = json_number_value(json_object_get(described, "estimated_passes"));
    printf("%.0f GB/s, %.3f of the copy, %.2f passes (%.2f expected), plan %.2f ms, scratch %.3f "
           "%%, %zu stages, wrong %zu\n",
           2 * (double)t->bytes / time / 1e6, r->ratio, time / copy, r->expected, plan_time,
           100 * (double)restride_plan_scratch_bytes(plan) / (double)t->bytes,
           json_array_size(stages), r->wrong);
    report_stages(plan, stages, copy);
    json_decref(described);
    free(text);
}

static restride_status run_once(restride_plan *plan, const tensor *t)
{
    const rs_transfer_operations *o = transfer->operations;
    size_t all = t->bytes + 2 * GUARD_BYTES;
    restride_status status = o->copy(transfer, buffer, 0, original, 0, all, NULL);
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, array);
    if (status == RESTRIDE_OK)
        status = o->finish(transfer);
    return status == RESTRIDE_OK ? lab_download(transfer, host, buffer, all) : status;
}

static bool measure(const tensor *t, bool with_times, result *r)
{
    restride_plan *plan = NULL;
    double plan_time = 0;
    const restride_plan_options how = {.scratch_bytes =
                                           (size_t)(scratch_percent / 100 * (double)t->bytes)};
    restride_status status =
        transfer->operations->part(transfer, buffer, GUARD_BYTES, t->bytes, &array);
    for (int i = 0; i < 2 && status == RESTRIDE_OK; i++) {
        restride_plan_destroy(plan);
        double start = lab_now();
        status =
            restride_plan_permute_with(&plan, engine, t->rank, t->dims, t->axes, t->unit, &how);
        plan_time = lab_now() - start;
    }
    if (status == RESTRIDE_OK)
        status = run_once(plan, t);
    if (status == RESTRIDE_OK) {
        r->wrong = work_in_parts(check_part, t, host + GUARD_BYTES) + check_guards(t->bytes);
        if (with_times)
            report(t, plan, plan_time, r);
        else if (r->wrong != 0)
            printf("wrong %zu\n", r->wrong);
    } else {
        printf("%s\n", restride_last_error());
    }
    fflush(stdout);
    restride_plan_destroy(plan);
    transfer->operations->release_part(transfer, array);
    return status == RESTRIDE_OK && r->wrong == 0;
}

/* ---- random tensors ---- */

static uint64_t seed;

static size_t random_below(size_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % bound;
}

/* Evenly in the logarithm. */
static double random_between(double least, double most)
{
    return least * pow(most / least, (double)random_below(1 << 20) / (1 << 20));
}

/* Of axes the last one takes up what the others leave. */
static void draw_dims(tensor *t, double elements, size_t step)
{
    double left = elements;
    for (int i = 0; i < t->rank; i++) {
        double mean = pow(left, 1.0 / (t->rank - i));
        double side = i + 1 == t->rank ? left : random_between(mean / 4, mean * 4);
        t->dims[i] = (size_t)(side / (double)step + 0.5) * step;
        t->dims[i] = t->dims[i] < 2 ? 2 : t->dims[i];
        left /= (double)t->dims[i];
    }
}

/* The last axis does not stay: it would be a part of the element. */
static void draw_axes(tensor *t)
{
    do
        for (int i = 0; i < t->rank; i++) {
            int other = (int)random_below((size_t)i + 1);
            t->axes[i] = t->axes[other];
            t->axes[other] = i;
        }
    while (t->axes[t->rank - 1] == t->rank - 1);
}

/* What is asked for on the command line about random tensors. */
typedef struct {
    size_t count;
    bool with_times;
    double most_bytes;
} random_options;

static void draw(tensor *t, const char *kind, const random_options *o)
{
    static const size_t units[] = {4, 4, 4, 8, 8, 2, 1, 16, 12};
    bool mixed = strcmp(kind, "mixed") == 0;
    size_t step = strcmp(kind, "even") == 0 || (mixed && random_below(2) == 0) ? 2 : 1;
    do {
        *t = (tensor){.rank = 3 + (int)random_below(4), .unit = 4};
        if (mixed) {
            t->unit = units[random_below(sizeof units / sizeof units[0])];
            t->rank = random_below(2) == 0 ? 2 : t->rank;
        }
        double least = fmin(!o->with_times ? 3e4 : mixed ? 3e7 : 1e8, o->most_bytes / 8);
        double bytes = random_between(least, o->most_bytes);
        draw_dims(t, bytes / (double)t->unit, step);
        draw_axes(t);
        t->bytes = t->unit;
        for (int i = 0; i < t->rank; i++)
            t->bytes *= t->dims[i];
    } while ((double)t->bytes > 1.1 * o->most_bytes);
}

static void name(const tensor *t)
{
    for (int i = 0; i < t->rank; i++)
        printf("%s%zu", i == 0 ? "" : "x", t->dims[i]);
    for (int i = 0; i < t->rank; i++)
        printf("%s%d", i == 0 ? ":" : "x", t->axes[i]);
    printf(":%zu: ", t->unit);
}

static void summarize(double *ratios, size_t near, const char *kind, const random_options *o)
{
    if (!o->with_times) {
        printf("%zu %s tensors: all right\n", o->count, kind);
        return;
    }
    double middle = lab_median(ratios, o->count);
    printf("%zu %s tensors: median %.3f, least %.3f; %zu within 25 %% of the expected time\n",
           o->count, kind, middle, ratios[0], near);
}

static bool measure_random(const char *kind, const random_options *o)
{
    double *ratios = calloc(o->count, sizeof *ratios);
    size_t near = 0;
    bool good = ratios != NULL && o->count != 0;
    for (size_t i = 0; ratios != NULL && i < o->count; i++) {
        tensor t;
        result r = {0, 0, 0};
        draw(&t, kind, o);
        if (o->with_times)
            name(&t);
        if (!measure(&t, o->with_times, &r)) {
            name(&t);
            puts("failed");
            good = false;
        }
        ratios[i] = r.ratio;
        near += r.expected * r.ratio > 0.8 && r.expected * r.ratio < 1.25;
    }
    if (good)
        summarize(ratios, near, kind, o);
    free(ratios);
    return good;
}

/* ---- from the command line ---- */

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

/* What all tensors begin with, on the device and on the host. */
static restride_status make_room(void)
{
    const rs_transfer_operations *o = transfer->operations;
    const tensor all = {.unit = 1, .bytes = room};
    host = malloc(room);
    restride_status status =
        host == NULL ? RESTRIDE_OUT_OF_MEMORY : o->allocate(transfer, room, &original);
    if (status == RESTRIDE_OK)
        status = o->allocate(transfer, room, &buffer);
    if (status != RESTRIDE_OK)
        return status;
    work_in_parts(fill_part, &all, host);
    return lab_upload(transfer, original, host, room);
}

static void give_back(void)
{
    if (transfer != NULL) {
        transfer->operations->release(transfer, original);
        transfer->operations->release(transfer, buffer);
        transfer->operations->close(transfer);
    }
    restride_engine_destroy(engine);
    free(host);
}

static bool measure_named(const char *text)
{
    tensor t;
    result r;
    printf("%s: ", text);
    if (read_tensor(text, &t))
        return measure(&t, true, &r);
    puts("not DIMS:AXES:BYTES");
    return false;
}

/* Room for the largest of all tensors, and what lies around it. */
static size_t find_room(const char *const *arguments, int count)
{
    size_t most = 1;
    for (int i = 0; i < count; i++) {
        tensor t;
        if (read_tensor(arguments[i], &t) && t.bytes > most)
            most = t.bytes;
    }
    return most + 2 * GUARD_BYTES;
}

static restride_status open_all(const char *name)
{
    restride_status status = lab_open(&engine, name);
    if (status == RESTRIDE_OK)
        status = rs_transfer_open(engine, &transfer);
    return status == RESTRIDE_OK ? make_room() : status;
}

/* What comes before all else; returns how many arguments that were. */
static int read_options(int count, char **arguments, random_options *o)
{
    int at = 2;
    for (; at + 1 < count && strncmp(arguments[at], "--", 2) == 0; at += 2)
        if (strcmp(arguments[at], "--scratch") == 0)
            scratch_percent = strtod(arguments[at + 1], NULL);
        else if (strcmp(arguments[at], "--most") == 0)
            o->most_bytes = strtod(arguments[at + 1], NULL);
        else
            break;
    return at - 2;
}

int main(int count, char **arguments)
{
    enum { FIRST_KIND = 5 };
    if (count < 3)
        return 2;
    const char *engine_name = arguments[1];
    random_options o = {0};
    int options = read_options(count, arguments, &o);
    count -= options;
    arguments += options;
    bool checks = count > FIRST_KIND && strcmp(arguments[2], "--check") == 0;
    bool random = checks || (count > FIRST_KIND && strcmp(arguments[2], "--random") == 0);
    o.with_times = !checks;
    if (o.most_bytes == 0)
        o.most_bytes = checks ? 3e8 : 8e8;
    room = random ? (size_t)(1.1 * o.most_bytes) + 2 * GUARD_BYTES
                  : find_room((const char *const *)arguments + 2, count - 2);
    if (open_all(engine_name) != RESTRIDE_OK) {
        puts(restride_last_error());
        return 77;
    }
    if (random) {
        o.count = strtoull(arguments[3], NULL, 10);
        seed = strtoull(arguments[4], NULL, 10);
    }
    bool good = true;
    for (int i = random ? FIRST_KIND : 2; i < count; i++)
        good = (random ? measure_random(arguments[i], &o) : measure_named(arguments[i])) && good;
    give_back();
    return good ? 0 : 1;
}
