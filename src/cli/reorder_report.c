/* What `restride reorder` prints; see reorder.h. */
#include "cli/reorder.h"

#include "console/fail.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const rs_reorder_method rs_reorder_methods[RS_REORDER_METHODS] = {{"auto", false, true},
                                                                  {"duplication", false, true},
                                                                  {"partial", false, false},
                                                                  {"padding", true, false},
                                                                  {"approximation", true, true}};

rs_reorder_told rs_reorder_tell(const rs_reorder_plan *plan)
{
    return (rs_reorder_told){plan->method, NULL,        plan->moves_threads,
                             plan->slots,  plan->facts, plan->seconds};
}

void rs_reorder_free_report(rs_reorder_report *r)
{
    for (size_t i = 0; i < r->tried_count; i++)
        free(r->tried[i].refusal);
    free(r->device);
}

static json_t *pack_plan(const rs_reorder_told *plan)
{
    const char *name = rs_reorder_methods[plan->method].name;
    if (plan->refusal != NULL)
        return json_pack("{s:s, s:s}", "method", name, "refused", plan->refusal);
    const restride_irregular_facts *facts = &plan->facts;
    json_t *break_even =
        facts->break_even == SIZE_MAX ? json_null() : json_integer((json_int_t)facts->break_even);
    return json_pack(
        "{s:s, s:b, s:{s:I, s:I, s:I, s:I}, s:I, s:I, s:o, s:f}", "method", name, "moves_threads",
        plan->moves_threads, "transactions", "before", (json_int_t)facts->transactions_before,
        "after", (json_int_t)facts->transactions_after, "bound",
        (json_int_t)facts->transactions_bound, "best", (json_int_t)facts->transactions_best,
        "slots", (json_int_t)plan->slots, "extra_bytes", (json_int_t)facts->extra_bytes,
        "break_even_launches", break_even, "plan_seconds", plan->seconds);
}

int rs_reorder_print_json(const rs_reorder_report *r)
{
    json_t *value = pack_plan(&r->used);
    int failed = json_object_set_new(value, "engine", json_string(r->engine));
    if (r->device != NULL)
        failed |= json_object_set_new(value, "device", json_string(r->device));
    json_t *tried = r->tried_count > 0 ? json_array() : NULL;
    for (size_t i = 0; i < r->tried_count; i++)
        failed |= json_array_append_new(tried, pack_plan(&r->tried[i]));
    if (r->tried_count > 0)
        failed |= json_object_set_new(value, "methods", tried);
    if (failed != 0) {
        json_decref(value);
        value = NULL;
    }
    return rs_cli_print_json("reorder", value);
}

static const char *threads_of(const rs_reorder_told *plan)
{
    return plan->moves_threads ? "in a new order" : "as they are";
}

static void print_tried(const rs_reorder_report *r)
{
    printf("\n%-14s %-15s %12s %12s %12s %14s %11s\n", "method", "threads", "transactions",
           "at best", "at most", "more bytes", "break-even");
    printf("%-14s %-15s %12zu\n", "as it is", "as they are", r->used.facts.transactions_before);
    for (size_t i = 0; i < r->tried_count; i++) {
        const rs_reorder_told *plan = &r->tried[i];
        const restride_irregular_facts *facts = &plan->facts;
        const char *name = rs_reorder_methods[plan->method].name;
        if (plan->refusal != NULL) {
            printf("%-14s not possible: %s\n", name, plan->refusal);
            continue;
        }
        char launches[24] = "never";
        if (facts->break_even != SIZE_MAX)
            snprintf(launches, sizeof launches, "%zu", facts->break_even);
        printf("%-14s %-15s %12zu %12zu %12zu %14zu %11s%s\n", name, threads_of(plan),
               facts->transactions_after, facts->transactions_best, facts->transactions_bound,
               facts->extra_bytes, launches, plan->method == r->used.method ? "  taken" : "");
    }
}

int rs_reorder_print_text(const rs_reorder_report *r)
{
    const rs_reorder_told *plan = &r->used;
    const restride_irregular_facts *facts = &plan->facts;
    printf("method        %s, threads %s\n", rs_reorder_methods[plan->method].name,
           threads_of(plan));
    printf("transactions  %zu before, %zu after (%.2f times fewer)\n", facts->transactions_before,
           facts->transactions_after,
           (double)facts->transactions_before / (double)facts->transactions_after);
    printf("limits        %zu at best, %zu at most by the method's bound\n",
           facts->transactions_best, facts->transactions_bound);
    printf("memory        %zu slots, %zu bytes more than the array\n", plan->slots,
           facts->extra_bytes);
    if (facts->break_even == SIZE_MAX)
        puts("break-even    never: no transaction is saved");
    else
        printf("break-even    after %zu launch%s\n", facts->break_even,
               facts->break_even == 1 ? "" : "es");
    printf("planned       in %.3g ms on %s\n", plan->seconds * 1e3,
           r->device == NULL ? "the host" : r->device);
    if (r->tried_count > 0)
        print_tried(r);
    return RS_EXIT_DONE;
}

/* Plans by one more method for the report, which also lists those that exceed the budget. */
static restride_status try_method(rs_reorder_report *r, const rs_reorder_place *place,
                                  const restride_irregular_options *how)
{
    rs_reorder_told *told = &r->tried[r->tried_count];
    rs_reorder_plan plan;
    restride_status status = RESTRIDE_OK;
    if (how->method == r->used.method) {
        *told = r->used;
    } else {
        status = rs_reorder_make(&plan, place, how);
        if (status == RESTRIDE_OK)
            *told = rs_reorder_tell(&plan);
        else
            *told =
                (rs_reorder_told){.method = how->method, .refusal = strdup(restride_last_error())};
        rs_reorder_free(&plan);
    }
    r->tried_count++;
    if (status == RESTRIDE_UNSUPPORTED)
        return told->refusal == NULL ? rs_fail_memory("the report") : RESTRIDE_OK;
    return status;
}

restride_status rs_reorder_try_methods(rs_reorder_report *r, const rs_reorder_place *place,
                                       const restride_irregular_options *asked)
{
    restride_status status = RESTRIDE_OK;
    for (int m = RESTRIDE_IRREGULAR_DUPLICATION; status == RESTRIDE_OK && m < RS_REORDER_METHODS;
         m++) {
        restride_irregular_options how = *asked;
        how.method = (restride_irregular_method)m;
        bool allowed = asked->keep_threads == 0 || !rs_reorder_methods[m].moves_threads;
        if (allowed && (place->engine == NULL || rs_reorder_methods[m].on_devices))
            status = try_method(r, place, &how);
    }
    return status;
}
