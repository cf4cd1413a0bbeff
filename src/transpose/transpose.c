/* Plans that transpose matrices. */
#include "restride/transpose.h"
#include "base/arithmetic.h"
#include "transpose/fit.h"

restride_status rs_matrices_check(const rs_matrices *m, size_t *bytes)
{
    if (m->rows == 0 || m->cols == 0 || m->unit == 0 || m->batch == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "%zu x %zu elements of %zu bytes (batch: %zu) hold nothing; every number "
                       "must be at least 1.",
                       m->rows, m->cols, m->unit, m->batch);
    if (!rs_size_multiply(m->rows, m->cols, bytes) || !rs_size_multiply(*bytes, m->unit, bytes) ||
        !rs_size_multiply(*bytes, m->batch, bytes))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "%zu x %zu elements of %zu bytes (batch: %zu) are more bytes than a size "
                       "can hold.",
                       m->rows, m->cols, m->unit, m->batch);
    return RESTRIDE_OK;
}

restride_status restride_plan_transpose(restride_plan **plan, restride_engine *engine, size_t rows,
                                        size_t cols, size_t elem_size, size_t batch)
{
    return restride_plan_transpose_with(plan, engine, rows, cols, elem_size, batch, NULL);
}

restride_status restride_plan_transpose_with(restride_plan **plan, restride_engine *engine,
                                             size_t rows, size_t cols, size_t elem_size,
                                             size_t batch, const restride_plan_options *options)
{
    if (plan != NULL)
        *plan = NULL;
    if (plan == NULL || engine == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_plan_transpose needs an engine and a place for the plan.");
    const rs_matrices matrices = {rows, cols, elem_size, batch, 0};
    size_t bytes;
    restride_status status = rs_matrices_check(&matrices, &bytes);
    if (status != RESTRIDE_OK)
        return status;
    if (engine->operations->create_transpose == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The %s engine has no stages that transpose matrices; use the host engine.",
                       engine->operations->name);
    restride_plan *created;
    status = rs_plan_create(&created, engine, bytes, batch > 1 ? "b r c" : "r c",
                            batch > 1 ? "b c r" : "c r");
    if (status != RESTRIDE_OK)
        return status;
    status = rs_fit_matrices(created, &matrices, options);
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(created);
        return status;
    }
    *plan = created;
    return RESTRIDE_OK;
}
