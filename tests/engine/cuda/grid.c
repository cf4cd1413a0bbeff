/* A grid of threads that are coroutines: barriers, gates and the end. */
#include "grid.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK_BYTES = 16 << 10 };

/* As the kernels know it (emulated.h). */
typedef struct {
    unsigned thread, block, blocks;
    unsigned threads, block_2;
    void *shared;
    void (*wait)(unsigned members);
    void (*yield)(void);
} emulated_thread;

typedef struct {
    emulated_thread seen;
    ucontext_t context; /* it starts there */
    jmp_buf left;       /* and goes on here */
    bool has_started;
    unsigned group;  /* the first block of those that it waits with */
    unsigned waited; /* barriers so far, to find threads that missed one */
    bool waiting;
    bool ended;
} coroutine;

/* They and their stacks stay for the next blocks. */
static coroutine **made;
static size_t made_count;

static coroutine *running;
static ucontext_t scheduler;
static emulated_kernel *running_kernel;
static uint64_t arguments_now[EMULATED_ARGUMENTS];

/* To the running thread, and back. swapcontext() asks the kernel for the mask of signals each time;
 * but AddressSanitizer knows no stacks that longjmp() goes to. */
#ifdef __SANITIZE_ADDRESS__

static void resume(void)
{
    swapcontext(&scheduler, &running->context);
}

static void leave(void)
{
    swapcontext(&running->context, &scheduler);
}

#else

static jmp_buf scheduler_left;

static void resume(void)
{
    if (setjmp(scheduler_left) != 0)
        return;
    if (running->has_started)
        longjmp(running->left, 1);
    running->has_started = true;
    setcontext(&running->context);
}

static void leave(void)
{
    if (setjmp(running->left) == 0)
        longjmp(scheduler_left, 1);
}

#endif

static void wait_here(unsigned members)
{
    running->waiting = true;
    running->group = members == 0 ? running->seen.block : running->seen.block / members * members;
    running->waited = members == 0 ? 1 : members;
    leave();
}

static void yield_here(void)
{
    leave();
}

static void enter(void)
{
    for (const uint64_t *a = arguments_now;; leave()) {
        running_kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                       a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22],
                       a[23]);
        running->ended = true;
    }
}

static void make_coroutines(size_t count)
{
    if (count <= made_count)
        return;
    made = realloc(made, count * sizeof(coroutine *));
    for (; made_count < count; made_count++) {
        coroutine *c = made[made_count] = calloc(1, sizeof *c);
        getcontext(&c->context);
        c->context.uc_stack.ss_sp = malloc(STACK_BYTES);
        c->context.uc_stack.ss_size = STACK_BYTES;
        makecontext(&c->context, enter, 0);
    }
}

/* A group goes on when all its threads wait for the same barrier. */
static bool release(unsigned first_block, unsigned blocks, unsigned threads_each)
{
    bool released = false;
    for (unsigned block = 0; block < blocks; block++) {
        coroutine *const *first = &made[block * threads_each];
        unsigned group = first_block + block;
        if (first[0]->ended || !first[0]->waiting || first[0]->group != group)
            continue;
        unsigned members = first[0]->waited;
        bool complete = block + members <= blocks;
        for (unsigned i = 0; complete && i < members * threads_each; i++)
            complete = first[i]->waiting && first[i]->group == group && first[i]->waited == members;
        for (unsigned i = 0; complete && i < members * threads_each; i++)
            first[i]->waiting = false;
        released = released || complete;
    }
    return released;
}

static void run_threads(const void **seen, unsigned first, unsigned blocks, unsigned threads_each)
{
    size_t count = (size_t)blocks * threads_each;
    for (;;) {
        size_t ended = 0;
        bool moved = false;
        for (size_t i = 0; i < count; i++) {
            running = made[i];
            ended += running->ended;
            if (running->ended || running->waiting)
                continue;
            moved = true;
            *seen = &running->seen;
            resume();
        }
        if (ended == count)
            return;
        if (!release(first, blocks, threads_each) && !moved) {
            fprintf(stderr, "emulated device: some threads wait at a barrier for ever\n");
            abort();
        }
    }
}

/* Runs the blocks from `first` on that are resident together. */
static void run_blocks(const void **seen, unsigned first, unsigned count, unsigned all,
                       unsigned second, unsigned threads_each, unsigned shared)
{
    size_t total = (size_t)count * threads_each;
    make_coroutines(total);
    void **areas = malloc(count * sizeof *areas);
    for (unsigned block = 0; block < count; block++)
        areas[block] = aligned_alloc(16, shared / 16 * 16 + 32);
    for (size_t i = 0; i < total; i++) {
        coroutine *c = made[i];
        unsigned block = (unsigned)(i / threads_each);
        c->seen = (emulated_thread){(unsigned)(i % threads_each),
                                    first + block,
                                    all,
                                    threads_each,
                                    second,
                                    areas[block],
                                    wait_here,
                                    yield_here};
        c->ended = c->waiting = false;
    }
    run_threads(seen, first, count, threads_each);
    for (unsigned block = 0; block < count; block++)
        free(areas[block]);
    free(areas);
}

/* The blocks of an ordinary launch need not run together, so here they never do. */
void emulated_run(emulated_kernel *code, const void **seen, const emulated_grid *grid,
                  void *const *arguments)
{
    memset(arguments_now, 0, sizeof arguments_now);
    for (int i = 0; i < EMULATED_ARGUMENTS && arguments[i] != NULL; i++)
        memcpy(&arguments_now[i], arguments[i], sizeof arguments_now[i]);
    running_kernel = code;
    unsigned step = grid->together ? grid->blocks : 1;
    for (unsigned second = 0; second < grid->second_blocks; second++)
        for (unsigned first = 0; first < grid->blocks; first += step)
            run_blocks(seen, first, step, grid->blocks, second, grid->threads, grid->shared);
}
