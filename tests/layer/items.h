/* What programs of these tests that work on structures of 16 floats have in common. */
#ifndef RS_TESTS_ITEMS_H
#define RS_TESTS_ITEMS_H

#include <CL/cl.h>

enum { FLOATS = 16 };

typedef struct {
    float f[FLOATS];
} item;

/* `grow` and `shrink` know the structure; `plain` takes it as floats, which no other layout can
 * serve. */
static const char items_source[] =
    "typedef struct { float f[16]; } item;\n"
    "__kernel void grow(__global item *items)\n"
    "{ size_t i = get_global_id(0); for (int k = 0; k < 16; k++) items[i].f[k] += (float)k; }\n"
    "__kernel void shrink(__global item *items)\n"
    "{ size_t i = get_global_id(0); for (int k = 0; k < 16; k++) items[i].f[k] -= (float)k; }\n"
    "__kernel void plain(__global float *all) { all[get_global_id(0) * 16] *= 0.5f; }\n";

/* The same, as the host computes it. */
static inline void items_grow(item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < FLOATS; k++)
            items[i].f[k] += (float)k;
}

#endif
