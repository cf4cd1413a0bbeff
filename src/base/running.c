/* Whether a process still runs: see running.h. */
#include "base/running.h"

#include <stdio.h>
#include <string.h>

unsigned long long rs_process_start(long process)
{
    char path[64], line[1024], state = 'X';
    unsigned long long ticks = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    line[fread(line, 1, sizeof line - 1, file)] = '\0';
    fclose(file);
    /* The name in parentheses may have any character; the start is the 22nd word. */
    const char *rest = strrchr(line, ')');
    if (rest == NULL || sscanf(rest + 1,
                               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                               "%*s %*s %*s %llu",
                               &state, &ticks) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : ticks;
}
