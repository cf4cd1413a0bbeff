/* Restride: change the stride of the data, not the program. Everything that needs no OpenCL header.
 */
#ifndef RESTRIDE_RESTRIDE_H
#define RESTRIDE_RESTRIDE_H

#include "restride/convert.h"
#include "restride/engine.h"
#include "restride/irregular.h"
#include "restride/irregular_device.h"
#include "restride/layout.h"
#include "restride/plan.h"
#include "restride/status.h"
#include "restride/transpose.h"
#include "restride/wisdom.h"

#endif
