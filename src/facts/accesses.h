/*
 * What a kernel does with the arrays of structures that its arguments point to: for each access the
 * element's number as a form (forms.h), the bytes of the element, and whether it reads, writes or
 * is atomic. References and pointers to elements are followed, into functions of the source as
 * well; of an element that is copied to a variable those members count that the variable is asked
 * for.
 *
 * These facts are for judging what a layout gains. What is not followed is said in `unknown`; an
 * access that is made through it is missing.
 */
#ifndef RS_FACTS_ACCESSES_H
#define RS_FACTS_ACCESSES_H

#include "facts/forms.h"
#include "syntax/tree.h"

typedef struct {
    int outer;       /* the loop around it, or -1 */
    long long count; /* rounds where they are constant, else 0 */
    bool varies;     /* its rounds differ among the threads of a group */
    bool is_open;    /* only what is inside ends it */
    double for_each; /* rounds for each of the kernel's threads, as of a loop over all elements:
                        it ends where the numbers of threads do; 0: else */
    double work;     /* instructions of a round, inner loops aside */
} rs_fact_loop;

typedef struct {
    size_t parameter;
    rs_fact_form index;             /* of the element */
    long long offset, size;         /* bytes of the element that it may touch */
    bool is_inner_lane;             /* which of them depends on the thread */
    unsigned long long inner_loops; /* likewise the rounds of which loops: bits, the first 64 */
    bool reads, writes, is_atomic;
    bool is_copying; /* all of the element becomes a variable: what is asked of that counts, as: */
    bool of_copy;    /* such a variable's members */
    bool is_conditional; /* some threads leave it out, beside the bounds of the whole kernel */
    double share;        /* of the threads that make it, as far as the source tells */
    int loop;            /* the innermost, or -1 */
    rs_syntax_range range;
} rs_fact_access;

typedef struct {
    const rs_syntax_declaration *kernel;
    rs_fact_access *accesses;
    size_t access_count;
    rs_fact_loop *loops;
    size_t loop_count;
    double work;         /* instructions of a thread outside of loops */
    double shared_bytes; /* of arrays of a group, whose size is constant */
    double group;        /* threads of one, where all launches in the source agree; else 0 */
    struct rs_fact_unknown {
        size_t parameter;
        rs_syntax_range range;
        const char *what; /* a construct, for a sentence */
    } * unknown;
    size_t unknown_count;
} rs_fact_accesses;

/* RESTRIDE_OUT_OF_MEMORY; then nothing is to be freed. */
restride_status rs_fact_accesses_read(rs_fact_accesses *facts, rs_syntax *tree,
                                      const rs_syntax_declaration *kernel);
void rs_fact_accesses_free(rs_fact_accesses *facts);

#endif
