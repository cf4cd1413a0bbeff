/*
 * What the planner and the engines both know: the stages that a plan is made of, and the functions
 * through which an engine makes and runs them. A planner includes no header of an engine, and an
 * engine none of the planner.
 */
#ifndef RS_ENGINE_STAGE_H
#define RS_ENGINE_STAGE_H

#include "engine/copy.h"
#include "layout/record.h"
#include "restride/engine.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

typedef enum { RS_AOS_TO_ASTA, RS_ASTA_TO_AOS } rs_marshal_direction;

/* The elementary transposition 010! of `count` records between AoS and ASTA; the last tile is
 * ragged. */
typedef struct {
    const rs_record *record;
    size_t count;
    size_t tile;
    rs_marshal_direction direction;
} rs_marshal_task;

/*
 * Elementary transpositions of `outer` matrices that lie `pitch` bytes apart, in place. Each holds
 * `count` blocks one after the other; a block is rows x cols elements of `unit` bytes and becomes
 * cols x rows. The names are those of the thesis (table 4.1).
 */
typedef enum {
    RS_TRANSPOSE_PANELS, /* 010!: a block passes through a buffer on chip */
    RS_TRANSPOSE_CHAINS, /* 100! and 0100!: elements move along the cycles of the permutation */
    RS_TRANSPOSE_SQUARE, /* rows equal cols: mirror tiles change places */
    /*
     * A matrix whose last `tail` columns follow it as a transposed matrix of their own, tail x rows
     * after rows x cols, becomes rows x (cols + tail); and the way back. Pad and unpad of thesis
     * section 4.1.1, with values in the padding.
     */
    RS_TRANSPOSE_JOIN,
    RS_TRANSPOSE_SPLIT,
    /* CHAINS as the thesis moves its elements (sections 4.5 and 4.6): baselines. */
    RS_TRANSPOSE_PIPT,   /* a thread a cycle */
    RS_TRANSPOSE_PTTWAC, /* threads share cycles and claim positions */
    /* What PANELS does, but all threads work on one block, which may be as large as the matrix: it
     * is transposed into scratch memory and copied back. */
    RS_TRANSPOSE_COPY,
    /* 1000! and 0010! at once: CHAINS whose elements are matrices of inner_rows x inner_cols, each
     * transposed while it moves. */
    RS_TRANSPOSE_FUSED,
    /*
     * Blocks of rows whose members differ in size, `pieces` from left to right: each piece, rows x
     * count members of `unit` bytes, becomes count x rows, and the pieces lie one after the other.
     * ZIP is the way back. 010! where an element has several sizes (thesis, section 5.4).
     */
    RS_TRANSPOSE_UNZIP,
    RS_TRANSPOSE_ZIP,
    /* A row of `pieces` comes into the order of their `place`; rows is 1. */
    RS_TRANSPOSE_REORDER,
    /*
     * The stages of C2R in their order, which transpose any rows x cols matrix, and those of R2C,
     * in theirs, which make rows x cols of cols x rows (Catanzaro, Keller and Garland 2014;
     * engine/host/shuffle.h). Nothing is to rotate when rows and cols have no common divisor.
     */
    RS_TRANSPOSE_C2R_ROTATE,
    RS_TRANSPOSE_C2R_ROWS,
    RS_TRANSPOSE_C2R_COLUMNS,
    RS_TRANSPOSE_R2C_COLUMNS,
    RS_TRANSPOSE_R2C_ROWS,
    RS_TRANSPOSE_R2C_ROTATE,
    /*
     * On devices, whose memory on chip is small (transpose/device_methods.c), and on the host where
     * a tile's rows are long. TILES transposes tile x tile elements where they are; REVERSE is
     * 210!: rows x tile x cols elements become cols x tile x rows. Together they transpose (rows
     * tile) x (cols tile).
     */
    RS_TRANSPOSE_TILES,
    RS_TRANSPOSE_REVERSE,
    /*
     * C2R and R2C of matrices without a common divisor of the sides, in three passes: in row i the
     * element at e moves to (e * factor + i * shift) mod cols; inside panels of `tile` columns
     * column t rotates by t, so that row x receives row (x + t) mod rows, or (x - t) when
     * `backward`; row i of panel p receives row (i * factor + p * shift) mod rows.
     */
    RS_TRANSPOSE_SHUFFLE_ROWS,
    RS_TRANSPOSE_ROTATE,
    RS_TRANSPOSE_SHUFFLE_COLUMNS,
    /*
     * A whole rows x cols matrix of which `tile` lines of the longer side are a group: 010! in each
     * group, whose super-elements are a square but for some rows and columns, which are kept aside
     * meanwhile.
     */
    RS_TRANSPOSE_GROUPS,
    /*
     * The axes of an array change their order while all of it is on chip: each piece is an axis,
     * `count` long, the slowest first, with its `place` afterwards; without pieces the rows and the
     * columns change places. rows x cols x unit are the bytes of the array (engine/axes.h).
     */
    RS_TRANSPOSE_ON_CHIP,
    /*
     * The axes of an array change their order in two passes: `tile` elements that will be
     * neighbours come together inside boxes, and then move as a slot (engine/slots.h). rows x cols
     * x unit are the bytes of the array.
     */
    RS_TRANSPOSE_BOXES,
    RS_TRANSPOSE_SLOTS,
    /* PANELS as the thesis moves its elements (section 4.5), on devices: baselines. */
    RS_TRANSPOSE_PIPT_PANELS,
    RS_TRANSPOSE_PTTWAC_PANELS,
    /*
     * On devices: `tile` of `rows` arrays of `cols` bytes at a time are copied into scratch memory
     * in their new order, which `copy` says for all of them, and back.
     */
    RS_TRANSPOSE_COPY_BACK,
    RS_TRANSPOSE_METHOD_COUNT
} rs_transpose_method;

typedef struct {
    size_t count;
    size_t unit;
    size_t place; /* for REORDER and axes: the piece's number afterwards */
} rs_piece;

/* What an engine's table of pieces may take for each. */
enum { RS_STAGE_PIECE_BYTES = 128 };

typedef struct {
    rs_transpose_method method;
    size_t offset; /* bytes of the buffer before the first matrix */
    size_t outer;
    size_t pitch;
    size_t count; /* 1 except for PANELS, its baselines, COPY, UNZIP and ZIP */
    size_t rows;
    size_t cols;       /* for UNZIP, ZIP and REORDER: the bytes of a row, with a unit of 1 */
    size_t tail;       /* 0 except for JOIN and SPLIT */
    size_t inner_rows; /* of an element of FUSED, whose size is inner_rows x inner_cols x unit */
    size_t inner_cols;
    size_t tile; /* 0 except for TILES, REVERSE, ROTATE, SHUFFLE_COLUMNS, GROUPS, COPY_BACK, and
                    SQUARE in files */
    size_t factor;
    size_t shift;
    bool backward;
    /* How the flags of PTTWAC_PANELS lie: the flags of a word are spread over so many (equation
     * 4.4; 0 and 1: they are not), one word in 32 is left out (4.5), neighbours are in different
     * words (4.6, which spreads by itself). */
    size_t spreading;
    bool padded;
    bool remapped;
    size_t unit;
    size_t repeats; /* of all this, repeat_pitch bytes apart; 0 and 1: once */
    size_t repeat_pitch;
    const rs_piece
        *pieces; /* NULL except for UNZIP, ZIP, REORDER and axes; an engine copies them */
    size_t piece_count;
    const rs_copy_task *copy; /* NULL except for COPY_BACK; an engine copies it */
} rs_transpose_task;

/* The leaves of a record as pieces of a row, neighbours of one size together, in their own order.
 * Returns how many there are; with `pieces` NULL they are only counted. */
size_t rs_pieces_of_record(const rs_record *record, rs_piece *pieces);

/* What a planner must know to cut a matrix for an engine. */
typedef struct {
    size_t chip_bytes;  /* a block that is no larger passes through the chip at full speed */
    size_t group_bytes; /* on a device: what one group of work-items holds on chip; else 0 */
    size_t box_bytes;   /* the same for BOXES, where few groups at once will do */
    size_t line_bytes;  /* the shortest run that moves at full speed */
    size_t workers;
    size_t serial_bytes; /* an array of less is planned for one worker (rs_engine_workers()) */
    /* A device: blocks larger than the chip are refused, smaller ones take no scratch memory, and
     * the stages are those of transpose/device_methods.c, with its costs. */
    bool chip_only;
    /* The scratch memory that a plan may take unless more is granted: one byte in `scratch_parts`
     * of the array and `scratch_bytes`; 0: what the planner allows to threads. */
    size_t scratch_parts;
    size_t scratch_bytes;
    /* An engine whose stages cost something else than the planner's model of threads and caches
     * says how many passes at the speed of a copy one takes; infinite for a stage that it does not
     * have, or not for that size. NULL: the planner's model. */
    double (*cost)(const restride_engine *engine, const rs_transpose_task *task,
                   size_t scratch_limit);
    const restride_engine *engine; /* for `cost` */
    double least_cost;             /* of a stage of such an engine; 0: it is not known */
    size_t cache_bytes;            /* of a device, in front of its memory; 0: it is not known */
    /* What wisdom knows of the planner's weights here (transpose/rates.h); NULL: nothing. */
    const struct rs_rates *rates;
} rs_engine_traits;

/* How many workers an array of so many bytes is for: one below `serial_bytes`, and at most one for
 * each quarter of that. */
size_t rs_engine_workers(const rs_engine_traits *traits, size_t bytes);

/* Passes of lines that are saved and stored element by element, on any GPU. */
enum { RS_ASIDE_PASSES = 4 };

/* What stages of devices cost whose kernels are the same on all, as rs_engine_traits' cost: BOXES,
 * which have `box_bytes` on chip, SLOTS, REVERSE, ZIP and UNZIP, and the baselines, whose groups
 * hold `chip_bytes`. Infinite for other stages. */
double rs_shared_cost(const rs_transpose_task *task, size_t chip_bytes, size_t box_bytes,
                      size_t scratch_limit);

/* What CHAINS and, without what it waits for, FUSED cost with the same kernels. */
double rs_reverse_cost(const rs_transpose_task *task, size_t scratch_limit);

/* What FUSED costs besides its runs on a device: the scratch memory holds one tile for each group
 * at work, and each waits for its tile, the longer the larger that is. */
double rs_fused_wait(const rs_transpose_task *task, size_t scratch_limit);

/* What the stages of a run leave to each other. */
typedef struct {
    void *last; /* the engine's own: what the next stage begins behind; NULL before the first */
    /* A command that may change the buffer was given to the device. Set by a stage that fails; one
     * that succeeds has begun in any case. */
    bool has_begun;
} rs_under_way;

/* Where a run stands, for whoever watches it from another thread. */
typedef struct {
    atomic_size_t done_bytes; /* that have reached their place, summed over the stages */
} rs_progress;

/* An engine's own; each begins with the engine it belongs to. */
typedef struct {
    restride_engine *engine;
} rs_stage;

/* What kernels do with a caller's buffer. Copies do not count. */
typedef enum {
    RS_BUFFER_COPIED = 0,
    RS_BUFFER_READ = 1,
    RS_BUFFER_WRITTEN = 2,
    RS_BUFFER_CHANGED = RS_BUFFER_READ | RS_BUFFER_WRITTEN
} rs_buffer_use;

/* Memory and copies beside a device's stages: engine/transfer.h. */
typedef struct rs_transfer_operations rs_transfer_operations;

/* Memory that processes share: engine/peer.h. */
typedef struct rs_peer_operations rs_peer_operations;

/* Copies between two buffers of an engine's kind, which do not overlap. */
typedef struct {
    restride_status (*create)(restride_engine *engine, const rs_copy_task *task, rs_stage **stage);
    /* As rs_engine_operations' run; what a run takes is allocated before it begins. */
    restride_status (*run)(const rs_stage *stage, const void *from, void *to,
                           rs_under_way *under_way);
    size_t (*scratch_bytes)(const rs_stage *stage); /* of a run, with tables */
    json_t *(*describe)(const rs_stage *stage);
    void (*destroy)(rs_stage *stage);
    bool are_addresses; /* buffers, so that they can be compared */
} rs_copy_operations;

typedef struct {
    const char *name;
    rs_engine_traits (*traits)(const restride_engine *engine);

    /* Either is NULL in an engine that has no such stages. A transposition keeps the scratch memory
     * of its run within `scratch_limit` bytes, with fewer workers if it must. */
    restride_status (*create_marshal)(restride_engine *engine, const rs_marshal_task *task,
                                      rs_stage **stage);
    restride_status (*create_transpose)(restride_engine *engine, const rs_transpose_task *task,
                                        size_t scratch_limit, rs_stage **stage);

    /* Scratch memory is taken before the first stage of a run and shared by all of them; `kept` are
     * the tables that a stage has as long as it lives. NULL in an engine whose stages take none. */
    size_t (*scratch_bytes)(const rs_stage *stage, size_t *kept);
    restride_status (*acquire_scratch)(restride_engine *engine, size_t bytes, void **scratch);
    void (*release_scratch)(restride_engine *engine, size_t bytes, void *scratch);

    /* Whether `buffer` is this engine's kind of buffer, has at least `bytes` bytes, and was made
     * for that use by kernels; asked before the first stage. */
    restride_status (*check_buffer)(restride_engine *engine, void *buffer, size_t bytes,
                                    rs_buffer_use use);

    /*
     * Runs one stage in place. Thread-safe on different buffers. `progress` may be NULL; a stage
     * adds to it as it goes, or not at all. With `under_way` NULL it returns when the stage is
     * done. Otherwise it may return before that: the stage begins behind those that left
     * something in under_way->last, and what is left there then, after an error too, is for the
     * next stage or for finish(). A caller's stream orders the stages by itself.
     */
    restride_status (*run)(const rs_stage *stage, void *buffer, void *scratch,
                           rs_progress *progress, rs_under_way *under_way);
    /* Waits for what runs have left. NULL in an engine whose stages leave nothing. */
    restride_status (*finish)(restride_engine *engine, void *last);

    /* New JSON objects, or NULL when memory is short. */
    json_t *(*describe_stage)(const rs_stage *stage);
    json_t *(*describe_device)(const restride_engine *engine);

    const rs_transfer_operations *transfer; /* NULL in an engine that works in host memory */
    const rs_peer_operations *peer;         /* NULL: processes share no memory of its devices */
    const rs_copy_operations *copy;

    /* Around what a room above does with a device itself (engine/device/device.h): the engine's
     * structure is an rs_device_engine, and its device is the thread's between the two. NULL in an
     * engine that works in host memory. */
    restride_status (*enter)(restride_engine *engine);
    void (*leave)(restride_engine *engine);

    void (*destroy_stage)(rs_stage *stage);
    void (*destroy)(restride_engine *engine);
} rs_engine_operations;

typedef struct {
    const char *name;
    size_t value;
} rs_named_number;

/* Adds numbers to a description. When memory is short, or `object` is NULL, the description is
 * freed and NULL returned. */
json_t *rs_describe_numbers(json_t *object, const rs_named_number numbers[], size_t count);

/* What a room above keeps with an engine: the beginning of its structure. */
typedef struct rs_attachment {
    void (*destroy)(struct rs_attachment *attachment); /* frees all but the lock */
    pthread_mutex_t lock;                              /* of what follows */
} rs_attachment;

/* What is attached at `place` of an engine: the first call attaches `size` bytes of zeros behind
 * these members. NULL when memory is short. Thread-safe. */
rs_attachment *rs_engine_attach(_Atomic(rs_attachment *) *place, size_t size,
                                void (*destroy)(rs_attachment *attachment));

/* Every engine's structure begins with this one. */
struct restride_engine {
    const rs_engine_operations *operations;
    _Atomic(rs_attachment *) wisdom; /* the planner's; NULL until it is asked for */
    _Atomic(rs_attachment *) kept;   /* plans of the calls that make none; likewise */
};

#endif
