/*
 * A loader of OpenCL that knows layers, around one that does not, such as that of NVIDIA's toolkit.
 * audit.c gives it to a program in place of its own loader, whichever way that is found; so it has
 * a loader's names and versions, and every reference of the program ends here: in its calls, in its
 * tables of functions, and by dlsym().
 *
 * The first call loads the program's own loader, and upon it the layers that OPENCL_LAYERS names,
 * as ocl-icd and the Khronos loader do: the first of them is the lowest. Where that fails, each
 * call goes to the program's own loader.
 */
#include "loader/replaced.h"

#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CL/cl_layer.h of Debian 12 lacks the second form, which newer loaders ask for alone. */
typedef cl_int(CL_API_CALL *init_layer)(cl_uint entry_count, const cl_icd_dispatch *target,
                                        cl_uint *entry_count_ret, const cl_icd_dispatch **table);

enum { ENTRIES = sizeof(cl_icd_dispatch) / sizeof(void *) };

char rs_loader_replaced[PATH_MAX];

static const cl_icd_dispatch *top; /* the highest layer's, or the program's own loader's */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_table(cl_icd_dispatch *table, void *library)
{
    static const struct {
        const char *name;
        size_t place;
    } entries[] = {
#define CODE(function) {#function, offsetof(cl_icd_dispatch, function)},
#define HANDLE CODE
#include "loader/functions.def"
#undef CODE
#undef HANDLE
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *function = dlsym(library, entries[i].name);
        memcpy((char *)table + entries[i].place, &function, sizeof function);
    }
}

/*
 * This library is in the place of the program's own loader, and may be known by its path. Another
 * spelling of that path lets ld.so open the file, and audit.c recognize the caller.
 */
static void *open_own_loader(void)
{
    char path[PATH_MAX];
    const char *name = strrchr(rs_loader_replaced, '/');
    if (name == NULL)
        return NULL;
    int length = snprintf(path, sizeof path, "%.*s/./%s", (int)(name - rs_loader_replaced),
                          rs_loader_replaced, name + 1);
    return length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* What a layer leaves to the one below, or does not know, is that one's. */
static void add_layer(const char *path)
{
    void *layer = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = layer != NULL ? dlsym(layer, "clInitLayer") : NULL;
    cl_icd_dispatch *table = symbol != NULL ? malloc(sizeof *table) : NULL;
    init_layer init;
    cl_uint count = 0;
    const cl_icd_dispatch *given = NULL;
    memcpy(&init, &symbol, sizeof init);
    if (table == NULL || init(ENTRIES, top, &count, &given) != CL_SUCCESS || given == NULL) {
        free(table);
        return;
    }
    memcpy(table, top, sizeof *table);
    for (cl_uint i = 0; i < count && i < ENTRIES; i++) {
        void *const *function = (void *const *)given + i;
        if (*function != NULL)
            memcpy((void **)table + i, function, sizeof *function);
    }
    top = table;
}

static void build(void)
{
    static cl_icd_dispatch own;
    void *loader = open_own_loader();
    if (loader != NULL)
        fill_table(&own, loader);
    top = &own;
    const char *present = getenv("OPENCL_LAYERS");
    char *paths = loader != NULL && present != NULL ? strdup(present) : NULL;
    char *rest = NULL;
    for (char *path = paths != NULL ? strtok_r(paths, ":", &rest) : NULL; path != NULL;
         path = strtok_r(NULL, ":", &rest))
        add_layer(path);
    free(paths);
}

/*
 * Each function takes at most 14 numbers and pointers and returns one or nothing. So one form
 * serves them all: x86-64 and AArch64 have a place for each argument that does not depend on those
 * behind it. What is read beyond a function's own is passed on and ignored. It must not be written
 * back, which a call in place of a return (a sibling call) could do: the program's variables lie
 * there.
 */
typedef uintptr_t word;
#define WORDS                                                                                      \
    word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k,        \
        word l, word m, word n
#define VALUES a, b, c, d, e, f, g, h, i, j, k, l, m, n
typedef word (*any_function)(WORDS);

static any_function find(size_t place)
{
    any_function function;
    pthread_once(&once, build);
    memcpy(&function, (const char *)top + place, sizeof function);
    return function;
}

/* The symbol has the function's name; the name in C is another, for that has its true type. */
#define FORWARD(function, without)                                                                 \
    __attribute__((visibility("default"))) word forward_##function(WORDS) __asm__(#function);      \
    word forward_##function(WORDS)                                                                 \
    {                                                                                              \
        const any_function next = find(offsetof(cl_icd_dispatch, function));                       \
        return next != NULL ? next(VALUES) : (without);                                            \
    }
#define CODE(function) FORWARD(function, (word)CL_INVALID_OPERATION)
#define HANDLE(function) FORWARD(function, 0)
#include "loader/functions.def"
