/* The parts of an installation, found from the running program. */
#ifndef RS_CONSOLE_PARTS_H
#define RS_CONSOLE_PARTS_H

#include "base/status.h"

#define RS_PART_PROGRAM "restride"
#define RS_PART_LAYER "librestride_layer.so"
#define RS_PART_CUDA_LAYER "librestride_layer_cuda.so"
#define RS_PART_LOADER "librestride_loader.so"
#define RS_PART_REWRITER "restride-rewrite"
#define RS_PART_ANALYZER "restride-analyze"
#define RS_PART_RECORDER "librestride_recorder.so"

/*
 * The absolute path of a part: in ../lib/restride/ beside the executable's folder when installed,
 * in ../lib/ of a build folder; the program itself in ../bin/. On success the caller frees *path;
 * RESTRIDE_IO when it is not there.
 */
restride_status rs_cli_part_path(const char *part, char **path);

#endif
