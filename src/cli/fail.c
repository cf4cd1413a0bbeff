/* The one form of an error on the command line. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>

int rs_cli_fail(int exit_status, const char *verb_name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "restride %s: ", verb_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return exit_status;
}

int rs_cli_fail_last(int exit_status, const char *verb_name)
{
    return rs_cli_fail(exit_status, verb_name, "%s", restride_last_error());
}
