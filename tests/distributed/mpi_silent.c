/* A process that never runs the plan: the others end within the time-out, and say what is left. It
 * waits no longer for them when it frees its group. Nobody can leave through MPI_Finalize then, so
 * the last words tell whether all was right. */
#include <restride/mpi.h>
#include <restride/restride.h>

#include <stdio.h>
#include <string.h>

enum { SILENT = 1, SECONDS = 3 };

static const char *check(restride_group *group, restride_plan *plan, restride_engine *engine)
{
    float part[8] = {0};
    const double begun = MPI_Wtime();
    const restride_status status = restride_execute(plan, part);
    const double seconds = MPI_Wtime() - begun;
    if (status != RESTRIDE_IO || strstr(restride_last_error(), "unchanged") == NULL)
        return restride_last_error();
    if (seconds < SECONDS - 0.5 || seconds > SECONDS + 10)
        return "the time-out was not kept";
    restride_plan *another;
    if (restride_plan_redistribute(&another, group, engine, "i:24 float", "@i/8 i%8", "@i%3 i/3", 0,
                                   NULL) != RESTRIDE_IO)
        return "the group still serves";
    return NULL;
}

/* Others have left without a word, so this one leaves without them. */
static const char *leave(restride_group *group, restride_plan *plan, restride_engine *engine)
{
    const double begun = MPI_Wtime();
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    restride_group_destroy(group);
    return MPI_Wtime() - begun > SECONDS + 10 ? "the time-out was not kept at the end" : NULL;
}

/* MPI permits this to wait for all. */
int MPI_Comm_free(MPI_Comm *comm)
{
    PMPI_Barrier(*comm);
    return PMPI_Comm_free(comm);
}

int main(int argc, char **argv)
{
    restride_group *group;
    restride_engine *engine;
    restride_plan *plan = NULL;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int wrong = restride_group_create_mpi(&group, MPI_COMM_WORLD) != RESTRIDE_OK ||
                restride_engine_create_host(&engine, 1) != RESTRIDE_OK;
    restride_group_set_timeout(group, SECONDS);
    wrong = wrong || restride_plan_redistribute(&plan, group, engine, "i:24 float", "@i/8 i%8",
                                                "@i%3 i/3", 0, NULL) != RESTRIDE_OK;
    if (wrong == 0) {
        const char *sentence = rank == SILENT ? NULL : check(group, plan, engine);
        const char *last = leave(group, plan, engine);
        sentence = sentence == NULL ? last : sentence;
        wrong = sentence != NULL;
        if (wrong != 0)
            printf("process %d: %s\n", rank, sentence);
    }
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s\n", all == 0 ? "all heard of the silent process" : "wrong");
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}
