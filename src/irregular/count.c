/* Transactions: how many a launch needs, and how many at least. */
#include "base/arithmetic.h"
#include "engine/host/team.h"
#include "irregular/irregular.h"

size_t rs_segments(const rs_reads *reads, size_t objects)
{
    size_t bytes = objects * reads->object_bytes;
    return bytes / reads->segment_bytes + (bytes % reads->segment_bytes > 0);
}

size_t rs_segments_from(const rs_reads *reads, size_t slot, size_t objects)
{
    size_t first = slot * reads->object_bytes / reads->segment_bytes;
    size_t last = ((slot + objects) * reads->object_bytes - 1) / reads->segment_bytes;
    return last - first + 1;
}

size_t rs_next_border(const rs_reads *reads, size_t slot)
{
    size_t step = reads->segment_bytes / rs_size_gcd(reads->segment_bytes, reads->object_bytes);
    return (slot + step - 1) / step * step;
}

size_t rs_warps(const rs_reads *reads)
{
    return reads->threads / reads->warp + (reads->threads % reads->warp > 0);
}

static void order_pair(size_t *low, size_t *high)
{
    size_t one = *low;
    size_t other = *high;
    *low = one < other ? one : other;
    *high = one < other ? other : one;
}

/* Batcher's network: the lists are those of a warp, mostly 32 long, and have no order that a
 * processor could guess branches from. */
static void sort(size_t *values, size_t count)
{
    for (size_t sorted = 1; sorted < count; sorted *= 2)
        for (size_t step = sorted; step > 0; step /= 2)
            for (size_t first = step % sorted; first + step < count; first += 2 * step)
                for (size_t i = first; i < first + step && i + step < count; i++)
                    if ((i ^ (i + step)) < 2 * sorted) /* both in the list that is merged */
                        order_pair(&values[i], &values[i + step]);
}

static size_t remove_equal(size_t *sorted, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || sorted[i] != sorted[kept - 1])
            sorted[kept++] = sorted[i];
    return kept;
}

size_t rs_warp_objects(const rs_reads *reads, const size_t *order, size_t begin, size_t end,
                       size_t found[])
{
    for (size_t t = begin; t < end; t++)
        found[t - begin] = reads->object[order == NULL ? t : order[t]];
    sort(found, end - begin);
    return remove_equal(found, end - begin);
}

size_t rs_touched(const rs_reads *reads, const size_t *slots, size_t count)
{
    size_t segments = 0;
    size_t next = 0; /* the first segment that no slot has touched yet */
    for (size_t i = 0; i < count; i++) {
        size_t first = slots[i] * reads->object_bytes / reads->segment_bytes;
        size_t end = ((slots[i] + 1) * reads->object_bytes - 1) / reads->segment_bytes + 1;
        size_t from = first > next ? first : next;
        segments += end > from ? end - from : 0;
        next = end;
    }
    return segments;
}

/* A sum over warps, shared among threads. */
typedef struct {
    const rs_reads *reads;
    const size_t *index; /* NULL: the least for the warp's objects */
    size_t *sums;        /* one for each thread */
} warp_sum;

static void add_warps(void *context, const rs_host_member *member)
{
    const warp_sum *work = context;
    const rs_reads *reads = work->reads;
    rs_reads slots = *reads;
    slots.object = work->index;
    size_t begin, end;
    size_t total = 0;
    rs_host_team_share(member, rs_warps(reads), &begin, &end);
    for (size_t w = begin; w < end; w++) {
        size_t found[RS_MOST_WARP];
        size_t first = w * reads->warp;
        size_t last = first + reads->warp < reads->threads ? first + reads->warp : reads->threads;
        size_t count =
            rs_warp_objects(work->index == NULL ? reads : &slots, NULL, first, last, found);
        total += work->index == NULL ? rs_segments(reads, count) : rs_touched(reads, found, count);
    }
    work->sums[member->index] = total;
}

static size_t sum_warps(const rs_reads *reads, const size_t *index)
{
    size_t sums[RS_MOST_PROCESSORS] = {0};
    warp_sum work = {reads, index, sums};
    rs_host_team_run(reads->processors, add_warps, &work);
    size_t total = 0;
    for (size_t i = 0; i < RS_MOST_PROCESSORS; i++)
        total += sums[i];
    return total;
}

size_t rs_count_transactions(const rs_reads *reads, const size_t *index)
{
    return sum_warps(reads, index);
}

size_t rs_best_in_order(const rs_reads *reads)
{
    return sum_warps(reads, NULL);
}

/* Each warp reads at least one object, and each object that is read comes at least once. */
size_t rs_least_in_any_order(const rs_reads *reads, size_t different)
{
    size_t by_warps = rs_warps(reads) * rs_segments(reads, 1);
    size_t by_objects = rs_segments(reads, different);
    return by_warps > by_objects ? by_warps : by_objects;
}
