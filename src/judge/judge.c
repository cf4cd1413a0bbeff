/* Choosing layouts by the times that are foretold for them, and saying why. */
#include "judge/judge.h"

#include <math.h>
#include <string.h>

/* Less than this is not worth a conversion, and within what the model is off. */
static const double least_gain = 1.10, least_part = 1.03, least_launches = 0.5;

enum {
    SMALL_ELEMENT = 16,
    TILE = 32,
    ROUNDS = 4,
    MOST_GROUP = 128,
    FEW_WARPS = 8,     /* of a processor */
    SEVERAL_FIELDS = 3 /* of one element for all lanes, for which a tile's address is worth it */
};

typedef struct {
    const rs_judge_kernel *kernel;
    const rs_judge_device *device;
    bool failed;
    int counts[RS_JUDGE_MOST_ARGUMENTS];
    rs_judge_layout layouts[RS_JUDGE_MOST_ARGUMENTS][RS_JUDGE_MOST_LAYOUTS];
    rs_judge_traffic traffic[RS_JUDGE_MOST_ARGUMENTS][RS_JUDGE_MOST_LAYOUTS];
} judging;

/* ---- words ---- */

const char *rs_judge_lanes_text(rs_judge_lanes lanes)
{
    static const char *const texts[] = {
        "each thread has its own element, neighbours have neighbouring ones",
        "each thread has a few consecutive elements",
        "the threads of a warp share elements, each has another field",
        "all threads of a warp read the same element at a time",
        "each thread reads an element that the data choose",
        "each thread walks through consecutive elements of its own",
        "how threads reach the elements is not known, or one memory is seen through casts"};
    return texts[lanes];
}

void rs_judge_layout_print(rs_text *text, const rs_judge_layout *layout)
{
    if (layout->split)
        rs_text_add_string(text, "touched fields apart");
    else if (layout->tile == 0)
        rs_text_add_string(text, "f i");
    else if (layout->tile == 1 && layout->group == 1)
        rs_text_add_string(text, "i f");
    else if (layout->group == 1)
        rs_text_format(text, "i/%d f i%%%d", layout->tile, layout->tile);
    else
        rs_text_format(text, "i/%d i%%%d f i/%d%%%d", layout->tile * layout->group, layout->group,
                       layout->group, layout->tile);
}

void rs_judge_layout_explain(rs_text *text, const rs_judge_layout *layout)
{
    if (layout->split)
        rs_text_add_string(text, "the fields that the kernel touches in a structure of their own");
    else if (layout->tile == 0)
        rs_text_add_string(text, "an array for each field");
    else if (layout->tile == 1 && layout->group == 1)
        rs_text_add_string(text, "an array of structures");
    else if (layout->group == 1)
        rs_text_format(text, "tiles of %d elements, in each tile field after field", layout->tile);
    else
        rs_text_format(text,
                       "tiles of %d groups of %d elements, in each tile member after member and "
                       "field after field",
                       layout->tile, layout->group);
}

static bool is_aos(const rs_judge_layout *layout)
{
    return layout->tile == 1 && layout->group == 1 && !layout->split;
}

static int touched_bytes(const rs_judge_argument *a)
{
    int bytes = 0;
    for (int f = 0; f < a->field_count; f++)
        bytes += a->fields[f].bytes;
    return bytes;
}

static const char *reason_to_change(const rs_judge_argument *a, const rs_judge_layout *layout)
{
    if (layout->split || 2 * touched_bytes(a) <= a->element)
        return "the kernel touches only some fields, and the others come along in every line that "
               "it reads";
    if (layout->group > 1)
        return "neighbouring threads are several elements apart; in tiles of such groups they find "
               "the same field of the same member of their groups side by side";
    if (a->lanes == RS_LANES_SAME)
        return "the fields that the loop reads lie closer together, so it waits less often for the "
               "next line";
    return "in the array of structures each load or store of a field by a warp is spread over many "
           "lines; in the new layout it touches one or two";
}

static const char *reason_to_keep(const rs_judge_argument *a, double best, rs_judge_bound bound)
{
    static const char *const by_lanes[] = {
        [RS_LANES_WITHIN] = "the threads of a warp already read neighbouring bytes of an element; "
                            "another layout would tear them apart",
        [RS_LANES_SAME] = "one element serves the whole warp, so a load touches one line in any "
                          "layout, and others need more address arithmetic",
        [RS_LANES_GATHER] = "elements are picked by data: as a structure an element is one or two "
                            "lines, apart it is one for each field",
        [RS_LANES_WALK] = "each thread goes on to the next element, which the cache has already; "
                          "in other layouts it would hold more lines than fit",
        [RS_LANES_UNKNOWN] = "how threads reach the elements could not be read from the source, or "
                             "goes through a cast"};
    static const char *const by_bound[] = {
        "the memory's bandwidth bounds the kernel, which needs all of these bytes in any layout",
        "loads from the L2 bound the kernel in any layout",
        "stores to the L2 bound the kernel in any layout",
        "other loads of the kernel bound it, not those of this argument",
        "arithmetic bounds the kernel, not memory",
        "too few threads run at a time: the kernel waits for single loads in any layout",
        "its threads do so little that starting work-groups takes most of the time"};
    if (a->lanes != RS_LANES_ONE && a->lanes != RS_LANES_GROUP && by_lanes[a->lanes] != NULL)
        return by_lanes[a->lanes];
    if (a->element <= SMALL_ELEMENT)
        return "elements of 16 bytes and less are read whole lines at a time as they are";
    if (best > 1.02)
        return "another layout would gain less than a conversion is worth";
    return by_bound[bound];
}

/* ---- times ---- */

static rs_judge_time time_of(const judging *j, const int chosen[])
{
    rs_judge_traffic traffic[RS_JUDGE_MOST_ARGUMENTS];
    rs_judge_layout layouts[RS_JUDGE_MOST_ARGUMENTS];
    for (int k = 0; k < j->kernel->argument_count; k++) {
        traffic[k] = j->traffic[k][chosen[k]];
        layouts[k] = j->layouts[k][chosen[k]];
    }
    return rs_judge_join(j->kernel, j->device, traffic, layouts);
}

static double time_with(const judging *j, const int chosen[], int argument, int layout)
{
    int changed[RS_JUDGE_MOST_ARGUMENTS];
    memcpy(changed, chosen, sizeof changed);
    changed[argument] = layout;
    return time_of(j, changed).ns;
}

/* ---- candidates ---- */

static void offer(judging *j, int k, rs_judge_layout layout)
{
    int n = j->counts[k];
    j->layouts[k][n] = layout;
    j->counts[k]++;
    if (!rs_judge_measure(&j->traffic[k][n], &j->kernel->arguments[k], &layout))
        j->failed = true;
}

/* Whether a processor has so many warps that, where all lanes read one element, another warp has
 * loaded it before: then only the instructions for addresses count. */
static bool is_crowded(const judging *j)
{
    const rs_sim_device *shape = &j->device->shape;
    double warps = j->kernel->threads / (double)(shape->warp * shape->processors);
    return j->kernel->threads == 0 || warps > FEW_WARPS;
}

/*
 * AoS first. Nothing else where lanes share elements or are not known, and where elements are
 * small: such accesses are nearly whole lines already. Lanes that walk or have groups tear tiles
 * apart unless the group is the tile's element.
 */
static void offer_layouts(judging *j, int k)
{
    enum { TILES = 4 };
    static const int tiles[TILES] = {TILE, 64, 128, 0};
    const rs_judge_argument *a = &j->kernel->arguments[k];
    bool groups = a->lanes == RS_LANES_GROUP || a->lanes == RS_LANES_WALK;
    bool whole = touched_bytes(a) >= a->element, small = a->element <= SMALL_ELEMENT;
    bool same = a->lanes == RS_LANES_SAME;
    offer(j, k, rs_judge_aos);
    if (a->lanes == RS_LANES_UNKNOWN || a->lanes == RS_LANES_WITHIN || (whole && small) ||
        (same && is_crowded(j)))
        return;
    if (groups && !small && a->group > 1 && a->group <= MOST_GROUP)
        offer(j, k, (rs_judge_layout){.tile = TILE, .group = a->group});
    for (int i = 0; i < TILES && a->lanes != RS_LANES_WALK && a->lanes != RS_LANES_GATHER; i++)
        if (!small && (tiles[i] == 0 || !same || a->field_count >= SEVERAL_FIELDS))
            offer(j, k, (rs_judge_layout){.tile = tiles[i], .group = 1});
    if (!whole)
        offer(j, k, (rs_judge_layout){.tile = 1, .group = 1, .split = true});
}

static bool is_usual(const rs_judge_layout *layout)
{
    return !layout->split && layout->tile <= TILE;
}

/* One argument after the other takes its best layout, until nothing changes. Wider tiles
 * and another declaration have to gain more than what the program need not know of. */
static void improve(const judging *j, int chosen[])
{
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < j->kernel->argument_count; k++)
            for (int l = 0; l < j->counts[k]; l++)
                if (time_with(j, chosen, k, l) <
                    (is_usual(&j->layouts[k][l]) ? 0.995 : 0.95) * time_of(j, chosen).ns)
                    chosen[k] = l;
}

/* From AoS, and from the fewest sectors for each argument: two arrays may bound a kernel in turn.
 */
static void choose(const judging *j, int chosen[])
{
    int other[RS_JUDGE_MOST_ARGUMENTS] = {0}, aos[RS_JUDGE_MOST_ARGUMENTS] = {0};
    for (int k = 0; k < j->kernel->argument_count; k++)
        for (int l = 1; l < j->counts[k]; l++)
            if (j->traffic[k][l].sectors < 0.995 * j->traffic[k][other[k]].sectors)
                other[k] = l;
    memset(chosen, 0, sizeof aos);
    improve(j, chosen);
    improve(j, other);
    if (time_of(j, other).ns < time_of(j, chosen).ns)
        memcpy(chosen, other, sizeof other);
    for (int k = 0; k < j->kernel->argument_count; k++)
        if (time_with(j, chosen, k, 0) < least_part * time_of(j, chosen).ns)
            chosen[k] = 0;
    double now = time_of(j, aos).ns, then = time_of(j, chosen).ns;
    if (now < least_gain * then || now - then < least_launches * j->device->launch_ns)
        memcpy(chosen, aos, sizeof aos);
}

/* ---- the judgement ---- */

static void describe(const judging *j, const int chosen[], int k, rs_judgement *found)
{
    const rs_judge_argument *a = &j->kernel->arguments[k];
    const rs_judge_traffic *now = &j->traffic[k][0], *then = &j->traffic[k][chosen[k]];
    double kept = time_with(j, chosen, k, 0), best = 0;
    *found = (rs_judgement){.layout = j->layouts[k][chosen[k]], .candidates = j->counts[k]};
    for (int l = 0; l < j->counts[k]; l++) {
        found->layouts[l] = j->layouts[k][l];
        found->gains[l] = kept / time_with(j, chosen, k, l);
        best = fmax(best, found->gains[l]);
    }
    found->gain = found->gains[chosen[k]];
    found->sectors_now = now->sectors;
    found->sectors_then = then->sectors;
    found->requests = now->requests;
    found->reason = is_aos(&found->layout) ? reason_to_keep(a, best, time_of(j, chosen).bound)
                                           : reason_to_change(a, &found->layout);
}

restride_status rs_judge(const rs_judge_kernel *kernel, const rs_judge_device *device,
                         rs_judgement found[], double *gain)
{
    judging j = {.kernel = kernel, .device = device};
    int chosen[RS_JUDGE_MOST_ARGUMENTS] = {0}, aos[RS_JUDGE_MOST_ARGUMENTS] = {0};
    for (int k = 0; k < kernel->argument_count; k++)
        offer_layouts(&j, k);
    if (j.failed)
        return rs_fail_memory("a judgement");
    choose(&j, chosen);
    *gain = time_of(&j, aos).ns / time_of(&j, chosen).ns;
    for (int k = 0; k < kernel->argument_count; k++)
        describe(&j, chosen, k, &found[k]);
    return RESTRIDE_OK;
}
