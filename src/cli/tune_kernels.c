/* restride tune --kernels: compiles all kinds of CUDA kernels for the user's device, at once. Each
 * is kept, as those that plans ask for one by one. */
#include "cli/tune_kernels.h"

#include "console/progress.h"
#include "engine/cuda/precompile/kinds.h"

restride_status rs_tune_kernels(restride_engine *engine)
{
    rs_progress_bar bar;
    restride_status status = RESTRIDE_OK;
    rs_progress_bar_begin(&bar);
    for (size_t i = 0; status == RESTRIDE_OK && i < RS_KINDS_COUNT; i++) {
        status = plan_random(engine, RS_KINDS_LEAST_BYTES);
        rs_progress_bar_tell_part(&bar, (double)i / RS_KINDS_COUNT);
    }
    if (status == RESTRIDE_OK)
        status = plan_records(engine);
    if (status == RESTRIDE_OK)
        status = plan_quotients(engine);
    rs_progress_bar_end(&bar);
    return status;
}
