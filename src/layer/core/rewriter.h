/* The rewriter, a process of its own, and what is kept of its answers. */
#ifndef RS_LAYER_REWRITER_H
#define RS_LAYER_REWRITER_H

#include "base/status.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

typedef struct {
    const char *path; /* of the program restride-rewrite; NULL: nothing can be rewritten */
    void (*notes_waiting)(void *data); /* called when a thread begins to wait; may be NULL */
    void *data;
    pthread_mutex_t mutex;
    struct rs_rewriter_request *requests; /* threads that wait for an answer */
    bool is_abandoned;
    int late_answers; /* that never came */
} rs_rewriter;

void rs_rewriter_init(rs_rewriter *rewriter, const char *path);

/* Asks the rewriter, a process of its own: see rewrite/rewrite.h for request and reply. One that
 * has not answered after 10 seconds is ended, and after two such none is asked any more. */
restride_status rs_rewriter_start(rs_rewriter *rewriter, const json_t *request, json_t **reply);

/* Whether a thread waits for an answer that no earlier run has stored. */
bool rs_rewriter_is_awaited(rs_rewriter *rewriter);

/* Waits for none that is being asked, which goes on and keeps its answer, and asks no other. */
void rs_rewriter_abandon(rs_rewriter *rewriter);

/* The same, from what it answered to an earlier run if that is still true. With RESTRIDE_CACHE_ONLY
 * set, only from there. `is_beside`: the program goes on meanwhile, so the rewriter is no child of
 * it, which a wait() of the program would find. */
restride_status rs_rewriter_ask(rs_rewriter *rewriter, const json_t *request, bool is_beside,
                                json_t **reply);

#endif
