/*
 * Matrices of doubles over MPI processes, from blocks of rows to blocks of columns and in place:
 * FFTW's transpose beside restride_plan_redistribute(), in each other's memory and by messages,
 * with all four combinations of FFTW_MPI_TRANSPOSED_IN and OUT, in turns, the shortest of REPEATS
 * runs each. The bytes of all are compared.
 *
 *     mpicc -O2 lab/peers/fftw_mpi.c -o fftw_mpi -lfftw3_mpi -lfftw3 -lm \
 *         $(pkg-config --cflags --libs restride-mpi)
 *     mpirun -n 4 ./fftw_mpi ROWS COLS REPEATS
 */
#include <fftw3-mpi.h>
#include <restride/mpi.h>
#include <restride/restride.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    ptrdiff_t rows;
    ptrdiff_t cols;
    ptrdiff_t row_block;
    ptrdiff_t col_block;
    int repeats;
    int rank;
    int size;
    restride_group *group;
    restride_engine *engine;
    double *part;
} setting;

static void stop(const char *sentence)
{
    fprintf(stderr, "%s\n", sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static restride_plan *plan_restride(const setting *s, unsigned flags, int in_memory)
{
    restride_group_use_peer_memory(s->group, in_memory);
    char dims[128];
    char from[64];
    char to[64];
    restride_plan *plan;
    snprintf(dims, sizeof dims, "r:%td c:%td double", s->rows, s->cols);
    snprintf(from, sizeof from,
             flags & FFTW_MPI_TRANSPOSED_IN ? "@r/%td c r%%%td" : "@r/%td r%%%td c", s->row_block,
             s->row_block);
    snprintf(to, sizeof to, flags & FFTW_MPI_TRANSPOSED_OUT ? "@c/%td r c%%%td" : "@c/%td c%%%td r",
             s->col_block, s->col_block);
    if (restride_plan_redistribute(&plan, s->group, s->engine, dims, from, to, 0, NULL) !=
        RESTRIDE_OK)
        stop(restride_last_error());
    return plan;
}

static double run_restride(restride_plan *plan, double *part)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    if (restride_execute(plan, part) != RESTRIDE_OK)
        stop(restride_last_error());
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begun;
}

static double run_fftw(fftw_plan plan)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    fftw_execute(plan);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begun;
}

static void compare(const setting *s, unsigned flags, const char *name)
{
    fftw_plan fftw =
        fftw_mpi_plan_many_transpose(s->rows, s->cols, 1, s->row_block, s->col_block, s->part,
                                     s->part, MPI_COMM_WORLD, FFTW_MEASURE | flags);
    restride_plan *ways[] = {plan_restride(s, flags, 1), plan_restride(s, flags, 0)};
    const size_t bytes = restride_plan_local_bytes(ways[0]);
    const ptrdiff_t first = s->rank * s->col_block;
    ptrdiff_t own = first < s->cols ? s->cols - first : 0;
    own = own < s->col_block ? own : s->col_block;
    const size_t after = (size_t)(s->rows * own) * sizeof(double); /* what is behind is undefined */
    unsigned char *before = malloc(2 * bytes + 2);
    unsigned char *theirs = before + bytes;
    if (fftw == NULL || before == NULL)
        stop("there is no plan or no memory");
    for (size_t i = 0; i < bytes; i++)
        before[i] = (unsigned char)((i * 0x9E3779B97F4A7C15u + (size_t)s->rank) >> 40);
    double best[3] = {1e30, 1e30, 1e30};
    int wrong = 0;
    for (int i = 0; i < s->repeats; i++) {
        memcpy(s->part, before, bytes);
        const double first = run_fftw(fftw);
        memcpy(theirs, s->part, bytes);
        best[0] = first < best[0] ? first : best[0];
        for (int way = 0; way < 2; way++) {
            memcpy(s->part, before, bytes);
            const double time = run_restride(ways[way], s->part);
            wrong += memcmp(s->part, theirs, after) != 0;
            best[1 + way] = time < best[1 + way] ? time : best[1 + way];
        }
    }
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (s->rank == 0)
        printf("%td x %td, %d processes, %-8s FFTW %8.2f ms, Restride %8.2f ms, ratio %5.2f, by "
               "messages %8.2f ms, ratio %5.2f, %d differ\n",
               s->rows, s->cols, s->size, name, 1e3 * best[0], 1e3 * best[1], best[0] / best[1],
               1e3 * best[2], best[0] / best[2], all);
    free(before);
    fftw_destroy_plan(fftw);
    for (int way = 0; way < 2; way++)
        restride_plan_destroy(ways[way]);
}

int main(int argc, char **argv)
{
    setting s = {0};
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    if (argc != 4 || restride_group_create_mpi(&s.group, MPI_COMM_WORLD) != RESTRIDE_OK ||
        restride_engine_create_host(&s.engine, 1) != RESTRIDE_OK) {
        stop("fftw_mpi ROWS COLS REPEATS");
        return 1;
    }
    s.rank = restride_group_rank(s.group);
    s.size = restride_group_size(s.group);
    s.rows = strtol(argv[1], NULL, 10);
    s.cols = strtol(argv[2], NULL, 10);
    s.repeats = (int)strtol(argv[3], NULL, 10);
    s.row_block = (s.rows + s.size - 1) / s.size;
    s.col_block = (s.cols + s.size - 1) / s.size;
    ptrdiff_t here[4];
    const ptrdiff_t shape[] = {s.rows, s.cols};
    s.part = fftw_alloc_real((size_t)fftw_mpi_local_size_many_transposed(
        2, shape, 1, s.row_block, s.col_block, MPI_COMM_WORLD, &here[0], &here[1], &here[2],
        &here[3]));
    static const struct {
        unsigned flags;
        const char *name;
    } ways[] = {{0, "neither"},
                {FFTW_MPI_TRANSPOSED_IN, "IN"},
                {FFTW_MPI_TRANSPOSED_OUT, "OUT"},
                {FFTW_MPI_TRANSPOSED_IN | FFTW_MPI_TRANSPOSED_OUT, "IN OUT"}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        compare(&s, ways[i].flags, ways[i].name);
    fftw_free(s.part);
    restride_engine_destroy(s.engine);
    restride_group_destroy(s.group);
    MPI_Finalize();
    return 0;
}
