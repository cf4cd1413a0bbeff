/* What the files of the program `calls` share (calls.c). */
#ifndef RS_TESTS_CALLS_H
#define RS_TESTS_CALLS_H

#include <CL/cl.h>
#include <stdint.h>

typedef struct {
    float x;
    float v[3];
    uint32_t n;
    uint8_t tag;
} cell;

enum {
    BUFFERS = 3,
    QUEUES = 3,
    ROW = 48,           /* bytes of a row in the rectangular copies: two cells */
    VIEW_ORIGIN = 1024, /* of a view */
    VIEW_BYTES = 512
};

extern size_t cell_count;
extern cl_command_queue queues[QUEUES];
extern cl_mem buffers[BUFFERS], out;
extern cell *model[BUFFERS];
extern cl_mem views[BUFFERS]; /* NULL: none */
extern cl_kernel bump, join, take, words, sweep, both;

/* End the program. */
void fail(const char *what, long code);
void check(cl_int error);

uint32_t random_below(uint32_t limit);
cl_command_queue any_queue(void);

/* Every call takes part in one chain of events, which settle() waits for: steps on the host's side
 * need it. */
cl_uint wait_count(void);
const cl_event *wait_list(void);
void chain(cl_event event);
void settle(void);

void make_view(int b);
void end_view(int b);

/* One kind of step each; b is the buffer that it works on. */
void do_read(int b);
void do_write(int b);
void do_hold(int b);
void do_new_buffer(int b);
void do_bump(int b);
void do_join(int b);
void do_take(int b);
void do_words(int b);
void do_sweep(int b);
void do_both(int b);
void do_again(int b);

#endif
