/*
 * Other libraries' in-place transpositions behind one interface, to be measured beside Restride.
 * Each peer is a file of its own, written against the public interface of its library, and built
 * only when that is found.
 */
#ifndef RESTRIDE_BENCH_PEER_H
#define RESTRIDE_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *name;
    /* A matrix of its own, rows x cols row-major elements of 4 or 8 bytes (float, double); NULL
     * when there is no memory. */
    void *(*open)(size_t rows, size_t cols, size_t unit);
    /* What may be done before the matrix has its values: planning. False: refused. */
    bool (*prepare)(void *matrix);
    /* Transposes; false when it failed. */
    bool (*run)(void *matrix);
    void *(*data)(void *matrix); /* where the elements are now */
    void (*close)(void *matrix);
} peer;

extern const peer peer_restride;
extern const peer peer_openblas;
extern const peer peer_fftw_estimate;
extern const peer peer_fftw_measure;
extern const peer peer_eigen;

enum { PEER_THREADS = 2 };

/* For peers that transpose memory of the caller's: the matrix and what was planned for it. */
typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    void *elements;
    void *engine;
    void *plan;
} peer_matrix;

void *peer_matrix_open(size_t rows, size_t cols, size_t unit);
void *peer_matrix_data(void *matrix);
void peer_matrix_close(void *matrix);
bool peer_matrix_prepared(void *matrix); /* for peers that plan nothing */

#ifdef __cplusplus
}
#endif
#endif
