/*
 * The functions of OpenCL that read or write several elements behind a pointer: vloadN, vstoreN and
 * the copies that a whole work-group makes. In another layout the elements do not lie behind each
 * other, so a generated function takes them one by one (generated.c).
 */
#include "base/text.h"
#include "rewrite/linear.h"
#include "rewrite/way.h"

#include "source/query.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    rs_block_kind kind;
    bool strided;
    int operands;
    int pointers[2]; /* which of the operands are pointers; -1: no second one */
} block_function;

/* The pointer that a copy of a work-group reads is the second one. */
static const block_function functions[] = {
    {"vload", RS_BLOCK_LOAD, false, 2, {1, -1}},
    {"vstore", RS_BLOCK_STORE, false, 3, {2, -1}},
    {"async_work_group_copy", RS_BLOCK_FETCH, false, 4, {0, 1}},
    {"async_work_group_strided_copy", RS_BLOCK_FETCH, true, 5, {0, 1}},
};

/* The number of lanes behind a name; 0 when there is none that OpenCL knows. */
static int lanes_of(const char *digits)
{
    return rs_is_among(digits, strlen(digits), "2 3 4 8 16") ? (int)strtol(digits, NULL, 10) : 0;
}

static bool matches(const block_function *function, const char *name, int *lanes)
{
    bool vector = function->kind == RS_BLOCK_LOAD || function->kind == RS_BLOCK_STORE;
    size_t length = strlen(function->name);
    *lanes = vector && strncmp(name, function->name, length) == 0 ? lanes_of(name + length) : 0;
    return vector ? *lanes > 0 : strcmp(name, function->name) == 0;
}

size_t rs_operand_end(const rs_tree *tree, int node)
{
    const rs_node *n = &tree->nodes[node];
    size_t end = n->end, open = 0;
    for (size_t at = n->begin; at < n->end; at = rs_word_skip(tree->text, tree->size, at)) {
        open += tree->text[at] == '(';
        open -= tree->text[at] == ')' && open > 0;
    }
    for (size_t at = end; open > 0 && at < tree->size; at++) {
        if (tree->text[at] == ')') {
            open--;
            end = at + 1;
        } else if (!isspace((unsigned char)tree->text[at])) {
            break;
        }
    }
    return end;
}

/* Whether nothing but the name, brackets and commas stands around the operands of a call: the
 * compiler's macros may have brought more. */
static bool is_plain(const rs_tree *tree, int call)
{
    const rs_node *outer = &tree->nodes[call];
    int at = outer->first;
    const char *expected = "(";
    if (at < 0 || tree->nodes[at].begin != outer->begin)
        return false;
    for (int next = tree->nodes[at].next; next >= 0; at = next, next = tree->nodes[at].next) {
        if (!rs_text_is(tree, rs_operand_end(tree, at), tree->nodes[next].begin, expected))
            return false;
        expected = ",";
    }
    return rs_text_is(tree, rs_operand_end(tree, at), outer->end, ")");
}

/* What the generated functions call must be OpenCL's own. */
static bool is_own_library(const rs_tree *tree)
{
    static const char *const names[] = {"barrier", "get_local_id", "get_local_size"};
    bool own = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        own = own && !rs_is_user_function(tree, names[i]);
    return own;
}

static const block_function *function_of(const rs_tree *tree, int call, int *lanes)
{
    const block_function *found = NULL;
    if (tree->nodes[call].is != RS_NODE_CALL)
        return NULL;
    const char *name = tree->nodes[call].name;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && found == NULL; i++)
        if (matches(&functions[i], name, lanes) && !rs_is_user_function(tree, name))
            found = &functions[i];
    bool usable = found != NULL && rs_node_child_count(tree, call) == found->operands + 1 &&
                  is_plain(tree, call) && (found->kind != RS_BLOCK_FETCH || is_own_library(tree));
    return usable ? found : NULL;
}

/* Fills in what the call does with the operand at `node`; false when that is not known. */
static bool describe(rs_way *w, int call, int node)
{
    int lanes;
    const block_function *function = function_of(w->tree, call, &lanes);
    bool first = false, pointed = false;
    for (int i = 0; i < 2 && function != NULL; i++)
        if (function->pointers[i] >= 0 &&
            rs_node_child(w->tree, call, 1 + function->pointers[i]) == node) {
            first = i == 0;
            pointed = true;
        }
    if (!pointed)
        return false;
    rs_member_access *a = &w->access;
    a->kind = RS_ACCESS_BLOCK;
    a->block = (rs_block){function->kind, lanes, function->strided};
    if (function->kind == RS_BLOCK_FETCH && first)
        a->block.kind = RS_BLOCK_PUT;
    a->call = call;
    a->begin = w->tree->nodes[call].begin;
    a->end = w->tree->nodes[call].end;
    a->written = a->block.kind == RS_BLOCK_STORE || a->block.kind == RS_BLOCK_PUT;
    a->vector_index = lanes > 0 ? rs_node_child(w->tree, call, function->pointers[0]) : -1;
    w->place = RS_AT_END;
    return true;
}

/* The type of the elements; vectors of 3 lie as vectors of 4 and are left to the device. */
static bool note_element(rs_way *w, const rs_syntax_type *element)
{
    bool vector3;
    if (!rs_leaf_type_name(element, w->access.type, &vector3) || vector3 || element->is_volatile)
        return false;
    w->access.size = (size_t)rs_type_bytes(element);
    w->access.is_const = element->is_const;
    w->access.is_volatile = false;
    return true;
}

bool rs_way_pass_pointer(rs_way *w, int call)
{
    if (!w->access.flat || !note_element(w, w->target))
        return false;
    w->access.operand = w->node;
    return describe(w, call, w->node);
}

/* The expression that an array becomes a pointer by, with all conversions around it. */
static int converted(const rs_tree *tree, int node)
{
    int up = tree->nodes[node].parent;
    while (tree->nodes[up].is == RS_NODE_IMPLICIT && rs_node_same_bytes(tree, up, node)) {
        node = up;
        up = tree->nodes[node].parent;
    }
    return node;
}

bool rs_way_pass_array(rs_way *w)
{
    rs_way passed = *w;
    rs_member_access *a = &passed.access;
    if (!rs_type_is_fixed_array(w->type) || a->union_size > 0)
        return false;
    const rs_syntax_type *element = rs_type_below(w->type);
    int node = converted(w->tree, w->node), call = w->tree->nodes[node].parent;
    long long at;
    if (!note_element(&passed, element) || !describe(&passed, call, node) || a->block.lanes == 0 ||
        !rs_constant_value(w->tree, a->vector_index, &at) || at < 0 ||
        at > w->type->count / a->block.lanes - 1)
        return false;
    size_t size = (size_t)a->block.lanes * a->size;
    a->offset += (size_t)at * size;
    if (a->touched_size == 0) {
        a->touched_offset += (size_t)at * size;
        a->touched_size = size;
    }
    a->vector_index = -1;
    a->operand = node;
    *w = passed;
    return true;
}

bool rs_is_prefetch(const rs_tree *tree, int call)
{
    static const char name[] = "prefetch";
    return strcmp(tree->nodes[call].name, name) == 0 && rs_is_function_call(tree, call) &&
           !rs_is_user_function(tree, name);
}
