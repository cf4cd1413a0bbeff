/* A matrix by blocks of rows becomes one by blocks of columns, each process in its own memory:
 *     mpicc rows_to_columns.c $(pkg-config --cflags --libs restride-mpi) && mpirun -n 4 ./a.out */
#include <restride/mpi.h>
#include <restride/restride.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLS = 500 }; /* of a block */

static float value(size_t row, size_t column)
{
    return (float)(row * 7 + column);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    restride_group *group;
    restride_engine *engine;
    restride_plan *plan = NULL;
    restride_status status = restride_group_create_mpi(&group, MPI_COMM_WORLD);
    if (status == RESTRIDE_OK)
        status = restride_engine_create_host(&engine, 1);
    if (status != RESTRIDE_OK) {
        puts(restride_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    const size_t rank = (size_t)restride_group_rank(group);
    const size_t size = (size_t)restride_group_size(group);
    char dimensions[64];
    snprintf(dimensions, sizeof dimensions, "r:%zu c:%zu float", ROWS * size, COLS * size);
    status = restride_plan_redistribute(&plan, group, engine, dimensions, "@r/1000 r%1000 c",
                                        "@c/500 r c%500", 0, NULL);
    float *part = malloc(restride_plan_local_bytes(plan)); /* the only array */
    size_t wrong = 0;
    if (status == RESTRIDE_OK && part != NULL) {
        for (size_t i = 0; i < ROWS * COLS * size; i++)
            part[i] = value(ROWS * rank + i / (COLS * size), i % (COLS * size));
        status = restride_execute(plan, part);
        for (size_t i = 0; i < ROWS * COLS * size; i++)
            wrong += part[i] != value(i / COLS, COLS * rank + i % COLS);
    }
    if (status != RESTRIDE_OK || wrong > 0)
        printf("process %zu: %zu wrong. %s\n", rank, wrong, restride_last_error());
    else if (rank == 0)
        printf("%zu processes hold %zu x %d of %s\n", size, ROWS * size, COLS, dimensions);
    free(part);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    restride_group_destroy(group);
    MPI_Finalize();
    return status != RESTRIDE_OK || wrong > 0;
}
