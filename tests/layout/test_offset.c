/* Offsets against the definition: an element's rank among all index vectors sorted by their term
 * values. */
#include "cmocka_all.h"
#include "generate.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { LAYOUTS = 6000 };

static restride_layout *parse(const char *dims, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("\"%s\" of \"%s\": %s", expression, dims, restride_last_error());
    return layout;
}

static void test_random_layouts_against_the_definition(void **state)
{
    (void)state;
    uint64_t random = 20;
    size_t ragged = 0, padded = 0, records = 0, disordered = 0;
    for (int i = 0; i < LAYOUTS; i++) {
        made_layout made;
        make_layout(&made, &random);
        restride_layout *layout = parse(made.dims, made.expression);
        size_t(*indices)[MADE_RANK], *offsets;
        size_t count = sort_elements(&made, &indices, &offsets);
        size_t size = 0;
        for (size_t e = 0; e < count; e++) {
            size_t found = restride_layout_offset(layout, indices[e]);
            size_t back[RS_LAYOUT_MAX_RANK];
            size_t within = rs_layout_index(layout, offsets[e], back);
            if (found != offsets[e] || within != 0 ||
                memcmp(back, indices[e], (size_t)made.rank * sizeof back[0]) != 0)
                fail_msg("\"%s\" of \"%s\": element %zu of memory is at %zu, not %zu",
                         made.expression, made.dims, e, found, offsets[e]);
            size = offsets[e] + (made.record >= 0 ? made.leaf_size[indices[e][made.record]] : 1);
        }
        assert_int_equal(restride_layout_size(layout), size);
        assert_int_equal(restride_layout_rank(layout), made.rank);
        for (int d = 0; d < made.rank; d++) {
            assert_int_equal(restride_layout_extent(layout, d), made.extent[d]);
            padded += made.padded[d] != made.extent[d];
            disordered += !layout->dimensions[d].descending;
        }
        for (int t = 0; t < made.term_count; t++)
            ragged += made.padded[made.terms[t].dimension] % made.terms[t].divisor != 0;
        records += made.record >= 0;
        free(indices);
        free(offsets);
        restride_layout_destroy(layout);
    }
    /* The generator reaches every kind of layout. */
    assert_true(ragged > 500 && padded > 500 && records > 500 && disordered > 500);
}

/* The formula of a ragged ASTA layout, written out. */
static void test_asta_of_a_record(void **state)
{
    (void)state;
    restride_layout *layout =
        parse("i:1003 f{ float x; char c; double m; int id; }", "i/32 f i%32");
    const rs_record *record = &layout->dimensions[1].record;
    assert_int_equal(record->size, 24);
    assert_int_equal(restride_layout_size(layout), 1003 * 24);
    for (size_t i = 0; i < 1003; i++)
        for (size_t f = 0; f < record->leaf_count; f++) {
            size_t first = i - i % 32;
            size_t width = 1003 - first < 32 ? 1003 - first : 32;
            size_t expected = first * 24 + record->leaves[f].offset * width +
                              (i - first) * record->leaves[f].size;
            assert_int_equal(restride_layout_offset(layout, (const size_t[]){i, f}), expected);
        }
    restride_layout_destroy(layout);
}

static void test_offsets_beyond_32_bits(void **state)
{
    (void)state;
    const size_t rows = (size_t)1 << 40;
    restride_layout *layout = parse("r:1099511627776 c:1000", "r/4294967296 c r%4294967296");
    const size_t tile = (size_t)1 << 32;
    const size_t index[] = {rows - 1, 999};
    assert_int_equal(restride_layout_size(layout), rows * 1000);
    assert_int_equal(restride_layout_offset(layout, index), rows * 1000 - 1);
    assert_int_equal(restride_layout_offset(layout, (const size_t[]){tile + 5, 7}),
                     tile * 1000 + 7 * tile + 5);
    size_t back[RS_LAYOUT_MAX_RANK];
    rs_layout_index(layout, rows * 1000 - 1, back);
    assert_int_equal(back[0], rows - 1);
    assert_int_equal(back[1], 999);
    restride_layout_destroy(layout);
}

typedef struct {
    const char *dims;
    const char *expression;
    rs_layout_form form;
    size_t tile;
} classified;

static const classified classified_layouts[] = {
    {"i:100 f:5", "i f", RS_FORM_AOS, 0},
    {"i:100 f:5", "f i", RS_FORM_SOA, 0},
    {"i:100 f:5", "i/32 f i%32", RS_FORM_ASTA, 32},
    {"i:96 f:5", "i/32:pad f i%32", RS_FORM_ASTA, 32},
    {"i:100 f:5", "i/32:pad f i%32", RS_FORM_OTHER, 0},
    {"i:96 f:5", "i%32 f i/32", RS_FORM_OTHER, 0},
    {"i:100 f:5", "i/1 f i%1", RS_FORM_AOS, 0},
    {"i:100 f:5", "i%1 i/32 f i%32", RS_FORM_ASTA, 32},
    {"i:100 f:5", "f/2 i f%2", RS_FORM_OTHER, 0},
    {"i:100 f{ float x; }", "i/8 f i%8", RS_FORM_ASTA, 8},
    {"f{ float x; } i:100", "i/8 f i%8", RS_FORM_ASTA, 8},
    {"f{ float x; } i:100", "f i", RS_FORM_SOA, 0},
    {"y:4 x:4 f:2", "y x f", RS_FORM_OTHER, 0},
    {"i:100", "i", RS_FORM_OTHER, 0},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof classified_layouts / sizeof classified_layouts[0]; i++) {
        const classified *wanted = &classified_layouts[i];
        restride_layout *layout = parse(wanted->dims, wanted->expression);
        size_t tile = 99;
        if (rs_layout_classify(layout, &tile) != wanted->form || tile != wanted->tile)
            fail_msg("\"%s\" of \"%s\" is classified wrongly", wanted->expression, wanted->dims);
        restride_layout_destroy(layout);
    }
}

static void test_layout_of_a_record_equals_the_parsed_one(void **state)
{
    (void)state;
    restride_layout *parsed = parse("i:70 f{ char c; double m; }", "i/32 f i%32");
    restride_layout *made;
    assert_int_equal(rs_layout_of_record(&made, &parsed->dimensions[1].record, 70, "i/32 f i%32"),
                     RESTRIDE_OK);
    assert_true(rs_record_equal(&made->dimensions[1].record, &parsed->dimensions[1].record));
    for (size_t i = 0; i < 70; i++)
        for (size_t f = 0; f < parsed->dimensions[1].extent; f++)
            assert_int_equal(restride_layout_offset(made, (const size_t[]){i, f}),
                             restride_layout_offset(parsed, (const size_t[]){i, f}));
    restride_layout_destroy(made);
    assert_int_equal(rs_layout_of_record(&made, &parsed->dimensions[1].record, 70, "i/32 f"),
                     RESTRIDE_SYNTAX);
    assert_null(made);
    restride_layout_destroy(parsed);
    restride_layout_destroy(NULL);
}

static void test_what_is_not_there_is_0(void **state)
{
    (void)state;
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, "i:70 f:5", "i f"), RESTRIDE_OK);
    assert_int_equal(restride_layout_extent(layout, 1), 5);
    assert_int_equal(restride_layout_extent(layout, 2), 0);
    assert_int_equal(restride_layout_extent(layout, -1), 0);
    restride_layout_destroy(layout);
    assert_int_equal(restride_layout_extent(NULL, 0), 0);
    assert_int_equal(restride_layout_rank(NULL), 0);
    assert_int_equal(restride_layout_size(NULL), 0);
    assert_int_equal(restride_layout_offset(NULL, NULL), 0);
}

static void test_an_empty_array_has_size_0(void **state)
{
    (void)state;
    restride_layout *layout = parse("i:0 f:3", "i/32 f i%32");
    assert_int_equal(restride_layout_size(layout), 0);
    restride_layout_destroy(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_layouts_against_the_definition),
        cmocka_unit_test(test_asta_of_a_record),
        cmocka_unit_test(test_offsets_beyond_32_bits),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_layout_of_a_record_equals_the_parsed_one),
        cmocka_unit_test(test_what_is_not_there_is_0),
        cmocka_unit_test(test_an_empty_array_has_size_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
