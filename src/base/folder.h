/* Temporary folders. */
#ifndef RS_BASE_FOLDER_H
#define RS_BASE_FOLDER_H

#include "base/status.h"

/* Makes a folder of the caller's own, below TMPDIR or else /tmp, that no other user may look into.
 * RESTRIDE_IO when that cannot be, with *folder NULL. */
restride_status rs_folder_create(char **folder);

/* Removes the folder with all that is in it, and frees its name; NULL: does nothing. */
void rs_folder_remove(char *folder);

#endif
