/* Residences, and the threads that build them: see residences.h. */
#include "layer/residences.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Those that have a thread. */
static rs_residence *with_thread;

static rs_residence *look_up(const rs_context *context, cl_device_id device,
                             const rs_record *record, size_t tile)
{
    rs_residence *residence = context->residences;
    while (residence != NULL && !(residence->device == device && residence->tile == tile &&
                                  rs_record_equal(&residence->record, record)))
        residence = residence->next;
    return residence;
}

static rs_residence *add(rs_context *context, cl_device_id device, const rs_record *record,
                         size_t tile)
{
    rs_residence *residence = calloc(1, sizeof *residence);
    if (residence == NULL || rs_record_copy(&residence->record, record) != RESTRIDE_OK) {
        free(residence);
        return NULL;
    }
    residence->device = device;
    residence->tile = tile;
    residence->context = context->handle;
    residence->next = context->residences;
    context->residences = residence;
    return residence;
}

static void build(rs_residence *residence)
{
    if (rs_opencl_marshal_create(&residence->marshal, rs_driver(), residence->context,
                                 residence->device, &residence->record,
                                 residence->tile) != RESTRIDE_OK) {
        residence->marshal = NULL;
        residence->why = strdup(restride_last_error());
    }
    atomic_store(&residence->is_built, true);
}

/* ---- threads ---- */

static void *build_beside(void *residence)
{
    build(residence);
    return NULL;
}

/* The program's signals are not for this thread. */
static bool start_thread(rs_residence *residence)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&residence->builder, NULL, build_beside, residence) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void join(rs_residence *residence)
{
    rs_residence **place = &with_thread;
    while (*place != NULL && *place != residence)
        place = &(*place)->next_with_thread;
    if (*place == NULL)
        return;
    *place = residence->next_with_thread;
    pthread_join(residence->builder, NULL);
    rs_driver()->clReleaseContext(residence->context);
}

void rs_residence_begin(rs_context *context, cl_device_id device, const rs_record *record,
                        size_t tile)
{
    if (look_up(context, device, record, tile) != NULL)
        return;
    rs_residence *residence = add(context, device, record, tile);
    if (residence == NULL || rs_driver()->clRetainContext(context->handle) != CL_SUCCESS)
        return;
    if (!start_thread(residence)) {
        rs_driver()->clReleaseContext(context->handle);
        return; /* rs_residence_find() builds it */
    }
    residence->next_with_thread = with_thread;
    with_thread = residence;
}

bool rs_residence_is_pending(const rs_context *context, cl_device_id device,
                             const rs_record *record, size_t tile)
{
    const rs_residence *wanted = look_up(context, device, record, tile);
    const rs_residence *running = with_thread;
    while (running != NULL && running != wanted)
        running = running->next_with_thread;
    return running != NULL && !atomic_load(&running->is_built);
}

void rs_residences_await(void)
{
    while (with_thread != NULL)
        join(with_thread);
}

/* ---- use ---- */

const rs_residence *rs_residence_find(rs_context *context, cl_device_id device,
                                      const rs_record *record, size_t tile, const char **why)
{
    rs_residence *residence = look_up(context, device, record, tile);
    if (residence == NULL)
        residence = add(context, device, record, tile);
    if (residence == NULL) {
        *why = "There was not enough memory.";
        return NULL;
    }
    join(residence);
    if (!atomic_load(&residence->is_built))
        build(residence);
    *why = residence->why != NULL ? residence->why : "The conversion could not be built.";
    return residence->marshal != NULL ? residence : NULL;
}

void rs_residences_free(rs_context *context)
{
    while (context->residences != NULL) {
        rs_residence *residence = context->residences;
        join(residence);
        context->residences = residence->next;
        rs_opencl_marshal_destroy(residence->marshal);
        rs_record_free(&residence->record);
        free(residence->why);
        free(residence);
    }
}
