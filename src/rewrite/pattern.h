/*
 * How a kernel uses each array of structures, helpers included: which bytes of a record, and how
 * the records that neighbouring work-items use lie to each other. It is what a choice of layout is
 * made from.
 */
#ifndef RS_REWRITE_PATTERN_H
#define RS_REWRITE_PATTERN_H

#include "facts/accesses.h"
#include "rewrite/model.h"

typedef enum {
    RS_PATTERN_UNIT,    /* neighbours use neighbouring records: tiles make it one stream a member */
    RS_PATTERN_UNIFORM, /* all use one record */
    RS_PATTERN_STRIDED, /* records at some fixed distance */
    RS_PATTERN_OTHER,   /* records that the data choose, or parts of one record */
    RS_PATTERN_COUNT
} rs_pattern;

typedef struct {
    size_t accesses[RS_PATTERN_COUNT]; /* each once a call */
    size_t bytes_used, members_used;   /* of a record, padding not counted */
    bool is_read, is_written;
    char *members; /* for each member 'r', 'w', 'b' for both, or '-'; rs_usage_free() */
} rs_usage;

const char *rs_pattern_name(rs_pattern pattern);

/* The pattern of most accesses; the least regular one among equals. */
rs_pattern rs_usage_pattern(const rs_usage *usage);

/* Of a kernel's argument that is transformed, by what is known of the kernel. */
restride_status rs_usage_find(const rs_model *model, const rs_fact_accesses *facts, int argument,
                              rs_usage *usage);
void rs_usage_free(rs_usage *usage);

#endif
