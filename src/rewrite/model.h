/*
 * What the rewriter knows about a source: its functions, their pointer parameters, the structures
 * behind them, where each pointer comes from, and every access that it understood. functions.c
 * fills in functions and arguments, structure.c the structures, origins.c where pointers come from,
 * access.c, inside.c and blocks.c the accesses, calls.c what follows from calls; plan.c chooses
 * what has to be generated. From all of it render.c puts the new source together, with replaced
 * accesses (replace.c, places.c) and generated functions (generated.c).
 *
 * A pointer keeps the value that it has in AoS, whatever is computed with it. Only where something
 * is read or written through it, its distance from the start of the buffer is translated.
 */
#ifndef RS_REWRITE_MODEL_H
#define RS_REWRITE_MODEL_H

#include "layout/host_calls.h"
#include "layout/record.h"
#include "rewrite/annotations.h"
#include "source/flatten.h"
#include "source/tree.h"

enum { RS_TYPE_NAME_SIZE = 24, RS_WRITTEN_TYPE_SIZE = 128, RS_PIECE_LIMIT = 16 };

/* A scalar or vector member, by its path from the structure ("a.v[2]"). */
typedef struct {
    char *path;
    size_t offset, size;
    char type[RS_TYPE_NAME_SIZE]; /* its OpenCL C name; a vector of 3 counts as one of 4, so that
                                     all bytes move */
    bool vector3;
    bool is_union; /* which moves as a whole, as bytes */
} rs_member;

typedef struct {
    const rs_syntax_declaration *declaration; /* NULL for the records of a flat array */
    char *name; /* as generated code writes the type; NULL when it has none */
    rs_member *members;
    size_t member_count;
    rs_record record; /* the members and the padding */
    char *failure;    /* why its arrays cannot have another layout, or NULL */
    size_t failure_offset;
    size_t uniform; /* bytes: the size of all members when they are alike and without padding; else
                       0 */
} rs_structure;

/* A pointer parameter of a function, to global or constant memory. */
typedef struct {
    const rs_syntax_declaration *declaration;
    int function;
    unsigned index;
    size_t offset; /* of its name in the flat text */
    char *name;
    char *type;
    const char *address_space; /* "__global" or "__constant"; "" for one that covers the others */
    int structure;             /* the array's elements, or -1 */
    char *reason;              /* why it stays as it is, or NULL */
    size_t reason_offset;      /* in the flat text */
    bool moved;                /* something is assigned to it */
    bool based;                /* some access needs the start of the buffer by its own name */
    bool stepped;              /* pointers to members are followed, from one to the next */
    /* of a kernel's argument */
    char *layout; /* the wanted layout expression */
    size_t tile;
    int count_argument; /* the index of the added kernel argument, or -1 */
    const char *extent; /* the source's name for the number of records when it keeps the array in
                           SoA; else NULL */
} rs_pointer_parameter;

/* Where a pointer may come from: none, one or several arguments, or places that are not followed.
 */
typedef struct {
    int argument; /* the first one, or -1 */
    bool several;
    bool unknown;
} rs_origin;

/* A pointer in a parameter or local variable. */
typedef struct {
    const rs_syntax_declaration *declaration;
    size_t offset; /* of its name in the flat text */
    int function;
    rs_origin origin;
} rs_variable;

typedef struct {
    const rs_syntax_declaration *declaration;
    int node;       /* of its definition */
    int first_node; /* of its first declaration, when that stands outside of all others; or -1 */
    int body;       /* its node */
    bool kernel;
    bool called; /* with pointers that are followed */
    char *name;
    int first_argument, argument_count; /* in the model's arguments */
    int parameter_count;                /* in the user's source */
    rs_origin returned;                 /* of a pointer that it returns, by its own arguments */
    int first_instance, last_instance;  /* of its own in the new source, or -1 */
} rs_function;

typedef enum {
    RS_ACCESS_LEAF,
    RS_ACCESS_LOAD,
    RS_ACCESS_STORE,
    RS_ACCESS_BLOCK,
    RS_ACCESS_CALL
} rs_access_kind;

/* What a function of OpenCL does with several elements. */
typedef enum {
    RS_BLOCK_NONE,
    RS_BLOCK_LOAD,  /* vloadN */
    RS_BLOCK_STORE, /* vstoreN */
    RS_BLOCK_FETCH, /* a work-group copies them into local memory */
    RS_BLOCK_PUT    /* or from there */
} rs_block_kind;

typedef struct {
    rs_block_kind kind;
    int lanes;    /* of the vector; 0 for a copy */
    bool strided; /* a copy that steps over elements */
} rs_block;

/* One understood use of an argument: bytes [begin, end) of the flat text are replaced. */
typedef struct {
    rs_access_kind kind;
    size_t begin, end;
    int function;              /* in which it lies */
    int argument;              /* whose buffer it is; of a call, any that it passes */
    int pointer;               /* the node whose value points into the buffer */
    int pointee;               /* the structure that it points to; -1 when flat */
    const char *space;         /* the address space that its type has */
    bool is_parameter;         /* that node is the argument's own name */
    bool flat;                 /* the pointer counts members, not structures */
    bool address;              /* of a leaf: its address is meant */
    int index[RS_PIECE_LIMIT]; /* nodes whose sum is added to the pointer */
    bool negative[RS_PIECE_LIMIT];
    int index_count;
    int subscript[RS_PIECE_LIMIT]; /* nodes that index arrays inside the structure */
    size_t stride[RS_PIECE_LIMIT]; /* bytes */
    int subscript_count;
    size_t offset; /* bytes from the start of the structure, without the subscripts */
    size_t size;
    size_t touched_offset; /* of all bytes of a record that it may touch, and their number where it
                              is more than `size` */
    size_t touched_size;
    bool written, updated; /* written, and read too */
    size_t union_size;     /* of the union that the access lies in; 0: in none */
    size_t union_offset;   /* bytes from the start of that union, without the subscripts */
    int union_subscript;   /* the first subscript inside it */
    char type[RS_WRITTEN_TYPE_SIZE]; /* of a leaf */
    int structure;                   /* of a load or store */
    int value;                       /* the node that is stored */
    bool value_used;                 /* of a store that is more than a statement */
    int callee;                      /* of a call: the function */
    rs_block block;
    int call;         /* of a block: the node of the call, */
    int operand;      /* of what it gets as pointer, */
    int vector_index; /* and of the vector's number behind it; -1 for none */
    bool is_const, is_volatile;
} rs_member_access;

/* A pointer that is passed to a function of the source. */
typedef struct {
    int caller_argument, callee_argument;
    int call; /* the node */
} rs_passed_pointer;

/* One offset function: for all arguments with the same structure and layout. */
typedef struct {
    int structure;
    char *layout;
    size_t tile;
    const char *extent; /* of its arguments */
    bool full;          /* all tiles are full, and nothing lies behind them */
    bool flat;          /* also by the number of a member */
    bool bytes;         /* also by the distance from the start, in bytes of AoS */
    size_t position;    /* where in the flat text it is defined */
} rs_accessor;

/* One function that copies a whole structure out of or into an array. */
typedef struct {
    rs_access_kind kind;
    int accessor;
    int structure;
    const char *address_space;
    bool bytes; /* the place is given as a distance in bytes */
    bool is_const, is_volatile;
    rs_block block;                  /* of a function of OpenCL's place, */
    bool flat;                       /* that gets the numbers of record and member, */
    bool soa;                        /* or of member and record and the number of records, */
    char type[RS_WRITTEN_TYPE_SIZE]; /* and the type of its elements */
    size_t size;                     /* bytes */
    size_t position;
} rs_copier;

/* One form of a function in the new source: a kernel, its copy for arrays whose tiles are all full,
 * or a copy of a helper for certain layouts. */
typedef struct {
    int function;
    int *accessors; /* for each of its arguments, or -1 */
    int next;       /* the next instance of this function, or -1 */
} rs_instance;

typedef struct {
    const rs_tree *tree;
    const rs_flat *flat;
    const rs_annotations *annotations;
    int address_bits;
    bool soa;          /* arrays in SoA may be transformed */
    bool full;         /* kernels may get a copy for arrays whose tiles are all full */
    bool lacks_static; /* OpenCL C before 1.2 has no functions that are static */
    rs_structure *structures;
    int structure_count;
    rs_pointer_parameter *arguments;
    int argument_count;
    rs_function *functions; /* that are defined, in the order of the source */
    int function_count;
    int *by_declaration;      /* the numbers of the functions, by their declarations */
    size_t *declaration_ends; /* the bytes behind what may end a declaration outside of functions */
    size_t declaration_end_count;
    rs_variable *variables; /* in the order of the source */
    int variable_count;
    rs_member_access
        *accesses; /* after rs_model_understand(): by their first byte, outer before inner */
    int access_count;
    rs_passed_pointer *bindings;
    int binding_count;
    rs_accessor *accessors;
    int accessor_count;
    rs_copier *copiers;
    int copier_count;
    rs_instance *instances; /* the kernels first, in their order, then their copies */
    int instance_count;
} rs_model;

/* Finds the functions, and those of their parameters that point to global or constant memory. */
restride_status rs_model_find_functions(rs_model *model);

/* Lets functions and the starts of declarations be found without going through the source. */
restride_status rs_model_index_declarations(rs_model *model);

/* The kernel that an argument belongs to, or NULL when it is a helper's. */
const rs_function *rs_argument_kernel(const rs_model *model, const rs_pointer_parameter *argument);

/* The function of a declaration; -1 when it is not defined in the source. */
int rs_model_function(const rs_model *model, const rs_syntax_declaration *declaration);

/* The number of a variable, by its declaration or an expression that is one, brackets aside; -1
 * when it is something else. */
int rs_model_variable_of(const rs_model *model, const rs_syntax_declaration *declaration);
int rs_model_variable(const rs_model *model, int node);

/* The number of the first variable whose name stands at `begin` or behind it. */
int rs_model_first_variable(const rs_model *model, size_t begin);

/* What a pointer or array points to, when that lies in global or constant memory, or may lie there.
 */
bool rs_pointer_target(const rs_syntax_type *type, const rs_syntax_type **target,
                       const char **address_space);

/* Whether pointers into one address space may be used as pointers into another. */
bool rs_space_covers(const char *outer, const char *inner);

/*
 * The structure of a record type, described on first sight; -1, with a status, when memory is
 * short. Whether its arrays can be transformed is told by `failure`.
 */
restride_status rs_model_structure(rs_model *model, const rs_syntax_type *type, int *structure);

/* Where a field lies in a record, in bits, and the union without a name around it, if any; false
 * when the record does not have it. */
typedef struct {
    long long bits;
    long long union_bits; /* of the outermost such union, or -1 */
    size_t union_size;
} rs_field_place;
bool rs_field_find(const rs_syntax_type *record, const rs_syntax_declaration *field,
                   rs_field_place *place);

/*
 * Why a structure nested in another, at `offset` from its start, cannot be read and written by its
 * own members, or NULL: padding must lie in both as in one.
 */
const char *rs_structure_misfit(const rs_structure *inner, const rs_structure *outer,
                                size_t offset);

/* The structure of a flat array: records of `length` members of one type. */
restride_status rs_model_flat_structure(rs_model *model, const rs_syntax_type *type, size_t length,
                                        int *structure);

/* The OpenCL C name of a scalar or vector type, without qualifiers; false for any other type. */
bool rs_leaf_type_name(const rs_syntax_type *type, char name[RS_TYPE_NAME_SIZE], bool *vector3);

/* Follows assignments and returns until it is known where each pointer variable comes from. */
restride_status rs_model_find_origins(rs_model *model);

/* Where the value of a pointer expression comes from. */
rs_origin rs_pointer_origin(const rs_model *model, int node);

/* Finds every use of the pointers; one that is not understood becomes the reason for the argument
 * that it comes from. */
restride_status rs_model_understand(rs_model *model);

/* Carries the reasons of helper functions over to the arguments that are passed to them. */
restride_status rs_model_settle_calls(rs_model *model);

/* Whether a function asks for its own name, which would be another in a copy. */
bool rs_function_names_itself(const rs_model *model, const rs_function *function);

/* Notes why an argument stays as it is; the first reason is kept. */
restride_status rs_argument_refuse(rs_pointer_parameter *argument, size_t offset,
                                   const char *format, ...) RS_PRINTF(3, 4);

/* The number of the first access that starts at `begin` or behind it, once they are sorted. */
int rs_model_first_access(const rs_model *model, size_t begin);

/* The number of the first access of a function, and the one behind its last. */
void rs_model_accesses_of(const rs_model *model, int function, int *first, int *end);

/* Chooses offset functions, copies of helpers and added parameters for the arguments without a
 * reason to stay. */
restride_status rs_model_plan(rs_model *model);

/* The instance of a helper that a call inside `caller` goes to; -1 for the function itself. */
int rs_model_called_instance(const rs_model *model, const rs_instance *caller,
                             const rs_member_access *call);

/* The name of a kernel's copy for arrays whose tiles are all full. */
#define RS_FULL_KERNEL "restride_full_%s"

/* The instance of a kernel for arrays whose tiles are all full; -1 when it has none. */
int rs_model_full_instance(const rs_model *model, int kernel);

/* The caller's argument that a call passes as an argument of the called function; -1 for none. */
int rs_model_passed_argument(const rs_model *model, const rs_member_access *call,
                             int callee_argument);

/* The accessor of an argument inside an instance of its function, or -1. */
int rs_instance_accessor(const rs_model *model, const rs_instance *instance, int argument);

/* Whether an access goes through a pointer to something else than the elements of the array whose
 * accessor this is: a nested structure. */
bool rs_access_in_bytes(const rs_model *model, int accessor, const rs_member_access *access);

/* The copying function of a load or store inside an instance. */
int rs_model_copier(const rs_model *model, const rs_instance *instance,
                    const rs_member_access *access);

/* The first byte of the declaration around a name, its attributes included. */
size_t rs_declaration_start(const rs_model *model, size_t name);

/* The new source, preprocessed and transformed; the caller frees it. */
restride_status rs_model_render(const rs_model *model, char **source);

void rs_model_free(rs_model *model);

#endif
