/* What the two copies of this library share: see audit.c. */
#ifndef RS_LOADER_REPLACED_H
#define RS_LOADER_REPLACED_H

#include <limits.h>

/* The path of the loader that stands aside for this library; empty where there is none. */
extern char rs_loader_replaced[PATH_MAX] __attribute__((visibility("hidden")));

#endif
