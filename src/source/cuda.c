/* CUDA C++ for libclang: the device's side of a source, without CUDA's own headers. */
#include "source/cuda.h"

#include <string.h>

extern const char rs_cuda_prelude[];

#define PRELUDE_NAME "/restride-cuda.h"

restride_status rs_tree_parse_cuda(rs_tree *tree, const char *text, size_t size)
{
    static const char *const arguments[] = {"-x",
                                            "cuda",
                                            "-std=c++17",
                                            "-nocudainc",
                                            "-Xclang",
                                            "-fcuda-allow-variadic-functions",
                                            "-nocudalib",
                                            "-nostdinc",
                                            "-nostdinc++",
                                            "--cuda-device-only",
                                            "--cuda-gpu-arch=sm_70",
                                            "-include",
                                            PRELUDE_NAME,
                                            "-Wno-everything"};
    const struct CXUnsavedFile prelude = {PRELUDE_NAME, rs_cuda_prelude, strlen(rs_cuda_prelude)};
    return rs_tree_parse_as(tree, text, size, arguments,
                            (int)(sizeof arguments / sizeof arguments[0]), &prelude);
}
