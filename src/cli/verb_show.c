/* restride show */
#include "cli/cli.h"

int rs_verb_show(int argc, char **argv)
{
    (void)argc;
    return rs_cli_fail(RS_EXIT_FAILED, argv[0], "is being written.");
}
