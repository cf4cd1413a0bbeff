/* What clang is told, in made-up folders, and that it reads sources with it. */
#include "cmocka_all.h"

#include "base/text.h"
#include "syntax/commands.h"
#include "syntax/invocation.h"

#include <clang-c/Index.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/restride-invocation-XXXXXX";

/* A name in the made-up folder; four at a time. */
static const char *at(const char *name)
{
    static char names[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(names[next], sizeof names[next], "%s/%s", folder, name);
    return names[next];
}

static void write_file(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s", at(name));
    for (char *slash = path + strlen(folder); (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    assert_int_equal(rs_text_write_file(path, text, strlen(text)), RESTRIDE_OK);
}

static void make_toolkit(const char *name, const char *include, int version)
{
    char path[256], text[64];
    snprintf(path, sizeof path, "%s/%s/cuda_runtime.h", name, include);
    write_file(path, "");
    snprintf(path, sizeof path, "%s/%s/crt/host_config.h", name, include);
    write_file(path, "");
    snprintf(path, sizeof path, "%s/%s/cuda_runtime_api.h", name, include);
    snprintf(text, sizeof text, "#define CUDART_VERSION  %d\n", version);
    write_file(path, text);
    snprintf(path, sizeof path, "%s/bin/nvcc", name);
    write_file(path, "#!/bin/sh\n");
    chmod(at(path), 0700);
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    make_toolkit("one", "include", 11080);
    make_toolkit("two", "targets/x86_64-linux/include", 12040);
    make_toolkit("three", "include", 13000);
    write_file("empty/bin/nvcc", "#!/bin/sh\n");
    chmod(at("empty/bin/nvcc"), 0700);
    mkdir(at("links"), 0700);
    assert_int_equal(symlink(at("three/bin/nvcc"), at("links/nvcc")), 0);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static rs_invocation make(const char *path, const char *toolkit, const char *option)
{
    rs_invocation_request request = {.path = path,
                                     .options = &option,
                                     .option_count = option != NULL ? 1 : 0,
                                     .toolkit = toolkit,
                                     .clang = 19};
    rs_invocation invocation;
    assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_OK);
    return invocation;
}

static bool has(const rs_invocation *invocation, const char *word)
{
    for (size_t i = 0; i < invocation->argument_count; i++)
        if (strcmp(invocation->arguments[i], word) == 0)
            return true;
    return false;
}

static const rs_virtual_file *file_of(const rs_invocation *invocation, const char *end)
{
    for (size_t i = 0; i < invocation->file_count; i++) {
        const char *path = invocation->files[i].path;
        if (strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0)
            return &invocation->files[i];
    }
    return NULL;
}

static void assert_toolkit(const char *named, const char *option, const char *expected, int version)
{
    rs_invocation invocation = make("k.cu", named, option);
    assert_non_null(invocation.toolkit);
    assert_string_equal(invocation.toolkit, at(expected));
    assert_int_equal(invocation.toolkit_version, version);
    rs_invocation_free(&invocation);
}

static void finds_the_toolkit(void **state)
{
    (void)state;
    char path[256], *before = strdup(getenv("PATH"));
    const char *cuda_path = getenv("CUDA_PATH");
    char *kept = cuda_path != NULL ? strdup(cuda_path) : NULL;
    unsetenv("CUDA_PATH");
    snprintf(path, sizeof path, "%s", at("empty/bin:"));
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s:%s", at("links"), before);
    setenv("PATH", path, 1);
    /* Behind the link; a folder without headers does not end the search. */
    assert_toolkit(NULL, NULL, "three", 13000);
    setenv("CUDA_PATH", at("two"), 1);
    assert_toolkit(NULL, NULL, "two", 12040);
    snprintf(path, sizeof path, "--cuda-path=%s", at("three"));
    assert_toolkit(NULL, path, "three", 13000);
    assert_toolkit(at("one"), path, "one", 11080);
    rs_invocation_request wrong = {.path = "k.cu", .toolkit = at("empty")};
    rs_invocation invocation;
    assert_int_equal(rs_invocation_make(&invocation, &wrong), RESTRIDE_IO);
    assert_null(invocation.arguments);
    setenv("PATH", before, 1);
    if (kept != NULL)
        setenv("CUDA_PATH", kept, 1);
    else
        unsetenv("CUDA_PATH");
    free(before);
    free(kept);
}

static void tells_clang_of_the_toolkit(void **state)
{
    (void)state;
    rs_invocation invocation = make("k.cu", at("two"), "-arch=sm_90a");
    char include[256];
    snprintf(include, sizeof include, "%s", at("two/targets/x86_64-linux/include"));
    assert_true(has(&invocation, include));
    strcat(include, "/cccl");
    assert_true(has(&invocation, include));
    assert_true(has(&invocation, "-DRS_TOOLKIT_MAJOR=12"));
    assert_true(has(&invocation, "-DRS_TOOLKIT_MINOR=4"));
    assert_true(has(&invocation, "--cuda-gpu-arch=sm_90"));
    assert_true(has(&invocation, "-D__CUDA_ARCH_FEAT_SM90_ALL"));
    assert_true(has(&invocation, "-std=gnu++17"));
    assert_non_null(file_of(&invocation, "/texture_fetch_functions.h"));
    assert_null(file_of(&invocation, "/cuda_runtime.h"));
    rs_invocation_free(&invocation);
    invocation = make("k.cu", "", "-std=c++14");
    assert_null(invocation.toolkit);
    assert_true(has(&invocation, "-std=c++14"));
    assert_non_null(file_of(&invocation, "/cuda_runtime.h"));
    rs_invocation_free(&invocation);
}

static void keeps_to_what_a_clang_knows(void **state)
{
    (void)state;
    static const struct {
        unsigned clang;
        const char *architecture, *standard, *expected, *define, *named;
    } cases[] = {
        {14, "sm_86", "c++20", "--cuda-gpu-arch=sm_86", NULL, "-std=c++20"},
        {14, "sm_90", "c++23", "--cuda-gpu-arch=sm_86", "-D__CUDA_ARCH__=900", "-std=c++2b"},
        {19, "sm_90", "c++23", "--cuda-gpu-arch=sm_90", NULL, "-std=c++23"},
        {19, "sm_120", "c++17", "--cuda-gpu-arch=sm_90", "-D__CUDA_ARCH__=1200", "-std=c++17"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char option[32];
        const char *words[] = {option};
        snprintf(option, sizeof option, "-std=%s", cases[i].standard);
        rs_invocation_request request = {.path = "k.cu",
                                         .options = words,
                                         .option_count = 1,
                                         .toolkit = "",
                                         .clang = cases[i].clang,
                                         .architecture = cases[i].architecture};
        rs_invocation invocation;
        assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_OK);
        assert_true(has(&invocation, cases[i].expected));
        assert_true(has(&invocation, cases[i].named));
        assert_int_equal(has(&invocation, "-U__CUDA_ARCH__"), cases[i].define != NULL);
        assert_true(cases[i].define == NULL || has(&invocation, cases[i].define));
        rs_invocation_free(&invocation);
    }
    rs_invocation_request wrong = {.path = "k.cu", .toolkit = "", .architecture = "gfx90a"};
    rs_invocation invocation;
    assert_int_equal(rs_invocation_make(&invocation, &wrong), RESTRIDE_INVALID_ARGUMENT);
}

static void reads_opencl_for_a_device(void **state)
{
    (void)state;
    const char *const words[] = {"-cl-std=CL2.0", "-DA=1", "-cl-mad-enable"};
    rs_invocation_request request = {.path = "k.cl", .options = words, .option_count = 3};
    rs_invocation invocation;
    for (unsigned bits = 32; bits <= 64; bits += 32) {
        request.address_bits = bits;
        assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_OK);
        assert_int_equal(invocation.language, RS_SYNTAX_OPENCL);
        assert_true(
            has(&invocation, bits == 32 ? "spir-unknown-unknown" : "spir64-unknown-unknown"));
        assert_true(has(&invocation, "-cl-std=CL2.0"));
        assert_true(has(&invocation, "-DA=1"));
        assert_int_equal(invocation.file_count, 0);
        rs_invocation_free(&invocation);
    }
}

static void follows_compile_commands(void **state)
{
    (void)state;
    char text[2048];
    snprintf(text, sizeof text,
             "[{\"directory\":\"%s\",\"file\":\"other.cu\",\"command\":\"nvcc -DWRONG other.cu\"},"
             "{\"directory\":\"sub\",\"file\":\"k.cu\","
             "\"command\":\"ccache nvcc -Iinc -Werror all-warnings '-DA=x y' -arch=sm_75 -o k.o "
             "-c k.cu\"},"
             "{\"directory\":\"%s\",\"file\":\"%s/host.c\","
             "\"arguments\":[\"gcc\",\"-Werror\",\"-I../inc\",\"-DQ=\\\"a "
             "b\\\"\",\"-c\",\"%s/host.c\"]}]",
             folder, folder, folder, folder);
    write_file("compile_commands.json", text);
    rs_invocation_request request = {
        .path = at("sub/k.cu"), .toolkit = "", .commands = at("compile_commands.json")};
    rs_invocation invocation;
    char word[256];
    assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_OK);
    snprintf(word, sizeof word, "-I%s/sub/inc", folder);
    assert_true(has(&invocation, word));
    assert_true(has(&invocation, "-DA=x y"));
    assert_true(has(&invocation, "--cuda-gpu-arch=sm_75"));
    assert_false(has(&invocation, "-DWRONG"));
    assert_int_equal(invocation.note_count, 0);
    rs_invocation_free(&invocation);
    request.path = at("host.c");
    assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_OK);
    assert_int_equal(invocation.language, RS_SYNTAX_C);
    assert_true(has(&invocation, "-I/tmp/inc"));
    assert_true(has(&invocation, "-DQ=\"a b\""));
    assert_int_equal(invocation.note_count, 0);
    rs_invocation_free(&invocation);
    request.path = at("absent.cu");
    assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_IO);
}

static void refuses_other_databases(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "{}", "[", "[1,[],{}]", "[{\"file\":3}]", "\xff"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        rs_commands commands;
        assert_int_equal(
            rs_commands_parse(&commands, texts[i], strlen(texts[i]), "/a/c.json", "/a/k.cu"),
            RESTRIDE_IO);
    }
}

/* The first error of a parse, or how many kernels were instantiated. */
static int read_text(const char *name, const char *text, const char *toolkit, char *error)
{
    CXString spelling = clang_getClangVersion();
    const char *number = strpbrk(clang_getCString(spelling), "0123456789");
    rs_invocation_request request = {.path = name,
                                     .text = text,
                                     .size = strlen(text),
                                     .toolkit = toolkit,
                                     .clang = number != NULL ? (unsigned)atoi(number) : 0};
    rs_invocation invocation;
    clang_disposeString(spelling);
    assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_OK);
    struct CXUnsavedFile files[32];
    assert_in_range(invocation.file_count, 1, 32);
    for (size_t i = 0; i < invocation.file_count; i++)
        files[i] = (struct CXUnsavedFile){invocation.files[i].path, invocation.files[i].text,
                                          invocation.files[i].size};
    CXIndex index = clang_createIndex(0, 0);
    CXTranslationUnit unit = NULL;
    assert_int_equal(clang_parseTranslationUnit2(
                         index, invocation.path, (const char *const *)invocation.arguments,
                         (int)invocation.argument_count, files, (unsigned)invocation.file_count,
                         CXTranslationUnit_None, &unit),
                     0);
    int errors = 0;
    error[0] = '\0';
    for (unsigned i = 0; i < clang_getNumDiagnostics(unit); i++) {
        CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
        if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error && errors++ == 0) {
            CXString line = clang_formatDiagnostic(diagnostic, CXDiagnostic_DisplaySourceLocation);
            snprintf(error, 512, "%s", clang_getCString(line));
            clang_disposeString(line);
        }
        clang_disposeDiagnostic(diagnostic);
    }
    clang_disposeTranslationUnit(unit);
    clang_disposeIndex(index);
    rs_invocation_free(&invocation);
    return errors;
}

static const char cuda_source[] =
    "#include <cstdio>\n#include <memory>\n#include <vector>\n#include <cuda_runtime.h>\n"
    "struct P { float x, y; };\n"
    "template <class T> __device__ __noinline__ T twice(T v) { return v + v; }\n"
    "__constant__ float c[4];\n"
    "template <class T> __global__ void k(T *p, P *q, int n) {\n"
    "  extern __shared__ float s[];\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  float4 v = make_float4(1, 2, 3, c[0]);\n"
    "  if (i < n) p[i] = twice(p[i]) * sqrtf(q[i].x) + fmaf(q[i].y, v.x, __ldg(&s[0]));\n"
    "  p[min(i, n)] += max(1.f, 2.f) + std::sqrt(v.y) + __fdividef(v.z, __expf(v.w));\n"
    "  atomicAdd(&q[0].x, __shfl_down_sync(0xffffffffu, v.x, 1));\n"
    "  __syncthreads(); if (i == 0) printf(\"%d\\n\", __popc(i)); }\n"
    "int main() { float *p; P *q; cudaMalloc(&p, 4); cudaMalloc((void **)&q, 8);\n"
    "  std::vector<P> h(3); dim3 b(32, 1); cudaDeviceProp d; cudaGetDeviceProperties(&d, 0);\n"
    "  cudaMemcpy(q, h.data(), 8, cudaMemcpyHostToDevice);\n"
    "  k<<<1, b, 16>>>(p, q, 1); k<<<dim3(2), 32>>>((double *)0, q, 1);\n"
    "  return cudaDeviceSynchronize() != cudaSuccess; }\n";

static void clang_reads_sources_with_it(void **state)
{
    (void)state;
    static const char opencl[] =
        "typedef struct { float x; int n; } P;\n"
        "kernel void k(global P *p, local float *s) { int i = get_global_id(0);\n"
        "  p[i].x = sqrt(p[i].x) + dot(vload4(0, s), (float4)(1)); atomic_inc(&p[i].n);\n"
        "  barrier(CLK_LOCAL_MEM_FENCE); }\n";
    static const char c[] = "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n"
                            "struct P { float x, y; };\n"
                            "void f(struct P *p, int n) { for (int i = 0; i < n; i++)\n"
                            "  p[i].x = sqrtf(p[i].y); printf(\"%zu\", strlen(\"\")); }\n";
    char error[512];
    read_text("/restride-test/k.cl", opencl, "", error);
    assert_string_equal(error, "");
    read_text("/restride-test/k.c", c, "", error);
    assert_string_equal(error, "");
    read_text("/restride-test/k.cu", cuda_source, "", error);
    assert_string_equal(error, "");
    rs_invocation found = make("k.cu", NULL, NULL);
    assert_int_equal(found.note_count, found.toolkit == NULL);
    if (found.toolkit != NULL)
        read_text("/restride-test/k.cu", cuda_source, found.toolkit, error);
    else
        print_message("no CUDA toolkit on this machine\n");
    rs_invocation_free(&found);
    assert_string_equal(error, "");
    /* The compiler's own words, with the place. */
    assert_true(read_text("/restride-test/k.cu", "\n__global__ void k() { x = 1; }\n", "", error) >
                0);
    assert_non_null(strstr(error, "/restride-test/k.cu:2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_toolkit),           cmocka_unit_test(tells_clang_of_the_toolkit),
        cmocka_unit_test(keeps_to_what_a_clang_knows), cmocka_unit_test(reads_opencl_for_a_device),
        cmocka_unit_test(follows_compile_commands),    cmocka_unit_test(refuses_other_databases),
        cmocka_unit_test(clang_reads_sources_with_it),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
