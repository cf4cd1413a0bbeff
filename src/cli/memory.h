/* How much memory this process may use. */
#ifndef RS_CLI_MEMORY_H
#define RS_CLI_MEMORY_H

#include <stddef.h>

/* The machine's memory, or the limit of this process's control group where that is less; SIZE_MAX
 * when neither is known. */
size_t rs_cli_memory(void);

#endif
