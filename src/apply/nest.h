/*
 * A loop nest that is to be changed: its loops as the source writes them and as the analysis knows
 * them, which of them are independent, and which become threads.
 */
#ifndef RS_APPLY_NEST_H
#define RS_APPLY_NEST_H

#include "analyze/access.h"
#include "analyze/program.h"
#include "analyze/walk.h"

enum { RS_NEST_LIMIT = 8 };

typedef struct {
    int node; /* of the statement */
    rs_for_parts parts;
    int loop;            /* of the unit */
    char *variable;      /* declared in the statement */
    int begin;           /* the expression of its first value */
    rs_polynomial first; /* value of the loop's symbol */
    bool countable;      /* a signed variable, a constant step and a known bound */
    bool independent;    /* its iterations are, whatever the other loops do */
    bool reduction;      /* but for a sum that they gather */
    int dimension;       /* of the work-items that its iterations are spread over; -1 */
} rs_nest_loop;

typedef struct {
    const rs_translation_unit *program;
    const rs_accesses *accesses;
    rs_unit *unit;
    int function; /* nodes */
    int node;
    rs_nest_loop loops[RS_NEST_LIMIT];
    int count;
    int vector; /* the loop whose iterations make up a vector */
    bool tried[RS_NEST_LIMIT];
    int dimensions;
    bool for_spaces; /* arrays are to be placed, not made vectors */
    char *refusal;   /* why the nest is left alone; NULL */
    int refusal_line;
} rs_nest;

void rs_nest_free(rs_nest *nest);

/* Keeps the first reason; false always. `node` says the line. */
bool rs_nest_refuse(rs_nest *nest, int node, const char *format, ...) RS_PRINTF(3, 4);

/* The same for a byte of the flat text. */
bool rs_nest_refuse_at(rs_nest *nest, size_t offset, const char *format, ...) RS_PRINTF(3, 4);

/* The reference that a subscript, member or pointer expression is; -1. */
int rs_nest_reference(const rs_nest *nest, int node);

/* Whether a reference lies in the nest, or in one of its loops. */
bool rs_nest_has(const rs_nest *nest, int reference);
bool rs_nest_loop_has(const rs_nest *nest, const rs_nest_loop *loop, int reference);

/* The type of a loop's variable in kernels; and "v < end" and its kin. */
const char *rs_nest_loop_type(const rs_nest *nest, const rs_nest_loop *loop);

typedef struct {
    int end;    /* the expression that the variable is compared with; -1: it is no such condition */
    bool down;  /* the variable is above it */
    bool equal; /* or the same */
} rs_nest_condition;

rs_nest_condition rs_nest_condition_of(const rs_nest *nest, const rs_nest_loop *loop);

/* The bytes of an expression of the source. */
const char *rs_nest_text(const rs_nest *nest, int node, int *length);

bool rs_node_holds(const rs_tree *tree, int outer, int inner);
bool rs_node_is_memory(const rs_tree *tree, int node); /* p[i], p->f, *p */

/* Where the variable of an expression is declared; 0 for none. */
size_t rs_node_declaration(const rs_tree *tree, int node);

/* What an expression assigns: the node of its left side; -1 when it assigns nothing. */
int rs_node_assigned(const rs_tree *tree, int node);

#endif
