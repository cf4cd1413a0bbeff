/* Reads and checks descriptions of devices; a table says what there is to know. */
#include "sim/device.h"

#include "base/text.h"

#include <ini.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char rs_sim_device_gtx480[], rs_sim_device_t10[], rs_sim_device_k20[],
    rs_sim_device_h100[], rs_sim_device_h100_probe[], rs_sim_device_h200[];

static const struct {
    const char *name;
    const char *text;
} shipped[] = {{"gtx480", rs_sim_device_gtx480},
               {"t10", rs_sim_device_t10},
               {"k20", rs_sim_device_k20},
               {"h100", rs_sim_device_h100},
               {"h100-probe", rs_sim_device_h100_probe},
               {"h200", rs_sim_device_h200}};
enum { SHIPPED = sizeof shipped / sizeof shipped[0] };

const char *rs_sim_device_text(const char *name)
{
    for (size_t i = 0; i < SHIPPED; i++)
        if (strcmp(name, shipped[i].name) == 0)
            return shipped[i].text;
    return NULL;
}

const char *rs_sim_device_name(size_t i)
{
    return i < SHIPPED ? shipped[i].name : NULL;
}

typedef enum { NAME, COUNT, SIZE, TIME, COSTS, CHANNEL_MASKS, BANK_MASKS } kind;

/* A COUNT is at least 1; a SIZE may be 0, with K, M or G; a TIME is nanoseconds or a power. */
typedef struct {
    const char *section;
    const char *key;
    kind kind;
    size_t offset;
} entry;

#define AT(member) offsetof(rs_sim_device, member)
static const entry rows[] = {
    {"device", "name", NAME, AT(name)},
    {"threads", "warp", COUNT, AT(warp)},
    {"threads", "processors", COUNT, AT(processors)},
    {"threads", "launch_ns", TIME, AT(launch_ns)},
    {"threads", "clock_ghz", TIME, AT(clock_ghz)},
    {"access", "lines_ns", COSTS, AT(cost)},
    {"access", "overlap", TIME, AT(overlap)},
    {"caches", "sector_bytes", COUNT, AT(sector_bytes)},
    {"caches", "l1_bytes", SIZE, AT(l1.bytes)},
    {"caches", "l1_ways", COUNT, AT(l1.ways)},
    {"caches", "l2_bytes", SIZE, AT(l2.bytes)},
    {"caches", "l2_ways", COUNT, AT(l2.ways)},
    {"memory", "fetch_bytes", COUNT, AT(fetch_bytes)},
    {"memory", "channels", COUNT, AT(channels)},
    {"memory", "banks", COUNT, AT(banks)},
    {"memory", "row_bytes", SIZE, AT(row_bytes)},
    {"memory", "interleave_bytes", COUNT, AT(interleave_bytes)},
    {"memory", "queue", COUNT, AT(queue)},
    {"memory", "fetch_ns", TIME, AT(fetch_ns)},
    {"memory", "row_ns", TIME, AT(row_ns)},
    {"latency", "resident", COUNT, AT(resident)},
    {"latency", "in_flight", COUNT, AT(in_flight)},
    {"latency", "l1_ns", TIME, AT(l1_ns)},
    {"latency", "l2_ns", TIME, AT(l2_ns)},
    {"latency", "memory_ns", TIME, AT(memory_ns)},
    {"steering", "channel", CHANNEL_MASKS, AT(channel_mask)},
    {"steering", "bank", BANK_MASKS, AT(bank_mask)},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct {
    rs_sim_device *device;
    bool seen[ROWS];
    char wrong[96]; /* the first key that is unknown, given twice or has no such value */
} description;

/* A number with K, M or G behind it, or none. */
static bool read_size(const char *text, bool suffixed, size_t *size)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long value = strtoull(text, &end, 10);
    const char *letter = *end == '\0' ? NULL : strchr("KMG", *end);
    unsigned shift = letter == NULL ? 0 : 10 * (unsigned)(letter - "KMG" + 1);
    if ((*end != '\0' && (letter == NULL || !suffixed || end[1] != '\0')) ||
        value > SIZE_MAX >> shift)
        return false;
    *size = (size_t)value << shift;
    return true;
}

static bool read_time(const char *text, const char **end, double *time)
{
    char *after;
    *time = strtod(text, &after);
    *end = after;
    return after != text && isfinite(*time) && *time >= 0;
}

/* "1:2 32:70" */
static bool read_costs(const char *text, rs_sim_device *device)
{
    for (device->cost_count = 0; *text != '\0'; text += strspn(text, " ")) {
        const char *colon;
        if (device->cost_count == RS_SIM_MOST_COSTS)
            return false;
        rs_sim_cost *cost = &device->cost[device->cost_count];
        if (!read_time(text, &colon, &cost->lines) || *colon != ':' ||
            !read_time(colon + 1, &text, &cost->ns) || (*text != ' ' && *text != '\0') ||
            (device->cost_count > 0 && cost[-1].lines >= cost->lines))
            return false;
        device->cost_count++;
    }
    return device->cost_count > 0;
}

/* "0x1100 0x2200", lowest bit of the number first; "none" */
static bool read_masks(const char *text, size_t *count, uint64_t *masks)
{
    *count = 0;
    if (strcmp(text, "none") == 0)
        return true;
    for (; *text != '\0'; text += strspn(text, " ")) {
        char *end;
        if (*count == RS_SIM_MOST_MASKS || strncmp(text, "0x", 2) != 0)
            return false;
        masks[(*count)++] = strtoull(text, &end, 16);
        if (*end != ' ' && *end != '\0')
            return false;
        text = end;
    }
    return *count > 0;
}

static bool read_value(const entry *key, const char *value, rs_sim_device *device)
{
    void *place = (char *)device + key->offset;
    const char *end;
    switch (key->kind) {
    case NAME:
        if (strlen(value) >= sizeof device->name)
            return false;
        memcpy(device->name, value, strlen(value) + 1);
        return true;
    case COUNT:
        return read_size(value, false, place) && *(size_t *)place > 0;
    case SIZE:
        return read_size(value, true, place);
    case TIME:
        return read_time(value, &end, place) && *end == '\0';
    case COSTS:
        return read_costs(value, device);
    case CHANNEL_MASKS:
        return read_masks(value, &device->channel_masks, device->channel_mask);
    default:
        return read_masks(value, &device->bank_masks, device->bank_mask);
    }
}

static int read_line(void *user, const char *section, const char *key, const char *value)
{
    description *reading = user;
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(section, rows[i].section) == 0 && strcmp(key, rows[i].key) == 0 &&
            !reading->seen[i]) {
            reading->seen[i] = true;
            if (read_value(&rows[i], value, reading->device))
                return 1;
            break;
        }
    if (reading->wrong[0] == '\0') {
        strncat(reading->wrong, key, sizeof reading->wrong - 1);
    }
    return 0;
}

/* What no device can be. */
static const char *find_contradiction(const rs_sim_device *device)
{
    static const char *const sentences[] = {
        "warp is more than 1024",
        "clock_ghz is 0",
        "sector_bytes does not divide the line of 128 bytes into parts of 4 bytes and more",
        "fetch_bytes is not between sector_bytes and the line of 128 bytes, a power of two",
        "row_bytes is not a multiple of fetch_bytes",
        "interleave_bytes is not a multiple of fetch_bytes",
        "l1_bytes is not a multiple of l1_ways lines of 128 bytes",
        "l2_bytes is 0 or not a multiple of l2_ways lines of 128 bytes",
        "l1_ways or l2_ways is more than 65536",
        "queue is more than 256",
        "fetch_ns is 0",
        "overlap is less than 1",
        "l1_ns is more than l2_ns, or l2_ns more than memory_ns",
        "there are more than 65536 processors or channels, or 1024 banks a channel",
    };
    const bool wrong[] = {
        device->warp > 1024,
        device->clock_ghz <= 0,
        device->sector_bytes < 4 || RS_SIM_LINE % device->sector_bytes != 0,
        device->fetch_bytes < device->sector_bytes || device->fetch_bytes > RS_SIM_LINE ||
            RS_SIM_LINE % device->fetch_bytes != 0,
        device->row_bytes == 0 || device->row_bytes % device->fetch_bytes != 0,
        device->interleave_bytes % device->fetch_bytes != 0,
        device->l1.bytes % (device->l1.ways * RS_SIM_LINE) != 0,
        device->l2.bytes == 0 || device->l2.bytes % (device->l2.ways * RS_SIM_LINE) != 0,
        device->l1.ways > 65536 || device->l2.ways > 65536,
        device->queue > 256,
        device->fetch_ns <= 0,
        device->overlap<1, device->l1_ns> device->l2_ns || device->l2_ns > device->memory_ns,
        device->processors > 65536 || device->channels > 65536 || device->banks > 1024,
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (wrong[i])
            return sentences[i];
    return NULL;
}

restride_status rs_sim_device_parse(rs_sim_device *device, const char *text, const char *name)
{
    *device = (rs_sim_device){.name = ""};
    description reading = {.device = device};
    int line = ini_parse_string(text, read_line, &reading);
    if (line != 0)
        return rs_fail(RESTRIDE_SYNTAX,
                       "%s:%d: %s is unknown, given twice, or has a value that it cannot have.",
                       name, line, reading.wrong[0] != '\0' ? reading.wrong : "this line");
    for (size_t i = 0; i < ROWS; i++)
        if (!reading.seen[i])
            return rs_fail(RESTRIDE_SYNTAX, "%s: %s is missing in section [%s].", name, rows[i].key,
                           rows[i].section);
    const char *contradiction = find_contradiction(device);
    if (contradiction != NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "%s: %s.", name, contradiction);
    return RESTRIDE_OK;
}

restride_status rs_sim_read_device(rs_sim_device *device, const char *name)
{
    const char *text = rs_sim_device_text(name);
    if (text != NULL)
        return rs_sim_device_parse(device, text, name);
    if (strpbrk(name, "./") == NULL && access(name, F_OK) != 0)
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "There is no device \"%s\", and no file of that name; restride sim --devices "
            "lists the devices.",
            name);
    rs_text file = RS_TEXT_EMPTY;
    restride_status status = rs_text_read_file(&file, name);
    if (status == RESTRIDE_OK)
        status = rs_sim_device_parse(device, file.size > 0 ? file.data : "", name);
    rs_text_free(&file);
    return status;
}
