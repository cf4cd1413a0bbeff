/* Status codes and the calling thread's last sentence. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_sentence[1024];

const char *restride_status_string(restride_status status)
{
    switch (status) {
    case RESTRIDE_OK:
        return "success";
    case RESTRIDE_INVALID_ARGUMENT:
        return "invalid argument";
    case RESTRIDE_SYNTAX:
        return "syntax error";
    case RESTRIDE_OVERFLOW:
        return "size overflow";
    case RESTRIDE_OUT_OF_MEMORY:
        return "out of memory";
    case RESTRIDE_UNSUPPORTED:
        return "unsupported";
    case RESTRIDE_DEVICE_ERROR:
        return "device error";
    case RESTRIDE_DEVICE_LIMIT:
        return "device limit";
    case RESTRIDE_IO:
        return "input or output error";
    }
    return "unknown status";
}

const char *restride_last_error(void)
{
    return last_sentence;
}

restride_status rs_fail(restride_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_sentence, sizeof last_sentence, format, arguments);
    va_end(arguments);
    return status;
}

/* A long sentence loses its end, not what is said here. */
restride_status rs_fail_leaving(restride_status status, const char *what, bool has_begun)
{
    char claim[128];
    snprintf(claim, sizeof claim,
             has_begun ? " The content of the %s is undefined now." : " The %s is unchanged.",
             what);
    size_t room = sizeof last_sentence - strlen(claim) - 1;
    size_t length = strlen(last_sentence);
    strcpy(last_sentence + (length < room ? length : room), claim);
    return status;
}

restride_status rs_fail_memory(const char *what)
{
    return rs_fail(RESTRIDE_OUT_OF_MEMORY, "There is not enough memory for %s.", what);
}
