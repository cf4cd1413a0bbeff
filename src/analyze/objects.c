/*
 * What runs of a class where nobody writes it, or where nobody says which: constructors,
 * destructors and virtual functions. They are not followed, but for constructors that only fill
 * the members.
 */
#include "analyze/walk.h"
#include "source/query.h"

#include <string.h>

void rs_walk_note(rs_walk *walk, int node, const char *what, const char *name)
{
    if (!rs_model_note(walk->set, rs_walk_file(walk, node), rs_walk_line(walk, node), what, name))
        walk->no_memory = true;
}

void rs_walk_note_unfollowed(rs_walk *walk, int node, const char *what)
{
    rs_walk_note(walk, node, what, rs_walk_text(walk, node).text);
    walk->stores++; /* perhaps */
    rs_walk_mark_unsupported(walk, node, walk->loop);
    rs_walk_invalidate(walk, RS_STORED_ANYTHING, true, true);
}

/* ---- virtual functions ---- */

/* Whether an expression is an object of its type and of no class that is derived from that. */
static bool is_whole_object(const rs_tree *tree, int node)
{
    node = node < 0 ? -1 : rs_node_inner(tree, node);
    if (node < 0)
        return false;
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    bool named =
        tree->nodes[node].is == RS_NODE_REFERENCE || tree->nodes[node].is == RS_NODE_MEMBER;
    return named && rs_declared_type(declared)->kind == RS_TYPE_RECORD;
}

bool rs_walk_is_virtual(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    const rs_syntax_declaration *method = tree->nodes[node].declaration;
    if (!method->is_virtual || method->is_final ||
        (method->parent != NULL && method->parent->is_final))
        return false;
    const rs_node *callee = &tree->nodes[tree->nodes[node].first];
    int object = rs_walk_object(walk, node);
    size_t begin = object >= 0 && tree->nodes[object].end < callee->end ? tree->nodes[object].end
                                                                        : callee->begin;
    bool qualified = rs_text_has(tree, begin, callee->end, "::");
    return !qualified && !is_whole_object(tree, object);
}

/* ---- constructors ---- */

/* Whether a constructor has, at or below a node, nothing but assignments to its own members. */
static bool is_plain(const rs_tree *tree, int node)
{
    int kind = tree->nodes[node].is;
    int first = tree->nodes[node].first;
    if (kind == RS_NODE_CALL || kind == RS_NODE_LAMBDA || kind == RS_NODE_SUBSCRIPT ||
        kind == RS_NODE_ASM || kind == RS_NODE_NEW || kind == RS_NODE_DELETE ||
        (rs_node_is_unary(tree, node, "*")))
        return false;
    if (kind == RS_NODE_MEMBER && first >= 0 && rs_node_is_pointer(tree, first) &&
        tree->nodes[rs_node_inner(tree, first)].is != RS_NODE_THIS)
        return false;
    if (rs_node_is_assignment(tree, node)) {
        int target = first < 0 ? -1 : rs_node_inner(tree, first);
        const rs_syntax_declaration *field = target < 0 ? NULL : tree->nodes[target].declaration;
        int object = target < 0 ? -1 : tree->nodes[target].first;
        if (target < 0 || !rs_is_declared(field, RS_DECLARATION_FIELD) ||
            (object >= 0 && tree->nodes[rs_node_inner(tree, object)].is != RS_NODE_THIS) ||
            rs_declared_type(field)->kind == RS_TYPE_REFERENCE)
            return false;
    }
    for (int child = first; child >= 0; child = tree->nodes[child].next)
        if (!is_plain(tree, child))
            return false;
    return true;
}

/* Bases, members with constructors and defaults of members do what no line of the constructor says.
 */
static bool has_unsaid(const rs_syntax_declaration *record)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (record->fields[i]->is_initialized ||
            !rs_type_is_plain(rs_declared_type(record->fields[i])))
            return true;
    return record->base_count > 0;
}

bool rs_walk_is_plain_constructor(const rs_walk *walk, const rs_syntax_declaration *constructor)
{
    const rs_tree *tree = walk->tree;
    if (!constructor->is_main)
        return true; /* of a type of the language */
    for (int i = 1; i < tree->node_count; i++)
        if (tree->nodes[i].is == RS_NODE_CONSTRUCTOR && tree->nodes[i].declaration == constructor &&
            rs_node_body(tree, i) >= 0)
            return constructor->parent != NULL && !has_unsaid(constructor->parent) &&
                   is_plain(tree, i);
    return false;
}

/* ---- constructors that nobody wrote ---- */

static rs_making most_of(rs_making a, rs_making b)
{
    return a > b ? a : b;
}

/* What the constructors do that a class has itself. */
static rs_making making_by(const rs_walk *walk, const rs_syntax_declaration *record, bool copies)
{
    rs_making making = RS_MAKING_NOTHING;
    for (int i = 1; i < walk->tree->node_count; i++) {
        const rs_syntax_declaration *declared = walk->tree->nodes[i].declaration;
        if (walk->tree->nodes[i].is == RS_NODE_CONSTRUCTOR && declared->parent == record &&
            declared->is_written && declared->is_copying == copies)
            making =
                most_of(making, rs_walk_is_plain_constructor(walk, declared) ? RS_MAKING_MEMBERS
                                                                             : RS_MAKING_ANYTHING);
    }
    return making;
}

static rs_making making_of_part(const rs_walk *walk, const rs_syntax_type *type, bool copies)
{
    const rs_syntax_type *element = rs_type_element(type);
    if (element->kind != RS_TYPE_RECORD || element->declaration == NULL)
        return RS_MAKING_NOTHING;
    return most_of(making_by(walk, element->declaration, copies),
                   rs_walk_making(walk, element->declaration, copies));
}

rs_making rs_walk_making(const rs_walk *walk, const rs_syntax_declaration *record, bool copies)
{
    rs_making making = RS_MAKING_NOTHING;
    if (record == NULL || !record->is_main)
        return making;
    for (size_t i = 0; i < record->field_count; i++) {
        if (record->fields[i]->is_initialized && !copies)
            making = RS_MAKING_ANYTHING;
        making = most_of(making, making_of_part(walk, rs_declared_type(record->fields[i]), copies));
    }
    for (size_t i = 0; i < record->base_count; i++)
        making = most_of(making, making_of_part(walk, record->bases[i].type, copies));
    return making;
}

/* ---- destructors ---- */

bool rs_type_has_destructor(const rs_syntax_type *type)
{
    const rs_syntax_type *element = rs_type_element(type);
    const rs_syntax_declaration *record =
        element->kind == RS_TYPE_RECORD ? element->declaration : NULL;
    if (record == NULL || record->is_lambda)
        return false; /* captures count where a function object is made */
    bool found = record->has_destructor;
    for (size_t i = 0; i < record->field_count && !found; i++)
        found = rs_type_has_destructor(rs_declared_type(record->fields[i]));
    for (size_t i = 0; i < record->base_count && !found; i++)
        found = rs_type_has_destructor(record->bases[i].type);
    return found;
}

static void note_destructor(rs_walk *walk, int node)
{
    rs_walk_note_unfollowed(walk, node, "What the destructor of \"%s\" touches is not followed.");
}

/* Whether a node makes an object with a destructor that somebody wrote: not where it names one. */
static bool makes_object(const rs_tree *tree, int node)
{
    int kind = tree->nodes[node].is;
    bool makes = kind == RS_NODE_CALL || kind == RS_NODE_FUNCTIONAL_CAST || kind == RS_NODE_LIST;
    if (!makes || !rs_type_has_destructor(rs_type_of(tree, node)))
        return false;
    const rs_syntax_declaration *called = tree->nodes[node].declaration;
    const rs_syntax_type *result = rs_result_type(called);
    return result->kind != RS_TYPE_REFERENCE;
}

/* Whether a function object has one of those as a member: one that its captures make, or a copy of
 * one that it names. */
static bool captures_object(const rs_tree *tree, int node, bool body)
{
    int kind = tree->nodes[node].is;
    if ((kind == RS_NODE_VARIABLE_NAME || kind == RS_NODE_REFERENCE) &&
        rs_type_has_destructor(rs_declared_type(tree->nodes[node].declaration)))
        return true;
    RS_EACH_CHILD(child, tree, node)
        if (captures_object(tree, child, body || tree->nodes[child].is == RS_NODE_COMPOUND))
            return true;
    return !body && makes_object(tree, node);
}

/* The first of the objects without a name that an expression makes, the expression itself being
 * one, too; -1: none. */
static int find_object(const rs_tree *tree, int node)
{
    if (tree->nodes[node].is == RS_NODE_LAMBDA)
        return captures_object(tree, node, false) ? node : -1;
    int found = makes_object(tree, node) ? node : -1;
    for (int child = tree->nodes[node].first; child >= 0 && found < 0;
         child = tree->nodes[child].next)
        found = find_object(tree, child);
    return found;
}

/* Those that the initializer of a variable makes beside the variable. */
static int find_beside(const rs_tree *tree, int variable)
{
    int node = rs_node_initializer(tree, variable), found = -1;
    if (node < 0 || !rs_type_has_destructor(tree->nodes[variable].type))
        return node < 0 ? -1 : find_object(tree, node);
    for (int child = tree->nodes[rs_node_inner(tree, node)].first; child >= 0 && found < 0;
         child = tree->nodes[child].next)
        found = find_object(tree, child);
    return found;
}

void rs_walk_end_expression(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    if (node < 0 || walk->program->language != RS_LANGUAGE_CUDA)
        return;
    int object = tree->nodes[node].is == RS_NODE_VARIABLE ? find_beside(tree, node)
                                                          : find_object(tree, node);
    if (object >= 0)
        note_destructor(walk, object);
}

/* Whether a variable ends an object with its scope: itself, one that it is a reference to, or one
 * that such a reference in it, or a function object, holds. */
static bool ends_object(const rs_tree *tree, int node)
{
    const rs_syntax_type *type = tree->nodes[node].type;
    int initializer =
        tree->nodes[node].is == RS_NODE_VARIABLE ? rs_node_initializer(tree, node) : -1;
    bool holds = type->kind == RS_TYPE_REFERENCE || type->kind == RS_TYPE_RECORD;
    return rs_type_has_destructor(type) ||
           (holds && initializer >= 0 && find_object(tree, initializer) >= 0);
}

void rs_walk_end_scope(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    if (walk->program->language != RS_LANGUAGE_CUDA)
        return;
    RS_EACH_CHILD(child, tree, node) {
        int kind = tree->nodes[child].is;
        if (kind == RS_NODE_DECLARE)
            rs_walk_end_scope(walk, child);
        else if ((kind == RS_NODE_VARIABLE || kind == RS_NODE_PARAMETER) &&
                 ends_object(tree, child))
            note_destructor(walk, child);
    }
}
