/*
 * The lines #include of a source whose headers are looked for beside it: compilers begin in the
 * folder of the file that they read, and cpp, which reads a text, does not know it.
 */
#ifndef RS_SOURCE_BESIDE_H
#define RS_SOURCE_BESIDE_H

#include "base/text.h"
#include "source/flat.h"

/* One directive: the bytes of "#", of what behind it names the header, and behind that; as a name
 * in quotes or as anything else but one in angle brackets. */
typedef struct {
    size_t hash, name, end;
    bool quoted;
} rs_include;

/* The next directive from *position on, which is moved behind it. */
bool rs_include_next(const char *source, size_t *position, rs_include *found);

/* Writes a directive for the header `name` in quotes of the request's source as cpp is to read it;
 * of the bytes [begin, end) that it takes the place of, the line ends stay. False: as it is. */
bool rs_include_write(rs_text *output, const rs_flat_request *request, const char *name,
                      size_t length, const rs_include *replaced);

#endif
