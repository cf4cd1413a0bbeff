/* Queues and rows; see channels.h. */
#include "sim/channels.h"

#include "base/divide.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

/* Requests one after another to the same row. */
typedef struct {
    uint64_t row;
    uint32_t bank;
    uint32_t count;
} run;

/* The queue is a ring of runs. */
typedef struct {
    run *queue;
    size_t first;
    size_t runs;
    size_t closed;  /* the rows of this many of the oldest runs are known not to be open */
    size_t waiting; /* requests of all runs */
    uint64_t *open; /* row of each bank, plus 1 */
    size_t requests;
    size_t row_hits;
} channel;

struct rs_sim_channels {
    const rs_sim_device *device;
    channel *channels;
    size_t queue_mask;
    uint32_t *steering; /* for each byte of an address and each value of it: see steer() */
    unsigned low_bits;  /* addresses that differ only in so many low bits are in the same row */
    uint64_t latest;    /* the bits above them in the latest address, plus 1 */
    channel *channel;   /* to which the latest request went */
    run request;
    rs_divider by_interleave;
    rs_divider by_channels;
    rs_divider by_row;
    rs_divider by_banks;
};

/* ---- making ---- */

static bool make_queues(rs_sim_channels *made)
{
    const rs_sim_device *device = made->device;
    while (made->queue_mask + 1 < device->queue)
        made->queue_mask = 2 * made->queue_mask + 1;
    made->channels = calloc(device->channels, sizeof *made->channels);
    for (size_t c = 0; made->channels != NULL && c < device->channels; c++) {
        channel *at = &made->channels[c];
        at->queue = malloc((made->queue_mask + 1) * sizeof *at->queue);
        at->open = calloc(device->banks, sizeof *at->open);
        if (at->queue == NULL || at->open == NULL)
            return false;
    }
    return made->channels != NULL;
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

/* How many low bits of an address choose no channel, bank or row. */
static unsigned count_low_bits(const rs_sim_device *device)
{
    uint64_t choosing = device->interleave_bytes | device->row_bytes;
    for (size_t k = 0; k < device->channel_masks; k++)
        choosing |= device->channel_mask[k];
    for (size_t k = 0; k < device->bank_masks; k++)
        choosing |= device->bank_mask[k];
    return (unsigned)__builtin_ctzll(choosing);
}

static bool make_steering(rs_sim_channels *made)
{
    enum { VALUES = UCHAR_MAX + 1 };
    const rs_sim_device *device = made->device;
    made->low_bits = count_low_bits(device);
    made->by_interleave = rs_divider_make(device->interleave_bytes, UINT32_MAX);
    made->by_channels = rs_divider_make(device->channels, UINT32_MAX);
    made->by_row = rs_divider_make(device->row_bytes, UINT32_MAX);
    made->by_banks = rs_divider_make(device->banks, UINT32_MAX);
    made->steering = malloc(sizeof(uint64_t) * VALUES * sizeof *made->steering);
    for (size_t i = 0; made->steering != NULL && i < sizeof(uint64_t) * VALUES; i++)
        made->steering[i] = steering_of(device, i / VALUES, i % VALUES);
    return made->steering != NULL;
}

rs_sim_channels *rs_sim_channels_create(const rs_sim_device *device)
{
    rs_sim_channels *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->device = device;
    if (make_queues(made) && make_steering(made))
        return made;
    rs_sim_channels_destroy(made);
    return NULL;
}

void rs_sim_channels_destroy(rs_sim_channels *channels)
{
    if (channels == NULL)
        return;
    for (size_t c = 0; channels->channels != NULL && c < channels->device->channels; c++) {
        free(channels->channels[c].queue);
        free(channels->channels[c].open);
    }
    free(channels->channels);
    free(channels->steering);
    free(channels);
}

/* ---- requests ---- */

/* The oldest run whose row is open; at->runs if there is none. */
static size_t find_open(const channel *at, size_t mask)
{
    size_t found = at->closed;
    while (found < at->runs) {
        const run *next = &at->queue[(at->first + found) & mask];
        if (at->open[next->bank] == next->row + 1)
            break;
        found++;
    }
    return found;
}

/* Removes a run; those before it move up. */
static void remove_run(channel *at, size_t mask, size_t removed)
{
    for (size_t i = removed; i > 0; i--)
        at->queue[(at->first + i) & mask] = at->queue[(at->first + i - 1) & mask];
    at->first++;
    at->runs--;
}

/* Serves one request, first ready, first come (FR-FCFS): the oldest whose row is open, or else the
 * oldest. */
static void serve(channel *at, size_t mask)
{
    size_t chosen = find_open(at, mask);
    if (chosen < at->runs) {
        at->row_hits++;
    } else {
        const run *oldest = &at->queue[at->first & mask];
        at->open[oldest->bank] = oldest->row + 1;
        chosen = 0;
    }
    at->closed = chosen;
    at->waiting--;
    at->requests++;
    if (--at->queue[(at->first + chosen) & mask].count == 0)
        remove_run(at, mask, chosen);
}

static void add_request(channel *at, size_t mask, const run *request)
{
    run *latest = &at->queue[(at->first + at->runs - 1) & mask];
    if (at->runs > 0 && latest->row == request->row && latest->bank == request->bank)
        latest->count++;
    else
        at->queue[(at->first + at->runs++) & mask] = *request;
    at->waiting++;
}

/* The parities of the address under the masks: those of the channel's number, then, from bit
 * RS_SIM_MOST_MASKS on, those of the bank's. The parity of an address is the XOR of the parities of
 * its bytes. */
static uint32_t steer(const rs_sim_channels *channels, uint64_t address)
{
    uint32_t bits = 0;
    for (const uint32_t *byte = channels->steering; address != 0; address >>= CHAR_BIT) {
        bits ^= byte[address & UCHAR_MAX];
        byte += UCHAR_MAX + 1;
    }
    return bits;
}

static uint64_t remainder_of(const rs_divider *divider, uint64_t number)
{
    return number - rs_divide_any(divider, number) * divider->divisor;
}

/* Blocks of interleave_bytes go to the channels in turn, and rows of a channel to its banks in
 * turn; the parities are XORed into both numbers. */
static void find_row(rs_sim_channels *channels, uint64_t address)
{
    enum { CHANNEL_BITS = (1 << RS_SIM_MOST_MASKS) - 1 };
    const rs_sim_device *device = channels->device;
    uint32_t steered = steer(channels, address);
    uint64_t block = rs_divide_any(&channels->by_interleave, address);
    uint64_t number = remainder_of(&channels->by_channels, block ^ (steered & CHANNEL_BITS));
    uint64_t above = rs_divide_any(&channels->by_channels, block);
    uint64_t within = above * device->interleave_bytes + address - block * device->interleave_bytes;
    uint64_t row = rs_divide_any(&channels->by_row, within);
    uint64_t bank = remainder_of(&channels->by_banks, row ^ steered >> RS_SIM_MOST_MASKS);
    channels->channel = &channels->channels[number];
    channels->request = (run){row, (uint32_t)bank, 1};
}

void rs_sim_channels_ask(rs_sim_channels *channels, uint64_t address)
{
    uint64_t above = (address >> channels->low_bits) + 1;
    if (channels->latest != above)
        find_row(channels, address);
    channels->latest = above;
    channel *at = channels->channel;
    if (at->waiting == channels->device->queue)
        serve(at, channels->queue_mask);
    add_request(at, channels->queue_mask, &channels->request);
}

void rs_sim_channels_drain(rs_sim_channels *channels)
{
    for (size_t c = 0; c < channels->device->channels; c++)
        while (channels->channels[c].waiting > 0)
            serve(&channels->channels[c], channels->queue_mask);
}

size_t rs_sim_channels_requests(const rs_sim_channels *channels, size_t number)
{
    return channels->channels[number].requests;
}

size_t rs_sim_channels_row_hits(const rs_sim_channels *channels, size_t number)
{
    return channels->channels[number].row_hits;
}
