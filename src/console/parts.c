/* Where the parts lie: relative to the executable, so that an installation can be moved as a whole.
 */
#include "console/parts.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

/* On success the caller frees *path. */
static restride_status executable_path(char **path)
{
    char buffer[PATH_ROOM];
    const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
    if (length <= 0 || (size_t)length == sizeof buffer)
        return rs_fail(
            RESTRIDE_IO,
            "The path of the restride program could not be read from /proc/self/exe: %s.",
            length < 0 ? strerror(errno) : "it is too long");
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add(&text, buffer, (size_t)length);
    *path = rs_text_take(&text);
    return *path ? RESTRIDE_OK : rs_fail_memory("a path");
}

restride_status rs_cli_part_path(const char *part, char **path)
{
    static const char *const folders[] = {"lib/restride", "lib", "bin"};
    char *prefix = NULL;
    const restride_status status = executable_path(&prefix);
    if (status != RESTRIDE_OK)
        return status;
    for (int level = 0; level < 2; level++) { /* from PREFIX/bin/restride to PREFIX */
        char *slash = strrchr(prefix, '/');
        if (slash)
            *slash = '\0';
    }
    *path = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !*path; i++) {
        rs_text text = RS_TEXT_EMPTY;
        rs_text_format(&text, "%s/%s/%s", prefix, folders[i], part);
        char *candidate = rs_text_take(&text);
        if (candidate && access(candidate, R_OK) == 0)
            *path = candidate;
        else
            free(candidate);
    }
    if (!*path)
        rs_fail(RESTRIDE_IO,
                "%s was not found in %s or %s below %s/; restride doctor says what to install.",
                part, folders[0], folders[1], prefix);
    free(prefix);
    return *path ? RESTRIDE_OK : RESTRIDE_IO;
}
