/*
 * Preprocessing: which macros the rewriter asks for, what it does with the answers and with the
 * build options, and what of the preprocessor's language survives in the new source.
 */
#include "ask.h"
#include "base/text.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL "struct P { float x, y; };\nkernel void f(global struct P *a) { a->x = 1; }\n"

/* The names in "unknown_macros" or "unknown_values", each followed by a space. */
static void listed_names(const json_t *reply, const char *list, char *names, size_t size)
{
    size_t i, used = 0;
    json_t *name;
    names[0] = '\0';
    json_array_foreach(json_object_get(reply, list), i, name)
    {
        used += (size_t)snprintf(names + used, size - used, "%s ", json_string_value(name));
        assert_true(used < size);
    }
}

static void unknown_names(const json_t *reply, char *names, size_t size)
{
    listed_names(reply, "unknown_macros", names, size);
}

static json_t *ask_with_macros(const char *source, const char *options, json_t *macros)
{
    return ask(json_pack("{s:s, s:s, s:i, s:o}", "source", source, "options", options, "tile", 32,
                         "macros", macros));
}

static void test_every_way_to_test_a_macro(void **state)
{
    (void)state;
    static const struct {
        const char *text, *options, *unknown;
    } rows[] = {
        {"", "", ""},
        {"#ifdef A\n#endif\n", "", "A "},
        {"#ifndef A\n#endif\n", "", "A "},
        {"#if defined(A) || defined B\n#endif\n", "", "A B "},
        {"#if !defined(A) && !defined(B)\n#endif\n", "", "A B "},
        {"#if A > 3\n#endif\n", "", "A "},
        {"#if __OPENCL_VERSION__ >= 120 && X\n#endif\n", "-DX=1", "__OPENCL_VERSION__ "},
        {"#if 0\n#elif A\n#elif defined(B)\n#endif\n", "", "A B "},
        {"#if 1\n#elif A\n#elif defined(B)\n#endif\n", "", ""},
        {"#if 0\n#ifdef A\n#endif\n#endif\n", "", ""},
        {"#ifdef A\n#ifdef B\n#endif\n#endif\n", "-DA", "B "},
        {"#define A 1\n#ifdef A\n#endif\n", "", ""},
        {"#define A B\n#if A\n#endif\n", "", "B "},
        {"#define A(x) x\n#if A(B) + A(C)\n#endif\n", "", "B C "},
        {"#ifdef A\n#endif\n#ifdef A\n#endif\n#if A\n#endif\n", "", "A "},
        {"#ifdef A\n#endif\n", "-DA -UA", "A "},
        {"#ifdef A\n#endif\n", "-U A -D A=2", ""},
        {"#ifdef A\n#define A 1\n#endif\n", "-DA=3", ""},
        {"int g() { return M_E_F > 1 && CLK_LOCAL_MEM_FENCE; }\n", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[512], names[256];
        snprintf(source, sizeof source, "%s%s", rows[i].text, KERNEL);
        json_t *reply = ask_with_macros(source, rows[i].options, json_object());
        unknown_names(reply, names, sizeof names);
        if (strcmp(names, rows[i].unknown) != 0)
            fail_msg("\"%s\" instead of \"%s\" for:\n%s", names, rows[i].unknown, source);
        bool asked = rows[i].unknown[0] != '\0';
        assert_int_equal(json_object_get(reply, "source") == NULL, asked);
        json_decref(reply);
    }
}

static void test_answers_decide(void **state)
{
    (void)state;
    static const char source[] = "#if defined(A) && A > 1\n"
                                 "struct P { float x, y; int z; };\n"
                                 "#else\n"
                                 "struct P { float x, y; };\n"
                                 "#endif\n"
                                 "kernel void f(global struct P *a) { a->x = A_PLUS; }\n"
                                 "#if A == 2\n#ifdef B\n#endif\n#endif\n";
    json_t *reply = ask_with_macros(source, "-D \"A_PLUS=1\"", json_pack("{s:n}", "A"));
    assert_int_equal(number_of(json_object_get(find_argument(reply, "f", "a"), "record"), "size"),
                     8);
    json_decref(reply);
    reply = ask_with_macros(source, "-D \"A_PLUS=1\"", json_pack("{s:s}", "A", "2"));
    char names[64];
    unknown_names(reply, names, sizeof names);
    assert_string_equal(names, "B "); /* the answer uncovers another question */
    json_decref(reply);
    reply = ask_with_macros(source, "-D \"A_PLUS=1\"", json_pack("{s:s, s:n}", "A", "2", "B"));
    assert_int_equal(number_of(json_object_get(find_argument(reply, "f", "a"), "record"), "size"),
                     12);
    json_decref(reply);
}

/* The language says what the limits of integers are; their text is no single word. */
static void test_limits_of_integers(void **state)
{
    (void)state;
    static const struct {
        const char *condition;
        bool holds;
    } rows[] = {{"INT_MIN < 0 && INT_MIN == -INT_MAX - 1", true},
                {"LONG_MIN < INT_MIN && LONG_MIN + LONG_MAX == -1", true},
                {"CHAR_MIN == SCHAR_MIN && CHAR_MAX == 127 && CHAR_BIT == 8", true},
                {"SHRT_MIN == -32768 && USHRT_MAX == 65535 && UCHAR_MAX == 255", true},
                {"ULONG_MAX == LONG_MAX", false},
                {"UINT_MAX == 0xffffffff && ULONG_MAX > LONG_MAX", true}};
    static const char *const names[] = {"INT_MIN",   "INT_MAX",  "LONG_MIN",  "LONG_MAX",
                                        "CHAR_MIN",  "CHAR_MAX", "SCHAR_MIN", "SCHAR_MAX",
                                        "CHAR_BIT",  "SHRT_MIN", "SHRT_MAX",  "USHRT_MAX",
                                        "UCHAR_MAX", "UINT_MAX", "ULONG_MAX"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[512];
        snprintf(source, sizeof source, "#if %s\nint held(void);\n#endif\n%s", rows[i].condition,
                 KERNEL);
        json_t *macros = json_object();
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
            json_object_set_new(macros, names[n], json_true());
        json_t *reply = ask_with_macros(source, "", macros);
        const char *found = string_of(reply, "source");
        if (found[0] == '\0' || (strstr(found, "int held(void);") != NULL) != rows[i].holds)
            fail_msg("#if %s:\n%s", rows[i].condition, found);
        json_decref(reply);
    }
}

/* Of a macro that is known to be defined, the value is asked for only where it matters. */
static void test_values_that_are_needed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *values;
    } rows[] = {
        {"#ifdef A\n#endif\n", ""},
        {"#if defined(A) && !defined B\n#endif\n", ""},
        {"#if defined(A) && A > 1\n#endif\n", "A "},
        {"#ifdef B\n#if A\n#endif\n#endif\n", "A "},
        {"#ifdef A\n#pragma OPENCL EXTENSION A : enable\n#endif\n", ""},
        {"#ifdef A\nint g() { return A; }\n#endif\n", "A "},
        {"#ifdef FLT_MAX\nfloat g() { return FLT_MAX; }\n#endif\n", ""},
        {"#ifdef FLT_DIG\nint g() { return FLT_DIG; }\n#endif\n", "FLT_DIG "},
        {"#ifdef M_PI_F\nfloat g() { return M_PI_F; }\n#endif\n", ""},
        {"#if INT_MIN < 0\nint g() { return INT_MIN; }\n#endif\n", ""},
        {"#ifndef NULL\n#define NULL 0\n#endif\nint g(int *p) { return p == NULL; }\n", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[512], names[256];
        snprintf(source, sizeof source, "%s%s", rows[i].text, KERNEL);
        json_t *reply = ask_with_macros(source, "",
                                        json_pack("{s:b, s:b, s:b, s:b, s:b, s:b, s:b}", "A", 1,
                                                  "B", 1, "FLT_MAX", 1, "FLT_DIG", 1, "M_PI_F", 1,
                                                  "INT_MIN", 1, "NULL", 1));
        listed_names(reply, "unknown_values", names, sizeof names);
        if (strcmp(names, rows[i].values) != 0)
            fail_msg("\"%s\" instead of \"%s\" for:\n%s", names, rows[i].values, source);
        assert_int_equal(json_object_get(reply, "source") == NULL, names[0] != '\0');
        json_decref(reply);
    }
    /* Pasted by a macro, it would not be in the text. */
    json_t *reply = ask_with_macros("#ifdef A\n#endif\n#define CAT_(a, b) a##b\n"
                                    "#define CAT(a, b) CAT_(a, b)\nint CAT(x, A);\n" KERNEL,
                                    "", json_pack("{s:b}", "A", 1));
    assert_null(json_object_get(reply, "source"));
    assert_non_null(strstr(string_of(reply, "reason"), "a macro with #"));
    json_decref(reply);
}

static void test_build_options(void **state)
{
    (void)state;
    static const struct {
        const char *options, *body, *expected, *rest;
    } rows[] = {
        {"-DX=7", "X", "= 7;", ""},
        {"-DX", "X", "= 1;", ""},
        {"-D X=7 -w", "X", "= 7;", "-w"},
        {"-cl-fast-relaxed-math   -D\tX=7 -cl-std=CL1.2", "X", "= 7;",
         "-cl-fast-relaxed-math -cl-std=CL1.2"},
        {"\"-DX=1 + 2\"", "X", "= 1 + 2;", ""},
        {"-DX=\"1 + 2\"", "X", "= 1 + 2;", ""},
        {"\"-DX(u,v)=u*v\"", "X(3, 4)", "= 3*4;", ""},
        {"-DX=M_E_F", "X", "= 2.7", ""}, /* the parser knows it, the text keeps the name */
        {"-Da=a[0].x,a", "(1, 2)", "", ""},
        {"-DX=1 -DX=2", "X", "= 2;", ""},
        {"-DX=3 -g -some-option \"a b\"", "X", "= 3;", "-g -some-option \"a b\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[512];
        snprintf(source, sizeof source,
                 "struct P { float x, y; };\nkernel void f(global struct P *b, global float *c) { "
                 "b->x = 1; *c = %s; }\n",
                 rows[i].body);
        json_t *reply = ask_with_macros(source, rows[i].options, json_object());
        const char *found = string_of(reply, "source");
        const char *expected = strstr(rows[i].expected, "2.7") ? "= M_E_F;" : rows[i].expected;
        if (strstr(found, expected) == NULL || found[0] == '\0')
            fail_msg("with %s there is no \"%s\" in:\n%s\n%s", rows[i].options, expected, found,
                     string_of(reply, "reason"));
        assert_string_equal(string_of(reply, "options"), rows[i].rest);
        json_decref(reply);
    }
}

static void test_options_that_are_not_followed(void **state)
{
    (void)state;
    static const char *const options[] = {"-include x.h", "-fpack-struct=1", "-cl-std=CLC++",
                                          "-cl-std=nothing"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        json_t *reply = ask_with_macros(KERNEL, options[i], json_object());
        if (json_object_get(reply, "source") != NULL || string_of(reply, "reason")[0] == '\0')
            fail_msg("%s was followed", options[i]);
        json_decref(reply);
    }
}

/* What stands in the new source, and what does not. */
static void test_what_survives(void **state)
{
    (void)state;
    static const struct {
        const char *text, *present, *absent;
    } rows[] = {
        {"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
         "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n", NULL},
        {"_Pragma(\"OPENCL FP_CONTRACT OFF\")\n", "#pragma OPENCL FP_CONTRACT OFF", NULL},
        {"#define N 4\nvoid g(void) {\n  # pragma  unroll N*2\nfor (int i = 0; i < N; i++) ; }\n",
         "#pragma unroll 4*2", "restride_pragma"},
        {"/* #pragma unroll */ // a comment\nint g(void);\n", "int g(void)", "comment"},
        {"#define sin(x) native_sin(x)\nfloat g(void) { return sin(1.0f) + sin (2.0f); }\n",
         "native_sin(1.0f)", "#undef"},
        {"#define half_pi half_pi\nint h(int half_pi) { return half_pi; }\n", "#undef half_pi\n",
         NULL},
        {"#undef M_FOO\nint g(int M_FOO) { return M_FOO; }\n", "#undef M_FOO\n", NULL},
        {"#define UNUSED 1\n#undef NOTHING\n", "struct P", "#undef"},
        {"float g(void) { return M_PI_F; }\n", "M_PI_F", "3.14"},
        {"int g(void) { return '\"' + \"a\\\"b\"[0] + __LINE__; }\n", "\"a\\\"b\"[0] + 1;", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[512];
        snprintf(source, sizeof source, "%s%s", rows[i].text, KERNEL);
        json_t *reply = ask_with_macros(source, "", json_object());
        const char *found = string_of(reply, "source");
        if (strstr(found, rows[i].present) == NULL)
            fail_msg("no \"%s\" in:\n%s\n%s", rows[i].present, found, string_of(reply, "reason"));
        if (rows[i].absent != NULL && strstr(found, rows[i].absent) != NULL)
            fail_msg("\"%s\" in:\n%s", rows[i].absent, found);
        json_decref(reply);
    }
}

/* A folder with one header, below the folder for temporary files. */
static char *make_header(const char *text)
{
    const char *folder = getenv("TMPDIR");
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/restride include XXXXXX", folder != NULL ? folder : "/tmp");
    char *made = rs_text_take(&path);
    assert_non_null(made);
    assert_non_null(mkdtemp(made));
    rs_text_format(&path, "%s/records.h", made);
    assert_int_equal(rs_text_write_file(path.data, text, strlen(text)), RESTRIDE_OK);
    rs_text_free(&path);
    return made;
}

static void test_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *status, *file;
        int line;
    } rows[] = {
        {"struct P {\n float x, y; };\n", "transformed", "", 0},
        {"struct P {\n float x;\n int y : 3; };\n", "kept", "records.h", 3},
        {"struct P {\n float x, y; };\n#if __has_builtin(__builtin_foo)\n#endif\n", "", "records.h",
         3},
        {"struct P {\n float x, y; };\n#error no good\n", "", "records.h", 3},
        {"struct P {\n flat x, y; };\n", "kept", "records.h", 2},
        {"struct P {\n float x, y; };\n#line 7 \"/dev/zero\"\n\n", "transformed", "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *folder = make_header(rows[i].header);
        rs_text options = RS_TEXT_EMPTY;
        rs_text_format(&options, "-I \"%s\"", folder);
        json_t *reply = ask_for_tiles(
            "#include \"records.h\"\nkernel void f(global struct P *a) { a->x = 1; }\n",
            options.data, 32);
        const json_t *argument = find_argument(reply, "f", "a");
        const json_t *where = argument != NULL ? argument : reply;
        assert_string_equal(string_of(where, "status"), rows[i].status);
        if (rows[i].line != 0) {
            if (strstr(string_of(where, "file"), rows[i].file) == NULL ||
                number_of(where, "line") != rows[i].line)
                fail_msg("%s:%lld: %s", string_of(where, "file"), number_of(where, "line"),
                         string_of(where, "reason"));
        }
        json_decref(reply);
        rs_text_add_string(&options, "");
        rs_text path = RS_TEXT_EMPTY;
        rs_text_format(&path, "%s/records.h", folder);
        unlink(path.data);
        rmdir(folder);
        rs_text_free(&path);
        rs_text_free(&options);
        free(folder);
    }
}

static const struct {
    const char *text, *options, *reason;
} read_differently[] = {
    {"#define YES\n#if 0\n#elifdef YES\n#endif\n", "", "#elifdef"},
    {"#if 0\n#elif\\\nndef YES\n#endif\n", "", "#elifndef"},
    {"constant char name[] = __FILE__;\n", "", "name of its file"},
    {"#define WHERE __BASE\\\n_FILE__\n", "", "name of its file"},
    {"#define PACK 4\n#pragma pack(push, PACK)\n#pragma pack(pop)\n", "", "packing"},
    {"#pragma pack(PACK)\n", "-DPACK=4", "packing"},
    {"#if TEST\n#endif\n", "-DTEST=__has_builtin(__builtin_astype)", "features"},
    {"#define S(x) #x\nconstant char v[] = S(__OPENCL_C_VERSION__);\n", "", "# or ##"},
    {"#define J(a, b) \\\n a##b\nconstant float v = J(M_, PI_F);\n", "", "# or ##"},
    {"/* a\n b */ #define S(x) #x\nconstant char v[] = S(CL_VERSION_1_0);\n", "", "# or ##"},
    {"#def\\\nine S(x) #x\nconstant char v[] = S(CL\\\n_VERSION_1_0);\n", "", "# or ##"},
    {"#define S(x) #x\n/*\n#if */ constant char v[] = S(CL_VERSION_1_0);\n", "", "# or ##"},
    {"#define S(x) #x\n#define N CL_VERSION_1_0\n", "", "# or ##"},
    {"#define S(x) /* a\n b */ #x\nconstant char v[] = S(CL_VERSION_1_0);\n", "", "# or ##"},
    {"#define S(x) \\ \n#x\nconstant char v[] = S(CL_VERSION_1_0);\n", "", "# or ##"},
    {"%:define S(x) %:x\nconstant char v[] = S(CL_VERSION_1_0);\n", "", "# or ##"},
    {"#define S(x) /* \" */ #x /* \" */\nconstant char v[] = S(CL_VERSION_1_0);\n", "", "# or ##"},
    {"#define W_120 1\n#define E_(v) W_##v\n#define E(v) E_(v)\n"
     "#if E(__OPENCL_C_VERSION__)\n#endif\n",
     "", "# or ##"},
    {"#define E_(v) W_##v\n#define E(v) E_(v)\nconstant int v = E(__opencl_c_int64);\n", "",
     "# or ##"},
    {"#define E_(v) W_##v\n#define E(v) E_(v)\nconstant int v = E(__FAST_RELAXED_MATH__);\n", "",
     "# or ##"},
    {"// a \\\n/* b\n#define S(x) #x\n// */\nconstant char v[] = S(CL_VERSION_1_0);\n", "",
     "# or ##"},
    {"#define T \"a\\\n/*\"\n#define S(x) #x\n//*/\nconstant char v[] = S(CL_VERSION_1_0);\n", "",
     "# or ##"},
    {"#define Q '\"'\n#define S(x) #x //\"\nconstant char v[] = S(CL_VERSION_1_0);\n", "",
     "# or ##"},
    {"/\\\n* a *\\\n/\n#define S(x) #x\nconstant char v[] = S(CL_VERSION_1_0);\n", "", "# or ##"},
    {"", "-Drestride_source=1", "options define names that start with restride_"},
    {"int X;\n", "-DX=restride_v", "names that start with restride_"},
    {"", "-DX='3'", "quotes"},
    {"", "-DX=\\\"3\\\"", "quotes"},
};

/* What cpp and the device's compiler may read differently keeps the whole source. */
static void test_sources_that_compilers_read_differently(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof read_differently / sizeof read_differently[0]; i++) {
        char source[512];
        snprintf(source, sizeof source, "%s%s", read_differently[i].text, KERNEL);
        json_t *reply = ask_for_tiles(source, read_differently[i].options, 32);
        if (json_object_get(reply, "source") != NULL ||
            strstr(string_of(reply, "reason"), read_differently[i].reason) == NULL)
            fail_msg("\"%s\" is not the reason for:\n%s\nbut \"%s\"", read_differently[i].reason,
                     source, string_of(reply, "reason"));
        json_decref(reply);
    }
    /* Operators of macros alone, packing by a number, and names that no macro can take are no
     * reason. */
    static const char *const innocent[] = {
        "#define J(a, b) a##b\n#pragma pack(push, 4)\n#pragma pack(pop)\n",
        "#define J(a, b) a##b\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
        "#define J(a, b) a##b\n#ifdef CL_VERSION_1_0\n#define ONE 1\n#endif\n",
        "#define J(a, b) a##b\n#undef NAN\n__constant int one = 1;\n",
        "#define A \"#1\"\nconstant float big = FLT_MAX;\n",
        "// #include <main.h>\nconstant float big = FLT_MAX;\n",
        "/* no. #1,\n   no. #2 */ constant int fence = CLK_LOCAL_MEM_FENCE;\n",
        "constant char hash = '#'; // it's # 1\nconstant float big = FLT_MAX;\n",
    };
    for (size_t i = 0; i < sizeof innocent / sizeof innocent[0]; i++) {
        char source[512];
        snprintf(source, sizeof source, "%s%s", innocent[i], KERNEL);
        json_t *reply = ask_for_tiles(source, "", 32);
        if (strcmp(string_of(reply, "reason"), "") != 0)
            fail_msg("%s: \"%s\"", innocent[i], string_of(reply, "reason"));
        json_decref(reply);
    }
    json_t *reply = ask_for_tiles(KERNEL, "-Urestride_b -DX=restride_a", 32);
    assert_string_equal(string_of(reply, "reason"), "");
    json_decref(reply);
    reply =
        ask_for_tiles("\n#define S(x) #x\nconstant char v[] = S(CL_VERSION_1_0);\n" KERNEL, "", 32);
    assert_int_equal(json_integer_value(json_object_get(reply, "line")), 2);
    assert_non_null(strstr(string_of(reply, "reason"), "such as the one in kernel.cl:3"));
    json_decref(reply);
    /* Build options have no lines. */
    reply = ask_for_tiles(KERNEL, "-DX=sizeof(\"#\") -DY=FLT_MAX", 32);
    assert_string_equal(string_of(reply, "file"), "the build options");
    assert_int_equal(json_integer_value(json_object_get(reply, "line")), 0);
    assert_string_equal(string_of(reply, "reason"),
                        "a macro with # or ## (here) may get names that "
                        "only the device's compiler knows");
    json_decref(reply);
    reply = ask_for_tiles("#define S(x) #x\n" KERNEL, "-DY=FLT_MAX", 32);
    assert_int_equal(json_integer_value(json_object_get(reply, "line")), 1);
    assert_non_null(strstr(string_of(reply, "reason"), "knows, such as one of the build options"));
    json_decref(reply);
}

/* A name with a backslash is found, told as it is, and escaped in the new source. What another cpp
 * wrote names files that are not there. */
static void test_names_of_files(void **state)
{
    (void)state;
    static const struct {
        const char *header, *status;
    } rows[] = {{"struct P {\n float x, y; };\n", "transformed"},
                {"struct P {\n float x; int y : 3; };\n", "kept"}};
    for (int i = 0; i < 2; i++) {
        char *folder = make_header(rows[i].header);
        char made[256], wanted[256], options[256];
        snprintf(made, sizeof made, "%s/records.h", folder);
        snprintf(wanted, sizeof wanted, "%s/re\\cords.h", folder);
        snprintf(options, sizeof options, "-I \"%s\"", folder);
        assert_int_equal(rename(made, wanted), 0);
        json_t *reply = ask_for_tiles(
            "#include \"re\\cords.h\"\nkernel void f(global struct P *a) { a->x = 1; }\n", options,
            32);
        const json_t *argument = find_argument(reply, "f", "a");
        if (argument == NULL)
            fail_msg("%s: %s", string_of(reply, "file"), string_of(reply, "reason"));
        assert_string_equal(string_of(argument, "status"), rows[i].status);
        if (i == 0)
            assert_non_null(strstr(string_of(reply, "source"), "/re\\\\cords.h\"\n"));
        else
            assert_string_equal(string_of(argument, "file"), wanted);
        json_decref(reply);
        unlink(wanted);
        rmdir(folder);
        free(folder);
    }
    json_t *reply = ask_for_tiles("# 1 \"gone.h\" 1\nstruct P { float x, y; };\n# 7 \"k.cl\" 2 3\n"
                                  "kernel void f(global struct P *a) { (int)a; }\n",
                                  "", 32);
    const json_t *argument = find_argument(reply, "f", "a");
    assert_non_null(argument);
    assert_string_equal(string_of(argument, "file"), "k.cl");
    assert_int_equal(number_of(argument, "line"), 7);
    json_decref(reply);
}

static void test_a_missing_header_is_the_reason(void **state)
{
    (void)state;
    static const char source[] = "\n#include \"nowhere.h\"\n" KERNEL;
    json_t *reply = ask_with_macros(source, "", json_object());
    char names[256];
    unknown_names(reply, names, sizeof names);
    assert_non_null(strstr(names, "__OPENCL_VERSION__ ")); /* it may have taken a host's branch */
    json_decref(reply);
    reply = ask_for_tiles(source, "", 32);
    assert_null(json_object_get(reply, "error"));
    assert_null(json_object_get(reply, "source"));
    assert_non_null(strstr(string_of(reply, "reason"), "nowhere.h"));
    assert_string_equal(string_of(reply, "file"), "kernel.cl");
    assert_int_equal(number_of(reply, "line"), 2);
    json_decref(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_to_test_a_macro),
        cmocka_unit_test(test_answers_decide),
        cmocka_unit_test(test_limits_of_integers),
        cmocka_unit_test(test_values_that_are_needed),
        cmocka_unit_test(test_build_options),
        cmocka_unit_test(test_options_that_are_not_followed),
        cmocka_unit_test(test_what_survives),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_names_of_files),
        cmocka_unit_test(test_sources_that_compilers_read_differently),
        cmocka_unit_test(test_a_missing_header_is_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
