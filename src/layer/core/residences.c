/* Residences, and the threads that build them: see residences.h. */
#include "layer/core/residences.h"

#include "layer/core/ending.h"
#include "layer/core/file_limit.h"
#include "layer/core/restore.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Those that have a thread, which was not joined yet. */
static rs_residence *with_thread;

/* Builds of the program's own threads. */
static size_t own_builds;

static bool is_building(const rs_residence *residence)
{
    return atomic_load(&residence->state) == RS_RESIDENCE_BUILDING;
}

static rs_residence *look_up(const rs_context *context, rs_device device,
                             const rs_relayout *relayout)
{
    rs_residence *residence = context->residences;
    while (residence != NULL &&
           !(residence->device == device && rs_relayout_equal(&residence->relayout, relayout)))
        residence = residence->next;
    return residence;
}

static rs_residence *add(rs_context *context, rs_device device, const rs_relayout *relayout)
{
    rs_residence *residence = calloc(1, sizeof *residence);
    if (residence == NULL ||
        rs_record_copy(&residence->relayout.record, &relayout->record) != RESTRIDE_OK) {
        free(residence);
        return NULL;
    }
    residence->device = device;
    residence->relayout.from_soa = relayout->from_soa;
    residence->relayout.tile = relayout->tile;
    residence->relayout.number = relayout->number;
    residence->context = context->handle;
    residence->next = context->residences;
    context->residences = residence;
    if (rs_the_layer.follows_later)
        rs_layer_follow_held();
    return residence;
}

static void destroy(rs_residence *residence)
{
    rs_plans_destroy(residence->made);
    rs_converter_destroy(residence->converter);
    rs_record_free(&residence->relayout.record);
    free(residence->why);
    free(residence);
}

static void make_plans(rs_residence *residence)
{
    double start = rs_layer_clock();
    residence->made = rs_plans_make(residence->converter, residence->planned_bytes);
    residence->seconds += rs_layer_clock() - start;
}

static void build(rs_residence *residence)
{
    if (rs_file_limit_is_small())
        residence->why = residence->why != NULL ? residence->why : strdup(rs_file_limit_reason);
    else if (residence->converter == NULL &&
             rs_converter_create(&residence->converter, residence->context, residence->device,
                                 &residence->relayout) != RESTRIDE_OK)
        residence->why = strdup(restride_last_error());
    else if (residence->planned_bytes > 0 &&
             rs_converter_lacks_plans(residence->converter, residence->planned_bytes))
        make_plans(residence);
    atomic_store(&residence->state, RS_RESIDENCE_BUILT);
}

/* ---- threads ---- */

static _Thread_local bool is_builder; /* this thread builds conversions */

/* Launches have come since the last kernel was made. */
static atomic_bool is_held_off;

void rs_residences_hold_off(void)
{
    if (!atomic_load_explicit(&is_held_off, memory_order_relaxed))
        atomic_store(&is_held_off, true);
}

/* Whether to build after all. */
static bool pause_before(rs_residence *residence)
{
    enum { PAUSES = 20 };
    static const struct timespec pause = {0, 1000000};
    for (int i = 0; i < PAUSES && !atomic_load(&residence->is_urgent); i++) {
        if (atomic_load(&is_held_off))
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

static void *build_beside(void *data)
{
    rs_residence *residence = data;
    is_builder = true;
    if (pause_before(residence))
        build(residence);
    else
        atomic_store(&residence->state, RS_RESIDENCE_NEW);
    return NULL;
}

/* The program's signals are not for this thread. */
static bool start_thread(rs_residence *residence)
{
    sigset_t all, before;
    sigfillset(&all);
    atomic_store(&residence->state, RS_RESIDENCE_BUILDING);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&residence->builder, NULL, build_beside, residence) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started)
        atomic_store(&residence->state, RS_RESIDENCE_NEW);
    return started;
}

/* Joins the threads that have built already; true when there is no other. */
static bool join_finished(void)
{
    rs_residence **place = &with_thread;
    while (*place != NULL) {
        rs_residence *residence = *place;
        if (is_building(residence)) {
            place = &residence->next_with_thread;
            continue;
        }
        *place = residence->next_with_thread;
        residence->has_thread = false;
        pthread_join(residence->builder, NULL);
        rs_ending_note_compiler();
        rs_api_group_release(residence->context);
        if (residence->is_orphan)
            destroy(residence);
    }
    return with_thread == NULL;
}

/* A function of the program's that the driver calls in a builder's thread may end the process or
 * fork, and must not wait for that builder. A fork in a compiler that the builder waits for would
 * last for ever. */
void rs_residences_await(double longest)
{
    static const struct timespec pause = {0, 100000};
    const double end = rs_layer_clock() + longest;
    rs_residences_hold_off();
    rs_layer_lock();
    while (!is_builder && !(join_finished() && own_builds == 0) && rs_layer_clock() < end) {
        rs_layer_unlock();
        nanosleep(&pause, NULL);
        rs_layer_lock();
    }
}

bool rs_build_is_inside(void)
{
    return is_builder;
}

bool rs_build_begin(void)
{
    if (is_builder)
        return false;
    is_builder = true;
    own_builds++;
    rs_ending_note_compiler();
    return true;
}

void rs_build_end(void)
{
    own_builds--;
    is_builder = false;
    rs_ending_note_compiler();
}

/* ---- making ---- */

/* What a thread has made is the converter's from now on. */
static void adopt_plans(rs_residence *residence)
{
    if (residence->made != NULL) {
        rs_converter_add_plans(residence->converter, residence->made);
        residence->made = NULL;
    }
}

/* Whether something is to be made for buffers of so many bytes. What could not be built is not
 * tried again. */
static bool is_wanting(const rs_residence *residence, size_t bytes)
{
    const int state = atomic_load(&residence->state);
    return state == RS_RESIDENCE_NEW ||
           (state == RS_RESIDENCE_BUILT && residence->converter != NULL && bytes > 0 &&
            rs_converter_lacks_plans(residence->converter, bytes));
}

static bool begin(rs_context *context, rs_device device, const rs_relayout *relayout, size_t bytes,
                  bool is_urgent)
{
    join_finished();
    rs_residence *residence = look_up(context, device, relayout);
    if (residence == NULL)
        residence = add(context, device, relayout);
    if (residence == NULL)
        return false;
    if (is_urgent)
        atomic_store(&residence->is_urgent, true);
    if (residence->has_thread) /* or ended a moment ago: the next call joins it */
        return true;
    adopt_plans(residence);
    if (!is_wanting(residence, bytes) || rs_ending_has_begun() || rs_file_limit_is_small() ||
        !rs_api_group_retain(context->handle))
        return false;
    residence->planned_bytes = bytes;
    if (!start_thread(residence)) {
        rs_api_group_release(context->handle);
        return false; /* rs_residence_find() builds it */
    }
    residence->has_thread = true;
    residence->next_with_thread = with_thread;
    with_thread = residence;
    rs_ending_note_compiler();
    return true;
}

bool rs_residence_begin(rs_context *context, rs_device device, const rs_relayout *relayout,
                        size_t bytes)
{
    return begin(context, device, relayout, bytes, true);
}

void rs_residence_prepare(rs_context *context, rs_device device, const rs_relayout *relayout)
{
    if (look_up(context, device, relayout) != NULL)
        return; /* once: a program may make its kernel again and again */
    atomic_store(&is_held_off, false);
    begin(context, device, relayout, 0, false);
}

bool rs_residence_is_pending(const rs_context *context, rs_device device,
                             const rs_relayout *relayout)
{
    const rs_residence *wanted = look_up(context, device, relayout);
    return wanted != NULL && is_building(wanted);
}

bool rs_residence_lacks_plans(const rs_context *context, rs_device device,
                              const rs_relayout *relayout, size_t bytes)
{
    rs_residence *wanted = look_up(context, device, relayout);
    if (wanted == NULL || atomic_load(&wanted->state) == RS_RESIDENCE_NEW)
        return rs_relayout_needs_plans(relayout, bytes);
    if (is_building(wanted))
        return wanted->planned_bytes != bytes && rs_relayout_needs_plans(relayout, bytes);
    if (wanted->converter == NULL)
        return false;
    adopt_plans(wanted);
    return rs_converter_lacks_plans(wanted->converter, bytes);
}

double rs_residence_take_seconds(rs_context *context, rs_device device, const rs_relayout *relayout)
{
    rs_residence *residence = look_up(context, device, relayout);
    if (residence == NULL || is_building(residence))
        return 0;
    double seconds = residence->seconds;
    residence->seconds = 0;
    return seconds;
}

/* ---- use ---- */

const rs_residence *rs_residence_find(rs_context *context, rs_device device,
                                      const rs_relayout *relayout, size_t bytes, const char **why)
{
    rs_residence *residence = look_up(context, device, relayout);
    if (residence == NULL)
        residence = add(context, device, relayout);
    if (residence == NULL) {
        *why = "There was not enough memory.";
        return NULL;
    }
    if (is_building(residence)) {
        *why = "The conversion is still being built.";
        return NULL;
    }
    adopt_plans(residence);
    if (is_wanting(residence, bytes)) {
        if (rs_ending_has_begun()) {
            *why = "the program is ending";
            return NULL;
        }
        rs_ending_note_compiler();
        residence->planned_bytes = bytes;
        build(residence);
        adopt_plans(residence);
    }
    *why = residence->why != NULL ? residence->why : "The conversion could not be built.";
    return residence->converter != NULL ? residence : NULL;
}

void rs_residences_free(rs_context *context)
{
    join_finished();
    while (context->residences != NULL) {
        rs_residence *residence = context->residences;
        context->residences = residence->next;
        if (residence->has_thread)
            residence->is_orphan = true;
        else
            destroy(residence);
    }
}
