/*
 * Which components of a vector are named: v.x, v.hi, v.s013 and v.wzyx.lo (OpenCL C 3.0, 6.3.7).
 */
#ifndef RS_ANALYZE_COMPONENTS_H
#define RS_ANALYZE_COMPONENTS_H

#include "source/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RS_COMPONENT_LIMIT = 16 };

/* Components in the order in which they are named, as those of the whole vector are counted. */
typedef struct {
    int count;
    int numbers[RS_COMPONENT_LIMIT];
    int64_t size; /* bytes of one */
    bool guessed; /* the name says nothing here, so these are all */
} rs_components;

/* The number of a single component, x, y, z, w, r, g, b, a or s0 to sf; -1 for several. */
int rs_component_number(const char *name);

/* What stands behind the last point or arrow of a member access, whose base is at `base`. */
void rs_components_name(const rs_tree *tree, int node, int base, char *name, size_t room);

/* Those that the member access at `node` names of the vector at its bottom; false when it is none
 * of a vector's. */
bool rs_components_read(const rs_tree *tree, int node, rs_components *named);

#endif
