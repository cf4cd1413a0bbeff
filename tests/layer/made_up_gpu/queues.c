/* Queues that cannot be made, and with MADE_UP_LAZY those that begin late. */
#include "made_up_gpu.h"

#include <stdatomic.h>
#include <stdlib.h>

static struct {
    cl_command_queue queue;
    cl_event gate; /* before its first command */
    cl_command_queue third;
} lazy;

static void make_lazy(cl_command_queue queue, cl_context context)
{
    static atomic_int queues;
    const int before = getenv("MADE_UP_LAZY") != NULL ? atomic_fetch_add(&queues, 1) : 0;
    if (before == 2)
        lazy.third = queue;
    if (before != 1)
        return;
    lazy.gate = below->clCreateUserEvent(context, NULL);
    lazy.queue = queue;
    below->clEnqueueBarrierWithWaitList(queue, 1, &lazy.gate, NULL);
}

static cl_int CL_API_CALL flush(cl_command_queue queue)
{
    if (queue == lazy.third)
        return CL_INVALID_COMMAND_QUEUE;
    if (queue == lazy.queue)
        below->clSetUserEventStatus(lazy.gate, CL_COMPLETE);
    return below->clFlush(queue);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties,
                                                 cl_int *error)
{
    if (!fails("queue")) {
        cl_command_queue queue = below->clCreateCommandQueue(context, device, properties, error);
        make_lazy(queue, context);
        return queue;
    }
    if (error != NULL)
        *error = CL_OUT_OF_RESOURCES;
    return NULL;
}

void add_queues(cl_icd_dispatch *table)
{
    table->clCreateCommandQueue = create_queue;
    table->clFlush = flush;
}
