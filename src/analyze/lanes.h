/* What a kernel's lanes do with its arrays, for the judge of layouts. */
#ifndef RS_ANALYZE_LANES_H
#define RS_ANALYZE_LANES_H

#include "analyze/access.h"
#include "judge/judge.h"

#include <jansson.h>

typedef struct {
    rs_judge_kernel kernel;
    int arrays[RS_JUDGE_MOST_ARGUMENTS];   /* of the unit, for each argument */
    bool records[RS_JUDGE_MOST_ARGUMENTS]; /* an array of structures, or a flat one of records */
    int flat[RS_JUDGE_MOST_ARGUMENTS];     /* words of a flat array's record; 0: it is none */
} rs_kernel_lanes;

/* The judgement as JSON, for a device of rs_judge_read_device(); the caller's. */
restride_status rs_kernel_lanes_judge(const rs_kernel_lanes *lanes, const char *device,
                                      json_t **judgement);
restride_status rs_kernel_judge(const rs_accesses *accesses, int64_t group, const char *device,
                                json_t **judgement);

#endif
