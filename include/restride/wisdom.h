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
 * A planner estimates. Tuning measures its most promising plans and keeps the fastest. A later plan
 * follows it for the same shape, element size and batch, the same kind of device and as many
 * threads, unless it has options. Arrays below 1 MiB have no wisdom: reading would take longer.
 *
 * Permutations and conversions consist of transpositions. Their plans follow the wisdom of each of
 * these, and of their order. restride_tune_permute() and restride_tune_convert() measure both.
 *
 * The file is $RESTRIDE_WISDOM, or else $XDG_CACHE_HOME/restride/wisdom.json, or else
 * ~/.cache/restride/wisdom.json. An empty RESTRIDE_WISDOM switches wisdom off. An engine reads the
 * file once, when the first plan needs it. Planning ignores a file that is damaged, longer than
 * 16 MiB or of another version; restride_wisdom_check() says why. Several processes and threads may
 * tune, import and plan at once.
 */
#ifndef RESTRIDE_WISDOM_H
#define RESTRIDE_WISDOM_H

#include "restride/engine.h"
#include "restride/layout.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the wisdom of an engine. RESTRIDE_OK when it can be read, does not exist yet, or is
 * switched off. Otherwise the sentence says what is wrong with the file. Thread-safe. */
RESTRIDE_API restride_status restride_wisdom_check(restride_engine *engine);

/* Adds the records of an exported file to the user's wisdom. Of two records for one problem the
 * faster stays. RESTRIDE_IO: a file cannot be used, or together they exceed 16 MiB; nothing has
 * changed. RESTRIDE_UNSUPPORTED: wisdom is switched off. Thread-safe. */
RESTRIDE_API restride_status restride_wisdom_import(restride_engine *engine, const char *path);

/* Writes all wisdom that an engine has read or learned to a file. Thread-safe. */
RESTRIDE_API restride_status restride_wisdom_export(restride_engine *engine, const char *path);

/* Removes the user's wisdom and the engine's own. Existing plans stay. RESTRIDE_IO: the file holds
 * no wisdom, so it stays. Thread-safe. */
RESTRIDE_API restride_status restride_wisdom_forget(restride_engine *engine);

/* Options of tuning. All zero: two seconds, and nobody watches. */
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
 * Measures plans for `batch` matrices of rows x cols elements and keeps the fastest as wisdom. The
 * data are random, and each result is checked. The planner's own choice stays unless another plan
 * is clearly faster. `options` and `tuning` may be NULL.
 *
 * Takes memory for the matrices, and on a device as much again on the host.
 * RESTRIDE_INVALID_ARGUMENT and RESTRIDE_OVERFLOW: as restride_plan_transpose(), and for arrays
 * below 1 MiB. RESTRIDE_DEVICE_ERROR: a plan gave a wrong result, which is a defect of Restride or
 * of the machine; nothing is kept. RESTRIDE_OUT_OF_MEMORY. Do not run it while something else is
 * measured.
 */
RESTRIDE_API restride_status restride_tune_transpose(restride_engine *engine, size_t rows,
                                                     size_t cols, size_t elem_size, size_t batch,
                                                     const restride_tune_options *options,
                                                     restride_tuning *tuning);

/*
 * Tunes a permutation of axes, as restride_plan_permute() takes it. Measures plans for each of its
 * transpositions, then the orders of these. `seconds` bounds all of that, without the first run of
 * each plan. `tuning` gets the whole plan as it was estimated and as it is from now on. Errors are
 * those of restride_plan_permute() and restride_tune_transpose().
 */
RESTRIDE_API restride_status restride_tune_permute(restride_engine *engine, int rank,
                                                   const size_t dims[], const int permutation[],
                                                   size_t elem_size,
                                                   const restride_tune_options *options,
                                                   restride_tuning *tuning);

/*
 * Tunes a conversion, as restride_plan_convert_with() takes it; otherwise like
 * restride_tune_permute(). Each transposition is checked, not the conversion as a whole.
 * RESTRIDE_UNSUPPORTED: there is nothing to choose, because the engine converts in one stage or no
 * transposition reaches 1 MiB.
 */
RESTRIDE_API restride_status restride_tune_convert(restride_engine *engine,
                                                   const restride_layout *from,
                                                   const restride_layout *to, size_t elem_size,
                                                   const restride_tune_options *options,
                                                   restride_tuning *tuning);

/*
 * Measures what kinds of stages cost on this machine, with the engine's threads, and keeps that as
 * wisdom: about two seconds, and 120 MB of memory. From then on plans of 1 MiB and more are chosen
 * by these costs, and restride_plan_describe() tells them. Wisdom of a single problem comes first.
 *
 * `seconds` gets how long it took, and may be NULL. RESTRIDE_UNSUPPORTED: the engine is a device's,
 * or wisdom is switched off. RESTRIDE_OUT_OF_MEMORY. Errors of the file as for
 * restride_wisdom_import(). Do not run it while something else is measured. Since 0.1.
 */
RESTRIDE_API restride_status restride_tune_rates(restride_engine *engine, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
