/*
 * The folder that is searched lies several levels deep, so that a header called "../../name.h"
 * stays inside the temporary folder.
 */
#include "analyze/headers.h"

#include "base/folder.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char depth[] = "/a/b/c/d/e/f";

/* Makes the folders of a path, all but its last part. */
static bool make_folders(rs_headers *headers, char *path)
{
    for (char *slash = path + strlen(headers->root); (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return false;
    }
    return true;
}

static restride_status start(rs_headers *headers)
{
    restride_status status = rs_folder_create(&headers->root);
    if (status != RESTRIDE_OK)
        return status;
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s%s", headers->root, depth);
    headers->folder = rs_text_take(&path);
    return headers->folder == NULL ? rs_fail_memory("a folder for headers") : RESTRIDE_OK;
}

/* How far "../" leads up. */
static int climbs(const char *name)
{
    int count = 0;
    for (const char *c = name; (c = strstr(c, "..")) != NULL; c += 2)
        count++;
    return count;
}

restride_status rs_headers_add(rs_headers *headers, const char *name, const char *content)
{
    if (name[0] == '/' || climbs(name) > 6)
        return rs_fail(RESTRIDE_IO, "The header %s is outside the project.", name);
    restride_status status = headers->root == NULL ? start(headers) : RESTRIDE_OK;
    if (status != RESTRIDE_OK)
        return status;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%s/%s", headers->folder, name);
    char *path = rs_text_take(&text);
    int file = -1;
    if (path != NULL && make_folders(headers, path))
        file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    bool ok = file >= 0 && write(file, content, strlen(content)) == (ssize_t)strlen(content);
    if (file >= 0)
        close(file);
    free(path);
    return ok ? RESTRIDE_OK : rs_fail(RESTRIDE_IO, "A file for %s could not be made.", name);
}

void rs_headers_free(rs_headers *headers)
{
    rs_folder_remove(headers->root);
    free(headers->folder);
    memset(headers, 0, sizeof *headers);
}

bool rs_headers_is_usual(const char *name)
{
    return rs_begins_among(name, "cuda device_ math texture vector driver_ curand cublas helper_ "
                                 "sm_ cooperative_") ||
           rs_headers_is_system(name);
}

bool rs_headers_is_system(const char *name)
{
    return rs_begins_among(name, "CL/ OpenCL/ sys/ thrust/") ||
           rs_is_among(name, strlen(name),
                       "assert.h complex.h cooperative_groups.h ctype.h cublas_v2.h cuda.h "
                       "cuda_fp16.h cuda_runtime.h cuda_runtime_api.h curand.h curand_kernel.h "
                       "device_launch_parameters.h errno.h fcntl.h fenv.h float.h getopt.h "
                       "inttypes.h iso646.h limits.h locale.h malloc.h math.h math_constants.h "
                       "memory.h omp.h pthread.h setjmp.h signal.h stdalign.h stdarg.h "
                       "stdatomic.h stdnoreturn.h threads.h stdbool.h stddef.h stdint.h stdio.h "
                       "stdlib.h string.h strings.h tgmath.h time.h unistd.h vector_types.h "
                       "wchar.h") ||
           strpbrk(name, "./") == NULL; /* C++ has names such as <vector> */
}
