/*
 * Which uses of an argument are understood. From each mention of the argument the way up the syntax
 * tree must be one of the known forms: pointer arithmetic down to one structure, members and array
 * elements down to a scalar or vector, or a whole structure loaded or stored. Anything else, known
 * or not, is a reason to leave the argument as it is.
 */
#include "rewrite/model.h"

#include "source/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the expression at a node of the way up stands for. */
typedef enum { AT_POINTER, AT_STRUCTURE, AT_ARRAY, AT_ELEMENT_POINTER, AT_LEAF, AT_END } place;

typedef struct {
    rs_model *model;
    const rs_tree *tree;
    const rs_argument *argument;
    rs_access access;
    int node;
    place place;
    CXType type; /* of what the node stands for, canonical; not for AT_POINTER */
} way;

static const rs_node *node_at(const way *w, int node)
{
    return &w->tree->nodes[node];
}

static bool same_bytes(const rs_node *a, const rs_node *b)
{
    return a->begin == b->begin && a->end == b->end;
}

/* Whether the bytes [begin, end) of the text are `word`, white space aside. */
static bool text_is(const rs_tree *tree, size_t begin, size_t end, const char *word)
{
    while (begin < end && isspace((unsigned char)tree->text[begin]))
        begin++;
    while (end > begin && isspace((unsigned char)tree->text[end - 1]))
        end--;
    return rs_word_equals(tree->text, begin, end - begin, word);
}

/* The other child of a node with exactly two children; -1 otherwise. */
static int sibling(const rs_tree *tree, int node)
{
    int first = tree->nodes[tree->nodes[node].parent].first;
    int second = tree->nodes[first].next;
    if (second < 0 || tree->nodes[second].next >= 0)
        return -1;
    return node == first ? second : first;
}

/* Whether the operator between the two children of a node is `symbol`. */
static bool operator_is(const rs_tree *tree, int node, const char *symbol)
{
    int first = tree->nodes[node].first;
    int second = first < 0 ? -1 : tree->nodes[first].next;
    return second >= 0 && tree->nodes[second].next < 0 &&
           text_is(tree, tree->nodes[first].end, tree->nodes[second].begin, symbol);
}

static bool is_structure(const way *w, CXType type)
{
    CXType canonical = clang_getCanonicalType(type);
    const rs_structure *s = &w->model->structures[w->argument->structure];
    return canonical.kind == CXType_Record &&
           clang_equalCursors(clang_getTypeDeclaration(canonical), s->declaration) != 0;
}

static bool is_structure_pointer(const way *w, CXType type)
{
    CXType canonical = clang_getCanonicalType(type);
    if (canonical.kind == CXType_Pointer)
        return is_structure(w, clang_getPointeeType(canonical));
    if (canonical.kind == CXType_IncompleteArray || canonical.kind == CXType_ConstantArray)
        return is_structure(w, clang_getArrayElementType(canonical));
    return false;
}

static bool add_index(way *w, int node, bool negative)
{
    rs_access *a = &w->access;
    if (node < 0 || a->index_count == RS_PIECE_LIMIT)
        return false;
    a->index[a->index_count] = node;
    a->negative[a->index_count++] = negative;
    return true;
}

/* Notes the qualifiers of the expression at `node`, which the replaced expression keeps. */
static void note_qualifiers(way *w, int node)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(node_at(w, node)->cursor));
    w->access.is_const = clang_isConstQualifiedType(type) != 0;
    w->access.is_volatile = clang_isVolatileQualifiedType(type) != 0;
}

/* Goes on to `node`, an lvalue of `type`. */
static const char *arrive(way *w, int node, CXType type)
{
    CXType canonical = clang_getCanonicalType(type);
    w->node = node;
    w->type = canonical;
    w->access.begin = node_at(w, node)->begin;
    w->access.end = node_at(w, node)->end;
    note_qualifiers(w, node);
    bool vector3;
    if (canonical.kind == CXType_Record) {
        w->place = AT_STRUCTURE;
    } else if (canonical.kind == CXType_ConstantArray) {
        w->place = AT_ARRAY;
    } else if (rs_leaf_type_name(canonical, w->access.type, &vector3)) {
        w->place = AT_LEAF;
        w->access.kind = RS_ACCESS_LEAF;
        w->access.size = (size_t)clang_Type_getSizeOf(canonical);
    } else {
        return "a member of this type is not followed";
    }
    return NULL;
}

/* Goes through ".name" or "->name". */
static const char *enter_member(way *w, int member, const char *symbol)
{
    const rs_node *base = node_at(w, w->node), *outer = node_at(w, member);
    CXCursor field = clang_getCursorReferenced(outer->cursor);
    size_t symbol_end = base->end;
    while (symbol_end < outer->end && isspace((unsigned char)w->tree->text[symbol_end]))
        symbol_end++;
    symbol_end += strlen(symbol);
    if (outer->first != w->node || clang_getCursorKind(field) != CXCursor_FieldDecl ||
        symbol_end > outer->end || !text_is(w->tree, base->end, symbol_end, symbol))
        return "this member access is not understood";
    long long bits = clang_Cursor_getOffsetOfField(field);
    if (bits < 0 || bits % 8 != 0)
        return "this member has no fixed place in the structure";
    w->access.offset += (size_t)bits / 8;
    return arrive(w, member, clang_getCursorType(field));
}

static const char *arrive_at_structure(way *w, int node)
{
    CXType type = clang_getCursorType(node_at(w, node)->cursor);
    return is_structure(w, type) ? arrive(w, node, type) : "this access is not understood";
}

static const char *step_from_pointer(way *w, int up)
{
    const rs_node *node = node_at(w, w->node), *outer = node_at(w, up);
    CXType type = clang_getCursorType(outer->cursor);
    switch (outer->kind) {
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
        if (outer->kind == CXCursor_UnexposedExpr && !same_bytes(node, outer))
            return "the pointer is used in a way that is not understood";
        if (!is_structure_pointer(w, type))
            return "the pointer itself is used as a value or converted";
        w->node = up;
        return NULL;
    case CXCursor_BinaryOperator: {
        bool minus = outer->first == w->node && operator_is(w->tree, up, "-");
        if (!is_structure_pointer(w, type) || (!minus && !operator_is(w->tree, up, "+")) ||
            !add_index(w, sibling(w->tree, w->node), minus))
            return "the pointer itself is used as a value";
        w->node = up;
        return NULL;
    }
    case CXCursor_ArraySubscriptExpr:
        if (!add_index(w, sibling(w->tree, w->node), false))
            return "this index is not understood";
        return arrive_at_structure(w, up);
    case CXCursor_UnaryOperator:
        if (!text_is(w->tree, outer->begin, node->begin, "*"))
            return "an operator changes or inspects the pointer itself";
        return arrive_at_structure(w, up);
    case CXCursor_MemberRefExpr:
        return enter_member(w, up, "->");
    case CXCursor_CallExpr:
        return "the pointer is passed to a function";
    case CXCursor_VarDecl:
        return "the pointer is copied to a variable";
    case CXCursor_CStyleCastExpr:
        return "the pointer is cast";
    default:
        return "the pointer itself is used in a way that is not understood";
    }
}

static const char *step_from_structure(way *w, int up)
{
    const rs_node *node = node_at(w, w->node), *outer = node_at(w, up);
    rs_access *a = &w->access;
    switch (outer->kind) {
    case CXCursor_ParenExpr:
        w->node = up;
        a->begin = outer->begin;
        a->end = outer->end;
        return NULL;
    case CXCursor_MemberRefExpr:
        return enter_member(w, up, ".");
    case CXCursor_UnexposedExpr:
        if (!same_bytes(node, outer))
            break;
        a->kind = RS_ACCESS_LOAD;
        w->place = AT_END;
        return NULL;
    case CXCursor_BinaryOperator:
        if (outer->first != w->node || !operator_is(w->tree, up, "="))
            break;
        a->kind = RS_ACCESS_STORE;
        a->value = sibling(w->tree, w->node);
        a->value_used = node_at(w, outer->parent)->kind != CXCursor_CompoundStmt;
        a->begin = outer->begin;
        a->end = outer->end;
        w->place = AT_END;
        return NULL;
    case CXCursor_UnaryOperator:
        return "the address of a structure is taken";
    default:
        break;
    }
    return "a structure is used in a way that is not understood";
}

/* Whether an expression has a value that is known when it is compiled. */
static bool is_constant(const way *w, int node, long long *value)
{
    CXEvalResult result = clang_Cursor_Evaluate(node_at(w, node)->cursor);
    bool known = result != NULL && clang_EvalResult_getKind(result) == CXEval_Int;
    if (known)
        *value = clang_EvalResult_getAsLongLong(result);
    clang_EvalResult_dispose(result);
    return known;
}

/*
 * A subscript that runs past its member is not C, but in AoS it finds the next member, or the next
 * structure, and some programs walk through a whole buffer so, from a structure that stays the
 * same.
 */
static const char *check_subscript(const way *w, int subscript, long long size)
{
    long long value;
    if (is_constant(w, subscript, &value))
        return value >= 0 && value < size ? NULL : "an array member is indexed past its end";
    for (int i = 0; i < w->access.index_count; i++)
        if (!is_constant(w, w->access.index[i], &value))
            return NULL;
    return "an array member of one fixed structure is indexed by a variable, which may run past it";
}

static const char *step_from_array(way *w, int up)
{
    const rs_node *outer = node_at(w, up);
    bool same = same_bytes(node_at(w, w->node), outer);
    if (outer->kind == CXCursor_ParenExpr) {
        w->node = up;
        return NULL;
    }
    if (w->place == AT_ARRAY && outer->kind == CXCursor_UnexposedExpr && same &&
        clang_getCanonicalType(clang_getCursorType(outer->cursor)).kind == CXType_Pointer) {
        w->node = up;
        w->place = AT_ELEMENT_POINTER;
        return NULL;
    }
    if (w->place == AT_ELEMENT_POINTER && outer->kind == CXCursor_ArraySubscriptExpr) {
        CXType element = clang_getArrayElementType(w->type);
        long long size = clang_Type_getSizeOf(element);
        rs_access *a = &w->access;
        int index = sibling(w->tree, w->node);
        if (index < 0 || size <= 0 || a->subscript_count == RS_PIECE_LIMIT)
            return "this array element is not understood";
        const char *trouble = check_subscript(w, index, clang_getArraySize(w->type));
        if (trouble != NULL)
            return trouble;
        a->subscript[a->subscript_count] = index;
        a->stride[a->subscript_count++] = (size_t)size;
        return arrive(w, up, element);
    }
    return "an array member is used as a pointer";
}

/* Whether the source has a function of this name; the built-in ones are not in the tree. */
static bool is_user_function(const rs_tree *tree, const char *name)
{
    bool found = false;
    for (int n = 0; n < tree->node_count && !found; n++)
        if (tree->nodes[n].kind == CXCursor_FunctionDecl) {
            CXString spelling = clang_getCursorSpelling(tree->nodes[n].cursor);
            found = strcmp(clang_getCString(spelling), name) == 0;
            clang_disposeString(spelling);
        }
    return found;
}

/* Whether the call is to one of OpenCL's atomic functions on plain integers. */
static bool is_atomic_call(const rs_tree *tree, int call)
{
    static const char *const prefixes[] = {"atomic_", "atom_"};
    if (tree->nodes[call].kind != CXCursor_CallExpr)
        return false;
    CXString spelling = clang_getCursorSpelling(tree->nodes[call].cursor);
    const char *name = clang_getCString(spelling);
    bool atomic = false;
    for (int i = 0; i < 2; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            atomic = !is_user_function(tree, name);
    clang_disposeString(spelling);
    return atomic;
}

/* The address of a member may only go straight into an atomic function, which touches nothing but
 * the member. */
static const char *check_address(const way *w, int address)
{
    int up = node_at(w, address)->parent;
    while (node_at(w, up)->kind == CXCursor_ParenExpr ||
           (node_at(w, up)->kind == CXCursor_UnexposedExpr &&
            same_bytes(node_at(w, up), node_at(w, address))))
        up = node_at(w, up)->parent;
    return is_atomic_call(w->tree, up) ? NULL : "the address of a member is taken";
}

static const char *step_from_leaf(way *w, int up)
{
    const rs_node *node = node_at(w, w->node), *outer = node_at(w, up);
    switch (outer->kind) {
    case CXCursor_ParenExpr:
        w->node = up;
        return NULL;
    case CXCursor_UnexposedExpr:
        if (!same_bytes(node, outer) &&
            (node->begin != outer->begin || w->tree->text[node->end] != '.'))
            break;
        w->place = AT_END;
        return NULL;
    case CXCursor_UnaryOperator:
        w->place = AT_END;
        return text_is(w->tree, outer->begin, node->begin, "&") ? check_address(w, up) : NULL;
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
    case CXCursor_CStyleCastExpr:
        w->place = AT_END;
        return NULL;
    case CXCursor_ArraySubscriptExpr:
        if (w->type.kind != CXType_ExtVector || outer->first != w->node)
            break;
        w->place = AT_END;
        return NULL;
    default:
        break;
    }
    return "a member is used in a way that is not understood";
}

/* Whether a node lies where nothing is evaluated (sizeof), or where it may run elsewhere (a block).
 */
static bool is_below(const rs_tree *tree, int node, enum CXCursorKind kind)
{
    for (int up = tree->nodes[node].parent; up >= 0; up = tree->nodes[up].parent)
        if (tree->nodes[up].kind == kind)
            return true;
    return false;
}

/*
 * What a replacement leaves out (everything but the index pieces) must be the argument's name,
 * member names and operators, as they stand in the user's text; anything else came from a macro of
 * the compiler.
 */
static bool leaves_only_operators(const rs_tree *tree, const rs_access *a, const char *name)
{
    size_t at = a->begin;
    bool after_dot = false;
    while (at < a->end) {
        size_t skip = 0;
        for (int i = 0; i < a->index_count; i++)
            if (tree->nodes[a->index[i]].begin == at)
                skip = tree->nodes[a->index[i]].end;
        for (int i = 0; i < a->subscript_count; i++)
            if (tree->nodes[a->subscript[i]].begin == at)
                skip = tree->nodes[a->subscript[i]].end;
        if (a->kind == RS_ACCESS_STORE && tree->nodes[a->value].begin == at)
            skip = tree->nodes[a->value].end;
        char c = tree->text[at];
        if (skip > at) {
            at = skip;
            after_dot = false;
        } else if (isalpha((unsigned char)c) || c == '_' || c == '$') {
            size_t word, length;
            rs_word_next(tree->text, a->end, &at, &word, &length);
            if (!after_dot && !rs_word_equals(tree->text, word, length, name))
                return false;
            after_dot = false;
        } else {
            if (!isspace((unsigned char)c) && strchr("()[]*+-.>=", c) == NULL)
                return false;
            if (!isspace((unsigned char)c))
                after_dot = c == '.' || (c == '>' && tree->text[at - 1] == '-');
            at++;
        }
    }
    return true;
}

/* Follows one mention of the argument upwards; NULL when it is understood and w->access describes
 * it. */
static const char *follow(way *w)
{
    const char *reason = NULL;
    while (reason == NULL && w->place != AT_END) {
        int up = node_at(w, w->node)->parent;
        switch (w->place) {
        case AT_POINTER:
            reason = step_from_pointer(w, up);
            break;
        case AT_STRUCTURE:
            reason = step_from_structure(w, up);
            break;
        case AT_ARRAY:
        case AT_ELEMENT_POINTER:
            reason = step_from_array(w, up);
            break;
        case AT_LEAF:
            reason = step_from_leaf(w, up);
            break;
        case AT_END:
            break;
        }
    }
    if (reason == NULL && !leaves_only_operators(w->tree, &w->access, w->argument->name))
        reason = "a macro of the compiler is part of this access";
    return reason;
}

/* A load or store needs a type that can be named, and padding that lies as in the whole structure.
 */
static restride_status name_structure(way *w, const char **reason)
{
    restride_status status = rs_model_structure(w->model, w->type, &w->access.structure);
    if (status != RESTRIDE_OK)
        return status;
    const rs_structure *inner = &w->model->structures[w->access.structure];
    const rs_record *outer = &w->model->structures[w->argument->structure].record;
    if (inner->failure != NULL || inner->name == NULL) {
        *reason = "a nested structure without a name is copied as a whole";
        return RESTRIDE_OK;
    }
    size_t at = 0;
    for (size_t i = 0; i < inner->record.leaf_count && *reason == NULL; i++) {
        size_t offset = w->access.offset + inner->record.leaves[i].offset;
        while (at < outer->leaf_count && outer->leaves[at].offset < offset)
            at++;
        if (at == outer->leaf_count || outer->leaves[at].offset != offset ||
            outer->leaves[at].size != inner->record.leaves[i].size)
            *reason = "the padding of a nested structure does not fit the whole structure's";
    }
    w->access.size = inner->record.size;
    return RESTRIDE_OK;
}

static restride_status add_access(rs_model *model, const rs_access *access)
{
    if (model->access_count == model->access_capacity) {
        int wanted = model->access_capacity == 0 ? 64 : model->access_capacity * 2;
        rs_access *grown = realloc(model->accesses, (size_t)wanted * sizeof *grown);
        if (grown == NULL)
            return rs_fail_memory("the accesses of a kernel");
        model->accesses = grown;
        model->access_capacity = wanted;
    }
    model->accesses[model->access_count++] = *access;
    return RESTRIDE_OK;
}

static restride_status understand_use(rs_model *model, int argument, int node)
{
    rs_argument *arg = &model->arguments[argument];
    size_t offset = model->tree->nodes[node].begin;
    if (is_below(model->tree, node, CXCursor_BlockExpr))
        return rs_argument_refuse(arg, offset, "it is used in a block");
    if (is_below(model->tree, node, CXCursor_UnaryExpr))
        return RESTRIDE_OK; /* sizeof: the structure keeps its type and size */
    way w;
    memset(&w, 0, sizeof w);
    w.model = model;
    w.tree = model->tree;
    w.argument = arg;
    w.access.argument = argument;
    w.access.structure = w.access.value = w.access.copier = -1;
    w.node = node;
    w.place = AT_POINTER;
    const char *reason = follow(&w);
    restride_status status = RESTRIDE_OK;
    if (reason == NULL && w.access.kind != RS_ACCESS_LEAF)
        status = name_structure(&w, &reason);
    if (status != RESTRIDE_OK)
        return status;
    return reason != NULL ? rs_argument_refuse(arg, offset, "%s", reason)
                          : add_access(model, &w.access);
}

/* A kernel that is called gets its pointers from the caller, where they are not followed. */
static restride_status check_calls(rs_model *model, CXCursor called, size_t offset)
{
    CXCursor function = clang_getCanonicalCursor(called);
    restride_status status = RESTRIDE_OK;
    for (int k = 0; k < model->kernel_count; k++) {
        const rs_kernel_source *kernel = &model->kernels[k];
        if (clang_equalCursors(function, clang_getCanonicalCursor(kernel->cursor)) == 0)
            continue;
        for (int i = 0; i < kernel->argument_count && status == RESTRIDE_OK; i++)
            status = rs_argument_refuse(&model->arguments[kernel->first_argument + i], offset,
                                        "the kernel is called from another function");
    }
    return status;
}

/*
 * Every identifier with the argument's name must have been seen as a node of the tree, or as the
 * member of something: a use that libclang does not show would otherwise go unnoticed.
 */
static restride_status check_words(rs_model *model, int kernel, const bool *seen)
{
    const rs_tree *tree = model->tree;
    const rs_kernel_source *k = &model->kernels[kernel];
    size_t position = tree->nodes[k->node].begin, end = tree->nodes[k->node].end, word, length;
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && rs_word_next(tree->text, end, &position, &word, &length)) {
        if (seen[word])
            continue;
        size_t before = word;
        while (before > 0 && isspace((unsigned char)tree->text[before - 1]))
            before--;
        if (before > 0 && tree->text[before - 1] == '.')
            continue;
        if (before > 1 && tree->text[before - 1] == '>' && tree->text[before - 2] == '-')
            continue;
        for (int i = 0; i < k->argument_count && status == RESTRIDE_OK; i++) {
            rs_argument *argument = &model->arguments[k->first_argument + i];
            if (rs_word_equals(tree->text, word, length, argument->name))
                status = rs_argument_refuse(argument, word, "it is used in a way that is not seen");
        }
    }
    return status;
}

/* Notes where the tree shows a name: a mention, or the declaration of something else with that
 * name. */
static void note_seen(const rs_tree *tree, const rs_node *node, bool *seen)
{
    static const enum CXCursorKind kinds[] = {
        CXCursor_DeclRefExpr, CXCursor_VarDecl,   CXCursor_ParmDecl,  CXCursor_FieldDecl,
        CXCursor_StructDecl,  CXCursor_TypeRef,   CXCursor_LabelStmt, CXCursor_LabelRef,
        CXCursor_TypedefDecl, CXCursor_MemberRef, CXCursor_EnumDecl,  CXCursor_EnumConstantDecl};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i] == node->kind) {
            unsigned offset = 0;
            CXFile file;
            clang_getFileLocation(clang_getCursorLocation(node->cursor), &file, NULL, NULL,
                                  &offset);
            if (offset < tree->size)
                seen[offset] = true;
        }
}

/* Outer accesses come before the ones inside their index expressions. */
static int compare_accesses(const void *a, const void *b)
{
    const rs_access *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end != y->end ? (x->end > y->end ? -1 : 1) : 0;
}

/* The kernel around a node at or behind `kernel`; kernels lie in the order of the source. */
static int kernel_around(const rs_model *model, int node, int kernel)
{
    while (kernel + 1 < model->kernel_count && model->kernels[kernel + 1].node <= node)
        kernel++;
    return kernel;
}

static restride_status understand_reference(rs_model *model, int kernel, int node)
{
    const rs_node *mention = &model->tree->nodes[node];
    CXCursor target = clang_getCursorReferenced(mention->cursor);
    enum CXCursorKind kind = clang_getCursorKind(target);
    if (kind == CXCursor_FunctionDecl)
        return check_calls(model, target, mention->begin);
    if (kind != CXCursor_ParmDecl || kernel < 0)
        return RESTRIDE_OK;
    const rs_kernel_source *k = &model->kernels[kernel];
    for (int i = k->first_argument; i < k->first_argument + k->argument_count; i++)
        if (model->arguments[i].structure >= 0 &&
            clang_equalCursors(target, model->arguments[i].cursor) != 0)
            return understand_use(model, i, node);
    return RESTRIDE_OK;
}

restride_status rs_model_understand(rs_model *model)
{
    const rs_tree *tree = model->tree;
    bool *seen = calloc(tree->size + 1, sizeof *seen);
    if (seen == NULL)
        return rs_fail_memory("the words of a source");
    restride_status status = RESTRIDE_OK;
    int kernel = -1;
    for (int n = 0; n < tree->node_count && status == RESTRIDE_OK; n++) {
        kernel = kernel_around(model, n, kernel);
        note_seen(tree, &tree->nodes[n], seen);
        if (tree->nodes[n].kind == CXCursor_DeclRefExpr)
            status = understand_reference(model, kernel, n);
    }
    for (int k = 0; k < model->kernel_count && status == RESTRIDE_OK; k++)
        status = check_words(model, k, seen);
    free(seen);
    if (status == RESTRIDE_OK && model->access_count > 0)
        qsort(model->accesses, (size_t)model->access_count, sizeof *model->accesses,
              compare_accesses);
    return status;
}
