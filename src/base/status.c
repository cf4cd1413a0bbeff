/* Status codes, the calling thread's last sentence, and the version. */
#include "base/status.h"
#include "restride/version.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_sentence[1024];

static const struct {
    const char *name;
    const char *words;
} statuses[] = {
    [RESTRIDE_OK] = {"RESTRIDE_OK", "success"},
    [RESTRIDE_INVALID_ARGUMENT] = {"RESTRIDE_INVALID_ARGUMENT", "invalid argument"},
    [RESTRIDE_SYNTAX] = {"RESTRIDE_SYNTAX", "syntax error"},
    [RESTRIDE_OVERFLOW] = {"RESTRIDE_OVERFLOW", "size overflow"},
    [RESTRIDE_OUT_OF_MEMORY] = {"RESTRIDE_OUT_OF_MEMORY", "out of memory"},
    [RESTRIDE_UNSUPPORTED] = {"RESTRIDE_UNSUPPORTED", "unsupported"},
    [RESTRIDE_DEVICE_ERROR] = {"RESTRIDE_DEVICE_ERROR", "device error"},
    [RESTRIDE_DEVICE_LIMIT] = {"RESTRIDE_DEVICE_LIMIT", "device limit"},
    [RESTRIDE_IO] = {"RESTRIDE_IO", "input or output error"},
};

static bool is_known(restride_status status)
{
    return (unsigned)status < sizeof statuses / sizeof statuses[0];
}

const char *restride_status_name(restride_status status)
{
    return is_known(status) ? statuses[status].name : "unknown status";
}

const char *restride_status_string(restride_status status)
{
    return is_known(status) ? statuses[status].words : "unknown status";
}

int restride_version(void)
{
    return RESTRIDE_VERSION;
}

const char *restride_version_string(void)
{
    return RESTRIDE_VERSION_STRING;
}

const char *restride_last_error(void)
{
    return last_sentence;
}

restride_status restride_set_error(restride_status status, const char *sentence)
{
    return rs_fail(status, "%.1000s", sentence == NULL ? "" : sentence);
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
