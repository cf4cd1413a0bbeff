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
    const rs_tree *tree;
    int left; /* names that are still looked at */
} inspection;

static bool is_callable(inspection *i, const rs_syntax_declaration *function, int depth);

/* Whether below a node stand only variables of one call alone, and calls that kernels can make. */
static bool uses_nothing_else(inspection *i, int node, int depth)
{
    const rs_tree *tree = i->tree;
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    const bool names = tree->nodes[node].is == RS_NODE_REFERENCE;
    if (--i->left < 0)
        return false;
    if ((names || tree->nodes[node].is == RS_NODE_VARIABLE) &&
        rs_is_declared(declared, RS_DECLARATION_VARIABLE) &&
        (declared->is_global || declared->is_static))
        return false;
    if (names && rs_is_declared(declared, RS_DECLARATION_FUNCTION) &&
        !is_callable(i, declared, depth + 1))
        return false;
    RS_EACH_CHILD(child, tree, node)
        if (!uses_nothing_else(i, child, depth))
            return false;
    return true;
}

static bool is_callable(inspection *i, const rs_syntax_declaration *function, int depth)
{
    bool is_float;
    int definition = 1;
    const rs_tree *tree = i->tree;
    if (rs_function_find(function->name, &is_float) != NULL)
        return true;
    while (definition < tree->node_count &&
           (tree->nodes[definition].declaration != function ||
            tree->nodes[definition].is != RS_NODE_FUNCTION || rs_node_body(tree, definition) < 0))
        definition++;
    if (rs_name_is_built_in(function->name) || definition == tree->node_count ||
        function->parameter_count == 0 || depth >= MOST_CALLS ||
        rs_kind_of(rs_result_type(function)) == RS_KIND_NONE)
        return false;
    for (size_t p = 0; p < function->parameter_count; p++)
        if (rs_kind_of(rs_declared_type(function->parameters[p])) == RS_KIND_NONE)
            return false;
    RS_EACH_CHILD(child, tree, definition)
        if (!uses_nothing_else(i, child, depth))
            return false;
    return true;
}

bool rs_function_is_callable(const rs_tree *tree, const rs_syntax_declaration *function)
{
    inspection i = {tree, MOST_NAMES};
    return is_callable(&i, function, 0);
}

/* The node of what an expression assigns, or hands on the address of; -1 for neither. */
static int changed_by(const rs_tree *tree, int node)
{
    bool address = rs_node_is_unary(tree, node, "&");
    return address ? rs_node_child(tree, node, 0) : rs_node_assigned(tree, node);
}

/* How often a variable is named below a node; with `assigned`, how often it is assigned. */
static int count_uses(const rs_tree *tree, int node, size_t declaration, bool assigned)
{
    int count = 0;
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        const int used = assigned                                  ? changed_by(tree, at)
                         : tree->nodes[at].is == RS_NODE_REFERENCE ? at
                                                                   : -1;
        count += used >= 0 && rs_node_declaration(tree, used) == declaration;
    }
    return count;
}

static bool loads(const rs_tree *tree, int node)
{
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++)
        if (rs_node_is_memory(tree, at) || tree->nodes[at].is == RS_NODE_CALL)
            return true;
    return false;
}

static bool add_gathered(rs_kernels *kernels, int declared)
{
    rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    const rs_syntax_type *type = rs_type_of(tree, declared);
    if (kernels->gathered_count == RS_GATHERED_LIMIT || rs_kind_of(type) == RS_KIND_NONE)
        return rs_nest_refuse(nest, declared, "the nest assigns a variable of the function");
    const char *name = tree->nodes[declared].name;
    kernels->gathered[kernels->gathered_count++] = (rs_gathered){
        strdup(name), rs_kind_name(rs_kind_of(type)), rs_kind_bytes(rs_kind_of(type))};
    return kernels->gathered[kernels->gathered_count - 1].name != NULL;
}

/* A variable of the function: constant for the nest, or gathered by it alone. */
static bool take_variable(rs_kernels *kernels, int body, int declared)
{
    rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    size_t declaration = tree->nodes[declared].place;
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
    int kind = tree->nodes[statement].is;
    if (kind == RS_NODE_FOR || kind == RS_NODE_RETURN || kind == RS_NODE_EMPTY)
        return true;
    if (kind != RS_NODE_DECLARE)
        return rs_nest_refuse(nest, statement,
                              "the function does more than declare variables and run loops");
    RS_EACH_CHILD(child, tree, statement)
        if (tree->nodes[child].is != RS_NODE_VARIABLE || !take_variable(kernels, body, child))
            return rs_nest_refuse(nest, statement, "a declaration that kernels cannot have");
    return true;
}

static bool is_taken(const rs_syntax_declaration *variable)
{
    return rs_name_is_taken(variable->name) || variable->is_register;
}

/* Parameters of the function: numbers, and pointers to numbers or structures. */
static bool check_parameter(rs_nest *nest, int body, const rs_syntax_declaration *parameter)
{
    const rs_tree *tree = &nest->program->tree;
    size_t declaration = parameter->place;
    if (is_taken(parameter))
        return rs_nest_refuse(nest, nest->function, "a parameter has a name that kernels need");
    if (count_uses(tree, nest->node, declaration, false) > 0 &&
        count_uses(tree, body, declaration, true) > 0)
        return rs_nest_refuse(nest, nest->node, "a parameter of the nest is assigned");
    const rs_syntax_type *type = rs_declared_type(parameter);
    bool pointer = rs_type_is_fixed(type);
    if (!pointer && rs_kind_of(type) != RS_KIND_NONE)
        return true;
    while (rs_type_is_fixed(type)) {
        type = rs_type_below(type);
        if (type->kind == RS_TYPE_POINTER)
            pointer = false;
    }
    if (pointer && (rs_kind_of(type) != RS_KIND_NONE || type->kind == RS_TYPE_RECORD))
        return true;
    return rs_nest_refuse(nest, nest->function,
                          "a parameter is neither a number nor an array of constant extents");
}

/* Where the variable is declared that an expression is or is a member of; 0 for memory. */
static size_t owner_of(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    while (node >= 0 && tree->nodes[node].is == RS_NODE_MEMBER && !rs_node_is_memory(tree, node))
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
    RS_EACH_CHILD(child, tree, node)
        if (!check_assignments(nest, child))
            return false;
    return true;
}

/* Why a node cannot stand in a kernel, or NULL. */
static const char *reason_against(const rs_nest *nest, int node)
{
    const rs_tree *tree = &nest->program->tree;
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    const bool variable = rs_is_declared(declared, RS_DECLARATION_VARIABLE);
    if (tree->nodes[node].is == RS_NODE_VARIABLE)
        return rs_node_is_pointer(tree, node) ? "the nest declares a pointer"
               : declared->is_static          ? "the nest declares a static variable"
               : is_taken(declared)           ? "a variable cannot be declared so in a kernel"
                                              : NULL;
    if (tree->nodes[node].is != RS_NODE_REFERENCE)
        return NULL;
    if (variable && declared->place < tree->nodes[nest->function].begin)
        return "a variable of the file is used";
    if (variable && rs_declared_type(declared)->kind == RS_TYPE_POINTER)
        return "a pointer is used that is no parameter";
    if (variable && declared->is_static)
        return "a static variable is used";
    return rs_is_declared(declared, RS_DECLARATION_FUNCTION) &&
                   !rs_function_is_callable(tree, declared)
               ? "a function is called that kernels do not have"
               : NULL;
}

static bool check_names(rs_nest *nest, int node)
{
    const rs_tree *tree = &nest->program->tree;
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        const char *reason = reason_against(nest, at);
        if (reason != NULL)
            return rs_nest_refuse(nest, at, "%s", reason);
    }
    return true;
}

restride_status rs_kernels_prepare(rs_kernels *kernels)
{
    rs_nest *nest = kernels->nest;
    const rs_tree *tree = &nest->program->tree;
    const rs_syntax_declaration *function = tree->nodes[nest->function].declaration;
    int body = rs_node_body(tree, nest->function), count = (int)function->parameter_count;
    bool ok = check_names(nest, nest->node);
    for (int i = 0; i < count && ok; i++)
        ok = check_parameter(nest, body, rs_parameter(function, i));
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

static void write_element_type(rs_text *text, const rs_syntax_type *type)
{
    rs_kind kind = rs_kind_of(type);
    rs_text_add_string(text, kind != RS_KIND_NONE ? rs_kind_name(kind) : type->plain->name);
}

/* "__global double (*m)[200]" for double m[][200]. */
void rs_kernels_write_parameter(rs_text *text, const rs_syntax_declaration *parameter,
                                const char *space)
{
    long long extents[RS_SUBSCRIPT_LIMIT];
    int count = 0;
    const char *name = parameter->name;
    const rs_syntax_type *type = rs_declared_type(parameter);
    bool array = rs_kind_of(type) == RS_KIND_NONE;
    if (array)
        type = rs_type_below(type);
    while (type->kind == RS_TYPE_ARRAY && count < RS_SUBSCRIPT_LIMIT) {
        extents[count++] = type->count;
        type = rs_type_below(type);
    }
    rs_text_format(text, "%s%s", array ? space : "", array ? " " : "");
    write_element_type(text, type);
    rs_text_format(text, count > 0 ? " (*%s)" : array ? " *%s" : " %s", name);
    for (int i = 0; i < count; i++)
        rs_text_format(text, "[%lld]", extents[i]);
}

void rs_kernels_write_signature(const rs_kernels *kernels, rs_text *text, const char *ending)
{
    const rs_nest *nest = kernels->nest;
    const rs_syntax_declaration *function = nest->program->tree.nodes[nest->function].declaration;
    int count = (int)function->parameter_count;
    rs_text_format(text, "__kernel void %s_%s(", kernels->name, ending);
    for (int i = 0; i < count; i++) {
        rs_text_add_string(text, i > 0 ? ", " : "");
        rs_kernels_write_parameter(text, rs_parameter(function, i), "__global");
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
    for (int i = 0; n->is == RS_NODE_FOR && i < nest->count; i++) {
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
    RS_EACH_CHILD(child, tree, rs_node_body(tree, nest->function)) {
        bool used = false;
        RS_EACH_CHILD(v, tree, child)
            used = used || count_uses(tree, nest->node, tree->nodes[v].place, false) > 0;
        if (tree->nodes[child].is != RS_NODE_DECLARE || !used)
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
