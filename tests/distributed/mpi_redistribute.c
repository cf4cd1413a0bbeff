/*
 * Redistributions among MPI processes, against the definition: mpi_redistribute SEED COUNT [WAY
 * [SECONDS]]. After so many seconds no other case begins. Cases for more than there are processes
 * are left out. mpi_checked.c looks at every message.
 *
 *     host      in memory of the host; without WAY
 *     beside    the same, and local passes run beside messages wherever they can; two runs
 *     shared    as host, and processes exchange bytes in each other's memory
 *     staged    in memory of the CUDA devices, which processes take in turn; chunks go over MPI
 *     peer      the same, and what is exchanged place for place moves between the devices directly
 *     kept      the same, where each plan keeps its maps: three runs, each with another array
 *     nccl      as staged, over NCCL, a device a process
 */
#include "../engine/cuda/cuda_buffers.h"
#include "cases.h"
#include "distributed/group.h"

#include <restride/cuda.h>
#include <restride/mpi.h>
#include <restride/nccl.h>
#include <restride/restride.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static test_machine machine;
static const test_machine *device; /* NULL: the host */

static const struct {
    const char *name;
    bool on_host;
    int peer_memory;
    int runs;
    bool overlaps;
} ways[] = {{"host", true, 0, 1, false},   {"beside", true, 0, 2, true},
            {"shared", true, 1, 1, false}, {"staged", false, 0, 1, false},
            {"peer", false, 1, 1, false},  {"kept", false, RESTRIDE_PEER_MEMORY_KEPT, 3, false},
            {"nccl", false, 0, 1, false}};
enum { WAYS = sizeof ways / sizeof ways[0] };
static size_t way;

/* How many processes say so. Waits by testing, because there are more of them than processors. */
static int count(int mine)
{
    int all = 0;
    int done = 0;
    MPI_Request request;
    MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    const struct timespec nap = {.tv_nsec = 20000};
    for (; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        nanosleep(&nap, NULL);
    return all;
}

/* NULL: right. *refused: no plan within the scratch memory, on all processes alike. */
static const char *check(restride_group *group, restride_engine *engine,
                         const redistribution_case *c, bool *refused)
{
    const restride_plan_options options = {.scratch_bytes = c->scratch_bytes};
    restride_plan *plan;
    const restride_status status = restride_plan_redistribute(
        &plan, group, engine, c->dims, c->layouts[0], c->layouts[1], c->elem_size, &options);
    const int refusals = count(status == RESTRIDE_UNSUPPORTED);
    *refused = refusals == restride_group_size(group);
    if (*refused)
        return NULL;
    const char *wrong = status != RESTRIDE_OK ? restride_last_error() : NULL;
    for (int run = 0; count(wrong != NULL) == 0 && run < ways[way].runs; run++)
        wrong = run_case(c, (size_t)restride_group_rank(group), plan, device);
    restride_plan_destroy(plan);
    return wrong;
}

/* Whether a case is right on all processes. */
static bool run_one(restride_group *group, restride_engine *engine, const redistribution_case *c,
                    size_t seed, int *not_planned)
{
    bool refused;
    const char *wrong = check(group, engine, c, &refused);
    if (wrong != NULL)
        printf("seed %zu, process %d: \"%s\" from \"%s\" to \"%s\", elements of %zu: %s\n", seed,
               restride_group_rank(group), c->dims, c->layouts[0], c->layouts[1], c->elem_size,
               wrong);
    fflush(stdout);
    *not_planned += refused;
    return count(wrong != NULL) == 0;
}

/* Whether a process is out of time; for all. */
static bool time_is_up(double begun, double seconds)
{
    return count(MPI_Wtime() - begun > seconds) != 0;
}

static int run_cases(restride_group *group, restride_engine *engine, size_t seed, size_t cases,
                     double seconds)
{
    enum { DEVICE_SCRATCH = 64 };
    const int size = restride_group_size(group);
    const double begun = MPI_Wtime();
    int not_planned = 0;
    size_t done = 0;
    for (; done < cases && !time_is_up(begun, seconds); seed++) {
        redistribution_case c;
        make_case(&c, seed);
        c.scratch_bytes *= device == NULL ? 1 : DEVICE_SCRATCH;
        const bool fits = c.processes <= size;
        const bool right = !fits || run_one(group, engine, &c, seed, &not_planned);
        free_case(&c);
        if (!right)
            return 1;
        done += fits;
    }
    if (restride_group_rank(group) == 0)
        printf("%s: %zu cases with %d processes, %d of them refused for want of scratch memory\n",
               ways[way].name, done, size, not_planned);
    return 0;
}

/* ---- devices ---- */

typedef struct {
    char bytes[128];
} nccl_id;

static void *find(void *library, const char *name)
{
    void *function = library == NULL ? NULL : dlsym(library, name);
    if (function == NULL) {
        fprintf(stderr, "mpi_redistribute: there is no %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return function;
}

static restride_status open_nccl(restride_group **group, int rank, int size)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
    int (*get_id)(nccl_id * id);
    int (*init)(void **communicator, int count, nccl_id id, int number);
    void *functions[] = {find(library, "ncclGetUniqueId"), find(library, "ncclCommInitRank")};
    memcpy(&get_id, &functions[0], sizeof get_id);
    memcpy(&init, &functions[1], sizeof init);
    nccl_id id;
    void *communicator = NULL;
    int failed = rank == 0 && get_id(&id) != 0;
    MPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    failed = failed || init(&communicator, size, id, rank) != 0;
    if (failed) {
        fprintf(stderr, "mpi_redistribute: NCCL makes no communicator\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return restride_group_create_nccl(group, communicator, NULL);
}

static restride_status open_all(const char *name, restride_group **group, restride_engine **engine)
{
    int rank;
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (way < WAYS && strcmp(name, ways[way].name) != 0)
        way++;
    if (way == WAYS)
        return RESTRIDE_INVALID_ARGUMENT;
    const bool on_host = ways[way].on_host;
    if (!on_host && !cuda_device_open_number(rank)) {
        fprintf(stderr, "mpi_redistribute: there is no CUDA device\n");
        return RESTRIDE_UNSUPPORTED;
    }
    machine = cuda_buffers;
    device = on_host ? NULL : &machine;
    restride_status status = strcmp(name, "nccl") == 0
                                 ? open_nccl(group, rank, size)
                                 : restride_group_create_mpi(group, MPI_COMM_WORLD);
    if (status == RESTRIDE_OK)
        status = on_host ? restride_engine_create_host(engine, 1)
                         : restride_engine_create_cuda(engine, NULL);
    if (status == RESTRIDE_OK) {
        restride_group_use_peer_memory(*group, ways[way].peer_memory);
        (*group)->overlap_from = ways[way].overlaps ? 0 : (*group)->overlap_from;
    }
    return status;
}

/* Each is refused, most of them without a word to the other processes. */
static int check_refusals(void)
{
    restride_group *group;
    int wrong = restride_group_create_mpi(NULL, MPI_COMM_WORLD) != RESTRIDE_INVALID_ARGUMENT;
    wrong += restride_group_create_mpi(&group, MPI_COMM_NULL) != RESTRIDE_INVALID_ARGUMENT;
    wrong += group != NULL;
    wrong += restride_group_create_mpi_fortran(&group, MPI_Comm_c2f(MPI_COMM_NULL)) !=
             RESTRIDE_INVALID_ARGUMENT;
    wrong += restride_group_create_mpi_fortran(&group, MPI_Comm_c2f(MPI_COMM_WORLD)) != RESTRIDE_OK;
    restride_group_destroy(group);
    int rank;
    int size;
    MPI_Comm half;
    MPI_Comm inter;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1)
        return wrong; /* nobody to have an intercommunicator with */
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
    if (argc < 3 || early != 1 || check_refusals() != 0 ||
        open_all(argc > 3 ? argv[3] : "host", &group, &engine) != RESTRIDE_OK) {
        fprintf(stderr, "mpi_redistribute SEED COUNT [WAY [SECONDS]]: %s\n", restride_last_error());
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    restride_group_set_timeout(group, 60);
    const int failed =
        run_cases(group, engine, strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10),
                  argc > 4 ? strtod(argv[4], NULL) : 1e9);
    if (failed != 0)
        MPI_Abort(MPI_COMM_WORLD, 1); /* a group that failed ends with nobody else */
    restride_engine_destroy(engine);
    restride_group_destroy(group);
    MPI_Finalize();
    return failed;
}
