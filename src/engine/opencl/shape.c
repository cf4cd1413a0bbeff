/*
 * The shape of the marshaling kernel (Sung thesis, sections 4.2 and 5.4): a work-group takes as
 * many tiles as make a chunk of some 16 KB, so that a few groups a multiprocessor keep enough loads
 * under way.
 */
#include "engine/opencl/shape.h"

#include "base/arithmetic.h"
#include "engine/device/device.h"

#include <stdint.h>

enum {
    VECTOR_BYTES = 16,
    BANK_BYTES = 4,
    GPU_WORK_ITEMS = 256,
    CPU_WORK_ITEMS = 64,
    CHUNK_BYTES = 16384,
    LARGEST_CHUNK_BYTES = 24576,
    GPU_BATCH = 8,
    CPU_BATCH = 1, /* a processor has no use for unrolled loads, and builds the kernel sooner */
};

static bool power_of_two(size_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* The largest power of two, at most 16, that divides `value`. */
static size_t largest_unit(size_t value)
{
    return rs_size_gcd(value, VECTOR_BYTES);
}

/* Granules, and whether there is anything to do. */
static void measure_record(rs_marshal_shape *shape, const rs_record *record)
{
    size_t unit = record->size;
    for (size_t i = 0; i < record->leaf_count; i++)
        unit = rs_size_gcd(rs_size_gcd(unit, record->leaves[i].size), record->leaves[i].offset);
    shape->granule = largest_unit(unit);
    shape->width = record->size / shape->granule;
    shape->mixed = false;
    for (size_t i = 0; i < record->leaf_count; i++)
        shape->mixed |= record->leaves[i].size != shape->granule;
    shape->identity = shape->tile == 1 || record->leaf_count == 1;
}

/*
 * Row padding: with an odd number of 4-byte words from record to record, 16-byte vectors of one
 * leaf (lane t reads records 4t to 4t + 3) and their neighbours of the next leaf fall into
 * different banks. Rows of larger granules follow the same rule in their own, wider, banks. A
 * record that is no multiple of a word has an odd stride of bytes or half words and stays as it is.
 */
static size_t choose_row(const rs_marshal_shape *shape, const rs_marshal_limits *limits,
                         const rs_marshal_variant *variant)
{
    size_t bank = shape->granule > BANK_BYTES ? shape->granule : BANK_BYTES;
    bool whole_banks = shape->record_bytes % bank == 0;
    bool even = whole_banks && shape->record_bytes / bank % 2 == 0;
    bool pad = variant->row_padding == 0 ? even && !limits->is_cpu
                                         : whole_banks && variant->row_padding == 2;
    return shape->width + (pad ? bank / shape->granule : 0);
}

/* Tiles a work-group: the chunk in [8, 24] KB that keeps most work-items busy in its last trip. */
static size_t choose_tiles(const rs_marshal_shape *shape, size_t tile_bytes, size_t most)
{
    /* A chunk that is a multiple of 16 bytes lets every chunk start on a whole vector. */
    size_t step = VECTOR_BYTES / largest_unit(tile_bytes);
    if (step > most)
        return most;
    size_t best = step;
    double best_score = 0;
    for (size_t tiles = step; tiles <= most; tiles += step) {
        size_t chunk = tiles * tile_bytes;
        if (chunk > LARGEST_CHUNK_BYTES && tiles > step)
            break;
        size_t vectors = chunk / VECTOR_BYTES;
        size_t trips = rs_size_divide_up(vectors, shape->work_items);
        double busy = (double)vectors / (double)(trips * shape->work_items);
        double full = chunk < CHUNK_BYTES / 2 ? (double)chunk / (CHUNK_BYTES / 2) : 1;
        double near = chunk > CHUNK_BYTES ? (double)CHUNK_BYTES / (double)chunk : 1;
        double score = busy * full * (0.8 + 0.2 * near);
        if (score > best_score) {
            best_score = score;
            best = tiles;
        }
    }
    return best;
}

static restride_status check_variant(const rs_marshal_shape *shape, size_t tile_bytes,
                                     const rs_marshal_variant *variant)
{
    if (variant->batch > RS_MARSHAL_MAX_BATCH || variant->row_padding > 2 ||
        (variant->vector_bytes != 0 &&
         (!power_of_two(variant->vector_bytes) || variant->vector_bytes > VECTOR_BYTES)))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A variant has 1 to %d loads a batch, vectors of 1, 2, 4, 8 or 16 bytes and "
                       "padding of 1 or 2.",
                       RS_MARSHAL_MAX_BATCH);
    if (shape->tiles * tile_bytes / shape->components / shape->granule == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "The variant leaves no whole vector to move.");
    return RESTRIDE_OK;
}

/* Whether a tile and the table of leaves fit at all; the bytes of the tile. */
static restride_status check_limits(const rs_marshal_shape *shape, const rs_marshal_limits *limits,
                                    size_t *tile_bytes)
{
    size_t tile = shape->tile, record_bytes = shape->record_bytes;
    if (!rs_size_multiply(tile, record_bytes, tile_bytes) || *tile_bytes > limits->local_bytes ||
        *tile_bytes > UINT32_MAX / 2)
        return rs_fail(
            RESTRIDE_DEVICE_LIMIT,
            "A tile of %zu records of %zu bytes does not fit into the device's %zu bytes of local "
            "memory; choose a smaller tile.",
            tile, record_bytes, limits->local_bytes);
    if (shape->mixed && shape->width * 4 > limits->constant_bytes)
        return rs_fail(
            RESTRIDE_DEVICE_LIMIT,
            "The leaf table of a record of %zu bytes does not fit into the device's %zu bytes of "
            "constant memory; keep this record as it is.",
            record_bytes, limits->constant_bytes);
    return RESTRIDE_OK;
}

restride_status rs_marshal_shape_choose(rs_marshal_shape *shape, const rs_record *record,
                                        size_t tile, const rs_marshal_limits *limits,
                                        const rs_marshal_variant *variant)
{
    static const rs_marshal_variant by_rule = {0, 0, 0, 0, 0};
    if (variant == NULL)
        variant = &by_rule;
    if (tile == 0 || record->size == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "A tile and a record need at least one element.");
    *shape = (rs_marshal_shape){.record_bytes = record->size, .tile = tile};
    measure_record(shape, record);

    size_t tile_bytes;
    restride_status status = check_limits(shape, limits, &tile_bytes);
    if (status != RESTRIDE_OK)
        return status;
    shape->row = choose_row(shape, limits, variant);
    size_t row_bytes = shape->row * shape->granule;
    if (tile * row_bytes > limits->local_bytes) { /* no room for the padding */
        shape->row = shape->width;
        row_bytes = record->size;
    }
    size_t wanted = variant->work_items != 0 ? variant->work_items
                                             : (limits->is_cpu ? CPU_WORK_ITEMS : GPU_WORK_ITEMS);
    shape->work_items = rs_size_smaller(wanted, limits->work_items);
    size_t most = limits->local_bytes / (tile * row_bytes);
    shape->tiles = variant->tiles != 0 ? rs_size_smaller(variant->tiles, most)
                                       : choose_tiles(shape, tile_bytes, most);

    size_t chunk_bytes = shape->tiles * tile_bytes;
    size_t vector_bytes = largest_unit(chunk_bytes);
    if (variant->vector_bytes != 0)
        vector_bytes = rs_size_smaller(vector_bytes, variant->vector_bytes);
    if (vector_bytes < shape->granule)
        vector_bytes = shape->granule;
    shape->components = vector_bytes / shape->granule;
    status = check_variant(shape, tile_bytes, variant);
    if (status != RESTRIDE_OK)
        return status;

    /* A tile that is smaller than the group leaves out what would run together and idle. */
    size_t vectors = chunk_bytes / vector_bytes;
    size_t busy;
    if (rs_size_round_up(vectors, limits->simd_items, &busy))
        shape->work_items = rs_size_smaller(shape->work_items, busy);
    size_t trips = rs_size_divide_up(vectors, shape->work_items);
    size_t batch = limits->is_cpu ? CPU_BATCH : GPU_BATCH;
    shape->batch = rs_size_smaller(trips, variant->batch != 0 ? variant->batch : batch);
    shape->unit = rs_size_gcd(rs_size_gcd(record->size, row_bytes), vector_bytes);
    shape->local_bytes = shape->tiles * tile * row_bytes;
    return RESTRIDE_OK;
}

/* The type of `count` values of `bytes` bytes as one. */
static void write_vector_type(rs_text *text, const char *prefix, size_t bytes, size_t count)
{
    rs_text_format(text, "%s%s", prefix, rs_device_word_type(bytes));
    if (count > 1)
        rs_text_format(text, "%zu", count);
}

static void write_types(rs_text *text, const rs_marshal_shape *shape)
{
    size_t units = shape->components * shape->granule / shape->unit;
    rs_text_format(text, "#define GRANULE %s\n", rs_device_word_type(shape->granule));
    rs_text_format(text, "#define UNIT %s\n", rs_device_word_type(shape->unit));
    write_vector_type(text, "#define VECTOR ", shape->granule, shape->components);
    write_vector_type(text, "\n#define AS_VECTOR as_", shape->granule, shape->components);
    write_vector_type(text, "\n#define UNIT_VECTOR ", shape->unit, units);
    write_vector_type(text, "\n#define AS_UNITS as_", shape->unit, units);
    rs_text_add_string(text, "\n");
}

/* A macro that applies X to the number and the name of every part of a vector. */
static void write_each_part(rs_text *text, const char *name, size_t parts)
{
    rs_text_format(text, "#define %s(X, value)", name);
    for (size_t i = 0; i < parts; i++) {
        if (parts == 1)
            rs_text_add_string(text, " X(0, value)");
        else
            rs_text_format(text, " X(%zu, value.s%zx)", i, i);
    }
    rs_text_add_string(text, "\n");
}

/* A table over the granules of the structure: `value` of the leaf that each belongs to. */
static void write_leaf_table(rs_text *text, const rs_marshal_shape *shape, const rs_record *record,
                             const char *name, size_t (*value)(const rs_leaf *leaf, size_t granule))
{
    rs_text_format(text, "constant %s %s[WIDTH] = {",
                   shape->width <= UINT16_MAX ? "ushort" : "uint", name);
    for (size_t i = 0; i < record->leaf_count; i++)
        for (size_t part = 0; part < record->leaves[i].size / shape->granule; part++)
            rs_text_format(text, "%zu,", value(&record->leaves[i], shape->granule));
    rs_text_add_string(text, "};\n");
}

static size_t leaf_offset(const rs_leaf *leaf, size_t granule)
{
    return leaf->offset / granule;
}

static size_t leaf_size(const rs_leaf *leaf, size_t granule)
{
    return leaf->size / granule;
}

static size_t leaf_shift(const rs_leaf *leaf, size_t granule)
{
    size_t shift = 0;
    while ((leaf_size(leaf, granule) >> shift) > 1)
        shift++;
    return shift;
}

static void write_leaf_tables(rs_text *text, const rs_marshal_shape *shape, const rs_record *record)
{
    bool shifts = true;
    for (size_t i = 0; i < record->leaf_count; i++)
        shifts &= power_of_two(leaf_size(&record->leaves[i], shape->granule));
    rs_text_add_string(text, "#define MIXED\n");
    write_leaf_table(text, shape, record, "leaf_offset", leaf_offset);
    if (shifts) {
        rs_text_add_string(text, "#define LEAF_SHIFTS\n");
        write_leaf_table(text, shape, record, "leaf_shift", leaf_shift);
    } else {
        write_leaf_table(text, shape, record, "leaf_size", leaf_size);
    }
}

void rs_marshal_shape_write(rs_text *text, const rs_marshal_shape *shape, const rs_record *record)
{
    size_t units = shape->components * shape->granule / shape->unit;
    const struct {
        const char *name;
        size_t value;
    } numbers[] = {
        {"ITEMS", shape->work_items},
        {"TILE", shape->tile},
        {"TILES", shape->tiles},
        {"WIDTH", shape->width},
        {"ROW", shape->row},
        {"BATCH", shape->batch},
        {"COMPONENTS", shape->components},
        {"UNITS", units},
        {"UNIT_WIDTH", shape->record_bytes / shape->unit},
        {"UNIT_ROW", shape->row * shape->granule / shape->unit},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        rs_text_format(text, "#define %s %zu\n", numbers[i].name, numbers[i].value);
    write_types(text, shape);
    write_each_part(text, "EACH_COMPONENT", shape->components);
    write_each_part(text, "EACH_UNIT", units);
    rs_text_add_string(text, "#define EACH_TRIP(X)");
    for (size_t i = 0; i < shape->batch; i++)
        rs_text_format(text, " X(%zu)", i);
    rs_text_add_string(text, "\n");
    if (shape->mixed)
        write_leaf_tables(text, shape, record);
}
