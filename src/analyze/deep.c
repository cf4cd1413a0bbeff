/* See deep.h. */
#include "analyze/deep.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

/* A level of the deepest tree that is accepted takes some tens of KiB. */
enum { STACK_SIZE = 512 << 20, MOST_SENTENCE = 512 };

typedef struct {
    restride_status (*work)(void *context);
    void *context;
    restride_status status;
    char sentence[MOST_SENTENCE]; /* sentences are kept by thread */
} task;

static void *run(void *argument)
{
    task *t = argument;
    t->status = t->work(t->context);
    if (t->status != RESTRIDE_OK)
        snprintf(t->sentence, sizeof t->sentence, "%s", restride_last_error());
    return NULL;
}

restride_status rs_run_deep(restride_status (*work)(void *context), void *context)
{
    task t = {.work = work, .context = context, .status = RESTRIDE_OK};
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return rs_fail_memory("the analysis");
    bool started = pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0 &&
                   pthread_create(&thread, &attributes, run, &t) == 0;
    pthread_attr_destroy(&attributes);
    if (!started)
        return rs_fail(RESTRIDE_OUT_OF_MEMORY,
                       "There is no room for a stack of %d MiB; the analysis needs it.",
                       STACK_SIZE >> 20);
    pthread_join(thread, NULL);
    return t.status == RESTRIDE_OK ? RESTRIDE_OK : rs_fail(t.status, "%s", t.sentence);
}
