/* CUDA C++ for libclang: the device's side of a source, without CUDA's own headers. */
#include "source/cuda.h"

#include <string.h>

extern const char rs_cuda_prelude[];

#define PRELUDE_NAME "/restride-cuda.h"

static bool is_of_device(const rs_tree *tree, int function)
{
    for (int n = tree->nodes[function].first; n >= 0; n = tree->nodes[n].next)
        if (tree->nodes[n].kind == CXCursor_CUDAGlobalAttr ||
            tree->nodes[n].kind == CXCursor_CUDADeviceAttr)
            return true;
    return false;
}

/* The body of a function of the host's calls what nobody has declared here, and launches kernels.
 */
bool rs_cuda_forgive(const rs_tree *tree, size_t offset)
{
    for (int f = tree->nodes[0].first; f >= 0; f = tree->nodes[f].next) {
        if (tree->nodes[f].kind != CXCursor_FunctionDecl || is_of_device(tree, f))
            continue;
        for (int n = tree->nodes[f].first; n >= 0; n = tree->nodes[n].next)
            if (tree->nodes[n].kind == CXCursor_CompoundStmt && offset > tree->nodes[n].begin &&
                offset < tree->nodes[n].end)
                return true;
    }
    return false;
}

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
                                            "-Wno-everything",
                                            "-ferror-limit=0"};
    const rs_tree_file prelude = {PRELUDE_NAME, rs_cuda_prelude, strlen(rs_cuda_prelude)};
    return rs_tree_parse_as(tree, text, size, arguments,
                            (int)(sizeof arguments / sizeof arguments[0]), &prelude);
}
