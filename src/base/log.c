/* Messages by level from RESTRIDE_LOG. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {"off", "error", "warning", "info", "debug"};

static int level_from_environment(void)
{
    const char *wanted = getenv("RESTRIDE_LOG");
    if (wanted == NULL)
        return 0;
    for (int level = 0; level <= RS_LOG_DEBUG; level++)
        if (strcmp(wanted, level_names[level]) == 0)
            return level;
    return RS_LOG_INFO; /* set to something else: the user wants to see something */
}

void rs_log(rs_log_level level, const char *format, ...)
{
    if ((int)level > level_from_environment())
        return;
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "restride: %s: %s\n", level_names[level], line);
}
