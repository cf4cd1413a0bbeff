/*
 * The syntax tree of a flat source, from libclang: every cursor with the bytes it covers and its
 * neighbours in the tree, which libclang itself does not tell.
 */
#ifndef RS_SOURCE_TREE_H
#define RS_SOURCE_TREE_H

#include "base/status.h"
#include "syntax/nodes.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    CXCursor cursor; /* with its kind the rewriter's alone */
    enum CXCursorKind kind;
    size_t begin, end;       /* bytes of the flat text */
    int parent, first, next; /* nodes: parent, first child, next sibling; -1 for none */
    int is;                  /* RS_NODE_... of syntax/nodes.h */
    rs_node_group group;
    /* Once rs_tree_describe() has filled them in: */
    const char *name;                         /* that it declares or mentions; "" for none */
    const rs_syntax_type *type;               /* never NULL */
    const rs_syntax_declaration *declaration; /* that it is, or mentions; never NULL */
    size_t place;                             /* byte of the name that it declares */
} rs_node;

typedef struct {
    CXIndex index;
    CXTranslationUnit unit;
    const char *text; /* the flat text, not owned */
    size_t size;
    rs_node *
        nodes; /* parents before children, in the order of the source; node 0 is the whole source */
    int node_count;
    int node_capacity;
    char *failure; /* the first error, or NULL */
    size_t failure_offset;
    bool is_cut;       /* `nodes` are not all */
    rs_syntax *syntax; /* has the types and declarations; NULL before rs_tree_describe() */
} rs_tree;

/*
 * Parses OpenCL C. `standard` as in -cl-std ("CL1.2"), `address_bits` 32 or 64. A source with
 * errors gives RESTRIDE_OK with `failure` set. The text must outlive the tree.
 */
restride_status rs_tree_parse(rs_tree *tree, const char *text, size_t size, const char *standard,
                              int address_bits);

/* A file that exists in memory only. */
typedef struct {
    const char *path, *text;
    size_t size;
} rs_tree_file;

/* The same for other languages, with libclang's own arguments ("-x", "c", ...) and with files that
 * exist in memory only; what follows an error is kept as far as libclang understands it. */
restride_status rs_tree_parse_as(rs_tree *tree, const char *text, size_t size,
                                 const char *const arguments[], int argument_count,
                                 const rs_tree_file *extra);

/* Adds names, types and declarations to the nodes of a parsed source. */
restride_status rs_tree_describe(rs_tree *tree, rs_syntax_language language);

/* The value of an integer constant expression; false: it is none. */
bool rs_tree_evaluate(const rs_tree *tree, int node, int64_t *value);

/* Whether an error at a place of a parsed source does not matter. */
typedef bool rs_tree_forgives(const rs_tree *tree, size_t offset);

/* Leaves as `failure` the first error that matters, or NULL. Without memory the tree is freed. */
restride_status rs_tree_forgive(rs_tree *tree, rs_tree_forgives *forgives);

/* Whether a place is in the text; *offset is its byte there. What is in a macro's text is where the
 * macro is used. */
bool rs_tree_offset(const rs_tree *tree, CXSourceLocation place, size_t *offset);

/* Whether an error, forgiven or not, is at one of the bytes [begin, end]. */
bool rs_tree_has_error(const rs_tree *tree, size_t begin, size_t end);

/* The first byte of the name that a cursor declares, in the flat text. */
size_t rs_cursor_offset(CXCursor cursor);

/* Hands every error to a visitor, with its place if it is in the text, until that returns false. */
typedef bool rs_tree_error_visitor(void *context, const char *message, size_t offset,
                                   bool in_source);
void rs_tree_visit_errors(const rs_tree *tree, rs_tree_error_visitor *visitor, void *context);

void rs_tree_free(rs_tree *tree);

#endif
