/* What the files that follow elements share: element_frames.c keeps frames, element_shapes.c goes
 * through expressions and statements, element_calls.c through calls, element_text.c through what
 * the tree does not show, element_memory.c through pointers that memory holds. */
#ifndef RS_FACTS_ELEMENT_WALK_H
#define RS_FACTS_ELEMENT_WALK_H

#include "facts/elements.h"

/* The shape of an expression; what is below it is looked at on the way. */
rs_fact_element rs_element_see(rs_fact_elements *facts, rs_fact_frame *frame,
                               const rs_syntax_node *node);
rs_fact_element rs_element_call(rs_fact_elements *facts, rs_fact_frame *frame,
                                const rs_syntax_node *node);
rs_fact_element rs_element_construct(rs_fact_elements *facts, rs_fact_frame *frame,
                                     const rs_syntax_node *node);

/* What a pointer of that type points to, without qualifiers and names; NULL for other types. */
const rs_syntax_type *rs_element_pointee(const rs_syntax_type *type);

/* The frame of a function; NULL without memory. */
rs_fact_frame *rs_element_frame(rs_fact_elements *facts, const rs_syntax_declaration *function,
                                const rs_fact_element *parameters, rs_fact_element object);

/* Gives a declaration a shape, or refuses a second one. */
void rs_element_bind(rs_fact_elements *facts, rs_fact_frame *frame,
                     const rs_syntax_declaration *declaration, rs_fact_element element,
                     rs_syntax_range range);

void rs_element_enter(rs_fact_elements *facts, rs_fact_frame *frame, const rs_syntax_node *call,
                      rs_fact_frame *entered);

/* In the last round; nothing for no arguments. */
void rs_element_refuse(rs_fact_elements *facts, uint64_t arguments, rs_syntax_range range,
                       const char *what);

/* Refuse where a pointer to such a structure is loaded from memory: by a node of a frame, and by
 * functions that frames call without elements. */
void rs_element_check_memory(rs_fact_elements *facts, const rs_fact_frame *frame,
                             const rs_syntax_node *node);
void rs_element_check_called(rs_fact_elements *facts);

/* Notes conditional text that was not read. */
void rs_element_leave_out(rs_fact_elements *facts, rs_fact_frame *frame, rs_syntax_range range);

/* What names of declarations with a shape stand in text. */
uint64_t rs_element_named(const rs_fact_elements *facts, const rs_fact_frame *frame,
                          rs_syntax_range range);
void rs_element_read_text(rs_fact_elements *facts, rs_fact_frame *frame);

/* Of all declarations of a frame. */
uint64_t rs_element_all(const rs_fact_frame *frame);

#endif
