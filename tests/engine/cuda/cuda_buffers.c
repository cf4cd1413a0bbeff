#include "cuda_buffers.h"

/* A thread has two buffers at a time; the engine takes their addresses alone. */
static _Thread_local cuda_memory memories[2];

/* The one at an address; with NULL a free one. */
static cuda_memory *find(const void *buffer)
{
    return &memories[memories[0].pointer == (uintptr_t)buffer ? 0 : 1];
}

static void *create_buffer(const unsigned char *bytes, size_t size)
{
    cuda_memory *memory = find(NULL);
    *memory = cuda_memory_create(bytes, size);
    return (void *)memory->pointer;
}

static bool read_buffer(void *buffer, unsigned char *bytes, size_t size)
{
    (void)size;
    return cuda_memory_read(find(buffer), bytes);
}

static void destroy_buffer(void *buffer)
{
    cuda_memory *memory = find(buffer);
    cuda_memory_free(memory);
    *memory = (cuda_memory){.pointer = 0};
}

const test_machine cuda_buffers = {
    .create = create_buffer, .read = read_buffer, .destroy = destroy_buffer};
