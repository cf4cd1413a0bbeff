/* Cases of events: those that the program sets, and the times of others. */
#include "cases.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

/* A user event holds a launch back; when that is over, launches are as before. */
void case_user_event(void)
{
    cl_int error;
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    cl_event user = clCreateUserEvent(context, &error);
    done(error, "clCreateUserEvent");
    launch_on(queue, add, user, NULL);
    done(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus");
    for (int i = 0; i < CELLS; i++)
        expected[i].a++;
    done(clFinish(queue), "clFinish");
    add_once(add);
    add_once(add);
    compare(cells);
    done(clReleaseEvent(user), "clReleaseEvent");
}

/* What was held back is still under way when the next launch comes: nothing is converted then. */
void case_held_and_slow(void)
{
    static const char *const text =
        "__kernel void work(__global int *out)\n"
        "{ uint s = get_global_id(0); for (uint i = 0; i < (1u << 20); i++) s = s * 1664525u + i;\n"
        "  out[get_global_id(0)] = (int)s; }\n";
    cl_int error, status;
    cl_event worked;
    cl_kernel add = make_kernel(program, "add", cells);
    cl_mem out = make_cells(CL_MEM_READ_WRITE, NULL);
    cl_program slow = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(slow, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel work = make_kernel(slow, "work", out);
    cl_event user = clCreateUserEvent(context, &error);
    done(error, "clCreateUserEvent");
    launch_on(queue, work, user, &worked);
    done(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus");
    add_once(add);
    done(clGetEventInfo(worked, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
         "clGetEventInfo");
    if (status == CL_COMPLETE) /* this thread was slower still */
        exit(LACKS);
    done(clFinish(queue), "clFinish");
    add_once(add);
    compare(cells);
    done(clReleaseEvent(worked), "clReleaseEvent");
    done(clReleaseEvent(user), "clReleaseEvent");
}

/* An event outlives its queue: times that the program did not ask for stay hidden. */
void case_released_queue(void)
{
    cl_event event;
    cl_ulong time;
    cl_kernel add = make_kernel(program, "add", cells);
    launch_on(queue, add, NULL, &event);
    done(clWaitForEvents(1, &event), "clWaitForEvents");
    done(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL) ==
              CL_PROFILING_INFO_NOT_AVAILABLE,
          "an event of a queue without profiling has times");
}

/* Queues that have used a buffer and are gone leave nothing behind. */
void case_many_queues(void)
{
    enum { ROUNDS = 3000, WARM = 500, MOST_BYTES = 100 };
    cl_int error;
    size_t before = 0;
    add_once(make_kernel(program, "add", cells));
    for (int i = 0; i < ROUNDS; i++) {
        cl_command_queue brief = clCreateCommandQueueWithProperties(context, device, NULL, &error);
        done(error, "clCreateCommandQueueWithProperties");
        int first;
        done(clEnqueueReadBuffer(brief, cells, CL_TRUE, 0, sizeof first, &first, 0, NULL, NULL),
             "clEnqueueReadBuffer");
        done(clReleaseCommandQueue(brief), "clReleaseCommandQueue");
        if (i == WARM)
            before = mallinfo2().uordblks;
    }
    check(mallinfo2().uordblks < before + (size_t)(ROUNDS - WARM) * MOST_BYTES,
          "each queue leaves memory behind");
    compare(cells);
}

void case_profiling(void)
{
    static const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_int error;
    cl_event event;
    cl_ulong times[4];
    cl_command_type type;
    cl_command_queue timed = clCreateCommandQueueWithProperties(context, device, list, &error);
    done(error, "clCreateCommandQueueWithProperties");
    cl_kernel add = make_kernel(program, "add", cells);
    launch_on(timed, add, NULL, &event);
    done(clWaitForEvents(1, &event), "clWaitForEvents");
    for (cl_profiling_info i = 0; i < 4; i++)
        done(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof times[i],
                                     &times[i], NULL),
             "clGetEventProfilingInfo");
    check(times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3],
          "times are out of order");
    done(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), "clGetEventInfo");
    check(type == CL_COMMAND_NDRANGE_KERNEL, "the event is not the kernel's");
}

/* A native kernel that the driver refuses never ran: launches are as before. */
void case_refused_native(void)
{
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    check(clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL) != CL_SUCCESS,
          "a native kernel without a function was taken");
    add_once(add);
    compare(cells);
}

/* A user event that nothing waits for is released without a status: launches are as before. */
void case_released_user_event(void)
{
    cl_int error;
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    cl_event user = clCreateUserEvent(context, &error);
    done(error, "clCreateUserEvent");
    done(clRetainEvent(user), "clRetainEvent");
    done(clReleaseEvent(user), "clReleaseEvent");
    add_once(add); /* it may still be used */
    done(clReleaseEvent(user), "clReleaseEvent");
    done(clFinish(queue), "clFinish");
    add_once(add);
    add_once(add);
    compare(cells);
}

/* Something waits for it, and does so for good, beside everything else. */
void case_forgotten_user_event(void)
{
    cl_int error;
    cl_kernel add = make_kernel(program, "add", cells);
    cl_command_queue other = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    done(error, "clCreateCommandQueueWithProperties");
    add_once(add);
    cl_event user = clCreateUserEvent(context, &error);
    done(error, "clCreateUserEvent");
    launch_on(other, add, user, NULL);
    done(clFlush(other), "clFlush");
    done(clReleaseEvent(user), "clReleaseEvent");
    done(clFinish(queue), "clFinish");
    add_once(add);
    compare(cells);
    add_once(add);
    compare(cells);
    _exit(0); /* a driver may wait for the command at the end */
}
