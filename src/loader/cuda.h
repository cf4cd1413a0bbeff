/* The CUDA driver and NVRTC in the eyes of the audit library: see cuda.c. */
#ifndef RS_LOADER_CUDA_H
#define RS_LOADER_CUDA_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* What ld.so is to say of a file's bindings; `mark` is the file's from then on. */
unsigned rs_loader_cuda_open(const struct link_map *map, uintptr_t *mark);

/* Whether a name that one file asks for and another defines is followed. */
bool rs_loader_cuda_is_followed(uintptr_t from, uintptr_t to);

/* What such a name is bound to; `is_asked`: by dlsym(). */
uintptr_t rs_loader_cuda_bind(const char *name, uintptr_t function, bool is_asked);

#endif
