/*
 * Compiled kernels on disk: $XDG_CACHE_HOME/restride/kernels, or ~/.cache/restride/kernels. An
 * entry is a file named after a hash of its key. It is written under another name and renamed, so
 * that any number of processes may read and write; it begins with its own hash, so that a damaged
 * one is noticed and compiled again. Removing the folder is always safe.
 */
#ifndef RS_ENGINE_CUDA_CACHE_H
#define RS_ENGINE_CUDA_CACHE_H

#include "base/text.h"

/* Whether there was a good entry for the key; then *content is the caller's to free. */
bool rs_cuda_cache_read(const char *key, rs_text *content);

/* A cache that cannot be written costs time alone, so failures are only logged. */
void rs_cuda_cache_write(const char *key, const char *bytes, size_t count);

#endif
