/* The header of a companion with the host engine: members lie where it says, and come back. */
#include REWRITTEN_HEADER

#include <restride/engine.h>

#include <stdlib.h>
#include <string.h>

enum { COUNT = 1003 };

static float buffer[COUNT * 8];

/* An array of structures of 32 bytes, seen as words. 0 when everything held. */
static int check_particles(restride_engine *engine)
{
    for (size_t k = 0; k < COUNT * 8; k++)
        buffer[k] = (float)k;
    if (restride_advance_p_marshal(engine, buffer, COUNT, 0) != RESTRIDE_OK)
        return 1;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t f = 0; f < 8; f++)
            if (buffer[restride_advance_p_offset(COUNT, i, f * 4, 4) / 4] != (float)(i * 8 + f))
                return 1;
    if (restride_advance_p_marshal(engine, buffer, COUNT, 1) != RESTRIDE_OK)
        return 1;
    for (size_t k = 0; k < COUNT * 8; k++)
        if (buffer[k] != (float)k)
            return 1;
    return !restride_is_full(1024) || restride_is_full(COUNT) || restride_is_large(COUNT, 32) || !restride_is_large((size_t)1 << 26, 32);
}

int main(void)
{
    restride_engine *engine;
    if (restride_engine_create_host(&engine, 1) != RESTRIDE_OK)
        return 1;
    int failed = check_particles(engine) != 0;
    if (failed)
        fprintf(stderr, "header: a member is not where it should be. %s\n", restride_last_error());
    restride_engine_destroy(engine);
    return failed;
}
