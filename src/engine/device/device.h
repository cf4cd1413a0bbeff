/*
 * Stages that every device runs in the same way: their kernels (src/engine/kernels/) are written in
 * a dialect that OpenCL C and CUDA C both understand. Each family of kernels is a file here that
 * prepares stages (sizes, programs, tables, scratch memory) and enqueues them; the engines behind
 * it, OpenCL's and CUDA's, know how to build, allocate and launch.
 */
#ifndef RS_ENGINE_DEVICE_DEVICE_H
#define RS_ENGINE_DEVICE_DEVICE_H

#include "base/arithmetic.h"
#include "base/status.h"
#include "engine/stage.h"

#include <stdbool.h>
#include <stdint.h>

typedef void *rs_device_memory; /* a cl_mem, or an address on a CUDA device */
typedef void *rs_device_kernel;

typedef struct rs_device_operations rs_device_operations;

/* The structures of the engines begin with this one. */
typedef struct {
    restride_engine base;
    const rs_device_operations *device;
    size_t local_bytes; /* that a group may take */
    size_t box_bytes;   /* the same where few groups at once will do: BOXES; 0: no more */
    size_t work_items;  /* of a group, at most */
    size_t units;       /* compute units */
    /* Work-items that the device runs together. Only speed depends on it: work-items of a group
     * share nothing but through barriers, whatever this is. */
    size_t simd_items;
} rs_device_engine;

/* Commands that run one after the other. The first that fails ends it. */
typedef struct {
    rs_device_engine *engine;
    void *last;  /* the engine's own; NULL before the first */
    int code;    /* of the engine's interface; 0: no failure */
    void *on;    /* NULL, or another queue of an OpenCL engine's device that the commands go to */
    void *first; /* the event of the first command there, a reference; NULL before it */
    bool has_launched; /* a command has not failed: it may have changed memory, whatever follows */
} rs_device_sequence;

typedef struct {
    size_t size;
    const void *value; /* NULL: local memory of that size */
} rs_device_argument;

/* Texts of kernels, which OpenCL and CUDA build. */
extern const char rs_device_blocks_kernels[];
extern const char rs_device_boxes_kernels[];
extern const char rs_device_chains_kernels[];
extern const char rs_device_walks_kernels[];
extern const char rs_device_claims_kernels[];
extern const char rs_device_copies_kernels[];
extern const char rs_device_families_kernels[];
extern const char rs_device_irregular_kernels[];
extern const char rs_device_moves_kernels[];
extern const char rs_device_shuffles_kernels[];
extern const char rs_device_sort_kernels[];
extern const char rs_device_division_functions[]; /* before each of them */

struct rs_device_operations {
    /* Finds kernels of a source, a text that outlives the engine, built with `options`, "-D
     * NAME=VALUE -D NAME". Programs are built and kernels created at their first use, and they live
     * as long as the engine. The names are literals. */
    restride_status (*create_kernels)(rs_device_engine *engine, const char *source,
                                      const char *options, const char *const names[], size_t count,
                                      rs_device_kernel kernels[]);

    restride_status (*allocate)(rs_device_engine *engine, size_t bytes, rs_device_memory *memory);
    void (*release)(rs_device_engine *engine, rs_device_memory memory);

    /* Each waits until the host's memory, which is pageable, may be changed or read. `doing` is for
     * the sentence. */
    restride_status (*write)(rs_device_engine *engine, rs_device_memory to, const void *from,
                             size_t bytes, const char *doing);
    restride_status (*read)(rs_device_engine *engine, void *to, rs_device_memory from, size_t bytes,
                            const char *doing);

    /* Launches groups x groups_2 groups of `items` work-items; neither is 0. */
    void (*launch)(rs_device_sequence *sequence, rs_device_kernel kernel,
                   const rs_device_argument *arguments, size_t count, size_t groups,
                   size_t groups_2, size_t items);

    /* Waits for the last command; the second reads behind it, with one wait for both. */
    restride_status (*finish)(rs_device_sequence *sequence, const char *doing);
    restride_status (*finish_reading)(rs_device_sequence *sequence, void *to, rs_device_memory from,
                                      size_t bytes, const char *doing);
};

/* ---- stages ---- */

enum { RS_DEVICE_MOST_KERNELS = 7 };

typedef struct rs_device_method rs_device_method;

typedef struct {
    rs_stage base;
    const rs_device_method *method;
    rs_transpose_task task; /* without its pieces */
    size_t word;            /* bytes of what a work-item moves at once */
    rs_device_kernel kernels[RS_DEVICE_MOST_KERNELS];
    size_t items; /* work-items of a group */
    size_t scratch_bytes;
    size_t kept_bytes;
    void *plan; /* the method's own; freed by its `forget` */
} rs_device_stage;

struct rs_device_method {
    const char *elementary; /* the thesis's name */
    const char *name;
    /* `stage->task` has its pieces for as long as this takes. */
    restride_status (*prepare)(rs_device_stage *stage, size_t scratch_limit);
    void (*enqueue)(const rs_device_stage *stage, rs_device_sequence *sequence,
                    rs_device_memory buffer, rs_device_memory scratch);
    void (*forget)(rs_device_stage *stage); /* NULL where there is nothing to free */
};

extern const rs_device_method rs_device_panels, rs_device_tiles, rs_device_boxes, rs_device_slots,
    rs_device_square, rs_device_chains, rs_device_reverse, rs_device_shuffle_rows, rs_device_rotate,
    rs_device_shuffle_columns, rs_device_zip, rs_device_unzip, rs_device_reorder, rs_device_fused,
    rs_device_claims_010, rs_device_cycles_010, rs_device_claims_100, rs_device_cycles_100,
    rs_device_copy_back, rs_device_join, rs_device_split;

/* NULL when there is none for stages of that kind. */
const rs_device_method *rs_device_find_method(rs_transpose_method method);

restride_status rs_device_create_stage(rs_device_engine *engine, const rs_device_method *method,
                                       const rs_transpose_task *task, size_t scratch_limit,
                                       rs_device_stage **created);

/* With its repeats. A method's `enqueue` has at most RS_DEVICE_MOST_MATRICES at once: task.outer.
 */
void rs_device_enqueue_stage(const rs_device_stage *stage, rs_device_sequence *sequence,
                             rs_device_memory buffer, rs_device_memory scratch);
json_t *rs_device_describe_stage(const rs_device_stage *stage);
void rs_device_destroy_stage(rs_device_stage *stage);

/* ---- from one buffer to another (copies.c): what rs_copy_operations want ---- */

restride_status rs_device_copies_create(restride_engine *engine, const rs_copy_task *task,
                                        rs_stage **stage);
void rs_device_copies_enqueue(const rs_stage *stage, rs_device_sequence *sequence,
                              rs_device_memory from, rs_device_memory to);

/* Arrays begin `offset` bytes behind the memory: a multiple of RS_DEVICE_COPY_ALIGNMENT. */
enum { RS_DEVICE_COPY_ALIGNMENT = 16 };
typedef struct {
    rs_device_memory memory;
    size_t offset;
} rs_device_place;

void rs_device_copies_enqueue_at(const rs_stage *stage, rs_device_sequence *sequence,
                                 rs_device_place from, rs_device_place to);
size_t rs_device_copies_bytes(const rs_stage *stage);
json_t *rs_device_copies_describe(const rs_stage *stage);
void rs_device_copies_destroy(rs_stage *stage);

/* ---- helpers ---- */

/* The most words along a side of a block: what the kernels' short division can take. */
enum { RS_DEVICE_MOST_BLOCK_WORDS = 65535 };

/* Matrices that one launch takes in its second dimension; the others follow in further launches. */
enum { RS_DEVICE_MOST_MATRICES = 32768 };

/* Arguments of a launch: a variable, a number of the kernel's type, local memory. A number lasts as
 * long as the block that it stands in. */
#define RS_ARGUMENT(variable) ((rs_device_argument){sizeof(variable), &(variable)})
#define RS_UINT(value) ((rs_device_argument){sizeof(uint32_t), &(uint32_t){(uint32_t)(value)}})
#define RS_ULONG(value) ((rs_device_argument){sizeof(uint64_t), &(uint64_t){(value)}})
#define RS_LOCAL_MEMORY(bytes) ((rs_device_argument){(bytes), NULL})

static inline rs_device_engine *rs_device_engine_of(const rs_device_stage *stage)
{
    return (rs_device_engine *)stage->base.engine;
}

/* None when there are no groups, or the sequence has failed. */
static inline void rs_device_launch(rs_device_sequence *sequence, rs_device_kernel kernel,
                                    const rs_device_argument *arguments, size_t count,
                                    size_t groups, size_t groups_2, size_t items)
{
    if (sequence->code != 0 || groups == 0 || groups_2 == 0)
        return;
    sequence->engine->device->launch(sequence, kernel, arguments, count, groups, groups_2, items);
    sequence->has_launched = sequence->has_launched || sequence->code == 0;
}

/* The stage's kernel of that number, with `groups` groups a matrix. */
static inline void rs_device_launch_kernel(const rs_device_stage *stage,
                                           rs_device_sequence *sequence, int kernel,
                                           const rs_device_argument *arguments, size_t count,
                                           size_t groups)
{
    rs_device_launch(sequence, stage->kernels[kernel], arguments, count, groups, stage->task.outer,
                     stage->items);
}

static inline restride_status rs_device_finish(rs_device_sequence *sequence, const char *doing)
{
    return sequence->engine->device->finish(sequence, doing);
}

static inline restride_status rs_device_finish_reading(rs_device_sequence *sequence, void *to,
                                                       rs_device_memory from, size_t bytes,
                                                       const char *doing)
{
    return sequence->engine->device->finish_reading(sequence, to, from, bytes, doing);
}

static inline restride_status rs_device_create_kernels(rs_device_engine *engine, const char *source,
                                                       const char *options,
                                                       const char *const names[], size_t count,
                                                       rs_device_kernel kernels[])
{
    return engine->device->create_kernels(engine, source, options, names, count, kernels);
}

/* The type of a word: 1, 2, 4, 8 or 16 bytes. */
const char *rs_device_word_type(size_t bytes);

/* The largest word that divides a number of bytes and every distance between matrices. */
size_t rs_device_choose_word(const rs_transpose_task *task, size_t bytes);

#endif
