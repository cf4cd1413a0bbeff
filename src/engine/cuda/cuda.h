/*
 * The CUDA engine's own words. Each method of transposition is a file with a function that prepares
 * a stage: which kernel, how it is cut, which tables. Running a stage is one launch; nothing is
 * allocated and nothing is waited for.
 */
#ifndef RS_ENGINE_CUDA_CUDA_H
#define RS_ENGINE_CUDA_CUDA_H

#include "base/text.h"
#include "engine/cuda/api.h"
#include "engine/device/device.h"
#include "engine/transfer.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct rs_cuda_program rs_cuda_program;

/* What the stages of an engine have together, under the mutex: compiled kernels, and scratch memory
 * that one of them uses at a time, because all of them are on one stream. */
typedef struct {
    pthread_mutex_t mutex;
    rs_cuda_program *programs;
    rs_cuda_pointer scratch; /* 0: none */
    size_t scratch_bytes;
    size_t scratch_users; /* stages that want it; the last one frees it */
} rs_cuda_shared;

typedef struct {
    rs_device_engine common;
    const rs_cuda_driver *api;
    rs_cuda_context context;
    rs_cuda_stream stream;
    char name[256];
    int driver_version;
    int architecture; /* 90 for compute capability 9.0 */
    size_t multiprocessors;
    size_t shared_bytes; /* of a multiprocessor */
    size_t shared_bytes_a_block;
    size_t cache_bytes; /* the second level */
    rs_cuda_shared *shared;
    /* A few bytes, as long as the engine lives. When the last small piece is freed, the driver
     * gives a block of its memory back, and to get one for the next plan takes longer than the
     * rest. */
    rs_cuda_pointer anchor;
} rs_cuda_engine;

/* Building programs, memory and launches for the stages of all devices. A sequence has no `last`:
 * it is the stream. */
extern const rs_device_operations rs_cuda_device_operations;

extern const rs_transfer_operations rs_cuda_transfer;
extern const rs_peer_operations rs_cuda_peer;
extern const rs_copy_operations rs_cuda_copies;
extern const rs_engine_operations rs_cuda_operations;

enum { RS_CUDA_RESERVED_BYTES = 1024 }; /* of a block's shared memory, for the driver */

/* What a kernel did wrong, or what happened to the device, is told by a later call, and what an
 * earlier run has left of the buffer is not known then. */
bool rs_cuda_is_of_earlier_work(int code);

/* ---- kernels ---- */

typedef struct {
    const char *name; /* a macro of the kernel's source */
    const char *text; /* its value, or NULL: */
    size_t value;
} rs_cuda_define;

/* What is compiled behind the common part, one after the other; NULL: nothing. Programs are told
 * apart by these addresses, so what is there never changes. */
typedef struct {
    const char *parts[2];
} rs_cuda_source;

typedef struct {
    rs_cuda_function function;
    size_t threads; /* of a block */
    size_t shared_bytes;
    size_t resident; /* blocks that fit on the device at once */
} rs_cuda_kernel;

/*
 * Compiles the function `name` of `source` behind the common part and short division
 * (engine/kernels/division.cl), or takes it from the cache.
 * `threads` and `shared_bytes` are what every launch will use. RESTRIDE_DEVICE_LIMIT when not even
 * one block fits. The engine's context is current.
 */
restride_status rs_cuda_kernel_create(rs_cuda_kernel *kernel, const rs_cuda_engine *engine,
                                      const char *name, const char *source,
                                      const rs_cuda_define *defines, size_t define_count,
                                      size_t threads, size_t shared_bytes);

/* The module of a source behind the common part; the engine owns it. */
restride_status rs_cuda_load(const rs_cuda_engine *engine, const char *name, rs_cuda_source source,
                             const rs_cuda_define *defines, size_t define_count,
                             rs_cuda_module *module);
/* A kernel that was compiled with this library for an architecture (installed.c); *image is the
 * caller's to free. */
bool rs_cuda_read_installed(int architecture, const char *key, rs_text *image);

/* How many of those a device of an architecture has, which may be those for the first of its
 * generation. */
size_t rs_cuda_count_installed(int architecture);

void rs_cuda_forget_programs(const rs_cuda_engine *engine);

/* ---- stages ---- */

enum { RS_CUDA_MOST_ARGUMENTS = 24 };

/* A launch of a kernel; its first argument is the address of the first matrix. */
typedef struct {
    rs_cuda_kernel kernel;
    size_t offset; /* of that matrix in the buffer */
    size_t grid;
    bool cooperative;
    uint64_t arguments[RS_CUDA_MOST_ARGUMENTS];
    size_t argument_count;
    rs_cuda_pointer table; /* device memory that the launch uses; 0: none */
    size_t table_bytes;
} rs_cuda_launch;

typedef struct rs_cuda_method rs_cuda_method;

enum { RS_CUDA_MOST_LAUNCHES = 5 };

typedef struct {
    rs_stage base;
    const rs_cuda_method *method;
    rs_transpose_task task;
    rs_cuda_launch launches[RS_CUDA_MOST_LAUNCHES];
    size_t launch_count;
    rs_device_stage *portable[RS_CUDA_MOST_LAUNCHES]; /* instead of launches */
    size_t portable_count;
    size_t word;     /* bytes of an access */
    char shape[128]; /* how the kernel is cut, for descriptions */
} rs_cuda_stage;

typedef restride_status rs_cuda_prepare(rs_cuda_stage *stage, size_t scratch_limit);

struct rs_cuda_method {
    const char *elementary; /* the thesis's name */
    const char *name;
    rs_cuda_prepare *prepare;
};

rs_cuda_prepare rs_cuda_panels_prepare, rs_cuda_slim_prepare, rs_cuda_chains_prepare,
    rs_cuda_square_prepare, rs_cuda_groups_prepare, rs_cuda_tails_prepare, rs_cuda_rows_prepare,
    rs_cuda_columns_prepare, rs_cuda_on_chip_prepare;

/* Passes at the speed of a copy that a stage takes; see rs_engine_traits. None takes less than
 * RS_CUDA_LEAST_COST. */
#define RS_CUDA_LEAST_COST 1.04
double rs_cuda_cost(const restride_engine *engine, const rs_transpose_task *task,
                    size_t scratch_limit);

/* Whether a stage of 100! has so much to move that the kernels of all devices do it. */
bool rs_cuda_walks_on_device(const rs_transpose_task *task);

/* Whether the kernels of all devices move several elements of a square, or of tiles, at once. */
bool rs_cuda_is_packed(const rs_transpose_task *task);

/* The engine that a stage belongs to. */
static inline rs_cuda_engine *rs_cuda_engine_of(const rs_cuda_stage *stage)
{
    return (rs_cuda_engine *)stage->base.engine;
}

/* The widest access that fits `unit` and where every matrix of the task begins: 1 to 16 bytes. */
size_t rs_cuda_word(const rs_transpose_task *task);

/* How many panels the blocks of the device have in shared memory at a time; 0: not one. */
size_t rs_cuda_panels_gangs(const rs_cuda_engine *engine, const rs_transpose_task *task);

/* Whether panels have elements of one or two bytes, which move four bytes at once, and are large
 * enough for a block each. */
bool rs_cuda_panels_are_narrow(const rs_transpose_task *task);

/* Whether a panel has so few rows, or columns, that one block transposes it alone (slim.c). */
bool rs_cuda_slim_suits(const rs_cuda_engine *engine, const rs_transpose_task *task);

/* Whether the multiprocessors together hold an array, and how many of them at a time (on_chip.c);
 * 0: it is too large. `word`: bytes of each access. */
size_t rs_cuda_on_chip_arrays(const rs_cuda_engine *engine, const rs_transpose_task *task,
                              size_t *word);

/* Bytes that a stage of groups keeps; SIZE_MAX where the matrix does not suit (groups.c). */
size_t rs_cuda_groups_bytes(const rs_cuda_engine *engine, const rs_transpose_task *task);

/* Squares of side x side elements whose rows lie row_bytes apart, as the next launch of a stage. */
typedef struct {
    size_t outer;
    size_t pitch;
    size_t side;
    size_t unit;
    size_t row_bytes;
} rs_cuda_square;
restride_status rs_cuda_add_square(rs_cuda_stage *stage, const rs_cuda_square *square);

/* What rs_peer_operations' mirror() exchanges. */
typedef struct {
    rs_cuda_pointer own;
    rs_cuda_pointer other;
    size_t rows;
    size_t cols;
    size_t row_bytes;
    size_t unit;
} rs_cuda_mirror_blocks;
restride_status rs_cuda_mirror(const rs_cuda_engine *engine, const rs_cuda_mirror_blocks *blocks);

/* Words from row to row of a tile in shared memory: neighbours of a column lie in different banks.
 */
size_t rs_cuda_tile_pitch(size_t cols, size_t unit_words, size_t word);

/* How many elements of a side a tile of 010! has, at most `most`. */
size_t rs_cuda_divide_side(size_t side, size_t most, size_t unit);

/* What a row shuffle wants of the shared memory of a block. */
size_t rs_cuda_rows_bytes(const rs_transpose_task *task);

/* How many columns a panel of a column shuffle or rotation has: fewer the longer they are; 0 when
 * they do not fit on chip. */
size_t rs_cuda_columns_width(const rs_cuda_engine *engine, const rs_transpose_task *task);

/* The next launch of the stage, at the task's offset; its kernel is still to be made. */
rs_cuda_launch *rs_cuda_add_launch(rs_cuda_stage *stage);

/* Adds arguments; those of a kernel behind the first are all 64 bits wide. */
void rs_cuda_add_arguments(rs_cuda_launch *launch, const uint64_t *values, size_t count);

/* `bytes` of device memory for as long as the launch lives; `content` (NULL: zeros) is copied
 * there.
 */
restride_status rs_cuda_keep(rs_cuda_launch *launch, const rs_cuda_engine *engine,
                             const void *content, size_t bytes);

#endif
