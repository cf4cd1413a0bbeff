/* Pinned memory of the host (restride/transfer.h). */
#include "engine/transfer.h"
#include "restride/transfer.h"

#include <stdlib.h>

struct restride_host_memory {
    rs_transfer *transfer;
    rs_pinned pinned;
};

restride_status restride_host_memory_create(restride_host_memory **memory, restride_engine *engine,
                                            size_t bytes)
{
    if (memory != NULL)
        *memory = NULL;
    if (memory == NULL || engine == NULL || bytes == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_host_memory_create needs an engine, at least one byte and a "
                       "place for the memory.");
    restride_host_memory *created = calloc(1, sizeof *created);
    if (created == NULL)
        return rs_fail_memory("pinned memory");
    restride_status status = rs_transfer_open(engine, &created->transfer);
    if (status == RESTRIDE_OK)
        status = created->transfer->operations->pin(created->transfer, bytes, &created->pinned);
    if (status != RESTRIDE_OK) {
        restride_host_memory_destroy(created);
        return status;
    }
    *memory = created;
    return RESTRIDE_OK;
}

void *restride_host_memory_pointer(const restride_host_memory *memory)
{
    return memory == NULL ? NULL : memory->pinned.pointer;
}

void restride_host_memory_destroy(restride_host_memory *memory)
{
    if (memory == NULL)
        return;
    if (memory->transfer != NULL) {
        memory->transfer->operations->unpin(memory->transfer, &memory->pinned);
        memory->transfer->operations->close(memory->transfer);
    }
    free(memory);
}
