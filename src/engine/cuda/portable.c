/* What a CUDA device is to the stages of all devices: their kernels are compiled behind the common
 * part, which knows their dialect too (kernels/common.cu). The engine's context is current in every
 * call. */
#include "engine/cuda/cuda.h"

#include <string.h>

enum {
    MOST_DEFINES = 12,
    MOST_OPTION_BYTES = 400,
    MOST_ARGUMENTS = 24,
    DEFAULT_SHARED_BYTES = 48 << 10
};

static rs_cuda_engine *cuda_engine(rs_device_engine *engine)
{
    return (rs_cuda_engine *)engine;
}

/* ---- kernels ---- */

/* "-D NAME=VALUE -D NAME" as definitions that point into `options`, which is changed. */
static size_t split_options(char *options, rs_cuda_define *defines)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(options, " ", &rest); word != NULL && count < MOST_DEFINES;
         word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "-D") == 0)
            continue;
        char *equals = strchr(word, '=');
        if (equals != NULL)
            *equals = '\0';
        defines[count++] = (rs_cuda_define){word, equals != NULL ? equals + 1 : "1", 0};
    }
    return count;
}

static restride_status load(rs_cuda_engine *engine, const char *source, const char *options,
                            const char *name, rs_cuda_module *module)
{
    char own_options[MOST_OPTION_BYTES];
    if (strlen(options) >= sizeof own_options)
        return rs_fail(RESTRIDE_UNSUPPORTED, "The options of the kernel %s are too long.", name);
    strcpy(own_options, options);
    rs_cuda_define defines[MOST_DEFINES];
    size_t count = split_options(own_options, defines);
    const rs_cuda_source texts = {{rs_device_division_functions, source}};
    return rs_cuda_load(engine, name, texts, defines, count, module);
}

static restride_status create_kernels(rs_device_engine *base, const char *source,
                                      const char *options, const char *const names[], size_t count,
                                      rs_device_kernel kernels[])
{
    rs_cuda_engine *engine = cuda_engine(base);
    rs_cuda_module module;
    restride_status status = load(engine, source, options, names[0], &module);
    rs_cuda_result code = 0;
    for (size_t i = 0; status == RESTRIDE_OK && code == 0 && i < count; i++) {
        rs_cuda_function function;
        code = engine->api->cuModuleGetFunction(&function, module, names[i]);
        if (code == 0 && base->box_bytes > DEFAULT_SHARED_BYTES)
            code = engine->api->cuFuncSetAttribute(function, RS_CUDA_FUNCTION_SHARED_BYTES,
                                                   (int)base->box_bytes);
        if (code == 0)
            kernels[i] = function;
    }
    return code == 0 ? status : rs_cuda_fail(code, "preparing a kernel");
}

/* ---- memory ---- */

static restride_status allocate(rs_device_engine *base, size_t bytes, rs_device_memory *memory)
{
    rs_cuda_pointer pointer = 0;
    rs_cuda_result code = cuda_engine(base)->api->cuMemAlloc(&pointer, bytes);
    *memory = code == 0 ? (rs_device_memory)pointer : NULL;
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, "allocating the tables of a plan");
}

static void release(rs_device_engine *base, rs_device_memory memory)
{
    cuda_engine(base)->api->cuMemFree((rs_cuda_pointer)memory);
}

static restride_status wait(const rs_cuda_engine *engine, rs_cuda_result code, const char *doing)
{
    if (code == 0)
        code = engine->api->cuStreamSynchronize(engine->stream);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, doing);
}

/* Pageable memory is copied elsewhere before the call returns; the stream orders the rest. */
static restride_status write_memory(rs_device_engine *base, rs_device_memory to, const void *from,
                                    size_t bytes, const char *doing)
{
    const rs_cuda_engine *engine = cuda_engine(base);
    rs_cuda_result code =
        engine->api->cuMemcpyHtoDAsync((rs_cuda_pointer)to, from, bytes, engine->stream);
    return code == 0 ? RESTRIDE_OK : rs_cuda_fail(code, doing);
}

static restride_status read_memory(rs_device_engine *base, void *to, rs_device_memory from,
                                   size_t bytes, const char *doing)
{
    const rs_cuda_engine *engine = cuda_engine(base);
    return wait(engine,
                engine->api->cuMemcpyDtoHAsync(to, (rs_cuda_pointer)from, bytes, engine->stream),
                doing);
}

/* ---- launches ---- */

/* Local memory is no argument in CUDA, but a number stands in its place. */
static void launch(rs_device_sequence *sequence, rs_device_kernel kernel,
                   const rs_device_argument *arguments, size_t count, size_t groups,
                   size_t groups_2, size_t items)
{
    const rs_cuda_engine *engine = cuda_engine(sequence->engine);
    uint64_t values[MOST_ARGUMENTS] = {0};
    void *pointers[MOST_ARGUMENTS + 1] = {NULL};
    size_t shared = 0;
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].value == NULL)
            shared = arguments[i].size;
        else
            memcpy(&values[i], arguments[i].value, arguments[i].size);
        pointers[i] = &values[i];
    }
    sequence->code = engine->api->cuLaunchKernel((rs_cuda_function)kernel, (unsigned)groups,
                                                 (unsigned)groups_2, 1, (unsigned)items, 1, 1,
                                                 (unsigned)shared, engine->stream, pointers, NULL);
}

static restride_status finish(rs_device_sequence *sequence, const char *doing)
{
    return wait(cuda_engine(sequence->engine), sequence->code, doing);
}

static restride_status finish_reading(rs_device_sequence *sequence, void *to, rs_device_memory from,
                                      size_t bytes, const char *doing)
{
    const rs_cuda_engine *engine = cuda_engine(sequence->engine);
    if (sequence->code == 0)
        sequence->code =
            engine->api->cuMemcpyDtoHAsync(to, (rs_cuda_pointer)from, bytes, engine->stream);
    return finish(sequence, doing);
}

const rs_device_operations rs_cuda_device_operations = {
    .create_kernels = create_kernels,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .launch = launch,
    .finish = finish,
    .finish_reading = finish_reading,
};
