/*
 * Runs a program as a child process, and tells whether a process still runs. The three streams are
 * unnamed temporary files instead of pipes: no stream can fill up while another one is waited for,
 * and a child that does not read its input raises no signal here.
 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { STREAMS = 3 };

/* Variables that add include folders or dependency files, or translate messages, in which callers
 * look for words. */
static const char *const removed_variables[] = {
    "CPATH=",  "C_INCLUDE_PATH=", "DEPENDENCIES_OUTPUT=", "SUNPRO_DEPENDENCIES=", "LC_MESSAGES=",
    "LC_ALL=", "LANGUAGE=",       "GCC_COLORS="};

static bool is_removed(const char *variable)
{
    for (size_t i = 0; i < sizeof removed_variables / sizeof removed_variables[0]; i++)
        if (strncmp(variable, removed_variables[i], strlen(removed_variables[i])) == 0)
            return true;
    return false;
}

/* The environment for the child; the strings stay those of `environ`. */
static char **child_environment(void)
{
    static char plain_messages[] = "LC_ALL=C";
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **copy = malloc((count + 2) * sizeof *copy);
    if (copy == NULL)
        return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_removed(environ[i]))
            copy[kept++] = environ[i];
    copy[kept++] = plain_messages;
    copy[kept] = NULL;
    return copy;
}

static restride_status open_streams(FILE *streams[STREAMS], const char *input, size_t input_size)
{
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = tmpfile();
        if (streams[i] == NULL)
            return rs_fail(RESTRIDE_IO, "A temporary file could not be made: %s.", strerror(errno));
        fcntl(fileno(streams[i]), F_SETFD, FD_CLOEXEC);
    }
    if (fwrite(input, 1, input_size, streams[0]) != input_size || fflush(streams[0]) != 0 ||
        lseek(fileno(streams[0]), 0, SEEK_SET) != 0)
        return rs_fail(RESTRIDE_IO, "A temporary file could not be written: %s.", strerror(errno));
    return RESTRIDE_OK;
}

static restride_status spawn_and_wait(char *const arguments[], FILE *streams[STREAMS],
                                      int *exit_status)
{
    char **environment = child_environment();
    posix_spawn_file_actions_t actions;
    if (environment == NULL || posix_spawn_file_actions_init(&actions) != 0) {
        free(environment);
        return rs_fail_memory("a child process");
    }
    int failed = 0;
    for (int i = 0; i < STREAMS && failed == 0; i++)
        failed = posix_spawn_file_actions_adddup2(&actions, fileno(streams[i]), i);
    pid_t child = 0;
    if (failed == 0)
        failed = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    if (failed != 0)
        return rs_fail(RESTRIDE_IO, "The program %s could not be started (%s); install it.",
                       arguments[0], strerror(failed));
    int state = 0;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return rs_fail(RESTRIDE_IO, "The end of %s was not seen: %s.", arguments[0],
                           strerror(errno));
    *exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : 128;
    return RESTRIDE_OK;
}

restride_status rs_child_run(char *const arguments[], const char *input, size_t input_size,
                             rs_text *output, rs_text *errors, int *exit_status)
{
    FILE *streams[STREAMS] = {NULL, NULL, NULL};
    rs_text *texts[STREAMS] = {NULL, output, errors};
    restride_status status = open_streams(streams, input, input_size);
    if (status == RESTRIDE_OK)
        status = spawn_and_wait(arguments, streams, exit_status);
    for (int i = 1; i < STREAMS && status == RESTRIDE_OK; i++) {
        if (lseek(fileno(streams[i]), 0, SEEK_SET) != 0)
            status = rs_fail(RESTRIDE_IO, "The output of %s could not be read: %s.", arguments[0],
                             strerror(errno));
        else
            status = rs_text_read_descriptor(texts[i], fileno(streams[i]), arguments[0]);
    }
    for (int i = 0; i < STREAMS; i++)
        if (streams[i] != NULL)
            fclose(streams[i]);
    return status;
}

/* ---- work in a copy ---- */

static void write_all(int descriptor, const rs_text *text)
{
    size_t written = 0;
    ssize_t more = 1;
    while (written < text->size && more > 0) {
        more = write(descriptor, text->data + written, text->size - written);
        written += more > 0 ? (size_t)more : 0;
    }
    _exit(written == text->size && !text->failed ? 0 : 1);
}

static void do_in_child(rs_child_work *work, void *context, unsigned seconds, int descriptor)
{
    const struct rlimit none = {0, 0}, some = {seconds, seconds};
    rs_text output = RS_TEXT_EMPTY;
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &some);
    signal(SIGALRM, SIG_DFL);
    alarm(2 * seconds); /* where it waits */
    if (work(context, &output) != RESTRIDE_OK)
        _exit(1);
    write_all(descriptor, &output);
}

restride_status rs_child_do(rs_child_work *work, void *context, unsigned seconds, rs_text *output)
{
    int ends[2], state = -1;
    rs_text read = RS_TEXT_EMPTY;
    if (pipe(ends) != 0)
        return rs_fail(RESTRIDE_IO, "A pipe could not be made: %s.", strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        do_in_child(work, context, seconds, ends[1]);
    }
    close(ends[1]);
    restride_status status =
        child < 0 ? rs_fail(RESTRIDE_IO, "A process could not be made: %s.", strerror(errno))
                  : rs_text_read_descriptor(&read, ends[0], "a child process");
    close(ends[0]);
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (status == RESTRIDE_OK && (!WIFEXITED(state) || WEXITSTATUS(state) != 0))
        status = rs_fail(RESTRIDE_UNSUPPORTED, "A process ended before its work was done.");
    if (status == RESTRIDE_OK && read.size > 0)
        rs_text_add(output, read.data, read.size);
    rs_text_free(&read);
    return status;
}

/* ---- whether a process still runs ---- */

static unsigned long long read_start(const char *path, long *process)
{
    char line[1024], state = 'X';
    unsigned long long ticks = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    line[fread(line, 1, sizeof line - 1, file)] = '\0';
    fclose(file);
    /* The name in parentheses may have any character; the start is the 22nd word. */
    const char *rest = strrchr(line, ')');
    if (rest == NULL || sscanf(rest + 1,
                               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                               "%*s %*s %*s %llu",
                               &state, &ticks) != 2)
        return 0;
    *process = strtol(line, NULL, 10);
    return state == 'Z' || state == 'X' ? 0 : ticks;
}

unsigned long long rs_process_start(long process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    return read_start(path, &process);
}

unsigned long long rs_process_own_start(long *process)
{
    *process = (long)getpid();
    return read_start("/proc/self/stat", process);
}
