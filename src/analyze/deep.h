/* Work with room for the recursion of deep expressions, on a stack of its own. */
#ifndef RS_ANALYZE_DEEP_H
#define RS_ANALYZE_DEEP_H

#include "base/status.h"

/* A failure of the work comes back with its status and sentence. */
restride_status rs_run_deep(restride_status (*work)(void *context), void *context);

#endif
