/*
 * The file of wisdom: records as JSON, read as a whole, changed under a lock.
 *
 *     {"format": "restride wisdom", "version": 1, "records": [
 *         {"problem": {...}, "method": "...", "tile_rows": m, "tile_cols": n,
 *          "seconds": s, "planner_seconds": p}, ...]}
 *
 * `problem` is compared as a whole; there is one record of each. A file is either right in every
 * record or damaged. Nothing in it is an offset or a pointer: stages are made from the method and
 * the tile sizes, and refused when those do not suit the problem.
 *
 * A record may have more members than these, which are kept: of a permutation of axes the method is
 * "factored", and `exchanges` are the transpositions, three numbers each, refused when they do not
 * lead to the order wanted. Who does not know such a problem never asks for it.
 */
#ifndef RS_TRANSPOSE_WISDOM_FILE_H
#define RS_TRANSPOSE_WISDOM_FILE_H

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>

/* RESTRIDE_WISDOM, else a file below XDG_CACHE_HOME or HOME; the caller frees it. *path is NULL
 * when wisdom is switched off by an empty RESTRIDE_WISDOM, or there is no home. */
restride_status rs_wisdom_file_path(char **path);

/*
 * The records of a file; none when there is no such file, unless it `must_exist`. RESTRIDE_IO, with
 * a sentence, when it cannot be read, is damaged, or is of another version. The caller releases
 * them.
 */
restride_status rs_wisdom_file_read(const char *path, bool must_exist, json_t **records);

/*
 * Adds records to a file, which is made when it does not exist; safe while other processes do the
 * same. A record replaces that of the same problem if it is faster, or in any case with `replace`.
 * A file that is not wisdom of this version is left alone, and so is one that would become longer
 * than 16 MiB: RESTRIDE_IO.
 */
restride_status rs_wisdom_file_merge(const char *path, const json_t *records, bool replace);

/*
 * Where the record of each problem is among records, which may be thousands: every tuned shape and
 * every kernel that the layer timed has one. A JSON object that the caller releases; NULL when
 * memory is short.
 */
json_t *rs_wisdom_places(const json_t *records);

/* SIZE_MAX where there is no record. False when memory is short. */
bool rs_wisdom_find(const json_t *places, const json_t *problem, size_t *place);

/* Adds records in memory, as above; `places` are those of `into`, and stay so. False when memory is
 * short. */
bool rs_wisdom_merge(json_t *into, json_t *places, const json_t *records, bool replace);

/* RESTRIDE_IO where the file would become longer than what is read; it stays as it is then. */
restride_status rs_wisdom_file_write(const char *path, const json_t *records);

/* Removes a file, if it exists and is wisdom of any version. */
restride_status rs_wisdom_file_remove(const char *path);

#endif
