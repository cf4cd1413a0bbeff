/* The OpenCL engine: what it is to the stages of all devices (engine/device/device.h). */
#ifndef RS_ENGINE_OPENCL_OPENCL_H
#define RS_ENGINE_OPENCL_OPENCL_H

#include "engine/device/device.h"
#include "engine/opencl/marshal.h"
#include "engine/transfer.h"

#include <CL/cl_icd.h>
#include <pthread.h>

typedef struct rs_opencl_program rs_opencl_program;

typedef struct {
    rs_device_engine common;
    const cl_icd_dispatch *api;
    cl_command_queue queue;
    cl_context context;
    cl_device_id device;
    bool out_of_order; /* the queue: its commands wait for each other's events */
    char device_name[256];
    char driver[128];
    /* Programs that were built. Builds take long, and may call the program back: nobody who has the
     * other mutex waits for this one. */
    pthread_mutex_t building;
    rs_opencl_program *programs;
    /* Launches, and scratch memory between runs. */
    pthread_mutex_t mutex;
    cl_mem spare;
    size_t spare_bytes;
    bool spare_is_taken;
} rs_opencl_engine;

/*
 * Building programs, memory and launches. In sequences `last` is an event, and always NULL where
 * the engine's queue runs commands in order. There none is made: with NVIDIA's driver the event of
 * a kernel is complete only when all copies on all queues are that were enqueued before it.
 */
extern const rs_device_operations rs_opencl_device_operations;

extern const rs_transfer_operations rs_opencl_transfer;

void rs_opencl_forget_programs(rs_opencl_engine *engine);

#endif
