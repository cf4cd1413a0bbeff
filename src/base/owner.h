/*
 * Whom a file on disk may come from. What decides over a user's data (a journal, a cache, wisdom)
 * is read only when nobody else could have written it.
 */
#ifndef RS_BASE_OWNER_H
#define RS_BASE_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether an open file is of that type (S_IFREG, S_IFDIR), belongs to this user or to root, and
 * neither its group nor others may write to it. */
bool rs_owned_alone(int descriptor, mode_t type);

#endif
