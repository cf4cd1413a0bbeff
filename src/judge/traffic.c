/*
 * Counting by enumeration: every lane, field and round of a few visits of neighbouring warps. Exact
 * for what is enumerated; the averages are over places in lines as they come.
 */
#include "judge/traffic.h"

#include "base/list.h"
#include "sim/device.h"

#include <stdlib.h>
#include <string.h>

enum {
    WARPS = 4,       /* neighbours */
    FIRST_WARP = 64, /* of them: not at the array's begin */
    ROUNDS = 32,     /* of a loop over elements */
    MOST_GROUP = 16, /* elements of a group that are enumerated */
    SOME_COUNT = 1 << 22,
    LONG_WALK = 1 << 10, /* elements of a lane where their number is not known */
    MOST_BYTES = 16,     /* of a field */
    MOST_TOUCHES = 1 << 15,
    MOST_PROBES = 64
};

/* ---- sets of numbers ---- */

typedef struct {
    uint64_t *numbers;
    size_t count;
    bool failed;
} set;

static void add(set *s, uint64_t number)
{
    RS_LIST_ADD(s->numbers, s->count, s->failed, number);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Few numbers are in order mostly. */
static void sort(uint64_t *numbers, size_t count)
{
    enum { FEW = 128 };
    if (count > FEW)
        qsort(numbers, count, sizeof *numbers, compare);
    for (size_t i = 1; i < count && count <= FEW; i++) {
        const uint64_t number = numbers[i];
        size_t at = i;
        for (; at > 0 && numbers[at - 1] > number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

static size_t unique(uint64_t *numbers, size_t count)
{
    size_t kept = 0;
    sort(numbers, count);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    return kept;
}

static void settle(set *s)
{
    if (s->count > 0)
        s->count = unique(s->numbers, s->count);
}

size_t rs_judge_units(const uint64_t addresses[], size_t lanes, size_t bytes, size_t unit)
{
    uint64_t units[RS_JUDGE_LANES * (MOST_BYTES + 1)];
    size_t count = 0;
    for (size_t lane = 0; lane < lanes && lane < RS_JUDGE_LANES; lane++)
        for (uint64_t u = addresses[lane] / unit;
             u <= (addresses[lane] + bytes - 1) / unit && count < sizeof units / sizeof *units; u++)
            units[count++] = u;
    return unique(units, count);
}

size_t rs_judge_conflicts(const uint64_t addresses[], size_t lanes, size_t bytes)
{
    enum { WORD = 4, BANKS = 32 };
    uint64_t words[RS_JUDGE_LANES * (MOST_BYTES / WORD + 1)];
    size_t count = 0, banks[BANKS] = {0}, most = 0;
    for (size_t lane = 0; lane < lanes && lane < RS_JUDGE_LANES; lane++)
        for (uint64_t w = addresses[lane] / WORD;
             w <= (addresses[lane] + bytes - 1) / WORD && count < sizeof words / sizeof *words; w++)
            words[count++] = w;
    count = unique(words, count);
    for (size_t i = 0; i < count; i++) {
        size_t here = ++banks[words[i] % BANKS];
        most = here > most ? here : most;
    }
    return most;
}

/* ---- where a field lies ---- */

uint64_t rs_judge_address(const rs_judge_argument *argument, const rs_judge_layout *layout,
                          int64_t element, int field)
{
    const rs_judge_field *f = &argument->fields[field];
    uint64_t i = (uint64_t)element, size = (uint64_t)argument->element;
    uint64_t offset = (uint64_t)f->offset, bytes = (uint64_t)f->bytes;
    if (layout->split && argument->apart > 0)
        return i * (uint64_t)argument->apart + (uint64_t)argument->places[field];
    if (layout->split) {
        uint64_t hot = 0, before = 0;
        for (int k = 0; k < argument->field_count; k++) {
            before += k < field ? (uint64_t)argument->fields[k].bytes : 0;
            hot += (uint64_t)argument->fields[k].bytes;
        }
        return i * hot + before;
    }
    if (layout->tile == 0) {
        uint64_t count = argument->count > 0 ? (uint64_t)argument->count : SOME_COUNT;
        return offset * count + i * bytes;
    }
    uint64_t tile = (uint64_t)layout->tile, group = (uint64_t)layout->group;
    uint64_t g = i / group, k = i % group;
    return g / tile * tile * group * size + tile * (k * size + offset) + g % tile * bytes;
}

/* ---- visits ---- */

/* When a warp touched a sector: in which of its visits, and after how many lines. */
typedef struct {
    uint64_t sector; /* plus 1; 0: no entry */
    int visit;
    double lines;
} touch;

typedef struct {
    const rs_judge_argument *argument;
    const rs_judge_layout *layout;
    rs_judge_traffic sums;
    touch *touches; /* of this warp; a power of two of them */
    size_t room;
    int visit;
    double fresh, lines;   /* of this visit; of this warp so far */
    double again, between; /* sectors that were touched before; sum of the lines since */
    set fetches, bytes;    /* of all visits: units; pairs of bytes */
} counting;

/* Where the table has a sector, or could have it. NULL: it is full. */
static touch *find_touch(const counting *c, uint64_t sector)
{
    for (size_t i = 0, at = sector * 0x9e3779b97f4a7c15U % c->room; i < MOST_PROBES;
         i++, at = (at + 1) % c->room)
        if (c->touches[at].sector == 0 || c->touches[at].sector == sector + 1)
            return &c->touches[at];
    return NULL;
}

static void touch_sector(counting *c, uint64_t sector)
{
    touch *t = find_touch(c, sector);
    if (t == NULL || t->sector == 0 || t->visit < c->visit - 1) {
        c->fresh++;
    } else if (t->lines < c->lines) {
        c->again++;
        c->between += c->lines - t->lines;
    }
    if (t != NULL)
        *t = (touch){.sector = sector + 1, .visit = c->visit, .lines = c->lines};
}

static int64_t element_of(const rs_judge_argument *a, int64_t thread, int k, int round)
{
    int64_t count = a->count > 0 ? a->count : SOME_COUNT;
    switch (a->lanes) {
    case RS_LANES_GROUP:
        return thread * a->group + k;
    case RS_LANES_WITHIN:
        return thread / a->field_count;
    case RS_LANES_SAME:
        return round;
    case RS_LANES_GATHER: /* any order that is none */
        return (int64_t)((uint64_t)(thread + 1) * 0x9e3779b97f4a7c15U % (uint64_t)count);
    case RS_LANES_WALK:
        return thread * (a->group > 1 ? a->group : LONG_WALK) + round;
    default:
        return thread;
    }
}

/* One request: all lanes for one field. */
static void request(counting *c, int warp, int k, int round, int field)
{
    const rs_judge_argument *a = c->argument;
    uint64_t addresses[RS_JUDGE_LANES];
    bool within = a->lanes == RS_LANES_WITHIN;
    size_t bytes = (size_t)a->fields[field].bytes;
    for (int lane = 0; lane < RS_JUDGE_LANES; lane++) {
        int64_t thread = (int64_t)(FIRST_WARP + warp) * RS_JUDGE_LANES + lane;
        int own = within ? (int)(thread % a->field_count) : field;
        addresses[lane] = rs_judge_address(a, c->layout, element_of(a, thread, k, round), own);
        for (uint64_t at = addresses[lane]; at < addresses[lane] + bytes; at++) {
            if (at % RS_JUDGE_SECTOR == 0 || at == addresses[lane])
                touch_sector(c, at / RS_JUDGE_SECTOR);
            if (at % RS_JUDGE_FETCH == 0 || at == addresses[lane])
                add(&c->fetches, at / RS_JUDGE_FETCH);
            if (at % 2 == 0)
                add(&c->bytes, at / 2);
        }
    }
    size_t lines = rs_judge_units(addresses, RS_JUDGE_LANES, bytes, RS_SIM_LINE);
    c->lines += (double)lines;
    c->sums.requests++;
    c->sums.conflicts += (double)rs_judge_conflicts(addresses, RS_JUDGE_LANES, bytes);
    c->sums.lines += (double)lines;
    c->sums.sectors += (double)rs_judge_units(addresses, RS_JUDGE_LANES, bytes, RS_JUDGE_SECTOR);
}

/* All requests of a warp in one round. */
static void visit(counting *c, int warp, int round, int members)
{
    const rs_judge_argument *a = c->argument;
    int fields = a->lanes == RS_LANES_WITHIN ? 1 : a->field_count;
    c->visit = round;
    c->fresh = 0;
    for (int k = 0; k < members; k++)
        for (int field = 0; field < fields; field++)
            request(c, warp, k, round, field);
    c->sums.fresh += c->fresh;
    c->sums.misses += c->fresh > 0;
}

/* The part of the touched sectors whose every byte was touched. */
static double find_whole(set *bytes)
{
    enum { PIECES = RS_JUDGE_SECTOR / 2 };
    size_t sectors = 0, whole = 0, run = 0;
    settle(bytes);
    for (size_t i = 0; i < bytes->count; i++) {
        bool begins = i == 0 || bytes->numbers[i] / PIECES != bytes->numbers[i - 1] / PIECES;
        run = begins ? 1 : run + 1;
        sectors += begins;
        whole += run == PIECES;
    }
    return sectors > 0 ? (double)whole / (double)sectors : 1;
}

static void divide(rs_judge_traffic *t, double visits, double scale)
{
    double *const sums[] = {&t->requests,  &t->lines, &t->sectors,
                            &t->conflicts, &t->fresh, &t->fetches};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        *sums[i] *= scale / visits;
    t->misses /= visits;
}

bool rs_judge_count(rs_judge_traffic *traffic, const rs_judge_argument *argument,
                    const rs_judge_layout *layout)
{
    const rs_judge_argument *a = argument;
    counting c = {.argument = a, .layout = layout};
    bool loops = a->lanes == RS_LANES_SAME || a->lanes == RS_LANES_WALK;
    int warps = a->lanes == RS_LANES_SAME ? 1 : WARPS;
    int walk = a->lanes == RS_LANES_WALK && a->group > 1 && a->group < ROUNDS ? a->group : ROUNDS;
    int rounds = loops ? walk : 1;
    int group = a->lanes == RS_LANES_GROUP ? a->group : 1;
    int members = group < MOST_GROUP ? group : MOST_GROUP;
    const size_t most = 4 * (size_t)(rounds * members * a->field_count * RS_JUDGE_LANES);
    for (c.room = 256; c.room < most && c.room < MOST_TOUCHES;)
        c.room *= 2;
    c.touches = malloc(c.room * sizeof *c.touches);
    for (int warp = 0; warp < warps && c.touches != NULL; warp++) {
        memset(c.touches, 0, c.room * sizeof *c.touches);
        for (int round = 0; round < rounds; round++)
            visit(&c, warp, round, members);
        settle(&c.fetches);
    }
    *traffic = c.sums;
    traffic->fetches = (double)c.fetches.count;
    traffic->whole = find_whole(&c.bytes);
    traffic->reuse_lines = c.again > 0 ? c.between / c.again : 0;
    divide(traffic, (double)warps * rounds, (double)group / members);
    bool done = c.touches != NULL && !c.fetches.failed && !c.bytes.failed;
    free(c.touches);
    free(c.fetches.numbers);
    free(c.bytes.numbers);
    return done;
}
