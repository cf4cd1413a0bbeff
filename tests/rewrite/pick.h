/* The random numbers of generated kernels. */
#ifndef RS_TESTS_REWRITE_PICK_H
#define RS_TESTS_REWRITE_PICK_H

/* Begins the sequence of numbers anew. */
void start(unsigned long long seed);

/* Some number below `count`. */
int pick(int count);

#endif
