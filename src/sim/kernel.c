/* Accesses of a kernel over records; see kernel.h. */
#include "sim/kernel.h"

#include "base/arithmetic.h"
#include "layout/layout.h"

#include <stdlib.h>

enum { MOST_WARP = 1024, MOST_ELEMENT = 16, ALIGNMENT = 256 };

typedef struct {
    const rs_sim_kernel *kernel;
    uint64_t bases[2]; /* of the array that is read and the one that is written */
    bool separable;
    bool regular;     /* and the lanes of all warps lie to each other in the same way */
    uint64_t *fields; /* of a separable layout: where those of record 0 are */
    uint64_t distances[MOST_WARP]; /* of a regular layout: of the lanes from the first one */
} run;

/* The records of a warp's lanes. */
typedef struct {
    size_t first;
    size_t lanes;
    uint64_t records[MOST_WARP]; /* of a separable layout: where their field 0 is */
} warp;

/* Whether an offset is a sum over the dimensions: no tile is shorter than the others. */
static bool is_separable(const restride_layout *layout)
{
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (layout->dimensions[term->dimension].padded_extent % term->divisor != 0)
            return false;
    }
    return true;
}

/* Whether one of two numbers divides the other one. */
static bool are_nested(size_t a, size_t b)
{
    return a % b == 0 || b % a == 0;
}

/* Whether the borders of all tiles of records are borders of warps, or the other way round. */
static bool is_regular(const restride_layout *layout, size_t warp_size)
{
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        size_t period = term->modulus > 0 ? term->divisor * term->modulus : term->divisor;
        if (term->dimension == 0 &&
            !(are_nested(term->divisor, warp_size) && are_nested(period, warp_size)))
            return false;
    }
    return true;
}

static uint64_t address(const rs_sim_kernel *kernel, size_t record, size_t field)
{
    const size_t index[] = {record, field};
    return restride_layout_offset(kernel->layout, index) * kernel->element_bytes;
}

static restride_status begin(run *made, const rs_sim_kernel *kernel, size_t warp_size)
{
    uint64_t size = restride_layout_size(kernel->layout) * kernel->element_bytes;
    size_t records = restride_layout_extent(kernel->layout, 0);
    *made = (run){.kernel = kernel, .separable = is_separable(kernel->layout)};
    made->bases[1] = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    made->regular = made->separable && is_regular(kernel->layout, warp_size);
    made->fields = malloc(kernel->fields * sizeof *made->fields);
    if (made->fields == NULL)
        return rs_fail_memory("a kernel's fields");
    for (size_t f = 0; f < kernel->fields; f++)
        made->fields[f] = address(kernel, 0, f);
    for (size_t lane = 0; made->regular && lane < warp_size && lane < records; lane++)
        made->distances[lane] = address(kernel, lane, 0);
    return RESTRIDE_OK;
}

static void find_records(const run *of, warp *made, size_t first, size_t lanes)
{
    made->first = first;
    made->lanes = lanes;
    uint64_t begin_at = of->regular ? address(of->kernel, first, 0) : 0;
    for (size_t lane = 0; of->regular && lane < lanes; lane++)
        made->records[lane] = begin_at + of->distances[lane];
    for (size_t lane = 0; of->separable && !of->regular && lane < lanes; lane++)
        made->records[lane] = address(of->kernel, first + lane, 0);
}

/* A warp's access to a field of one of the arrays. */
static void access_field(rs_sim_memory *memory, const run *of, const warp *at, size_t field,
                         bool writes)
{
    const rs_sim_kernel *kernel = of->kernel;
    uint64_t base = of->bases[writes];
    uint64_t begin_at = base + of->fields[field];
    uint64_t addresses[MOST_WARP];
    if (of->separable)
        for (size_t lane = 0; lane < at->lanes; lane++)
            addresses[lane] = at->records[lane] + begin_at;
    else
        for (size_t lane = 0; lane < at->lanes; lane++)
            addresses[lane] = base + address(kernel, at->first + lane, field);
    rs_sim_access(memory, addresses, at->lanes, kernel->element_bytes, writes);
}

/* A warp reads its fields, then writes those of the other array. */
static void run_warp(rs_sim_memory *memory, const run *of, const warp *at)
{
    const rs_sim_kernel *kernel = of->kernel;
    rs_sim_start_warp(memory);
    for (size_t field = 0; field < kernel->fields; field++)
        access_field(memory, of, at, field, false);
    for (size_t field = 0; kernel->writes && field < kernel->fields; field++)
        access_field(memory, of, at, field, true);
}

static restride_status check(const rs_sim_kernel *kernel)
{
    if (restride_layout_rank(kernel->layout) != 2 || kernel->fields == 0 ||
        kernel->fields > restride_layout_extent(kernel->layout, 1))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The layout must have two dimensions, records and fields, of which the "
                       "kernel reads 1 to all fields.");
    if (restride_layout_extent(kernel->layout, 0) == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The array has no records, so there is nothing to simulate.");
    size_t bytes;
    if (kernel->element_bytes == 0 || kernel->element_bytes > MOST_ELEMENT)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "An element of %zu bytes is not possible; give 1 to %d.",
                       kernel->element_bytes, MOST_ELEMENT);
    if (!rs_size_multiply(restride_layout_size(kernel->layout), 4 * kernel->element_bytes, &bytes))
        return rs_fail(RESTRIDE_OVERFLOW, "The array is too large for this machine's sizes.");
    return RESTRIDE_OK;
}

restride_status rs_sim_run_kernel(rs_sim_memory *memory, const rs_sim_kernel *kernel)
{
    restride_status status = check(kernel);
    if (status != RESTRIDE_OK)
        return status;
    size_t warp_size = rs_sim_memory_device(memory)->warp;
    size_t records = restride_layout_extent(kernel->layout, 0);
    size_t record_bytes = restride_layout_extent(kernel->layout, 1) * kernel->element_bytes;
    if (kernel->most_bytes > 0 && records > kernel->most_bytes / record_bytes + warp_size)
        records = kernel->most_bytes / record_bytes + warp_size;
    run of;
    status = begin(&of, kernel, warp_size);
    if (status == RESTRIDE_OK && 2 * of.bases[1] > rs_sim_address_limit(memory))
        status = rs_fail(RESTRIDE_OVERFLOW, "The array is too large for the model of this device.");
    for (size_t first = 0; first < records && status == RESTRIDE_OK; first += warp_size) {
        warp at;
        find_records(&of, &at, first, records - first < warp_size ? records - first : warp_size);
        run_warp(memory, &of, &at);
    }
    free(of.fields);
    return status;
}
