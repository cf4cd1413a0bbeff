/* Reports as JSON; see json.h. */
#include "console/json.h"
#include "base/json.h"
#include "console/fail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rs_cli_print_json(const char *verb, json_t *value)
{
    char *text = rs_json_text(value);
    json_decref(value);
    if (text == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory for the report.");
    bool written = puts(text) >= 0 && fflush(stdout) == 0;
    int reason = errno;
    free(text);
    return written ? RS_EXIT_DONE
                   : rs_cli_fail(RS_EXIT_FAILED, verb, "The report could not be written: %s.",
                                 strerror(reason));
}
