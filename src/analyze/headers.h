/* Empty files in place of headers that are not there, in a temporary folder of their own. */
#ifndef RS_ANALYZE_HEADERS_H
#define RS_ANALYZE_HEADERS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *root;   /* the temporary folder; NULL while none was needed */
    char *folder; /* below it: what the preprocessor is to search */
    char **names; /* of the headers */
    size_t count;
} rs_headers;

restride_status rs_headers_add(rs_headers *headers, const char *name);
void rs_headers_free(rs_headers *headers);

/* Whether a text, or the file with a name, has a #define of a macro. */
bool rs_text_defines(const char *text, const char *macro);
bool rs_file_defines(const char *file, const char *macro);

/* Whether a header belongs to a compiler or a system, so that it need not be mentioned. */
bool rs_headers_is_usual(const char *name);

#endif
