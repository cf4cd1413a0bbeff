/*
 * Fuzzes the reader of recordings: the first byte says how large a warp is, the rest is the stream.
 * Each access of a work-group is in one slice, and what a warp makes at once is by one instruction
 * or of one size, of a work-item each, and not more than a warp has.
 */
#include "sim/trace.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A group of no accesses may have many warps, so that many groups take long. */
enum { MOST_GROUPS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_together(const rs_trace_access accesses[], size_t count, size_t warp)
{
    check(count > 0 && count <= warp);
    for (size_t i = 1; i < count; i++) {
        const rs_trace_access *before = &accesses[i - 1];
        const rs_trace_access *present = &accesses[i];
        if (present->item == RS_TRACE_WHOLE_GROUP)
            check(before->item == present->item && before->bytes == present->bytes &&
                  before->writes == present->writes);
        else
            check(before->item < present->item && before->site == present->site);
    }
}

static void check_group(const rs_trace_group *group, size_t warp)
{
    size_t together = 0;
    size_t access = 0;
    for (size_t w = 0; w < group->warp_count; w++) {
        check(group->warps[w].first == together);
        for (; together < group->warps[w].first + group->warps[w].count; together++) {
            const rs_trace_slice *slice = &group->together[together];
            check(slice->first == access);
            check_together(group->accesses + access, slice->count, warp);
            access += slice->count;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 2)
        return 0;
    size_t warp = (size_t)bytes[0] + 1;
    FILE *stream = fmemopen((void *)(uintptr_t)(bytes + 1), count - 1, "rb");
    rs_trace *trace;
    check(stream != NULL && rs_trace_create(&trace, stream, warp) == RESTRIDE_OK);
    const rs_trace_group *group;
    for (int n = 0; n < MOST_GROUPS && rs_trace_next(trace, &group) == RESTRIDE_OK && group != NULL;
         n++)
        check_group(group, warp);
    rs_trace_destroy(trace);
    fclose(stream);
    return 0;
}
