/*
 * What the rewriter knows about a source: its kernels, their arguments, the structures behind them,
 * and every access that it understood. kernels.c fills in kernels and arguments, structure.c the
 * structures, access.c the accesses; render.c writes the new source from all of it.
 */
#ifndef RS_REWRITE_MODEL_H
#define RS_REWRITE_MODEL_H

#include "layout/record.h"
#include "source/tree.h"

enum { RS_TYPE_NAME_SIZE = 24, RS_PIECE_LIMIT = 16 };

/* A scalar or vector member, by its path from the structure ("a.v[2]"). */
typedef struct {
    char *path;
    size_t offset, size;
    char type[RS_TYPE_NAME_SIZE]; /* its OpenCL C name; a vector of 3 counts as one of 4, so that
                                     all bytes move */
    bool vector3;
} rs_member;

typedef struct {
    CXCursor declaration;
    char *name; /* as generated code writes the type; NULL when it has no name */
    rs_member *members;
    size_t member_count;
    rs_record record; /* the members and the padding */
    char *failure;    /* why its arrays cannot have another layout, or NULL */
    size_t failure_offset;
} rs_structure;

typedef struct {
    CXCursor cursor;
    int kernel;
    unsigned index;
    size_t offset; /* of its name in the flat text */
    char *name;
    char *type;
    const char *address_space; /* "__global" or "__constant" */
    int structure;             /* the array's elements, or -1 */
    char *reason;              /* why it stays as it is, or NULL */
    size_t reason_offset;      /* in the flat text */
    char *layout;              /* the wanted layout expression */
    size_t tile;
    int accessor;       /* how its offsets are computed, or -1 */
    int count_argument; /* the index of the added kernel argument, or -1 */
} rs_argument;

typedef struct {
    CXCursor cursor; /* the definition */
    int node;
    char *name;
    int first_argument, argument_count; /* in the model's arguments */
    int parameter_count;                /* of the kernel itself, in the user's source */
} rs_kernel_source;

typedef enum { RS_ACCESS_LEAF, RS_ACCESS_LOAD, RS_ACCESS_STORE } rs_access_kind;

/* One understood use of an argument: bytes [begin, end) of the flat text are replaced. */
typedef struct {
    rs_access_kind kind;
    size_t begin, end;
    int argument;
    int index[RS_PIECE_LIMIT]; /* nodes whose sum is the index of the structure */
    bool negative[RS_PIECE_LIMIT];
    int index_count;
    int subscript[RS_PIECE_LIMIT]; /* nodes that index arrays inside the structure */
    size_t stride[RS_PIECE_LIMIT]; /* bytes */
    int subscript_count;
    size_t offset; /* bytes from the start of the structure, without the subscripts */
    size_t size;
    char type[RS_TYPE_NAME_SIZE]; /* of a leaf */
    int structure;                /* of a load or store */
    int value;                    /* the node that is stored */
    bool value_used;              /* of a store that is more than a statement */
    int copier;                   /* the generated function of a load or store */
    bool is_const, is_volatile;
} rs_access;

/* One offset function: for all arguments with the same structure and layout. */
typedef struct {
    int structure;
    char *layout;
    size_t position; /* where in the flat text it is defined */
} rs_accessor;

/* One function that copies a whole structure out of or into an array. */
typedef struct {
    rs_access_kind kind;
    int accessor;
    int structure;
    const char *address_space;
    bool is_const, is_volatile;
} rs_copier;

typedef struct {
    const rs_tree *tree;
    int address_bits;
    rs_structure *structures;
    int structure_count;
    rs_argument *arguments;
    int argument_count;
    rs_kernel_source *kernels;
    int kernel_count;
    rs_access *accesses; /* after rs_model_understand(): by their first byte, outer before inner */
    int access_count, access_capacity;
    rs_accessor *accessors;
    int accessor_count;
    rs_copier *copiers;
    int copier_count;
} rs_model;

/* Finds the kernels and those of their arguments that point to global or constant memory. */
restride_status rs_model_find_kernels(rs_model *model);

/*
 * The structure of a record type, described on first sight; -1, with a status, when memory is
 * short. Whether its arrays can be transformed is told by `failure`.
 */
restride_status rs_model_structure(rs_model *model, CXType type, int *structure);

/* The OpenCL C name of a scalar or vector type, without qualifiers; false for any other type. */
bool rs_leaf_type_name(CXType type, char name[RS_TYPE_NAME_SIZE], bool *vector3);

/* Finds every use of the arguments that have no reason to stay yet; one that is not understood
 * becomes the reason. */
restride_status rs_model_understand(rs_model *model);

/* Notes why an argument stays as it is; the first reason is kept. */
restride_status rs_argument_refuse(rs_argument *argument, size_t offset, const char *format, ...)
    RS_PRINTF(3, 4);

/* Chooses offset functions and the added parameters for the arguments without a reason to stay. */
restride_status rs_model_plan(rs_model *model);

/* The new source, preprocessed and transformed; the caller frees it. */
restride_status rs_model_render(const rs_model *model, char **source);

void rs_model_free(rs_model *model);

#endif
