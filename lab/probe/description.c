/*
 * See description.h. Bits that were found become channels and banks in the way of a plain
 * interleaving: as many channels as the worst stride costs bandwidth, the lowest bits first, and
 * the other bits for banks. Which of them really are channels cannot be told from bandwidth.
 */
#include "lab/probe/description.h"

#include "sim/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_ROOM = 256 };

/* A row of the description that is replaced. */
typedef struct {
    const char *key;
    char value[VALUE_ROOM];
} row;

enum { MOST_ROWS = 16 };

typedef struct {
    row rows[MOST_ROWS];
    size_t count;
} replacements;

static char *add(replacements *all, const char *key)
{
    row *added = &all->rows[all->count++];
    added->key = key;
    return added->value;
}

static void add_number(replacements *all, const char *key, size_t number)
{
    snprintf(add(all, key), VALUE_ROOM, "%zu", number);
}

/* The number of channels whose loss explains the worst level, as bits. */
static int channel_bits(const rs_probe_steering *steering, int bits)
{
    int lost = (int)lround(log2(1 / steering->worst));
    return lost < 1 ? 1 : (lost > bits ? bits : lost);
}

static void add_steering(replacements *all, const rs_probe_steering *steering, size_t fetch_bytes)
{
    int low, high;
    if (!rs_probe_steering_range(steering, &low, &high))
        return;
    int bits = high - low + 1;
    int channels = channel_bits(steering, bits);
    size_t interleave = (size_t)1 << low;
    add_number(all, "interleave_bytes", interleave > fetch_bytes ? interleave : fetch_bytes);
    add_number(all, "channels", (size_t)1 << channels);
    snprintf(add(all, "channel"), VALUE_ROOM, "none");
    char *banks = add(all, "bank");
    if (bits == channels)
        snprintf(banks, VALUE_ROOM, "none");
    for (int b = low + channels, used = 0; b <= high && b < low + channels + RS_SIM_MOST_MASKS; b++)
        used += snprintf(banks + used, VALUE_ROOM - (size_t)used, "%s0x%llx", used > 0 ? " " : "",
                         1ULL << b);
    if (bits > channels)
        add_number(all, "banks", (size_t)1 << (bits - channels));
}

/* The time in which a channel moves fetch_bytes, so that all of them make the measured rate. */
static void add_rate(replacements *all, const rs_probe_findings *findings,
                     const rs_sim_device *base, size_t fetch)
{
    size_t channels = base->channels;
    int low, high;
    if (rs_probe_steering_range(findings->steering, &low, &high))
        channels = (size_t)1 << channel_bits(findings->steering, high - low + 1);
    if (findings->bytes_a_second > 0)
        snprintf(add(all, "fetch_ns"), VALUE_ROOM, "%.3g",
                 1e9 * (double)channels * (double)fetch / findings->bytes_a_second);
}

static size_t at_most(size_t number, size_t limit)
{
    return number < limit ? number : limit;
}

/* The model knows no more than a line at once. */
static void replace_all(replacements *all, const rs_probe_findings *findings,
                        const rs_sim_device *base)
{
    snprintf(add(all, "name"), VALUE_ROOM, "%s", findings->name);
    if (findings->processors > 0)
        add_number(all, "processors", findings->processors);
    size_t fetch = at_most(findings->fetch_bytes, RS_SIM_LINE);
    if (fetch == 0)
        fetch = base->fetch_bytes;
    else
        add_number(all, "fetch_bytes", fetch < base->sector_bytes ? base->sector_bytes : fetch);
    add_rate(all, findings, base, fetch);
    add_steering(all, findings->steering, fetch);
}

static const row *find(const replacements *all, const char *line, size_t length)
{
    for (size_t i = 0; i < all->count; i++) {
        size_t key = strlen(all->rows[i].key);
        if (length > key && strncmp(line, all->rows[i].key, key) == 0 && line[key] == ' ')
            return &all->rows[i];
    }
    return NULL;
}

static void add_lines(rs_text *text, const replacements *all, const char *base)
{
    while (*base != '\0') {
        size_t length = strcspn(base, "\n");
        const row *replaced = find(all, base, length);
        if (replaced != NULL)
            rs_text_format(text, "%s = %s ; measured\n", replaced->key, replaced->value);
        else if (base[0] != ';') /* where the base's numbers are from */
            rs_text_format(text, "%.*s\n", (int)length, base);
        base += length + (base[length] == '\n');
    }
}

restride_status rs_probe_describe(rs_text *text, const rs_probe_findings *findings,
                                  const char *base, const char *base_name)
{
    rs_sim_device device;
    restride_status status = rs_sim_device_parse(&device, base, base_name);
    if (status != RESTRIDE_OK)
        return status;
    replacements all = {.count = 0};
    replace_all(&all, findings, &device);
    rs_text_format(
        text,
        "; %s, by restride-lab probe. What is marked was measured; everything else is that "
        "of %s.\n",
        findings->name, base_name);
    if (findings->steering->bits == 0)
        rs_text_format(text, "; No bit of an address steers by itself: [steering] was not "
                             "measured.\n");
    add_lines(text, &all, base);
    return text->failed ? rs_fail_memory("a device's description")
                        : rs_sim_device_parse(&device, text->data, "what was measured");
}
