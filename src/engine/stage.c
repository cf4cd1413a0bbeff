/* What all engines share. */
#include "engine/stage.h"

void restride_engine_destroy(restride_engine *engine)
{
    if (engine == NULL)
        return;
    rs_attachment *wisdom = atomic_load(&engine->wisdom);
    if (wisdom != NULL)
        wisdom->destroy(wisdom);
    engine->operations->destroy(engine);
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
