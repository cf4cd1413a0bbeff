/* See analyzer.h. */
#include "lab/cli/analyzer.h"

#include "base/child.h"
#include "console/fail.h"
#include "console/parts.h"

#include <stdio.h>
#include <stdlib.h>

int rs_lab_run_analyzer(const char *verb, char **arguments, json_t **reply)
{
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    char *analyzer = NULL;
    int exit_status = RS_EXIT_FAILED;
    *reply = NULL;
    if (rs_cli_part_path(RS_PART_ANALYZER, &analyzer) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    arguments[0] = analyzer;
    rs_text_add(&output, "", 0);
    rs_text_add(&errors, "", 0);
    restride_status status = rs_child_run(arguments, "", 0, &output, &errors, &exit_status);
    free(analyzer);
    if (status != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    else
        fputs(errors.data, stderr);
    if (exit_status == RS_EXIT_DONE) {
        *reply = json_loads(output.data, 0, NULL);
        if (*reply == NULL)
            exit_status = rs_cli_fail(RS_EXIT_FAILED, verb, "The analyzer's JSON cannot be read.");
    }
    rs_text_free(&output);
    rs_text_free(&errors);
    return exit_status;
}
