/*
 * Transpositions of what fits into local memory: panels (010! by barrier synchronisation, Sung
 * thesis, section 4.2), tiles in their own places, and tiles that change places with their mirror
 * image. A group reads its block, waits for all its work-items, and writes the block back in the
 * other order; no other group touches those bytes.
 *
 * An element has ELEMENT_WORDS words, or a word PACK elements: then those of all sides, pitches and
 * distances are whole words. The square's EDGE is a constant, and so is its ELEMENT_WORDS. Without
 * EDGE ELEMENT_WORDS is 1 or the name of an argument, so that few programs serve all panels and
 * tiles. Local memory holds the block as it lay in global memory, with rows PITCH words apart: an
 * odd distance, so that a column of 4-byte words lies in different banks.
 */
enum { BATCH = 8 }; /* loads of a work-item that are under way at once */

/* Elements of one or two bytes come PACK to a word. */
#if PACK > 1
enum { PACKED_BITS = 32 / PACK, PACKED_MASK = (1 << PACKED_BITS) - 1, BANKS = 32 };
#define WORDS_OF(elements) ((elements) / PACK)

/* PACK x PACK elements: `column` is the first of PACK words `pitch` apart, and the words of `out`
 * are their columns. Work-items with different `turn`s begin at different words, and banks. */
FUNCTION void transpose_packed(WORD out[PACK], LOCAL const WORD *column, uint pitch, uint turn)
{
    UNROLL
    for (uint j = 0; j < PACK; j++)
        out[j] = 0;
    UNROLL
    for (uint k = 0; k < PACK; k++) {
        uint row = (k + turn) % PACK;
        WORD value = column[row * pitch];
        UNROLL
        for (uint j = 0; j < PACK; j++)
            out[j] |= (value >> (PACKED_BITS * j) & PACKED_MASK) << (PACKED_BITS * row);
    }
}
#else
#define WORDS_OF(elements) ((elements)*ELEMENT_WORDS)
#endif

#ifndef EDGE
#if ELEMENT_WORDS == 1
#define ELEMENT_OF(word) (word)
#define PART_OF(word) 0
#else
#define ELEMENT_OF(word) divide_small(word, element_magic)
#define PART_OF(word) ((word)-ELEMENT_OF(word) * element_words)
#endif

/*
 * `count` blocks of rows x cols elements one after the other become cols x rows each; a group has
 * up to `group_blocks` of them.
 */
KERNEL panels(GLOBAL WORD *data, ulong first, ulong matrix_words, ulong count, uint group_blocks,
              uint rows, uint cols, uint pitch, uint element_words, LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    uint element_magic = small_magic(element_words);
    uint row_words = cols * ELEMENT_WORDS;
    uint target_words = rows * ELEMENT_WORDS;
    uint source_magic = small_magic(row_words);
    uint target_magic = small_magic(target_words);
    uint cols_magic = small_magic(cols);
    ulong block = GROUP_ID * group_blocks;
    uint blocks = count - block < group_blocks ? (uint)(count - block) : group_blocks;
    uint words = blocks * rows * row_words;
    GLOBAL WORD *chunk =
        data + first + GROUP_ID_2 * matrix_words + block * ((ulong)rows * row_words);
    uint padding = pitch - row_words;
    for (uint begin = LOCAL_ID; begin < words; begin += BATCH * LOCAL_SIZE) {
        WORD values[BATCH];
        UNROLL
        for (uint k = 0; k < BATCH; k++)
            if (begin + k * LOCAL_SIZE < words)
                values[k] = chunk[begin + k * LOCAL_SIZE];
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint place = begin + k * LOCAL_SIZE;
            if (place < words)
                cells[place + divide_small(place, source_magic) * padding] = values[k];
        }
    }
    BARRIER;
    uint block_pitch = rows * pitch;
    UNROLL_4
    for (uint place = LOCAL_ID; place < words; place += LOCAL_SIZE) {
        uint target_row = divide_small(place, target_magic);
        uint word = place - target_row * target_words;
        uint inside = divide_small(target_row, cols_magic);
        uint col = target_row - inside * cols;
        chunk[place] = cells[inside * block_pitch + ELEMENT_OF(word) * pitch + col * ELEMENT_WORDS +
                             PART_OF(word)];
    }
}

/*
 * Tiles of edge x edge elements in a matrix of `row_words` words a row, each transposed where it
 * is. A group has up to `across` tiles side by side.
 */
KERNEL tiles(GLOBAL WORD *data, ulong first, ulong matrix_words, ulong row_words,
             ulong groups_a_row, uint edge, uint across, uint pitch, uint element_words,
             LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    uint element_magic = small_magic(element_words);
    uint tile_words = WORDS_OF(edge);
    ulong strip = GROUP_ID / groups_a_row;
    ulong begin_word = (GROUP_ID - strip * groups_a_row) * across * tile_words;
    ulong rest = row_words - begin_word;
    uint strip_words = rest < across * tile_words ? (uint)rest : across * tile_words;
    uint strip_magic = small_magic(strip_words);
    uint tile_magic = small_magic(tile_words);
    GLOBAL WORD *corner =
        data + first + GROUP_ID_2 * matrix_words + strip * edge * row_words + begin_word;
    uint words = edge * strip_words;
    for (uint begin = LOCAL_ID; begin < words; begin += BATCH * LOCAL_SIZE) {
        WORD values[BATCH];
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint place = begin + k * LOCAL_SIZE;
            uint row = divide_small(place, strip_magic);
            if (place < words)
                values[k] = corner[row * row_words + (place - row * strip_words)];
        }
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint place = begin + k * LOCAL_SIZE;
            uint row = divide_small(place, strip_magic);
            if (place < words)
                cells[row * pitch + (place - row * strip_words)] = values[k];
        }
    }
    BARRIER;
#if PACK > 1
    for (uint place = LOCAL_ID; place < words / PACK; place += LOCAL_SIZE) {
        uint rows = divide_small(place, strip_magic); /* PACK of them */
        uint col = place - rows * strip_words;
        uint first_col = divide_small(col, tile_magic) * tile_words;
        uint word = col - first_col;
        WORD out[PACK];
        transpose_packed(out, cells + word * PACK * pitch + first_col + rows, pitch,
                         word * PACK / BANKS);
        UNROLL
        for (uint j = 0; j < PACK; j++)
            corner[(rows * PACK + j) * row_words + col] = out[j];
    }
#else
    UNROLL_4
    for (uint place = LOCAL_ID; place < words; place += LOCAL_SIZE) {
        uint row = divide_small(place, strip_magic);
        uint col = place - row * strip_words;
        uint tile = divide_small(col, tile_magic);
        uint word = col - tile * tile_words;
        corner[row * row_words + col] = cells[ELEMENT_OF(word) * pitch + tile * tile_words +
                                              row * ELEMENT_WORDS + PART_OF(word)];
    }
#endif
}

#else

#define ELEMENT_OF(word) ((word) / ELEMENT_WORDS)
#define PART_OF(word) ((word) % ELEMENT_WORDS)
#define EDGE_WORDS WORDS_OF(EDGE)
#define SQUARE_PITCH (EDGE_WORDS | 1)

/* Reads the tile at (`row`, `col`) of tiles; words beyond the matrix are left alone. */
FUNCTION void read_tile(GLOBAL const WORD *matrix, LOCAL WORD *cells, ulong side, ulong row,
                        ulong col)
{
    ulong row_words = WORDS_OF(side);
    uint rows = side - row * EDGE < EDGE ? (uint)(side - row * EDGE) : EDGE;
    uint words = side - col * EDGE < EDGE ? WORDS_OF((uint)(side - col * EDGE)) : EDGE_WORDS;
    GLOBAL const WORD *corner = matrix + row * EDGE * row_words + col * EDGE_WORDS;
    for (uint begin = LOCAL_ID; begin < EDGE * EDGE_WORDS; begin += BATCH * LOCAL_SIZE) {
        WORD values[BATCH];
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint place = begin + k * LOCAL_SIZE;
            if (place / EDGE_WORDS < rows && place % EDGE_WORDS < words)
                values[k] = corner[place / EDGE_WORDS * row_words + place % EDGE_WORDS];
        }
        UNROLL
        for (uint k = 0; k < BATCH; k++) {
            uint place = begin + k * LOCAL_SIZE;
            if (place / EDGE_WORDS < rows && place % EDGE_WORDS < words)
                cells[place / EDGE_WORDS * SQUARE_PITCH + place % EDGE_WORDS] = values[k];
        }
    }
}

/* Writes the transposed mirror tile to (`row`, `col`). */
FUNCTION void write_tile(GLOBAL WORD *matrix, LOCAL const WORD *cells, ulong side, ulong row,
                         ulong col)
{
    ulong row_words = WORDS_OF(side);
    uint rows = side - row * EDGE < EDGE ? (uint)(side - row * EDGE) : EDGE;
    uint words = side - col * EDGE < EDGE ? WORDS_OF((uint)(side - col * EDGE)) : EDGE_WORDS;
    GLOBAL WORD *corner = matrix + row * EDGE * row_words + col * EDGE_WORDS;
#if PACK > 1
    for (uint place = LOCAL_ID; place < EDGE_WORDS * EDGE_WORDS; place += LOCAL_SIZE) {
        uint block = place / EDGE_WORDS; /* of PACK rows */
        uint word = place % EDGE_WORDS;
        if (block * PACK < rows && word < words) {
            WORD out[PACK];
            transpose_packed(out, cells + word * PACK * SQUARE_PITCH + block, SQUARE_PITCH,
                             word * PACK / BANKS);
            UNROLL
            for (uint j = 0; j < PACK; j++)
                corner[(block * PACK + j) * row_words + word] = out[j];
        }
    }
#else
    UNROLL_4
    for (uint place = LOCAL_ID; place < EDGE * EDGE_WORDS; place += LOCAL_SIZE) {
        uint r = place / EDGE_WORDS;
        uint word = place % EDGE_WORDS;
        if (r < rows && word < words)
            corner[r * row_words + word] =
                cells[ELEMENT_OF(word) * SQUARE_PITCH + r * ELEMENT_WORDS + PART_OF(word)];
    }
#endif
}

/*
 * A square of `side` elements: tile (row, col) changes places with tile (col, row). The upper
 * triangle of tiles, folded at half its height, is a rectangle of groups `width` wide; `width` is
 * odd and at least the number of tiles along a side.
 */
KERNEL square(GLOBAL WORD *data, ulong first, ulong matrix_words, ulong side, ulong width,
              LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    ulong y = GROUP_ID / width;
    ulong x = GROUP_ID - y * width;
    ulong last = width - 2;
    ulong row = x > y ? y : last - y;
    ulong col = x > y ? x - 1 : last - x;
    GLOBAL WORD *matrix = data + first + GROUP_ID_2 * matrix_words;
    LOCAL WORD *mirror = cells + EDGE * SQUARE_PITCH;
    bool inside = col * EDGE < side; /* and so is row, which is no larger */
    if (inside)
        read_tile(matrix, cells, side, row, col);
    if (inside && row != col)
        read_tile(matrix, mirror, side, col, row);
    BARRIER;
    if (inside)
        write_tile(matrix, row != col ? mirror : cells, side, row, col);
    if (inside && row != col)
        write_tile(matrix, cells, side, col, row);
}
#endif
