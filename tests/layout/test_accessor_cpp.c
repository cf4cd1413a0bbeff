/*
 * The classes of C++ and CUDA C++: each member of each record of random layouts is where
 * restride_layout_offset() says, and has the size of its leaf. nvcc compiles those for CUDA with a
 * kernel that uses them, where it is there.
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

/* What compiles all.cu in the folder, of the compilers that there are; clang needs neither CUDA nor
 * ROCm for this. */
#define ATTRIBUTES                                                                                 \
    "'-D__host__=__attribute__((host))' '-D__device__=__attribute__((device))' "                   \
    "'-D__global__=__attribute__((global))' "
static const char *const kernel_compilers[] = {
#ifdef RS_TEST_NVCC
    RS_TEST_NVCC " -std=c++17 -ptx -o /dev/null all.cu",
#endif
#ifdef RS_TEST_CLANG
    RS_TEST_CLANG " -std=c++17 -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc "
                  "-nocudalib -Wno-unknown-cuda-version -Werror -fsyntax-only " ATTRIBUTES "all.cu",
    RS_TEST_CLANG " -std=c++17 -x hip --cuda-device-only --offload-arch=gfx906 -nogpuinc -nogpulib "
                  "-Werror -fsyntax-only " ATTRIBUTES "all.cu",
#endif
    NULL,
};

enum { LAYOUTS = 150, SEED = 31 };

typedef uint64_t address_function(char *memory, const uint64_t *extents, const uint64_t *indices);

static char folder[] = "/tmp/restride-class-XXXXXX";

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

static void write_source(rs_text *text, const char *path)
{
    assert_false(text->failed);
    assert_int_equal(rs_text_write_file(path, text->data, text->size), RESTRIDE_OK);
    rs_text_free(text);
}

static restride_layout *parse(const char *dims, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("\"%s\" of \"%s\": %s", expression, dims, restride_last_error());
    return layout;
}

/* A layout of which C++ has a class: with a type for its elements, and no unaligned members. */
static restride_layout *make_fitting(made_layout *made, uint64_t *random)
{
    static const char *const types[] = {"float", "double", "uchar", "short4", "int[3]", "float3"};
    restride_layout *layout;
    char *source;
    for (;;) {
        make_layout(made, random);
        char dims[500];
        snprintf(dims, sizeof dims, "%s %s", made->dims,
                 made->record >= 0 ? "" : types[made_random(random, 6)]);
        layout = parse(dims, made->expression);
        if (restride_layout_accessor(layout, RESTRIDE_DIALECT_CPP, "A", &source) == RESTRIDE_OK)
            break;
        assert_non_null(strstr(restride_last_error(), "is not aligned"));
        restride_layout_destroy(layout);
    }
    free(source);
    return layout;
}

static void add_class(rs_text *text, const restride_layout *layout, bool cuda, int number)
{
    char name[20];
    char *source;
    snprintf(name, sizeof name, "A%d", number);
    assert_int_equal(
        restride_layout_accessor(layout, cuda ? RESTRIDE_DIALECT_CUDA_CPP : RESTRIDE_DIALECT_CPP,
                                 name, &source),
        RESTRIDE_OK);
    rs_text_add_string(text, source);
    free(source);
}

static void add_values(rs_text *text, const char *name, int count, const char *before)
{
    for (int i = 0; i < count; i++)
        rs_text_format(text, "%s%s[%d]", i > 0 ? ", " : before, name, i);
}

static int plain_rank(const restride_layout *layout)
{
    return layout->rank - (layout->record >= 0 ? 1 : 0);
}

/* An expression of C++ for one leaf. */
static void add_leaf(rs_text *text, const restride_layout *layout, int number, const char *member)
{
    rs_text_format(text, "A%d(memory", number);
    add_values(text, "e", plain_rank(layout), ", ");
    rs_text_add_string(text, ").ref(");
    add_values(text, "x", plain_rank(layout), "");
    rs_text_format(text, ")%s%s", member != NULL ? "." : "", member != NULL ? member : "");
}

static void add_function(rs_text *text, const restride_layout *layout, int number, size_t leaf,
                         const rs_leaf *of)
{
    const char *member = layout->record >= 0 ? of->name : NULL;
    rs_text_format(text,
                   "extern \"C\" uint64_t f%d_%zu(char *memory, const uint64_t *e, const uint64_t "
                   "*x) { (void)e; (void)x; static_assert(sizeof(",
                   number, leaf);
    add_leaf(text, layout, number, member);
    rs_text_format(text, ") == %zu, \"\"); return (uint64_t)((char *)&", of->size);
    add_leaf(text, layout, number, member);
    rs_text_add_string(text, " - memory); }\n");
}

static void add_functions(rs_text *text, const restride_layout *layout, int number)
{
    if (layout->record < 0) {
        add_function(text, layout, number, 0, &layout->element);
        return;
    }
    const rs_record *record = &layout->dimensions[layout->record].record;
    for (size_t l = 0; l < record->leaf_count; l++)
        if (!record->leaves[l].padding)
            add_function(text, layout, number, l, &record->leaves[l]);
}

static void check_leaf(const restride_layout *layout, address_function *address, size_t leaf)
{
    static _Alignas(128) char memory[1]; /* addresses are compared, nothing is read */
    size_t index[RS_LAYOUT_MAX_RANK] = {0};
    uint64_t extents[RS_LAYOUT_MAX_RANK];
    uint64_t plain[RS_LAYOUT_MAX_RANK];
    size_t count = 1;
    int rank = 0;
    for (int d = 0; d < layout->rank; d++)
        if (d != layout->record) {
            extents[rank++] = layout->dimensions[d].extent;
            count *= layout->dimensions[d].extent;
        }
    for (size_t e = 0; e < count; e++) {
        rank = 0;
        for (int d = 0; d < layout->rank; d++)
            if (d != layout->record)
                plain[rank++] = index[d];
        if (layout->record >= 0)
            index[layout->record] = leaf;
        size_t offset = restride_layout_offset(layout, index);
        offset *= layout->record >= 0 ? 1 : layout->unit;
        if (address(memory, extents, plain) != offset)
            fail_msg("\"%s\" of \"%s\": leaf %zu of element %zu is at %zu, not %zu",
                     layout->expression_text, layout->dims_text, leaf, e,
                     (size_t)address(memory, extents, plain), offset);
        for (int d = layout->rank; d-- > 0;)
            if (d != layout->record) {
                if (++index[d] < layout->dimensions[d].extent)
                    break;
                index[d] = 0;
            }
    }
}

static void check_layout(const restride_layout *layout, void *library, int number)
{
    size_t leaves = layout->record >= 0 ? layout->dimensions[layout->record].record.leaf_count : 1;
    for (size_t l = 0; l < leaves; l++) {
        if (layout->record >= 0 && layout->dimensions[layout->record].record.leaves[l].padding)
            continue;
        char name[40];
        address_function *address;
        snprintf(name, sizeof name, "f%d_%zu", number, l);
        void *symbol = dlsym(library, name);
        assert_non_null(symbol);
        memcpy(&address, &symbol, sizeof address);
        check_leaf(layout, address, l);
    }
}

static const char *const chosen[][2] = {
    {"i:37 f{ float x; float v[3]; struct { short a; int b; } in[2]; double4 m; char[5] n; }",
     "i/8 f i%8"},
    {"y:9 x:7 f{ struct { struct { char c[2][3]; } deep[2]; int z; } a; float3 p[2]; }",
     "y/4 x f y%4"},
    {"f{ float x; double m; }", "f"},
};

enum { CHOSEN = sizeof chosen / sizeof chosen[0], ALL = CHOSEN + LAYOUTS };

static void make_all(restride_layout *layouts[])
{
    uint64_t random = SEED;
    made_layout made;
    for (int i = 0; i < ALL; i++)
        layouts[i] = i < CHOSEN ? parse(chosen[i][0], chosen[i][1]) : make_fitting(&made, &random);
}

static void test_members_are_where_the_layout_says(void **state)
{
    (void)state;
    restride_layout *layouts[ALL];
    char source[80];
    char object[80];
    rs_text text = RS_TEXT_EMPTY;
    make_all(layouts);
    for (int i = 0; i < ALL; i++) {
        add_class(&text, layouts[i], false, i);
        add_functions(&text, layouts[i], i);
    }
    snprintf(source, sizeof source, "%s/all.hpp", folder);
    snprintf(object, sizeof object, "%s/all.so", folder);
    write_source(&text, source);
    run("echo '#include \"%s\"' | %s -std=c++11 -Wall -Wextra -Werror -O0 -shared -fPIC -x c++ -o "
        "%s -",
        source, RS_TEST_CXX_COMPILER, object);
    void *library = dlopen(object, RTLD_NOW);
    assert_non_null(library);
    for (int i = 0; i < ALL; i++) {
        check_layout(layouts[i], library, i);
        restride_layout_destroy(layouts[i]);
    }
    dlclose(library);
    unlink(source);
    unlink(object);
}

/* The same classes in a kernel. */
static void test_kernels_compile(void **state)
{
    (void)state;
    restride_layout *layouts[ALL];
    char source[80];
    rs_text text = RS_TEXT_EMPTY;
    make_all(layouts);
    for (int i = 0; i < ALL; i++) {
        add_class(&text, layouts[i], true, i);
        rs_text_format(&text,
                       "__global__ void k%d(char *memory, const unsigned long long *e, const "
                       "unsigned long long *x, void **out) { *out = (void *)&",
                       i);
        add_leaf(&text, layouts[i], i,
                 layouts[i]->record >= 0
                     ? layouts[i]->dimensions[layouts[i]->record].record.leaves[0].name
                     : NULL);
        rs_text_add_string(&text, "; }\n");
        restride_layout_destroy(layouts[i]);
    }
    snprintf(source, sizeof source, "%s/all.cuh", folder);
    write_source(&text, source);
    run("echo '#include \"all.cuh\"' >%s/all.cu", folder);
    for (size_t i = 0; kernel_compilers[i] != NULL; i++)
        run("cd %s && %s", folder, kernel_compilers[i]);
    run("rm %s/all.cu %s/all.cuh", folder, folder);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"i:4 f{ half h; }", "i f", "write half as ushort"},
        {"i:4 f:3", "i f", "say the type of elements"},
        {"i:4 f packed{ char c; float x; }", "i f", "is not aligned"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        restride_layout *layout = parse(cases[i][0], cases[i][1]);
        char *source = folder;
        assert_int_equal(restride_layout_accessor(layout, RESTRIDE_DIALECT_CPP, "A", &source),
                         RESTRIDE_UNSUPPORTED);
        assert_null(source);
        assert_non_null(strstr(restride_last_error(), cases[i][2]));
        restride_layout_destroy(layout);
    }
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_are_where_the_layout_says),
        cmocka_unit_test(test_kernels_compile),
        cmocka_unit_test(test_refusals),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
