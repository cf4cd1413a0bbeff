/*
 * The rewriter as a process: `restride-rewrite --request`, with the request on its standard input
 * and the reply on its standard output. libclang never runs inside the user's program, where it
 * could meet the driver's own LLVM, and a compiler that crashes or hangs takes nothing with it.
 */
#include "layer/core/rewriter.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Milliseconds that the program waits for an answer before it says so, and at all; and after so
 * many late answers nothing is asked any more. */
enum { TOLD_AFTER = 2000, TIME_LIMIT = 10000, MOST_LATE_ANSWERS = 2 };

/* Of a thread that waits for its answer. */
typedef struct rs_rewriter_request {
    int socket;
    struct rs_rewriter_request *next;
} rs_rewriter_request;

void rs_rewriter_init(rs_rewriter *rewriter, const char *path)
{
    *rewriter = (rs_rewriter){.path = path};
    pthread_mutex_init(&rewriter->mutex, NULL);
}

void rs_rewriter_abandon(rs_rewriter *rewriter)
{
    pthread_mutex_lock(&rewriter->mutex);
    rewriter->is_abandoned = true;
    for (const rs_rewriter_request *one = rewriter->requests; one != NULL; one = one->next)
        shutdown(one->socket, SHUT_RD); /* what is asked is still sent, for the next run */
    pthread_mutex_unlock(&rewriter->mutex);
}

/* False: nobody is asked any more. */
static bool begin_waiting(rs_rewriter *rewriter, rs_rewriter_request *one)
{
    pthread_mutex_lock(&rewriter->mutex);
    const bool begun = !rewriter->is_abandoned && rewriter->late_answers < MOST_LATE_ANSWERS;
    if (begun) {
        one->next = rewriter->requests;
        rewriter->requests = one;
    }
    pthread_mutex_unlock(&rewriter->mutex);
    if (begun && rewriter->notes_waiting != NULL)
        rewriter->notes_waiting(rewriter->data);
    return begun;
}

bool rs_rewriter_is_awaited(rs_rewriter *rewriter)
{
    pthread_mutex_lock(&rewriter->mutex);
    const bool is_awaited = rewriter->requests != NULL;
    pthread_mutex_unlock(&rewriter->mutex);
    return is_awaited;
}

/* Whether the answer was abandoned. */
static bool end_waiting(rs_rewriter *rewriter, const rs_rewriter_request *one, bool is_late)
{
    pthread_mutex_lock(&rewriter->mutex);
    const bool is_abandoned = rewriter->is_abandoned;
    rs_rewriter_request **place = &rewriter->requests;
    while (*place != one)
        place = &(*place)->next;
    *place = one->next;
    rewriter->late_answers += is_late;
    pthread_mutex_unlock(&rewriter->mutex);
    return is_abandoned;
}

/* Starts the rewriter with `theirs` as its standard input and output. */
static int spawn_rewriter(const char *path, int theirs, pid_t *child)
{
    char name[] = "restride-rewrite", flag[] = "--request";
    char *arguments[] = {name, flag, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGCHLD);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, theirs, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int error = posix_spawn(child, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static long long milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Waits until the socket is ready; false after the time limit, which is `start` and some more. */
static bool await_ready(int socket, short what, long long start, bool *is_reported)
{
    for (;;) {
        const long long passed = milliseconds() - start;
        if (passed >= TOLD_AFTER && !*is_reported) {
            fprintf(stderr,
                    "restride: the rewriter has not answered for %d s; after %d s the program's "
                    "own kernels are used\n",
                    TOLD_AFTER / 1000, TIME_LIMIT / 1000);
            *is_reported = true;
        }
        if (passed >= TIME_LIMIT)
            return false;
        struct pollfd wanted = {socket, what, 0};
        const int ready =
            poll(&wanted, 1, (int)((*is_reported ? TIME_LIMIT : TOLD_AFTER) - passed));
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready > 0;
    }
}

/* The program may have reaped the child itself with wait(): the reply alone says whether all went
 * well. */
static void reap(pid_t *child)
{
    while (*child > 0 && waitpid(*child, NULL, 0) < 0 && errno == EINTR)
        continue;
    *child = -1;
}

/* Sends the request and reads the answer to its end. One that answers beside the program begins
 * with a blank, when its first process ends. */
static bool converse(int socket, const char *request, bool is_beside, pid_t *child, rs_text *answer,
                     bool *is_late)
{
    const long long start = milliseconds();
    size_t left = strlen(request);
    bool is_reported = is_beside; /* nobody waits */
    while (left > 0) {
        *is_late = !await_ready(socket, POLLOUT, start, &is_reported);
        const ssize_t sent =
            *is_late ? 0 : send(socket, request, left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            request += sent;
            left -= (size_t)sent;
        } else if (*is_late || (errno != EINTR && errno != EAGAIN)) {
            return false;
        }
    }
    if (shutdown(socket, SHUT_WR) != 0)
        return false;
    for (;;) {
        char part[65536];
        *is_late = !await_ready(socket, POLLIN, start, &is_reported);
        const ssize_t count = *is_late ? 0 : recv(socket, part, sizeof part, MSG_DONTWAIT);
        if (count > 0 && is_beside)
            reap(child);
        if (count > 0)
            rs_text_add(answer, part, (size_t)count);
        else if (*is_late || count == 0 || (errno != EINTR && errno != EAGAIN))
            return !*is_late && count == 0;
    }
}

restride_status rs_rewriter_start(rs_rewriter *rewriter, const json_t *request, json_t **reply)
{
    *reply = NULL;
    int sockets[2];
    pid_t child = -1;
    bool is_late = false;
    const bool is_beside = json_is_true(json_object_get(request, "beside"));
    char *text = json_dumps(request, JSON_COMPACT);
    if (text == NULL)
        return rs_fail_memory("the request to the rewriter");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        free(text);
        return rs_fail(RESTRIDE_IO, "The rewriter could not be started: %s.", strerror(errno));
    }
    rs_rewriter_request one = {.socket = sockets[0]};
    const bool begun = begin_waiting(rewriter, &one);
    int error = begun ? spawn_rewriter(rewriter->path, sockets[1], &child) : 0;
    close(sockets[1]);
    rs_text answer = RS_TEXT_EMPTY;
    restride_status status = RESTRIDE_OK;
    if (!begun) {
        status = rs_fail(RESTRIDE_IO, "The rewriter is not asked any more: it has not answered "
                                      "before, or the program is ending.");
    } else if (error != 0) {
        child = -1;
        status = rs_fail(RESTRIDE_IO, "The rewriter %s could not be started: %s.", rewriter->path,
                         strerror(error));
    } else if (!converse(sockets[0], text, is_beside, &child, &answer, &is_late) ||
               answer.size == 0) {
        status = is_late ? rs_fail(RESTRIDE_IO, "The rewriter did not answer within %d s.",
                                   TIME_LIMIT / 1000)
                         : rs_fail(RESTRIDE_IO, "The rewriter did not answer.");
    }
    const bool is_abandoned = begun && end_waiting(rewriter, &one, is_late) && error == 0;
    if (status == RESTRIDE_OK) {
        *reply = answer.data != NULL ? json_loadb(answer.data, answer.size, 0, NULL) : NULL;
        if (!json_is_object(*reply)) {
            json_decref(*reply);
            *reply = NULL;
            status = rs_fail(RESTRIDE_IO, "The rewriter ended without an answer.");
        }
    }
    const bool goes_on = status != RESTRIDE_OK && is_abandoned && !is_late;
    if (goes_on) /* and keeps its answer */
        status = rs_fail(RESTRIDE_IO, "The program ended before the rewriter had answered; the "
                                      "next run has its answer.");
    else if (status != RESTRIDE_OK && child > 0)
        kill(child, SIGKILL);
    close(sockets[0]);
    free(text);
    if (!goes_on)
        reap(&child);
    rs_text_free(&answer);
    return status;
}
