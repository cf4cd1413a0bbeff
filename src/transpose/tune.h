/* Tuning, for the files that tune. The public half is restride/wisdom.h. */
#ifndef RS_TRANSPOSE_TUNE_H
#define RS_TRANSPOSE_TUNE_H

#include "transpose/race.h"
#include "transpose/wisdom.h"

/* What is given, with defaults in place of zeros; `given` may be NULL. */
restride_tune_options rs_tune_options(const restride_tune_options *given);

/* RESTRIDE_INVALID_ARGUMENT for arrays below what wisdom is for. */
restride_status rs_tune_check_bytes(size_t bytes);

/* restride_tune_transpose() for matrices that were checked; all arguments are given. */
restride_status rs_tune_matrices(restride_engine *engine, const rs_matrices *matrices,
                                 const restride_tune_options *options, restride_tuning *tuning);

/* Tunes the plan of a conversion of `bytes` bytes: its transpositions, and the order of those that
 * permute several axes. */
restride_status rs_tune_sequence(restride_engine *engine, size_t bytes, rs_sequence_fill *fill,
                                 const void *conversion, const restride_tune_options *options,
                                 restride_tuning *tuning);

#endif
