/*
 * 010! of slim panels, which have a few rows or a few columns: each in the shared memory of one
 * block.
 *
 * The bulk copy engine brings a panel in slices of its long side. When all have arrived the block
 * writes the panel slice by slice, and as soon as one was read the same slice of the next panel is
 * on its way.
 *
 * The host defines FEW (elements of the short side), LYING (1: they are rows; 0: columns), SLICES,
 * VECTOR (words that are accessed together), THREADS and BLOCKS (a multiprocessor). With the launch come
 * the elements of the long side that a slice has, and the words from one row of a lying slice to the next.
 */
#define PARTS (FEW / VECTOR)

typedef struct ALIGNED(VECTOR * WORD_BYTES) {
    word words[VECTOR];
} vector;

typedef struct {
    word *cells;
    bell *arrived;
    uint first; /* element of the long side */
    uint length;
    uint pitch; /* of a lying one */
} slice;

FUNCTION slice slice_of(word *cells, bell *bells, uint number, uint most, uint pitch, uint length)
{
    slice s;
    s.cells = cells + number * (FEW * (LYING ? pitch : most));
    s.arrived = bells + number;
    s.first = min(number * most, length);
    s.length = min(most, length - s.first);
    s.pitch = pitch;
    return s;
}

FUNCTION void fetch_slice(slice s, const word *panel, uint length)
{
#if LYING
    for (uint row = 0; row < FEW; row++)
        bulk_fetch(s.cells + row * s.pitch, panel + (size_t)row * length + s.first,
                   s.length * WORD_BYTES, s.arrived);
#else
    bulk_fetch(s.cells, panel + (size_t)s.first * FEW, s.length * (FEW * WORD_BYTES), s.arrived);
#endif
    expect(s.arrived, s.length * (FEW * WORD_BYTES));
}

FUNCTION void store_slice(slice s, word *panel, uint length)
{
#if LYING
    vector *to = (vector *)(panel + (size_t)s.first * FEW);
#pragma unroll 4
    for (uint x = threadIdx.x; x < s.length * PARTS; x += THREADS) {
        uint col = x / PARTS;
        uint row = x % PARTS * VECTOR;
        vector v;
        for (uint i = 0; i < VECTOR; i++)
            v.words[i] = s.cells[(row + i) * s.pitch + col];
        to[x] = v;
    }
#else
    word *to = panel + s.first;
#pragma unroll 4
    for (uint row = threadIdx.x; row < s.length; row += THREADS)
        for (uint col = 0; col < FEW; col += VECTOR) {
            vector v = *(const vector *)(s.cells + row * FEW + col);
            for (uint i = 0; i < VECTOR; i++)
                to[(size_t)(col + i) * length + row] = v.words[i];
        }
#endif
}

KERNEL slim(word *data, ulong outer_words, ulong count, ulong panels, ulong long_side,
            ulong slice_length, ulong pitch)
{
    STORAGE(cells);
    uint length = (uint)long_side;
    uint most = (uint)slice_length;
    bell *bells = (bell *)(cells + SLICES * FEW * (LYING ? (uint)pitch : most));
    bool starts = threadIdx.x == 0;
    for (uint s = 0; starts && s < SLICES; s++)
        begin_bell(bells + s);
    __syncthreads();
    /* In each turn one panel is stored, but in the first, and another fetched, but in the last. */
    word *panel = 0;
    uint turn = 0;
    for (ulong number = blockIdx.x; panel != 0 || number < panels; number += gridDim.x) {
        bool more = number < panels;
        ulong outer = number / count;
        word *next = data + outer * outer_words + (number - outer * count) * ((ulong)length * FEW);
        for (uint s = 0; panel != 0 && s < SLICES; s++)
            await_bell(bells + s, turn);
        turn ^= panel != 0;
        for (uint s = 0; s < SLICES; s++) {
            slice here = slice_of(cells, bells, s, most, (uint)pitch, length);
            if (panel != 0)
                store_slice(here, panel, length);
            __syncthreads();
            if (starts && more) {
                BULK_FENCE();
                fetch_slice(here, next, length);
            }
        }
        panel = more ? next : 0;
    }
}
