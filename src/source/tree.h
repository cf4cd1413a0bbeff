/*
 * The syntax tree of a flat source, from libclang: every cursor with the bytes it covers and its
 * neighbours in the tree, which libclang itself does not tell.
 */
#ifndef RS_SOURCE_TREE_H
#define RS_SOURCE_TREE_H

#include "base/status.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    CXCursor cursor;
    enum CXCursorKind kind;
    size_t begin, end;       /* bytes of the flat text */
    int parent, first, next; /* nodes: parent, first child, next sibling; -1 for none */
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
    bool is_cut; /* `nodes` are not all */
} rs_tree;

/*
 * Parses OpenCL C. `standard` as in -cl-std ("CL1.2"), `address_bits` 32 or 64. A source with
 * errors gives RESTRIDE_OK with `failure` set. The text must outlive the tree.
 */
restride_status rs_tree_parse(rs_tree *tree, const char *text, size_t size, const char *standard,
                              int address_bits);

/* The same for other languages, with libclang's own arguments ("-x", "c", ...) and with files that
 * exist in memory only; what follows an error is kept as far as libclang understands it. */
restride_status rs_tree_parse_as(rs_tree *tree, const char *text, size_t size,
                                 const char *const arguments[], int argument_count,
                                 const struct CXUnsavedFile *extra);

/* Whether an error at a place of a parsed source does not matter. */
typedef bool rs_tree_forgives(const rs_tree *tree, size_t offset);

/* Leaves as `failure` the first error that matters, or NULL. Without memory the tree is freed. */
restride_status rs_tree_forgive(rs_tree *tree, rs_tree_forgives *forgives);

/* Whether a place is in the text; *offset is its byte there. What is in a macro's text is where the
 * macro is used. */
bool rs_tree_offset(const rs_tree *tree, CXSourceLocation place, size_t *offset);

/* Whether an error, forgiven or not, is at one of the bytes [begin, end]. */
bool rs_tree_has_error(const rs_tree *tree, size_t begin, size_t end);

void rs_tree_free(rs_tree *tree);

#endif
