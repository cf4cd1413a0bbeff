/*
 * The generated accessors of the C and CUDA dialects, compiled with the C compiler of this build
 * and compared with restride_layout_offset() for every element of several hundred random layouts.
 * (CUDA C is C here, with its two qualifiers defined away; its own compiler, where there is one,
 * checks the text as it is.)
 */
#include "base/text.h"
#include "cmocka_all.h"
#include "generate.h"
#include "layout/layout.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command that checks a file of CUDA C. Clang needs no CUDA installation for what the accessors
 * use. */
#if defined(RS_TEST_CLANG)
#define CUDA_CHECK                                                                                 \
    RS_TEST_CLANG " -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib "       \
                  "-Wno-unknown-cuda-version -fsyntax-only "                                       \
                  "'-D__host__=__attribute__((host))' '-D__device__=__attribute__((device))' %s"
#elif defined(RS_TEST_NVCC)
#define CUDA_CHECK RS_TEST_NVCC " -cuda -o /dev/null %s"
#endif

enum { LAYOUTS = 300, SEED = 77 };

typedef uint64_t offset_function(const uint64_t *extents, const uint64_t *indices, uint64_t offset,
                                 uint64_t size);
typedef uint64_t translate_function(const uint64_t *extents, uint64_t offset);

static restride_layout *parse(const char *dims, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("\"%s\" of \"%s\": %s", expression, dims, restride_last_error());
    return layout;
}

static void add_accessor(rs_text *text, const restride_layout *layout, restride_dialect dialect,
                         const char *prefix)
{
    char *source;
    assert_int_equal(restride_layout_accessor(layout, dialect, prefix, &source), RESTRIDE_OK);
    rs_text_add_string(text, source);
    free(source);
}

/* Adds functions that a test can call for any rank. */
static void add_wrappers(rs_text *text, const restride_layout *layout, const char *prefix)
{
    int plain = layout->rank - (layout->record >= 0 ? 1 : 0);
    rs_text_format(text,
                   "uint64_t %s_call(const uint64_t *e, const uint64_t *x, uint64_t o, uint64_t s)"
                   "{ (void)e; (void)x; (void)o; (void)s; return %s_offset(",
                   prefix, prefix);
    for (int i = 0; i < 2 * plain; i++)
        rs_text_format(text, "%s%c[%d]", i > 0 ? ", " : "", i < plain ? 'e' : 'x', i % plain);
    if (layout->record >= 0)
        rs_text_format(text, "%so, s", plain > 0 ? ", " : "");
    rs_text_format(text,
                   "); }\nuint64_t %s_back(const uint64_t *e, uint64_t o)"
                   "{ (void)e; return %s_translate(",
                   prefix, prefix);
    for (int i = 0; i < plain; i++)
        rs_text_format(text, "e[%d], ", i);
    rs_text_add_string(text, "o); }\n");
}

static char folder[] = "/tmp/restride-accessor-XXXXXX";
static void *library;

static void *find(const char *prefix, const char *suffix)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%s", prefix, suffix);
    void *symbol = dlsym(library, name);
    assert_non_null(symbol);
    return symbol;
}

/* Writes `text` to a file of the test's folder. */
static void write_source(rs_text *text, const char *path)
{
    assert_false(text->failed);
    assert_int_equal(rs_text_write_file(path, text->data, text->size), RESTRIDE_OK);
    rs_text_free(text);
}

static void run(const char *format, ...)
{
    char command[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("\"%s\" failed", command);
}

static int compile_all(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    uint64_t random = SEED;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, "#define __host__\n#define __device__\n");
    for (int i = 0; i < LAYOUTS; i++) {
        made_layout made;
        make_layout(&made, &random);
        restride_layout *layout = parse(made.dims, made.expression);
        for (int dialect = 0; dialect < 2; dialect++) {
            char prefix[20];
            snprintf(prefix, sizeof prefix, "%c%d", dialect == 0 ? 'C' : 'U', i);
            add_accessor(&text, layout, dialect == 0 ? RESTRIDE_DIALECT_C : RESTRIDE_DIALECT_CUDA_C,
                         prefix);
            add_wrappers(&text, layout, prefix);
        }
        restride_layout_destroy(layout);
    }
    char source[60], object[60];
    snprintf(source, sizeof source, "%s/all.c", folder);
    snprintf(object, sizeof object, "%s/all.so", folder);
    write_source(&text, source);
    run("%s -std=c11 -Wall -Wextra -Werror -O0 -shared -fPIC -o %s %s", RS_TEST_C_COMPILER, object,
        source);
    library = dlopen(object, RTLD_NOW);
    assert_non_null(library);
    unlink(source);
    unlink(object);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    dlclose(library);
    return rmdir(folder);
}

/* Leaves the record's index out. */
static void plain_values(const made_layout *made, const size_t values[], uint64_t plain[])
{
    int count = 0;
    for (int d = 0; d < made->rank; d++)
        if (d != made->record)
            plain[count++] = values[d];
}

static void compare(const made_layout *made, const char *prefix)
{
    offset_function *call;
    translate_function *back;
    *(void **)&call = find(prefix, "call");
    *(void **)&back = find(prefix, "back");
    size_t(*indices)[MADE_RANK], *offsets;
    size_t count = sort_elements(made, &indices, &offsets);
    uint64_t extents[MADE_RANK], plain[MADE_RANK];
    plain_values(made, made->extent, extents);
    for (size_t e = 0; e < count; e++) {
        if (!is_inside(made, indices[e]))
            continue;
        plain_values(made, indices[e], plain);
        size_t leaf = made->record >= 0 ? indices[e][made->record] : 0;
        size_t size = made->record >= 0 ? made->leaf_size[leaf] : 1;
        uint64_t found = call(extents, plain, made->leaf_offset[leaf], size);
        if (found != offsets[e])
            fail_msg("\"%s\" of \"%s\": accessor %zu, definition %zu", made->expression, made->dims,
                     (size_t)found, offsets[e]);
        for (size_t byte = 0; byte < size; byte++) {
            found = back(extents, row_major_offset(made, indices[e]) + byte);
            if (found != offsets[e] + byte)
                fail_msg("\"%s\" of \"%s\": translated to %zu, definition %zu", made->expression,
                         made->dims, (size_t)found, offsets[e] + byte);
        }
    }
    free(indices);
    free(offsets);
}

static void test_accessors_agree_with_the_definition(void **state)
{
    (void)state;
    uint64_t random = SEED;
    for (int i = 0; i < LAYOUTS; i++) {
        made_layout made;
        make_layout(&made, &random);
        char prefix[20];
        snprintf(prefix, sizeof prefix, "C%d", i);
        compare(&made, prefix);
        prefix[0] = 'U';
        compare(&made, prefix);
    }
}

/* One accessor serves every extent: the same functions again with other extents than they were made
 * for. */
static void test_extents_are_parameters(void **state)
{
    (void)state;
    uint64_t random = SEED, other = 5;
    int compared = 0;
    for (int i = 0; i < LAYOUTS; i++) {
        made_layout made;
        make_layout(&made, &random);
        restride_layout *layout = parse(made.dims, made.expression);
        bool any_extent = true;
        for (int d = 0; d < made.rank; d++) {
            any_extent = any_extent && layout->dimensions[d].descending;
            if (d == made.record)
                continue;
            made.extent[d] = 1 + made_random(&other, 9);
            size_t pad = layout->dimensions[d].pad;
            made.padded[d] = (made.extent[d] + pad - 1) / pad * pad;
        }
        restride_layout_destroy(layout);
        if (!any_extent)
            continue;
        char prefix[20];
        snprintf(prefix, sizeof prefix, "C%d", i);
        compare(&made, prefix);
        compared++;
    }
    assert_true(compared > LAYOUTS / 3);
}

static void test_bad_prefixes_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "3x", "a-b", "a b", "\xc3\xa4", NULL};
    restride_layout *layout = parse("i:4", "i");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *source = (char *)layout;
        assert_int_equal(restride_layout_accessor(layout, RESTRIDE_DIALECT_C, bad[i], &source),
                         RESTRIDE_INVALID_ARGUMENT);
        assert_null(source);
        assert_non_null(strstr(restride_last_error(), "is not a C identifier"));
    }
    char *source;
    assert_int_equal(restride_layout_accessor(layout, (restride_dialect)9, "P", &source),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_layout_accessor(NULL, RESTRIDE_DIALECT_C, "P", &source),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_null(source);
    assert_int_equal(restride_layout_accessor(layout, RESTRIDE_DIALECT_C, "P", NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    restride_layout_destroy(layout);
}

/* Two leaves whose names flatten to the same word still get one constant each. */
static void test_constants_of_leaves(void **state)
{
    (void)state;
    restride_layout *layout =
        parse("i:4 f{ char c; float v[2]; int v_1; struct { short x; } inner[2]; double m; }",
              "i/2 f i%2");
    char *source;
    assert_int_equal(restride_layout_accessor(layout, RESTRIDE_DIALECT_C, "P", &source),
                     RESTRIDE_OK);
    static const char *const lines[] = {
        "#define P_c_OFFSET 0u\n",          "#define P_v_0_OFFSET 4u\n",
        "#define P_v_1_OFFSET 8u\n",        "#define P_v_1__OFFSET 12u\n",
        "#define P_inner_0_x_OFFSET 16u\n", "#define P_inner_1_x_OFFSET 18u\n",
        "#define P_m_OFFSET 24u\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strstr(source, lines[i]) == NULL)
            fail_msg("%s is missing", lines[i]);
    size_t constants = 0;
    for (const char *c = source; (c = strstr(c, "_OFFSET ")) != NULL; c++)
        constants++;
    assert_int_equal(constants, sizeof lines / sizeof lines[0]); /* none for padding */
    free(source);
    restride_layout_destroy(layout);
}

/* The element macro reads and assigns through a pointer of any type; each argument is evaluated
 * once. */
static void test_the_element_macro(void **state)
{
    (void)state;
    rs_text text = RS_TEXT_EMPTY;
    restride_layout *layout = parse("i:70 f{ float x; char c; double m; }", "i/32 f i%32");
    add_accessor(&text, layout, RESTRIDE_DIALECT_C, "P");
    restride_layout_destroy(layout);
    layout = parse("r:5 c:7", "r/2 c r%2");
    add_accessor(&text, layout, RESTRIDE_DIALECT_C, "M");
    restride_layout_destroy(layout);
    rs_text_add_string(
        &text,
        "#include <stdio.h>\n#include <string.h>\n"
        "typedef struct { float x; char c; double m; } record;\n"
        "int main(void)\n{\n"
        "    static record aos[70]; static double moved[140], grid[35];\n"
        "    int evaluated = 0;\n"
        "    for (int i = 0; i < 70; i++) aos[i] = (record){i, (char)(i + 1), i * 0.5};\n"
        "    for (uint64_t o = 0; o < sizeof aos; o++)\n"
        "        ((char *)moved)[P_translate(70, o)] = ((char *)aos)[o];\n"
        "    P_AT(double, moved, 70, (evaluated++, 69), P_m_OFFSET) += 3;\n"
        "    if (evaluated != 1 || P_AT(double, moved, 70, 69, P_m_OFFSET) != 37.5) return 1;\n"
        "    for (int i = 0; i < 69; i++)\n"
        "        if (P_AT(const float, moved, 70, i, P_x_OFFSET) != i ||\n"
        "            P_AT(const char, moved, 70, i, P_c_OFFSET) != i + 1 ||\n"
        "            P_AT(const double, moved, 70, i, P_m_OFFSET) != i * 0.5) return 2;\n"
        "    for (int r = 0; r < 5; r++)\n"
        "        for (int c = 0; c < 7; c++) M_AT(double, grid, 5, 7, r, c) = r * 10 + c;\n"
        "    return grid[1] == 10 && grid[2] == 1 && grid[34] == 46 ? 0 : 3;\n}\n");
    char source[60], program[60];
    snprintf(source, sizeof source, "%s/macro.c", folder);
    snprintf(program, sizeof program, "%s/macro", folder);
    write_source(&text, source);
    run("%s -std=c11 -Wall -Wextra -Werror -Wno-unused-function -o %s %s", RS_TEST_C_COMPILER,
        program, source);
    run("%s", program);
    unlink(source);
    unlink(program);
}

static void test_cuda_compiles(void **state)
{
    (void)state;
#ifdef CUDA_CHECK
    uint64_t random = SEED;
    rs_text text = RS_TEXT_EMPTY;
    for (int i = 0; i < 30; i++) {
        made_layout made;
        make_layout(&made, &random);
        char prefix[20];
        snprintf(prefix, sizeof prefix, "U%d", i);
        restride_layout *layout = parse(made.dims, made.expression);
        add_accessor(&text, layout, RESTRIDE_DIALECT_CUDA_C, prefix);
        restride_layout_destroy(layout);
    }
    restride_layout *layout = parse("i:70 f{ float x; double m; }", "i/32 f i%32");
    add_accessor(&text, layout, RESTRIDE_DIALECT_CUDA_C, "P");
    restride_layout_destroy(layout);
    rs_text_add_string(&text, "__attribute__((global)) void k(char *data, unsigned long long n)\n"
                              "{ P_AT(float, data, n, 3, P_x_OFFSET) += "
                              "(float)P_AT(const double, data, n, 5, P_m_OFFSET); }\n");
    char source[60];
    snprintf(source, sizeof source, "%s/all.cu", folder);
    write_source(&text, source);
    run(CUDA_CHECK, source);
    unlink(source);
#else
    print_message("skipped: no clang and no nvcc to check the CUDA dialect\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accessors_agree_with_the_definition),
        cmocka_unit_test(test_extents_are_parameters),
        cmocka_unit_test(test_bad_prefixes_are_refused),
        cmocka_unit_test(test_constants_of_leaves),
        cmocka_unit_test(test_the_element_macro),
        cmocka_unit_test(test_cuda_compiles),
    };
    return cmocka_run_group_tests(tests, compile_all, remove_all);
}
