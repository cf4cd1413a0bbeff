/*
 * Windows (window.h): each granule of a run of the array, as the program sees it, lies somewhere
 * else in the array. Places are counted in granules, the largest unit that divides every leaf.
 *
 * The host defines (window.c): GRANULE, WIDTH granules a record, TILE (0: the array is in "f i"),
 * FROM_SOA where the program sees "f i", and LEAF, the granules of each leaf; when they differ,
 * MIXED, with the tables leaf_offset and leaf_size for each granule of a record.
 */
#ifdef MIXED
#define LEAF_OFFSET(granule) leaf_offset[granule]
#define LEAF_SIZE(granule) leaf_size[granule]
#else
#define LEAF_OFFSET(granule) ((granule) / LEAF * LEAF)
#define LEAF_SIZE(granule) LEAF
#endif

/* Where the array of `count` records has the granule that the program sees at `place`. */
static inline ulong place_in_array(ulong place, ulong count)
{
#ifdef FROM_SOA
    const ulong plane = place / (count * LEAF), rest = place - plane * (count * LEAF);
    const ulong record = rest / LEAF, inside = rest % LEAF;
    const ulong offset = plane * LEAF;
    const ulong size = LEAF;
#else
    const ulong record = place / WIDTH;
    const uint granule = (uint)(place % WIDTH);
    const ulong offset = LEAF_OFFSET(granule), inside = granule - offset;
    const ulong size = LEAF_SIZE(granule);
#endif
#if TILE == 0
    return offset * count + record * size + inside;
#else
    const ulong start = record - record % TILE;
    const ulong span = min((ulong)TILE, count - start);
    return start * WIDTH + offset * span + (record - start) * size + inside;
#endif
}

/* Granules [first, first + granules) are of records, bytes [tail, end) of none: those lie where
 * they always did. */
kernel void window_out(global const GRANULE *array, ulong count, global GRANULE *window,
                       ulong first, ulong granules, ulong tail, ulong end)
{
    global const uchar *from = (global const uchar *)array;
    global uchar *to = (global uchar *)window;
    for (ulong k = get_global_id(0); k < granules; k += get_global_size(0))
        window[k] = array[place_in_array(first + k, count)];
    for (ulong b = tail + get_global_id(0); b < end; b += get_global_size(0))
        to[b - first * sizeof(GRANULE)] = from[b];
}

kernel void window_in(global GRANULE *array, ulong count, global const GRANULE *window, ulong first,
                      ulong granules, ulong tail, ulong end)
{
    global uchar *to = (global uchar *)array;
    global const uchar *from = (global const uchar *)window;
    for (ulong k = get_global_id(0); k < granules; k += get_global_size(0))
        array[place_in_array(first + k, count)] = window[k];
    for (ulong b = tail + get_global_id(0); b < end; b += get_global_size(0))
        to[b] = from[b - first * sizeof(GRANULE)];
}
