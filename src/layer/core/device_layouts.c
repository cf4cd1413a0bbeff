/* Layouts, and the threads that build them: see device_layouts.h. */
#include "layer/core/device_layouts.h"

#include "layer/core/file_limit.h"
#include "layer/core/process_exit.h"
#include "layer/core/restore.h"
#include "layer/core/wait.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static bool is_building(const rs_device_layout *layout)
{
    return atomic_load(&layout->state) == RS_LAYOUT_BUILDING;
}

static rs_device_layout *look_up(const rs_context *context, rs_device device,
                                 const rs_relayout *relayout)
{
    rs_device_layout *layout = context->layouts;
    while (layout != NULL &&
           !(layout->device == device && rs_relayout_equal(&layout->relayout, relayout)))
        layout = layout->next;
    return layout;
}

static rs_device_layout *add(rs_context *context, rs_device device,
                             const rs_relayout *relayout) RS_LOCKED
{
    rs_device_layout *layout = calloc(1, sizeof *layout);
    if (layout == NULL ||
        rs_record_copy(&layout->relayout.record, &relayout->record) != RESTRIDE_OK) {
        free(layout);
        return NULL;
    }
    layout->layer = context->layer;
    layout->device = device;
    layout->relayout.from_soa = relayout->from_soa;
    layout->relayout.tile = relayout->tile;
    layout->relayout.number = relayout->number;
    layout->context = context->handle;
    layout->next = context->layouts;
    context->layouts = layout;
    if (context->layer->follows_later)
        rs_layer_follow_held(context->layer);
    return layout;
}

static void destroy(rs_device_layout *layout)
{
    rs_plans_destroy(layout->made);
    rs_converter_destroy(layout->converter);
    rs_record_free(&layout->relayout.record);
    free(layout->why);
    free(layout);
}

static void make_plans(rs_device_layout *layout)
{
    double start = rs_seconds_now();
    layout->made = rs_plans_make(layout->converter, layout->planned_bytes);
    layout->seconds += rs_seconds_now() - start;
}

static void build(rs_device_layout *layout)
{
    if (rs_file_limit_is_small())
        layout->why = layout->why != NULL ? layout->why : strdup(rs_file_limit_reason);
    else if (layout->converter == NULL &&
             rs_converter_create(&layout->converter, layout->context, layout->device,
                                 &layout->relayout) != RESTRIDE_OK)
        layout->why = strdup(restride_last_error());
    else if (layout->planned_bytes > 0 &&
             rs_converter_lacks_plans(layout->converter, layout->planned_bytes))
        make_plans(layout);
    atomic_store(&layout->state, RS_LAYOUT_BUILT);
}

/* ---- threads ---- */

static _Thread_local bool is_builder; /* this thread builds conversions */

void rs_device_layouts_defer(rs_layer *layer)
{
    if (!atomic_load_explicit(&layer->builds.is_deferred, memory_order_relaxed) &&
        !atomic_exchange(&layer->builds.is_deferred, true))
        rs_layer_wake(layer);
}

/* Whether to build after all. */
static bool pause_before(rs_device_layout *layout)
{
    static const double longest = 0.02; /* seconds */
    rs_layer *layer = layout->layer;
    const double end = rs_seconds_now() + longest;
    unsigned long long seen;
    do {
        seen = rs_layer_changes(layer);
        if (atomic_load(&layout->is_urgent))
            return true;
        if (atomic_load(&layer->builds.is_deferred))
            return false;
    } while (rs_layer_wait(layer, seen, end));
    return true;
}

static void *build_beside(void *data)
{
    rs_device_layout *layout = data;
    rs_layer *layer = layout->layer; /* once its state is set, another thread may free the layout */
    is_builder = true;
    if (pause_before(layout))
        build(layout);
    else
        atomic_store(&layout->state, RS_LAYOUT_NEW);
    rs_layer_wake(layer);
    return NULL;
}

/* The program's signals are not for this thread. */
static bool start_thread(rs_device_layout *layout)
{
    sigset_t all, before;
    sigfillset(&all);
    atomic_store(&layout->state, RS_LAYOUT_BUILDING);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&layout->builder, NULL, build_beside, layout) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started)
        atomic_store(&layout->state, RS_LAYOUT_NEW);
    return started;
}

/* Joins the threads that have built already; true when there is no other. */
static bool join_finished(rs_layer *layer) RS_LOCKED
{
    rs_device_layout **place = &layer->builds.with_thread;
    while (*place != NULL) {
        rs_device_layout *layout = *place;
        if (is_building(layout)) {
            place = &layout->next_with_thread;
            continue;
        }
        *place = layout->next_with_thread;
        layout->has_thread = false;
        pthread_join(layout->builder, NULL);
        rs_exit_note_compiler(layer);
        rs_api_group_release(layout->context);
        if (layout->is_orphan)
            destroy(layout);
    }
    return layer->builds.with_thread == NULL;
}

/* A function of the program's that the driver calls in a builder's thread may end the process or
 * fork, and must not wait for that builder. A fork in a compiler that the builder waits for would
 * last for ever. */
void rs_builds_wait(rs_layer *layer, double longest)
{
    const double end = rs_seconds_now() + longest;
    bool is_in_time = true;
    rs_device_layouts_defer(layer);
    for (;;) {
        const unsigned long long seen = rs_layer_changes(layer);
        rs_layer_lock(layer);
        if (is_builder || (join_finished(layer) && layer->builds.own == 0) || !is_in_time)
            return;
        rs_layer_unlock(layer);
        is_in_time = rs_layer_wait(layer, seen, end);
    }
}

bool rs_build_is_inside(void)
{
    return is_builder;
}

bool rs_build_begin(rs_layer *layer)
{
    if (is_builder)
        return false;
    is_builder = true;
    layer->builds.own++;
    rs_exit_note_compiler(layer);
    return true;
}

void rs_build_end(rs_layer *layer)
{
    layer->builds.own--;
    is_builder = false;
    rs_exit_note_compiler(layer);
    rs_layer_wake(layer);
}

/* What a thread that nobody joins is to do. */
typedef struct {
    rs_layer *layer;
    void (*function)(void *data);
    void *data;
} work;

static void *do_work(void *data)
{
    work one = *(work *)data;
    free(data);
    is_builder = true;
    one.function(one.data);
    rs_layer_lock(one.layer);
    one.layer->builds.own--;
    rs_exit_note_compiler(one.layer);
    rs_layer_unlock(one.layer);
    rs_layer_wake(one.layer);
    return NULL;
}

bool rs_build_beside(rs_layer *layer, void (*function)(void *data), void *data)
{
    sigset_t all, before;
    pthread_t thread;
    work *one = malloc(sizeof *one);
    if (one == NULL)
        return false;
    *one = (work){layer, function, data};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are not for it */
    const bool is_started = pthread_create(&thread, NULL, do_work, one) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!is_started) {
        free(one);
        return false;
    }
    pthread_detach(thread);
    layer->builds.own++; /* the thread needs the lock to end */
    rs_exit_note_compiler(layer);
    return true;
}

/* ---- making ---- */

/* What a thread has made is the converter's from now on. */
static void adopt_plans(rs_device_layout *layout) RS_LOCKED
{
    if (layout->made != NULL) {
        rs_converter_add_plans(layout->converter, layout->made);
        layout->made = NULL;
    }
}

/* Whether something is to be made for buffers of so many bytes. What could not be built is not
 * tried again. */
static bool is_wanting(const rs_device_layout *layout, size_t bytes)
{
    const int state = atomic_load(&layout->state);
    return state == RS_LAYOUT_NEW ||
           (state == RS_LAYOUT_BUILT && layout->converter != NULL && bytes > 0 &&
            rs_converter_lacks_plans(layout->converter, bytes));
}

static bool begin(rs_context *context, rs_device device, const rs_relayout *relayout, size_t bytes,
                  bool is_urgent) RS_LOCKED
{
    join_finished(context->layer);
    rs_device_layout *layout = look_up(context, device, relayout);
    if (layout == NULL)
        layout = add(context, device, relayout);
    if (layout == NULL)
        return false;
    if (is_urgent && !atomic_exchange(&layout->is_urgent, true))
        rs_layer_wake(context->layer);
    if (layout->has_thread) /* or ended a moment ago: the next call joins it */
        return true;
    adopt_plans(layout);
    if (!is_wanting(layout, bytes) || rs_exit_has_begun(context->layer) ||
        rs_file_limit_is_small() || !rs_api_group_retain(context->handle))
        return false;
    layout->planned_bytes = bytes;
    if (!start_thread(layout)) {
        rs_api_group_release(context->handle);
        return false; /* rs_device_layout_find() builds it */
    }
    layout->has_thread = true;
    layout->next_with_thread = context->layer->builds.with_thread;
    context->layer->builds.with_thread = layout;
    rs_exit_note_compiler(context->layer);
    return true;
}

bool rs_device_layout_begin(rs_context *context, rs_device device, const rs_relayout *relayout,
                            size_t bytes)
{
    return begin(context, device, relayout, bytes, true);
}

void rs_device_layout_prepare(rs_context *context, rs_device device, const rs_relayout *relayout)
{
    if (look_up(context, device, relayout) != NULL)
        return; /* once: a program may make its kernel again and again */
    atomic_store(&context->layer->builds.is_deferred, false);
    begin(context, device, relayout, 0, false);
}

bool rs_device_layout_is_pending(const rs_context *context, rs_device device,
                                 const rs_relayout *relayout)
{
    const rs_device_layout *wanted = look_up(context, device, relayout);
    return wanted != NULL && is_building(wanted);
}

bool rs_device_layout_lacks_plans(const rs_context *context, rs_device device,
                                  const rs_relayout *relayout, size_t bytes)
{
    rs_device_layout *wanted = look_up(context, device, relayout);
    if (wanted == NULL || atomic_load(&wanted->state) == RS_LAYOUT_NEW)
        return rs_relayout_needs_plans(relayout, bytes);
    if (is_building(wanted))
        return wanted->planned_bytes != bytes && rs_relayout_needs_plans(relayout, bytes);
    if (wanted->converter == NULL)
        return false;
    adopt_plans(wanted);
    return rs_converter_lacks_plans(wanted->converter, bytes);
}

double rs_device_layout_take_seconds(rs_context *context, rs_device device,
                                     const rs_relayout *relayout)
{
    rs_device_layout *layout = look_up(context, device, relayout);
    if (layout == NULL || is_building(layout))
        return 0;
    double seconds = layout->seconds;
    layout->seconds = 0;
    return seconds;
}

/* ---- use ---- */

const rs_device_layout *rs_device_layout_find(rs_context *context, rs_device device,
                                              const rs_relayout *relayout, size_t bytes,
                                              const char **why)
{
    rs_device_layout *layout = look_up(context, device, relayout);
    if (layout == NULL)
        layout = add(context, device, relayout);
    if (layout == NULL) {
        *why = "There was not enough memory.";
        return NULL;
    }
    if (is_building(layout)) {
        *why = "The conversion is still being built.";
        return NULL;
    }
    adopt_plans(layout);
    if (is_wanting(layout, bytes)) {
        if (rs_exit_has_begun(context->layer)) {
            *why = "the program is ending";
            return NULL;
        }
        rs_exit_note_compiler(context->layer);
        layout->planned_bytes = bytes;
        build(layout);
        adopt_plans(layout);
    }
    *why = layout->why != NULL ? layout->why : "The conversion could not be built.";
    return layout->converter != NULL ? layout : NULL;
}

void rs_device_layouts_free(rs_context *context)
{
    join_finished(context->layer);
    while (context->layouts != NULL) {
        rs_device_layout *layout = context->layouts;
        context->layouts = layout->next;
        if (layout->has_thread)
            layout->is_orphan = true;
        else
            destroy(layout);
    }
}
