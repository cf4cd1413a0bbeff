/*
 * Where each array should lie (Jang 2011, algorithm 3), how many memory transactions a warp needs,
 * and which layout would need fewer.
 */
#ifndef RS_ANALYZE_MEMORY_H
#define RS_ANALYZE_MEMORY_H

#include "analyze/access.h"

typedef struct {
    int warp;              /* threads that access memory together */
    int burst;             /* bytes of one transaction */
    int64_t constant_size; /* bytes of constant memory */
    int64_t group[3]; /* threads of a work-group, where the source says nothing; 0: not known */
} rs_device_model;

#define RS_DEVICE_USUAL ((rs_device_model){32, 32, 65536, {0, 0, 0}})

typedef enum {
    RS_MEMORY_GLOBAL,
    RS_MEMORY_CONSTANT,
    RS_MEMORY_TEXTURE,
    RS_MEMORY_SHARED
} rs_memory;

typedef struct {
    bool read_only, reused, chunkable, same_address, coalesced;
    int64_t bytes;       /* 0: not known */
    unsigned candidates; /* bits 1 << rs_memory */
    rs_memory memory;
} rs_placement;

const char *rs_memory_text(rs_memory memory);

rs_placement rs_array_place(const rs_accesses *accesses, int array, const rs_device_model *device);

/*
 * Transactions of one warp for one access; *exact is false when a stride is not a number. The warp
 * is the first of a work-group, which has several rows where they are shorter than a warp.
 */
int rs_access_transactions(const rs_accesses *accesses, const rs_access *access,
                           const rs_device_model *device, bool *exact);

/* Advice for one array: true with the texts when another layout needs fewer transactions. */
typedef struct {
    char layout[64]; /* as `restride rewrite --layout` takes it */
    char dims[64];   /* the dimensions that the expression is over */
    int64_t record;  /* members of a flat record, for --record; 0: a structure */
    int now, then;   /* transactions a warp over all accesses of the array */
} rs_layout_advice;

bool rs_array_advise(const rs_accesses *accesses, int array, const rs_device_model *device,
                     rs_layout_advice *advice);

#endif
