/*
 * Times from traffic: seven parts, of which the largest decides (a norm, as in sim/memory.h). Other
 * warps hide a wait, but where all of them read the same elements they stop at the same line. The
 * reuse of sectors in the L1 follows their distance: the lines that all resident warps touch before
 * a sector is wanted again, by the L1's size. The L2 keeps what one launch after the other uses
 * while it is small.
 */
#include "judge/model.h"

#include "sim/memory.h"

#include <math.h>

static const double sharpness = 5;  /* of the norm */
static const double l2_part = 0.53; /* of the L2, that data of up to this size find from before */
static const double drift = 0.03; /* by how much each further warp's loads come before another's */
/* Instructions for an element's address, and in SoA for each access to a further field: counted by
 * a profiler in the programs of restride-lab judge. */
static const double aos_address = 4, field_address = 0.85, tile_address = 9, group_address = 17;

enum {
    SOME_GROUP = 256,
    RESERVED_BYTES = 1 << 10, /* of local memory, for each work-group */
    LEAST_L1 = 28 << 10,      /* local memory cannot take these */
    IN_FLIGHT = 16,           /* loads of a warp before it waits */
    UNROLLED = 4,
    MERGED_LINES = 6, /* that a warp stores to again before they go to the L2 */
    BEGIN_END = 10    /* instructions of a thread */
};

typedef struct {
    const rs_judge_kernel *kernel;
    const rs_judge_device *device;
    double processors; /* that have work */
    double warps;      /* of a processor */
    double resident;   /* of them at a time */
    double l1_keeps;   /* the part of what may be used again that is still there */
    double l2_lacks;
    double memory_ns, load_sectors, store_sectors, store_lines, cycles, instructions;
    double waiting_ns, stalled_ns;
} sums;

static double threads_of(const rs_judge_kernel *kernel)
{
    return kernel->threads > 0 ? kernel->threads : RS_JUDGE_SOME_THREADS;
}

static double visits_of(const rs_judge_argument *a)
{
    return a->visits > 0 ? a->visits : 1;
}

static bool loads(const rs_judge_argument *a)
{
    return a->reads || a->atomic;
}

static bool stores(const rs_judge_argument *a)
{
    return a->writes || a->atomic;
}

/* Bytes of the device's memory that all visits to an argument reach. */
static double footprint(const sums *s, const rs_judge_argument *a, const rs_judge_traffic *t)
{
    double visits = visits_of(a) * s->warps * s->processors;
    double count = a->count > 0 ? (double)a->count : INFINITY;
    double all = t->fetches * RS_JUDGE_FETCH * visits;
    if (a->lanes == RS_LANES_SAME)
        return t->fetches * RS_JUDGE_FETCH * visits_of(a);
    return a->lanes == RS_LANES_GATHER ? fmin(all, count * t->dense * RS_JUDGE_FETCH) : all;
}

/* Local memory and registers limit the warps, and local memory leaves less for the L1. */
static double begin_processor(sums *s)
{
    const rs_judge_kernel *k = s->kernel;
    const rs_sim_device *shape = &s->device->shape;
    double group = (k->group > 0 ? k->group : SOME_GROUP) / (double)shape->warp;
    double local = k->local_bytes + RESERVED_BYTES, on_chip = s->device->on_chip_bytes;
    double groups =
        fmin(floor((double)shape->resident / group), floor((on_chip - LEAST_L1) / local));
    double all_groups = threads_of(k) / (group * (double)shape->warp);
    s->processors = fmax(1, fmin((double)shape->processors, all_groups));
    s->warps = threads_of(k) / ((double)shape->warp * s->processors);
    s->resident = fmax(1, groups) * group;
    if (k->resident > 0)
        s->resident = fmin(s->resident, k->resident);
    s->resident = fmax(1, fmin(s->resident, s->warps));
    return k->local_bytes > 0 ? fmax(LEAST_L1, on_chip - groups * local) : on_chip;
}

static void begin(sums *s, const rs_judge_traffic traffic[])
{
    double l1_bytes = begin_processor(s), all = 0, distance = 0, again = 0;
    for (int k = 0; k < s->kernel->argument_count; k++) {
        const rs_judge_argument *a = &s->kernel->arguments[k];
        double reused = loads(a) ? (traffic[k].sectors - traffic[k].fresh) * visits_of(a) : 0;
        all += footprint(s, a, &traffic[k]);
        if (a->lanes != RS_LANES_SAME) {
            distance += reused * traffic[k].reuse_lines;
            again += reused;
        }
    }
    double live = again > 0 ? distance / again * RS_SIM_LINE * s->resident : 0;
    s->l1_keeps = live > l1_bytes ? sqrt(l1_bytes / live) : 1;
    double room = l2_part * (double)s->device->shape.l2.bytes;
    s->l2_lacks = all > room ? fmin(1, (all - room) / room) : 0;
}

static double address_instructions(const rs_judge_argument *a, const rs_judge_layout *layout,
                                   double accesses)
{
    int members = a->lanes == RS_LANES_GROUP ? a->group : 1;
    if (layout->tile == 0 && !layout->split)
        return aos_address * members +
               field_address * accesses * (a->field_count - 1) / a->field_count;
    return members * (layout->group > 1  ? group_address
                      : layout->tile > 1 ? tile_address
                                         : aos_address);
}

/* Sectors that come from the L2 for a visit. */
static double loaded_sectors(const sums *s, const rs_judge_argument *a, const rs_judge_traffic *t)
{
    double sectors = t->fresh + (t->sectors - t->fresh) * (1 - s->l1_keeps);
    if (a->lanes == RS_LANES_SAME) /* warps of a processor go together */
        sectors /= 1 + (s->resident - 1) * s->l1_keeps;
    return sectors;
}

/* Whether another use of the array that a use stores to loads the same sectors: then they need not
 * be filled. */
static bool is_loaded_too(const sums *s, int k)
{
    const rs_judge_argument *all = s->kernel->arguments;
    int first = k;
    while (first > 0 && all[first].continues)
        first--;
    for (int u = first; u < s->kernel->argument_count && (u == first || all[u].continues); u++)
        if (u != k && loads(&all[u]) && all[u].lanes == all[k].lanes)
            return true;
    return loads(&all[k]);
}

/* Whether the use before has the address already. */
static bool has_address(const sums *s, int k)
{
    const rs_judge_argument *all = s->kernel->arguments;
    return all[k].continues && all[k - 1].lanes == all[k].lanes;
}

/* Nanoseconds of the device's memory. Gathers find in the L2 what is there by chance. */
static void add_memory(sums *s, int k, const rs_judge_traffic *t, const rs_judge_layout *layout)
{
    const rs_judge_argument *a = &s->kernel->arguments[k];
    double lacks = s->l2_lacks, reach = footprint(s, a, t), density = 1;
    double bytes = reach * lacks;
    if (a->lanes == RS_LANES_GATHER) {
        lacks = fmax(0, 1 - l2_part * (double)s->device->shape.l2.bytes / reach);
        bytes = t->fetches * RS_JUDGE_FETCH * visits_of(a) * s->warps * s->processors * lacks;
        density = 0;
    } else if (a->lanes == RS_LANES_WALK && layout->group == 1) {
        density = 0;
    } else if (layout->tile == 1 && layout->group == 1 && !layout->split) {
        density = fmin(1, t->dense * RS_JUDGE_FETCH / a->element);
    }
    if (loads(a))
        s->memory_ns +=
            bytes / (s->device->memory_bytes * (1 - (1 - s->device->sparse_loads) * (1 - density)));
    if (stores(a))
        s->memory_ns +=
            bytes * (is_loaded_too(s, k) ? 1 : 2 - t->whole) /
            (s->device->memory_bytes * (1 - (1 - s->device->sparse_stores) * (1 - density)));
}

/* Loads of a warp that it waits for together: loops have a few rounds under way at once. */
static double rounds_of(const rs_judge_argument *a, const rs_judge_traffic *t)
{
    double rounds = fmax(1, fmin(visits_of(a), UNROLLED));
    return fmax(1, fmin(rounds, IN_FLIGHT / fmax(1, t->requests)));
}

static double far_ns(const sums *s)
{
    return s->device->l2_ns + s->l2_lacks * (s->device->memory_ns - s->device->l2_ns);
}

/* How long a warp waits in all its visits for what the L1 lacks. */
static double missing_of(const sums *s, const rs_judge_argument *a, const rs_judge_traffic *t)
{
    double rounds = rounds_of(a, t), misses = fmin(1, t->misses * rounds);
    if (a->lanes == RS_LANES_SAME)
        misses /= 1 + (s->resident - 1) * drift;
    return visits_of(a) / rounds * misses * (far_ns(s) - s->device->l1_ns);
}

static double waiting_of(const sums *s, const rs_judge_argument *a, const rs_judge_traffic *t)
{
    const rs_judge_device *d = s->device;
    double visits = visits_of(a);
    return visits / rounds_of(a, t) * d->l1_ns + missing_of(s, a, t) +
           visits * t->requests * d->next_load * far_ns(s) +
           (a->lanes == RS_LANES_GATHER ? far_ns(s) : 0);
}

static void add_argument(sums *s, int k, const rs_judge_traffic *t, const rs_judge_layout *layout)
{
    const rs_judge_argument *a = &s->kernel->arguments[k];
    double visits = s->warps * visits_of(a), accesses = t->requests * (loads(a) + stores(a));
    double all = visits * fmax(1, a->again);
    add_memory(s, k, t, layout);
    s->cycles += (stores(a) ? t->requests : 0) * all;
    s->instructions +=
        (accesses + (has_address(s, k) ? 0 : address_instructions(a, layout, accesses))) * all;
    if (stores(a)) {
        bool merged = t->reuse_lines > 0 && t->reuse_lines <= MERGED_LINES;
        s->store_sectors += (merged ? t->fresh : t->sectors) * all;
        s->store_lines += (merged ? t->fresh * t->lines / t->sectors : t->lines) * all;
    }
    if (loads(a)) {
        s->cycles += fmax(t->conflicts, s->device->line_cycles * t->lines) * all;
        s->load_sectors += loaded_sectors(s, a, t) * visits;
        s->waiting_ns = fmax(s->waiting_ns, waiting_of(s, a, t));
        if (a->lanes == RS_LANES_SAME) /* all warps want the line that the first one waits for */
            s->stalled_ns += missing_of(s, a, t);
    }
}

rs_judge_time rs_judge_join(const rs_judge_kernel *kernel, const rs_judge_device *device,
                            const rs_judge_traffic traffic[], const rs_judge_layout layouts[])
{
    sums s = {.kernel = kernel, .device = device};
    rs_judge_time time = {.ns = 0};
    begin(&s, traffic);
    for (int k = 0; k < kernel->argument_count; k++)
        add_argument(&s, k, &traffic[k], &layouts[k]);
    s.instructions += (kernel->instructions + BEGIN_END) * s.warps;
    double cycle = 1 / device->shape.clock_ghz, processors = s.processors;
    double group = kernel->group > 0 ? kernel->group : SOME_GROUP;
    time.parts[RS_BOUND_MEMORY] = s.memory_ns;
    time.parts[RS_BOUND_LOADS] =
        s.load_sectors * fmax(processors / device->load_sectors, cycle / device->processor_sectors);
    time.parts[RS_BOUND_STORES] = processors * fmax(s.store_sectors / device->store_sectors,
                                                    s.store_lines / device->store_lines);
    time.parts[RS_BOUND_PIPELINE] = cycle * s.cycles + s.stalled_ns;
    time.parts[RS_BOUND_INSTRUCTIONS] = cycle * s.instructions / device->issue + s.stalled_ns;
    time.parts[RS_BOUND_WAITING] = fmax(1, s.warps / s.resident) * s.waiting_ns;
    time.parts[RS_BOUND_GROUPS] = threads_of(kernel) / group * device->group_ns;
    for (int part = 1; part < RS_BOUNDS; part++)
        if (time.parts[part] > time.parts[time.bound])
            time.bound = (rs_judge_bound)part;
    time.ns = device->launch_ns + rs_sim_joined(time.parts, RS_BOUNDS, sharpness);
    return time;
}

bool rs_judge_measure(rs_judge_traffic *traffic, const rs_judge_argument *argument,
                      const rs_judge_layout *layout)
{
    rs_judge_argument dense = *argument;
    rs_judge_traffic all;
    dense.lanes = RS_LANES_ONE;
    dense.group = 1;
    if (!rs_judge_count(traffic, argument, layout) || !rs_judge_count(&all, &dense, layout))
        return false;
    traffic->dense = all.fetches / RS_JUDGE_LANES;
    return true;
}

rs_judge_time rs_judge_foretell(const rs_judge_kernel *kernel, const rs_judge_device *device,
                                const rs_judge_layout layouts[])
{
    rs_judge_traffic traffic[RS_JUDGE_MOST_ARGUMENTS];
    for (int k = 0; k < kernel->argument_count; k++)
        if (!rs_judge_measure(&traffic[k], &kernel->arguments[k], &layouts[k]))
            return (rs_judge_time){.ns = 0};
    return rs_judge_join(kernel, device, traffic, layouts);
}
