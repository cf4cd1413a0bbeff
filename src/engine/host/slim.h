/*
 * Between a dense array of structures of a few equal members and as many arrays: the inner loop of
 * 010! on blocks too narrow for square tiles. A portable version, and faster ones that are chosen
 * at run time.
 */
#ifndef RS_ENGINE_HOST_SLIM_H
#define RS_ENGINE_HOST_SLIM_H

#include <stddef.h>

typedef struct {
    size_t unit;  /* bytes of a member */
    size_t count; /* members of a structure; 0: none of the loops below */
    size_t least; /* structures that a call must have at least */
    const char *name;
    /* `length` structures, one after the other, and arrays `stride` bytes apart. The two must not
     * overlap. */
    void (*apart)(const unsigned char *structures, unsigned char *arrays, size_t stride,
                  size_t length);
    void (*together)(const unsigned char *arrays, size_t stride, unsigned char *structures,
                     size_t length);
} rs_host_slim;

/* The fastest loops on this processor; count 0 when there are none. Thread-safe. */
rs_host_slim rs_host_slim_choose(size_t unit, size_t count);

#endif
