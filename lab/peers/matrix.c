/* A matrix that the caller owns; see peer.h. */
#include "peer.h"

#include <stdlib.h>

void *peer_matrix_open(size_t rows, size_t cols, size_t unit)
{
    enum { HUGE_PAGE_BYTES = 2 << 20 };
    peer_matrix *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->rows = rows;
    m->cols = cols;
    m->unit = unit;
    if (posix_memalign(&m->elements, HUGE_PAGE_BYTES, rows * cols * unit) == 0)
        return m;
    free(m);
    return NULL;
}

void *peer_matrix_data(void *matrix)
{
    return ((peer_matrix *)matrix)->elements;
}

bool peer_matrix_prepared(void *matrix)
{
    return matrix != NULL;
}

void peer_matrix_close(void *matrix)
{
    free(((peer_matrix *)matrix)->elements);
    free(matrix);
}
