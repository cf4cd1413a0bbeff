/* What all engines share. */
#include "engine/stage.h"
#include "base/arithmetic.h"

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
