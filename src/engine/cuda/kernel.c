/* Kernels: compiled by NVRTC for the device's own architecture, or taken from the cache on disk. */
#include "engine/cuda/cuda.h"

#include "base/log.h"
#include "base/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_cuda_common_kernel[];

enum { MOST_MESSAGE_BYTES = 300, DEFAULT_SHARED_BYTES = 48 << 10 };

static char *write_defines(const rs_cuda_define *defines, size_t count)
{
    rs_text text = RS_TEXT_EMPTY;
    for (size_t i = 0; i < count; i++)
        if (defines[i].text != NULL)
            rs_text_format(&text, "#define %s %s\n", defines[i].name, defines[i].text);
        else
            rs_text_format(&text, "#define %s %zu\n", defines[i].name, defines[i].value);
    return rs_text_take(&text);
}

/* NULL when memory is short. */
static char *assemble(const rs_cuda_source *source, const char *defines)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, defines);
    rs_text_add_string(&text, rs_cuda_common_kernel);
    for (size_t i = 0; i < sizeof source->parts / sizeof source->parts[0]; i++)
        if (source->parts[i] != NULL)
            rs_text_add_string(&text, source->parts[i]);
    return rs_text_take(&text);
}

/* The compiler's first line says what is wrong; all of them go to the log. */
static restride_status fail_compilation(const rs_nvrtc *nvrtc, rs_nvrtc_program program,
                                        const char *name, rs_nvrtc_result code)
{
    size_t size = 0;
    char *log = NULL;
    if (program != NULL && nvrtc->nvrtcGetProgramLogSize(program, &size) == 0 && size > 1)
        log = calloc(1, size + 1);
    if (log != NULL && nvrtc->nvrtcGetProgramLog(program, log) == 0)
        rs_log(RS_LOG_ERROR, "the CUDA kernel %s was not compiled: %s", name, log);
    const char *start = log != NULL ? log : "";
    size_t length = strcspn(start, "\n");
    restride_status status =
        rs_fail(RESTRIDE_DEVICE_ERROR,
                "NVRTC failed while compiling the kernel %s: %s%s%.*s (RESTRIDE_LOG=error shows "
                "all messages).",
                name, nvrtc->nvrtcGetErrorString(code), length > 0 ? ": " : "",
                (int)(length < MOST_MESSAGE_BYTES ? length : MOST_MESSAGE_BYTES), start);
    free(log);
    return status;
}

static restride_status compile(const char *name, const char *text, const char *architecture,
                               rs_text *image)
{
    const rs_nvrtc *nvrtc = rs_nvrtc_api();
    if (nvrtc == NULL)
        return RESTRIDE_UNSUPPORTED;
    const char *const options[] = {architecture, "--std=c++14"};
    rs_nvrtc_program program = NULL;
    size_t size = 0;
    char *bytes = NULL;
    rs_nvrtc_result code = nvrtc->nvrtcCreateProgram(&program, text, name, 0, NULL, NULL);
    if (code == 0)
        code = nvrtc->nvrtcCompileProgram(program, 2, options);
    if (code == 0)
        code = nvrtc->nvrtcGetCUBINSize(program, &size);
    if (code == 0 && (bytes = malloc(size)) != NULL)
        code = nvrtc->nvrtcGetCUBIN(program, bytes);
    restride_status status = RESTRIDE_OK;
    if (code != 0)
        status = fail_compilation(nvrtc, program, name, code);
    else if (bytes != NULL)
        rs_text_add(image, bytes, size);
    if (status == RESTRIDE_OK && (bytes == NULL || image->failed))
        status = rs_fail_memory("a compiled kernel");
    free(bytes);
    if (program != NULL)
        nvrtc->nvrtcDestroyProgram(&program);
    return status;
}

/* Of compiled kernels in the store. */
static const char stored_kind[] = "kernels";

/* An entry may be whole and yet be refused, by a driver that was downgraded, say. */
static bool load_image(const rs_cuda_engine *engine, const rs_text *image, rs_cuda_module *module)
{
    return engine->api->cuModuleLoadData(module, image->data) == 0;
}

/* NULL when memory is short. */
static char *write_key(int architecture, const char *text)
{
    rs_text key = RS_TEXT_EMPTY;
    rs_text_format(&key, "--gpu-architecture=sm_%d\n", architecture);
    rs_text_add_string(&key, text);
    return rs_text_take(&key);
}

static bool load_installed(const rs_cuda_engine *engine, int architecture, const char *text,
                           rs_cuda_module *module)
{
    rs_text image = RS_TEXT_EMPTY;
    char *key = write_key(architecture, text);
    bool loaded = key != NULL && rs_cuda_read_installed(architecture, key, &image) &&
                  load_image(engine, &image, module);
    rs_text_free(&image);
    free(key);
    return loaded;
}

/* Devices run what was compiled for the first of their generation: 8.9 what was for 8.0. */
static bool load_kept(const rs_cuda_engine *engine, const char *text, const char *key,
                      rs_cuda_module *module)
{
    const int first = engine->architecture / 10 * 10;
    rs_text image = RS_TEXT_EMPTY;
    bool loaded = load_installed(engine, engine->architecture, text, module) ||
                  (first != engine->architecture && load_installed(engine, first, text, module)) ||
                  (rs_store_read(stored_kind, key, strlen(key), &image) &&
                   load_image(engine, &image, module));
    rs_text_free(&image);
    return loaded;
}

static restride_status load_new(const rs_cuda_engine *engine, const char *name, const char *text,
                                rs_cuda_module *module)
{
    char architecture[48];
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", engine->architecture);
    char *key = write_key(engine->architecture, text);
    if (key == NULL)
        return rs_fail_memory("a kernel's source");
    rs_text image = RS_TEXT_EMPTY;
    restride_status status = RESTRIDE_OK;
    if (!load_kept(engine, text, key, module)) {
        status = compile(name, text, architecture, &image);
        if (status == RESTRIDE_OK) {
            rs_cuda_result code = engine->api->cuModuleLoadData(module, image.data);
            if (code != 0)
                status = rs_cuda_fail(code, "loading a compiled kernel");
            else
                rs_store_write(stored_kind, key, strlen(key), image.data, image.size);
        }
    }
    rs_text_free(&image);
    free(key);
    return status;
}

struct rs_cuda_program {
    rs_cuda_program *next;
    rs_cuda_source source;
    char *defines;
    rs_cuda_module module;
};

static bool is_same(const rs_cuda_program *program, const rs_cuda_source *source,
                    const char *defines)
{
    return memcmp(&program->source, source, sizeof *source) == 0 &&
           strcmp(program->defines, defines) == 0;
}

static restride_status load_program(rs_cuda_program *program, const rs_cuda_engine *engine,
                                    const char *name)
{
    char *text = assemble(&program->source, program->defines);
    if (text == NULL)
        return rs_fail_memory("a kernel's source");
    restride_status status = load_new(engine, name, text, &program->module);
    free(text);
    return status;
}

/* The caller holds the mutex. Takes `defines` over. */
static restride_status find_program(const rs_cuda_engine *engine, const char *name,
                                    const rs_cuda_source *source, char *defines,
                                    rs_cuda_module *module)
{
    for (rs_cuda_program *p = engine->shared->programs; p != NULL; p = p->next)
        if (is_same(p, source, defines)) {
            *module = p->module;
            free(defines);
            return RESTRIDE_OK;
        }
    rs_cuda_program *made = calloc(1, sizeof *made);
    restride_status status = RESTRIDE_OK;
    if (made != NULL) {
        *made = (rs_cuda_program){engine->shared->programs, *source, defines, NULL};
        status = load_program(made, engine, name);
    } else {
        status = rs_fail_memory("a compiled kernel");
    }
    if (status != RESTRIDE_OK) {
        free(made);
        free(defines);
        return status;
    }
    engine->shared->programs = made;
    *module = made->module;
    return RESTRIDE_OK;
}

restride_status rs_cuda_load(const rs_cuda_engine *engine, const char *name, rs_cuda_source source,
                             const rs_cuda_define *defines, size_t define_count,
                             rs_cuda_module *module)
{
    char *text = write_defines(defines, define_count);
    if (text == NULL)
        return rs_fail_memory("a kernel's source");
    pthread_mutex_lock(&engine->shared->mutex);
    restride_status status = find_program(engine, name, &source, text, module);
    pthread_mutex_unlock(&engine->shared->mutex);
    return status;
}

void rs_cuda_forget_programs(const rs_cuda_engine *engine)
{
    while (engine->shared->programs != NULL) {
        rs_cuda_program *first = engine->shared->programs;
        engine->shared->programs = first->next;
        engine->api->cuModuleUnload(first->module);
        free(first->defines);
        free(first);
    }
}

static restride_status prepare(rs_cuda_kernel *kernel, const rs_cuda_engine *engine,
                               rs_cuda_module module, const char *name)
{
    const rs_cuda_driver *api = engine->api;
    rs_cuda_result code = api->cuModuleGetFunction(&kernel->function, module, name);
    /* The same function may have launches of other plans, which want more. */
    if (code == 0 && kernel->shared_bytes > DEFAULT_SHARED_BYTES)
        code = api->cuFuncSetAttribute(kernel->function, RS_CUDA_FUNCTION_SHARED_BYTES,
                                       (int)engine->shared_bytes_a_block);
    int blocks = 0;
    if (code == 0)
        code = api->cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel->function, (int)kernel->threads, kernel->shared_bytes);
    if (code != 0)
        return rs_cuda_fail(code, "preparing a kernel");
    if (blocks <= 0)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "The kernel %s with %zu threads and %zu bytes of shared memory does not fit "
                       "on a multiprocessor of %s.",
                       name, kernel->threads, kernel->shared_bytes, engine->name);
    kernel->resident = (size_t)blocks * engine->multiprocessors;
    return RESTRIDE_OK;
}

restride_status rs_cuda_kernel_create(rs_cuda_kernel *kernel, const rs_cuda_engine *engine,
                                      const char *name, const char *source,
                                      const rs_cuda_define *defines, size_t define_count,
                                      size_t threads, size_t shared_bytes)
{
    *kernel = (rs_cuda_kernel){.threads = threads, .shared_bytes = shared_bytes};
    rs_cuda_module module;
    restride_status status =
        rs_cuda_load(engine, name, (rs_cuda_source){{rs_device_division_functions, source}},
                     defines, define_count, &module);
    return status == RESTRIDE_OK ? prepare(kernel, engine, module, name) : status;
}
