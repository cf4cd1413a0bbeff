/* The accesses of one kernel, and their text for tests. */
#include "facts/accesses.h"
#include "facts/walk.h"

#include <stdlib.h>

/* Where the arguments begin: pointers at element 0, all else the same for all threads. */
static void bind_parameters(rs_fact_walk *walk)
{
    const rs_syntax_declaration *kernel = walk->facts->kernel;
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const rs_syntax_type *type = kernel->parameters[i]->type;
        rs_fact_value value = rs_fact_number(rs_form_uniform());
        if (type != NULL && type->kind == RS_TYPE_POINTER) {
            value = rs_fact_number(rs_form_constant(0));
            value.kind = type->of != NULL && type->of->size > 0 ? RS_FACT_ELEMENT : RS_FACT_OTHER;
            value.parameter = i;
        }
        rs_fact_bind(walk, kernel->parameters[i], value);
    }
}

restride_status rs_fact_accesses_read(rs_fact_accesses *facts, rs_syntax *tree,
                                      const rs_syntax_declaration *kernel)
{
    *facts = (rs_fact_accesses){.kernel = kernel};
    rs_fact_walk walk = {.facts = facts, .tree = tree, .loop = -1, .share = 1};
    facts->group = rs_fact_launched_group(tree, kernel);
    bind_parameters(&walk);
    rs_fact_statement(&walk, rs_syntax_body(tree, kernel));
    free(walk.bindings);
    if (!walk.failed)
        return RESTRIDE_OK;
    rs_fact_accesses_free(facts);
    return rs_fail_memory("a kernel's accesses");
}

void rs_fact_accesses_free(rs_fact_accesses *facts)
{
    free(facts->accesses);
    free(facts->loops);
    free(facts->unknown);
    *facts = (rs_fact_accesses){0};
}

/* "2 + 1 lane + 3 round0 + uniform"; lanes that are no multiples are a list. */
static void print_form(rs_text *text, const rs_fact_form *form)
{
    if (form->is_data) {
        rs_text_add_string(text, "data");
        return;
    }
    const long long step = form->lanes[1];
    bool is_linear = true;
    for (int i = 0; i < RS_FORM_LANES; i++)
        is_linear = is_linear && form->lanes[i] == i * step;
    rs_text_format(text, "%lld", form->constant);
    if (form->some_lane)
        rs_text_add_string(text, " + some lane");
    else if (is_linear && step != 0)
        rs_text_format(text, " + %lld lane", step);
    for (int i = 0; i < RS_FORM_LANES && !is_linear; i++)
        rs_text_format(text, "%s%d", i == 0 ? " + lanes " : ",", form->lanes[i]);
    for (int i = 0; i < RS_FORM_LOOPS; i++) {
        if (form->loops[i] < 0 || form->steps[i] == 0)
            continue;
        if (form->steps[i] == RS_FORM_SOME)
            rs_text_format(text, " + some round%d", form->loops[i]);
        else
            rs_text_format(text, " + %lld round%d", form->steps[i], form->loops[i]);
    }
    if (form->has_uniform)
        rs_text_add_string(text, " + uniform");
}

void rs_fact_accesses_print(rs_text *text, const rs_fact_accesses *facts, const rs_syntax *tree)
{
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        rs_text_format(text, "%s[", facts->kernel->parameters[one->parameter]->name);
        print_form(text, &one->index);
        rs_text_format(text, "] bytes %lld+%lld%s%s%s%s%s loop %d line %zu\n", one->offset,
                       one->size, one->is_inner_lane ? " by lane" : "", one->reads ? " read" : "",
                       one->writes ? " write" : "", one->is_atomic ? " atomic" : "",
                       one->is_conditional ? " if" : "", one->loop,
                       rs_syntax_line(tree, one->range));
    }
    rs_text_format(text, "work %.0f shared %.0f group %.0f\n", facts->work, facts->shared_bytes,
                   facts->group);
    for (size_t i = 0; i < facts->loop_count; i++)
        rs_text_format(text, "loop %zu in %d rounds %lld%s work %.0f\n", i, facts->loops[i].outer,
                       facts->loops[i].count, facts->loops[i].varies ? " varies" : "",
                       facts->loops[i].work);
    for (size_t i = 0; i < facts->unknown_count; i++)
        rs_text_format(text, "unknown %s: %s, line %zu\n",
                       facts->kernel->parameters[facts->unknown[i].parameter]->name,
                       facts->unknown[i].what, rs_syntax_line(tree, facts->unknown[i].range));
}
