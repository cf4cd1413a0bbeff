/*
 * Which references of an innermost loop can be made short vectors together, and how the data has to
 * be changed for it (Jang 2011, algorithms 1 and 2).
 */
#ifndef RS_ANALYZE_VECTOR_H
#define RS_ANALYZE_VECTOR_H

#include "analyze/access.h"
#include "analyze/dependence.h"

typedef enum {
    RS_RULE_NONE = 0,
    RS_RULE_SWITCH = 1, /* a dimension changes places with the last one */
    RS_RULE_SHIFT = 2,
    RS_RULE_REVERSE = 4,
    RS_RULE_GATHER = 8,    /* of a stride */
    RS_RULE_SKEW = 16,     /* of an overlap */
    RS_RULE_DUPLICATE = 32 /* a copy for each of several rules of one array, or for an overlap */
} rs_rule_kind;

/* m' = T M i + (T o + t): for one access of the group. Entries are printed expressions. */
typedef struct {
    int access;
    unsigned kinds;
    int row; /* of M that is made the last */
    int size;
    char *matrix[RS_SUBSCRIPT_LIMIT][RS_SUBSCRIPT_LIMIT];
    char *shift[RS_SUBSCRIPT_LIMIT];
} rs_rule;

typedef enum {
    RS_VECTOR_AS_IS,
    RS_VECTOR_TRANSFORMED, /* all of them, after the rules were applied */
    RS_VECTOR_PARTLY,
    RS_VECTOR_CARRIED, /* never: a dependence between iterations */
    RS_VECTOR_RANDOM,  /* never: a random subscript */
    RS_VECTOR_OTHER    /* never: the loop is left early, or hands an array to unknown code */
} rs_vector_verdict;

typedef struct {
    int loop;   /* the innermost loop; -1 for the body of a kernel without loops */
    int symbol; /* of the target row: what counts through a vector; -1 for none */
    rs_vector_verdict verdict;
    int instances; /* different accesses; Q_V = 100 * rule_count / instances */
    rs_rule *rules;
    int rule_count;
    int *left_out; /* accesses that are not in the group */
    int left_out_count;
    char *reason; /* why not, or NULL */
} rs_vector_group;

/* One group for each innermost loop of the unit. */
restride_status rs_vector_groups_find(const rs_accesses *accesses, const rs_dependence *dependences,
                                      rs_vector_group **groups, int *count);
void rs_vector_groups_free(rs_vector_group *groups, int count);

/* The row of an access that the symbol moves; -1 for none, or when it cannot be transformed. */
int rs_access_row(const rs_access *access, const rs_unit *unit, int symbol);

/* The rule that makes rule->row of one access a run along `symbol`; false when memory is short. */
bool rs_rule_make(rs_rule *rule, const rs_access *access, const rs_unit *unit, int symbol);
void rs_rule_free(rs_rule *rule);

const char *rs_vector_verdict_text(rs_vector_verdict verdict);
void rs_rule_print(rs_text *text, unsigned kinds);

#endif
