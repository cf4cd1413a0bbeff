/*
 * Images of run-time compiled programs, by what they consist of: which other image holds the
 * program's kernels and their second forms. NVRTC makes both (nvrtc.h); a program may keep its own
 * on disk and load it in a later process, so the pairs are kept on disk as well (base/store.h).
 */
#ifndef RS_LAYER_CUDA_IMAGES_H
#define RS_LAYER_CUDA_IMAGES_H

#include "layer/cuda/forms.h"

typedef struct {
    void *bytes; /* of the image that takes its place */
    size_t size;
    rs_forms forms;    /* that are described for it, */
    char *description; /* by this text */
} rs_image;

/* Bytes of an image in memory: of a cubin by its own headers, of PTX up to its end. 0: it is
 * neither, and nothing of it is read beyond what tells so. */
size_t rs_image_size(const void *image);

/* The same of memory of so many bytes and one that is zero; 0: it is larger. */
size_t rs_image_size_within(const void *image, size_t size);

/* Keeps a pair for this process and later ones. RESTRIDE_OUT_OF_MEMORY; RESTRIDE_SYNTAX for a
 * description that cannot be read. */
restride_status rs_image_keep(const void *image, size_t size, const void *other, size_t other_size,
                              const char *description);

/* What takes an image's place, or NULL; it stays for good. Any thread. */
const rs_image *rs_image_find(const void *image);

#endif
