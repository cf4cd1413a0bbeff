/*
 * Approximation with a bound, and duplication, made on the device (irregular/device.c; the method
 * is described in irregular/approximate.c). Numbers of threads, objects and slots have 32 bits. A
 * run is an object with the threads that read it; runs are numbered in the order of their objects,
 * and `popular` lists them with the most popular first.
 *
 * The host defines WORD, what gather moves, and INDEX, an integer of the index array.
 */
enum { GROUP = 256, SPAN = 1024 };
#define NO_SLOT 0xFFFFFFFFu
enum { OFFENDER, LONGEST, ALONE }; /* numbers that work-items find together */

/* The index array as 32 bits; found[OFFENDER]: the first thread that reads behind the array. */
KERNEL take_index(GLOBAL const INDEX *index, GLOBAL uint *object, ulong threads, ulong objects,
                  GLOBAL uint *found)
{
    ulong t = GLOBAL_ID;
    if (t >= threads)
        return;
    if (index[t] >= objects)
        LOWER(&found[OFFENDER], (uint)t);
    object[t] = (uint)index[t];
}

KERNEL number(GLOBAL uint *values, ulong count)
{
    if (GLOBAL_ID < count)
        values[GLOBAL_ID] = (uint)GLOBAL_ID;
}

FUNCTION uint begins_run(GLOBAL const uint *object, ulong i)
{
    return i == 0 || object[i] != object[i - 1];
}

/* `object`: what the threads read, sorted. */
KERNEL mark_runs(GLOBAL const uint *object, GLOBAL uint *marks, ulong threads)
{
    if (GLOBAL_ID < threads)
        marks[GLOBAL_ID] = begins_run(object, GLOBAL_ID);
}

/* `run`: the sums of the marks before each thread. */
KERNEL find_runs(GLOBAL const uint *object, GLOBAL const uint *run, ulong threads,
                 GLOBAL uint *first, GLOBAL uint *run_object)
{
    ulong i = GLOBAL_ID;
    if (i >= threads)
        return;
    uint begins = begins_run(object, i);
    if (begins) {
        first[run[i]] = (uint)i;
        run_object[run[i]] = object[i];
    }
    if (i == threads - 1)
        first[run[i] + begins] = (uint)threads;
}

/* found[LONGEST]: threads of the longest run; found[ALONE]: runs of one thread. */
KERNEL measure_runs(GLOBAL const uint *first, ulong runs, GLOBAL uint *found,
                    LOCAL_ARRAY(uint, cells))
{
    LOCAL_BEGIN(uint, cells)
    if (LOCAL_ID < 2)
        cells[LOCAL_ID] = 0;
    BARRIER;
    if (GLOBAL_ID < runs) {
        uint length = first[GLOBAL_ID + 1] - first[GLOBAL_ID];
        RAISE(&cells[0], length);
        if (length == 1)
            INCREMENT(&cells[1]);
    }
    BARRIER;
    if (LOCAL_ID == 0) {
        RAISE(&found[LONGEST], cells[0]);
        ADD(&found[ALONE], cells[1]);
    }
}

KERNEL rank_runs(GLOBAL const uint *first, ulong runs, uint longest, GLOBAL uint *key)
{
    if (GLOBAL_ID < runs)
        key[GLOBAL_ID] = longest - (first[GLOBAL_ID + 1] - first[GLOBAL_ID]);
}

/* The threads of a run, `length`, that fill warps of a popular object; the others are the rest.
 * Runs of one thread are counted with the rest as far as they do not fill a warp together. */
FUNCTION uint full_threads(uint length, uint warp)
{
    return length >= warp && length > 1 ? length / warp * warp : 0;
}

/* For the run at each place of `popular`: threads in full warps, threads in the rest, and whether
 * it is in the rest at all. The runs at [alone, last_alone) fill warps together. */
KERNEL weigh_runs(GLOBAL const uint *popular, GLOBAL const uint *first, ulong runs, uint warp,
                  uint alone, uint last_alone, GLOBAL uint *full, GLOBAL uint *rest,
                  GLOBAL uint *in_rest)
{
    uint j = (uint)GLOBAL_ID;
    if (GLOBAL_ID >= runs)
        return;
    uint run = popular[j];
    uint length = first[run + 1] - first[run];
    uint filling = full_threads(length, warp);
    uint left = j >= alone && j < last_alone ? 0 : length - filling;
    full[j] = filling;
    rest[j] = left;
    in_rest[j] = left > 0;
}

KERNEL clear_slots(GLOBAL uint *slot, ulong objects)
{
    if (GLOBAL_ID < objects)
        slot[GLOBAL_ID] = NO_SLOT;
}

/*
 * `full`, `rest` and `in_rest` have the sums of what weigh_runs found, `popular_threads` is the sum
 * of all of the first. Behind the threads of popular objects stand those that are alone, then the
 * rest. full_start and rest_start are by the number of the run: where its threads go.
 */
KERNEL place_runs(GLOBAL const uint *popular, GLOBAL const uint *first,
                  GLOBAL const uint *run_object, ulong runs, uint warp, uint alone, uint last_alone,
                  uint popular_threads, GLOBAL const uint *full, GLOBAL const uint *rest,
                  GLOBAL const uint *in_rest, GLOBAL uint *full_start, GLOBAL uint *rest_start,
                  GLOBAL uint *slot)
{
    uint j = (uint)GLOBAL_ID;
    if (GLOBAL_ID >= runs)
        return;
    uint run = popular[j];
    uint length = first[run + 1] - first[run];
    uint alone_threads = last_alone - alone;
    bool is_alone = j >= alone && j < last_alone;
    full_start[run] = full[j];
    rest_start[run] = popular_threads + (is_alone ? j - alone : alone_threads + rest[j]);
    if (is_alone)
        slot[run_object[run]] = j - alone;
    else if (full_threads(length, warp) < length)
        slot[run_object[run]] = alone_threads + in_rest[j];
}

KERNEL mark_unplaced(GLOBAL const uint *slot, GLOBAL uint *marks, ulong objects)
{
    if (GLOBAL_ID < objects)
        marks[GLOBAL_ID] = slot[GLOBAL_ID] == NO_SLOT;
}

/* `before`: the sums of the marks. The objects that have no slot come behind the `placed` others.
 */
KERNEL place_objects(GLOBAL uint *slot, GLOBAL const uint *before, ulong objects, uint placed,
                     GLOBAL uint *source)
{
    ulong i = GLOBAL_ID;
    if (i >= objects)
        return;
    if (slot[i] == NO_SLOT)
        slot[i] = placed + before[i];
    source[slot[i]] = (uint)i;
}

/* `object` and `thread` are sorted by object, `marks` the sums as in find_runs. */
KERNEL place_threads(GLOBAL const uint *object, GLOBAL const uint *thread, GLOBAL const uint *marks,
                     ulong threads, uint warp, GLOBAL const uint *first,
                     GLOBAL const uint *full_start, GLOBAL const uint *rest_start,
                     GLOBAL const uint *slot, GLOBAL uint *order, GLOBAL uint *index)
{
    ulong i = GLOBAL_ID;
    if (i >= threads)
        return;
    uint run = marks[i] + begins_run(object, i) - 1;
    uint inside = (uint)i - first[run];
    uint full = full_threads(first[run + 1] - first[run], warp);
    uint place = inside < full ? full_start[run] + inside : rest_start[run] + inside - full;
    order[place] = thread[i];
    index[place] = slot[object[i]];
}

/* ---- transactions ---- */

typedef struct {
    ulong first; /* segment that the slot touches */
    ulong last;
    uint slot;
    uint padding;
} reach;

/* Segments that a lane touches and none of the lanes [begin, lane) does. */
FUNCTION ulong new_segments(LOCAL const reach *reaches, uint begin, uint lane)
{
    ulong first = reaches[lane].first;
    ulong last = reaches[lane].last;
    uint slot = reaches[lane].slot;
    bool seen = false;
    bool first_seen = false;
    bool last_seen = false;
    for (uint other = begin; other < lane; other++) {
        ulong from = reaches[other].first;
        ulong to = reaches[other].last;
        seen = seen || reaches[other].slot == slot;
        first_seen = first_seen || (from <= first && first <= to);
        last_seen = last_seen || (from <= last && last <= to);
    }
    /* Slots are disjoint, so those between are touched by this slot alone. */
    return seen ? 0 : last - first + 1 - first_seen - (last > first && last_seen);
}

FUNCTION bool is_new_slot(LOCAL const reach *reaches, uint begin, uint lane)
{
    for (uint other = begin; other < lane; other++)
        if (reaches[other].slot == reaches[lane].slot)
            return false;
    return true;
}

/* The least for the slots of the warp that begins at this lane. */
FUNCTION ulong least_segments(LOCAL const reach *reaches, uint begin, uint end, ulong object_bytes,
                              ulong segment_bytes)
{
    ulong different = 0;
    for (uint lane = begin; lane < end; lane++)
        different += is_new_slot(reaches, begin, lane);
    return (different * object_bytes + segment_bytes - 1) / segment_bytes;
}

/*
 * Transactions of the warps among `span` threads, a whole number of warps; sums: of each group.
 * `least`: not those of the slots, but what the number of different ones needs at least.
 */
KERNEL_FOR(GROUP)
count_transactions(GLOBAL const uint *slot, ulong threads, uint warp, uint span, ulong object_bytes,
                   ulong segment_bytes, uint least, GLOBAL ulong *sums, LOCAL_ARRAY(reach, reaches))
{
    LOCAL_BEGIN(reach, reaches)
    ulong begin = GROUP_ID * span;
    uint lanes = threads - begin < span ? (uint)(threads - begin) : span;
    for (uint lane = LOCAL_ID; lane < lanes; lane += GROUP) {
        ulong place = slot[begin + lane];
        reaches[lane].slot = (uint)place;
        reaches[lane].first = place * object_bytes / segment_bytes;
        reaches[lane].last = ((place + 1) * object_bytes - 1) / segment_bytes;
    }
    BARRIER;
    ulong sum = 0;
    for (uint lane = LOCAL_ID; lane < lanes; lane += GROUP) {
        uint first = lane / warp * warp;
        uint end = first + warp < lanes ? first + warp : lanes;
        if (!least)
            sum += new_segments(reaches, first, lane);
        else if (lane == first)
            sum += least_segments(reaches, first, end, object_bytes, segment_bytes);
    }
    BARRIER;
    LOCAL ulong *partial = (LOCAL ulong *)reaches;
    partial[LOCAL_ID] = sum;
    for (uint half_way = GROUP / 2; half_way > 0; half_way /= 2) {
        BARRIER;
        if (LOCAL_ID < half_way)
            partial[LOCAL_ID] += partial[LOCAL_ID + half_way];
    }
    if (LOCAL_ID == 0)
        sums[GROUP_ID] = partial[0];
}

/* ---- the data ---- */

/* slots[s] = array[source[s]], objects of `object_words` words; and the way back. */
KERNEL gather(GLOBAL const WORD *array, GLOBAL const uint *source, ulong words, ulong object_words,
              GLOBAL WORD *slots)
{
    ulong i = GLOBAL_ID;
    if (i < words)
        slots[i] = array[source[i / object_words] * object_words + i % object_words];
}

KERNEL scatter(GLOBAL const WORD *slots, GLOBAL const uint *source, ulong words, ulong object_words,
               GLOBAL WORD *array)
{
    ulong i = GLOBAL_ID;
    if (i < words)
        array[source[i / object_words] * object_words + i % object_words] = slots[i];
}
