/*
 * Random plans, each element compared with the definition, with guards around arrays that begin at
 * any byte; at any 16 bytes on a device.
 *
 *     campaign FROM TO STATE [cuda|opencl [SECONDS]]
 *
 * Runs the plans of the numbers FROM to TO - 1, on the host or on a device. A number alone decides
 * its plan, so several processes may share the work. STATE is a file that says how far a run is; a
 * run that finds one goes on from there. After SECONDS it stops, and the same command goes on. Ends
 * with status 1 when an element was wrong or a plan failed, and with 77 without such a device.
 */
#include "../random_cases.h"
#include "engine/host/host.h"
#include "lab.h"
#include "restride/restride.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 6, GUARD = 256, STEP = 500, MOST_BYTES = 1 << 21, MOST_THREADS = 4 };

/* A device has large arrays, too: what does not fit on its chip goes other ways. */
enum { DEVICE_ALIGNMENT = 16, LARGE_TIMES = 64, LARGE_ONE_IN = 16 };
static rs_transfer *device; /* NULL: the host */

static size_t device_alignment(void)
{
    return device->alignment > DEVICE_ALIGNMENT ? device->alignment : DEVICE_ALIGNMENT;
}

static uint64_t state;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static size_t below(size_t most)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mix(state) % most);
}

/* An array whose axes come in another order; a batch of it where it is a matrix. */
typedef struct {
    int rank;
    size_t dims[RANK];
    int axes[RANK];
    size_t unit;
    size_t batch;
    size_t elements; /* of an array */
    size_t shift;    /* bytes from a line to the array */
    size_t tile;     /* AoS to tiles of so many records, or back; 0: a permutation */
    bool back;
    bool copied; /* to another buffer */
    restride_plan_options options;
} problem;

/* Half of all sides are even by many factors, as people's are. */
static size_t side(size_t most)
{
    static const size_t steps[] = {1, 1, 1, 2, 4, 16, 60, 64};
    if (most < 2)
        return 1;
    size_t n = 1 + below(below(3) == 0 ? most : 1 + most / (1 + below(20)));
    size_t step = steps[below(8)];
    return n < step ? n : n - n % step;
}

static const char *any_method(void)
{
    static const char *const names[] = {"square",
                                        "direct",
                                        "copy",
                                        "pad-square-unpad",
                                        "2-stage squares 100!",
                                        "2-stage 100! squares",
                                        "C2R",
                                        "R2C",
                                        "2-stage 010! 100!",
                                        "2-stage 100! 010!",
                                        "3-stage 100! 0010! 0100!",
                                        "3-stage 0100! 0010! 100!",
                                        "4-stage 0100! 0010! 1000! 0100!",
                                        "4-stage fused",
                                        "P-IPT",
                                        "PTTWAC"};
    return below(2) == 0 ? NULL : names[below(sizeof names / sizeof names[0])];
}

static problem draw(uint64_t number)
{
    static const size_t units[] = {1,  2,  3,  4,  4,  4,  5,   6,   8,  8,
                                   12, 16, 20, 24, 32, 48, 100, 128, 64, 200};
    state = mix(number + 1);
    problem p = {.unit = units[below(20)], .batch = 1, .shift = below(2) * below(64)};
    p.shift -= device != NULL ? p.shift % device_alignment() : 0;
    size_t kind = below(8);
    size_t bytes = (size_t)MOST_BYTES >> below(12);
    if (device != NULL && below(LARGE_ONE_IN) == 0)
        bytes *= LARGE_TIMES;
    size_t most = 1 + bytes / p.unit;
    p.rank = kind < 4 ? 2 : kind == 7 ? 1 + (int)below(RANK) : 3 + (int)below(3);
    p.elements = 1;
    for (int i = 0; i < p.rank; i++) {
        p.axes[i] = p.rank - 1 - i;
        p.dims[i] = side(most / p.elements);
        p.elements *= p.dims[i];
    }
    for (int i = p.rank - 1; i >= 0; i--) { /* the longest side need not be the first */
        int k = (int)below((size_t)i + 1);
        size_t other = p.dims[i];
        p.dims[i] = p.dims[k];
        p.dims[k] = other;
        k = (int)below((size_t)i + 1);
        int axis = p.axes[i];
        p.axes[i] = kind < 4 ? axis : p.axes[k];
        p.axes[k] = kind < 4 ? p.axes[k] : axis;
    }
    p.copied = below(5) == 0;
    if (p.copied && below(2) == 0) { /* whole lines throughout */
        p.elements = 1;
        p.shift = 0;
        for (int i = 0; i < p.rank; i++) {
            p.dims[i] = p.dims[i] < 24 ? p.dims[i] : p.dims[i] / 64 * 64 + 64;
            p.elements *= p.dims[i];
        }
    }
    p.tile = kind == 0 ? 1 + below(below(2) == 0 ? 8 : 70) : 0;
    p.back = below(2) == 0;
    if (kind == 1 && below(2) == 0)
        p.dims[1] = p.dims[0] = 1 + below(300), p.elements = p.dims[0] * p.dims[0];
    if (kind < 4 && p.tile == 0 && !p.copied) {
        p.batch = 1 + below(3) * below(1 + most / p.elements);
        p.options.method = any_method();
    }
    if (below(3) == 0)
        p.options.scratch_bytes = 1 + below(2 * p.elements * p.unit);
    return p;
}

/* ---- the definition ---- */

/* Where element `index` of the C order lies after the permutation. */
static size_t permuted(const problem *p, size_t index)
{
    size_t at[RANK];
    size_t place = 0;
    for (int i = p->rank; i-- > 0; index /= p->dims[i])
        at[i] = index % p->dims[i];
    for (int i = 0; i < p->rank; i++)
        place = place * p->dims[p->axes[i]] + at[p->axes[i]];
    return place;
}

/* Where member `index` of records lies in tiles. */
static size_t tiled(const problem *p, size_t index)
{
    size_t record = index / p->dims[1];
    size_t first = record - record % p->tile;
    size_t width = p->dims[0] - first < p->tile ? p->dims[0] - first : p->tile;
    return first * p->dims[1] + index % p->dims[1] * width + record % p->tile;
}

static void fill(unsigned char *element, const problem *p, uint64_t number, size_t index)
{
    uint64_t word = mix(number * UINT64_C(1000003) + index);
    for (size_t i = 0; i < p->unit; i += sizeof word, word = mix(word))
        memcpy(element + i, &word, p->unit - i < sizeof word ? p->unit - i : sizeof word);
}

/* Fills all elements where they are before, or counts those that are wrong afterwards. */
static size_t visit(const problem *p, uint64_t number, unsigned char *array, bool after)
{
    unsigned char element[256];
    size_t wrong = 0;
    for (size_t i = 0; i < p->batch * p->elements; i++) {
        size_t inside = i % p->elements;
        size_t place = inside;
        if (p->tile != 0)
            place = after != p->back ? tiled(p, inside) : inside;
        else if (after)
            place = permuted(p, inside);
        unsigned char *at = array + (i - inside + place) * p->unit;
        fill(element, p, number, i);
        if (!after)
            memcpy(at, element, p->unit);
        else
            wrong += memcmp(at, element, p->unit) != 0;
    }
    return wrong;
}

/* ---- a plan ---- */

static restride_layout *layout_of(const problem *p, bool after)
{
    char dims[256] = "";
    char expression[256] = "";
    restride_layout *layout = NULL;
    for (int i = 0; i < p->rank; i++) {
        size_t end = strlen(dims);
        snprintf(dims + end, sizeof dims - end, "%c:%zu ", 'a' + i, p->dims[i]);
        end = strlen(expression);
        snprintf(expression + end, sizeof expression - end, "%c ", 'a' + (after ? p->axes[i] : i));
    }
    if (p->tile != 0 && after != p->back)
        snprintf(expression, sizeof expression, "a/%zu b a%%%zu", p->tile, p->tile);
    else if (p->tile != 0)
        snprintf(expression, sizeof expression, "a b");
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fprintf(stderr, "%s\n", restride_last_error());
    return layout;
}

static restride_status make_plan(restride_plan **plan, restride_engine *engine, const problem *p)
{
    if (p->tile == 0 && !p->copied)
        return p->rank == 2 && p->axes[0] == 1
                   ? restride_plan_transpose_with(plan, engine, p->dims[0], p->dims[1], p->unit,
                                                  p->batch, &p->options)
                   : restride_plan_permute_with(plan, engine, p->rank, p->dims, p->axes, p->unit,
                                                &p->options);
    restride_layout *from = layout_of(p, false);
    restride_layout *to = layout_of(p, true);
    restride_status status =
        p->copied ? restride_plan_convert_copy(plan, engine, from, to, p->unit)
                  : restride_plan_convert_with(plan, engine, from, to, p->unit, &p->options);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return status;
}

typedef struct {
    uint64_t next;
    size_t done;
    size_t refused; /* a method or a limit that does not suit the problem */
    size_t bad;
} campaign;

static unsigned char *guarded(unsigned char *memory, const problem *p, bool after)
{
    size_t bytes = p->batch * p->elements * p->unit;
    unsigned char *array = memory + GUARD + p->shift;
    if (!after)
        memset(memory, 0xa5, bytes + p->shift + 2 * (size_t)GUARD);
    for (size_t i = 0; after && i < GUARD + p->shift; i++)
        if (memory[i] != 0xa5)
            return NULL;
    for (size_t i = 0; after && i < GUARD; i++)
        if (array[bytes + i] != 0xa5)
            return NULL;
    return array;
}

/* What the host has filled, `bytes` with the guards, goes to the device and comes back. */
static restride_status run_there(restride_plan *plan, const problem *p, unsigned char *memory[2],
                                 size_t bytes)
{
    const rs_transfer_operations *o = device->operations;
    size_t count = p->copied ? 2 : 1;
    void *buffers[2] = {NULL, NULL};
    void *arrays[2] = {NULL, NULL};
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < count && status == RESTRIDE_OK; i++) {
        status = o->allocate(device, bytes, &buffers[i]);
        if (status == RESTRIDE_OK)
            status = lab_upload(device, buffers[i], memory[i], bytes);
        if (status == RESTRIDE_OK)
            status = o->part(device, buffers[i], GUARD + p->shift,
                             bytes - 2 * (size_t)GUARD - p->shift, &arrays[i]);
    }
    if (status == RESTRIDE_OK)
        status = p->copied ? restride_execute_copy(plan, arrays[0], arrays[1])
                           : restride_execute(plan, arrays[0]);
    if (status == RESTRIDE_OK)
        status = o->finish(device);
    for (size_t i = 0; i < count; i++) {
        if (status == RESTRIDE_OK)
            status = lab_download(device, memory[i], buffers[i], bytes);
        if (arrays[i] != NULL)
            o->release_part(device, arrays[i]);
        if (buffers[i] != NULL)
            o->release(device, buffers[i]);
    }
    return status;
}

static restride_status run_here(restride_plan *plan, const problem *p, unsigned char *memory[2])
{
    unsigned char *from = memory[0] + GUARD + p->shift;
    unsigned char *to = memory[1] + GUARD + p->shift;
    return p->copied ? restride_execute_copy(plan, from, to) : restride_execute(plan, from);
}

static bool run(restride_plan *plan, const problem *p, uint64_t number)
{
    size_t bytes = p->batch * p->elements * p->unit + p->shift + 2 * (size_t)GUARD;
    unsigned char *memory = aligned_alloc(GUARD, bytes + GUARD - bytes % GUARD);
    unsigned char *other = aligned_alloc(GUARD, bytes + GUARD - bytes % GUARD);
    bool right = memory != NULL && other != NULL;
    if (right) {
        unsigned char *both[2] = {memory, other};
        unsigned char *array = guarded(memory, p, false);
        unsigned char *target = p->copied ? guarded(other, p, false) : array;
        visit(p, number, array, false);
        restride_status status =
            device != NULL ? run_there(plan, p, both, bytes) : run_here(plan, p, both);
        right = status == RESTRIDE_OK && visit(p, number, target, true) == 0 &&
                guarded(memory, p, true) != NULL && (!p->copied || guarded(other, p, true) != NULL);
    }
    free(memory);
    free(other);
    return right;
}

/* Whether a plan may be refused: a method or a limit that does not suit the problem, or records for
 * which a device has no stages. */
static bool may_refuse(const problem *p, restride_status status)
{
    bool bounded = p->options.method != NULL || p->options.scratch_bytes != 0;
    bool limited = status == RESTRIDE_DEVICE_LIMIT && device != NULL;
    return (status == RESTRIDE_UNSUPPORTED || limited) &&
           (bounded || (device != NULL && p->tile != 0));
}

static void try_number(campaign *c, restride_engine *engines[], uint64_t number)
{
    const problem p = draw(number);
    restride_plan *plan = NULL;
    restride_status status = make_plan(&plan, engines[below(MOST_THREADS)], &p);
    if (may_refuse(&p, status)) {
        c->refused++;
    } else if (status != RESTRIDE_OK || !run(plan, &p, number)) {
        printf("number %llu is wrong: status %d, %zu arrays of rank %d, %zu x ..., %zu bytes, tile "
               "%zu: %s\n",
               (unsigned long long)number, (int)status, p.batch, p.rank, p.dims[0], p.unit, p.tile,
               restride_last_error());
        fflush(stdout);
        c->bad++;
    } else {
        c->done++;
    }
    restride_plan_destroy(plan);
}

/* ---- going on ---- */

static void load(campaign *c, const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned long long next;
    size_t done;
    size_t refused;
    size_t bad;
    if (file != NULL && fscanf(file, "next %llu right %zu refused %zu wrong %zu", &next, &done,
                               &refused, &bad) == 4) /* NOLINT(cert-err34-c) */
        *c = (campaign){next, done, refused, bad};
    if (file != NULL)
        fclose(file);
}

/* A state is there as a whole or not at all. */
static bool save(const campaign *c, const char *path)
{
    char part[4096];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "w");
    if (file == NULL)
        return false;
    fprintf(file, "next %llu right %zu refused %zu wrong %zu\n", (unsigned long long)c->next,
            c->done, c->refused, c->bad);
    return fclose(file) == 0 && rename(part, path) == 0;
}

/* One engine for each count of threads; on a device the same one. */
static restride_status open_engines(restride_engine *engines[], const char *name)
{
    restride_status status = RESTRIDE_OK;
    if (strcmp(name, "host") == 0) {
        for (int i = 0; i < MOST_THREADS && status == RESTRIDE_OK; i++)
            status = rs_host_engine_create(&engines[i], i + 1, 1 << 14);
        return status;
    }
    status = lab_open(&engines[0], name);
    if (status == RESTRIDE_OK)
        status = rs_transfer_open(engines[0], &device);
    for (int i = 1; i < MOST_THREADS; i++)
        engines[i] = engines[0];
    return status;
}

static void close_engines(restride_engine *engines[])
{
    size_t count = device != NULL ? 1 : MOST_THREADS;
    if (device != NULL)
        device->operations->close(device);
    for (size_t i = 0; i < count; i++)
        restride_engine_destroy(engines[i]);
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 6) {
        fprintf(stderr, "usage: campaign FROM TO STATE [cuda|opencl [SECONDS]]\n");
        return 2;
    }
    restride_engine *engines[MOST_THREADS] = {NULL};
    campaign c = {.next = number_or_exit(argv[1])};
    const uint64_t end = number_or_exit(argv[2]);
    const double stop = argc < 6 ? INFINITY : lab_now() + 1e3 * (double)number_or_exit(argv[5]);
    load(&c, argv[3]);
    bool saved = true;
    if (open_engines(engines, argc < 5 ? "host" : argv[4]) != RESTRIDE_OK) {
        fprintf(stderr, "%s\n", restride_last_error());
        return 77;
    }
    while (c.next < end && saved && lab_now() < stop) {
        for (int i = 0; i < STEP && c.next < end && lab_now() < stop; i++)
            try_number(&c, engines, c.next++);
        saved = save(&c, argv[3]);
    }
    printf("%zu right, %zu refused, %zu wrong\n", c.done, c.refused, c.bad);
    close_engines(engines);
    return c.bad != 0 || !saved;
}
