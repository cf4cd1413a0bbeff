/* Reads CUDA C++ as nvcc's device compiler and NVRTC do. */
#ifndef RS_SOURCE_CUDA_H
#define RS_SOURCE_CUDA_H

#include "source/tree.h"

/*
 * Parses the device's side of a flat source. What CUDA's headers declare is known as far as
 * cuda_prelude.h has it; includes of system headers must have been taken out (flatten.h). A source
 * with errors gives RESTRIDE_OK with `failure` set.
 */
restride_status rs_tree_parse_cuda(rs_tree *tree, const char *text, size_t size);

/* For rs_tree_forgive(): the bodies of the host's functions, which are not understood. */
bool rs_cuda_forgive(const rs_tree *tree, size_t offset);

#endif
