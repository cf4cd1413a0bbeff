/*
 * How large a launch of a rewritten kernel may be: what it proves of its indexes counts on that.
 * The OpenCL layer launches larger ones with the program's own kernels.
 */
#ifndef RS_REWRITE_LAUNCH_LIMITS_H
#define RS_REWRITE_LAUNCH_LIMITS_H

/* In each dimension, the global offset included. */
#define RS_MOST_WORK_ITEMS (1LL << 36)
#define RS_MOST_IN_A_GROUP (1LL << 16)

#endif
