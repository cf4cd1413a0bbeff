/*
 * How long it takes to turn a matrix by blocks of rows into one by blocks of columns, in place, on
 * CUDA devices: mpirun -n PROCESSES measure_cuda ROWS COLS REPEATS WAY...
 *
 *     staged, peer, nccl    as mpi_redistribute.c has them
 *     kept                  as peer, where the plan keeps what it has mapped
 *     parts                 the local passes alone, NCCL's exchange of as many bytes out of place,
 *                           which needs a second array, and that beside a pass on another stream
 *
 * Both sides must be multiples of the number of processes. Each way prints a line: milliseconds,
 * the shortest and the middle of REPEATS; device memory taken besides the array; and how many of 64
 * stretches of the result were wrong. "parts" comes last: it says how much longer than their sum
 * the ways before it took, and prints the rates as options of restride-lab scale.
 */
#include "../engine/cuda/device.h"

#include <restride/cuda.h>
#include <restride/mpi.h>
#include <restride/nccl.h>
#include <restride/restride.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 64, STRETCHES = 64, STRETCH = 4096, FILL_BYTES = 16 << 20 };
enum { MOST_WAYS = 5, MESSAGES = 200, MESSAGE_BYTES = 8 };

static struct {
    int (*synchronize)(void);
    int (*allocate)(uintptr_t *pointer, size_t bytes);
    int (*release)(uintptr_t pointer);
    int (*upload)(uintptr_t target, const void *source, size_t bytes);
    int (*download)(void *target, uintptr_t source, size_t bytes);
    int (*memory)(size_t *free_bytes, size_t *bytes);
    int (*create_stream)(void **stream, unsigned flags, int priority);
    int (*release_stream)(void *stream);
} cuda;

typedef struct {
    char bytes[128];
} nccl_id;

static struct {
    int (*get_id)(nccl_id *id);
    int (*init)(void **communicator, int count, nccl_id id, int number);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*send)(const void *send, size_t count, int type, int to, void *communicator, void *stream);
    int (*receive)(void *receive, size_t count, int type, int from, void *communicator,
                   void *stream);
} nccl;

typedef struct {
    size_t rows;
    size_t cols;
    size_t repeats;
    int rank;
    int size;
    void *communicator; /* of NCCL; NULL: none */
    void *stream;       /* of its messages */
    uintptr_t part;
    size_t bytes;
} setting;

/* Of the ways that were measured. */
static struct {
    const char *name;
    double milliseconds;
} measured[MOST_WAYS];
static size_t measured_count;

static void stop(const char *sentence)
{
    fprintf(stderr, "measure_cuda: %s\n", sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void need(int code, const char *what)
{
    if (code != 0)
        stop(what);
}

static bool find(void *library, const char *symbol, void *function)
{
    void *address = library == NULL ? NULL : dlsym(library, symbol);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static void open_cuda(int rank)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda_device_open_number(rank) || !find(library, "cuCtxSynchronize", &cuda.synchronize) ||
        !find(library, "cuMemAlloc_v2", &cuda.allocate) ||
        !find(library, "cuMemFree_v2", &cuda.release) ||
        !find(library, "cuMemcpyHtoD_v2", &cuda.upload) ||
        !find(library, "cuMemcpyDtoH_v2", &cuda.download) ||
        !find(library, "cuMemGetInfo_v2", &cuda.memory))
        stop("there is no CUDA device");
    find(library, "cuStreamCreateWithPriority", &cuda.create_stream);
    find(library, "cuStreamDestroy_v2", &cuda.release_stream);
}

static void open_nccl(setting *s)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
    nccl_id id;
    if (!find(library, "ncclGetUniqueId", &nccl.get_id) ||
        !find(library, "ncclCommInitRank", &nccl.init) ||
        !find(library, "ncclGroupStart", &nccl.group_start) ||
        !find(library, "ncclGroupEnd", &nccl.group_end) || !find(library, "ncclSend", &nccl.send) ||
        !find(library, "ncclRecv", &nccl.receive))
        stop("there is no libnccl.so.2");
    if (s->rank == 0)
        need(nccl.get_id(&id), "NCCL gives no number");
    MPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    need(nccl.init(&s->communicator, s->size, id, s->rank), "NCCL makes no communicator");
}

/* ---- content ---- */

static uint32_t value_at(size_t row, size_t col)
{
    return (uint32_t)(row * 2654435761u + col * 40503u);
}

static void fill(const setting *s)
{
    const size_t first = (size_t)s->rank * (s->rows / (size_t)s->size);
    uint32_t *values = malloc(FILL_BYTES);
    size_t row = first;
    size_t col = 0;
    for (size_t at = 0; at < s->bytes; at += FILL_BYTES) {
        const size_t bytes = s->bytes - at < FILL_BYTES ? s->bytes - at : FILL_BYTES;
        for (size_t i = 0; i < bytes / sizeof *values; i++) {
            values[i] = value_at(row, col);
            col = col + 1 == s->cols ? 0 : col + 1;
            row += col == 0;
        }
        need(cuda.upload(s->part + at, values, bytes), "a copy to the device failed");
    }
    free(values);
}

/* Some stretches of the columns of this process. */
static int count_wrong(const setting *s)
{
    const size_t first = (size_t)s->rank * (s->cols / (size_t)s->size);
    const size_t count = s->bytes / sizeof(uint32_t);
    uint32_t values[STRETCH];
    int wrong = 0;
    need(cuda.synchronize(), "the device failed");
    for (size_t k = 0; k < STRETCHES; k++) {
        const size_t length = count < STRETCH ? count : STRETCH;
        const size_t at = (count - length) / (STRETCHES - 1) * k;
        bool right = true;
        need(cuda.download(values, s->part + at * sizeof *values, length * sizeof *values),
             "a copy from the device failed");
        for (size_t i = 0; i < length; i++)
            right = right && values[i] == value_at((at + i) % s->rows, first + (at + i) / s->rows);
        wrong += !right;
    }
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* ---- timing ---- */

typedef void timed(const setting *s, void *context);

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* From when all begin until all are done; the shortest, and the middle. */
static double time_it(const setting *s, timed *work, void *context, double *middle)
{
    double times[MOST_REPEATS];
    for (size_t i = 0; i < s->repeats; i++) {
        need(cuda.synchronize(), "the device failed");
        MPI_Barrier(MPI_COMM_WORLD);
        const double begun = MPI_Wtime();
        work(s, context);
        need(cuda.synchronize(), "the device failed");
        MPI_Barrier(MPI_COMM_WORLD);
        times[i] = 1e3 * (MPI_Wtime() - begun);
    }
    qsort(times, s->repeats, sizeof *times, compare);
    *middle = times[s->repeats / 2];
    return times[0];
}

static void execute(const setting *s, void *plan)
{
    if (restride_execute(plan, (void *)s->part) != RESTRIDE_OK)
        stop(restride_last_error());
}

static size_t free_bytes(void)
{
    size_t left = 0;
    size_t all = 0;
    need(cuda.memory(&left, &all), "the device does not tell its memory");
    return left;
}

static void print_line(const setting *s, const char *way, double shortest, double middle)
{
    if (s->rank == 0)
        printf("%-24s %10.2f %10.2f ms", way, shortest, middle);
}

static void measure_way(const setting *s, const char *way)
{
    char dims[128];
    char layouts[2][64];
    restride_group *group;
    restride_engine *engine;
    restride_plan *plan;
    double middle;
    snprintf(dims, sizeof dims, "r:%zu c:%zu float", s->rows, s->cols);
    const size_t row_block = s->rows / (size_t)s->size;
    const size_t col_block = s->cols / (size_t)s->size;
    snprintf(layouts[0], sizeof layouts[0], "@r/%zu r%%%zu c", row_block, row_block);
    snprintf(layouts[1], sizeof layouts[1], "@c/%zu c%%%zu r", col_block, col_block);
    const size_t before = free_bytes();
    restride_status status = strcmp(way, "nccl") == 0
                                 ? restride_group_create_nccl(&group, s->communicator, NULL)
                                 : restride_group_create_mpi(&group, MPI_COMM_WORLD);
    if (status == RESTRIDE_OK)
        status = restride_engine_create_cuda(&engine, NULL);
    if (status != RESTRIDE_OK)
        stop(restride_last_error());
    restride_group_use_peer_memory(group, strcmp(way, "kept") == 0 ? RESTRIDE_PEER_MEMORY_KEPT
                                                                   : strcmp(way, "peer") == 0);
    if (restride_plan_redistribute(&plan, group, engine, dims, layouts[0], layouts[1], 0, NULL) !=
        RESTRIDE_OK)
        stop(restride_last_error());
    fill(s);
    execute(s, plan);
    const int wrong = count_wrong(s);
    const size_t taken = before - free_bytes();
    const double shortest = time_it(s, execute, plan, &middle);
    print_line(s, way, shortest, middle);
    if (s->rank == 0)
        printf(", %5.0f MiB besides the array (the plan says %.0f), %d stretches wrong\n",
               (double)taken / (1 << 20), (double)restride_plan_scratch_bytes(plan) / (1 << 20),
               wrong);
    if (measured_count < MOST_WAYS) {
        measured[measured_count].name = way;
        measured[measured_count++].milliseconds = shortest;
    }
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    restride_group_destroy(group);
}

/* ---- the parts ---- */

static double measure_local(const setting *s, restride_engine *engine, const char *name,
                            const char *dims, const char *from, const char *to)
{
    restride_layout *layouts[2];
    restride_plan *plan;
    double middle;
    if (restride_layout_parse(&layouts[0], dims, from) != RESTRIDE_OK ||
        restride_layout_parse(&layouts[1], dims, to) != RESTRIDE_OK ||
        restride_plan_convert_with(&plan, engine, layouts[0], layouts[1], 0, NULL) != RESTRIDE_OK)
        stop(restride_last_error());
    const double shortest = time_it(s, execute, plan, &middle);
    print_line(s, name, shortest, middle);
    if (s->rank == 0)
        printf(", %.0f GB/s\n", 2 * (double)s->bytes / shortest / 1e6);
    restride_plan_destroy(plan);
    restride_layout_destroy(layouts[0]);
    restride_layout_destroy(layouts[1]);
    return shortest;
}

static void all_to_all(const setting *s, void *context)
{
    const uintptr_t *other = context;
    const size_t share = s->bytes / (size_t)s->size;
    need(nccl.group_start(), "NCCL failed");
    for (int p = 0; p < s->size; p++) {
        const size_t at = (size_t)p * share;
        need(nccl.send((void *)(s->part + at), share, 0, p, s->communicator, s->stream),
             "NCCL failed");
        need(nccl.receive((void *)(*other + at), share, 0, p, s->communicator, s->stream),
             "NCCL failed");
    }
    need(nccl.group_end(), "NCCL failed");
}

/* One behind the other, each with the next process. */
static void small_messages(const setting *s, void *context)
{
    const uintptr_t *other = context;
    const int next = (s->rank + 1) % s->size;
    const int last = (s->rank + s->size - 1) % s->size;
    for (int i = 0; i < MESSAGES; i++) {
        need(nccl.group_start(), "NCCL failed");
        need(nccl.send((void *)s->part, MESSAGE_BYTES, 0, next, s->communicator, NULL),
             "NCCL failed");
        need(nccl.receive((void *)*other, MESSAGE_BYTES, 0, last, s->communicator, NULL),
             "NCCL failed");
        need(nccl.group_end(), "NCCL failed");
    }
}

/* Both out of place; how long the exchange takes, and GB/s and microseconds for the model. */
static double measure_nccl(const setting *s, uintptr_t other, double *rate, double *latency)
{
    double middle;
    const double sent = (double)(s->bytes / (size_t)s->size * ((size_t)s->size - 1));
    const double all = time_it(s, all_to_all, &other, &middle);
    *rate = sent / all / 1e6;
    print_line(s, "NCCL all-to-all", all, middle);
    if (s->rank == 0)
        printf(", %.0f GB/s from each, out of place\n", *rate);
    const double many = time_it(s, small_messages, &other, &middle);
    *latency = 1e3 * many / MESSAGES;
    print_line(s, "NCCL, 200 x 8 bytes", many, middle);
    if (s->rank == 0)
        printf(", %.1f us each\n", *latency);
    return all;
}

typedef struct {
    restride_plan *plan;
    uintptr_t other;
} both;

static void pass_and_exchange(const setting *s, void *context)
{
    both *b = context;
    execute(s, b->plan);
    all_to_all(s, &b->other);
}

/* What could be gained by a pass that runs beside the exchange: alone, the exchange on a stream of
 * the same priority, and of the highest. The blocks for each process are transposed where they are.
 */
static void measure_beside(const setting *s, uintptr_t other)
{
    static const char *const names[] = {"pass and exchange", "the same, urgent"};
    enum { NON_BLOCKING = 1, HIGHEST = -5 };
    char dims[128];
    void *stream;
    restride_engine *engine;
    restride_layout *layouts[2];
    both b = {.other = other};
    double middle;
    const size_t size = (size_t)s->size;
    snprintf(dims, sizeof dims, "p:%zu r:%zu c:%zu float", size, s->rows / size, s->cols / size);
    need(cuda.create_stream == NULL || cuda.create_stream(&stream, NON_BLOCKING, 0),
         "there is no stream");
    if (restride_engine_create_cuda(&engine, stream) != RESTRIDE_OK ||
        restride_layout_parse(&layouts[0], dims, "p r c") != RESTRIDE_OK ||
        restride_layout_parse(&layouts[1], dims, "p c r") != RESTRIDE_OK ||
        restride_plan_convert_with(&b.plan, engine, layouts[0], layouts[1], 0, NULL) != RESTRIDE_OK)
        stop(restride_last_error());
    const double alone = time_it(s, execute, b.plan, &middle);
    print_line(s, "pass by blocks", alone, middle);
    for (int i = 0; i < 2; i++) {
        setting with = *s;
        need(cuda.create_stream(&with.stream, NON_BLOCKING, i * HIGHEST), "there is no stream");
        const double together = time_it(&with, pass_and_exchange, &b, &middle);
        if (s->rank == 0)
            printf("\n");
        print_line(s, names[i], together, middle);
        need(cuda.release_stream(with.stream), "a stream is not freed");
    }
    if (s->rank == 0)
        printf(", on two streams\n");
    restride_plan_destroy(b.plan);
    restride_layout_destroy(layouts[0]);
    restride_layout_destroy(layouts[1]);
    restride_engine_destroy(engine);
    need(cuda.release_stream(stream), "a stream is not freed");
}

static void measure_parts(const setting *s)
{
    char dims[128];
    char to[64];
    restride_engine *engine;
    if (restride_engine_create_cuda(&engine, NULL) != RESTRIDE_OK)
        stop(restride_last_error());
    const size_t row_block = s->rows / (size_t)s->size;
    const size_t col_block = s->cols / (size_t)s->size;
    snprintf(dims, sizeof dims, "r:%zu c:%zu float", row_block, s->cols);
    snprintf(to, sizeof to, "c/%zu r c%%%zu", col_block, col_block);
    const double before = measure_local(s, engine, "local before", dims, "r c", to);
    snprintf(dims, sizeof dims, "r:%zu c:%zu float", s->rows, col_block);
    double sum = before + measure_local(s, engine, "local after", dims, "r c", "c r");
    uintptr_t other = 0;
    double rate = 0;
    double latency = 0;
    if (s->communicator != NULL && cuda.allocate(&other, s->bytes) == 0) {
        sum += measure_nccl(s, other, &rate, &latency);
        measure_beside(s, other);
        need(cuda.release(other), "memory of the device is not freed");
    }
    print_line(s, "sum of these", sum, sum);
    if (s->rank == 0) {
        printf("%s\n", rate == 0 ? ", without an exchange" : "");
        for (size_t i = 0; rate != 0 && i < measured_count; i++)
            printf("%-24s %10.2f times that sum\n", measured[i].name,
                   measured[i].milliseconds / sum);
        if (rate != 0)
            printf("restride-lab scale --link %.0f --latency %.0f --copy %.0f\n", rate, latency,
                   2 * (double)s->bytes / before / 1e6);
    }
    restride_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    setting s = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.size);
    if (argc < 5)
        stop("ROWS COLS REPEATS WAY...");
    s.rows = strtoul(argv[1], NULL, 10);
    s.cols = strtoul(argv[2], NULL, 10);
    s.repeats = strtoul(argv[3], NULL, 10);
    const size_t size = (size_t)s.size;
    if (s.rows == 0 || s.rows % size != 0 || s.cols == 0 || s.cols % size != 0 || s.repeats == 0 ||
        s.repeats > MOST_REPEATS)
        stop("rows and columns are multiples of the processes, and repeats at most 64");
    s.bytes = s.rows / size * s.cols * sizeof(uint32_t);
    open_cuda(s.rank);
    need(cuda.allocate(&s.part, s.bytes), "the device has not so much memory");
    if (s.rank == 0)
        printf("%zu x %zu floats over %d processes, %.2f GiB each\n", s.rows, s.cols, s.size,
               (double)s.bytes / (1 << 30));
    for (int i = 4; i < argc; i++)
        if (strcmp(argv[i], "nccl") == 0)
            open_nccl(&s);
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], "parts") == 0)
            measure_parts(&s);
        else
            measure_way(&s, argv[i]);
        fflush(stdout);
    }
    need(cuda.release(s.part), "memory of the device is not freed");
    MPI_Finalize();
    return 0;
}
