/*
 * The host engine's stages. Each method of transposition is a file of its own with two functions:
 * one that prepares a stage (how many threads, how much scratch memory, which tables) and one that
 * every thread of the team runs.
 */
#ifndef RS_ENGINE_HOST_HOST_H
#define RS_ENGINE_HOST_HOST_H

#include "engine/host/cycle.h"
#include "engine/host/team.h"
#include "engine/host/tile.h"
#include "engine/slots.h"
#include "engine/stage.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct rs_host_method rs_host_method;

/* A piece of a row (rs_piece), with what its method has worked out. */
typedef struct {
    size_t count;
    size_t unit;
    size_t place;
    size_t offset; /* bytes of the row before it */
    size_t target; /* REORDER: the same afterwards */
    bool kept;     /* REORDER: it stays in the buffer and slides */
    rs_host_tile tile;
} rs_host_piece;

_Static_assert(sizeof(rs_host_piece) <= RS_STAGE_PIECE_BYTES, "the planner counts on it");

typedef struct {
    rs_stage base;
    const rs_host_method *method;
    rs_transpose_task task;
    rs_transpose_task rest; /* one block more behind those of `task`; count 0: none */
    rs_host_tile tile;
    size_t threads;
    size_t scratch_bytes; /* of a run */
    size_t own_bytes;     /* of a scratch area that each thread has to itself */
    /* PANELS: small blocks that move together; SQUARE, COPY: elements along a side of the tiles
     * that move; C2R and R2C: rows of a group, or strips of a panel of columns. */
    size_t edge;
    bool ahead;            /* PANELS: the next blocks are asked for meanwhile */
    rs_host_cycles cycles; /* CHAINS, FUSED */
    bool apart;            /* CHAINS, REORDER: each thread moves matrices of its own */
    bool has_room;         /* REORDER: for what waits */
    rs_slots *slots;       /* BOXES, SLOTS; ON_CHIP has its axes alone; else NULL */
    rs_host_piece *pieces; /* UNZIP, ZIP, REORDER: as many as the task has */
} rs_host_stage;

/* One run of a stage: what its threads share. */
typedef struct {
    const rs_host_stage *stage;
    unsigned char *data;
    unsigned char *scratch;
    rs_progress *progress;
} rs_host_run;

static inline void rs_host_done(const rs_host_run *run, size_t bytes)
{
    if (run->progress != NULL)
        atomic_fetch_add_explicit(&run->progress->done_bytes, bytes, memory_order_relaxed);
}

/* Sets the fields of a stage, whose threads are all that the engine has at first. */
typedef restride_status rs_host_prepare(rs_host_stage *stage, size_t scratch_limit);

/* What each thread of a run does (rs_host_run). */
typedef void rs_host_work(void *run, const rs_host_member *member);

struct rs_host_method {
    const char *elementary; /* the thesis's name */
    const char *name;
    rs_host_prepare *prepare;
    rs_host_work *work;
};

rs_host_prepare rs_host_panels_prepare, rs_host_chains_prepare, rs_host_square_prepare,
    rs_host_join_prepare, rs_host_pipt_prepare, rs_host_pttwac_prepare, rs_host_copy_prepare,
    rs_host_fused_prepare, rs_host_axes_prepare, rs_host_slots_prepare, rs_host_rows_prepare,
    rs_host_columns_prepare, rs_host_unzip_prepare, rs_host_reorder_prepare;
rs_host_work rs_host_panels_work, rs_host_chains_work, rs_host_square_work, rs_host_join_work,
    rs_host_split_work, rs_host_pipt_work, rs_host_pttwac_work, rs_host_copy_work,
    rs_host_fused_work, rs_host_axes_work, rs_host_boxes_work, rs_host_slots_work,
    rs_host_rows_work, rs_host_columns_work, rs_host_unzip_work, rs_host_zip_work,
    rs_host_reorder_work;

/* How many of `total` positions a baseline hands out together. */
static inline size_t rs_host_chunk(size_t total, size_t threads)
{
    enum { LARGEST = 256, PARTS = 16 };
    size_t part = total / (threads * PARTS) + 1;
    return part < LARGEST ? part : LARGEST;
}

/* restride_engine_create_host() that plans arrays of `serial_bytes` and more for its threads: tests
 * have them for small ones. */
restride_status rs_host_engine_create(restride_engine **engine, int threads, size_t serial_bytes);

/* Copies the pieces of the task into the stage, which owns them, and works out their offsets. */
restride_status rs_host_pieces_create(rs_host_stage *stage);

/*
 * Gives a stage as many threads as the limit has room for, when each needs `own_bytes` and all
 * together `shared_bytes`. The first thread always has its share: the planner asks for no stage
 * whose blocks exceed the limit.
 */
void rs_host_fit_threads(rs_host_stage *stage, size_t shared_bytes, size_t own_bytes,
                         size_t scratch_limit);

/* From one buffer to another (copies.c). */
extern const rs_copy_operations rs_host_copies;
extern const rs_peer_operations rs_host_peer;

/* "Intel(R) Xeon(R) Platinum 8481C, L2 2048 KiB, L3 107520 KiB"; NULL when memory is short. */
json_t *rs_host_describe_device(void);

#endif
