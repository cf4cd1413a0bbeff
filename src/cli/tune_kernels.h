/* Kernels before they are asked for. */
#ifndef RS_CLI_TUNE_KERNELS_H
#define RS_CLI_TUNE_KERNELS_H

#include "restride/engine.h"

/* Has the kernels of all kinds compiled and stored, for the device of a CUDA engine. */
restride_status rs_tune_kernels(restride_engine *engine);

#endif
