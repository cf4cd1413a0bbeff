/* What the layer has learned of kernels on devices: see knowledge.h. */
#include "layer/core/knowledge.h"

#include "base/log.h"
#include "transpose/wisdom_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One device's conversions: bytes and seconds of those that were timed. */
typedef struct rs_known_device {
    rs_device handle;
    char name[256];
    bool is_cpu;
    double bytes, seconds;
    double remembered_rate; /* bytes a second; 0: unknown */
    double longest_plan;    /* seconds; 0: none was made yet */
    struct rs_known_device *next;
} known_device;

/* Bytes a second that are converted on a device of which nothing is known: rather too few, for a
 * conversion too late costs less than one that is never paid back. */
static const double unknown_rate[] = {[false] = 100e9, [true] = 2e9};

/* What a conversion takes besides, however few its bytes are. */
static const double launch_seconds = 5e-6;

enum { LEAST_MEASURED_BYTES = 1 << 20 };

/* What plans may take before any was made: compilers take most of it. */
static const double unknown_plan_seconds = 2;

unsigned long long rs_knowledge_hash(const char *source, const char *options)
{
    unsigned long long hash = 14695981039346656037ull; /* FNV-1a */
    const char *const parts[] = {source, options};
    for (size_t part = 0; part < 2; part++) {
        for (const char *at = parts[part]; at != NULL && *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * 1099511628211ull;
        hash *= 1099511628211ull; /* between the parts */
    }
    return hash;
}

/* ---- wisdom ---- */

static void read_wisdom(rs_layer *layer)
{
    if (layer->known.is_read)
        return;
    layer->known.is_read = true;
    if (rs_wisdom_file_path(&layer->known.path) != RESTRIDE_OK || layer->known.path == NULL)
        return;
    if (rs_wisdom_file_read(layer->known.path, false, &layer->known.records) != RESTRIDE_OK)
        rs_log(RS_LOG_INFO, "%s", restride_last_error());
}

static const json_t *remembered(rs_layer *layer, const json_t *problem)
{
    size_t i;
    json_t *record;
    read_wisdom(layer);
    json_array_foreach(layer->known.records, i, record)
    {
        if (json_equal(json_object_get(record, "problem"), problem))
            return record;
    }
    return NULL;
}

/* `engine` is "layer" for the times of both forms, "layer untried" for the program's own alone and
 * what was spent in it. */
static json_t *problem_of_kernel(const rs_known_kernel *kernel, const char *engine)
{
    return json_pack("{s:s, s:o, s:s, s:s, s:I, s:I}", "engine", engine, "source",
                     json_sprintf("%016llx", kernel->source), "kernel", kernel->name, "device",
                     kernel->device, "tile", (json_int_t)kernel->tile, "work_items",
                     (json_int_t)kernel->least_items);
}

static json_t *problem_of_device(const known_device *device)
{
    return json_pack("{s:s, s:s}", "engine", "layer conversions", "device", device->name);
}

/* As few that new ones soon go before it, and as many that it is believed at first. */
enum { TIMES_OF_WISDOM = 2 };

static void fill_times(rs_policy_times *times, const json_t *record, const char *key)
{
    double seconds = json_number_value(json_object_get(record, key));
    for (int i = 0; i < TIMES_OF_WISDOM; i++)
        rs_policy_add_time(times, seconds, 1);
}

/* ---- devices ---- */

static known_device *find_device(rs_layer *layer, rs_device handle)
{
    known_device *device = layer->known.devices;
    while (device != NULL && device->handle != handle)
        device = device->next;
    if (device != NULL)
        return device;
    device = calloc(1, sizeof *device);
    if (device == NULL)
        return NULL;
    char *name = rs_api_device_name(handle);
    device->handle = handle;
    if (name != NULL)
        snprintf(device->name, sizeof device->name, "%s", name);
    free(name);
    device->is_cpu = rs_api_device_is_cpu(handle);
    json_t *problem = problem_of_device(device);
    double seconds = json_number_value(json_object_get(remembered(layer, problem), "seconds"));
    json_decref(problem);
    if (seconds > 0)
        device->remembered_rate = 1e9 / seconds; /* its seconds are those of 1e9 bytes */
    device->next = layer->known.devices;
    layer->known.devices = device;
    return device;
}

static bool device_is_cpu(rs_layer *layer, rs_device handle)
{
    const known_device *device = find_device(layer, handle);
    return device != NULL && device->is_cpu;
}

static double rate_of(const known_device *device, double least_rate)
{
    if (device->seconds > 0)
        return device->bytes / device->seconds;
    if (device->remembered_rate > 0)
        return device->remembered_rate;
    return fmax(unknown_rate[device->is_cpu], least_rate);
}

double rs_knowledge_conversion_seconds(rs_layer *layer, rs_device handle, size_t bytes,
                                       double least_rate)
{
    const known_device *device = find_device(layer, handle);
    return device != NULL ? launch_seconds + (double)bytes / rate_of(device, least_rate) : 1e9;
}

void rs_knowledge_add_conversion(rs_layer *layer, rs_device handle, size_t bytes, double seconds)
{
    known_device *device = find_device(layer, handle);
    /* Small ones would say more of the launch than of the bytes. */
    if (device == NULL || seconds <= 0 || bytes < LEAST_MEASURED_BYTES)
        return;
    device->bytes += (double)bytes;
    device->seconds += seconds;
}

double rs_knowledge_plan_seconds(rs_layer *layer, rs_device handle)
{
    const known_device *device = find_device(layer, handle);
    return device != NULL && device->longest_plan > 0 ? device->longest_plan : unknown_plan_seconds;
}

void rs_knowledge_add_plan(rs_layer *layer, rs_device handle, double seconds)
{
    known_device *device = find_device(layer, handle);
    if (device != NULL && seconds > device->longest_plan)
        device->longest_plan = seconds;
}

static double predict(rs_layer *layer, const rs_target *target, rs_device device, size_t used_bytes)
{
    if (target->relayout.from_soa)
        return 1; /* neighbours are neighbours there already */
    return rs_policy_predict(device_is_cpu(layer, device), target->relayout.record.size, used_bytes,
                             target->is_changed);
}

/* Whether the rewriter's word counts: it speaks of GPUs. */
static bool is_foretold(const rs_kernel *kernel, rs_device device) RS_LOCKED
{
    return kernel->foretold_gain > 0 && !device_is_cpu(kernel->layer, device);
}

/* Whether the rewriter says something else of a launch that leaves most of a GPU idle. */
static bool is_few(const rs_kernel *kernel, double work_items) RS_LOCKED
{
    return work_items < kernel->few_items;
}

double rs_knowledge_predict(const rs_kernel *kernel, const rs_target *target, rs_device device)
{
    return is_foretold(kernel, device) ? kernel->foretold_gain
                                       : predict(kernel->layer, target, device, target->used_bytes);
}

double rs_knowledge_predict_whole(rs_layer *layer, const rs_target *target, rs_device device)
{
    return predict(layer, target, device, target->relayout.record.size);
}

/* ---- kernels ---- */

/* The power of two that is no larger. */
static double least_items_of(double work_items)
{
    return exp2(floor(log2(fmax(work_items, 1))));
}

/* The entry, read from wisdom or new. */
static rs_known_kernel *find_kernel(const rs_kernel *of, rs_device handle,
                                    double work_items) RS_LOCKED
{
    rs_layer *layer = of->layer;
    const unsigned long long source = of->program->hash;
    const char *name = of->facts->name;
    const size_t tile = of->targets[0].relayout.tile;
    const known_device *device = find_device(layer, handle);
    rs_known_kernel *kernel = layer->known.kernels;
    if (device == NULL)
        return NULL;
    while (kernel != NULL &&
           !(kernel->source == source && kernel->tile == tile &&
             rs_knowledge_covers(kernel, work_items) && strcmp(kernel->name, name) == 0 &&
             strcmp(kernel->device, device->name) == 0))
        kernel = kernel->next;
    if (kernel != NULL)
        return kernel;
    kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return NULL;
    *kernel = (rs_known_kernel){.source = source,
                                .name = strdup(name),
                                .device = strdup(device->name),
                                .tile = tile,
                                .least_items = least_items_of(work_items),
                                .knowledge = {.predicted_ratio = 1}};
    json_t *problem = problem_of_kernel(kernel, "layer");
    json_t *own_problem = problem_of_kernel(kernel, "layer untried");
    if (problem == NULL || own_problem == NULL) {
        json_decref(problem);
        json_decref(own_problem);
        free(kernel->name);
        free(kernel->device);
        free(kernel);
        return NULL;
    }
    const json_t *record = remembered(layer, problem), *own = remembered(layer, own_problem);
    kernel->knowledge.earlier_seconds = json_number_value(json_object_get(own, "seconds"));
    json_decref(problem);
    json_decref(own_problem);
    fill_times(&kernel->knowledge.own, record, "planner_seconds");
    fill_times(&kernel->knowledge.moved, record, "seconds");
    kernel->knowledge.remembered_own = json_number_value(json_object_get(own, "planner_seconds"));
    kernel->runs_since_timed = (unsigned)json_integer_value(json_object_get(own, "launches"));
    json_int_t run = json_integer_value(json_object_get(record, "launches"));
    kernel->knowledge.usual_run = run > 0 ? (size_t)run : 0;
    kernel->from_wisdom = record != NULL;
    kernel->next = layer->known.kernels;
    layer->known.kernels = kernel;
    return kernel;
}

/* Whether a record of a kernel says that its rewritten form may be wanted from the start. */
static bool is_promising(const json_t *record)
{
    const char *engine =
        json_string_value(json_object_get(json_object_get(record, "problem"), "engine"));
    const double seconds = json_number_value(json_object_get(record, "seconds"));
    if (!json_is_true(json_object_get(record, "wanted")))
        return false;
    return engine != NULL && strcmp(engine, "layer") == 0
               ? seconds < json_number_value(json_object_get(record, "planner_seconds"))
               : rs_policy_is_near_trial(seconds);
}

static bool is_string(const json_t *object, const char *key, const char *wanted)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL && strcmp(value, wanted) == 0;
}

bool rs_knowledge_promises(rs_layer *layer, unsigned long long source, rs_device handle)
{
    const known_device *device = find_device(layer, handle);
    char hash[24];
    size_t i;
    json_t *record;
    snprintf(hash, sizeof hash, "%016llx", source);
    json_array_foreach(layer->known.records, i, record)
    {
        const json_t *problem = json_object_get(record, "problem");
        if (device != NULL && is_string(problem, "source", hash) &&
            is_string(problem, "device", device->name) && is_promising(record))
            return true;
    }
    return false;
}

static bool is_timed(const rs_known_kernel *known)
{
    const rs_policy_knowledge *k = &known->knowledge;
    return k->own.count + k->moved.count + k->own_taken + k->moved_taken > 0;
}

/* The whole kernel's ratio: its buffers' bytes count, each as many times faster as it is. */
static void predict_kernel(const rs_kernel *kernel, rs_device device, double work_items,
                           rs_policy_knowledge *knowledge) RS_LOCKED
{
    double bytes = 0, faster = 0;
    size_t regular = 0, irregular = 0;
    for (size_t i = 0; i < kernel->target_count; i++) {
        const rs_target *target = &kernel->targets[i];
        double size = (double)target->buffer->size;
        bool one_for_all = target->regular + target->irregular == 0;
        double ratio = one_for_all ? 1 : rs_knowledge_predict(kernel, target, device);
        bytes += size;
        faster += size / ratio;
        regular += target->regular;
        irregular += target->irregular;
    }
    knowledge->predicted_ratio = faster > 0 ? bytes / faster : 1;
    knowledge->is_unsure = irregular > regular;
    if (is_foretold(kernel, device))
        knowledge->predicted_ratio =
            is_few(kernel, work_items) ? kernel->few_gain : kernel->foretold_gain;
}

/* Keeps the rewriter's reason, as kernels end before what is known of them does. */
static void take_reason(const rs_kernel *kernel, rs_device device, double work_items,
                        rs_known_kernel *known) RS_LOCKED
{
    if (known->foretold_reason == NULL && is_foretold(kernel, device))
        known->foretold_reason =
            strdup(is_few(kernel, work_items) ? kernel->few_reason : kernel->foretold_reason);
    known->knowledge.nothing_to_gain = known->foretold_reason;
}

/* Of its structures, at most a record for each work-item. */
static double bytes_used(const rs_kernel *kernel, double work_items) RS_LOCKED
{
    double bytes = 0;
    for (size_t i = 0; i < kernel->target_count; i++)
        if (!kernel->targets[i].is_repeated)
            bytes += fmin((double)kernel->targets[i].buffer->size,
                          work_items * (double)kernel->targets[i].relayout.record.size);
    return bytes;
}

/* Before it has been timed: about what its launches take. */
static void guess(const rs_kernel *kernel, rs_known_kernel *known, double work_items) RS_LOCKED
{
    if (!is_timed(known) && known->knowledge.remembered_own <= 0 && work_items > 0)
        known->knowledge.remembered_own =
            rs_policy_guess(device_is_cpu(kernel->layer, kernel->known_device),
                            bytes_used(kernel, work_items)) /
            work_items;
}

rs_known_kernel *rs_known_kernel_of(rs_kernel *kernel, rs_device device, double work_items)
{
    if (kernel->known != NULL && kernel->known_device == device &&
        rs_knowledge_covers(kernel->known, work_items))
        return kernel->known;
    kernel->known_device = device;
    kernel->known = find_kernel(kernel, device, work_items);
    if (kernel->known == NULL)
        return NULL;
    predict_kernel(kernel, device, work_items, &kernel->known->knowledge);
    take_reason(kernel, device, work_items, kernel->known);
    guess(kernel, kernel->known, work_items);
    return kernel->known;
}

void rs_knowledge_note_first_launch(rs_layer *layer, rs_known_kernel *known)
{
    if (known->first_launch > 0)
        return;
    known->first_launch = rs_seconds_now();
    known->next_unwaited = layer->known.unwaited;
    layer->known.unwaited = known;
}

void rs_knowledge_note_wait(rs_layer *layer)
{
    rs_known_kernel **place = &layer->known.unwaited;
    const double now = *place != NULL ? rs_seconds_now() : 0;
    while (*place != NULL) {
        rs_known_kernel *known = *place;
        rs_policy_knowledge *k = &known->knowledge;
        if (!is_timed(known) && k->own_work_items <= 0) { /* not launched in its own form yet */
            place = &known->next_unwaited;
            continue;
        }
        *place = known->next_unwaited;
        if (is_timed(known))
            continue;
        known->has_waited = true;
        k->remembered_own = (now - known->first_launch) / k->own_work_items;
    }
}

/* ---- saving ---- */

/* The form of all wisdom: `seconds` is the choice's, `planner_seconds` what it is compared with. */
static json_t *describe_kernel(const rs_known_kernel *kernel)
{
    const rs_policy_knowledge *k = &kernel->knowledge;
    double own = rs_policy_time(&k->own), moved = rs_policy_time(&k->moved);
    if (own <= 0 || moved <= 0)
        return NULL;
    return json_pack("{s:o, s:s, s:I, s:I, s:f, s:f, s:I, s:b}", "problem",
                     problem_of_kernel(kernel, "layer"), "method", "kernel", "tile_rows",
                     (json_int_t)kernel->tile, "tile_cols", (json_int_t)0, "seconds", moved,
                     "planner_seconds", own, "launches", (json_int_t)k->usual_run, "wanted",
                     (int)kernel->is_wanted);
}

/* Then its first launch is timed at once again: it may have changed. */
enum { RUNS_TO_REMEMBER = 4 };

/* Stands for the time of a kernel that nobody has timed. */
static const double least_seconds = 1e-9;

/* What a kernel took that has not been tried yet, in all runs that timed it, and each work-item of
 * it in the last of them; the launches are the runs since then. It is wanted if a trial would
 * have come with more time. */
static json_t *describe_untried(const rs_known_kernel *kernel)
{
    const rs_policy_knowledge *k = &kernel->knowledge;
    double own = rs_policy_time(&k->own);
    double seconds = k->earlier_seconds + own * k->own_work_items;
    unsigned runs = own > 0 ? 0 : kernel->runs_since_timed + 1;
    const bool is_tried = k->trial_seconds > 0 || k->moved.count > 0;
    if (seconds <= 0 && kernel->has_waited && k->remembered_own > 0 &&
        !rs_policy_was_short(k, kernel->work_items))
        seconds = least_seconds;
    if (seconds <= 0 || (is_tried && k->earlier_seconds <= 0)) /* no record to correct */
        return NULL;
    if (own <= 0) /* the time of all is no short one */
        own = runs < RUNS_TO_REMEMBER ? k->remembered_own : seconds;
    return json_pack("{s:o, s:s, s:I, s:I, s:f, s:f, s:I, s:b}", "problem",
                     problem_of_kernel(kernel, "layer untried"), "method", "kernel", "tile_rows",
                     (json_int_t)kernel->tile, "tile_cols", (json_int_t)0, "seconds", seconds,
                     "planner_seconds", own, "launches", (json_int_t)runs, "wanted",
                     (int)(kernel->is_wanted && !is_tried));
}

static json_t *describe_device(const known_device *device)
{
    if (device->seconds <= 0)
        return NULL;
    double seconds = 1e9 * device->seconds / device->bytes;
    return json_pack("{s:o, s:s, s:I, s:I, s:f, s:f}", "problem", problem_of_device(device),
                     "method", "conversion of 1e9 bytes", "tile_rows", (json_int_t)0, "tile_cols",
                     (json_int_t)0, "seconds", seconds, "planner_seconds", seconds);
}

void rs_knowledge_save(rs_layer *layer)
{
    json_t *records = json_array();
    for (const rs_known_kernel *kernel = layer->known.kernels; kernel != NULL;
         kernel = kernel->next) {
        json_array_append_new(records, describe_kernel(kernel));
        json_array_append_new(records, describe_untried(kernel));
    }
    for (const known_device *device = layer->known.devices; device != NULL; device = device->next)
        json_array_append_new(records, describe_device(device));
    if (layer->known.path != NULL && json_array_size(records) > 0 &&
        rs_wisdom_file_merge(layer->known.path, records, true) != RESTRIDE_OK)
        rs_log(RS_LOG_INFO, "%s", restride_last_error());
    json_decref(records);
}
