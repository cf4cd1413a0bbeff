/*
 * How the marshaling kernel is cut for one record, tile and device: granules, tiles a work-group,
 * work-items, vector width and padding of local memory. Arithmetic only; nothing here calls OpenCL.
 */
#ifndef RS_ENGINE_OPENCL_SHAPE_H
#define RS_ENGINE_OPENCL_SHAPE_H

#include "base/text.h"
#include "layout/record.h"

/* What the device allows. */
typedef struct {
    size_t local_bytes;
    size_t constant_bytes;
    size_t work_items;
    size_t simd_items; /* that run together (simd.h); for speed alone */
    bool is_cpu;
} rs_marshal_limits;

/* Choices that a measurement may force; 0 leaves one to the rule of rs_marshal_shape_choose(). */
typedef struct {
    size_t work_items;
    size_t tiles;        /* tiles a work-group */
    size_t vector_bytes; /* of a load or store: 1, 2, 4, 8 or 16 */
    size_t batch; /* loads of a work-item that are under way at once, 1 to RS_MARSHAL_MAX_BATCH */
    size_t row_padding; /* 1: none; 2: one word or granule; 0: the rule */
} rs_marshal_variant;

enum { RS_MARSHAL_MAX_BATCH = 16 };

typedef struct {
    size_t record_bytes;
    size_t tile;       /* records a tile, T */
    size_t work_items; /* of a work-group */
    size_t tiles;      /* a work-group */
    size_t granule;    /* bytes of the largest unit that divides every leaf, at most 16 */
    size_t width;      /* granules a record */
    size_t row;        /* granules a record takes in local memory */
    size_t components; /* granules a vector */
    size_t unit;       /* bytes of the largest unit that divides a record, a row and a vector */
    size_t batch;
    size_t local_bytes; /* of a work-group */
    bool mixed;         /* some leaf is larger than a granule */
    bool identity;      /* both layouts are the same bytes: nothing to do */
} rs_marshal_shape;

/*
 * RESTRIDE_DEVICE_LIMIT when a tile does not fit into local memory; RESTRIDE_INVALID_ARGUMENT for a
 * variant that this record and device cannot have.
 */
restride_status rs_marshal_shape_choose(rs_marshal_shape *shape, const rs_record *record,
                                        size_t tile, const rs_marshal_limits *limits,
                                        const rs_marshal_variant *variant);

/* The macros and tables that src/engine/kernels/marshal.cl is built with. */
void rs_marshal_shape_write(rs_text *text, const rs_marshal_shape *shape, const rs_record *record);

#endif
