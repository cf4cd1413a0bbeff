/* Parses a source and reads what stands at its top, then the body of each function that was met. */
#include "syntax/clang/reader.h"
#include "syntax/headers.h"

#include <stdlib.h>
#include <string.h>

enum { PROBLEM_LIMIT = 100 };

char *rs_clang_version(void)
{
    CXString version = clang_getClangVersion();
    char *copy = strdup(clang_getCString(version));
    clang_disposeString(version);
    return copy;
}

/* --- children and nodes --- */

static enum CXChildVisitResult visit_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    rs_cursors *list = data;
    if (!rs_syntax_check(list->tree, RS_LIST_GROW(list->at, list->count)))
        return CXChildVisit_Break;
    list->at[list->count++] = cursor;
    return CXChildVisit_Continue;
}

rs_cursors rs_cursors_all(rs_syntax_reader *reader, CXCursor cursor)
{
    rs_cursors found = {reader->tree, NULL, 0};
    clang_visitChildren(cursor, visit_child, &found);
    return found;
}

rs_cursors rs_cursors_below(rs_syntax_reader *reader, CXCursor cursor)
{
    rs_cursors found = rs_cursors_all(reader, cursor);
    size_t count = 0;
    for (size_t i = 0; i < found.count; i++) {
        const enum CXCursorKind kind = clang_getCursorKind(found.at[i]);
        if (clang_isReference(kind) == 0 && clang_isAttribute(kind) == 0)
            found.at[count++] = found.at[i];
    }
    found.count = count;
    return found;
}

void rs_cursors_free(rs_cursors *cursors)
{
    free(cursors->at);
    *cursors = (rs_cursors){NULL, NULL, 0};
}

const char *rs_read_string(rs_syntax_reader *reader, CXString string)
{
    const char *text = clang_getCString(string);
    const char *kept = rs_syntax_copy(reader->tree, text == NULL ? "" : text);
    clang_disposeString(string);
    return kept == NULL ? "" : kept;
}

rs_syntax_node *rs_new_node(rs_syntax_reader *reader, rs_syntax_node_kind kind, CXCursor cursor)
{
    rs_syntax_node *node = rs_syntax_allocate(reader->tree, sizeof *node);
    if (node == NULL)
        return NULL;
    node->kind = kind;
    node->range = rs_read_range(reader, clang_getCursorExtent(cursor));
    if (clang_isExpression(clang_getCursorKind(cursor)) != 0)
        node->type = rs_read_type(reader, clang_getCursorType(cursor));
    return node;
}

bool rs_set_children(rs_syntax_reader *reader, rs_syntax_node *node, rs_syntax_node *const *given,
                     size_t count)
{
    rs_syntax_node **kept = rs_syntax_allocate(reader->tree, count * sizeof(rs_syntax_node *));
    if (kept == NULL)
        return false;
    if (count > 0)
        memcpy(kept, given, count * sizeof(rs_syntax_node *));
    node->children = kept;
    node->child_count = count;
    return true;
}

rs_syntax_node *rs_read_unknown(rs_syntax_reader *reader, CXCursor cursor)
{
    rs_syntax_node *node = rs_new_node(reader, RS_NODE_UNKNOWN, cursor);
    if (node == NULL)
        return NULL;
    node->text = rs_read_string(reader, clang_getCursorKindSpelling(clang_getCursorKind(cursor)));
    node->category = node->type == NULL ? RS_NO_CATEGORY : RS_VALUE;
    rs_cursors below = rs_cursors_below(reader, cursor);
    rs_syntax_node **children = calloc(below.count + 1, sizeof(rs_syntax_node *));
    size_t count = 0;
    reader->tree->out_of_memory |= children == NULL;
    for (size_t i = 0; children != NULL && i < below.count; i++) {
        const enum CXCursorKind kind = clang_getCursorKind(below.at[i]);
        if (clang_isExpression(kind) != 0 || clang_isStatement(kind) != 0)
            children[count++] = rs_read_statement(reader, below.at[i]);
    }
    const bool is_set = children != NULL && rs_set_children(reader, node, children, count);
    free(children);
    rs_cursors_free(&below);
    return is_set ? node : NULL;
}

/* --- the top of a source --- */

static enum CXChildVisitResult visit_top(CXCursor cursor, CXCursor parent, CXClientData data);

/* Methods are functions of the user's too; what a class has else is read with it. */
static enum CXChildVisitResult visit_class(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_CXXMethod:
    case CXCursor_Constructor:
    case CXCursor_Destructor:
    case CXCursor_ConversionFunction:
    case CXCursor_StructDecl:
    case CXCursor_ClassDecl:
    case CXCursor_UnionDecl:
        return visit_top(cursor, parent, data);
    default:
        return CXChildVisit_Continue;
    }
}

static enum CXChildVisitResult visit_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    rs_syntax_reader *reader = data;
    rs_syntax_declaration *declaration = NULL;
    if (rs_is_system(reader, clang_getCursorLocation(cursor)))
        return CXChildVisit_Continue;
    const size_t listed = reader->declared_count;
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_Namespace:
    case CXCursor_LinkageSpec:
    case CXCursor_UnexposedDecl:
        clang_visitChildren(cursor, visit_top, reader);
        break;
    case CXCursor_StructDecl:
    case CXCursor_ClassDecl:
    case CXCursor_UnionDecl:
        rs_read_declaration(reader, cursor);
        clang_visitChildren(cursor, visit_class, reader);
        break;
    case CXCursor_FunctionDecl:
    case CXCursor_CXXMethod:
    case CXCursor_Constructor:
    case CXCursor_Destructor:
    case CXCursor_ConversionFunction: /* which list themselves */
        rs_read_declaration(reader, cursor);
        break;
    case CXCursor_FunctionTemplate:
    case CXCursor_VarDecl:
        declaration = rs_read_declaration(reader, cursor);
        if (declaration != NULL && reader->declared_count > listed)
            rs_list_declaration(reader, declaration);
        break;
    default:
        break;
    }
    return reader->tree->out_of_memory ? CXChildVisit_Break : CXChildVisit_Continue;
}

static void read_listed(rs_syntax_reader *reader)
{
    const rs_syntax *tree = reader->tree;
    for (size_t i = 0; i < tree->declaration_count && !tree->out_of_memory; i++) {
        rs_syntax_declaration *declaration = tree->declarations[i];
        if (declaration->kind == RS_DECLARATION_FUNCTION)
            rs_read_body(reader, declaration);
        else if (declaration->kind == RS_DECLARATION_VARIABLE)
            rs_read_initializer(reader, declaration);
    }
}

/* --- problems --- */

static void read_problem(rs_syntax_reader *reader, rs_syntax_problem *problem, CXDiagnostic from)
{
    CXFile file;
    unsigned line, column;
    clang_getExpansionLocation(clang_getDiagnosticLocation(from), &file, &line, &column, NULL);
    problem->is_error = clang_getDiagnosticSeverity(from) >= CXDiagnostic_Error;
    problem->message = rs_read_string(reader, clang_getDiagnosticSpelling(from));
    problem->path = file == NULL ? NULL : rs_read_string(reader, clang_getFileName(file));
    problem->line = line;
    problem->column = column;
}

static void read_problems(rs_syntax_reader *reader)
{
    rs_syntax *tree = reader->tree;
    const unsigned count = clang_getNumDiagnostics(reader->unit);
    const unsigned kept = count < PROBLEM_LIMIT ? count : PROBLEM_LIMIT;
    rs_syntax_problem *problems = rs_syntax_allocate(tree, kept * sizeof *problems);
    for (unsigned i = 0; problems != NULL && i < count; i++) {
        CXDiagnostic one = clang_getDiagnostic(reader->unit, i);
        const bool is_error = clang_getDiagnosticSeverity(one) >= CXDiagnostic_Error;
        tree->error_count += is_error;
        if ((is_error || clang_getDiagnosticSeverity(one) == CXDiagnostic_Warning) &&
            tree->problem_count < kept)
            read_problem(reader, &problems[tree->problem_count++], one);
        clang_disposeDiagnostic(one);
    }
    tree->problems = problems;
}

/* --- parsing --- */

static restride_status parse(rs_syntax_reader *reader, const rs_invocation *how)
{
    /* libclang has no word for the attribute __kernel; the annotation beside it has one. */
    static const char *const marks[] = {
        "-D__kernel=__attribute__((annotate(\"" RS_KERNEL_MARK "\"))) __kernel",
        "-Dkernel=__attribute__((annotate(\"" RS_KERNEL_MARK "\"))) kernel"};
    const size_t mark_count = how->language == RS_SYNTAX_OPENCL ? 2 : 0;
    const char **arguments = calloc(how->argument_count + 3, sizeof *arguments);
    struct CXUnsavedFile *files = calloc(how->file_count + 1, sizeof *files);
    enum CXErrorCode code = CXError_Failure;
    if (arguments != NULL && files != NULL) {
        memcpy(arguments, marks, mark_count * sizeof *arguments);
        for (size_t i = 0; i < how->argument_count; i++)
            arguments[mark_count + i] = how->arguments[i];
        for (size_t i = 0; i < how->file_count; i++)
            files[i] = (struct CXUnsavedFile){how->files[i].path, how->files[i].text,
                                              (unsigned long)how->files[i].size};
        code = clang_parseTranslationUnit2(
            reader->index, how->path, arguments, (int)(mark_count + how->argument_count), files,
            (unsigned)how->file_count, CXTranslationUnit_KeepGoing, &reader->unit);
    }
    const bool has_memory = arguments != NULL && files != NULL;
    free(arguments);
    free(files);
    if (!has_memory)
        return rs_fail_memory("a source's arguments");
    if (code != CXError_Success || reader->unit == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED, "clang cannot parse %s (code %d)", how->path,
                       (int)code);
    return RESTRIDE_OK;
}

static rs_syntax *start(const rs_invocation *how)
{
    rs_syntax *tree = calloc(1, sizeof *tree);
    rs_syntax_reader *reader = calloc(1, sizeof *reader);
    if (tree == NULL || reader == NULL) {
        free(tree);
        free(reader);
        return NULL;
    }
    tree->reader = reader;
    tree->language = how->language;
    reader->tree = tree;
    reader->toolkit = rs_syntax_copy(tree, how->toolkit);
    reader->virtual_paths =
        rs_syntax_allocate(tree, how->file_count * sizeof reader->virtual_paths[0]);
    for (size_t i = 0; reader->virtual_paths != NULL && i < how->file_count; i++)
        if (strcmp(how->files[i].path, how->path) != 0)
            reader->virtual_paths[reader->virtual_count++] =
                rs_syntax_copy(tree, how->files[i].path);
    reader->is_cplusplus = how->language == RS_SYNTAX_CUDA;
    reader->index = clang_createIndex(0, 0);
    return tree;
}

restride_status rs_syntax_read(rs_syntax **tree, const rs_invocation *how)
{
    rs_syntax *read = *tree = NULL;
    read = start(how);
    if (read == NULL || read->out_of_memory) {
        rs_syntax_free(read);
        return rs_fail_memory("a syntax tree");
    }
    const restride_status status = parse(read->reader, how);
    if (status != RESTRIDE_OK) {
        rs_syntax_free(read);
        return status;
    }
    read_problems(read->reader);
    clang_visitChildren(clang_getTranslationUnitCursor(read->reader->unit), visit_top,
                        read->reader);
    read_listed(read->reader);
    if (read->out_of_memory) {
        rs_syntax_free(read);
        return rs_fail_memory("a syntax tree");
    }
    *tree = read;
    return RESTRIDE_OK;
}

const rs_syntax_node *rs_syntax_body(rs_syntax *tree, const rs_syntax_declaration *function)
{
    if (function == NULL || function->kind != RS_DECLARATION_FUNCTION)
        return NULL;
    rs_syntax_declaration *own = NULL;
    const CXCursor source = tree->reader->sources[function->source];
    own = rs_read_declaration(tree->reader, source);
    if (own != NULL)
        rs_read_body(tree->reader, own);
    return tree->out_of_memory || own == NULL ? NULL : own->body;
}

void rs_syntax_free(rs_syntax *tree)
{
    if (tree == NULL)
        return;
    rs_syntax_reader *reader = tree->reader;
    if (reader->unit != NULL && !reader->is_borrowed)
        clang_disposeTranslationUnit(reader->unit);
    clang_disposeIndex(reader->index);
    free(reader->clang_files);
    free(reader->declared);
    free(reader->sources);
    rs_map_free(&reader->types);
    free(reader);
    free((void *)tree->files);
    free((void *)tree->declarations);
    rs_syntax_free_chunks(tree);
    free(tree);
}
