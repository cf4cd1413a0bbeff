/*
 * The new source keeps the user's line numbers and comments: every name stands in the line that it
 * was written in, and a device's compiler that finds an error says so too.
 */
#include "ask.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that end in their own line number: l<line>_. */
static const char source[] =
    "/* a comment of\n"
    "   two lines */ typedef struct { float x, y; int id; } record;\n"
    "// the lengths\n"
    "#define AT(p, i) \\\n"
    "    (p)[i]\n"
    "#ifdef NONE\n"
    "  nothing here\n"
    "#endif\n"
    "float l9_(const global record *q, int k);\n"
    "\n\n\n\n\n\n\n\n\n\n\n\n"
    "// moves one\n"
    "static void l23_(global record *l23_q, /* from here */\n"
    "                 float l24_x) // to there\n"
    "{\n"
    "    l23_q->x = AT(l23_q,\n"
    "                  0).y; float l27_ = 1;\n"
    "    l23_q++; l23_q->x += l24_x; int l28_ = 0;\n"
    "}\n"
    "#define N 4 /* times */\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "/* The kernel. */ kernel void l32_(int l32_k,\n"
    "    global record *l33_a, int l33_n) { /* starts */ // here\n"
    "    l33_a[l33_n // the\n"
    "        + 1 /* index */].x = 1; int l35_ = 0;\n"
    "    for (int l36_ = 0; l36_ < N; l36_++) {\n"
    "        l23_(&l33_a[l36_], // first\n"
    "             l9_(l33_a,\n"
    "                 l33_n) + l33_a\n"
    "             ->y // second\n"
    "        ); int l41_ = 1;\n"
    "        l33_a[l36_] =\n"
    "            l33_a[l33_n]; int l43_ = 2; constant char *l43_s = \"// /* l43_ \";\n"
    "    }\n"
    "}\n"
    "float l9_(const global record *l46_q, int l46_k) { return l46_q[l46_k].x; }\n"
    "kernel void l47_(global int *l47_b) { l47_b[0] = sizeof(record); } /* the end */\n";

/* The number in "l<number>_..."; 0 for other names. */
static int number_of_name(const char *name)
{
    char *end;
    long number = name[0] == 'l' ? strtol(name + 1, &end, 10) : 0;
    return number > 0 && *end == '_' ? (int)number : 0;
}

/* Whether a line declares the name, that is, whether its number must fit. */
static bool is_declared_in(const char *original, int line, const char *name, size_t length)
{
    for (int i = 1; i < line && original != NULL; i++) {
        original = strchr(original, '\n');
        original += original != NULL;
    }
    const char *end = original == NULL ? NULL : strchr(original, '\n');
    for (const char *c = original; c != NULL && c < end; c++)
        if (strncmp(c, name, length) == 0)
            return true;
    return false;
}

/* Follows the #line directives of a text; every name must be in its line, where the original has it
 * too. */
static void check_lines(const char *text)
{
    int line = 1, checked = 0;
    bool users = true; /* else generated text */
    while (*text != '\0') {
        const char *end = strchr(text, '\n');
        end = end == NULL ? text + strlen(text) : end;
        if (strncmp(text, "#line ", 6) == 0) {
            line = atoi(text + 6);
            users = true;
            text = end + (*end == '\n');
            continue;
        }
        if (strncmp(text, "/* Made by", 10) == 0 || strncmp(text, "struct restride_", 16) == 0)
            users = false;
        for (const char *c = text; users && c < end; c++) {
            bool start = c == text || strchr(" (*&)[{;,-", c[-1]) != NULL;
            size_t length = strspn(c, "abcdefghijklmnopqrstuvwxyz0123456789_");
            if (!start || number_of_name(c) == 0 || length == 0)
                continue;
            if (!is_declared_in(source, line, c, length))
                fail_msg("%.*s is said to be in line %d:\n%.*s", (int)length, c, line,
                         (int)(end - text), text);
            checked++;
        }
        line++;
        text = end + (*end == '\n');
    }
    assert_true(checked > 40);
}

static json_t *rewrite(bool comments)
{
    json_t *reply = ask(json_pack("{s:s, s:s, s:s, s:i, s:b, s:b}", "source", source, "file",
                                  "a user's kernel.cl", "options", "", "tile", 16,
                                  "assume_undefined", 1, "comments", comments));
    const json_t *a = find_argument(reply, "l32_", "l33_a");
    if (a == NULL)
        fail_msg("the source stays: %s", string_of(reply, "reason"));
    assert_string_equal(string_of(a, "status"), "transformed");
    return reply;
}

static void test_names_stay_in_their_lines(void **state)
{
    (void)state;
    for (int comments = 0; comments < 2; comments++) {
        json_t *reply = rewrite(comments != 0);
        check_lines(string_of(reply, "source"));
        json_decref(reply);
    }
}

static void test_comments_stay(void **state)
{
    (void)state;
    static const char *const comments[] = {"   two lines */ typedef",
                                           "// the lengths\n",
                                           "// moves one\n",
                                           "/* from here */",
                                           "// to there\n",
                                           "/* The kernel. */",
                                           "// here\n",
                                           "// first\n",
                                           "// second\n",
                                           "\"// /* l43_ \"",
                                           "} /* the end */"};
    json_t *with = rewrite(true), *without = rewrite(false);
    for (size_t i = 0; i < sizeof comments / sizeof comments[0]; i++) {
        if (strstr(string_of(with, "source"), comments[i]) == NULL)
            fail_msg("\"%s\" is missing in:\n%s", comments[i], string_of(with, "source"));
        if (comments[i][0] != '"')
            assert_null(strstr(string_of(without, "source"), comments[i]));
    }
    json_decref(with);
    json_decref(without);
}

/* cpp reads "#define" behind a comment as text once it keeps comments. */
static void test_comments_never_change_the_source(void **state)
{
    (void)state;
    static const char text[] = "/* one */ #define LENGTH 3\ntypedef struct { float x; float "
                               "v[LENGTH]; } P;\nkernel void f(global P *a) { a->x = 1; /* no */ }";
    json_t *reply = ask(json_pack("{s:s, s:i, s:b, s:b}", "source", text, "tile", 16,
                                  "assume_undefined", 1, "comments", 1));
    rs_record record;
    read_record(find_argument(reply, "f", "a"), &record);
    assert_int_equal(record.size, 16);
    rs_record_free(&record);
    json_decref(reply);
}

/* Spoils one place of the new source and looks where the device's compiler finds the error. */
static void expect_error_in_line(const char *good, const char *place, int line)
{
    const char *found = strstr(good, place);
    assert_non_null(found);
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add(&text, good, (size_t)(found - good));
    rs_text_add_string(&text, "surely_unknown_name; ");
    rs_text_add_string(&text, found);
    char *spoiled = rs_text_take(&text), wanted[32];
    assert_non_null(spoiled);
    char *log = device_build_log(spoiled);
    snprintf(wanted, sizeof wanted, "kernel.cl:%d:", line);
    if (strstr(log, wanted) == NULL)
        fail_msg("the error before \"%s\" is not in line %d: %s", place, line, log);
    free(log);
    free(spoiled);
}

static void test_compilers_name_the_users_lines(void **state)
{
    (void)state;
    if (!device_available())
        skip();
    json_t *reply = rewrite(true);
    const char *text = string_of(reply, "source");
    static const struct {
        const char *place;
        int line;
    } rows[] = {{"float l27_", 27}, {"int l28_", 28}, {"int l35_", 35},
                {"int l41_", 41},   {"int l43_", 43}, {"l47_b[0]", 47}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_error_in_line(text, rows[i].place, rows[i].line);
    json_decref(reply);
}

/* Generators name files that are not there, and their own output. */
static void test_lines_of_generated_sources(void **state)
{
    (void)state;
    static const char *const files[] = {"<stdout>", "<built-in>", "<command-line>",
                                        "is/not/there.h"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "typedef struct { float x, y; } P;\n#line 30 \"%s\"\nvoid g(global P *a) { a->x = 1; "
            "}\nkernel void f(global P *a, global P *b) { g(a);\n g((global P *)(ulong)b); }\n",
            files[i]);
        json_t *reply = ask_for_tiles(text, "", 32);
        const json_t *a = find_argument(reply, "f", "a"), *b = find_argument(reply, "f", "b");
        if (a == NULL || b == NULL)
            fail_msg("%s: %s", text, string_of(reply, "reason"));
        assert_string_equal(string_of(a, "status"), "transformed");
        assert_non_null(strstr(string_of(reply, "source"), "void g(global P *a)"));
        assert_string_equal(string_of(b, "file"), files[i]);
        assert_int_equal(number_of(b, "line"), 32);
        json_decref(reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_stay_in_their_lines),
        cmocka_unit_test(test_comments_stay),
        cmocka_unit_test(test_comments_never_change_the_source),
        cmocka_unit_test(test_lines_of_generated_sources),
        cmocka_unit_test(test_compilers_name_the_users_lines),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_release();
    return failed;
}
