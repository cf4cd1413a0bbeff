/* What the stages of transposition do with one matrix, by their definitions (engine/stage.h). */
#ifndef DEFINITIONS_H
#define DEFINITIONS_H

#include "engine/stage.h"

void reference_stage(unsigned char *after, const unsigned char *before,
                     const rs_transpose_task *task);

#endif
