/* Judgements from the tree of a whole CUDA source, where the analysis of references has none. */
#include "analyze/lanes.h"
#include "base/json.h"
#include "facts/judged.h"
#include "programs/analyze/report.h"

#include <stdlib.h>
#include <string.h>

/* Whether a unit is a kernel that has been judged without an argument; or by guesses, and none of
 * its arguments is a flat array whose records the user has told. */
static bool is_open(const json_t *unit, bool is_guessed)
{
    const json_t *judgement = json_object_get(unit, "judgement");
    const json_t *arguments = json_object_get(judgement, "arguments");
    size_t i;
    json_t *argument;
    if (judgement == NULL)
        return false;
    json_array_foreach(arguments, i, argument)
    {
        if (!is_guessed || json_object_get(argument, "record") != NULL)
            return false;
    }
    return true;
}

static bool has_open(const json_t *units, bool is_guessed)
{
    size_t i;
    json_t *unit;
    json_array_foreach(units, i, unit)
    {
        if (is_open(unit, is_guessed))
            return true;
    }
    return false;
}

/* A unit's name is that of a kernel, or of a template's instance: the name before "<". */
static bool is_named(const json_t *unit, const rs_syntax_declaration *kernel)
{
    const char *name = rs_json_string_of(unit, "name");
    const size_t length = strcspn(name, "<");
    return strlen(kernel->name) == length && strncmp(name, kernel->name, length) == 0;
}

static restride_status judge(rs_syntax *tree, const rs_syntax_declaration *kernel,
                             const char *device, json_t *unit, bool *is_judged)
{
    rs_fact_accesses facts;
    json_t *judgement = NULL;
    rs_kernel_lanes *lanes = calloc(1, sizeof *lanes);
    if (lanes == NULL)
        return rs_fail_memory("a judgement");
    restride_status status = rs_fact_accesses_read(&facts, tree, kernel);
    if (status == RESTRIDE_OK) {
        int judged = 0;
        status = rs_fact_judged(&lanes->kernel, &facts);
        for (int i = 0; i < lanes->kernel.argument_count; i++) {
            const rs_judge_argument *a = &lanes->kernel.arguments[i];
            lanes->records[i] = !a->is_fixed && !a->continues;
            judged += lanes->records[i];
        }
        if (status == RESTRIDE_OK && judged > 0)
            status = rs_kernel_lanes_judge(lanes, device, &judgement);
        rs_fact_accesses_free(&facts);
    }
    *is_judged = judgement != NULL;
    if (judgement != NULL)
        json_object_set_new(unit, "judgement", judgement);
    free(lanes);
    return status;
}

/* The first instance of a template whose argument is an array of structures stands for all. */
static restride_status judge_all(rs_syntax *tree, const char *device, bool is_guessed,
                                 json_t *units)
{
    restride_status status = RESTRIDE_OK;
    size_t u;
    json_t *unit;
    json_array_foreach(units, u, unit)
    {
        bool is_judged = !is_open(unit, is_guessed);
        for (size_t i = 0; i < tree->declaration_count && status == RESTRIDE_OK; i++) {
            const rs_syntax_declaration *of = tree->declarations[i];
            if (!is_judged && of->is_kernel && of->kind == RS_DECLARATION_FUNCTION &&
                is_named(unit, of))
                status = judge(tree, of, device, unit, &is_judged);
        }
    }
    return status;
}

restride_status rs_kernels_judge(const char *file, char *const options[], int option_count,
                                 const json_t *request, json_t *reply)
{
    const size_t length = strlen(file);
    json_t *units = json_object_get(reply, "units");
    /* Each note names something that the analysis has not read. */
    const bool is_guessed = json_array_size(json_object_get(reply, "notes")) > 0;
    const char *device = json_string_value(json_object_get(request, "device"));
    if (length < 3 || strcmp(file + length - 3, ".cu") != 0 || !has_open(units, is_guessed))
        return RESTRIDE_OK;
    rs_invocation invocation;
    rs_syntax *tree = NULL;
    const rs_invocation_request asked = {.path = file,
                                         .options = (const char *const *)options,
                                         .option_count = (size_t)option_count};
    restride_status status = rs_invocation_make(&invocation, &asked);
    if (status != RESTRIDE_OK)
        return status == RESTRIDE_OUT_OF_MEMORY ? status : RESTRIDE_OK;
    status = rs_syntax_read(&tree, &invocation);
    rs_invocation_free(&invocation);
    if (status != RESTRIDE_OK)
        return status == RESTRIDE_OUT_OF_MEMORY ? status : RESTRIDE_OK;
    if (tree->error_count == 0)
        status = judge_all(tree, device != NULL ? device : "h200", is_guessed, units);
    rs_syntax_free(tree);
    return status;
}
