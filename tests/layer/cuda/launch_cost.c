/*
 * launch_cost KERNELS BATCHES: nanoseconds of the processor that a launch takes, the least of so
 * many batches: of a kernel without a second form, of one that is described and has nothing to
 * gain, and of one that gains and may be in either form. The made-up driver takes part of them,
 * with and without Restride; what it runs for the device (MADE_UP_LATE) is no part of a batch.
 */
#include "calls.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* With their marks fewer commands than the driver lets wait. */
enum { LAUNCHES = 60, ELEMENTS = 32 };

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static double batch(void *kernel, void **values)
{
    const double begin = now();
    for (int i = 0; i < LAUNCHES; i++)
        CHECK(cu.cuLaunchKernel(kernel, 1, 1, 1, ELEMENTS, 1, 1, 0, 0, values, NULL));
    const double end = now();
    CHECK(cu.cuCtxSynchronize());
    return (end - begin) / LAUNCHES;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"scale", "inside", "mix"};
    void *context, *module, *kernel;
    char image[4096];
    pointer a, b, c;
    int n = 1;
    if (argc < 3)
        return 2;
    find_functions(false);
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    snprintf(image, sizeof image, "emulated %s", argv[1]);
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cu.cuMemAlloc_v2(&a, ELEMENTS * sizeof(particle)));
    CHECK(cu.cuMemAlloc_v2(&b, ELEMENTS * sizeof(particle)));
    CHECK(cu.cuMemAlloc_v2(&c, ELEMENTS * sizeof(mixed)));
    packed_pointer inside = {.tag = 1};
    memcpy(inside.address, &b, sizeof b);
    void **values[] = {(void *[]){&a, &n}, (void *[]){&a, &inside, &n}, (void *[]){&a, &b, &c, &n}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double least = 1e9;
        CHECK(cuModuleGetFunction(&kernel, module, names[i]));
        for (int j = atoi(argv[2]); j > 0; j--) {
            const double took = batch(kernel, values[i]);
            least = took < least ? took : least;
        }
        printf("%s %.0f\n", names[i], least);
    }
    return 0;
}
