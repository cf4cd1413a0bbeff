/*
 * The companion of a source as a reply of `restride rewrite`: the members of rewrite/rewrite.h that
 * are `error`, `bad_request`, `reason`, `file`, `line`, `source`, `header`, `unused` and `kernels`,
 * each kernel with
 *   name, second    of its second form; absent where nothing is transformed
 *   arguments       {index, name, type, status, layout, reason, file, line}, as there; where
 *                   transformed `tile`, and `extent_argument`: the index of the argument that is
 *                   added for it, a restride_extent
 * and where something is transformed
 *   forms           the description of the second forms (forms.h)
 *   uses            a text to stand behind `source`, so that a compiler instantiates them
 *   names           of all forms, as C++ writes them: what NVRTC instantiates by its name
 *                   expressions
 */
#ifndef RS_COMPANION_REPLY_H
#define RS_COMPANION_REPLY_H

#include "base/status.h"
#include "companion/forms.h"

#include <jansson.h>

typedef struct {
    const char *path;
    const char *text; /* of the source; NULL: the file's */
    size_t size;
    const char *const *options; /* the compiler's */
    size_t option_count;
    size_t tile;               /* of the layout for all arguments; 0: none but those of `layouts` */
    const json_t *layouts;     /* ARGUMENT or KERNEL.ARGUMENT to layout expression */
    const json_t *config;      /* layouts of a configuration file, behind those; or NULL */
    bool has_header;           /* the reply gets `header`: C++ for the host (header.h) */
    rs_companion_judge *judge; /* NULL: nothing is foretold */
    bool is_chosen; /* by the judge: which arguments change, of those that are wanted (forms.h) */
} rs_companion_request;

/* On success *reply is the caller's. A failure means that not even a reply could be made. */
restride_status rs_companion_reply(const rs_companion_request *request, json_t **reply);

#endif
