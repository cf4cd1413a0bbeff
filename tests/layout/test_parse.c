/* Dimension lists and expressions: what a C compiler would do with members, and a sentence for each
 * mistake. */
#include "cmocka_all.h"
#include "generate.h"
#include "layout/layout.h"

#include <stdio.h>
#include <string.h>

static restride_layout *parse(const char *dims, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("\"%s\" of \"%s\": %s", expression, dims, restride_last_error());
    return layout;
}

/* The members below, for the compiler and as text. */
#define MEMBERS                                                                                    \
    char c;                                                                                        \
    double m;                                                                                      \
    float v[3];                                                                                    \
    struct {                                                                                       \
        short a;                                                                                   \
        struct {                                                                                   \
            unsigned char r, g;                                                                    \
            long long t;                                                                           \
        } deep[2];                                                                                 \
        int b[2][2];                                                                               \
    } inner[2];                                                                                    \
    unsigned short int last;

#define TEXT(...) #__VA_ARGS__
#define TEXT_OF(...) TEXT(__VA_ARGS__)

typedef struct {
    MEMBERS
} reference;

typedef struct {
    const char *name;
    size_t offset;
    size_t size;
} place;

#define PLACE(member, path)                                                                        \
    {                                                                                              \
        member, offsetof(reference, path), sizeof((reference *)NULL)->path                         \
    }

static const place places[] = {
    PLACE("c", c),
    PLACE("m", m),
    PLACE("v[0]", v[0]),
    PLACE("v[2]", v[2]),
    PLACE("inner[0].a", inner[0].a),
    PLACE("inner[0].deep[0].r", inner[0].deep[0].r),
    PLACE("inner[0].deep[1].g", inner[0].deep[1].g),
    PLACE("inner[1].deep[1].t", inner[1].deep[1].t),
    PLACE("inner[0].b[1][0]", inner[0].b[1][0]),
    PLACE("inner[1].b[0][1]", inner[1].b[0][1]),
    PLACE("last", last),
};

static void test_members_lie_as_the_compiler_places_them(void **state)
{
    (void)state;
    restride_layout *layout = parse("i:3 f{ " TEXT_OF(MEMBERS) " }", "i f");
    const rs_record *record = &layout->dimensions[1].record;
    assert_int_equal(record->size, sizeof(reference));
    assert_int_equal(record->alignment, _Alignof(reference));
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        const rs_leaf *leaf = NULL;
        for (size_t l = 0; l < record->leaf_count; l++)
            if (!record->leaves[l].padding && strcmp(record->leaves[l].name, places[p].name) == 0)
                leaf = &record->leaves[l];
        if (leaf == NULL || leaf->offset != places[p].offset || leaf->size != places[p].size)
            fail_msg("member %s is missing or lies elsewhere", places[p].name);
    }
    restride_layout_destroy(layout);
}

static void test_vectors_are_single_leaves(void **state)
{
    (void)state;
    restride_layout *layout = parse(
        "f{half h; float3 p; uchar4 q[2]; double16 d; struct tag { long2 n; } s;} i:2", "i f");
    const rs_record *record = &layout->dimensions[0].record;
    const size_t offsets[] = {0, 16, 32, 36, 128, 256};
    const char *const names[] = {"h", "p", "q[0]", "q[1]", "d", "s.n"};
    size_t found = 0;
    for (size_t l = 0; l < record->leaf_count; l++) {
        if (record->leaves[l].padding)
            continue;
        assert_string_equal(record->leaves[l].name, names[found]);
        assert_int_equal(record->leaves[l].offset, offsets[found]);
        found++;
    }
    assert_int_equal(found, 6);
    assert_int_equal(record->size, 384);
    assert_int_equal(record->alignment, 128);
    restride_layout_destroy(layout);
}

/* What lies where, "name:offset+size" of each leaf but padding, and size and alignment. */
static void check_record(const char *dims, const char *expected)
{
    restride_layout *layout = parse(dims, dims[0] == 'f' ? "f" : "packed");
    const rs_record *record = &layout->dimensions[0].record;
    rs_text text = RS_TEXT_EMPTY;
    for (size_t l = 0; l < record->leaf_count; l++)
        if (!record->leaves[l].padding)
            rs_text_format(&text, "%s:%zu+%zu ", record->leaves[l].name, record->leaves[l].offset,
                           record->leaves[l].size);
    rs_text_format(&text, "%zu/%zu", record->size, record->alignment);
    assert_false(text.failed);
    assert_string_equal(text.data, expected);
    rs_text_free(&text);
    restride_layout_destroy(layout);
}

static void test_packed_members_have_no_padding(void **state)
{
    (void)state;
    check_record("f packed{ char c; double m; short s; }", "c:0+1 m:1+8 s:9+2 11/1");
    check_record("f packed { float x; float y; }", "x:0+4 y:4+4 8/4");
    check_record("f packed{ char c; struct { char a; int b; } in; }",
                 "c:0+1 in.a:1+1 in.b:5+4 9/1");
    check_record("packed{ char c; int b; }", "c:0+1 b:4+4 8/4"); /* a dimension of that name */
}

static void test_arrays_that_move_as_a_whole(void **state)
{
    (void)state;
    check_record("f{ char[7] name; float[3] v; }", "name:0+7 v:8+12 20/4");
    check_record("f{ float4 [2] q, p[2]; char [ 3 ] c; }",
                 "q:0+32 p[0]:32+32 p[1]:64+32 c:96+3 112/16");
    check_record("f packed{ unsigned char[5] a; double[2] z; }", "a:0+5 z:5+16 21/1");
}

static void test_types_behind_the_dimensions(void **state)
{
    (void)state;
    static const struct {
        const char *dims;
        const char *expression;
        size_t size;
        size_t bytes;
    } cases[] = {
        {"y:3 x:5", "x y", 15, 0},
        {"y:3 x:5 float", "x y", 15, 60},
        {"y:3 x:5 unsigned long long", "x y", 15, 120},
        {"y:3 x:5 float3 ", "x y", 15, 240},
        {"y:3 x:5 char[12]", "x y", 15, 180},
        {"float:3 int:5 double[2]", "int float", 15, 240},
        {"y:3 float{ int a; }", "float y", 12, 12},
        {"y:3 x:5 short", "y/2:pad x y%2", 20, 40},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        restride_layout *layout = parse(cases[i].dims, cases[i].expression);
        assert_int_equal(restride_layout_size(layout), cases[i].size);
        assert_int_equal(restride_layout_bytes(layout), cases[i].bytes);
        restride_layout_destroy(layout);
    }
    assert_int_equal(restride_layout_bytes(NULL), 0);
}

static void test_blanks_are_free(void **state)
{
    (void)state;
    restride_layout *layout = parse("  i:100\n\tf {float x;}j:3 ", " i / 32:pad  f\tj i % 32 ");
    assert_int_equal(layout->term_count, 4);
    assert_int_equal(layout->terms[0].divisor, 32);
    assert_true(layout->terms[0].padded);
    assert_int_equal(layout->terms[3].modulus, 32);
    assert_int_equal(restride_layout_size(layout), 128 * 3 * 4);
    restride_layout_destroy(layout);
}

typedef struct {
    const char *dims;
    const char *expression;
    restride_status status;
    size_t character; /* 1 is the first; 0: the sentence points nowhere */
    const char *words;
} mistake;

#define SYNTAX RESTRIDE_SYNTAX

static const mistake mistakes[] = {
    /* expressions */
    {"i:64 f:3", "", SYNTAX, 1, "empty"},
    {"i:64 f:3", "  ", SYNTAX, 3, "empty"},
    {"i:64 f:3", "i/32 g i%32", SYNTAX, 6, "no dimension \"g\"; the dimensions are i, f"},
    {"i:64 f:3", "i/32 f i%3", SYNTAX, 8, "i/32 begins at 32 but i%3 ends at 3"},
    {"i:64 f:3", "i/32 f", SYNTAX, 1, "the part i%32 is missing"},
    {"i:64 f:3", "i/32 f i%4", SYNTAX, 1, "the part i/4%8 is missing"},
    {"i:64 f:3", "f i%32", SYNTAX, 3, "the part i/32 is missing"},
    {"i:64 f:3", "f i/4%8 i%4", SYNTAX, 3, "the part i/32 is missing"},
    {"i:64 f:3", "i i f", SYNTAX, 3, "i covers a part of the dimension i that i covers already"},
    {"i:64 f:3", "i f i%4", SYNTAX, 5, "i%4 covers a part"},
    {"i:64 f:3", "i/4 f i%8", SYNTAX, 7, "i%8 covers a part of the dimension i that i/4 covers"},
    {"i:64 f:3", "i%4 i%8 i/8 f", SYNTAX, 5, "covers already"},
    {"i:64 f:3", "i/32 i%32", SYNTAX, 10, "the dimension f has no term"},
    {"i:64 f:3", "i/0 f i%0", SYNTAX, 3, "at least 1 element"},
    {"i:64 f:3", "i/8 f i%0", SYNTAX, 9, "at least 1 element"},
    {"i:64 f:3", "i/ f", SYNTAX, 4, "a number is expected, the size of the tile"},
    {"i:64 f:3", "i/-3 f i%3", SYNTAX, 3, "a number is expected"},
    {"i:64 f:3", "i/99999999999999999999 f", RESTRIDE_OVERFLOW, 3, "64 bits"},
    {"i:64 f:3", "i/4294967296%4294967296 f i%4294967296", RESTRIDE_OVERFLOW, 1, "beyond 64 bits"},
    {"i:64 f:3", "i, f", SYNTAX, 2, "blank is expected after the term"},
    {"i:64 f:3", "i+f", SYNTAX, 2, "blank is expected after the term"},
    {"i:64 f:3", "i/32f i%32", SYNTAX, 5, "blank is expected after the term"},
    {"i:64 f:3", "(i f)", SYNTAX, 1, "a term such as"},
    {"i:64 f:3", "i \xc3\xa4 %", SYNTAX, 3, "a term such as"},
    {"i:64 f:3", "i:64 f", SYNTAX, 2, "only \":pad\""},
    {"i:64 f:3", "i/8 f i%8:pad", SYNTAX, 10, "only a quotient can be padded"},
    {"i:64 f:3", "i:pad f", SYNTAX, 2, "only a quotient can be padded"},
    {"i:100 f:3", "i%32 f i/32", SYNTAX, 8, "32 does not divide the extent 100"},
    {"i:96 f:3", "i/32%2 f i%32 i/64", SYNTAX, 15, "64 does not divide the extent 96"},
    {"i:18446744073709551615", "i/2:pad i%2", RESTRIDE_OVERFLOW, 1, "padded extent"},
    {"i:4294967296 f:4294967296", "i f", RESTRIDE_OVERFLOW, 0, "does not fit into 64 bits"},
    {"i:4611686018427387904 f{float x;}", "i f", RESTRIDE_OVERFLOW, 0, "does not fit"},
    {"i:4 f{float x;}", "i f/2 f%2", SYNTAX, 3, "the record f cannot be split"},
    {"i:4 f{float x;}", "i f%1", SYNTAX, 3, "the record f cannot be split"},
    /* dimension lists */
    {"", "i", SYNTAX, 1, "empty"},
    {"7:i", "i", SYNTAX, 1, "a dimension such as i:64"},
    {"i", "i", SYNTAX, 2, "needs an extent"},
    {"i=3", "i", SYNTAX, 2, "needs an extent"},
    {"i:", "i", SYNTAX, 3, "a number is expected, the extent"},
    {"i:x", "i", SYNTAX, 3, "a number is expected, the extent"},
    {"i:3x", "i", SYNTAX, 4, "blank is expected after the extent"},
    {"i:3,f:4", "i f", SYNTAX, 4, "blank is expected after the extent"},
    {"i:3 i:4", "i", SYNTAX, 5, "two dimensions named \"i\""},
    {"i:18446744073709551616", "i", RESTRIDE_OVERFLOW, 3, "64 bits"},
    {"f{float x;} g{float y;}", "f g", SYNTAX, 13, "second record"},
    {"a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1 l:1 m:1 n:1 o:1 p:1 q:1", "a",
     RESTRIDE_UNSUPPORTED, 65, "more than 16"},
    /* members */
    {"f{}", "f", SYNTAX, 3, "at least one member"},
    {"f{ float x; struct { } s; }", "f", SYNTAX, 21, "at least one member"},
    {"f{ float x; ", "f", SYNTAX, 13, "closing brace"},
    {"f{ float x }", "f", SYNTAX, 12, "a semicolon is expected"},
    {"f{ float }", "f", SYNTAX, 10, "the member's name is expected"},
    {"f{ quad x; }", "f", SYNTAX, 4, "\"quad\" is not a type"},
    {"f{ float5 x; }", "f", SYNTAX, 4, "\"float5\" is not a type"},
    {"f{ unsigned float x; }", "f", SYNTAX, 13, "the member's name is expected"},
    {"f{ unsigned unsigned x; }", "f", SYNTAX, 4, "\"unsigned unsigned\" is not a type"},
    {"f{ float *p; }", "f", SYNTAX, 10, "pointer"},
    {"f{ int b : 3; }", "f", RESTRIDE_UNSUPPORTED, 10, "bit-field"},
    {"f{ union { int a; } u; }", "f", RESTRIDE_UNSUPPORTED, 4, "union"},
    {"f{ struct tag s; }", "f", SYNTAX, 15, "nested structure's members"},
    {"f{ float x[0]; }", "f", SYNTAX, 12, "at least one entry"},
    {"f{ float x[3; }", "f", SYNTAX, 13, "\"]\" is expected"},
    {"f{ float x[n]; }", "f", SYNTAX, 12, "a number is expected, the number of entries"},
    {"f{ float x[5000]; }", "f", RESTRIDE_UNSUPPORTED, 10, "more than 4096 members"},
    {"f{ float x[4294967296][4294967296]; }", "f", RESTRIDE_UNSUPPORTED, 10, "more than 4096"},
    {"f{ float x; int x; }", "f", SYNTAX, 17, "two members named \"x\""},
    {"f{ float v[2]; int v; }", "f", SYNTAX, 20, "two members named \"v\""},
    {"f{ 3 x; }", "f", SYNTAX, 4, "a member such as"},
    {"f packed", "f", SYNTAX, 3, "the dimension f needs an extent"},
    {"f packt{ float x; }", "f", SYNTAX, 3, "the dimension f needs an extent"},
    {"f{ float[0] x; }", "f", SYNTAX, 10, "at least one entry"},
    {"f{ float[3 x; }", "f", SYNTAX, 12, "\"]\" is expected"},
    {"f{ char[2000000] x; }", "f", RESTRIDE_UNSUPPORTED, 4, "more than 1048576 bytes"},
    {"f{ float[2][2] x; }", "f", SYNTAX, 12, "the member's name is expected"},

    /* types of elements */
    {"i:4 float j:3", "i j", SYNTAX, 5, "comes last, behind all dimensions"},
    {"float", "float", SYNTAX, 1, "comes last, behind all dimensions"},
    {"i:4 f{ int a; } float", "i f", SYNTAX, 17, "the record f says what the elements are"},
    {"i:4 quad", "i", SYNTAX, 9, "the dimension quad needs an extent"},
    {"i:4 float[0]", "i", SYNTAX, 11, "at least one entry"},
    {"i:4611686018427387904 int", "i", RESTRIDE_OVERFLOW, 0, "more bytes than 64 bits"},
};

static void test_each_mistake_has_its_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const mistake *m = &mistakes[i];
        restride_layout *layout = (restride_layout *)&mistakes;
        rs_layout_fault fault;
        restride_status status = rs_layout_parse(&layout, m->dims, m->expression, &fault);
        const char *sentence = restride_last_error();
        char place_text[32];
        snprintf(place_text, sizeof place_text, "At character %zu of", m->character);
        if (status != m->status || layout != NULL || strstr(sentence, m->words) == NULL ||
            fault.known != (m->character != 0) ||
            (fault.known && strstr(sentence, place_text) == NULL) ||
            (fault.known && fault.position != m->character - 1))
            fail_msg(
                "\"%s\" of \"%s\": status %d, sentence \"%s\"; wanted character %zu and \"%s\"",
                m->expression, m->dims, (int)status, sentence, m->character, m->words);
        if (sentence[strlen(sentence) - 1] != '.')
            fail_msg("\"%s\" is no sentence", sentence);
    }
}

/* Layouts that are spread over processes have no offsets, so only spread.h takes them. */
static void test_spread_terms_are_apart(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        const char *words; /* NULL: it is right */
    } cases[] = {
        {"@r/3 r%3 c", NULL},
        {"r/4 @ r/2%2 r%2 c", NULL},
        {"r%3 @r/3 c", NULL},
        {"@r @c", NULL},
        {"@r/3 c", "the part r%3 is missing"},
        {"@r/3 @r%3 r%3 c", "covers already"},
        {"@@r c", "a term such as i, i/32"},
        {"@ r/4:pad r%4 c", "r is padded"},
        {"@r/4 r%2 r/2%2 c", "4 does not divide the extent 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        restride_layout *layout;
        const restride_status status =
            rs_layout_parse_spread(&layout, "r:7 c:5", cases[i].expression, NULL);
        if ((cases[i].words == NULL) != (status == RESTRIDE_OK) ||
            (cases[i].words != NULL && strstr(restride_last_error(), cases[i].words) == NULL))
            fail_msg("\"%s\": %s", cases[i].expression, restride_last_error());
        restride_layout_destroy(layout);
        assert_int_equal(restride_layout_parse(&layout, "r:7 c:5", cases[i].expression),
                         RESTRIDE_SYNTAX);
        assert_null(layout);
    }
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, "r:7 c:5", "r/3 @r%3 c"), RESTRIDE_SYNTAX);
    assert_non_null(strstr(restride_last_error(), "At character 5 of the layout"));
}

static void test_characters_not_bytes_are_counted(void **state)
{
    (void)state;
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, "i:64 \xc3\xa4:3", "i"), RESTRIDE_SYNTAX);
    assert_non_null(strstr(restride_last_error(), "character 6 of the dimension list \"i:64 \xc3"));
}

static void test_long_texts_are_quoted_in_part(void **state)
{
    (void)state;
    char expression[4000];
    memset(expression, 'i', sizeof expression - 1);
    for (size_t i = 1; i < sizeof expression - 1; i += 2)
        expression[i] = ' ';
    expression[sizeof expression - 2] = '?';
    expression[sizeof expression - 1] = '\0';
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, "i:4", expression), RESTRIDE_SYNTAX);
    const char *sentence = restride_last_error();
    assert_true(strlen(sentence) < 400);
    assert_non_null(strstr(sentence, "At character 3999 of the layout \"..."));
    assert_int_equal(sentence[strlen(sentence) - 1], '.');
}

static void test_deep_nesting_is_refused(void **state)
{
    (void)state;
    char dims[40000] = "f{ ";
    for (int i = 0; i < 3000; i++)
        strcat(dims + strlen(dims), "struct { ");
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, dims, "f"), RESTRIDE_UNSUPPORTED);
    assert_non_null(strstr(restride_last_error(), "nested more than 32 deep"));
}

static void test_too_many_terms_are_refused(void **state)
{
    (void)state;
    enum { TERMS = 40000 };
    static char expression[2 * TERMS + 1];
    for (int t = 0; t < TERMS; t++)
        strcpy(expression + 2 * t, "i ");
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, "i:4", expression), RESTRIDE_UNSUPPORTED);
    assert_non_null(strstr(restride_last_error(), "more than 32767 terms"));
}

/* Random words: each is either a layout whose last byte is an element, or a failure with a
 * sentence. */
static void test_random_words(void **state)
{
    (void)state;
    /* The first of them are those of expressions. */
    static const char *const words[] = {
        "i ",    "f ",  "i/4 ",    "i%4 ", "i/4:pad ", "i/8",  "%2 ",       ":pad ",
        "i%",    "f/3", "g",       "4",    "{",        "}",    "@",         "@i ",
        "float", "x;",  "struct{", "y[2]", ";",        "i:4 ", ",",         "\xc3",
        "f{",    "i:",  "-",       "\t",   "char ",    "0 ",   "9999999999"};
    const size_t expression_words = 8;
    uint64_t random = 99;
    size_t parsed = 0;
    for (int i = 0; i < 60000; i++) {
        char texts[2][200] = {"", ""};
        if (i % 2 == 0)
            strcpy(texts[0], i % 4 == 0 ? "i:10 f{float x;char y;}" : "i:8 f:3");
        for (int t = i % 2 == 0; t < 2; t++)
            for (size_t n = made_random(&random, i % 2 == 0 ? 5 : 12); n > 0; n--)
                strcat(texts[t],
                       words[made_random(&random, i % 2 == 0 ? expression_words
                                                             : sizeof words / sizeof words[0])]);
        restride_layout *layout;
        restride_status status = restride_layout_parse(&layout, texts[0], texts[1]);
        assert_int_equal(status == RESTRIDE_OK, layout != NULL);
        const char *sentence = restride_last_error();
        if (layout == NULL) {
            assert_int_equal(sentence[strlen(sentence) - 1], '.');
        } else if (restride_layout_size(layout) > 0) {
            size_t index[RS_LAYOUT_MAX_RANK], last = restride_layout_size(layout) - 1;
            size_t within = rs_layout_index(layout, last, index);
            assert_int_equal(restride_layout_offset(layout, index) + within, last);
            parsed++;
        }
        restride_layout_destroy(layout);
    }
    assert_true(parsed > 100);
}

static void test_null_is_refused(void **state)
{
    (void)state;
    restride_layout *layout;
    assert_int_equal(restride_layout_parse(&layout, NULL, "i"), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_layout_parse(&layout, "i:3", NULL), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_layout_parse(NULL, "i:3", "i"), RESTRIDE_INVALID_ARGUMENT);
}

/* A sentence quotes a long text without cutting a character in two. */
static void test_quotes_whole_characters(void **state)
{
    (void)state;
    for (size_t before = 0; before < 60; before++) {
        char text[400] = "";
        for (size_t i = 0; i < before; i++)
            strcat(text, i == 0 && before % 2 != 0 ? "x" : "\u00e9");
        strcat(text, "i ");
        for (size_t i = 0; i < 60; i++)
            strcat(text, i == 0 && before % 3 != 0 ? "+" : "\u20ac");
        restride_layout *layout;
        assert_int_equal(restride_layout_parse(&layout, "i:4", text), RESTRIDE_SYNTAX);
        const unsigned char *c = (const unsigned char *)restride_last_error();
        while (*c != '\0') {
            size_t more = *c < 0x80 ? 0 : *c >= 0xe0 ? 2 : 1;
            assert_true((*c & 0xc0) != 0x80); /* no character begins in its middle */
            for (c++; more > 0; more--, c++)
                assert_true((*c & 0xc0) == 0x80);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotes_whole_characters),
        cmocka_unit_test(test_members_lie_as_the_compiler_places_them),
        cmocka_unit_test(test_vectors_are_single_leaves),
        cmocka_unit_test(test_packed_members_have_no_padding),
        cmocka_unit_test(test_arrays_that_move_as_a_whole),
        cmocka_unit_test(test_types_behind_the_dimensions),
        cmocka_unit_test(test_blanks_are_free),
        cmocka_unit_test(test_each_mistake_has_its_sentence),
        cmocka_unit_test(test_spread_terms_are_apart),
        cmocka_unit_test(test_characters_not_bytes_are_counted),
        cmocka_unit_test(test_long_texts_are_quoted_in_part),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_too_many_terms_are_refused),
        cmocka_unit_test(test_random_words),
        cmocka_unit_test(test_null_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
