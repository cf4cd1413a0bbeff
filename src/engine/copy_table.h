/* What a copy on a device is cut into, what is known of it meanwhile (copy_cut.c), and the table
 * that is made of it, which engine/kernels/copies.cl reads. */
#ifndef RS_ENGINE_COPY_TABLE_H
#define RS_ENGINE_COPY_TABLE_H

#include "engine/copy_banks.h"
#include "engine/copy_box.h"

enum { RS_COPY_CLASS_NUMBERS = 8 };

typedef struct {
    size_t word;  /* bytes */
    bool direct;  /* both sides have the same runs: no local memory */
    bool scatter; /* the even side is the target */
    rs_copy_banks banks;
    size_t axes; /* that boxes are cut along */
    size_t boxes;
    size_t blocks[2], extents[2]; /* of the first two */
    size_t rows, run, pitch;      /* of the even side: rows, words of a run, from run to run */
    unsigned by;                  /* what rows and runs are multiplied by, two bits each */
    size_t classes;
    size_t box_words;
    size_t local_bytes;
    size_t rows_begin, classes_begin; /* in the table */
    size_t number_count;
    uint64_t *numbers; /* the table; the caller frees it */
} rs_copy_cut;

typedef enum { RS_COPY_CUT, RS_COPY_CUT_UNSUITED, RS_COPY_CUT_NO_MEMORY } rs_copy_cut_result;

typedef struct {
    rs_copy_cut *cut;
    size_t part_count;
    rs_copy_part *parts; /* of words */
    size_t axis_count;   /* that all parts have */
    size_t start;        /* of the records, on the even side; of a part alone 0 */
    size_t record;       /* bytes; 0 of a part that is alone */
    size_t blocks[RS_COPY_MOST_AXES];
    bool may_rest[RS_COPY_MOST_AXES]; /* the last block may be shorter */
    int partial[RS_COPY_MOST_AXES];
    size_t outer_count; /* axes that boxes are cut along, the fastest first */
    size_t outer[RS_COPY_MOST_AXES];
    rs_copy_runs even;
    rs_copy_runs *runs; /* of each part, on the uneven side */
    size_t *class_of;   /* each part: the first one of its class */
} rs_copy_cutter;

static inline size_t rs_copy_stride(const rs_copy_axis *axis, bool in_target)
{
    return in_target ? axis->to : axis->from;
}

static inline size_t rs_copy_even_stride(const rs_copy_cutter *c, size_t part, size_t axis)
{
    return rs_copy_stride(&c->parts[part].axes[axis], c->cut->scatter);
}

static inline size_t rs_copy_uneven_stride(const rs_copy_cutter *c, size_t part, size_t axis)
{
    return rs_copy_stride(&c->parts[part].axes[axis], !c->cut->scatter);
}

/* The rows of a class, but for a partial digit. */
size_t rs_copy_class_rows(const rs_copy_cutter *c, size_t number);

rs_copy_cut_result rs_copy_write_table(const rs_copy_cutter *c);

#endif
