/*
 * What the CUDA engine says when something is missing or fails, and its cache of compiled kernels;
 * on the emulated device. Each case runs in a process of its own, since the driver is looked for
 * once: test_cuda_faults NAME runs it, without a name all of them run.
 */
#include "cmocka_all.h"
#include "device.h"
#include "restride/cuda.h"
#include "restride/restride.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];   /* of this test's own, below EMULATED_FOLDER */
static char log_file[300]; /* of calls */

static size_t count_calls(const char *name)
{
    FILE *file = fopen(log_file, "r");
    char line[128];
    size_t calls = 0;
    while (file != NULL && fgets(line, (int)sizeof line, file) != NULL)
        calls += strncmp(line, name, strlen(name)) == 0;
    if (file != NULL)
        fclose(file);
    return calls;
}

/* The status of making a plan and running it; the sentence stays. */
static restride_status transpose(size_t rows, size_t cols)
{
    static float matrix[150 * 150];
    restride_engine *engine = NULL;
    restride_plan *plan = NULL;
    cuda_memory memory = cuda_memory_create(matrix, rows * cols * sizeof(float));
    restride_status status = restride_engine_create_cuda(&engine, NULL);
    if (status == RESTRIDE_OK)
        status = restride_plan_transpose(&plan, engine, rows, cols, sizeof(float), 1);
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, (void *)memory.pointer);
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", restride_last_error());
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    cuda_memory_free(&memory);
    if (status != RESTRIDE_OK)
        printf("%s\n", sentence);
    return status;
}

static bool says(const char *part)
{
    return strstr(restride_last_error(), part) != NULL;
}

/* ---- the cases; each returns whether it held ---- */

static bool no_context(void)
{
    restride_engine *engine;
    return restride_engine_create_cuda(&engine, NULL) == RESTRIDE_INVALID_ARGUMENT &&
           says("No CUDA context is current") && engine == NULL;
}

static bool wrong_arguments(void)
{
    restride_engine *engine;
    return restride_engine_create_cuda(NULL, NULL) == RESTRIDE_INVALID_ARGUMENT &&
           restride_engine_create_cuda(&engine, (void *)2) == RESTRIDE_INVALID_ARGUMENT;
}

static bool old_device(void)
{
    setenv("EMULATED_CAPABILITY", "7", 1);
    return cuda_device_open() && transpose(20, 30) == RESTRIDE_UNSUPPORTED &&
           says("compute capability 7.0");
}

static bool no_driver(void)
{
    restride_engine *engine;
    return restride_engine_create_cuda(&engine, NULL) == RESTRIDE_UNSUPPORTED &&
           says("no CUDA driver libcuda.so.1");
}

static bool driver_without_functions(void)
{
    restride_engine *engine;
    return restride_engine_create_cuda(&engine, NULL) == RESTRIDE_UNSUPPORTED &&
           says("has no cuGetErrorName");
}

static bool no_compiler(void)
{
    return cuda_device_open() && transpose(20, 30) == RESTRIDE_UNSUPPORTED &&
           says("no CUDA compiler libnvrtc.so");
}

static bool compiler_fails(void)
{
    setenv("EMULATED_FAIL", "compile", 1);
    return cuda_device_open() && transpose(20, 30) == RESTRIDE_DEVICE_ERROR &&
           says("NVRTC_ERROR_COMPILATION") && says("expected a \";\"");
}

static bool every_call_fails(void)
{
    static const char *const calls[] = {"cuCtxGetCurrent",
                                        "cuCtxPushCurrent_v2",
                                        "cuCtxGetDevice",
                                        "cuDeviceGetName",
                                        "cuDriverGetVersion",
                                        "cuDeviceGetAttribute",
                                        "cuModuleLoadData",
                                        "cuModuleGetFunction",
                                        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                        "cuMemGetAddressRange_v2",
                                        "cuLaunchKernel"};
    if (!cuda_device_open())
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        setenv("EMULATED_FAIL", calls[i], 1);
        if (transpose(150, 150) != RESTRIDE_DEVICE_ERROR) {
            printf("%s\n", calls[i]);
            return false;
        }
        unsetenv("EMULATED_FAIL");
    }
    return transpose(150, 150) == RESTRIDE_OK;
}

/* Records of several sizes: the stages of all devices. */
static restride_status convert_records(void)
{
    static const char *const dims = "i:301 f{ float x; double m; char kind; }";
    static unsigned char records[301 * 24];
    restride_engine *engine = NULL;
    restride_plan *plan = NULL;
    restride_layout *from = NULL;
    restride_layout *to = NULL;
    cuda_memory memory = cuda_memory_create(records, sizeof records);
    restride_layout_parse(&from, dims, "i f");
    restride_layout_parse(&to, dims, "f i");
    restride_status status = restride_engine_create_cuda(&engine, NULL);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert(&plan, engine, from, to);
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, (void *)memory.pointer);
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", restride_last_error());
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    cuda_memory_free(&memory);
    if (status != RESTRIDE_OK)
        printf("%s\n", sentence);
    return status;
}

static bool calls_of_all_devices_fail(void)
{
    static const struct {
        const char *name;
        restride_status status;
    } calls[] = {{"cuCtxPushCurrent_v2", RESTRIDE_DEVICE_ERROR},
                 {"cuModuleLoadData", RESTRIDE_DEVICE_ERROR},
                 {"cuModuleGetFunction", RESTRIDE_DEVICE_ERROR},
                 {"cuMemcpyHtoDAsync_v2", RESTRIDE_DEVICE_ERROR},
                 {"cuLaunchKernel", RESTRIDE_DEVICE_ERROR}};
    if (!cuda_device_open() || convert_records() != RESTRIDE_OK)
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        setenv("EMULATED_FAIL", calls[i].name, 1);
        if (convert_records() != calls[i].status) {
            printf("%s\n", calls[i].name);
            return false;
        }
        unsetenv("EMULATED_FAIL");
    }
    return convert_records() == RESTRIDE_OK;
}

static bool stream_of_another_context(void)
{
    restride_engine *engine;
    return cuda_device_open() &&
           restride_engine_create_cuda(&engine, (void *)3) == RESTRIDE_INVALID_ARGUMENT &&
           engine == NULL && says("belongs to another context");
}

static bool out_of_memory(void)
{
    restride_engine *engine;
    restride_plan *plan;
    if (!cuda_device_open() || restride_engine_create_cuda(&engine, NULL) != RESTRIDE_OK)
        return false;
    setenv("EMULATED_FAIL", "cuMemAlloc_v2", 1);
    /* A panel that several blocks hold needs a counter. */
    bool held = restride_plan_transpose(&plan, engine, 120, 150, 4, 1) == RESTRIDE_OUT_OF_MEMORY &&
                says("CUDA_ERROR_OUT_OF_MEMORY");
    restride_engine_destroy(engine);
    return held;
}

static bool cache_is_used(void)
{
    if (!cuda_device_open() || transpose(20, 30) != RESTRIDE_OK || count_calls("--gpu") != 1)
        return false;
    return transpose(20, 30) == RESTRIDE_OK && count_calls("--gpu") == 1 &&
           transpose(150, 150) == RESTRIDE_OK && count_calls("--gpu") == 2;
}

/* Calls `change` on every entry of the cache. */
static size_t each_entry(bool (*change)(const char *path))
{
    char path[300];
    snprintf(path, sizeof path, "%s/restride/kernels", folder);
    DIR *directory = opendir(path);
    size_t entries = 0;
    for (struct dirent *e = NULL; directory != NULL && (e = readdir(directory)) != NULL;) {
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        entries += e->d_name[0] != '.' && change(name);
    }
    if (directory != NULL)
        closedir(directory);
    return entries;
}

static bool flip_a_byte(const char *path)
{
    FILE *file = fopen(path, "r+");
    if (file == NULL || fseek(file, -3, SEEK_END) != 0)
        return false;
    int byte = fgetc(file);
    fseek(file, -3, SEEK_END);
    fputc(byte ^ 1, file);
    return fclose(file) == 0;
}

static bool empty(const char *path)
{
    return truncate(path, 0) == 0;
}

/* Such an entry would still load. */
static bool append_a_byte(const char *path)
{
    FILE *file = fopen(path, "a");
    return file != NULL && fputc('x', file) == 'x' && fclose(file) == 0;
}

static bool damaged_cache(void)
{
    if (!cuda_device_open() || transpose(20, 30) != RESTRIDE_OK)
        return false;
    if (each_entry(flip_a_byte) != 1 || transpose(20, 30) != RESTRIDE_OK ||
        count_calls("--gpu") != 2)
        return false;
    if (each_entry(empty) != 1 || transpose(20, 30) != RESTRIDE_OK || count_calls("--gpu") != 3)
        return false;
    if (each_entry(append_a_byte) != 1 || transpose(20, 30) != RESTRIDE_OK ||
        count_calls("--gpu") != 4)
        return false;
    return transpose(20, 30) == RESTRIDE_OK && count_calls("--gpu") == 4;
}

static bool cache_cannot_be_written(void)
{
    setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
    return cuda_device_open() && transpose(20, 30) == RESTRIDE_OK;
}

static bool several_processes(void)
{
    enum { PROCESSES = 6 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(cuda_device_open() && transpose(20, 30) == RESTRIDE_OK ? 0 : 1);
    }
    bool held = true;
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        held = waitpid(children[i], &status, 0) == children[i] && status == 0 && held;
    }
    size_t compiled = count_calls("--gpu");
    return held && cuda_device_open() && transpose(20, 30) == RESTRIDE_OK &&
           count_calls("--gpu") == compiled;
}

typedef enum { BOTH, NO_LIBRARIES, NO_COMPILER, EMPTY_DRIVER } libraries;

static const struct {
    const char *name;
    bool (*run)(void);
    libraries libraries;
} cases[] = {
    {"no_context", no_context, BOTH},
    {"wrong_arguments", wrong_arguments, BOTH},
    {"old_device", old_device, BOTH},
    {"no_driver", no_driver, NO_LIBRARIES},
    {"driver_without_functions", driver_without_functions, EMPTY_DRIVER},
    {"no_compiler", no_compiler, NO_COMPILER},
    {"compiler_fails", compiler_fails, BOTH},
    {"every_call_fails", every_call_fails, BOTH},
    {"calls_of_all_devices_fail", calls_of_all_devices_fail, BOTH},
    {"stream_of_another_context", stream_of_another_context, BOTH},
    {"out_of_memory", out_of_memory, BOTH},
    {"cache_is_used", cache_is_used, BOTH},
    {"damaged_cache", damaged_cache, BOTH},
    {"cache_cannot_be_written", cache_cannot_be_written, BOTH},
    {"several_processes", several_processes, BOTH},
};
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

/* A file that cannot be loaded hides a library that this machine may have. */
static const char nothing[] = "";

/* A folder with what each case shall find. */
static void provide(libraries which, const char *emulated)
{
    static const struct {
        libraries which;
        const char *as;
        const char *file;
    } links[] = {
        {BOTH, "libcuda.so.1", "libcuda.so.1"},
        {BOTH, "libnvrtc.so.13", "libnvrtc.so.13"},
        {NO_LIBRARIES, "libcuda.so.1", nothing},
        {NO_COMPILER, "libcuda.so.1", "libcuda.so.1"},
        {NO_COMPILER, "libnvrtc.so.13", nothing},
        {NO_COMPILER, "libnvrtc.so.12", nothing},
        {NO_COMPILER, "libnvrtc.so.11.2", nothing},
        {NO_COMPILER, "libnvrtc.so", nothing},
        {EMPTY_DRIVER, "libcuda.so.1", "libnvrtc.so.13"},
    };
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        char from[512];
        char to[512];
        snprintf(from, sizeof from, "%s/%s", emulated, links[i].file);
        snprintf(to, sizeof to, "%s/%s", folder, links[i].as);
        if (links[i].which != which)
            continue;
        FILE *file = links[i].file == nothing ? fopen(to, "w") : NULL;
        if (file != NULL)
            fclose(file);
        else
            assert_int_equal(symlink(from, to), 0);
    }
}

static const char *program;

static void test_case(void **state)
{
    size_t index = (size_t)(uintptr_t)*state;
    const char *emulated = getenv("EMULATED_FOLDER");
    assert_non_null(emulated);
    snprintf(folder, sizeof folder, "%s/faults-XXXXXX", emulated);
    assert_non_null(mkdtemp(folder));
    provide(cases[index].libraries, emulated);
    char command[1024];
    snprintf(command, sizeof command, "LD_LIBRARY_PATH=%s XDG_CACHE_HOME=%s '%s' %s", folder,
             folder, program, cases[index].name);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(int count, char **arguments)
{
    program = arguments[0];
    if (count == 2) {
        snprintf(folder, sizeof folder, "%s", getenv("XDG_CACHE_HOME"));
        snprintf(log_file, sizeof log_file, "%s/calls", folder);
        setenv("EMULATED_LOG", log_file, 1);
        for (size_t i = 0; i < CASE_COUNT; i++)
            if (strcmp(cases[i].name, arguments[1]) == 0)
                return cases[i].run() ? 0 : 1;
        return 2;
    }
    struct CMUnitTest tests[CASE_COUNT];
    for (size_t i = 0; i < CASE_COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, test_case, NULL, NULL, (void *)(uintptr_t)i};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
