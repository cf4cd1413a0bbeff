/* restride sim dlt: see sim_dlt.c. */
#ifndef RS_CLI_SIM_DLT_H
#define RS_CLI_SIM_DLT_H

/* argv[0] is "dlt"; returns the exit status. */
#include <stdbool.h>

int rs_sim_dlt(int argc, char **argv);

/* Prints the paper's figures; writes them to a folder, unless it is NULL. */
int rs_sim_dlt_figures(const char *folder, bool json);

#endif
