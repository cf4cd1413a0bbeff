/* What all engines share. */
#include "engine/stage.h"
#include "base/arithmetic.h"

#include <math.h>
#include <stdint.h>

void restride_engine_destroy(restride_engine *engine)
{
    if (engine == NULL)
        return;
    rs_attachment *attachments[] = {atomic_load(&engine->kept), atomic_load(&engine->wisdom)};
    for (size_t i = 0; i < sizeof attachments / sizeof attachments[0]; i++)
        if (attachments[i] != NULL)
            attachments[i]->destroy(attachments[i]);
    engine->operations->destroy(engine);
}

size_t rs_pieces_of_record(const rs_record *record, rs_piece *pieces)
{
    size_t count = 0;
    size_t run;
    for (size_t leaf = 0; leaf < record->leaf_count; leaf += run, count++) {
        run = rs_record_run(record, leaf);
        if (pieces != NULL)
            pieces[count] = (rs_piece){run, record->leaves[leaf].size, count};
    }
    return count;
}

json_t *rs_describe_numbers(json_t *object, const rs_named_number numbers[], size_t count)
{
    for (size_t i = 0; object != NULL && i < count; i++) {
        json_t *number = json_integer((json_int_t)numbers[i].value);
        if (json_object_set_new(object, numbers[i].name, number) == 0)
            continue;
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- what baselines cost: only the choice of tiles depends on it ---- */

enum { FLAG_BITS = 32, CLAIM_WORD = 8, MOST_CLAIM_WORDS = 64 };

/* A super-element on chip, and the answer to a question. */
static bool is_held(const rs_transpose_task *task, size_t chip_bytes)
{
    return task->unit + CLAIM_WORD <= chip_bytes;
}

/* A thread holds an element of a tile. */
static bool is_followed(const rs_transpose_task *task)
{
    size_t word = rs_size_gcd(rs_size_gcd(task->unit, task->offset), CLAIM_WORD);
    if (task->outer > 1)
        word = rs_size_gcd(word, task->pitch);
    return task->unit / word <= MOST_CLAIM_WORDS;
}

static size_t flag_bytes(size_t flags)
{
    return (flags / FLAG_BITS + 1) * sizeof(uint32_t);
}

/* Those of a tile are all on chip, with one word in 32 more where they are padded. */
static bool has_room_for_flags(const rs_transpose_task *task, size_t chip_bytes)
{
    size_t spreading = task->spreading > 1 ? task->spreading : 1;
    size_t flags = flag_bytes(task->rows * task->cols * spreading);
    return flags + flags / FLAG_BITS + sizeof(uint32_t) <= chip_bytes;
}

double rs_baseline_cost(const rs_transpose_task *task, size_t chip_bytes, size_t scratch_limit)
{
    double claims = 1000 / (double)task->unit;
    switch (task->method) {
    case RS_TRANSPOSE_PIPT:
        return is_held(task, chip_bytes) ? 40 + claims : INFINITY;
    case RS_TRANSPOSE_PTTWAC:
        return is_held(task, chip_bytes) &&
                       flag_bytes(task->rows * task->cols) <= scratch_limit / task->outer
                   ? 15 + claims
                   : INFINITY;
    case RS_TRANSPOSE_PIPT_PANELS:
        return is_followed(task) ? 40 : INFINITY;
    case RS_TRANSPOSE_PTTWAC_PANELS:
        return is_followed(task) && has_room_for_flags(task, chip_bytes) ? 15 : INFINITY;
    default:
        return INFINITY;
    }
}

double rs_fused_wait(const rs_transpose_task *task, size_t scratch_limit)
{
    double tile = (double)(task->inner_rows * task->inner_cols * task->unit);
    return 150 * tile / (double)scratch_limit;
}
