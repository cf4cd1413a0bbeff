/* restride bench patterns: the analyzer makes these tables; this hands over to it. */
#include "cli/bench.h"
#include "console/fail.h"
#include "console/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rs_bench_patterns(int argc, char **argv)
{
    char *analyzer = NULL;
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    static char tables[] = "--patterns";
    if (arguments == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, argv[0], "There is not enough memory.");
    int exit_status = RS_EXIT_FAILED;
    if (rs_cli_part_path(RS_PART_ANALYZER, &analyzer) == RESTRIDE_OK) {
        arguments[0] = argv[0];
        arguments[1] = tables;
        memcpy(arguments + 2, argv + 1, (size_t)(argc - 1) * sizeof *argv);
        execv(analyzer, arguments);
        const int error = errno;
        exit_status = rs_cli_fail(RS_EXIT_FAILED, argv[0], "The analyzer could not be started: %s.",
                                  strerror(error));
    } else {
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, argv[0]);
    }
    free(analyzer);
    free(arguments);
    return exit_status;
}
