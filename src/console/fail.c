/* The one form of an error on the command line. */
#include "console/fail.h"

#include <stdarg.h>
#include <stdio.h>

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
