/* The one form of an error on the command line. */
#include "console/fail.h"

#include "base/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program = "restride";

void rs_cli_name_program(const char *name)
{
    program = name;
}

const char *rs_cli_program_name(void)
{
    return program;
}

int rs_cli_fail(int exit_status, const char *verb, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s %s: ", program, verb);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return exit_status;
}

int rs_cli_fail_last(int exit_status, const char *verb)
{
    return rs_cli_fail(exit_status, verb, "%s", restride_last_error());
}

int rs_cli_print_json(const char *verb, json_t *value)
{
    char *text = rs_json_text(value);
    json_decref(value);
    if (text == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory for the report.");
    bool written = puts(text) >= 0 && fflush(stdout) == 0;
    int reason = errno;
    free(text);
    return written ? RS_EXIT_DONE
                   : rs_cli_fail(RS_EXIT_FAILED, verb, "The report could not be written: %s.",
                                 strerror(reason));
}
