/* Addresses of a form's warps, and where they are found. */
#include "apply/traffic.h"

#include "sim/memory.h"

#include <math.h>
#include <string.h>

enum {
    WARP = 32,
    PART = 12,           /* of the device's processors is looked at */
    MOST_MOVES = 150000, /* of warps */
    MOST_GROUPS = 32,    /* on a processor */
    MOST_WARPS = 64,
    REGISTERS = 65536,
    TILE_TRIPS = RS_SPACES_TILE
};

#define HIGHEST_ADDRESS (((uint64_t)1 << 44) - 1)

/* Cycles of a processor's memory pipeline that a store takes, by the lines and sectors it touches:
 * from the rows of docs/simulation.md's table in AoS, with 8, 16 and 32 lines an access. */
static const double store_line = 3.2, store_sector = 0.95;

/* Nanoseconds until data are there: from a processor's cache, the cache of all, memory. */
static const double near_wait = 20, far_wait = 155, memory_wait = 500, texture_wait = 60;

static const double cached_share = 0.4; /* of the cache of all, that arrays stay in */

typedef struct {
    rs_traffic *traffic;
    const rs_nest_form *form;
    rs_sim_memory *memory;
    int64_t round[RS_NEST_LIMIT]; /* of each loop */
    size_t group[3];              /* the work-group's place */
    double warp_rounds, cycles, sectors;
    size_t moves;
    double found[RS_FORM_LIMIT][3], asked[RS_FORM_LIMIT]; /* sectors of first pieces, by where */
} explorer;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15U;
    return x ^ x >> 29;
}

/* The iteration that a work-item is at; false where it has none left. */
static bool iteration_of(const explorer *e, int loop, const size_t local[3], int64_t *iteration)
{
    const rs_form_loop *l = &e->form->loops[loop];
    const rs_launch *launch = &e->form->launch;
    *iteration = e->round[loop];
    if (l->dimension >= 0)
        *iteration =
            (int64_t)(e->group[l->dimension] * launch->local[l->dimension] + local[l->dimension]) +
            e->round[loop] * (int64_t)launch->global[l->dimension];
    return *iteration < l->iterations;
}

static bool address_of(const explorer *e, const rs_move *move, const size_t local[3],
                       uint64_t *address)
{
    uint64_t at = (uint64_t)move->base;
    uint64_t key = (uint64_t)move->array;
    for (int i = 0; i < e->form->loop_count; i++) {
        int64_t iteration;
        if (!iteration_of(e, i, local, &iteration))
            return false;
        at += (uint64_t)iteration * (uint64_t)move->stride[i];
        key = mix(key + (uint64_t)iteration);
    }
    if (move->random)
        at = (uint64_t)move->base +
             key % ((uint64_t)move->range / (uint64_t)move->bytes + 1) * (uint64_t)move->bytes;
    *address = at & HIGHEST_ADDRESS;
    return true;
}

static void find_local(const rs_launch *launch, size_t item, size_t local[3])
{
    local[0] = item % launch->local[0];
    local[1] = item / launch->local[0] % launch->local[1];
    local[2] = item / launch->local[0] / launch->local[1];
}

/* Lets the warp access the addresses, and keeps where its sectors were: those of the first piece,
 * since the others mostly follow it into the cache. */
static void access_memory(explorer *e, int number, int piece, const uint64_t addresses[],
                          size_t lanes)
{
    const rs_move *move = &e->form->moves[number];
    rs_sim_counts before = rs_sim_look(e->memory);
    size_t bytes = move->bytes > 16 ? 16 : (size_t)move->bytes;
    if (lanes == 0)
        return;
    rs_sim_access(e->memory, addresses, lanes, bytes, move->written);
    rs_sim_counts now = rs_sim_look(e->memory);
    double sectors = (double)(now.sectors - before.sectors);
    double near = (double)(now.l1_hits - before.l1_hits);
    double far = (double)(now.l2_hits - before.l2_hits);
    double lines = (double)(now.lines - before.lines);
    if (piece == 0) {
        e->asked[number] += sectors;
        e->found[number][0] += near;
        e->found[number][1] += far;
        e->found[number][2] += move->written ? 0 : sectors - near - far;
    }
    e->sectors += sectors - near;
    e->cycles += move->written ? store_line * lines + store_sector * sectors
                               : fmax(lines, (double)(lanes * bytes) / RS_SIM_LINE);
}

/* An element of a tile: its place in the box, from the box's first element. */
static uint64_t address_in_tile(const rs_move *move, uint64_t first, size_t element)
{
    int64_t rest = (int64_t)element;
    for (int row = move->rows - 1; row >= 0; row--) {
        first += (uint64_t)(rest % move->extent[row]) * (uint64_t)move->pitch[row];
        rest /= move->extent[row];
    }
    return first & HIGHEST_ADDRESS;
}

static void fill_tile(explorer *e, int number, size_t warp)
{
    const rs_move *move = &e->form->moves[number];
    const size_t *local = e->form->launch.local, none[3] = {0, 0, 0};
    size_t items = local[0] * local[1] * local[2], elements = 1;
    uint64_t first;
    if (!address_of(e, move, none, &first))
        return;
    for (int row = 0; row < move->rows; row++)
        elements *= (size_t)move->extent[row];
    for (size_t begin = warp * WARP; begin < elements; begin += items) {
        uint64_t addresses[WARP];
        size_t lanes = elements - begin < WARP ? elements - begin : WARP;
        for (size_t lane = 0; lane < lanes; lane++)
            addresses[lane] = address_in_tile(move, first, begin + lane);
        access_memory(e, number, 0, addresses, lanes);
    }
}

static void move_data(explorer *e, int number, size_t warp)
{
    const rs_move *move = &e->form->moves[number];
    uint64_t addresses[WARP];
    for (int piece = 0; piece < move->pieces; piece++) {
        size_t lanes = 0, local[3];
        for (size_t lane = 0; lane < WARP; lane++) {
            find_local(&e->form->launch, warp * WARP + lane, local);
            if (local[2] < e->form->launch.local[2] &&
                address_of(e, move, local, &addresses[lanes]))
                addresses[lanes++] += (uint64_t)piece * (uint64_t)move->apart;
        }
        if (move->kind == RS_MOVE_TILE || move->kind == RS_MOVE_CONSTANT)
            e->cycles += move->kind == RS_MOVE_TILE ? fmax(1, move->bytes / 4.0) : 0;
        else
            access_memory(e, number, piece, addresses, lanes);
        if (move->kind == RS_MOVE_TEXTURE)
            e->cycles += 8;
    }
}

/* Whether a move happens in this round. */
static bool is_due(const explorer *e, const rs_move *move)
{
    for (int i = move->depth + 1; i < e->form->loop_count; i++)
        if (e->round[i] != 0)
            return false;
    return move->kind != RS_MOVE_TILE_FILL || move->depth < 0 ||
           e->form->loops[move->depth].dimension >= 0 || e->round[move->depth] % TILE_TRIPS == 0;
}

static void run_group(explorer *e, size_t group, size_t warps, int first, int last)
{
    const rs_launch *launch = &e->form->launch;
    size_t wide = launch->global[0] / launch->local[0], high = launch->global[1] / launch->local[1];
    e->group[0] = group % wide;
    e->group[1] = group / wide % high;
    e->group[2] = group / wide / high;
    rs_sim_resume_warp(e->memory, group % rs_sim_memory_device(e->memory)->processors);
    for (size_t warp = 0; warp < warps; warp++)
        for (int i = first; i < last; i++, e->moves++) {
            if (!is_due(e, &e->form->moves[i]))
                continue;
            if (e->form->moves[i].kind == RS_MOVE_TILE_FILL)
                fill_tile(e, i, warp);
            else
                move_data(e, i, warp);
        }
}

/* The end of the moves from `first` on that a warp issues before another takes its turn: loads, up
 * to the stores that wait for them, and these. */
static int turn_end(const rs_nest_form *form, int first)
{
    int i = first;
    while (i < form->move_count && !form->moves[i].written)
        i++;
    while (i < form->move_count && form->moves[i].written)
        i++;
    return i;
}

static void run_round(explorer *e, size_t first, size_t groups)
{
    const rs_launch *launch = &e->form->launch;
    size_t warps = (launch->local[0] * launch->local[1] * launch->local[2] + WARP - 1) / WARP;
    for (int i = 0, next; i < e->form->move_count; i = next) {
        next = turn_end(e->form, i);
        for (size_t group = first; group < first + groups; group++)
            run_group(e, group, warps, i, next);
    }
    e->warp_rounds += (double)(groups * warps);
    e->moves += groups * warps;
}

/* To the next round; false after the last one. */
static bool advance(explorer *e)
{
    for (int i = e->form->loop_count - 1; i >= 0; i--) {
        if (++e->round[i] < e->form->loops[i].rounds)
            return true;
        e->round[i] = 0;
    }
    return false;
}

static void explore(explorer *e, size_t groups, size_t together)
{
    for (size_t first = 0; first < groups && e->moves < MOST_MOVES; first += together) {
        size_t count = groups - first < together ? groups - first : together;
        memset(e->round, 0, sizeof e->round);
        do
            run_round(e, first, count);
        while (advance(e) && e->moves < MOST_MOVES);
    }
}

/* `cached`: the cache of all keeps the arrays from one launch to the next. */
static double wait_of(const explorer *e, int number, bool cached)
{
    const rs_move *move = &e->form->moves[number];
    double asked = e->asked[number], extra = move->kind == RS_MOVE_TEXTURE ? texture_wait : 0;
    if (asked <= 0)
        return near_wait;
    return (e->found[number][0] * near_wait + e->found[number][1] * far_wait +
            e->found[number][2] * (cached ? far_wait : memory_wait)) /
               asked +
           extra;
}

/* The device's processors, cache and channels, all fewer by the same factor. */
static rs_sim_device part_of(const rs_sim_device *device)
{
    rs_sim_device part = *device;
    part.processors = (device->processors + PART - 1) / PART;
    part.l2.bytes =
        device->l2.bytes / PART / (device->l2.ways * RS_SIM_LINE) * (device->l2.ways * RS_SIM_LINE);
    part.channels = (device->channels + PART - 1) / PART;
    part.channel_masks = 0;
    part.bank_masks = 0;
    return part;
}

static void count_groups(rs_traffic *traffic, const rs_nest_form *form)
{
    const rs_launch *launch = &form->launch;
    double items = 1;
    traffic->groups = traffic->rounds = 1;
    for (int i = 0; i < 3; i++) {
        traffic->groups *= (double)(launch->global[i] / launch->local[i]);
        items *= (double)launch->local[i];
    }
    traffic->warps = ceil(items / WARP);
    double registers = floor(REGISTERS / (fmin(form->registers, 255) * WARP));
    traffic->resident =
        fmax(1, floor(fmin(fmin(registers, MOST_WARPS) / traffic->warps, MOST_GROUPS)));
    for (int i = 0; i < form->loop_count; i++)
        traffic->rounds *= (double)form->loops[i].rounds;
}

restride_status rs_traffic_find(rs_traffic *traffic, const rs_nest_form *form,
                                const rs_sim_device *device)
{
    explorer e;
    rs_sim_device part = part_of(device);
    memset(&e, 0, sizeof e);
    memset(traffic, 0, sizeof *traffic);
    e.traffic = traffic;
    e.form = form;
    restride_status status = rs_sim_memory_create(&e.memory, &part);
    if (status != RESTRIDE_OK)
        return status;
    count_groups(traffic, form);
    traffic->cached = (double)form->bytes < cached_share * (double)device->l2.bytes;
    double together = (double)part.processors * traffic->resident;
    double share = ceil(traffic->groups / PART);
    explore(&e, (size_t)traffic->groups, (size_t)(together < share ? together : share));
    rs_sim_counts counts = rs_sim_finish(e.memory);
    if (e.warp_rounds > 0) {
        traffic->cycles = e.cycles / e.warp_rounds;
        traffic->sectors = e.sectors / e.warp_rounds;
        double busy = (double)counts.requests * device->fetch_ns +
                      (double)(counts.requests - counts.row_hits) * device->row_ns;
        traffic->channel_ns = traffic->cached ? 0 : busy / e.warp_rounds;
    }
    for (int i = 0; i < form->move_count; i++)
        traffic->waits[i] = wait_of(&e, i, traffic->cached);
    rs_sim_memory_destroy(e.memory);
    return RESTRIDE_OK;
}
