/*
 * JOIN and SPLIT: rows x cols followed by its last `tail` columns as a matrix of their own, tail x
 * rows, becomes rows x (cols + tail), or the other way (pad and unpad, Sung thesis, section 4.1.1).
 *
 * The tails wait in scratch memory, in the order in which they will be written. Everything else
 * moves in chunks that the registers of all blocks hold together: from the last word on when rows
 * move apart, from the first when they move together. Then the sources of a chunk lie before, or
 * behind, all that was written, so the next chunk is fetched while this one is stored.
 *
 * The host defines UNIT_WORDS, THREADS, BLOCKS, VALUES (words of a chunk a thread) and JOIN.
 */
typedef struct {
    ulong rows;
    ulong narrow; /* words of a row without its tail */
    ulong tail;   /* words of a tail */
    ulong total;
} shape;

FUNCTION void save_tails(word *saved, const word *matrix, const shape *s, ulong thread,
                         ulong threads)
{
    ulong tails = s->tail / UNIT_WORDS;
    for (ulong i = thread; i < s->rows * s->tail; i += threads) {
        ulong element = i / UNIT_WORDS;
#if JOIN
        ulong row = element / tails;
        ulong tail = element - row * tails;
        saved[i] = matrix[s->rows * s->narrow + (tail * s->rows + row - element) * UNIT_WORDS + i];
#else
        ulong tail = element / s->rows;
        ulong row = element - tail * s->rows;
        saved[i] =
            matrix[row * (s->narrow + s->tail) + s->narrow + (tail - element) * UNIT_WORDS + i];
#endif
    }
}

/* The word that belongs at `target`. */
FUNCTION word value_at(ulong target, const word *matrix, const word *saved, const shape *s)
{
#if JOIN
    ulong row = target / (s->narrow + s->tail);
    ulong inside = target - row * (s->narrow + s->tail);
    return inside < s->narrow ? matrix[row * s->narrow + inside]
                              : saved[row * s->tail + inside - s->narrow];
#else
    ulong row = target / s->narrow;
    return row < s->rows ? matrix[target + row * s->tail] : saved[target - s->rows * s->narrow];
#endif
}

FUNCTION ulong target_of(ulong turn, const shape *s)
{
#if JOIN
    return s->total - 1 - turn;
#else
    return turn;
#endif
}

FUNCTION void fetch_chunk(word values[VALUES], ulong first, ulong threads, const word *matrix,
                          const word *saved, const shape *s)
{
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        if (first + k * threads < s->total)
            values[k] = value_at(target_of(first + k * threads, s), matrix, saved, s);
}

KERNEL tails(word *data, ulong outer_words, ulong outer, ulong rows, ulong narrow, ulong tail,
             word *saved, ulong *counter)
{
    ulong thread = (ulong)blockIdx.x * THREADS + threadIdx.x;
    ulong threads = (ulong)gridDim.x * THREADS;
    shape s = {rows, narrow, tail, rows * (narrow + tail)};
    for (ulong o = 0; o < outer; o++) {
        word *matrix = data + o * outer_words;
        word values[VALUES];
        word next[VALUES];
        save_tails(saved, matrix, &s, thread, threads);
        gate(counter, gridDim.x);
        fetch_chunk(values, thread, threads, matrix, saved, &s);
        for (ulong chunk = 0; chunk < s.total; chunk += VALUES * threads) {
            ulong first = chunk + thread;
            gate(counter, gridDim.x);
            fetch_chunk(next, first + VALUES * threads, threads, matrix, saved, &s);
#pragma unroll
            for (int k = 0; k < VALUES; k++) {
                if (first + k * threads < s.total)
                    matrix[target_of(first + k * threads, &s)] = values[k];
                values[k] = next[k];
            }
        }
    }
}
