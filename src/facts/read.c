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
        if (type != NULL && (type->kind == RS_TYPE_POINTER || type->kind == RS_TYPE_ARRAY)) {
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
    for (size_t i = 0; i < kernel->parameter_count && walk.work > RS_WALK_LIMIT; i++)
        rs_fact_miss(&walk, &(rs_fact_value){.kind = RS_FACT_ELEMENT, .parameter = i},
                     "a kernel that is too large", kernel->range);
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
