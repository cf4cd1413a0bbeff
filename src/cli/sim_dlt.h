/* restride sim dlt: see sim_dlt.c. */
#ifndef RS_CLI_SIM_DLT_H
#define RS_CLI_SIM_DLT_H

/* argv[0] is "dlt"; returns the exit status. */
int rs_sim_dlt(int argc, char **argv);

#endif
