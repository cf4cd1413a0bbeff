/*
 * The configuration file that `restride run --config` and `restride rewrite --config` read, so that
 * a program's sources can stay untouched (docs/running.md describes the form):
 *
 *   policy = auto              before the first section: options of `restride run`
 *   [move]                     a kernel; [*] stands for all of them
 *   .policy = off              an option for this kernel alone
 *   particles = i/32 f i%32    an argument's layout
 *   grid = grid[n][20] : f i   the length of the records of a flat array, and its layout
 */
#ifndef RS_CONFIG_CONFIG_H
#define RS_CONFIG_CONFIG_H

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>

/*
 * On success *config is the caller's object
 *   {options: {KEY: VALUE}, kernels: {KERNEL: {KEY: VALUE}},
 *    layouts: {NAME: EXPRESSION}, records: {NAME: LENGTH}, places: {NAME: "FILE:LINE"}}
 * where NAME is "KERNEL.ARGUMENT", or "ARGUMENT" from the section [*]. It can be given to the
 * rewriter as it is, as the member "config" of a request (rewrite/rewrite.h). Option names and
 * values are the caller's to check. A file that is wrong gives RESTRIDE_SYNTAX and a sentence with
 * its line.
 */
restride_status rs_config_read(const char *path, json_t **config);

/* The same for a text; `name` is used in sentences. */
restride_status rs_config_parse(const char *text, size_t size, const char *name, json_t **config);

#endif
