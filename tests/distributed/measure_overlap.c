/*
 * What it gains that local passes run beside messages, on hosts: mpirun -n PROCESSES
 * measure_overlap ROWS COLS THREADS REPEATS. A matrix of doubles by blocks of rows becomes one by
 * blocks of columns, in turns without and with passes beside messages. Both sides are multiples of
 * the number of processes. Prints a line for each order of the parts: milliseconds without and with
 * it, and of the messages alone, the shortest and the middle; and how many areas process 0 has.
 * Leaves with 1 where the two ways give different bytes.
 */
#include "distributed/group.h"

#include <restride/mpi.h>
#include <restride/restride.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 1000, WAYS = 3 }; /* without, with, messages alone */

typedef struct {
    restride_group *groups[2];
    restride_engine *engine;
    restride_plan *plans[WAYS];
    unsigned char *parts[2];
    double times[WAYS][MOST_REPEATS];
    size_t bytes;
    int repeats;
    int rank;
} measurement;

static void stop(const char *sentence)
{
    fprintf(stderr, "measure_overlap: %s\n", sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void need(restride_status status)
{
    if (status != RESTRIDE_OK)
        stop(restride_last_error());
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_one(const measurement *m, int way)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    need(restride_execute(m->plans[way], m->parts[way == 1]));
    MPI_Barrier(MPI_COMM_WORLD);
    return 1e3 * (MPI_Wtime() - begun);
}

static void fill(const measurement *m)
{
    for (size_t i = 0; i < m->bytes; i++)
        m->parts[0][i] = m->parts[1][i] =
            (unsigned char)((i + (size_t)m->rank * m->bytes) * 0x9E3779B97F4A7C15u >> 40);
}

/* Whether the two ways give the same bytes on all processes. */
static bool are_equal(const measurement *m)
{
    fill(m);
    for (int way = 0; way < 2; way++)
        time_one(m, way);
    int wrong = memcmp(m->parts[0], m->parts[1], m->bytes) != 0;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return wrong == 0;
}

static size_t count_areas(const restride_plan *plan)
{
    size_t count = 0;
    char *text = restride_plan_describe(plan);
    for (const char *at = text; at != NULL && (at = strstr(at, "\"side\"")) != NULL; at++)
        count++;
    free(text);
    return count;
}

static void print_line(measurement *m, const char *order)
{
    for (int way = 0; way < WAYS; way++)
        qsort(m->times[way], (size_t)m->repeats, sizeof(double), compare);
    if (m->rank == 0)
        printf("%-12s without %9.3f %9.3f, with %9.3f %9.3f, messages %9.3f %9.3f ms; %zu areas\n",
               order, m->times[0][0], m->times[0][m->repeats / 2], m->times[1][0],
               m->times[1][m->repeats / 2], m->times[2][0], m->times[2][m->repeats / 2],
               count_areas(m->plans[1]));
}

static void write_layout(char text[128], char spread, char other, size_t block, bool other_first)
{
    if (other_first)
        snprintf(text, 128, "@%c/%zu %c %c%%%zu", spread, block, other, spread, block);
    else
        snprintf(text, 128, "@%c/%zu %c%%%zu %c", spread, block, spread, block, other);
}

/* IN and OUT as FFTW has them: the parts are transposed before, and afterwards. */
static void measure(measurement *m, size_t rows, size_t cols, bool in, bool out)
{
    static const char *const names[2][2] = {{"neither", "OUT"}, {"IN", "IN and OUT"}};
    char dims[128];
    char layouts[4][128];
    const size_t size = (size_t)restride_group_size(m->groups[0]);
    const size_t row_block = rows / size;
    const size_t col_block = cols / size;
    snprintf(dims, sizeof dims, "r:%zu c:%zu double", rows, cols);
    write_layout(layouts[0], 'r', 'c', row_block, in);
    write_layout(layouts[1], 'c', 'r', col_block, out);
    snprintf(layouts[2], sizeof layouts[2], "@r/%zu c/%zu r%%%zu c%%%zu", row_block, col_block,
             row_block, col_block);
    snprintf(layouts[3], sizeof layouts[3], "@c/%zu r/%zu r%%%zu c%%%zu", col_block, row_block,
             row_block, col_block);
    for (int way = 0; way < WAYS; way++)
        need(restride_plan_redistribute(&m->plans[way], m->groups[way == 1], m->engine, dims,
                                        layouts[way == 2 ? 2 : 0], layouts[way == 2 ? 3 : 1], 0,
                                        NULL));
    if (!are_equal(m))
        stop("the two ways give different bytes");
    for (int i = 0; i < m->repeats; i++)
        for (int way = 0; way < WAYS; way++)
            m->times[way][i] = time_one(m, way);
    print_line(m, names[in][out]);
    for (int way = 0; way < WAYS; way++)
        restride_plan_destroy(m->plans[way]);
}

int main(int argc, char **argv)
{
    static measurement m;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &m.rank);
    if (argc < 5)
        stop("ROWS COLS THREADS REPEATS");
    const size_t rows = strtoul(argv[1], NULL, 10);
    const size_t cols = strtoul(argv[2], NULL, 10);
    for (int i = 0; i < 2; i++)
        need(restride_group_create_mpi(&m.groups[i], MPI_COMM_WORLD));
    const size_t size = (size_t)restride_group_size(m.groups[0]);
    m.groups[0]->overlap_from = SIZE_MAX;
    m.groups[1]->overlap_from = 0;
    need(restride_engine_create_host(&m.engine, atoi(argv[3])));
    m.repeats = atoi(argv[4]);
    m.bytes = rows / size * cols * sizeof(double);
    for (int i = 0; i < 2; i++)
        m.parts[i] = malloc(m.bytes);
    if (rows == 0 || rows % size != 0 || cols == 0 || cols % size != 0 || m.repeats < 1 ||
        m.repeats > MOST_REPEATS || m.parts[0] == NULL || m.parts[1] == NULL)
        stop("both sides are multiples of the processes, and repeats at most 1000");
    if (m.rank == 0)
        printf("%zu x %zu doubles, %zu processes of %s threads\n", rows, cols, size, argv[3]);
    for (int order = 0; order < 4; order++)
        measure(&m, rows, cols, order % 2 != 0, order / 2 != 0);
    for (int i = 0; i < 2; i++) {
        free(m.parts[i]);
        restride_group_destroy(m.groups[i]);
    }
    restride_engine_destroy(m.engine);
    MPI_Finalize();
    return 0;
}
