/*
 * Kernels that plan chains as C of this machine: a file defines POSITION, and FAMILIES, the
 * function that it makes of the one in families.cl, and includes this.
 */
#include "planning.h"

typedef unsigned char uchar;
typedef unsigned int uint;
typedef uint64_t ulong;
__extension__ typedef unsigned __int128 product;

#define KERNEL static inline void
#define FUNCTION static inline
#define GLOBAL
#define GLOBAL_ID planning_item
#define MULTIPLY_HIGH(a, b) ((ulong)(((product)(a) * (b)) >> 64))

#include "../../src/engine/kernels/families.cl"

#define VALUE(type, index) (*(type const *)list[index].value)

void FAMILIES(const rs_device_argument *list)
{
    cut_families(VALUE(ulong *, 0), VALUE(uint, 1), VALUE(uint, 2), VALUE(uint, 3), VALUE(ulong, 4),
                 VALUE(ulong, 5), VALUE(ulong, 6), VALUE(ulong, 7), VALUE(ulong, 8),
                 VALUE(POSITION *, 9), VALUE(ulong, 10), VALUE(ulong, 11), VALUE(ulong, 12),
                 VALUE(uint, 13), VALUE(ulong, 14));
}
