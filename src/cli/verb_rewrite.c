/*
 * restride rewrite: hands over to the rewriter, a program of its own beside this one. libclang
 * lives there alone: in one process it could meet the LLVM of an OpenCL driver, and every other
 * verb would wait for it to load.
 */
#include "cli/cli.h"
#include "console/fail.h"
#include "console/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rs_verb_rewrite(int argc, char **argv)
{
    char *rewriter = NULL;
    (void)argc;
    if (rs_cli_part_path(RS_PART_REWRITER, &rewriter) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, argv[0]);
    execv(rewriter, argv);
    const int error = errno;
    free(rewriter);
    return rs_cli_fail(RS_EXIT_FAILED, argv[0], "The rewriter could not be started: %s.",
                       strerror(error));
}
