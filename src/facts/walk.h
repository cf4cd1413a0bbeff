/* What the files that follow a kernel share: statements.c goes through it, expressions.c finds what
 * each expression is, calls.c follows functions. */
#ifndef RS_FACTS_WALK_H
#define RS_FACTS_WALK_H

#include "facts/accesses.h"

enum { RS_WALK_DEPTH = 8 };

typedef enum {
    RS_FACT_OTHER,  /* nothing is known */
    RS_FACT_NUMBER, /* `form` */
    RS_FACT_ELEMENT /* memory of an argument, or a pointer to it: element `form`, at `offset` */
} rs_fact_kind;

typedef struct {
    rs_fact_kind kind;
    rs_fact_form form;
    size_t parameter;
    long long offset, span; /* bytes of the element; span: that an inner index may reach, 0: none */
    bool is_memory;         /* the place itself; else a pointer to it */
    bool is_inner;          /* a pointer into an array of the element */
    bool is_copy;           /* a variable that holds what was there */
    bool is_inner_lane;
} rs_fact_value;

typedef struct {
    const rs_syntax_declaration *variable; /* NULL: the object of a method */
    rs_fact_value value;
} rs_fact_binding;

typedef struct {
    rs_fact_accesses *facts;
    rs_syntax *tree;
    rs_fact_binding *bindings;
    size_t binding_count, binding_capacity;
    const rs_syntax_declaration *calls[RS_WALK_DEPTH];
    int depth;
    int loop;       /* the innermost one, or -1 */
    int conditions; /* around, that leave some threads out */
    rs_fact_value returned;
    bool has_returned;
    bool failed; /* for lack of memory */
} rs_fact_walk;

rs_fact_value rs_fact_number(rs_fact_form form);
rs_fact_value rs_fact_other(void);

void rs_fact_bind(rs_fact_walk *walk, const rs_syntax_declaration *variable, rs_fact_value value);
const rs_fact_value *rs_fact_find(const rs_fact_walk *walk, const rs_syntax_declaration *variable);

/* One more in a list of malloc's, which is zeroed; NULL without memory. */
void *rs_fact_add(rs_fact_walk *walk, void **list, size_t *count, size_t *capacity, size_t size);

void rs_fact_statement(rs_fact_walk *walk, const rs_syntax_node *node);

/* What an expression is; what it reads and writes is recorded on the way. */
rs_fact_value rs_fact_expression(rs_fact_walk *walk, const rs_syntax_node *node);
rs_fact_value rs_fact_call(rs_fact_walk *walk, const rs_syntax_node *node);

/* An access to `size` bytes of what a value says; of nothing where that is no element. */
void rs_fact_touch(rs_fact_walk *walk, const rs_fact_value *value, long long size, bool reads,
                   bool writes, bool is_atomic, rs_syntax_range range);
void rs_fact_miss(rs_fact_walk *walk, const rs_fact_value *value, const char *what,
                  rs_syntax_range range);

/* Whether a condition is a bound that the number of threads makes necessary: i < n. */
bool rs_fact_is_guard(rs_fact_walk *walk, const rs_syntax_node *condition);

#endif
