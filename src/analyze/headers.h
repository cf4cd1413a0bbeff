/* Files in place of headers that are not there, in a temporary folder of their own. */
#ifndef RS_ANALYZE_HEADERS_H
#define RS_ANALYZE_HEADERS_H

#include "base/status.h"

#include <stdbool.h>

typedef struct {
    char *root;   /* the temporary folder; NULL while none was needed */
    char *folder; /* below it: what the preprocessor is to search */
} rs_headers;

restride_status rs_headers_add(rs_headers *headers, const char *name, const char *content);
void rs_headers_free(rs_headers *headers);

/* Whether a header belongs to a compiler or a system, so that it need not be mentioned. */
bool rs_headers_is_usual(const char *name);

/* The same by its whole name alone, not by how such names begin. */
bool rs_headers_is_system(const char *name);

#endif
