/*
 * The mark of a file that a change with a journal has begun: without that journal the file is
 * neither what it was nor what it will be, and nothing else may be done to it.
 *
 * It is the extended attribute user.restride.change, so that copies which keep attributes have it
 * too. Where the file system keeps none it is a file beside the other, "FILE.restride-change",
 * which stays behind when FILE is renamed. Either holds the journal's identity and its path.
 */
#ifndef RS_FILE_MARK_H
#define RS_FILE_MARK_H

#include "file/file.h"

typedef struct {
    bool found;
    uint64_t identity; /* of the journal; 0: not known */
    char *journal;     /* for people, without control characters; may be "" */
} rs_mark;

/* Whether a path ends like such a file's: a journal of that name could be taken for a mark. */
bool rs_mark_takes_name(const char *path);

/* On the disk when the function returns. */
restride_status rs_mark_set(const rs_file *file, uint64_t identity, const char *journal);

/* The caller frees it with rs_mark_free(). */
restride_status rs_mark_read(const rs_file *file, rs_mark *mark);
void rs_mark_free(rs_mark *mark);

/* On the disk when the function returns, also what was taken away before in memory alone. `synced`:
 * a path whose folder was synchronised since the file was opened; NULL: none. */
restride_status rs_mark_clear(const rs_file *file, const char *synced);

/* RESTRIDE_INVALID_ARGUMENT when a file has a mark: with what to do. */
restride_status rs_mark_check(const rs_file *file);

#endif
