/*
 * restride doctor: says what works on this machine, and what to install for the rest.
 *
 * Exit status 0 when `restride run` works here: the rewriter, the preprocessor, the layer, a loader
 * that loads layers, and at least one device that converts a buffer correctly.
 */
#include "base/child.h"
#include "base/json.h"
#include "base/store.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "config/config.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/parts.h"
#include "restride/transpose.h"
#include "restride/version.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What helps where a part was not built, by its packages of Debian's. Who has a wheel has no build.
 */
#ifdef RESTRIDE_WHEEL
#define BUILD_WITH(packages)                                                                       \
    "apt-get install " packages ", and install from a checkout: pip install ."
#define LIBCLANG_ADVICE "pip install libclang"
#define RECORDER_ADVICE                                                                            \
    "no wheel has it: in a checkout, apt-get install oclgrind liboclgrind-dev g++ and make "       \
    "install"
#else
#define BUILD_WITH(packages) "apt-get install " packages ", and build again"
#define LIBCLANG_ADVICE                                                                            \
    "install libclang-19-dev (or any libclang-NN-dev from 17 on) and build with "                  \
    "-DRESTRIDE_REWRITE=ON"
#define RECORDER_ADVICE BUILD_WITH("oclgrind liboclgrind-dev g++")
#endif

/* The name of a status as it is printed. */
static const char *status_name(rs_doctor_status status)
{
    static const char *const names[] = {[RS_DOCTOR_WORKS] = "works",
                                        [RS_DOCTOR_FAILS] = "fails",
                                        [RS_DOCTOR_MISSING] = "missing",
                                        [RS_DOCTOR_OPTIONAL] = "optional"};
    return names[status];
}

json_t *rs_doctor_add(json_t *findings, const char *subject, rs_doctor_status status,
                      const char *advice, const char *detail, ...)
{
    va_list arguments;
    va_start(arguments, detail);
    json_t *sentence = json_vsprintf(detail, arguments);
    va_end(arguments);
    json_t *finding =
        json_pack("{s:s, s:s, s:o, s:s?}", "subject", subject, "status", status_name(status),
                  "detail", sentence ? sentence : json_null(), "advice", advice);
    return json_array_append_new(findings, finding) == 0 ? finding : NULL;
}

static void check_rewriter(json_t *findings)
{
    char *rewriter = NULL;
    rs_text version = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int exit_status = 1;
    if (rs_cli_part_path(RS_PART_REWRITER, &rewriter) == RESTRIDE_OK) {
        static char flag[] = "--libclang";
        char *const arguments[] = {rewriter, flag, NULL};
        if (rs_child_run(arguments, "", 0, &version, &errors, &exit_status) != RESTRIDE_OK)
            exit_status = 1;
        if (exit_status == 0)
            version.data[strcspn(version.data, "\n")] = '\0';
    }
    if (exit_status == 0)
        rs_doctor_add(findings, "kernel rewriter", RS_DOCTOR_WORKS, NULL, "libclang: %s",
                      version.data);
    else
        rs_doctor_add(findings, "kernel rewriter", RS_DOCTOR_MISSING, LIBCLANG_ADVICE,
                      rewriter == NULL ? "not part of this build" : "%s does not start", rewriter);
    rs_text_free(&version);
    rs_text_free(&errors);
    free(rewriter);
}

static void check_analyzer(json_t *findings)
{
    char *analyzer = NULL;
    if (rs_cli_part_path(RS_PART_ANALYZER, &analyzer) == RESTRIDE_OK)
        rs_doctor_add(findings, "access patterns", RS_DOCTOR_WORKS, NULL,
                      "restride analyze reads C, OpenCL C and CUDA C");
    else
        rs_doctor_add(findings, "access patterns", RS_DOCTOR_OPTIONAL,
                      BUILD_WITH("libisl-dev libclang-19-dev"),
                      "this build has no restride analyze");
    free(analyzer);
}

/* The first file named `program` in PATH that can be run; the caller frees it. NULL when there is
 * none. */
static char *find_program(const char *program)
{
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        const size_t length = strcspn(folder, ":");
        rs_text text = RS_TEXT_EMPTY;
        rs_text_add(&text, folder, length);
        rs_text_format(&text, "/%s", program);
        char *path = rs_text_take(&text);
        if (path && access(path, X_OK) == 0)
            return path;
        free(path);
        folder += length + (folder[length] == ':');
    }
    return NULL;
}

/* A small matrix there and back, every element compared with the definition. */
static bool host_transposes(void)
{
    enum { ROWS = 37, COLUMNS = 53 };
    static int matrix[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = i;
    if (restride_transpose(matrix, ROWS, COLUMNS, sizeof matrix[0]) != RESTRIDE_OK)
        return false;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            if (matrix[column * ROWS + row] != row * COLUMNS + column)
                return false;
    return true;
}

static void check_host(json_t *findings)
{
    const long threads = sysconf(_SC_NPROCESSORS_ONLN);
    if (host_transposes())
        rs_doctor_add(findings, "host engine", RS_DOCTOR_WORKS, NULL,
                      "in-place transposition, %ld thread%s", threads, threads == 1 ? "" : "s");
    else
        rs_doctor_add(findings, "host engine", RS_DOCTOR_FAILS, "report this as a defect",
                      "a transposed matrix was wrong: %s", restride_last_error());
}

static void check_preprocessor(json_t *findings)
{
    char *path = find_program("cpp");
    if (path)
        rs_doctor_add(findings, "C preprocessor", RS_DOCTOR_WORKS, NULL, "%s", path);
    else
        rs_doctor_add(
            findings, "C preprocessor", RS_DOCTOR_MISSING, "apt-get install cpp",
            "there is no cpp in PATH, and the rewriter needs it for #include and #define");
    free(path);
}

static void check_configuration(json_t *findings)
{
    json_t *config = NULL;
    if (rs_config_parse("", 0, "", &config) == RESTRIDE_OK)
        rs_doctor_add(findings, "configuration", RS_DOCTOR_WORKS, NULL, "--config reads files");
    else
        rs_doctor_add(findings, "configuration", RS_DOCTOR_OPTIONAL, BUILD_WITH("libinih-dev"),
                      "this build cannot read configuration files (--config)");
    json_decref(config);
}

/* What restride sim runs kernels with. */
static void check_recorder(json_t *findings)
{
    char *recorder = NULL;
    char *program = find_program("oclgrind-kernel");
    bool built = rs_cli_part_path(RS_PART_RECORDER, &recorder) == RESTRIDE_OK;
    if (built && program != NULL)
        rs_doctor_add(findings, "kernel recorder", RS_DOCTOR_WORKS, NULL,
                      "restride sim runs OpenCL kernels: %s", program);
    else if (built)
        rs_doctor_add(findings, "kernel recorder", RS_DOCTOR_OPTIONAL, "apt-get install oclgrind",
                      "restride sim cannot run kernels without oclgrind-kernel");
    else
        rs_doctor_add(findings, "kernel recorder", RS_DOCTOR_OPTIONAL, RECORDER_ADVICE,
                      "restride sim of this build cannot run kernels");
    free(program);
    free(recorder);
}

/* Answers of the rewriter and what compilers made are kept from run to run. */
static void check_store(json_t *findings)
{
    static const char kind[] = "rewritten", key[] = "restride doctor";
    static const char subject[] = "kept answers";
    char *folder = rs_store_folder(kind);
    rs_text content = RS_TEXT_EMPTY;
    struct stat about;
    rs_store_write(kind, key, sizeof key, key, sizeof key);
    if (folder == NULL)
        rs_doctor_add(findings, subject, RS_DOCTOR_OPTIONAL,
                      "set XDG_CACHE_HOME to a folder that you may write",
                      "neither XDG_CACHE_HOME nor HOME is a full path: each run is a first run");
    else if (rs_store_read(kind, key, sizeof key, &content))
        rs_doctor_add(findings, subject, RS_DOCTOR_WORKS, NULL, "%s", folder);
    else if (stat(folder, &about) == 0 && (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        rs_doctor_add(findings, subject, RS_DOCTOR_FAILS, "chmod go-w that folder",
                      "others may write to %s: each run is a first run", folder);
    else
        rs_doctor_add(findings, subject, RS_DOCTOR_FAILS,
                      "set XDG_CACHE_HOME to a folder that you may write",
                      "nothing can be kept in %s: each run is a first run", folder);
    rs_text_free(&content);
    free(folder);
}

static bool is_missing(const json_t *finding)
{
    const char *status = rs_json_string_of(finding, "status");
    return status && strcmp(status, status_name(RS_DOCTOR_MISSING)) == 0;
}

static bool everything_needed(const json_t *findings)
{
    size_t index;
    const json_t *finding;
    json_array_foreach(findings, index, finding)
    {
        if (is_missing(finding))
            return false;
    }
    return true;
}

static void print_text(const json_t *findings, bool works)
{
    size_t index;
    const json_t *finding;
    printf("restride %s\n\n", RESTRIDE_VERSION_STRING);
    json_array_foreach(findings, index, finding)
    {
        const char *advice = rs_json_string_of(finding, "advice");
        printf("  %-9s %-16s %s\n", rs_json_string_of(finding, "status"),
               rs_json_string_of(finding, "subject"), rs_json_string_of(finding, "detail"));
        if (advice)
            printf("  %-9s %-16s -> %s\n", "", "", advice);
    }
    printf("\n%s\n", works ? "restride run works here."
                           : "restride run does not work here; see the lines above.");
}

typedef struct {
    bool json;
} doctor_options;

int rs_verb_doctor(int argc, char **argv)
{
    static const rs_cli_option table[] = {{RS_CLI_FLAG("json", doctor_options, json)}, {0}};
    doctor_options options = {false};
    int answer;
    if (rs_doctor_is_asked_to_follow(&answer))
        return answer;
#ifdef RESTRIDE_HAVE_OPENCL
    bool has_layer;
    if (rs_doctor_is_asked_for_layer(&has_layer))
        return has_layer ? RS_EXIT_DONE : RS_EXIT_FAILED;
#endif
    int exit_status = rs_cli_read_only_options("doctor", argc, argv, table, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    json_t *findings = json_array();
    if (!findings) {
        rs_fail_memory("the findings");
        return rs_cli_fail_last(RS_EXIT_FAILED, argv[0]);
    }
    check_host(findings);
    check_rewriter(findings);
    check_analyzer(findings);
    check_preprocessor(findings);
    check_configuration(findings);
    check_recorder(findings);
    check_store(findings);
#ifdef RESTRIDE_HAVE_OPENCL
    rs_doctor_check_opencl(findings);
#else
    rs_doctor_add(findings, "OpenCL layer", RS_DOCTOR_MISSING,
                  "install opencl-headers and build with -DRESTRIDE_OPENCL=ON",
                  "not part of this build");
#endif
    rs_doctor_check_cuda(findings);
    rs_doctor_check_following(findings);

    const bool works = everything_needed(findings);
    if (options.json)
        exit_status = rs_cli_print_json(argv[0], json_pack("{s:s, s:b, s:O}", "version",
                                                           RESTRIDE_VERSION_STRING, "works", works,
                                                           "findings", findings));
    else
        print_text(findings, works);
    json_decref(findings);
    return works ? exit_status : RS_EXIT_FAILED;
}
