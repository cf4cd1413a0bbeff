/*
 * How the cycles of a permutation are cut into pieces when a stage of planned chains is made: by
 * arithmetic (families.c) where it is a multiplication modulo a number, else by walks (walks.c).
 */
#ifndef RS_ENGINE_DEVICE_CHAINS_H
#define RS_ENGINE_DEVICE_CHAINS_H

#include "engine/device/device.h"
#include "engine/slots.h"

enum {
    RS_CHAINS_SHAPE_NUMBERS = 6,
    RS_CHAINS_MOST_ARGUMENTS = 24,
    RS_CHAINS_BATCH = 8,            /* super-elements under way at once */
    RS_CHAINS_SHORT_PIECES = 2,     /* cycles up to so many pieces long move whole */
    RS_CHAINS_WHOLE = (1 << 28) + 1 /* pieces of this length: none, all cycles stay whole */
};

/* The kernels of planning come first; arithmetic has one. */
enum {
    RS_CHAINS_CUT_FAMILIES,
    RS_CHAINS_WALK_MARKS = 0,
    RS_CHAINS_PICK_CUTS,
    RS_CHAINS_JOIN_MARKS
};

/* Super-elements that are transposed as they move; all zero: they are not. */
typedef struct {
    uint32_t rows; /* elements */
    uint32_t cols;
    uint32_t element_words;
    uint32_t pitch;
    uint32_t room; /* under way at once */
} rs_chains_tile;

typedef struct {
    uint64_t shape[RS_CHAINS_SHAPE_NUMBERS]; /* total, a, b, c, magic of a, magic of b */
    bool columns;                            /* COLUMNS, not REVERSE */
    bool wide;                               /* positions of 64 bits */
    uint32_t words;                          /* of a super-element; of a panel's row */
    uint32_t split;                          /* of those a work-item has */
    uint32_t lanes;                          /* work-items of a super-element */
    uint32_t row_words;                      /* COLUMNS */
    rs_chains_tile tile;
    size_t modulus; /* not 0: by arithmetic, and `factor`, `fields` and `turn` are for that */
    size_t factor;  /* position q of a field receives from q * factor modulo `modulus` */
    size_t fields;  /* that the positions have, one behind the other */
    size_t turn;    /* so much further on a field begins than the one before; modulo `modulus` */
    uint32_t bits;  /* positions have no more */
    uint32_t short_length; /* cycles up to this move whole */
    size_t piece_length;
    uint32_t pieces;
    uint32_t piece_room;   /* in the table */
    uint64_t leader_count; /* short cycles; positions to look at when they are not listed */
    uint32_t listed;
    uint32_t leader_room;
    rs_device_memory digits; /* of a place of slots; NULL: the permutation is another */
    uint32_t digit_counts[RS_SLOTS_PHASES]; /* that the kernels have room for */
    rs_device_memory positions; /* where pieces start, where they end, leaders if listed; or NULL */
} rs_chains_plan;

/* What planning has of a stage. */
typedef struct {
    rs_device_stage *stage;
    rs_chains_plan *plan;
    size_t limit;
} rs_chains_planning;

/* Each fills in `short_length` and all behind it. */
restride_status rs_chains_by_families(const rs_chains_planning *p);
restride_status rs_chains_by_walks(const rs_chains_planning *p);

/* ---- the digits of slots (digits.c) ---- */

/* Puts them into the device's memory, plan->digits, and tells what room each phase has. */
restride_status rs_chains_keep_digits(rs_device_stage *stage, rs_chains_plan *plan,
                                      const rs_slots *slots);
size_t rs_chains_digits_bytes(const rs_chains_plan *plan);

/* ---- what both need (chains.c) ---- */

/* Long pieces where there is much to move, short ones where there is little, and as long as the
 * limit asks for when pieces are `share` of it in the mean. */
size_t rs_chains_first_length(const rs_chains_planning *p, double share);

/* The next to try after `length`, which made `pieces`, more than fit. */
size_t rs_chains_longer(const rs_chains_planning *p, size_t length, size_t pieces);

/* Within the limit. */
size_t rs_chains_most_pieces(const rs_chains_planning *p);
size_t rs_chains_most_leaders(const rs_chains_planning *p);

/* The bits of all numbers below `total`, which is more than 0. */
uint32_t rs_chains_bits(uint64_t total);

size_t rs_chains_position_bytes(const rs_chains_plan *plan);

/* Positions that the table of a plan has. */
static inline size_t rs_chains_room(size_t pieces, size_t leaders)
{
    return 2 * pieces + leaders;
}

/* `count` things of `size` bytes, or of one byte when there are none. */
restride_status rs_chains_allocate(const rs_chains_planning *p, size_t count, size_t size,
                                   rs_device_memory *memory);
void rs_chains_release(const rs_device_stage *stage, rs_device_memory memory); /* NULL: nothing */

typedef struct {
    rs_device_argument list[RS_CHAINS_MOST_ARGUMENTS];
    size_t count;
} rs_chains_arguments;

/* They point to what they are made of. */
void rs_chains_add(rs_chains_arguments *to, rs_device_argument argument);
void rs_chains_add_shape(rs_chains_arguments *to, const rs_chains_plan *plan);

/* A work-item each for `items`, or some more. */
void rs_chains_launch(const rs_chains_planning *p, rs_device_sequence *sequence, int kernel,
                      const rs_chains_arguments *arguments, size_t items);

/* The same, rounded up as a launch does. */
size_t rs_chains_round_items(const rs_chains_planning *p, size_t items);

#endif
