/* Plans that permute the axes of a tensor in place, by transpositions (factor.h). */
#include "base/arithmetic.h"
#include "base/text.h"
#include "restride/transpose.h"
#include "transpose/copy_back.h"
#include "transpose/factor.h"
#include "transpose/tune.h"

enum { MOST_RANK = 16 };

static restride_status check_order(int rank, const size_t dims[], const int permutation[])
{
    bool seen[MOST_RANK] = {false};
    if (rank < 1 || rank > MOST_RANK)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "A tensor has 1 to %d axes, not %d.", MOST_RANK,
                       rank);
    for (int i = 0; i < rank; i++) {
        if (dims[i] == 0)
            return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                           "Axis %d of the tensor has no elements; every axis must have at least "
                           "1.",
                           i);
        if (permutation[i] < 0 || permutation[i] >= rank || seen[permutation[i]])
            return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                           "The permutation names axis %d at place %d, which is not one of 0 to %d "
                           "that was not named before.",
                           permutation[i], i, rank - 1);
        seen[permutation[i]] = true;
    }
    return RESTRIDE_OK;
}

static restride_status count_bytes(int rank, const size_t dims[], size_t elem_size, size_t *bytes)
{
    if (elem_size == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "An element has at least 1 byte, not 0.");
    *bytes = elem_size;
    for (int i = 0; i < rank; i++)
        if (!rs_size_multiply(*bytes, dims[i], bytes))
            return rs_fail(RESTRIDE_OVERFLOW,
                           "The tensor has more bytes than a size can hold (axes 0 to %d alone).",
                           i);
    return RESTRIDE_OK;
}

static restride_status check(const restride_engine *engine, int rank, const size_t dims[],
                             const int permutation[], size_t elem_size, size_t *bytes)
{
    restride_status status = check_order(rank, dims, permutation);
    if (status == RESTRIDE_OK)
        status = count_bytes(rank, dims, elem_size, bytes);
    if (status == RESTRIDE_OK && engine->operations->create_transpose == NULL)
        status = rs_fail(RESTRIDE_UNSUPPORTED,
                         "The %s engine has no stages that permute axes; use the host engine.",
                         engine->operations->name);
    return status;
}

/* "2 0 1": the axes in an order. */
static void list_axes(rs_text *text, int rank, const int permutation[])
{
    for (int i = 0; i < rank; i++)
        rs_text_format(text, "%s%d", i > 0 ? " " : "", permutation == NULL ? i : permutation[i]);
}

static restride_status create_plan(restride_plan **plan, restride_engine *engine, int rank,
                                   const int permutation[], size_t bytes)
{
    rs_text from = RS_TEXT_EMPTY;
    rs_text to = RS_TEXT_EMPTY;
    list_axes(&from, rank, NULL);
    list_axes(&to, rank, permutation);
    restride_status status = from.failed || to.failed
                                 ? rs_fail_memory("a plan")
                                 : rs_plan_create(plan, engine, bytes, from.data, to.data);
    rs_text_free(&from);
    rs_text_free(&to);
    return status;
}

static restride_status fill(rs_sequence *steps, const void *conversion)
{
    const rs_permutation *p = conversion;
    size_t bytes = p->unit;
    for (size_t axis = 0; axis < p->rank; axis++)
        bytes *= p->counts[axis];
    const rs_strided_part whole = {0, 1, bytes};
    return rs_factor_permutation(steps, &whole, p);
}

/* The method in the options is ignored. */
static restride_status make_stages(restride_plan *plan, const rs_permutation *p,
                                   const restride_plan_options *options)
{
    bool dropped = false;
    restride_status status = rs_sequence_plan(plan, options, fill, p);
    if (status == RESTRIDE_OK && options != NULL) {
        restride_plan_options any = *options;
        any.method = NULL;
        status = rs_copy_back_permute(plan, p, &any, &dropped);
    }
    return dropped ? rs_sequence_plan(plan, options, fill, p) : status;
}

/* `order` has room for all axes. */
static rs_permutation permutation_of(int rank, const size_t dims[], const int permutation[],
                                     size_t elem_size, size_t order[])
{
    for (int i = 0; i < rank; i++)
        order[i] = (size_t)permutation[i];
    return (rs_permutation){(size_t)rank, dims, order, elem_size};
}

restride_status restride_plan_permute(restride_plan **plan, restride_engine *engine, int rank,
                                      const size_t dims[], const int permutation[],
                                      size_t elem_size)
{
    return restride_plan_permute_with(plan, engine, rank, dims, permutation, elem_size, NULL);
}

restride_status restride_plan_permute_with(restride_plan **plan, restride_engine *engine, int rank,
                                           const size_t dims[], const int permutation[],
                                           size_t elem_size, const restride_plan_options *options)
{
    if (plan != NULL)
        *plan = NULL;
    if (plan == NULL || engine == NULL || dims == NULL || permutation == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_plan_permute needs an engine, the axes, their permutation and a "
                       "place for the plan.");
    size_t bytes;
    restride_status status = check(engine, rank, dims, permutation, elem_size, &bytes);
    if (status != RESTRIDE_OK)
        return status;
    restride_plan *created;
    status = create_plan(&created, engine, rank, permutation, bytes);
    if (status != RESTRIDE_OK)
        return status;
    size_t order[MOST_RANK];
    const rs_permutation p = permutation_of(rank, dims, permutation, elem_size, order);
    status = make_stages(created, &p, options);
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(created);
        return status;
    }
    *plan = created;
    return RESTRIDE_OK;
}

restride_status restride_tune_permute(restride_engine *engine, int rank, const size_t dims[],
                                      const int permutation[], size_t elem_size,
                                      const restride_tune_options *options, restride_tuning *tuning)
{
    if (engine == NULL || dims == NULL || permutation == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_tune_permute needs an engine, the axes and their permutation.");
    size_t bytes;
    restride_status status = check(engine, rank, dims, permutation, elem_size, &bytes);
    if (status == RESTRIDE_OK)
        status = rs_tune_check_bytes(bytes);
    if (status != RESTRIDE_OK)
        return status;
    size_t order[MOST_RANK];
    const rs_permutation p = permutation_of(rank, dims, permutation, elem_size, order);
    const restride_tune_options how = rs_tune_options(options);
    restride_tuning ignored;
    return rs_tune_sequence(engine, bytes, fill, &p, &how, tuning == NULL ? &ignored : tuning);
}
