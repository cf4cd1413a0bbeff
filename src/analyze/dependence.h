/* Which loops carry a dependence through an array, decided with isl. */
#ifndef RS_ANALYZE_DEPENDENCE_H
#define RS_ANALYZE_DEPENDENCE_H

#include "analyze/model.h"

typedef enum { RS_CARRIED_NOTHING, RS_CARRIED_REDUCTION, RS_CARRIED_VALUE } rs_carried;

typedef struct {
    rs_carried kind;
    char *what;      /* the array or the scalar; NULL when nothing is carried */
    int first, last; /* lines of the two references; 0 for a scalar */
    bool certain;    /* false: a subscript is not known well enough to exclude it */
} rs_dependence;

/* One entry for each loop of the unit; the caller frees with rs_dependences_free(). */
restride_status rs_dependences_find(rs_unit *unit, rs_dependence **dependences);
/*
 * Whether no two iterations of `loop` touch the same element in conflict, whatever the iterations
 * of the other loops from `outer` inwards: `kind` is RS_CARRIED_NOTHING then. With `outer` the loop
 * itself, those around it are in the same iteration.
 */
restride_status rs_dependence_between(rs_unit *unit, int loop, int outer, rs_dependence *found);

void rs_dependences_free(rs_dependence *dependences, int count);

#endif
