/*
 * What is written for a record so that its elements can lie in another layout: class templates of
 * C++14 with the record's own member names (see the head of prelude.cuh for what they offer).
 *
 * The prelude stands once, in front of everything else of a source, at file scope. Behind the
 * definition of each record, in whichever namespace that is, stands its text from
 * rs_companion_accessors_write(). It is found by argument-dependent lookup, so no place at file
 * scope is needed. In an extern "C" block, put it between `extern "C++" {` and `}`.
 */
#ifndef RS_COMPANION_ACCESSORS_H
#define RS_COMPANION_ACCESSORS_H

#include "base/text.h"
#include "layout/record.h"
#include "syntax/tree.h"

/* Where elements lie. All arrays of a record have one layout in a source. */
typedef struct {
    size_t tile;  /* a power of two: i/T f i%T; 1: AoS; 0: SoA, f i */
    size_t group; /* a power of two: so many records are one element, i/(TG) i%G f i/G%T; else 1 */
} rs_companion_layout;

/* Whether a record can be taken apart; *why is a constant sentence part if not: "it has virtual
 * functions". */
bool rs_companion_record_is_known(const rs_syntax *tree, const rs_syntax_type *record,
                                  const char **why);

/*
 * Whether a member of this type moves as a whole, so that its name is a real reference (`T &`) in a
 * second form: scalars, pointers, vectors, toolkit's types, records of at most 16 bytes, unions. If
 * not, it is an array (a class with []) or a nested record (a class with its members and get()). An
 * address of an entry of an array leads to that entry alone.
 */
bool rs_companion_member_is_whole(const rs_syntax *tree, const rs_syntax_type *type);

/* The record as the planner moves it: its leaves, padding included. The caller frees it. */
restride_status rs_companion_record_of(rs_record *leaves, const rs_syntax *tree,
                                       const rs_syntax_type *record);

/* The layout in the notation of layouts: "i/32 f i%32". */
void rs_companion_layout_write(rs_text *text, const rs_companion_layout *layout);

void rs_companion_prelude_write(rs_text *text);

/* RESTRIDE_UNSUPPORTED: rs_companion_record_is_known() says why. */
restride_status rs_companion_accessors_write(rs_text *text, const rs_syntax *tree,
                                             const rs_syntax_type *record,
                                             const rs_companion_layout *layout);

/* For a record with members that are not public: what to insert in the body of the class, so that
 * its accessors may use them. */
void rs_companion_friend_write(rs_text *text, const rs_syntax_type *record);

#endif
