/*
 * program KERNELS SEED COUNT [FLAGS]: with the kernels of a library (kernels.c), or of a cubin for
 * a GPU (gpu/random.cu), COUNT random programs of calls of the CUDA driver, and a sum of all bytes
 * that they read back, and the number of launches. Calls on the same memory are ordered by events,
 * by waiting, or by the rules of the default stream, wherever one of them writes; nowhere else. So
 * the sum depends on SEED alone.
 *
 * FLAGS: "t" has 16 threads, each with COUNT programs, "s" says each call and sum, "p" takes
 * per-thread streams, "k" has its kernels of a library, "u" calls a function that is not known, "r"
 * gives one of two holds of the context back first, "j" links at run time, "i" launches on pieces
 * of an allocation, "b" on a new array, "c" uses second contexts, "f" forks, "m" on each kind of
 * memory.
 */
#include "arrays.h"
#include "memories.h"
#include "sequence.h"
#include "starts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads ---- */

typedef struct {
    void *context;
    unsigned long seed, count;
    bool is_alone;
    const void *image; /* is loaded anew now and then; NULL: others have its kernels, too */
    uint64_t sum;
    unsigned long launches;
} work;

static void *run_programs(void *given)
{
    work *w = given;
    CHECK(cuCtxSetCurrent(w->context));
    make_streams();
    for (unsigned long i = 0; i < w->count; i++) {
        run_program(w->seed + i);
        if (w->image != NULL && below(8) == 0)
            load_kernels(w->image, true);
        if (says || (w->is_alone && (i + 1) % 1000 == 0))
            printf("%lu %016llx\n", w->seed + i, (unsigned long long)sum);
    }
    w->sum = sum;
    w->launches = launches;
    return NULL;
}

static void run_threads(void *context, unsigned long seed, unsigned long count, int threads,
                        const void *image)
{
    enum { MOST_THREADS = 16 };
    pthread_t started[MOST_THREADS];
    work works[MOST_THREADS];
    unsigned long all = 0;
    for (int i = 0; i < threads; i++) {
        works[i] = (work){context,
                          seed + (unsigned long)i * count,
                          count,
                          threads == 1,
                          threads == 1 ? image : NULL,
                          0,
                          0};
        if (pthread_create(&started[i], NULL, run_programs, &works[i]) != 0)
            fail("pthread_create", 0);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(started[i], NULL);
        printf("%016llx\n", (unsigned long long)works[i].sum);
        all += works[i].launches;
    }
    printf("%lu launches\n", all);
}

/* What the made-up driver takes for a module is the name of a library. */
static void *read_image(const char *path)
{
    enum { MOST_BYTES = 1 << 24 };
    char *image = calloc(MOST_BYTES, 1);
    FILE *file = strstr(path, ".cubin") != NULL ? fopen(path, "rb") : NULL;
    if (image == NULL || (strstr(path, ".cubin") != NULL && file == NULL))
        fail(path, 0);
    if (file == NULL)
        snprintf(image, MOST_BYTES, "emulated %s", path);
    else if (fread(image, 1, MOST_BYTES, file) == 0)
        fail(path, 0);
    if (file != NULL)
        fclose(file);
    return image;
}

int main(int argc, char **argv)
{
    void *context;
    if (argc < 4)
        return 2;
    const char *flags = argc > 4 ? argv[4] : "";
    says = strchr(flags, 's') != NULL;
    by_thread = strchr(flags, 'p') != NULL;
    calls_unknown = strchr(flags, 'u') != NULL;
    has_contexts = strchr(flags, 'c') != NULL;
    forks = strchr(flags, 'f') != NULL;
    knows_new_memory = strstr(argv[1], ".cubin") == NULL;
    const bool by_library = strchr(flags, 'k') != NULL;
    find_functions(by_thread);
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    void *image = read_image(argv[1]);
    load_kernels(image, by_library);
    if (strchr(flags, 'j') != NULL) {
        void *linked;
        size_t size;
        CHECK(cuLinkComplete(NULL, &linked, &size));
    }
    if (strchr(flags, 'i') != NULL) {
        launch_on_pieces();
        printf("%016llx %lu\n", (unsigned long long)sum, launches);
    }
    if (strchr(flags, 'm') != NULL) {
        launch_on_kinds();
        printf("%016llx %lu\n", (unsigned long long)sum, launches);
    }
    if (strchr(flags, 'b') != NULL)
        puts(check_birth(module_of_kernels()));
    if (strchr(flags, 'r') != NULL) { /* the context goes on */
        CHECK(cuDevicePrimaryCtxRetain(&context, 0));
        CHECK(cuDevicePrimaryCtxRelease(0));
    }
    run_threads(context, strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10),
                strchr(flags, 't') != NULL ? 16 : 1, by_library ? image : NULL);
    free(image);
    CHECK(cuDevicePrimaryCtxRelease(0));
    return 0;
}
