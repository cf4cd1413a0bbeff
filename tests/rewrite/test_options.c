/* Build options: what a command line's words become as one text, and how that is sorted. */
#include "cmocka_all.h"

#include "source/options.h"

#include <stdio.h>
#include <string.h>

#define LENGTH(array) (int)(sizeof(array) / sizeof(array)[0])

static void sorts_by_who_needs_them(void **state)
{
    (void)state;
    rs_options options;
    assert_int_equal(
        rs_options_parse(&options, " -DA=1 -cl-std=CL3.0 -D B='x y' -cl-fast-math -Ione "),
        RESTRIDE_OK);
    static const char *const expected[] = {"-DA=1", "-DB=x y", "-Ione"};
    assert_int_equal(options.preprocessor_count, LENGTH(expected));
    for (int i = 0; i < LENGTH(expected); i++)
        assert_string_equal(options.preprocessor[i], expected[i]);
    assert_string_equal(options.rest, "-cl-std=CL3.0 -cl-fast-math");
    assert_string_equal(options.standard, "CL3.0");
    assert_null(options.refused);
    rs_options_free(&options);
}

static void names_what_it_does_not_follow(void **state)
{
    (void)state;
    static const char *const refused[] = {"-include", "-fpack-struct=1", "-cl-std=CLC++", "-x"};
    for (int i = 0; i < LENGTH(refused); i++) {
        char text[64];
        snprintf(text, sizeof text, "-cl-mad-enable %s -DX", refused[i]);
        rs_options options;
        assert_int_equal(rs_options_parse(&options, text), RESTRIDE_OK);
        assert_non_null(options.refused);
        assert_string_equal(options.refused, refused[i]);
        rs_options_free(&options);
    }
}

static void joined_words_are_split_into_the_same(void **state)
{
    (void)state;
    static char blank[] = "-DA=x y", quote[] = "-DB=\"q\"", single[] = "-DC='",
                slash[] = "-DD=\\n\\", empty[] = "-DE=", tab[] = "-DF=\t;";
    char *const words[] = {blank, quote, single, slash, empty, tab};
    static const struct {
        const char *file, *folder;
    } cases[] = {{"a.cl", "-I."}, {"/a.cl", "-I/"}, {"my \"own\"/b.d/a.cl", "-Imy \"own\"/b.d/"}};
    for (int k = 0; k < LENGTH(cases); k++) {
        rs_text text = RS_TEXT_EMPTY;
        rs_options_join(&text, words, LENGTH(words), cases[k].file);
        rs_options options;
        assert_false(text.failed);
        assert_int_equal(rs_options_parse(&options, text.data), RESTRIDE_OK);
        assert_int_equal(options.preprocessor_count, LENGTH(words) + 1);
        for (int i = 0; i < LENGTH(words); i++)
            assert_string_equal(options.preprocessor[i], words[i]);
        assert_string_equal(options.preprocessor[LENGTH(words)], cases[k].folder);
        assert_string_equal(options.rest, "");
        rs_options_free(&options);
        rs_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_by_who_needs_them),
        cmocka_unit_test(names_what_it_does_not_follow),
        cmocka_unit_test(joined_words_are_split_into_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
