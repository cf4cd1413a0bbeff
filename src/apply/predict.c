/* Times of forms. */
#include "apply/predict.h"

#include "apply/traffic.h"

#include <math.h>
#include <stdlib.h>

/* An H100, beside what its description has: docs/analysis.md says where the numbers are from. */
static const double clock_ghz = 1.755, sectors_a_ns = 235, launch_ns = 1680, group_ns = 0.6;
/* Cycles of a processor for an instruction of a warp: any; of double, float, integers. */
static const double issue_cycles = 0.25, wide_cycles = 0.5, narrow_cycles = 0.25,
                    integer_cycles = 0.5;
static const double dependent_cycles = 4; /* until the next instruction of the same warp */
static const double barrier_ns = 30;
static const double sharpness = 4; /* of the largest part */

enum { UNROLLED = 4 };

typedef enum {
    PART_MEMORY,
    PART_CACHE,
    PART_PIPELINE,
    PART_ARITHMETIC,
    PART_WAITING,
    PART_GROUPS,
    PARTS
} part;

static const char *const part_names[PARTS] = {"memory",     "cache",   "memory pipeline",
                                              "arithmetic", "waiting", "starting work-groups"};

/* Instructions of a warp in a round. */
static double count_instructions(const rs_nest_form *form)
{
    double sum = form->work.wide + form->work.narrow + form->work.integers;
    for (int i = 0; i < form->move_count; i++)
        sum += form->moves[i].depth + 1 == form->loop_count ? form->moves[i].pieces : 0;
    return sum;
}

static double arithmetic_cycles(const rs_nest_form *form)
{
    double each = form->work.wide * wide_cycles + form->work.narrow * narrow_cycles +
                  form->work.integers * integer_cycles;
    return fmax(each, count_instructions(form) * issue_cycles);
}

/* How long a warp waits for data in a round: loads between two stores wait together. Where nothing
 * is stored, as while a tile is filled, compilers load for several rounds at once. */
static double waiting_ns(const rs_nest_form *form, const rs_traffic *traffic)
{
    double sum = 0, longest = 0, fill = 0;
    for (int i = 0; i < form->move_count; i++) {
        const rs_move *move = &form->moves[i];
        if (move->kind == RS_MOVE_TILE_FILL)
            fill = fmax(fill, traffic->waits[i]);
        if (move->kind == RS_MOVE_TILE_FILL || move->depth + 1 < form->loop_count)
            continue;
        if (move->written) {
            sum += longest;
            longest = 0;
        } else {
            longest = fmax(longest, traffic->waits[i]);
        }
    }
    sum += longest;
    return (form->unrolled ? sum / UNROLLED : sum) + form->fills * fill / UNROLLED +
           form->barriers * barrier_ns;
}

static double find_parts(const rs_nest_form *form, const rs_traffic *t, const rs_sim_device *device,
                         double parts[PARTS])
{
    double warps = t->groups * t->warps, rounds = warps * t->rounds;
    double processors = fmin((double)device->processors, t->groups);
    double waves = fmax(1, t->groups / (processors * t->resident));
    double last = form->rest ? t->rounds / form->vector_rounds : 0;
    parts[PART_MEMORY] = rounds * t->channel_ns / (double)device->channels;
    parts[PART_CACHE] = rounds * t->sectors / sectors_a_ns;
    parts[PART_PIPELINE] = rounds * t->cycles / (processors * clock_ghz);
    parts[PART_ARITHMETIC] = rounds * arithmetic_cycles(form) / (processors * clock_ghz);
    parts[PART_WAITING] =
        (waves * t->rounds + last) *
        (waiting_ns(form, t) + count_instructions(form) * dependent_cycles / clock_ghz);
    parts[PART_GROUPS] = t->groups * group_ns;
    double largest = 0, sum = 0;
    for (int i = 0; i < PARTS; i++)
        largest = fmax(largest, parts[i]);
    for (int i = 0; i < PARTS; i++)
        sum += largest > 0 ? pow(parts[i] / largest, sharpness) : 0;
    return launch_ns + largest * pow(sum, 1 / sharpness);
}

static restride_status time_form(rs_nest_form *form, const rs_sim_device *device, double *seconds,
                                 const char **bound)
{
    rs_traffic traffic;
    double parts[PARTS];
    restride_status status = rs_traffic_find(&traffic, form, device);
    if (status != RESTRIDE_OK)
        return status;
    *seconds = 1e-9 * find_parts(form, &traffic, device, parts);
    int largest = 0;
    for (int i = 1; i < PARTS; i++)
        largest = parts[i] > parts[largest] ? i : largest;
    *bound = part_names[largest];
    return RESTRIDE_OK;
}

restride_status rs_predict(rs_prediction *prediction, const rs_kernels *kernels,
                           const rs_spaces *spaces, const json_t *description,
                           const rs_values *values)
{
    rs_sim_device device;
    rs_nest_form *form = malloc(sizeof *form);
    if (form == NULL)
        return rs_fail_memory("a prediction");
    restride_status status = rs_sim_device_parse(&device, rs_sim_device_text("h100"), "h100");
    for (int changed = 0; changed < 2 && status == RESTRIDE_OK; changed++) {
        rs_form_make(form, kernels, spaces, changed != 0, description, values);
        status = changed == 0
                     ? time_form(form, &device, &prediction->threads, &prediction->bound_threads)
                     : time_form(form, &device, &prediction->changed, &prediction->bound_changed);
    }
    free(form);
    return status;
}
