/* Mirror blocks: see mirror.h. */
#include "distributed/mirror.h"
#include "base/arithmetic.h"
#include "engine/peer.h"

enum { LARGEST_UNIT = 256, ROWS_TOGETHER = 64 };

/* ---- what is one ---- */

/* "@a/B a%B b": the block B, or 0. */
static size_t block_of(const restride_layout *layout, int a, int b)
{
    size_t block = 0;
    size_t moduli[2] = {0, 0};
    int own = 0;
    if (layout->rank != 2 || layout->record >= 0 || layout->term_count != 3)
        return 0;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->spread && term->dimension == a && term->modulus == 0)
            block = term->divisor;
        else if (!term->spread && own < 2 && term->divisor == 1 &&
                 term->dimension == (own == 0 ? a : b))
            moduli[own++] = term->modulus;
    }
    return own == 2 && moduli[0] == block && moduli[1] == 0 ? block : 0;
}

rs_mirror rs_mirror_find(const restride_layout *from, const restride_layout *to, size_t unit)
{
    rs_mirror mirror = {0};
    if (from->rank != 2 || unit == 0 || unit > LARGEST_UNIT ||
        from->dimensions[0].extent != from->dimensions[1].extent)
        return mirror;
    for (int a = 0; a < 2; a++) {
        const size_t block = block_of(from, a, 1 - a);
        if (block != 0 && block == block_of(to, 1 - a, a))
            mirror = (rs_mirror){from->dimensions[0].extent, block, unit};
    }
    return mirror;
}

/* ---- carrying it out ---- */

static size_t rows_of(const rs_mirror *mirror, int process)
{
    const size_t first = rs_size_smaller((size_t)process * mirror->block, mirror->side);
    return rs_size_smaller(mirror->block, mirror->side - first);
}

/* Rows `row` and on of the block that a part has in the columns of a process. */
static unsigned char *place_of(const rs_mirror *mirror, void *part, size_t row, int process,
                               size_t col)
{
    const size_t first = (size_t)process * mirror->block;
    return (unsigned char *)part + (row * mirror->side + first + col) * mirror->unit;
}

/* Twice is as before. */
static restride_status turn_diagonal(const rs_mirror *mirror, restride_engine *engine, void *buffer,
                                     int rank)
{
    const size_t rows = rows_of(mirror, rank);
    if (rows == 0)
        return RESTRIDE_OK;
    void *square = place_of(mirror, buffer, 0, rank, 0);
    return engine->operations->peer->mirror(engine, square, square, rows, rows,
                                            mirror->side * mirror->unit, mirror->unit);
}

/* Of two partners each exchanges half of the rows of the one with the lower number, so both
 * directions of the link are busy. */
static restride_status exchange_half(const rs_mirror *mirror, restride_engine *engine, void *buffer,
                                     int rank, void *other, int with)
{
    const rs_peer_operations *peer = engine->operations->peer;
    const size_t row_bytes = mirror->side * mirror->unit;
    const size_t own_rows = rows_of(mirror, rank);
    const size_t other_rows = rows_of(mirror, with);
    const size_t rows = rank < with ? own_rows : other_rows;
    const size_t half =
        rows / 2 < ROWS_TOGETHER ? rows / 2 : rows / 2 / ROWS_TOGETHER * ROWS_TOGETHER;
    if (rank < with)
        return peer->mirror(engine, place_of(mirror, buffer, 0, with, 0),
                            place_of(mirror, other, 0, rank, 0), half, other_rows, row_bytes,
                            mirror->unit);
    return peer->mirror(engine, place_of(mirror, buffer, 0, with, half),
                        place_of(mirror, other, half, rank, 0), own_rows, rows - half, row_bytes,
                        mirror->unit);
}

restride_status rs_mirror_run(const rs_mirror *mirror, rs_peers *peers, restride_group *group,
                              restride_engine *engine, void *buffer, const rs_message moves[],
                              size_t count, uint64_t work, bool *done)
{
    const int rank = group->rank;
    restride_status turned = turn_diagonal(mirror, engine, buffer, rank); /* while mapping */
    restride_status status = rs_peers_map(peers, group, buffer, moves, count, done);
    if (status == RESTRIDE_OK && !*done)
        return turned == RESTRIDE_OK ? turn_diagonal(mirror, engine, buffer, rank) : RESTRIDE_OK;
    if (status != RESTRIDE_OK)
        return status;
    for (size_t i = 0; turned == RESTRIDE_OK && i < count; i++)
        turned = exchange_half(mirror, engine, buffer, rank, rs_peers_buffer(peers, moves[i].to),
                               moves[i].to);
    return rs_peers_settle(peers, group, turned, work);
}
