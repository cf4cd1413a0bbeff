/* Foretold beside measured, of the rows of `restride-lab judge`. */
#include "console/plot.h"
#include "lab/cli/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a gain of a layout is, as a verdict has to say it. */
static const double is_gain = 1.10, is_loss = 0.95, close_enough = 0.25;

enum { MOST_POINTS = 4096 };

typedef struct {
    size_t count;
    double x[MOST_POINTS], y[MOST_POINTS]; /* gains as powers of two: measured, foretold */
} points;

typedef struct {
    size_t kernels, right, within, chosen, bad, kept, missed;
    size_t layouts, layouts_right;
    size_t table[3][3]; /* direction + 1, measured and foretold */
    double lost;        /* the worst gain of a chosen layout */
    points series[2];   /* kernels that are changed, and kept */
} totals;

typedef struct {
    rs_judge_row row;
    int count;
    rs_judge_layout layouts[RS_JUDGE_MOST_LAYOUTS];
    double measured[RS_JUDGE_MOST_LAYOUTS], foretold[RS_JUDGE_MOST_LAYOUTS]; /* gains */
    rs_judge_bound bound;
    rs_judgement judgement;
} compared;

static int direction(double gain)
{
    return gain >= is_gain ? 1 : gain <= is_loss ? -1 : 0;
}

static bool same_layout(const rs_judge_layout *a, const rs_judge_layout *b)
{
    return a->tile == b->tile && a->group == b->group && a->split == b->split;
}

static restride_status compare_row(compared *c, const json_t *entry, const rs_judge_device *device)
{
    size_t i;
    json_t *layout;
    rs_judge_kernel kernel;
    double first = 0, aos = 0, gain;
    rs_judgement found[RS_JUDGE_MOST_ARGUMENTS];
    *c = (compared){.row = rs_judge_row_from(entry)};
    rs_judge_row_kernel(&c->row, &kernel);
    json_array_foreach(json_object_get(entry, "layouts"), i, layout)
    {
        if (i >= RS_JUDGE_MOST_LAYOUTS)
            break;
        rs_judge_layout layouts[RS_JUDGE_MOST_ARGUMENTS];
        for (int k = 0; k < RS_JUDGE_MOST_ARGUMENTS; k++)
            layouts[k] = rs_judge_aos;
        layouts[0] =
            (rs_judge_layout){.tile = (int)json_integer_value(json_object_get(layout, "tile")),
                              .group = (int)json_integer_value(json_object_get(layout, "group")),
                              .split = json_is_true(json_object_get(layout, "split"))};
        rs_judge_time time = rs_judge_foretell(&kernel, device, layouts);
        double ns = json_number_value(json_object_get(layout, "ns"));
        first = i == 0 ? ns : first;
        aos = i == 0 ? time.ns : aos;
        c->bound = i == 0 ? time.bound : c->bound;
        c->layouts[i] = layouts[0];
        c->measured[i] = first / ns;
        c->foretold[i] = aos / time.ns;
        c->count++;
    }
    restride_status status = rs_judge(&kernel, device, found, &gain);
    c->judgement = found[0];
    return status;
}

/* The layout with the best measured gain; that which the judge chose, 0 where it has none here. */
static int best_of(const compared *c)
{
    int best = 0;
    for (int i = 1; i < c->count; i++)
        best = c->measured[i] > c->measured[best] ? i : best;
    return best;
}

static int chosen_of(const compared *c)
{
    for (int i = 1; i < c->count; i++)
        if (same_layout(&c->layouts[i], &c->judgement.layout))
            return i;
    return 0;
}

static void count(totals *t, const compared *c)
{
    int chosen = chosen_of(c), best = best_of(c), seen = chosen > 0 ? chosen : best;
    double measured = c->measured[seen], foretold = c->foretold[seen];
    t->kernels++;
    t->chosen += chosen > 0;
    t->bad += chosen > 0 && measured < is_loss;
    t->kept += chosen == 0;
    t->missed += chosen == 0 && c->measured[best] >= is_gain;
    t->lost = chosen > 0 ? fmin(t->lost, measured) : t->lost;
    t->right += direction(measured) == direction(foretold);
    t->table[direction(measured) + 1][direction(foretold) + 1]++;
    t->within += fabs(foretold / measured - 1) <= close_enough;
    for (int i = 1; i < c->count; i++) {
        t->layouts++;
        t->layouts_right += direction(c->measured[i]) == direction(c->foretold[i]);
    }
    points *series = &t->series[chosen == 0];
    if (series->count < MOST_POINTS) {
        series->x[series->count] = log2(measured);
        series->y[series->count++] = log2(foretold);
    }
}

static void print_layout(const rs_judge_layout *layout, int width)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_judge_layout_print(&text, layout);
    printf("%-*s", width, text.data);
    rs_text_free(&text);
}

static void print_row(const compared *c, bool markdown)
{
    static const char *const lanes[] = {"one", "group", "within", "same", "gather", "walk", "?"};
    const char *bar = markdown ? " | " : "  ";
    int chosen = chosen_of(c), best = best_of(c);
    printf("%s%-20s%s%-6s%s%4d/%4d%s%s%2d%s%4d%s%3d%s", markdown ? "| " : "", c->row.name, bar,
           lanes[c->row.lanes], bar, 4 * c->row.used, 4 * c->row.words,
           c->row.writes ? " rw" : " r ", bar,
           c->row.lanes == RS_LANES_WALK ? c->row.visits : c->row.group, bar, c->row.megabytes, bar,
           c->row.work, bar);
    print_layout(&c->layouts[best], 18);
    printf("%s%5.2f%s%5.2f%s", bar, c->measured[best], bar, c->foretold[best], bar);
    print_layout(&c->layouts[chosen], 18);
    printf("%s%5.2f%s%5.2f%s\n", bar, c->measured[chosen], bar, c->foretold[chosen],
           markdown ? " |"
           : direction(c->measured[chosen > 0 ? chosen : best]) !=
                   direction(c->foretold[chosen > 0 ? chosen : best])
               ? "  wrong"
               : "");
}

/* Which directions were taken for which. */
static void print_table(const totals *t, bool markdown)
{
    static const char *const names[] = {"loss", "neutral", "gain"};
    const char *bar = markdown ? " | " : "  ", *end = markdown ? " |" : "";
    printf("\n%s%-18s%s%8s%s%8s%s%8s%s\n", markdown ? "| " : "", "measured, foretold:", bar,
           names[0], bar, names[1], bar, names[2], end);
    if (markdown)
        printf("|---|---|---|---|\n");
    for (int i = 0; i < 3; i++)
        printf("%s%-18s%s%8zu%s%8zu%s%8zu%s\n", markdown ? "| " : "", names[i], bar, t->table[i][0],
               bar, t->table[i][1], bar, t->table[i][2], end);
}

static void print_totals(const totals *t)
{
    printf("\n%zu kernels: direction right in %zu (%.0f %%), gain within 25 %% in %zu (%.0f %%).\n",
           t->kernels, t->right, 100.0 * (double)t->right / (double)t->kernels, t->within,
           100.0 * (double)t->within / (double)t->kernels);
    printf(
        "%zu changed, of which %zu lose more than 5 %% (worst %.2f); %zu kept, of which %zu would "
        "gain 10 %% and more.\n",
        t->chosen, t->bad, t->lost, t->kept, t->missed);
    printf("%zu layouts of these kernels: direction right in %zu (%.0f %%).\n", t->layouts,
           t->layouts_right, 100.0 * (double)t->layouts_right / (double)t->layouts);
}

static restride_status draw(const totals *t, const char *file)
{
    static const double ends[] = {-1, 0, 1, 2, 3, 4};
    const points *changed = &t->series[0], *kept = &t->series[1];
    const rs_plot_series series[] = {
        {.name = "changed", .count = changed->count, .x = changed->x, .y = changed->y},
        {.name = "kept: the best other layout", .count = kept->count, .x = kept->x, .y = kept->y},
        {.name = "as foretold", .count = 6, .x = ends, .y = ends, .dashed = true}};
    const rs_plot plot = {.kind = RS_PLOT_POINTS,
                          .title = "Gain over an array of structures: powers of two",
                          .x_label = "measured",
                          .y_label = "foretold",
                          .series = series,
                          .series_count = 3};
    rs_text svg = RS_TEXT_EMPTY;
    rs_plot_write(&svg, &plot);
    restride_status status = rs_text_write_file(file, svg.data, svg.size);
    rs_text_free(&svg);
    return status;
}

restride_status rs_judge_report(const json_t *measured, const char *device, const char *svg,
                                bool markdown)
{
    static totals t; /* large */
    size_t i;
    json_t *entry;
    rs_judge_device described;
    restride_status status = rs_judge_read_device(&described, device);
    t = (totals){.lost = 1};
    printf(markdown
               ? "| kernel | lanes | bytes | a | MB | work | best | measured | foretold | judge "
                 "| measured | foretold |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"
               : "kernel                lanes   touched/of       a    MB  work best measured    "
                 "        gain  told  judge's choice      gain  told\n");
    json_array_foreach(measured, i, entry)
    {
        compared c;
        if (status == RESTRIDE_OK)
            status = compare_row(&c, entry, &described);
        if (status != RESTRIDE_OK)
            break;
        count(&t, &c);
        print_row(&c, markdown);
    }
    if (status == RESTRIDE_OK && t.kernels > 0) {
        print_table(&t, markdown);
        print_totals(&t);
    }
    return status == RESTRIDE_OK && svg != NULL ? draw(&t, svg) : status;
}
