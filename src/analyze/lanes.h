/* What a kernel's lanes do with its arrays, for the judge of layouts. */
#ifndef RS_ANALYZE_LANES_H
#define RS_ANALYZE_LANES_H

#include "analyze/program.h"
#include "judge/judge.h"

#include <jansson.h>

/* The judgement as JSON, for a device of rs_judge_read_device(); the caller's. */
restride_status rs_kernel_lanes_judge(const rs_judge_kernel *kernel, const char *device,
                                      json_t **judgement);

/* Of a unit that is a kernel; `group`: threads of its work-group, 0 where they are not known. */
restride_status rs_kernel_judge(const rs_translation_unit *program, const rs_unit *unit,
                                int64_t group, const char *device, json_t **judgement);

#endif
