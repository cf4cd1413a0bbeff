/* A source as one flat text, and what is asked for when it is made (flatten.h). */
#ifndef RS_SOURCE_FLAT_H
#define RS_SOURCE_FLAT_H

#include "source/options.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *name;
    bool valued; /* an #if needs its value, and not only whether it is defined */
} rs_unknown_macro;

/* Where a line of the flat text came from; following lines count on from it. */
typedef struct {
    size_t offset; /* of the first byte of the line in the flat text */
    size_t line;   /* in the user's file */
    size_t file;   /* index into files */
} rs_place;

typedef struct {
    char *text;  /* as it is parsed: without comments */
    char *shown; /* the same bytes, with them */
    size_t size;
    size_t appendix; /* the first byte that is not the user's; the size when there is none */
    char **files;
    bool *is_read; /* for each of them: cpp read it; others are only named, by #line */
    size_t file_count;
    rs_place *places;
    size_t place_count;
    rs_unknown_macro *unknown; /* macros that are tested but defined by nobody, or as themselves,
                                  each once, sorted */
    size_t unknown_count;
    char *failure; /* why the source cannot be flattened, or NULL */
    char *failure_file;
    size_t failure_line;
} rs_flat;

/* Where a header in quotes is looked for, before the folders of the options. */
typedef enum {
    RS_BESIDE_NOTHING, /* in the working directory, where a source has no folder */
    RS_BESIDE_FIRST,   /* beside the file, and then in the working directory */
    RS_BESIDE_ALONE    /* beside the file, as compilers of C and C++ do */
} rs_beside;

typedef struct {
    const char *source, *file;
    const rs_options *options;
    char *const *definitions; /* preprocessor options for what the device's compiler predefines;
                                 they go before the program's own */
    size_t definition_count;
    const char *appendix; /* text to read behind the source, in the same way; or NULL */
    bool comments;        /* keep them in `shown` */
    rs_beside beside;
    bool host; /* for the compiler of this machine: what it predefines is known */
    /* Whether #include <name> is left in `shown`, for the compiler; `text` has blanks then. NULL:
     * none is. */
    bool (*stays)(void *context, const char *name);
    bool quoted_stay; /* the same is asked about #include "name" where it is not beside the file */
    void *context;
} rs_flat_request;

/* The user's file and line of a byte of the flat text. */
void rs_flat_locate(const rs_flat *flat, size_t offset, const char **file, size_t *line);

void rs_flat_free(rs_flat *flat);

#endif
