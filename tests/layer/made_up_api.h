/*
 * An API without a driver, for the layer's core (layer/core/api.h): commands are kept in streams
 * and run in any order that their streams and wait lists allow, chosen by a generator of random
 * numbers. Each command knows in which layout it expects its buffer. One that finds another, or
 * runs beside a conversion of its buffer, is a mistake of the core.
 */
#ifndef RS_TESTS_MADE_UP_API_H
#define RS_TESTS_MADE_UP_API_H

#include "layer/core/coherence.h"

enum { WORLDS = 2, BUFFERS = 3, LAYOUTS = 3, DEVICES = 2, ANY_LAYOUT = -1 };

typedef enum {
    USE,     /* of a buffer in layout `from` */
    CHANGE,  /* from one layout to another, alone on the buffer */
    REPLACE, /* of all bytes, alone on the buffer */
    MARK,    /* completes behind everything in its stream */
    OTHER
} command_kind;

/* There are several worlds, which share nothing; all below is of this one from now on. */
void enter_world(int number);

/* Numbers from 0 to count - 1. */
unsigned pick(unsigned count);

/* Forgets everything and begins with a seed. */
void begin_world(unsigned long long seed);

/* The handle of a buffer, and of a new stream. A buffer that is made anew has the handle of the one
 * before, whose commands must be over. */
rs_allocation world_buffer(int number);
void renew_world_buffer(int number);

/* Its bytes mean nothing: the first command that uses them says in which layout they are. */
void blank_world_buffer(int number);
rs_stream world_stream(bool out_of_order);

/* Appends a command of the program; its event, which need not be released. */
rs_event enqueue_command(rs_stream stream, command_kind kind, int buffer, int from, int to,
                         unsigned wait_count, const void *wait_list);

/* Runs some commands, or all that were handed over and those that are not. */
void run_some(int count);
void run_all(void);

/* Whether a conversion of the buffer has failed on the way: its bytes are anything. */
bool is_spoiled(int buffer);

/* How often a call failed because the world wanted it so. */
unsigned count_refusals(void);

/* What the core holds of events, scratch memory and streams of its own. */
unsigned count_held(void);

/* What was wrong first; NULL: nothing. */
const char *world_mistake(void);

extern rs_device_layout device_layouts[LAYOUTS]
                                      [DEVICES]; /* the first is the program's layout, unused */

#endif
