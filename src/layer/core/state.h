/*
 * What the layer knows: its settings, and a record for every context, queue, buffer, program and
 * kernel of the program that runs above it.
 *
 * The program's handles are the driver's own; the layer keeps its facts beside them, by handle, and
 * counts the program's references itself, so that its records end when the program releases them.
 * Everything is guarded by one recursive mutex (recursive because a driver may call the program
 * back, and so this layer, from inside a call).
 */
#ifndef RS_LAYER_STATE_H
#define RS_LAYER_STATE_H

#include "base/map.h"
#include "base/seconds.h"
#include "layer/core/converter.h"
#include "layer/core/policy.h"
#include "layer/core/rewriter.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct rs_layer rs_layer;

typedef enum { RS_POLICY_AUTO, RS_POLICY_ASTA, RS_POLICY_SOA, RS_POLICY_OFF } rs_policy;

typedef enum { RS_LAYOUT_NEW, RS_LAYOUT_BUILDING, RS_LAYOUT_BUILT } rs_device_layout_state;

/* One layout that buffers of a context can be in, with what converts them. */
typedef struct rs_device_layout {
    rs_layer *layer;
    rs_relayout relayout;
    rs_device device;
    rs_group context;
    rs_converter *converter; /* once built; NULL: this device cannot (see why) */
    char *why;
    /* What its thread does: it makes the converter, if there is none, and then plans for buffers of
     * so many bytes, if they need them (0: none). */
    size_t planned_bytes;
    rs_plans *made;        /* not yet the converter's */
    double seconds;        /* that plans have taken and policy auto has not counted yet */
    atomic_int state;      /* an rs_device_layout_state; BUILDING only while it has a thread */
    atomic_bool is_urgent; /* it is wanted now; else the thread may give up when launches come */
    bool has_thread;
    bool is_orphan; /* its context's record is gone; it ends with its thread */
    pthread_t builder;
    struct rs_device_layout *next_with_thread;
    struct rs_device_layout *next;
} rs_device_layout;

typedef struct {
    rs_layer *layer;
    rs_group handle;
    unsigned references; /* the program's; objects keep a context alive beyond them */
    size_t buffer_count;
    rs_device_layout *layouts;
} rs_context;

/* A stream. The API's side makes it, as the first member of a record of its own; so it does with
 * all records that a program's objects have. */
typedef struct {
    rs_layer *layer;
    rs_stream handle;
    rs_group context;
    rs_device device;
    bool out_of_order;
    bool profiling; /* its commands have times */
} rs_queue;

/* Queues and events that commands on a buffer were given to since its last conversion. */
typedef struct {
    rs_queue **queues;
    size_t queue_count;
    rs_event *events; /* of queues that the program has released since */
    size_t event_count;
} rs_users;

/* A mapped part of a buffer. */
typedef struct rs_map_part {
    void *mapped;
    rs_allocation scratch;
    size_t first;        /* byte of the buffer where the scratch starts */
    size_t offset, size; /* what was mapped, in the buffer */
    bool writes;
    struct rs_map_part *next;
} rs_map_part;

typedef struct {
    rs_allocation handle;
    unsigned references;
    rs_context *context;
    size_t size;             /* bytes */
    const char *kept_reason; /* why it stays AoS for good; NULL: it may be converted */
    unsigned map_count;
    rs_map_part *map_parts;         /* maps of which the program has a scratch buffer */
    const rs_device_layout *layout; /* NULL: the program's own layout */
    rs_workspace workspace;         /* back from there */
    rs_workspace reserved;          /* to the layout that the launch at hand wants */
    bool is_lost; /* a conversion failed midway: no command can have its bytes any more */
    /* While this is rs_layer.unseen the order of its bytes means nothing: see coherence.h. */
    unsigned long long blank;
    rs_event ready;        /* the last conversion; commands on other queues wait for it */
    rs_queue *ready_queue; /* in-order queue of that conversion, or NULL */
    rs_users users;
    /* Launches that wanted this buffer in another layout since something else needed AoS, and how
     * many there were the time before. */
    size_t run, previous_run;
    struct rs_known_kernel *last_wanted; /* by which kernel */
    size_t view_count; /* sub-buffers: the record outlives the program's own references with them */
} rs_buffer;

/* A sub-buffer: its bytes are its parent's, which is in AoS whenever a command gets the view. */
typedef struct {
    unsigned references;
    rs_buffer *parent;
    size_t origin, size;
    bool host_may_access; /* in every way, so a part of the parent may stand in for it */
} rs_view;

/* How often policy auto has decided for this reason. */
enum { RS_MOST_REASONS = 16 };
typedef struct {
    const char *reason; /* NULL: none, and none behind it */
    size_t count;
} rs_decision_count;

/* What the report says of one kernel. Owned by the report, which outlives the program's objects. */
typedef struct rs_kernel_facts {
    char *name;
    unsigned program_number;
    unsigned long long source; /* hash of the program's source and options */
    size_t launches;
    size_t transformed_launches;
    size_t timed_launches; /* of them all, those whose times are in the seconds */
    size_t timed_transformed;
    double seconds;
    double transformed_seconds;    /* of them, in the rewritten form */
    struct rs_known_kernel *known; /* what policy auto chose by, or NULL */
    rs_decision_count decisions[RS_MOST_REASONS];
    json_t *arguments;    /* array, as in the report */
    char *held_reason;    /* why the last such launch used the program's own kernel, or NULL */
    size_t held_argument; /* whose buffer was the reason */
    unsigned forms_run;   /* bits: the program's own form, and each rs_form, has been launched */
    bool is_inherited;    /* by a forked child, whose parent reports it */
    bool is_brief;        /* there are many: they end with the program */
    bool is_released;     /* the program was released */
    bool has_source;      /* is known */
    struct rs_kernel_facts *next;
} rs_kernel_facts;

/* Kernels that were built together. */
typedef struct {
    rs_layer *layer;
    unsigned number;         /* in order of creation, for the report */
    char *source;            /* NULL when it is not known */
    unsigned long long hash; /* of source and options */
    void *rewritten;         /* the API's program of the rewritten kernels, or NULL */
} rs_program;

/* One rewritten kernel argument. */
typedef struct {
    size_t index;
    size_t count_index; /* of the added argument that takes the number of records */
    rs_relayout relayout;
    size_t used_bytes; /* of each record; 0: unknown */
    /* In how many places neighbouring work-items use neighbouring records, and in how many others
     * that are not one record for all (rewrite/pattern.h). */
    size_t regular, irregular;
    bool is_changed;        /* both read and written */
    bool needs_whole_tiles; /* the rewritten form has no place for others */
    uint64_t count;         /* of records, as the rewritten kernel has it; 0: not yet set */
    /* As of rs_kernel.generation: */
    rs_buffer *buffer;      /* NULL: none that could be converted */
    size_t first;           /* its record that the argument names: all of it is one array */
    bool is_repeated;       /* an earlier target has it, too */
    bool is_used_otherwise; /* another argument has it in another layout */
} rs_target;

typedef struct {
    bool set;
    bool is_buffer;          /* the value was one when it was set */
    bool is_pointer;         /* the value is a pointer to shared virtual memory */
    rs_allocation handle;    /* the value, if it has the size of one */
    rs_buffer *buffer;       /* whose bytes it names, as of rs_kernel.generation; NULL: none */
    bool is_part;            /* it names a sub-buffer */
    size_t offset;           /* of the byte that it names; no sub-buffer's */
    const rs_target *target; /* the rewritten argument; NULL: it stays as it is */
    size_t value_size;
    void *value; /* kept until there are rewritten forms; NULL: local memory */
} rs_argument;

/* The rewritten forms of a kernel: for any arrays, and for those whose tiles are all full. */
typedef enum { RS_FORM_ANY, RS_FORM_FULL, RS_FORMS } rs_form;

/* A launch after which the next one like it has nothing to decide and nothing to bring into place,
 * as long as the generation is this. */
typedef struct {
    unsigned long long generation; /* rs_layer.generation; 0: there was no such launch */
    rs_stream queue;
    void *form; /* the kernel that was launched: the program's own or a rewritten one */
    struct rs_known_kernel *known; /* whose launches these are; NULL: the policy was not asked */
    rs_policy_demand demand;
    bool is_to_look; /* only until the policy looks again */
} rs_repeat;

typedef struct {
    rs_layer *layer;
    void *handle;
    unsigned references;
    rs_program *program;
    void *rewritten[RS_FORMS]; /* each may be NULL; without the first there is no second */
    const char *lacks_forms;   /* why they cannot be made; NULL: they can */
    size_t argument_count;
    rs_argument *arguments;
    size_t target_count;
    rs_target *targets;
    double foretold_gain; /* of the rewritten form on a GPU, by the rewriter; 0: not known */
    char *foretold_reason;
    double few_items, few_gain; /* the same of launches of fewer work-items; 0: as of others */
    char *few_reason;
    rs_kernel_facts *facts;
    rs_policy policy;
    bool is_being_prepared;        /* its targets are not known yet */
    struct rs_known_kernel *known; /* on the device of the last launch, or NULL */
    rs_device known_device;
    unsigned long long generation; /* rs_layer.generation when its buffers were looked up */
    rs_repeat repeat;
} rs_kernel;

typedef struct {
    rs_policy policy;
    size_t tile;
    const char *report_folder; /* NULL: no report */
    bool report_times;         /* the report wants seconds, so queues get profiling */
    bool verifies;             /* rewritten launches: verify.h */
    const char *device;        /* the user's choice, see devices.c; NULL: the program's */
    json_t *config;            /* NULL: none */
} rs_layer_settings;

/* Conversions so far. */
typedef struct {
    size_t count;
    size_t bytes;
    size_t timed_count, timed_bytes; /* of them, those whose times are in the seconds */
    double seconds;
    size_t part_count, part_bytes;   /* of parts.h; not in the sums above */
    size_t blank_count, blank_bytes; /* of blank arrays, which took no conversion */
} rs_conversion_sums;

/*
 * The layer's context: all that it knows. The API's side makes one when it is loaded and hands it
 * to the core, whose records lead back to it. There may be several in a process; none is ever
 * destroyed.
 */
struct rs_layer {
    pthread_mutex_t mutex;
    struct { /* wait.c */
        pthread_mutex_t mutex;
        pthread_cond_t condition;
        atomic_ullong count;
    } changes;
    rs_layer_settings settings;
    rs_map contexts, queues, buffers, views, kernels;
    /* From 1. It grows when the record of a buffer or sub-buffer begins or ends, when a buffer's
     * layout, last conversion or users change other than by a new user, and when a kernel begins to
     * want a buffer in another layout: what was found of buffers before may be wrong then. */
    unsigned long long generation;
    unsigned long long unseen; /* from 1: commands of which no buffer was told */
    double loaded_at;          /* rs_seconds_now() */
    pid_t process;          /* whose records these are; a child that it forks has copies, and is */
    bool is_forked;         /* one since: what is learned there is not saved */
    double waited;          /* seconds, for builds, for times, and for each kernel's first time */
    double owed;            /* seconds that policy auto has lost so far, less what it gained */
    double elapsed;         /* seconds since the program's start, looked at now and then */
    pthread_t first_thread; /* that has enqueued a command, if `has_a_thread` */
    bool has_a_thread, has_several_threads;
    const char *frozen; /* why nothing is converted any more, or NULL */
    const char *paused; /* why nothing is converted for now, or NULL */
    size_t holds;   /* by which the program holds commands back: nothing is converted meanwhile */
    rs_event *held; /* complete behind the commands that were held back; as long */
    size_t held_count;
    bool follows_later; /* what was held back: nothing was to be converted then */
    rs_kernel_facts *facts;
    rs_relayouts relayouts; /* those that have a number */
    rs_rewriter rewriter;
    struct {                           /* device_layouts.c */
        rs_device_layout *with_thread; /* those that have a thread, which was not joined yet */
        size_t own;                    /* builds of other threads */
        double spent;                  /* seconds, for rewritten programs beside the program */
        double waited;                 /* seconds, for rewriters that work beside it */
        atomic_bool is_deferred;       /* launches have come since the last kernel was made */
    } builds;
    struct { /* process_exit.c */
        atomic_bool has_begun;
        pthread_t thread;    /* that ends the process */
        bool has_first_runs; /* a kernel was launched for the first time: it may be compiled yet */
        int registrations;
        void (*wait)(rs_layer *layer, bool has_first_runs);
    } exit;
    struct {                   /* timing.c */
        struct rs_timed *open; /* in the order of their commands */
        size_t open_count, open_capacity;
        rs_conversion_sums conversions;
        struct rs_timed_bar *bars;
        size_t bar_count;
    } timing;
    struct { /* verify.c: launches, and of them */
        size_t count, different, unsteady;
        size_t left_out; /* others */
    } verified;
    struct {             /* knowledge.c */
        json_t *records; /* of the wisdom; NULL before it was read, or without any */
        bool is_read;
        char *path;
        struct rs_known_kernel *kernels;
        struct rs_known_kernel *unwaited; /* of them, those launched since the program has waited */
        struct rs_known_device *devices;
    } known;
    struct { /* report.c, report_file.c */
        json_t *notes, *devices;
        bool is_silent_child; /* that has launched nothing */
        bool is_final;        /* the part at the end is written */
        double spent;         /* seconds, of all that was written, and */
        double last, written; /* of the last time, and when that was */
    } report;
};

/* Makes a zeroed one ready: its lock, its clock, and the settings of the environment. */
void rs_layer_init(rs_layer *layer);

/* "auto", "asta", "soa" or "off". */
const char *rs_policy_name(rs_policy policy);

rs_policy rs_policy_of_kernel(rs_layer *layer, const char *kernel);

/* Whether there is a report, and whether it wants times, so that queues need profiling and launches
 * need events. */
bool rs_report_wanted(rs_layer *layer);
bool rs_report_times(rs_layer *layer);

/* Reads the settings from the environment (settings.c). */
void rs_layer_read_settings(rs_layer *layer);

/* Also in a forked child, where nobody holds it. */
void rs_layer_init_locks(rs_layer *layer);
void rs_layer_lock(rs_layer *layer) RS_LOCKS;
void rs_layer_unlock(rs_layer *layer) RS_UNLOCKS;

/* The records by handle; NULL when unknown. The mutex must be held. */
rs_context *rs_context_find(rs_layer *layer, rs_group handle) RS_LOCKED;
rs_queue *rs_queue_find(rs_layer *layer, rs_stream handle) RS_LOCKED;
rs_buffer *rs_buffer_find(rs_layer *layer, rs_allocation handle) RS_LOCKED;
rs_view *rs_view_find(rs_layer *layer, rs_allocation handle) RS_LOCKED;
rs_kernel *rs_kernel_find(rs_layer *layer, void *handle) RS_LOCKED;

/* The record of a buffer, or that of the buffer whose bytes a sub-buffer views. */
rs_buffer *rs_buffer_behind(rs_layer *layer, rs_allocation handle) RS_LOCKED;

/* Makes the record of a queue that the program made out of the layer's sight. Without memory for it
 * nothing is converted from then on. What is no queue has none. The API supplies it. */
void rs_queue_follow(rs_layer *layer, rs_stream handle) RS_UNLOCKED;

/* The record of a queue, which may be made for it: the lock is released meanwhile. */
rs_queue *rs_queue_of(rs_layer *layer, rs_stream handle) RS_LOCKED;

/* Notes which threads enqueue commands, and whether nothing new is to be noted of this one. */
void rs_layer_note_thread(rs_layer *layer) RS_LOCKED;
static inline bool rs_layer_has_noted_thread(const rs_layer *layer) RS_LOCKED
{
    return layer->has_several_threads ||
           (layer->has_a_thread && pthread_equal(layer->first_thread, pthread_self()));
}

/* Looks up the buffers of a kernel's arguments. The API supplies it. */
void rs_kernel_find_buffers(rs_kernel *kernel) RS_LOCKED;

/* Whether those are all memory that its next launch can reach. The API supplies it. */
bool rs_api_is_confined(const rs_kernel *kernel) RS_LOCKED;

#endif
