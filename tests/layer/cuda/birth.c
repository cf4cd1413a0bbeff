/*
 * A new array that a kernel fills first. Its memory comes with words that all differ
 * (MADE_UP_PATTERN), and the kernel leaves one member of each element alone. So a program sees what
 * it wrote; and in that member words of this memory, each in one place, the same at each look. In
 * which order they are is not defined.
 */
#include "sequence.h"

#include "kernels.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3 * 32 + 5, WORDS = COUNT * sizeof(particle) / sizeof(uint32_t) };

static bool is_written(const particle *p, int i)
{
    const float f = (float)i;
    return p->x == f && p->y == f + 1 && p->id == 3 * i && p->w[0] == f + 2 && p->w[1] == f + 3 &&
           p->w[2] == f + 4 && p->w[3] == f + 5;
}

/* The driver's word at a place is its number. */
static const char *look_at(const uint32_t *words)
{
    bool seen[WORDS] = {false};
    for (size_t i = 0; i < COUNT; i++) {
        particle p;
        const uint32_t *own = words + i * sizeof p / sizeof *words;
        const uint32_t z = own[offsetof(particle, z) / sizeof *words];
        memcpy(&p, own, sizeof p);
        if (!is_written(&p, (int)i))
            return "an element is not what the kernel wrote";
        if (z >= WORDS)
            return "a word is not of this memory";
        if (seen[z])
            return "a word is there twice";
        seen[z] = true;
    }
    return "right";
}

static void start(void *kernel, pointer address)
{
    int n = COUNT;
    CHECK(cu.cuLaunchKernel(kernel, (COUNT + 31) / 32, 1, 1, 32, 1, 1, 0, 0,
                            (void *[]){&address, &n}, NULL));
}

/* Between two launches a kernel without second forms runs, which leaves the array alone. */
const char *check_birth(void *module)
{
    uint32_t first[WORDS], second[WORDS];
    pointer address, floats;
    void *birth, *weigh;
    CHECK(cuModuleGetFunction(&birth, module, "birth"));
    CHECK(cuModuleGetFunction(&weigh, module, "weigh"));
    CHECK(cu.cuMemAlloc_v2(&floats, COUNT * sizeof(float)));
    CHECK(cu.cuMemsetD8Async(floats, 0, COUNT * sizeof(float), 0));
    CHECK(cu.cuMemAlloc_v2(&address, sizeof first));
    start(birth, address);
    start(weigh, floats);
    start(birth, address);
    CHECK(cu.cuMemcpyDtoH_v2(first, address, sizeof first));
    start(birth, address);
    CHECK(cu.cuMemcpyDtoH_v2(second, address, sizeof second));
    CHECK(cu.cuMemFree_v2(address));
    CHECK(cu.cuMemFree_v2(floats));
    if (memcmp(first, second, sizeof first) != 0)
        return "a second look shows something else";
    return look_at(first);
}
