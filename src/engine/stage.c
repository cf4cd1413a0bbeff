/* What all engines share. */
#include "engine/stage.h"
#include "base/arithmetic.h"

#include <stdlib.h>

static void detach(rs_attachment *attachment)
{
    if (attachment == NULL)
        return;
    pthread_mutex_destroy(&attachment->lock);
    attachment->destroy(attachment);
}

rs_attachment *rs_engine_attach(_Atomic(rs_attachment *) *place, size_t size,
                                void (*destroy)(rs_attachment *attachment))
{
    rs_attachment *present = atomic_load(place);
    rs_attachment *created = present == NULL ? calloc(1, size) : NULL;
    if (created == NULL)
        return present;
    created->destroy = destroy;
    pthread_mutex_init(&created->lock, NULL);
    if (atomic_compare_exchange_strong(place, &present, created))
        return created;
    detach(created);
    return present;
}

void restride_engine_destroy(restride_engine *engine)
{
    if (engine == NULL)
        return;
    detach(atomic_load(&engine->kept));
    detach(atomic_load(&engine->wisdom));
    engine->operations->destroy(engine);
}

size_t rs_engine_workers(const rs_engine_traits *traits, size_t bytes)
{
    enum { SHARES = 4 };
    size_t share = traits->serial_bytes / SHARES;
    if (bytes < traits->serial_bytes)
        return 1;
    return share == 0 ? traits->workers : rs_size_smaller(traits->workers, bytes / share);
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
