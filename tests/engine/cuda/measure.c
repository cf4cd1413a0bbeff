/*
 * How fast the CUDA engine transposes in place, every element verified on the device.
 *
 *     measure_cuda [--copy BYTES] [--repeat N] [--again N] [--cold BYTES] [--method NAME]
 *                  [--scratch PERCENT] [--explain] SHAPE...
 *
 * A SHAPE is ROWSxCOLSxBYTES, a transposition by a plan, BATCHxROWSxCOLSxBYTES, or one stage alone:
 * panels:COUNTxROWSxCOLSxBYTES (010!) or chains:ROWSxCOLSxBYTES (100!), whose line ends with how
 * its kernel is cut.
 *
 * One line a shape: GB/s (2 x bytes / time, the median), for plans the ratio to a copy of as many
 * bytes, the time of making the plan the first time and again (the median of nine), scratch bytes,
 * by how much the device's free memory shrank (the driver takes it in units of 2 MiB), wrong
 * elements in N runs (1) on the same input, method.
 *
 * With --cold so many other bytes are read before each run and each copy, so that nothing of the
 * array is in a cache. --scratch bounds a plan's memory by a part of the array.
 */
#include "engine/cuda/cuda.h"
#include "restride/cuda.h"
#include "restride/restride.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 256, MOST_REPEAT = 1000, PLANS = 10 };

static struct {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*context_retain)(void **context, int device);
    int (*context_set)(void *context);
    int (*synchronize)(void);
    int (*download)(void *target, uintptr_t source, size_t bytes);
    int (*copy)(uintptr_t target, uintptr_t source, size_t bytes);
    int (*memory)(size_t *available, size_t *total);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_synchronize)(void *event);
    int (*event_elapsed)(float *milliseconds, void *start, void *end);
} cuda;

static bool open_device(void)
{
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"cuInit", &cuda.init},
        {"cuDeviceGet", &cuda.device_get},
        {"cuDevicePrimaryCtxRetain", &cuda.context_retain},
        {"cuCtxSetCurrent", &cuda.context_set},
        {"cuCtxSynchronize", &cuda.synchronize},
        {"cuMemcpyDtoH_v2", &cuda.download},
        {"cuMemcpyDtoD_v2", &cuda.copy},
        {"cuMemGetInfo_v2", &cuda.memory},
        {"cuEventCreate", &cuda.event_create},
        {"cuEventRecord", &cuda.event_record},
        {"cuEventSynchronize", &cuda.event_synchronize},
        {"cuEventElapsedTime", &cuda.event_elapsed},
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library != NULL && i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library, functions[i].name);
        if (address == NULL)
            return false;
        memcpy(functions[i].function, &address, sizeof address);
    }
    int device;
    void *context;
    return library != NULL && cuda.init(0) == 0 && cuda.device_get(&device, 0) == 0 &&
           cuda.context_retain(&context, device) == 0 && cuda.context_set(context) == 0;
}

/* Random words that their place alone decides, so that the device can check itself. */
static const char fill_source[] =
    "FUNCTION uint random_at(ulong i) {\n"
    "    i = (i + 1) * 0x9e3779b97f4a7c15ull; i ^= i >> 29; i *= 0xbf58476d1ce4e5b9ull;\n"
    "    return (uint)(i >> 32); }\n"
    "KERNEL fill(word *data, ulong total) {\n"
    "    for (ulong i = (ulong)blockIdx.x * THREADS + threadIdx.x; i < total;\n"
    "         i += (ulong)gridDim.x * THREADS) data[i] = (word)random_at(i); }\n";
static const char check_source[] =
    "FUNCTION uint random_at(ulong i) {\n"
    "    i = (i + 1) * 0x9e3779b97f4a7c15ull; i ^= i >> 29; i *= 0xbf58476d1ce4e5b9ull;\n"
    "    return (uint)(i >> 32); }\n"
    "KERNEL check(word *data, ulong count, ulong rows, ulong cols, ulong unit, ulong *wrong) {\n"
    "    ulong each = rows * cols;\n"
    "    for (ulong i = (ulong)blockIdx.x * THREADS + threadIdx.x; i < count * each * unit;\n"
    "         i += (ulong)gridDim.x * THREADS) {\n"
    "        ulong all = i / unit, w = i - all * unit, panel = all / each, e = all - panel * "
    "each;\n"
    "        ulong col = e / rows, row = e - col * rows;\n"
    "        ulong from = (panel * each + row * cols + col) * unit + w;\n"
    "        if (data[i] != (word)random_at(from)) atomicAdd(wrong, 1ull);\n"
    "    } }\n";

static rs_cuda_engine *engine;

static void run_kernel(const rs_cuda_kernel *kernel, uintptr_t data, const uint64_t *values,
                       size_t count)
{
    uint64_t all[8] = {data};
    void *pointers[8] = {all};
    for (size_t i = 0; i < count; i++) {
        all[i + 1] = values[i];
        pointers[i + 1] = &all[i + 1];
    }
    if (engine->api->cuLaunchKernel(kernel->function, (unsigned)kernel->resident, 1, 1, THREADS, 1,
                                    1, 0, NULL, pointers, NULL) != 0)
        abort();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a;
    float y = *(const float *)b;
    return (x > y) - (x < y);
}

typedef struct {
    size_t repeat;
    size_t again;
    double scratch_percent;
    restride_plan_options plan;
    bool explain;
} options;

/* What is measured: a plan, a stage, or else a copy. */
typedef struct {
    restride_plan *plan;
    rs_stage *stage;
    uintptr_t target;
    size_t bytes;
} work;

static int do_work(const work *w, uintptr_t data)
{
    if (w->plan != NULL)
        return (int)restride_execute(w->plan, (void *)data);
    if (w->stage != NULL)
        return (int)engine->common.base.operations->run(w->stage, (void *)data, NULL, NULL, NULL);
    return cuda.copy(w->target, data, w->bytes);
}

/* A matrix, or several panels of one, and the kernels that fill and check it. */
typedef struct {
    size_t count, rows, cols, unit, word;
    rs_cuda_kernel fill, check;
    uintptr_t data, wrong;
} matrix;

static bool create_matrix(matrix *m, size_t count, size_t rows, size_t cols, size_t unit)
{
    *m = (matrix){count, rows, cols, unit, .word = unit % 4 == 0 ? 4 : unit % 2 == 0 ? 2 : 1};
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, m->word}, {"THREADS", NULL, THREADS}, {"BLOCKS", NULL, 4}};
    return rs_cuda_kernel_create(&m->fill, engine, "fill", fill_source, defines, 3, THREADS, 0) ==
               0 &&
           rs_cuda_kernel_create(&m->check, engine, "check", check_source, defines, 3, THREADS,
                                 0) == 0 &&
           engine->api->cuMemAlloc(&m->data, count * rows * cols * unit) == 0 &&
           engine->api->cuMemAlloc(&m->wrong, 8) == 0;
}

static void free_matrix(matrix *m)
{
    engine->api->cuMemFree(m->data);
    engine->api->cuMemFree(m->wrong);
}

static uint64_t words_of(const matrix *m)
{
    return m->count * m->rows * m->cols * (m->unit / m->word);
}

static void fill(const matrix *m)
{
    const uint64_t total = words_of(m);
    run_kernel(&m->fill, m->data, &total, 1);
}

/* Adds to the device's count of wrong words. */
static void check(const matrix *m)
{
    const uint64_t values[] = {m->count, m->rows, m->cols, m->unit / m->word, m->wrong};
    run_kernel(&m->check, m->data, values, 5);
}

/* Others than the array's; no matrix when nothing is read before a run. Reading leaves no lines
 * that a run would have to write back. */
static matrix cold;

static void read_others(void)
{
    if (cold.data != 0)
        check(&cold);
}

static float median_time(const work *w, uintptr_t data, size_t repeat)
{
    static float times[MOST_REPEAT];
    void *start;
    void *end;
    if (cuda.event_create(&start, 0) != 0 || cuda.event_create(&end, 0) != 0)
        abort();
    for (size_t i = 0; i < repeat + 2; i++) {
        read_others();
        cuda.event_record(start, NULL);
        int code = do_work(w, data);
        cuda.event_record(end, NULL);
        if (code != 0 || cuda.event_synchronize(end) != 0)
            return -1;
        if (i >= 2)
            cuda.event_elapsed(&times[i - 2], start, end);
    }
    qsort(times, repeat, sizeof times[0], ascending);
    return times[repeat / 2];
}

static void measure_copy(size_t bytes, size_t repeat)
{
    uintptr_t a;
    uintptr_t b;
    if (engine->api->cuMemAlloc(&a, bytes) != 0 || engine->api->cuMemAlloc(&b, bytes) != 0)
        abort();
    float time = median_time(&(const work){.target = b, .bytes = bytes}, a, repeat);
    printf("copy of %zu bytes: %.0f GB/s\n", bytes, 2 * (double)bytes / time / 1e6);
    engine->api->cuMemFree(a);
    engine->api->cuMemFree(b);
}

static size_t free_memory(void)
{
    size_t available = 0;
    size_t total;
    if (cuda.synchronize() != 0 || cuda.memory(&available, &total) != 0)
        abort();
    return available;
}

/* Words that are wrong after `again` runs of the same input; UINT64_MAX when one failed. */
static uint64_t count_wrong(const matrix *m, const work *w, size_t again)
{
    uint64_t wrong_count = 0;
    int code = engine->api->cuMemcpyHtoDAsync(m->wrong, &wrong_count, 8, NULL);
    for (size_t i = 0; i < again && code == 0; i++) {
        fill(m);
        code = do_work(w, m->data);
        check(m);
    }
    if (code != 0 || cuda.synchronize() != 0 || cuda.download(&wrong_count, m->wrong, 8) != 0)
        return UINT64_MAX;
    return wrong_count;
}

/* How a stage's kernel is cut, where it is one of CUDA's own. */
static const char *shape_of(const rs_stage *base)
{
    const rs_cuda_stage *stage = (const rs_cuda_stage *)base;
    return stage->portable_count > 0 ? "a kernel of all devices" : stage->shape;
}

static bool measure_stage(const char *name, const rs_transpose_task *task, const options *o)
{
    const rs_engine_operations *operations = engine->common.base.operations;
    size_t bytes = task->count * task->rows * task->cols * task->unit;
    matrix m = {0};
    work w = {NULL};
    uint64_t wrong = UINT64_MAX;
    float time = -1;
    if (create_matrix(&m, task->count, task->rows, task->cols, task->unit) &&
        operations->create_transpose(&engine->common.base, task, bytes / 400 + (1 << 20),
                                     &w.stage) == RESTRIDE_OK) {
        wrong = count_wrong(&m, &w, o->again);
        time = median_time(&w, m.data, o->repeat);
    }
    if (time < 0)
        printf("%s: failed: %s\n", name, restride_last_error());
    else
        printf("%s: %.0f GB/s, run %.3f ms, wrong %llu; %s\n", name, 2 * (double)bytes / time / 1e6,
               time, (unsigned long long)wrong, shape_of(w.stage));
    fflush(stdout);
    if (w.stage != NULL)
        operations->destroy_stage(w.stage);
    free_matrix(&m);
    return wrong == 0 && time >= 0;
}

/* Of as many bytes as the matrices have. */
static float copy_time(const matrix *m, size_t bytes, size_t repeat)
{
    work w = {.bytes = bytes};
    if (engine->api->cuMemAlloc(&w.target, bytes) != 0)
        return 0;
    float time = median_time(&w, m->data, repeat);
    engine->api->cuMemFree(w.target);
    return time;
}

static bool measure(size_t batch, size_t rows, size_t cols, size_t unit, const options *o)
{
    size_t bytes = batch * rows * cols * unit;
    matrix m;
    if (!create_matrix(&m, batch, rows, cols, unit)) {
        printf("%zux%zux%zux%zu: %s\n", batch, rows, cols, unit, restride_last_error());
        return false;
    }
    uintptr_t data = m.data;
    uint64_t wrong_count = UINT64_MAX;
    restride_plan *plan = NULL;
    float times[PLANS] = {0}; /* of making the plan, ms */
    size_t before = 0;
    restride_plan_options how = o->plan;
    how.scratch_bytes = (size_t)(o->scratch_percent / 100 * (double)bytes);
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < PLANS && status == RESTRIDE_OK; i++) {
        restride_plan_destroy(plan);
        before = free_memory();
        double start = now();
        status = restride_plan_transpose_with(&plan, &engine->common.base, rows, cols, unit, batch,
                                              &how);
        times[i] = (float)(now() - start);
        if (status == RESTRIDE_OK)
            status = restride_execute(plan, (void *)data);
    }
    qsort(times + 1, PLANS - 1, sizeof times[0], ascending);
    float time = -1;
    ptrdiff_t taken = (ptrdiff_t)(before - free_memory()); /* others may give some back */
    if (status == RESTRIDE_OK) {
        const work w = {.plan = plan};
        wrong_count = count_wrong(&m, &w, o->again);
        time = median_time(&w, data, o->repeat);
    }
    if (status != RESTRIDE_OK || time < 0) {
        printf("%zux%zux%zux%zu: failed: %s\n", batch, rows, cols, unit, restride_last_error());
        return false;
    }
    char *text = restride_plan_describe(plan);
    json_t *described = json_loads(text, 0, NULL);
    float copied = copy_time(&m, bytes, o->repeat);
    printf("%zux%zux%zux%zu: %.0f GB/s, %.3f of the copy, plan %.1f ms, again %.2f ms, run %.3f "
           "ms, scratch %zu (free "
           "memory %td less), wrong %llu, %s; %s\n",
           batch, rows, cols, unit, 2 * (double)bytes / time / 1e6, copied / time, times[0],
           times[PLANS / 2], time, restride_plan_scratch_bytes(plan), taken,
           (unsigned long long)wrong_count, json_string_value(json_object_get(described, "method")),
           json_string_value(json_object_get(described, "why")));
    if (o->explain)
        puts(text);
    fflush(stdout);
    json_decref(described);
    free(text);
    restride_plan_destroy(plan);
    free_matrix(&m);
    return wrong_count == 0;
}

/* A column of words, which a transposition leaves as it is. */
static bool read_before_runs(size_t bytes)
{
    if (cold.data != 0)
        free_matrix(&cold);
    cold = (matrix){0};
    bool good = bytes == 0 || create_matrix(&cold, 1, bytes / 4, 1, 4);
    if (!good)
        puts(restride_last_error());
    else if (bytes != 0)
        fill(&cold);
    return good;
}

/* One stage; false when the argument names none. */
static bool read_stage(const char *text, rs_transpose_task *task)
{
    *task = (rs_transpose_task){.method = RS_TRANSPOSE_PANELS, .outer = 1, .count = 1};
    bool read = sscanf(text, "panels:%zux%zux%zux%zu", &task->count, &task->rows, &task->cols,
                       &task->unit) == 4;
    if (!read) {
        task->method = RS_TRANSPOSE_CHAINS;
        task->count = 1;
        read = sscanf(text, "chains:%zux%zux%zu", &task->rows, &task->cols, &task->unit) == 3;
    }
    task->pitch = task->count * task->rows * task->cols * task->unit;
    return read;
}

int main(int count, char **arguments)
{
    restride_engine *created;
    if (!open_device()) {
        puts("no CUDA device here");
        return 77;
    }
    if (restride_engine_create_cuda(&created, NULL) != RESTRIDE_OK) {
        puts(restride_last_error());
        return 1;
    }
    engine = (rs_cuda_engine *)created;
    options o = {.repeat = 9, .again = 1};
    bool good = true;
    for (int i = 1; i < count; i++) {
        const char *argument = arguments[i];
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        size_t batch;
        size_t rows;
        size_t cols;
        size_t unit;
        rs_transpose_task task;
        if (strcmp(argument, "--explain") == 0)
            o.explain = true;
        else if (strcmp(argument, "--repeat") == 0)
            o.repeat = strtoull(value, NULL, 10) % MOST_REPEAT, i++;
        else if (strcmp(argument, "--again") == 0)
            o.again = strtoull(value, NULL, 10), i++;
        else if (strcmp(argument, "--method") == 0)
            o.plan.method = value[0] != '\0' ? value : NULL, i++;
        else if (strcmp(argument, "--cold") == 0)
            good = read_before_runs(strtoull(value, NULL, 10)) && good, i++;
        else if (strcmp(argument, "--scratch") == 0)
            o.scratch_percent = strtod(value, NULL), i++;
        else if (strcmp(argument, "--copy") == 0)
            measure_copy(strtoull(value, NULL, 10), o.repeat), i++;
        else if (read_stage(argument, &task))
            good = measure_stage(argument, &task, &o) && good;
        else if (sscanf(argument, "%zux%zux%zux%zu", &batch, &rows, &cols, &unit) == 4)
            good = measure(batch, rows, cols, unit, &o) && good;
        else if (sscanf(argument, "%zux%zux%zu", &rows, &cols, &unit) == 3)
            good = measure(1, rows, cols, unit, &o) && good;
        else
            printf("what is %s?\n", argument), good = false;
    }
    restride_engine_destroy(created);
    return good ? 0 : 1;
}
