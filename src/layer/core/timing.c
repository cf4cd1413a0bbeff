/* Times of launches and conversions: see timing.h. */
#include "layer/core/timing.h"

#include "base/json.h"

#include <stdlib.h>

enum { MOST_DRAWN = 4096 };

/* A bar of the time line. */
typedef struct {
    const rs_kernel_facts *facts; /* NULL: a conversion */
    bool rewritten, back;
    uint64_t start, end;
} bar;

static struct {
    rs_timed *open; /* in the order of their commands */
    size_t open_count;
    size_t open_capacity;
    rs_conversion_sums conversions;
    bar *bars;
    size_t bar_count;
} timing;

bool rs_timing_wanted(void)
{
    const rs_layer_settings *settings = &rs_the_layer.settings;
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

static void draw(const rs_timed *timed, uint64_t start, uint64_t end)
{
    if (!rs_report_times() || timing.bar_count == MOST_DRAWN)
        return;
    if (timing.bars == NULL)
        timing.bars = calloc(MOST_DRAWN, sizeof *timing.bars);
    if (timing.bars != NULL)
        timing.bars[timing.bar_count++] =
            (bar){timed->facts, timed->rewritten, timed->back, start, end};
}

static void count_time(const rs_timed *timed, double seconds)
{
    rs_kernel_facts *facts = timed->facts;
    if (facts == NULL) {
        timing.conversions.timed_count++;
        timing.conversions.timed_bytes += timed->bytes;
        timing.conversions.seconds += seconds;
        rs_knowledge_add_conversion(timed->device, timed->bytes, seconds);
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
static bool close_event(const rs_timed *timed)
{
    const int status = rs_api_event_status(timed->event);
    uint64_t start = 0, end = 0;
    if (status > 0)
        return false;
    if (status == 0 && read_times(timed, &start, &end) &&
        (timed->known == NULL || (end > start && timed->work_items > 0))) {
        count_time(timed, (double)(end - start) * 1e-9);
        draw(timed, start, end);
    } else if (timed->known != NULL) {
        rs_policy_lose_time(&timed->known->knowledge, timed->rewritten);
    }
    release(timed);
    return true;
}

void rs_timing_harvest(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < timing.open_count; i++)
        if (!close_event(&timing.open[i]))
            timing.open[kept++] = timing.open[i];
    timing.open_count = kept;
}

/* ---- taking events ---- */

static void keep_open(const rs_timed *timed)
{
    if (timing.open_count == timing.open_capacity)
        rs_timing_harvest();
    /* Still more than half full: the program runs far ahead of the device. */
    if (timing.open_count >= timing.open_capacity / 2) {
        size_t capacity = timing.open_capacity == 0 ? 256 : timing.open_capacity * 2;
        rs_timed *larger = realloc(timing.open, capacity * sizeof *larger);
        if (larger != NULL) {
            timing.open = larger;
            timing.open_capacity = capacity;
        }
    }
    if (timing.open_count < timing.open_capacity)
        timing.open[timing.open_count++] = *timed;
    else { /* no memory */
        if (timed->known != NULL)
            rs_policy_lose_time(&timed->known->knowledge, timed->rewritten);
        release(timed);
    }
}

void rs_timing_take(const rs_timed *timed)
{
    if (timed->facts == NULL) {
        timing.conversions.count++;
        timing.conversions.bytes += timed->bytes;
    }
    if (timed->is_profiled && rs_timing_wanted())
        keep_open(timed);
    else
        release(timed);
}

void rs_timing_move(const rs_kernel_facts *from, rs_kernel_facts *to)
{
    for (size_t i = 0; i < timing.open_count; i++)
        if (timing.open[i].facts == from)
            timing.open[i].facts = to;
    for (size_t i = 0; i < timing.bar_count; i++)
        if (timing.bars[i].facts == from)
            timing.bars[i].facts = to;
}

void rs_timing_forget(void)
{
    for (size_t i = 0; i < timing.open_count; i++)
        if (timing.open[i].known != NULL)
            rs_policy_lose_time(&timing.open[i].known->knowledge, timing.open[i].rewritten);
    timing.open_count = timing.bar_count = 0;
    timing.conversions = (rs_conversion_sums){.count = 0};
}

bool rs_timing_holds(rs_event event)
{
    for (size_t i = 0; i < timing.open_count; i++)
        if (timing.open[i].event == event)
            return true;
    return false;
}

rs_event rs_timing_open_launch(const rs_known_kernel *known)
{
    for (size_t i = timing.open_count; i-- > 0;)
        if (timing.open[i].known == known) {
            rs_api_event_retain(timing.open[i].event);
            return timing.open[i].event;
        }
    return NULL;
}

/* ---- what the report says ---- */

void rs_timing_count_part(size_t bytes)
{
    timing.conversions.part_count++;
    timing.conversions.part_bytes += bytes;
}

rs_conversion_sums rs_timing_conversions(void)
{
    return timing.conversions;
}

json_t *rs_timing_line(void)
{
    json_t *line = json_array();
    uint64_t first = (uint64_t)-1;
    for (size_t i = 0; i < timing.bar_count; i++)
        if (timing.bars[i].start < first)
            first = timing.bars[i].start;
    for (size_t i = 0; i < timing.bar_count; i++) {
        const bar *one = &timing.bars[i];
        double start = (double)(one->start - first) * 1e-9;
        double seconds = (double)(one->end - one->start) * 1e-9;
        const char *way = one->back ? "back" : "there";
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
