/*
 * Conversions, transpositions and permutations in one call: the plan is one that the engine keeps
 * (kept.h), or, without an engine, made and destroyed. Nothing of the array is touched before the
 * plan exists and the sizes agree.
 */
#include "base/text.h"
#include "restride/convert.h"
#include "restride/transpose.h"
#include "transpose/kept.h"
#include "transpose/plan.h"

#include <stdint.h>

/* A buffer whose size the caller does not tell. */
enum { MOST_RANK = 16 };
static const size_t unknown_bytes = SIZE_MAX;

typedef struct {
    const char *call;  /* its name, for sentences */
    const char *array; /* what it calls its buffer */
    void *data;
    size_t bytes;
    rs_plan_maker *make;
    const void *problem;
} job;

static restride_status check_bytes(const job *j, const restride_plan *plan)
{
    if (j->bytes != unknown_bytes && j->bytes != plan->bytes)
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "The %s has %zu bytes, but what %s was told describes %zu; give it the sizes "
            "of the %s that it gets.",
            j->array, j->bytes, j->call, plan->bytes, j->array);
    if (j->data == NULL && plan->bytes != 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "%s needs the %s: it is NULL.", j->call,
                       j->array);
    return RESTRIDE_OK;
}

static restride_status run_plan(const job *j, restride_plan *plan, bool *has_begun)
{
    restride_status status = check_bytes(j, plan);
    return status == RESTRIDE_OK && plan->bytes != 0 ? rs_plan_run(plan, j->data, NULL, has_begun)
                                                     : status;
}

/* Without an engine one of the host is made for this call. */
static restride_status run(restride_engine *engine, const rs_text *key, const job *j)
{
    restride_engine *own = NULL;
    restride_plan *plan = NULL;
    bool has_begun = false;
    restride_status status = RESTRIDE_OK;
    if (engine != NULL && key->failed)
        status = rs_fail_memory("the words of a plan");
    else if (engine != NULL)
        status = rs_kept_acquire(&plan, engine, key->data, j->make, j->problem);
    else
        status = restride_engine_create_host(&own, 0);
    if (status == RESTRIDE_OK && own != NULL)
        status = j->make(&plan, own, j->problem);
    if (status == RESTRIDE_OK)
        status = run_plan(j, plan, &has_begun);
    if (own == NULL && plan != NULL)
        rs_kept_release(engine, plan);
    else
        restride_plan_destroy(plan);
    restride_engine_destroy(own);
    return status == RESTRIDE_OK ? status : rs_fail_leaving(status, j->array, has_begun);
}

/* ---- conversions ---- */

typedef struct {
    const char *dimensions;
    const char *from;
    const char *to;
} conversion;

static restride_status make_conversion(restride_plan **plan, restride_engine *engine,
                                       const void *problem)
{
    const conversion *c = problem;
    restride_layout *from = NULL;
    restride_layout *to = NULL;
    *plan = NULL;
    restride_status status = restride_layout_parse(&from, c->dimensions, c->from);
    if (status == RESTRIDE_OK)
        status = restride_layout_parse(&to, c->dimensions, c->to);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert_with(plan, engine, from, to, 0, NULL);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return status;
}

static restride_status convert(const char *call, restride_engine *engine, void *array, size_t bytes,
                               const conversion *c)
{
    if (c->dimensions == NULL || c->from == NULL || c->to == NULL)
        return rs_fail_leaving(
            rs_fail(RESTRIDE_INVALID_ARGUMENT,
                    "%s needs the dimensions and two layouts, and one of them is NULL.", call),
            "array", false);
    const job j = {call, "array", array, bytes, make_conversion, c};
    rs_text key = RS_TEXT_EMPTY;
    if (engine != NULL) /* the bar is in no expression */
        rs_text_format(&key, "convert %s|%s|%s", c->dimensions, c->from, c->to);
    restride_status status = run(engine, &key, &j);
    rs_text_free(&key);
    return status;
}

restride_status restride_convert(void *array, const char *dimensions, const char *from,
                                 const char *to)
{
    const conversion c = {dimensions, from, to};
    return convert("restride_convert", NULL, array, unknown_bytes, &c);
}

restride_status restride_convert_with(restride_engine *engine, void *array, size_t bytes,
                                      const char *dimensions, const char *from, const char *to)
{
    const conversion c = {dimensions, from, to};
    return convert("restride_convert_with", engine, array, bytes, &c);
}

/* ---- transpositions ---- */

typedef struct {
    size_t rows;
    size_t cols;
    size_t elem_size;
    size_t batch;
} transposition;

static restride_status make_transposition(restride_plan **plan, restride_engine *engine,
                                          const void *problem)
{
    const transposition *t = problem;
    return restride_plan_transpose(plan, engine, t->rows, t->cols, t->elem_size, t->batch);
}

static restride_status transpose(const char *call, restride_engine *engine, void *data,
                                 size_t bytes, const transposition *t)
{
    const job j = {call, "matrix", data, bytes, make_transposition, t};
    rs_text key = RS_TEXT_EMPTY;
    if (engine != NULL)
        rs_text_format(&key, "transpose %zu %zu %zu %zu", t->rows, t->cols, t->elem_size, t->batch);
    restride_status status = run(engine, &key, &j);
    rs_text_free(&key);
    return status;
}

restride_status restride_transpose(void *data, size_t rows, size_t cols, size_t elem_size)
{
    const transposition t = {rows, cols, elem_size, 1};
    return transpose("restride_transpose", NULL, data, unknown_bytes, &t);
}

restride_status restride_transpose_with(restride_engine *engine, void *data, size_t bytes,
                                        size_t rows, size_t cols, size_t elem_size, size_t batch)
{
    const transposition t = {rows, cols, elem_size, batch};
    return transpose("restride_transpose_with", engine, data, bytes, &t);
}

/* ---- permutations ---- */

typedef struct {
    int rank;
    const size_t *dims;
    const int *permutation;
    size_t elem_size;
} permutation_problem;

static restride_status make_permutation(restride_plan **plan, restride_engine *engine,
                                        const void *problem)
{
    const permutation_problem *p = problem;
    return restride_plan_permute(plan, engine, p->rank, p->dims, p->permutation, p->elem_size);
}

static restride_status permute(const char *call, restride_engine *engine, void *data, size_t bytes,
                               const permutation_problem *p)
{
    const job j = {call, "tensor", data, bytes, make_permutation, p};
    rs_text key = RS_TEXT_EMPTY;
    if (engine != NULL) {
        rs_text_format(&key, "permute %zu", p->elem_size);
        /* Ranks and places that the planner will refuse are not read here. */
        bool readable = p->dims != NULL && p->permutation != NULL && p->rank <= MOST_RANK;
        for (int i = 0; readable && i < p->rank; i++)
            rs_text_format(&key, " %zu:%d", p->dims[i], p->permutation[i]);
    }
    restride_status status = run(engine, &key, &j);
    rs_text_free(&key);
    return status;
}

restride_status restride_permute(void *data, int rank, const size_t dims[], const int permutation[],
                                 size_t elem_size)
{
    const permutation_problem p = {rank, dims, permutation, elem_size};
    return permute("restride_permute", NULL, data, unknown_bytes, &p);
}

restride_status restride_permute_with(restride_engine *engine, void *data, size_t bytes, int rank,
                                      const size_t dims[], const int permutation[],
                                      size_t elem_size)
{
    const permutation_problem p = {rank, dims, permutation, elem_size};
    return permute("restride_permute_with", engine, data, bytes, &p);
}
