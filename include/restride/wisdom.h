/*
 * Wisdom: what measurements have taught about one machine, kept in a file from run to run.
 *
 *     restride_engine *engine;
 *     restride_plan *plan = NULL;
 *     restride_engine_create_host(&engine, 0);
 *     restride_tune_options briefly = {.seconds = 0.1};
 *     restride_status status =   // once
 *         restride_tune_transpose(engine, 720, 1800, sizeof(float), 1, &briefly, NULL);
 *     assert(status == RESTRIDE_OK);
 *     status = restride_plan_transpose(&plan, engine, 720, 1800, sizeof(float), 1);   // ever after
 *     assert(status == RESTRIDE_OK);
 *     restride_plan_destroy(plan);
 *     restride_engine_destroy(engine);
 *
 * A planner estimates. Tuning measures the most promising of the plans it would consider and keeps
 * the fastest; whoever plans the same matrix later, with the same engine on the same kind of device
 * with as many threads, gets it, unless options are given. Wisdom is of one shape, element size and
 * batch, and only of arrays of 1 MiB and more: for less, reading the file would take longer than is
 * gained.
 *
 * Permutations and conversions are made of transpositions. Their plans follow the wisdom about each
 * of those, wherever it came from, and about the order of those that permute three or more groups
 * of axes; restride_tune_permute() and restride_tune_convert() measure both.
 *
 * The file is $RESTRIDE_WISDOM; if that is not set, $XDG_CACHE_HOME/restride/wisdom.json, or
 * ~/.cache/restride/wisdom.json. An empty RESTRIDE_WISDOM switches wisdom off. An engine reads it
 * once, when the first plan needs it. A file that cannot be read, is damaged, longer than 16 MiB or
 * of another version is ignored by planning; restride_wisdom_check() says why. Several processes
 * and threads may tune, import and plan at the same time.
 */
#ifndef RESTRIDE_WISDOM_H
#define RESTRIDE_WISDOM_H

#include "restride/engine.h"
#include "restride/layout.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* RESTRIDE_OK when the wisdom of this engine could be read, there is none yet, or it is switched
 * off; else what is wrong with the file, which planning ignores. Thread-safe. */
RESTRIDE_API restride_status restride_wisdom_check(restride_engine *engine);

/* Adds the records of a file, made by restride_wisdom_export(), to the user's wisdom; of two for
 * the same problem the faster one stays. RESTRIDE_IO: one of the two files cannot be used, or
 * together they are longer than 16 MiB, and nothing was changed; RESTRIDE_UNSUPPORTED: wisdom is
 * switched off. Thread-safe. */
RESTRIDE_API restride_status restride_wisdom_import(restride_engine *engine, const char *path);

/* Writes all that this engine has read or learned, for any engine, to a file. Thread-safe. */
RESTRIDE_API restride_status restride_wisdom_export(restride_engine *engine, const char *path);

/* Removes the user's wisdom, and the engine's own. Plans that exist stay as they are. RESTRIDE_IO:
 * the file is not one of wisdom and stays. Thread-safe. */
RESTRIDE_API restride_status restride_wisdom_forget(restride_engine *engine);

/* All zero: two seconds, nobody watches. */
typedef struct {
    double seconds; /* about how long to measure; the first run of each plan comes on top */
    /* Called between runs by the thread that tunes, with 0 to 1; may be NULL. */
    void (*progress)(void *context, double part);
    void *context;
} restride_tune_options;

typedef struct {
    char name[128]; /* its method and tile sizes, or its stages */
    double seconds; /* of a run: the median */
} restride_tuned_plan;

typedef struct {
    restride_tuned_plan planner; /* the planner's own choice */
    restride_tuned_plan best;    /* what is planned from now on */
    size_t tried;                /* plans that were measured */
    size_t runs;
    int kept; /* 0 when the wisdom could not be written; restride_last_error() says why */
} restride_tuning;

/*
 * Measures plans for `batch` matrices of rows x cols elements with random data, checks each result,
 * and keeps the fastest as wisdom; the planner's own choice unless another one is clearly faster.
 * Takes memory for the matrices, without a copy, and on a device
 * as much again on the host. `options` and `tuning` may be NULL. RESTRIDE_INVALID_ARGUMENT,
 * RESTRIDE_OVERFLOW: as restride_plan_transpose(), and for arrays below 1 MiB;
 * RESTRIDE_OUT_OF_MEMORY; RESTRIDE_DEVICE_ERROR: a plan gave a wrong result, which is a defect of
 * Restride or of the machine, and nothing is kept. Not for use while something else is being
 * measured.
 */
RESTRIDE_API restride_status restride_tune_transpose(restride_engine *engine, size_t rows,
                                                     size_t cols, size_t elem_size, size_t batch,
                                                     const restride_tune_options *options,
                                                     restride_tuning *tuning);

/*
 * The same for a permutation of axes as restride_plan_permute() takes it: measures plans for each
 * of its transpositions, and then the orders in which these can be taken. `seconds` are about what
 * all of that takes, without the first runs of each plan. In `tuning` are the whole plan as it was
 * estimated and as it is from now on, which may be the same. Errors: those of
 * restride_plan_permute() and restride_tune_transpose().
 */
RESTRIDE_API restride_status restride_tune_permute(restride_engine *engine, int rank,
                                                   const size_t dims[], const int permutation[],
                                                   size_t elem_size,
                                                   const restride_tune_options *options,
                                                   restride_tuning *tuning);

/*
 * The same for a conversion as restride_plan_convert_with() takes it, without a check of the
 * conversion as a whole: each of its transpositions is checked. RESTRIDE_UNSUPPORTED: there is
 * nothing to choose, because the engine converts in one stage, or no transposition of 1 MiB or
 * more is in it.
 */
RESTRIDE_API restride_status restride_tune_convert(restride_engine *engine,
                                                   const restride_layout *from,
                                                   const restride_layout *to, size_t elem_size,
                                                   const restride_tune_options *options,
                                                   restride_tuning *tuning);

#ifdef __cplusplus
}
#endif
#endif
