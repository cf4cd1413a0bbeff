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
 * rows x cols row-major becomes cols x rows row-major. A program that transposes the same shape
 * again, or many matrices, or wants to know or bound the threads, has an engine
 * (restride_transpose_with()) or a plan (restride_plan_transpose()).
 */
#ifndef RESTRIDE_TRANSPOSE_H
#define RESTRIDE_TRANSPOSE_H

#include "restride/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Transposes a matrix of `elem_size`-byte elements on all processors. No alignment is needed. Takes
 * at most 0.5 % of the matrix and 4 MiB a thread of scratch memory, all of it before the first byte
 * moves: after any error (RESTRIDE_OUT_OF_MEMORY among them) the matrix is unchanged. Thread-safe
 * on different matrices. (Sung thesis, chapter 4.)
 */
RESTRIDE_API restride_status restride_transpose(void *data, size_t rows, size_t cols,
                                                size_t elem_size);

/*
 * Transposes `batch` matrices that lie one after the other, with the engine's threads or on its
 * device: `data` is what restride_execute() takes. The engine keeps the last eight plans of such
 * calls (restride_engine_forget_plans()); NULL: an engine of the host for this call alone. `bytes`
 * is the size of `data`, checked before anything moves: RESTRIDE_INVALID_ARGUMENT unless it is rows
 * x cols x elem_size x batch; SIZE_MAX: not checked. After an error the sentence ends with what is
 * left of the matrix; with the engine of the host it is unchanged. Thread-safe on different
 * matrices. Since 0.1.
 */
RESTRIDE_API restride_status restride_transpose_with(restride_engine *engine, void *data,
                                                     size_t bytes, size_t rows, size_t cols,
                                                     size_t elem_size, size_t batch);

/*
 * Permutes the axes of a tensor in one call, on all processors, and with an engine as above; the
 * arguments are those of restride_plan_permute(). Since 0.1.
 */
RESTRIDE_API restride_status restride_permute(void *data, int rank, const size_t dims[],
                                              const int permutation[], size_t elem_size);
RESTRIDE_API restride_status restride_permute_with(restride_engine *engine, void *data,
                                                   size_t bytes, int rank, const size_t dims[],
                                                   const int permutation[], size_t elem_size);

/*
 * Plans the transposition of `batch` matrices that lie one after the other. The sizes are at least
 * 1 and their product fits in size_t (RESTRIDE_INVALID_ARGUMENT, RESTRIDE_OVERFLOW). The engine
 * must outlive the plan; RESTRIDE_UNSUPPORTED when it cannot transpose. The bound on scratch memory
 * is that of restride_transpose(), and restride_plan_scratch_bytes() says what it is. Follows what
 * restride_tune_transpose() has measured for this problem (restride/wisdom.h).
 */
RESTRIDE_API restride_status restride_plan_transpose(restride_plan **plan, restride_engine *engine,
                                                     size_t rows, size_t cols, size_t elem_size,
                                                     size_t batch);

/* The same with options; NULL: none. RESTRIDE_INVALID_ARGUMENT when no method has the name given,
 * RESTRIDE_UNSUPPORTED when that method does not suit the shape or the budget. */
RESTRIDE_API restride_status restride_plan_transpose_with(restride_plan **plan,
                                                          restride_engine *engine, size_t rows,
                                                          size_t cols, size_t elem_size,
                                                          size_t batch,
                                                          const restride_plan_options *options);

/*
 * Plans a permutation of the axes of a tensor, in place: the `rank` axes `dims` (1 to 16, slowest
 * first) come into the order `permutation`, which reads like the axes argument of NumPy's
 * transpose: axis k of the result is axis permutation[k]. Every size is at least 1 and their
 * product fits in size_t (RESTRIDE_INVALID_ARGUMENT, RESTRIDE_OVERFLOW). The permutation is
 * factored into transpositions; the bound on scratch memory is that of restride_transpose().
 * The engine must outlive the plan; RESTRIDE_UNSUPPORTED when it cannot transpose. Follows what
 * restride_tune_permute() has measured, as restride_plan_convert() what restride_tune_convert() has
 * (restride/wisdom.h).
 */
RESTRIDE_API restride_status restride_plan_permute(restride_plan **plan, restride_engine *engine,
                                                   int rank, const size_t dims[],
                                                   const int permutation[], size_t elem_size);

/* The same with options; NULL: none. The method in them is for matrices alone and not looked at. */
RESTRIDE_API restride_status restride_plan_permute_with(restride_plan **plan,
                                                        restride_engine *engine, int rank,
                                                        const size_t dims[],
                                                        const int permutation[], size_t elem_size,
                                                        const restride_plan_options *options);

#ifdef __cplusplus
}
#endif
#endif
