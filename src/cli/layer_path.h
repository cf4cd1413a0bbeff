/* Where the OpenCL layer lies that belongs to the running restride program. */
#ifndef RS_CLI_LAYER_PATH_H
#define RS_CLI_LAYER_PATH_H

#include "base/status.h"

/* The path of the running executable. On success the caller frees *path. */
restride_status rs_cli_executable_path(char **path);

/*
 * The layer's absolute path: ../lib/restride/ beside the executable's folder when installed,
 * ../lib/ in a build folder. On success the caller frees *path; RESTRIDE_IO when there is no layer.
 */
restride_status rs_cli_layer_path(char **path);

#endif
