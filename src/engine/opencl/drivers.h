/* Drivers that the OpenCL loader does not find. */
#ifndef RS_ENGINE_OPENCL_DRIVERS_H
#define RS_ENGINE_OPENCL_DRIVERS_H

#include <CL/cl_icd.h>
#include <stdbool.h>

/*
 * Lets the table's clGetPlatformIDs tell, behind the loader's platforms, those of a GPU's driver
 * that is on this machine and that the loader does not know, for no .icd file names it; where the
 * loader knows none at all, PoCL's, too. Not where a variable says which folder has the drivers.
 * The table must stay where it is. Of several tables, the first alone.
 */
void rs_opencl_add_drivers(cl_icd_dispatch *table);

/* Whether such a table has told this platform, and the loader has not. */
bool rs_opencl_has_added(cl_platform_id platform);

#endif
