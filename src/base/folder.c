/* See folder.h. */
#include "base/folder.h"

#include "base/text.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_FOLDERS = 16 };

restride_status rs_folder_create(char **folder)
{
    const char *temporary = getenv("TMPDIR");
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/restride-XXXXXX",
                   temporary != NULL && *temporary == '/' ? temporary : "/tmp");
    *folder = rs_text_take(&path);
    if (*folder == NULL)
        return rs_fail_memory("the name of a temporary folder");
    if (mkdtemp(*folder) != NULL)
        return RESTRIDE_OK;
    restride_status status =
        rs_fail(RESTRIDE_IO, "The folder %s could not be made: %s; is TMPDIR right?", *folder,
                strerror(errno));
    free(*folder);
    *folder = NULL;
    return status;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    remove(path); /* what cannot be removed stays, and its folder with it */
    return 0;
}

void rs_folder_remove(char *folder)
{
    enum { ROUNDS = 2 }; /* the second for what was being made as the folder got its other name */
    rs_text other = RS_TEXT_EMPTY;
    if (folder == NULL)
        return;
    rs_text_format(&other, "%s.removed", folder);
    const bool renamed = !other.failed && rename(folder, other.data) == 0;
    for (int i = 0; i < ROUNDS; i++)
        nftw(renamed ? other.data : folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    rs_text_free(&other);
    free(folder);
}
