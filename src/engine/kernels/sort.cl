/*
 * Sorting of pairs, and sums of what stands before (engine/device/sort.h).
 *
 * A pass of the radix sort takes eight bits of the keys. Each group has a tile of pairs;
 * count_digits counts them by digit, the sums of those counts over all tiles, digit after digit,
 * are the places where each tile's pairs of a digit begin, and place_pairs moves them there. It
 * sorts its tile in local memory first, four bits at a time, so that pairs of a digit leave side by
 * side. Every step keeps equal keys in their order.
 *
 * A work-item has EACH neighbours of a tile. EACH is odd, so work-items beside each other read
 * different banks of local memory.
 */
enum { GROUP = 256, EACH = 15, TILE = GROUP * EACH };
enum { DIGIT_BITS = 8, DIGIT_MASK = 255, ROUNDS = 2, ROUND_BITS = 4, PLACE_BITS = 16 };
enum { ROUND_DIGITS = 1 << ROUND_BITS, PLACE_MASK = (1 << PLACE_BITS) - 1 };

/* The sum of `value` over the work-items before this one; sums[GROUP - 1] is that over all. Who
 * writes there next waits at a barrier first. */
FUNCTION uint sum_before(uint value, LOCAL uint *sums)
{
    sums[LOCAL_ID] = value;
    for (uint step = 1; step < GROUP; step *= 2) {
        BARRIER;
        uint other = LOCAL_ID >= step ? sums[LOCAL_ID - step] : 0;
        BARRIER;
        sums[LOCAL_ID] += other;
    }
    BARRIER;
    return sums[LOCAL_ID] - value;
}

/* Replaces each value by the sum of those before it in its tile; sums: of the whole tiles. */
KERNEL_FOR(GROUP)
sum_tiles(GLOBAL uint *values, ulong count, GLOBAL uint *sums, LOCAL_ARRAY(uint, cells))
{
    LOCAL_BEGIN(uint, cells)
    LOCAL uint *own = cells + LOCAL_ID * EACH;
    GLOBAL uint *tile = values + GROUP_ID * TILE;
    ulong left = count - GROUP_ID * TILE;
    for (uint place = LOCAL_ID; place < TILE; place += GROUP)
        cells[place] = place < left ? tile[place] : 0;
    BARRIER;
    uint sum = 0;
    for (uint k = 0; k < EACH; k++)
        sum += own[k];
    uint before = sum_before(sum, cells + TILE);
    for (uint k = 0; k < EACH; k++) {
        uint value = own[k];
        own[k] = before;
        before += value;
    }
    BARRIER;
    for (uint place = LOCAL_ID; place < TILE; place += GROUP)
        if (place < left)
            tile[place] = cells[place];
    if (LOCAL_ID == GROUP - 1)
        sums[GROUP_ID] = before;
}

/* Adds to each tile the sum of the tiles before it. */
KERNEL_FOR(GROUP) add_sums(GLOBAL uint *values, ulong count, GLOBAL const uint *sums)
{
    GLOBAL uint *tile = values + GROUP_ID * TILE;
    ulong left = count - GROUP_ID * TILE;
    uint before = sums[GROUP_ID];
    for (uint place = LOCAL_ID; place < TILE; place += GROUP)
        if (place < left)
            tile[place] += before;
}

/* counts[digit * tiles + tile] */
KERNEL_FOR(GROUP)
count_digits(GLOBAL const uint *keys, ulong count, uint shift, GLOBAL uint *counts, ulong tiles,
             LOCAL_ARRAY(uint, table))
{
    LOCAL_BEGIN(uint, table)
    GLOBAL const uint *tile = keys + GROUP_ID * TILE;
    ulong left = count - GROUP_ID * TILE;
    table[LOCAL_ID] = 0;
    BARRIER;
    for (uint place = LOCAL_ID; place < TILE; place += GROUP)
        if (place < left)
            INCREMENT(&table[tile[place] >> shift & DIGIT_MASK]);
    BARRIER;
    counts[LOCAL_ID * tiles + GROUP_ID] = table[LOCAL_ID];
}

/* Sorts the tile by ROUND_BITS bits. A work-item counts its own entries by digit; the sum of the
 * counts before, digit after digit, is where they go. */
FUNCTION void sort_round(LOCAL uint *entries, LOCAL ushort *counts, LOCAL uint *sums, uint shift)
{
    uint own[EACH];
    uint before[EACH]; /* entries of the same work-item and digit */
    for (uint digit = 0; digit < ROUND_DIGITS; digit++)
        counts[digit * GROUP + LOCAL_ID] = 0;
    UNROLL
    for (uint k = 0; k < EACH; k++) {
        own[k] = entries[LOCAL_ID * EACH + k];
        before[k] = counts[(own[k] >> shift & (ROUND_DIGITS - 1)) * GROUP + LOCAL_ID]++;
    }
    BARRIER;
    uint sum = 0;
    for (uint k = 0; k < ROUND_DIGITS; k++)
        sum += counts[LOCAL_ID * ROUND_DIGITS + k];
    uint place = sum_before(sum, sums);
    for (uint k = 0; k < ROUND_DIGITS; k++) {
        uint value = counts[LOCAL_ID * ROUND_DIGITS + k];
        counts[LOCAL_ID * ROUND_DIGITS + k] = (ushort)place;
        place += value;
    }
    BARRIER;
    UNROLL
    for (uint k = 0; k < EACH; k++)
        entries[counts[(own[k] >> shift & (ROUND_DIGITS - 1)) * GROUP + LOCAL_ID] + before[k]] =
            own[k];
    BARRIER;
}

/*
 * `starts` has the sums of `counts`. An entry in local memory is a digit and the place in the tile
 * that it came from; places behind the last pair have the greatest digit and stay behind all
 * others. `numbered`: the values are the pairs' places before the sort, and `values` is not read.
 */
KERNEL_FOR(GROUP)
place_pairs(GLOBAL const uint *keys, GLOBAL const uint *values, ulong count, uint shift,
            uint numbered, GLOBAL const uint *starts, ulong tiles, GLOBAL uint *sorted_keys,
            GLOBAL uint *sorted_values, LOCAL_ARRAY(uint, entries))
{
    LOCAL_BEGIN(uint, entries)
    LOCAL uint *sums = entries + TILE;
    LOCAL ushort *counts = (LOCAL ushort *)(sums + GROUP);
    ulong first = GROUP_ID * TILE;
    ulong left = count - first;
    for (uint place = LOCAL_ID; place < TILE; place += GROUP) {
        uint digit = place < left ? keys[first + place] >> shift & DIGIT_MASK : DIGIT_MASK;
        entries[place] = digit << PLACE_BITS | place;
    }
    BARRIER;
    for (uint round = 0; round < ROUNDS; round++)
        sort_round(entries, counts, sums, PLACE_BITS + round * ROUND_BITS);
    for (uint place = LOCAL_ID; place < TILE; place += GROUP) {
        uint digit = entries[place] >> PLACE_BITS;
        if (place == 0 || entries[place - 1] >> PLACE_BITS != digit)
            sums[digit] = place;
    }
    BARRIER;
    sums[LOCAL_ID] = starts[LOCAL_ID * tiles + GROUP_ID] - sums[LOCAL_ID];
    BARRIER;
    for (uint place = LOCAL_ID; place < TILE; place += GROUP)
        if (place < left) {
            ulong from = first + (entries[place] & PLACE_MASK);
            uint to = sums[entries[place] >> PLACE_BITS] + place;
            sorted_keys[to] = keys[from];
            sorted_values[to] = numbered ? (uint)from : values[from];
        }
}
