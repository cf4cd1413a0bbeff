/*
 * Conversion of an array between two layouts in its own memory, in one call.
 *
 *     struct body { float x; double m; } bodies[1003] = {{0}};
 *     bodies[1002].m = 7;
 *     restride_status status =
 *         restride_convert(bodies, "i:1003 f{ float x; double m; }", "i f", "f i");
 *     assert(status == RESTRIDE_OK);
 *     const double *m = (const double *)(void *)bodies + 1003;   // behind x and its padding
 *     assert(m[1002] == 7);
 *
 * There are three tiers. restride_convert() plans and runs. restride_convert_with() takes an
 * engine, which keeps its plans. restride_plan_convert_with() in restride/plan.h takes options and
 * makes a plan. restride/layout.h explains dimensions and layouts.
 */
#ifndef RESTRIDE_CONVERT_H
#define RESTRIDE_CONVERT_H

#include "restride/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Converts an array in host memory from layout `from` to layout `to`, in place, on all processors.
 * `dimensions` also states the size of the elements: by a record, "i:1003 f{ float x; double m; }",
 * or by a type behind them, "y:64 x:64 float".
 *
 * The array needs no alignment. It must have restride_layout_bytes() bytes of the larger layout.
 * Scratch memory is bounded as for restride_transpose().
 *
 * After any error the array is unchanged. RESTRIDE_UNSUPPORTED: the size of the elements is
 * missing. Others: RESTRIDE_SYNTAX, RESTRIDE_INVALID_ARGUMENT, RESTRIDE_OVERFLOW,
 * RESTRIDE_OUT_OF_MEMORY. Thread-safe on different arrays. Since 0.1.
 */
RESTRIDE_API restride_status restride_convert(void *array, const char *dimensions, const char *from,
                                              const char *to);

/*
 * Converts an array with an engine's threads or on its device; otherwise like restride_convert().
 * `array` is what restride_execute() takes. The engine keeps the last eight plans of such calls, so
 * a repeated call needs no planning. restride_engine_forget_plans() frees them. With NULL an engine
 * of the host serves this call alone.
 *
 * `bytes` is the size of the array. Unless it is SIZE_MAX, it must be the size that the dimensions
 * give (RESTRIDE_INVALID_ARGUMENT), which is checked first. After an error the sentence ends with
 * the state of the array; with a host engine it is unchanged. Thread-safe on different arrays.
 * Since 0.1.
 */
RESTRIDE_API restride_status restride_convert_with(restride_engine *engine, void *array,
                                                   size_t bytes, const char *dimensions,
                                                   const char *from, const char *to);

#ifdef __cplusplus
}
#endif
#endif
