/* See escapes.h. */
#include "analyze/escapes.h"

#include "analyze/declared.h"
#include "base/list.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

rs_stored rs_stored_of(const rs_syntax_type *type)
{
    if (type->kind == RS_TYPE_REFERENCE)
        type = rs_type_below(type);
    if (type->kind == RS_TYPE_POINTER)
        return RS_STORED_POINTER;
    if (type->kind == RS_TYPE_FLOAT)
        return RS_STORED_FLOATING;
    bool character = rs_type_bytes(type) == 1;
    bool integer = rs_type_is_integer(type) || type->kind == RS_TYPE_ENUM;
    return integer && !character ? RS_STORED_INTEGER : RS_STORED_ANYTHING;
}

bool rs_stored_may_change(rs_stored stored, rs_stored variable)
{
    return stored == variable || stored == RS_STORED_ANYTHING || variable == RS_STORED_ANYTHING;
}

int rs_root_name(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    while (node >= 0 && tree->nodes[node].is != RS_NODE_REFERENCE) {
        int kind = tree->nodes[node].is;
        int base = rs_node_child(tree, node, 0);
        bool part = kind == RS_NODE_MEMBER || kind == RS_NODE_SUBSCRIPT || kind == RS_NODE_IMPLICIT;
        if (!part || base < 0 || rs_type_of(tree, base)->kind == RS_TYPE_POINTER)
            return -1;
        node = rs_node_inner(tree, base);
    }
    return node;
}

static bool add(const rs_tree *tree, rs_escaped_list *found, int node, bool lasts)
{
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    if (!rs_is_variable(declared))
        return true;
    const rs_syntax_type *type = rs_declared_type(declared);
    uint64_t key = rs_declared_key(declared);
    if (type->kind == RS_TYPE_ARRAY)
        return true;
    for (int i = 0; i < found->count; i++)
        if (found->list[i].key == key)
            return true;
    if (!RS_LIST_GROW(found->list, found->count))
        return false;
    found->list[found->count++] = (rs_escaped){key, node, rs_stored_of(type), lasts};
    return true;
}

/* All variables that are named below a node. */
static bool add_names(const rs_tree *tree, rs_escaped_list *found, int node)
{
    bool ok = true;
    for (int at = node, end = rs_node_behind(tree, node); at < end && ok; at++)
        ok = tree->nodes[at].is != RS_NODE_REFERENCE || add(tree, found, at, false);
    return ok;
}

/* Of the place of an object, or of a part of one, the operator that chooses it; -1: none does, or
 * a pointer leads there. */
static int chosen_by(const rs_tree *tree, int node)
{
    while (node >= 0 && tree->nodes[node].is != RS_NODE_REFERENCE) {
        int kind = tree->nodes[node].is;
        int base = rs_node_inner(tree, rs_node_child(tree, node, 0));
        bool part = kind == RS_NODE_MEMBER || kind == RS_NODE_SUBSCRIPT || kind == RS_NODE_IMPLICIT;
        if (!part && !rs_node_is_unary(tree, node, "*"))
            return node;
        if (!part || base < 0 || rs_type_of(tree, base)->kind == RS_TYPE_POINTER)
            return -1;
        node = base;
    }
    return -1;
}

/* The variable at the root of a place; of one that some operator chooses all that it may be. */
static bool add_root(const rs_tree *tree, rs_escaped_list *found, int node)
{
    node = node < 0 ? -1 : rs_node_inner(tree, node);
    int root = node < 0 ? -1 : rs_root_name(tree, node);
    if (root >= 0)
        return add(tree, found, root, false);
    if (node >= 0 && rs_node_is_list(tree, node))
        return true; /* an object without a name, of their values */
    node = node < 0 ? -1 : chosen_by(tree, node);
    if (node >= 0 && tree->nodes[node].is == RS_NODE_CALL)
        node = tree->nodes[node].first; /* the object; add_arguments() looks at the others */
    return node < 0 || add_names(tree, found, node);
}

/* What a place is made of that is no path to a variable: (c ? x : y) = 1. */
static bool add_chosen(const rs_tree *tree, rs_escaped_list *found, int node)
{
    int target = rs_node_inner(tree, rs_node_child(tree, node, 0));
    return target < 0 || rs_root_name(tree, target) >= 0 || add_root(tree, found, target);
}

/* Whether a structure, or one in it, has a member that is a reference. */
static bool has_reference(const rs_syntax_type *type)
{
    const rs_syntax_declaration *record = rs_type_element(type)->declaration;
    for (size_t i = 0; rs_is_declared(record, RS_DECLARATION_RECORD) && i < record->field_count;
         i++)
        if (rs_declared_type(record->fields[i])->kind == RS_TYPE_REFERENCE ||
            has_reference(rs_declared_type(record->fields[i])))
            return true;
    return false;
}

/* A name of what outlives its function and may be written. */
static bool add_lasting(const rs_tree *tree, rs_escaped_list *found, int node)
{
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    return !rs_is_declared(declared, RS_DECLARATION_VARIABLE) || !rs_variable_is_open(declared) ||
           rs_variable_is_constant(declared) || add(tree, found, node, true);
}

/* Whether a constructor copies the members of a structure of plain ones, and leaves the other as it
 * is. */
static bool copies_plainly(const rs_syntax_declaration *constructor)
{
    const rs_syntax_declaration *record = constructor->parent;
    if (constructor->is_written || !constructor->is_copying || record == NULL)
        return false;
    for (size_t i = 0; i < record->field_count; i++) {
        const rs_syntax_type *type = rs_declared_type(record->fields[i]);
        if (type->kind == RS_TYPE_RECORD && !rs_type_is_plain(type))
            return false;
    }
    return record->base_count == 0;
}

/* The arguments that a function takes by reference. */
static bool add_arguments(const rs_tree *tree, rs_escaped_list *found, int node)
{
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    int callee = tree->nodes[node].first, which = 0;
    bool constructs = declared->is_constructor;
    int argument = constructs ? callee : rs_node_argument(tree, node);
    int named = constructs ? -1 : rs_node_operator(tree, node);
    bool ok = true;
    if (constructs && copies_plainly(declared))
        return true;
    for (; argument >= 0 && ok; argument = tree->nodes[argument].next) {
        if (argument == named || tree->nodes[argument].group == RS_NODES_NAME)
            continue;
        const rs_syntax_declaration *parameter = rs_parameter(declared, which++);
        if (rs_declared_type(parameter)->kind == RS_TYPE_REFERENCE)
            ok = add_root(tree, found, argument);
    }
    return ok;
}

bool rs_switch_hides(const rs_tree *tree, int node, size_t *begin, size_t *end)
{
    int first = tree->nodes[node].first;
    *begin = *end = tree->nodes[node].begin;
    if (tree->nodes[node].is != RS_NODE_SWITCH || first < 0)
        return false;
    *end = tree->nodes[first].begin;
    return rs_text_has(tree, *begin, *end, ";");
}

/* The variables that a statement names which is no node of the tree. */
static bool add_hidden(const rs_tree *tree, rs_escaped_list *found, int node)
{
    size_t begin, end;
    bool ok = true, hides = rs_switch_hides(tree, node, &begin, &end);
    for (int i = 1; i < tree->node_count && hides && ok; i++) {
        size_t length = tree->nodes[i].end - tree->nodes[i].begin;
        for (size_t at = begin; tree->nodes[i].is == RS_NODE_REFERENCE && at + length <= end; at++)
            if (strncmp(tree->text + at, tree->text + tree->nodes[i].begin, length) == 0)
                ok = ok && add(tree, found, i, false);
    }
    return ok;
}

static bool add_of(const rs_tree *tree, rs_escaped_list *found, int node)
{
    switch ((int)tree->nodes[node].is) {
    case RS_NODE_SWITCH:
        return add_hidden(tree, found, node);
    case RS_NODE_UNARY:
        if (rs_node_is_unary(tree, node, "&"))
            return add_root(tree, found, rs_node_child(tree, node, 0));
        return !rs_node_is_assignment(tree, node) || add_chosen(tree, found, node);
    case RS_NODE_BINARY:
    case RS_NODE_ASSIGN:
        return !rs_node_is_assignment(tree, node) || add_chosen(tree, found, node);
    case RS_NODE_LIST:
        return !has_reference(rs_type_of(tree, node)) || add_names(tree, found, node);
    case RS_NODE_VARIABLE: {
        const rs_syntax_type *type = tree->nodes[node].type;
        return type->kind != RS_TYPE_REFERENCE || add_root(tree, found, rs_node_last(tree, node));
    }
    case RS_NODE_CALL:
        return add_arguments(tree, found, node);
    case RS_NODE_REFERENCE:
        return add_lasting(tree, found, node) &&
               (!rs_node_is_in(tree, node, RS_NODE_LAMBDA) || add(tree, found, node, false));
    default:
        return true;
    }
}

bool rs_escaped_find(const rs_translation_unit *program, rs_escaped_list *found)
{
    bool ok = true;
    *found = (rs_escaped_list){NULL, 0};
    for (int node = 0; node < program->tree.node_count && ok; node++)
        ok = add_of(&program->tree, found, node);
    return ok;
}

void rs_escaped_free(rs_escaped_list *list)
{
    free(list->list);
    *list = (rs_escaped_list){NULL, 0};
}
