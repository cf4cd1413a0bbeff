/*
 * What the planner and the engines both know: the stages that a plan is made of, and the functions
 * through which an engine makes and runs them. A planner includes no header of an engine, and an
 * engine none of the planner.
 */
#ifndef RS_ENGINE_STAGE_H
#define RS_ENGINE_STAGE_H

#include "layout/record.h"
#include "restride/engine.h"

#include <jansson.h>

typedef enum { RS_AOS_TO_ASTA, RS_ASTA_TO_AOS } rs_marshal_direction;

/* The elementary transposition 010! of `count` records between AoS and ASTA; the last tile is
 * ragged. */
typedef struct {
    const rs_record *record;
    size_t count;
    size_t tile;
    rs_marshal_direction direction;
} rs_marshal_task;

/* An engine's own; each begins with the engine it belongs to. */
typedef struct {
    restride_engine *engine;
} rs_stage;

typedef struct {
    const char *name;

    restride_status (*create_marshal)(restride_engine *engine, const rs_marshal_task *task,
                                      rs_stage **stage);

    /* Whether `buffer` is this engine's kind of buffer and has at least `bytes` bytes; asked before
     * the first stage. */
    restride_status (*check_buffer)(restride_engine *engine, void *buffer, size_t bytes);

    /* Runs one stage in place and returns when it is done. Thread-safe on different buffers. */
    restride_status (*run)(rs_stage *stage, void *buffer);

    /* New JSON objects, or NULL when memory is short. */
    json_t *(*describe_stage)(const rs_stage *stage);
    json_t *(*describe_device)(const restride_engine *engine);

    void (*destroy_stage)(rs_stage *stage);
    void (*destroy)(restride_engine *engine);
} rs_engine_operations;

/* Every engine's structure begins with this one. */
struct restride_engine {
    const rs_engine_operations *operations;
};

#endif
