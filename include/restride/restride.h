/*
 * Change the stride of the data, not the program: all of Restride that needs no OpenCL header.
 *
 *     float a[6] = {1, 2, 3, 4, 5, 6};
 *     if (restride_transpose(a, 2, 3, sizeof a[0]) != RESTRIDE_OK)   // 3 x 2: 1 4 2 5 3 6
 *         puts(restride_last_error());
 *     if (restride_convert(a, "i:2 f:3 float", "f i", "i f") != RESTRIDE_OK)   // and back
 *         puts(restride_last_error());
 *     assert(a[1] == 2);
 *
 * Three tiers, as the work asks for them: one call; an engine that keeps plans, or a plan that is
 * made once (restride/engine.h, restride/plan.h); options of plans and runs.
 */
#ifndef RESTRIDE_RESTRIDE_H
#define RESTRIDE_RESTRIDE_H

#include "restride/convert.h"
#include "restride/distributed.h"
#include "restride/engine.h"
#include "restride/irregular.h"
#include "restride/irregular_device.h"
#include "restride/layout.h"
#include "restride/plan.h"
#include "restride/status.h"
#include "restride/transpose.h"
#include "restride/version.h"
#include "restride/wisdom.h"

#endif
