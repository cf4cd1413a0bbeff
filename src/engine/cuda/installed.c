/* Kernels that were compiled with this library and lie beside it: lib/restride/kernels/sm_90. */
#include "engine/cuda/cuda.h"

#include "base/store.h"

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
