/* Sources and requests that nobody should write: no crash, no endless run, always a reply. */
#include "ask.h"
#include "base/text.h"
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STRUCT "struct P { float x, y; };\n"
#define KERNEL STRUCT "kernel void f(global struct P *a) { a->x = 1; }\n"

/* The reply may say anything, but not that something was transformed, unless it is expected. */
static void expect(const char *source, bool transformed)
{
    json_t *reply = ask_for_tiles(source, "", 32);
    if ((json_object_get(reply, "source") != NULL) != transformed)
        fail_msg("%stransformed: %s\n%.200s", transformed ? "not " : "", string_of(reply, "reason"),
                 source);
    json_decref(reply);
}

static void test_short_sources(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "",
        "\n",
        "struct",
        "struct {",
        "struct P; /* never closed",
        STRUCT "kernel void f(global struct P *a) { a->x = '",
        STRUCT "kernel void f(global struct P *a) { \"",
        STRUCT "kernel void f(global struct P *a) { a->x = 1;",
        STRUCT "kernel void f(global struct P *a",
        STRUCT "kernel void f(global struct P *",
        STRUCT "kernel f",
        STRUCT "kernel void f(global struct P *a, ...) { a[.x = 1; }",
        STRUCT "kernel void f(global struct P *a) { a[a[a[.x = 1; }",
        STRUCT "kernel void f(global struct P *a) { a[].x = 1; }",
        STRUCT "kernel void f(global struct P *a) { a[0].nothing = 1; }",
        "#include \"/dev/null\"\nstruct",
        "#include __FILE__\nstruct",
        "#if\nstruct\n",
        "#define struct\nstruct",
        "# 5 \"x\ny\" struct",
        "#line 4294967295 \"\"\nstruct P",
        "\x01\x02\x7f\x1b struct \\\n \\",
        "struct struct struct struct",
        "struct S { struct S s[1]; int x; };\nkernel void f(global struct S *a) { a->x = 1; }",
        "struct S { int x[0]; int y, z; };\nkernel void f(global struct S *a) { a->y = 1; }",
        "struct S { int y; int x[]; };\nkernel void f(global struct S *a) { a->y = 1; }",
        "struct S { int x[100000][100000]; int y; };\nkernel void f(global struct S *a) { a->y = "
        "1; }",
        "struct S { char x[10000]; int y; };\nkernel void f(global struct S *a) { a->y = 1; }",
        "struct S { };\nkernel void f(global struct S *a) { }",
        "kernel void f(global struct { int x, y; } *a) { a->x = 1; }",
        "//DL: AoS: a[n][",
        "//DL: AoS: a[][]\n/*DL: AoS: b[n][()]*/\nkernel void f(global float *a, global float *b) "
        "{ "
        "*a = *b; }",
        "//DL: AoS: a[n][1/0]\nkernel void f(global float *a) { *a = 1; }",
        "//DL: AoS: a[n][4000000000 * 4]\nkernel void f(global float *a) { *a = 1; }",
        "//DL: AoS: a[n][-2]\nkernel void f(global float *a) { *a = 1; }",
        "kernel void f(global float *a) { *a = 1; }\n#if 1\n//DL: AoS: a[n][4]",
        "restride_appendix\n//DL: AoS: a[n][4]\nkernel void f(global float *a) { *a = 1; }",
        "typedef struct { image2d_t i; int x; } S;\nkernel void f(global S *a) { a->x = 1; }",
    };
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        expect(sources[i], false);
}

static void test_random_bytes(void **state)
{
    (void)state;
    unsigned random = 7;
    for (int i = 0; i < 8; i++) {
        char source[2000];
        strcpy(source, KERNEL);
        for (size_t b = strlen(source); b < sizeof source; b++) {
            random = random * 1664525u + 1013904223u;
            source[b] = (char)(1 + (random >> 24) % 127);
        }
        source[sizeof source - 1] = '\0';
        expect(source, false);
    }
}

/* A valid kernel of which one byte is changed: whatever comes out, it is a reply. */
static void test_damaged_sources(void **state)
{
    (void)state;
    static const char good[] =
        STRUCT "kernel void f(global struct P *a, int n) { a[n].x += (a + 1)->y; a[0] = a[n]; }";
    unsigned random = 11;
    for (int i = 0; i < 30; i++) {
        char source[sizeof good];
        memcpy(source, good, sizeof good);
        random = random * 1664525u + 1013904223u;
        source[(random >> 16) % (sizeof good - 1)] = "(){}[];.*&->,a=\"'#"[(random >> 8) % 18];
        json_decref(ask_for_tiles(source, "", 32));
    }
}

static void repeat(rs_text *text, const char *piece, int count)
{
    for (int i = 0; i < count; i++)
        rs_text_add_string(text, piece);
}

static void test_deep_nesting(void **state)
{
    (void)state;
    static const struct {
        const char *open, *middle, *close;
        int count;
        bool transformed;
    } rows[] = {
        {"(", "a->x", ")", 100, true},
        {"(", "a->x", ")", 100000, false},
        {"a[(int)", "0", "].x", 60, true},
        {"a[(int)", "0", "].x", 5000, false},
        {"- ", "a->x", "", 200, true},
        {"- ", "a->x", "", 1600, false},
        {"1.0f + ", "a->x", "", 200, true},
        {"1.0f + ", "a->x", "", 3000, false},
        {"a->x = ", "1", "", 30000, false},
        {"(float)", "a->x", "", 3000, false},
        {"n ? 1 : ", "a->x", "", 3000, false},
        {"n ? ", "1", ": 2", 30000, false},
        {"{", ";", "}", 50000, false},
        {"{ ", ";", "}", 100, true},
        {"{;} if (n) ", ";", "", 20000, true}, /* one after another */
        {"if (n) ", ";", "", 20000, false},
        {"for (;;) ", ";", "", 20000, false},
        {"for (int k = 0, l = 1; k < n; k++) ", ";", "", 20000, false},
        {"for (int k = 0, l = 1; k < n; k++) ", ";", "", 50, true},
        {"for (int k = 0; k < n; k++) ; ", ";", "", 5000, true}, /* one after another */
        {"if (n) n = 1; else ", ";", "", 30000, false},
        {"if (n) n = 1; else ", ";", "", 200, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rs_text source = RS_TEXT_EMPTY;
        rs_text_add_string(&source, STRUCT "kernel void f(global struct P *a, int n) { a->y = 0; ");
        rs_text_add_string(&source, strchr("{if", rows[i].open[0]) != NULL ? "" : "a->x = ");
        repeat(&source, rows[i].open, rows[i].count);
        rs_text_add_string(&source, rows[i].middle);
        repeat(&source, rows[i].close, rows[i].count);
        rs_text_add_string(&source, "; }");
        expect(source.data, rows[i].transformed);
        rs_text_free(&source);
    }
}

static void test_large_sources(void **state)
{
    (void)state;
    rs_text source = RS_TEXT_EMPTY;
    rs_text_add_string(&source, STRUCT "kernel void f(global struct P *a, int n) {\n");
    repeat(&source, "  a[n].x += a[n].y; n++;\n", 40000); /* 1 MB */
    rs_text_add_string(&source, "}\n");
    expect(source.data, true);
    rs_text_free(&source);
    repeat(&source, "// a comment about nothing\n#define A 1\n", 30000);
    rs_text_add_string(&source, KERNEL);
    expect(source.data, true);
    rs_text_free(&source);
}

/* cpp takes time by the square of the depth; this would be minutes. */
static void test_nested_macros(void **state)
{
    (void)state;
    rs_text source = RS_TEXT_EMPTY;
    rs_text_add_string(&source,
                       "#define F(a) (a)\n" STRUCT "kernel void f(global struct P *a) { a->x = ");
    repeat(&source, "F(", 50000);
    rs_text_add_string(&source, "1");
    repeat(&source, ")", 50000);
    rs_text_add_string(&source, "; }");
    expect(source.data, false);
    rs_text_free(&source);
}

/* Of the processor, for a source that is transformed. */
static double seconds_for(rs_text *source)
{
    clock_t start = clock();
    expect(source->data, true);
    rs_text_free(source);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* A structure whose members are all used. */
static double seconds_for_members(int count)
{
    rs_text source = RS_TEXT_EMPTY;
    rs_text_add_string(&source, "struct M { ");
    for (int i = 0; i < count; i++)
        rs_text_format(&source, "int m%d; ", i);
    rs_text_add_string(&source, "};\nkernel void f(global struct M *a) {\n");
    for (int i = 0; i < count; i++)
        rs_text_format(&source, "a->m%d = %d;\n", i, i);
    rs_text_add_string(&source, "}\n");
    return seconds_for(&source);
}

/* Each access goes through the members, but not once more for each of them. */
static void test_many_members(void **state)
{
    (void)state;
    double few = seconds_for_members(300), many = seconds_for_members(1500);
    if (many > 30 * few)
        fail_msg("300 members: %.3f s, 1500: %.3f s", few, many);
}

/* A chain of helper functions, each calling the one before it, in either order. */
static double seconds_for_helpers(int count, bool callers_first)
{
    rs_text source = RS_TEXT_EMPTY;
    rs_text_add_string(&source, STRUCT);
    for (int i = 0; i < count && callers_first; i++)
        rs_text_format(&source, "float h%d(global struct P *p);\n", i);
    for (int i = 0; i < count; i++) {
        int h = callers_first ? count - 1 - i : i;
        if (h > 0)
            rs_text_format(&source, "float h%d(global struct P *p) { return h%d(p) + p->y; }\n", h,
                           h - 1);
        else
            rs_text_add_string(&source, "float h0(global struct P *p) { return p->y; }\n");
    }
    rs_text_format(&source, "kernel void f(global struct P *a) { a->x = h%d(a); }\n", count - 1);
    return seconds_for(&source);
}

/* Five times as many take about five times as long; it would be 25 times if each looked at all. */
static void test_many_helpers(void **state)
{
    (void)state;
    for (int callers_first = 0; callers_first < 2; callers_first++) {
        double few = seconds_for_helpers(1000, callers_first);
        double many = seconds_for_helpers(5000, callers_first);
        if (many > 12 * few)
            fail_msg("1000 helpers: %.3f s, 5000: %.3f s", few, many);
    }
}

static void test_wrong_requests(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "[]",
        "{}",
        "{\"source\": 1}",
        "{\"source\": \"\", \"tile\": \"x\"}",
        "{\"source\": \"\", \"tile\": 0}",
        "{\"source\": \"\", \"tile\": -1}",
        "{\"source\": \"\", \"tile\": 99999999999}",
        "{\"source\": \"\", \"address_bits\": 16}",
        "{\"source\": \"\", \"layouts\": []}",
        "{\"source\": \"\", \"macros\": 1}",
        "{\"source\": \"\", \"options\": null}",
        "{\"source\": \"struct S { int a, b; };\", \"layouts\": {\"s\": 1}}",
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        json_t *reply = ask(json_loads(requests[i], 0, NULL));
        if (string_of(reply, "error")[0] == '\0')
            fail_msg("no error for %s", requests[i]);
        json_decref(reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_sources),   cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_damaged_sources), cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_large_sources),   cmocka_unit_test(test_many_helpers),
        cmocka_unit_test(test_many_members),    cmocka_unit_test(test_nested_macros),
        cmocka_unit_test(test_wrong_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
