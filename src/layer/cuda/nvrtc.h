/*
 * Programs that are compiled at run time, by NVRTC: each whose kernels have arrays of structures is
 * compiled once more, as its companion, with the same options and name expressions. When the
 * program loads the image that it got, the driver gets the companion's (images.h), which has all
 * that is in the program's own.
 *
 * The companion is made when the program takes an image: what is compiled for its log alone costs
 * nothing more. The rewriter works in a process of its own, and its answers are kept.
 */
#ifndef RS_LAYER_CUDA_NVRTC_H
#define RS_LAYER_CUDA_NVRTC_H

#include "layer/cuda/driver.h"
#include "layer/cuda/forms.h"

/* What is followed of NVRTC; NULL: the function is the program's own business. */
const rs_entry_kind *rs_nvrtc_kind(const char *name);

/* Loads a module or library (result, image, ...), perhaps from another image. */
rs_entry_handler rs_follow_load;

/* The descriptions that belong to a module, or NULL; and when a module or library is unloaded. */
const rs_forms *rs_nvrtc_forms_of(rs_cuda_module module);
void rs_nvrtc_forget(const void *handle);

#endif
