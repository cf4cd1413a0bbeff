/*
 * Commands of a made-up device: each knows which others it comes behind, and runs as late as it may
 * or at some random time before. So a program, or a layer, that relies on an order that nobody has
 * asked for gets other results. They take the times that they say (device_take()), of no clock but
 * the device's own.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t command_id; /* 0: none; it is over */

typedef struct made_up_stream {
    struct made_up_stream *legacy; /* that it waits for, or itself; NULL: for none */
    void *context;
    command_id last;
    command_id kernel;   /* the last, with marks at most behind it; 0: there is none */
    command_id *awaited; /* of other streams, by the next command */
    size_t awaited_count;
    struct graph *capture; /* commands go there; NULL: they are run */
} made_up_stream;

/* What a command does; `data` are copied bytes. */
typedef void doing(void *data);

command_id command_give(made_up_stream *stream, doing *doing, const void *data, size_t bytes);
bool command_is_over(command_id id);
void command_finish(command_id id); /* and all that it comes behind */
void command_finish_all(void);
void command_finish_some(void);                      /* perhaps */
bool command_names(uintptr_t address, size_t bytes); /* one that is not over has such an address */

/* The device's clock, in microseconds: what its commands have taken. */
double device_time(void);
void device_take(double microseconds);

/* The next command of the stream comes behind another. */
void command_await(made_up_stream *stream, command_id id);

/* An event: nobody says that it holds back an early kernel. */
command_id command_give_mark(made_up_stream *stream, doing *doing, const void *data, size_t bytes);

/* A kernel. `is_early`: it may start together with the kernel in front of it in the stream, as a
 * launch with "programmatic stream serialization" does. */
command_id command_give_kernel(made_up_stream *stream, doing *doing, const void *data, size_t bytes,
                               bool is_early);

/* A command that comes behind all of these contexts, and all that is given to them later behind
 * it. */
command_id command_give_between(made_up_stream *stream, void *const *contexts, size_t count,
                                doing *doing, const void *data, size_t bytes);

/* A context's legacy default stream (NULL for that), or one that waits for it, or (NULL) for none.
 */
made_up_stream *stream_make(void *context, made_up_stream *legacy, bool is_legacy);
void stream_end(made_up_stream *stream);
void stream_finish_all(const void *context);

/* ---- graphs: commands in a row ---- */

typedef struct graph graph;
graph *graph_make(void);
graph *graph_copy(const graph *from);
void graph_free(graph *g);
void graph_launch(const graph *g, made_up_stream *stream);

#endif
