/*
 * How a tree is read, for the files of this folder alone: the only ones that name libclang.
 *
 * read.c parses and goes through the source's top; declarations.c, types.c, statements.c and
 * expressions.c each read one kind of thing; places.c maps clang's locations to bytes of files.
 * The C interface of libclang (17 and newer) is enough, and the only one that PyPI's package has.
 */
#ifndef RS_SYNTAX_CLANG_READER_H
#define RS_SYNTAX_CLANG_READER_H

#include "base/map.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <clang-c/Index.h>

/* The annotation that __kernel is given, since libclang has no word for that attribute. */
#define RS_KERNEL_MARK "restride-kernel"

/* Where nothing is known of a file. */
#define RS_NO_FILE ((size_t)-1)

/* What is deeper is unknown, so that no source exhausts the stack. */
enum { RS_DEPTH_LIMIT = 1500 };

typedef struct {
    CXCursor cursor; /* canonical */
    rs_syntax_declaration *declaration;
} rs_declared_entry;

struct rs_syntax_reader {
    rs_syntax *tree;
    const char *toolkit;        /* CUDA's folder, or NULL */
    const char **virtual_paths; /* of files in memory, that are no user's */
    size_t virtual_count;
    CXIndex index;
    CXTranslationUnit unit;
    CXFile *clang_files; /* as the tree's files */
    size_t last_file;
    rs_declared_entry *declared; /* open addressing, a power of two */
    size_t declared_count, declared_capacity;
    CXCursor *sources; /* of declarations, by their `source` */
    size_t source_count;
    rs_map types;                          /* by clang's canonical type */
    const rs_syntax_declaration *function; /* whose body is read */
    bool is_cplusplus;
    bool is_borrowed; /* the unit is a flat source's, whose declarations are all described */
    int depth;
};

/* Children of a cursor; without memory the tree is marked and the list is short. */
typedef struct {
    rs_syntax *tree;
    CXCursor *at;
    size_t count;
} rs_cursors;

/* Statements, expressions and declarations; no references to names, no attributes. */
rs_cursors rs_cursors_below(rs_syntax_reader *reader, CXCursor cursor);
/* Every child. */
rs_cursors rs_cursors_all(rs_syntax_reader *reader, CXCursor cursor);
void rs_cursors_free(rs_cursors *cursors);

/* In the arena; "" without memory. */
const char *rs_read_string(rs_syntax_reader *reader, CXString string);

/* --- places.c --- */

/* Of a system's or a toolkit's header, of no file, or in a file that only exists in memory. */
bool rs_is_system(rs_syntax_reader *reader, CXSourceLocation location);
rs_syntax_range rs_read_range(rs_syntax_reader *reader, CXSourceRange range);
/* The text of a range's file, NULL where it has none. */
const rs_syntax_file *rs_file_of(const rs_syntax_reader *reader, rs_syntax_range range);
/* The first byte behind white space and comments. */
size_t rs_skip_blanks(const rs_syntax_file *file, size_t at);

/* --- types.c, declarations.c --- */

const rs_syntax_type *rs_read_type(rs_syntax_reader *reader, CXType type);
/* Of what a cursor declares, once; NULL for what has no declaration here. */
rs_syntax_declaration *rs_read_declaration(rs_syntax_reader *reader, CXCursor cursor);
/* What a flat source's declaration has more (describe.c). */
void rs_describe_declaration(rs_syntax_reader *reader, rs_syntax_declaration *of, CXCursor cursor);
/* Reads the body and the initializers of a function's constructor. */
void rs_read_body(rs_syntax_reader *reader, rs_syntax_declaration *function);
/* Reads a variable's, or a parameter's, initializer once. */
void rs_read_initializer(rs_syntax_reader *reader, rs_syntax_declaration *variable);
void rs_read_record(rs_syntax_reader *reader, rs_syntax_declaration *record, CXType type,
                    CXCursor cursor);
bool rs_list_declaration(rs_syntax_reader *reader, rs_syntax_declaration *declaration);

/* --- statements.c, expressions.c --- */

rs_syntax_node *rs_read_statement(rs_syntax_reader *reader, CXCursor cursor);

/* `is_bound`: what is asked for is a place (it initializes a reference, or C++ discards it). */
rs_syntax_node *rs_read_expression(rs_syntax_reader *reader, CXCursor cursor, bool is_bound);

/* Where no memory is left all of these return NULL; a NULL child marks an absent part. */
rs_syntax_node *rs_new_node(rs_syntax_reader *reader, rs_syntax_node_kind kind, CXCursor cursor);
bool rs_set_children(rs_syntax_reader *reader, rs_syntax_node *node, rs_syntax_node *const *given,
                     size_t count);
/* One that is not understood, with what is visible below it. */
rs_syntax_node *rs_read_unknown(rs_syntax_reader *reader, CXCursor cursor);

#endif
