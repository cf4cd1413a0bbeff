/* See starts.h. */
#include "starts.h"

#include "arrays.h"

#include <stdio.h>

_Thread_local bool is_captured;
_Thread_local unsigned long launches;

static const char *const names[KERNELS] = {"move",       "mix",   "fold",  "inside", "pairs",
                                           "open_ended", "weigh", "scale", "reach",  "sample"};
static void *module, *library;
static const void *loaded;
static void *functions[KERNELS], *kernels[KERNELS]; /* CUfunction, CUkernel */

enum { BLOCK = 32, SHARED_BYTES = 8, MUCH_SHARED = 52 << 10 };
enum { COOPERATIVE = 2, PROGRAMMATIC_SERIALIZATION = 6 };

static void unload(void)
{
    if (module != NULL)
        CHECK(cuModuleUnload(module));
    if (library != NULL)
        CHECK(cuLibraryUnload(library));
    module = library = NULL;
}

void load_kernels(const void *image, bool by_library)
{
    unload();
    loaded = image;
    if (!by_library)
        CHECK(cuModuleLoadData(&module, image));
    else
        CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    for (int i = 0; i < KERNELS; i++)
        if (!by_library) {
            CHECK(cuModuleGetFunction(&functions[i], module, names[i]));
        } else {
            CHECK(cuLibraryGetKernel(&kernels[i], library, names[i]));
            CHECK(cuKernelGetFunction(&functions[i], kernels[i]));
        }
}

void *module_of_kernels(void)
{
    return module;
}

/* A launch takes either. Each process has its own choice, so that policy auto can learn something.
 */
static void *handle_of(int kernel)
{
    return library != NULL && kernel % 2 == 0 ? kernels[kernel] : functions[kernel];
}

/* By either handle, whichever a launch takes. */
static unsigned want_shared(int kernel)
{
    if (is_captured || below(16) != 0)
        return 0;
    if (library != NULL && below(2) == 0)
        CHECK(cuKernelSetAttribute(SHARED_BYTES, MUCH_SHARED, kernels[kernel], 0));
    else
        CHECK(cuFuncSetAttribute(functions[kernel], SHARED_BYTES, MUCH_SHARED));
    return MUCH_SHARED;
}

static launch_config configure(size_t threads, unsigned shared, pointer stream)
{
    return (launch_config){.grid = {(unsigned)(threads + BLOCK - 1) / BLOCK, 1, 1},
                           .block = {BLOCK, 1, 1},
                           .shared = shared,
                           .stream = stream};
}

void start(int kernel, size_t threads, pointer stream, void **values)
{
    void *f = handle_of(kernel);
    const unsigned shared = want_shared(kernel);
    launch_config config = configure(threads, shared, stream);
    launch_attribute together = {.which = COOPERATIVE, .value = 1};
    const unsigned way = below(is_captured ? 12 : 16);
    if (way < 10) {
        CHECK(
            cu.cuLaunchKernel(f, config.grid[0], 1, 1, BLOCK, 1, 1, shared, stream, values, NULL));
    } else if (way == 14) {
        CHECK(cu.cuLaunchCooperativeKernel(f, config.grid[0], 1, 1, BLOCK, 1, 1, shared, stream,
                                           values));
    } else {
        config.attributes = &together;
        config.attribute_count = way == 15;
        CHECK(cu.cuLaunchKernelEx(&config, f, values, NULL));
    }
    launches += !is_captured;
}

void start_plainly(int kernel, size_t threads, pointer stream, void **values)
{
    const unsigned blocks = (unsigned)(threads + BLOCK - 1) / BLOCK;
    CHECK(cu.cuLaunchKernel(handle_of(kernel), blocks, 1, 1, BLOCK, 1, 1, 0, stream, values, NULL));
    launches++;
}

/* A kernel of a library is one of all contexts. */
void start_elsewhere(int kernel, size_t threads, pointer stream, void **values)
{
    const unsigned blocks = (unsigned)(threads + BLOCK - 1) / BLOCK;
    static _Thread_local void *module_there, *function;
    if (library == NULL && module_there == NULL)
        CHECK(cuModuleLoadData(&module_there, loaded));
    if (library == NULL)
        CHECK(cuModuleGetFunction(&function, module_there, names[kernel]));
    CHECK(cu.cuLaunchKernel(library != NULL ? kernels[kernel] : function, blocks, 1, 1, BLOCK, 1, 1,
                            0, stream, values, NULL));
    launches++;
}

void start_early(int kernel, size_t threads, pointer stream, void **values)
{
    launch_config config = configure(threads, 0, stream);
    launch_attribute early = {.which = PROGRAMMATIC_SERIALIZATION, .value = 1};
    config.attributes = &early;
    config.attribute_count = 1;
    CHECK(cu.cuLaunchKernelEx(&config, handle_of(kernel), values, NULL));
    launches++;
}
