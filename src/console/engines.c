/* Opening engines by name; see engines.h. */
#include "console/engines.h"

#include "base/status.h"
#include "engine/open.h"
#include "engine/stage.h"

#include <stdlib.h>
#include <string.h>

static restride_status open_host(restride_engine **engine, const char *device, size_t threads)
{
    (void)device;
    return restride_engine_create_host(engine, (int)threads);
}

#ifdef RESTRIDE_HAVE_OPENCL
static restride_status open_opencl(restride_engine **engine, const char *device, size_t threads)
{
    (void)threads;
    return rs_opencl_open(engine, device);
}
#else
#define open_opencl NULL
#endif

#ifdef RESTRIDE_HAVE_CUDA
static restride_status open_cuda(restride_engine **engine, const char *device, size_t threads)
{
    (void)threads;
    return rs_cuda_open(engine, device);
}
#else
#define open_cuda NULL
#endif

static const struct {
    const char *name;
    restride_status (*open)(restride_engine **engine, const char *device, size_t threads);
} engines[] = {{"host", open_host}, {"opencl", open_opencl}, {"cuda", open_cuda}};

enum { ENGINES = sizeof engines / sizeof engines[0] };

static bool is_engine(const char *name)
{
    for (int i = 0; i < ENGINES; i++)
        if (strcmp(engines[i].name, name) == 0)
            return true;
    return false;
}

bool rs_cli_is_device_engine(const char *name)
{
    return strcmp(name, "host") != 0 && is_engine(name);
}

bool rs_cli_take_engine(const char *name, void *field)
{
    *(const char **)field = name;
    return is_engine(name);
}

bool rs_cli_take_device_engine(const char *name, void *field)
{
    *(const char **)field = name;
    return rs_cli_is_device_engine(name);
}

restride_status rs_cli_open_engine(restride_engine **engine, const char *name, const char *device,
                                   size_t threads)
{
    *engine = NULL;
    for (int i = 0; i < ENGINES; i++)
        if (strcmp(engines[i].name, name) == 0 && engines[i].open != NULL)
            return engines[i].open(engine, device, threads);
    return rs_fail(RESTRIDE_UNSUPPORTED, "This build has no %s engine; restride doctor says why.",
                   name);
}

bool rs_cli_engine_is_gpu(const restride_engine *engine)
{
    static const char *const others[] = {"pthread", "basic", "cpu", "CPU", "Emulated"};
    char *name = rs_cli_engine_device(engine);
    bool gpu = true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        gpu = gpu && (name == NULL || strstr(name, others[i]) == NULL);
    free(name);
    return gpu;
}

char *rs_cli_engine_device(const restride_engine *engine)
{
    json_t *description = engine->operations->describe_device(engine);
    const char *name = json_string_value(description);
    char *text = description == NULL
                     ? NULL
                     : (name != NULL ? strdup(name)
                                     : json_dumps(description, JSON_COMPACT | JSON_ENCODE_ANY));
    json_decref(description);
    return text;
}
