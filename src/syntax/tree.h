/*
 * A translation unit of OpenCL C, CUDA C++ or C as one typed tree: what all passes ask of a source.
 *
 * clang reads it (src/syntax/clang/, the only files that name libclang); nothing here needs clang
 * any more, but rs_syntax_body(), which reads a toolkit's inline function once somebody asks for
 * it. All that a tree holds is freed with it. Equal types are one pointer.
 *
 * What the C interface of libclang hides is derived where it is read: the kind of an implicit
 * conversion from the two types, value categories from the structure. What cannot be told is a node
 * RS_NODE_UNKNOWN with the children that are visible: a pass that meets one understands nothing of
 * that expression. Templates themselves are no nodes; each instance is a function of its own, with
 * concrete types and the ranges of the template's text.
 *
 * Not followed: virtual bases' offsets, operands of sizeof, captures of lambdas but as the members
 * of their closure.
 */
#ifndef RS_SYNTAX_TREE_H
#define RS_SYNTAX_TREE_H

#include "base/status.h"
#include "base/text.h"
#include "syntax/invocation.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a file. In a macro: of its call, as all nodes that the macro's text makes. What stands
 * in a macro's argument has its own bytes. */
typedef struct {
    size_t file; /* index into the tree's files */
    size_t begin, end;
    bool in_macro;
} rs_syntax_range;

/* --- types, without typedefs ----------------------------------------------------------------- */

#define RS_SYNTAX_TYPES(X)                                                                         \
    X(VOID)                                                                                        \
    X(BOOL)                                                                                        \
    X(INTEGER) /* characters too; `is_signed` */                                                   \
    X(FLOAT)   /* of 2, 4, 8, 16 bytes */                                                          \
    X(ENUM)    /* `of` is its integer */                                                           \
    X(POINTER)                                                                                     \
    X(REFERENCE) /* T & and T && */                                                                \
    X(ARRAY)     /* `count` elements, -1 when that is no constant */                               \
    X(VECTOR)    /* `count` elements; one of 3 has the size of 4 */                                \
    X(RECORD)                                                                                      \
    X(FUNCTION) /* `of` is what it returns */                                                      \
    X(ATOMIC)   /* _Atomic(of) */                                                                  \
    X(NULLPTR)                                                                                     \
    X(OTHER) /* images, events, pointers to members, complex numbers */

/* Where the object that a pointer points to lies, or the variable. CUDA's variables alone have one;
 * its pointers may point anywhere. */
#define RS_SYNTAX_SPACES(X)                                                                        \
    X(ANY, "")                                                                                     \
    X(GLOBAL, "global")                                                                            \
    X(SHARED, "shared") /* OpenCL's __local */                                                     \
    X(CONSTANT, "constant")                                                                        \
    X(PRIVATE, "private")                                                                          \
    X(GENERIC, "generic")

#define RS_TYPE_ROW(name) RS_TYPE_##name,
#define RS_SYNTAX_SPACE_ROW(name, word) RS_SYNTAX_SPACE_##name,
typedef enum { RS_SYNTAX_TYPES(RS_TYPE_ROW) RS_TYPE_KINDS } rs_syntax_type_kind;
typedef enum { RS_SYNTAX_SPACES(RS_SYNTAX_SPACE_ROW) RS_SYNTAX_SPACE_KINDS } rs_syntax_space;

typedef struct rs_syntax_type rs_syntax_type;
typedef struct rs_syntax_declaration rs_syntax_declaration;
typedef struct rs_syntax_node rs_syntax_node;

struct rs_syntax_type {
    rs_syntax_type_kind kind;
    const char *name; /* as the compiler writes it */
    bool is_const, is_volatile, is_restrict, is_signed;
    rs_syntax_space space;       /* of an object of this type */
    long long size, align;       /* bytes; -1: it has none */
    const rs_syntax_type *of;    /* what it points to, refers to, holds, returns; or NULL */
    const rs_syntax_type *plain; /* itself without qualifiers and space */
    long long count;
    const rs_syntax_declaration *declaration; /* of a RECORD or ENUM */
    const rs_syntax_type *const *parameters;  /* of a FUNCTION */
    size_t parameter_count;
    bool is_variadic;
    bool is_unbounded; /* T[] */
    bool is_rvalue;    /* T && */
    bool is_dependent; /* in a template's text: on its parameters */
};

/* --- declarations ---------------------------------------------------------------------------- */

#define RS_SYNTAX_DECLARATIONS(X)                                                                  \
    X(FUNCTION, "function")                                                                        \
    X(TEMPLATE, "template") /* of a function; its instances are functions */                       \
    X(VARIABLE, "variable")                                                                        \
    X(PARAMETER, "parameter")                                                                      \
    X(FIELD, "field")                                                                              \
    X(RECORD, "record")                                                                            \
    X(ENUM, "enum")                                                                                \
    X(ENUMERATOR, "enumerator")                                                                    \
    X(LABEL, "label")                                                                              \
    X(OTHER, "other")     /* of a flat source alone: a type's name, a template's parameter */      \
    X(UNKNOWN, "unknown") /* likewise: what libclang has no name for */

#define RS_DECLARATION_ROW(name, word) RS_DECLARATION_##name,
typedef enum {
    RS_SYNTAX_DECLARATIONS(RS_DECLARATION_ROW) RS_DECLARATION_KINDS
} rs_syntax_declaration_kind;

typedef struct {
    const rs_syntax_type *type; /* a RECORD */
    long long offset;           /* bytes; -1: unknown */
    bool is_virtual;
} rs_syntax_base;

typedef struct {
    enum { RS_NO_CONSTANT, RS_CONSTANT_INTEGER, RS_CONSTANT_REAL } kind;
    long long integer; /* of a larger unsigned one: its bits */
    double real;
} rs_syntax_constant;

/* What does not belong to its kind is zero. */
struct rs_syntax_declaration {
    rs_syntax_declaration_kind kind;
    const char *name;      /* "" for none */
    const char *qualified; /* "sim::scale<float, 3>" */
    const rs_syntax_type *type;
    const rs_syntax_declaration *parent; /* the function or record that it belongs to, or NULL */
    rs_syntax_range range, name_range;   /* not of a flat source */
    bool is_system;                      /* of a system's or a toolkit's header, or built in */

    bool is_kernel, is_device, is_host; /* function; is_host too where nothing is written */
    bool is_method, is_static, is_virtual, is_constructor, is_destructor, is_conversion;
    bool is_implicit; /* defaulted: it copies, or makes, member by member, and has no body here */
    bool is_instance; /* of a template */
    const char *mangled;   /* CUDA kernel: as the linker knows it; NULL for others */
    rs_syntax_space space; /* variable; CUDA's __device__, __shared__, __constant__ too */
    bool is_extern; /* variable: its memory is another unit's, or of a size given at a launch */
    const rs_syntax_declaration *const *parameters; /* function */
    size_t parameter_count;
    rs_syntax_node *body; /* function; NULL: it has none here, or it was not read yet */
    bool is_defined;      /* function: rs_syntax_body() has one; record: its members are known */
    rs_syntax_node *initializer; /* variable, parameter (default); or NULL */

    bool is_union, is_lambda;                   /* record; of a lambda, `fields` are its captures */
    const rs_syntax_declaration *const *fields; /* record */
    size_t field_count;
    const rs_syntax_base *bases;
    size_t base_count;
    bool is_polymorphic;      /* record: it has a pointer to virtual functions */
    bool is_plain;            /* record: copied as bytes are ("POD") */
    bool has_own_copies;      /* record: copies, assignments or a destructor are not defaulted */
    bool is_bitfield;         /* field */
    long long bit_offset;     /* field; -1: unknown */
    long long bit_width;      /* bit-field */
    rs_syntax_constant value; /* enumerator */

    size_t source; /* the reader's */

    /* Of a flat source (nodes.h) alone: */
    bool is_main;             /* it stands in the source itself, with its name at byte `place` */
    bool is_global;           /* of no function and no class */
    bool is_invalid;          /* the compiler refused it */
    const char *written_type; /* field, parameter: as the source has it; "" for others */
    bool is_register;         /* variable */
    bool is_initialized;      /* variable; `value` of one that is const and known; field: by more
                                 than a number */
    bool is_const, is_final;  /* method; a class may be final, too */
    bool is_copying;          /* constructor: it copies or moves */
    bool is_written;          /* method: the source has it */
    bool is_anonymous;        /* record */
    bool has_destructor;      /* record: one that is written, parts aside */
    size_t place;
};

/* --- statements and expressions -------------------------------------------------------------- */

/*
 * NAME, its word in a dump, the children by their roles. A child in [] may be NULL; "..." repeats.
 * `callee` of a call of a method is the object, or the pointer to it (is_arrow); `declaration` is
 * the function that is called, NULL through a pointer.
 */
#define RS_SYNTAX_NODES(X)                                                                         \
    X(COMPOUND, "compound", "statement...")                                                        \
    X(DECLARE, "declare", "VARIABLE...") /* types that are declared have no node */                \
    X(VARIABLE, "variable", "[initializer]")                                                       \
    X(IF, "if", "condition then [else]")                                                           \
    X(FOR, "for", "[start] [condition] [step] body")                                               \
    X(RANGE_FOR, "range-for", "variable range body")                                               \
    X(WHILE, "while", "condition body")                                                            \
    X(DO, "do", "body condition")                                                                  \
    X(SWITCH, "switch", "value body")                                                              \
    X(CASE, "case", "first [last] statement")                                                      \
    X(DEFAULT, "default", "statement")                                                             \
    X(LABEL, "label", "statement")                                                                 \
    X(GOTO, "goto", "")                                                                            \
    X(BREAK, "break", "")                                                                          \
    X(CONTINUE, "continue", "")                                                                    \
    X(RETURN, "return", "[value]")                                                                 \
    X(EMPTY, "empty", "")                                                                          \
    X(ASM, "asm", "operand...")                                                                    \
    X(LITERAL, "literal", "") /* `constant`, or `text` of a string */                              \
    X(REFERENCE, "reference",                                                                      \
      "") /* to `declaration`: variable, parameter, function, enumerator */                        \
    X(THIS, "this", "")                                                                            \
    X(MEMBER, "member", "object") /* `declaration` is the field; is_arrow: a pointer to it */      \
    X(SWIZZLE, "swizzle",                                                                          \
      "vector") /* `text`: "xyz", "s01", or NULL when that is unknown; is_arrow */                 \
    X(SUBSCRIPT, "subscript", "base index")                                                        \
    X(CALL, "call", "callee argument...")                                                          \
    X(LAUNCH, "launch", "callee configuration argument...") /* configuration is a LIST */          \
    X(CONSTRUCT, "construct", "argument...")                /* `declaration` is the constructor */ \
    X(DEFAULT_ARGUMENT, "default-argument", "")             /* `declaration` is the parameter */   \
    X(ZERO, "zero", "")                                     /* T() */                              \
    X(LIST, "list", "value...")          /* {}, with or without a type before it */                \
    X(DESIGNATED, "designated", "value") /* .declaration = value */                                \
    X(PAREN, "paren", "value")                                                                     \
    X(UNARY, "unary", "operand")                                                                   \
    X(BINARY, "binary", "left right")                                                              \
    X(ASSIGN, "assign", "place value") /* `symbol` is "=" or "+=" and its kin */                   \
    X(CONDITIONAL, "conditional", "condition then else")                                           \
    X(CAST, "cast", "value")          /* written */                                                \
    X(IMPLICIT, "implicit", "value")  /* `conversion` says what */                                 \
    X(SIZEOF, "sizeof", "")           /* and its kin: `constant` where it is one */                \
    X(LAMBDA, "lambda", "capture...") /* the body: rs_syntax_body() of `declaration` */            \
    X(STATEMENTS, "statement-expression", "compound")                                              \
    X(NEW, "new", "operand...")                                                                    \
    X(DELETE, "delete", "operand")                                                                 \
    X(UNKNOWN, "unknown", "part...") /* `text` is the compiler's word for it */

#define RS_SYNTAX_CONVERSIONS(X)                                                                   \
    X(NONE, "")                                                                                    \
    X(LOAD, "load")           /* the value of a place */                                           \
    X(DECAY, "decay")         /* array or function to pointer */                                   \
    X(TEMPORARY, "temporary") /* a place for a value */                                            \
    X(QUALIFY, "qualify")                                                                          \
    X(ARITHMETIC, "arithmetic")  /* between numbers and enumerations */                            \
    X(TRUTH, "truth")            /* to bool */                                                     \
    X(POINTER, "pointer")        /* between pointers, also null */                                 \
    X(ADDRESS, "address")        /* between numbers and pointers */                                \
    X(BASE, "base")              /* between classes */                                             \
    X(BITS, "bits")              /* between vectors, or vectors and numbers, of one size */        \
    X(SPLAT, "splat")            /* number to vector */                                            \
    X(REFERENCE, "as-reference") /* a written cast whose value is the place, as another type */    \
    X(OTHER, "other")

#define RS_NODE_ROW(name, word, roles) RS_NODE_##name,
#define RS_CONVERSION_ROW(name, word) RS_CONVERSION_##name,
typedef enum { RS_SYNTAX_NODES(RS_NODE_ROW) RS_NODE_KINDS } rs_syntax_node_kind;
typedef enum { RS_SYNTAX_CONVERSIONS(RS_CONVERSION_ROW) RS_CONVERSIONS } rs_syntax_conversion;

typedef enum {
    RS_NO_CATEGORY, /* statements */
    RS_VALUE,       /* prvalue */
    RS_PLACE,       /* lvalue */
    RS_TEMPORARY    /* a place that nothing else names: xvalue */
} rs_syntax_category;

struct rs_syntax_node {
    rs_syntax_node_kind kind;
    rs_syntax_category category;
    rs_syntax_conversion conversion; /* IMPLICIT, CAST */
    bool is_arrow;                   /* MEMBER, CALL of a method: the object is a pointer to it */
    bool is_postfix;                 /* UNARY: i++ */
    const char *symbol;              /* UNARY, BINARY, ASSIGN: "+" */
    const char *text;                /* LITERAL, SWIZZLE, LABEL, GOTO, UNKNOWN */
    const rs_syntax_type *type;      /* expressions; a reference's is that of what it refers to */
    const rs_syntax_declaration *declaration;
    rs_syntax_constant constant;
    rs_syntax_range range;
    rs_syntax_node *const *children;
    size_t child_count;
};

/* --- trees ----------------------------------------------------------------------------------- */

typedef struct {
    const char *path; /* as clang names it */
    const char *text; /* NULL: not kept, the file is a system's */
    size_t size;
} rs_syntax_file;

typedef struct {
    bool is_error; /* else a warning */
    const char *message;
    const char *path; /* NULL: of no place */
    size_t line, column;
} rs_syntax_problem;

typedef struct rs_syntax_reader rs_syntax_reader;

typedef struct {
    rs_syntax_language language;
    const rs_syntax_file *files;
    size_t file_count;
    rs_syntax_declaration **declarations; /* of the user's files, in the order of the text:
        functions, templates, file-scope variables; then instances as they were met */
    size_t declaration_count;
    const rs_syntax_problem *problems;
    size_t problem_count, error_count;

    rs_syntax_reader *reader; /* its own business, as all below */
    struct rs_syntax_chunk *chunks;
    bool out_of_memory;
} rs_syntax;

/*
 * Reads a source. One with errors gives RESTRIDE_OK too: `error_count` says so, and the tree is
 * what clang made of it. RESTRIDE_OUT_OF_MEMORY; RESTRIDE_IO when the source cannot be read;
 * RESTRIDE_UNSUPPORTED when clang gave up. Clang may crash or never end: callers that must not do
 * so read in a process of their own.
 */
restride_status rs_syntax_read(rs_syntax **tree, const rs_invocation *how);
void rs_syntax_free(rs_syntax *tree);

/* The body of a function; a system's is read now. NULL: there is none, or no memory for it. */
const rs_syntax_node *rs_syntax_body(rs_syntax *tree, const rs_syntax_declaration *function);

/* The expression inside parentheses and conversions that leave the value alone. */
const rs_syntax_node *rs_syntax_plain(const rs_syntax_node *node);

/* Calls `visit` for a node and all below it, parents first, until it returns false; NULL is passed
 * over. Returns whether it never did. */
typedef bool rs_syntax_visit(void *context, const rs_syntax_node *node);
bool rs_syntax_walk(const rs_syntax_node *node, rs_syntax_visit *visit, void *context);

/* The line of a byte, from 1. */
size_t rs_syntax_line(const rs_syntax *tree, rs_syntax_range range);

#endif
