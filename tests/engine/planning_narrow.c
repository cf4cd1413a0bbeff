/* Positions of 32 bits. */
#define POSITION uint
#define FAMILIES planning_families_narrow
#include "planning_kernels.h"
