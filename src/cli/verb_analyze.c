/* restride analyze: hands over to the analyzer, a program of its own for the reason that the
 * rewriter is one. */
#include "cli/cli.h"
#include "console/fail.h"
#include "console/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rs_verb_analyze(int argc, char **argv)
{
    char *analyzer = NULL;
    (void)argc;
    if (rs_cli_part_path(RS_PART_ANALYZER, &analyzer) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, argv[0]);
    execv(analyzer, argv);
    const int error = errno;
    free(analyzer);
    return rs_cli_fail(RS_EXIT_FAILED, argv[0], "The analyzer could not be started: %s.",
                       strerror(error));
}
