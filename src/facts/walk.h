/* What the files that follow a kernel share: statements.c and loops.c go through it,
 * expressions.c finds what each expression is, places.c what is where, variables.c keeps it,
 * calls.c follows functions, branches.c says which of two ways counts, work.c counts instructions.
 */
#ifndef RS_FACTS_WALK_H
#define RS_FACTS_WALK_H

#include "base/list.h"
#include "facts/accesses.h"

enum {
    RS_WALK_DEPTH = 8,
    RS_WALK_BOUNDS = 4,
    RS_WALK_LIMIT = 1 << 20,
    RS_WHOLE_VARIABLE = -2,
    RS_SOMEWHERE = -1
};

typedef enum {
    RS_FACT_OTHER,  /* nothing is known */
    RS_FACT_NUMBER, /* `form`; of a structure or an array, what all of its numbers are */
    RS_FACT_LOCAL,  /* an array, a structure or a vector of the thread, or a pointer into it: of
                       `local` at `offset` */
    RS_FACT_ELEMENT /* memory of an argument, or a pointer to it: element `form`, at `offset` */
} rs_fact_kind;

typedef struct {
    rs_fact_kind kind;
    rs_fact_form form;
    size_t parameter;
    const void *local;      /* a variable's declaration, or the list that made a nameless one */
    long long offset, span; /* bytes of the element; span: that an inner index may reach, 0: none */
    bool is_memory;         /* the place itself; else a pointer to it */
    bool is_inner;          /* a pointer into an array of the element */
    bool is_copy;           /* a variable that holds what was there */
    bool is_inner_lane;
    unsigned long long inner_loops; /* on whose rounds it depends which bytes of the element */
} rs_fact_value;

typedef struct {
    const void *variable; /* NULL: the object of a method */
    long long offset;     /* RS_WHOLE_VARIABLE; or the number at an offset of a RS_FACT_LOCAL, or
                             RS_SOMEWHERE in it */
    rs_fact_value value;
} rs_fact_binding;

typedef struct {
    rs_fact_accesses *facts;
    rs_syntax *tree;
    rs_fact_binding *bindings;
    size_t binding_count;
    const rs_syntax_declaration *calls[RS_WALK_DEPTH];
    int depth;
    const rs_syntax_declaration *bounds[RS_WALK_BOUNDS]; /* which the numbers of all threads are
                                                            compared with */
    int bound_count;
    int loop;       /* the innermost one, or -1 */
    int conditions; /* around, that leave some threads out */
    double share;   /* of the threads that come here */
    rs_fact_value returned;
    bool has_returned;
    bool failed; /* for lack of memory */
    size_t work; /* done so far; behind RS_WALK_LIMIT nothing is followed */
} rs_fact_walk;

rs_fact_value rs_fact_number(rs_fact_form form);
rs_fact_value rs_fact_other(void);

void rs_fact_bind(rs_fact_walk *walk, const void *variable, rs_fact_value value);
const rs_fact_value *rs_fact_find(const rs_fact_walk *walk, const void *variable);

/* What a place of a RS_FACT_LOCAL holds; RS_FACT_OTHER where that was never seen. */
rs_fact_value rs_fact_read_local(const rs_fact_walk *walk, const rs_fact_value *place);
void rs_fact_write_local(rs_fact_walk *walk, const rs_fact_value *place, rs_fact_value value);

/* One more in a list (base/list.h), which is zeroed; NULL without memory. */
#define RS_FACT_ADD(walk, list, count)                                                             \
    (RS_LIST_GROW(list, count) ? memset(&(list)[(count)++], 0, sizeof *(list))                     \
                               : ((walk)->failed = true, (void *)NULL))

void rs_fact_statement(rs_fact_walk *walk, const rs_syntax_node *node);

/* A loop; `condition` and `step` may be NULL. */
void rs_fact_go_loop(rs_fact_walk *walk, const rs_syntax_node *condition,
                     const rs_syntax_node *step, const rs_syntax_node *body);

/* What an expression is; what it reads and writes is recorded on the way. */
rs_fact_value rs_fact_expression(rs_fact_walk *walk, const rs_syntax_node *node);
rs_fact_value rs_fact_call(rs_fact_walk *walk, const rs_syntax_node *node);
rs_fact_form rs_fact_form_of(const rs_fact_value *value); /* data, where it is no number */

/* A variable that holds a number as its place; all else as above. */
rs_fact_value rs_fact_place(rs_fact_walk *walk, const rs_syntax_node *node);

/* The same without recording anything. */
rs_fact_value rs_fact_peek(rs_fact_walk *walk, const rs_syntax_node *node);

/* places.c: what names, members and subscripts are, and {...}. */
rs_fact_value rs_fact_reference(rs_fact_walk *walk, const rs_syntax_node *node);
rs_fact_value rs_fact_member(rs_fact_walk *walk, const rs_syntax_node *node);
rs_fact_value rs_fact_swizzle(rs_fact_walk *walk, const rs_syntax_node *node);
rs_fact_value rs_fact_subscript(rs_fact_walk *walk, const rs_syntax_node *node);

/* The children from `first` on, as members of a structure, an array or a vector. */
rs_fact_value rs_fact_list(rs_fact_walk *walk, const rs_syntax_node *node, size_t first);

/* Behind a pointer by a number of things of a size. */
rs_fact_value rs_fact_step(rs_fact_walk *walk, rs_fact_value pointer, rs_fact_form by,
                           const rs_syntax_type *thing, rs_syntax_range range);

/* The value that a place has: an access, where it is memory of an argument. */
rs_fact_value rs_fact_load(rs_fact_walk *walk, rs_fact_value place, const rs_syntax_node *node);

/* An access to `size` bytes of what a value says; of nothing where that is no element. */
void rs_fact_touch(rs_fact_walk *walk, const rs_fact_value *value, long long size, bool reads,
                   bool writes, bool is_atomic, rs_syntax_range range);
void rs_fact_miss(rs_fact_walk *walk, const rs_fact_value *value, const char *what,
                  rs_syntax_range range);

/* branches.c: which part of the threads that come to a condition go on where it is true, or false;
 * a bound that the number of threads makes necessary (i < n) leaves none out. */
typedef struct {
    double when_true, when_false;
    bool is_uniform; /* all threads go one way */
    bool is_divided; /* some leave a way out that is no bound */
    bool is_data;    /* data say which */
} rs_fact_shares;

rs_fact_shares rs_fact_split(rs_fact_walk *walk, const rs_syntax_node *condition);

/* Whether an expression is a variable that the numbers of all threads were compared with. */
bool rs_fact_is_bound(const rs_fact_walk *walk, const rs_syntax_node *node);

/* What a value is behind a condition that parts the threads so: the way of most of them where only
 * few take the other one. */
rs_fact_value rs_fact_select(rs_fact_shares shares, const rs_fact_value *when_true,
                             const rs_fact_value *when_false);

/* launches.c: threads of a group, where all launches in the source have so many; else 0. */
double rs_fact_launched_group(const rs_syntax *tree, const rs_syntax_declaration *kernel);

/* work.c: counts the instructions that an expression takes, its parts and its accesses aside. */
void rs_fact_count_work(rs_fact_walk *walk, const rs_syntax_node *node);

#endif
