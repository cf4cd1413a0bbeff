/* Accesses of a kernel over records; see kernel.h. */
#include "sim/kernel.h"

#include "base/arithmetic.h"
#include "layout/layout.h"

enum { MOST_WARP = 1024, MOST_ELEMENT = 16, ALIGNMENT = 256 };

typedef struct {
    const rs_sim_kernel *kernel;
    uint64_t base; /* of the array that is accessed */
    size_t first;  /* record of the first lane */
    size_t lanes;
    bool separable;
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

static uint64_t address(const rs_sim_kernel *kernel, size_t record, size_t field)
{
    const size_t index[] = {record, field};
    return restride_layout_offset(kernel->layout, index) * kernel->element_bytes;
}

static void access_fields(rs_sim_memory *memory, const warp *at, bool writes)
{
    const rs_sim_kernel *kernel = at->kernel;
    uint64_t addresses[MOST_WARP];
    uint64_t before = 0; /* of the field that the addresses are those of */
    for (size_t f = 0; f < kernel->fields; f++) {
        uint64_t field = at->separable ? address(kernel, 0, f) : 0;
        for (size_t lane = 0; lane < at->lanes; lane++)
            addresses[lane] = at->separable && f > 0
                                  ? addresses[lane] + (field - before)
                                  : at->base + address(kernel, at->first + lane, f);
        before = field;
        rs_sim_access(memory, addresses, at->lanes, kernel->element_bytes, writes);
    }
}

static restride_status check(const rs_sim_kernel *kernel)
{
    if (restride_layout_rank(kernel->layout) != 2 || kernel->fields == 0 ||
        kernel->fields > restride_layout_extent(kernel->layout, 1))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The layout must have two dimensions, records and fields, of which the "
                       "kernel reads 1 to all fields.");
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
    uint64_t size = restride_layout_size(kernel->layout) * kernel->element_bytes;
    uint64_t other = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bool separable = is_separable(kernel->layout);
    for (size_t first = 0; first < records; first += warp_size) {
        size_t lanes = records - first < warp_size ? records - first : warp_size;
        rs_sim_start_warp(memory);
        access_fields(memory, &(warp){kernel, 0, first, lanes, separable}, false);
        if (kernel->writes)
            access_fields(memory, &(warp){kernel, other, first, lanes, separable}, true);
    }
    return RESTRIDE_OK;
}
