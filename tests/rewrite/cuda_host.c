/* See cuda_host.h. */
#include "cuda_host.h"

#include "ask.h"
#include "base/child.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CUDA's words for a compiler of C++. */
static const char shim[] =
    "#include <cmath>\n#include <cstdint>\n#include <initializer_list>\n#include "
    "<cstdio>\n#include "
    "<cstdlib>\n#include <cstring>\n"
    "#define __global__\n#define __device__\n#define __host__\n#define __forceinline__ inline\n"
    "#define __restrict__ __restrict\n"
    "struct uint3 { unsigned x, y, z; };\n"
    "static uint3 threadIdx, blockIdx, blockDim = {32, 1, 1}, gridDim = {1, 1, 1};\n"
    "typedef unsigned char uchar;\n"
    "struct alignas(8) int2 { int x, y; };\nstruct alignas(4) uchar4 { uchar x, y, z, w; };\n"
    "struct alignas(8) float2 { float x, y; };\nstruct float3 { float x, y, z; };\n"
    "struct alignas(16) float4 { float x, y, z, w; };\n"
    "struct alignas(16) uint4 { unsigned x, y, z, w; };\n"
    "static inline float2 make_float2(float x, float y) { return float2{x, y}; }\n"
    "template <class T> static T atomicAdd(T *p, T v) { T old = *p; *p += v; return old; }\n"
    "template <class T> static T atomicMax(T *p, T v) { T old = *p; if (v > old) *p = v; return "
    "old; }\n"
    "template <class T> static T __ldg(const T *p) { return *p; }\n"
    "static unsigned long long state = 1;\n"
    "static unsigned next() { state = state * 6364136223846793005ull + 1442695040888963407ull; "
    "return (unsigned)(state >> 40); }\n"
    "static size_t place(size_t n, size_t size, size_t tile, size_t i, size_t at, size_t leaf) { "
    "size_t start = i / tile * tile, span = n - start < tile ? n - start : tile; return start * "
    "size + at * span + (i - start) * leaf; }\n";

/* Without what C++ has in other places: includes, and the numbers of lines. */
static void add_without_directives(rs_text *out, const char *source)
{
    while (*source != '\0') {
        size_t length = strcspn(source, "\n");
        if (strncmp(source, "#include", 8) != 0 && strncmp(source, "#line", 5) != 0)
            rs_text_add(out, source, length);
        rs_text_add_string(out, "\n");
        source += length + (source[length] == '\n');
    }
}

static bool is_transformed(const json_t *argument)
{
    return argument != NULL && strcmp(string_of(argument, "status"), "transformed") == 0;
}

/* The record of an array that is transformed; the other array has the same. */
static const json_t *leaves_of(const json_t *const arguments[2])
{
    return json_object_get(arguments[is_transformed(arguments[0]) ? 0 : 1], "record");
}

/* A table of the members of the arrays: offset, size and how to fill them. */
static void add_leaves(rs_text *out, const json_t *record)
{
    size_t i;
    json_t *leaf;
    rs_text_add_string(out, "static const struct { size_t at, size; char kind; } leaves[] = {");
    json_array_foreach(json_object_get(record, "leaves"), i, leaf)
    {
        const char *type = string_of(leaf, "type");
        char kind = strcmp(type, "float") == 0    ? 'f'
                    : strcmp(type, "double") == 0 ? 'd'
                    : strcmp(type, "bool") == 0   ? 'b'
                                                  : 'i';
        rs_text_format(out, "{%lld, %lld, '%c'}, ", number_of(leaf, "offset"),
                       number_of(leaf, "size"), kind);
    }
    rs_text_add_string(out, "};\n");
}

/* Where the program keeps the array `name`: one pointer to each of its two forms. */
static void add_arrays(rs_text *out, const json_t *const arguments[2])
{
    int tiles[2];
    for (int k = 0; k < 2; k++)
        tiles[k] = is_transformed(arguments[k]) ? (int)number_of(arguments[k], "tile") : 1;
    rs_text_format(
        out,
        "const size_t S = %lld, T[2] = {%d, %d}, count = sizeof leaves / sizeof leaves[0];\n"
        "for (int n : {1, 31, 32, 100}) { unsigned char *m[2], *w[2];\n"
        "for (int k = 0; k < 2; k++) { m[k] = (unsigned char *)calloc(n, S); w[k] = (unsigned char "
        "*)calloc(n, S);\n"
        "for (int i = 0; i < n; i++) for (size_t l = 0; l < count; l++) { unsigned char *p = m[k] "
        "+ i * S + leaves[l].at; unsigned v = next();\n"
        "if (leaves[l].kind == 'f') { float x = v %% 1000; memcpy(p, &x, 4); } else if "
        "(leaves[l].kind == 'd') { double x = v %% 1000; memcpy(p, &x, 8); } else if "
        "(leaves[l].kind == 'b') *p = v & 1; else { unsigned long long x = v %% 100; memcpy(p, &x, "
        "leaves[l].size); }\n"
        "memcpy(w[k] + place(n, S, T[k], i, leaves[l].at, leaves[l].size), p, leaves[l].size); } "
        "}\n",
        number_of(leaves_of(arguments), "size"), tiles[0], tiles[1]);
}

static void add_run(rs_text *out, const char *title, const char *type, int number,
                    const json_t *const arguments[2])
{
    rs_text_format(out, "static int run%d() {\n", number);
    add_leaves(out, leaves_of(arguments));
    add_arrays(out, arguments);
    rs_text_format(
        out,
        "for (blockIdx.x = 0; blockIdx.x < (n + 31u) / 32; blockIdx.x++) for (threadIdx.x = 0; "
        "threadIdx.x < 32; threadIdx.x++) { gridDim.x = (n + 31u) / 32; o%d::f((o%d::%s *)m[0], "
        "(o%d::%s *)m[1], n); r%d::f((r%d::%s *)w[0], (r%d::%s *)w[1], n%s%s); }\n"
        "for (int k = 0; k < 2; k++) for (int i = 0; i < n; i++) for (size_t l = 0; l < count; "
        "l++) if (memcmp(m[k] + i * S + leaves[l].at, w[k] + place(n, S, T[k], i, leaves[l].at, "
        "leaves[l].size), leaves[l].size)) { printf(\"%s: structure %%d of %%d, byte %%zu of %%c "
        "differs\\n\", i, n, leaves[l].at, \"ab\"[k]); return 1; }\n"
        "for (int k = 0; k < 2; k++) { free(m[k]); free(w[k]); } } return 0; }\n",
        number, number, type, number, type, number, number, type, number, type,
        is_transformed(arguments[0]) ? ", n" : "", is_transformed(arguments[1]) ? ", n" : "",
        title);
}

void cuda_host_begin(rs_text *program)
{
    rs_text_add_string(program, shim);
}

bool cuda_host_add(rs_text *program, const char *title, const char *source, const char *type,
                   const json_t *reply, int number)
{
    const json_t *arguments[] = {find_argument(reply, "f", "a"), find_argument(reply, "f", "b")};
    if (!is_transformed(arguments[0]) && !is_transformed(arguments[1]))
        return false;
    rs_text_format(program, "namespace o%d {\n", number);
    add_without_directives(program, source);
    rs_text_format(program, "}\nnamespace r%d {\n", number);
    add_without_directives(program, string_of(reply, "source"));
    rs_text_add_string(program, "}\n");
    add_run(program, title, type, number, arguments);
    return true;
}

static void run(char *const command[], const char *what)
{
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int status = -1;
    assert_int_equal(rs_child_run(command, "", 0, &output, &errors, &status), RESTRIDE_OK);
    if (status != 0)
        fail_msg("%s: %.3000s%.3000s", what, output.data != NULL ? output.data : "",
                 errors.data != NULL ? errors.data : "");
    rs_text_free(&output);
    rs_text_free(&errors);
}

/* They differ in what they evaluate first. */
static char *const compilers[] = {RS_TEST_GXX, RS_TEST_CLANGXX};

int cuda_host_next(int compiler)
{
    for (compiler++; compiler < 2; compiler++)
        if (strstr(compilers[compiler], "NOTFOUND") == NULL)
            return compiler;
    return -1;
}

void cuda_host_run(rs_text *program, const bool *added, int count, int compiler)
{
    rs_text end = RS_TEXT_EMPTY;
    rs_text_add_string(&end, "int main() { int wrong = 0;\n");
    for (int i = 0; i < count; i++)
        if (added == NULL || added[i])
            rs_text_format(&end, "wrong |= run%d();\n", i);
    rs_text_add_string(&end, "return wrong; }\n");
    assert_false(program->failed || end.failed);
    char source[] = "/tmp/restride-cuda-XXXXXX", executable[64];
    int descriptor = mkstemp(source);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, program->data, program->size), (ssize_t)program->size);
    assert_int_equal(write(descriptor, end.data, end.size), (ssize_t)end.size);
    close(descriptor);
    rs_text_free(&end);
    snprintf(executable, sizeof executable, "%s.run", source);
    char *const compile[] = {
        compilers[compiler], "-x",   "c++", "-std=c++17", "-O1", "-w", "-fno-strict-aliasing",
        "-ffp-contract=off", source, "-o",  executable,   NULL};
    char *const execute[] = {executable, NULL};
    run(compile, "the compiler");
    run(execute, "the kernels");
    unlink(source);
    unlink(executable);
}
