/*
 * The walk through a kernel or function: every statement once, every variable with what is known of
 * its value (a polynomial in the iteration symbols, or an address in an array). Called functions
 * are walked in place.
 *
 * environment.c keeps the variables; expressions.c, arithmetic.c, assignments.c (evaluate.h),
 * places.c, loads.c and stores.c evaluate, arrays.c has what they touch; calls.c enters functions,
 * builtins.c knows those of the languages, lambdas.c function objects and objects.c what else
 * classes do; loops.c makes iteration symbols, bounds.c says where they end, statements.c does the
 * rest.
 */
#ifndef RS_ANALYZE_WALK_H
#define RS_ANALYZE_WALK_H

#include "analyze/common.h"
#include "analyze/declared.h"
#include "analyze/escapes.h"
#include "analyze/mod_ref.h"
#include "analyze/model.h"
#include "analyze/translation_unit.h"

enum { RS_CALL_DEPTH = 10, RS_MEMBER_ROOM = 64, RS_REDUCTION_LIMIT = 64 };

typedef enum {
    RS_VALUE_UNKNOWN,
    RS_VALUE_NUMBER,
    RS_VALUE_ADDRESS, /* in an array */
    RS_VALUE_POINTER, /* to a variable; key 0: to some variable that escapes */
    RS_VALUE_RECORD   /* a copy of what is at an address, or of a variable */
} rs_value_kind;

typedef struct {
    rs_value_kind kind;
    rs_polynomial number;
    uint64_t key;   /* of the variable that a pointer points to or a record was copied from; or 0 */
    long stores;    /* as they were when a record was loaded */
    bool untouched; /* nothing was assigned to the variable that it was copied from */
    /* An address: of the element with these subscripts, or of a member of it. */
    int array, count;
    rs_polynomial subscripts[RS_SUBSCRIPT_LIMIT];
    int64_t strides[RS_SUBSCRIPT_LIMIT]; /* bytes that each of them moves by; 0: not known */
    char member[RS_MEMBER_ROOM];
    int64_t member_offset, width; /* of a vector of which components are named; else width 0 */
    unsigned components;          /* those of `width` bytes that are named, a bit each; 0: all */
    const rs_syntax_type *seen;   /* the pointer's type as it stands in the source */
    int path;     /* leading subscripts that say which pointer was loaded; the others start there */
    int pointers; /* that were loaded on the way */
    bool loose;   /* it was moved as a pointer to elements of a row, and may have left the row */
    /* Of what is unknown: */
    uint64_t depends;
    bool data;
    bool approximated;
    bool lost; /* an address that could not be followed: the array is only a name */
    /* A variable's value at the start of an iteration: */
    int carried_loop; /* -1: it is none */
    int carried_from; /* the value before the loop */
    bool guessed;     /* nothing says that the loop changes it, but some function may */
} rs_value;

/* Where an expression is stored. */
typedef enum { RS_PLACE_NONE, RS_PLACE_VARIABLE, RS_PLACE_MEMORY } rs_place_kind;

typedef struct {
    rs_place_kind kind;
    uint64_t key; /* of a variable */
    rs_value address;
    bool part; /* some bytes of the variable only: of a union, a vector or a bit-field's record */
} rs_location;

typedef struct {
    uint64_t key;
    int value; /* index into the values */
} rs_binding;

typedef struct {
    rs_binding *bindings;
    int count;
} rs_environment;

/* What variables are where a function or a switch is left before its end, all such places merged.
 */
typedef struct {
    rs_environment variables; /* no bindings: there was none yet */
    int loop;                 /* in which the function or the switch is */
} rs_exit;

/* The columns with which conditions vary that decide whether a place is reached. */
typedef struct {
    uint64_t around;                      /* of conditions that it is below */
    uint64_t broken, continued, returned; /* of jumps that may have passed over it, by their kind */
} rs_reach;

/* A member of a variable that is a record, or a component of one that is a vector. */
typedef struct {
    uint64_t key, whole;
    int64_t offset; /* bytes from where the whole begins */
    char *name;
} rs_variable_member;

typedef struct {
    char *name;
    int node;
    size_t offset;
    bool kernel;
} rs_routine;

/* A variable that a loop reduces, and by which operator; '+' is for '-' as well. */
typedef struct {
    uint64_t key;
    int loop;
    char operation;
} rs_reduction;

/* A function object that was made, and "this" there. */
typedef struct {
    int node;
    bool entered;
    bool followed; /* where it is called */
    int loop;      /* where it was made first */
    rs_value self;
    char self_name[RS_MEMBER_ROOM];
} rs_lambda;

/* What is shown of an expression. */
typedef struct {
    char text[61];
} rs_shown_text;

typedef struct {
    const rs_translation_unit *program;
    const rs_tree *tree;
    rs_model_set *set;
    rs_unit *unit;
    const rs_routine *routines;
    int routine_count;
    const rs_escaped_list *escaped;
    const rs_common_list *common;
    rs_mod_ref *effects;

    rs_environment variables;
    rs_environment initial; /* what parameters and the like were before anything was stored */
    rs_variable_member *members;
    int member_count;
    rs_value *values;
    int value_count;

    int loop, order, guards;
    rs_reach reach; /* of the place that is walked */
    long stores;    /* so far, of what may be an index */
    rs_reduction reductions[RS_REDUCTION_LIMIT];
    int reduction_count;
    int calls[RS_CALL_DEPTH], depth;
    int scanned[RS_CALL_DEPTH], scanned_count; /* functions that are looked through for changes */
    int returned;                              /* the value of the function that is walked, or -1 */
    bool gives_place;                          /* what it returns is a reference */
    rs_exit *returning; /* from the called function that is walked; NULL in the first one */
    rs_exit *breaking;  /* from the innermost switch; NULL in a loop inside of it, or without one */
    rs_lambda *lambdas;
    int lambda_count;
    rs_value self; /* "this" of the method that is walked: a pointer or an address */
    char self_name[RS_MEMBER_ROOM];
    bool self_filled;    /* its pointers are no parameters */
    uint64_t chosen;     /* what decides between two values that are merged varies with these */
    uint64_t conditions; /* and so do all conditions so far in the function that is walked */
    long steps;
    bool exhausted, no_memory;
} rs_walk;

/* environment.c */
rs_value rs_value_unknown(uint64_t depends, bool data);
rs_value rs_value_number(rs_polynomial number);
rs_value rs_value_constant(int64_t number);
rs_value rs_value_pointer(uint64_t key);
int rs_walk_keep(rs_walk *walk, const rs_value *value);
void rs_walk_set(rs_walk *walk, uint64_t key, const rs_value *value);
int rs_walk_find(const rs_walk *walk, uint64_t key); /* -1: not there */

/*
 * The key of a member of a variable, the key of the variable that a member is one of (0: none),
 * and whether a key is another one's or a member's of it.
 */
uint64_t rs_walk_member(rs_walk *walk, uint64_t whole, const char *name, int64_t offset);
uint64_t rs_walk_whole(const rs_walk *walk, uint64_t key);
bool rs_walk_is_part(const rs_walk *walk, uint64_t key, uint64_t whole);

/* Keeps what a variable is before anything is stored in it, for where nothing is. */
void rs_walk_set_initial(rs_walk *walk, uint64_t key, const rs_value *value);
int rs_walk_find_initial(const rs_walk *walk, uint64_t key);
void rs_walk_drop_declared(rs_walk *walk, size_t begin, size_t end); /* between these bytes */
bool rs_environment_copy(rs_environment *copy, const rs_environment *from);
void rs_environment_free(rs_environment *environment);

/* Leaves in the walk's variables what holds whether `other` was reached or not; `condition` is what
 * the condition varies with that decides on it. */
void rs_walk_merge_by(rs_walk *walk, const rs_environment *other, uint64_t condition);

/* Adds what variables are here to an exit (NULL: nothing), and what they were there to those here.
 */
void rs_walk_leave(rs_walk *walk, rs_exit *exit);
void rs_walk_join(rs_walk *walk, rs_exit *exit, uint64_t condition);
void rs_walk_merge_key(rs_walk *walk, const rs_environment *other, uint64_t key);
rs_value rs_value_merge(rs_walk *walk, const rs_value *a, const rs_value *b, const char *name);

/* The value as a polynomial; what is not one becomes an auxiliary symbol called `name`. */
rs_polynomial rs_walk_number(rs_walk *walk, const rs_value *value, const char *name);
rs_value rs_walk_named(rs_walk *walk, const rs_value *value, int node); /* with the node's text */
rs_polynomial rs_walk_auxiliary(rs_walk *walk, const char *name, uint64_t depends, bool data,
                                bool unique);
uint64_t rs_value_depends(const rs_walk *walk, const rs_value *value);
bool rs_value_has_data(const rs_walk *walk, const rs_value *value);

/* Makes an unknown value vary with what another one varies with; one that varies as two others. */
void rs_value_mix(const rs_walk *walk, rs_value *value, const rs_value *part);
rs_value rs_value_like(const rs_walk *walk, const rs_value *a, const rs_value *b);

/* Makes a value one that iterations carry as they do another one; as none for NULL. */
void rs_value_carry(rs_value *value, const rs_value *as);

/* group * size + local is the global index. */
rs_polynomial rs_walk_fold(rs_walk *walk, const rs_polynomial *number);

/*
 * common.c: notes, in the first walk of a kernel, that it writes a variable, that something which
 * is not followed may write any, or that it loads from an array; whether that asks for a second.
 */
void rs_walk_note_written(rs_walk *walk, uint64_t key);
void rs_walk_note_stored(rs_walk *walk, uint64_t key, const rs_value *value); /* and what */
void rs_walk_note_all_written(rs_walk *walk, rs_stored stored);
void rs_walk_note_loaded(rs_walk *walk, int array);

/* Whether the pointer that lies at an address, and is loaded, may be another one in each iteration
 * of a loop around, or by what another work-item stores. */
bool rs_walk_pointer_changes(rs_walk *walk, const rs_value *address);
bool rs_walk_needs_another(rs_walk *walk);

/* Whether other work-items may write a variable or an array; what is then known of a value. */
bool rs_walk_is_clobbered(const rs_walk *walk, uint64_t key);
bool rs_walk_array_is_clobbered(const rs_walk *walk, int array);
rs_value rs_walk_clobbered_value(rs_walk *walk, uint64_t key, const rs_value *value);

/*
 * What a value varies with that is read from a memory which a group has in common, or from such a
 * variable. It is the same in all iterations of a loop in which this function stores nothing there
 * and no work-item meets others: that another one changes it meanwhile would be a data race.
 */
uint64_t rs_walk_varies_in_group(rs_walk *walk, uint64_t memory);
uint64_t rs_walk_clobbered_varies(rs_walk *walk, uint64_t key); /* of any clobbered variable */

/* The value of a variable where it is read; `known` is its place among the walk's. Of a pointer
 * that a group has in common it is the one that leads to the array which all of them lead to, of a
 * number the one that all of them read here. */
rs_value rs_walk_settled(rs_walk *walk, uint64_t key, int known);

/* The columns of the loops around the place that is walked which store to an array. */
uint64_t rs_walk_stored_around(const rs_walk *walk, int array);

/* views.c: addresses as pointers of several types see them */
int64_t
rs_type_pitch(const rs_syntax_type *type); /* bytes of what an address of this type points to; 0 */
void rs_value_decay(rs_value *address,
                    const rs_syntax_type *type); /* an array: the address of its first element */
void rs_value_follow(rs_value *address,
                     const rs_syntax_type *type); /* the pointer that is stored there */
rs_value rs_walk_view(rs_walk *walk, const rs_value *address, const rs_syntax_type *type);
rs_value rs_walk_renew(rs_walk *walk, const rs_value *address,
                       const rs_syntax_type *type); /* of other rows */
rs_value rs_walk_move(rs_walk *walk, const rs_value *address, const rs_polynomial *step);

/* expressions.c */
rs_value rs_walk_evaluate(rs_walk *walk, int node);

/* arithmetic.c */
rs_value rs_walk_operate(rs_walk *walk, char symbol, const rs_value *a, const rs_value *b);

/* The value of a node in an integer type: a number that may not fit is another symbol. */
rs_value rs_walk_narrow(rs_walk *walk, const rs_value *value, int node, const rs_syntax_type *type);

/* expressions.c: a node's text as one line, to be compared, which the caller frees; and cut, to be
 * shown. */
char *rs_walk_source(const rs_walk *walk, int node);
rs_shown_text rs_walk_text(const rs_walk *walk, int node);

/* arrays.c */
rs_value rs_walk_array(rs_walk *walk, const char *name, uint64_t key, const rs_syntax_type *type);

/* Of a function that nobody calls here: its references may be any elements, as its pointers. */
void rs_walk_bind_references(rs_walk *walk, int function);

/* A variable that was not met before: an array has its address. */
rs_value rs_walk_declare(rs_walk *walk, const rs_syntax_declaration *declared);

/* A number that is the same in all iterations: a symbol of its own. */
rs_value rs_walk_fixed(rs_walk *walk, const char *name, uint64_t key, const rs_syntax_type *type);

/* places.c */
bool rs_walk_is_pointer(const rs_walk *walk, int node);

/*
 * Places: a variable, none that is known, and an array of an expression's own that could not be
 * followed. At a place that is none stands a value; or, when that is a pointer, some variable.
 */
rs_location rs_place_variable(uint64_t key);
rs_location rs_place_none(rs_walk *walk);
rs_location rs_place_lost(rs_walk *walk, int base);

/* The value of a record with what is known of its members. */
rs_value rs_value_copy_of(const rs_walk *walk, const rs_value *value, uint64_t key);
rs_location rs_walk_locate(rs_walk *walk, int node);

/* loads.c */
rs_value rs_walk_load(rs_walk *walk, const rs_location *place, int node);
rs_value rs_walk_steady(rs_walk *walk, const rs_value *value, int node); /* if not volatile */

/* What a loaded value varies with: its address, the loops that store there, and its work-item where
 * each has an array, where nobody knows which it is, and where others may write it. */
uint64_t rs_walk_load_varies(rs_walk *walk, const rs_value *address);
rs_value rs_walk_load_variable(rs_walk *walk, const rs_location *place, int node,
                               const rs_syntax_type *type);
int rs_walk_assigned_whole(const rs_walk *walk, uint64_t key);

/* stores.c */
void rs_walk_store(rs_walk *walk, const rs_location *place, const rs_value *value, int node,
                   bool reads);
rs_value rs_walk_variable(rs_walk *walk, int node);

/*
 * Whether an expression is a name, a member of one, or what a pointer points to that is known to
 * point to a variable: to locate it touches nothing.
 */
bool rs_walk_names_variable(const rs_walk *walk, int node);

/* Sees to it that a variable whose address is taken has a value. */
void rs_walk_touch(rs_walk *walk, const rs_location *place, int node);

/* Makes a variable of a reference type another name of what an expression names. */
void rs_walk_bind_reference(rs_walk *walk, uint64_t key, int node);

/* Forgets the variables that a store through an unknown pointer, or an unknown function, may
 * change. */
void rs_walk_invalidate(rs_walk *walk, rs_stored stored, bool lasting_too, bool others_too);

/* Whether a variable is declared in one of the functions that are walked. */
bool rs_walk_has(const rs_walk *walk, uint64_t key);

/* The columns of all loops around the place that is walked. */
uint64_t rs_walk_columns(const rs_walk *walk);
bool rs_type_may_hold_index(
    const rs_syntax_type *type); /* neither a floating-point number nor a pointer */
rs_reference *rs_walk_refer(rs_walk *walk, const rs_value *address, int node,
                            const rs_syntax_type *type);

/* The value of a variable at the start of an iteration is read, surely or perhaps. */
void rs_walk_read_carried(rs_walk *walk, int value, const char *name, bool reduction);
void rs_walk_read_perhaps(rs_walk *walk, int value, const char *name);

/* Notes that a variable, its members with it, may be read where nobody sees it: by a function that
 * is handed its address. */
void rs_walk_read_unseen(rs_walk *walk, uint64_t key, const char *name);

int rs_walk_line(const rs_walk *walk, int node);
const char *rs_walk_file(const rs_walk *walk, int node);

/* Whether the variable of a member has contents that are not followed: it is no parameter. */
bool rs_walk_was_filled(const rs_walk *walk, int node);

/* Whether an expression names components of a vector: v.x, v.s01. */
bool rs_walk_is_component(const rs_walk *walk, int node);

/* calls.c */
rs_value rs_walk_call(rs_walk *walk, int node);

/* plain.c: if something at or below a node is none of the constructs that are followed, `loop` and
 * those around it may carry anything. Other functions are not entered. */
void rs_walk_note_unsupported(rs_walk *walk, int node, int loop);
void rs_walk_mark_unsupported(rs_walk *walk, int node, int loop); /* the node itself is one */
bool rs_node_is_unsupported(const rs_tree *tree, int node);

/* meetings.c: whether what other work-items of the group stored may come to light at or below a
 * node, or in a function that is called there. */
bool rs_walk_meets(const rs_walk *walk, int node);

/* objects.c: what of a class is not followed. Each is noted with its line, and changes what a
 * function may change that nobody knows. */

/* Whether a call is of a virtual function, and nothing says of which class the object is. */
bool rs_walk_is_virtual(const rs_walk *walk, int node);
/* Notes a sentence about a node's line; `name` is for a "%s" in it. */
void rs_walk_note(rs_walk *walk, int node, const char *what, const char *name);
void rs_walk_note_unfollowed(rs_walk *walk, int node, const char *what);

/* Whether a constructor does nothing but to put its arguments into the object's members. */
bool rs_walk_is_plain_constructor(const rs_walk *walk, const rs_syntax_declaration *constructor);

/* What the constructors of bases and members do that the compiler calls where a class has none. */
typedef enum { RS_MAKING_NOTHING, RS_MAKING_MEMBERS, RS_MAKING_ANYTHING } rs_making;
rs_making rs_walk_making(const rs_walk *walk, const rs_syntax_declaration *record, bool copies);

/* What a constructor does: those that nobody wrote copy, or leave what there is, but for what the
 * bases and members have. */
rs_making rs_walk_making_of(const rs_walk *walk, const rs_syntax_declaration *constructor);

/* Whether an object of a type, or a part of it, has a destructor that somebody wrote. */
bool rs_type_has_destructor(const rs_syntax_type *type);

/*
 * lambdas.c: function objects. The node of one by a function that it is or that is an instance of
 * it (-1: none); to enter it gives the variables that it captured by copy their values, unless it
 * is not followed. Those that nobody entered are noted.
 */
rs_value rs_walk_make_lambda(rs_walk *walk, int node);
int rs_walk_lambda_of(const rs_walk *walk, int function);
bool rs_walk_enter_lambda(rs_walk *walk, int node);
void rs_walk_leave_lambda(rs_walk *walk, int node);
void rs_walk_note_lambdas(rs_walk *walk);
bool rs_lambda_captures_plainly(const rs_tree *tree, int lambda); /* its captures assign nothing */

/* The end of the scope of what a node declares: a statement, or a function with its parameters. */
void rs_walk_end_scope(rs_walk *walk, int node);

/* The end of a whole expression (-1: none), or of a declaration with one, and of the objects
 * without a name that it made. */
void rs_walk_end_expression(rs_walk *walk, int node);

/* The node of the function called, if its source is there; -1 otherwise. */
int rs_walk_routine(const rs_walk *walk, int node);

/* Whether the function called can change nothing but what its arguments point to. */
bool rs_walk_is_harmless(const rs_walk *walk, int node);

/* Whether one that is not in the source does nothing but with its arguments; no barrier does. */
bool rs_walk_call_is_apart(const rs_walk *walk, int node);

/* Whether it reads at most what they point to, as printf does. */
bool rs_walk_only_reads(const rs_walk *walk, int node);

/* The object that a method is called for; -1: the one of the method that calls it, or none. */
int rs_walk_object(const rs_walk *walk, int node);

/* What a reference to an expression is: a pointer to a variable, or an address. */
rs_value rs_walk_refer_to(rs_walk *walk, int node);

/* Whether a call gives a place: of a function of the source that returns a reference. */
bool rs_walk_gives_place(const rs_walk *walk, int node);

/* threads.c: indices of work-items and threads. */
bool rs_walk_thread_call(rs_walk *walk, const char *name, int node, rs_value *value);
bool rs_walk_thread_member(rs_walk *walk, const char *object, const char *member, rs_value *value);
bool rs_name_is_thread_call(const char *name);

/* The member of a copy of threadIdx and the like; `key` is that of the variable. */
bool rs_walk_thread_copy(rs_walk *walk, uint64_t key, const char *member, rs_value *value);

/* The extents that reqd_work_group_size gives the groups of a kernel, in the text before its body.
 */
void rs_unit_read_group(rs_unit *unit, const char *text, size_t size);

/*
 * In kernels the column of a work-item in its group: what nobody knows may be another number in
 * each of them. And together with the loops around: all that such a number may vary with.
 */
uint64_t rs_walk_lane(rs_walk *walk);
uint64_t rs_walk_anything(rs_walk *walk);

/* for_parts.c */
typedef struct {
    int begin, condition, step, body; /* nodes; -1 for none */
} rs_for_parts;

rs_for_parts rs_for_read(const rs_tree *tree, int node);

/* Whether a loop may store what it loads as a number: then each iteration loads another one. */
bool rs_loop_stores_numbers(const rs_tree *tree, int node);

/* Whether some of a body may be passed over, whether it may end the loop, and whether evaluating an
 * expression once more changes nothing. */
bool rs_loop_skips(const rs_tree *tree, int body);
bool rs_loop_leaves(const rs_tree *tree, int body);
bool rs_node_is_pure(const rs_tree *tree, int node);

/* bounds.c: an expression for its value alone, whose references are taken back. */
rs_value rs_walk_evaluate_quietly(rs_walk *walk, int node, bool *loads);

/*
 * What is at least 0 while a loop runs: from "v < e" and its kin. `value` is the variable in terms
 * of the loop's symbol, a number or an address.
 */
rs_polynomial rs_walk_bound(rs_walk *walk, int condition, uint64_t key, const rs_value *value);

/* loops.c */
void rs_walk_for(rs_walk *walk, int node);
void rs_walk_while(rs_walk *walk, int node, int condition, int body);
void rs_walk_do(rs_walk *walk, int node, int condition, int body);

/* statements.c: the first notes which conditions decide whether a reference is reached. */
void rs_walk_guard(const rs_walk *walk, rs_reference *reference);
void rs_walk_statement(rs_walk *walk, int node);

/* functions.c: all functions of a source. */
restride_status rs_walk_program(const rs_translation_unit *program, rs_model_set *set);

#endif
