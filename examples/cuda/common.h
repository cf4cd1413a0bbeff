/* What the CUDA examples share: failures, options, files, the time that kernels take. */
#ifndef EXAMPLES_CUDA_COMMON_H
#define EXAMPLES_CUDA_COMMON_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

/* The value behind an option, or `usual`. */
static const char *option(int argc, char **argv, const char *name, const char *usual)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return usual;
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s could not be written\n", path);
        exit(1);
    }
}

/* Milliseconds between two points of the default stream. */
struct Stopwatch {
    cudaEvent_t begin, end;
    Stopwatch()
    {
        check(cudaEventCreate(&begin), "cudaEventCreate");
        check(cudaEventCreate(&end), "cudaEventCreate");
    }
    void start()
    {
        check(cudaEventRecord(begin), "cudaEventRecord");
    }
    float stop()
    {
        float milliseconds = 0;
        check(cudaEventRecord(end), "cudaEventRecord");
        check(cudaEventSynchronize(end), "cudaEventSynchronize");
        check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
        return milliseconds;
    }
};

/*
 * The hand-written versions keep `count` structures of `size` bytes, a multiple of 4, 32 at a time:
 * word w of structure i lies at word (i / 32 * size / 4 + w) * 32 + i % 32. Memory is for whole
 * tiles.
 */
static inline size_t tiled_bytes(size_t count, size_t size)
{
    return (count + 31) / 32 * 32 * size;
}

static inline void convert_words(unsigned *tiled, unsigned *plain, size_t count, size_t size,
                                 bool to_tiles)
{
    const size_t words = size / 4;
    for (size_t i = 0; i < count; i++)
        for (size_t w = 0; w < words; w++) {
            unsigned *there = &tiled[(i / 32 * words + w) * 32 + i % 32];
            unsigned *here = &plain[i * words + w];
            if (to_tiles)
                *there = *here;
            else
                *here = *there;
        }
}

#endif
