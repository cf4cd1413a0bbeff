/*
 * Counts the messages of a matrix by blocks of rows that becomes one by blocks of columns, directly
 * and in two levels by nodes of so many processes: mpi_scale ROWS COLS NODE [REPEATS]. Rows and
 * columns are multiples of the processes. Both ways must give the same bytes. Process 0 prints the
 * messages and bytes of the process that sends most, and the shortest time.
 */
#include <restride/mpi.h>
#include <restride/restride.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long long messages;
static long long bytes_sent;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    messages++;
    bytes_sent += count;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

static void stop(const char *sentence)
{
    fprintf(stderr, "mpi_scale: %s\n", sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

typedef struct {
    restride_plan *plans[2];
    int count;
} route;

static void fill(unsigned char *part, size_t bytes, int rank)
{
    for (size_t i = 0; i < bytes; i++)
        part[i] = (unsigned char)((i + (size_t)rank * bytes) * 0x9E3779B97F4A7C15u >> 40);
}

static void run(const route *way, unsigned char *part)
{
    for (int i = 0; i < way->count; i++)
        if (restride_execute(way->plans[i], part) != RESTRIDE_OK)
            stop(restride_last_error());
}

static void measure(const route *way, const char *name, unsigned char *part, size_t bytes, int rank,
                    int repeats)
{
    double best = 1e9;
    messages = bytes_sent = 0;
    fill(part, bytes, rank);
    run(way, part);
    long long mine[2] = {messages, bytes_sent};
    long long most[2];
    MPI_Allreduce(mine, most, 2, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < repeats; i++) {
        fill(part, bytes, rank);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begun = MPI_Wtime();
        run(way, part);
        MPI_Barrier(MPI_COMM_WORLD);
        best = MPI_Wtime() - begun < best ? MPI_Wtime() - begun : best;
    }
    if (rank == 0)
        printf("%s %lld %lld %.3f\n", name, most[0], most[1], 1e3 * best);
}

int main(int argc, char **argv)
{
    int rank;
    int size;
    char dims[128];
    char layouts[3][128];
    restride_group *group;
    restride_engine *engine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4)
        stop("ROWS COLS NODE [REPEATS]");
    const size_t processes = (size_t)size;
    const size_t node = strtoul(argv[3], NULL, 10);
    const size_t rows = strtoul(argv[1], NULL, 10) / processes;
    const size_t cols = strtoul(argv[2], NULL, 10) / processes;
    if (node == 0 || processes % node != 0 || rows == 0 || cols == 0)
        stop("the processes are whole nodes, and each has rows and columns");
    snprintf(dims, sizeof dims, "r:%zu c:%zu float", rows * processes, cols * processes);
    snprintf(layouts[0], sizeof layouts[0], "@r/%zu r%%%zu c", rows, rows);
    snprintf(layouts[1], sizeof layouts[1], "@c/%zu @r/%zu%%%zu r/%zu r%%%zu c%%%zu", cols * node,
             rows, node, rows * node, rows, cols * node);
    snprintf(layouts[2], sizeof layouts[2], "@c/%zu c%%%zu r", cols, cols);
    if (restride_group_create_mpi(&group, MPI_COMM_WORLD) != RESTRIDE_OK ||
        restride_engine_create_host(&engine, 1) != RESTRIDE_OK)
        stop(restride_last_error());
    restride_group_use_peer_memory(group, 0); /* messages are counted */
    route ways[] = {{.count = 1}, {.count = 2}};
    static const int ends[3][2] = {{0, 2}, {0, 1}, {1, 2}};
    restride_plan **plans[] = {&ways[0].plans[0], &ways[1].plans[0], &ways[1].plans[1]};
    for (int i = 0; i < 3; i++)
        if (restride_plan_redistribute(plans[i], group, engine, dims, layouts[ends[i][0]],
                                       layouts[ends[i][1]], 0, NULL) != RESTRIDE_OK)
            stop(restride_last_error());
    const size_t bytes = rows * cols * processes * sizeof(float);
    unsigned char *part = malloc(2 * bytes);
    const int repeats = argc > 4 ? atoi(argv[4]) : 1;
    measure(&ways[0], "direct", part, bytes, rank, repeats);
    memcpy(part + bytes, part, bytes);
    measure(&ways[1], "two_levels", part, bytes, rank, repeats);
    int wrong = memcmp(part, part + bytes, bytes) != 0;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (wrong != 0)
        stop("the two ways give different bytes");
    free(part);
    for (int i = 0; i < 3; i++)
        restride_plan_destroy(*plans[i]);
    restride_engine_destroy(engine);
    restride_group_destroy(group);
    MPI_Finalize();
    return 0;
}
