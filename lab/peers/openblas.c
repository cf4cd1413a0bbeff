/* OpenBLAS: cblas_?imatcopy, in place by its interface. */
#include "peer.h"

#include <cblas.h>

static bool run(void *matrix)
{
    const peer_matrix *m = matrix;
    const blasint rows = (blasint)m->rows;
    const blasint cols = (blasint)m->cols;
    if (m->unit == sizeof(float))
        cblas_simatcopy(CblasRowMajor, CblasTrans, rows, cols, 1, m->elements, cols, rows);
    else
        cblas_dimatcopy(CblasRowMajor, CblasTrans, rows, cols, 1, m->elements, cols, rows);
    return true;
}

const peer peer_openblas = {"OpenBLAS imatcopy", peer_matrix_open, peer_matrix_prepared, run,
                            peer_matrix_data,    peer_matrix_close};
