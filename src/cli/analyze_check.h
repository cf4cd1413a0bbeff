/* restride analyze --check. */
#ifndef RS_CLI_ANALYZE_CHECK_H
#define RS_CLI_ANALYZE_CHECK_H

#include <stdbool.h>

bool rs_analyze_is_check(int argc, char **argv);
int rs_analyze_check(int argc, char **argv);

#endif
