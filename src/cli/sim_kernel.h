/* restride sim KERNEL.cl: a kernel of the user, recorded once and replayed in each layout. */
#ifndef RS_CLI_SIM_KERNEL_H
#define RS_CLI_SIM_KERNEL_H

/* argv[1] is the file. Returns the exit status. */
int rs_sim_kernel_verb(int argc, char **argv);

#endif
