/* Drivers that the OpenCL loader does not find. */
#ifndef RS_ENGINE_OPENCL_DRIVERS_H
#define RS_ENGINE_OPENCL_DRIVERS_H

#include <CL/cl_icd.h>
#include <stdbool.h>

/*
 * Lets the table's clGetPlatformIDs answer with a driver of this machine that no .icd file names,
 * where the loader knows none and no variable says where it should look. The table must stay where
 * it is. Of several tables, the first alone.
 */
void rs_opencl_add_drivers(cl_icd_dispatch *table);

/* Whether a table has answered with such a driver. */
bool rs_opencl_has_added_driver(void);

#endif
