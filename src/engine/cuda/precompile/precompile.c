/*
 * precompile COUNT LEAST_BYTES [random]: plans so many random problems of arrays of at least so
 * many bytes on the CUDA device, and the others of kinds.h, so that their kernels are compiled and
 * stored. The build runs it with a driver that has no device (driver.c) and a store of its own.
 * With "random" the first are all.
 */
#include "kinds.h"
#include "restride/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    restride_engine *engine = NULL;
    const bool only_random = argc == 4 && strcmp(argv[3], "random") == 0;
    if (argc != 3 && !only_random) {
        fprintf(stderr, "usage: precompile COUNT LEAST_BYTES [random]\n");
        return 2;
    }
    const size_t count = strtoul(argv[1], NULL, 10);
    /* The driver without a device has a context, but nothing to be found. */
    restride_status status = restride_engine_create_cuda(&engine, NULL);
    for (size_t i = 0; status == RESTRIDE_OK && i < count; i++)
        status = plan_random(engine, strtod(argv[2], NULL));
    if (status == RESTRIDE_OK && !only_random)
        status = plan_records(engine);
    if (status == RESTRIDE_OK && !only_random)
        status = plan_quotients(engine);
    if (status != RESTRIDE_OK)
        fprintf(stderr, "precompile: %s\n", restride_last_error());
    restride_engine_destroy(engine);
    return status != RESTRIDE_OK;
}
