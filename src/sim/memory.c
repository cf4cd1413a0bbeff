/* The model of memory.h. */
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_LINE = 0, WORD = 4, MOST_LANES = 1024 };

/* A line in a cache: its number plus 1, and what of it is there or was written, 4 bytes a bit. */
typedef struct {
    uint64_t tag;
    uint32_t valid;
    uint32_t dirty;
} line;

/* Each set has its lines in the order of their use, the last one first. */
typedef struct {
    line *lines;
    size_t sets;
    size_t ways;
} cache;

typedef struct {
    uint64_t bank;
    uint64_t row;
} request;

typedef struct {
    request *queue;
    size_t waiting;
    uint64_t *open; /* row of each bank, plus 1 */
    size_t requests;
    size_t row_hits;
} channel;

struct rs_sim_memory {
    const rs_sim_device *device;
    cache *l1; /* one a processor; NULL: none */
    cache l2;
    channel *channels;
    double *busy; /* of each processor */
    double *cost; /* of an access, by its lines */
    size_t processor;
    size_t sectors_of_line;
    rs_sim_counts counts;
};

/* ---- making ---- */

static bool make_cache(cache *made, const rs_sim_cache_shape *shape)
{
    made->ways = shape->ways;
    made->sets = shape->bytes / (shape->ways * RS_SIM_LINE);
    made->lines = calloc(made->sets * made->ways, sizeof *made->lines);
    return made->lines != NULL;
}

static bool make_l1(rs_sim_memory *memory)
{
    const rs_sim_device *device = memory->device;
    if (device->l1.bytes == 0)
        return true;
    memory->l1 = calloc(device->processors, sizeof *memory->l1);
    for (size_t p = 0; memory->l1 != NULL && p < device->processors; p++)
        if (!make_cache(&memory->l1[p], &device->l1))
            return false;
    return memory->l1 != NULL;
}

static bool make_channels(rs_sim_memory *memory)
{
    const rs_sim_device *device = memory->device;
    memory->channels = calloc(device->channels, sizeof *memory->channels);
    for (size_t c = 0; memory->channels != NULL && c < device->channels; c++) {
        channel *made = &memory->channels[c];
        made->queue = malloc(device->queue * sizeof *made->queue);
        made->open = calloc(device->banks, sizeof *made->open);
        if (made->queue == NULL || made->open == NULL)
            return false;
    }
    return memory->channels != NULL;
}

/* Between the rows of the description on straight lines, beyond the last one on its own. */
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
    enum { MOST_LINES = 2 * MOST_LANES };
    memory->cost = malloc((MOST_LINES + 1) * sizeof *memory->cost);
    for (size_t i = 0; memory->cost != NULL && i <= MOST_LINES; i++)
        memory->cost[i] = cost_of(memory->device, (double)i);
    memory->busy = calloc(memory->device->processors, sizeof *memory->busy);
    return memory->cost != NULL && memory->busy != NULL;
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
    if (!make_l1(made) || !make_cache(&made->l2, &device->l2) || !make_channels(made) ||
        !make_costs(made)) {
        rs_sim_memory_destroy(made);
        return rs_fail_memory("the model of a memory system");
    }
    *memory = made;
    return RESTRIDE_OK;
}

void rs_sim_memory_destroy(rs_sim_memory *memory)
{
    if (memory == NULL)
        return;
    for (size_t p = 0; memory->l1 != NULL && p < memory->device->processors; p++)
        free(memory->l1[p].lines);
    for (size_t c = 0; memory->channels != NULL && c < memory->device->channels; c++) {
        free(memory->channels[c].queue);
        free(memory->channels[c].open);
    }
    free(memory->l1);
    free(memory->l2.lines);
    free(memory->channels);
    free(memory->cost);
    free(memory->busy);
    free(memory);
}

const rs_sim_device *rs_sim_memory_device(const rs_sim_memory *memory)
{
    return memory->device;
}

/* ---- channels ---- */

static uint64_t steer(uint64_t number, uint64_t address, const uint64_t *masks, size_t count)
{
    for (size_t k = 0; k < count; k++)
        number ^= (uint64_t)__builtin_parityll(address & masks[k]) << k;
    return number;
}

/* Serves one request: the first whose row is open, or else the oldest. */
static void serve(channel *at)
{
    size_t chosen = 0;
    for (size_t i = 0; i < at->waiting; i++)
        if (at->open[at->queue[i].bank] == at->queue[i].row + 1) {
            chosen = i;
            at->row_hits++;
            break;
        }
    at->open[at->queue[chosen].bank] = at->queue[chosen].row + 1;
    at->requests++;
    at->waiting--;
    memmove(at->queue + chosen, at->queue + chosen + 1, (at->waiting - chosen) * sizeof *at->queue);
}

/* A channel holds every channels-th block of interleave_bytes; a bank every banks-th row of it. */
static void ask(rs_sim_memory *memory, uint64_t address)
{
    const rs_sim_device *device = memory->device;
    uint64_t block = address / device->interleave_bytes;
    uint64_t number =
        steer(block, address, device->channel_mask, device->channel_masks) % device->channels;
    uint64_t within =
        block / device->channels * device->interleave_bytes + address % device->interleave_bytes;
    uint64_t row = within / device->row_bytes;
    uint64_t bank = steer(row, address, device->bank_mask, device->bank_masks) % device->banks;
    channel *at = &memory->channels[number];
    if (at->waiting == device->queue)
        serve(at);
    at->queue[at->waiting++] = (request){bank, row};
}

/* ---- caches ---- */

/* Bits of the words [begin, end) of a line. */
static uint32_t word_bits(size_t begin, size_t end)
{
    uint64_t below_end = ((uint64_t)1 << end) - 1;
    return (uint32_t)(below_end & ~(((uint64_t)1 << begin) - 1));
}

/* Widens bits to whole units of `unit` bytes. */
static uint32_t whole_units(uint32_t bits, size_t unit)
{
    size_t words = unit / WORD;
    uint32_t whole = 0;
    if (bits == 0 || bits == UINT32_MAX)
        return bits;
    for (size_t w = 0; w < RS_SIM_LINE / WORD; w += words) {
        uint32_t part = word_bits(w, w + words);
        whole |= (bits & part) != 0 ? part : 0;
    }
    return whole;
}

/* Asks for each unit of a line that has a bit. */
static void ask_units(rs_sim_memory *memory, uint64_t number, uint32_t bits)
{
    size_t unit = memory->device->fetch_bytes;
    for (size_t b = 0; bits != 0 && b < RS_SIM_LINE; b += unit)
        if ((bits & word_bits(b / WORD, (b + unit) / WORD)) != 0)
            ask(memory, number * RS_SIM_LINE + b);
}

/* Units that were written in part and never read are read first. */
static void write_back(rs_sim_memory *memory, const line *old)
{
    if (old->tag == NO_LINE || old->dirty == 0)
        return;
    uint32_t units = whole_units(old->dirty, memory->device->fetch_bytes);
    ask_units(memory, old->tag - 1, units & ~(old->dirty | old->valid));
    ask_units(memory, old->tag - 1, units);
}

/* The line of this number, or the one that was used longest ago, emptied: now the first of its set.
 */
static line *find_line(rs_sim_memory *memory, cache *in, uint64_t number, bool writes_back)
{
    line *set = in->lines + number % in->sets * in->ways;
    size_t way = 0;
    while (way < in->ways && set[way].tag != number + 1)
        way++;
    line found = {number + 1, 0, 0};
    if (way < in->ways)
        found = set[way];
    else if (writes_back)
        write_back(memory, &set[--way]);
    else
        way--;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = found;
    return set;
}

/* Sectors in bits that are whole sectors. (Bits are summed in pairs, fours, bytes.) */
static size_t sectors_in(const rs_sim_memory *memory, uint32_t bits)
{
    if (bits == UINT32_MAX)
        return memory->sectors_of_line;
    bits -= bits >> 1 & 0x55555555;
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f;
    return (bits * 0x01010101 >> 24) * WORD / memory->device->sector_bytes;
}

static void read_l2(rs_sim_memory *memory, uint64_t number, uint32_t sectors)
{
    line *at = find_line(memory, &memory->l2, number, true);
    uint32_t missing = sectors & ~(at->valid | at->dirty);
    uint32_t units = whole_units(missing, memory->device->fetch_bytes);
    memory->counts.l2_hits +=
        sectors_in(memory, sectors) -
        sectors_in(memory, whole_units(missing, memory->device->sector_bytes));
    ask_units(memory, number, units);
    at->valid |= units;
}

static void read_line(rs_sim_memory *memory, uint64_t number, uint32_t sectors)
{
    if (memory->l1 != NULL) {
        line *at = find_line(memory, &memory->l1[memory->processor], number, false);
        memory->counts.l1_hits += sectors_in(memory, sectors & at->valid);
        uint32_t missing = sectors & ~at->valid;
        at->valid |= sectors;
        sectors = missing;
    }
    if (sectors != 0)
        read_l2(memory, number, sectors);
}

static void write_line(rs_sim_memory *memory, uint64_t number, uint32_t words)
{
    find_line(memory, &memory->l2, number, true)->dirty |= words;
}

/* ---- accesses ---- */

void rs_sim_start_warp(rs_sim_memory *memory)
{
    memory->processor = (memory->processor + 1) % memory->device->processors;
    memory->busy[memory->processor] += memory->device->launch_ns;
    memory->counts.warps++;
}

/* A line that an access touches, and which words. */
typedef struct {
    uint64_t number;
    uint32_t words;
} touch;

/* Neighbouring lanes mostly touch the line that was touched last, so the search begins there. */
static size_t add_touch(touch *touches, size_t count, uint64_t number, uint32_t words)
{
    for (size_t i = count; i-- > 0;)
        if (touches[i].number == number) {
            touches[i].words |= words;
            return count;
        }
    touches[count] = (touch){number, words};
    return count + 1;
}

/* Whether the lanes access words side by side. */
static bool is_consecutive(const uint64_t addresses[], size_t lanes, size_t bytes)
{
    uint64_t apart = addresses[0] % WORD | bytes % WORD;
    for (size_t lane = 0; lane < lanes; lane++)
        apart |= addresses[lane] ^ (addresses[0] + lane * bytes);
    return apart == 0;
}

static size_t touch_range(uint64_t begin, uint64_t end, touch *touches)
{
    size_t count = 0;
    for (uint64_t at = begin; at < end; at = (at / RS_SIM_LINE + 1) * RS_SIM_LINE) {
        uint64_t line_end = (at / RS_SIM_LINE + 1) * RS_SIM_LINE;
        uint64_t last = end < line_end ? end : line_end;
        touches[count++] =
            (touch){at / RS_SIM_LINE,
                    word_bits(at % RS_SIM_LINE / WORD, (last - 1) % RS_SIM_LINE / WORD + 1)};
    }
    return count;
}

static size_t coalesce(const uint64_t addresses[], size_t lanes, size_t bytes, touch *touches)
{
    size_t count = 0;
    if (is_consecutive(addresses, lanes, bytes))
        return touch_range(addresses[0], addresses[0] + lanes * bytes, touches);
    for (size_t lane = 0; lane < lanes; lane++) {
        uint64_t end = addresses[lane] + bytes;
        uint64_t first = addresses[lane] / RS_SIM_LINE;
        size_t begin_word = addresses[lane] % RS_SIM_LINE / WORD;
        if ((end - 1) / RS_SIM_LINE == first) {
            size_t end_word = ((end - 1) % RS_SIM_LINE) / WORD + 1;
            count = add_touch(touches, count, first, word_bits(begin_word, end_word));
        } else {
            size_t end_word = ((end - 1) % RS_SIM_LINE) / WORD + 1;
            count = add_touch(touches, count, first, word_bits(begin_word, RS_SIM_LINE / WORD));
            count = add_touch(touches, count, first + 1, word_bits(0, end_word));
        }
    }
    return count;
}

void rs_sim_access(rs_sim_memory *memory, const uint64_t addresses[], size_t lanes, size_t bytes,
                   bool writes)
{
    touch touches[2 * MOST_LANES];
    size_t count = coalesce(addresses, lanes, bytes, touches);
    for (size_t i = 0; i < count; i++) {
        uint32_t sectors = whole_units(touches[i].words, memory->device->sector_bytes);
        memory->counts.sectors += sectors_in(memory, sectors);
        if (writes)
            write_line(memory, touches[i].number, touches[i].words);
        else
            read_line(memory, touches[i].number, sectors);
    }
    memory->counts.accesses++;
    memory->counts.useful_bytes += lanes * bytes;
    memory->counts.lines += count;
    memory->busy[memory->processor] += memory->cost[count];
}

/* ---- the end ---- */

static void drain(rs_sim_memory *memory)
{
    for (size_t i = 0; i < memory->l2.sets * memory->l2.ways; i++) {
        write_back(memory, &memory->l2.lines[i]);
        memory->l2.lines[i].dirty = 0;
    }
    for (size_t c = 0; c < memory->device->channels; c++)
        while (memory->channels[c].waiting > 0)
            serve(&memory->channels[c]);
}

rs_sim_counts rs_sim_finish(rs_sim_memory *memory)
{
    const rs_sim_device *device = memory->device;
    rs_sim_counts *counts = &memory->counts;
    size_t most = 0;
    drain(memory);
    counts->requests = counts->row_hits = 0;
    counts->access_ns = counts->memory_ns = 0;
    for (size_t c = 0; c < device->channels; c++) {
        const channel *at = &memory->channels[c];
        double ns = (double)at->requests * device->fetch_ns +
                    (double)(at->requests - at->row_hits) * device->row_ns;
        counts->requests += at->requests;
        counts->row_hits += at->row_hits;
        most = at->requests > most ? at->requests : most;
        counts->memory_ns = fmax(counts->memory_ns, ns);
    }
    for (size_t p = 0; p < device->processors; p++)
        counts->access_ns = fmax(counts->access_ns, memory->busy[p]);
    counts->moved_bytes = counts->requests * device->fetch_bytes;
    counts->busiest = counts->requests == 0
                          ? 0
                          : (double)most * (double)device->channels / (double)counts->requests;
    double longer = fmax(counts->access_ns, counts->memory_ns);
    double shorter = fmin(counts->access_ns, counts->memory_ns);
    counts->ns =
        longer == 0 ? 0
                    : longer * pow(1 + pow(shorter / longer, device->overlap), 1 / device->overlap);
    return *counts;
}

size_t rs_sim_channel_requests(const rs_sim_memory *memory, size_t number)
{
    return memory->channels[number].requests;
}
