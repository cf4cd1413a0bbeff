/*
 * Record lengths of flat arrays: `grid[e + 20 * cell]` is an array of records of 20 members, which
 * nothing in the source tells. They come from comments in the source, in the form of Sung's thesis
 * (section 5.5.1), with the record's length as second dimension, or in ours, which may add a
 * layout:
 *
 *     //DL: AoS: grid[n][20]
 *     // restride: grid[n][20]: i/32 f i%32
 *
 * An array that holds each member of all records together, `grid[e * n + cell]`, is told by
 *
 *     //DL: SoA: grid[20][n]
 *     // restride: grid[20][n]: f i -> i/32 f i%32
 *
 * where `n` is what the source itself calls the number of records, so that its indexes can be taken
 * apart.
 *
 * and from the request. The length is an expression in the source's own macros and enumerations.
 * The first dimension is only for the reader; the size of the buffer gives it. A wrong length costs
 * time, never a result: whatever the index, it is translated as a whole.
 */
#ifndef RS_REWRITE_ANNOTATIONS_H
#define RS_REWRITE_ANNOTATIONS_H

#include "base/text.h"
#include "source/tree.h"

#include <jansson.h>

typedef struct {
    char *name;       /* "ARGUMENT" or "KERNEL.ARGUMENT" */
    char *expression; /* the length as it was written */
    char *layout;     /* or NULL */
    char *place;      /* "FILE:LINE", or what else said it */
    size_t line;      /* of the comment; 0: from the request */
    size_t length;    /* once the source was parsed; 0: it could not be told */
    char *extent;     /* the number of records, when the array is SoA; else NULL */
} rs_annotation;

typedef struct {
    rs_annotation *items;
    int count;
} rs_annotations;

/* Reads the request's "records", those of its configuration (config/config.h) and the comments of
 * the source, from `file`; what comes first decides. Either object may be NULL. */
restride_status rs_annotations_read(rs_annotations *annotations, const json_t *records,
                                    const json_t *config, const char *source, const char *file);

/* Lines to parse behind the source, which give the lengths; nothing when there are none. */
void rs_annotations_write(const rs_annotations *annotations, const char *file, rs_text *out);

/* Whether a place of a parsed source is inside a length. An error there, as by a name that the
 * source does not have, leaves that length untold; it says nothing of the source. */
bool rs_annotations_forgive(const rs_tree *tree, size_t offset);

/* Takes the lengths and extents from the parsed lines. */
restride_status rs_annotations_evaluate(rs_annotations *annotations, const rs_tree *tree);

/* The annotation of a kernel's argument, or NULL. */
const rs_annotation *rs_annotations_find(const rs_annotations *annotations, const char *kernel,
                                         const char *argument);

void rs_annotations_free(rs_annotations *annotations);

#endif
