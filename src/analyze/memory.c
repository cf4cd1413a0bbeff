/* Memory spaces, transactions and layout advice. */
#include "analyze/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HALF_WARP = 16, TILE = 32, MOST_ROWS = 1 << 20, MOST_BYTES = 1 << 30 };

const char *rs_memory_text(rs_memory memory)
{
    static const char *const texts[] = {"global", "constant", "texture", "shared"};
    return texts[memory];
}

/* ---- transactions ---- */

/*
 * The threads of a warp: their work-group's extents, and the bytes from one thread to the next
 * along each of its dimensions. They count through x, then y, then z.
 */
typedef struct {
    int64_t extent[3];
    bool known[3];
    int64_t stride[3];
} warp_shape;

static int compare_addresses(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t burst_of(int64_t address, int64_t burst)
{
    return address >= 0 ? address / burst : -((burst - 1 - address) / burst);
}

/* Where a stride is not known, nobody shares a burst with threads that it leads to. */
static int64_t address_of(const warp_shape *shape, int64_t lane, int64_t width, int64_t burst)
{
    if (!shape->known[0] && shape->extent[0] > 1)
        return lane * (burst + width);
    const int64_t *n = shape->extent;
    int64_t place[3] = {lane % n[0], lane / n[0] % n[1], lane / n[0] / n[1]}, address = 0;
    for (int d = 0; d < 3; d++)
        address +=
            place[d] * (shape->known[d] ? shape->stride[d] : ((int64_t)MOST_BYTES << d) * burst);
    return address;
}

/* How many different bursts a warp touches, whose first thread begins at `start`. */
static int bursts(const warp_shape *shape, int64_t width, int64_t start,
                  const rs_device_model *device)
{
    int64_t lanes = 1;
    for (int d = 0; d < 3; d++)
        lanes = shape->extent[d] < device->warp ? lanes * shape->extent[d] : device->warp;
    lanes = lanes < device->warp ? lanes : device->warp;
    int64_t *addresses = calloc((size_t)lanes, sizeof *addresses);
    if (addresses == NULL)
        return (int)lanes;
    for (int64_t lane = 0; lane < lanes; lane++)
        addresses[lane] = start + address_of(shape, lane, width, device->burst);
    qsort(addresses, (size_t)lanes, sizeof *addresses, compare_addresses);
    int64_t count = 0, next = INT64_MIN; /* the first burst that was not counted */
    for (int64_t lane = 0; lane < lanes; lane++) {
        int64_t first = burst_of(addresses[lane], device->burst);
        int64_t end = burst_of(addresses[lane] + width - 1, device->burst) + 1;
        first = first > next ? first : next;
        count += end > first ? end - first : 0;
        next = end > next ? end : next;
    }
    free(addresses);
    return (int)count;
}

/* A number of bytes that may be multiplied by lanes: from a point on all are as far apart, but for
 * where in a burst they lie. */
static int64_t within_reach(int64_t stride, int64_t burst)
{
    int64_t most = MOST_BYTES / burst * burst;
    return stride > most ? most + stride % burst : stride < -most ? stride % burst - most : stride;
}

static warp_shape shape_of(const rs_accesses *accesses, const rs_access *access,
                           const rs_device_model *device)
{
    const rs_unit *unit = accesses->unit;
    const int64_t *group = unit->group[0] > 0 ? unit->group : device->group;
    bool alone = !unit->kernel || group[0] <= 0; /* neighbours in one dimension */
    warp_shape shape = {{device->warp, 1, 1}, {false, false, false}, {0, 0, 0}};
    for (int d = 0; d < 3; d++) {
        rs_polynomial stride =
            alone ? access->thread_stride : rs_access_stride_along(access, unit, d);
        shape.known[d] = rs_polynomial_is_constant(&stride, &shape.stride[d]);
        shape.stride[d] = within_reach(shape.stride[d], device->burst);
        if (!alone)
            shape.extent[d] = group[d] > 0 ? group[d] : 1;
    }
    return shape;
}

/* The bytes from a burst's border to what thread 0 touches, as far as that is known: parameters
 * are taken for multiples of a burst. */
static int64_t start_of(const rs_accesses *accesses, const rs_access *access, int64_t burst)
{
    const rs_array *array = &accesses->unit->arrays[access->reference->array];
    int64_t start = access->reference->member_offset % burst;
    for (int row = 0; row < access->rows; row++) {
        int64_t stride, shift = rs_polynomial_constant_term(&access->offset[row]);
        rs_polynomial bytes = access->divided && row + 1 == access->rows
                                  ? rs_polynomial_constant(array->element)
                                  : rs_access_row_stride(array, access->reference, row);
        if ((!access->divided || row + 1 == access->rows) &&
            rs_polynomial_is_constant(&bytes, &stride))
            start += shift % burst * (stride % burst);
    }
    return (start % burst + burst) % burst;
}

int rs_access_transactions(const rs_accesses *accesses, const rs_access *access,
                           const rs_device_model *device, bool *exact)
{
    int64_t width = access->reference->width > 0 ? access->reference->width : 4;
    warp_shape shape = shape_of(accesses, access, device);
    int64_t lanes = 1;
    *exact = true;
    for (int d = 0; d < 3 && lanes < device->warp; d++) { /* the others only move whole warps */
        *exact = *exact && (shape.known[d] || shape.extent[d] == 1);
        lanes = shape.extent[d] < device->warp ? lanes * shape.extent[d] : device->warp;
    }
    return bursts(&shape, width, start_of(accesses, access, device->burst), device);
}

/* ---- algorithm 3 ---- */

/* Whether some column within a thread has an entry. */
static bool moves_within(const rs_access *access)
{
    for (int i = 0; i < access->columns; i++)
        for (int row = 0; row < access->rows; row++)
            if (!access->between[i] && !rs_polynomial_is_zero(&access->matrix[row][i]))
                return true;
    return false;
}

static bool has_threads(const rs_access *access)
{
    for (int i = 0; i < access->columns; i++)
        if (access->between[i])
            return true;
    return false;
}

static bool is_same_address(const rs_accesses *accesses, const rs_access *access)
{
    return has_threads(access) && !rs_access_is_random(access) &&
           !rs_access_moves_between(access, accesses->unit);
}

/* Linear or reverse linear between threads, or shifted by whole half warps. */
static bool is_coalesced(const rs_accesses *accesses, const rs_access *access)
{
    const rs_array *array = &accesses->unit->arrays[access->reference->array];
    int64_t stride = 0, shift = 0;
    if (rs_access_is_random(access) || access->rows == 0 ||
        !rs_polynomial_is_constant(&access->thread_stride, &stride) || array->element == 0)
        return false;
    bool unit_stride = stride == array->element || stride == -array->element;
    return unit_stride && rs_polynomial_is_constant(&access->offset[access->rows - 1], &shift) &&
           shift % HALF_WARP == 0;
}

static int64_t array_bytes(const rs_array *array)
{
    int64_t bytes = array->element;
    for (int i = 0; i < array->dimensions; i++)
        if (array->extents[i] <= 0 || __builtin_mul_overflow(bytes, array->extents[i], &bytes))
            return 0;
    return array->dimensions > 0 ? bytes : 0;
}

static rs_memory choose_for(const rs_accesses *accesses, const rs_access *access,
                            const rs_placement *p, const rs_device_model *device)
{
    bool small = (p->bytes > 0 && p->bytes <= device->constant_size) ||
                 accesses->unit->arrays[access->reference->array].space == RS_SPACE_CONSTANT;
    if (!p->read_only)
        return p->chunkable && p->reused ? RS_MEMORY_SHARED : RS_MEMORY_GLOBAL;
    if (small && is_same_address(accesses, access))
        return RS_MEMORY_CONSTANT;
    if (p->chunkable && p->reused)
        return RS_MEMORY_SHARED;
    return is_coalesced(accesses, access) && !p->reused ? RS_MEMORY_GLOBAL : RS_MEMORY_TEXTURE;
}

rs_placement rs_array_place(const rs_accesses *accesses, int array, const rs_device_model *device)
{
    static const rs_memory order[] = {RS_MEMORY_TEXTURE, RS_MEMORY_GLOBAL, RS_MEMORY_SHARED,
                                      RS_MEMORY_CONSTANT};
    const rs_unit *unit = accesses->unit;
    rs_placement p;
    memset(&p, 0, sizeof p);
    int sites = 0;
    bool within = false, affine = true;
    p.read_only = !unit->arrays[array].written;
    p.same_address = p.coalesced = true;
    p.bytes = array_bytes(&unit->arrays[array]);
    for (int i = 0; i < unit->reference_count; i++) {
        const rs_access *access = &accesses->accesses[i];
        if (access->reference->array != array)
            continue;
        sites++;
        within = within || moves_within(access);
        affine = affine && !rs_access_is_random(access) && !access->approximated;
        p.same_address = p.same_address && is_same_address(accesses, access);
        p.coalesced = p.coalesced && is_coalesced(accesses, access);
    }
    p.reused = sites > 1 || within;
    p.chunkable = affine;
    for (int i = 0; i < unit->reference_count; i++)
        if (accesses->accesses[i].reference->array == array)
            p.candidates |= 1U << choose_for(accesses, &accesses->accesses[i], &p, device);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if ((p.candidates & 1U << order[i]) != 0) {
            p.memory = order[i];
            break;
        }
    return p;
}

/* ---- layouts ---- */

/*
 * The stride, in elements, between neighbouring threads when it is the same constant in all
 * accesses of the array; 0 otherwise.
 */
static int64_t common_stride(const rs_accesses *accesses, int array)
{
    const rs_unit *unit = accesses->unit;
    int64_t common = 0;
    for (int i = 0; i < unit->reference_count; i++) {
        const rs_access *access = &accesses->accesses[i];
        int64_t stride;
        if (access->reference->array != array)
            continue;
        if (rs_access_is_random(access) || unit->arrays[array].element == 0 ||
            !rs_polynomial_is_constant(&access->thread_stride, &stride) || stride == 0 ||
            stride % unit->arrays[array].element != 0)
            return 0;
        stride /= unit->arrays[array].element;
        stride = stride < 0 ? -stride : stride;
        if (common != 0 && common != stride)
            return 0;
        common = stride;
    }
    return common;
}

/* Transactions when neighbouring threads are so many values apart, and threads of other rows of the
 * work-group as many as they were records of so many bytes (0: not known). */
static int side_by_side(const rs_accesses *accesses, const rs_access *access, int64_t apart,
                        int64_t record, const rs_device_model *device)
{
    int64_t width = access->reference->width > 0 ? access->reference->width : 4;
    warp_shape shape = shape_of(accesses, access, device);
    shape.known[0] = true;
    shape.stride[0] = apart * width;
    for (int d = 1; d < 3; d++) {
        bool whole = record > 0 && shape.stride[d] % record == 0;
        shape.known[d] = shape.known[d] && (whole || shape.stride[d] == 0);
        shape.stride[d] = whole ? shape.stride[d] / record * width : 0;
    }
    return bursts(&shape, width, 0, device);
}

/* By how many rows neighbouring threads are apart, as far as that is known. */
static int64_t rows_apart(const rs_accesses *accesses, const rs_access *access)
{
    int column = rs_access_neighbour_column(access, accesses->unit);
    int64_t rows;
    bool known = column >= 0 && access->rows > 0 &&
                 rs_polynomial_is_constant(&access->matrix[0][column], &rows);
    return known && rows > -MOST_ROWS && rows < MOST_ROWS ? llabs(rows) : 1;
}

static bool has_members(const rs_accesses *accesses, int array)
{
    if (accesses->unit->arrays[array].vector)
        return false;
    for (int i = 0; i < accesses->unit->reference_count; i++) {
        const rs_reference *r = accesses->accesses[i].reference;
        if (r->array == array && r->member != NULL &&
            r->width < accesses->unit->arrays[array].element)
            return true;
    }
    return false;
}

/* An array of two dimensions whose neighbouring threads are in different rows. */
static bool is_turned(const rs_accesses *accesses, int array)
{
    bool any = false;
    for (int i = 0; i < accesses->unit->reference_count; i++) {
        const rs_access *access = &accesses->accesses[i];
        if (access->reference->array != array)
            continue;
        if (access->rows != 2 || rs_access_is_random(access))
            return false;
        uint64_t neighbours = 0;
        for (int c = 0; c < access->columns; c++) {
            const rs_symbol *s = &accesses->unit->symbols.symbols[access->symbols[c]];
            if (access->between[c] && (s->kind == RS_SYMBOL_LOOP || s->dimension == 0))
                neighbours |= rs_symbol_depends(&accesses->unit->symbols, access->symbols[c]);
        }
        if ((access->varies[0] & neighbours) == 0 || (access->varies[1] & neighbours) != 0)
            return false;
        any = true;
    }
    return any;
}

bool rs_array_advise(const rs_accesses *accesses, int array, const rs_device_model *device,
                     rs_layout_advice *advice)
{
    const rs_array *a = &accesses->unit->arrays[array];
    memset(advice, 0, sizeof *advice);
    if (a->space != RS_SPACE_GLOBAL)
        return false;
    int64_t stride = common_stride(accesses, array);
    bool members = has_members(accesses, array), turned = false;
    if (stride == 1 && members) {
        snprintf(advice->layout, sizeof advice->layout, "i/%d f i%%%d", TILE, TILE);
        snprintf(advice->dims, sizeof advice->dims, "i f");
    } else if (stride > 1 && stride <= 256 && !members && a->dimensions == 1) {
        snprintf(advice->layout, sizeof advice->layout, "i/%d f i%%%d", TILE, TILE);
        snprintf(advice->dims, sizeof advice->dims, "i f");
        advice->record = stride;
    } else if ((turned = is_turned(accesses, array))) {
        snprintf(advice->layout, sizeof advice->layout, "c r");
        snprintf(advice->dims, sizeof advice->dims, "r c");
    } else {
        return false;
    }
    int64_t record = turned ? 0 : stride * a->element;
    for (int i = 0; i < accesses->unit->reference_count; i++) {
        bool exact;
        if (accesses->accesses[i].reference->array != array)
            continue;
        advice->now += rs_access_transactions(accesses, &accesses->accesses[i], device, &exact);
        advice->then +=
            side_by_side(accesses, &accesses->accesses[i],
                         turned ? rows_apart(accesses, &accesses->accesses[i]) : 1, record, device);
    }
    return advice->then < advice->now;
}
