/* FFTW: a transform of rank 0 over two loops whose strides change places, input and output the
 * same. */
#include "peer.h"

#include <fftw3.h>

static bool prepare(void *matrix, unsigned effort)
{
    peer_matrix *m = matrix;
    const ptrdiff_t rows = (ptrdiff_t)m->rows;
    const ptrdiff_t cols = (ptrdiff_t)m->cols;
    if (m->unit == sizeof(float)) {
        const fftwf_iodim64 loops[] = {{rows, cols, 1}, {cols, 1, rows}};
        fftwf_init_threads();
        fftwf_plan_with_nthreads(PEER_THREADS);
        m->plan = fftwf_plan_guru64_r2r(0, NULL, 2, loops, m->elements, m->elements, NULL, effort);
    } else {
        const fftw_iodim64 loops[] = {{rows, cols, 1}, {cols, 1, rows}};
        fftw_init_threads();
        fftw_plan_with_nthreads(PEER_THREADS);
        m->plan = fftw_plan_guru64_r2r(0, NULL, 2, loops, m->elements, m->elements, NULL, effort);
    }
    return m->plan != NULL;
}

static bool prepare_estimate(void *matrix)
{
    return prepare(matrix, FFTW_ESTIMATE);
}

static bool prepare_measure(void *matrix)
{
    return prepare(matrix, FFTW_MEASURE);
}

static bool run(void *matrix)
{
    const peer_matrix *m = matrix;
    if (m->unit == sizeof(float))
        fftwf_execute(m->plan);
    else
        fftw_execute(m->plan);
    return true;
}

static void close(void *matrix)
{
    const peer_matrix *m = matrix;
    if (m->unit == sizeof(float))
        fftwf_destroy_plan(m->plan);
    else
        fftw_destroy_plan(m->plan);
    peer_matrix_close(matrix);
}

const peer peer_fftw_estimate = {
    "FFTW estimate", peer_matrix_open, prepare_estimate, run, peer_matrix_data, close};
const peer peer_fftw_measure = {
    "FFTW measure", peer_matrix_open, prepare_measure, run, peer_matrix_data, close};
