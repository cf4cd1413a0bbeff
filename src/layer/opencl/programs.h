/* Programs, their rewriting, and what it asks the device's compiler. */
#ifndef RS_LAYER_PROGRAMS_H
#define RS_LAYER_PROGRAMS_H

#include "layer/core/rewriter.h"
#include "layer/opencl/driver.h"

/* Whether rewriting was tried. */
typedef enum { RS_UNPREPARED, RS_BEING_PREPARED, RS_PREPARED } rs_preparation;

typedef struct {
    rs_program core;
    cl_program handle;
    unsigned references;
    unsigned live_kernels; /* and one while it is being prepared: what is read then stays */
    rs_group context;
    const char *unknown;        /* why it cannot be rewritten, or NULL */
    rs_preparation preparation; /* since the last build */
    char *left;                 /* why the whole program stays as it is, or NULL */
    char *options;
    char *origin_options; /* from a binary whose source is known: those it was built with */
    rs_device *devices;   /* of the last build */
    unsigned device_count;
    unsigned builds;           /* begun so far */
    unsigned builds_under_way; /* of them */
    bool is_as_recorded;       /* the last one succeeded, with these options and devices */
    json_t *kernels;           /* of the rewriter's reply */
} rs_layer_program;

/* NULL when unknown. */
static inline rs_layer_program *rs_program_find(cl_program handle) RS_LOCKED
{
    return rs_map_get(&rs_opencl.programs, handle);
}

/* That of a kernel, or NULL. */
static inline rs_layer_program *rs_program_of(const rs_kernel *kernel)
{
    return (rs_layer_program *)kernel->program;
}

/* Makes the record of a program that has no more than these, and takes over `source`; `unknown` is
 * why it cannot be rewritten, or NULL. NULL when memory is short. */
rs_layer_program *rs_program_new(cl_program handle, cl_context context, char *source,
                                 const char *unknown) RS_LOCKED;

/* A new build begins. */
void rs_program_forget_rewriting(rs_layer_program *program) RS_LOCKED;

/* Rewrites a program once after each build: sets its record's `rewritten` and `kernels`, or notes
 * why not. Called without the lock; others may call it meanwhile. */
void rs_program_prepare(cl_program handle) RS_UNLOCKED;

/* The number of the build that the driver's kernels come from. 0: none that the record knows of. A
 * kernel is what the record says if this was the same before the driver made it and is so still. */
unsigned rs_program_build(cl_program handle) RS_UNLOCKED;
unsigned rs_program_recorded_build(const rs_layer_program *program) RS_LOCKED; /* NULL: 0 */

/* Whether policy auto may ever want one of the `kernels` of the rewriter's reply in its rewritten
 * form, or the user does: also one that gains nothing may find buffers that others of its context
 * have had converted. The devices are those of the last build. Called with the lock. */
bool rs_program_may_gain(const rs_layer_program *program, const json_t *kernels) RS_LOCKED;

/* Frees the record once neither the program nor a kernel of it is in use. */
void rs_program_trim(rs_layer_program *program) RS_LOCKED;

/* Whether the driver built the program with these options; a build that it refused leaves others.
 */
bool rs_program_was_built_with(const rs_layer_program *program, const char *options);

/* Whether a binary is known to come from a source, in this run or an earlier one, and then which
 * and with what options; the caller frees both. */
bool rs_binary_origin(const unsigned char *binary, size_t size, char **source, char **options);

/*
 * Asks a device's compiler which of the macros `names` it predefines, and as what those of
 * `values`, by building kernels whose names tell, and adds the answers to the object `macros`: a
 * value, true for one that was not asked for, null for not defined. False when it cannot be known.
 */
bool rs_macros_ask(const rs_layer_program *program, cl_device_id device, json_t *names,
                   json_t *values, json_t *macros);

#endif
