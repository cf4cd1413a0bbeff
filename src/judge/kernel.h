/*
 * What the judge of layouts is told of a kernel, and the layouts that it knows. The structures know
 * no front end: whoever reads a source fills them. Numbers that are not known are 0.
 */
#ifndef RS_JUDGE_KERNEL_H
#define RS_JUDGE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RS_JUDGE_MOST_FIELDS = 256,
    RS_JUDGE_MOST_ARGUMENTS = 16,
    RS_JUDGE_SOME_THREADS = 1 << 22 /* of a kernel of which that is not known */
};

/* What the lanes of a warp do with the elements in one execution of an access. */
typedef enum {
    RS_LANES_ONE,    /* lane i has element i */
    RS_LANES_GROUP,  /* lane i has the elements a i to a i + a - 1 */
    RS_LANES_WITHIN, /* neighbouring lanes have neighbouring fields of one element */
    RS_LANES_SAME,   /* all have one element, the next one in the next round of a loop */
    RS_LANES_GATHER, /* each has one that the data choose */
    RS_LANES_WALK,   /* each goes through consecutive elements, one in each round of a loop */
    RS_LANES_UNKNOWN
} rs_judge_lanes;

/* A leaf of the structure that the kernel touches: it moves as a whole in every layout. */
typedef struct {
    int offset; /* in the element, bytes */
    int bytes;  /* at most 16 */
} rs_judge_field;

/* All that a kernel does with one argument in one way, once for each element that a lane visits. */
typedef struct {
    const char *name;
    bool continues; /* another way to reach the array before: it has one layout in all of them */
    bool is_fixed;  /* it has no layout but its own; it counts in the kernel's time */
    int element;    /* bytes */
    int words;      /* of an element that is a record of a flat array; else 0 */
    int64_t count;  /* elements; 0: not known, taken as many */
    rs_judge_lanes lanes;
    int group;     /* GROUP: a; WALK: elements of a lane where that is constant; else 1 */
    double visits; /* of a lane to an element, or a group of elements; 0: not known */
    bool for_each; /* so many for each thread of the kernel, as of loops over all elements */
    double again;  /* how often each of them is repeated at once: found in the L1; 0: not */
    bool reads, writes, atomic;
    int field_count;
    rs_judge_field fields[RS_JUDGE_MOST_FIELDS];
    /* The judge's own: bytes of the touched fields of all uses, 0: of this one; and where each
     * field lies among them. */
    int apart, places[RS_JUDGE_MOST_FIELDS];
} rs_judge_argument;

typedef struct {
    const char *name;
    double threads;               /* 0: not known, taken as many */
    double group;                 /* of them in a work-group; 0: not known */
    double resident;              /* warps of a processor at a time, by registers; 0: not known */
    double local_bytes;           /* of local memory that a work-group takes */
    double instructions;          /* of a thread, beside its accesses to arguments; 0: not known */
    double instructions_for_each; /* more of them, for each thread of the kernel */
    int argument_count;
    rs_judge_argument arguments[RS_JUDGE_MOST_ARGUMENTS];
} rs_judge_kernel;

/*
 * Where a field of an element lies: i/(a T) i%a f i/a%T for T > 0, so {1, 1} is AoS and {32, 1}
 * ASTA with tiles of 32; T = 0 is SoA. `split`: the fields that the kernel touches are an array of
 * structures of their own.
 */
typedef struct {
    int tile;
    int group;
    bool split;
} rs_judge_layout;

static const rs_judge_layout rs_judge_aos = {.tile = 1, .group = 1, .split = false};

#endif
