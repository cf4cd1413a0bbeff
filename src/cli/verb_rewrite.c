/*
 * restride rewrite and restride analyze: hand over to programs of their own beside this one.
 * libclang lives there alone: in one process it could meet the LLVM of an OpenCL driver, and every
 * other verb would wait for it to load.
 */
#include "cli/cli.h"
#include "console/fail.h"
#include "console/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int hand_over(const char *part, const char *name, char **argv)
{
    char *path = NULL;
    if (rs_cli_part_path(part, &path) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, argv[0]);
    execv(path, argv);
    const int error = errno;
    free(path);
    return rs_cli_fail(RS_EXIT_FAILED, argv[0], "The %s could not be started: %s.", name,
                       strerror(error));
}

int rs_verb_rewrite(int argc, char **argv)
{
    (void)argc;
    return hand_over(RS_PART_REWRITER, "rewriter", argv);
}

int rs_verb_analyze(int argc, char **argv)
{
    (void)argc;
    return hand_over(RS_PART_ANALYZER, "analyzer", argv);
}
