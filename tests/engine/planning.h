/* The kernel that plans chains by arithmetic, run one work-item after the other on this machine. */
#ifndef TESTS_ENGINE_PLANNING_H
#define TESTS_ENGINE_PLANNING_H

#include "engine/device/device.h"

extern uint64_t planning_item; /* the work-item that runs */

void planning_families_narrow(const rs_device_argument *list);
void planning_families_wide(const rs_device_argument *list);

/* a * b modulo `modulus`, as the kernel finds it. */
uint64_t planning_multiply(uint64_t a, uint64_t b, uint64_t modulus);

#endif
