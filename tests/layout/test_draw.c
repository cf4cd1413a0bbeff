/* Drawings: the text to the letter, SVG with every element in its place, large arrays clipped and
 * said to be. */
#include "cmocka_all.h"
#include "generate.h"
#include "layout/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static restride_layout *parse(const char *dims, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("\"%s\" of \"%s\": %s", expression, dims, restride_last_error());
    return layout;
}

static char *draw(const char *dims, const char *expression, bool svg)
{
    restride_layout *layout = parse(dims, expression);
    char *drawing = NULL;
    restride_status status =
        svg ? rs_draw_svg(layout, &drawing) : rs_draw_text(layout, false, &drawing);
    restride_layout_destroy(layout);
    assert_int_equal(status, RESTRIDE_OK);
    return drawing;
}

static void assert_contains(const char *drawing, const char *words)
{
    if (strstr(drawing, words) == NULL)
        fail_msg("\"%s\" is not in:\n%s", words, drawing);
}

static size_t count(const char *drawing, const char *words)
{
    size_t found = 0;
    for (const char *c = drawing; (c = strstr(c, words)) != NULL; c++)
        found++;
    return found;
}

static void test_text_to_the_letter(void **state)
{
    (void)state;
    char *drawing = draw("i:5 f{ float x; short s; }", "i/2 f i%2", false);
    assert_string_equal(drawing,
                        "Layout \"i/2 f i%2\" of \"i:5 f{ float x; short s; }\": 40 bytes.\n"
                        "\n"
                        "The array, each element with its place in memory (in bytes):\n"
                        "        x   s   -\n"
                        "  i=0   0   8  12\n"
                        "  i=1   4  10  14\n"
                        "  i=2  16  24  28\n"
                        "  i=3  20  26  30\n"
                        "  i=4  32  36  38\n"
                        "\n"
                        "Memory, from left to right, then down. A cell of memory names the "
                        "element: i.member (- is padding).\n"
                        "     0 | 0.x 1.x 0.s 1.s 0.- 1.-\n"
                        "    16 | 2.x 3.x 2.s 3.s 2.- 3.-\n"
                        "    32 | 4.x 4.s 4.-\n");
    free(drawing);
}

static void test_ragged_and_padded_tiles_are_named(void **state)
{
    (void)state;
    char *ragged = draw("i:10 f:2", "i/4 f i%4", false);
    assert_contains(ragged, "i/4=2 (ragged: 2 of 4)");
    assert_int_equal(count(ragged, "ragged"), 1);
    assert_int_equal(count(ragged, " pad"), 0);
    char *padded = draw("i:10 f:2", "i/4:pad f i%4", false);
    assert_int_equal(count(padded, "ragged"), 0);
    assert_int_equal(count(padded, " pad"), 4);
    free(ragged);
    free(padded);
}

static void test_large_arrays_are_clipped_and_say_so(void **state)
{
    (void)state;
    for (int svg = 0; svg < 2; svg++) {
        char *drawing = draw("i:1000000000000 f:40", "i/32 f i%32", svg == 1);
        assert_contains(drawing, "Only the beginning is drawn: 24 of 1000000000000 rows and 16 of "
                                 "40 columns of the array; 576 of 40000000000000 elements of "
                                 "memory.");
        assert_true(strlen(drawing) < 400000);
        free(drawing);
        drawing = draw("i:10 f:2", "i/4 f i%4", svg == 1);
        assert_int_equal(count(drawing, "Only the beginning"), 0);
        free(drawing);
    }
}

static void test_svg_shows_every_element_twice(void **state)
{
    (void)state;
    char *drawing = draw("i:10 f:3", "i/4 f i%4", true);
    for (int i = 0; i < 10; i++)
        for (int f = 0; f < 3; f++) {
            char title[64];
            int first = i - i % 4, width = 10 - first < 4 ? 10 - first : 4;
            snprintf(title, sizeof title, "<title>%d,%d at %d</title>", i, f,
                     first * 3 + f * width + i % 4);
            assert_int_equal(count(drawing, title), 2); /* in the array and in memory */
        }
    assert_int_equal(count(drawing, "<polyline"), 1);
    assert_contains(drawing, "prefers-color-scheme: dark");
    assert_contains(drawing, ">i/4=2 (ragged: 2 of 4)</text>");
    assert_int_equal(count(drawing, "http"), 1); /* the name of SVG: nothing is loaded */
    free(drawing);
}

/* A line of text ends inside the picture; what is very long is cut. */
static void test_svg_holds_its_lines(void **state)
{
    (void)state;
    enum { LEFT = 24, CHARACTER = 8 };
    static const char *const dims[] = {
        "y:16 x:16 e:3",
        "y:2 x:2 e{ float a_name_that_is_rather_long; float another_name_that_is_rather_long; }",
    };
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        char *drawing = draw(dims[i], "y x e", true);
        size_t width = strtoul(strstr(drawing, "width=\"") + 7, NULL, 10);
        for (const char *c = drawing; (c = strstr(c, "<text x=\"24\"")) != NULL; c++) {
            size_t length = strcspn(strchr(c, '>') + 1, "<");
            if (LEFT + CHARACTER * length > width)
                fail_msg("%zu characters in %zu pixels of %s", length, width, dims[i]);
        }
        free(drawing);
    }
    char long_dims[2000] = "i:2 f{ ";
    for (int m = 0; m < 60; m++)
        snprintf(long_dims + strlen(long_dims), 30, "float a_member_%d; ", m);
    strcat(long_dims, "}");
    char *drawing = draw(long_dims, "i f", true);
    assert_contains(drawing, "...</text>");
    free(drawing);
}

/* Every opened element is closed, in order. */
static void assert_well_formed(const char *xml)
{
    char open[32][16];
    int depth = 0;
    for (const char *c = xml + strcspn(xml, "<"); *c != '\0'; c += 1 + strcspn(c + 1, "<")) {
        const char *end = c + strcspn(c, ">");
        assert_true(*end == '>');
        char name[16] = "";
        bool closes = c[1] == '/';
        sscanf(c + 1 + closes, "%15[a-z]", name);
        if (closes) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/') {
            assert_true(depth < 32);
            memcpy(open[depth++], name, sizeof name);
        }
    }
    assert_int_equal(depth, 0);
}

static void test_random_layouts_can_be_drawn(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 300; i++) {
        made_layout made;
        make_layout(&made, &random);
        char *drawing = draw(made.dims, made.expression, true);
        assert_well_formed(drawing);
        free(drawing);
        free(draw(made.dims, made.expression, false));
    }
}

static void test_arrays_without_elements(void **state)
{
    (void)state;
    static const char *const dims[] = {"i:0 f:3", "f:3 i:0", "i:0 f{ float x; }"};
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
        for (int svg = 0; svg < 2; svg++) {
            char *drawing = draw(dims[i], "i%4 f i/4", svg == 1);
            assert_contains(drawing, ": 0 ");
            free(drawing);
        }
}

static void test_colours_only_when_asked(void **state)
{
    (void)state;
    restride_layout *layout = parse("i:3 f:2", "f i");
    char *plain, *coloured;
    assert_int_equal(rs_draw_text(layout, false, &plain), RESTRIDE_OK);
    assert_int_equal(rs_draw_text(layout, true, &coloured), RESTRIDE_OK);
    assert_null(strchr(plain, '\033'));
    assert_int_equal(count(coloured, "\033["), 2 * 2 * 6); /* on and off, two cells an element */
    restride_layout_destroy(layout);
    free(plain);
    free(coloured);
}

/* A colour a field, in the table and in memory; the next field is not that of padding. */
static void test_colours_of_fields(void **state)
{
    (void)state;
    restride_layout *layout = parse("i:3 f{ char c; float x; short s; }", "i f");
    char *coloured;
    assert_int_equal(rs_draw_text(layout, true, &coloured), RESTRIDE_OK);
    assert_int_equal(count(coloured, "\033[34m"), 2 * 3);          /* c */
    assert_int_equal(count(coloured, "\033[31m"), 2 * 3);          /* x */
    assert_int_equal(count(coloured, "\033[32m"), 2 * 3);          /* s */
    assert_int_equal(count(coloured, "\033[2m"), 2 * 3 * (2 + 1)); /* two bytes and one, and two */
    restride_layout_destroy(layout);
    free(coloured);
}

/* How many cells each row of memory has: those of its fastest term, and of more where that has
 * fewer than four; sixteen at most. */
static void test_rows_of_memory(void **state)
{
    (void)state;
    static const struct {
        const char *dims, *layout;
        size_t rows[6]; /* cells; 0: no more rows */
    } drawn[] = {
        {"i:40 f:1", "i f", {1, 1, 1, 1, 1, 1}},
        {"i:3 f:5", "i f", {5, 5, 5}},
        {"i:5 f:3", "i f", {15}},
        {"i:6 f:3", "i f", {3, 3, 3, 3, 3, 3}},
        {"i:10 f:2", "i/4 f i%4", {4, 4, 4, 4, 2, 2}},
        {"i:8 f:2", "i/4 i/2%2 f i%2", {4, 4, 4, 4}},
        {"i:20", "i", {16, 4}},
        {"y:3 x:2 e:2", "y x e", {4, 4, 4}},
        {"y:5 x:2 e:2", "y x e", {4, 4, 4, 4, 4}},
    };
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        restride_layout *layout = parse(drawn[i].dims, drawn[i].layout);
        rs_picture picture;
        assert_int_equal(rs_picture_create(&picture, layout), RESTRIDE_OK);
        for (size_t row = 0; row < 6; row++) {
            size_t cells = row < picture.memory_row_count ? picture.memory_rows[row].count : 0;
            if (cells != drawn[i].rows[row])
                fail_msg("row %zu of %s has %zu cells", row, drawn[i].dims, cells);
        }
        rs_picture_free(&picture);
        restride_layout_destroy(layout);
    }
    restride_layout *nested = parse("i:16 f:2", "i/8 i/2%4 f i%2");
    char *text;
    assert_int_equal(rs_draw_text(nested, false, &text), RESTRIDE_OK);
    for (int group = 0; group < 2; group++) {
        char name[40];
        snprintf(name, sizeof name, "i/8=%d", group);
        assert_int_equal(count(text, name), 1);
    }
    restride_layout_destroy(nested);
    free(text);
}

static void test_public_drawings_are_the_same(void **state)
{
    (void)state;
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, "i:8 f:3", "i/4 f i%4"), RESTRIDE_OK);
    char *text, *svg, *drawing;
    assert_int_equal(rs_draw_text(layout, false, &text), RESTRIDE_OK);
    assert_int_equal(rs_draw_svg(layout, &svg), RESTRIDE_OK);
    assert_int_equal(restride_layout_draw(layout, RESTRIDE_DRAWING_TEXT, &drawing), RESTRIDE_OK);
    assert_string_equal(drawing, text);
    free(drawing);
    assert_int_equal(restride_layout_draw(layout, RESTRIDE_DRAWING_SVG, &drawing), RESTRIDE_OK);
    assert_string_equal(drawing, svg);
    free(drawing);
    assert_int_equal(restride_layout_draw(layout, (restride_drawing)2, &drawing),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_null(drawing);
    assert_int_equal(restride_layout_draw(NULL, RESTRIDE_DRAWING_SVG, &drawing),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_layout_draw(layout, RESTRIDE_DRAWING_SVG, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    free(text);
    free(svg);
    restride_layout_destroy(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_to_the_letter),
        cmocka_unit_test(test_ragged_and_padded_tiles_are_named),
        cmocka_unit_test(test_large_arrays_are_clipped_and_say_so),
        cmocka_unit_test(test_svg_shows_every_element_twice),
        cmocka_unit_test(test_svg_holds_its_lines),
        cmocka_unit_test(test_random_layouts_can_be_drawn),
        cmocka_unit_test(test_arrays_without_elements),
        cmocka_unit_test(test_colours_only_when_asked),
        cmocka_unit_test(test_colours_of_fields),
        cmocka_unit_test(test_rows_of_memory),
        cmocka_unit_test(test_public_drawings_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
