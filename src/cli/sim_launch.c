/*
 * Oclgrind's own program oclgrind-kernel runs one kernel by a description of its launch: a text
 * with the file, the kernel, its extents and the values of its parameters. Both, and what it says,
 * are files of a temporary folder; the recording comes through a pipe.
 */
#include "base/folder.h"
#include "cli/sim.h"
#include "console/parts.h"
#include "sim/trace_format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] = "oclgrind-kernel";

struct rs_sim_running {
    char *folder; /* temporary */
    char *source; /* files in it */
    char *description;
    char *messages;
    char *recorder;
    char *compiler_options;
    char *working_folder; /* where includes are found */
    FILE *stream;
    pid_t child;
};

/* ---- files ---- */

static char *joined(const char *a, const char *b)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%s%s", a, b);
    return rs_text_take(&text);
}

static restride_status make_folder(rs_sim_running *running)
{
    restride_status status = rs_folder_create(&running->folder);
    if (status != RESTRIDE_OK)
        return status;
    running->source = joined(running->folder, "/kernel.cl");
    running->description = joined(running->folder, "/launch.sim");
    running->messages = joined(running->folder, "/messages.txt");
    return running->source != NULL && running->description != NULL && running->messages != NULL
               ? RESTRIDE_OK
               : rs_fail_memory("a temporary folder");
}

static void add_words(rs_text *text, const unsigned char *data, size_t size)
{
    uint32_t word;
    for (size_t i = 0; i < size; i += sizeof word) {
        memcpy(&word, data + i, sizeof word);
        rs_text_format(text, i % (16 * sizeof word) == 0 ? "\n%x" : " %x", word);
    }
}

static void add_value(rs_text *text, const rs_sim_parameter *parameter)
{
    if (parameter->place == RS_SIM_LOCAL) {
        rs_text_format(text, "<size=%zu uchar>\n", parameter->size);
    } else if (parameter->data == NULL) {
        rs_text_format(text, "<size=%zu uchar fill=0>\n", parameter->size);
    } else if (parameter->size % sizeof(uint32_t) == 0) {
        rs_text_format(text, "<size=%zu uint hex>", parameter->size);
        add_words(text, parameter->data, parameter->size);
        rs_text_add_string(text, "\n");
    } else {
        rs_text_format(text, "<size=%zu uchar hex>\n", parameter->size);
        for (size_t i = 0; i < parameter->size; i++)
            rs_text_format(text, "%x ", parameter->data[i]);
        rs_text_add_string(text, "\n");
    }
}

static restride_status write_files(const rs_sim_running *running, const rs_sim_launch *launch)
{
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = rs_text_read_file(&text, launch->file);
    if (status == RESTRIDE_OK)
        status = rs_text_write_file(running->source, text.data, text.size);
    rs_text_free(&text);
    if (status != RESTRIDE_OK)
        return status;
    rs_text_format(&text, "%s\n%s\n", running->source, launch->signature->kernel);
    rs_text_format(&text, "%zu %zu %zu\n", launch->global[0], launch->global[1], launch->global[2]);
    rs_text_format(&text, "%zu %zu %zu\n", launch->local[0], launch->local[1], launch->local[2]);
    for (size_t i = 0; i < launch->signature->count; i++)
        add_value(&text, &launch->signature->parameters[i]);
    status = text.failed ? rs_fail_memory("the description of a launch")
                         : rs_text_write_file(running->description, text.data, text.size);
    rs_text_free(&text);
    return status;
}

/* ---- the child ---- */

static restride_status join_options(rs_sim_running *running, const rs_sim_launch *launch)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, "-I.");
    for (size_t i = 0; i < launch->option_count; i++)
        rs_text_format(&text, " %s", launch->options[i]);
    running->compiler_options = rs_text_take(&text);
    const char *slash = strrchr(launch->file, '/');
    running->working_folder =
        slash == NULL ? strdup(".") : strndup(launch->file, (size_t)(slash - launch->file) + 1);
    return running->compiler_options != NULL && running->working_folder != NULL
               ? RESTRIDE_OK
               : rs_fail_memory("the compiler's options");
}

/* Becomes Oclgrind; does not return. One thread, so that work-groups run one after another. */
static void become_oclgrind(const rs_sim_running *running, int recording)
{
    enum { NUMBER_ROOM = 16, NOT_STARTED = 127 };
    char descriptor[NUMBER_ROOM];
    snprintf(descriptor, sizeof descriptor, "%d", recording);
    int messages = open(running->messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (messages >= 0 && dup2(messages, STDERR_FILENO) >= 0 && dup2(messages, STDOUT_FILENO) >= 0 &&
        chdir(running->working_folder) == 0 && setenv(RS_TRACE_VARIABLE, descriptor, 1) == 0 &&
        setenv("OCLGRIND_PLUGINS", running->recorder, 1) == 0 &&
        setenv("OCLGRIND_NUM_THREADS", "1", 1) == 0 &&
        setenv("OCLGRIND_BUILD_OPTIONS", running->compiler_options, 1) == 0)
        execlp(program, program, running->description, (char *)NULL);
    _exit(NOT_STARTED);
}

static restride_status start_child(rs_sim_running *running)
{
    int ends[2];
    if (pipe(ends) != 0)
        return rs_fail(RESTRIDE_IO, "A pipe could not be made: %s.", strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    running->child = fork();
    if (running->child == 0)
        become_oclgrind(running, ends[1]);
    close(ends[1]);
    running->stream = running->child > 0 ? fdopen(ends[0], "rb") : NULL;
    if (running->stream == NULL)
        close(ends[0]);
    return running->stream != NULL
               ? RESTRIDE_OK
               : rs_fail(RESTRIDE_IO, "%s could not be started: %s.", program, strerror(errno));
}

restride_status rs_sim_launch_start(rs_sim_running **running, const rs_sim_launch *launch,
                                    FILE **stream)
{
    rs_sim_running *made = calloc(1, sizeof *made);
    *running = made;
    if (made == NULL)
        return rs_fail_memory("a launch");
    restride_status status = rs_cli_part_path(RS_PART_RECORDER, &made->recorder);
    if (status == RESTRIDE_OK)
        status = join_options(made, launch);
    if (status == RESTRIDE_OK)
        status = make_folder(made);
    if (status == RESTRIDE_OK)
        status = write_files(made, launch);
    if (status == RESTRIDE_OK)
        status = start_child(made);
    *stream = made->stream;
    return status;
}

/* ---- the end ---- */

/* The first line of what Oclgrind said that is a sentence and no decoration. */
static void find_message(const rs_text *messages, const char **line, size_t *length)
{
    const char *at = messages->size > 0 ? messages->data : "";
    *length = 0;
    while (*at != '\0' && *length == 0) {
        at += strspn(at, "\n\t ");
        *line = at;
        *length = strcspn(at, "\n");
        at += *length;
    }
}

static restride_status explain(const rs_sim_running *running, int exit_status)
{
    enum { NOT_STARTED = 127 };
    rs_text messages = RS_TEXT_EMPTY;
    const char *line = "it said nothing";
    size_t length = strlen(line);
    if (exit_status == NOT_STARTED)
        return rs_fail(RESTRIDE_IO, "%s could not be started; install the Debian package oclgrind.",
                       program);
    if (rs_text_read_file(&messages, running->messages) == RESTRIDE_OK && messages.size > 0)
        find_message(&messages, &line, &length);
    restride_status status = rs_fail(RESTRIDE_INVALID_ARGUMENT,
                                     "Oclgrind could not run the kernel: %.*s", (int)length, line);
    rs_text_free(&messages);
    return status;
}

restride_status rs_sim_launch_end(rs_sim_running *running, restride_status status)
{
    if (running == NULL)
        return status;
    int state = 0;
    if (running->stream != NULL)
        fclose(running->stream);
    if (running->child > 0) {
        if (status != RESTRIDE_OK && status != RESTRIDE_IO)
            kill(running->child, SIGTERM);
        while (waitpid(running->child, &state, 0) < 0 && errno == EINTR)
            continue;
        /* The recording ends early when the kernel could not be run; that is the real reason. */
        if (status == RESTRIDE_IO)
            status = explain(running, WIFEXITED(state) ? WEXITSTATUS(state) : 1);
    }
    free(running->source);
    free(running->description);
    free(running->messages);
    rs_folder_remove(running->folder);
    free(running->recorder);
    free(running->compiler_options);
    free(running->working_folder);
    free(running);
    return status;
}
