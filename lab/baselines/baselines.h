/*
 * The papers' own ways to move elements, on an OpenCL device, for comparison with plans
 * (baselines.cl). Elements are words of 4 bytes.
 */
#ifndef RS_LAB_BASELINES_BASELINES_H
#define RS_LAB_BASELINES_BASELINES_H

#include "restride/engine.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    RS_BASELINE_BARRIER_010,  /* BS */
    RS_BASELINE_CLAIMS_010,   /* PTTWAC */
    RS_BASELINE_CYCLES_010,   /* P-IPT */
    RS_BASELINE_GROUP_100,    /* PTTWAC with a work-item a word */
    RS_BASELINE_LOCAL_100,    /* a SIMD unit a super-element, in local memory */
    RS_BASELINE_REGISTER_100, /* the same in registers, where words fill SIMD units */
    RS_BASELINE_CYCLES_100,
    RS_BASELINE_OUT_OF_PLACE
} rs_baseline_kind;

typedef struct {
    rs_baseline_kind kind;
    size_t count; /* of matrices one after the other; 1 for all but 010! */
    size_t rows;
    size_t cols;
    size_t words;     /* of an element; 1 for all but 100! */
    size_t items;     /* work-items of a group; 0: chosen */
    size_t spreading; /* of flags, 1 to 32; 0: 1 */
    bool padding;
    bool remapping;
} rs_baseline_case;

/* Bytes of the array of a case. */
size_t rs_baseline_bytes(const rs_baseline_case *c);

/* Kernels, and memory for arrays of up to `bytes` bytes. The engine must be rs_opencl_open()'s,
 * whose queue has profiling. */
typedef struct rs_baselines rs_baselines;
restride_status rs_baselines_open(rs_baselines **baselines, restride_engine *engine, size_t bytes);
void rs_baselines_close(rs_baselines *baselines);

/*
 * Runs a case once on `before` and reads the result, then `repeat` times more for the median by the
 * device's clock. `after` has room for the array. RESTRIDE_DEVICE_LIMIT when the case does not fit
 * the device.
 */
restride_status rs_baselines_run(rs_baselines *baselines, const rs_baseline_case *c, size_t repeat,
                                 const void *before, void *after, double *seconds);

/* One step of padding in place: `rows` rows moved at once. */
typedef struct {
    size_t rows;
    double seconds;
} rs_padding_step;

/*
 * Pads rows x cols words to rows x padded_cols in place, as many rows at once as there is room for
 * (equation 4.1), and the rest one after the other as the last step. Writes at most `most` steps;
 * *count says how many there were. `data` goes in and comes out; it has room for the padded matrix.
 */
restride_status rs_baselines_pad(rs_baselines *baselines, size_t rows, size_t cols,
                                 size_t padded_cols, void *data, rs_padding_step *steps,
                                 size_t most, size_t *count);

#endif
