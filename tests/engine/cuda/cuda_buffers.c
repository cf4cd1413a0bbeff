#include "cuda_buffers.h"

/* A thread has one buffer at a time; the engine takes its address alone. */
static _Thread_local cuda_memory memory;

static void *create_buffer(const unsigned char *bytes, size_t size)
{
    memory = cuda_memory_create(bytes, size);
    return (void *)memory.pointer;
}

static bool read_buffer(void *buffer, unsigned char *bytes, size_t size)
{
    (void)buffer;
    (void)size;
    return cuda_memory_read(&memory, bytes);
}

static void destroy_buffer(void *buffer)
{
    (void)buffer;
    cuda_memory_free(&memory);
}

const test_machine cuda_buffers = {
    .create = create_buffer, .read = read_buffer, .destroy = destroy_buffer};
