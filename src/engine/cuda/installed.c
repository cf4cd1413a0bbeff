/* Kernels that were compiled with this library and lie beside it: lib/restride/kernels/sm_90. */
#include "engine/cuda/cuda.h"

#include "base/store.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The folder of the library or the program that this function is in; false when it is not known. */
static bool find_own_folder(char folder[PATH_MAX])
{
    static const char here;
    Dl_info place;
    if (dladdr(&here, &place) != 0 && strchr(place.dli_fname, '/') != NULL) {
        if (snprintf(folder, PATH_MAX, "%s", place.dli_fname) >= PATH_MAX)
            return false;
    } else { /* a program that was found in PATH */
        ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
        if (length <= 0)
            return false;
        folder[length] = '\0';
    }
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    return slash != NULL;
}

/* From a library in lib or lib/TRIPLET, from the layer in lib/restride, from a program in bin; in a
 * build folder. */
static const char *const places[] = {"restride/kernels", "../restride/kernels", "kernels",
                                     "../lib/restride/kernels", "../lib/kernels"};

bool rs_cuda_read_installed(int architecture, const char *key, rs_text *image)
{
    char own[PATH_MAX];
    char path[PATH_MAX + 64];
    bool found = false;
    if (!find_own_folder(own))
        return false;
    for (size_t i = 0; !found && i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/sm_%d", own, places[i], architecture);
        found = rs_store_read_installed(path, key, strlen(key), image);
    }
    return found;
}

static size_t count_entries(const char *path)
{
    DIR *folder = opendir(path);
    size_t count = 0;
    if (folder == NULL)
        return 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

size_t rs_cuda_count_installed(int architecture)
{
    const int architectures[] = {architecture, architecture / 10 * 10};
    char own[PATH_MAX];
    char path[PATH_MAX + 64];
    size_t count = 0;
    if (!find_own_folder(own))
        return 0;
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; count == 0 && i < sizeof places / sizeof places[0]; i++) {
            snprintf(path, sizeof path, "%s/%s/sm_%d", own, places[i], architectures[a]);
            count = count_entries(path);
        }
    return count;
}
