/* Finds the reads A[P[i]] of kernels, says which threads may move, and writes the new source. */
#include "rewrite/reorder.h"

#include "base/json.h"
#include "base/text.h"
#include "rewrite/render.h"
#include "rewrite/reply.h"
#include "source/edits.h"
#include "source/query.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_LIMIT = 50, LEAST_INTEGER_BYTES = 4 };

/* Why something stays as it is; no text: it does not. */
typedef struct {
    const char *text;
    size_t offset;
} objection;

typedef struct {
    const char *array, *index;  /* their names */
    int array_node, index_node; /* their declarations */
    objection kept;
    int slots_argument;
} reference;

typedef struct {
    rs_edits *edits;
    const rs_model *model;
    const rs_tree *tree;
    const rs_function *kernel;
    reference *references;
    int reference_count;
    objection stays; /* why the threads do */
} reordering;

static void object(objection *found, size_t offset, const char *text)
{
    if (found->text == NULL)
        *found = (objection){text, offset};
}

/* ---- expressions ---- */

static bool is_inside(const rs_tree *tree, int node, int around)
{
    return tree->nodes[node].begin >= tree->nodes[around].begin &&
           tree->nodes[node].end <= tree->nodes[around].end;
}

static bool is_named(const rs_tree *tree, int node, const char *name)
{
    return strcmp(tree->nodes[node].name, name) == 0;
}

static bool mentions(const rs_tree *tree, int node, int declaration)
{
    return tree->nodes[node].is == RS_NODE_REFERENCE &&
           tree->nodes[node].declaration == tree->nodes[declaration].declaration;
}

static bool is_wrapper(const rs_tree *tree, int outer, int inner)
{
    int kind = tree->nodes[outer].is;
    return kind == RS_NODE_PAREN ||
           (kind == RS_NODE_IMPLICIT && rs_node_same_bytes(tree, outer, inner));
}

/* The outermost node around an expression that adds only brackets and implicit conversions. */
static int outermost(const rs_tree *tree, int node)
{
    while (tree->nodes[node].parent >= 0 && is_wrapper(tree, tree->nodes[node].parent, node))
        node = tree->nodes[node].parent;
    return node;
}

static bool is_wide_integer(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_INTEGER && type->size >= LEAST_INTEGER_BYTES;
}

/* A variable is only read where each mention is converted from place to value; what writes it has
 * the place itself as operand. */
static bool is_only_read(const reordering *r, int declaration)
{
    for (int n = r->kernel->body; n < r->tree->node_count; n++) {
        if (!is_inside(r->tree, n, r->kernel->body) || !mentions(r->tree, n, declaration))
            continue;
        int up = r->tree->nodes[n].parent;
        while (r->tree->nodes[up].is == RS_NODE_PAREN)
            up = r->tree->nodes[up].parent;
        if (r->tree->nodes[up].is != RS_NODE_IMPLICIT)
            return false;
    }
    return true;
}

/* The initial value of a local variable that keeps it; -1 for any other. */
static int kept_value(const reordering *r, int mention)
{
    const rs_tree *tree = r->tree;
    for (int n = r->kernel->body; n < tree->node_count; n++) {
        if (tree->nodes[n].is != RS_NODE_VARIABLE || !is_inside(tree, n, r->kernel->body) ||
            tree->nodes[n].declaration != tree->nodes[mention].declaration)
            continue;
        int last = rs_node_last(tree, n);
        bool usable = last >= 0 && tree->nodes[last].group == RS_NODES_EXPRESS &&
                      is_wide_integer(tree->nodes[n].type) && is_only_read(r, n);
        return usable ? last : -1;
    }
    return -1;
}

/* The expression that gives a value, behind conversions that keep it and variables that hold it. */
static int origin_of(const reordering *r, int node)
{
    const rs_tree *tree = r->tree;
    for (int depth = 0; node >= 0 && depth < DEPTH_LIMIT; depth++) {
        node = rs_node_inner(tree, node);
        if (node < 0)
            return -1;
        if (tree->nodes[node].is == RS_NODE_CAST && is_wide_integer(tree->nodes[node].type)) {
            int child = tree->nodes[node].first;
            while (child >= 0 && tree->nodes[child].next >= 0)
                child = tree->nodes[child].next;
            node = child;
        } else if (tree->nodes[node].is == RS_NODE_REFERENCE) {
            int value = kept_value(r, node);
            if (value < 0)
                return node;
            node = value;
        } else {
            return node;
        }
    }
    return -1;
}

/* A call get_global_id(D); *dimension is D, or -1 when it is not a constant. */
static bool asks_for_number(const rs_tree *tree, int node, long long *dimension)
{
    if (tree->nodes[node].is != RS_NODE_CALL || !is_named(tree, node, "get_global_id"))
        return false;
    int argument = rs_node_child(tree, node, 1);
    if (argument < 0 || !rs_tree_evaluate_bits(tree, argument, dimension))
        *dimension = -1;
    return true;
}

/* The index in ARRAY[INDEX] for an array that a declaration names; -1 for another expression. */
static int index_of(const rs_tree *tree, int node, int declaration)
{
    if (node < 0 || tree->nodes[node].is != RS_NODE_SUBSCRIPT)
        return -1;
    int array = tree->nodes[node].first;
    if (array < 0 || !mentions(tree, rs_node_inner(tree, array), declaration))
        return -1;
    return tree->nodes[array].next;
}

/* Whether the expression is A[P[i]]. */
static bool is_reference(const reordering *r, const reference *ref, int node)
{
    int index = index_of(r->tree, node, ref->array_node);
    if (index < 0)
        return false;
    int number = index_of(r->tree, origin_of(r, index), ref->index_node);
    int origin = number < 0 ? -1 : origin_of(r, number);
    long long dimension;
    return origin >= 0 && asks_for_number(r->tree, origin, &dimension) && dimension == 0;
}

/* ---- what must hold of the arrays ---- */

static int find_parameter(const rs_tree *tree, const rs_function *kernel, const char *name)
{
    RS_EACH_CHILD(n, tree, kernel->node)
        if (tree->nodes[n].is == RS_NODE_PARAMETER && is_named(tree, n, name))
            return n;
    return -1;
}

/* Of a declared pointer or array; false when it does not lead to global or constant memory. */
static bool find_elements(const reordering *r, int declaration, const rs_syntax_type **elements,
                          bool *constant)
{
    const char *space;
    const rs_syntax_type *type = rs_type_of(r->tree, declaration);
    if (!rs_pointer_target(type, elements, &space))
        return false;
    /* Of an array the elements' qualifiers are its own. */
    *constant = (*elements)->is_const || (type->kind != RS_TYPE_POINTER && type->is_const);
    return true;
}

static void check_types(const reordering *r, reference *ref)
{
    const rs_syntax_type *array, *index;
    bool constant;
    size_t array_name = r->tree->nodes[ref->array_node].place;
    size_t index_name = r->tree->nodes[ref->index_node].place;
    if (!find_elements(r, ref->array_node, &array, &constant))
        object(&ref->kept, array_name, "it does not point to global or constant memory");
    else if (!constant)
        object(&ref->kept, array_name, "its elements are not const, so they may be written");
    if (!find_elements(r, ref->index_node, &index, &constant))
        object(&ref->kept, index_name, "its index does not point to global or constant memory");
    else if (!constant)
        object(&ref->kept, index_name, "its index is not const, so it may be written");
    else if (!is_wide_integer(index))
        object(&ref->kept, index_name, "its index is not an array of integers of 4 or 8 bytes");
}

/* Whether what a subscript gives is read where it stands: no pointer to it remains. */
static bool is_read(const rs_tree *tree, int subscript)
{
    int node = subscript;
    for (;;) {
        node = outermost(tree, node);
        int up = tree->nodes[node].parent;
        bool part =
            up >= 0 && (tree->nodes[up].is == RS_NODE_MEMBER ||
                        (tree->nodes[up].is == RS_NODE_SUBSCRIPT && tree->nodes[up].first == node));
        if (!part)
            break;
        node = up;
    }
    int up = tree->nodes[node].parent;
    return !rs_node_is_pointer(tree, node) && !rs_node_is_unary(tree, up, "&");
}

/* Every mention of the array must be the start of an element that is read. */
static void check_mentions(const reordering *r, reference *ref, int declaration, const char *text)
{
    const rs_tree *tree = r->tree;
    for (int n = r->kernel->body; n < tree->node_count; n++) {
        if (!is_inside(tree, n, r->kernel->body) || !mentions(tree, n, declaration))
            continue;
        int whole = outermost(tree, n);
        int up = tree->nodes[whole].parent;
        if (up < 0 || tree->nodes[up].is != RS_NODE_SUBSCRIPT || tree->nodes[up].first != whole ||
            !is_read(tree, up))
            object(&ref->kept, tree->nodes[n].begin, text);
    }
}

static void check_reference(const reordering *r, reference *ref)
{
    check_types(r, ref);
    if (ref->kept.text != NULL)
        return;
    check_mentions(r, ref, ref->array_node, "it is used otherwise than by reading its elements");
    check_mentions(r, ref, ref->index_node,
                   "its index is used otherwise than by reading its elements");
    bool found = false;
    for (int n = r->kernel->body; n < r->tree->node_count && !found; n++)
        found = is_inside(r->tree, n, r->kernel->body) && is_reference(r, ref, n);
    if (!found)
        object(&ref->kept, r->tree->nodes[ref->array_node].place,
               "no element is read through its index at the number of the work-item");
}

/* ---- what must hold of the threads ---- */

static bool starts_with(const char *text, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

/* Words of what ties the work-items of a group together, or tells them which group they are in. */
static bool ties_work_items(const char *word, size_t length)
{
    static const char *const prefixes[] = {"get_local_id",
                                           "get_local_linear_id",
                                           "get_group_id",
                                           "get_global_linear_id",
                                           "get_sub_group",
                                           "sub_group_",
                                           "intel_sub_group",
                                           "work_group_",
                                           "async_work_group_",
                                           "wait_group_events",
                                           "barrier",
                                           "enqueue_kernel",
                                           "get_max_sub_group",
                                           "get_num_sub_groups",
                                           "get_enqueued_num_sub_groups"};
    static const char *const words[] = {"local", "__local"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (starts_with(word, length, prefixes[i]))
            return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (rs_word_equals(word, 0, length, words[i]))
            return true;
    return false;
}

/* Whether a place lies in another kernel. */
static bool is_elsewhere(const reordering *r, size_t offset)
{
    const rs_model *model = r->model;
    for (int f = 0; f < model->function_count; f++) {
        const rs_function *other = &model->functions[f];
        if (other->kernel && other != r->kernel &&
            offset >= rs_declaration_start(model, other->declaration->place) &&
            offset < r->tree->nodes[other->body].end)
            return true;
    }
    return false;
}

static void check_words(reordering *r, objection *named)
{
    const rs_node *body = &r->tree->nodes[r->kernel->body];
    const char *text = r->tree->text;
    size_t position = 0, word, length;
    int times = 0;
    while (rs_word_next(text, r->model->flat->appendix, &position, &word, &length)) {
        if (rs_word_equals(text, word, length, r->kernel->name) && times++ > 0)
            object(named, word, "its kernel is named in another place too");
        if (ties_work_items(text + word, length) && !is_elsewhere(r, word))
            object(&r->stays, word, "work-items of a group may work together");
        if (rs_word_equals(text, word, length, "get_global_id") &&
            (word < body->begin || word >= body->end) && !is_elsewhere(r, word))
            object(&r->stays, word, "a function besides the kernel asks for the work-item");
    }
}

static void check_numbers(reordering *r)
{
    for (int n = r->kernel->body; n < r->tree->node_count; n++) {
        long long dimension;
        if (is_inside(r->tree, n, r->kernel->body) && asks_for_number(r->tree, n, &dimension) &&
            dimension < 0)
            object(&r->stays, r->tree->nodes[n].begin,
                   "the dimension of the work-item's number is not a constant");
    }
}

/* ---- the new source ---- */

/* Parents come before children, so a number inside a reference goes with it. */
static restride_status edit_body(reordering *r)
{
    restride_status status = RESTRIDE_OK;
    for (int n = r->kernel->body; n < r->tree->node_count && status == RESTRIDE_OK; n++) {
        const rs_node *node = &r->tree->nodes[n];
        long long dimension;
        rs_text text = RS_TEXT_EMPTY;
        if (!is_inside(r->tree, n, r->kernel->body) ||
            rs_edits_cover(r->edits, node->begin, node->end))
            continue;
        for (int i = 0; i < r->reference_count && text.size == 0; i++)
            if (r->references[i].kept.text == NULL && is_reference(r, &r->references[i], n))
                rs_text_format(&text, "restride_%s_slots[restride_%s_index[get_global_id(0)]]",
                               r->references[i].array, r->references[i].array);
        if (text.size == 0 && r->stays.text == NULL && asks_for_number(r->tree, n, &dimension) &&
            dimension == 0)
            rs_text_add_string(&text, "(get_global_id(0) < restride_threads ? "
                                      "restride_order[get_global_id(0)] : get_global_id(0))");
        if (text.size > 0)
            status = rs_edits_add(r->edits, node->begin, node->end, &text);
    }
    return status;
}

/* The declaration of a parameter under another name. */
static void copy_parameter(const rs_tree *tree, int declaration, const char *name, rs_text *out)
{
    size_t start = tree->nodes[declaration].place;
    size_t length = rs_identifier_length(tree->text + start);
    size_t begin = start, end = start + length, depth = 0;
    for (; begin > 0 && !(depth == 0 && strchr(",(", tree->text[begin - 1]) != NULL); begin--) {
        depth += tree->text[begin - 1] == ')';
        depth -= tree->text[begin - 1] == '(';
    }
    while (begin < start && isspace((unsigned char)tree->text[begin]))
        begin++;
    for (depth = 0; end < tree->size && !(depth == 0 && strchr(",)", tree->text[end]) != NULL);
         end++) {
        depth += tree->text[end] == '(' || tree->text[end] == '[';
        depth -= tree->text[end] == ')' || tree->text[end] == ']';
    }
    rs_text_add(out, tree->text + begin, start - begin);
    rs_text_format(out, "restride_%s_slots", name);
    rs_text_add(out, tree->text + start + length, end - start - length);
}

static restride_status edit_parameters(reordering *r)
{
    size_t end = rs_parameters_end(r->tree, r->kernel->node);
    rs_text text = RS_TEXT_EMPTY;
    for (int i = 0; i < r->reference_count; i++) {
        const reference *ref = &r->references[i];
        if (ref->kept.text != NULL)
            continue;
        rs_text_add_string(&text, ", ");
        copy_parameter(r->tree, ref->array_node, ref->array, &text);
        rs_text_format(&text, ", __global const uint *restride_%s_index", ref->array);
    }
    if (r->stays.text == NULL)
        rs_text_add_string(&text, ", __global const uint *restride_order, ulong restride_threads");
    return rs_edits_add(r->edits, end, end, &text);
}

/* ---- the reply ---- */

static restride_status describe(const reordering *r, bool changed, json_t *kernels)
{
    json_t *list = json_array();
    json_t *entry = json_pack("{s:s, s:o}", "name", r->kernel->name, "references", list);
    if (entry == NULL || json_array_append_new(kernels, entry) != 0)
        return rs_fail_memory("the rewriter's reply");
    int next = r->kernel->parameter_count;
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < r->reference_count && status == RESTRIDE_OK; i++) {
        const reference *ref = &r->references[i];
        bool kept = ref->kept.text != NULL;
        json_t *one = json_pack("{s:s, s:s, s:s}", "array", ref->array, "index", ref->index,
                                "status", kept ? "kept" : "reordered");
        if (one == NULL || json_array_append_new(list, one) != 0)
            return rs_fail_memory("the rewriter's reply");
        if (kept) {
            status = rs_reply_explain_at(one, ref->kept.text, r->model->flat, ref->kept.offset);
            continue;
        }
        status = rs_json_add(
            one, json_pack("{s:i, s:i}", "slots_argument", next, "index_argument", next + 1));
        next += 2;
    }
    if (status != RESTRIDE_OK || !changed)
        return status;
    bool moves = r->stays.text == NULL;
    status = rs_json_add(entry, json_pack("{s:i, s:i}", "order_argument", moves ? next : -1,
                                          "threads_argument", moves ? next + 1 : -1));
    if (status != RESTRIDE_OK || moves)
        return status;
    json_t *stays = json_object();
    status = rs_json_put(entry, "threads_stay", stays);
    return status == RESTRIDE_OK
               ? rs_reply_explain_at(stays, r->stays.text, r->model->flat, r->stays.offset)
               : status;
}

/* ---- kernels ---- */

/* The name of the argument when the key is about this kernel, else NULL. */
static const char *argument_of(const rs_function *kernel, const char *key)
{
    const char *dot = strchr(key, '.');
    if (dot == NULL)
        return key;
    size_t length = (size_t)(dot - key);
    return strlen(kernel->name) == length && memcmp(kernel->name, key, length) == 0 ? dot + 1
                                                                                    : NULL;
}

static void collect(reordering *r, const json_t *references)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)references, key, value)
    {
        const char *name = argument_of(r->kernel, key);
        if (name == NULL)
            continue;
        reference found = {.array = name, .index = json_string_value(value)};
        found.array_node = find_parameter(r->tree, r->kernel, name);
        found.index_node = find_parameter(r->tree, r->kernel, found.index);
        bool again = false;
        for (int i = 0; i < r->reference_count; i++)
            again = again || r->references[i].array_node == found.array_node;
        if (found.array_node >= 0 && found.index_node >= 0 && !again)
            r->references[r->reference_count++] = found;
    }
}

static restride_status reorder_kernel(reordering *r, json_t *kernels)
{
    objection named = {NULL, 0};
    bool changed = false;
    check_words(r, &named);
    check_numbers(r);
    for (int i = 0; i < r->reference_count; i++) {
        r->references[i].kept = named;
        check_reference(r, &r->references[i]);
        changed = changed || r->references[i].kept.text == NULL;
    }
    restride_status status = changed ? edit_body(r) : RESTRIDE_OK;
    if (status == RESTRIDE_OK && changed)
        status = edit_parameters(r);
    return status == RESTRIDE_OK ? describe(r, changed, kernels) : status;
}

/* What is wrong with the request: a pair that no kernel has. */
static char *missing_pair(const rs_model *model, const json_t *references)
{
    const char *key;
    json_t *value;
    rs_text sentence = RS_TEXT_EMPTY;
    json_object_foreach((json_t *)references, key, value)
    {
        bool found = false;
        const char *index = json_string_value(value);
        for (int f = 0; f < model->function_count && index != NULL; f++) {
            const rs_function *kernel = &model->functions[f];
            const char *name = argument_of(kernel, key);
            found = found || (kernel->kernel && name != NULL &&
                              find_parameter(model->tree, kernel, name) >= 0 &&
                              find_parameter(model->tree, kernel, index) >= 0);
        }
        if (found)
            continue;
        rs_text_format(&sentence, "No kernel has arguments %s and %s.", key,
                       index == NULL ? "(not a string)" : index);
        break;
    }
    return sentence.size == 0 ? NULL : rs_text_take(&sentence);
}

restride_status rs_reorder_references(const rs_model *model, const json_t *references,
                                      json_t *kernels, char **source, char **sentence)
{
    *source = NULL;
    *sentence = missing_pair(model, references);
    if (*sentence != NULL)
        return RESTRIDE_OK;
    rs_edits edits = {.count = 0};
    reference *room = calloc(json_object_size(references) + 1, sizeof *room);
    restride_status status = room == NULL ? rs_fail_memory("the references") : RESTRIDE_OK;
    for (int f = 0; f < model->function_count && status == RESTRIDE_OK; f++) {
        reordering r = {.edits = &edits,
                        .model = model,
                        .tree = model->tree,
                        .kernel = &model->functions[f],
                        .references = room};
        if (!r.kernel->kernel)
            continue;
        collect(&r, references);
        if (r.reference_count > 0)
            status = reorder_kernel(&r, kernels);
    }
    if (status == RESTRIDE_OK && edits.count > 0)
        status = rs_numbered_edit(model->flat, &edits, source);
    rs_edits_free(&edits);
    free(room);
    return status;
}
