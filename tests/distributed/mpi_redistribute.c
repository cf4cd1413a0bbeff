/*
 * Redistributions among MPI processes, against the definition: mpi_redistribute SEED COUNT. It
 * needs CASE_MOST_PROCESSES processes. mpi_checked.c looks at every message.
 */
#include "cases.h"

#include <restride/mpi.h>
#include <restride/restride.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: right. *refused: no plan within the scratch memory, on all processes alike. */
static const char *check(restride_group *group, restride_engine *engine,
                         const redistribution_case *c, int *refused)
{
    const restride_plan_options options = {.scratch_bytes = c->scratch_bytes};
    restride_plan *plan;
    const restride_status status = restride_plan_redistribute(
        &plan, group, engine, c->dims, c->layouts[0], c->layouts[1], c->elem_size, &options);
    *refused = status == RESTRIDE_UNSUPPORTED;
    if (*refused)
        return NULL;
    const char *wrong = status != RESTRIDE_OK
                            ? restride_last_error()
                            : run_case(c, (size_t)restride_group_rank(group), plan, NULL);
    restride_plan_destroy(plan);
    return wrong;
}

/* How many processes say so. */
static int count(int mine)
{
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int run_cases(restride_group *group, restride_engine *engine, size_t seed, size_t cases)
{
    const int size = restride_group_size(group);
    int not_planned = 0;
    for (size_t i = 0; i < cases; i++) {
        redistribution_case c;
        int refused;
        make_case(&c, seed + i);
        const char *wrong = check(group, engine, &c, &refused);
        if (wrong != NULL)
            printf("seed %zu, process %d: \"%s\" from \"%s\" to \"%s\", elements of %zu: %s\n",
                   seed + i, restride_group_rank(group), c.dims, c.layouts[0], c.layouts[1],
                   c.elem_size, wrong);
        free_case(&c);
        const int refusals = count(refused);
        if (count(wrong != NULL) != 0 || (refusals != 0 && refusals != size))
            return 1;
        not_planned += refusals != 0;
    }
    if (restride_group_rank(group) == 0)
        printf("%zu cases with %d processes, %d of them refused for want of scratch memory\n",
               cases, size, not_planned);
    return 0;
}

/* Each is refused, and all but the last without a word to the other processes. */
static int check_refusals(void)
{
    restride_group *group;
    int wrong = restride_group_create_mpi(NULL, MPI_COMM_WORLD) != RESTRIDE_INVALID_ARGUMENT;
    wrong += restride_group_create_mpi(&group, MPI_COMM_NULL) != RESTRIDE_INVALID_ARGUMENT;
    wrong += group != NULL;
    int rank;
    MPI_Comm half;
    MPI_Comm inter;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
    wrong += restride_group_create_mpi(&group, inter) != RESTRIDE_INVALID_ARGUMENT;
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return wrong;
}

int main(int argc, char **argv)
{
    restride_group *group;
    restride_engine *engine;
    const int early = restride_group_create_mpi(&group, MPI_COMM_WORLD) != RESTRIDE_OK;
    MPI_Init(&argc, &argv);
    if (argc != 3 || early != 1 || check_refusals() != 0 ||
        restride_group_create_mpi(&group, MPI_COMM_WORLD) != RESTRIDE_OK ||
        restride_engine_create_host(&engine, 1) != RESTRIDE_OK) {
        fprintf(stderr, "mpi_redistribute SEED COUNT: %s\n", restride_last_error());
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    restride_group_set_timeout(group, 60);
    const int failed =
        run_cases(group, engine, strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
    restride_engine_destroy(engine);
    restride_group_destroy(group);
    MPI_Finalize();
    return failed;
}
