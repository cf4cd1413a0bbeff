/* See owner.h. */
#include "base/owner.h"

#include <fcntl.h> /* S_IFMT */
#include <sys/stat.h>
#include <unistd.h>

bool rs_owned_alone(int descriptor, mode_t type)
{
    struct stat about;
    return fstat(descriptor, &about) == 0 && (about.st_mode & (mode_t)S_IFMT) == type &&
           (about.st_uid == geteuid() || about.st_uid == 0) &&
           (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}
