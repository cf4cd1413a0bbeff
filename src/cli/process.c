/* Running the user's program: see process.h. */
#include "cli/process.h"

#include "base/text.h"
#include "console/parts.h"
#include "console/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child_id;

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
enum { PASSED_ON = sizeof passed_on / sizeof passed_on[0] };

/* A signal of the terminal (sent by the kernel) goes to the whole foreground group: the program has
 * it already. */
static void pass_on(int number, siginfo_t *information, void *context)
{
    (void)context;
    int saved = errno;
    if (child_id > 0 && information->si_code <= 0)
        kill((pid_t)child_id, number);
    errno = saved;
}

/* Adds a path behind those that the user has in a variable. */
static restride_status append_path(const char *variable, const char *path)
{
    const char *present = getenv(variable);
    rs_text list = RS_TEXT_EMPTY;
    if (present != NULL && *present != '\0')
        rs_text_format(&list, "%s:", present);
    rs_text_add_string(&list, path);
    char *value = rs_text_take(&list);
    const bool is_set = value != NULL && setenv(variable, value, 1) == 0;
    free(value);
    return is_set ? RESTRIDE_OK : rs_fail_memory("the environment");
}

restride_status rs_process_add_layer(void)
{
    char *layer = NULL;
    char *loader = NULL;
    char *cuda = NULL;
    restride_status status = rs_cli_part_path(RS_PART_LAYER, &layer);
    if (status == RESTRIDE_OK)
        status = rs_cli_part_path(RS_PART_LOADER, &loader);
    if (status == RESTRIDE_OK)
        status = append_path("OPENCL_LAYERS", layer);
#ifndef RS_WITHOUT_AUDIT
    if (status == RESTRIDE_OK)
        status = append_path("LD_AUDIT", loader);
    /* The audit library loads it into programs that use CUDA. */
    if (status == RESTRIDE_OK && rs_cli_part_path(RS_PART_CUDA_LAYER, &cuda) == RESTRIDE_OK &&
        setenv("RESTRIDE_CUDA_LAYER", cuda, 1) != 0)
        status = rs_fail_memory("the environment");
#endif
    free(cuda);
    free(layer);
    free(loader);
    return status;
}

static void exec_program(char **arguments, const sigset_t *mask, int error_pipe)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(arguments[0], arguments);
    int error = errno;
    ssize_t written = write(error_pipe, &error, sizeof error);
    _exit(written == (ssize_t)sizeof error ? 127 : 126);
}

restride_status rs_process_run(char **arguments, rs_process_result *result)
{
    *result = (rs_process_result){.started = false};
    int error_pipe[2];
    if (pipe(error_pipe) != 0)
        return rs_fail(RESTRIDE_IO, "%s could not be started: %s.", arguments[0], strerror(errno));
    fcntl(error_pipe[0], F_SETFD, FD_CLOEXEC);
    fcntl(error_pipe[1], F_SETFD, FD_CLOEXEC);

    /* Signals wait until the child's number is known. Handlers end with exec, so the child starts
     * with the defaults. */
    sigset_t held, before;
    sigemptyset(&held);
    for (int i = 0; i < PASSED_ON; i++)
        sigaddset(&held, passed_on[i]);
    sigprocmask(SIG_BLOCK, &held, &before);
    double start = rs_seconds_now();
    pid_t child = fork();
    if (child == 0)
        exec_program(arguments, &before, error_pipe[1]);
    close(error_pipe[1]);
    if (child < 0) {
        close(error_pipe[0]);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return rs_fail(RESTRIDE_IO, "%s could not be started: %s.", arguments[0], strerror(errno));
    }
    child_id = (sig_atomic_t)child;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction former[PASSED_ON];
    action.sa_sigaction = pass_on;
    for (int i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &action, &former[i]);
    sigprocmask(SIG_SETMASK, &before, NULL);

    ssize_t got = read(error_pipe[0], &result->start_error, sizeof result->start_error);
    close(error_pipe[0]);
    result->started = got != (ssize_t)sizeof result->start_error;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    child_id = 0;
    for (int i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &former[i], NULL);
    result->process = child;
    result->seconds = rs_seconds_now() - start;
    result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return RESTRIDE_OK;
}

int rs_process_end_alike(const rs_process_result *result)
{
    if (result->signal != 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none); /* the program's own core is the one of interest */
        signal(result->signal, SIG_DFL);
        sigset_t all;
        sigemptyset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        raise(result->signal);
        return 128 + result->signal;
    }
    return result->exit_status;
}
