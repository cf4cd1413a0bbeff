/*
 * The syntax tree of a flat source: every cursor of libclang's with the bytes it covers and its
 * neighbours in the tree, which libclang itself does not tell, in the terms of nodes.h.
 */
#ifndef RS_SYNTAX_FLAT_H
#define RS_SYNTAX_FLAT_H

#include "base/status.h"
#include "syntax/nodes.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t begin, end;       /* bytes of the flat text */
    int parent, first, next; /* nodes: parent, first child, next sibling; -1 for none */
    int is;                  /* RS_NODE_... of syntax/nodes.h */
    rs_node_group group;
    const char *symbol; /* of an operator, "+"; "" of all else */
    /* Once rs_tree_describe() has filled them in: */
    const char *name;                         /* that it declares or mentions; "" for none */
    const rs_syntax_type *type;               /* never NULL */
    const rs_syntax_declaration *declaration; /* that it is, or mentions; never NULL */
    size_t place;                             /* byte of the name that it declares */
} rs_node;

typedef struct {
    struct rs_tree_unit *unit; /* libclang's; NULL: it was not parsed */
    const char *text;          /* the flat text, not owned */
    size_t size;
    rs_node *
        nodes; /* parents before children, in the order of the source; node 0 is the whole source */
    int node_count;
    char *failure; /* the first error, or NULL */
    size_t failure_offset;
    bool is_cut;       /* `nodes` are not all */
    rs_syntax *syntax; /* has the types and declarations; NULL before rs_tree_describe() */
} rs_tree;

/* Goes through the children of a node. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a name */
#define RS_EACH_CHILD(child, tree, node)                                                           \
    for (int child = (tree)->nodes[node].first; child >= 0; child = (tree)->nodes[child].next)
/* NOLINTEND(bugprone-macro-parentheses) */

/* A file that exists in memory only. */
typedef struct {
    const char *path, *text;
    size_t size;
} rs_tree_file;

/* Parses the tree's text with clang's own arguments; source/tree.h checks before that it is safe. A
 * source with errors gives RESTRIDE_OK with `failure` set. */
restride_status rs_flat_parse(rs_tree *tree, const char *const arguments[], int argument_count,
                              const rs_tree_file *extra, bool keeps_going);

/* Adds names, types and declarations to the nodes of a parsed source. */
restride_status rs_tree_describe(rs_tree *tree, rs_syntax_language language);

/* The value of an integer constant expression; false: it is none. */
bool rs_tree_evaluate(const rs_tree *tree, int node, int64_t *value);

/* The same; of a larger unsigned number: its bits. */
bool rs_tree_evaluate_bits(const rs_tree *tree, int node, long long *value);

/* Whether an error at a place of a parsed source does not matter. */
typedef bool rs_tree_forgives(const rs_tree *tree, size_t offset);

/* Leaves as `failure` the first error that matters, or NULL. Without memory the tree is freed. */
restride_status rs_tree_forgive(rs_tree *tree, rs_tree_forgives *forgives);

/* Whether an error, forgiven or not, is at one of the bytes [begin, end]. */
bool rs_tree_has_error(const rs_tree *tree, size_t begin, size_t end);

/* Hands every error to a visitor, with its place if it is in the text, until that returns false. */
typedef bool rs_tree_error_visitor(void *context, const char *message, size_t offset,
                                   bool in_source);
void rs_tree_visit_errors(const rs_tree *tree, rs_tree_error_visitor *visitor, void *context);

void rs_tree_free(rs_tree *tree);

#endif
