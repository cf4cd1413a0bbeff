/* restride doctor */
#include "cli/cli.h"

int rs_verb_doctor(int argc, char **argv)
{
    (void)argc;
    return rs_cli_fail(RS_EXIT_FAILED, argv[0], "is being written.");
}
