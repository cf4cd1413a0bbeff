/*
 * Redistribution: an array that is spread over processes changes its layout and who holds what, in
 * the memory that it has.
 *
 *     restride_group *group;                    // of one process here; see restride/mpi.h
 *     restride_engine *engine;
 *     restride_plan *plan = NULL;
 *     restride_status status = restride_group_create(&group, NULL, NULL, 0, 1);
 *     assert(status == RESTRIDE_OK && restride_engine_create_host(&engine, 1) == RESTRIDE_OK);
 *     status = restride_plan_redistribute(&plan, group, engine, "r:4 c:6 float", "@r/4 r%4 c",
 *                                         "@c/6 c%6 r", 0, NULL);
 *     assert(status == RESTRIDE_OK && restride_plan_local_bytes(plan) == 96);
 *     float part[24] = {0, 1};
 *     assert(restride_execute(plan, part) == RESTRIDE_OK && part[4] == 1);
 *     restride_plan_destroy(plan);              // before its group and its engine
 *     restride_engine_destroy(engine);
 *     restride_group_destroy(group);
 *
 * A layout (restride/layout.h) spreads an array by terms behind "@". Their values, the first term
 * slowest, are the number of the process; the other terms say how its part lies in its memory:
 *
 *     @r/1000 r%1000 c          matrix by blocks of 1000 rows
 *     @c/500 c%500 r            by blocks of 500 columns, each by columns
 *     @x/64 @y/64 x%64 y%64     a grid of processes
 *     r/64 @r/16%4 r%16 c       block-cyclic: blocks of 16 rows, dealt out to 4 processes in turn
 *     @f i                      members of a record, each on a process of its own
 *     r c                       everything on process 0
 *
 * Last blocks may be shorter, and processes may hold nothing. A process holds its indices of each
 * dimension in ascending order and without gaps, so its part is an array as if alone. Padding
 * (":pad") is refused.
 *
 * ScaLAPACK's block-cyclic layouts, whose local arrays lie by columns, with no other first process
 * than 0 (RSRC, CSRC):
 *
 *     64 rows, 4 processes                    c r/256 @r/64%4 r%64
 *     64 x 32, 4 x 2 processes by rows        c/64 c%32 r/256 r%64 @r/64%4 @c/32%2
 *     the same, processes by columns          c/64 c%32 r/256 r%64 @c/32%2 @r/64%4
 *
 * How it works. Stages on each process bring together what goes to each other one. Pairs of
 * processes then exchange as many bytes as both have for each other, place for place, in chunks
 * through the scratch memory. What one of the two has in excess flows afterwards, behind those
 * bytes. Stages bring what arrived into its order.
 *
 * Why there is room. The excess is cut into paths, each of which ends at a process that has nothing
 * left to send, and into cycles. Along each of them every process between the ends sends as much
 * as it receives, so it holds as much as before. The first one holds less. The last one holds no
 * more than its part in the end, because it sends nothing any more. So no process ever holds more
 * than the larger of its two parts, which is restride_plan_local_bytes().
 *
 * Stages may run beside messages, where none of them crosses from the bytes of one message to those
 * of another. Stages before the exchange are through with a message's bytes when it begins, and
 * those after it begin when it has ended. They work in place, so each process holds as much as if
 * they ran before and afterwards.
 *
 * Collective: every process of the group calls with the same arguments and in the same order. Each
 * call begins and ends with a word among all, so that a failure of one process fails on all.
 */
#ifndef RESTRIDE_DISTRIBUTED_H
#define RESTRIDE_DISTRIBUTED_H

#include "restride/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct restride_group restride_group;

/* What memory the messages of a group may lie in. */
typedef enum {
    /* The host's alone. What is on a device passes through pinned memory of the host. */
    RESTRIDE_GROUP_HOST = 0,
    /*
     * CUDA devices alone. begin() sends what was enqueued before it on the engine's stream, and
     * what is enqueued there after finish() finds what was received. Both may return before that.
     */
    RESTRIDE_GROUP_CUDA = 1
} restride_group_memory;

/*
 * How the processes of a group talk; for those that restride/mpi.h and restride/nccl.h do not
 * serve. Each function returns 0, or another number when it failed. A wait of more than `seconds`
 * is a failure. Messages between two processes arrive in the order in which they were begun. One
 * thread calls at a time.
 */
typedef struct {
    /* Begins to send to process `to` and to receive from process `from`, which sends exactly so
     * many bytes; 0 bytes: neither. At most 1 GiB each; at most two are under way. Returns at once
     * with *operation for finish(), which is called once for each, in order. */
    int (*begin)(void *context, const void *send, size_t send_bytes, int to, void *receive,
                 size_t receive_bytes, int from, void **operation);
    int (*finish)(void *context, void *operation, double seconds);
    /* Every process gives `bytes` bytes and gets those of all, in the order of their numbers. Both
     * lie in host memory. Returns after all that was begun before. */
    int (*gather)(void *context, const void *mine, size_t bytes, void *all, double seconds);
    /* Frees the context; may be NULL. */
    void (*destroy)(void *context);
    /* For begin(). A plan of a group that cannot address the engine's memory is refused. */
    restride_group_memory memory;
} restride_group_functions;

/*
 * Creates a group of `size` processes in which this is number `rank`. The functions are copied; a
 * group of one needs none (NULL). The time-out is 300 seconds. RESTRIDE_INVALID_ARGUMENT: a
 * function is missing, or there is no such process. Not collective. After an error the context is
 * the caller's. Since 0.1.
 */
RESTRIDE_API restride_status restride_group_create(restride_group **group,
                                                   const restride_group_functions *functions,
                                                   void *context, int rank, int size);

/* How many seconds a call waits for another process at most before it fails. Values that are not
 * above 0 are ignored. Since 0.1. */
RESTRIDE_API void restride_group_set_timeout(restride_group *group, double seconds);

/* How long plans keep the memory of other processes mapped. */
typedef enum {
    RESTRIDE_PEER_MEMORY_NONE = 0, /* they do not use it */
    RESTRIDE_PEER_MEMORY_OF_A_RUN = 1,
    /* Until they are destroyed, or run with another allocation. No process frees an array that it
     * gave to a plan before all have destroyed theirs, or run them with others. */
    RESTRIDE_PEER_MEMORY_KEPT = 2
} restride_peer_memory;

/*
 * Whether (restride_peer_memory) the plans that are made from now on may read and write the memory
 * of other processes; at first they may that of devices. Up to 64 processes of one host then
 * exchange bytes in place, without chunks or messages: with CUDA engines between devices, in memory
 * of cuMemAlloc() or cudaMalloc(); with host engines where the kernel permits process_vm_readv().
 * Where a process does not reach another one, messages are sent. All processes must say the same.
 * Since 0.1.
 *
 * To map a buffer of another device takes some 10 ms, which pays for arrays of some GiB, so with
 * messages of CUDA memory smaller ones are sent.
 */
RESTRIDE_API void restride_group_use_peer_memory(restride_group *group, int use);

/* The number of this process, and how many there are; 0 without a group. Since 0.1. */
RESTRIDE_API int restride_group_rank(const restride_group *group);
RESTRIDE_API int restride_group_size(const restride_group *group);

/* Frees a group, whose plans must be destroyed before; NULL is allowed. Collective where that of
 * the context is. Since 0.1. */
RESTRIDE_API void restride_group_destroy(restride_group *group);

/*
 * Plans a redistribution of the array `dimensions` from one layout to another. `element_bytes` is
 * the size of an element where the dimensions do not say it, else 0. The group may be larger than
 * the layouts need; the processes that are over hold nothing.
 *
 * restride_execute() runs the plan. Its buffer has restride_plan_local_bytes() bytes and begins
 * with the part of this process, before and afterwards; it may be NULL where that is 0. It is
 * memory of the engine: of the host, or of its device. With the CUDA engine the call returns when
 * all messages are through, and the last local passes may still run on the stream. After an error
 * the sentence says whether the buffer is unchanged. When another process does not answer
 * within the time-out, the group serves no more calls, and the buffer must stay allocated, because
 * messages may still be under way. restride_plan_describe() tells what is sent.
 *
 * `options` may be NULL; the method in them is ignored. Their `scratch_bytes` bounds what stages
 * and exchange take together; by default that is at most 64 MiB and what stages take, which is at
 * most 0.5 % of the part and 4 MiB a thread. A plan keeps the memory for its chunks until it is
 * destroyed. With a device that is pinned memory of the host, or, where the group addresses it,
 * memory of the device.
 *
 * Collective. RESTRIDE_INVALID_ARGUMENT: processes differ in their arguments, or are too few.
 * RESTRIDE_UNSUPPORTED: the blocks of the two layouts cut a dimension into too many pieces, the
 * scratch memory does not suffice, or the group does not address the engine's memory. RESTRIDE_IO:
 * a process does not answer. Since 0.1.
 */
RESTRIDE_API restride_status restride_plan_redistribute(restride_plan **plan, restride_group *group,
                                                        restride_engine *engine,
                                                        const char *dimensions, const char *from,
                                                        const char *to, size_t element_bytes,
                                                        const restride_plan_options *options);

/* The bytes that the buffer of this process must have: the larger of what it holds before and
 * afterwards. 0 without a plan. Since 0.1. */
RESTRIDE_API size_t restride_plan_local_bytes(const restride_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
