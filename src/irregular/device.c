/* The public half of plans on a device: checks what is asked, and moves the data. */
#include "irregular/device.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { GATHER, SCATTER };
static const char *const kernel_names[RS_APPLY_KERNELS] = {"gather", "scatter"};

static restride_status check_method(const restride_irregular_options *options)
{
    restride_status status = rs_check_options(options);
    if (status == RESTRIDE_OK && (options->method == RESTRIDE_IRREGULAR_PARTIAL ||
                                  options->method == RESTRIDE_IRREGULAR_PADDING))
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Padding and partial duplication are planned on the host alone; choose "
                       "approximation or duplication on a device.");
    return status;
}

static restride_status check_sizes(const restride_launch *launch,
                                   const restride_reference *reference)
{
    if (launch->threads < UINT32_MAX && reference->objects < UINT32_MAX)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "A plan on a device numbers threads and objects with 32 bits, too few for %zu "
                   "and %zu; make the plan on the host.",
                   launch->threads, reference->objects);
}

static restride_status check_budget(const restride_launch *launch,
                                    const restride_reference *reference,
                                    const restride_irregular_options *options)
{
    if (options->extra_bytes == 0 ||
        options->extra_bytes / reference->object_bytes >= launch->threads)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "Duplication needs %zu slots of %zu bytes, one for each thread, but the budget "
                   "is %zu bytes; grant more or choose approximation.",
                   launch->threads, reference->object_bytes, options->extra_bytes);
}

static restride_status check(restride_engine *engine, const restride_launch *launch,
                             const restride_reference *reference,
                             const restride_irregular_options *options)
{
    if (engine == NULL || reference == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A plan on a device needs an engine, a reference and a place to be stored.");
    if (engine->operations->enter == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The engine works in host memory; use restride_irregular_plan() there.");
    restride_status status = rs_check_launch(launch, 1);
    if (status == RESTRIDE_OK)
        status = rs_check_reference(launch, reference, 0);
    if (status == RESTRIDE_OK)
        status = check_method(options);
    if (status == RESTRIDE_OK)
        status = check_sizes(launch, reference);
    return status;
}

static restride_irregular_method choose(const restride_irregular_options *options)
{
    if (options->method != RESTRIDE_IRREGULAR_AUTO)
        return options->method;
    return options->keep_threads != 0 ? RESTRIDE_IRREGULAR_DUPLICATION
                                      : RESTRIDE_IRREGULAR_APPROXIMATION;
}

/* Objects begin where their size allows such words, whatever their type. */
static size_t choose_word(size_t object_bytes)
{
    return object_bytes % 4 == 0 ? 4 : object_bytes % 2 == 0 ? 2 : 1;
}

static restride_status make(restride_irregular_device *plan, void *index)
{
    char options[64];
    snprintf(options, sizeof options, "-D WORD=%s -D INDEX=uint", rs_device_word_type(plan->word));
    restride_status status =
        rs_device_create_kernels(plan->engine, rs_device_irregular_kernels, options, kernel_names,
                                 RS_APPLY_KERNELS, plan->kernels);
    if (status == RESTRIDE_OK)
        status = rs_arrange_on_device(plan, index);
    if (status == RESTRIDE_OK)
        plan->facts.break_even =
            rs_break_even(&plan->facts, &plan->reads, plan->slots, plan->slots, plan->index_bytes);
    return status;
}

static void free_plan(restride_irregular_device *plan)
{
    const rs_device_operations *device = plan->engine->device;
    const rs_device_memory memories[] = {plan->index, plan->order, plan->source};
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++)
        if (memories[i] != NULL)
            device->release(plan->engine, memories[i]);
    free(plan);
}

restride_status restride_irregular_device_plan(restride_irregular_device **plan,
                                               restride_engine *engine,
                                               const restride_launch *launch,
                                               const restride_reference *reference,
                                               const restride_irregular_options *options)
{
    static const restride_irregular_options defaults = {0};
    if (plan != NULL)
        *plan = NULL;
    if (plan == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "A plan needs a place to be stored.");
    if (options == NULL)
        options = &defaults;
    restride_status status = check(engine, launch, reference, options);
    if (status == RESTRIDE_OK && choose(options) == RESTRIDE_IRREGULAR_DUPLICATION)
        status = check_budget(launch, reference, options);
    if (status == RESTRIDE_OK)
        status = engine->operations->check_buffer(engine, (void *)reference->index,
                                                  launch->threads * reference->index_bytes,
                                                  RS_BUFFER_READ);
    if (status != RESTRIDE_OK)
        return status;
    restride_irregular_device *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rs_fail_memory("the plan");
    *made = (restride_irregular_device){.engine = (rs_device_engine *)engine,
                                        .method = choose(options),
                                        .reads = {NULL, launch->threads, reference->objects,
                                                  reference->object_bytes, launch->warp,
                                                  launch->segment_bytes, 1},
                                        .index_bytes = reference->index_bytes,
                                        .word = choose_word(reference->object_bytes)};
    status = engine->operations->enter(engine);
    if (status != RESTRIDE_OK) {
        free(made);
        return status;
    }
    status = make(made, (void *)reference->index);
    if (status == RESTRIDE_OK)
        *plan = made;
    else
        free_plan(made);
    engine->operations->leave(engine);
    return status;
}

void restride_irregular_device_destroy(restride_irregular_device *plan)
{
    if (plan == NULL)
        return;
    restride_engine *engine = &plan->engine->base;
    /* Without a device that can be entered its memory is gone already. */
    bool entered = engine->operations->enter(engine) == RESTRIDE_OK;
    if (!entered) {
        free(plan);
        return;
    }
    free_plan(plan);
    engine->operations->leave(engine);
}

/* Moves every slot from or to its object. */
static restride_status move(const restride_irregular_device *plan, int kernel, void *from, void *to)
{
    static const char doing[] = "moving objects and slots";
    uint64_t object_words = plan->reads.object_bytes / plan->word;
    uint64_t words = plan->slots * object_words;
    const rs_device_argument arguments[] = {RS_ARGUMENT(from), RS_ARGUMENT(plan->source),
                                            RS_ARGUMENT(words), RS_ARGUMENT(object_words),
                                            RS_ARGUMENT(to)};
    restride_engine *engine = &plan->engine->base;
    restride_status status = engine->operations->enter(engine);
    if (status != RESTRIDE_OK)
        return status;
    rs_device_sequence sequence = {.engine = plan->engine};
    rs_device_launch(&sequence, plan->kernels[kernel], arguments,
                     sizeof arguments / sizeof arguments[0],
                     rs_size_divide_up((size_t)words, RS_APPLY_ITEMS), 1, RS_APPLY_ITEMS);
    status = rs_device_finish(&sequence, doing);
    engine->operations->leave(engine);
    return status;
}

static restride_status check_buffers(const restride_irregular_device *plan, void *array,
                                     rs_buffer_use array_use, void *slots, rs_buffer_use slots_use)
{
    restride_engine *engine = &plan->engine->base;
    size_t bytes = plan->reads.object_bytes;
    restride_status status =
        engine->operations->check_buffer(engine, array, plan->reads.objects * bytes, array_use);
    if (status == RESTRIDE_OK)
        status = engine->operations->check_buffer(engine, slots, plan->slots * bytes, slots_use);
    return status;
}

restride_status restride_irregular_device_gather(const restride_irregular_device *plan, void *array,
                                                 void *slots)
{
    restride_status status = check_buffers(plan, array, RS_BUFFER_READ, slots, RS_BUFFER_WRITTEN);
    return status == RESTRIDE_OK ? move(plan, GATHER, array, slots) : status;
}

restride_status restride_irregular_device_scatter(const restride_irregular_device *plan,
                                                  void *slots, void *array)
{
    if (plan->method == RESTRIDE_IRREGULAR_DUPLICATION)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Which of an object's copies goes back is not defined; choose "
                       "approximation for kernels that write.");
    restride_status status = check_buffers(plan, array, RS_BUFFER_WRITTEN, slots, RS_BUFFER_READ);
    return status == RESTRIDE_OK ? move(plan, SCATTER, slots, array) : status;
}

restride_irregular_method restride_irregular_device_method(const restride_irregular_device *plan)
{
    return plan->method;
}

restride_irregular_facts restride_irregular_device_facts(const restride_irregular_device *plan)
{
    return plan->facts;
}

size_t restride_irregular_device_slots(const restride_irregular_device *plan)
{
    return plan->slots;
}

void *restride_irregular_device_index(const restride_irregular_device *plan)
{
    return plan->index;
}

void *restride_irregular_device_order(const restride_irregular_device *plan)
{
    return plan->order;
}
