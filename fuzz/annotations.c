/* Fuzzes the reader of annotations in a kernel's comments, and the lines that are written from
 * them. */
#include "rewrite/annotations.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *source = strndup((const char *)bytes, count);
    rs_annotations annotations;
    rs_text lines = RS_TEXT_EMPTY;
    if (source == NULL)
        return 0;
    if (rs_annotations_read(&annotations, NULL, NULL, source, "kernel.cl") == RESTRIDE_OK) {
        rs_annotations_write(&annotations, "fuzz.cl", &lines);
        /* A length stays inside its own line: nothing that a comment says can become code. */
        for (int i = 0; i < annotations.count; i++)
            if (strpbrk(annotations.items[i].expression, ";{}\n\"\\") != NULL ||
                (annotations.items[i].extent != NULL &&
                 strpbrk(annotations.items[i].extent, ";{}\n\"\\") != NULL))
                abort();
    }
    rs_annotations_free(&annotations);
    rs_text_free(&lines);
    free(source);
    return 0;
}
