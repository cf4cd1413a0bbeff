/*
 * 010! by barrier synchronisation between AoS and ASTA, in place (Sung thesis, sections 4.2
 * and 5.4).
 *
 * A work-group owns a chunk of TILES tiles: it reads the chunk into local memory, waits for all its
 * work-items, and writes the chunk back in the other order. No other group touches those bytes, so
 * there is no scratch memory and no claim to make.
 *
 * Places are counted in granules, the largest unit that divides every leaf. Local memory holds the
 * chunk as records of ROW granules, of which the first WIDTH are used: with an odd number of words
 * from record to record the same leaf of neighbouring records lies in different banks. A granule
 * has a place in AoS, a place in ASTA and an address in local memory; both kernels walk over global
 * memory in order, before and after the barrier.
 *
 * The AoS side need not know leaves: it moves UNITs, the largest that fit both records and rows.
 *
 * The host defines (shape.c): ITEMS TILES TILE WIDTH ROW BATCH, GRANULE and COMPONENTS a VECTOR,
 * UNIT and UNITS a UNIT_VECTOR of the same bytes, UNIT_WIDTH UNIT_ROW, AS_UNITS AS_VECTOR,
 * EACH_COMPONENT EACH_UNIT EACH_TRIP, and for records of mixed leaves MIXED, leaf_offset and
 * leaf_size, or leaf_shift with LEAF_SHIFTS when all sizes are powers of two.
 */

#define CHUNK_RECORDS (TILES * TILE)
#define TILE_GRANULES (TILE * WIDTH)
#define CHUNK_VECTORS (CHUNK_RECORDS * WIDTH / COMPONENTS)

/* Where the granule at `place` of an AoS chunk lies in local memory. */
static inline uint aos_address(uint place)
{
    return place + place / WIDTH * (ROW - WIDTH);
}

/*
 * Where the granule at `place` of one ASTA tile, `width` records wide, lies behind the tile's first
 * record. All leaves before the one at granule g of the structure take g * width granules, so
 * place / width falls into the right leaf.
 */
static inline uint tile_address(uint place, uint width)
{
    uint row = place / width;
#ifdef MIXED
    uint offset = leaf_offset[row];
    uint inside = place - offset * width;
#ifdef LEAF_SHIFTS
    uint shift = leaf_shift[row];
    uint record = inside >> shift;
    return record * ROW + offset + (inside - (record << shift));
#else
    uint size = leaf_size[row];
    uint record = inside / size;
    return record * ROW + offset + (inside - record * size);
#endif
#else
    return (place - row * width) * ROW + row;
#endif
}

static inline uint asta_address(uint place)
{
    uint tile = place / TILE_GRANULES;
    return tile * TILE * ROW + tile_address(place - tile * TILE_GRANULES, TILE);
}

/* The same in a chunk that ends after `records` records with a ragged tile. */
static inline uint ragged_asta_address(uint place, uint records)
{
    uint tile = place / TILE_GRANULES;
    uint width = min((uint)TILE, records - tile * TILE);
    return tile * TILE * ROW + tile_address(place - tile * TILE_GRANULES, width);
}

/* One vector of a whole chunk between a register and local memory. The cases that need no division
 * for each component are told apart when the kernel is built. */
#if ROW == WIDTH
#define AOS_PUT(place, value) ((local VECTOR *)cells)[place] = value;
#define AOS_GET(place, value) value = ((local VECTOR *)cells)[place];
#else
#if UNIT_WIDTH % UNITS == 0
#define AOS_START(place)                                                                           \
    uint start = (place)*UNITS + (place) / (UNIT_WIDTH / UNITS) * (UNIT_ROW - UNIT_WIDTH);
#define AOS_CELL(u) ((local UNIT *)cells)[start + u]
#else
#define AOS_START(place) uint start = (place)*UNITS;
#define AOS_CELL(u)                                                                                \
    ((local UNIT *)cells)[start + u + (start + u) / UNIT_WIDTH * (UNIT_ROW - UNIT_WIDTH)]
#endif
#define AOS_PUT_ONE(u, part) AOS_CELL(u) = part;
#define AOS_GET_ONE(u, part) part = AOS_CELL(u);
#define AOS_PUT(place, value)                                                                      \
    {                                                                                              \
        UNIT_VECTOR units = AS_UNITS(value);                                                       \
        AOS_START(place) EACH_UNIT(AOS_PUT_ONE, units)                                             \
    }
#define AOS_GET(place, value)                                                                      \
    {                                                                                              \
        UNIT_VECTOR units;                                                                         \
        AOS_START(place) EACH_UNIT(AOS_GET_ONE, units) value = AS_VECTOR(units);                   \
    }
#endif

#if TILE % COMPONENTS == 0 && !defined(MIXED)
#define ASTA_START(place) uint start = asta_address((place)*COMPONENTS);
#define ASTA_CELL(c) cells[start + c * ROW]
#elif TILE % COMPONENTS == 0 && defined(LEAF_SHIFTS)
/* Every leaf's run starts and ends with a whole vector, so one look into the tables serves it. */
#define ASTA_START(place)                                                                          \
    uint tile = (place)*COMPONENTS / TILE_GRANULES;                                                \
    uint inside = (place)*COMPONENTS - tile * TILE_GRANULES;                                       \
    uint offset = leaf_offset[inside / TILE];                                                      \
    uint shift = leaf_shift[inside / TILE];                                                        \
    uint start = tile * TILE * ROW + offset;                                                       \
    inside -= offset * TILE;
#define ASTA_CELL(c)                                                                               \
    cells[start + ((inside + c) >> shift) * ROW + ((inside + c) & ((1u << shift) - 1))]
#else
#define ASTA_START(place) uint start = (place)*COMPONENTS;
#define ASTA_CELL(c) cells[asta_address(start + c)]
#endif
#define ASTA_PUT_ONE(c, part) ASTA_CELL(c) = part;
#define ASTA_GET_ONE(c, part) part = ASTA_CELL(c);
#define ASTA_PUT(place, value)                                                                     \
    {                                                                                              \
        ASTA_START(place) EACH_COMPONENT(ASTA_PUT_ONE, value)                                      \
    }
#define ASTA_GET(place, value)                                                                     \
    {                                                                                              \
        ASTA_START(place) EACH_COMPONENT(ASTA_GET_ONE, value)                                      \
    }

/* A work-item loads all vectors of a batch into registers before it puts the first into local
 * memory, so that as many loads as possible are under way at once. */
#if CHUNK_VECTORS <= BATCH * ITEMS
#define INSIDE(k) ((k + 1) * ITEMS <= CHUNK_VECTORS || item + k * ITEMS < CHUNK_VECTORS)
#else
#define INSIDE(k) (CHUNK_VECTORS % (BATCH * ITEMS) == 0 || first + k * ITEMS < CHUNK_VECTORS)
#endif
#define LOAD_TRIP(k)                                                                               \
    VECTOR value##k;                                                                               \
    if (INSIDE(k))                                                                                 \
        value##k = chunk[first + k * ITEMS];
#define AOS_PUT_TRIP(k)                                                                            \
    if (INSIDE(k))                                                                                 \
    AOS_PUT(first + k * ITEMS, value##k)
#define ASTA_PUT_TRIP(k)                                                                           \
    if (INSIDE(k))                                                                                 \
    ASTA_PUT(first + k * ITEMS, value##k)
#define AOS_STORE_TRIP(k)                                                                          \
    if (INSIDE(k)) {                                                                               \
        VECTOR value;                                                                              \
        AOS_GET(first + k * ITEMS, value)                                                          \
        chunk[first + k * ITEMS] = value;                                                          \
    }
#define ASTA_STORE_TRIP(k)                                                                         \
    if (INSIDE(k)) {                                                                               \
        VECTOR value;                                                                              \
        ASTA_GET(first + k * ITEMS, value)                                                         \
        chunk[first + k * ITEMS] = value;                                                          \
    }
#define EACH_BATCH for (uint first = item; first < CHUNK_VECTORS; first += BATCH * ITEMS)

/* What both kernels start with: this group's place in the buffer, and how many records it has. */
#define ENTER                                                                                      \
    local VECTOR storage[(CHUNK_RECORDS * ROW + COMPONENTS - 1) / COMPONENTS];                     \
    local GRANULE *cells = (local GRANULE *)storage;                                               \
    uint item = (uint)get_local_id(0);                                                             \
    ulong first_record = (ulong)get_group_id(0) * CHUNK_RECORDS;                                   \
    uint records = (uint)min((ulong)CHUNK_RECORDS, total - first_record);                          \
    global VECTOR *chunk = data + (size_t)get_group_id(0) * CHUNK_VECTORS;                         \
    global GRANULE *granules = (global GRANULE *)chunk;

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void aos_to_asta(global VECTOR *data,
                                                                           ulong total)
{
    ENTER
    if (records == CHUNK_RECORDS) {
        EACH_BATCH
        {
            EACH_TRIP(LOAD_TRIP)
            EACH_TRIP(AOS_PUT_TRIP)
        }
    } else {
        for (uint place = item; place < records * WIDTH; place += ITEMS)
            cells[aos_address(place)] = granules[place];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (records == CHUNK_RECORDS) {
        EACH_BATCH
        {
            EACH_TRIP(ASTA_STORE_TRIP)
        }
    } else {
        for (uint place = item; place < records * WIDTH; place += ITEMS)
            granules[place] = cells[ragged_asta_address(place, records)];
    }
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void asta_to_aos(global VECTOR *data,
                                                                           ulong total)
{
    ENTER
    if (records == CHUNK_RECORDS) {
        EACH_BATCH
        {
            EACH_TRIP(LOAD_TRIP)
            EACH_TRIP(ASTA_PUT_TRIP)
        }
    } else {
        for (uint place = item; place < records * WIDTH; place += ITEMS)
            cells[ragged_asta_address(place, records)] = granules[place];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (records == CHUNK_RECORDS) {
        EACH_BATCH
        {
            EACH_TRIP(AOS_STORE_TRIP)
        }
    } else {
        for (uint place = item; place < records * WIDTH; place += ITEMS)
            granules[place] = cells[aos_address(place)];
    }
}
