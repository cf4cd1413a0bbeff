/*
 * The OpenCL engine's stages. Each family of kernels (src/engine/kernels/) is a file of its own
 * that prepares stages (sizes, programs, scratch memory) and enqueues them.
 */
#ifndef RS_ENGINE_OPENCL_OPENCL_H
#define RS_ENGINE_OPENCL_OPENCL_H

#include "engine/opencl/marshal.h"
#include "engine/transfer.h"

#include <CL/cl_icd.h>
#include <pthread.h>

typedef struct rs_opencl_program rs_opencl_program;

typedef struct {
    restride_engine base;
    const cl_icd_dispatch *api;
    cl_command_queue queue;
    cl_context context;
    cl_device_id device;
    char device_name[256];
    size_t local_bytes; /* that a block may take */
    size_t work_items;  /* of a group, at most */
    size_t units;       /* compute units */
    pthread_mutex_t mutex;
    /* Under the mutex: programs that were built, and scratch memory between runs. */
    rs_opencl_program *programs;
    cl_mem spare;
    size_t spare_bytes;
} rs_opencl_engine;

enum { RS_OPENCL_MOST_KERNELS = 6 };

typedef struct rs_opencl_method rs_opencl_method;

/* A stage of transposition. */
typedef struct {
    rs_stage base;
    const rs_opencl_method *method;
    rs_transpose_task task;
    size_t word; /* bytes of what a work-item moves at once */
    cl_kernel kernels[RS_OPENCL_MOST_KERNELS];
    size_t items; /* work-items of a group */
    size_t scratch_bytes;
    size_t kept_bytes;
    void *plan; /* the method's own; freed by its `forget` */
} rs_opencl_stage;

/* Commands that run one after the other on any queue. The first that fails ends it. */
typedef struct {
    rs_opencl_engine *engine;
    cl_event last; /* NULL before the first */
    cl_int code;
} rs_opencl_sequence;

struct rs_opencl_method {
    const char *elementary; /* the thesis's name */
    const char *name;
    restride_status (*prepare)(rs_opencl_stage *stage, size_t scratch_limit);
    void (*enqueue)(const rs_opencl_stage *stage, rs_opencl_sequence *sequence, cl_mem buffer,
                    cl_mem scratch);
    void (*forget)(rs_opencl_stage *stage); /* NULL where there is nothing to free */
};

extern const rs_transfer_operations rs_opencl_transfer;

extern const rs_opencl_method rs_opencl_panels;
extern const rs_opencl_method rs_opencl_tiles;
extern const rs_opencl_method rs_opencl_square;
extern const rs_opencl_method rs_opencl_chains;
extern const rs_opencl_method rs_opencl_reverse;
extern const rs_opencl_method rs_opencl_shuffle_rows;
extern const rs_opencl_method rs_opencl_rotate;
extern const rs_opencl_method rs_opencl_shuffle_columns;

/* The most words along a side of a block: what the kernels' short division can take. */
enum { RS_OPENCL_MOST_BLOCK_WORDS = 65535 };

/* ---- sequences ---- */

typedef struct {
    size_t size;
    const void *value; /* NULL: local memory of that size */
} rs_opencl_argument;

#define RS_ARGUMENT(variable) ((rs_opencl_argument){sizeof(variable), &(variable)})
#define RS_LOCAL_MEMORY(bytes) ((rs_opencl_argument){(bytes), NULL})

/* Launches `groups` x `groups_2` groups of `items` work-items; none when either is 0. */
void rs_opencl_launch(rs_opencl_sequence *sequence, cl_kernel kernel,
                      const rs_opencl_argument *arguments, size_t count, size_t groups,
                      size_t groups_2, size_t items);

/* Waits for the last command. `doing` is for the sentence. */
restride_status rs_opencl_finish(rs_opencl_sequence *sequence, const char *doing);

/* Matrices that one launch takes in its second dimension; the others follow in further launches. */
enum { RS_OPENCL_MOST_MATRICES = 32768 };

/* ---- programs ---- */

typedef enum { RS_KERNELS_BLOCKS, RS_KERNELS_CHAINS, RS_KERNELS_SHUFFLES } rs_opencl_source;

/* Creates kernels of a source built with `options`; the program is built at its first use and kept
 * as long as the engine. Those created are in `kernels` even after an error. */
restride_status rs_opencl_create_kernels(rs_opencl_engine *engine, rs_opencl_source source,
                                         const char *options, const char *const names[],
                                         size_t count, cl_kernel kernels[]);
void rs_opencl_forget_programs(rs_opencl_engine *engine);

/* The OpenCL type of a word: 1, 2, 4, 8 or 16 bytes. */
const char *rs_opencl_word_type(size_t bytes);

/* ---- helpers ---- */

static inline rs_opencl_engine *rs_opencl_engine_of(const rs_opencl_stage *stage)
{
    return (rs_opencl_engine *)stage->base.engine;
}

static inline size_t rs_opencl_groups(size_t work, size_t each)
{
    return work / each + (work % each != 0);
}

#endif
