/* Conversions of buffers: see converter.h. */
#include "layer/converter.h"

#include "base/log.h"
#include "base/text.h"
#include "engine/opencl/error.h"
#include "engine/opencl/marshal.h"
#include "engine/opencl/stages.h"
#include "engine/opencl/window.h"
#include "layer/state.h"
#include "layout/layout.h"
#include "transpose/plan.h"

#include <stdlib.h>
#include <string.h>

/* What a plan may take of scratch memory, whatever the size of its array (engine.c). */
enum { SMALL_BYTES = 7 << 17, DIRECTIONS = 2 };

/* Arrays of one length: their plans, or why there are none. */
typedef struct plan_pair {
    size_t count;
    restride_plan *plans[DIRECTIONS];
    restride_status status;
    char *why;
    struct plan_pair *next;
} plan_pair;

struct rs_converter {
    const rs_relayout *relayout;
    cl_context context;
    cl_device_id device;
    rs_opencl_marshal *marshal; /* NULL: plans */
    rs_opencl_window *window;   /* NULL: no parts */
    restride_engine *engine;    /* of the plans; NULL before the first */
    plan_pair *pairs;
};

bool rs_relayout_equal(const rs_relayout *a, const rs_relayout *b)
{
    return a->tile == b->tile && a->from_soa == b->from_soa &&
           rs_record_equal(&a->record, &b->record);
}

static size_t count_records(const rs_converter *converter, size_t bytes)
{
    return bytes / converter->relayout->record.size;
}

/* ---- the life of a converter ---- */

/* Without a window all else works: parts are then converted as a whole. */
static void add_window(rs_converter *converter)
{
    const rs_relayout *r = converter->relayout;
    const rs_window_shape shape = {&r->record, r->from_soa, r->tile};
    if (rs_opencl_window_create(&converter->window, rs_driver(), converter->context,
                                converter->device, &shape) != RESTRIDE_OK)
        rs_log(RS_LOG_INFO, "%s", restride_last_error());
}

restride_status rs_converter_create(rs_converter **converter, cl_context context,
                                    cl_device_id device, const rs_relayout *relayout)
{
    *converter = NULL;
    rs_converter *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("a conversion");
    *created = (rs_converter){.relayout = relayout, .context = context, .device = device};
    restride_status status = RESTRIDE_OK;
    if (relayout->tile != 0 && !relayout->from_soa)
        status = rs_opencl_marshal_create(&created->marshal, rs_driver(), context, device,
                                          &relayout->record, relayout->tile);
    if (status != RESTRIDE_OK) {
        free(created);
        return status;
    }
    add_window(created);
    *converter = created;
    return RESTRIDE_OK;
}

/* The pairs of a list from a place on. */
static void destroy_pairs(plan_pair **place)
{
    while (*place != NULL) {
        plan_pair *first = *place;
        *place = first->next;
        for (int i = 0; i < DIRECTIONS; i++)
            restride_plan_destroy(first->plans[i]);
        free(first->why);
        free(first);
    }
}

void rs_converter_destroy(rs_converter *converter)
{
    if (converter == NULL)
        return;
    destroy_pairs(&converter->pairs);
    if (converter->engine != NULL)
        restride_engine_destroy(converter->engine);
    rs_opencl_marshal_destroy(converter->marshal);
    rs_opencl_window_destroy(converter->window);
    free(converter);
}

/* ---- plans ---- */

/* The engine has a queue of its own, on which plans are prepared. */
static restride_status make_engine(rs_converter *converter)
{
    cl_int code;
    cl_command_queue queue =
        rs_driver()->clCreateCommandQueue(converter->context, converter->device, 0, &code);
    if (queue == NULL)
        return rs_opencl_fail(code, "creating a queue for plans");
    restride_status status = rs_opencl_engine_create(&converter->engine, rs_driver(), queue);
    rs_driver()->clReleaseCommandQueue(queue);
    return status;
}

static restride_status make_layout(const rs_relayout *relayout, size_t count, bool of_program,
                                   restride_layout **layout)
{
    rs_text expression = RS_TEXT_EMPTY;
    if (of_program)
        rs_text_add_string(&expression, relayout->from_soa ? "f i" : "i f");
    else if (relayout->tile == 0)
        rs_text_add_string(&expression, "f i");
    else
        rs_text_format(&expression, "i/%zu f i%%%zu", relayout->tile, relayout->tile);
    restride_status status =
        expression.failed ? rs_fail_memory("a layout")
                          : rs_layout_of_record(layout, &relayout->record, count, expression.data);
    rs_text_free(&expression);
    return status;
}

static restride_status make_plans(rs_converter *converter, plan_pair *pair)
{
    restride_layout *program = NULL, *kernels = NULL;
    restride_status status = converter->engine != NULL ? RESTRIDE_OK : make_engine(converter);
    if (status == RESTRIDE_OK)
        status = make_layout(converter->relayout, pair->count, true, &program);
    if (status == RESTRIDE_OK)
        status = make_layout(converter->relayout, pair->count, false, &kernels);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert(&pair->plans[RS_THERE], converter->engine, program, kernels);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert(&pair->plans[RS_BACK], converter->engine, kernels, program);
    restride_layout_destroy(program);
    restride_layout_destroy(kernels);
    return status;
}

static bool is_small(const rs_converter *converter, size_t bytes)
{
    return converter->window != NULL && bytes <= SMALL_BYTES;
}

/* Programs whose arrays change their length would fill the device with plans. Commands that are
 * under way keep what they use. */
static void keep_latest(rs_converter *converter)
{
    enum { MOST_PAIRS = 8 };
    plan_pair **place = &converter->pairs;
    for (int i = 0; i < MOST_PAIRS && *place != NULL; i++)
        place = &(*place)->next;
    destroy_pairs(place);
}

/* Those of arrays of that length, made if new, and now the first of the list. What could not be
 * planned is not tried again. */
static restride_status find_plans(rs_converter *converter, size_t count, const plan_pair **found)
{
    plan_pair **place = &converter->pairs;
    while (*place != NULL && (*place)->count != count)
        place = &(*place)->next;
    plan_pair *pair = *place;
    if (pair != NULL)
        *place = pair->next;
    const bool is_new = pair == NULL;
    if (is_new)
        pair = calloc(1, sizeof *pair);
    if (pair == NULL)
        return rs_fail_memory("a conversion");
    pair->next = converter->pairs;
    converter->pairs = pair;
    if (is_new) {
        pair->count = count;
        keep_latest(converter);
        pair->status = make_plans(converter, pair);
        if (pair->status != RESTRIDE_OK)
            pair->why = strdup(restride_last_error());
    }
    *found = pair;
    return pair->status == RESTRIDE_OK
               ? RESTRIDE_OK
               : rs_fail(pair->status, "%s", pair->why != NULL ? pair->why : "There is no plan.");
}

restride_status rs_converter_prepare(rs_converter *converter, size_t bytes)
{
    const plan_pair *pair;
    return converter->marshal != NULL || is_small(converter, bytes)
               ? RESTRIDE_OK
               : find_plans(converter, count_records(converter, bytes), &pair);
}

/* ---- whole buffers ---- */

static restride_status run_plan(rs_converter *converter, cl_command_queue queue, cl_mem buffer,
                                size_t bytes, rs_direction direction, cl_uint wait_count,
                                const cl_event *wait_list, rs_conversion *conversion)
{
    const plan_pair *pair;
    restride_status status = find_plans(converter, count_records(converter, bytes), &pair);
    if (status != RESTRIDE_OK)
        return status;
    const restride_plan *plan = pair->plans[direction];
    const rs_opencl_stages stages = {converter->engine, plan->stages, plan->stage_count,
                                     rs_plan_shared_scratch(plan)};
    return rs_opencl_enqueue_stages(&stages, queue, buffer, wait_count, wait_list,
                                    &conversion->began, &conversion->event);
}

static restride_status copy_all(cl_command_queue queue, cl_mem from, cl_mem to, size_t bytes,
                                cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    cl_int code = rs_driver()->clEnqueueCopyBuffer(queue, from, to, 0, 0, bytes, wait_count,
                                                   wait_list, event);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "copying a small array");
}

/* Out into scratch memory and back, one of the ways through the window. */
static restride_status convert_small(const rs_converter *converter, cl_command_queue queue,
                                     cl_mem buffer, size_t bytes, rs_direction direction,
                                     cl_uint wait_count, const cl_event *wait_list,
                                     rs_conversion *conversion)
{
    cl_int code;
    size_t count = count_records(converter, bytes);
    size_t end = count * converter->relayout->record.size;
    cl_mem scratch =
        rs_driver()->clCreateBuffer(converter->context, CL_MEM_READ_WRITE, end, NULL, &code);
    if (scratch == NULL)
        return rs_opencl_fail(code, "allocating scratch memory");
    const rs_window_part part = {buffer, count, scratch, 0, end};
    restride_status status =
        direction == RS_THERE
            ? copy_all(queue, buffer, scratch, end, wait_count, wait_list, &conversion->began)
            : rs_opencl_window_enqueue(converter->window, queue, &part, RS_WINDOW_OUT, wait_count,
                                       wait_list, &conversion->began);
    if (status == RESTRIDE_OK) {
        status =
            direction == RS_THERE
                ? rs_opencl_window_enqueue(converter->window, queue, &part, RS_WINDOW_IN, 1,
                                           &conversion->began, &conversion->event)
                : copy_all(queue, scratch, buffer, end, 1, &conversion->began, &conversion->event);
        if (status != RESTRIDE_OK)
            rs_driver()->clReleaseEvent(conversion->began);
    }
    rs_driver()->clReleaseMemObject(scratch); /* the commands hold it until they are done */
    return status;
}

static restride_status marshal(const rs_converter *converter, cl_command_queue queue, cl_mem buffer,
                               size_t bytes, rs_direction direction, cl_uint wait_count,
                               const cl_event *wait_list, rs_conversion *conversion)
{
    restride_status status = rs_opencl_marshal_enqueue(
        converter->marshal, queue, buffer, count_records(converter, bytes),
        direction == RS_THERE ? RS_AOS_TO_ASTA : RS_ASTA_TO_AOS, wait_count, wait_list,
        &conversion->event);
    if (status == RESTRIDE_OK) {
        conversion->began = conversion->event;
        rs_driver()->clRetainEvent(conversion->began);
    }
    return status;
}

restride_status rs_converter_enqueue(rs_converter *converter, cl_command_queue queue, cl_mem buffer,
                                     size_t bytes, rs_direction direction, cl_uint wait_count,
                                     const cl_event *wait_list, rs_conversion *conversion)
{
    *conversion = (rs_conversion){NULL, NULL};
    if (converter->marshal != NULL)
        return marshal(converter, queue, buffer, bytes, direction, wait_count, wait_list,
                       conversion);
    if (is_small(converter, bytes))
        return convert_small(converter, queue, buffer, bytes, direction, wait_count, wait_list,
                             conversion);
    return run_plan(converter, queue, buffer, bytes, direction, wait_count, wait_list, conversion);
}

/* ---- parts ---- */

size_t rs_converter_granule(const rs_converter *converter)
{
    return converter->window != NULL ? rs_opencl_window_granule(converter->window) : 0;
}

restride_status rs_converter_copy_part(const rs_converter *converter, cl_command_queue queue,
                                       cl_mem buffer, size_t bytes, const rs_converter_part *part,
                                       rs_direction direction, cl_uint wait_count,
                                       const cl_event *wait_list, cl_event *event)
{
    const rs_window_part window = {buffer, count_records(converter, bytes), part->scratch,
                                   part->first, part->end};
    return rs_opencl_window_enqueue(converter->window, queue, &window,
                                    direction == RS_BACK ? RS_WINDOW_OUT : RS_WINDOW_IN, wait_count,
                                    wait_list, event);
}
