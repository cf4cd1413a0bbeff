/*
 * Images that programs link at run time by nvJitLink. Where one of the inputs is an image that has
 * a companion (images.h), the same is linked once more with the companion; when the program loads
 * the linked image, the driver gets that one. So it is when the linked image is taken; a link with
 * -lto, and one of several such images, is left as it is.
 *
 * A kernel that calls a function of another input has its body elsewhere: it is not closed.
 */
#ifndef RS_LAYER_CUDA_LINKS_H
#define RS_LAYER_CUDA_LINKS_H

#include "layer/cuda/driver.h"

/* What is followed of nvJitLink, by the names with and without a version; NULL: the function is the
 * program's own business. */
const rs_entry_kind *rs_link_kind(const char *name);

#endif
