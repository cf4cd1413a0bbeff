/*
 * Mangled names of kernels, whose linkage may be internal. clang and nvcc agree but for
 *
 *   _ZL5localP1P                   clang: a static function
 *   __nv_static_31__HASH__Z5localP1P   nvcc -rdc: the same, or an instance with a local type
 *   12_GLOBAL__N_1                 clang: a namespace without a name
 *   42_GLOBAL__N__HASH_4_x_cu_HASH nvcc: the same
 *
 * A plain name has none of the first and second, and of the others clang's.
 */
#ifndef RS_LAYER_CUDA_NAMES_H
#define RS_LAYER_CUDA_NAMES_H

/* The caller frees what these two return; NULL without memory. */
char *rs_name_plain(const char *symbol);

/* The name that a kernel with the plain name `plain` has where another one has the name `beside`.
 */
char *rs_name_beside(const char *plain, const char *beside);

#endif
