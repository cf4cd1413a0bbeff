/* The device of restride-lab check, with the program that has the nests' kernels. */
#ifndef RS_LAB_CLI_CHECK_DEVICE_H
#define RS_LAB_CLI_CHECK_DEVICE_H

#include "lab/cli/check_train.h"

typedef struct {
    restride_engine *engine;
    const cl_icd_dispatch *api;
    cl_command_queue queue;
    cl_context context;
    cl_device_id id;
    cl_program program;
    rs_train_track track;
    char name[256];
} rs_check_device;

/* `device` as for --device; NULL: the first GPU, else the first device. */
restride_status rs_check_open(rs_check_device **device, const char *name);
void rs_check_close(rs_check_device *device);
const char *rs_check_device_name(const rs_check_device *device);

/* Builds the source of a reply of the application. */
restride_status rs_check_build(rs_check_device *device, const char *source);

/* Seconds from one launch of a kernel that does nothing to the next, and what each work-group of
 * 128 adds. After rs_check_build(). */
restride_status rs_check_time_launch(rs_check_device *device, double *launch, double *group);

#endif
