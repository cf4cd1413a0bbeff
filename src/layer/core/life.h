/*
 * The one layer of a process, from its loading to the process's end. A child that the program forks
 * has the forking thread alone. So there is no other in the layer at that moment, nor in a compiler
 * on the layer's behalf: what these hold would stay locked in the child.
 */
#ifndef RS_LAYER_LIFE_H
#define RS_LAYER_LIFE_H

#include "layer/core/state.h"

/* Called once. */
void rs_layer_begin(rs_layer *layer);

/* Writes a first report, and the last one when the process ends, where one is wanted. */
bool rs_layer_begin_report(rs_layer *layer) RS_UNLOCKED;

#endif
