/* Plans for conversions: see plans.h. */
#include "layer/core/plans.h"

#include "base/text.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

static restride_status make_layout(const rs_relayout *relayout, size_t count, bool of_program,
                                   restride_layout **layout)
{
    rs_text expression = RS_TEXT_EMPTY;
    if (of_program)
        rs_text_add_string(&expression, relayout->from_soa ? "f i" : "i f");
    else if (relayout->tile == 0)
        rs_text_add_string(&expression, "f i");
    else
        rs_text_format(&expression, "i/%zu f i%%%zu", relayout->tile, relayout->tile);
    restride_status status =
        expression.failed ? rs_fail_memory("a layout")
                          : rs_layout_of_record(layout, &relayout->record, count, expression.data);
    rs_text_free(&expression);
    return status;
}

static restride_status fill(rs_plans *made, const rs_relayout *relayout, restride_engine *engine)
{
    restride_layout *program = NULL, *kernels = NULL;
    restride_status status = make_layout(relayout, made->count, true, &program);
    if (status == RESTRIDE_OK)
        status = make_layout(relayout, made->count, false, &kernels);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert(&made->plans[RS_FORWARD], engine, program, kernels);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert(&made->plans[RS_INVERSE], engine, kernels, program);
    restride_layout_destroy(program);
    restride_layout_destroy(kernels);
    return status;
}

static size_t count_records(const rs_relayout *relayout, size_t bytes)
{
    return bytes / relayout->record.size;
}

rs_plans *rs_plans_create(const rs_relayout *relayout, size_t bytes, restride_engine *engine,
                          restride_status engine_status)
{
    rs_plans *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->count = count_records(relayout, bytes);
    made->status = engine_status == RESTRIDE_OK ? fill(made, relayout, engine) : engine_status;
    if (made->status != RESTRIDE_OK)
        made->why = strdup(restride_last_error());
    return made;
}

void rs_plans_destroy(rs_plans *plans)
{
    if (plans == NULL)
        return;
    for (int i = 0; i < RS_DIRECTIONS; i++)
        restride_plan_destroy(plans->plans[i]);
    free(plans->why);
    free(plans);
}

void rs_plans_destroy_all(rs_plans *first)
{
    while (first != NULL) {
        rs_plans *next = first->next;
        rs_plans_destroy(first);
        first = next;
    }
}

restride_status rs_plans_check(const rs_plans *plans)
{
    if (plans == NULL)
        return rs_fail_memory("a conversion");
    if (plans->status == RESTRIDE_OK)
        return RESTRIDE_OK;
    return rs_fail(plans->status, "%s", plans->why != NULL ? plans->why : "There is no plan.");
}

rs_plans *rs_plans_find(rs_plans *first, const rs_relayout *relayout, size_t bytes)
{
    while (first != NULL && first->count != count_records(relayout, bytes))
        first = first->next;
    return first;
}

void rs_plans_add(rs_plans **first, rs_plans *plans)
{
    enum { MOST_UNUSED = 64 };
    int unused = 0;
    plans->next = *first;
    *first = plans;
    for (rs_plans **place = &plans->next; *place != NULL;) {
        rs_plans *older = *place;
        if (older->workspaces > 0 || ++unused < MOST_UNUSED) {
            place = &older->next;
            continue;
        }
        *place = older->next;
        rs_plans_destroy(older);
    }
}
