/* How many work-items a kernel of a nest is launched with, for who runs it and for who predicts. */
#ifndef RS_APPLY_LAUNCH_H
#define RS_APPLY_LAUNCH_H

#include "apply/values.h"

typedef struct {
    size_t global[3], local[3]; /* whole groups */
} rs_launch;

/*
 * A work-item for each iteration of the nest's threads, as its description has them ("items"), up
 * to some millions; with `width` above 1 one for each vector. The group is that of the description
 * where `changed`, if it has one.
 */
rs_launch rs_launch_of(const rs_values *values, const json_t *nest, bool changed, int width);

/* The same for numbers of work-items. */
rs_launch rs_launch_items(const size_t items[3]);

#endif
