/*
 * See invocation.h. CUDA is read as nvcc's device compiler reads it: host functions are parsed too,
 * and what they launch is instantiated, but "#if __CUDA_ARCH__" has the device's branch.
 */
#include "syntax/invocation.h"

#include "base/list.h"
#include "base/text.h"
#include "syntax/commands.h"
#include "syntax/headers.h"
#include "syntax/options.h"
#include "syntax/toolkit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files that are in memory only are below this folder, which does not exist. */
#define FOLDER "/restride-headers"

extern const char rs_cuda_with_toolkit[], rs_cuda_without_toolkit[];

enum { DEFAULT_ARCHITECTURE = 80 };

static const char memory_subject[] = "what clang is told of a source";

/* Headers that older toolkits had, for sources that include them: empty, or what took their place.
 */
static const struct {
    const char *name, *text;
} former_headers[] = {
    {"texture_fetch_functions.h", ""}, {"texture_indirect_functions.h", ""},
    {"surface_functions.h", ""},       {"cuda_texture_types.h", ""},
    {"cuda_surface_types.h", ""},      {"device_functions.h", ""},
    {"math_functions.h", ""},          {"nvToolsExt.h", "#include <nvtx3/nvToolsExt.h>\n"}};

/* Without a toolkit: what the own declarations stand for. */
static const char *const runtime_headers[] = {"cuda.h",
                                              "cuda_runtime.h",
                                              "cuda_runtime_api.h",
                                              "device_launch_parameters.h",
                                              "driver_types.h",
                                              "vector_types.h",
                                              "vector_functions.h",
                                              "builtin_types.h",
                                              "device_functions.h",
                                              "math_functions.h",
                                              "sm_20_atomic_functions.h",
                                              "cuda_profiler_api.h"};

static rs_syntax_language language_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot == NULL)
        return RS_SYNTAX_CUDA;
    if (strcmp(dot, ".cl") == 0 || strcmp(dot, ".ocl") == 0)
        return RS_SYNTAX_OPENCL;
    return strcmp(dot, ".c") == 0 ? RS_SYNTAX_C : RS_SYNTAX_CUDA;
}

/* ---- files in memory ---- */

static restride_status add_file(rs_invocation *invocation, const char *path, const char *text,
                                size_t size)
{
    if (!RS_LIST_GROW(invocation->files, invocation->file_count))
        return rs_fail_memory(memory_subject);
    rs_virtual_file *file = &invocation->files[invocation->file_count];
    *file = (rs_virtual_file){strdup(path), malloc(size + 1), size};
    invocation->file_count++;
    if (file->path == NULL || file->text == NULL)
        return rs_fail_memory(memory_subject);
    memcpy(file->text, text, size);
    file->text[size] = '\0';
    return RESTRIDE_OK;
}

static restride_status add_header(rs_invocation *invocation, const char *name, const char *text)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, FOLDER "/%s", name);
    restride_status status = path.failed ? rs_fail_memory(memory_subject)
                                         : add_file(invocation, path.data, text, strlen(text));
    rs_text_free(&path);
    return status;
}

/* ---- CUDA ---- */

/* The newest architecture that a version of clang knows. */
static int newest_architecture(unsigned clang)
{
    static const struct {
        unsigned clang;
        int architecture;
    } known[] = {{21, 121}, {20, 100}, {16, 90}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (clang >= known[i].clang || clang == 0)
            return known[clang == 0 ? 2 : i].architecture;
    return 86;
}

static void add_architecture(rs_arguments *arguments, const rs_syntax_options *options,
                             unsigned clang)
{
    const int wanted = options->architecture > 0 ? options->architecture : DEFAULT_ARCHITECTURE;
    const int newest = newest_architecture(clang);
    rs_arguments_add(arguments, "--cuda-gpu-arch=sm_%d", wanted < newest ? wanted : newest);
    rs_arguments_add(arguments, "-D__CUDA_ARCH_LIST__=%d0", wanted);
    if (wanted > newest) {
        rs_arguments_add(arguments, "-U__CUDA_ARCH__");
        rs_arguments_add(arguments, "-D__CUDA_ARCH__=%d0", wanted);
    }
    if (options->feature == 'a')
        rs_arguments_add(arguments, "-D__CUDA_ARCH_FEAT_SM%d_ALL", wanted);
}

static restride_status add_toolkit(rs_invocation *invocation, rs_arguments *arguments,
                                   const rs_toolkit *toolkit)
{
    restride_status status = RESTRIDE_OK;
    if (toolkit->folder != NULL) {
        /* What is in a usual folder is found without; named, it would come before libstdc++'s. */
        if (strcmp(toolkit->include, "/usr/include") != 0) {
            rs_arguments_add(arguments, "-isystem");
            rs_arguments_add(arguments, "%s", toolkit->include);
        }
        rs_arguments_add(arguments, "-isystem");
        rs_arguments_add(arguments, "%s/cccl", toolkit->include);
        for (size_t i = 0;
             status == RESTRIDE_OK && i < sizeof former_headers / sizeof *former_headers; i++)
            status = add_header(invocation, former_headers[i].name, former_headers[i].text);
    } else {
        for (size_t i = 0;
             status == RESTRIDE_OK && i < sizeof runtime_headers / sizeof *runtime_headers; i++)
            status = add_header(invocation, runtime_headers[i], "");
    }
    /* Behind what the toolkit has; but what stands for one is in place of any other. */
    rs_arguments_add(arguments, toolkit->folder != NULL ? "-idirafter" : "-isystem");
    rs_arguments_add(arguments, FOLDER);
    rs_arguments_add(arguments, "-DRS_TOOLKIT_MAJOR=%d", toolkit->version / 1000);
    rs_arguments_add(arguments, "-DRS_TOOLKIT_MINOR=%d", toolkit->version % 1000 / 10);
    rs_arguments_add(arguments, "-include");
    rs_arguments_add(arguments, FOLDER "/restride_cuda.h");
    if (status == RESTRIDE_OK)
        status =
            add_header(invocation, "restride_cuda.h",
                       toolkit->folder != NULL ? rs_cuda_with_toolkit : rs_cuda_without_toolkit);
    return status;
}

static restride_status add_cuda(rs_invocation *invocation, rs_arguments *arguments,
                                rs_syntax_options *options, const rs_invocation_request *request)
{
    static const char *const fixed[] = {"-x",
                                        "cuda",
                                        "--cuda-device-only",
                                        "-nocudainc",
                                        "-nocudalib",
                                        "--no-cuda-version-check",
                                        "-Xclang",
                                        "-fcuda-allow-variadic-functions"};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        rs_arguments_add(arguments, "%s", fixed[i]);
    /* nvcc's default is that of gcc: C++17 with GNU's extensions. */
    const char *standard = options->standard != NULL ? options->standard : "gnu++17";
    const bool old_name = strcmp(standard, "c++23") == 0 && request->clang < 17;
    rs_arguments_add(arguments, "-std=%s", old_name ? "c++2b" : standard);
    add_architecture(arguments, options, request->clang);
    const char *named = request->toolkit != NULL ? request->toolkit : options->toolkit;
    rs_toolkit toolkit = {NULL, NULL, 0};
    restride_status status =
        named != NULL && *named == '\0' ? RESTRIDE_OK : rs_toolkit_find(&toolkit, named);
    if (toolkit.folder == NULL && named == NULL)
        rs_arguments_add(&options->notes, "No CUDA toolkit was found: compact declarations take "
                                          "its place. Name one with --cuda-path.");
    if (status == RESTRIDE_OK)
        status = add_toolkit(invocation, arguments, &toolkit);
    invocation->toolkit = toolkit.folder;
    invocation->toolkit_version = toolkit.version;
    toolkit.folder = NULL;
    rs_toolkit_free(&toolkit);
    return status;
}

/* ---- the other languages ---- */

/* ---- all together ---- */

static restride_status read_options(rs_syntax_options *options, rs_invocation *invocation,
                                    const rs_invocation_request *request)
{
    static const rs_syntax_dialect dialects[] = {RS_SYNTAX_NVCC, RS_SYNTAX_CL, RS_SYNTAX_NVCC,
                                                 RS_SYNTAX_CC};
    restride_status status = RESTRIDE_OK;
    if (request->commands != NULL) {
        rs_commands commands;
        status = rs_commands_read(&commands, request->commands, invocation->path);
        if (status != RESTRIDE_OK)
            return status;
        status = rs_syntax_options_add(options, commands.nvcc ? RS_SYNTAX_NVCC : RS_SYNTAX_CC,
                                       (const char *const *)commands.words.items,
                                       commands.words.count, commands.directory);
        rs_commands_free(&commands);
    }
    char here[PATH_MAX];
    if (status == RESTRIDE_OK)
        status = rs_syntax_options_add(options, dialects[invocation->language], request->options,
                                       request->option_count, getcwd(here, sizeof here));
    if (request->language == RS_SYNTAX_BY_NAME && options->language != RS_SYNTAX_BY_NAME)
        invocation->language = options->language;
    if (status == RESTRIDE_OK && request->architecture != NULL) {
        options->architecture = 0;
        if (!rs_syntax_options_target(options, request->architecture))
            status = rs_fail(RESTRIDE_INVALID_ARGUMENT, "%s is no architecture such as sm_90.",
                             request->architecture);
    }
    return status;
}

static restride_status fill(rs_invocation *invocation, rs_syntax_options *options,
                            const rs_invocation_request *request)
{
    rs_arguments arguments = {NULL, 0, false};
    restride_status status = RESTRIDE_OK;
    if (invocation->language == RS_SYNTAX_CUDA)
        status = add_cuda(invocation, &arguments, options, request);
    else if (invocation->language == RS_SYNTAX_OPENCL) {
        rs_arguments_add(&arguments, "-x");
        rs_arguments_add(&arguments, "cl");
        rs_arguments_add(&arguments, "-cl-std=%s",
                         options->standard != NULL ? options->standard : "CL1.2");
        rs_arguments_add(&arguments, "-target");
        rs_arguments_add(&arguments, request->address_bits == 32 ? "spir-unknown-unknown"
                                                                 : "spir64-unknown-unknown");
    } else {
        rs_arguments_add(&arguments, "-x");
        rs_arguments_add(&arguments, "c");
        rs_arguments_add(&arguments, "-std=%s",
                         options->standard != NULL ? options->standard : "gnu17");
        rs_arguments_add(&arguments, "-D__malloc__(...)=__malloc__"); /* gcc's header of OpenMP */
    }
    for (size_t i = 0; i < options->arguments.count; i++)
        rs_arguments_add(&arguments, "%s", options->arguments.items[i]);
    rs_arguments_add(&arguments, "-Wno-everything");
    rs_arguments_add(&arguments, "-ferror-limit=0");
    rs_arguments_add(&arguments, "-idirafter");
    rs_arguments_add(&arguments, "%s", rs_clang_headers());
    if (invocation->language != RS_SYNTAX_OPENCL)
        rs_toolkit_add_gcc(&arguments, "/usr/lib/gcc");
    if (status == RESTRIDE_OK && request->text != NULL)
        status = add_file(invocation, invocation->path, request->text, request->size);
    if (status == RESTRIDE_OK && (arguments.failed || options->notes.failed))
        status = rs_fail_memory(memory_subject);
    invocation->arguments = arguments.items;
    invocation->argument_count = arguments.count;
    return status;
}

restride_status rs_invocation_make(rs_invocation *invocation, const rs_invocation_request *request)
{
    memset(invocation, 0, sizeof *invocation);
    char here[PATH_MAX];
    rs_syntax_options options = {.language = RS_SYNTAX_BY_NAME};
    invocation->language =
        request->language != RS_SYNTAX_BY_NAME ? request->language : language_of(request->path);
    invocation->path = rs_syntax_absolute(getcwd(here, sizeof here), request->path);
    restride_status status = invocation->path == NULL ? rs_fail_memory(memory_subject)
                                                      : read_options(&options, invocation, request);
    if (status == RESTRIDE_OK)
        status = fill(invocation, &options, request);
    invocation->notes = options.notes.items;
    invocation->note_count = options.notes.count;
    options.notes = (rs_arguments){NULL, 0, false};
    rs_syntax_options_free(&options);
    if (status != RESTRIDE_OK)
        rs_invocation_free(invocation);
    return status;
}

static void free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

void rs_invocation_free(rs_invocation *invocation)
{
    free_strings(invocation->arguments, invocation->argument_count);
    free_strings(invocation->notes, invocation->note_count);
    for (size_t i = 0; i < invocation->file_count; i++) {
        free(invocation->files[i].path);
        free(invocation->files[i].text);
    }
    free(invocation->files);
    free(invocation->path);
    free(invocation->toolkit);
    memset(invocation, 0, sizeof *invocation);
}
