/* Kernels around the body of a nest. */
#include "apply/kernels.h"

#include "apply/names.h"
#include "apply/types.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the function gives the nest ---- */

enum { MOST_NAMES = 20000, MOST_CALLS = 20 };

/* A look at what a function uses, which ends: kernels have no recursion. */
typedef struct {
    int depth;
    int *left; /* names that are still looked at */
    bool refused;
} inspected;

static bool is_callable(CXCursor function, int depth, int *left);

/* Refuses variables that are not of one call alone, and calls of functions that kernels lack. */
static enum CXChildVisitResult inspect(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    inspected *i = data;
    CXCursor declared = clang_getCursorKind(cursor) == CXCursor_DeclRefExpr
                            ? clang_getCursorReferenced(cursor)
                            : cursor;
    enum CXCursorKind kind = clang_getCursorKind(declared);
    if (--*i->left < 0)
        i->refused = true;
    else if (kind == CXCursor_VarDecl)
        i->refused = clang_getCursorKind(clang_getCursorSemanticParent(declared)) ==
                         CXCursor_TranslationUnit ||
                     clang_Cursor_getStorageClass(declared) == CX_SC_Static;
    else if (kind == CXCursor_FunctionDecl)
        i->refused = !is_callable(declared, i->depth + 1, i->left);
    return i->refused ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool is_callable(CXCursor function, int depth, int *left)
{
    bool is_float;
    CXString name = clang_getCursorSpelling(function);
    bool known = rs_function_find(clang_getCString(name), &is_float) != NULL;
    bool taken = !known && rs_name_is_built_in(clang_getCString(name));
    clang_disposeString(name);
    if (taken)
        return false;
    CXCursor definition = clang_getCursorDefinition(function);
    if (known || clang_Cursor_isNull(definition))
        return known;
    int count = clang_Cursor_getNumArguments(function);
    bool numbers =
        count > 0 && depth < MOST_CALLS &&
        rs_kind_of(clang_getCanonicalType(clang_getCursorResultType(function))) != RS_KIND_NONE;
    for (int i = 0; i < count && numbers; i++)
        numbers = rs_kind_of(clang_getCanonicalType(clang_getCursorType(
                      clang_Cursor_getArgument(function, (unsigned)i)))) != RS_KIND_NONE;
    inspected i = {depth, left, false};
    if (numbers)
        clang_visitChildren(definition, inspect, &i);
    return numbers && !i.refused;
}

bool rs_function_is_callable(CXCursor function)
{
    int left = MOST_NAMES;
    return is_callable(function, 0, &left);
}

/* The node of what an expression assigns, or hands on the address of; -1 for neither. */
static int changed_by(const rs_tree *tree, int node)
{
    bool address =
        tree->nodes[node].kind == CXCursor_UnaryOperator && rs_node_is_prefix(tree, node, "&");
    return address ? rs_node_child(tree, node, 0) : rs_node_assigned(tree, node);
}

/* How often a variable is named below a node; with `assigned`, how often it is assigned. */
static int count_uses(const rs_tree *tree, int node, size_t declaration, bool assigned)
{
    int left = assigned ? changed_by(tree, node) : -1;
    int count = assigned ? left >= 0 && rs_node_declaration(tree, left) == declaration
                         : tree->nodes[node].kind == CXCursor_DeclRefExpr &&
                               rs_node_declaration(tree, node) == declaration;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        count += count_uses(tree, child, declaration, assigned);
    return count;
}

static bool loads(const rs_tree *tree, int node)
{
    if (rs_node_is_memory(tree, node) || tree->nodes[node].kind == CXCursor_CallExpr)
        return true;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        if (loads(tree, child))
            return true;
    return false;
}

static bool add_gathered(rs_kernels *kernels, int declared)
{
    rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    CXType type = rs_node_type(tree, declared);
    if (kernels->gathered_count == RS_GATHERED_LIMIT || rs_kind_of(type) == RS_KIND_NONE)
        return rs_nest_refuse(nest, declared, "the nest assigns a variable of the function");
    CXString name = clang_getCursorSpelling(tree->nodes[declared].cursor);
    kernels->gathered[kernels->gathered_count++] =
        (rs_gathered){strdup(clang_getCString(name)), rs_kind_name(rs_kind_of(type)),
                      rs_kind_bytes(rs_kind_of(type))};
    clang_disposeString(name);
    return kernels->gathered[kernels->gathered_count - 1].name != NULL;
}

/* A variable of the function: constant for the nest, or gathered by it alone. */
static bool take_variable(rs_kernels *kernels, int body, int declared)
{
    rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    size_t declaration = rs_cursor_offset(tree->nodes[declared].cursor);
    int inside = count_uses(tree, nest->node, declaration, false);
    int assigned = count_uses(tree, nest->node, declaration, true);
    if (inside == 0)
        return true;
    if (tree->nodes[declared].first >= 0 && loads(tree, declared))
        return rs_nest_refuse(nest, declared, "a variable of the nest begins with loaded data");
    if (count_uses(tree, body, declaration, true) > assigned)
        return rs_nest_refuse(nest, declared, "a variable of the nest is assigned elsewhere too");
    if (assigned == 0)
        return true;
    if (nest->dimensions > 0)
        return rs_nest_refuse(nest, declared,
                              "independent iterations assign a variable of the function");
    return add_gathered(kernels, declared);
}

static bool take_statement(rs_kernels *kernels, int body, int statement)
{
    rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    enum CXCursorKind kind = tree->nodes[statement].kind;
    if (kind == CXCursor_ForStmt || kind == CXCursor_ReturnStmt || kind == CXCursor_NullStmt)
        return true;
    if (kind != CXCursor_DeclStmt)
        return rs_nest_refuse(nest, statement,
                              "the function does more than declare variables and run loops");
    for (int child = tree->nodes[statement].first; child >= 0; child = tree->nodes[child].next)
        if (tree->nodes[child].kind != CXCursor_VarDecl || !take_variable(kernels, body, child))
            return rs_nest_refuse(nest, statement, "a declaration that kernels cannot have");
    return true;
}

static bool is_taken(CXCursor variable)
{
    CXString name = clang_getCursorSpelling(variable);
    bool taken = rs_name_is_taken(clang_getCString(name)) ||
                 clang_Cursor_getStorageClass(variable) == CX_SC_Register;
    clang_disposeString(name);
    return taken;
}

/* Parameters of the function: numbers, and pointers to numbers or structures. */
static bool check_parameter(rs_nest *nest, int body, CXCursor parameter)
{
    const rs_tree *tree = &nest->program->tree;
    size_t declaration = rs_cursor_offset(parameter);
    if (is_taken(parameter))
        return rs_nest_refuse(nest, nest->function, "a parameter has a name that kernels need");
    if (count_uses(tree, nest->node, declaration, false) > 0 &&
        count_uses(tree, body, declaration, true) > 0)
        return rs_nest_refuse(nest, nest->node, "a parameter of the nest is assigned");
    CXType type = clang_getCanonicalType(clang_getCursorType(parameter));
    bool pointer = type.kind == CXType_Pointer || type.kind == CXType_IncompleteArray ||
                   type.kind == CXType_ConstantArray;
    if (!pointer && rs_kind_of(type) != RS_KIND_NONE)
        return true;
    while (type.kind == CXType_Pointer || type.kind == CXType_ConstantArray ||
           type.kind == CXType_IncompleteArray) {
        bool array = type.kind != CXType_Pointer;
        type = clang_getCanonicalType(array ? clang_getArrayElementType(type)
                                            : clang_getPointeeType(type));
        if (type.kind == CXType_Pointer)
            pointer = false;
    }
    if (pointer && (rs_kind_of(type) != RS_KIND_NONE || type.kind == CXType_Record))
        return true;
    return rs_nest_refuse(nest, nest->function,
                          "a parameter is neither a number nor an array of constant extents");
}

/* Where the variable is declared that an expression is or is a member of; 0 for memory. */
static size_t owner_of(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    while (node >= 0 && tree->nodes[node].kind == CXCursor_MemberRefExpr &&
           !rs_node_is_memory(tree, node))
        node = rs_node_inner(tree, rs_node_child(tree, node, 0));
    return node < 0 ? 0 : rs_node_declaration(tree, node);
}

static bool is_declared_below(const rs_tree *tree, int node, size_t declaration)
{
    return node >= 0 && declaration >= tree->nodes[node].begin &&
           declaration < tree->nodes[node].end;
}

/* Whether independent iterations have variables of their own for what they assign. */
static bool check_assignments(rs_nest *nest, int node)
{
    const rs_tree *tree = &nest->program->tree;
    int changed = changed_by(tree, node);
    size_t owner = changed < 0 ? 0 : owner_of(tree, changed);
    for (int i = 0; i < nest->count && owner != 0; i++) {
        const rs_nest_loop *loop = &nest->loops[i];
        bool counts = node == loop->parts.step && is_declared_below(tree, loop->node, owner);
        if (loop->dimension >= 0 && rs_node_holds(tree, loop->node, node) && !counts &&
            !is_declared_below(tree, loop->parts.body, owner))
            return rs_nest_refuse(nest, node,
                                  "independent iterations assign a variable declared before them");
    }
    if (owner != 0 && rs_node_declaration(tree, changed) == 0 &&
        !is_declared_below(tree, nest->node, owner))
        return rs_nest_refuse(nest, node, "the nest assigns a member of a variable");
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        if (!check_assignments(nest, child))
            return false;
    return true;
}

/* Names of the file's own variables and functions that kernels do not have. */
static bool check_names(rs_nest *nest, int node)
{
    const rs_tree *tree = &nest->program->tree;
    if (tree->nodes[node].kind == CXCursor_VarDecl && rs_node_is_pointer(tree, node))
        return rs_nest_refuse(nest, node, "the nest declares a pointer");
    if (tree->nodes[node].kind == CXCursor_VarDecl &&
        clang_Cursor_getStorageClass(tree->nodes[node].cursor) == CX_SC_Static)
        return rs_nest_refuse(nest, node, "the nest declares a static variable");
    if (tree->nodes[node].kind == CXCursor_VarDecl && is_taken(tree->nodes[node].cursor))
        return rs_nest_refuse(nest, node, "a variable cannot be declared so in a kernel");
    if (tree->nodes[node].kind == CXCursor_DeclRefExpr) {
        CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
        enum CXCursorKind kind = clang_getCursorKind(declared);
        if (kind == CXCursor_VarDecl &&
            rs_cursor_offset(declared) < tree->nodes[nest->function].begin)
            return rs_nest_refuse(nest, node, "a variable of the file is used");
        CXType type = clang_getCanonicalType(clang_getCursorType(declared));
        if (kind == CXCursor_VarDecl && type.kind == CXType_Pointer)
            return rs_nest_refuse(nest, node, "a pointer is used that is no parameter");
        if (kind == CXCursor_VarDecl && clang_Cursor_getStorageClass(declared) == CX_SC_Static)
            return rs_nest_refuse(nest, node, "a static variable is used");
        if (kind == CXCursor_FunctionDecl && !rs_function_is_callable(declared))
            return rs_nest_refuse(nest, node, "a function is called that kernels do not have");
    }
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        if (!check_names(nest, child))
            return false;
    return true;
}

restride_status rs_kernels_prepare(rs_kernels *kernels)
{
    rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    CXCursor function = tree->nodes[nest->function].cursor;
    int body = rs_node_body(tree, nest->function), count = clang_Cursor_getNumArguments(function);
    bool ok = check_names(nest, nest->node);
    for (int i = 0; i < count && ok; i++)
        ok = check_parameter(nest, body, clang_Cursor_getArgument(function, (unsigned)i));
    for (int child = tree->nodes[body].first; child >= 0 && ok; child = tree->nodes[child].next)
        ok = take_statement(kernels, body, child);
    ok = ok && check_assignments(nest, nest->node);
    return ok || nest->refusal != NULL ? RESTRIDE_OK : rs_fail_memory("the kernels of a nest");
}

void rs_kernels_free(rs_kernels *kernels)
{
    for (int i = 0; i < kernels->gathered_count; i++)
        free(kernels->gathered[i].name);
}

/* ---- parameters ---- */

static void write_element_type(rs_text *text, CXType type)
{
    rs_kind kind = rs_kind_of(type);
    CXString spelling = clang_getTypeSpelling(clang_getUnqualifiedType(type));
    rs_text_add_string(text,
                       kind != RS_KIND_NONE ? rs_kind_name(kind) : clang_getCString(spelling));
    clang_disposeString(spelling);
}

/* "__global double (*m)[200]" for double m[][200]. */
void rs_kernels_write_parameter(rs_text *text, CXCursor parameter, const char *space)
{
    long long extents[RS_SUBSCRIPT_LIMIT];
    int count = 0;
    CXString name = clang_getCursorSpelling(parameter);
    CXType type = clang_getCanonicalType(clang_getCursorType(parameter));
    bool array = rs_kind_of(type) == RS_KIND_NONE;
    if (array)
        type =
            clang_getCanonicalType(type.kind == CXType_Pointer ? clang_getPointeeType(type)
                                                               : clang_getArrayElementType(type));
    while (type.kind == CXType_ConstantArray && count < RS_SUBSCRIPT_LIMIT) {
        extents[count++] = clang_getArraySize(type);
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    }
    rs_text_format(text, "%s%s", array ? space : "", array ? " " : "");
    write_element_type(text, type);
    rs_text_format(text, count > 0 ? " (*%s)" : array ? " *%s" : " %s", clang_getCString(name));
    for (int i = 0; i < count; i++)
        rs_text_format(text, "[%lld]", extents[i]);
    clang_disposeString(name);
}

void rs_kernels_write_signature(const rs_kernels *kernels, rs_text *text, const char *ending)
{
    const rs_nest *nest = kernels->nest;
    CXCursor function = nest->program->tree.nodes[nest->function].cursor;
    int count = clang_Cursor_getNumArguments(function);
    rs_text_format(text, "__kernel void %s_%s(", kernels->name, ending);
    for (int i = 0; i < count; i++) {
        rs_text_add_string(text, i > 0 ? ", " : "");
        rs_kernels_write_parameter(text, clang_Cursor_getArgument(function, (unsigned)i),
                                   "__global");
    }
    for (int i = 0; i < kernels->gathered_count; i++)
        rs_text_format(text, "%s__global %s *%s_gathered", count > 0 || i > 0 ? ", " : "",
                       kernels->gathered[i].type, kernels->gathered[i].name);
}

/* ---- text of the source, with some of it replaced ---- */

/* "(int)(first)": what the loop's variable begins with. */
static void write_first(const rs_nest *nest, rs_text *text, const rs_nest_loop *loop)
{
    int length;
    const char *first = rs_nest_text(nest, loop->begin, &length);
    rs_text_format(text, "(%s)(%.*s)", rs_nest_loop_type(nest, loop), length, first);
}

/* The iterations of a loop as it is written, in 64 bits; less than 1 for none. */
static void write_iterations(const rs_nest *nest, rs_text *text, const rs_nest_loop *loop)
{
    long long step = (long long)nest->unit->loops[loop->loop].step;
    long long distance = step < 0 ? -step : step;
    rs_nest_condition c = rs_nest_condition_of(nest, loop);
    int length;
    const char *end = rs_nest_text(nest, c.end, &length);
    rs_text_add_string(text, "(");
    if (!c.down)
        rs_text_format(text, "(long)(%.*s) - ", length, end);
    write_first(nest, text, loop);
    if (c.down)
        rs_text_format(text, " - (long)(%.*s)", length, end);
    rs_text_format(text, " + %lldL) / %lldL", distance - (c.equal ? 0 : 1), distance);
}

void rs_kernels_write_variable(const rs_kernels *kernels, rs_text *text, const rs_nest_loop *loop,
                               const char *number, int width)
{
    const rs_nest *nest = kernels->nest;
    const char *type = rs_nest_loop_type(nest, loop);
    long long step = (long long)nest->unit->loops[loop->loop].step;
    rs_text_format(text, "const %s %s = (%s)(", type, loop->variable, type);
    write_first(nest, text, loop);
    rs_text_format(text, " + %lldL * (long)(%s));\n", step * width, number);
}

bool rs_kernels_write_for(const rs_kernels *kernels, rs_text *text, const rs_nest_loop *loop)
{
    const rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    const rs_node *statement = &tree->nodes[loop->node], *body = &tree->nodes[loop->parts.body];
    if (loop->dimension < 0) {
        rs_text_add(text, tree->text + statement->begin, body->begin - statement->begin);
        return false;
    }
    rs_text number = RS_TEXT_EMPTY;
    rs_text_format(&number, "restride_%s", loop->variable);
    if (number.failed) {
        text->failed = true;
        return true;
    }
    rs_text_format(text, "for (long %s = get_global_id(%d); %s < ", number.data, loop->dimension,
                   number.data);
    write_iterations(nest, text, loop);
    rs_text_format(text, "; %s += get_global_size(%d)) {\n", number.data, loop->dimension);
    rs_kernels_write_variable(kernels, text, loop, number.data, 1);
    rs_text_free(&number);
    return true;
}

/* libclang's extent of an expression statement leaves its semicolon out. */
static void close_statement(rs_text *text)
{
    if (text->size > 0 && strchr(";}", text->data[text->size - 1]) == NULL)
        rs_text_add_string(text, ";");
}

typedef struct {
    const rs_kernels *kernels;
    const char *vectors; /* what replaces the vectors' loop; NULL: nothing */
    const rs_replacement *replacement;
    size_t at;
} rewriting;

static void copy_node(rewriting *r, rs_text *text, int node)
{
    const rs_nest *nest = r->kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    const rs_node *n = &tree->nodes[node];
    rs_text other = RS_TEXT_EMPTY;
    if (r->replacement != NULL && r->replacement->replace(r->replacement->context, &other, node)) {
        rs_text_add(text, tree->text + r->at, n->begin - r->at);
        rs_text_add_string(text, other.data != NULL ? other.data : "");
        text->failed = text->failed || other.failed;
        r->at = n->end;
        rs_text_free(&other);
        return;
    }
    bool opened = false;
    for (int i = 0; n->kind == CXCursor_ForStmt && i < nest->count; i++) {
        const rs_nest_loop *loop = &nest->loops[i];
        bool replaced = r->vectors != NULL && i == nest->vector;
        if (loop->node != node || (loop->dimension < 0 && !replaced))
            continue;
        rs_text_add(text, tree->text + r->at, n->begin - r->at);
        if (replaced)
            rs_text_add_string(text, r->vectors);
        else
            opened = rs_kernels_write_for(r->kernels, text, loop);
        r->at = replaced ? n->end : tree->nodes[loop->parts.body].begin;
    }
    for (int child = n->first; child >= 0; child = tree->nodes[child].next)
        if (tree->nodes[child].begin >= r->at)
            copy_node(r, text, child);
    if (opened) {
        rs_text_add(text, tree->text + r->at, n->end - r->at);
        r->at = n->end;
        close_statement(text);
        rs_text_add_string(text, "\n}");
    }
}

void rs_kernels_write_changed(const rs_kernels *kernels, rs_text *text, int node,
                              const char *vectors)
{
    const rs_tree *tree = &kernels->nest->program->tree;
    rewriting r = {kernels, vectors, NULL, tree->nodes[node].begin};
    copy_node(&r, text, node);
    rs_text_add(text, tree->text + r.at, tree->nodes[node].end - r.at);
    close_statement(text);
}

void rs_kernels_copy(const rs_kernels *kernels, rs_text *text, int node,
                     const rs_replacement *replacement)
{
    const rs_tree *tree = &kernels->nest->program->tree;
    rewriting r = {kernels, NULL, replacement, tree->nodes[node].begin};
    copy_node(&r, text, node);
    rs_text_add(text, tree->text + r.at, tree->nodes[node].end - r.at);
    close_statement(text);
}

void rs_kernels_write_prologue(const rs_kernels *kernels, rs_text *text)
{
    const rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    for (int child = tree->nodes[rs_node_body(tree, nest->function)].first; child >= 0;
         child = tree->nodes[child].next) {
        bool used = false;
        for (int v = tree->nodes[child].first; v >= 0; v = tree->nodes[v].next)
            used = used ||
                   count_uses(tree, nest->node, rs_cursor_offset(tree->nodes[v].cursor), false) > 0;
        if (tree->nodes[child].kind != CXCursor_DeclStmt || !used)
            continue;
        rs_text_add_string(text, "    ");
        rs_text_add(text, tree->text + tree->nodes[child].begin,
                    tree->nodes[child].end - tree->nodes[child].begin);
        rs_text_add_string(text, "\n");
    }
}

void rs_kernels_write_epilogue(const rs_kernels *kernels, rs_text *text)
{
    rs_text_add_string(text, "\n");
    for (int i = 0; i < kernels->gathered_count; i++)
        rs_text_format(text, "    *%s_gathered = %s;\n", kernels->gathered[i].name,
                       kernels->gathered[i].name);
    rs_text_add_string(text, "}\n\n");
}

void rs_kernels_write_plain(const rs_kernels *kernels, rs_text *text, bool threads)
{
    const rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    rs_kernels_write_signature(kernels, text, threads ? "threads" : "original");
    rs_text_add_string(text, ")\n{\n");
    rs_kernels_write_prologue(kernels, text);
    rs_text_add_string(text, "    ");
    if (threads)
        rs_kernels_write_changed(kernels, text, nest->node, NULL);
    else
        rs_text_add(text, tree->text + tree->nodes[nest->node].begin,
                    tree->nodes[nest->node].end - tree->nodes[nest->node].begin);
    close_statement(text);
    rs_kernels_write_epilogue(kernels, text);
}
