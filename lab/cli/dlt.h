/* restride-lab dlt: see dlt.c. */
#ifndef RS_LAB_CLI_DLT_H
#define RS_LAB_CLI_DLT_H

/* argv[0] is "dlt"; returns the exit status. */
#include <stdbool.h>

int rs_lab_dlt(int argc, char **argv);

/* Prints the paper's figures; writes them to a folder, unless it is NULL. */
int rs_lab_dlt_figures(const char *folder, bool json);

#endif
