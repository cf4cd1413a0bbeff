/* A record of a source as members that move apart: what accessors are written from. */
#ifndef RS_COMPANION_MEMBERS_H
#define RS_COMPANION_MEMBERS_H

#include "syntax/tree.h"

typedef enum {
    RS_MEMBER_FIELD, /* of its own bytes */
    RS_MEMBER_UNIT,  /* bytes that move together: a union without a name, neighbouring bit-fields */
    RS_MEMBER_VIEW,  /* a member of such a union */
    RS_MEMBER_BITS   /* a bit-field */
} rs_member_kind;

typedef struct {
    rs_member_kind kind;
    const char *name; /* NULL: of a UNIT, and where a member of a derived class hides it */
    const rs_syntax_type *type; /* NULL: of a UNIT */
    const rs_syntax_type *base; /* the base class that declares it, or NULL */
    size_t offset;              /* bytes; of its unit, if it is in one */
    size_t size, align;         /* of what moves as a whole, or of all of an array or record */
} rs_companion_member;

typedef struct {
    rs_companion_member
        *members; /* those of bases and of records without a name stand among them */
    size_t count;
    const char *why; /* the record cannot be taken apart: the end of a sentence on it */
    bool out_of_memory;
} rs_companion_members;

/* The members of a record, in the order of their declarations. rs_members_free() in any case. */
void rs_members_read(rs_companion_members *members, const rs_syntax_type *record);
void rs_members_free(rs_companion_members *members);

/* A record in a record, or what an array consists of, that is taken apart itself. */
bool rs_member_is_apart(const rs_syntax_type *type);

/* Whether a record that C++ does not call trivially copyable is copied by its bytes all the same:
 * only toolkit's classes in it (half2) have code for copies. False where that is not certain. */
bool rs_members_are_copied(const rs_syntax_type *record);

/* Whether a record, or a part of it, says itself how it is copied, assigned to or destroyed. */
bool rs_members_have_own_copies(const rs_syntax_type *record);

/* What an array, also of arrays, consists of. */
const rs_syntax_type *rs_member_entry(const rs_syntax_type *type);

#endif
