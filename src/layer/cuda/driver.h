/*
 * CUDA's side of the layer: the driver's functions, and what the files of this folder share.
 *
 *   entries    which function of the layer stands for a name of the driver; the closed world
 *   streams    contexts, streams, commands around the driver's calls, captures
 *   memory     allocations by address, copies, and what keeps memory in the program's layout
 *   kernels    what is known of a kernel, by its description; its second forms
 *   launches   which form a launch uses
 *   api, converter   what the core asks of an API
 */
#ifndef RS_LAYER_CUDA_DRIVER_H
#define RS_LAYER_CUDA_DRIVER_H

#include "engine/cuda/api.h"
#include "layer/core/coherence.h"
#include "layer/core/state.h"

typedef uintptr_t rs_word; /* an argument of any function, or its result */

typedef struct CUkern_st *rs_cuda_kernel_handle; /* CUkernel: stands for a function of contexts */

/* What the layer calls besides rs_cuda_driver. Each may be missing in an older driver. */
typedef struct {
    rs_cuda_result (*cuGetProcAddress)(const char *name, void **function, int version,
                                       uint64_t flags, int *status);
    rs_cuda_result (*cuEventElapsedTime)(float *milliseconds, rs_cuda_event first,
                                         rs_cuda_event last);
    rs_cuda_result (*cuStreamQuery)(rs_cuda_stream stream);
    rs_cuda_result (*cuCtxSynchronize)(void);
    rs_cuda_result (*cuThreadExchangeStreamCaptureMode)(int *mode);
    rs_cuda_result (*cuFuncGetName)(const char **name, rs_cuda_function function);
    rs_cuda_result (*cuFuncGetModule)(rs_cuda_module *module, rs_cuda_function function);
    rs_cuda_result (*cuFuncGetParamInfo)(rs_cuda_function function, size_t index, size_t *offset,
                                         size_t *size);
    rs_cuda_result (*cuFuncGetAttribute)(int *value, int attribute, rs_cuda_function function);
    rs_cuda_result (*cuLibraryGetModule)(rs_cuda_module *module, void *library);
    rs_cuda_result (*cuPointerGetAttribute)(void *value, int attribute, uintptr_t pointer);
    rs_cuda_result (*cuKernelGetFunction)(rs_cuda_function *function, rs_cuda_kernel_handle kernel);
} rs_cuda_more;

enum {
    RS_CUDA_SUCCESS = 0,
    RS_CUDA_UNKNOWN = 999,
    RS_CUDA_STREAM_LEGACY = 1,
    RS_CUDA_STREAM_PER_THREAD = 2,
    RS_CUDA_CAPTURE_RELAXED = 2,
    RS_CUDA_EVENT_DEFAULT = 0
};

/* The record of a stream. Its core handle is its own address, for the default streams have the same
 * handle in all contexts and threads. */
typedef struct {
    rs_queue core;
    rs_cuda_stream stream;
    uint64_t number; /* of all streams that ever were */
    bool is_per_thread;
    bool is_own;       /* of the layer */
    bool is_capturing; /* since a call that was seen */
    pthread_t thread;  /* of a thread's default stream */
    /* rs_layer.generation when a command that may use any buffer was last brought into order here:
     * until it changes, the next one finds nothing to do. */
    unsigned long long settled;
} rs_cuda_queue;

/* An allocation. The core's handle is its first address. */
typedef struct {
    rs_buffer core;
} rs_cuda_buffer;

typedef struct {
    rs_layer layer;
    const rs_cuda_driver *driver; /* NULL: the driver is too old to convert anything */
    rs_cuda_more more;
    struct { /* allocations in the order of their addresses: memory.c */
        rs_cuda_buffer **all;
        size_t count;
    } memory;
    rs_map streams;        /* records by the driver's handle, of streams that have one */
    rs_cuda_queue *legacy; /* the default stream of the one context */
    _Atomic uint64_t stream_count;
    size_t captures; /* streams that capture now */
    size_t pauses;   /* those, and streams that are about to */
    /* Whether a kernel has been seen whose arguments can be in another layout. Until then nothing
     * is, and commands are not brought into order. */
    bool is_wanted;
    atomic_bool is_frozen;             /* for good: nothing is followed any more */
    _Atomic(const char *) has_frozen;  /* why it is, until a launch has been kept by that */
    _Atomic(const char *) must_freeze; /* why it must be, before the next command */
    _Atomic(const char *) unseen;      /* the file that calls the driver unseen */
} rs_cuda_layer;

extern rs_cuda_layer rs_cuda;

static inline rs_layer *rs_the_layer(void)
{
    return &rs_cuda.layer;
}

/* ---- calls of the program ---- */

/* A function of the driver as the program got it. */
typedef struct rs_entry rs_entry;
enum { RS_CUDA_WORDS = 16 };
typedef rs_word rs_any_function(rs_word, rs_word, rs_word, rs_word, rs_word, rs_word, rs_word,
                                rs_word, rs_word, rs_word, rs_word, rs_word, rs_word, rs_word,
                                rs_word, rs_word);

typedef rs_word rs_entry_handler(const rs_entry *entry, rs_word *words);

/* What is known of a function: which of its arguments are what. */
typedef struct {
    const char *name; /* without a version */
    const char *form; /* "_v2": only that version is known; "": only that without one; "*": all */
    rs_entry_handler *handle; /* NULL: it is called directly */
    unsigned pointers;        /* bits of arguments that are addresses of memory */
    int stream;               /* which argument; -1: the default stream, and the call blocks */
    int bytes;                /* that the first of the pointers gets, in full; -1: not so */
} rs_entry_kind;

struct rs_entry {
    const rs_entry_kind *kind; /* NULL: not known */
    char *name;                /* as the program asked for it */
    rs_any_function *function;
    bool is_per_thread; /* stream 0 is the calling thread's */
};

/* What is known of a function, whose name without a version is the first `length` letters of
 * `name`; NULL: nothing. */
const rs_entry_kind *rs_entry_kind_of(const char *name, size_t length);

/* The driver's function. */
static inline rs_word rs_entry_call(const rs_entry *entry, const rs_word *w)
{
    return entry->function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11],
                           w[12], w[13], w[14], w[15]);
}

/* Restores everything, if it must be before the next command. */
void rs_cuda_look_for_freeze(void) RS_UNLOCKED;
void rs_cuda_freeze(const char *why) RS_UNLOCKED;

/* A launch came after that: the report says so once. */
void rs_cuda_note_frozen(void) RS_LOCKED;

/* The times of launches that are over: events tell none after their context has ended. */
void rs_cuda_collect_times(void) RS_UNLOCKED;

static inline bool rs_cuda_is_frozen(void)
{
    if (atomic_load_explicit(&rs_cuda.must_freeze, memory_order_relaxed) != NULL)
        rs_cuda_look_for_freeze();
    return atomic_load_explicit(&rs_cuda.is_frozen, memory_order_relaxed);
}

extern rs_entry_handler rs_follow_get_address;

/* ---- contexts ---- */

/* The layer's own calls are made in its context, whatever the thread has, and do not end what the
 * program captures. */
typedef struct {
    rs_cuda_context before;
    bool is_pushed;
    int mode;
} rs_cuda_entered;

rs_cuda_entered rs_cuda_enter(rs_group context);
void rs_cuda_leave(const rs_cuda_entered *entered);

/* ---- streams: streams.c ---- */

/* The record of a stream in the current context; NULL: nothing is followed any more. */
rs_cuda_queue *rs_cuda_queue_of(rs_word stream, bool is_per_thread) RS_LOCKED;

/* A stream of the layer's own. */
int rs_cuda_queue_open(rs_group context, rs_device device, rs_cuda_queue **queue);
void rs_cuda_queue_close(rs_cuda_queue *queue);

/* Everything that was given to any stream may use any buffer. */
void rs_cuda_assume_all_used(void) RS_LOCKED;

/* Brings all buffers into the program's layout for a command that may use any. */
void rs_cuda_use_all(rs_command *command) RS_LOCKED;

/* Before the driver's call: lets the stream wait for what the command has to wait for. */
int rs_cuda_apply_waits(rs_command *command) RS_LOCKED;

/* The record of the current context, made if new; NULL: nothing is followed. */
rs_context *rs_cuda_current_context(void) RS_LOCKED;

/* Whether commands of the stream are to be brought into order now. */
bool rs_cuda_follows(rs_cuda_queue *queue) RS_LOCKED;

/* The driver's call for a command that is not brought into order, and for one that is: which uses
 * these buffers, some of which may be NULL, or (0) any. */
rs_word rs_cuda_pass(const rs_entry *entry, const rs_word *w) RS_UNLOCKS;
rs_word rs_cuda_call_with(const rs_entry *entry, const rs_word *w, rs_command *command,
                          rs_cuda_buffer *const *buffers, size_t count) RS_LOCKED;

/* Handlers of the table. */
rs_entry_handler rs_follow_use_everything, rs_follow_restore_everything, rs_follow_begin_capture,
    rs_follow_end_capture, rs_follow_destroy_stream, rs_follow_wait, rs_follow_end_context;

/* ---- memory: memory.c ---- */

/* The allocation that an address lies in, or NULL. */
rs_cuda_buffer *rs_cuda_buffer_at(uintptr_t address) RS_LOCKED;

rs_entry_handler rs_follow_copy, rs_follow_fill, rs_follow_allocate, rs_follow_allocate_kept,
    rs_follow_free, rs_follow_free_later, rs_follow_keep, rs_follow_keep_resource;

/* ---- kernels and launches ---- */

rs_entry_handler rs_follow_launch, rs_follow_launch_extended, rs_follow_launch_cooperative,
    rs_follow_unload, rs_follow_change_function, rs_follow_change_kernel, rs_follow_link;

#endif
