/* The functions of a source: which there are, and each that nobody enters walked from its
 * beginning. */
#include "analyze/common.h"
#include "analyze/mod_ref.h"
#include "analyze/walk.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_ROUTINE_LIMIT = 4000 };

/* Whether the words before a function's name make it a kernel. */
static bool is_kernel(const rs_translation_unit *program, int function)
{
    const rs_tree *tree = &program->tree;
    RS_EACH_CHILD(child, tree, function)
        if (tree->nodes[child].is == RS_NODE_KERNEL_ATTRIBUTE)
            return true;
    size_t position = tree->nodes[function].begin, word, length;
    size_t end = tree->nodes[function].place;
    /* libclang's extent may leave the first attributes out. */
    while (position > 0 && strchr(";}{", tree->text[position - 1]) == NULL)
        position--;
    while (rs_word_next(tree->text, end, &position, &word, &length))
        if (rs_word_equals(tree->text, word, length, "__kernel") ||
            rs_word_equals(tree->text, word, length, "kernel") ||
            rs_word_equals(tree->text, word, length, "__global__"))
            return program->language != RS_LANGUAGE_C;
    return false;
}

/* What the source says of the work-groups of a kernel. */
static void read_group(const rs_tree *tree, int function, rs_unit *unit)
{
    size_t begin = tree->nodes[function].begin;
    while (begin > 0 && strchr(";}", tree->text[begin - 1]) == NULL)
        begin--;
    int body = rs_node_body(tree, function);
    size_t end = body >= 0 ? tree->nodes[body].begin : tree->nodes[function].end;
    rs_unit_read_group(unit, tree->text + begin, end - begin);
}

/* What all functions of a program are walked with. */
typedef struct {
    const rs_routine *routines;
    int count;
    rs_escaped_list escaped;
    rs_common_list common;
} surroundings;

/* `again` becomes true when the function has to be walked once more, as another unit. */
static restride_status walk_once(const rs_translation_unit *program, rs_model_set *set,
                                 const surroundings *around, const rs_routine *routine,
                                 rs_mod_ref *effects, bool *again)
{
    rs_walk walk;
    memset(&walk, 0, sizeof walk);
    walk.program = program;
    walk.tree = &program->tree;
    walk.set = set;
    walk.routines = around->routines;
    walk.routine_count = around->count;
    walk.loop = -1;
    walk.returned = -1;
    walk.escaped = &around->escaped;
    walk.common = &around->common;
    walk.effects = effects;
    const char *file;
    size_t line;
    rs_flat_locate(&program->flat, program->tree.nodes[routine->node].begin, &file, &line);
    walk.unit = rs_model_add_unit(set, routine->name, (int)line, routine->kernel);
    if (walk.unit == NULL)
        return rs_fail_memory("the analysis");
    walk.unit->declaration = walk.tree->nodes[routine->node].declaration;
    read_group(walk.tree, routine->node, walk.unit);
    walk.calls[walk.depth++] = routine->node;
    rs_walk_bind_references(&walk, routine->node);
    rs_walk_statement(&walk, rs_node_body(walk.tree, routine->node));
    rs_walk_note_lambdas(&walk);
    rs_unit_settle_pointers(walk.unit);
    if (walk.exhausted && !walk.no_memory)
        rs_model_note(set, file, (int)line, "%s is too large; only its first part is analyzed.",
                      routine->name);
    *again = rs_walk_needs_another(&walk);
    free(walk.values);
    free(walk.lambdas);
    for (int i = 0; i < walk.member_count; i++)
        free(walk.members[i].name);
    free(walk.members);
    rs_environment_free(&walk.initial);
    rs_environment_free(&walk.variables);
    return walk.no_memory ? rs_fail_memory("the analysis") : RESTRIDE_OK;
}

static restride_status walk_function(const rs_translation_unit *program, rs_model_set *set,
                                     const surroundings *around, const rs_routine *routine)
{
    rs_mod_ref effects;
    bool again;
    memset(&effects, 0, sizeof effects);
    restride_status status = walk_once(program, set, around, routine, &effects, &again);
    if (status == RESTRIDE_OK && again) {
        rs_model_drop_unit(set);
        effects.settled = true;
        status = walk_once(program, set, around, routine, &effects, &again);
    }
    free(effects.written);
    free(effects.loaded);
    free(effects.storing);
    free(effects.leading);
    return status;
}

static bool is_function(const rs_tree *tree, int node)
{
    int kind = tree->nodes[node].is;
    return (kind == RS_NODE_FUNCTION || kind == RS_NODE_TEMPLATE || kind == RS_NODE_METHOD ||
            kind == RS_NODE_CONVERSION || kind == RS_NODE_LAMBDA) &&
           rs_node_body(tree, node) >= 0;
}

static restride_status find_routines(const rs_translation_unit *program, rs_routine **routines,
                                     int *count)
{
    const rs_tree *tree = &program->tree;
    *count = 0;
    *routines = calloc(FILE_ROUTINE_LIMIT, sizeof **routines);
    if (*routines == NULL)
        return rs_fail_memory("the analysis");
    for (int i = 1; i < tree->node_count && *count < FILE_ROUTINE_LIMIT; i++) {
        if (!is_function(tree, i))
            continue;
        const char *spelling = tree->nodes[i].name;
        char *name = strdup(spelling);
        if (name == NULL)
            return rs_fail_memory("the analysis");
        name[strcspn(name, "<")] = '\0';
        bool lambda = tree->nodes[i].is == RS_NODE_LAMBDA;
        (*routines)[(*count)++] =
            (rs_routine){name, i, tree->nodes[i].place, !lambda && is_kernel(program, i)};
    }
    return RESTRIDE_OK;
}

/* Whether a function is entered from a kernel, so that it is analyzed there. */
static bool is_device_only(const rs_translation_unit *program, const rs_routine *routine)
{
    const rs_tree *tree = &program->tree;
    bool device = program->language == RS_LANGUAGE_OPENCL;
    bool host = false;
    RS_EACH_CHILD(child, tree, routine->node) {
        device = device || tree->nodes[child].is == RS_NODE_DEVICE_ATTRIBUTE;
        host = host || tree->nodes[child].is == RS_NODE_HOST_ATTRIBUTE;
    }
    return device && !host;
}

/* Whether a routine is a template of which there are instances, which are routines of their own. */
static bool has_instances(const rs_tree *tree, const rs_routine *routines, int count, int which)
{
    for (int i = 0; i < count; i++)
        if (i != which && routines[i].offset == routines[which].offset &&
            tree->nodes[routines[i].node].is != RS_NODE_TEMPLATE)
            return true;
    return false;
}

/* Whether a routine is left to others: a function to its kernels, a template to its instances. */
static bool is_passed_over(const rs_translation_unit *program, rs_model_set *set,
                           const rs_routine *routines, int count, int which)
{
    const rs_routine *routine = &routines[which];
    if (program->tree.nodes[routine->node].is == RS_NODE_LAMBDA)
        return true;
    if (!routine->kernel && is_device_only(program, routine))
        return true;
    if (program->tree.nodes[routine->node].is != RS_NODE_TEMPLATE)
        return false;
    if (has_instances(&program->tree, routines, count, which))
        return true;
    const char *file;
    size_t line;
    rs_flat_locate(&program->flat, program->tree.nodes[routine->node].begin, &file, &line);
    rs_model_note(set, file, (int)line,
                  "%s is a template that nothing here makes an instance of; its parameters stay "
                  "open.",
                  routine->name);
    return false;
}

restride_status rs_walk_program(const rs_translation_unit *program, rs_model_set *set)
{
    rs_routine *routines;
    int count;
    surroundings around;
    restride_status status = find_routines(program, &routines, &count);
    around.routines = routines;
    around.count = count;
    bool found = rs_escaped_find(program, &around.escaped);
    found = rs_common_find(program, &around.common) && found;
    if (!found && status == RESTRIDE_OK)
        status = rs_fail_memory("the analysis");
    for (int i = 0; i < count && status == RESTRIDE_OK; i++)
        if (!is_passed_over(program, set, routines, count, i))
            status = walk_function(program, set, &around, &routines[i]);
    if (program->language != RS_LANGUAGE_C)
        rs_grids_forget_extents(&program->grids, set);
    rs_common_free(&around.common);
    rs_escaped_free(&around.escaped);
    for (int i = 0; i < count; i++)
        free(routines[i].name);
    free(routines);
    return status;
}
