/* Times of launches and conversions: see timing.h. */
#include "layer/core/timing.h"

#include "base/json.h"

#include <stdlib.h>

enum { MOST_DRAWN = 4096 };

/* A bar of the time line. */
typedef struct rs_timed_bar {
    const rs_kernel_facts *facts; /* NULL: a conversion */
    bool rewritten, is_inverse;
    uint64_t start, end;
} bar;

bool rs_timing_wanted(rs_layer *layer)
{
    const rs_layer_settings *settings = &layer->settings;
    return settings->policy == RS_POLICY_AUTO ||
           (settings->report_folder != NULL && settings->report_times);
}

/* ---- closing events ---- */

static void release(const rs_timed *timed)
{
    rs_api_event_release(timed->event);
    if (timed->began != NULL)
        rs_api_event_release(timed->began);
}

static bool read_times(const rs_timed *timed, uint64_t *start, uint64_t *end)
{
    return rs_api_event_times(timed->began != NULL ? timed->began : timed->event, timed->event,
                              start, end);
}

static void draw(rs_layer *layer, const rs_timed *timed, uint64_t start, uint64_t end)
{
    if (!rs_report_times(layer) || layer->timing.bar_count == MOST_DRAWN)
        return;
    if (layer->timing.bars == NULL)
        layer->timing.bars = calloc(MOST_DRAWN, sizeof *layer->timing.bars);
    if (layer->timing.bars != NULL)
        layer->timing.bars[layer->timing.bar_count++] =
            (bar){timed->facts, timed->rewritten, timed->is_inverse, start, end};
}

static void count_time(rs_layer *layer, const rs_timed *timed, double seconds) RS_LOCKED
{
    rs_kernel_facts *facts = timed->facts;
    if (facts == NULL) {
        layer->timing.conversions.timed_count++;
        layer->timing.conversions.timed_bytes += timed->bytes;
        layer->timing.conversions.seconds += seconds;
        rs_knowledge_add_conversion(layer, timed->device, timed->bytes, seconds);
        return;
    }
    facts->timed_launches++;
    facts->timed_transformed += timed->rewritten;
    facts->seconds += seconds;
    if (timed->rewritten)
        facts->transformed_seconds += seconds;
    if (timed->known != NULL)
        rs_policy_add_time(timed->rewritten ? &timed->known->knowledge.moved
                                            : &timed->known->knowledge.own,
                           seconds, timed->work_items);
}

/* True when the event needs no more looking at. */
static bool close_event(rs_layer *layer, const rs_timed *timed) RS_LOCKED
{
    const int status = rs_api_event_status(timed->event);
    uint64_t start = 0, end = 0;
    if (status > 0)
        return false;
    if (status == 0 && read_times(timed, &start, &end) &&
        (timed->known == NULL || (end > start && timed->work_items > 0))) {
        count_time(layer, timed, (double)(end - start) * 1e-9);
        draw(layer, timed, start, end);
    } else if (timed->known != NULL) {
        rs_policy_lose_time(&timed->known->knowledge, timed->rewritten);
    }
    release(timed);
    return true;
}

void rs_timing_collect(rs_layer *layer)
{
    size_t kept = 0;
    for (size_t i = 0; i < layer->timing.open_count; i++)
        if (!close_event(layer, &layer->timing.open[i]))
            layer->timing.open[kept++] = layer->timing.open[i];
    layer->timing.open_count = kept;
}

/* ---- taking events ---- */

static void keep_open(rs_layer *layer, const rs_timed *timed) RS_LOCKED
{
    const bool is_full = layer->timing.open_count == layer->timing.open_capacity;
    if (is_full)
        rs_timing_collect(layer);
    /* Still more than half full: the program runs far ahead of the device. */
    if (is_full && layer->timing.open_count >= layer->timing.open_capacity / 2) {
        size_t capacity = layer->timing.open_capacity == 0 ? 256 : layer->timing.open_capacity * 2;
        rs_timed *larger = realloc(layer->timing.open, capacity * sizeof *larger);
        if (larger != NULL) {
            layer->timing.open = larger;
            layer->timing.open_capacity = capacity;
        }
    }
    if (layer->timing.open_count < layer->timing.open_capacity)
        layer->timing.open[layer->timing.open_count++] = *timed;
    else { /* no memory */
        if (timed->known != NULL)
            rs_policy_lose_time(&timed->known->knowledge, timed->rewritten);
        release(timed);
    }
}

void rs_timing_take(rs_layer *layer, const rs_timed *timed)
{
    if (timed->facts == NULL) {
        layer->timing.conversions.count++;
        layer->timing.conversions.bytes += timed->bytes;
    }
    if (timed->is_profiled && rs_timing_wanted(layer))
        keep_open(layer, timed);
    else
        release(timed);
}

void rs_timing_move(rs_layer *layer, const rs_kernel_facts *from, rs_kernel_facts *to)
{
    for (size_t i = 0; i < layer->timing.open_count; i++)
        if (layer->timing.open[i].facts == from)
            layer->timing.open[i].facts = to;
    for (size_t i = 0; i < layer->timing.bar_count; i++)
        if (layer->timing.bars[i].facts == from)
            layer->timing.bars[i].facts = to;
}

void rs_timing_forget(rs_layer *layer)
{
    for (size_t i = 0; i < layer->timing.open_count; i++)
        if (layer->timing.open[i].known != NULL)
            rs_policy_lose_time(&layer->timing.open[i].known->knowledge,
                                layer->timing.open[i].rewritten);
    layer->timing.open_count = layer->timing.bar_count = 0;
    layer->timing.conversions = (rs_conversion_sums){.count = 0};
}

bool rs_timing_holds(rs_layer *layer, rs_event event)
{
    for (size_t i = 0; i < layer->timing.open_count; i++)
        if (layer->timing.open[i].event == event)
            return true;
    return false;
}

rs_event rs_timing_open_launch(rs_layer *layer, const rs_known_kernel *known)
{
    for (size_t i = layer->timing.open_count; i-- > 0;)
        if (layer->timing.open[i].known == known) {
            rs_api_event_retain(layer->timing.open[i].event);
            return layer->timing.open[i].event;
        }
    return NULL;
}

/* ---- what the report says ---- */

void rs_timing_count_part(rs_layer *layer, size_t bytes)
{
    layer->timing.conversions.part_count++;
    layer->timing.conversions.part_bytes += bytes;
}

void rs_timing_count_blank(rs_layer *layer, size_t bytes)
{
    layer->timing.conversions.blank_count++;
    layer->timing.conversions.blank_bytes += bytes;
}

rs_conversion_sums rs_timing_conversions(rs_layer *layer)
{
    return layer->timing.conversions;
}

json_t *rs_timing_line(rs_layer *layer)
{
    json_t *line = json_array();
    uint64_t first = (uint64_t)-1;
    for (size_t i = 0; i < layer->timing.bar_count; i++)
        if (layer->timing.bars[i].start < first)
            first = layer->timing.bars[i].start;
    for (size_t i = 0; i < layer->timing.bar_count; i++) {
        const bar *one = &layer->timing.bars[i];
        double start = (double)(one->start - first) * 1e-9;
        double seconds = (double)(one->end - one->start) * 1e-9;
        const char *way = one->is_inverse ? "back" : "there";
        json_array_append_new(line, one->facts != NULL
                                        ? json_pack("{s:o, s:i, s:b, s:f, s:f}", "kernel",
                                                    rs_json_string(one->facts->name), "program",
                                                    (int)one->facts->program_number, "transformed",
                                                    (int)one->rewritten, "start", start, "seconds",
                                                    seconds)
                                        : json_pack("{s:s, s:f, s:f}", "conversion", way, "start",
                                                    start, "seconds", seconds));
    }
    return line;
}
