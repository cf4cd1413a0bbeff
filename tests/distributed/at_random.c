/* See at_random.h. */
#include "at_random.h"
#include "cases.h"
#include "cmocka_all.h"
#include "threads.h"

#include "restride/distributed.h"
#include "restride/restride.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE_SCRATCH = 64 }; /* times as much as on the host: tables of a device are larger */

typedef struct {
    redistribution_case c;
    const test_machine *device;
    pthread_mutex_t lock;
    int refused;
    int failed;
    int beside; /* processes whose passes run beside messages */
    char sentence[512];
} shared_case;

static void note(shared_case *shared, int *counter, const char *sentence)
{
    pthread_mutex_lock(&shared->lock);
    (*counter)++;
    snprintf(shared->sentence, sizeof shared->sentence, "%s", sentence);
    pthread_mutex_unlock(&shared->lock);
}

static bool has_passes_beside(const restride_plan *plan)
{
    char *text = restride_plan_describe(plan);
    const bool has = text != NULL && strstr(text, "\"passes_beside\": []") == NULL;
    free(text);
    return has;
}

static void work(restride_group *group, void *context)
{
    shared_case *shared = context;
    const redistribution_case *c = &shared->c;
    const restride_plan_options options = {.scratch_bytes = c->scratch_bytes};
    restride_engine *engine = NULL;
    restride_plan *plan;
    /* The emulated device's kernels are compiled, and run as slowly as coroutines do. */
    restride_group_set_timeout(group, shared->device == NULL ? 60 : 300);
    if (shared->device != NULL && shared->device->enter != NULL)
        shared->device->enter();
    if (shared->device == NULL && restride_engine_create_host(&engine, 1) != RESTRIDE_OK)
        abort();
    restride_status status =
        restride_plan_redistribute(&plan, group, engine != NULL ? engine : shared->device->engine,
                                   c->dims, c->layouts[0], c->layouts[1], c->elem_size, &options);
    if (status == RESTRIDE_UNSUPPORTED)
        note(shared, &shared->refused, restride_last_error());
    else if (status != RESTRIDE_OK)
        note(shared, &shared->failed, restride_last_error());
    if (status == RESTRIDE_OK && c->scratch_bytes != 0 &&
        restride_plan_scratch_bytes(plan) > c->scratch_bytes)
        note(shared, &shared->failed, "more scratch memory than was granted");
    if (status == RESTRIDE_OK && has_passes_beside(plan))
        note(shared, &shared->beside, "");
    if (status == RESTRIDE_OK) {
        const char *wrong = run_case(c, (size_t)restride_group_rank(group), plan, shared->device);
        if (wrong != NULL)
            note(shared, &shared->failed, wrong);
    }
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

size_t redistribute_at_random(const test_machine *device, uint64_t seed, size_t count)
{
    size_t refused = 0;
    size_t refused_freely = 0;
    size_t beside = 0;
    for (size_t i = 0; i < count; i++) {
        shared_case shared = {.device = device, .lock = PTHREAD_MUTEX_INITIALIZER};
        make_case(&shared.c, seed + i);
        shared.c.scratch_bytes *= device == NULL ? 1 : DEVICE_SCRATCH;
        run_processes(shared.c.processes, work, &shared);
        const redistribution_case *c = &shared.c;
        if (shared.failed != 0 || (shared.refused != 0 && shared.refused != c->processes))
            fail_msg("seed %zu: %d processes, \"%s\" from \"%s\" to \"%s\", elements of %zu, "
                     "scratch %zu: %s",
                     (size_t)seed + i, c->processes, c->dims, c->layouts[0], c->layouts[1],
                     c->elem_size, c->scratch_bytes, shared.sentence);
        beside += shared.beside != 0;
        refused += shared.refused != 0;
        refused_freely += shared.refused != 0 && c->scratch_bytes == 0;
        if (shared.refused != 0 && c->scratch_bytes == 0)
            printf("refused, seed %zu: \"%s\" from \"%s\" to \"%s\": %s\n", (size_t)seed + i,
                   c->dims, c->layouts[0], c->layouts[1], shared.sentence);
        free_case(&shared.c);
    }
    printf("%zu cases, %zu with passes beside messages; refused: %zu for want of scratch memory, "
           "%zu others\n",
           count, beside, refused - refused_freely, refused_freely);
    assert_true(refused * 2 < count);
    return beside;
}
