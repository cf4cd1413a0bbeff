/*
 * Elementary transpositions as the papers move their elements (Sung thesis, sections 4.1.1, 4.2 and
 * 4.5 to 4.6; Sung 2014, section 5), in words of 4 bytes. They are for comparison: plans use
 * blocks.cl and chains.cl.
 *
 * Cycles are followed by any number of work-items at once, and a flag a position says who moves
 * what. A chain that begins at `start` reads what is there, and only then sees that `start` is
 * unclaimed; a store to a position comes after the claim of it, and whoever claims it reads what
 * was there first. So a chain that begins holds the original element; of two chains that hold the
 * same one, the first to claim its place stores it, and the other ends. Every position is claimed
 * once. (The papers' own code looks at the flag before it reads.)
 */

/* Where the element at `place` of rows x cols goes; `last` is rows * cols - 1. */
static inline ulong target_of(ulong place, ulong rows, ulong last)
{
    return place * rows % last;
}

/* ---- 010!: many rows x cols tiles, a work-group each ---- */

/* Barrier synchronisation (figure 1 of Sung 2014): the whole tile passes through local memory. */
kernel void barrier_010(global uint *data, uint rows, uint cols, local uint *cells)
{
    uint total = rows * cols;
    global uint *tile = data + (ulong)get_group_id(0) * total;
    for (uint i = get_local_id(0); i < total; i += get_local_size(0))
        cells[i] = tile[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < total; i += get_local_size(0)) {
        uint row = i / rows;
        tile[i] = cells[(i - row * rows) * cols + row];
    }
}

/* Equations 4.4 to 4.6: `shift` is 5 less the logarithm of the spreading factor; `padding` leaves
 * one word in 32 unused; `remapped` (0: not) is the number of words over which flags are dealt. */
typedef struct {
    uint shift;
    uint padding;
    uint remapped;
} flag_layout;

static inline uint flag_word(flag_layout layout, uint place)
{
    uint word = layout.remapped != 0 ? place % layout.remapped : place >> layout.shift;
    return word + (layout.padding != 0 ? word >> 5 : 0);
}

static inline uint flag_bit(flag_layout layout, uint place)
{
    return 1u << ((layout.remapped != 0 ? place / layout.remapped : place) & 31);
}

kernel void claims_010(global uint *data, uint rows, uint cols, uint flag_words, uint shift,
                       uint padding, uint remapped, local uint *flags)
{
    const flag_layout layout = {shift, padding, remapped};
    uint total = rows * cols;
    uint last = total - 1;
    volatile global uint *tile = data + (ulong)get_group_id(0) * total;
    for (uint i = get_local_id(0); i < flag_words; i += get_local_size(0))
        flags[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint start = get_local_id(0); start < last; start += get_local_size(0)) {
        uint value = tile[start];
        mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        uint bit = flag_bit(layout, start);
        bool over = (atomic_or(&flags[flag_word(layout, start)], 0) & bit) != 0;
        uint place = start;
        while (!over) {
            place = (uint)target_of(place, rows, last);
            bit = flag_bit(layout, place);
            over = (atomic_or(&flags[flag_word(layout, place)], bit) & bit) != 0;
            if (!over) {
                uint next = tile[place];
                mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
                tile[place] = value;
                value = next;
            }
        }
    }
}

/* Whether `start` is the smallest position of its cycle. */
static inline bool leads(ulong start, ulong rows, ulong last)
{
    ulong place = target_of(start, rows, last);
    while (place > start)
        place = target_of(place, rows, last);
    return place == start;
}

/* P-IPT: a work-item a cycle, without flags. */
kernel void cycles_010(global uint *data, uint rows, uint cols)
{
    uint last = rows * cols - 1;
    global uint *tile = data + (ulong)get_group_id(0) * (rows * cols);
    for (uint start = get_local_id(0); start < last; start += get_local_size(0)) {
        if (!leads(start, rows, last))
            continue;
        uint value = tile[start];
        uint place = start;
        do {
            place = (uint)target_of(place, rows, last);
            uint next = tile[place];
            tile[place] = value;
            value = next;
        } while (place != start);
    }
}

/* ---- 100!: rows x cols super-elements of `words` words, a work-group a chain ---- */

static inline bool is_claimed(volatile global uint *flags, ulong place)
{
    return (atomic_or(&flags[place / 32], 0) & (1u << (place & 31))) != 0;
}

static inline bool was_claimed(volatile global uint *flags, ulong place)
{
    uint bit = 1u << (place & 31);
    return (atomic_or(&flags[place / 32], bit) & bit) != 0;
}

/* The first work-item asks for all of them. */
#define ASK(question)                                                                              \
    do {                                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                       \
        if (get_local_id(0) == 0)                                                                  \
            *answer = question;                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                       \
        over = *answer != 0;                                                                       \
    } while (0)

/* `held` is a super-element in local memory: one SIMD unit moves any number of words (section
 * 4.6.1); with as many work-items as words it is the thesis's first version. */
kernel void claims_100(global uint *data, volatile global uint *flags, ulong rows, ulong cols,
                       uint words, local uint *held, local uint *answer)
{
    volatile global uint *elements = data;
    ulong last = rows * cols - 1;
    for (ulong start = get_group_id(0); start < last; start += get_num_groups(0)) {
        bool over;
        for (uint k = get_local_id(0); k < words; k += get_local_size(0))
            held[k] = elements[start * words + k];
        ASK(is_claimed(flags, start));
        ulong place = start;
        while (!over) {
            place = target_of(place, rows, last);
            ASK(was_claimed(flags, place));
            for (uint k = get_local_id(0); k < words && !over; k += get_local_size(0)) {
                uint next = elements[place * words + k];
                elements[place * words + k] = held[k];
                held[k] = next;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/*
 * The same with the super-element in registers, VALUES words a work-item; `words` is VALUES times
 * the work-items, as the thesis assumes. A load has happened when
 * its value is used; so what is read at `start` goes through local memory before the flag is looked
 * at, as it does above, since OpenCL 1.2 has no fence that other groups take part in.
 */
#ifndef VALUES
#define VALUES 1
#endif
kernel void claims_100_registers(global uint *data, volatile global uint *flags, ulong rows,
                                 ulong cols, uint words, volatile local uint *seen,
                                 local uint *answer)
{
    volatile global uint *elements = data;
    ulong last = rows * cols - 1;
    for (ulong start = get_group_id(0); start < last; start += get_num_groups(0)) {
        bool over;
        uint values[VALUES];
        uint read = 0;
        for (uint v = 0; v < VALUES; v++) {
            values[v] = elements[start * words + v * get_local_size(0) + get_local_id(0)];
            read ^= values[v];
        }
        seen[get_local_id(0)] = read;
        ASK(is_claimed(flags, start));
        ulong place = start;
        while (!over) {
            place = target_of(place, rows, last);
            ASK(was_claimed(flags, place));
            for (uint v = 0; v < VALUES && !over; v++) {
                uint k = v * get_local_size(0) + get_local_id(0);
                uint next = elements[place * words + k];
                elements[place * words + k] = values[v];
                values[v] = next;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* P-IPT: a work-group a cycle, without flags. */
kernel void cycles_100(global uint *data, volatile global uint *flags, ulong rows, ulong cols,
                       uint words, local uint *held, local uint *answer)
{
    ulong last = rows * cols - 1;
    for (ulong start = get_group_id(0); start < last; start += get_num_groups(0)) {
        bool over;
        ASK(!leads(start, rows, last));
        if (!over)
            for (uint k = get_local_id(0); k < words; k += get_local_size(0)) {
                uint value = data[start * words + k];
                ulong place = start;
                do {
                    place = target_of(place, rows, last);
                    uint next = data[place * words + k];
                    data[place * words + k] = value;
                    value = next;
                } while (place != start);
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* ---- padding in place (section 4.1.1): rows from `first` on move apart, a work-group each ---- */

kernel void pad_rows(global uint *data, ulong first, ulong cols, ulong padded_cols)
{
    ulong row = first + get_group_id(0);
    for (ulong k = get_local_id(0); k < cols; k += get_local_size(0))
        data[row * padded_cols + k] = data[row * cols + k];
}

/* Rows from `count` - 1 down to 0, which overlap themselves: one work-group, through local memory.
 */
kernel void pad_last_rows(global uint *data, ulong count, ulong cols, ulong padded_cols,
                          local uint *row_cells)
{
    for (ulong row = count; row-- > 0;) {
        for (ulong k = get_local_id(0); k < cols; k += get_local_size(0))
            row_cells[k] = data[row * cols + k];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (ulong k = get_local_id(0); k < cols; k += get_local_size(0))
            data[row * padded_cols + k] = row_cells[k];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}

/* ---- out of place (Ruetsch and Micikevicius): tiles of 32 x 32 through local memory ---- */

kernel void out_of_place(global const uint *source, global uint *target, ulong rows, ulong cols)
{
    local uint cells[32 * 33];
    ulong tiles_a_row = (cols + 31) / 32;
    ulong row = get_group_id(0) / tiles_a_row * 32;
    ulong col = get_group_id(0) % tiles_a_row * 32;
    uint x = get_local_id(0) % 32;
    uint step = get_local_size(0) / 32;
    for (uint y = get_local_id(0) / 32; y < 32; y += step)
        if (row + y < rows && col + x < cols)
            cells[y * 33 + x] = source[(row + y) * cols + col + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = get_local_id(0) / 32; y < 32; y += step)
        if (col + y < cols && row + x < rows)
            target[(col + y) * rows + row + x] = cells[x * 33 + y];
}
