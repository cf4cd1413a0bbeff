/* Whether a process still runs: see running.h. */
#include "base/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long long read_start(const char *path, long *process)
{
    char line[1024], state = 'X';
    unsigned long long ticks = 0;
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
    *process = strtol(line, NULL, 10);
    return state == 'Z' || state == 'X' ? 0 : ticks;
}

unsigned long long rs_process_start(long process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    return read_start(path, &process);
}

unsigned long long rs_process_own_start(long *process)
{
    *process = (long)getpid();
    return read_start("/proc/self/stat", process);
}
