/*
 * Kernels: what is known of one, and its second forms, which lie in the module that it is of.
 *
 * What a launch may touch. A kernel is described where it, or another of its source, has second
 * forms (forms.h). If it is closed, it reaches memory by its parameters alone: by those that are
 * pointers, and by pointers in structures that are passed by value. So a launch uses the
 * allocations whose addresses its parameters have, at any byte of them, and no others. Any other
 * kernel may have pointers in memory of the device, from a copy or from an earlier kernel, so it
 * may use all memory.
 */
#ifndef RS_LAYER_CUDA_KERNELS_H
#define RS_LAYER_CUDA_KERNELS_H

#include "layer/core/choice.h"
#include "layer/cuda/driver.h"
#include "layer/cuda/forms.h"

/* A restride_extent of the companion. */
typedef struct {
    long long count, first;
} rs_cuda_extent;

enum { RS_CUDA_MOST_PARAMETERS = 256, RS_CUDA_MOST_INSIDE = 16 };

typedef struct {
    rs_kernel core;
    rs_program program;
    size_t parameters;          /* its own */
    size_t *sizes;              /* of the parameters */
    size_t *places;             /* of each in `values` */
    unsigned char *values;      /* of the last launch; those below 8 bytes do not count */
    bool is_closed;             /* no other memory than by those */
    bool reaches_many;          /* more allocations by structures than there is room for */
    rs_cuda_function own;       /* as the driver's functions on functions want it */
    char *symbol;               /* in the module */
    char *names[RS_FORM_KINDS]; /* of the second forms there */
    rs_cuda_function second[RS_FORM_KINDS]; /* NULL: it is not there */
    size_t second_parameters;
    size_t extents[RS_MOST_TARGETS]; /* the added parameter of each target */
    size_t groups[RS_MOST_TARGETS];  /* records in one of its relayout */
    bool has_looked;                 /* for the second forms */
    bool has_attributes;             /* they have those of the program's own */
} rs_cuda_kernel_record;

/* The record of what the program launches; NULL: memory is short. */
rs_cuda_kernel_record *rs_cuda_kernel_of(rs_cuda_function function) RS_LOCKED;

/* Takes the values of a launch's parameters. */
void rs_cuda_kernel_take_values(rs_cuda_kernel_record *kernel, void *const *values) RS_LOCKED;

/* Which of the second forms a launch on the buffers of the targets wants. */
rs_cuda_function rs_cuda_kernel_form(const rs_cuda_kernel_record *kernel) RS_LOCKED;

#endif
