/*
 * What the analysis knows of one kernel or loop nest (Jang 2011, section 3): its iteration symbols,
 * its arrays, and every reference with a subscript for each dimension.
 */
#ifndef RS_ANALYZE_MODEL_H
#define RS_ANALYZE_MODEL_H

#include "analyze/polynomial.h"
#include "syntax/tree.h"

enum { RS_SUBSCRIPT_LIMIT = 6 };

typedef struct {
    int symbol;
    int parent; /* the loop around it; -1 for none */
    int line;
    size_t offset;       /* of its statement, in the flat text */
    int64_t step;        /* 1: the symbol is the loop's own variable; else it counts from 0 */
    rs_polynomial lower; /* the first value of the symbol */
    rs_polynomial bound; /* is at least 0 in every iteration; or unknown */
    bool leaves_early;   /* break, goto or return inside */
    bool shortened;      /* it may end before its bound says */
    bool
        meets; /* of a kernel: what other work-items of the group stored may come to light inside */
    char *carried;     /* a scalar that brings its value from one iteration to the next, or NULL */
    bool guessed;      /* some function may change that scalar, and nothing else does */
    char *reduced;     /* a scalar that gathers a sum or another reduction, or NULL */
    char *unsupported; /* something in its body that is not followed exactly, or NULL */
    int unsupported_line;
} rs_loop;

typedef enum { RS_SPACE_GLOBAL, RS_SPACE_CONSTANT, RS_SPACE_LOCAL, RS_SPACE_PRIVATE } rs_space;

typedef struct {
    char *name;
    char *type;                          /* of an element */
    int64_t element;                     /* bytes; 0 when not known */
    int dimensions;                      /* the most subscripts met */
    int64_t extents[RS_SUBSCRIPT_LIMIT]; /* of declared dimensions; 0: not known */
    rs_space space;
    bool argument;
    bool vector; /* its elements are short vectors such as float4 */
    bool read, written;
    int scope;       /* the loop that it is declared in, -1 for none */
    uint64_t key;    /* of its declaration */
    uint64_t memory; /* the same for all views of one memory */
    uint64_t owner;  /* the memory that has the pointers to it; its own for an array of pointers */
    int64_t pointer; /* where in an element of the owner, in bytes */
    int64_t pitch;   /* bytes from one first subscript to the next; 0: not known */
    int mixed;       /* 1 + the array under whose name a pointer into either of them goes; or 0 */
    bool own;        /* a member of a variable, of which each work-item has one */
    bool filled;     /* declared with its contents: what its pointers point to is not followed */
} rs_array;

typedef struct {
    int array;
    int line;
    size_t offset; /* in the flat text */
    bool read, written, atomic;
    int count; /* subscripts */
    rs_polynomial subscripts[RS_SUBSCRIPT_LIMIT];
    int64_t strides[RS_SUBSCRIPT_LIMIT]; /* bytes; 0: not known */
    int path;                            /* leading subscripts that say which pointer was loaded */
    int pointers;                        /* that were loaded on the way */
    bool loose;                          /* it may have left its row */
    int stored;                          /* what a store there may change, an rs_stored */
    bool loads_pointer;                  /* what is read is a pointer, which is followed */
    char *member;                 /* "x" or "pos.x" of an element that is a record, or NULL */
    int64_t member_offset, width; /* bytes in the element that are touched */
    unsigned components;          /* of a vector: those of the bytes, a bit each; 0: all */
    int loop;                     /* the innermost loop around it; -1 */
    int order;                    /* of execution in one iteration */
    int partner;                  /* 1 + the other reference of "x[e] = x[e] + ..."; 0 for none */
    bool reduces;                 /* "x[e] op= ..." whose order may be changed */
    bool guarded;                 /* below a condition */
    uint64_t decided;             /* columns: conditions that vary with them may rule it out */
    bool approximated;            /* clamped or merged: the common case was taken */
    bool understood;              /* false: handed to something that is not followed */
    bool around;                  /* other elements of its array may be touched as well */
    bool anywhere;                /* it may lie in another array than this one */
    char *text;
} rs_reference;

/* Whether it leaves some of its bytes alone: those of components that lie between others. */
static inline bool rs_reference_has_gaps(const rs_reference *r)
{
    return (r->components & (r->components + 1)) != 0;
}

typedef struct {
    char *name; /* of the kernel or function */
    int line;
    bool kernel;
    const rs_syntax_declaration *declaration;
    rs_symbols symbols;
    rs_loop *loops;
    int loop_count;
    rs_array *arrays;
    int array_count;
    rs_reference *references;
    int reference_count;
    int64_t group[3]; /* the work-group's extents if the source fixes them, else 0 */
} rs_unit;

typedef struct {
    char *file;
    int line;
    char *sentence;
} rs_note;

typedef struct {
    rs_unit *units;
    int unit_count;
    rs_note *notes;
    int note_count;
} rs_model_set;

/* Each returns NULL (or false) when memory is short. */
rs_unit *rs_model_add_unit(rs_model_set *set, const char *name, int line, bool kernel);
void rs_model_drop_unit(rs_model_set *set); /* the last one */
rs_loop *rs_unit_add_loop(rs_unit *unit);
rs_array *rs_unit_add_array(rs_unit *unit, const char *name);
rs_reference *rs_unit_add_reference(rs_unit *unit);
bool rs_model_note(rs_model_set *set, const char *file, int line, const char *format, ...)
    RS_PRINTF(4, 5);
void rs_model_set_free(rs_model_set *set);

/*
 * When all references are there: loaded pointers that the unit stores may point anywhere, and
 * loads of pointers that it does not store are no references of their own.
 */
void rs_unit_settle_pointers(rs_unit *unit);

/* Whether `loop` is `outer` or lies in it. */
bool rs_unit_is_within(const rs_unit *unit, int loop, int outer);

/* The columns that go with a loop's symbol. */
uint64_t rs_loop_varies(const rs_unit *unit, int loop);

#endif
