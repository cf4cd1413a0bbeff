/* Looks at every mention of a local variable in its scope. */
#include "rewrite/locals.h"

#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>

/* So much is looked at in one source: no source can make it quadratic. */
static const long long work_limit = 1LL << 26;

static int compare_offsets(const void *a, const void *b)
{
    const rs_local *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

restride_status rs_locals_find(rs_locals *locals, const rs_model *model)
{
    const rs_tree *tree = model->tree;
    *locals = (rs_locals){model, NULL, 0, work_limit};
    int count = 0;
    for (int n = 0; n < tree->node_count; n++)
        count += tree->nodes[n].is == RS_NODE_VARIABLE;
    locals->items = calloc((size_t)count + 1, sizeof *locals->items);
    if (locals->items == NULL)
        return rs_fail_memory("the variables of a source");
    for (int n = 0; n < tree->node_count; n++)
        if (tree->nodes[n].is == RS_NODE_VARIABLE)
            locals->items[locals->count++] = (rs_local){.offset = tree->nodes[n].place, .node = n};
    qsort(locals->items, (size_t)locals->count, sizeof *locals->items, compare_offsets);
    return RESTRIDE_OK;
}

void rs_locals_free(rs_locals *locals)
{
    free(locals->items);
    *locals = (rs_locals){NULL, NULL, 0, 0};
}

/* ---- one variable ---- */

/* Whether the variable belongs to one work-item, and is no more than its declaration says. */
static bool is_private(const rs_tree *tree, int declaration)
{
    const rs_syntax_type *type = rs_type_of(tree, declaration);
    const rs_syntax_declaration *declared = tree->nodes[declaration].declaration;
    if (!rs_type_is_integer(type) || type->size > 8 || type->is_volatile || declared->is_static ||
        declared->is_extern ||
        (type->space != RS_SYNTAX_SPACE_ANY && type->space != RS_SYNTAX_SPACE_PRIVATE))
        return false;
    RS_EACH_CHILD(child, tree, declaration)
        if (tree->nodes[child].group == RS_NODES_ATTRIBUTE)
            return false;
    int statement = tree->nodes[declaration].parent;
    return statement >= 0 && tree->nodes[statement].is == RS_NODE_DECLARE;
}

/* The brackets around a mention. */
static int with_brackets(const rs_tree *tree, int mention)
{
    int node = mention;
    while (tree->nodes[tree->nodes[node].parent].is == RS_NODE_PAREN)
        node = tree->nodes[node].parent;
    return node;
}

/* Whether the value of a mention is taken: then there is a conversion around it. */
static bool is_read(const rs_tree *tree, int mention)
{
    int up = tree->nodes[mention].parent;
    return tree->nodes[up].is == RS_NODE_IMPLICIT && rs_node_same_bytes(tree, up, mention) &&
           !tree->nodes[up].type->is_const && !tree->nodes[up].type->is_volatile;
}

static bool note_mention(const rs_model *model, rs_local *local, int mention)
{
    const rs_tree *tree = model->tree;
    /* Blocks run at another time than where they stand. */
    if (rs_node_is_in(tree, mention, RS_NODE_BLOCK))
        return false;
    int node = with_brackets(tree, mention);
    if (is_read(tree, node))
        return true;
    int up = tree->nodes[node].parent;
    int assignment = tree->nodes[up].first == node && rs_node_is_assignment(tree, up) ? up : -1;
    if (assignment < 0 || local->write_count == RS_LOCAL_WRITES)
        return false;
    local->writes[local->write_count++] = assignment;
    return true;
}

/* How often a name stands in the text of a node, whatever it means there. */
static int count_words(const rs_tree *tree, int node, const char *name)
{
    size_t position = tree->nodes[node].begin, word, length;
    int count = 0;
    while (rs_word_next(tree->text, tree->nodes[node].end, &position, &word, &length))
        count += rs_word_equals(tree->text, word, length, name);
    return count;
}

static bool mentions(const rs_tree *tree, int node, const rs_local *local, const char *name)
{
    const rs_node *n = &tree->nodes[node];
    return n->is == RS_NODE_REFERENCE &&
           rs_word_equals(tree->text, n->begin, n->end - n->begin, name) &&
           n->declaration == tree->nodes[local->node].declaration;
}

/* Every word of the scope that is the variable's name has to be its declaration, or a mention that
 * is understood. */
static bool study(rs_locals *locals, rs_local *local)
{
    const rs_tree *tree = locals->model->tree;
    if (!is_private(tree, local->node))
        return false;
    int scope = tree->nodes[tree->nodes[local->node].parent].parent;
    int behind = rs_node_behind(tree, scope), seen = 1;
    locals->work_left -= (long long)(tree->nodes[scope].end - tree->nodes[scope].begin);
    locals->work_left -= behind - scope;
    if (locals->work_left < 0)
        return false;
    const char *name = tree->nodes[local->node].name;
    bool understood = true;
    for (int n = scope; n < behind && understood; n++)
        if (mentions(tree, n, local, name)) {
            seen++;
            understood = note_mention(locals->model, local, n);
        }
    understood = understood && count_words(tree, scope, name) == seen;
    return understood;
}

const rs_local *rs_locals_mentioned(rs_locals *locals, int node)
{
    const rs_node *n = &locals->model->tree->nodes[node];
    if (n->is != RS_NODE_REFERENCE)
        return NULL;
    if (n->declaration->kind != RS_DECLARATION_VARIABLE)
        return NULL;
    const rs_local wanted = {.offset = n->declaration->place};
    rs_local *local =
        bsearch(&wanted, locals->items, (size_t)locals->count, sizeof wanted, compare_offsets);
    if (local == NULL)
        return NULL;
    if (!local->studied) {
        local->studied = true;
        local->is_seen = study(locals, local);
    }
    return local->is_seen ? local : NULL;
}

int rs_local_initial(const rs_tree *tree, const rs_local *local)
{
    return rs_node_initializer(tree, local->node);
}
