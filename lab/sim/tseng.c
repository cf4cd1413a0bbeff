/* The kernels of Tseng 2014 on a model of a GTX 480; see tseng.h. */
#include "lab/sim/tseng.h"

#include "lab/sim/transformer.h"

#include <string.h>

/* A cycle of 0.7 GHz, an instruction of a warp each; latency of a load (measured on Fermi: 400 to
 * 800 cycles). */
static const double cycle_ns = 1 / 0.7;
enum { WARP = 32, WORD = 4, LATENCY_CYCLES = 450, MOST_ARRAYS = 6, MOST_RESIDENT = 1024 };

/* ---- what the kernels do ---- */

/* An access of a warp: element `element[lane]` of an array, counted in words as in AoS. */
typedef struct {
    size_t array;
    bool writes;
    bool waits; /* for loads before it; until then the warp goes on */
    size_t elements[WARP];
} step;

typedef struct {
    size_t words;
    size_t fields; /* of a structure; 0: a plain array, which stays as it is */
} array_shape;

typedef struct {
    const char *name;
    size_t warps;
    size_t resident; /* warps of a processor, as its 32768 registers allow */
    /* Instructions of a warp, in AoS and in ASTA: once, and for each turn of its loop. */
    size_t instructions[2];
    size_t looped[2];
    size_t array_count;
    array_shape arrays[MOST_ARRAYS];
    size_t (*turns)(size_t warp); /* of the warp's loop; 0: none */
    /* The n-th access of a warp; false: there is no such. */
    bool (*access)(size_t warp, size_t n, step *made);
} kernel_shape;

static size_t no_turns(size_t warp)
{
    (void)warp;
    return 0;
}

/* Black-Scholes: structures of price, strike and years, which are read, and call and put. */
enum { OPTION_FIELDS = 5, OPTION_WARPS = 15 * 48 * 8, OPTION_READ = 3 };

static bool access_options(size_t warp, size_t n, step *made)
{
    made->array = 0;
    made->writes = n >= OPTION_READ;
    made->waits = n == OPTION_READ;
    for (size_t lane = 0; lane < WARP; lane++)
        made->elements[lane] = (warp * WARP + lane) * OPTION_FIELDS + n;
    return n < OPTION_FIELDS;
}

/* LBM, D3Q19 with a word of flags: 19 populations of neighbours and the flags are read, all of a
 * cell written. A plane of cells lies before the first one and behind the last one. */
enum { NX = 120, NY = 120, DIRECTIONS = 19, CELL_FIELDS = 20, CELL_WARPS = 15 * 16 * 12 };
enum { CELLS = CELL_WARPS * WARP + 2 * (NX * NY + NY) };

static bool access_cells(size_t warp, size_t n, step *made)
{
    static const signed char directions[CELL_FIELDS][3] = {
        {0, 0, 0},   {0, 1, 0},  {0, -1, 0}, {1, 0, 0},   {-1, 0, 0},  {0, 0, 1},  {0, 0, -1},
        {1, 1, 0},   {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0}, {0, 1, 1},   {0, 1, -1}, {0, -1, 1},
        {0, -1, -1}, {1, 0, 1},  {1, 0, -1}, {-1, 0, 1},  {-1, 0, -1}, {0, 0, 0}};
    size_t field = n % CELL_FIELDS;
    const signed char *towards = directions[field];
    made->writes = n >= CELL_FIELDS;
    made->waits = n == CELL_FIELDS;
    made->array = made->writes ? 1 : 0;
    ptrdiff_t distance =
        made->writes ? 0 : towards[0] + NX * towards[1] + (ptrdiff_t)NX * NY * towards[2];
    for (size_t lane = 0; lane < WARP; lane++) {
        size_t cell = (size_t)((ptrdiff_t)(NX * NY + NY + warp * WARP + lane) - distance);
        made->elements[lane] = cell * CELL_FIELDS + field;
    }
    return n < (size_t)2 * CELL_FIELDS;
}

/* SpMV in JDS form, a synthetic matrix: rows sorted by their length, columns within a band. */
enum { ROWS = 146688, LONGEST = 48, SHORTEST = 8, BAND = 1000 };
enum { ENTRIES, LENGTHS, STARTS, VECTOR, PERMUTATION, RESULT };
enum { NONZEROS = ROWS * LONGEST, COLUMN = 1, VALUE = 3, STEPS_OF_TURN = 4, STEPS_AROUND = 3 };

static size_t row_turns(size_t warp)
{
    double behind = (double)(warp * WARP) / ROWS;
    return (size_t)(SHORTEST + (LONGEST - SHORTEST) * (1 - behind) * (1 - behind) + 0.5);
}

static size_t mixed(size_t a, size_t b)
{
    uint64_t hash = ((uint64_t)a << 20 ^ b) * 0x9e3779b97f4a7c15U;
    return (size_t)(hash >> 40);
}

static size_t column_of(size_t row, size_t turn)
{
    size_t column = row + mixed(row, turn) % (2 * BAND);
    return column < BAND ? 0 : column - BAND < ROWS ? column - BAND : ROWS - 1;
}

/* In each turn the column's load waits for the start of its diagonal, and the vector's for the
 * column. The sum waits for all before the next turn. */
static bool access_rows(size_t warp, size_t n, step *made)
{
    size_t turns = row_turns(warp);
    size_t in_loop = n - 1;
    size_t turn = in_loop / STEPS_OF_TURN;
    bool loops = n > 0 && turn < turns;
    static const size_t looped[STEPS_OF_TURN] = {STARTS, ENTRIES, VECTOR, ENTRIES};
    static const size_t around[STEPS_AROUND] = {LENGTHS, PERMUTATION, RESULT};
    size_t behind = n > 0 ? n - STEPS_OF_TURN * turns : 0;
    if (!loops && behind >= STEPS_AROUND)
        return false;
    made->array = loops ? looped[in_loop % STEPS_OF_TURN] : around[behind];
    made->writes = made->array == RESULT;
    made->waits =
        n > 0 && !(loops && in_loop % STEPS_OF_TURN == VALUE) && made->array != PERMUTATION;
    for (size_t lane = 0; lane < WARP; lane++) {
        size_t row = warp * WARP + lane;
        size_t entry = 2 * (turn * ROWS + row);
        const size_t elements[] = {entry + (in_loop % STEPS_OF_TURN == COLUMN ? 1 : 0),
                                   row / WARP,
                                   turn,
                                   column_of(row, turn),
                                   row,
                                   column_of(row, 0)};
        made->elements[lane] = elements[made->array];
    }
    return true;
}

/* Instructions are those of the PTX that nvcc 13.0 makes of lab/kernels/tseng.cu. */
static const kernel_shape kernels[RS_TSENG_KERNELS] = {
    [RS_TSENG_BLACK_SCHOLES] = {.name = "Black-Scholes",
                                .warps = OPTION_WARPS,
                                .resident = 48,
                                .instructions = {76, 95},
                                .array_count = 1,
                                .arrays = {{OPTION_WARPS * WARP * OPTION_FIELDS, OPTION_FIELDS}},
                                .turns = no_turns,
                                .access = access_options},
    [RS_TSENG_LBM] = {.name = "LBM",
                      .warps = CELL_WARPS,
                      .resident = 16,
                      .instructions = {279, 563},
                      .array_count = 2,
                      .arrays = {{CELLS * CELL_FIELDS, CELL_FIELDS},
                                 {CELLS * CELL_FIELDS, CELL_FIELDS}},
                      .turns = no_turns,
                      .access = access_cells},
    [RS_TSENG_SPMV] = {.name = "SpMV",
                       .warps = ROWS / WARP,
                       .resident = 48,
                       .instructions = {38, 40},
                       .looped = {14, 23},
                       .array_count = 6,
                       .arrays = {[ENTRIES] = {2 * NONZEROS, 2},
                                  [LENGTHS] = {ROWS / WARP, 0},
                                  [STARTS] = {LONGEST, 0},
                                  [VECTOR] = {ROWS, 0},
                                  [PERMUTATION] = {ROWS, 0},
                                  [RESULT] = {ROWS, 0}},
                       .turns = row_turns,
                       .access = access_rows}};

const char *rs_tseng_kernel_name(rs_tseng_kernel kernel)
{
    return kernels[kernel].name;
}

/* ---- the run ---- */

typedef struct {
    const rs_tseng_run *run;
    const kernel_shape *kernel;
    size_t begins[MOST_ARRAYS];
    rs_sim_memory *memory;
    size_t waits;
    size_t delayed_waits; /* for loads of which some were translated */
} experiment;

static void place_arrays(experiment *e)
{
    enum { ALIGNMENT = 256 };
    size_t begin = 0;
    for (size_t a = 0; a < e->kernel->array_count; a++) {
        const array_shape *shape = &e->kernel->arrays[a];
        /* The last chunk is filled up. */
        size_t chunk = shape->fields > 0 ? shape->fields * e->run->tile : 1;
        e->begins[a] = begin;
        begin += (shape->words + chunk - 1) / chunk * chunk * WORD;
        begin = (begin + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

static bool is_translated(const experiment *e, size_t array)
{
    return e->kernel->arrays[array].fields > 0 && e->run->version != RS_TSENG_AOS;
}

static void make_access(experiment *e, const step *made)
{
    uint64_t addresses[WARP];
    size_t begin = e->begins[made->array];
    size_t fields = e->kernel->arrays[made->array].fields;
    bool translated = is_translated(e, made->array);
    for (size_t lane = 0; lane < WARP; lane++) {
        size_t address = begin + made->elements[lane] * WORD;
        addresses[lane] =
            translated ? rs_translate_address(address, begin, WORD, fields, e->run->tile) : address;
    }
    rs_sim_access(e->memory, addresses, WARP, WORD, made->writes);
}

/* Makes a warp's accesses from the n-th on until one waits; returns the number of that one, or 0 at
 * the end. */
static size_t run_warp(experiment *e, size_t warp, size_t n)
{
    step made;
    bool translated = false;
    size_t processors = rs_sim_memory_device(e->memory)->processors;
    rs_sim_resume_warp(e->memory, warp % processors);
    for (size_t first = n; e->kernel->access(warp, n, &made); n++) {
        if (made.waits && n > first) {
            e->waits++;
            e->delayed_waits += translated ? 1 : 0;
            return n;
        }
        make_access(e, &made);
        translated = translated || is_translated(e, made.array);
    }
    return 0;
}

/* The warps [first, last) are resident together and go on in turns. */
static void run_resident(experiment *e, size_t first, size_t last)
{
    size_t next[MOST_RESIDENT] = {0};
    size_t ended = 0;
    for (size_t warp = first; warp < last; warp++)
        rs_sim_start_warp(e->memory);
    for (bool begins = true; ended < last - first; begins = false)
        for (size_t warp = first; warp < last; warp++) {
            size_t *at = &next[warp - first];
            if (!begins && *at == 0)
                continue;
            *at = run_warp(e, warp, *at);
            ended += *at == 0 ? 1 : 0;
        }
    rs_sim_resume_warp(e->memory, (last - 1) % rs_sim_memory_device(e->memory)->processors);
}

/* Counts instructions, and the waits that a processor's other resident warps cannot fill. Warps are
 * spread evenly. */
static void add_warps(const experiment *e, size_t processors, rs_tseng_times *times)
{
    const kernel_shape *kernel = e->kernel;
    size_t version = e->run->version == RS_TSENG_ASTA ? 1 : 0;
    size_t delay = e->run->version == RS_TSENG_DLT ? e->run->delay_cycles : 0;
    double instructions = 0;
    for (size_t warp = 0; warp < kernel->warps; warp++)
        instructions +=
            (double)(kernel->instructions[version] + kernel->turns(warp) * kernel->looped[version]);
    times->issue_ns = instructions / (double)processors * cycle_ns;
    times->latency_ns = ((double)e->waits * LATENCY_CYCLES + (double)(e->delayed_waits * delay)) *
                        cycle_ns / (double)(processors * kernel->resident);
}

restride_status rs_tseng_simulate(const rs_tseng_run *run, rs_tseng_times *times)
{
    static const char name[] = "gtx480";
    rs_sim_device device;
    memset(times, 0, sizeof *times);
    if (run->tile == 0 || run->tile > WARP * WARP)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "A tile of %zu elements is not possible.",
                       run->tile);
    restride_status status = rs_sim_device_parse(&device, rs_sim_device_text(name), name);
    if (status != RESTRIDE_OK)
        return status;
    experiment e = {.run = run, .kernel = &kernels[run->kernel]};
    status = rs_sim_memory_create(&e.memory, &device);
    if (status != RESTRIDE_OK)
        return status;
    place_arrays(&e);
    size_t together = device.processors * e.kernel->resident;
    for (size_t first = 0; first < e.kernel->warps; first += together)
        run_resident(&e, first,
                     first + together < e.kernel->warps ? first + together : e.kernel->warps);
    times->counts = rs_sim_finish(e.memory);
    add_warps(&e, device.processors, times);
    const double parts[] = {times->issue_ns, times->latency_ns, times->counts.access_ns,
                            times->counts.memory_ns};
    times->ns = rs_sim_joined(parts, sizeof parts / sizeof parts[0], device.overlap);
    rs_sim_memory_destroy(e.memory);
    return RESTRIDE_OK;
}
