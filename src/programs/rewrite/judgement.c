/* See judgement.h. */
#include "programs/rewrite/judgement.h"

#include "facts/judged.h"

#include <stdlib.h>
#include <string.h>

restride_status rs_question_answer(const rs_judge_question *asked, double *gain,
                                   const char **reason)
{
    rs_judge_device device;
    restride_status status = rs_judge_read_device(&device, "h200");
    if (status == RESTRIDE_OK)
        status = rs_judge_compare(&asked->kernel, &device, asked->layouts, gain, reason);
    return status;
}

bool rs_question_ask(rs_judge_question *asked, rs_fact_accesses *facts,
                     const rs_judge_change changes[], size_t count)
{
    size_t known = 0;
    *asked = (rs_judge_question){.kernel = {.argument_count = 0}};
    if (rs_fact_judged(&asked->kernel, facts) != RESTRIDE_OK)
        return false;
    for (int k = 0; k < asked->kernel.argument_count; k++) {
        const rs_judge_argument *a = &asked->kernel.arguments[k];
        const rs_judge_change *change = NULL;
        for (size_t i = 0; i < count && change == NULL; i++)
            if (strcmp(changes[i].name, a->name) == 0)
                change = &changes[i];
        asked->layouts[k] = change != NULL ? change->layout : rs_judge_aos;
        if (change != NULL &&
            (a->lanes == RS_LANES_UNKNOWN || a->is_fixed || a->element != change->element))
            return false;
        known += change != NULL && !a->continues;
    }
    return known == count;
}

restride_status rs_judge_companion(rs_syntax *tree, const rs_syntax_declaration *kernel,
                                   uint64_t changed, double threads,
                                   const rs_companion_layout *layout, double *gain,
                                   const char **why)
{
    rs_judge_change changes[64];
    rs_fact_accesses facts;
    rs_judge_question *asked = malloc(sizeof *asked);
    size_t count = 0;
    *gain = 0;
    *why = "what its threads do with the elements is not known";
    for (size_t i = 0; i < kernel->parameter_count && i < 64; i++)
        if ((changed >> i & 1) != 0)
            changes[count++] =
                (rs_judge_change){kernel->parameters[i]->name,
                                  kernel->parameters[i]->type->of->size,
                                  {.tile = (int)layout->tile, .group = (int)layout->group}};
    restride_status status =
        asked == NULL ? rs_fail_memory("a judgement") : rs_fact_accesses_read(&facts, tree, kernel);
    if (status == RESTRIDE_OK) {
        const bool is_known = rs_question_ask(asked, &facts, changes, count);
        asked->kernel.threads = threads;
        if (is_known)
            status = rs_question_answer(asked, gain, why);
        rs_fact_accesses_free(&facts);
    }
    free(asked);
    return status;
}
