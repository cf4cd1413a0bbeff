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

enum { MOST_SHARED = 48 << 10, SHARED_BYTES = 8 };

/* ---- modules ---- */

typedef struct module {
    void *context;
    void *library;
    struct function *functions;
} module;

/* What a handle stands for comes first: a launch takes both kinds, other functions one. */
typedef enum { FUNCTION = 0x66756e63, KERNEL = 0x6b65726e } kind;

typedef struct function {
    kind kind;
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

static result load(module **loaded, const char *image)
{
    static const char magic[] = "emulated ";
    if (is_cubin(image, loaded))
        return SUCCESS;
    if (strncmp(image, magic, sizeof magic - 1) != 0)
        return INVALID_VALUE;
    module *made = calloc(1, sizeof *made);
    made->context = current_context();
    made->library = dlopen(image + sizeof magic - 1, RTLD_NOW | RTLD_LOCAL);
    *loaded = made;
    return made->library != NULL ? SUCCESS : NOT_FOUND;
}

EXPORT result cuModuleLoadData(module **loaded, const char *image)
{
    BEGIN;
    return leave(load(loaded, image));
}

/* There is nothing to link. */
EXPORT result cuLinkComplete(void *link, void **image, size_t *size)
{
    (void)link;
    *image = NULL;
    *size = 0;
    return SUCCESS;
}

static void unload(module *m)
{
    while (m->functions != NULL) {
        function *first = m->functions;
        m->functions = first->next;
        memset(first, 0, sizeof *first);
        free(first);
    }
    dlclose(m->library);
    free(m);
}

EXPORT result cuModuleUnload(module *m)
{
    BEGIN;
    command_finish_all();
    unload(m);
    return leave(SUCCESS);
}

static result get_function(function **found, module *in, const char *name)
{
    char sizes[128], time[128];
    for (function *f = in->functions; f != NULL; f = f->next)
        if (strcmp(f->name, name) == 0) {
            *found = f;
            return SUCCESS;
        }
    void *code = dlsym(in->library, name);
    if (code == NULL)
        return NOT_FOUND;
    function *made = calloc(1, sizeof *made);
    snprintf(made->name, sizeof made->name, "%s", name);
    snprintf(sizes, sizeof sizes, "%s_sizes", name);
    snprintf(time, sizeof time, "%s_time", name);
    made->kind = FUNCTION;
    made->code = code;
    made->of = in;
    made->running = dlsym(in->library, "emulated");
    made->sizes = dlsym(in->library, sizes);
    made->time = dlsym(in->library, time);
    made->most_shared = MOST_SHARED;
    made->next = in->functions;
    in->functions = made;
    *found = made;
    return SUCCESS;
}

EXPORT result cuModuleGetFunction(function **found, module *in, const char *name)
{
    BEGIN;
    return leave(get_function(found, in, name));
}

/* ---- libraries: modules of all contexts, each loaded where it is first used ---- */

enum { MOST_MODULES = 32 };

typedef struct library {
    char image[512];
    module *modules[MOST_MODULES];
    struct kernel *kernels;
} library;

typedef struct kernel {
    kind kind;
    struct kernel *next;
    library *of;
    char name[96];
} kernel;

static result module_here(library *of, module **found)
{
    for (int i = 0; i < MOST_MODULES; i++) {
        if (of->modules[i] == NULL) {
            const result code = load(&of->modules[i], of->image);
            if (code != SUCCESS)
                return code;
        }
        *found = of->modules[i];
        if ((*found)->context == current_context())
            return SUCCESS;
    }
    return OUT_OF_MEMORY;
}

EXPORT result cuLibraryLoadData(library **loaded, const char *image, void *options, void *values,
                                unsigned count, void *own_options, void *own_values,
                                unsigned own_count)
{
    (void)options, (void)values, (void)count, (void)own_options, (void)own_values, (void)own_count;
    module *here;
    BEGIN;
    *loaded = calloc(1, sizeof **loaded);
    snprintf((*loaded)->image, sizeof(*loaded)->image, "%s", image);
    return leave(module_here(*loaded, &here));
}

EXPORT result cuLibraryGetModule(module **found, library *of)
{
    BEGIN;
    return leave(module_here(of, found));
}

EXPORT result cuLibraryGetKernel(kernel **found, library *of, const char *name)
{
    module *here;
    function *f;
    BEGIN;
    result code = module_here(of, &here);
    if (code == SUCCESS)
        code = get_function(&f, here, name);
    if (code != SUCCESS)
        return leave(code);
    *found = of->kernels;
    while (*found != NULL && strcmp((*found)->name, name) != 0)
        *found = (*found)->next;
    if (*found == NULL) {
        kernel *made = calloc(1, sizeof *made);
        made->kind = KERNEL;
        made->of = of;
        snprintf(made->name, sizeof made->name, "%s", name);
        made->next = of->kernels;
        *found = of->kernels = made;
    }
    return leave(SUCCESS);
}

static result function_here(const kernel *k, function **found)
{
    module *here;
    if (k->kind != KERNEL)
        return INVALID_HANDLE;
    const result code = module_here(k->of, &here);
    return code == SUCCESS ? get_function(found, here, k->name) : code;
}

EXPORT result cuKernelGetFunction(function **found, const kernel *k)
{
    BEGIN;
    return leave(function_here(k, found));
}

EXPORT result cuKernelSetAttribute(int attribute, int value, const kernel *k, int which)
{
    function *f;
    (void)which;
    BEGIN;
    const result code = function_here(k, &f);
    if (code != SUCCESS || attribute != SHARED_BYTES)
        return leave(code != SUCCESS ? code : INVALID_VALUE);
    f->most_shared = value;
    return leave(SUCCESS);
}

EXPORT result cuLibraryUnload(library *of)
{
    BEGIN;
    command_finish_all();
    for (int i = 0; i < MOST_MODULES && of->modules[i] != NULL; i++)
        unload(of->modules[i]);
    while (of->kernels != NULL) {
        kernel *first = of->kernels;
        of->kernels = first->next;
        memset(first, 0, sizeof *first);
        free(first);
    }
    free(of);
    return leave(SUCCESS);
}

/* ---- functions ---- */

EXPORT result cuFuncGetName(const char **name, const function *f)
{
    BEGIN;
    if (f->kind != FUNCTION)
        return leave(INVALID_HANDLE);
    *name = f->name;
    return leave(SUCCESS);
}

EXPORT result cuFuncGetModule(module **found, const function *f)
{
    BEGIN;
    if (f->kind != FUNCTION)
        return leave(INVALID_HANDLE);
    *found = f->of;
    return leave(SUCCESS);
}

EXPORT result cuFuncGetParamInfo(const function *f, size_t index, size_t *offset, size_t *size)
{
    BEGIN;
    size_t count = 0;
    if (f->kind != FUNCTION)
        return leave(INVALID_HANDLE);
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
    if (f->kind != FUNCTION)
        return leave(INVALID_HANDLE);
    *value = f->most_shared;
    return leave(attribute == SHARED_BYTES ? SUCCESS : INVALID_VALUE);
}

EXPORT result cuFuncSetAttribute(function *f, int attribute, int value)
{
    BEGIN;
    if (f->kind != FUNCTION)
        return leave(INVALID_HANDLE);
    if (attribute == SHARED_BYTES)
        f->most_shared = value;
    return leave(attribute == SHARED_BYTES ? SUCCESS : INVALID_VALUE);
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

/* How it is launched. */
typedef struct {
    unsigned grid[2], threads, shared;
    bool together, is_early;
} shape;

/* Memory of another context is at another address, or none, for a kernel. */
static void check_pointer(const void *value, size_t size)
{
    uintptr_t address;
    if (size != sizeof address)
        return;
    memcpy(&address, value, size);
    if (is_elsewhere(address)) {
        fprintf(stderr, "made-up device: a kernel gets memory of another context\n");
        abort();
    }
}

static result launch(const function *f, shape how, made_up_stream *stream, void **values)
{
    enum { MOST_BYTES = 2048 };
    /* Zeros between the arguments: command_names() reads all of it. */
    char data[sizeof(launching) + MOST_BYTES] = {0};
    function *of_kernel;
    if (f->kind == KERNEL) {
        const result code = function_here((const kernel *)f, &of_kernel);
        if (code != SUCCESS)
            return leave(code);
        f = of_kernel;
    }
    if (f->kind != FUNCTION || f->of->context != current_context())
        return leave(INVALID_HANDLE);
    if (stream->context != current_context())
        return leave(INVALID_CONTEXT);
    launching l = {.f = f,
                   .grid = {how.grid[0], how.grid[1], how.threads, how.shared, how.together},
                   .threads = how.grid[0] * how.threads};
    size_t used = 0;
    for (size_t i = 0;
         f->sizes != NULL ? f->sizes[i] != 0 : i < EMULATED_ARGUMENTS && values[i] != NULL; i++) {
        const size_t size = f->sizes != NULL ? f->sizes[i] : sizeof(uint64_t);
        memcpy(data + sizeof l + used, values[i], size);
        check_pointer(values[i], size);
        l.places[l.count++] = used;
        used += (size + 15) / 16 * 16;
    }
    memcpy(data, &l, sizeof l);
    if (how.grid[0] == 0 || how.threads == 0 || how.shared > (unsigned)f->most_shared)
        return leave(INVALID_VALUE);
    command_give_kernel(stream, run, data, sizeof l + used, how.is_early);
    return leave(SUCCESS);
}

/* CUlaunchConfig. */
typedef struct {
    unsigned grid[3], block[3], shared;
    uintptr_t stream;
    const struct {
        int which;
        char padding[4];
        int value;
        char more[60];
    } * attributes;
    unsigned attribute_count;
} launch_config;

static bool has_attribute(const launch_config *config, int which)
{
    for (unsigned i = 0; i < config->attribute_count; i++)
        if (config->attributes[i].which == which && config->attributes[i].value != 0)
            return true;
    return false;
}

static shape shape_of(const launch_config *config)
{
    enum { COOPERATIVE = 2, PROGRAMMATIC_SERIALIZATION = 6 };
    return (shape){.grid = {config->grid[0], config->grid[1]},
                   .threads = config->block[0],
                   .shared = config->shared,
                   .together = has_attribute(config, COOPERATIVE),
                   .is_early = has_attribute(config, PROGRAMMATIC_SERIALIZATION)};
}

#define LAUNCHES(suffix, is_per_thread)                                                            \
    EXPORT result cuLaunchKernel##suffix(                                                          \
        const function *f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty,      \
        unsigned tz, unsigned shared, uintptr_t stream, void **values, void **extra)               \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)z, (void)ty, (void)tz, (void)extra;                                                  \
        return launch(f, (shape){{x, y}, threads, shared, false, false},                           \
                      stream_of(stream, is_per_thread), values);                                   \
    }                                                                                              \
    EXPORT result cuLaunchKernelEx##suffix(const launch_config *config, const function *f,         \
                                           void **values, void **extra)                            \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)extra;                                                                               \
        return launch(f, shape_of(config), stream_of(config->stream, is_per_thread), values);      \
    }                                                                                              \
    EXPORT result cuLaunchCooperativeKernel##suffix(                                               \
        const function *f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty,      \
        unsigned tz, unsigned shared, uintptr_t stream, void **values)                             \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)z, (void)ty, (void)tz;                                                               \
        return launch(f, (shape){{x, y}, threads, shared, true, false},                            \
                      stream_of(stream, is_per_thread), values);                                   \
    }
LAUNCHES(, false)
LAUNCHES(_ptsz, true)
