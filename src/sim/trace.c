/* Work-items' accesses become warps' accesses; see trace.h. */
#include "sim/trace.h"

#include "base/arithmetic.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 1 << 16, MOST_BUFFERS = 1 << 16, MOST_SITES = 1 << 18, NONE = -1 };

/* An access of the warp. They are in a list, in the warp's order; slot 0 is its head. */
typedef struct {
    long next;
    long again; /* that of the same instruction's next execution */
    size_t count;
    size_t first;
} slot;

/* What is known of an instruction while a warp is put together. */
typedef struct {
    long first;  /* slot of its first execution */
    long latest; /* and of the latest one by the present work-item */
    size_t warp; /* for which `first` counts; from 1 on */
    size_t lane; /* for which `latest` counts, likewise */
} site;

struct rs_trace {
    FILE *stream;
    size_t warp;
    rs_trace_buffer *buffers;
    size_t buffer_count;
    rs_trace_access *read; /* as the stream has them */
    rs_trace_access *sorted;
    size_t *begins; /* of each work-item in `sorted`; then of the whole group's */
    long *slot_of;  /* of each access of `sorted` */
    size_t read_capacity;
    size_t capacity; /* of what is made of them */
    site *sites;
    size_t site_count;
    slot *slots;
    size_t slot_capacity;
    size_t slot_count;
    size_t warps_made; /* of all groups, so that what sites know of older ones does not count */
    size_t lanes_made;
    rs_trace_group group;
    size_t together_count;
};

static restride_status fail_memory(void)
{
    return rs_fail_memory("a recording");
}

restride_status rs_trace_create(rs_trace **trace, FILE *stream, size_t warp)
{
    rs_trace *made = calloc(1, sizeof *made);
    *trace = made;
    if (made == NULL)
        return fail_memory();
    made->stream = stream;
    made->warp = warp;
    return RESTRIDE_OK;
}

void rs_trace_destroy(rs_trace *trace)
{
    if (trace == NULL)
        return;
    free(trace->buffers);
    free(trace->read);
    free(trace->sorted);
    free(trace->begins);
    free(trace->slot_of);
    free(trace->sites);
    free(trace->slots);
    free(trace->group.accesses);
    free(trace->group.together);
    free(trace->group.warps);
    free(trace);
}

const rs_trace_buffer *rs_trace_buffers(const rs_trace *trace, size_t *count)
{
    *count = trace->buffer_count;
    return trace->buffers;
}

/* ---- reading ---- */

static restride_status fail_early(void)
{
    return rs_fail(RESTRIDE_IO, "The recording of the kernel ends before the kernel does.");
}

static restride_status fail_syntax(void)
{
    return rs_fail(RESTRIDE_SYNTAX, "The recording cannot be understood.");
}

/* The array at its new length; NULL, and the old one as it was, when there is no memory. */
static void *resized(void *array, size_t count, size_t size)
{
    size_t bytes;
    if (!rs_size_multiply(count > 0 ? count : 1, size, &bytes))
        return NULL;
    return realloc(array, bytes);
}

static restride_status read_buffers(rs_trace *trace, size_t count)
{
    if (count > MOST_BUFFERS)
        return fail_syntax();
    rs_trace_buffer *buffers = resized(trace->buffers, count, sizeof *buffers);
    if (buffers == NULL)
        return fail_memory();
    trace->buffers = buffers;
    trace->buffer_count = count;
    return fread(trace->buffers, sizeof *trace->buffers, count, trace->stream) == count
               ? RESTRIDE_OK
               : fail_early();
}

/* A broken recording may say any count, so room is made for what is there, piece by piece. */
static restride_status read_accesses(rs_trace *trace, size_t count)
{
    enum { FIRST = 1024 };
    for (size_t done = 0; done < count;) {
        if (done == trace->read_capacity) {
            size_t capacity = done > 0 ? 2 * done : FIRST;
            rs_trace_access *read = resized(trace->read, capacity, sizeof *read);
            if (read == NULL)
                return fail_memory();
            trace->read = read;
            trace->read_capacity = capacity;
        }
        size_t end = count < trace->read_capacity ? count : trace->read_capacity;
        if (fread(trace->read + done, sizeof *trace->read, end - done, trace->stream) != end - done)
            return fail_early();
        done = end;
    }
    return RESTRIDE_OK;
}

static restride_status make_room(rs_trace *trace, size_t count)
{
    if (count <= trace->capacity)
        return RESTRIDE_OK;
    rs_trace_access *sorted = resized(trace->sorted, count, sizeof *sorted);
    trace->sorted = sorted != NULL ? sorted : trace->sorted;
    long *slot_of = resized(trace->slot_of, count, sizeof *slot_of);
    trace->slot_of = slot_of != NULL ? slot_of : trace->slot_of;
    rs_trace_access *accesses = resized(trace->group.accesses, count, sizeof *accesses);
    trace->group.accesses = accesses != NULL ? accesses : trace->group.accesses;
    rs_trace_slice *together = resized(trace->group.together, count, sizeof *together);
    trace->group.together = together != NULL ? together : trace->group.together;
    if (sorted == NULL || slot_of == NULL || accesses == NULL || together == NULL)
        return fail_memory();
    trace->capacity = count;
    return RESTRIDE_OK;
}

static restride_status make_item_room(rs_trace *trace, size_t items)
{
    size_t *begins = resized(trace->begins, items + 2, sizeof *begins);
    trace->begins = begins != NULL ? begins : trace->begins;
    rs_trace_slice *warps = resized(trace->group.warps, items / trace->warp + 2, sizeof *warps);
    trace->group.warps = warps != NULL ? warps : trace->group.warps;
    return begins != NULL && warps != NULL ? RESTRIDE_OK : fail_memory();
}

static restride_status know_site(rs_trace *trace, size_t number)
{
    if (number < trace->site_count)
        return RESTRIDE_OK;
    if (number >= MOST_SITES)
        return fail_syntax();
    site *sites = resized(trace->sites, 2 * number + 1, sizeof *sites);
    if (sites == NULL)
        return fail_memory();
    trace->sites = sites;
    memset(trace->sites + trace->site_count, 0,
           (2 * number + 1 - trace->site_count) * sizeof *trace->sites);
    trace->site_count = 2 * number + 1;
    return RESTRIDE_OK;
}

/* The whole group counts as one more work-item. */
static size_t item_of(const rs_trace_access *access, size_t items)
{
    return access->item == RS_TRACE_WHOLE_GROUP ? items : access->item;
}

/* Sorts by work-items, those of the whole group last, and keeps the order of each. */
static restride_status sort_by_items(rs_trace *trace, size_t count, size_t items)
{
    size_t *begins = trace->begins;
    memset(begins, 0, (items + 2) * sizeof *begins);
    for (size_t i = 0; i < count; i++) {
        const rs_trace_access *access = &trace->read[i];
        if (item_of(access, items) >= items && access->item != RS_TRACE_WHOLE_GROUP)
            return fail_syntax();
        restride_status status = know_site(trace, access->site);
        if (status != RESTRIDE_OK)
            return status;
        begins[item_of(access, items) + 1]++;
    }
    for (size_t item = 0; item <= items; item++)
        begins[item + 1] += begins[item];
    for (size_t i = count; i-- > 0;) {
        const rs_trace_access *access = &trace->read[i];
        trace->sorted[--begins[item_of(access, items) + 1]] = *access;
    }
    /* Each begins[item + 1] went back to the begin of that item. */
    memmove(begins, begins + 1, (items + 1) * sizeof *begins);
    begins[items + 1] = count;
    return RESTRIDE_OK;
}

/* ---- putting a warp together ---- */

static restride_status add_slot(rs_trace *trace, long after, long *added)
{
    if (trace->slot_count == trace->slot_capacity) {
        size_t capacity = 2 * trace->slot_capacity + 64;
        slot *slots = resized(trace->slots, capacity, sizeof *slots);
        if (slots == NULL)
            return fail_memory();
        trace->slots = slots;
        trace->slot_capacity = capacity;
    }
    *added = (long)trace->slot_count++;
    slot *made = &trace->slots[*added];
    *made = (slot){NONE, NONE, 0, 0};
    if (after != NONE) {
        made->next = trace->slots[after].next;
        trace->slots[after].next = *added;
    }
    return RESTRIDE_OK;
}

/* The slot of one more execution of an instruction by the present work-item; a new one comes
 * behind slot `after`, the work-item's access before. */
static restride_status find_slot(rs_trace *trace, site *of, long after, long *found)
{
    if (of->warp != trace->warps_made)
        *of = (site){NONE, NONE, trace->warps_made, 0};
    bool again = of->lane == trace->lanes_made;
    *found = again ? trace->slots[of->latest].again : of->first;
    if (*found == NONE) {
        restride_status status = add_slot(trace, after, found);
        if (status != RESTRIDE_OK)
            return status;
        if (again)
            trace->slots[of->latest].again = *found;
        else
            of->first = *found;
    }
    of->latest = *found;
    of->lane = trace->lanes_made;
    return RESTRIDE_OK;
}

/* The accesses [begin, end) of `sorted` are those of one work-item. */
static restride_status add_lane(rs_trace *trace, size_t begin, size_t end)
{
    long at = 0;
    trace->lanes_made++;
    for (size_t i = begin; i < end; i++) {
        restride_status status = find_slot(trace, &trace->sites[trace->sorted[i].site], at, &at);
        if (status != RESTRIDE_OK)
            return status;
        trace->slots[at].count++;
        trace->slot_of[i] = at;
    }
    return RESTRIDE_OK;
}

/* Copies of the whole group: as many elements at once as a warp has work-items. */
static restride_status add_copies(rs_trace *trace, size_t begin, size_t end)
{
    long at = 0;
    for (size_t i = begin; i < end; i++) {
        const rs_trace_access *access = &trace->sorted[i];
        bool fits = i > begin && access->bytes == access[-1].bytes &&
                    access->writes == access[-1].writes && trace->slots[at].count < trace->warp;
        restride_status status = fits ? RESTRIDE_OK : add_slot(trace, at, &at);
        if (status != RESTRIDE_OK)
            return status;
        trace->slots[at].count++;
        trace->slot_of[i] = at;
    }
    return RESTRIDE_OK;
}

/* Writes the accesses [begin, end) of `sorted` into the group, slot by slot. */
static void emit_warp(rs_trace *trace, size_t begin, size_t end)
{
    rs_trace_group *group = &trace->group;
    rs_trace_slice *made = &group->warps[group->warp_count++];
    size_t first = begin;
    *made = (rs_trace_slice){trace->together_count, 0};
    for (long at = trace->slots[0].next; at != NONE; at = trace->slots[at].next) {
        slot *present = &trace->slots[at];
        present->first = first;
        group->together[trace->together_count++] = (rs_trace_slice){first, present->count};
        first += present->count;
        made->count++;
    }
    for (size_t i = begin; i < end; i++)
        group->accesses[trace->slots[trace->slot_of[i]].first++] = trace->sorted[i];
}

static restride_status begin_warp(rs_trace *trace)
{
    long head;
    trace->slot_count = 0;
    trace->warps_made++;
    return add_slot(trace, NONE, &head);
}

static restride_status make_warp(rs_trace *trace, size_t first, size_t items)
{
    size_t last = first + trace->warp < items ? first + trace->warp : items;
    restride_status status = begin_warp(trace);
    for (size_t item = first; item < last && status == RESTRIDE_OK; item++)
        status = add_lane(trace, trace->begins[item], trace->begins[item + 1]);
    if (status == RESTRIDE_OK)
        emit_warp(trace, trace->begins[first], trace->begins[last]);
    return status;
}

static restride_status make_copies(rs_trace *trace, size_t items)
{
    size_t begin = trace->begins[items];
    size_t end = trace->begins[items + 1];
    if (begin == end)
        return RESTRIDE_OK;
    restride_status status = begin_warp(trace);
    if (status == RESTRIDE_OK)
        status = add_copies(trace, begin, end);
    if (status == RESTRIDE_OK)
        emit_warp(trace, begin, end);
    return status;
}

static restride_status read_group(rs_trace *trace, size_t count, size_t items)
{
    if (items == 0 || items > MOST_ITEMS)
        return fail_syntax();
    restride_status status = read_accesses(trace, count);
    if (status == RESTRIDE_OK)
        status = make_room(trace, count);
    if (status == RESTRIDE_OK)
        status = make_item_room(trace, items);
    trace->together_count = trace->group.warp_count = 0;
    if (status == RESTRIDE_OK)
        status = sort_by_items(trace, count, items);
    for (size_t first = 0; first < items && status == RESTRIDE_OK; first += trace->warp)
        status = make_warp(trace, first, items);
    return status == RESTRIDE_OK ? make_copies(trace, items) : status;
}

restride_status rs_trace_next(rs_trace *trace, const rs_trace_group **group)
{
    *group = NULL;
    for (;;) {
        rs_trace_block block;
        if (fread(&block, sizeof block, 1, trace->stream) != 1)
            return fail_early();
        restride_status status = RESTRIDE_OK;
        switch (block.kind) {
        case RS_TRACE_BUFFERS:
            status = read_buffers(trace, block.count);
            break;
        case RS_TRACE_GROUP:
            status = read_group(trace, block.count, block.items);
            *group = status == RESTRIDE_OK ? &trace->group : NULL;
            return status;
        case RS_TRACE_END:
            return RESTRIDE_OK;
        default:
            return fail_syntax();
        }
        if (status != RESTRIDE_OK)
            return status;
    }
}
