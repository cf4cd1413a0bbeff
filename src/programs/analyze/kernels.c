/*
 * Judgements from the tree of a whole source, which follows values further than the analysis of
 * references does. The tree is read in a process of its own: where that crashes or does not end,
 * the analysis of references has a word on each kernel.
 */
#include "analyze/lanes.h"
#include "base/child.h"
#include "base/json.h"
#include "facts/judged.h"
#include "programs/analyze/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_open(const json_t *unit)
{
    return json_object_get(unit, "judgement") != NULL;
}

static bool has_open(const json_t *units)
{
    size_t i;
    json_t *unit;
    json_array_foreach(units, i, unit)
    {
        if (is_open(unit))
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
                             const char *device, json_t **judgement)
{
    rs_fact_accesses facts;
    rs_judge_kernel *judged = calloc(1, sizeof *judged);
    if (judged == NULL)
        return rs_fail_memory("a judgement");
    restride_status status = rs_fact_accesses_read(&facts, tree, kernel);
    if (status == RESTRIDE_OK) {
        bool has_records = false;
        status = rs_fact_judged(judged, &facts);
        for (int i = 0; i < judged->argument_count; i++)
            has_records |= !judged->arguments[i].is_fixed;
        if (status == RESTRIDE_OK && has_records)
            status = rs_kernel_lanes_judge(judged, device, judgement);
        rs_fact_accesses_free(&facts);
    }
    free(judged);
    return status;
}

typedef struct {
    const char *file, *device;
    char *const *options;
    size_t option_count;
    const json_t *units;
} reading;

/* The first instance of a template whose argument is an array of structures stands for all. An
 * object of the units' numbers. */
static restride_status judge_all(rs_syntax *tree, const reading *at, json_t *all)
{
    restride_status status = RESTRIDE_OK;
    size_t u;
    json_t *unit;
    json_array_foreach(at->units, u, unit)
    {
        json_t *judgement = NULL;
        for (size_t i = 0; i < tree->declaration_count && status == RESTRIDE_OK; i++) {
            const rs_syntax_declaration *of = tree->declarations[i];
            if (judgement == NULL && is_open(unit) && of->is_kernel &&
                of->kind == RS_DECLARATION_FUNCTION && is_named(unit, of))
                status = judge(tree, of, at->device, &judgement);
        }
        char number[24];
        snprintf(number, sizeof number, "%zu", u);
        if (judgement != NULL)
            json_object_set_new(all, number, judgement);
    }
    return status;
}

static restride_status read_and_judge(void *context, rs_text *output)
{
    const reading *at = context;
    rs_invocation invocation;
    rs_syntax *tree = NULL;
    json_t *all = json_object();
    const rs_invocation_request asked = {.path = at->file,
                                         .options = (const char *const *)at->options,
                                         .option_count = at->option_count};
    restride_status status = rs_invocation_make(&invocation, &asked);
    if (status == RESTRIDE_OK)
        status = rs_syntax_read(&tree, &invocation);
    if (status == RESTRIDE_OK && tree->error_count == 0)
        status = judge_all(tree, at, all);
    char *dump = status == RESTRIDE_OK ? json_dumps(all, JSON_COMPACT) : NULL;
    rs_text_add_string(output, dump != NULL ? dump : "{}");
    return status; /* the process ends: nothing needs to be freed */
}

static bool has_ending(const char *file, const char *ending)
{
    const size_t length = strlen(file), size = strlen(ending);
    return length > size && strcmp(file + length - size, ending) == 0;
}

void rs_kernels_judge(const char *file, char *const options[], int option_count,
                      const json_t *request, json_t *reply)
{
    enum { SECONDS = 60 };
    const char *device = json_string_value(json_object_get(request, "device"));
    const reading at = {.file = file,
                        .device = device != NULL ? device : "h200",
                        .options = options,
                        .option_count = (size_t)option_count,
                        .units = json_object_get(reply, "units")};
    const char *number;
    json_t *judgement, *all = NULL;
    rs_text text = RS_TEXT_EMPTY;
    if ((!has_ending(file, ".cu") && !has_ending(file, ".cl")) || !has_open(at.units))
        return;
    if (rs_child_do(read_and_judge, (void *)&at, SECONDS, &text) == RESTRIDE_OK && text.size > 0)
        all = json_loadb(text.data, text.size, 0, NULL);
    json_object_foreach(all, number, judgement)
    {
        json_object_set(json_array_get(at.units, strtoul(number, NULL, 10)), "judgement",
                        judgement);
    }
    json_decref(all);
    rs_text_free(&text);
}
