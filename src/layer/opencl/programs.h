/* Programs, their rewriting, and what it asks the device's compiler. */
#ifndef RS_LAYER_PROGRAMS_H
#define RS_LAYER_PROGRAMS_H

#include "layer/core/rewriter.h"
#include "layer/opencl/driver.h"

/* Whether rewriting was tried. */
typedef enum { RS_UNPREPARED, RS_BEING_PREPARED, RS_PREPARED } rs_preparation;

/* The program of the rewritten kernels: there is none; it is not wanted yet; ... */
typedef enum {
    RS_BUILD_NONE,
    RS_BUILD_WAITS,
    RS_BUILD_BEGUN, /* by a thread of the layer's own */
    RS_BUILD_DONE,
    RS_BUILD_REFUSED
} rs_rewritten_build;

/* The source of those kernels, and what it was made from besides the program's own. */
typedef struct {
    char *text, *options; /* NULL: there is none */
    json_t *macros;       /* that were assumed, to be checked; or NULL */
    char *macros_key;     /* under which they are kept */
} rs_rewritten_source;

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
    rs_rewritten_source rewritten_source;
    rs_rewritten_build rewritten_build;
    bool is_promising;     /* while it is being prepared: an earlier run promises a gain */
    double build_seconds;  /* that the driver took for the program's own */
    double build_estimate; /* seconds that the rewritten one was expected to take */
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

/* The same, but under policy auto, where nobody asked for a report, the rewriter is waited for only
 * a little: the kernels that the program makes meanwhile learn of their targets later. */
void rs_program_begin_preparing(cl_program handle) RS_UNLOCKED;

/* Waits while it is prepared, not for ever. */
void rs_program_wait_prepared(cl_program handle) RS_UNLOCKED;

/* The program is prepared: its kernels have targets from now on. */
void rs_kernels_take_targets(const rs_layer_program *program) RS_LOCKED;

/* The number of the build that the driver's kernels come from. 0: none that the record knows of. A
 * kernel is what the record says if this was the same before the driver made it and is so still. */
unsigned rs_program_build(cl_program handle) RS_UNLOCKED;
unsigned rs_program_recorded_build(const rs_layer_program *program) RS_LOCKED; /* NULL: 0 */

/* Whether one of the `kernels` of the rewriter's reply is wanted in its rewritten form before it is
 * launched: its policy is forced, or an earlier run promises a gain. The devices are those of
 * the last build. */
bool rs_program_is_wanted(const rs_layer_program *program, const json_t *kernels) RS_LOCKED;

/* ---- rewritten.c ---- */

/* Whether its build takes little of the program's time so far, as far as can be told. */
bool rs_program_can_build(const rs_layer_program *program) RS_LOCKED;

/* Builds the rewritten program. NULL: it cannot be had, and *refused is why, a constant string. */
void *rs_program_build_rewritten(const rs_layer_program *program, const rs_rewritten_source *source,
                                 const char **refused) RS_UNLOCKED;

/* Puts it, or NULL, into the record. */
void rs_program_take_rewritten(rs_layer_program *program, void *rewritten,
                               const char *refused) RS_LOCKED;

/* Keeps an argument as the program has set it, for forms that are made later; copies all of another
 * kernel's; and forgets them. */
void rs_kernel_keep_value(rs_kernel *kernel, size_t index, size_t size, const void *value,
                          bool is_pointer) RS_LOCKED;
void rs_kernel_copy_values(rs_kernel *copy, const rs_kernel *original) RS_LOCKED;
void rs_kernel_forget_values(rs_kernel *kernel) RS_LOCKED;

/* The kernel is not rewritten from here on, and why; NULL: the driver refused something. */
void rs_kernel_release_forms(rs_kernel *kernel, const char *reason) RS_LOCKED;

/* ---- programs.c, binaries.c, macros.c ---- */

/* Frees the record once neither the program nor a kernel of it is in use. */
void rs_program_trim(rs_layer_program *program) RS_LOCKED;

/* Whether the driver built the program with these options; a build that it refused leaves others.
 */
bool rs_program_was_built_with(const rs_layer_program *program, const char *options);

/* Whether a binary is known to come from a source, in this run or an earlier one, and then which
 * and with what options; the caller frees both. */
bool rs_binary_origin(const unsigned char *binary, size_t size, char **source, char **options);

/*
 * Asks the compilers of all devices, which must agree, which of the macros `names` they predefine,
 * and as what those of `values`, by building kernels whose names tell, and adds the answers to the
 * object `macros`: a value, true for one that was not asked for, null for not defined. False when
 * it cannot be known.
 */
bool rs_macros_ask(const rs_layer_program *program, json_t *names, json_t *values, json_t *macros,
                   bool *differ) RS_UNLOCKED;

/* ---- assumptions.c ---- */

/* The same without a compiler, as far as the names and the device tell; it may be wrong. False: not
 * all of them do, and `macros` is unchanged. */
bool rs_macros_assume(const rs_layer_program *program, const json_t *names, const json_t *values,
                      json_t *macros);

/* The same before the rewriter has asked: adds names that the source tests and that are taken for
 * undefined. False: there are none. */
bool rs_macros_assume_undefined(const rs_layer_program *program, json_t *macros);

/* The answers for a request to the rewriter, kept from run to run. They depend on more than the
 * key, so they are assumptions, too. rs_macros_recall() returns NULL when there are none. */
char *rs_macros_key(const rs_layer_program *program, const json_t *request);
json_t *rs_macros_recall(const char *key);
void rs_macros_remember(const char *key, const json_t *macros);

/* Whether the device's compiler predefines the macros that were assumed; if not, the next run is
 * told others. */
bool rs_program_check_macros(const rs_layer_program *program, const json_t *assumed,
                             const char *key) RS_UNLOCKED;

#endif
