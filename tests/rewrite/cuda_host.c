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
    "typedef unsigned char uchar;\n"
    "#ifdef __CUDACC__\n"
    "static unsigned char *take(size_t bytes) { void *p = 0; if (cudaMallocManaged(&p, bytes) != "
    "cudaSuccess) exit(2); memset(p, 0, bytes); return (unsigned char *)p; }\n"
    "static void give(void *p) { cudaFree(p); }\n"
    "#define RUN(n, f, ...) (f<<<(n + 31) / 32, 32>>>(__VA_ARGS__), cudaDeviceSynchronize() == "
    "cudaSuccess ? (void)0 : exit(2))\n"
    "static bool is_there() { int count = 0; return cudaGetDeviceCount(&count) == cudaSuccess && "
    "count > 0; }\n"
    "#else\n"
    "#define __global__\n#define __device__\n#define __host__\n#define __forceinline__ inline\n"
    "#define __restrict__ __restrict\n"
    "struct uint3 { unsigned x, y, z; };\n"
    "static uint3 threadIdx, blockIdx, blockDim = {32, 1, 1}, gridDim = {1, 1, 1};\n"
    "struct alignas(8) int2 { int x, y; };\nstruct alignas(4) uchar4 { uchar x, y, z, w; };\n"
    "struct alignas(8) float2 { float x, y; };\nstruct float3 { float x, y, z; };\n"
    "struct alignas(16) float4 { float x, y, z, w; };\n"
    "struct alignas(16) uint4 { unsigned x, y, z, w; };\n"
    "static inline float2 make_float2(float x, float y) { return float2{x, y}; }\n"
    "template <class T> static T atomicAdd(T *p, T v) { T old = *p; *p += v; return old; }\n"
    "template <class T> static T atomicMax(T *p, T v) { T old = *p; if (v > old) *p = v; return "
    "old; }\n"
    "template <class T> static T __ldg(const T *p) { return *p; }\n"
    "static unsigned char *take(size_t bytes) { return (unsigned char *)calloc(1, bytes); }\n"
    "static void give(void *p) { free(p); }\n"
    "#define RUN(n, f, ...) for (gridDim.x = (n + 31) / 32, blockIdx.x = 0; blockIdx.x < "
    "gridDim.x; blockIdx.x++) for (threadIdx.x = 0; threadIdx.x < 32; threadIdx.x++) "
    "f(__VA_ARGS__)\n"
    "static bool is_there() { return true; }\n"
    "#endif\n"
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
        "for (int k = 0; k < 2; k++) { m[k] = take(n * S); w[k] = take(n * S);\n"
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
        "RUN(n, o%d::f, (o%d::%s *)m[0], (o%d::%s *)m[1], n);\n"
        "RUN(n, r%d::f, (r%d::%s *)w[0], (r%d::%s *)w[1], n%s%s);\n"
        "for (int k = 0; k < 2; k++) for (int i = 0; i < n; i++) for (size_t l = 0; l < count; "
        "l++) if (memcmp(m[k] + i * S + leaves[l].at, w[k] + place(n, S, T[k], i, leaves[l].at, "
        "leaves[l].size), leaves[l].size)) { printf(\"%s: structure %%d of %%d, byte %%zu of %%c "
        "differs\\n\", i, n, leaves[l].at, \"ab\"[k]); return 1; }\n"
        "for (int k = 0; k < 2; k++) { give(m[k]); give(w[k]); } } return 0; }\n",
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

/* False: the program says that it cannot run here. */
static bool run(char *const command[], const char *what)
{
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int status = -1;
    assert_int_equal(rs_child_run(command, "", 0, &output, &errors, &status), RESTRIDE_OK);
    if (status != 0 && status != 77)
        fail_msg("%s: %.3000s%.3000s", what, output.data != NULL ? output.data : "",
                 errors.data != NULL ? errors.data : "");
    rs_text_free(&output);
    rs_text_free(&errors);
    return status == 0;
}

/* They differ in what they evaluate first. With RESTRIDE_TEST_NVCC, nvcc alone: for a card. */
static const char *compiler_of(int compiler)
{
    static const char *const names[] = {RS_TEST_GXX, RS_TEST_CLANGXX};
    const char *nvcc = getenv("RESTRIDE_TEST_NVCC");
    if (compiler < 2)
        return nvcc == NULL && strstr(names[compiler], "NOTFOUND") == NULL ? names[compiler] : NULL;
    return nvcc;
}

int cuda_host_next(int compiler)
{
    for (compiler++; compiler < 3; compiler++)
        if (compiler_of(compiler) != NULL)
            return compiler;
    return -1;
}

bool cuda_host_run(rs_text *program, const bool *added, int count, int compiler)
{
    rs_text end = RS_TEXT_EMPTY;
    rs_text_add_string(&end, "int main() { int wrong = 0; if (!is_there()) return 77;\n");
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
    char name[256];
    snprintf(name, sizeof name, "%s", compiler_of(compiler));
    char *const by_host[] = {name,
                             "-x",
                             "c++",
                             "-std=c++17",
                             "-O1",
                             "-w",
                             "-fno-strict-aliasing",
                             "-ffp-contract=off",
                             source,
                             "-o",
                             executable,
                             NULL};
    char *const by_nvcc[] = {name,          "-x",   "cu", "-std=c++17", "-arch=sm_80", "-w",
                             "-fmad=false", source, "-o", executable,   NULL};
    char *const execute[] = {executable, NULL};
    assert_true(run(compiler < 2 ? by_host : by_nvcc, "the compiler"));
    bool ran = run(execute, "the kernels");
    unlink(source);
    unlink(executable);
    return ran;
}
