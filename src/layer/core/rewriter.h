/* The rewriter, a process of its own, and what is kept of its answers. */
#ifndef RS_LAYER_REWRITER_H
#define RS_LAYER_REWRITER_H

#include "base/status.h"

#include <jansson.h>

/* Asks the rewriter, a process of its own: see rewrite/rewrite.h for request and reply. One that
 * has not answered after 10 seconds is ended, and after two such none is asked any more. */
restride_status rs_rewriter_start(const char *rewriter, const json_t *request, json_t **reply);

/* Lets go of all that are being asked, and asks no other. */
void rs_rewriter_abandon(void);

/* The same, from what it answered to an earlier run if that is still true. With RESTRIDE_CACHE_ONLY
 * set, only from there. */
restride_status rs_rewriter_ask(const char *rewriter, const json_t *request, json_t **reply);

#endif
