/* Where a failure gets its sentence. The public half is restride/status.h. */
#ifndef RS_BASE_STATUS_H
#define RS_BASE_STATUS_H

#include "restride/status.h"

#include <stdbool.h>

#define RS_PRINTF(string, first) __attribute__((format(printf, string, first)))

/* Stores the sentence for the calling thread and returns `status`, so that `return rs_fail(...)`
 * reads well. */
restride_status rs_fail(restride_status status, const char *format, ...) RS_PRINTF(2, 3);

/* Adds to the calling thread's sentence what a failed call has left of `what`, a "buffer". It is
 * unchanged; or undefined, when a command that may write to it was begun. Every call that changes
 * something in place ends with this when it fails. Returns `status`. */
restride_status rs_fail_leaving(restride_status status, const char *what, bool has_begun);

/* The common sentence for a failed allocation of `what`. */
restride_status rs_fail_memory(const char *what);

#endif
