/* What programs that measure or test on a device by its name have in common. */
#ifndef RS_TESTS_LAB_H
#define RS_TESTS_LAB_H

#include "engine/transfer.h"

/* An engine "opencl" (on the device that RESTRIDE_TEST_DEVICE names), "opencl-any-order" (the same
 * with a queue that runs commands out of order) or "cuda"; RESTRIDE_UNSUPPORTED, with a sentence,
 * when there is none here. */
restride_status lab_open(restride_engine **engine, const char *name);

/* All bytes of a buffer, to the device or from it. */
restride_status lab_upload(rs_transfer *transfer, void *buffer, void *host, size_t bytes);
restride_status lab_download(rs_transfer *transfer, void *host, void *buffer, size_t bytes);

/* Milliseconds since some moment. */
double lab_now(void);

/* The upper one of the two in the middle when `count` is even; sorts `times`. */
double lab_median(double *times, size_t count);

#endif
