/* What all engines share. */
#include "engine/stage.h"

void restride_engine_destroy(restride_engine *engine)
{
    if (engine != NULL)
        engine->operations->destroy(engine);
}
