/* Kernels around the body of a nest. */
#include "apply/kernels.h"

#include "apply/body.h"
#include "apply/types.h"
#include "source/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the function gives the nest ---- */

bool rs_function_is_callable(CXCursor function)
{
    bool is_float;
    CXString name = clang_getCursorSpelling(function);
    bool known = rs_function_find(clang_getCString(name), &is_float) != NULL;
    clang_disposeString(name);
    CXCursor definition = clang_getCursorDefinition(function);
    if (known || clang_Cursor_isNull(definition))
        return known;
    int count = clang_Cursor_getNumArguments(function);
    bool numbers =
        count > 0 &&
        rs_kind_of(clang_getCanonicalType(clang_getCursorResultType(function))) != RS_KIND_NONE;
    for (int i = 0; i < count && numbers; i++)
        numbers = rs_kind_of(clang_getCanonicalType(clang_getCursorType(
                      clang_Cursor_getArgument(function, (unsigned)i)))) != RS_KIND_NONE;
    return numbers;
}

static int body_of(const rs_nest *nest)
{
    const rs_tree *tree = &nest->program->tree;
    int body = -1;
    for (int child = tree->nodes[nest->function].first; child >= 0; child = tree->nodes[child].next)
        if (tree->nodes[child].kind == CXCursor_CompoundStmt)
            body = child;
    return body;
}

/* How often a variable is named below a node; with `assigned`, how often it is assigned. */
static int count_uses(const rs_tree *tree, int node, size_t declaration, bool assigned)
{
    int left = assigned ? rs_node_assigned(tree, node) : -1;
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

/* Parameters of the function: numbers, and pointers to numbers or structures. */
static bool check_parameter(rs_nest *nest, CXCursor parameter)
{
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

/* Names of the file's own variables and functions that kernels do not have. */
static bool check_names(rs_nest *nest, int node)
{
    const rs_tree *tree = &nest->program->tree;
    if (tree->nodes[node].kind == CXCursor_DeclRefExpr) {
        CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
        enum CXCursorKind kind = clang_getCursorKind(declared);
        if (kind == CXCursor_VarDecl &&
            rs_cursor_offset(declared) < tree->nodes[nest->function].begin)
            return rs_nest_refuse(nest, node, "a variable of the file is used");
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
    int body = body_of(nest), count = clang_Cursor_getNumArguments(function);
    bool ok = check_names(nest, nest->node);
    for (int i = 0; i < count && ok; i++)
        ok = check_parameter(nest, clang_Cursor_getArgument(function, (unsigned)i));
    for (int child = tree->nodes[body].first; child >= 0 && ok; child = tree->nodes[child].next)
        ok = take_statement(kernels, body, child);
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

static void write_signature(const rs_kernels *kernels, rs_text *text, const char *ending)
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

static const char *element_name(const rs_nest *nest, const rs_copy *copy)
{
    /* Copies are of numbers: load() and store() have seen to that. */
    const char *name = nest->unit->arrays[copy->array].type;
    static const struct {
        const char *c, *opencl;
    } names[] = {{"unsigned char", "uchar"},     {"signed char", "char"},
                 {"unsigned short", "ushort"},   {"unsigned int", "uint"},
                 {"long long", "long"},          {"unsigned long", "ulong"},
                 {"unsigned long long", "ulong"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].c, name) == 0)
            return names[i].opencl;
    return name;
}

/* ---- text of the source, with some of it replaced ---- */

void rs_kernels_write_for(const rs_kernels *kernels, rs_text *text, const rs_nest_loop *loop)
{
    const rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    const rs_node *statement = &tree->nodes[loop->node], *body = &tree->nodes[loop->parts.body];
    if (loop->dimension < 0) {
        rs_text_add(text, tree->text + statement->begin, body->begin - statement->begin);
        return;
    }
    int first_length, condition_length;
    const char *first = rs_nest_text(nest, loop->begin, &first_length);
    const char *condition = rs_nest_text(nest, loop->parts.condition, &condition_length);
    const char *type =
        rs_kind_name(rs_kind_of(rs_node_type(tree, rs_node_child(tree, loop->parts.begin, 0))));
    long long step = (long long)nest->unit->loops[loop->loop].step;
    rs_text_format(text,
                   "for (%s %s = (%.*s) + %lld * (%s)get_global_id(%d); %.*s; %s += %lld * "
                   "(%s)get_global_size(%d)) ",
                   type, loop->variable, first_length, first, step, type, loop->dimension,
                   condition_length, condition, loop->variable, step, type, loop->dimension);
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
    for (int i = 0; n->kind == CXCursor_ForStmt && i < nest->count; i++) {
        const rs_nest_loop *loop = &nest->loops[i];
        bool replaced = r->vectors != NULL && i == nest->vector;
        if (loop->node != node || (loop->dimension < 0 && !replaced))
            continue;
        rs_text_add(text, tree->text + r->at, n->begin - r->at);
        if (replaced)
            rs_text_add_string(text, r->vectors);
        else
            rs_kernels_write_for(r->kernels, text, loop);
        r->at = replaced ? n->end : tree->nodes[loop->parts.body].begin;
    }
    for (int child = n->first; child >= 0; child = tree->nodes[child].next)
        if (tree->nodes[child].begin >= r->at)
            copy_node(r, text, child);
}

/* libclang's extent of an expression statement leaves its semicolon out. */
static void close_statement(rs_text *text)
{
    if (text->size > 0 && strchr(";}", text->data[text->size - 1]) == NULL)
        rs_text_add_string(text, ";");
}

/* A node's text with threads, and with `vectors` in the place of their loop. */
static void write_changed(const rs_kernels *kernels, rs_text *text, int node, const char *vectors)
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
    for (int child = tree->nodes[body_of(nest)].first; child >= 0;
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

/* ---- copies ---- */

static rs_polynomial extent_of(const rs_copy *copy, int row)
{
    rs_polynomial one = rs_polynomial_constant(1);
    rs_polynomial width = rs_polynomial_subtract(&copy->most[row], &copy->least[row]);
    return rs_polynomial_add(&width, &one);
}

/* The vectors of a row of all copies, and the extents of each. */
static void write_extents(const rs_kernels *kernels, rs_text *text)
{
    rs_quantity most;
    const rs_nest *nest = kernels->nest;
    if (kernels->copies->copy_count == 0 ||
        !rs_range_count_most(nest, &nest->loops[nest->vector], &most))
        return;
    rs_text_add_string(text, "    const long restride_most = (");
    rs_quantity_write(nest, text, &most);
    rs_text_format(text, ") / %d;\n", kernels->width);
    for (int c = 0; c < kernels->copies->copy_count; c++) {
        const rs_copy *copy = &kernels->copies->copies[c];
        for (int i = 0; i + 1 < copy->rows; i++) {
            rs_polynomial extent = extent_of(copy, rs_copy_row(copy, i));
            rs_text_format(text, "    const long restride_rows_%d_%d = ", c + 1, i);
            rs_range_write(nest, text, &extent);
            rs_text_add_string(text, ";\n");
        }
    }
}

/* The row that the vector's loop moves, from the others and from p. */
static void write_moved_row(const rs_nest *nest, rs_text *text, const rs_copy *copy)
{
    const rs_nest_loop *loop = &nest->loops[nest->vector];
    rs_text_add_string(text, "(");
    rs_range_write(nest, text, &copy->stride);
    rs_text_add_string(text, ") * (restride_p + ");
    rs_range_write(nest, text, &loop->first);
    rs_text_add_string(text, ") + ");
    rs_range_write(nest, text, &copy->shift);
    for (int row = 0; row < copy->rows; row++) {
        if (rs_polynomial_is_zero(&copy->slope[row]))
            continue;
        rs_text_add_string(text, " + (");
        rs_range_write(nest, text, &copy->slope[row]);
        rs_text_format(text, ") * restride_row%d", row);
    }
}

static void write_array_element(const rs_nest *nest, rs_text *text, const rs_copy *copy)
{
    const rs_access *access = &nest->accesses->accesses[copy->access];
    rs_text_add_string(text, nest->unit->arrays[copy->array].name);
    if (!access->divided) {
        for (int row = 0; row < copy->rows; row++)
            rs_text_format(text, "[restride_row%d]", row);
        return;
    }
    /* A flat array: row 0 times its stride, as in the source. */
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided;
    rs_reference_rows(nest->unit, access->reference, rows, &divided);
    rs_polynomial flat = rs_polynomial_subtract(&access->reference->subscripts[0], &rows[1]);
    for (int i = 0; i < nest->unit->symbols.count; i++) {
        rs_polynomial symbol = rs_polynomial_symbol(i);
        rs_polynomial product = rs_polynomial_multiply(&rows[0], &symbol);
        if (rs_polynomial_equal(&product, &flat)) {
            rs_text_add_string(text, "[restride_row0 * ");
            rs_range_write(nest, text, &symbol);
            rs_text_add_string(text, " + restride_row1]");
            return;
        }
    }
}

/* Moves one copy: out of the array (pack), or back (unpack). */
static void write_mover(const rs_kernels *kernels, rs_text *text, int number, bool pack)
{
    const rs_nest *nest = kernels->nest;
    const rs_copy *copy = &kernels->copies->copies[number];
    const char *array = nest->unit->arrays[copy->array].name;
    char ending[40];
    snprintf(ending, sizeof ending, "%spack_%d", pack ? "" : "un", number + 1);
    write_signature(kernels, text, ending);
    rs_text_format(text, ", __global %s *%s_%d)\n{\n", element_name(nest, copy), array, number + 1);
    write_extents(kernels, text);
    rs_text_add_string(text, "    const long restride_others = 1");
    for (int i = 0; i + 1 < copy->rows; i++)
        rs_text_format(text, " * restride_rows_%d_%d", number + 1, i);
    rs_text_format(text,
                   ";\n    for (long restride_q = get_global_id(1); restride_q < restride_others; "
                   "restride_q += get_global_size(1)) {\n"
                   "        long restride_rest = restride_q;\n");
    for (int i = copy->rows - 2; i >= 0; i--) {
        int row = rs_copy_row(copy, i);
        rs_text_format(text,
                       "        const long restride_row%d = restride_rest %% "
                       "restride_rows_%d_%d + ",
                       row, number + 1, i);
        rs_range_write(nest, text, &copy->least[row]);
        rs_text_format(text, ";\n        restride_rest /= restride_rows_%d_%d;\n", number + 1, i);
    }
    rs_text_format(text,
                   "        for (long restride_p = get_global_id(0); restride_p < restride_most * "
                   "%d; restride_p += get_global_size(0)) {\n"
                   "            const long restride_row%d = ",
                   kernels->width, copy->row);
    write_moved_row(nest, text, copy);
    rs_text_format(text, ";\n            if (restride_row%d >= ", copy->row);
    rs_range_write(nest, text, &copy->least[copy->row]);
    rs_text_format(text, " && restride_row%d <= ", copy->row);
    rs_range_write(nest, text, &copy->most[copy->row]);
    rs_text_add_string(text, ")\n                ");
    rs_text moved = RS_TEXT_EMPTY, element = RS_TEXT_EMPTY;
    rs_text_format(&moved, "%s_%d[restride_q * restride_most * %d + restride_p]", array, number + 1,
                   kernels->width);
    write_array_element(nest, &element, copy);
    text->failed = text->failed || moved.failed || element.failed;
    if (!text->failed)
        rs_text_format(text, "%s = %s;\n        }\n    }\n}\n\n", pack ? moved.data : element.data,
                       pack ? element.data : moved.data);
    rs_text_free(&moved);
    rs_text_free(&element);
}

/* ---- the vectors ---- */

/* A loop over something that is spread over work-items like the vectors' loop. */
static void write_spread(rs_text *text, const rs_nest_loop *loop, const char *variable,
                         const char *first, const char *end)
{
    if (loop->dimension < 0)
        rs_text_format(text, "        for (long %s = %s; %s < %s; %s++) {\n", variable, first,
                       variable, end, variable);
    else
        rs_text_format(text,
                       "        for (long %s = %s + get_global_id(%d); %s < %s; %s += "
                       "get_global_size(%d)) {\n",
                       variable, first, loop->dimension, variable, end, variable, loop->dimension);
}

static void write_variable(const rs_kernels *kernels, rs_text *text, const rs_nest_loop *loop,
                           const char *number, int width)
{
    const rs_nest *nest = kernels->nest;
    int length;
    const char *first = rs_nest_text(nest, loop->begin, &length);
    const rs_tree *tree = &nest->program->tree;
    const char *type =
        rs_kind_name(rs_kind_of(rs_node_type(tree, rs_node_child(tree, loop->parts.begin, 0))));
    long long step = (long long)nest->unit->loops[loop->loop].step;
    rs_text_format(text, "            const %s %s = (%.*s) + %lld * (%s)%s;\n", type,
                   loop->variable, length, first, step * width, type, number);
    if (width == 1)
        return;
    rs_text_format(text, "            const %s%d %s_lanes = %s + (%s)%lld * (%s%d)(", type, width,
                   loop->variable, loop->variable, type, step, type, width);
    for (int lane = 0; lane < width; lane++)
        rs_text_format(text, "%s%d", lane > 0 ? ", " : "", lane);
    rs_text_add_string(text, ");\n");
}

/* What replaces the vectors' loop: whole vectors, then the iterations that remain. */
static restride_status write_vectors(const rs_kernels *kernels, rs_text *text)
{
    const rs_nest *nest = kernels->nest;
    const rs_nest_loop *loop = &nest->loops[nest->vector];
    rs_quantity count = rs_range_count(nest, loop);
    rs_text vectors = RS_TEXT_EMPTY, before = RS_TEXT_EMPTY, after = RS_TEXT_EMPTY;
    rs_text_add(&before, "", 0);
    rs_text_add(&after, "", 0);
    rs_text_add(&vectors, "", 0);
    restride_status status = rs_body_write(kernels, &vectors, &before, &after);
    if (status == RESTRIDE_OK && nest->refusal == NULL) {
        char rest[48];
        snprintf(rest, sizeof rest, "restride_strips * %d", kernels->width);
        rs_text_add_string(text, "{\n        const long restride_count = ");
        if (!rs_quantity_write(nest, text, &count))
            rs_nest_refuse(kernels->nest, loop->node,
                           "the number of iterations is not made of the function's parameters");
        rs_text_format(text, ";\n        const long restride_strips = restride_count / %d;\n%s",
                       kernels->width, before.data);
        write_spread(text, loop, "restride_strip", "0", "restride_strips");
        write_variable(kernels, text, loop, "restride_strip", kernels->width);
        rs_text_format(text, "%s        }\n%s", vectors.data, after.data);
        write_spread(text, loop, "restride_rest", rest, "restride_count");
        write_variable(kernels, text, loop, "restride_rest", 1);
        rs_text_add_string(text, "            ");
        write_changed(kernels, text, loop->parts.body, NULL);
        rs_text_add_string(text, "\n        }\n    }");
    }
    rs_text_free(&vectors);
    rs_text_free(&before);
    rs_text_free(&after);
    return status;
}

static restride_status write_vector_kernel(const rs_kernels *kernels, rs_text *text)
{
    const rs_nest *nest = kernels->nest;
    rs_text vectors = RS_TEXT_EMPTY;
    restride_status status = write_vectors(kernels, &vectors);
    if (status == RESTRIDE_OK && nest->refusal == NULL && !vectors.failed) {
        write_signature(kernels, text, "vector");
        for (int i = 0; i < kernels->copies->copy_count; i++) {
            const rs_copy *copy = &kernels->copies->copies[i];
            rs_text_format(text, ", __global %s%s%d *%s_%d", copy->written ? "" : "const ",
                           element_name(nest, copy), kernels->width,
                           nest->unit->arrays[copy->array].name, i + 1);
        }
        rs_text_add_string(text, ")\n{\n");
        rs_kernels_write_prologue(kernels, text);
        write_extents(kernels, text);
        rs_text_add_string(text, "    ");
        write_changed(kernels, text, nest->node, vectors.data);
        rs_kernels_write_epilogue(kernels, text);
    }
    text->failed = text->failed || vectors.failed;
    rs_text_free(&vectors);
    return status;
}

void rs_kernels_write_plain(const rs_kernels *kernels, rs_text *text, bool threads)
{
    const rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    write_signature(kernels, text, threads ? "threads" : "original");
    rs_text_add_string(text, ")\n{\n");
    rs_kernels_write_prologue(kernels, text);
    rs_text_add_string(text, "    ");
    if (threads)
        write_changed(kernels, text, nest->node, NULL);
    else
        rs_text_add(text, tree->text + tree->nodes[nest->node].begin,
                    tree->nodes[nest->node].end - tree->nodes[nest->node].begin);
    close_statement(text);
    rs_kernels_write_epilogue(kernels, text);
}

restride_status rs_kernels_write(rs_kernels *kernels, rs_text *text)
{
    rs_text vector = RS_TEXT_EMPTY;
    restride_status status = write_vector_kernel(kernels, &vector);
    if (status == RESTRIDE_OK && kernels->nest->refusal == NULL) {
        rs_kernels_write_plain(kernels, text, false);
        rs_kernels_write_plain(kernels, text, true);
        for (int i = 0; i < kernels->copies->copy_count; i++) {
            write_mover(kernels, text, i, true);
            if (kernels->copies->copies[i].written)
                write_mover(kernels, text, i, false);
        }
        if (!vector.failed)
            rs_text_add(text, vector.data, vector.size);
        if (text->failed || vector.failed)
            status = rs_fail_memory("the kernels of a nest");
    }
    rs_text_free(&vector);
    return status;
}

/* ---- indentation ---- */

static int depth_after(const char *line, size_t length, int depth)
{
    for (size_t i = 0; i < length; i++)
        depth += (line[i] == '{') - (line[i] == '}');
    return depth;
}

void rs_kernels_indent(rs_text *text, size_t from)
{
    rs_text indented = RS_TEXT_EMPTY;
    int depth = 0;
    bool open = false; /* the line before does not end a statement */
    if (text->failed || text->size <= from)
        return;
    for (const char *line = text->data + from; *line != '\0';) {
        size_t length = strcspn(line, "\n"), blank = strspn(line, " \t");
        const char *next = line + length + (line[length] == '\n');
        if (blank < length) {
            int levels = depth - (line[blank] == '}') + (open && line[blank] != '{');
            rs_text_format(&indented, "%*s", levels > 0 ? 4 * levels : 0, "");
            rs_text_add(&indented, line + blank, length - blank);
            open = strchr(";{}/", line[length - 1]) == NULL;
        }
        rs_text_add_string(&indented, "\n");
        depth = depth_after(line, length, depth);
        line = next;
    }
    text->size = from;
    text->data[from] = '\0';
    rs_text_add(text, indented.data != NULL ? indented.data : "", indented.size);
    text->failed = text->failed || indented.failed;
    rs_text_free(&indented);
}

/* ---- the head of the file ---- */

static void write_function(rs_text *functions, rs_text *names, CXCursor called)
{
    static const char *const arguments[] = {"", "a", "a, b", "a, b, c"};
    bool is_float;
    CXString spelling = clang_getCursorSpelling(called);
    const char *name = clang_getCString(spelling);
    const rs_function *function = rs_function_find(name, &is_float);
    rs_text mark = RS_TEXT_EMPTY;
    rs_text_format(&mark, "#define %s ", name);
    if (function != NULL && !mark.failed &&
        (names->data == NULL || strstr(names->data, mark.data) == NULL)) {
        const char *type = is_float ? "float" : "double";
        rs_text_format(functions, "static %s restride_%s(", type, name);
        for (int i = 0; i < function->arguments; i++)
            rs_text_format(functions, "%s%s %c", i > 0 ? ", " : "", type, 'a' + i);
        rs_text_format(functions, ") { return %s(%s); }\n", function->opencl,
                       arguments[function->arguments]);
        rs_text_format(names, "%srestride_%s\n", mark.data, name);
    }
    rs_text_free(&mark);
    clang_disposeString(spelling);
}

/* C has functions of double and of float under names of their own; OpenCL C has one name, which
 * takes the type of the argument. */
static void write_functions(rs_text *text, const rs_program *program)
{
    rs_text functions = RS_TEXT_EMPTY, names = RS_TEXT_EMPTY;
    for (int i = 0; i < program->tree.node_count; i++)
        if (program->tree.nodes[i].kind == CXCursor_CallExpr)
            write_function(&functions, &names,
                           clang_getCursorReferenced(program->tree.nodes[i].cursor));
    if (functions.size > 0 && names.size > 0) {
        rs_text_add(text, functions.data, functions.size);
        rs_text_add(text, names.data, names.size);
    }
    text->failed = text->failed || functions.failed || names.failed;
    rs_text_free(&functions);
    rs_text_free(&names);
}

/* Names that C leaves to the program and OpenCL C does not. */
static void write_keywords(rs_text *text, const rs_program *program)
{
    static const char *const keywords[] = {"half",       "kernel",     "global",  "local",
                                           "constant",   "private",    "generic", "read_only",
                                           "write_only", "read_write", "pipe",    "event_t"};
    for (size_t k = 0; k < sizeof keywords / sizeof keywords[0]; k++)
        for (int i = 0; i < program->tree.node_count; i++) {
            enum CXCursorKind kind = program->tree.nodes[i].kind;
            if (kind != CXCursor_ParmDecl && kind != CXCursor_VarDecl &&
                kind != CXCursor_FieldDecl && kind != CXCursor_EnumConstantDecl)
                continue;
            CXString name = clang_getCursorSpelling(program->tree.nodes[i].cursor);
            bool same = strcmp(clang_getCString(name), keywords[k]) == 0;
            clang_disposeString(name);
            if (same) {
                rs_text_format(text, "#define %s restride_%s\n", keywords[k], keywords[k]);
                break;
            }
        }
}

static bool belongs_to_head(const rs_tree *tree, int node)
{
    enum CXCursorKind kind = tree->nodes[node].kind;
    bool kernels_need =
        kind == CXCursor_EnumDecl || kind == CXCursor_StructDecl || kind == CXCursor_TypedefDecl;
    return kernels_need || (kind == CXCursor_FunctionDecl &&
                            clang_isCursorDefinition(tree->nodes[node].cursor) != 0 &&
                            rs_function_is_callable(tree->nodes[node].cursor));
}

restride_status rs_kernels_write_head(rs_text *text, const rs_program *program, const char *file)
{
    const rs_tree *tree = &program->tree;
    rs_text_format(text,
                   "/* Made by restride analyze --apply from %s: see the report for what each "
                   "kernel is. */\n"
                   "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                   "#pragma OPENCL FP_CONTRACT OFF\n",
                   file);
    write_functions(text, program);
    write_keywords(text, program);
    for (int child = tree->nodes[0].first; child >= 0; child = tree->nodes[child].next) {
        const rs_node *n = &tree->nodes[child];
        if (!belongs_to_head(tree, child))
            continue;
        rs_text_add(text, tree->text + n->begin, n->end - n->begin);
        rs_text_add_string(text, n->kind == CXCursor_FunctionDecl ? "\n" : ";\n");
    }
    rs_text_add_string(text, "\n");
    return text->failed ? rs_fail_memory("the kernels of a nest") : RESTRIDE_OK;
}
