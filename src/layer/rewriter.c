/*
 * The rewriter as a process: `restride-rewrite --request`, with the request on its standard input
 * and the reply on its standard output. libclang never runs inside the user's program, where it
 * could meet the driver's own LLVM, and a compiler that crashes or hangs takes nothing with it.
 */
#include "base/text.h"
#include "layer/programs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { TIME_LIMIT_SECONDS = 60 };

/* Starts the rewriter with `theirs` as its standard input and output. */
static int spawn_rewriter(const char *rewriter, int theirs, pid_t *child)
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
    int error = posix_spawn(child, rewriter, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static bool send_all(int socket, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return shutdown(socket, SHUT_WR) == 0;
}

/* Reads to the end of the stream; false on an error or after the time limit. */
static bool receive_all(int socket, rs_text *text)
{
    time_t end = time(NULL) + TIME_LIMIT_SECONDS;
    char part[65536];
    for (;;) {
        time_t left = end - time(NULL);
        struct pollfd wanted = {socket, POLLIN, 0};
        int ready = left > 0 ? poll(&wanted, 1, (int)left * 1000) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        ssize_t count = read(socket, part, sizeof part);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        if (count == 0)
            return true;
        rs_text_add(text, part, (size_t)count);
    }
}

restride_status rs_rewriter_start(const char *rewriter, const json_t *request, json_t **reply)
{
    *reply = NULL;
    int sockets[2];
    pid_t child = -1;
    char *text = json_dumps(request, JSON_COMPACT);
    if (text == NULL)
        return rs_fail_memory("the request to the rewriter");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        free(text);
        return rs_fail(RESTRIDE_IO, "The rewriter could not be started: %s.", strerror(errno));
    }
    int error = spawn_rewriter(rewriter, sockets[1], &child);
    close(sockets[1]);
    rs_text answer = RS_TEXT_EMPTY;
    restride_status status = RESTRIDE_OK;
    if (error != 0) {
        status = rs_fail(RESTRIDE_IO, "The rewriter %s could not be started: %s.", rewriter,
                         strerror(error));
    } else if (!send_all(sockets[0], text, strlen(text)) || !receive_all(sockets[0], &answer)) {
        status = rs_fail(RESTRIDE_IO, "The rewriter did not answer.");
        kill(child, SIGKILL);
    }
    close(sockets[0]);
    free(text);
    /* The program may have reaped the child itself with wait(): the reply alone says whether all
     * went well. */
    while (error == 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (status == RESTRIDE_OK) {
        *reply = answer.data != NULL ? json_loadb(answer.data, answer.size, 0, NULL) : NULL;
        if (!json_is_object(*reply)) {
            json_decref(*reply);
            *reply = NULL;
            status = rs_fail(RESTRIDE_IO, "The rewriter ended without an answer.");
        }
    }
    rs_text_free(&answer);
    return status;
}
