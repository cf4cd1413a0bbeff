/* Choosing layouts by the times that are foretold for them, and saying why. */
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of an array's sectors, that belong to accesses for which another layout is worse. */
static const double most_torn = 0.1;

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
    rs_judge_kernel *kernel, *near_kernel;
    const rs_judge_device *device;
    bool failed;
    int counts[RS_JUDGE_MOST_ARGUMENTS];
    rs_judge_layout layouts[RS_JUDGE_MOST_ARGUMENTS][RS_JUDGE_MOST_LAYOUTS];
    rs_judge_traffic traffic[RS_JUDGE_MOST_ARGUMENTS][RS_JUDGE_MOST_LAYOUTS];
    rs_judge_traffic near[RS_JUDGE_MOST_ARGUMENTS][RS_JUDGE_MOST_LAYOUTS]; /* see time_of() */
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

/* Of all uses of its array. */
static int touched_bytes(const rs_judge_argument *a)
{
    int bytes = 0;
    if (a->apart > 0)
        return a->apart;
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

/* Whether nothing is known of which elements the data choose: any, or those of neighbours. */
static bool is_vague(const rs_judge_argument *a)
{
    return a->lanes == RS_LANES_GATHER && a->count == 0;
}

/* Between the time with elements at random and that with neighbouring ones, where elements are
 * picked by data of which nothing is known: lists of neighbours in a lattice are of the second
 * kind. */
static rs_judge_time time_of(const judging *j, const int chosen[])
{
    rs_judge_traffic traffic[RS_JUDGE_MOST_ARGUMENTS] = {{0}};
    rs_judge_layout layouts[RS_JUDGE_MOST_ARGUMENTS] = {{0}};
    bool vague = false;
    for (int k = 0; k < j->kernel->argument_count; k++) {
        traffic[k] = j->traffic[k][chosen[k]];
        layouts[k] = j->layouts[k][chosen[k]];
        vague = vague || is_vague(&j->kernel->arguments[k]);
    }
    rs_judge_time time = rs_judge_join(j->kernel, j->device, traffic, layouts);
    if (!vague)
        return time;
    for (int k = 0; k < j->kernel->argument_count; k++)
        traffic[k] = j->near[k][chosen[k]];
    time.ns = sqrt(time.ns * rs_judge_join(j->near_kernel, j->device, traffic, layouts).ns);
    return time;
}

/* All uses of an array have one layout. */
static void choose_layout(const judging *j, int chosen[], int argument, int layout)
{
    do
        chosen[argument++] = layout;
    while (argument < j->kernel->argument_count && j->kernel->arguments[argument].continues);
}

static double time_with(const judging *j, const int chosen[], int argument, int layout)
{
    int changed[RS_JUDGE_MOST_ARGUMENTS];
    memcpy(changed, chosen, sizeof changed);
    choose_layout(j, changed, argument, layout);
    return time_of(j, changed).ns;
}

/* ---- uses of one array ---- */

static int count_uses(const rs_judge_kernel *kernel, int k)
{
    int uses = 1;
    while (k + uses < kernel->argument_count && kernel->arguments[k + uses].continues)
        uses++;
    return uses;
}

/* The touched fields of all uses of an array, in their order, are those that may lie apart. */
static int join_fields(rs_judge_argument first[], int uses)
{
    int apart = 0;
    for (int byte = 0; byte < first->element; byte++) {
        int widest = 0;
        for (int u = 0; u < uses; u++)
            for (int f = 0; f < first[u].field_count; f++)
                if (first[u].fields[f].offset == byte) {
                    first[u].places[f] = apart;
                    widest = first[u].fields[f].bytes > widest ? first[u].fields[f].bytes : widest;
                }
        apart += widest;
    }
    for (int u = 0; u < uses; u++)
        first[u].apart = apart;
    return apart;
}

int rs_judge_touched(const rs_judge_kernel *kernel, int argument)
{
    rs_judge_argument uses[RS_JUDGE_MOST_ARGUMENTS];
    const int count = count_uses(kernel, argument);
    memcpy(uses, &kernel->arguments[argument], (size_t)count * sizeof uses[0]);
    return join_fields(uses, count);
}

/* The part of an array's sectors, in AoS, that belongs to uses but the first that want the lanes to
 * meet in one element, or are not known: no layout that tears elements apart is for them. */
static double torn_part(const judging *j, int k)
{
    double all = 0, torn = 0;
    for (int u = k; u < k + count_uses(j->kernel, k); u++) {
        const rs_judge_argument *a = &j->kernel->arguments[u];
        double sectors = j->traffic[u][0].sectors * fmax(a->visits, 1.0 / RS_JUDGE_LANES);
        all += sectors;
        if (u > k && a->lanes != RS_LANES_ONE && a->lanes != RS_LANES_GROUP &&
            a->lanes != RS_LANES_SAME)
            torn += sectors;
    }
    return all > 0 ? torn / all : 0;
}

/* ---- candidates ---- */

static void offer(judging *j, int k, rs_judge_layout layout)
{
    for (int u = k; u < k + count_uses(j->kernel, k); u++) {
        int n = j->counts[u]++;
        j->layouts[u][n] = layout;
        if (!rs_judge_measure(&j->traffic[u][n], &j->kernel->arguments[u], &layout))
            j->failed = true;
        j->near[u][n] = j->traffic[u][n];
        if (is_vague(&j->kernel->arguments[u]) &&
            !rs_judge_measure(&j->near[u][n], &j->near_kernel->arguments[u], &layout))
            j->failed = true;
    }
}

/* Whether a processor has so many warps that, where all lanes read one element, another warp has
 * loaded it before: then only the instructions for addresses count. */
static bool is_crowded(const judging *j)
{
    const rs_sim_device *shape = &j->device->shape;
    double warps = j->kernel->threads / (double)(shape->warp * shape->processors);
    return j->kernel->threads == 0 || warps > FEW_WARPS;
}

/* Whether no other layout is for an array: lanes share elements or are not known, or elements are
 * small, so that such accesses are nearly whole lines already. */
static bool is_left(const judging *j, int k)
{
    const rs_judge_argument *a = &j->kernel->arguments[k];
    bool whole = touched_bytes(a) >= a->element, small = a->element <= SMALL_ELEMENT;
    return a->is_fixed || a->lanes == RS_LANES_UNKNOWN || a->lanes == RS_LANES_WITHIN ||
           (whole && small) || (a->lanes == RS_LANES_SAME && is_crowded(j)) ||
           torn_part(j, k) > most_torn;
}

/* AoS first. Lanes that walk or have groups tear tiles apart unless the group is the tile's
 * element. */
static void offer_layouts(judging *j, int k)
{
    enum { TILES = 4 };
    static const int tiles[TILES] = {TILE, 64, 128, 0};
    const rs_judge_argument *a = &j->kernel->arguments[k];
    bool groups = a->lanes == RS_LANES_GROUP || a->lanes == RS_LANES_WALK;
    bool whole = touched_bytes(a) >= a->element, small = a->element <= SMALL_ELEMENT;
    bool same = a->lanes == RS_LANES_SAME;
    offer(j, k, rs_judge_aos);
    if (is_left(j, k))
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
                if (!j->kernel->arguments[k].continues &&
                    time_with(j, chosen, k, l) <
                        (is_usual(&j->layouts[k][l]) ? 0.995 : 0.95) * time_of(j, chosen).ns)
                    choose_layout(j, chosen, k, l);
}

/* From AoS, and from the fewest sectors for each argument: two arrays may bound a kernel in turn.
 */
static void choose(const judging *j, int chosen[])
{
    int other[RS_JUDGE_MOST_ARGUMENTS] = {0}, aos[RS_JUDGE_MOST_ARGUMENTS] = {0};
    for (int k = 0; k < j->kernel->argument_count; k++)
        for (int l = 1; l < j->counts[k]; l++)
            if (!j->kernel->arguments[k].continues &&
                j->traffic[k][l].sectors < 0.995 * j->traffic[k][other[k]].sectors)
                choose_layout(j, other, k, l);
    memset(chosen, 0, sizeof aos);
    improve(j, chosen);
    improve(j, other);
    if (time_of(j, other).ns < time_of(j, chosen).ns)
        memcpy(chosen, other, sizeof other);
    for (int k = 0; k < j->kernel->argument_count; k++)
        if (!j->kernel->arguments[k].continues &&
            time_with(j, chosen, k, 0) < least_part * time_of(j, chosen).ns)
            choose_layout(j, chosen, k, 0);
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

/* What is for each thread of the kernel becomes a number. */
static void count_threads(rs_judge_kernel *kernel)
{
    const double threads = kernel->threads > 0 ? kernel->threads : RS_JUDGE_SOME_THREADS;
    kernel->instructions += kernel->instructions_for_each * threads;
    for (int k = 0; k < kernel->argument_count; k++)
        if (kernel->arguments[k].for_each)
            kernel->arguments[k].visits = fmax(1, kernel->arguments[k].visits * threads);
}

/* The judge's own view of a kernel. */
static void join_uses(judging *j)
{
    rs_judge_kernel *kernel = j->kernel;
    count_threads(kernel);
    for (int k = 0; k < kernel->argument_count; k += count_uses(kernel, k))
        if (count_uses(kernel, k) > 1)
            join_fields(&kernel->arguments[k], count_uses(kernel, k));
    *j->near_kernel = *kernel;
    for (int k = 0; k < kernel->argument_count; k++)
        if (is_vague(&kernel->arguments[k]))
            j->near_kernel->arguments[k].lanes = RS_LANES_ONE;
}

static void end(judging *j)
{
    free(j == NULL ? NULL : j->kernel); /* and near_kernel, which is behind it */
    free(j);
}

static judging *begin(const rs_judge_kernel *kernel, const rs_judge_device *device)
{
    judging *j = calloc(1, sizeof *j);
    rs_judge_kernel *own = malloc(2 * sizeof *own);
    if (j == NULL || own == NULL) {
        free(j);
        free(own);
        return NULL;
    }
    own[0] = *kernel;
    *j = (judging){.kernel = &own[0], .near_kernel = &own[1], .device = device};
    join_uses(j);
    return j;
}

restride_status rs_judge(const rs_judge_kernel *kernel, const rs_judge_device *device,
                         rs_judgement found[], double *gain)
{
    judging *j = begin(kernel, device);
    int chosen[RS_JUDGE_MOST_ARGUMENTS] = {0}, aos[RS_JUDGE_MOST_ARGUMENTS] = {0};
    restride_status status = RESTRIDE_OK;
    for (int k = 0; j != NULL && k < kernel->argument_count; k += count_uses(kernel, k))
        offer_layouts(j, k);
    if (j == NULL || j->failed) {
        status = rs_fail_memory("a judgement");
    } else {
        choose(j, chosen);
        *gain = time_of(j, aos).ns / time_of(j, chosen).ns;
        for (int k = 0; k < kernel->argument_count; k++)
            describe(j, chosen, k, &found[k]);
    }
    end(j);
    return status;
}

/* The layouts that are given, as the second of each argument that changes. */
static void offer_given(judging *j, const rs_judge_layout layouts[], int given[], int without[])
{
    for (int k = 0; k < j->kernel->argument_count; k += count_uses(j->kernel, k)) {
        offer(j, k, rs_judge_aos);
        if (is_aos(&layouts[k]))
            continue;
        offer(j, k, layouts[k]);
        choose_layout(j, given, k, 1);
        if (!is_left(j, k))
            choose_layout(j, without, k, 1);
    }
}

restride_status rs_judge_compare(const rs_judge_kernel *kernel, const rs_judge_device *device,
                                 const rs_judge_layout layouts[], double *gain, const char **reason)
{
    judging *j = begin(kernel, device);
    int aos[RS_JUDGE_MOST_ARGUMENTS] = {0}, given[RS_JUDGE_MOST_ARGUMENTS] = {0},
        without[RS_JUDGE_MOST_ARGUMENTS] = {0};
    double heaviest = -1;
    *gain = 1;
    *reason = "";
    if (j != NULL)
        offer_given(j, layouts, given, without);
    if (j == NULL || j->failed) {
        end(j);
        return rs_fail_memory("a judgement");
    }
    const rs_judge_time now = time_of(j, aos);
    *gain = now.ns / fmax(time_of(j, given).ns, time_of(j, without).ns);
    for (int k = 0; k < kernel->argument_count; k++) {
        const double traffic = j->traffic[k][0].sectors * fmax(1, j->kernel->arguments[k].visits);
        if (given[k] == 0 || traffic <= heaviest)
            continue;
        heaviest = traffic;
        *reason = *gain >= least_gain ? reason_to_change(&j->kernel->arguments[k], &layouts[k])
                                      : reason_to_keep(&j->kernel->arguments[k], *gain, now.bound);
    }
    end(j);
    return RESTRIDE_OK;
}
