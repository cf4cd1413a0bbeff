/* The host engine: its threads, its caches, its scratch memory, and the table of its methods. */
#include "restride/engine.h"
#include "base/arithmetic.h"
#include "engine/host/host.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LINE_BYTES = 64,
    HUGE_PAGE_BYTES = 2 << 20,
    DEFAULT_CHIP_BYTES = 256 << 10,
    SERIAL_BYTES = 1 << 20,
    STAGE_PART = 4, /* a stage of less than serial_bytes / 4 has one thread */
    MOST_TILE_BYTES = 4 << 20,
    MOST_THREADS = 256,
    LEAST_KEPT_BYTES = 128 << 10, /* malloc() keeps less */
    MOST_KEPT_BYTES = 8 << 20
};

/*
 * Scratch memory that stays with the engine between runs, for one run at a time. The pages of new
 * memory come one after the other, which takes 1 ms for 4 MiB: three times as long as a pass over
 * 4 MB.
 */
typedef struct {
    atomic_bool taken; /* who took it may change the rest; no lock, which a fork() might leave */
    _Atomic(void *) block;
    size_t bytes;
} kept_scratch;

typedef struct {
    restride_engine base;
    rs_engine_traits traits;
    kept_scratch kept;
} host_engine;

static const rs_host_method methods[] = {
    [RS_TRANSPOSE_PANELS] = {"010!", "block through a buffer in cache", rs_host_panels_prepare,
                             rs_host_panels_work},
    [RS_TRANSPOSE_CHAINS] = {"100!", "planned chains", rs_host_chains_prepare, rs_host_chains_work},
    [RS_TRANSPOSE_SQUARE] = {"square", "mirror tiles change places", rs_host_square_prepare,
                             rs_host_square_work},
    [RS_TRANSPOSE_TILES] = {"tiles", "mirror tiles of each square change places",
                            rs_host_square_prepare, rs_host_square_work},
    [RS_TRANSPOSE_REVERSE] = {"210!", "planned chains", rs_host_chains_prepare,
                              rs_host_chains_work},
    [RS_TRANSPOSE_JOIN] = {"pad", "rows move apart", rs_host_join_prepare, rs_host_join_work},
    [RS_TRANSPOSE_SPLIT] = {"unpad", "rows move together", rs_host_join_prepare,
                            rs_host_split_work},
    [RS_TRANSPOSE_PIPT] = {"100!", "P-IPT: a thread a cycle", rs_host_pipt_prepare,
                           rs_host_pipt_work},
    [RS_TRANSPOSE_PTTWAC] = {"100!", "PTTWAC: claimed flags", rs_host_pttwac_prepare,
                             rs_host_pttwac_work},
    [RS_TRANSPOSE_COPY] = {"copy", "transposed into scratch and copied back", rs_host_copy_prepare,
                           rs_host_copy_work},
    [RS_TRANSPOSE_FUSED] = {"1000! 0010!", "planned chains of matrices", rs_host_fused_prepare,
                            rs_host_fused_work},
    [RS_TRANSPOSE_UNZIP] = {"unzip", "members of several sizes through a buffer in cache",
                            rs_host_unzip_prepare, rs_host_unzip_work},
    [RS_TRANSPOSE_ZIP] = {"zip", "members of several sizes through a buffer in cache",
                          rs_host_unzip_prepare, rs_host_zip_work},
    [RS_TRANSPOSE_REORDER] = {"reorder", "parts slide past each other", rs_host_reorder_prepare,
                              rs_host_reorder_work},
    [RS_TRANSPOSE_C2R_ROTATE] = {"C2R rotate", "panels of columns through a buffer in cache",
                                 rs_host_columns_prepare, rs_host_columns_work},
    [RS_TRANSPOSE_C2R_ROWS] = {"C2R rows", "groups of rows through a buffer in cache",
                               rs_host_rows_prepare, rs_host_rows_work},
    [RS_TRANSPOSE_C2R_COLUMNS] = {"C2R columns", "panels of columns through a buffer in cache",
                                  rs_host_columns_prepare, rs_host_columns_work},
    [RS_TRANSPOSE_ON_CHIP] = {"on chip", "all of an array through scratch memory",
                              rs_host_axes_prepare, rs_host_axes_work},
    [RS_TRANSPOSE_BOXES] = {"boxes", "all of an array through scratch memory",
                            rs_host_slots_prepare, rs_host_boxes_work},
    [RS_TRANSPOSE_SLOTS] = {"slots", "all of an array through scratch memory",
                            rs_host_slots_prepare, rs_host_slots_work},
    [RS_TRANSPOSE_R2C_COLUMNS] = {"R2C columns", "panels of columns through a buffer in cache",
                                  rs_host_columns_prepare, rs_host_columns_work},
    [RS_TRANSPOSE_R2C_ROWS] = {"R2C rows", "groups of rows through a buffer in cache",
                               rs_host_rows_prepare, rs_host_rows_work},
    [RS_TRANSPOSE_R2C_ROTATE] = {"R2C rotate", "panels of columns through a buffer in cache",
                                 rs_host_columns_prepare, rs_host_columns_work},
};

/* The bytes of what a stage moves as a whole. */
static size_t element_bytes(const rs_transpose_task *task)
{
    bool matrices = task->method == RS_TRANSPOSE_FUSED;
    return matrices ? task->inner_rows * task->inner_cols * task->unit : task->unit;
}

void rs_host_fit_threads(rs_host_stage *stage, size_t shared_bytes, size_t own_bytes,
                         size_t scratch_limit)
{
    size_t apart = own_bytes + (LINE_BYTES - own_bytes % LINE_BYTES) % LINE_BYTES;
    shared_bytes += (LINE_BYTES - shared_bytes % LINE_BYTES) % LINE_BYTES;
    while (stage->threads > 1 && shared_bytes + stage->threads * apart > scratch_limit)
        stage->threads--;
    /* A thread that is alone needs no line between its bytes and others'. */
    stage->own_bytes = stage->threads > 1 ? apart : own_bytes;
    stage->scratch_bytes = shared_bytes + stage->threads * stage->own_bytes;
}

static rs_engine_traits traits(const restride_engine *base)
{
    return ((const host_engine *)base)->traits;
}

static restride_status create_stage(const host_engine *engine, const rs_transpose_task *task,
                                    size_t scratch_limit, rs_host_stage **created)
{
    *created = NULL;
    rs_host_stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL)
        return rs_fail_memory("a stage");
    size_t block = task->rows * (task->cols + task->tail) * element_bytes(task);
    stage->base.engine = (restride_engine *)(uintptr_t)&engine->base;
    stage->method = &methods[task->method];
    stage->task = *task;
    stage->tile = rs_host_tile_choose(task->unit, task->method == RS_TRANSPOSE_TILES
                                                      ? task->tile
                                                      : rs_size_smaller(task->rows, task->cols));
    size_t repeats = task->repeats > 1 ? task->repeats : 1;
    size_t middle = task->method == RS_TRANSPOSE_REVERSE ? task->tile : 1;
    size_t bytes = repeats * task->outer * task->count * block * middle;
    size_t serial = engine->traits.serial_bytes;
    stage->threads = bytes < serial / STAGE_PART
                         ? 1
                         : rs_engine_workers(&engine->traits, rs_size_larger(bytes, serial));
    restride_status status = stage->method->prepare(stage, scratch_limit);
    if (status != RESTRIDE_OK) {
        free(stage);
        return status;
    }
    *created = stage;
    return RESTRIDE_OK;
}

static restride_status create_transpose(restride_engine *base, const rs_transpose_task *task,
                                        size_t scratch_limit, rs_stage **created)
{
    *created = NULL;
    rs_host_stage *stage;
    restride_status status = create_stage((const host_engine *)base, task, scratch_limit, &stage);
    if (status == RESTRIDE_OK)
        *created = &stage->base;
    return status;
}

/* Tiles of records: 010! when all members have one size. */
static rs_transpose_task tile_task(const rs_marshal_task *task, const rs_piece *pieces,
                                   size_t piece_count)
{
    bool to_asta = task->direction == RS_AOS_TO_ASTA;
    rs_transpose_task tiles = {.outer = 1, .count = task->count / task->tile};
    if (piece_count == 1) {
        tiles.method = RS_TRANSPOSE_PANELS;
        tiles.rows = to_asta ? task->tile : pieces->count;
        tiles.cols = to_asta ? pieces->count : task->tile;
        tiles.unit = pieces->unit;
    } else {
        tiles.method = to_asta ? RS_TRANSPOSE_UNZIP : RS_TRANSPOSE_ZIP;
        tiles.rows = task->tile;
        tiles.cols = task->record->size;
        tiles.unit = 1;
        tiles.pieces = pieces;
        tiles.piece_count = piece_count;
    }
    return tiles;
}

/* The ragged tile is one block more behind the whole ones. */
static restride_status create_marshal(restride_engine *base, const rs_marshal_task *task,
                                      rs_stage **created)
{
    *created = NULL;
    if (task->tile > MOST_TILE_BYTES / task->record->size)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "A tile of %zu records of %zu bytes exceeds the %d bytes of scratch that a "
                       "thread may have; choose a smaller tile.",
                       task->tile, task->record->size, MOST_TILE_BYTES);
    rs_piece *pieces = malloc((rs_pieces_of_record(task->record, NULL) + 1) * sizeof *pieces);
    if (pieces == NULL)
        return rs_fail_memory("the members of a record");
    const rs_transpose_task tiles =
        tile_task(task, pieces, rs_pieces_of_record(task->record, pieces));
    rs_host_stage *stage;
    restride_status status = create_stage((const host_engine *)base, &tiles, SIZE_MAX, &stage);
    free(pieces);
    if (status != RESTRIDE_OK)
        return status;
    size_t ragged = task->count % task->tile;
    stage->rest = tiles;
    stage->rest.count = ragged != 0;
    if (tiles.method == RS_TRANSPOSE_PANELS && task->direction == RS_ASTA_TO_AOS)
        stage->rest.cols = ragged;
    else
        stage->rest.rows = ragged;
    *created = &stage->base;
    return RESTRIDE_OK;
}

static size_t scratch_bytes(const rs_stage *base, size_t *kept)
{
    const rs_host_stage *stage = (const rs_host_stage *)base;
    *kept = rs_host_cycles_bytes(&stage->cycles) + stage->task.piece_count * sizeof *stage->pieces;
    return stage->scratch_bytes;
}

static void *allocate_scratch(size_t bytes)
{
    void *block = NULL;
    const size_t alignment = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : LINE_BYTES;
    if (posix_memalign(&block, alignment, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_PAGE_BYTES)
        madvise(block, bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES, MADV_HUGEPAGE);
#endif
    return block;
}

/* NULL: another run has it, or there is no memory. */
static void *take_kept(kept_scratch *kept, size_t bytes)
{
    if (atomic_exchange(&kept->taken, true))
        return NULL;
    void *block = kept->block;
    if (kept->bytes < bytes) {
        kept->block = NULL; /* before another thread may be given that address */
        free(block);
        block = allocate_scratch(bytes);
        kept->bytes = block == NULL ? 0 : bytes;
        kept->block = block;
    }
    if (block == NULL)
        atomic_store(&kept->taken, false);
    return block;
}

static bool give_back_kept(kept_scratch *kept, const void *block)
{
    const bool own = kept->block == block;
    if (own)
        atomic_store(&kept->taken, false);
    return own;
}

static restride_status acquire_scratch(restride_engine *base, size_t bytes, void **scratch)
{
    host_engine *engine = (host_engine *)base;
    const bool may_stay = bytes >= LEAST_KEPT_BYTES && bytes <= MOST_KEPT_BYTES;
    *scratch = may_stay ? take_kept(&engine->kept, bytes) : NULL;
    if (*scratch == NULL)
        *scratch = allocate_scratch(bytes);
    return *scratch != NULL
               ? RESTRIDE_OK
               : rs_fail(RESTRIDE_OUT_OF_MEMORY,
                         "There is not enough memory for %zu bytes of scratch.", bytes);
}

static void release_scratch(restride_engine *base, size_t bytes, void *scratch)
{
    (void)bytes;
    if (!give_back_kept(&((host_engine *)base)->kept, scratch))
        free(scratch);
}

static restride_status check_buffer(restride_engine *base, void *buffer, size_t bytes,
                                    rs_buffer_use use)
{
    (void)base;
    (void)use;
    if ((uintptr_t)buffer > UINTPTR_MAX - bytes)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A buffer of %zu bytes at %p goes beyond the end of memory; check the "
                       "pointer and the sizes of the plan.",
                       bytes, buffer);
    return RESTRIDE_OK;
}

/* What each thread does: the method's work, as often as the task repeats it. */
static void work(void *context, const rs_host_member *member)
{
    rs_host_run *run = context;
    const rs_transpose_task *task = &run->stage->task;
    run->stage->method->work(run, member);
    for (size_t i = 1; i < task->repeats; i++) {
        rs_host_team_wait(member);
        if (member->index == 0)
            run->data += task->repeat_pitch;
        rs_host_loop_again(member);
        rs_host_team_wait(member);
        run->stage->method->work(run, member);
    }
}

static restride_status run(const rs_stage *base, void *buffer, void *scratch, rs_progress *progress,
                           rs_under_way *under_way)
{
    (void)under_way;
    const rs_host_stage *stage = (const rs_host_stage *)base;
    unsigned char *data = (unsigned char *)buffer + stage->task.offset;
    rs_host_run shared = {stage, data, scratch, progress};
    rs_host_team_run(stage->threads, work, &shared);
    if (stage->rest.count != 0) {
        const rs_transpose_task *whole = &stage->task;
        rs_host_stage last = *stage;
        last.task = stage->rest;
        unsigned char *behind = data + whole->count * whole->rows * whole->cols * whole->unit;
        rs_host_run alone = {&last, behind, scratch, progress};
        rs_host_team_run(1, work, &alone);
    }
    return RESTRIDE_OK;
}

static json_t *describe_stage(const rs_stage *base)
{
    const rs_host_stage *stage = (const rs_host_stage *)base;
    const rs_transpose_task *task = &stage->task;
    json_t *object = json_pack("{s:s, s:s, s:s}", "name", stage->method->elementary, "method",
                               stage->method->name, "tiles", stage->tile.name);
    const rs_named_number numbers[] = {
        {"blocks", (task->repeats > 1 ? task->repeats : 1) * task->outer * task->count},
        {"rows", task->rows},
        {"cols", task->cols},
        {"offset", task->offset},
        {"tail", task->tail},
        {"pieces", task->piece_count},
        {"element_bytes", element_bytes(task)},
        {"threads", stage->threads},
        {"chains", stage->cycles.chains},
        {"scratch_bytes", stage->scratch_bytes},
        {"tile", task->tile}, /* where there is one */
    };
    return rs_describe_numbers(object, numbers,
                               sizeof numbers / sizeof numbers[0] - (task->tile == 0));
}

static json_t *describe_device(const restride_engine *base)
{
    (void)base;
    return rs_host_describe_device();
}

static void destroy_stage(rs_stage *base)
{
    rs_host_stage *stage = (rs_host_stage *)base;
    rs_host_cycles_free(&stage->cycles);
    free(stage->pieces);
    free(stage->slots);
    free(stage);
}

static void destroy(restride_engine *base)
{
    host_engine *engine = (host_engine *)base;
    free(engine->kept.block);
    free(engine);
}

static const rs_engine_operations operations = {
    .name = "host",
    .traits = traits,
    .create_marshal = create_marshal,
    .create_transpose = create_transpose,
    .scratch_bytes = scratch_bytes,
    .acquire_scratch = acquire_scratch,
    .release_scratch = release_scratch,
    .check_buffer = check_buffer,
    .run = run,
    .describe_stage = describe_stage,
    .describe_device = describe_device,
    .copy = &rs_host_copies,
    .peer = &rs_host_peer,
    .destroy_stage = destroy_stage,
    .destroy = destroy,
};

/* Half of the second-level cache: a block passes through together with its copy. */
static size_t measure_chip(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (bytes > 0)
        return (size_t)bytes / 2;
#endif
    return DEFAULT_CHIP_BYTES;
}

restride_status rs_host_engine_create(restride_engine **engine, int threads, size_t serial_bytes)
{
    if (engine != NULL)
        *engine = NULL;
    if (engine == NULL || threads < 0 || threads > MOST_THREADS)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_engine_create_host needs a place for the engine and 0 (all) to %d "
                       "threads.",
                       MOST_THREADS);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = threads > 0 ? (size_t)threads : online > 0 ? (size_t)online : 1;
    host_engine *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("an engine");
    created->base.operations = &operations;
    created->traits = (rs_engine_traits){.chip_bytes = measure_chip(),
                                         .line_bytes = LINE_BYTES,
                                         .workers = workers < MOST_THREADS ? workers : MOST_THREADS,
                                         .serial_bytes = serial_bytes};
    *engine = &created->base;
    return RESTRIDE_OK;
}

restride_status restride_engine_create_host(restride_engine **engine, int threads)
{
    return rs_host_engine_create(engine, threads, SERIAL_BYTES);
}
