/* The clock of a process whose kernels take made-up times; see made_up_clock.c. */
#ifndef RS_TESTS_MADE_UP_CLOCK_H
#define RS_TESTS_MADE_UP_CLOCK_H

/* Each thread of the program but the first one says so before anything else. */
void made_up_clock_join(void);

/* So much time passes while the program sleeps. */
void sleep_nanoseconds(long nanoseconds);

/* So much time has passed, and nobody had to wait. */
void pass_nanoseconds(long nanoseconds);

#endif
