/*
 * Second forms of a CUDA program's kernels, as their descriptions tell them (companion/forms.h has
 * the JSON). `restride nvcc` puts a description into each object, as an ELF note in the section
 * `restride_forms`: linkers keep notes, also of unused sections and of archives' members, and strip
 * leaves them. NVRTC programs' descriptions come from the rewriter.
 *
 * A note's name is "Restride", its type 1, its text the JSON; blanks may follow.
 *
 * Names. nvcc gives a kernel another name than the description where its linkage is internal: with
 * -rdc it stands behind a prefix, and a namespace without a name is named after the file. Kernels
 * are found by either, and rs_form_symbol() gives that of the second form in the same module.
 *
 * Two objects may describe different kernels by one name, both static. Such a name is not found: a
 * module does not tell which object it came from.
 *
 * Other kernels of the same sources are described, too: which memory they reach. They are found by
 * their very names. A module that another compiler made may have a kernel of the same name: a
 * description is believed of a module that has its witness, one of the description's second forms.
 */
#ifndef RS_LAYER_CUDA_FORMS_H
#define RS_LAYER_CUDA_FORMS_H

#include "base/status.h"
#include "layout/record.h"

#include <stdbool.h>
#include <stddef.h>

#define RS_FORMS_SECTION "restride_forms"
#define RS_FORMS_OWNER "Restride"
enum { RS_FORMS_NOTE = 1, RS_FORM_MOST_GROUP = 64 };

/* How the elements of all transformed arguments are numbered; see restride_form in
 * src/companion/prelude.cuh. A full form holds where each array is whole tiles, or has the memory
 * for them, and is pointed to at a whole tile; one that is not large where the bytes of each array
 * are less than 2^31. */
typedef enum {
    RS_SECOND_FULL,
    RS_SECOND_RAGGED,
    RS_SECOND_FULL_LARGE,
    RS_SECOND_RAGGED_LARGE,
    RS_FORM_KINDS
} rs_form_kind;

typedef struct {
    size_t index; /* of the parameter */
    char *name, *type, *layout;
    bool is_transformed;
    size_t tile, extent; /* transformed: i/T f i%T; the index of the added restride_extent */
    size_t group;        /* so many records are one element of a tile: i/(TG) i%G f i/G%T; else 1 */
    rs_record record;    /* one of them */
    char *reason, *file; /* kept; `file` may be NULL */
    size_t line;
} rs_form_argument;

typedef struct {
    char *symbol, *name;
    size_t parameters;           /* its own */
    char *second[RS_FORM_KINDS]; /* all NULL: there is none */
    char *witness; /* a symbol that its module has; NULL: not known, and there are second forms */
    rs_form_argument *arguments;
    size_t argument_count;
    double gain; /* of all transformed arguments together; 0: not known */
    char *why;
    double few_threads, few_gain; /* the same of launches of fewer threads; 0: as of others */
    char *few_why;
    bool is_closed;    /* it reaches memory by its parameters alone */
    char *open;        /* why not; may be NULL */
    bool is_ambiguous; /* never found */
} rs_form_kernel;

/* All zero to begin with. */
typedef struct {
    rs_form_kernel *kernels;
    size_t count;
    unsigned long long loaded; /* objects that were there when they were looked at */
} rs_forms;

/* Adds the kernels of a description. RESTRIDE_SYNTAX, with nothing added, for one of another
 * version or that is no description; RESTRIDE_OUT_OF_MEMORY. */
restride_status rs_forms_parse(rs_forms *forms, const char *text, size_t size);

/* Adds those of the notes in a part of memory, with notes aligned so; what is no note of ours is
 * passed over. */
restride_status rs_forms_read_notes(rs_forms *forms, const void *memory, size_t size, size_t align);

/* Adds those of a file: an object, an executable or a shared library of this machine. RESTRIDE_IO
 * when it cannot be read or is none. */
restride_status rs_forms_read_file(rs_forms *forms, const char *path);

/* Adds those of the executable and all libraries that are loaded and were not before: cheap where
 * nothing has been loaded since the last call. What cannot be read is passed over. */
restride_status rs_forms_read_loaded(rs_forms *forms);

/* The kernel that a module has under this name, or NULL. Valid until more are added. */
const rs_form_kernel *rs_forms_find(const rs_forms *forms, const char *symbol);

/* The name of a second form in the module in which the kernel is named `symbol`; the caller frees
 * it; NULL without memory. */
char *rs_form_symbol(const rs_form_kernel *kernel, rs_form_kind kind, const char *symbol);

void rs_forms_free(rs_forms *forms);

#endif
