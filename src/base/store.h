/*
 * Texts kept on disk for the next run: $XDG_CACHE_HOME/restride/KIND, or ~/.cache/restride/KIND. An
 * entry is a file that is named after a hash of its key. Removing the folder is always safe.
 *
 * Any number of processes may read and write: an entry is written under a name of its own and
 * renamed. It holds its whole key, its length and a hash, so a torn or foreign file is no entry.
 * What another user could have written is never read, neither the folder nor the file (owner.h).
 *
 * A kind keeps 1024 entries of 128 MiB together at most: whoever writes one removes those that were
 * longest not read.
 */
#ifndef RS_BASE_STORE_H
#define RS_BASE_STORE_H

#include "base/text.h"

/* The path of a kind's folder, the caller's to free; NULL: neither XDG_CACHE_HOME nor HOME is a
 * full path, or memory is short. */
char *rs_store_folder(const char *kind);

/* Whether there was a good entry for the key; then *content is the caller's to free. */
bool rs_store_read(const char *kind, const char *key, size_t key_size, rs_text *content);

/* The same from a folder that was installed with this program: who may write there may change the
 * program, too. */
bool rs_store_read_installed(const char *folder, const char *key, size_t key_size,
                             rs_text *content);

/* A store that cannot be written costs time alone: failures are only logged. */
void rs_store_write(const char *kind, const char *key, size_t key_size, const char *bytes,
                    size_t count);

/*
 * Puts a file of just these bytes below the kind's folder, in a folder of its own that is named
 * after them, for programs that read it by its name; the caller frees its path. NULL: it could not
 * be written, or others may write there. Files of this kind that are two days old are removed.
 */
char *rs_store_put(const char *kind, const char *name, const char *bytes, size_t count);

/* Removes what was longest not read until no more is left than that; the latest entry stays. */
void rs_store_trim(const char *kind, size_t most_entries, size_t most_bytes);

#endif
