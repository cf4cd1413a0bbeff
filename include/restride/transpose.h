/*
 * Transposition of a matrix in its own memory, for any shape and any size of element.
 *
 *     float a[6] = {1, 2, 3, 4, 5, 6};                      // 2 x 3
 *     restride_status status = restride_transpose(a, 2, 3, sizeof a[0]);
 *     assert(status == RESTRIDE_OK && a[1] == 4);           // 3 x 2: 1 4 2 5 3 6
 *     const size_t dims[] = {1, 3, 2};
 *     const int axes[] = {0, 2, 1};                         // as NumPy's transpose takes them
 *     status = restride_permute(a, 3, dims, axes, sizeof a[0]);
 *     assert(status == RESTRIDE_OK && a[1] == 2);
 *
 * A row-major matrix of rows x cols becomes one of cols x rows. To repeat a shape or to bound the
 * threads, use an engine (restride_transpose_with()) or a plan (restride_plan_transpose()).
 */
#ifndef RESTRIDE_TRANSPOSE_H
#define RESTRIDE_TRANSPOSE_H

#include "restride/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Transposes a matrix of `elem_size`-byte elements in place, on all processors. No alignment is
 * needed. Scratch memory is at most 0.5 % of the matrix and 4 MiB a thread. It is taken before the
 * first byte moves, so after any error the matrix is unchanged. Thread-safe on different matrices.
 * (Sung thesis, chapter 4.)
 */
RESTRIDE_API restride_status restride_transpose(void *data, size_t rows, size_t cols,
                                                size_t elem_size);

/*
 * Transposes `batch` matrices that follow each other, with an engine's threads or on its device.
 * `data` is what restride_execute() takes. The engine keeps the last eight plans of such calls;
 * restride_engine_forget_plans() frees them. With NULL an engine of the host serves this call
 * alone.
 *
 * `bytes` is the size of `data`. Unless it is SIZE_MAX, it must be rows x cols x elem_size x batch
 * (RESTRIDE_INVALID_ARGUMENT), which is checked first. After an error the sentence ends with the
 * state of the matrices; with a host engine they are unchanged. Thread-safe on different matrices.
 * Since 0.1.
 */
RESTRIDE_API restride_status restride_transpose_with(restride_engine *engine, void *data,
                                                     size_t bytes, size_t rows, size_t cols,
                                                     size_t elem_size, size_t batch);

/* Permute the axes of a tensor in place, in one call. restride_permute() uses all processors.
 * restride_permute_with() takes an engine, a buffer and its size, like restride_transpose_with().
 * The other arguments are those of restride_plan_permute(). Since 0.1. */
RESTRIDE_API restride_status restride_permute(void *data, int rank, const size_t dims[],
                                              const int permutation[], size_t elem_size);
RESTRIDE_API restride_status restride_permute_with(restride_engine *engine, void *data,
                                                   size_t bytes, int rank, const size_t dims[],
                                                   const int permutation[], size_t elem_size);

/*
 * Plans the transposition of `batch` matrices that follow each other. The sizes must be at least 1
 * and their product must fit in size_t (RESTRIDE_INVALID_ARGUMENT, RESTRIDE_OVERFLOW). The engine
 * must outlive the plan. RESTRIDE_UNSUPPORTED: it cannot transpose. Scratch memory is bounded as
 * for restride_transpose(). The plan follows what restride_tune_transpose() measured
 * (restride/wisdom.h).
 */
RESTRIDE_API restride_status restride_plan_transpose(restride_plan **plan, restride_engine *engine,
                                                     size_t rows, size_t cols, size_t elem_size,
                                                     size_t batch);

/* Plans a transposition with options; otherwise like restride_plan_transpose(). `options` may be
 * NULL. RESTRIDE_INVALID_ARGUMENT: no method has that name. RESTRIDE_UNSUPPORTED: the method does
 * not suit the shape or the budget. */
RESTRIDE_API restride_status restride_plan_transpose_with(restride_plan **plan,
                                                          restride_engine *engine, size_t rows,
                                                          size_t cols, size_t elem_size,
                                                          size_t batch,
                                                          const restride_plan_options *options);

/*
 * Plans a permutation of the axes of a tensor, in place. `dims` holds the sizes of `rank` axes (1
 * to 16), slowest first. As in NumPy's transpose, axis k of the result is axis permutation[k].
 * Every size must be at least 1 and their product must fit in size_t (RESTRIDE_INVALID_ARGUMENT,
 * RESTRIDE_OVERFLOW).
 *
 * The permutation is factored into transpositions. Scratch memory is bounded as for
 * restride_transpose(). The engine must outlive the plan. RESTRIDE_UNSUPPORTED: it cannot
 * transpose. The plan follows what restride_tune_permute() measured (restride/wisdom.h).
 */
RESTRIDE_API restride_status restride_plan_permute(restride_plan **plan, restride_engine *engine,
                                                   int rank, const size_t dims[],
                                                   const int permutation[], size_t elem_size);

/* Plans a permutation with options; otherwise like restride_plan_permute(). `options` may be NULL,
 * and the method in them is ignored. */
RESTRIDE_API restride_status restride_plan_permute_with(restride_plan **plan,
                                                        restride_engine *engine, int rank,
                                                        const size_t dims[],
                                                        const int permutation[], size_t elem_size,
                                                        const restride_plan_options *options);

#ifdef __cplusplus
}
#endif
#endif
