/* See memories.h. */
#include "memories.h"

#include "starts.h"

#include <string.h>

/* CUmemPoolProps and CUmemAllocationProp begin alike. */
typedef struct {
    int allocation, handles, location, id;
    char more[96];
} properties;
enum { PINNED = 1, OF_MANAGED = 2, AT_DEVICE = 1, AT_HOST = 2 };

/* CUDA_RESOURCE_DESC of linear memory. */
typedef struct {
    int type;
    pointer address;
    int format;
    unsigned channels;
    size_t bytes;
    char more[128];
} resource;

kind choose_kind(void)
{
    const unsigned way = below(40);
    if (way < 2)
        return way == 0 ? MANAGED : OF_HOST;
    if (way < 5 && knows_new_memory)
        return (kind)(OF_HOST_POOL + (int)way - 2);
    return way % 2 == 0 ? OF_DEVICE : OF_POOL;
}

bool is_of_device(const array *a)
{
    return a->kind == OF_DEVICE || a->kind == OF_POOL;
}

bool is_pooled(const array *a)
{
    return a->kind == OF_POOL || a->kind == OF_HOST_POOL || a->kind == OF_MANAGED_POOL;
}

static void *pool_of(kind kind)
{
    static _Thread_local void *pools[KINDS];
    const properties of_host = {.allocation = PINNED, .location = AT_HOST},
                     managed = {.allocation = OF_MANAGED, .location = AT_DEVICE};
    if (pools[kind] == NULL)
        CHECK(cuMemPoolCreate(&pools[kind], kind == OF_HOST_POOL ? &of_host : &managed));
    return pools[kind];
}

static void map(array *a, size_t bytes)
{
    const properties of_device = {.allocation = PINNED, .location = AT_DEVICE};
    const int access[3] = {AT_DEVICE, 0, 3};
    int handle;
    CHECK(cuMemCreate(&a->mapping, bytes, &of_device, 0));
    CHECK(cuMemAddressReserve(&a->address, bytes, 0, 0, 0));
    CHECK(cuMemMap(a->address, bytes, 0, a->mapping, 0));
    CHECK(cuMemSetAccess(a->address, bytes, access, 1));
    CHECK(cuMemExportToShareableHandle(&handle, a->mapping, 1, 0));
}

void allocate(array *a, size_t bytes, int stream)
{
    enum { GLOBAL = 1, PORTABLE = 1, DEVICEMAP = 2 };
    a->host = NULL;
    switch (a->kind) {
    case OF_DEVICE:
        CHECK(cu.cuMemAlloc_v2(&a->address, bytes));
        return;
    case OF_POOL:
        CHECK(cu.cuMemAllocAsync(&a->address, bytes, streams[stream]));
        return;
    case OF_HOST:
        CHECK(cuMemHostAlloc((void **)&a->host, bytes, PORTABLE | DEVICEMAP));
        CHECK(cuMemHostGetDevicePointer_v2(&a->address, a->host, 0));
        return;
    case MANAGED:
        CHECK(cuMemAllocManaged(&a->address, bytes, GLOBAL));
        break;
    case MAPPED:
        map(a, bytes);
        break;
    default:
        CHECK(cu.cuMemAllocFromPoolAsync(&a->address, bytes, pool_of(a->kind), streams[stream]));
    }
    a->host = (char *)a->address;
}

static void end_texture(array *a)
{
    if (a->texture != 0)
        CHECK(cuTexObjectDestroy(a->texture));
    a->texture = 0;
}

void release_later(array *a, int stream)
{
    if (a->texture != 0)
        wait_for_context();
    end_texture(a);
    CHECK(cu.cuMemFreeAsync(a->address, streams[stream]));
}

void release(array *a, size_t bytes)
{
    end_texture(a);
    if (a->kind == OF_HOST) {
        CHECK(cuMemFreeHost(a->host));
    } else if (a->kind == MAPPED) {
        CHECK(cuMemUnmap(a->address, bytes));
        CHECK(cuMemRelease(a->mapping));
        CHECK(cuMemAddressFree(a->address, bytes));
    } else {
        CHECK(cu.cuMemFree_v2(a->address));
    }
}

/* ---- use without a call ---- */

static array *wait_for_some(int stream, bool writes)
{
    array *a = pick_open();
    if (a == NULL)
        return NULL;
    order(a, stream, writes);
    CHECK(cu.cuStreamSynchronize(streams[stream]));
    return a;
}

void look_some(int stream)
{
    const array *a = wait_for_some(stream, false);
    if (a != NULL)
        add(a->host, bytes_of(a));
}

void touch_some(int stream)
{
    char content[MOST_COUNT * sizeof(particle)];
    array *a = wait_for_some(stream, true);
    if (a == NULL)
        return;
    fill(content, a->type, a->count);
    memcpy(a->host, content, bytes_of(a));
    forget(a);
}

static void share(const array *a)
{
    char handle[64];
    CHECK(cuIpcGetMemHandle(handle, a->address));
}

void share_some(int stream)
{
    array *a = pick(TYPES);
    (void)stream;
    /* A GPU's memory is no memory of this process. */
    if (a == NULL || a->is_part || a->kind != OF_DEVICE || below(16) != 0 || !knows_new_memory)
        return;
    share(a);
    a->host = (char *)a->address;
    if (has_part(a))
        a[1].host = (char *)a[1].address;
}

/* ---- textures ---- */

static void make_texture(array *a)
{
    enum { LINEAR = 2, FLOAT = 32 };
    const char as_they_are[160] = {0};
    const resource linear = {LINEAR, a->address, FLOAT, 1, bytes_of(a), {0}};
    CHECK(cuTexObjectCreate(&a->texture, &linear, as_they_are, NULL));
}

void launch_sample(int stream)
{
    array *a = pick(PARTICLES), *sums = pick(FLOATS);
    if (a == NULL || sums == NULL || a->is_part || !is_of_device(a) ||
        (a->texture == 0 && below(16) != 0))
        return;
    if (a->texture == 0)
        make_texture(a);
    int n = (int)(a->count < sums->count ? a->count : sums->count);
    order(a, stream, false);
    order(sums, stream, true);
    start(SAMPLE, (size_t)n, streams[stream], (void *[]){&a->texture, &sums->address, &n});
    note(a, stream, false);
    note(sums, stream, true);
}

/* ---- each kind once ---- */

static void launch_on(array *a)
{
    char content[MOST_COUNT * sizeof(particle)];
    int n = MOST_COUNT;
    float k = 1;
    fill(content, PARTICLES, MOST_COUNT);
    CHECK(cu.cuMemcpyHtoD_v2(a->address, content, sizeof content));
    for (int i = 0; i < 2; i++)
        start_plainly(MOVE, MOST_COUNT, streams[0], (void *[]){&a->address, &n, &k});
    wait_for_context();
    if (a->host != NULL)
        memcpy(content, a->host, sizeof content);
    else
        CHECK(cu.cuMemcpyDtoH_v2(content, a->address, sizeof content));
    add(content, sizeof content);
    release(a, sizeof content);
}

void launch_on_kinds(void)
{
    state = KINDS;
    for (int i = 0; i < KINDS + 2; i++) {
        array a = {.type = PARTICLES, .count = MOST_COUNT};
        a.kind = i < KINDS ? (kind)i : OF_DEVICE;
        allocate(&a, MOST_COUNT * sizeof(particle), 0);
        if (i == KINDS)
            share(&a);
        else if (i > KINDS)
            make_texture(&a);
        launch_on(&a);
    }
}
