/* The nodes of a flat source: parses it with libclang (16 and newer) and keeps each cursor. */
#include "syntax/flat.h"

#include "base/list.h"
#include "syntax/clang/describe.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The name of the text while it is parsed; it is in memory only. */
#define UNIT_NAME "restride-flat.cl"

/* Deeper trees are refused, so that no source can exhaust the stack. */
enum { DEPTH_LIMIT = 1500 };

struct rs_tree_unit {
    CXIndex index;
    CXTranslationUnit unit;
    CXCursor *cursors; /* of the nodes */
};

typedef struct {
    rs_tree *tree;
    int parent;
    int last; /* the last child added, or -1 */
    int depth;
    const char *trouble; /* set when the visit was given up */
} visit;

/* The bytes of the unit that a cursor covers; macro expansions count where they are written. */
static bool cursor_bytes(CXCursor cursor, size_t size, size_t *begin, size_t *end)
{
    CXSourceRange range = clang_getCursorExtent(cursor);
    CXFile first, last;
    unsigned from, to;
    clang_getFileLocation(clang_getRangeStart(range), &first, NULL, NULL, &from);
    clang_getFileLocation(clang_getRangeEnd(range), &last, NULL, NULL, &to);
    if (first == NULL || last == NULL || clang_File_isEqual(first, last) == 0)
        return false;
    if (to < from || to > size)
        return false;
    *begin = from;
    *end = to;
    return true;
}

static bool add_node(visit *at, CXCursor cursor, size_t begin, size_t end)
{
    rs_tree *tree = at->tree;
    if (tree->node_count > INT_MAX / 4 || !RS_LIST_GROW(tree->nodes, tree->node_count) ||
        !RS_LIST_GROW(tree->unit->cursors, tree->node_count))
        return false;
    int added = tree->node_count++;
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    tree->unit->cursors[added] = cursor;
    tree->nodes[added] = (rs_node){.begin = begin,
                                   .end = end,
                                   .parent = at->parent,
                                   .first = -1,
                                   .next = -1,
                                   .is = rs_cursor_kind(kind),
                                   .group = rs_cursor_group(kind),
                                   .symbol = rs_cursor_symbol(cursor),
                                   .name = "",
                                   .type = &rs_type_none,
                                   .declaration = &rs_declared_none};
    if (at->last >= 0)
        tree->nodes[at->last].next = added;
    else if (at->parent >= 0)
        tree->nodes[at->parent].first = added;
    at->last = added;
    return true;
}

/* Whether an operator takes a byte beside its operands: those that the compiler makes, as for a
 * loop over a range, do not. */
static bool is_written(const rs_tree *tree, const rs_node *node)
{
    const rs_node *first = node->first < 0 ? node : &tree->nodes[node->first];
    if (node->is == RS_NODE_UNARY)
        return first->begin > node->begin || first->end < node->end;
    return first->next >= 0 && tree->nodes[first->next].begin > first->end;
}

static enum CXChildVisitResult visit_cursor(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    visit *at = data;
    if (at->depth == 1 && clang_Location_isFromMainFile(clang_getCursorLocation(cursor)) == 0)
        return CXChildVisit_Continue; /* the declarations of the built-in functions and types */
    const rs_node *above = &at->tree->nodes[at->parent];
    size_t begin = above->begin, end = above->end;
    (void)cursor_bytes(cursor, at->tree->size, &begin, &end);
    if (at->depth > DEPTH_LIMIT)
        at->trouble = "the source is nested too deeply";
    else if (!add_node(at, cursor, begin, end))
        at->trouble = "there is not enough memory for the source's syntax tree";
    if (at->trouble != NULL)
        return CXChildVisit_Break;
    visit below = {at->tree, at->last, -1, at->depth + 1, NULL};
    clang_visitChildren(cursor, visit_cursor, &below);
    rs_node *node = &at->tree->nodes[at->last];
    if (node->symbol[0] != '\0' && !is_written(at->tree, node))
        node->symbol = "";
    at->trouble = below.trouble;
    return at->trouble == NULL ? CXChildVisit_Continue : CXChildVisit_Break;
}

/* Whether a place is in the text; *offset is its byte there. What is in a macro's text is where the
 * macro is used. */
static bool find_offset(const rs_tree *tree, CXSourceLocation place, size_t *offset)
{
    CXFile file;
    unsigned at;
    clang_getFileLocation(place, &file, NULL, NULL, &at);
    *offset = at;
    return file != NULL && clang_Location_isFromMainFile(
                               clang_getLocationForOffset(tree->unit->unit, file, at)) != 0;
}

/* Keeps the first error of the parse that no function of `forgives` (NULL: none) covers. */
static bool find_errors(rs_tree *tree, rs_tree_forgives *forgives)
{
    unsigned count = clang_getNumDiagnostics(tree->unit->unit);
    for (unsigned i = 0; i < count && tree->failure == NULL; i++) {
        CXDiagnostic diagnostic = clang_getDiagnostic(tree->unit->unit, i);
        CXSourceLocation place = clang_getDiagnosticLocation(diagnostic);
        size_t offset;
        bool inside = find_offset(tree, place, &offset);
        if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error &&
            !(forgives != NULL && inside &&
              clang_getDiagnosticSeverity(diagnostic) == CXDiagnostic_Error &&
              forgives(tree, offset))) {
            CXString message = clang_getDiagnosticSpelling(diagnostic);
            tree->failure = strdup(clang_getCString(message));
            tree->failure_offset = offset;
            clang_disposeString(message);
            if (tree->failure == NULL)
                return false;
        }
        clang_disposeDiagnostic(diagnostic);
    }
    return true;
}

restride_status rs_tree_forgive(rs_tree *tree, rs_tree_forgives *forgives)
{
    if (tree->unit == NULL || tree->failure == NULL || tree->is_cut)
        return RESTRIDE_OK;
    free(tree->failure);
    tree->failure = NULL;
    if (find_errors(tree, forgives))
        return RESTRIDE_OK;
    rs_tree_free(tree);
    return rs_fail_memory("a parsed source");
}

bool rs_tree_has_error(const rs_tree *tree, size_t begin, size_t end)
{
    unsigned count = clang_getNumDiagnostics(tree->unit->unit);
    bool found = false;
    for (unsigned i = 0; i < count && !found; i++) {
        CXDiagnostic diagnostic = clang_getDiagnostic(tree->unit->unit, i);
        CXSourceLocation place = clang_getDiagnosticLocation(diagnostic);
        size_t offset;
        found = find_offset(tree, place, &offset) && offset >= begin && offset <= end &&
                clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        clang_disposeDiagnostic(diagnostic);
    }
    return found;
}

static void free_unit(rs_tree *tree)
{
    if (tree->unit != NULL && tree->unit->unit != NULL)
        clang_disposeTranslationUnit(tree->unit->unit);
    if (tree->unit != NULL && tree->unit->index != NULL)
        clang_disposeIndex(tree->unit->index);
    if (tree->unit != NULL)
        free(tree->unit->cursors);
    free(tree->unit);
    tree->unit = NULL;
}

static restride_status parse(rs_tree *tree, const char *const arguments[], int argument_count,
                             const rs_tree_file *extra, unsigned options)
{
    struct CXUnsavedFile files[2] = {{UNIT_NAME, tree->text, tree->size}};
    if (extra != NULL)
        files[1] = (struct CXUnsavedFile){extra->path, extra->text, extra->size};
    enum CXErrorCode code =
        clang_parseTranslationUnit2(tree->unit->index, UNIT_NAME, arguments, argument_count, files,
                                    extra != NULL ? 2 : 1, options, &tree->unit->unit);
    if (code != CXError_Success) {
        free_unit(tree);
        tree->failure = strdup("libclang could not parse the source");
        return tree->failure == NULL ? rs_fail_memory("a parsed source") : RESTRIDE_OK;
    }
    if (!find_errors(tree, NULL))
        return rs_fail_memory("a parsed source");
    visit all = {tree, -1, -1, 0, NULL};
    CXCursor whole = clang_getTranslationUnitCursor(tree->unit->unit);
    if (!add_node(&all, whole, 0, tree->size))
        return rs_fail_memory("a parsed source");
    visit top = {tree, 0, -1, 1, NULL};
    clang_visitChildren(whole, visit_cursor, &top);
    tree->is_cut = top.trouble != NULL;
    if (top.trouble != NULL && tree->failure == NULL) {
        tree->failure = strdup(top.trouble);
        if (tree->failure == NULL)
            return rs_fail_memory("a parsed source");
    }
    return RESTRIDE_OK;
}

restride_status rs_flat_parse(rs_tree *tree, const char *const arguments[], int argument_count,
                              const rs_tree_file *extra, bool keeps_going)
{
    tree->unit = calloc(1, sizeof *tree->unit);
    if (tree->unit == NULL)
        return rs_fail_memory("a parsed source");
    tree->unit->index = clang_createIndex(1, 0);
    restride_status status =
        tree->unit->index == NULL
            ? rs_fail(RESTRIDE_UNSUPPORTED, "libclang could not be started.")
            : parse(tree, arguments, argument_count, extra,
                    keeps_going ? CXTranslationUnit_KeepGoing : CXTranslationUnit_None);
    if (status != RESTRIDE_OK)
        rs_tree_free(tree);
    return status;
}

void rs_tree_visit_errors(const rs_tree *tree, rs_tree_error_visitor *visitor, void *context)
{
    unsigned count = tree->unit == NULL ? 0 : clang_getNumDiagnostics(tree->unit->unit);
    bool more = true;
    for (unsigned i = 0; i < count && more; i++) {
        CXDiagnostic diagnostic = clang_getDiagnostic(tree->unit->unit, i);
        if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
            size_t offset;
            bool inside = find_offset(tree, clang_getDiagnosticLocation(diagnostic), &offset);
            CXString message = clang_getDiagnosticSpelling(diagnostic);
            more = visitor(context, clang_getCString(message), offset, inside);
            clang_disposeString(message);
        }
        clang_disposeDiagnostic(diagnostic);
    }
}

restride_status rs_tree_describe(rs_tree *tree, rs_syntax_language language)
{
    if (tree->unit == NULL)
        return RESTRIDE_OK;
    tree->syntax = rs_syntax_describe(tree->unit->unit, language);
    for (int i = 1; tree->syntax != NULL && i < tree->node_count; i++) {
        rs_node *node = &tree->nodes[i];
        const CXCursor cursor = tree->unit->cursors[i];
        const rs_described described = rs_cursor_describe(tree->syntax, cursor);
        node->name = described.name;
        node->type = described.type;
        node->declaration = described.declaration;
        unsigned offset = 0;
        CXFile file;
        clang_getFileLocation(clang_getCursorLocation(cursor), &file, NULL, NULL, &offset);
        node->place = offset;
    }
    return tree->syntax == NULL || tree->syntax->out_of_memory
               ? rs_fail_memory("the types of a parsed source")
               : RESTRIDE_OK;
}

bool rs_tree_evaluate(const rs_tree *tree, int node, int64_t *value)
{
    return rs_cursor_evaluate(tree->unit->cursors[node], value);
}

bool rs_tree_evaluate_bits(const rs_tree *tree, int node, long long *value)
{
    return rs_cursor_evaluate_bits(tree->unit->cursors[node], value);
}

void rs_tree_free(rs_tree *tree)
{
    rs_syntax_free(tree->syntax);
    free_unit(tree);
    free(tree->nodes);
    free(tree->failure);
    memset(tree, 0, sizeof *tree);
}
