/* The model of memory.h. */
#include "sim/memory.h"

#include "base/divide.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_LINE = 0, WORD = 4, MOST_LANES = 1024 };

/* What of a line is there and what was written, 4 bytes a bit. */
typedef struct {
    uint32_t valid;
    uint32_t dirty;
} contents;

/*
 * Sets of `ways` places each. What belongs to a set is side by side: the tags of its places (the
 * line's number / sets + 1, or NO_LINE), the order of their use (the last one first), then their
 * contents. Nothing moves when a line is used but its place's number in that order.
 */
typedef struct {
    size_t sets;
    size_t ways;
    rs_divider by_sets;
    size_t stride; /* bytes from set to set */
    size_t order_at;
    size_t lines_at;
    char *memory;
} cache;

typedef struct {
    uint64_t bank;
    uint64_t row;
} request;

/* The queue is a ring. */
typedef struct {
    request *queue;
    size_t first;
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
    size_t queue_mask;
    uint32_t *steering; /* for each byte of an address and each value of it: see steer() */
    rs_divider by_interleave;
    rs_divider by_channels;
    rs_divider by_row;
    rs_divider by_banks;
    size_t processor;
    size_t sectors_of_line;
    rs_sim_counts counts;
};

/* ---- making ---- */

static uint32_t *tags_of(const cache *of, size_t set)
{
    return (uint32_t *)(void *)(of->memory + set * of->stride);
}

static uint16_t *order_of(const cache *of, size_t set)
{
    return (uint16_t *)(void *)(of->memory + set * of->stride + of->order_at);
}

static contents *lines_of(const cache *of, size_t set)
{
    return (contents *)(void *)(of->memory + set * of->stride + of->lines_at);
}

static size_t round_up(size_t bytes, size_t step)
{
    return (bytes + step - 1) / step * step;
}

static bool make_cache(cache *made, const rs_sim_cache_shape *shape)
{
    enum { HOST_LINE = 64 };
    made->ways = shape->ways;
    made->sets = shape->bytes / (shape->ways * RS_SIM_LINE);
    made->by_sets = rs_divider_make(made->sets, UINT32_MAX);
    made->order_at = made->ways * sizeof(uint32_t);
    made->lines_at = round_up(made->order_at + made->ways * sizeof(uint16_t), sizeof(contents));
    made->stride = round_up(made->lines_at + made->ways * sizeof(contents), HOST_LINE);
    made->memory = aligned_alloc(HOST_LINE, made->sets * made->stride);
    for (size_t set = 0; made->memory != NULL && set < made->sets; set++) {
        memset(made->memory + set * made->stride, 0, made->stride);
        for (size_t i = 0; i < made->ways; i++)
            order_of(made, set)[i] = (uint16_t)i;
    }
    return made->memory != NULL;
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
        made->queue = malloc((memory->queue_mask + 1) * sizeof *made->queue);
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

static uint32_t parities(uint64_t address, const uint64_t masks[RS_SIM_MOST_MASKS], size_t count)
{
    uint32_t bits = 0;
    for (size_t k = 0; k < count && k < RS_SIM_MOST_MASKS; k++)
        bits |= (uint32_t)__builtin_parityll(address & masks[k]) << k;
    return bits;
}

/* The parities of `value` in byte number `byte` of an address under all masks. */
static uint32_t steering_of(const rs_sim_device *device, size_t byte, uint64_t value)
{
    uint64_t address = value << (CHAR_BIT * byte);
    return parities(address, device->channel_mask, device->channel_masks) |
           parities(address, device->bank_mask, device->bank_masks) << RS_SIM_MOST_MASKS;
}

static bool make_steering(rs_sim_memory *memory)
{
    enum { VALUES = UCHAR_MAX + 1 };
    const rs_sim_device *device = memory->device;
    memory->by_interleave = rs_divider_make(device->interleave_bytes, UINT32_MAX);
    memory->by_channels = rs_divider_make(device->channels, UINT32_MAX);
    memory->by_row = rs_divider_make(device->row_bytes, UINT32_MAX);
    memory->by_banks = rs_divider_make(device->banks, UINT32_MAX);
    memory->steering = malloc(sizeof(uint64_t) * VALUES * sizeof *memory->steering);
    for (size_t i = 0; memory->steering != NULL && i < sizeof(uint64_t) * VALUES; i++)
        memory->steering[i] = steering_of(device, i / VALUES, i % VALUES);
    return memory->steering != NULL;
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
    while (made->queue_mask + 1 < device->queue)
        made->queue_mask = 2 * made->queue_mask + 1;
    if (!make_l1(made) || !make_cache(&made->l2, &device->l2) || !make_channels(made) ||
        !make_steering(made) || !make_costs(made)) {
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
        free(memory->l1[p].memory);
    for (size_t c = 0; memory->channels != NULL && c < memory->device->channels; c++) {
        free(memory->channels[c].queue);
        free(memory->channels[c].open);
    }
    free(memory->l1);
    free(memory->l2.memory);
    free(memory->channels);
    free(memory->cost);
    free(memory->steering);
    free(memory->busy);
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

/* ---- channels ---- */

/* Addresses of large devices may be too large for the quick way. */
static uint64_t quotient(const rs_divider *divider, uint64_t number)
{
    return number <= UINT32_MAX ? rs_divide(divider, number) : number / divider->divisor;
}

static uint64_t remainder_of(const rs_divider *divider, uint64_t number)
{
    return number - quotient(divider, number) * divider->divisor;
}

/* Serves one request: the first whose row is open, or else the oldest. */
static void serve(channel *at, size_t mask)
{
    size_t chosen = 0;
    while (chosen < at->waiting) {
        const request *next = &at->queue[(at->first + chosen) & mask];
        if (at->open[next->bank] == next->row + 1)
            break;
        chosen++;
    }
    if (chosen < at->waiting)
        at->row_hits++;
    else
        chosen = 0;
    const request served = at->queue[(at->first + chosen) & mask];
    for (size_t i = chosen; i > 0; i--) /* those before it move up */
        at->queue[(at->first + i) & mask] = at->queue[(at->first + i - 1) & mask];
    at->open[served.bank] = served.row + 1;
    at->first++;
    at->waiting--;
    at->requests++;
}

/* The parities of the address under the masks: those of a channel's number, then, from bit
 * RS_SIM_MOST_MASKS on, those of a bank's. Parities of parts of an address add up without carries.
 */
static uint32_t steer(const rs_sim_memory *memory, uint64_t address)
{
    uint32_t bits = 0;
    for (const uint32_t *byte = memory->steering; address != 0; address >>= CHAR_BIT) {
        bits ^= byte[address & UCHAR_MAX];
        byte += UCHAR_MAX + 1;
    }
    return bits;
}

/* A channel holds every channels-th block of interleave_bytes; a bank every banks-th row of it. */
static void ask(rs_sim_memory *memory, uint64_t address)
{
    enum { CHANNEL_BITS = (1 << RS_SIM_MOST_MASKS) - 1 };
    const rs_sim_device *device = memory->device;
    uint32_t steered = steer(memory, address);
    uint64_t block = quotient(&memory->by_interleave, address);
    uint64_t number = remainder_of(&memory->by_channels, block ^ (steered & CHANNEL_BITS));
    uint64_t above = quotient(&memory->by_channels, block);
    uint64_t within = above * device->interleave_bytes + address - block * device->interleave_bytes;
    uint64_t row = quotient(&memory->by_row, within);
    uint64_t bank = remainder_of(&memory->by_banks, row ^ steered >> RS_SIM_MOST_MASKS);
    channel *at = &memory->channels[number];
    if (at->waiting == device->queue)
        serve(at, memory->queue_mask);
    at->queue[(at->first + at->waiting++) & memory->queue_mask] = (request){bank, row};
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
static void write_back(rs_sim_memory *memory, uint64_t number, const contents *old)
{
    if (old->dirty == 0)
        return;
    uint32_t units = whole_units(old->dirty, memory->device->fetch_bytes);
    ask_units(memory, number, units & ~(old->dirty | old->valid));
    ask_units(memory, number, units);
}

/* Moves the place that stands `at` places behind the first one to the front. */
static void use_place(uint16_t *order, size_t at)
{
    uint16_t place = order[at];
    memmove(order + 1, order, at * sizeof *order);
    order[0] = place;
}

/* Four places at a time, since most searches in a large cache find nothing. */
static size_t find_place(const uint32_t *tags, size_t ways, uint32_t tag)
{
    enum { AT_ONCE = 4 };
    size_t place = 0;
    while (place + AT_ONCE <= ways && ((tags[place] == tag) | (tags[place + 1] == tag) |
                                       (tags[place + 2] == tag) | (tags[place + 3] == tag)) == 0)
        place += AT_ONCE;
    while (place < ways && tags[place] != tag)
        place++;
    return place;
}

/* The line of this number, or the place of the one that was used longest ago, emptied. */
static contents *find_line(rs_sim_memory *memory, cache *in, uint64_t number, bool writes_back)
{
    size_t above = quotient(&in->by_sets, number);
    size_t set = number - above * in->sets;
    uint32_t tag = (uint32_t)above + 1;
    uint32_t *tags = tags_of(in, set);
    contents *lines = lines_of(in, set);
    uint16_t *order = order_of(in, set);
    if (tags[order[0]] == tag)
        return &lines[order[0]];
    size_t place = find_place(tags, in->ways, tag);
    if (place < in->ways) {
        size_t at = 1;
        while (order[at] != place)
            at++;
        use_place(order, at);
        return &lines[place];
    }
    use_place(order, in->ways - 1);
    place = order[0];
    if (writes_back && tags[place] != NO_LINE)
        write_back(memory, (uint64_t)(tags[place] - 1) * in->sets + set, &lines[place]);
    tags[place] = tag;
    lines[place] = (contents){0, 0};
    return &lines[place];
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
    contents *at = find_line(memory, &memory->l2, number, true);
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
        contents *at = find_line(memory, &memory->l1[memory->processor], number, false);
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

/* The host's lines with a set's tags, order and contents: the search waits for the first ones. */
static void fetch_set(const cache *of, uint64_t number)
{
    enum { HOST_LINE = 64, MOST = 4 };
    size_t set = number - quotient(&of->by_sets, number) * of->sets;
    const char *at = of->memory + set * of->stride;
    for (size_t i = 0; i < of->stride && i < MOST * HOST_LINE; i += HOST_LINE)
        __builtin_prefetch(at + i, 1);
}

void rs_sim_expect(const rs_sim_memory *memory, uint64_t address, bool writes)
{
    if (memory->l1 != NULL && !writes)
        fetch_set(&memory->l1[memory->processor], address / RS_SIM_LINE);
    fetch_set(&memory->l2, address / RS_SIM_LINE);
}

void rs_sim_start_warp(rs_sim_memory *memory)
{
    memory->processor = (memory->processor + 1) % memory->device->processors;
    memory->busy[memory->processor] += memory->device->launch_ns;
    memory->counts.warps++;
}

void rs_sim_resume_warp(rs_sim_memory *memory, size_t processor)
{
    memory->processor = processor;
}

/* A line that an access touches, and which words. */
typedef struct {
    uint64_t number;
    uint32_t words;
} touch;

typedef struct {
    touch touches[2 * MOST_LANES];
    size_t count;
    uint64_t highest; /* number of a line, plus 1 */
} touched;

/* Accesses mostly go to lines one after another, so a line above all others needs no search. */
static void add_touch(touched *lines, touch added)
{
    size_t i = added.number < lines->highest ? lines->count : 0;
    while (i > 0 && lines->touches[i - 1].number != added.number)
        i--;
    if (i > 0) {
        lines->touches[i - 1].words |= added.words;
        return;
    }
    lines->touches[lines->count++] = added;
    if (added.number >= lines->highest)
        lines->highest = added.number + 1;
}

/* Whether the lanes access words side by side. */
static bool is_consecutive(const uint64_t addresses[], size_t lanes, size_t bytes)
{
    uint64_t apart = addresses[0] % WORD | bytes % WORD;
    for (size_t lane = 0; lane < lanes; lane++)
        apart |= addresses[lane] ^ (addresses[0] + lane * bytes);
    return apart == 0;
}

static void touch_range(uint64_t begin, uint64_t end, touched *lines)
{
    for (uint64_t at = begin; at < end; at = (at / RS_SIM_LINE + 1) * RS_SIM_LINE) {
        uint64_t line_end = (at / RS_SIM_LINE + 1) * RS_SIM_LINE;
        uint64_t last = end < line_end ? end : line_end;
        lines->touches[lines->count++] =
            (touch){at / RS_SIM_LINE,
                    word_bits(at % RS_SIM_LINE / WORD, (last - 1) % RS_SIM_LINE / WORD + 1)};
    }
}

/* Neighbouring lanes mostly share a line, so the present one is added when another one comes. */
static void coalesce(const uint64_t addresses[], size_t lanes, size_t bytes, touched *lines)
{
    lines->count = lines->highest = 0;
    if (is_consecutive(addresses, lanes, bytes)) {
        touch_range(addresses[0], addresses[0] + lanes * bytes, lines);
        return;
    }
    touch present = {addresses[0] / RS_SIM_LINE, 0};
    for (size_t lane = 0; lane < lanes; lane++) {
        uint64_t number = addresses[lane] / RS_SIM_LINE;
        uint64_t last = addresses[lane] + bytes - 1;
        size_t begin_word = addresses[lane] % RS_SIM_LINE / WORD;
        size_t end_word = last % RS_SIM_LINE / WORD + 1;
        if (number != present.number) {
            add_touch(lines, present);
            present = (touch){number, 0};
        }
        if (last / RS_SIM_LINE == number) {
            present.words |= word_bits(begin_word, end_word);
        } else {
            present.words |= word_bits(begin_word, RS_SIM_LINE / WORD);
            add_touch(lines, present);
            present = (touch){number + 1, word_bits(0, end_word)};
        }
    }
    add_touch(lines, present);
}

void rs_sim_access(rs_sim_memory *memory, const uint64_t addresses[], size_t lanes, size_t bytes,
                   bool writes)
{
    touched lines;
    coalesce(addresses, lanes, bytes, &lines);
    for (size_t i = 0; i < lines.count; i++) {
        const touch *line = &lines.touches[i];
        uint32_t sectors = whole_units(line->words, memory->device->sector_bytes);
        memory->counts.sectors += sectors_in(memory, sectors);
        if (writes)
            write_line(memory, line->number, line->words);
        else
            read_line(memory, line->number, sectors);
    }
    memory->counts.accesses++;
    memory->counts.useful_bytes += lanes * bytes;
    memory->counts.lines += lines.count;
    memory->busy[memory->processor] += memory->cost[lines.count];
}

/* ---- the end ---- */

/* Set by set, what was used last first. */
static void drain(rs_sim_memory *memory)
{
    const cache *l2 = &memory->l2;
    for (size_t i = 0; i < l2->sets * l2->ways; i++) {
        size_t set = i / l2->ways;
        size_t place = order_of(l2, set)[i % l2->ways];
        uint32_t tag = tags_of(l2, set)[place];
        contents *at = &lines_of(l2, set)[place];
        if (tag != NO_LINE)
            write_back(memory, (uint64_t)(tag - 1) * l2->sets + set, at);
        at->dirty = 0;
    }
    for (size_t c = 0; c < memory->device->channels; c++)
        while (memory->channels[c].waiting > 0)
            serve(&memory->channels[c], memory->queue_mask);
}

rs_sim_counts rs_sim_look(const rs_sim_memory *memory)
{
    return memory->counts;
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
