/* Short texts that tell whether a file still is what it was. */
#ifndef RS_BASE_SIGNATURE_H
#define RS_BASE_SIGNATURE_H

#include <stdbool.h>

enum { RS_SIGNATURE_SIZE = 48 };

/* The signature of a file's content; false when it is not a file that can be read. */
bool rs_file_signature(const char *path, char signature[RS_SIGNATURE_SIZE]);

#endif
