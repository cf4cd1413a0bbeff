/* Plots: what is drawn where, and that any name and value gives a document. */
#include "console/plot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *draw(const rs_plot *plot)
{
    rs_text svg = RS_TEXT_EMPTY;
    rs_plot_write(&svg, plot);
    char *text = rs_text_take(&svg);
    assert_non_null(text);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t found = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        found++;
    return found;
}

static const double values[] = {1, 2, 4, NAN};
static const double places[] = {1, 2, 4, 8};

static rs_plot a_plot(rs_plot_kind kind, const rs_plot_series *series, size_t series_count)
{
    return (rs_plot){.kind = kind,
                     .title = "a < b & c",
                     .subtitle = "d",
                     .x_label = "x",
                     .y_label = "GB/s",
                     .series = series,
                     .series_count = series_count};
}

static void bars_stand_on_the_axis(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two", "three", "four"};
    const rs_plot_series series[] = {{"first", 4, NULL, values, false, 0},
                                     {"second", 3, NULL, values, false, 0}};
    rs_plot plot = a_plot(RS_PLOT_BARS, series, 2);
    plot.categories = names;
    plot.category_count = 4;
    char *svg = draw(&plot);
    /* Six finite values, and a square for each name in the legend. */
    assert_int_equal(count(svg, "<rect class=\"bar"), 6 + 2);
    /* The highest value is the end of the axis: a bar from its top to its bottom. */
    assert_int_equal(count(svg, "height=\"298.0\""), 2);
    assert_int_equal(count(svg, ">three</text>"), 1);
    free(svg);
}

static void lines_break_where_a_value_is_missing(void **state)
{
    (void)state;
    static const double broken[] = {1, NAN, 4, 2};
    const rs_plot_series series[] = {{"line", 4, places, broken, false, 0}};
    rs_plot plot = a_plot(RS_PLOT_LINES, series, 1);
    plot.x_logarithmic = true;
    char *svg = draw(&plot);
    const char *path = strstr(svg, "d=\" M");
    assert_non_null(path);
    assert_int_equal(count(path, " M"), 2);
    assert_int_equal(count(path, " L"), 1);
    /* Powers of two are equally far from each other: 70 to 650 in three steps. */
    assert_non_null(strstr(svg, ">8</text>"));
    assert_non_null(strstr(path, "M456.7"));
    free(svg);
}

static void names_are_escaped(void **state)
{
    (void)state;
    const rs_plot_series series[] = {{"<script>", 3, NULL, values, false, 0}};
    const rs_plot plot = a_plot(RS_PLOT_POINTS, series, 1);
    char *svg = draw(&plot);
    assert_null(strstr(svg, "<script>"));
    assert_non_null(strstr(svg, "a &lt; b &amp; c"));
    free(svg);
}

static void points_have_lines_of_reference(void **state)
{
    (void)state;
    const rs_plot_series series[] = {{"dots", 3, NULL, values, false, 0},
                                     {"a line", 3, NULL, values, true, 0}};
    const rs_plot plot = a_plot(RS_PLOT_POINTS, series, 2);
    char *svg = draw(&plot);
    assert_int_equal(count(svg, "class=\"dot c0\""), 3);
    assert_int_equal(count(svg, "class=\"dot c1\""), 0);
    assert_int_equal(count(svg, "class=\"line c1 dashed\""), 2); /* and in the legend */
    free(svg);
}

static void lines_of_one_colour_differ(void **state)
{
    (void)state;
    static const double large[] = {0, 20000};
    rs_plot_series series[9];
    for (size_t s = 0; s < 9; s++)
        series[s] = (rs_plot_series){"a name that is longer than most", 2, NULL, large, false, 0};
    const rs_plot plot = a_plot(RS_PLOT_LINES, series, 9);
    char *svg = draw(&plot);
    assert_int_equal(count(svg, "class=\"line c0\""), 2); /* in the plot and in the legend */
    assert_int_equal(count(svg, "class=\"line c0 again\""), 2);
    assert_int_equal(count(svg, ">20000</text>"), 1);
    assert_int_equal(count(svg, "width=\"932\""), 1); /* the legend has room */
    free(svg);
}

static void nothing_to_draw_is_a_document_too(void **state)
{
    (void)state;
    static const double none[] = {NAN};
    const rs_plot_series series[] = {{"empty", 0, NULL, NULL, false, 0},
                                     {"nan", 1, none, none, true, 3}};
    for (int kind = RS_PLOT_LINES; kind <= RS_PLOT_BARS; kind++) {
        const rs_plot plot = a_plot((rs_plot_kind)kind, series, 2);
        char *svg = draw(&plot);
        assert_int_equal(count(svg, "</svg>"), 1);
        assert_null(strstr(svg, "nan "));
        assert_null(strstr(svg, "\"nan"));
        assert_null(strstr(svg, "inf"));
        free(svg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_stand_on_the_axis),
        cmocka_unit_test(lines_break_where_a_value_is_missing),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(points_have_lines_of_reference),
        cmocka_unit_test(lines_of_one_colour_differ),
        cmocka_unit_test(nothing_to_draw_is_a_document_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
