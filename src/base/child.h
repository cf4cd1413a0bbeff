/* Runs a program as a child process, without a shell: text in, text out. */
#ifndef RS_BASE_CHILD_H
#define RS_BASE_CHILD_H

#include "base/text.h"

/*
 * Runs arguments[0], found in PATH, with `input` on its standard input and waits for its end.
 * Standard output and standard error are added to the two texts. RESTRIDE_IO, with a sentence, when
 * it could not be started.
 */
restride_status rs_child_run(char *const arguments[], const char *input, size_t input_size,
                             rs_text *output, rs_text *errors, int *exit_status);

#endif
