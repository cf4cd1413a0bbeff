/* Modules and launches of the made-up driver. */
#include "../../engine/cuda/grid.h"
#include "kernels.h"
#include "made_up.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- modules ---- */

typedef struct module {
    void *library;
    struct function *functions;
} module;

typedef struct function {
    struct function *next;
    module *of;
    char name[96];
    void *code;
    const void **running; /* a kernel of the engine's */
    const size_t *sizes;  /* a kernel of the tests' */
    const double *time;   /* of it, in microseconds */
    int most_shared;
} function;

/* A real cubin runs nowhere here: it is written to $MADE_UP_IMAGE, as far as its headers reach. */
static bool is_cubin(const char *image, module **loaded)
{
    const char *path = getenv("MADE_UP_IMAGE");
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    if (path == NULL || memcmp(image, ELFMAG, SELFMAG) != 0)
        return false;
    const size_t ends[] = {head->e_shoff + (size_t)head->e_shnum * head->e_shentsize,
                           head->e_phoff + (size_t)head->e_phnum * head->e_phentsize};
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    fwrite(image, 1, ends[0] > ends[1] ? ends[0] : ends[1], file);
    fclose(file);
    *loaded = calloc(1, sizeof **loaded);
    return true;
}

EXPORT result cuModuleLoadData(module **loaded, const char *image)
{
    static const char magic[] = "emulated ";
    BEGIN;
    if (is_cubin(image, loaded))
        return leave(SUCCESS);
    if (strncmp(image, magic, sizeof magic - 1) != 0)
        return leave(INVALID_VALUE);
    module *made = calloc(1, sizeof *made);
    made->library = dlopen(image + sizeof magic - 1, RTLD_NOW | RTLD_LOCAL);
    *loaded = made;
    return leave(made->library != NULL ? SUCCESS : NOT_FOUND);
}

/* There is nothing to link. */
EXPORT result cuLinkComplete(void *link, void **image, size_t *size)
{
    (void)link;
    *image = NULL;
    *size = 0;
    return SUCCESS;
}

EXPORT result cuModuleUnload(module *m)
{
    BEGIN;
    command_finish_all();
    while (m->functions != NULL) {
        function *first = m->functions;
        m->functions = first->next;
        free(first);
    }
    dlclose(m->library);
    free(m);
    return leave(SUCCESS);
}

EXPORT result cuModuleGetFunction(function **found, module *in, const char *name)
{
    BEGIN;
    char sizes[128], time[128];
    for (function *f = in->functions; f != NULL; f = f->next)
        if (strcmp(f->name, name) == 0) {
            *found = f;
            return leave(SUCCESS);
        }
    void *code = dlsym(in->library, name);
    if (code == NULL)
        return leave(NOT_FOUND);
    function *made = calloc(1, sizeof *made);
    snprintf(made->name, sizeof made->name, "%s", name);
    snprintf(sizes, sizeof sizes, "%s_sizes", name);
    snprintf(time, sizeof time, "%s_time", name);
    made->code = code;
    made->of = in;
    made->running = dlsym(in->library, "emulated");
    made->sizes = dlsym(in->library, sizes);
    made->time = dlsym(in->library, time);
    made->most_shared = 48 << 10;
    made->next = in->functions;
    in->functions = made;
    *found = made;
    return leave(SUCCESS);
}

EXPORT result cuFuncGetName(const char **name, const function *f)
{
    BEGIN;
    *name = f->name;
    return leave(SUCCESS);
}

EXPORT result cuFuncGetModule(module **found, const function *f)
{
    BEGIN;
    *found = f->of;
    return leave(SUCCESS);
}

EXPORT result cuFuncGetParamInfo(const function *f, size_t index, size_t *offset, size_t *size)
{
    BEGIN;
    size_t count = 0;
    while (f->sizes != NULL && f->sizes[count] != 0)
        count++;
    if (index >= count)
        return leave(INVALID_VALUE);
    *offset = 8 * index;
    *size = f->sizes[index];
    return leave(SUCCESS);
}

EXPORT result cuFuncGetAttribute(int *value, int attribute, const function *f)
{
    BEGIN;
    *value = f->most_shared;
    return leave(attribute == 8 ? SUCCESS : INVALID_VALUE);
}

EXPORT result cuFuncSetAttribute(function *f, int attribute, int value)
{
    BEGIN;
    if (attribute == 8)
        f->most_shared = value;
    return leave(attribute == 8 ? SUCCESS : INVALID_VALUE);
}

EXPORT result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const function *f,
                                                          int threads, size_t shared)
{
    BEGIN;
    (void)f;
    *blocks = (int)((64u << 10) / (shared + 1024));
    if (*blocks > 2048 / threads)
        *blocks = 2048 / threads;
    return leave(SUCCESS);
}

/* ---- launches ---- */

typedef struct {
    const function *f;
    emulated_grid grid;
    unsigned threads;
    size_t places[EMULATED_ARGUMENTS]; /* of the values, behind this */
    size_t count;
} launching;

static void run(void *data)
{
    static const double least = 1;
    launching l;
    void *values[EMULATED_ARGUMENTS + 1] = {NULL};
    memcpy(&l, data, sizeof l);
    device_take(l.f->time != NULL ? *l.f->time : least);
    for (size_t i = 0; i < l.count; i++)
        values[i] = (char *)data + sizeof l + l.places[i];
    if (l.f->sizes == NULL) {
        emulated_kernel *kernel;
        memcpy(&kernel, &l.f->code, sizeof kernel);
        emulated_run(kernel, l.f->running, &l.grid, values);
    } else {
        made_up_kernel *kernel;
        memcpy(&kernel, &l.f->code, sizeof kernel);
        kernel(l.threads, values);
    }
    check_all_guards();
}

static result launch(const function *f, const unsigned *grid, unsigned threads, unsigned shared,
                     made_up_stream *stream, void **values, bool together)
{
    enum { MOST_BYTES = 2048 };
    /* Zeros between the arguments: command_names() reads all of it. */
    char data[sizeof(launching) + MOST_BYTES] = {0};
    launching l = {.f = f,
                   .grid = {grid[0], grid[1], threads, shared, together},
                   .threads = grid[0] * threads};
    size_t used = 0;
    for (size_t i = 0;
         f->sizes != NULL ? f->sizes[i] != 0 : i < EMULATED_ARGUMENTS && values[i] != NULL; i++) {
        const size_t size = f->sizes != NULL ? f->sizes[i] : sizeof(uint64_t);
        memcpy(data + sizeof l + used, values[i], size);
        l.places[l.count++] = used;
        used += (size + 15) / 16 * 16;
    }
    memcpy(data, &l, sizeof l);
    if (grid[0] == 0 || threads == 0)
        return leave(INVALID_VALUE);
    command_give(stream, run, data, sizeof l + used);
    return leave(SUCCESS);
}

#define LAUNCHES(suffix, is_per_thread)                                                            \
    EXPORT result cuLaunchKernel##suffix(                                                          \
        const function *f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty,      \
        unsigned tz, unsigned shared, uintptr_t stream, void **values, void **extra)               \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)z, (void)ty, (void)tz, (void)extra;                                                  \
        return launch(f, (unsigned[]){x, y}, threads, shared, stream_of(stream, is_per_thread),    \
                      values, false);                                                              \
    }
LAUNCHES(, false)
LAUNCHES(_ptsz, true)

EXPORT result cuLaunchCooperativeKernel(const function *f, unsigned x, unsigned y, unsigned z,
                                        unsigned threads, unsigned ty, unsigned tz, unsigned shared,
                                        uintptr_t stream, void **values)
{
    BEGIN;
    (void)z, (void)ty, (void)tz;
    return launch(f, (unsigned[]){x, y}, threads, shared, stream_of(stream, false), values, true);
}
