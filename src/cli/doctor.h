/* What `restride doctor` looks at. Each check adds its findings to one JSON array, which is then
 * printed. */
#ifndef RS_CLI_DOCTOR_H
#define RS_CLI_DOCTOR_H

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>

typedef enum {
    RS_DOCTOR_WORKS,   /* found, and it works */
    RS_DOCTOR_FAILS,   /* found, but of no use here; something else may do its work */
    RS_DOCTOR_MISSING, /* without it `restride run` does not work */
    RS_DOCTOR_OPTIONAL /* not there, and not needed */
} rs_doctor_status;

/*
 * Adds one finding: what was looked at, what is so, and what to do about it (NULL: nothing).
 * Returns the new object for further members, a reference that belongs to the array; NULL when
 * memory is short.
 */
json_t *rs_doctor_add(json_t *findings, const char *subject, rs_doctor_status status,
                      const char *advice, const char *detail, ...) RS_PRINTF(5, 6);

/* OpenCL: the loader, whether programs get our layer, the drivers, and a small conversion on every
 * device. */
void rs_doctor_check_opencl(json_t *findings);

/* Whether this process, which the doctor has started with the environment of `restride run`, was
 * asked for the layer; if so, *loaded says whether it has come. */
bool rs_doctor_is_asked_for_layer(bool *loaded);

/* The CUDA driver, its devices and the run-time compiler. */
void rs_doctor_check_cuda(json_t *findings);

/* Whether `restride run` can follow CUDA programs; and whether this process is the child that finds
 * out: then *answer is its exit status. */
void rs_doctor_check_following(json_t *findings);
bool rs_doctor_is_asked_to_follow(int *answer);

#endif
