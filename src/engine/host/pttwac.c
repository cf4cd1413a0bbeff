/*
 * 100! by PTTWAC: threads follow the cycles together and claim each position before they store to
 * it (claims.h; Sung thesis, section 4.6). A baseline to measure planned chains against, taken only
 * when it is asked for by name.
 *
 * Scratch: a bit an element, and two elements a thread.
 */
#include "engine/host/claims.h"
#include "engine/host/host.h"

#include <string.h>

/* Elements are moved by the widest words that divide them: each access to one is atomic. */
typedef struct {
    size_t width;
    void (*load)(unsigned char *own, unsigned char *shared, size_t bytes);
    void (*store)(unsigned char *shared, const unsigned char *own, size_t bytes);
} words;

#define RS_WORDS(type)                                                                             \
    static void load_##type(unsigned char *own, unsigned char *shared, size_t bytes)               \
    {                                                                                              \
        _Atomic(type) *source = (_Atomic(type) *)(void *)shared;                                   \
        for (size_t i = 0; i < bytes / sizeof(type); i++) {                                        \
            type word = atomic_load_explicit(&source[i], memory_order_relaxed);                    \
            memcpy(own + i * sizeof(type), &word, sizeof(type));                                   \
        }                                                                                          \
    }                                                                                              \
    static void store_##type(unsigned char *shared, const unsigned char *own, size_t bytes)        \
    {                                                                                              \
        _Atomic(type) *target = (_Atomic(type) *)(void *)shared;                                   \
        for (size_t i = 0; i < bytes / sizeof(type); i++) {                                        \
            type word;                                                                             \
            memcpy(&word, own + i * sizeof(type), sizeof(type));                                   \
            atomic_store_explicit(&target[i], word, memory_order_relaxed);                         \
        }                                                                                          \
    }

RS_WORDS(uint8_t)
RS_WORDS(uint16_t)
RS_WORDS(uint32_t)
RS_WORDS(uint64_t)

static const words *choose_words(const unsigned char *data, const rs_transpose_task *task)
{
    static const words all[] = {
        {8, load_uint64_t, store_uint64_t},
        {4, load_uint32_t, store_uint32_t},
        {2, load_uint16_t, store_uint16_t},
        {1, load_uint8_t, store_uint8_t},
    };
    uintptr_t aligned = (uintptr_t)data | task->unit | task->pitch;
    const words *chosen = all;
    while (aligned % chosen->width != 0)
        chosen++;
    return chosen;
}

restride_status rs_host_pttwac_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    /* Sources of the way back are the destinations of the way there. */
    rs_host_cycles_begin(&stage->cycles, task->cols, task->rows);
    size_t positions = task->outer * task->rows * task->cols;
    rs_host_fit_threads(stage, rs_claim_words(positions) * sizeof(rs_claim_word), 2 * task->unit,
                        scratch_limit);
    return RESTRIDE_OK;
}

/* One matrix as one thread sees it. */
typedef struct {
    const rs_host_cycles *destinations;
    const words *words;
    unsigned char *matrix;
    size_t unit;
    rs_claim_word *claims;
    size_t first_claim; /* of this matrix */
    unsigned char *held;
    unsigned char *next;
} field;

/* Moves elements from `start` along its cycle until another thread has been there; the number of
 * elements moved. */
static size_t follow(field *f, size_t start)
{
    size_t position = rs_host_source(f->destinations, start);
    if (position == start || rs_claim_seen(f->claims, f->first_claim + start))
        return 0;
    f->words->load(f->held, f->matrix + start * f->unit, f->unit);
    if (!rs_claim_confirm(f->claims, f->first_claim + start))
        return 0;
    size_t moved = 0;
    for (; rs_claim_take(f->claims, f->first_claim + position); moved++) {
        unsigned char *element = f->matrix + position * f->unit;
        f->words->load(f->next, element, f->unit);
        f->words->store(element, f->held, f->unit);
        unsigned char *swap = f->held;
        f->held = f->next;
        f->next = swap;
        position = rs_host_source(f->destinations, position);
    }
    return moved;
}

/* Clear for each run: the scratch memory was another stage's before. */
static void clear_claims(rs_claim_word *claims, size_t count, const rs_host_member *member)
{
    size_t begin;
    size_t end;
    rs_host_team_share(member, count, &begin, &end);
    for (size_t i = begin; i < end; i++)
        atomic_init(&claims[i], 0);
    rs_host_team_wait(member);
}

void rs_host_pttwac_work(void *context, const rs_host_member *member)
{
    rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const rs_transpose_task *task = &stage->task;
    size_t total = task->rows * task->cols;
    size_t chunk_size = rs_host_chunk(total, member->count);
    size_t chunks = (total - 1) / chunk_size + 1;
    unsigned char *own =
        run->scratch + stage->scratch_bytes - (member->index + 1) * stage->own_bytes;
    field f = {.destinations = &stage->cycles,
               .words = choose_words(run->data, task),
               .unit = task->unit,
               .claims = (rs_claim_word *)(void *)run->scratch,
               .held = own,
               .next = own + task->unit};
    clear_claims(f.claims, rs_claim_words(task->outer * total), member);
    rs_host_loop loop = rs_host_loop_begin(member, task->outer * chunks, 1);
    for (size_t chunk, after; rs_host_loop_next(&loop, &chunk, &after);) {
        f.matrix = run->data + chunk / chunks * task->pitch;
        f.first_claim = chunk / chunks * total;
        size_t begin = chunk % chunks * chunk_size;
        size_t end = total - begin < chunk_size ? total : begin + chunk_size;
        size_t moved = 0;
        for (size_t start = begin; start < end; start++)
            moved += follow(&f, start);
        rs_host_done(run, moved * f.unit);
    }
}
