/* One request on its way to a reply, and the steps that have files of their own. */
#ifndef RS_REWRITE_REWRITING_H
#define RS_REWRITE_REWRITING_H

#include "rewrite/annotations.h"
#include "rewrite/model.h"
#include "source/flatten.h"
#include "source/options.h"
#include "source/tree.h"

#include <jansson.h>

typedef struct {
    const char *file; /* NULL: nowhere */
    size_t line;      /* 0: `file` has no lines, such as the build options */
} rs_source_place;

typedef struct {
    const json_t *request;
    const char *source, *file;
    rs_options options;
    char **definitions; /* "-DNAME=VALUE" from the request's macros */
    size_t definition_count;
    rs_annotations annotations;
    rs_flat flat;
    rs_tree tree;
    rs_model model;
    json_t *reply;
    rs_source_place operators;    /* of a macro that uses # or ## */
    rs_source_place device_names; /* of a name that only the device's compiler defines */
} rs_rewriting;

/* ---- rewrite.c ---- */

/* "Nothing could be done": the reply is this sentence, and whether the request itself is wrong. */
restride_status rs_reply_error(rs_rewriting *r, const char *sentence, bool bad_request);

/* Why the whole source stays as it is, with its place; the second finds the line of a byte of the
 * flat text. */
restride_status rs_keep_source(rs_rewriting *r, const char *reason, const char *file, size_t line);
restride_status rs_keep_flat(rs_rewriting *r, size_t offset, const char *reason);

/* ---- request.c ---- */

const char *rs_request_text(const json_t *request, const char *key, const char *otherwise);

/* What is wrong with the request's form, or NULL. */
const char *rs_request_check(const json_t *request);

/* The macros that the device's compiler predefines, as options for cpp. */
restride_status rs_request_macros(rs_rewriting *r);

/* ---- reading.c ---- */

/* Reads everything up to the syntax tree; *stopped when the reply is complete already. */
restride_status rs_read_source(rs_rewriting *r, bool *stopped);

/* ---- layouts.c ---- */

/* Gives each argument without a reason to stay its layout; *stopped when the request is wrong. */
restride_status rs_set_layouts(rs_rewriting *r, bool *stopped);

#endif
