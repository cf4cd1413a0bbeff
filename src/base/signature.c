/* Signatures of files: see signature.h. */
#include "base/signature.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

bool rs_file_signature(const char *path, char signature[RS_SIGNATURE_SIZE])
{
    rs_text text = RS_TEXT_EMPTY;
    if (rs_text_read_file(&text, path) != RESTRIDE_OK)
        return false;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
    snprintf(signature, RS_SIGNATURE_SIZE, "%zu %016" PRIx64, text.size, hash);
    rs_text_free(&text);
    return true;
}
