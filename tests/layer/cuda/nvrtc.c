/*
 * nvrtc LIBRARY DRIVER SOURCE IMAGE [NAME...]: a program that compiles a source at run time, with
 * name expressions, writes the image that it gets, and loads it. "-" for the source: IMAGE is
 * loaded as it is, as by a program with a cache of its own. The made-up driver writes what it was
 * given to $MADE_UP_IMAGE. With a path of nvJitLink in $LINKER it links its PTX, and loads that.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *handle;

static void *find(handle library, const char *name)
{
    void *function = dlsym(library, name);
    if (function == NULL) {
        fprintf(stderr, "there is no %s\n", name);
        exit(1);
    }
    return function;
}

#define CALL(library, name, types, ...)                                                            \
    do {                                                                                           \
        int(*name) types;                                                                          \
        void *found = find(library, #name);                                                        \
        memcpy(&name, &found, sizeof found);                                                       \
        const int code = name(__VA_ARGS__);                                                        \
        if (code != 0) {                                                                           \
            fprintf(stderr, "%s: %d\n", #name, code);                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static char *read_file(const char *path, size_t *size)
{
    char *text = calloc(1, 16 << 20);
    FILE *file = fopen(path, "rb");
    if (text == NULL || file == NULL)
        exit(2);
    *size = fread(text, 1, (16 << 20) - 1, file);
    fclose(file);
    return text;
}

/* The linked image of PTX. */
static char *link_ptx(const char *path, const char *ptx, size_t *size)
{
    static const char *const options[] = {"-arch=sm_90"};
    handle linker = dlopen(path, RTLD_NOW), link = NULL;
    if (linker == NULL)
        exit(2);
    const size_t length = strlen(ptx);
    char *copy = malloc(length + 1); /* nvJitLink reads the end, which the size does not count */
    for (size_t i = 0; i <= length; i++)
        copy[i] = ptx[i];
    CALL(linker, nvJitLinkCreate, (handle *, unsigned, const char *const *), &link, 1, options);
    CALL(linker, nvJitLinkAddData, (handle, int, const void *, size_t, const char *), link, 2, copy,
         length, "k");
    CALL(linker, nvJitLinkComplete, (handle), link);
    free(copy);
    CALL(linker, nvJitLinkGetLinkedCubinSize, (handle, size_t *), link, size);
    char *cubin = malloc(*size);
    CALL(linker, nvJitLinkGetLinkedCubin, (handle, void *), link, cubin);
    CALL(linker, nvJitLinkDestroy, (handle *), &link);
    return cubin;
}

int main(int argc, char **argv)
{
    handle compiler = argc < 5 ? NULL : dlopen(argv[1], RTLD_NOW);
    handle program = NULL, module = NULL, context = NULL;
    size_t size;
    char *image;
    if (compiler == NULL)
        return 2;
    if (strcmp(argv[3], "-") == 0) {
        image = read_file(argv[4], &size);
    } else {
        const char *const options[] = {"--gpu-architecture=sm_90", "-std=c++17"};
        const char *lowered = NULL;
        char *source = read_file(argv[3], &size);
        CALL(compiler, nvrtcCreateProgram,
             (handle *, const char *, const char *, int, const char *const *, const char *const *),
             &program, source, "k.cu", 0, NULL, NULL);
        for (int i = 5; i < argc; i++)
            CALL(compiler, nvrtcAddNameExpression, (handle, const char *), program, argv[i]);
        CALL(compiler, nvrtcCompileProgram, (handle, int, const char *const *), program, 2,
             options);
        for (int i = 5; i < argc; i++) {
            CALL(compiler, nvrtcGetLoweredName, (handle, const char *, const char **), program,
                 argv[i], &lowered);
            puts(lowered);
        }
        if (getenv("LINKER") != NULL) {
            CALL(compiler, nvrtcGetPTXSize, (handle, size_t *), program, &size);
            char *ptx = malloc(size);
            CALL(compiler, nvrtcGetPTX, (handle, char *), program, ptx);
            image = link_ptx(getenv("LINKER"), ptx, &size);
            free(ptx);
        } else {
            CALL(compiler, nvrtcGetCUBINSize, (handle, size_t *), program, &size);
            image = malloc(size);
            CALL(compiler, nvrtcGetCUBIN, (handle, char *), program, image);
        }
        CALL(compiler, nvrtcDestroyProgram, (handle *), &program);
        FILE *file = fopen(argv[4], "wb");
        if (file == NULL || fwrite(image, 1, size, file) != size || fclose(file) != 0)
            return 2;
    }
    /* Not before: NVRTC asks a driver that it finds for more than this one has. */
    handle driver = dlopen(argv[2], RTLD_NOW);
    if (driver == NULL)
        return 2;
    CALL(driver, cuInit, (unsigned), 0);
    CALL(driver, cuDevicePrimaryCtxRetain, (handle *, int), &context, 0);
    CALL(driver, cuCtxSetCurrent, (handle), context);
    CALL(driver, cuModuleLoadData, (handle *, const void *), &module, image);
    return 0;
}
