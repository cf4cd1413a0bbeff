/* Opening the way between the host and a device; see transfer.h. */
#include "engine/transfer.h"

restride_status rs_transfer_open(restride_engine *engine, rs_transfer **transfer)
{
    *transfer = NULL;
    if (engine->operations->transfer == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The %s engine has no memory of its own to transfer to; use the OpenCL or "
                       "the CUDA engine.",
                       engine->operations->name);
    return engine->operations->transfer->open(engine, transfer);
}
