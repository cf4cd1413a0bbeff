/*
 * restride nvcc: nvcc with the same arguments, but for sources whose companions are compiled in
 * their place. Whatever goes wrong on the way, the user's own call is made: nothing that nvcc
 * compiles fails to compile here, and its errors are those of the user's source.
 */
#include "cli/cli.h"
#include "cli/nvcc.h"
#include "cli/process.h"
#include "console/fail.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- which nvcc --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_own(const char *path)
{
    struct stat there, own;
    return stat(path, &there) == 0 && stat("/proc/self/exe", &own) == 0 &&
           there.st_dev == own.st_dev && there.st_ino == own.st_ino;
}

/* A program in a list of folders that is not this one. */
static char *find_in(const char *folders)
{
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        rs_text path = RS_TEXT_EMPTY;
        rs_text_format(&path, "%.*s/nvcc", (int)length, folders);
        if (!path.failed && access(path.data, X_OK) == 0 && !is_own(path.data))
            return rs_text_take(&path);
        rs_text_free(&path);
        folders += length + (folders[length] == ':');
    }
    return NULL;
}

char *rs_nvcc_find(void)
{
    static const char *const variables[] = {"CUDA_PATH", "CUDA_HOME"};
    char *found = find_in(getenv("PATH"));
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && found == NULL; i++) {
        rs_text folder = RS_TEXT_EMPTY;
        if (getenv(variables[i]) == NULL)
            continue;
        rs_text_format(&folder, "%s/bin", getenv(variables[i]));
        found = find_in(folder.failed ? NULL : folder.data);
        rs_text_free(&folder);
    }
    return found != NULL ? found : find_in("/usr/local/cuda/bin");
}

/* --- running it --- */

/* The user's own call. */
static int exec_plain(char **command)
{
    fflush(NULL);
    execvp(command[0], command);
    return rs_cli_fail(RS_EXIT_FAILED, "nvcc", "%s could not be started: %s.", command[0],
                       strerror(errno));
}

static void copy_stream(FILE *from, int to)
{
    char part[65536];
    size_t count;
    rewind(from);
    while ((count = fread(part, 1, sizeof part, from)) > 0)
        for (size_t at = 0; at < count;) {
            const ssize_t written = write(to, part + at, count - at);
            if (written < 0 && errno != EINTR)
                return;
            at += written > 0 ? (size_t)written : 0;
        }
}

/* Runs a command; what it prints is shown when it succeeds. */
static bool run_held(char **command)
{
    FILE *streams[2] = {tmpfile(), tmpfile()};
    int saved[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    rs_process_result result = {.started = false};
    bool is_done = streams[0] != NULL && streams[1] != NULL && saved[0] >= 0 && saved[1] >= 0;
    if (is_done) {
        fflush(NULL);
        dup2(fileno(streams[0]), STDOUT_FILENO);
        dup2(fileno(streams[1]), STDERR_FILENO);
        is_done = rs_process_run(command, &result) == RESTRIDE_OK && result.started;
        dup2(saved[0], STDOUT_FILENO);
        dup2(saved[1], STDERR_FILENO);
        if (is_done && (result.signal == SIGINT || result.signal == SIGTERM))
            exit(rs_process_end_alike(&result));
        is_done = is_done && result.signal == 0 && result.exit_status == 0;
    }
    for (int i = 0; i < 2; i++) {
        if (is_done)
            copy_stream(streams[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO);
        if (streams[i] != NULL)
            fclose(streams[i]);
        if (saved[i] >= 0)
            close(saved[i]);
    }
    return is_done;
}

/* --- companions in their sources' places --- */

/* nvcc's arguments with companions; false where a source is not found among them. */
static bool replace_sources(const rs_nvcc *call, const rs_nvcc_companion companions[], size_t count,
                            rs_words *command)
{
    size_t replaced = 0, wanted = 0;
    for (size_t i = 0; i < call->command_count; i++)
        rs_words_add(command, call->command[i]);
    for (size_t i = 0; i < count; i++) {
        rs_text map = RS_TEXT_EMPTY;
        wanted += companions[i].path != NULL;
        if (companions[i].path == NULL || companions[i].prefix == NULL)
            continue;
        rs_text_format(&map, "-Xcompiler=-fmacro-prefix-map=%s=", companions[i].prefix);
        if (strchr(companions[i].prefix, ',') != NULL || map.failed)
            command->failed = true;
        else
            rs_words_add(command, map.data);
        rs_text_free(&map);
        break; /* they all begin in the working folder */
    }
    for (size_t i = 0; i < call->arguments.count; i++) {
        const char *word = call->arguments.at[i];
        for (size_t k = 0; k < count; k++)
            if (companions[k].path != NULL &&
                strcmp(call->arguments.at[i], companions[k].source) == 0) {
                word = companions[k].path;
                replaced++;
            }
        rs_words_add(command, word);
    }
    return replaced == wanted && wanted > 0 && !command->failed;
}

/* Whether nvcc has done what it was asked for, with companions. */
static bool compile_companions(const rs_nvcc *call)
{
    const size_t count = call->sources.count;
    const bool explains = getenv("RESTRIDE_EXPLAIN") != NULL;
    rs_nvcc_companion *companions = calloc(count, sizeof *companions);
    rs_words command = {NULL, 0, false};
    bool is_done = companions != NULL;
    for (size_t i = 0; i < count && is_done; i++)
        rs_nvcc_make(call, call->sources.at[i], explains, &companions[i]);
    is_done = is_done && replace_sources(call, companions, count, &command);
    if (is_done) {
        is_done = run_held(command.at);
        if (!is_done && explains)
            fprintf(stderr, "restride nvcc: kept: nvcc does not compile the second forms\n");
    }
    for (size_t i = 0; i < call->dependencies.count && is_done; i++)
        is_done = rs_nvcc_mend(call->dependencies.at[i], companions, count) == RESTRIDE_OK;
    for (size_t i = 0; companions != NULL && i < count; i++)
        rs_nvcc_companion_free(&companions[i]);
    free(companions);
    rs_words_free(&command);
    return is_done;
}

/* `words`: launchers, nvcc at `nvcc`, its arguments; with a NULL behind them. */
static int run_nvcc(char **words, int count, int nvcc)
{
    rs_nvcc call = {.nvcc = words[nvcc], .command = words, .command_count = (size_t)nvcc + 1};
    for (int i = nvcc + 1; i < count; i++)
        rs_words_add(&call.arguments, words[i]);
    const bool is_done = !call.arguments.failed && rs_nvcc_ask(&call) && compile_companions(&call);
    rs_nvcc_free(&call);
    return is_done ? RS_EXIT_DONE : exec_plain(words);
}

int rs_verb_nvcc(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(rs_help_nvcc, stdout);
        return RS_EXIT_DONE;
    }
    argv[0] = rs_nvcc_find();
    if (argv[0] == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, "nvcc",
                           "nvcc is not in PATH; install the CUDA toolkit, or set CUDA_PATH.");
    return run_nvcc(argv, argc, 0);
}

int rs_nvcc_launched(int argc, char **argv)
{
    if (argc > 0 && strcmp(base_name(argv[0]), "nvcc") == 0)
        return -1;
    for (int i = 1; i < argc && argv[i][0] != '-'; i++)
        if (strcmp(base_name(argv[i]), "nvcc") == 0)
            return i > 1 || strchr(argv[i], '/') != NULL ? i : 0;
    return 0;
}

int rs_nvcc_launch(int argc, char **argv, int nvcc)
{
    if (nvcc > 0)
        return run_nvcc(argv + 1, argc - 1, nvcc - 1);
    argv[0] = rs_nvcc_find();
    if (argv[0] == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, "nvcc", "There is no other nvcc in PATH.");
    return run_nvcc(argv, argc, 0);
}
