/* What a kernel's lanes do with its arrays, by the facts of its text, and which layout gains. */
#include "analyze/lanes.h"

#include "base/json.h"
#include "facts/judged.h"
#include "source/query.h"

#include <stdlib.h>

static int find_function(const rs_tree *tree, const rs_syntax_declaration *declaration)
{
    for (int n = 0; n < tree->node_count; n++)
        if (tree->nodes[n].declaration == declaration && tree->nodes[n].group == RS_NODES_DECLARE &&
            rs_node_body(tree, n) >= 0)
            return n;
    return -1;
}

/* Whether the compiler found an error in a function or in what it calls: then facts are missing.
 * `seen`: functions that were asked about, by their nodes. */
static bool is_misread(const rs_translation_unit *program, int function, bool *seen)
{
    const rs_tree *tree = &program->tree;
    if (function < 0 || seen[function])
        return false;
    seen[function] = true;
    if (rs_program_is_misread(program, tree->nodes[function].begin, tree->nodes[function].end))
        return true;
    for (int n = function + 1; n < rs_node_behind(tree, function); n++) {
        const rs_syntax_declaration *of = tree->nodes[n].declaration;
        if (tree->nodes[n].is == RS_NODE_REFERENCE && of->kind == RS_DECLARATION_FUNCTION &&
            is_misread(program, find_function(tree, of), seen))
            return true;
    }
    return false;
}

restride_status rs_kernel_judge(const rs_translation_unit *program, const rs_unit *unit,
                                int64_t group, const char *device, json_t **judgement)
{
    rs_fact_accesses facts;
    rs_judge_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return rs_fail_memory("a judgement");
    restride_status status = rs_fact_accesses_read(&facts, program->tree.syntax, unit->declaration);
    if (status == RESTRIDE_OK) {
        status = rs_fact_judged(kernel, &facts);
        rs_fact_accesses_free(&facts);
    }
    bool *seen = calloc((size_t)program->tree.node_count, sizeof *seen);
    const bool is_known =
        program->error_count == 0 ||
        (seen != NULL &&
         !is_misread(program, find_function(&program->tree, unit->declaration), seen));
    free(seen);
    for (int k = 0; k < kernel->argument_count && !is_known; k++)
        kernel->arguments[k].lanes = RS_LANES_UNKNOWN;
    kernel->group = group > 0 ? (double)group : kernel->group;
    if (status == RESTRIDE_OK)
        status = rs_kernel_lanes_judge(kernel, device, judgement);
    free(kernel);
    return status;
}

/* ---- JSON ---- */

static json_t *text_of(void (*print)(rs_text *text, const rs_judge_layout *layout),
                       const rs_judge_layout *layout)
{
    rs_text text = RS_TEXT_EMPTY;
    print(&text, layout);
    return rs_json_take(&text);
}

/* What lanes do in the further uses of an array, each once. */
static json_t *other_lanes(const rs_judge_kernel *kernel, int k)
{
    json_t *also = json_array();
    bool told[RS_LANES_UNKNOWN + 1] = {false};
    told[kernel->arguments[k].lanes] = true;
    for (int u = k + 1; u < kernel->argument_count && kernel->arguments[u].continues; u++) {
        const rs_judge_lanes lanes = kernel->arguments[u].lanes;
        if (!told[lanes])
            json_array_append_new(also, json_string(rs_judge_lanes_text(lanes)));
        told[lanes] = true;
    }
    return also;
}

static json_t *describe_judgement(const rs_judge_kernel *kernel, int k, const rs_judgement *found)
{
    static const char *const names[] = {"one",    "group", "within", "same",
                                        "gather", "walk",  "unknown"};
    const rs_judge_argument *a = &kernel->arguments[k];
    json_t *candidates = json_array();
    const int touched = rs_judge_touched(kernel, k);
    for (int c = 0; c < found->candidates; c++)
        json_array_append_new(
            candidates, json_pack("{s:o, s:o, s:f}", "layout",
                                  text_of(rs_judge_layout_print, &found->layouts[c]), "meaning",
                                  text_of(rs_judge_layout_explain, &found->layouts[c]), "gain",
                                  found->gains[c]));
    json_t *entry = json_pack(
        "{s:s, s:i, s:i, s:s, s:s, s:o, s:o, s:f, s:s, s:f, s:f, s:f, s:o}", "array", a->name,
        "element", a->element, "touched", touched, "class", names[a->lanes], "lanes",
        rs_judge_lanes_text(a->lanes), "layout", text_of(rs_judge_layout_print, &found->layout),
        "meaning", text_of(rs_judge_layout_explain, &found->layout), "gain", found->gain, "reason",
        found->reason, "sectors_now", found->sectors_now, "sectors_then", found->sectors_then,
        "requests", found->requests, "candidates", candidates);
    if (a->words > 0)
        json_object_set_new(entry, "record", json_integer(a->words));
    if (a->group > 1)
        json_object_set_new(entry, "group", json_integer(a->group));
    json_t *also = other_lanes(kernel, k);
    if (json_array_size(also) > 0)
        json_object_set(entry, "also", also);
    json_decref(also);
    return entry;
}

restride_status rs_kernel_lanes_judge(const rs_judge_kernel *kernel, const char *device,
                                      json_t **judgement)
{
    rs_judge_device described;
    rs_judgement found[RS_JUDGE_MOST_ARGUMENTS];
    double gain;
    restride_status status = rs_judge_read_device(&described, device);
    if (status == RESTRIDE_OK)
        status = rs_judge(kernel, &described, found, &gain);
    json_t *arguments = json_array();
    for (int k = 0; k < kernel->argument_count && status == RESTRIDE_OK; k++)
        if (!kernel->arguments[k].is_fixed && !kernel->arguments[k].continues)
            json_array_append_new(arguments, describe_judgement(kernel, k, &found[k]));
    if (status == RESTRIDE_OK)
        *judgement = json_pack("{s:s, s:f, s:O}", "device", described.shape.name, "gain", gain,
                               "arguments", arguments);
    json_decref(arguments);
    return status;
}
