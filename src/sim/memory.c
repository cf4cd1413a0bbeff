/* The model of memory.h. */
#include "sim/memory.h"

#include "sim/cache.h"
#include "sim/channels.h"
#include "sim/coalesce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where a read finds the farthest of its lines. */
typedef enum { IN_L1, IN_L2, IN_MEMORY, LEVELS } level;

/* What a processor did. */
typedef struct {
    double busy_ns; /* of its memory pipeline */
    size_t warps;
    size_t reads[LEVELS];
} workload;

/* An access that waits until the host's own caches have the sets that it needs. */
typedef struct {
    rs_sim_touch touches[2 * RS_SIM_MOST_LANES];
    size_t count;   /* of touches; 0: no access waits */
    uint64_t first; /* the line that distances count from */
    size_t processor;
    bool writes;
} access;

/* What the host's own caches hold near enough that nothing needs to be fetched early. */
enum { NEAR_BYTES = 256 << 10 };

struct rs_sim_memory {
    const rs_sim_device *device;
    rs_sim_coalescer *coalescer;
    rs_sim_cache *l1; /* one a processor; NULL: none */
    rs_sim_cache l2;
    rs_sim_channels *channels;
    access waiting;
    bool is_far;          /* the sets take more than the host's own caches hold near */
    uint64_t expected[2]; /* the first line of the latest access, of reads and of writes */
    workload *processors;
    double *cost; /* of an access, by its lines */
    size_t processor;
    size_t sectors_of_line;
    rs_sim_counts counts;
};

/* ---- making ---- */

static bool make_l1(rs_sim_memory *memory)
{
    const rs_sim_device *device = memory->device;
    if (device->l1.bytes == 0)
        return true;
    memory->l1 = calloc(device->processors, sizeof *memory->l1);
    for (size_t p = 0; memory->l1 != NULL && p < device->processors; p++)
        if (!rs_sim_cache_make(&memory->l1[p], &device->l1))
            return false;
    return memory->l1 != NULL;
}

/* Interpolates linearly between the rows of the description; the last line goes on beyond its end.
 */
static double cost_of(const rs_sim_device *device, double lines)
{
    size_t i = 1;
    while (i + 1 < device->cost_count && device->cost[i].lines < lines)
        i++;
    if (device->cost_count == 1 || lines <= device->cost[0].lines)
        return device->cost[0].ns;
    const rs_sim_cost *low = &device->cost[i - 1];
    const rs_sim_cost *high = &device->cost[i];
    return low->ns + (high->ns - low->ns) * (lines - low->lines) / (high->lines - low->lines);
}

static bool make_costs(rs_sim_memory *memory)
{
    enum { MOST_LINES = 2 * RS_SIM_MOST_LANES };
    memory->cost = malloc((MOST_LINES + 1) * sizeof *memory->cost);
    for (size_t i = 0; memory->cost != NULL && i <= MOST_LINES; i++)
        memory->cost[i] = cost_of(memory->device, (double)i);
    memory->processors = calloc(memory->device->processors, sizeof *memory->processors);
    return memory->cost != NULL && memory->processors != NULL;
}

static bool make_parts(rs_sim_memory *memory)
{
    memory->coalescer = rs_sim_coalescer_create(memory->device->sector_bytes);
    memory->channels = rs_sim_channels_create(memory->device);
    return memory->coalescer != NULL && memory->channels != NULL && make_l1(memory) &&
           rs_sim_cache_make(&memory->l2, &memory->device->l2) && make_costs(memory);
}

/* The bytes that sets take on the host. */
static size_t bytes_of(const rs_sim_cache *cache, size_t count)
{
    return cache != NULL ? count * cache->sets * cache->stride : 0;
}

restride_status rs_sim_memory_create(rs_sim_memory **memory, const rs_sim_device *device)
{
    rs_sim_memory *made = calloc(1, sizeof *made);
    *memory = NULL;
    if (made == NULL)
        return rs_fail_memory("the model of a memory system");
    made->device = device;
    made->processor = device->processors - 1;
    made->sectors_of_line = RS_SIM_LINE / device->sector_bytes;
    if (!make_parts(made)) {
        rs_sim_memory_destroy(made);
        return rs_fail_memory("the model of a memory system");
    }
    made->is_far = bytes_of(&made->l2, 1) + bytes_of(made->l1, device->processors) > NEAR_BYTES;
    *memory = made;
    return RESTRIDE_OK;
}

void rs_sim_memory_destroy(rs_sim_memory *memory)
{
    if (memory == NULL)
        return;
    for (size_t p = 0; memory->l1 != NULL && p < memory->device->processors; p++)
        rs_sim_cache_free(&memory->l1[p]);
    free(memory->l1);
    rs_sim_cache_free(&memory->l2);
    rs_sim_channels_destroy(memory->channels);
    rs_sim_coalescer_destroy(memory->coalescer);
    free(memory->cost);
    free(memory->processors);
    free(memory);
}

const rs_sim_device *rs_sim_memory_device(const rs_sim_memory *memory)
{
    return memory->device;
}

/* Tags have 32 bits. */
uint64_t rs_sim_address_limit(const rs_sim_memory *memory)
{
    uint64_t sets = memory->l2.sets;
    if (memory->l1 != NULL && memory->l1[0].sets < sets)
        sets = memory->l1[0].sets;
    return (uint64_t)UINT32_MAX * RS_SIM_LINE * sets;
}

/* ---- caches ---- */

/* Asks for the units of a line, of which the bits are whole ones. */
static void ask_units(rs_sim_memory *memory, uint64_t number, uint32_t units)
{
    size_t words = memory->device->fetch_bytes / RS_SIM_WORD;
    for (size_t w = 0; units != 0 && w < RS_SIM_LINE / RS_SIM_WORD; w += words)
        if ((units >> w & 1) != 0)
            rs_sim_channels_ask(memory->channels, number * RS_SIM_LINE + w * RS_SIM_WORD);
}

/* Units that were written in part and never read are read first. */
static void write_back(rs_sim_memory *memory, const rs_sim_line *line)
{
    const rs_sim_contents *old = &line->contents;
    size_t unit = memory->device->fetch_bytes;
    if (old->dirty == 0)
        return;
    uint32_t units = rs_sim_whole_units(old->dirty, unit);
    uint32_t unknown = units & ~(old->dirty | old->valid);
    ask_units(memory, line->number, rs_sim_whole_units(unknown, unit));
    ask_units(memory, line->number, units);
}

static rs_sim_contents *find_in_l2(rs_sim_memory *memory, uint64_t number)
{
    rs_sim_contents *found = rs_sim_cache_recent(&memory->l2, number);
    if (found != NULL)
        return found;
    rs_sim_line evicted;
    found = rs_sim_cache_find(&memory->l2, number, &evicted);
    write_back(memory, &evicted);
    return found;
}

static rs_sim_contents *find_in_l1(rs_sim_cache *l1, uint64_t number)
{
    rs_sim_contents *found = rs_sim_cache_recent(l1, number);
    rs_sim_line evicted; /* and forgotten: stores pass the L1 by */
    return found != NULL ? found : rs_sim_cache_find(l1, number, &evicted);
}

/* Sectors in bits that are whole sectors. (Bits are summed in pairs, fours, bytes.) */
static size_t sectors_in(const rs_sim_memory *memory, uint32_t bits)
{
    if (bits == UINT32_MAX)
        return memory->sectors_of_line;
    if (bits == 0)
        return 0;
    bits -= bits >> 1 & 0x55555555;
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f;
    return (bits * 0x01010101 >> 24) * RS_SIM_WORD / memory->device->sector_bytes;
}

static level read_l2(rs_sim_memory *memory, uint64_t number, uint32_t sectors)
{
    const rs_sim_device *device = memory->device;
    rs_sim_contents *at = find_in_l2(memory, number);
    uint32_t missing = sectors & ~(at->valid | at->dirty);
    memory->counts.l2_hits += sectors_in(memory, sectors);
    if (missing == 0)
        return IN_L2;
    uint32_t units = rs_sim_whole_units(missing, device->fetch_bytes);
    memory->counts.l2_hits -= sectors_in(memory, rs_sim_whole_units(missing, device->sector_bytes));
    ask_units(memory, number, units);
    at->valid |= units;
    return IN_MEMORY;
}

static level read_line(rs_sim_memory *memory, rs_sim_cache *l1, uint64_t number, uint32_t sectors)
{
    if (l1 != NULL) {
        rs_sim_contents *at = find_in_l1(l1, number);
        memory->counts.l1_hits += sectors_in(memory, sectors & at->valid);
        uint32_t missing = sectors & ~at->valid;
        at->valid |= sectors;
        sectors = missing;
    }
    return sectors != 0 ? read_l2(memory, number, sectors) : IN_L1;
}

static void make_read(rs_sim_memory *memory, const access *made)
{
    rs_sim_cache *l1 = memory->l1 != NULL ? &memory->l1[made->processor] : NULL;
    level farthest = IN_L1;
    for (size_t i = 0; i < made->count; i++) {
        const rs_sim_touch *touch = &made->touches[i];
        level at = read_line(memory, l1, made->first + touch->distance, touch->whole_sectors);
        farthest = at > farthest ? at : farthest;
    }
    memory->processors[made->processor].reads[farthest]++;
}

static void make_write(rs_sim_memory *memory, const access *made)
{
    for (size_t i = 0; i < made->count; i++) {
        const rs_sim_touch *touch = &made->touches[i];
        find_in_l2(memory, made->first + touch->distance)->dirty |= touch->words;
    }
}

/* Makes the access that waits. */
static void make_access(rs_sim_memory *memory)
{
    access *made = &memory->waiting;
    if (made->count == 0)
        return;
    if (made->writes)
        make_write(memory, made);
    else
        make_read(memory, made);
    made->count = 0;
}

/* Fetches the sets that an access needs; one that begins where the last one did finds them. */
static void expect(rs_sim_memory *memory, const access *coming)
{
    if (!memory->is_far || memory->expected[coming->writes] == coming->first + 1)
        return;
    memory->expected[coming->writes] = coming->first + 1;
    for (size_t i = 0; i < coming->count; i++) {
        uint64_t number = coming->first + coming->touches[i].distance;
        if (memory->l1 != NULL && !coming->writes)
            rs_sim_cache_expect(&memory->l1[coming->processor], number);
        rs_sim_cache_expect(&memory->l2, number);
    }
}

/* ---- accesses ---- */

void rs_sim_start_warp(rs_sim_memory *memory)
{
    memory->processor = (memory->processor + 1) % memory->device->processors;
    memory->processors[memory->processor].busy_ns += memory->device->launch_ns;
    memory->processors[memory->processor].warps++;
    memory->counts.warps++;
}

void rs_sim_resume_warp(rs_sim_memory *memory, size_t processor)
{
    memory->processor = processor;
}

void rs_sim_access(rs_sim_memory *memory, const uint64_t addresses[], size_t lanes, size_t bytes,
                   bool writes)
{
    const rs_sim_touched touched = rs_sim_coalesce(memory->coalescer, addresses, lanes, bytes);
    access *waiting = &memory->waiting;
    make_access(memory);
    waiting->count = touched.count;
    waiting->first = addresses[0] / RS_SIM_LINE;
    waiting->processor = memory->processor;
    waiting->writes = writes;
    memcpy(waiting->touches, touched.touches, touched.count * sizeof *touched.touches);
    expect(memory, waiting);
    memory->counts.accesses++;
    memory->counts.useful_bytes += lanes * bytes;
    memory->counts.lines += touched.count;
    memory->counts.sectors += touched.sectors;
    memory->processors[memory->processor].busy_ns += memory->cost[touched.count];
}

/* ---- the end ---- */

static void drain(rs_sim_memory *memory)
{
    make_access(memory);
    for (size_t i = 0; i < memory->l2.sets * memory->l2.ways; i++) {
        const rs_sim_line line = rs_sim_cache_drain(&memory->l2, i);
        write_back(memory, &line);
    }
    rs_sim_channels_drain(memory->channels);
}

rs_sim_counts rs_sim_look(rs_sim_memory *memory)
{
    make_access(memory);
    return memory->counts;
}

static void count_channels(rs_sim_memory *memory)
{
    const rs_sim_device *device = memory->device;
    rs_sim_counts *counts = &memory->counts;
    size_t most = 0;
    counts->requests = counts->row_hits = 0;
    counts->memory_ns = 0;
    for (size_t c = 0; c < device->channels; c++) {
        size_t requests = rs_sim_channels_requests(memory->channels, c);
        size_t row_hits = rs_sim_channels_row_hits(memory->channels, c);
        double ns =
            (double)requests * device->fetch_ns + (double)(requests - row_hits) * device->row_ns;
        counts->requests += requests;
        counts->row_hits += row_hits;
        most = requests > most ? requests : most;
        counts->memory_ns = fmax(counts->memory_ns, ns);
    }
    counts->moved_bytes = counts->requests * device->fetch_bytes;
    counts->busiest = counts->requests == 0
                          ? 0
                          : (double)most * (double)device->channels / (double)counts->requests;
}

/* The time in which a processor's reads wait, if as many wait at once as can. */
static double waiting_ns(const rs_sim_device *device, const workload *of)
{
    size_t warps = of->warps < device->resident ? of->warps : device->resident;
    double all = (double)of->reads[IN_L1] * device->l1_ns +
                 (double)of->reads[IN_L2] * device->l2_ns +
                 (double)of->reads[IN_MEMORY] * device->memory_ns;
    return all / (double)(device->in_flight * (warps > 0 ? warps : 1));
}

static void count_processors(rs_sim_memory *memory)
{
    rs_sim_counts *counts = &memory->counts;
    counts->access_ns = counts->latency_ns = 0;
    for (size_t p = 0; p < memory->device->processors; p++) {
        const workload *at = &memory->processors[p];
        counts->access_ns = fmax(counts->access_ns, at->busy_ns);
        counts->latency_ns = fmax(counts->latency_ns, waiting_ns(memory->device, at));
    }
}

double rs_sim_joined(const double times[], size_t count, double power)
{
    double longest = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        longest = fmax(longest, times[i]);
    for (size_t i = 0; i < count && longest > 0; i++)
        sum += pow(times[i] / longest, power);
    return longest * pow(sum, 1 / power);
}

rs_sim_counts rs_sim_finish(rs_sim_memory *memory)
{
    rs_sim_counts *counts = &memory->counts;
    drain(memory);
    count_channels(memory);
    count_processors(memory);
    const double times[] = {counts->access_ns, counts->memory_ns, counts->latency_ns};
    counts->ns = rs_sim_joined(times, sizeof times / sizeof times[0], memory->device->overlap);
    return *counts;
}

size_t rs_sim_channel_requests(const rs_sim_memory *memory, size_t number)
{
    return rs_sim_channels_requests(memory->channels, number);
}
