/* Recorded accesses in other layouts; see replay.h. */
#include "sim/replay.h"

#include "layout/layout.h"

enum { MOST_LANES = 1024, MOST_BYTES = 16 };

/* A part of a lane's access that stays in one piece. */
typedef struct {
    uint64_t address;
    size_t bytes;
} piece;

static const rs_sim_array *find_array(const rs_sim_array arrays[], size_t count,
                                      const rs_trace_access *access)
{
    for (size_t i = 0; i < count; i++)
        if (access->address >= arrays[i].address &&
            access->address - arrays[i].address < arrays[i].bytes &&
            access->bytes <= arrays[i].bytes - (access->address - arrays[i].address))
            return &arrays[i];
    return NULL;
}

/* The element or member that covers a byte of the array, from that byte on. */
static piece find_element(const rs_sim_array *array, uint64_t offset)
{
    size_t index[RS_LAYOUT_MAX_RANK];
    size_t inside = offset % array->element_bytes;
    size_t size = array->element_bytes;
    if (array->from->record >= 0) {
        const rs_dimension *record = &array->from->dimensions[array->from->record];
        inside = rs_layout_index(array->from, offset, index);
        size = record->record.leaves[index[array->from->record]].size;
    } else {
        rs_layout_index(array->from, offset / array->element_bytes, index);
    }
    return (piece){array->base + restride_layout_offset(array->to, index) * array->element_bytes +
                       inside,
                   size - inside};
}

/* What the device accesses in one piece of `bytes` bytes from `offset` on. */
static piece next_piece(const rs_sim_array *array, uint64_t offset, size_t bytes, bool whole)
{
    if (array->from == NULL || (whole && array->from == array->to))
        return (piece){array->base + offset, bytes < MOST_BYTES ? bytes : MOST_BYTES};
    piece found = find_element(array, offset);
    while (whole && found.bytes < bytes) {
        piece next = find_element(array, offset + found.bytes);
        if (next.address != found.address + found.bytes)
            break;
        found.bytes += next.bytes;
    }
    found.bytes = found.bytes < bytes ? found.bytes : bytes;
    found.bytes = found.bytes < MOST_BYTES ? found.bytes : MOST_BYTES;
    return found;
}

/* Accesses the pieces of equal size at once: mostly all of them. */
static void access_pieces(rs_sim_memory *memory, piece pieces[], size_t count, bool writes)
{
    uint64_t addresses[MOST_LANES];
    while (count > 0) {
        size_t bytes = pieces[0].bytes;
        size_t equal = 0;
        size_t others = 0;
        for (size_t i = 0; i < count; i++)
            if (pieces[i].bytes == bytes)
                addresses[equal++] = pieces[i].address;
            else
                pieces[others++] = pieces[i];
        rs_sim_access(memory, addresses, equal, bytes, writes);
        count = others;
    }
}

static restride_status replay_together(rs_sim_memory *memory, const rs_sim_array arrays[],
                                       size_t count, const rs_trace_access accesses[], size_t lanes)
{
    size_t done[MOST_LANES] = {0};
    const rs_sim_array *of[MOST_LANES];
    for (size_t lane = 0; lane < lanes; lane++) {
        of[lane] = find_array(arrays, count, &accesses[lane]);
        if (of[lane] == NULL)
            return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                           "The kernel accesses memory outside its arrays; make them larger.");
    }
    for (bool more = true; more;) {
        piece pieces[MOST_LANES];
        size_t piece_count = 0;
        more = false;
        for (size_t lane = 0; lane < lanes; lane++) {
            const rs_trace_access *access = &accesses[lane];
            if (done[lane] == access->bytes)
                continue;
            pieces[piece_count] =
                next_piece(of[lane], access->address + done[lane] - of[lane]->address,
                           access->bytes - done[lane], access->bytes <= MOST_BYTES);
            done[lane] += pieces[piece_count++].bytes;
            more = more || done[lane] < access->bytes;
        }
        access_pieces(memory, pieces, piece_count, accesses[0].writes != 0);
    }
    return RESTRIDE_OK;
}

restride_status rs_sim_replay(rs_sim_memory *memory, const rs_sim_array arrays[], size_t count,
                              const rs_trace_group *group)
{
    restride_status status = RESTRIDE_OK;
    for (size_t w = 0; w < group->warp_count; w++) {
        const rs_trace_slice *warp = &group->warps[w];
        rs_sim_start_warp(memory);
        for (size_t i = warp->first; i < warp->first + warp->count && status == RESTRIDE_OK; i++)
            status =
                replay_together(memory, arrays, count, group->accesses + group->together[i].first,
                                group->together[i].count);
    }
    return status;
}
