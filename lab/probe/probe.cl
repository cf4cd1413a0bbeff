/*
 * What `restride-lab probe` measures (measure.c). The memory holds zeros, which the compiler
 * cannot know: an address that depends on a word that was read waits for it. Counts and strides are
 * in words of 4 bytes.
 */
enum { CHAINS = 8 }; /* loads of a work-item that are under way at once */

KERNEL clear_words(GLOBAL uint *memory, ulong words, ulong work_items)
{
    for (ulong i = GLOBAL_ID; i < words; i += work_items)
        memory[i] = 0;
}

/*
 * Section 6.1 of Sung's thesis, x = A[x], with CHAINS such x for each work-item. Request number n
 * goes to n * stride; behind the end of the memory (`around` requests, `end` words) it comes back
 * one `unit` further on, so that no word is read twice. A work-item's next request has a number
 * higher by what `jump` (words) and `passes` (words, whole rounds) say; with both 0 it reads the
 * same word for ever, as in the thesis. Loads are volatile to pass by caches that belong to one
 * processor.
 */
KERNEL request_words(GLOBAL const volatile uint *memory, GLOBAL uint *result, ulong first,
                     ulong work_items, ulong stride, ulong around, ulong end, ulong unit,
                     ulong jump, ulong passes, ulong steps)
{
    ulong ahead[CHAINS];
    ulong past[CHAINS];
    uint sum = 0;
    UNROLL
    for (int c = 0; c < CHAINS; c++) {
        ulong number = first + (ulong)c * work_items + GLOBAL_ID;
        ahead[c] = number % around * stride;
        past[c] = number / around * unit;
    }
    for (ulong step = 0; step < steps; step++) {
        uint values[CHAINS];
        UNROLL
        for (int c = 0; c < CHAINS; c++)
            values[c] = memory[ahead[c] + past[c]];
        UNROLL
        for (int c = 0; c < CHAINS; c++) {
            sum += values[c];
            ahead[c] += jump + values[c];
            past[c] += passes;
            if (ahead[c] >= end) {
                ahead[c] -= end;
                past[c] += unit;
            }
        }
    }
    if (sum != 0)
        *result = sum;
}

/* Words that lie a stride apart, CHAINS for each work-item, without the bits of their index that
 * `mask` lacks. */
KERNEL stream_words(GLOBAL const volatile uint *memory, GLOBAL uint *result, ulong work_items,
                    ulong stride, ulong mask)
{
    uint sum = 0;
    UNROLL
    for (int c = 0; c < CHAINS; c++)
        sum += memory[((GLOBAL_ID + c * work_items) * stride) & mask];
    if (sum != 0)
        *result = sum;
}
