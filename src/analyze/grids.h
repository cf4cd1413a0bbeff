/*
 * Grids: arrays that a source declares with C99's variable-length syntax, which tells their
 * dimension vectors (Sung 2013, section 6.2):
 *
 *     float A[ny][nx][4]          a parameter
 *     float (*A)[nx][4]           a pointer; its first extent is not told
 *     (float (*)[nx][4])          a cast
 *
 * or, for flat pointers that hold rows, in a comment before the declaration:
 *
 *     // restride: grid A[ny][nx][4]
 *     float *A                    and A[(y * nx + x) * 4 + f]
 *
 * C has this syntax; OpenCL C and CUDA C++ have not, or not wholly. So that libclang reads such a
 * source anyway, extents are replaced by literals of the same length before it is parsed.
 */
#ifndef RS_ANALYZE_GRIDS_H
#define RS_ANALYZE_GRIDS_H

#include "analyze/model.h"

typedef struct {
    size_t name, name_length; /* in the flat text; no length: a cast has no name */
    size_t first, last;       /* the bytes of all its brackets */
    bool parameter;           /* A[ny][nx], no pointer */
    bool flat;                /* told by a comment: one subscript in rows, no brackets */
    int rank;
    char *extents[RS_SUBSCRIPT_LIMIT]; /* as written, without blanks; NULL: not told */
} rs_grid;

typedef struct {
    rs_grid *grids;
    int count;
} rs_grids;

/* Declarations with at least one extent that is no number. `shown` is the text with its comments,
 * byte by byte. */
restride_status rs_grids_find(rs_grids *grids, const char *text, const char *shown, size_t size);

/* Replaces all extents but numbers; offsets stay as they are. */
void rs_grids_blank(const rs_grids *grids, char *text);

/* The grid whose name is declared at an offset; -1 for none. */
int rs_grids_at(const rs_grids *grids, size_t offset);

/* How many subscripts an access has. */
int rs_grid_subscripts(const rs_grid *grid);

/* Makes what was blanked unknown in the model again. */
void rs_grids_forget_extents(const rs_grids *grids, rs_model_set *set);

void rs_grids_free(rs_grids *grids);

#endif
