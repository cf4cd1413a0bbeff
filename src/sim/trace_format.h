/*
 * The stream between the recorder, which Oclgrind loads (recorder.cpp), and trace.c: blocks, each a
 * header and its entries, in the machine's byte order. One launch of a kernel is its buffers, its
 * work-groups one after another, and an end.
 */
#ifndef RS_SIM_TRACE_FORMAT_H
#define RS_SIM_TRACE_FORMAT_H

#include <stdint.h>

/* The environment variable with the number of the descriptor that is written to. */
#define RS_TRACE_VARIABLE "RESTRIDE_TRACE_DESCRIPTOR"

enum {
    RS_TRACE_BUFFERS = 0x62756666, /* entries are rs_trace_buffer: all that are allocated */
    RS_TRACE_GROUP = 0x67726f75,   /* entries are rs_trace_access: those of one work-group */
    RS_TRACE_END = 0x656e6421      /* no entries */
};

typedef struct {
    uint32_t kind;
    uint32_t items; /* of a group: its work-items */
    uint64_t count; /* entries that follow */
} rs_trace_block;

typedef struct {
    uint64_t address;
    uint64_t bytes;
} rs_trace_buffer;

/* No work-item but the whole work-group: a copy between global and local memory. */
#define RS_TRACE_WHOLE_GROUP UINT32_MAX

/* One work-item's access to global memory, in the order in which it made them. */
typedef struct {
    uint64_t address;
    uint32_t site; /* the instruction; other numbers for what it writes */
    uint32_t item; /* of the work-group, x fastest */
    uint32_t bytes;
    uint32_t writes; /* 0 or 1 */
} rs_trace_access;

#endif
