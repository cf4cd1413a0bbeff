/* The name of the host: its processor and caches. Wisdom of one machine is told from that of
 * another by this. */
#include "engine/host/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { NAME_BYTES = 96 };

/* JSON takes UTF-8 only, and this comes from outside. */
static void copy_printable(char *target, const char *source)
{
    size_t length = 0;
    for (; *source != '\0' && length < NAME_BYTES - 1; source++)
        if (*source >= ' ' && *source <= '~')
            target[length++] = *source;
    target[length] = '\0';
}

/* The line of /proc/cpuinfo that names the processor; false where there is none. */
static bool read_model(char *name)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL)
        return false;
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        found = colon != NULL && strncmp(line, "model name", strlen("model name")) == 0;
        if (found)
            copy_printable(name, colon + strspn(colon, ": \t"));
    }
    fclose(file);
    return found;
}

static long cache_bytes(int level)
{
    long bytes = 0;
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
    bytes = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
#else
    (void)level;
#endif
    return bytes > 0 ? bytes : 0;
}

json_t *rs_host_describe_device(void)
{
    char name[NAME_BYTES];
    struct utsname system;
    if (!read_model(name))
        copy_printable(name, uname(&system) == 0 ? system.machine : "host");
    return json_sprintf("%s, L2 %ld KiB, L3 %ld KiB", name, cache_bytes(2) >> 10,
                        cache_bytes(3) >> 10);
}
