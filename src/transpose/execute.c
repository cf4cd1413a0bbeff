/* Runs a plan, stage after stage, and tells whoever watches how far it is. */
#include "base/arithmetic.h"
#include "restride/plan.h"
#include "transpose/plan.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { TELL_NANOSECONDS = 200000000, SECOND_NANOSECONDS = 1000000000, SENTENCE_BYTES = 1024 };

/* A thread that reports how far a run is, until it is stopped. */
typedef struct {
    const restride_run_options *options;
    rs_progress progress;
    size_t total;
    size_t told;
    pthread_t thread;
    bool running;
    bool ended;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} watch;

static void tell(watch *w, size_t done)
{
    if (done > w->total)
        done = w->total;
    if (done > w->told)
        w->told = done;
    w->options->progress(w->options->context, w->told, w->total);
}

static void *keep_telling(void *argument)
{
    watch *w = argument;
    struct timespec until;
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TELL_NANOSECONDS;
        until.tv_sec += until.tv_nsec / SECOND_NANOSECONDS;
        until.tv_nsec %= SECOND_NANOSECONDS;
        while (!w->ended && pthread_cond_timedwait(&w->changed, &w->lock, &until) == 0)
            continue;
        if (!w->ended)
            tell(w, atomic_load_explicit(&w->progress.done_bytes, memory_order_relaxed));
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool watched(const watch *w)
{
    return w->options != NULL && w->options->progress != NULL;
}

/* Without the thread the run goes on, and only its end is reported. */
static void watch_begin(watch *w, const restride_plan *plan, const restride_run_options *options)
{
    *w = (watch){.options = options};
    if (!watched(w))
        return;
    if (!rs_size_multiply(plan->bytes, plan->stage_count, &w->total))
        w->total = SIZE_MAX;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    w->running = pthread_create(&w->thread, NULL, keep_telling, w) == 0;
}

static void watch_end(watch *w, bool succeeded)
{
    if (!watched(w))
        return;
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (w->running)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    if (succeeded)
        tell(w, w->total);
}

static void keep_sentence(char sentence[SENTENCE_BYTES])
{
    snprintf(sentence, SENTENCE_BYTES, "%s", restride_last_error());
}

static restride_status fail_stage(const restride_plan *plan, size_t stage, restride_status status)
{
    char reason[SENTENCE_BYTES];
    keep_sentence(reason);
    return rs_fail(status, "Stage %zu of %zu failed between \"%s\" and \"%s\": %s", stage + 1,
                   plan->stage_count, plan->from, plan->to, reason);
}

static restride_status finish(const restride_plan *plan, rs_under_way *under_way)
{
    const rs_engine_operations *operations = plan->engine->operations;
    void *last = under_way->last;
    under_way->last = NULL;
    return operations->finish == NULL ? RESTRIDE_OK : operations->finish(plan->engine, last);
}

/* With a progress callback, each stage is waited for. */
static restride_status run_stage(const restride_plan *plan, size_t i, void *buffer, void *scratch,
                                 watch *w, rs_under_way *under_way)
{
    rs_progress *progress = watched(w) ? &w->progress : NULL;
    restride_status status =
        plan->engine->operations->run(plan->stages[i], buffer, scratch, progress, under_way);
    if (status == RESTRIDE_OK) {
        under_way->has_begun = true;
        status = watched(w) ? finish(plan, under_way) : RESTRIDE_OK;
    }
    if (status != RESTRIDE_OK)
        return i == 0 ? status : fail_stage(plan, i, status);
    /* Stages count as they go only roughly; between them the sum is known. */
    atomic_store(&w->progress.done_bytes, (i + 1) * plan->bytes);
    return RESTRIDE_OK;
}

/* Nothing is under way on its return, after an error too, whose sentence stays. */
static restride_status run_stages(const restride_plan *plan, void *buffer, void *scratch, watch *w,
                                  rs_under_way *under_way)
{
    for (size_t i = 0; i < plan->stage_count; i++) {
        restride_status status = run_stage(plan, i, buffer, scratch, w, under_way);
        if (status != RESTRIDE_OK) {
            char sentence[SENTENCE_BYTES];
            keep_sentence(sentence);
            finish(plan, under_way);
            return rs_fail(status, "%s", sentence);
        }
    }
    return finish(plan, under_way);
}

restride_status rs_plan_run(const restride_plan *plan, void *buffer,
                            const restride_run_options *options, bool *has_begun)
{
    if (plan->kind != NULL)
        return plan->kind->run(plan, buffer, has_begun);
    rs_under_way under_way = {.has_begun = false};
    const rs_engine_operations *operations = plan->engine->operations;
    restride_status status =
        operations->check_buffer(plan->engine, buffer, plan->bytes, RS_BUFFER_CHANGED);
    void *scratch = NULL;
    size_t scratch_bytes = 0;
    if (status == RESTRIDE_OK)
        scratch_bytes = rs_plan_shared_scratch(plan);
    if (scratch_bytes != 0)
        status = operations->acquire_scratch(plan->engine, scratch_bytes, &scratch);
    if (status == RESTRIDE_OK) {
        watch w;
        watch_begin(&w, plan, options);
        status = run_stages(plan, buffer, scratch, &w, &under_way);
        watch_end(&w, status == RESTRIDE_OK);
    }
    if (scratch != NULL)
        operations->release_scratch(plan->engine, scratch_bytes, scratch);
    *has_begun = under_way.has_begun;
    return status;
}

restride_status restride_execute_with(restride_plan *plan, void *buffer,
                                      const restride_run_options *options)
{
    if (plan == NULL || (buffer == NULL && plan->kind == NULL))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "restride_execute needs a plan and a buffer.");
    bool has_begun;
    restride_status status = rs_plan_run(plan, buffer, options, &has_begun);
    return status == RESTRIDE_OK ? status : rs_fail_leaving(status, "buffer", has_begun);
}

restride_status restride_execute(restride_plan *plan, void *buffer)
{
    return restride_execute_with(plan, buffer, NULL);
}
