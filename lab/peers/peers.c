/*
 * peers RxC f32|f64 PEER [REPEAT]: measures one peer on one shape, in a child process, since some
 * end their process. Prints a line of fields separated by tabs:
 *
 *     shape  type  peer  GB/s  GB/s of a memcpy  ratio  extra bytes  result
 *
 * The result is "right", "wrong", or why there is none. GB/s are 2 x bytes / time, the median of
 * the runs; the copy is a memcpy by 2 threads of the same bytes, in the same child. Extra bytes are
 * by how much the largest resident set grew from the filled matrix to the end of the first run,
 * plans and code included. `peers --list` prints the names.
 */
#include "peer.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_REPEATS = 15, MOST_SECONDS = 120, COPIES = 5, HUGE_PAGE_BYTES = 2 << 20 };

static const peer *const peers[] = {
    &peer_restride,
#ifdef PEER_FFTW
    &peer_fftw_estimate, &peer_fftw_measure,
#endif
#ifdef PEER_OPENBLAS
    &peer_openblas,
#endif
#ifdef PEER_EIGEN
    &peer_eigen,
#endif
};
enum { PEER_COUNT = sizeof peers / sizeof peers[0] };

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    const char *shape;
    const char *type;
    const peer *peer;
    int repeats;
} problem;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (size_t)usage.ru_maxrss * 1024;
}

static void ask_for_huge_pages(void *memory, size_t bytes)
{
    uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    uintptr_t end = ((uintptr_t)memory + bytes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

/* Exact as a float too, and different for all elements within 2^24 of each other. */
static uint32_t value_of(size_t element)
{
    return (uint32_t)(element % 16777213);
}

static void fill(void *data, size_t elements, size_t unit)
{
    for (size_t i = 0; i < elements; i++)
        if (unit == sizeof(float))
            ((float *)data)[i] = (float)value_of(i);
        else
            ((double *)data)[i] = (double)value_of(i);
}

static bool transposed(const void *data, const problem *p)
{
    size_t position = 0;
    for (size_t j = 0; j < p->cols; j++)
        for (size_t i = 0; i < p->rows; i++, position++) {
            double found = p->unit == sizeof(float) ? (double)((const float *)data)[position]
                                                    : ((const double *)data)[position];
            if (found != (double)value_of(i * p->cols + j))
                return false;
        }
    return true;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

/* ---- the copy ---- */

typedef struct {
    unsigned char *target;
    const unsigned char *source;
    size_t bytes;
} part;

static void *copy_part(void *context)
{
    const part *p = context;
    memcpy(p->target, p->source, p->bytes);
    return NULL;
}

static void copy(unsigned char *target, const unsigned char *source, size_t bytes)
{
    pthread_t thread;
    size_t half = bytes / 2;
    part parts[] = {{target, source, half}, {target + half, source + half, bytes - half}};
    if (pthread_create(&thread, NULL, copy_part, &parts[0]) != 0)
        _exit(1);
    copy_part(&parts[1]);
    pthread_join(thread, NULL);
}

static double copy_seconds(size_t bytes)
{
    void *source;
    void *target;
    if (posix_memalign(&source, HUGE_PAGE_BYTES, bytes) != 0 ||
        posix_memalign(&target, HUGE_PAGE_BYTES, bytes) != 0)
        return 0;
    ask_for_huge_pages(source, bytes);
    ask_for_huge_pages(target, bytes);
    memset(source, 1, bytes);
    memset(target, 2, bytes);
    double seconds[COPIES];
    for (int i = 0; i < COPIES; i++) {
        double begin = now();
        copy(target, source, bytes);
        seconds[i] = now() - begin;
    }
    free(source);
    free(target);
    return median(seconds, COPIES);
}

/* ---- the peer, in the child ---- */

typedef struct {
    double seconds;
    double copy_seconds;
    size_t extra;
    const char *result; /* a literal: the child has the same ones */
} measurement;

/* One run on a new matrix; its result, NULL when all is well. */
static const char *run_once(const problem *p, double *seconds, size_t *extra)
{
    size_t elements = p->rows * p->cols;
    void *matrix = p->peer->open(p->rows, p->cols, p->unit);
    if (matrix == NULL)
        return "no memory for the matrix";
    ask_for_huge_pages(p->peer->data(matrix), elements * p->unit);
    fill(p->peer->data(matrix), elements, p->unit);
    size_t before = peak_bytes();
    if (!p->peer->prepare(matrix))
        return "refused";
    fill(p->peer->data(matrix), elements, p->unit);
    double begin = now();
    if (!p->peer->run(matrix))
        return "failed";
    *seconds = now() - begin;
    *extra = peak_bytes() - before;
    bool right = transposed(p->peer->data(matrix), p);
    p->peer->close(matrix);
    return right ? NULL : "wrong";
}

static measurement measure(const problem *p)
{
    double seconds[MOST_REPEATS];
    measurement m = {0};
    for (int i = 0; i < p->repeats && m.result == NULL; i++) {
        size_t extra;
        m.result = run_once(p, &seconds[i], &extra);
        if (i == 0)
            m.extra = extra;
    }
    if (m.result != NULL)
        return m;
    m.result = "right";
    m.seconds = median(seconds, p->repeats);
    m.copy_seconds = copy_seconds(p->rows * p->cols * p->unit);
    return m;
}

static void print(const problem *p, const measurement *m)
{
    double gigabytes = 2e-9 * (double)(p->rows * p->cols * p->unit);
    printf("%s\t%s\t%s\t", p->shape, p->type, p->peer->name);
    if (m->seconds > 0 && m->copy_seconds > 0)
        printf("%.2f\t%.2f\t%.3f\t%zu\t%s\n", gigabytes / m->seconds, gigabytes / m->copy_seconds,
               m->copy_seconds / m->seconds, m->extra, m->result);
    else
        printf("-\t-\t-\t-\t%s\n", m->result);
    fflush(stdout);
}

/* The child prints, unless it comes to an end that it did not choose. */
static int measure_in_child(const problem *p)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(MOST_SECONDS);
        const measurement m = measure(p);
        print(p, &m);
        _exit(0);
    }
    int ended;
    if (child < 0 || waitpid(child, &ended, 0) != child)
        return 1;
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return 0;
    measurement m = {.result = "ended its process"};
    if (WIFSIGNALED(ended))
        m.result = WTERMSIG(ended) == SIGALRM ? "took too long" : "crashed";
    print(p, &m);
    return 0;
}

static int usage(void)
{
    fputs("usage: peers RxC f32|f64 PEER [REPEAT] | --list\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < PEER_COUNT; i++)
            puts(peers[i]->name);
        return 0;
    }
    if (argc != 4 && argc != 5)
        return usage();
    problem p = {.shape = argv[1], .type = argv[2], .repeats = 3};
    p.unit = strcmp(argv[2], "f32") == 0 ? sizeof(float) : sizeof(double);
    char *end;
    p.rows = strtoull(argv[1], &end, 10);
    p.cols = *end == 'x' ? strtoull(end + 1, &end, 10) : 0;
    if (argc == 5)
        p.repeats = (int)strtol(argv[4], NULL, 10);
    for (size_t i = 0; i < PEER_COUNT; i++)
        if (strcmp(peers[i]->name, argv[3]) == 0)
            p.peer = peers[i];
    if (p.peer == NULL || p.rows == 0 || p.cols == 0 || *end != '\0' || p.repeats < 1 ||
        p.repeats > MOST_REPEATS)
        return usage();
    return measure_in_child(&p);
}
