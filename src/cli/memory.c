/*
 * Memory and control groups; see array.h. /proc/self/cgroup has a line "NUMBER:CONTROLLERS:PATH"
 * for each hierarchy; that of version 2 has no controllers. A limit of an outer group is not looked
 * for: containers see their own group as the root.
 */
#include "base/text.h"
#include "cli/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t physical_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : SIZE_MAX;
}

/* The number in folder/group/file; SIZE_MAX when there is none ("max" is no number). */
static size_t read_limit(const char *folder, const char *group, const char *file)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text content = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s%s/%s", folder, group, file);
    char *name = rs_text_take(&path);
    size_t limit = SIZE_MAX;
    if (name != NULL && rs_text_read_file(&content, name) == RESTRIDE_OK &&
        content.data[0] >= '0' && content.data[0] <= '9')
        limit = strtoull(content.data, NULL, 10);
    rs_text_free(&content);
    free(name);
    return limit;
}

static size_t limit_of_line(char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL)
        return SIZE_MAX;
    *group++ = '\0';
    if (controllers[1] == '\0')
        return read_limit("/sys/fs/cgroup", group, "memory.max");
    if (strcmp(controllers + 1, "memory") != 0)
        return SIZE_MAX;
    size_t limit = read_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    /* In a container the path is that of the host, and the group is mounted as the root. */
    return limit != SIZE_MAX ? limit
                             : read_limit("/sys/fs/cgroup/memory", "", "memory.limit_in_bytes");
}

size_t rs_cli_memory(void)
{
    size_t memory = physical_memory();
    rs_text groups = RS_TEXT_EMPTY;
    if (rs_text_read_file(&groups, "/proc/self/cgroup") == RESTRIDE_OK) {
        char *rest = NULL;
        for (char *line = strtok_r(groups.data, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            size_t limit = limit_of_line(line);
            memory = limit < memory ? limit : memory;
        }
    }
    rs_text_free(&groups);
    return memory;
}
