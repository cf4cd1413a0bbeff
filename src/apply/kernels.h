/*
 * The text of the kernels that a nest becomes: as it was written, with threads, and with vectors.
 * Elements are in the same places in all of them but for copies, which are packed before and
 * unpacked after.
 */
#ifndef RS_APPLY_KERNELS_H
#define RS_APPLY_KERNELS_H

#include "apply/copies.h"

enum { RS_GATHERED_LIMIT = 4 };

/* A scalar that the nest sums up for the function: an array of one element in the kernels. */
typedef struct {
    char *name;
    const char *type;
    int bytes;
} rs_gathered;

typedef struct {
    rs_nest *nest;
    const rs_copies *copies;
    const char
        *name; /* of the kernels: NAME_original, NAME_threads, NAME_vector, NAME_pack_1 ... */
    int width;
    rs_gathered gathered[RS_GATHERED_LIMIT];
    int gathered_count;
} rs_kernels;

/* Finds what the nest needs of the function around it; a refusal is kept in the nest. */
restride_status rs_kernels_prepare(rs_kernels *kernels);
void rs_kernels_free(rs_kernels *kernels);

/* Adds the kernels to the text. When the vectors cannot be written, the refusal is kept in the nest
 * and the text stays as it was. */
restride_status rs_kernels_write(rs_kernels *kernels, rs_text *text);

/* Indents the text from byte `from` on by its braces. */
void rs_kernels_indent(rs_text *text, size_t from);

/* What stands in front of all kernels of a file: the source's own declarations, C's functions. */
restride_status rs_kernels_write_head(rs_text *text, const rs_translation_unit *program,
                                      const char *file);

/* Parts of kernels: name and parameters, without the closing bracket; a parameter in an address
 * space; what stands before and behind the nest; and the nest as it was written, with threads or
 * without. */
void rs_kernels_write_signature(const rs_kernels *kernels, rs_text *text, const char *ending);
void rs_kernels_write_parameter(rs_text *text, const rs_syntax_declaration *parameter,
                                const char *space);
void rs_kernels_write_prologue(const rs_kernels *kernels, rs_text *text);
void rs_kernels_write_epilogue(const rs_kernels *kernels, rs_text *text);
void rs_kernels_write_plain(const rs_kernels *kernels, rs_text *text, bool threads);

/* Copies a node's text with its threads' loops spread over work-items; `replace` writes something
 * else for a node, and is true then. */
typedef struct {
    bool (*replace)(const void *context, rs_text *text, int node);
    const void *context;
} rs_replacement;

void rs_kernels_copy(const rs_kernels *kernels, rs_text *text, int node,
                     const rs_replacement *replacement);

/* A node's text with threads, and with `vectors` (or NULL) in the place of their loop. */
void rs_kernels_write_changed(const rs_kernels *kernels, rs_text *text, int node,
                              const char *vectors);

/* The declaration of a loop's variable in iteration `number`, or in vector `number` of a width. */
void rs_kernels_write_variable(const rs_kernels *kernels, rs_text *text, const rs_nest_loop *loop,
                               const char *number, int width);

/*
 * "for (...) ". The iterations of a thread's loop are counted in 64 bits and spread over
 * work-items; true when a brace is open then, for the loop's body and a closing one to follow.
 */
bool rs_kernels_write_for(const rs_kernels *kernels, rs_text *text, const rs_nest_loop *loop);

/* Whether a function can be called from a kernel: one of C's, or defined in the source over
 * numbers alone. */
bool rs_function_is_callable(const rs_tree *tree, const rs_syntax_declaration *function);

#endif
