/* Counting bursts and instructions of the forms of a nest. */
#include "apply/predict.h"

#include <stdlib.h>
#include <string.h>

enum { PATTERN_LIMIT = 64, WARP = 32, BURST_LIMIT = PATTERN_LIMIT * WARP * 16 * 2 };

/* Weights beside a burst, fitted on an H100 (docs/analysis.md): a memory instruction, and what
 * comes with loading an element of a tile: its place in the box, and a barrier. */
static const double instruction_weight = 8, tile_instructions = 6;

/* A loop is taken to run this often. */
static const double trips = 100;

static const int64_t far_away = (int64_t)1 << 24;

/* What one reference touches: `elements` of them in each lane. */
typedef struct {
    int reference;
    int64_t x, y, along; /* bytes from one lane, and from one element, to the next */
    int64_t start;       /* bytes, among the references of the array that move alike */
    int elements, bytes;
    double instructions, weight;
    bool scattered; /* an instruction for each element */
} pattern;

typedef struct {
    const rs_kernels *kernels;
    const rs_nest *nest;
    const rs_spaces *spaces;
    bool changed; /* the changed form, not the threads */
    pattern patterns[PATTERN_LIMIT];
    int count;
    double total;
} form;

/* ---- where references are ---- */

/* Bytes between neighbours in a row of an array; false where extents are not known. */
static bool row_bytes(const form *f, const rs_access *access, int row, int64_t *bytes)
{
    const rs_array *array = &f->nest->unit->arrays[access->reference->array];
    *bytes = array->element;
    for (int inner = row + 1; inner < access->rows; inner++) {
        if (access->divided || array->extents[inner] <= 0 || *bytes > far_away)
            return false;
        *bytes *= array->extents[inner];
    }
    return true;
}

/* Bytes from one iteration of a loop to the next. */
static int64_t stride_of(const form *f, const rs_access *access, const rs_nest_loop *loop)
{
    int64_t sum = 0;
    for (int row = 0; row < access->rows && loop != NULL; row++) {
        int64_t factor, bytes;
        rs_polynomial entry = rs_access_entry(access, row, f->nest->unit->loops[loop->loop].symbol);
        if (rs_polynomial_is_zero(&entry))
            continue;
        if (!rs_polynomial_is_constant(&entry, &factor) || !row_bytes(f, access, row, &bytes))
            return far_away;
        sum += factor * bytes;
    }
    return sum;
}

static const rs_nest_loop *loop_of_dimension(const form *f, int dimension)
{
    for (int i = 0; i < f->nest->count; i++)
        if (f->nest->loops[i].dimension == dimension)
            return &f->nest->loops[i];
    return NULL;
}

static bool moves_alike(const rs_access *a, const rs_access *b)
{
    bool alike = a->reference->array == b->reference->array && a->rows == b->rows &&
                 a->columns == b->columns;
    for (int row = 0; alike && row < a->rows; row++)
        for (int i = 0; alike && i < a->columns; i++)
            alike = a->symbols[i] == b->symbols[i] &&
                    rs_polynomial_equal(&a->matrix[row][i], &b->matrix[row][i]);
    return alike;
}

/* Bytes from the first reference that moves alike; each other one has a place of its own. */
static int64_t start_of(const form *f, int reference)
{
    const rs_access *own = &f->nest->accesses->accesses[reference];
    int64_t sum = own->reference->member_offset;
    int first = 0;
    while (!moves_alike(&f->nest->accesses->accesses[first], own))
        first++;
    for (int row = 0; row < own->rows; row++) {
        int64_t apart, bytes;
        rs_polynomial moved = rs_polynomial_subtract(
            &own->offset[row], &f->nest->accesses->accesses[first].offset[row]);
        if (rs_polynomial_is_zero(&moved))
            continue;
        if (!rs_polynomial_is_constant(&moved, &apart) || !row_bytes(f, own, row, &bytes))
            return ((int64_t)reference + 1) << 36;
        sum += apart * bytes;
    }
    return sum + ((int64_t)first << 44);
}

/* ---- bursts ---- */

static int compare_bursts(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The address of one element of one lane. */
static int64_t address_of(const form *f, const pattern *p, int lane, int element)
{
    int64_t width = f->changed && f->spaces != NULL ? f->spaces->group[0] : WARP;
    width = width < WARP ? width : WARP;
    return p->start + lane % width * p->x + lane / width * p->y + element * p->along +
           far_away * WARP * 2; /* not negative */
}

static int add_bursts(const form *f, const pattern *p, int burst, int64_t *bursts, int count)
{
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < p->elements && count + 2 <= BURST_LIMIT; i++) {
            int64_t at = address_of(f, p, lane, i);
            bursts[count++] = at / burst;
            if ((at + p->bytes - 1) / burst != at / burst)
                bursts[count++] = (at + p->bytes - 1) / burst;
        }
    return count;
}

static int count_different(int64_t *values, int count)
{
    int different = 0;
    qsort(values, (size_t)count, sizeof *values, compare_bursts);
    for (int i = 0; i < count; i++)
        different += i == 0 || values[i] != values[i - 1];
    return different;
}

/* How often a warp's instruction has to look into the cache: once for some lines together. */
static double count_rounds(const form *f, const pattern *p)
{
    enum { LINE = 128, LINES = 8 };
    int64_t lines[WARP];
    for (int lane = 0; lane < WARP && p->elements > 0; lane++)
        lines[lane] = address_of(f, p, lane, 0) / LINE;
    double rounds = p->elements > 0 ? (double)count_different(lines, WARP) / LINES : 1;
    return rounds > 1 ? rounds : 1;
}

/* The different bursts of all patterns of an array that read, or that write, equally often. */
static double count_bursts(const form *f, int first, int burst, int64_t *bursts)
{
    const rs_reference *references = f->nest->unit->references;
    const rs_reference *own = &references[f->patterns[first].reference];
    int count = 0;
    if (own->written && f->patterns[first].scattered) { /* each store on its own */
        pattern one = f->patterns[first];
        one.elements = 1;
        return (double)f->patterns[first].elements *
               count_different(bursts, add_bursts(f, &one, burst, bursts, 0));
    }
    for (int i = 0; i < f->count; i++) {
        const rs_reference *r = &references[f->patterns[i].reference];
        bool same = r->array == own->array && r->written == own->written &&
                    f->patterns[i].weight == f->patterns[first].weight &&
                    f->patterns[i].elements == f->patterns[first].elements;
        if (same && i < first)
            return 0; /* counted there */
        if (same)
            count = add_bursts(f, &f->patterns[i], burst, bursts, count);
    }
    return count_different(bursts, count);
}

/* ---- the references of a form ---- */

static double weight_of(const form *f, int reference)
{
    double weight = 1;
    for (int i = 0; i < f->nest->count; i++)
        if (f->nest->loops[i].dimension < 0 &&
            rs_nest_loop_has(f->nest, &f->nest->loops[i], reference))
            weight *= trips;
    return weight;
}

static bool is_repeated(const form *f, int reference)
{
    const rs_access *accesses = f->nest->accesses->accesses;
    for (int i = 0; i < reference; i++)
        if (rs_nest_has(f->nest, i) &&
            accesses[i].reference->loop == accesses[reference].reference->loop &&
            accesses[i].reference->written == accesses[reference].reference->written &&
            rs_access_same(&accesses[i], &accesses[reference]))
            return true;
    return false;
}

/* One element for each lane, as the source has it. */
static pattern plain_pattern(const form *f, int reference)
{
    const rs_access *access = &f->nest->accesses->accesses[reference];
    int bytes = access->reference->width > 0 ? (int)access->reference->width : 4;
    bool both = access->reference->read && access->reference->written;
    bool known = !access->approximated;
    return (pattern){reference,
                     known ? stride_of(f, access, loop_of_dimension(f, 0)) : far_away,
                     known ? stride_of(f, access, loop_of_dimension(f, 1)) : far_away,
                     0,
                     start_of(f, reference),
                     1,
                     bytes,
                     both ? 2 : 1,
                     weight_of(f, reference),
                     false};
}

/* A vector for each lane: its cost is spread over its elements. */
static void widen(const form *f, pattern *p)
{
    const rs_nest_loop *loop = &f->nest->loops[f->nest->vector];
    const rs_access *access = &f->nest->accesses->accesses[p->reference];
    rs_placed placed = f->kernels->copies->placed[p->reference];
    int width = f->kernels->width;
    double whole = (width * p->bytes + 15) / 16; /* instructions of up to 16 bytes a lane */
    p->weight /= width;
    if (placed == RS_PLACED_UNIFORM)
        return;
    p->elements = width;
    p->along = stride_of(f, access, loop);
    p->scattered = placed != RS_PLACED_ALIGNED && placed != RS_PLACED_COPY;
    p->instructions *= p->scattered ? width : whole;
    if (placed == RS_PLACED_COPY) {
        p->start = (int64_t)f->kernels->copies->copy_of[p->reference] << 50;
        p->along = p->bytes;
        p->x = p->x == 0 ? 0 : far_away;
        p->y = p->y == 0 ? 0 : far_away;
    }
    if (loop->dimension == 0)
        p->x = width * p->along;
    if (loop->dimension == 1)
        p->y = width * p->along;
}

static bool is_fixed_inside(const form *f, int reference, const rs_nest_loop *loop)
{
    return stride_of(f, &f->nest->accesses->accesses[reference], loop) == 0 &&
           rs_nest_loop_has(f->nest, loop, reference);
}

/* With vectors: a sum is kept in registers. */
static void change_by_vectors(const form *f, pattern *p)
{
    const rs_nest_loop *loop = &f->nest->loops[f->nest->vector];
    if (!rs_nest_loop_has(f->nest, loop, p->reference))
        return;
    bool written = f->nest->unit->arrays[f->nest->unit->references[p->reference].array].written;
    if (loop->reduction && written && f->kernels->copies->placed[p->reference] == RS_PLACED_UNIFORM)
        p->weight /= trips;
    else
        widen(f, p);
}

/* Whether all that the loop inside the threads reads is in tiles or constants, which nothing global
 * overlaps: then compilers keep its sums in registers. */
static bool is_separate(const form *f)
{
    for (int i = 0; i < f->nest->unit->reference_count && f->spaces->inner >= 0; i++) {
        const rs_nest_loop *inner = &f->nest->loops[f->spaces->inner];
        rs_memory placed = f->spaces->arrays[f->nest->unit->references[i].array].placed;
        if (rs_nest_loop_has(f->nest, inner, i) && placed == RS_MEMORY_GLOBAL &&
            !is_fixed_inside(f, i, inner))
            return false;
    }
    return f->spaces->inner >= 0;
}

/* A tile: its loading once for the references together, and an instruction for each use. */
static void change_by_tile(const form *f, pattern *p)
{
    const rs_placing *placing = &f->spaces->arrays[f->nest->unit->references[p->reference].array];
    const int64_t *g = f->spaces->group;
    bool first = true;
    for (int i = 0; i < p->reference; i++)
        first = first &&
                !(rs_nest_has(f->nest, i) && f->nest->unit->references[i].array ==
                                                 f->nest->unit->references[p->reference].array);
    double share = f->spaces->inner >= 0 ? 1.0 / RS_SPACES_TILE : 1;
    for (int row = 0; row < placing->rows; row++)
        share *= (double)placing->extent[row];
    share /= (double)(g[0] * g[1] * g[2]);
    p->elements = 0;
    p->instructions = 1 + (first ? share * tile_instructions : 0);
}

static void change_by_spaces(const form *f, pattern *p)
{
    rs_memory placed = f->spaces->arrays[f->nest->unit->references[p->reference].array].placed;
    if (placed == RS_MEMORY_SHARED)
        change_by_tile(f, p);
    else if (f->spaces->staged && is_separate(f) &&
             is_fixed_inside(f, p->reference, &f->nest->loops[f->spaces->inner]))
        p->weight /= trips;
}

static double cost_of(form *f, const rs_device_model *device, int64_t *bursts)
{
    f->count = 0;
    f->total = 0;
    for (int i = 0; i < f->nest->unit->reference_count && f->count < PATTERN_LIMIT; i++) {
        if (!rs_nest_has(f->nest, i) || is_repeated(f, i))
            continue;
        pattern p = plain_pattern(f, i);
        if (f->changed && f->spaces != NULL)
            change_by_spaces(f, &p);
        else if (f->changed)
            change_by_vectors(f, &p);
        f->patterns[f->count++] = p;
    }
    for (int i = 0; i < f->count; i++) {
        f->total += f->patterns[i].weight * instruction_weight * f->patterns[i].instructions *
                    count_rounds(f, &f->patterns[i]);
        f->total += f->patterns[i].weight * count_bursts(f, i, device->burst, bursts);
    }
    return f->total;
}

restride_status rs_predict(rs_prediction *prediction, const rs_kernels *kernels,
                           const rs_spaces *spaces, const rs_device_model *device)
{
    form *f = calloc(1, sizeof *f);
    int64_t *bursts = calloc(BURST_LIMIT, sizeof *bursts);
    *prediction = (rs_prediction){1, 1};
    if (f != NULL && bursts != NULL && kernels->nest->dimensions > 0) {
        /* One work-item alone waits for each element, whatever the form. */
        f->kernels = kernels;
        f->nest = kernels->nest;
        f->spaces = spaces;
        prediction->threads = cost_of(f, device, bursts);
        f->changed = true;
        prediction->changed = cost_of(f, device, bursts);
    }
    bool ok = f != NULL && bursts != NULL;
    free(f);
    free(bursts);
    return ok ? RESTRIDE_OK : rs_fail_memory("a prediction");
}
