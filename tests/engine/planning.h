/* The kernels that plan chains, run one work-item after the other on this machine. */
#ifndef TESTS_ENGINE_PLANNING_H
#define TESTS_ENGINE_PLANNING_H

#include "engine/device/device.h"

extern uint64_t planning_item; /* the work-item that runs */

typedef void planning_kernel(const rs_device_argument *list);

planning_kernel planning_families_narrow;
planning_kernel planning_families_wide;
planning_kernel planning_walk_marks;
planning_kernel planning_pick_cuts;
planning_kernel planning_join_marks;

/* a * b modulo `modulus`, as the kernel finds it. */
uint64_t planning_multiply(uint64_t a, uint64_t b, uint64_t modulus);

#endif
