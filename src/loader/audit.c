/*
 * Named in LD_AUDIT, this library sees each file that ld.so is about to open (rtld-audit(7)), for a
 * program's own needs, from RPATH, RUNPATH and LD_LIBRARY_PATH, and for dlopen() alike. For an
 * OpenCL loader that knows no layers it names itself instead (loader.c). Functions of the CUDA
 * driver and of NVRTC it binds to those of the CUDA layer (cuda.c); all else is left as it is.
 *
 * OpenCL not by binding the program's symbols to other functions (la_symbind64), for ld.so does not
 * ask about tables of functions, which programs of OpenCL have: if some calls were seen and some
 * not, bytes would be lost. Not by LD_PRELOAD, which other names of the loader and full paths
 * escape.
 *
 * ld.so has this library in a namespace of its own, beside another one of it that the program has.
 */
#include "loader/cuda.h"
#include "loader/replaced.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static char own_path[PATH_MAX];
static const ElfW(Ehdr) * own_header; /* where this copy begins, too */

EXPORT unsigned la_version(unsigned version)
{
    Dl_info place;
    if (dladdr(own_path, &place) == 0 || place.dli_fname[0] != '/' ||
        snprintf(own_path, sizeof own_path, "%s", place.dli_fname) >= (int)sizeof own_path)
        return 0; /* not interested */
    own_header = place.dli_fbase;
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* A program of this machine's kind, without the variable that tells loaders of layers. */
static bool is_without_layers(const void *file, size_t size)
{
    static const char variable[] = "OPENCL_LAYERS";
    const ElfW(Ehdr) *header = file;
    return memcmp(header->e_ident, own_header->e_ident, EI_VERSION) == 0 &&
           header->e_machine == own_header->e_machine &&
           memmem(file, size, variable, sizeof variable - 1) == NULL;
}

static bool lacks_layers(const char *path)
{
    bool lacks = false;
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    if (fstat(descriptor, &status) == 0 && status.st_size > (off_t)sizeof(ElfW(Ehdr))) {
        size_t size = (size_t)status.st_size;
        void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (file != MAP_FAILED) {
            lacks = is_without_layers(file, size);
            munmap(file, size);
        }
    }
    close(descriptor);
    return lacks;
}

/* The loader itself is asked for as FOLDER/./NAME, by loader.c. */
static bool is_a_loader(const char *path)
{
    const char *name = strrchr(path, '/');
    return name != NULL && strncmp(name, "/libOpenCL", strlen("/libOpenCL")) == 0 &&
           strstr(name, ".so") != NULL && (name - path < 2 || memcmp(name - 2, "/.", 2) != 0);
}

EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    (void)cookie;
    (void)flag;
    char *answer;
    const char *chosen = name;
    if (is_a_loader(name) && lacks_layers(name) &&
        snprintf(rs_loader_replaced, sizeof rs_loader_replaced, "%s", name) <
            (int)sizeof rs_loader_replaced)
        chosen = own_path;
    memcpy(&answer, &chosen, sizeof answer); /* ld.so does not write to it */
    return answer;
}

EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                              unsigned *flags, const char *name)
{
    (void)index;
    return rs_loader_cuda_is_followed(*from, *to)
               ? rs_loader_cuda_bind(name, symbol->st_value, (*flags & LA_SYMB_DLSYM) != 0)
               : symbol->st_value;
}

/* The library that comes in a loader's place is another copy of this one, so the path has the same
 * place in it. ld.so knows it by that path where it searched for it, and else by its own. */
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    (void)space;
    if (rs_loader_replaced[0] != '\0' &&
        (strcmp(map->l_name, own_path) == 0 || strcmp(map->l_name, rs_loader_replaced) == 0)) {
        ptrdiff_t place = rs_loader_replaced - (const char *)own_header;
        memcpy((char *)map->l_addr + place, rs_loader_replaced, sizeof rs_loader_replaced);
        rs_loader_replaced[0] = '\0';
    }
    return rs_loader_cuda_open(map, cookie);
}
