/* Random redistributions: see cases.h. Nothing of the library is used before a plan is run. */
#include "cases.h"

#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 64, GUARD = 0xA5 };

enum { MOST_DIMS = 6, MOST_TERMS = 32, MOST_LEAVES = 6, MOST_ELEMENTS = 60000 };

typedef struct {
    int dimension;
    size_t divisor;
    size_t modulus; /* 0: none */
    bool spread;
} term;

typedef struct {
    int count;
    term terms[MOST_TERMS];
} term_list;

typedef struct {
    int rank;
    size_t extents[MOST_DIMS];
    int record; /* a dimension, or -1 */
    size_t leaf_sizes[MOST_LEAVES];
    term_list lists[2];
} shape;

static uint64_t state;

static size_t below(size_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((state >> 33) % limit);
}

/* ---- what is made up ---- */

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static size_t values_of(const shape *s, const term *t)
{
    if (t->modulus != 0)
        return t->modulus;
    const size_t values = divide_up(s->extents[t->dimension], t->divisor);
    return values == 0 ? 1 : values;
}

static void shuffle(term_list *list, int begin)
{
    for (int i = list->count - 1; i > begin; i--) {
        const int j = begin + (int)below((size_t)i - (size_t)begin + 1);
        const term held = list->terms[i];
        list->terms[i] = list->terms[j];
        list->terms[j] = held;
    }
}

/* Local terms of a dimension that tiles do not divide, from the largest to the smallest. */
static void sort_terms(term_list *list, int d)
{
    for (int i = 0; i < list->count; i++)
        for (int j = i + 1; j < list->count; j++) {
            term *a = &list->terms[i];
            term *b = &list->terms[j];
            if (a->dimension != d || b->dimension != d || a->spread || b->spread ||
                a->divisor >= b->divisor)
                continue;
            const term held = *a;
            *a = *b;
            *b = held;
        }
}

/* Tiles in each other, some of them spread while processes are left. */
static size_t add_dimension(const shape *s, term_list *list, int d, size_t processes)
{
    size_t sizes[4] = {1};
    int levels = 1;
    const size_t extent = s->extents[d];
    while (d != s->record && levels < 4 && below(5) < 3)
        sizes[levels] = sizes[levels - 1] * (2 + below(levels == 1 && extent > 8 ? extent / 2 : 4)),
        levels++;
    for (int level = levels - 1; level >= 0; level--) {
        term t = {d, sizes[level], level + 1 < levels ? sizes[level + 1] / sizes[level] : 0, false};
        const size_t values = values_of(s, &t);
        t.spread = values <= processes && values > 1 && below(3) > 0;
        processes /= t.spread ? values : 1;
        list->terms[list->count++] = t;
    }
    return processes;
}

static void make_list(const shape *s, term_list *list)
{
    size_t processes = CASE_MOST_PROCESSES;
    const int first = (int)below((size_t)s->rank);
    for (int k = 0; k < s->rank; k++)
        processes = add_dimension(s, list, (first + k) % s->rank, processes);
    shuffle(list, 0);
    for (int d = 0; d < s->rank; d++) {
        size_t top = 1;
        for (int t = 0; t < list->count; t++)
            if (list->terms[t].dimension == d && list->terms[t].divisor > top)
                top = list->terms[t].divisor;
        if (s->extents[d] % top != 0 || below(2) == 0)
            sort_terms(list, d);
    }
}

static void print_list(const shape *s, const term_list *list, char *text)
{
    static const char names[] = "abcdef";
    size_t used = 0;
    for (int t = 0; t < list->count; t++) {
        const term *x = &list->terms[t];
        used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "%s%s%c", t > 0 ? " " : "",
                                 x->spread ? "@" : "", names[x->dimension]);
        if (x->divisor != 1)
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "/%zu", x->divisor);
        if (x->modulus != 0)
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "%%%zu", x->modulus);
    }
    (void)s;
}

static void print_dims(const shape *s, char *text)
{
    static const char names[] = "abcdef";
    size_t used = 0;
    for (int d = 0; d < s->rank; d++) {
        used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "%s%c", d > 0 ? " " : "",
                                 names[d]);
        if (d != s->record) {
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, ":%zu", s->extents[d]);
            continue;
        }
        used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, " packed{");
        for (size_t leaf = 0; leaf < s->extents[d]; leaf++)
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, " char[%zu] m%zu;",
                                     s->leaf_sizes[leaf], leaf);
        used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, " }");
    }
}

static void make_shape(shape *s)
{
    *s = (shape){.rank = 1 + (int)below(5), .record = -1};
    size_t product = 1;
    const size_t most = below(8) == 0 ? MOST_ELEMENTS : 2000;
    for (int d = 0; d < s->rank; d++) {
        const size_t limit = most / product > 400 ? 400 : most / product;
        s->extents[d] = limit < 2 ? 1 : 1 + below(below(3) == 0 ? limit : limit < 14 ? limit : 14);
        if (below(60) == 0)
            s->extents[d] = 0;
        product *= s->extents[d] == 0 ? 1 : s->extents[d];
    }
    if (below(3) != 0)
        return;
    s->record = (int)below((size_t)s->rank);
    s->extents[s->record] = 1 + below(MOST_LEAVES - 1);
    for (size_t leaf = 0; leaf < s->extents[s->record]; leaf++)
        s->leaf_sizes[leaf] = 1 + below(below(2) == 0 ? 4 : 24);
}

/* A square matrix by blocks of rows, and by blocks of columns. */
static void make_mirror(shape *s)
{
    const size_t side = 4 + below(below(4) == 0 ? 240 : 90);
    const size_t pieces = 1 + below(CASE_MOST_PROCESSES);
    const size_t block = side / pieces < 2 ? 2 : divide_up(side, pieces);
    *s = (shape){.rank = 2, .extents = {side, side}, .record = -1};
    const int first = (int)below(2);
    for (int k = 0; k < 2; k++) {
        const int d = k == 0 ? first : 1 - first;
        term_list *list = &s->lists[k];
        list->count = 3;
        list->terms[0] = (term){d, block, 0, true};
        list->terms[1] = (term){d, 1, block, false};
        list->terms[2] = (term){1 - d, 1, 0, false};
        if (divide_up(side, block) > CASE_MOST_PROCESSES)
            list->terms[0].spread = false;
    }
}

/* ---- the definition ---- */

typedef struct {
    size_t element;
    size_t process;
    size_t values[MOST_TERMS]; /* of the terms that are not spread */
    int count;
} ranked;

static int compare(const void *a, const void *b)
{
    const ranked *x = a;
    const ranked *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    for (int i = 0; i < x->count; i++)
        if (x->values[i] != y->values[i])
            return x->values[i] < y->values[i] ? -1 : 1;
    return 0;
}

static ranked rank_element(const shape *s, const term_list *list, size_t element)
{
    size_t index[MOST_DIMS];
    ranked r = {.element = element};
    for (int d = s->rank; d-- > 0;) {
        index[d] = element % s->extents[d];
        element /= s->extents[d];
    }
    for (int t = 0; t < list->count; t++) {
        const term *x = &list->terms[t];
        size_t value = index[x->dimension] / x->divisor;
        value = x->modulus != 0 ? value % x->modulus : value;
        if (x->spread)
            r.process = r.process * values_of(s, x) + value;
        else
            r.values[r.count++] = value;
    }
    return r;
}

static void *take(size_t count, size_t size)
{
    void *taken = calloc(count + 1, size);
    if (taken == NULL)
        abort();
    return taken;
}

/* Sorts all elements; each lies behind those before it of its process. */
static void place_elements(redistribution_case *c, const shape *s, int side)
{
    ranked *all = take(c->count, sizeof *all);
    for (size_t e = 0; e < c->count; e++)
        all[e] = rank_element(s, &s->lists[side], e);
    qsort(all, c->count, sizeof *all, compare);
    for (size_t i = 0; i < c->count; i++) {
        const size_t p = all[i].process;
        c->places[side][all[i].element] = (place){p, c->bytes[side][p]};
        c->bytes[side][p] += c->sizes[all[i].element];
    }
    free(all);
}

static size_t processes_of(const shape *s, const term_list *list)
{
    size_t product = 1;
    for (int t = 0; t < list->count; t++)
        product *= list->terms[t].spread ? values_of(s, &list->terms[t]) : 1;
    return product;
}

void make_case(redistribution_case *c, uint64_t seed)
{
    static const size_t scratches[] = {0, 0, 0, 512, 4096, 50000};
    shape s;
    state = seed * 0x9E3779B97F4A7C15u + 12345;
    below(2);
    *c = (redistribution_case){.count = 1};
    if (seed % CASE_MIRROR_EACH == 0) {
        make_mirror(&s);
    } else {
        make_shape(&s);
        for (int side = 0; side < 2; side++)
            make_list(&s, &s.lists[side]);
    }
    const size_t before = processes_of(&s, &s.lists[0]);
    const size_t after = processes_of(&s, &s.lists[1]);
    c->processes = (int)(before > after ? before : after);
    if (c->processes < CASE_MOST_PROCESSES && below(4) == 0)
        c->processes++;
    print_dims(&s, c->dims);
    for (int d = 0; d < s.rank; d++)
        c->count *= s.extents[d];
    c->elem_size = s.record >= 0 ? 0 : 1 + below(below(2) == 0 ? 8 : 48);
    c->scratch_bytes = scratches[below(sizeof scratches / sizeof scratches[0])];
    c->sizes = take(c->count, sizeof *c->sizes);
    size_t inner = 1;
    for (int d = s.record + 1; s.record >= 0 && d < s.rank; d++)
        inner *= s.extents[d];
    for (size_t e = 0; e < c->count; e++)
        c->sizes[e] = s.record < 0 ? c->elem_size : s.leaf_sizes[e / inner % s.extents[s.record]];
    for (int side = 0; side < 2; side++) {
        print_list(&s, &s.lists[side], c->layouts[side]);
        c->places[side] = take(c->count, sizeof *c->places[side]);
        place_elements(c, &s, side);
    }
}

void free_case(redistribution_case *c)
{
    free(c->sizes);
    free(c->places[0]);
    free(c->places[1]);
}

static unsigned char byte_of(size_t element, size_t byte)
{
    return (unsigned char)(((element + 1) * 0x9E3779B97F4A7C15u + byte * 0x61C8864Fu) >> 29);
}

void fill_part(const redistribution_case *c, size_t process, unsigned char *part)
{
    for (size_t e = 0; e < c->count; e++)
        for (size_t b = 0; c->places[0][e].process == process && b < c->sizes[e]; b++)
            part[c->places[0][e].offset + b] = byte_of(e, b);
}

bool part_is_right(const redistribution_case *c, size_t process, const unsigned char *part)
{
    for (size_t e = 0; e < c->count; e++)
        for (size_t b = 0; c->places[1][e].process == process && b < c->sizes[e]; b++)
            if (part[c->places[1][e].offset + b] != byte_of(e, b))
                return false;
    return true;
}

/* ---- a run ---- */

/* On a copy of the part in the device's memory. */
static const char *execute_on(const test_machine *device, restride_plan *plan, unsigned char *part,
                              size_t bytes)
{
    if (bytes == 0)
        return restride_execute(plan, NULL) != RESTRIDE_OK ? restride_last_error() : NULL;
    void *buffer = device->create(part, bytes);
    const char *wrong =
        restride_execute(plan, buffer) != RESTRIDE_OK ? restride_last_error() : NULL;
    if (!device->read(buffer, part, bytes))
        wrong = "a guard on the device was overwritten";
    device->destroy(buffer);
    return wrong;
}

const char *run_case(const redistribution_case *c, size_t process, restride_plan *plan,
                     const test_machine *device)
{
    const size_t bytes = restride_plan_local_bytes(plan);
    const size_t before = c->bytes[0][process];
    const size_t after = c->bytes[1][process];
    if (bytes != (before > after ? before : after))
        return "the local bytes are wrong";
    unsigned char *memory = malloc(bytes + 2 * GUARD_BYTES);
    unsigned char *part = memory + GUARD_BYTES;
    memset(memory, GUARD, bytes + 2 * GUARD_BYTES);
    fill_part(c, process, part);
    const char *wrong = NULL;
    if (device != NULL)
        wrong = execute_on(device, plan, part, bytes);
    else if (restride_execute(plan, bytes == 0 ? NULL : part) != RESTRIDE_OK)
        wrong = restride_last_error();
    if (wrong == NULL && !part_is_right(c, process, part))
        wrong = "a byte is wrong";
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (memory[i] != GUARD || part[bytes + i] != GUARD)
            wrong = "a guard was overwritten";
    free(memory);
    return wrong;
}
