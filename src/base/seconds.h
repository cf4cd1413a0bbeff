/* Times in seconds, and how several measurements of one are put together. */
#ifndef RS_BASE_SECONDS_H
#define RS_BASE_SECONDS_H

#include <stddef.h>

/* By a clock that nobody sets. */
double rs_seconds_now(void);

/* For qsort(): the least first. */
int rs_seconds_compare(const void *a, const void *b);

/* The median of at least one; sorts them. */
double rs_seconds_median(double *seconds, size_t count);

#endif
