/* What restride show says of a layout that is spread over processes. */
#ifndef RS_CLI_SHOW_SPREAD_H
#define RS_CLI_SHOW_SPREAD_H

#include "layout/layout.h"

#include <stdbool.h>

/* Prints who holds what, and with `to` (else NULL) how much each process has for each other when
 * the array goes there. Returns the exit status. */
int rs_show_spread(const char *verb, const restride_layout *layout, const restride_layout *to,
                   bool json);

#endif
