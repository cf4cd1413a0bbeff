/* Requests to the rewriter, as the OpenCL layer and the command line make them. */
#ifndef RS_TESTS_REWRITE_ASK_H
#define RS_TESTS_REWRITE_ASK_H

#include "layout/record.h"

#include <jansson.h>

/* The reply for a source with every array of structures in tiles of `tile`, or in SoA for
 * 0; tests every failure. */
json_t *ask_for_tiles(const char *source, const char *options, int tile);

/* The reply to any request; the request is released. */
json_t *ask(json_t *request);

/* One argument of one kernel in a reply; NULL when it is not listed. Borrowed. */
json_t *find_argument(const json_t *reply, const char *kernel, const char *argument);

/* The record of a transformed argument, padding included. */
void read_record(const json_t *argument, rs_record *record);

const char *string_of(const json_t *object, const char *key);
long long number_of(const json_t *object, const char *key);

#endif
