/* The parts of the new source that render.c puts together. */
#ifndef RS_REWRITE_RENDER_H
#define RS_REWRITE_RENDER_H

#include "rewrite/lines.h"
#include "rewrite/locals.h"
#include "rewrite/model.h"

/* ---- generated.c ---- */

/* The offset functions of one accessor, and one function that copies whole structures. */
restride_status rs_render_accessor(const rs_model *model, int number, rs_text *out);
void rs_render_copier(const rs_model *model, int number, rs_text *out);

/* ---- render.c ---- */

/* The ")" behind the last parameter of a function, a node; 0 when it has none. */
size_t rs_parameters_end(const rs_tree *tree, int function);

/* What is being written: an instance of a function, or the source as a whole. */
typedef struct {
    const rs_model *model;
    rs_numbered_text *out;
    rs_locals *locals;
    const rs_instance *instance; /* NULL: each kernel is its own */
    bool nested;                 /* inside an access */
} rs_writer;

/* ---- replace.c ---- */

/* Writes the bytes [begin, end) of the flat text, or those of a node, with the accesses inside them
 * replaced, those before number `from` aside. */
void rs_write_range(const rs_writer *w, size_t begin, size_t end, int from);
void rs_write_node(const rs_writer *w, int node, int from);

/* "NAME_NUMBER", which no other function has. */
void rs_write_instance_name(const rs_model *model, rs_text *text, int instance);

/* A kernel's own instance; NULL when nothing in it changes, and for helpers. */
const rs_instance *rs_kernel_instance(const rs_model *model, int function);

/* ---- places.c: `self` is the access's number ---- */

/* What stands before an argument's name in the name of its buffer's start. */
const char *rs_base_prefix(const rs_model *model, const rs_member_access *a);

/* "COUNT, INDEX, OFFSET": where in the array the access goes. */
void rs_write_place(const rs_writer *w, const rs_member_access *a, int self);

/* The bytes of the subscripts [first, end), as terms to be added. */
void rs_write_subscripts(const rs_writer *w, const rs_member_access *a, int self, int first,
                         int end);

/* Where the member of a flat access lies. */
void rs_write_flat_place(const rs_writer *w, const rs_member_access *a, int self);

/* "COUNT, RECORD, MEMBER" or, in a structure, "COUNT, INDEX, OFFSET" of a block's first element. */
void rs_write_block_place(const rs_writer *w, const rs_member_access *a, int self);

#endif
