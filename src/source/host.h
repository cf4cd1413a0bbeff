/*
 * What the compiler of this machine makes of a source in C, with its own headers, which a flat text
 * (flatten.h) has as lines of #include only. Their macros may decide conditions, be expanded, or be
 * expanded in the headers themselves; whether the flat text is the same program nevertheless is
 * found by preprocessing both and comparing all words.
 */
#ifndef RS_SOURCE_HOST_H
#define RS_SOURCE_HOST_H

#include "base/text.h"
#include "source/flatten.h"

typedef struct {
    bool missing;   /* a header that the source includes is not there */
    char *name;     /* which */
    char *sentence; /* why the two are not the same, or cannot be compared; NULL: they are */
    char *file;     /* where, in the source */
    size_t line;
    rs_text
        headers; /* the words of headers that the flat text only includes, with blanks between */
} rs_host_comparison;

/* Whether the compiler finds #include <name>. */
bool rs_host_has_header(const char *name);

/* The options of a request that decide what the compiler predefines: each is added to `words`,
 * behind a zero byte's end, and their number returned. */
size_t rs_host_select(const char *rest, rs_text *words);

/* Compares. The request is the one that gave the flat text, but without folders of its own. */
restride_status rs_host_compare(rs_host_comparison *found, const rs_flat *flat,
                                const rs_flat_request *request);
void rs_host_comparison_free(rs_host_comparison *found);

/* Adds -DNAME=... for each name that the source tests and that only headers define. */
restride_status rs_host_define(const rs_flat *flat, const rs_flat_request *request, rs_text *words,
                               size_t *count);

#endif
