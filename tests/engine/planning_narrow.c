/* Positions of 32 bits; and the kernels that walk 210!. */
#define POSITION uint
#define FAMILIES planning_families_narrow
#include "planning_kernels.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define GROUP_ID ((ulong)0)
#define GROUP_ID_2 ((ulong)0)
#define LOCAL_SIZE 1
#define UNROLL
#define MULTIPLY_HIGH_32(a, b) ((uint)(((ulong)(a) * (b)) >> 32))
#define INCREMENT(pointer) ((*(pointer))++)
#define ADD(pointer, value) ((*(pointer) += (value)) - (value))
#define SET_BITS(pointer, bits) (*(pointer) |= (bits))
#define ARRIVED(bits) (void)(bits)
#define REVERSE
#define WORD uint
#define SPLIT 1
#define BATCH 1
#define TEAM 32
#include "../../src/engine/kernels/positions.cl"
#include "../../src/engine/kernels/walks.cl"

void planning_walk_marks(const rs_device_argument *list)
{
    walk_marks(VALUE(uint *, 0), VALUE(uint, 1), VALUE(uint, 2), VALUE(ulong, 3), VALUE(ulong, 4),
               VALUE(ulong, 5), VALUE(ulong, 6), VALUE(ulong, 7), VALUE(ulong, 8));
}

void planning_pick_cuts(const rs_device_argument *list)
{
    pick_cuts(VALUE(uint *, 0), VALUE(uint, 1), VALUE(uint, 2), VALUE(uint, 3), VALUE(ulong, 4));
}

void planning_join_marks(const rs_device_argument *list)
{
    join_marks(VALUE(uint *, 0), VALUE(uint *, 1), VALUE(uint, 2), VALUE(uint, 3), VALUE(uint, 4),
               VALUE(ulong, 5), VALUE(uint, 6), VALUE(uint, 7), VALUE(uint, 8), VALUE(ulong, 9),
               VALUE(ulong, 10), VALUE(ulong, 11), VALUE(ulong, 12), VALUE(ulong, 13),
               VALUE(ulong, 14));
}
