/*
 * Inside the walk of propagate.h: propagate.c has functions and statements,
 * propagate_expressions.c expressions, propagate_calls.c calls, propagate_declarations.c what else
 * decides. flow.h says what the walk carries.
 */
#ifndef RS_ANALYZE_PROPAGATE_WALK_H
#define RS_ANALYZE_PROPAGATE_WALK_H

#include "analyze/flow.h"

enum { RS_GRID_CALL_DEPTH = 12, RS_GRID_STEP_LIMIT = 2000000 };

/* What leaves a loop or a switch before its end. */
typedef struct {
    rs_flow breaks, continues;
} rs_grid_exits;

typedef struct {
    rs_flow_context context;
    const rs_translation_unit *program;
    const rs_tree *tree;
    rs_propagation *found;
    rs_flow flow;
    rs_grid_exits *innermost; /* of loops and switches; NULL outside of them */
    rs_flow returns;
    rs_extended_type returned;
    int calls[RS_GRID_CALL_DEPTH]; /* the functions that are walked */
    int depth;
    int *functions; /* nodes of functions and templates of such */
    int function_count;
    bool *followed; /* by node: a name of a function, and the call by it is followed */
    bool *walked;   /* by node: a function */
    long steps;
    int too_many; /* the node at which there were more than are taken, or 0 */
} rs_grid_walk;

/* ---- propagate.c ---- */

void rs_grid_walk_statement(rs_grid_walk *w, int node);

/* Counts a step; false when there were too many, which ends the walk. */
bool rs_grid_step(rs_grid_walk *w, int node);

/* All that is known of variables is lost, now and later. */
void rs_grid_keep_known(rs_grid_walk *w, int node, const char *what);

/* The body of a function (-1 for none, and of what is no function), and the node of the function
 * that a name stands for, if the source has its body; -1 for none. */
int rs_grid_body(const rs_tree *tree, int function);
int rs_grid_function(const rs_grid_walk *w, const rs_syntax_declaration *named);

/* ---- propagate_declarations.c ---- */

/* Bytes of an element of each grid. */
void rs_grid_find_sizes(const rs_grid_walk *w);

/* Whether a function shares its name, so that types of arguments decide which one is called. */
bool rs_grid_is_overloaded(const rs_grid_walk *w, const rs_syntax_declaration *function);

/* When all functions are walked: declarations, and then what first extents were learned. */
void rs_grid_judge_declarations(rs_grid_walk *w);
void rs_grid_judge_extents(rs_grid_walk *w);

/* ---- propagate_places.c ---- */

/* Variables by the place of their declaration, and the grid that is declared there; -1 for none. */
uint64_t rs_grid_key(const rs_syntax_declaration *cursor);
int rs_grid_of_key(const rs_grid_walk *w, uint64_t key);

/* Whether the walk knows at each place what a variable holds. */
bool rs_grid_is_followed(const rs_syntax_declaration *declared);

/* Whether a variable, which is declared as no grid, has the type of one by typeof. */
bool rs_grid_is_alike(const rs_grid_walk *w, const rs_syntax_declaration *declared);

/* Whether a variable of a type, which is no grid, can hand a value on. */
bool rs_grid_fits(const rs_grid_walk *w, const rs_syntax_type *type, rs_extended_type value);

rs_extended_type rs_grid_read(rs_grid_walk *w, uint64_t key, const rs_syntax_type *pointer,
                              int node);

/* The variable that an expression is, if it is one that is followed. */
bool rs_grid_locate(rs_grid_walk *w, int node, uint64_t *key);

/* p = q of table 6.1; the first without its conditions, the last for any left side, with what it
 * holds then. */
void rs_grid_set(rs_grid_walk *w, uint64_t key, rs_extended_type type, int node);
void rs_grid_assign(rs_grid_walk *w, uint64_t key, rs_extended_type type, int node);
void rs_grid_initialize(rs_grid_walk *w, const rs_syntax_declaration *declared,
                        rs_extended_type type, int node);
rs_extended_type rs_grid_store(rs_grid_walk *w, int target, rs_extended_type type, int node);

/* A value goes where it is not followed: see rs_type_lose(). */
void rs_grid_keep(rs_grid_walk *w, rs_extended_type type, int node, const char *what);

/* The same for all variables that are named in a construct that is not followed. */
void rs_grid_lose_all(rs_grid_walk *w, int node, const char *what);

/* A variable, perhaps of an extent, is changed. */
void rs_grid_notice_change(rs_grid_walk *w, int target, int node);

/* ---- propagate_expressions.c ---- */

rs_extended_type rs_grid_evaluate(rs_grid_walk *w, int node);

/* A chain of subscripts from its outermost node. */
rs_extended_type rs_grid_subscript(rs_grid_walk *w, int node);

int rs_grid_kind(const rs_grid_walk *w, int node);

/* As rs_node_is_pointer(), and arrays of variable length, which C knows. */
bool rs_grid_is_pointer(const rs_tree *tree, int node);

/* ---- propagate_calls.c ---- */

/* The sizes of copies are looked at when all first extents are known. */
void rs_grid_record(rs_grid_walk *w, rs_grid_copy copy);

rs_extended_type rs_grid_call(rs_grid_walk *w, int node);

#endif
