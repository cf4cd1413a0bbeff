/* Files of wisdom for tests: in a folder of their own below TMPDIR. */
#ifndef RS_TESTS_TRANSPOSE_WISDOM_FILES_H
#define RS_TESTS_TRANSPOSE_WISDOM_FILES_H

#include <stddef.h>

extern char wisdom_folder[200];
extern char wisdom_path[256]; /* in a folder that does not exist yet; set by use_fresh_wisdom() */

/* From here on the wisdom is a file that nobody has written to. */
void use_fresh_wisdom(void);

/* Makes a file of these bytes out of it. */
void write_wisdom(const char *bytes, size_t count);

/* The records in a file, which can be read. */
size_t records_in(const char *path);

/* Fixtures of a group of tests. */
int make_wisdom_folder(void **state);
int remove_wisdom_folder(void **state);

#endif
