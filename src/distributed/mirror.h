/*
 * A square matrix by blocks of rows that becomes one by blocks of columns: elements (i, j) and
 * (j, i) change places. Each two processes exchange mirror blocks between their devices, tile for
 * tile, and each one transposes the block on its diagonal. No local pass brings anything together,
 * so every byte is read and written once.
 */
#ifndef RS_DISTRIBUTED_MIRROR_H
#define RS_DISTRIBUTED_MIRROR_H

#include "distributed/peers.h"
#include "layout/layout.h"

typedef struct {
    size_t side; /* elements; 0: it is none */
    size_t block;
    size_t unit;
} rs_mirror;

/* What two layouts ask for; `unit`: bytes of an element, 0 with a record. */
rs_mirror rs_mirror_find(const restride_layout *from, const restride_layout *to, size_t unit);

/*
 * Carries it out where all processes reach their partners' buffers: *done. If not, the buffer is as
 * before. The moves name the partners. Collective, as rs_peers_map(); rs_peers_unmap() follows.
 */
restride_status rs_mirror_run(const rs_mirror *mirror, rs_peers *peers, restride_group *group,
                              restride_engine *engine, void *buffer, const rs_message moves[],
                              size_t count, uint64_t work, bool *done);

#endif
