/* Declarations, each once by its canonical cursor: functions, variables, parameters. */
#include "syntax/clang/reader.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    enum CXCursorKind clang;
    rs_syntax_declaration_kind kind;
} kinds[] = {
    {CXCursor_FunctionDecl, RS_DECLARATION_FUNCTION},
    {CXCursor_CXXMethod, RS_DECLARATION_FUNCTION},
    {CXCursor_Constructor, RS_DECLARATION_FUNCTION},
    {CXCursor_Destructor, RS_DECLARATION_FUNCTION},
    {CXCursor_ConversionFunction, RS_DECLARATION_FUNCTION},
    {CXCursor_FunctionTemplate, RS_DECLARATION_TEMPLATE},
    {CXCursor_VarDecl, RS_DECLARATION_VARIABLE},
    {CXCursor_ParmDecl, RS_DECLARATION_PARAMETER},
    {CXCursor_FieldDecl, RS_DECLARATION_FIELD},
    {CXCursor_StructDecl, RS_DECLARATION_RECORD},
    {CXCursor_ClassDecl, RS_DECLARATION_RECORD},
    {CXCursor_UnionDecl, RS_DECLARATION_RECORD},
    {CXCursor_ClassTemplatePartialSpecialization, RS_DECLARATION_RECORD},
    {CXCursor_EnumDecl, RS_DECLARATION_ENUM},
    {CXCursor_EnumConstantDecl, RS_DECLARATION_ENUMERATOR},
    {CXCursor_LabelStmt, RS_DECLARATION_LABEL},
};

static bool find_kind(CXCursor cursor, rs_syntax_declaration_kind *kind)
{
    const enum CXCursorKind clang = clang_getCursorKind(cursor);
    /* An instance of a template of variables has a storage class, other nameless kinds have none.
     */
    if (clang == CXCursor_UnexposedDecl && clang_Cursor_getStorageClass(cursor) != CX_SC_Invalid) {
        *kind = RS_DECLARATION_VARIABLE;
        return true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].clang == clang) {
            *kind = kinds[i].kind;
            return true;
        }
    return false;
}

static rs_declared_entry *find_entry(rs_syntax_reader *reader, CXCursor cursor)
{
    const size_t mask = reader->declared_capacity - 1;
    size_t at = (clang_hashCursor(cursor) * 0x9E3779B1u) & mask;
    while (reader->declared[at].declaration != NULL &&
           clang_equalCursors(reader->declared[at].cursor, cursor) == 0)
        at = (at + 1) & mask;
    return &reader->declared[at];
}

static bool make_room(rs_syntax_reader *reader)
{
    if (2 * (reader->declared_count + 1) <= reader->declared_capacity)
        return true;
    rs_declared_entry *old = reader->declared;
    const size_t count = reader->declared_capacity;
    const size_t wanted = count == 0 ? 1024 : 2 * count;
    rs_declared_entry *grown = calloc(wanted, sizeof *grown);
    if (grown == NULL) {
        reader->tree->out_of_memory = true;
        return false;
    }
    reader->declared = grown;
    reader->declared_capacity = wanted;
    for (size_t i = 0; i < count; i++)
        if (old[i].declaration != NULL)
            *find_entry(reader, old[i].cursor) = old[i];
    free(old);
    return true;
}

bool rs_list_declaration(rs_syntax_reader *reader, rs_syntax_declaration *declaration)
{
    rs_syntax *tree = reader->tree;
    if (!rs_syntax_check(tree, RS_LIST_GROW(tree->declarations, tree->declaration_count)))
        return false;
    tree->declarations[tree->declaration_count++] = declaration;
    return true;
}

/* --- names --- */

/* "<float, 3>", nothing for what is no instance. */
static void add_arguments(rs_text *text, CXCursor cursor)
{
    const int count = clang_Cursor_getNumTemplateArguments(cursor);
    for (int i = 0; i < count; i++) {
        const unsigned which = (unsigned)i;
        rs_text_add_string(text, i == 0 ? "<" : ", ");
        switch (clang_Cursor_getTemplateArgumentKind(cursor, which)) {
        case CXTemplateArgumentKind_Type: {
            CXString type = clang_getTypeSpelling(
                clang_getCanonicalType(clang_Cursor_getTemplateArgumentType(cursor, which)));
            rs_text_add_string(text, clang_getCString(type));
            clang_disposeString(type);
            break;
        }
        case CXTemplateArgumentKind_Integral:
            rs_text_format(text, "%lld", clang_Cursor_getTemplateArgumentValue(cursor, which));
            break;
        default:
            rs_text_add_string(text, "...");
        }
    }
    if (count > 0)
        rs_text_add_string(text, ">");
}

/* "sim::" before a name. */
static void add_scope(rs_text *text, CXCursor cursor)
{
    CXCursor scope = clang_getCursorSemanticParent(cursor);
    const enum CXCursorKind kind = clang_getCursorKind(scope);
    if (kind != CXCursor_Namespace && kind != CXCursor_StructDecl && kind != CXCursor_ClassDecl &&
        kind != CXCursor_UnionDecl && kind != CXCursor_ClassTemplate && kind != CXCursor_EnumDecl)
        return;
    if (kind == CXCursor_Namespace || kind == CXCursor_ClassTemplate) {
        add_scope(text, scope);
        CXString name = clang_getCursorSpelling(scope);
        rs_text_add_string(text, clang_getCString(name));
        clang_disposeString(name);
    } else {
        CXString name = clang_getTypeSpelling(clang_getCursorType(scope));
        rs_text_add_string(text, clang_getCString(name));
        clang_disposeString(name);
    }
    rs_text_add_string(text, "::");
}

static const char *read_qualified(rs_syntax_reader *reader, const rs_syntax_declaration *of,
                                  CXCursor cursor)
{
    rs_text text = RS_TEXT_EMPTY;
    if (of->kind == RS_DECLARATION_PARAMETER || of->kind == RS_DECLARATION_FIELD)
        return of->name;
    if (of->kind == RS_DECLARATION_RECORD || of->kind == RS_DECLARATION_ENUM) {
        CXString name = clang_getTypeSpelling(clang_getCursorType(cursor));
        rs_text_add_string(&text, clang_getCString(name));
        clang_disposeString(name);
    } else {
        add_scope(&text, cursor);
        rs_text_add_string(&text, of->name);
        add_arguments(&text, cursor);
    }
    const char *qualified = text.failed ? NULL : rs_syntax_copy(reader->tree, text.data);
    reader->tree->out_of_memory |= text.failed;
    rs_text_free(&text);
    return qualified == NULL ? of->name : qualified;
}

/* --- attributes --- */

static enum CXChildVisitResult visit_attribute(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    rs_syntax_declaration *of = data;
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_CUDAGlobalAttr:
        of->is_kernel = true;
        break;
    case CXCursor_CUDADeviceAttr:
        of->is_device = true;
        if (of->space == RS_SYNTAX_SPACE_ANY)
            of->space = RS_SYNTAX_SPACE_GLOBAL;
        break;
    case CXCursor_CUDAHostAttr:
        of->is_host = true;
        break;
    case CXCursor_CUDASharedAttr:
        of->space = RS_SYNTAX_SPACE_SHARED;
        break;
    case CXCursor_CUDAConstantAttr:
        of->space = RS_SYNTAX_SPACE_CONSTANT;
        break;
    case CXCursor_AnnotateAttr: {
        CXString word = clang_getCursorSpelling(cursor);
        of->is_kernel |= strcmp(clang_getCString(word), RS_KERNEL_MARK) == 0;
        clang_disposeString(word);
        break;
    }
    default:
        break;
    }
    return CXChildVisit_Continue;
}

/* --- kinds --- */

/* Clang leaves an instance's parameters where its template was declared first; the text of the
 * function has those of its definition. */
static void place_parameters(rs_syntax_reader *reader, const rs_syntax_declaration *of,
                             rs_syntax_declaration *const *parameters, CXCursor shown)
{
    const CXCursor definition =
        clang_getCursorDefinition(clang_getSpecializedCursorTemplate(shown));
    if (!of->is_instance || clang_Cursor_isNull(definition) != 0)
        return;
    rs_cursors below = rs_cursors_all(reader, definition);
    size_t count = 0, at = 0;
    for (size_t i = 0; i < below.count; i++)
        count += clang_getCursorKind(below.at[i]) == CXCursor_ParmDecl;
    for (size_t i = 0; count == of->parameter_count && i < below.count; i++) {
        if (clang_getCursorKind(below.at[i]) != CXCursor_ParmDecl || parameters[at]->is_system)
            continue;
        parameters[at]->range = rs_read_range(reader, clang_getCursorExtent(below.at[i]));
        parameters[at++]->name_range =
            rs_read_range(reader, clang_Cursor_getSpellingNameRange(below.at[i], 0, 0));
    }
    rs_cursors_free(&below);
}

static void read_function(rs_syntax_reader *reader, rs_syntax_declaration *of, CXCursor first,
                          CXCursor definition)
{
    const enum CXCursorKind kind = clang_getCursorKind(first);
    const CXCursor shown = of->is_defined ? definition : first;
    clang_visitChildren(first, visit_attribute, of);
    if (clang_equalCursors(first, shown) == 0)
        clang_visitChildren(shown, visit_attribute, of);
    if (!of->is_kernel && !of->is_device)
        of->is_host = true;
    if (reader->tree->language == RS_SYNTAX_OPENCL) {
        of->is_device = !of->is_kernel;
        of->is_host = false;
    }
    of->space = RS_SYNTAX_SPACE_ANY;
    if (of->is_kernel && reader->tree->language == RS_SYNTAX_CUDA)
        of->mangled = rs_read_string(reader, clang_Cursor_getMangling(first));
    of->is_constructor = kind == CXCursor_Constructor;
    of->is_destructor = kind == CXCursor_Destructor;
    of->is_conversion = kind == CXCursor_ConversionFunction;
    of->is_method = kind != CXCursor_FunctionDecl;
    of->is_instance = clang_Cursor_isNull(clang_getSpecializedCursorTemplate(first)) == 0;
    if (of->is_method) {
        of->is_static = clang_CXXMethod_isStatic(first) != 0;
        of->is_virtual = clang_CXXMethod_isVirtual(first) != 0;
        of->is_implicit = clang_CXXMethod_isDefaulted(first) != 0;
    } else {
        of->is_static = clang_Cursor_getStorageClass(first) == CX_SC_Static;
    }
    const int count = clang_Cursor_getNumArguments(shown);
    if (count <= 0)
        return;
    rs_syntax_declaration **parameters =
        rs_syntax_allocate(reader->tree, (size_t)count * sizeof *parameters);
    if (parameters == NULL)
        return;
    of->parameters = (const rs_syntax_declaration *const *)parameters;
    for (int i = 0; i < count; i++) {
        rs_syntax_declaration *parameter =
            rs_read_declaration(reader, clang_Cursor_getArgument(shown, (unsigned)i));
        if (parameter == NULL)
            return;
        parameter->parent = of;
        parameters[of->parameter_count++] = parameter;
    }
    place_parameters(reader, of, parameters, shown);
}

/* What all kinds have. */
static void read_common(rs_syntax_reader *reader, rs_syntax_declaration *of, CXCursor shown)
{
    of->name = rs_read_string(reader, clang_getCursorSpelling(shown));
    if (strstr(of->name, "(anonymous ") != NULL || strstr(of->name, "(unnamed ") != NULL)
        of->name = ""; /* which is where it stands */
    of->is_system = rs_is_system(reader, clang_getCursorLocation(shown));
    of->range.file = of->name_range.file = RS_NO_FILE;
    if (!of->is_system && !reader->is_borrowed) {
        of->range = rs_read_range(reader, clang_getCursorExtent(shown));
        of->name_range = rs_read_range(reader, clang_Cursor_getSpellingNameRange(shown, 0, 0));
    }
    of->qualified = read_qualified(reader, of, shown);
}

static void read_kind(rs_syntax_reader *reader, rs_syntax_declaration *of, CXCursor first,
                      CXCursor definition)
{
    const CXType type = clang_getCursorType(first);
    if (of->kind != RS_DECLARATION_LABEL && of->kind != RS_DECLARATION_TEMPLATE)
        of->type = rs_read_type(reader, type);
    switch (of->kind) {
    case RS_DECLARATION_FUNCTION:
        read_function(reader, of, first, definition);
        break;
    case RS_DECLARATION_TEMPLATE:
        clang_visitChildren(first, visit_attribute, of);
        break;
    case RS_DECLARATION_VARIABLE:
        if (of->type != NULL)
            of->space = of->type->space;
        clang_visitChildren(first, visit_attribute, of);
        of->is_device = of->is_host = false;
        of->is_static = clang_Cursor_getStorageClass(first) == CX_SC_Static;
        of->is_extern = clang_Cursor_getStorageClass(first) == CX_SC_Extern;
        break;
    case RS_DECLARATION_RECORD:
        rs_read_record(reader, of, type, of->is_defined ? definition : first);
        break;
    case RS_DECLARATION_ENUMERATOR:
        of->value.kind = RS_CONSTANT_INTEGER;
        of->value.integer = clang_getEnumConstantDeclValue(first);
        break;
    case RS_DECLARATION_FIELD:
        of->bit_offset = clang_Cursor_getOffsetOfField(first);
        of->is_bitfield = clang_Cursor_isBitField(first) != 0;
        of->bit_width = of->is_bitfield ? clang_getFieldDeclBitWidth(first) : 0;
        if (of->bit_offset < 0)
            of->bit_offset = -1;
        break;
    default:
        break;
    }
}

static bool keep_source(rs_syntax_reader *reader, rs_syntax_declaration *of, CXCursor cursor)
{
    if (!rs_syntax_check(reader->tree, RS_LIST_GROW(reader->sources, reader->source_count)))
        return false;
    of->source = reader->source_count;
    reader->sources[reader->source_count++] = cursor;
    return true;
}

rs_syntax_declaration *rs_read_declaration(rs_syntax_reader *reader, CXCursor cursor)
{
    rs_syntax_declaration_kind kind;
    if (!find_kind(cursor, &kind)) {
        if (!reader->is_borrowed || clang_isDeclaration(clang_getCursorKind(cursor)) == 0)
            return NULL;
        kind = clang_getCursorKind(cursor) == CXCursor_UnexposedDecl ? RS_DECLARATION_UNKNOWN
                                                                     : RS_DECLARATION_OTHER;
    }
    const CXCursor first =
        kind == RS_DECLARATION_PARAMETER ? cursor : clang_getCanonicalCursor(cursor);
    if (reader->declared_capacity != 0) {
        const rs_declared_entry *found = find_entry(reader, first);
        if (found->declaration != NULL)
            return found->declaration;
    }
    const CXCursor definition = clang_getCursorDefinition(cursor);
    const bool is_defined = clang_Cursor_isNull(definition) == 0;
    rs_syntax_declaration *added = rs_syntax_allocate(reader->tree, sizeof *added);
    if (added == NULL || !make_room(reader) ||
        !keep_source(reader, added, is_defined ? definition : first))
        return NULL;
    *find_entry(reader, first) = (rs_declared_entry){first, added};
    reader->declared_count++;
    added->kind = kind;
    added->is_defined = is_defined;
    added->parent =
        kind == RS_DECLARATION_VARIABLE || kind == RS_DECLARATION_LABEL ? reader->function : NULL;
    read_common(reader, added, is_defined ? definition : first);
    read_kind(reader, added, first, definition);
    added->is_defined &= !added->is_implicit; /* its text would be the class's name */
    if (reader->is_borrowed)
        rs_describe_declaration(reader, added, is_defined ? definition : first);
    else if (kind == RS_DECLARATION_FUNCTION && added->is_defined && !added->is_system)
        rs_list_declaration(reader, added);
    return added;
}

/* --- bodies and initializers --- */

void rs_read_initializer(rs_syntax_reader *reader, rs_syntax_declaration *variable)
{
    if (variable->initializer != NULL)
        return;
    const CXCursor source = reader->sources[variable->source];
    const bool is_reference = variable->type != NULL && variable->type->kind == RS_TYPE_REFERENCE;
    CXCursor value = clang_getNullCursor();
    if (variable->kind == RS_DECLARATION_VARIABLE) {
        value = clang_Cursor_getVarDeclInitializer(source);
    } else { /* behind the words for its type */
        rs_cursors below = rs_cursors_below(reader, source);
        if (below.count > 0 && clang_isExpression(below.at[below.count - 1].kind))
            value = below.at[below.count - 1];
        rs_cursors_free(&below);
    }
    if (clang_Cursor_isNull(value) == 0)
        variable->initializer = rs_read_expression(reader, value, is_reference);
}

/* `member(value)` and `base(value)` before the body of a constructor, as assignments. */
static size_t read_members(rs_syntax_reader *reader, const rs_cursors *below,
                           rs_syntax_node **statements)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < below->count; i++) {
        if (clang_getCursorKind(below->at[i]) != CXCursor_MemberRef ||
            clang_isExpression(clang_getCursorKind(below->at[i + 1])) == 0)
            continue;
        rs_syntax_declaration *field =
            rs_read_declaration(reader, clang_getCursorReferenced(below->at[i]));
        rs_syntax_node *node = rs_new_node(reader, RS_NODE_DESIGNATED, below->at[i + 1]);
        rs_syntax_node *value = rs_read_expression(reader, below->at[i + 1], true);
        if (node == NULL || !rs_set_children(reader, node, &value, 1))
            return count;
        node->declaration = field;
        statements[count++] = node;
    }
    return count;
}

void rs_read_body(rs_syntax_reader *reader, rs_syntax_declaration *function)
{
    if (function->body != NULL || !function->is_defined)
        return;
    const rs_syntax_declaration *outer = reader->function;
    reader->function = function;
    rs_cursors below = rs_cursors_all(reader, reader->sources[function->source]);
    rs_syntax_node **statements = calloc(below.count + 1, sizeof *statements);
    reader->tree->out_of_memory |= statements == NULL;
    if (statements != NULL && below.count > 0) {
        const CXCursor last = below.at[below.count - 1];
        size_t count = function->is_constructor ? read_members(reader, &below, statements) : 0;
        rs_syntax_node *body = NULL;
        if (clang_getCursorKind(last) == CXCursor_CompoundStmt)
            body = rs_read_statement(reader, last);
        if (body != NULL && count > 0) {
            statements[count++] = body;
            body = rs_new_node(reader, RS_NODE_COMPOUND, last);
            if (body != NULL && rs_set_children(reader, body, statements, count))
                body->range.begin = statements[0]->range.begin;
        }
        function->body = body;
    }
    free(statements);
    rs_cursors_free(&below);
    reader->function = outer;
}
