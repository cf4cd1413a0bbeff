/* See describe.h. */
#include "syntax/clang/describe.h"

#include "syntax/clang/reader.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    enum CXCursorKind clang;
    int kind;
} kinds[] = {
    {CXCursor_CompoundStmt, RS_NODE_COMPOUND},
    {CXCursor_DeclStmt, RS_NODE_DECLARE},
    {CXCursor_VarDecl, RS_NODE_VARIABLE},
    {CXCursor_IfStmt, RS_NODE_IF},
    {CXCursor_ForStmt, RS_NODE_FOR},
    {CXCursor_CXXForRangeStmt, RS_NODE_RANGE_FOR},
    {CXCursor_WhileStmt, RS_NODE_WHILE},
    {CXCursor_DoStmt, RS_NODE_DO},
    {CXCursor_SwitchStmt, RS_NODE_SWITCH},
    {CXCursor_CaseStmt, RS_NODE_CASE},
    {CXCursor_DefaultStmt, RS_NODE_DEFAULT},
    {CXCursor_LabelStmt, RS_NODE_LABEL},
    {CXCursor_GotoStmt, RS_NODE_GOTO},
    {CXCursor_IndirectGotoStmt, RS_NODE_INDIRECT_GOTO},
    {CXCursor_BreakStmt, RS_NODE_BREAK},
    {CXCursor_ContinueStmt, RS_NODE_CONTINUE},
    {CXCursor_ReturnStmt, RS_NODE_RETURN},
    {CXCursor_NullStmt, RS_NODE_EMPTY},
    {CXCursor_GCCAsmStmt, RS_NODE_ASM},
    {CXCursor_MSAsmStmt, RS_NODE_ASM},
    {CXCursor_UnexposedStmt, RS_NODE_ATTRIBUTED},
    {CXCursor_DeclRefExpr, RS_NODE_REFERENCE},
    {CXCursor_CXXThisExpr, RS_NODE_THIS},
    {CXCursor_MemberRefExpr, RS_NODE_MEMBER},
    {CXCursor_ArraySubscriptExpr, RS_NODE_SUBSCRIPT},
    {CXCursor_CallExpr, RS_NODE_CALL},
    {CXCursor_InitListExpr, RS_NODE_LIST},
    {CXCursor_ParenExpr, RS_NODE_PAREN},
    {CXCursor_UnaryOperator, RS_NODE_UNARY},
    {CXCursor_BinaryOperator, RS_NODE_BINARY},
    {CXCursor_CompoundAssignOperator, RS_NODE_ASSIGN},
    {CXCursor_ConditionalOperator, RS_NODE_CONDITIONAL},
    {CXCursor_CStyleCastExpr, RS_NODE_CAST},
    {CXCursor_UnexposedExpr, RS_NODE_IMPLICIT},
    {CXCursor_UnaryExpr, RS_NODE_SIZEOF},
    {CXCursor_LambdaExpr, RS_NODE_LAMBDA},
    {CXCursor_BlockExpr, RS_NODE_BLOCK},
    {CXCursor_StmtExpr, RS_NODE_STATEMENTS},
    {CXCursor_CXXNewExpr, RS_NODE_NEW},
    {CXCursor_CXXDeleteExpr, RS_NODE_DELETE},
    {CXCursor_TranslationUnit, RS_NODE_SOURCE},
    {CXCursor_Namespace, RS_NODE_NAMESPACE},
    {CXCursor_FunctionDecl, RS_NODE_FUNCTION},
    {CXCursor_FunctionTemplate, RS_NODE_TEMPLATE},
    {CXCursor_CXXMethod, RS_NODE_METHOD},
    {CXCursor_ConversionFunction, RS_NODE_CONVERSION},
    {CXCursor_Constructor, RS_NODE_CONSTRUCTOR},
    {CXCursor_Destructor, RS_NODE_DESTRUCTOR},
    {CXCursor_ParmDecl, RS_NODE_PARAMETER},
    {CXCursor_FieldDecl, RS_NODE_FIELD},
    {CXCursor_StructDecl, RS_NODE_STRUCT},
    {CXCursor_ClassDecl, RS_NODE_CLASS},
    {CXCursor_UnionDecl, RS_NODE_UNION},
    {CXCursor_EnumDecl, RS_NODE_ENUM},
    {CXCursor_EnumConstantDecl, RS_NODE_ENUMERATOR},
    {CXCursor_TypedefDecl, RS_NODE_TYPEDEF},
    {CXCursor_TemplateTypeParameter, RS_NODE_TYPE_PARAMETER},
    {CXCursor_NonTypeTemplateParameter, RS_NODE_VALUE_PARAMETER},
    {CXCursor_UnexposedDecl, RS_NODE_UNKNOWN_DECLARATION},
    {CXCursor_IntegerLiteral, RS_NODE_INTEGER},
    {CXCursor_FloatingLiteral, RS_NODE_FLOATING},
    {CXCursor_CharacterLiteral, RS_NODE_CHARACTER},
    {CXCursor_StringLiteral, RS_NODE_STRING},
    {CXCursor_CXXBoolLiteralExpr, RS_NODE_TRUTH_VALUE},
    {CXCursor_CXXNullPtrLiteralExpr, RS_NODE_NULL_POINTER},
    {CXCursor_GNUNullExpr, RS_NODE_NULL_POINTER},
    {CXCursor_CompoundLiteralExpr, RS_NODE_COMPOUND_LITERAL},
    {CXCursor_CXXStaticCastExpr, RS_NODE_STATIC_CAST},
    {CXCursor_CXXReinterpretCastExpr, RS_NODE_REINTERPRET_CAST},
    {CXCursor_CXXConstCastExpr, RS_NODE_CONST_CAST},
    {CXCursor_CXXFunctionalCastExpr, RS_NODE_FUNCTIONAL_CAST},
    {CXCursor_CXXBaseSpecifier, RS_NODE_BASE},
    {CXCursor_TypeRef, RS_NODE_TYPE_NAME},
    {CXCursor_TemplateRef, RS_NODE_TEMPLATE_NAME},
    {CXCursor_NamespaceRef, RS_NODE_NAMESPACE_NAME},
    {CXCursor_MemberRef, RS_NODE_MEMBER_NAME},
    {CXCursor_VariableRef, RS_NODE_VARIABLE_NAME},
    {CXCursor_LabelRef, RS_NODE_LABEL_NAME},
    {CXCursor_CUDAGlobalAttr, RS_NODE_KERNEL_ATTRIBUTE},
    {CXCursor_CUDADeviceAttr, RS_NODE_DEVICE_ATTRIBUTE},
    {CXCursor_CUDAHostAttr, RS_NODE_HOST_ATTRIBUTE},
    {CXCursor_CUDASharedAttr, RS_NODE_SHARED_ATTRIBUTE},
    {CXCursor_CUDAConstantAttr, RS_NODE_CONSTANT_ATTRIBUTE},
};

int rs_cursor_kind(enum CXCursorKind kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].clang == kind)
            return kinds[i].kind;
    return RS_NODE_UNKNOWN;
}

rs_node_group rs_cursor_group(enum CXCursorKind kind)
{
    return clang_isExpression(kind) != 0    ? RS_NODES_EXPRESS
           : clang_isStatement(kind) != 0   ? RS_NODES_STATE
           : clang_isReference(kind) != 0   ? RS_NODES_NAME
           : clang_isAttribute(kind) != 0   ? RS_NODES_ATTRIBUTE
           : clang_isDeclaration(kind) != 0 ? RS_NODES_DECLARE
                                            : RS_NODES_REST;
}

rs_syntax *rs_syntax_describe(CXTranslationUnit unit, rs_syntax_language language)
{
    rs_syntax *tree = calloc(1, sizeof *tree);
    rs_syntax_reader *reader = calloc(1, sizeof *reader);
    if (tree == NULL || reader == NULL) {
        free(tree);
        free(reader);
        return NULL;
    }
    *tree = (rs_syntax){.language = language, .reader = reader};
    reader->tree = tree;
    reader->unit = unit;
    reader->is_borrowed = true;
    reader->is_cplusplus = language == RS_SYNTAX_CUDA;
    return tree;
}

rs_described rs_cursor_describe(rs_syntax *tree, CXCursor cursor)
{
    rs_syntax_reader *reader = tree->reader;
    const rs_syntax_type *type = rs_read_type(reader, clang_getCursorType(cursor));
    const CXCursor referenced = clang_getCursorReferenced(cursor);
    const rs_syntax_declaration *declaration =
        clang_Cursor_isNull(referenced) != 0 ? NULL : rs_read_declaration(reader, referenced);
    if (declaration == NULL)
        declaration = &rs_declared_none;
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *name = clang_getCString(spelling);
    const bool is_known = name != NULL && strcmp(name, declaration->name) == 0;
    const char *kept = is_known ? declaration->name : rs_syntax_copy(tree, name);
    clang_disposeString(spelling);
    return (rs_described){kept == NULL ? "" : kept, type == NULL ? &rs_type_none : type,
                          declaration};
}

/* Of a larger unsigned number: its bits. */
static bool evaluate(CXCursor cursor, int64_t *value, bool *is_large)
{
    CXEvalResult result = clang_Cursor_Evaluate(cursor);
    if (result == NULL)
        return false;
    const bool is_integer = clang_EvalResult_getKind(result) == CXEval_Int;
    *value = is_integer ? clang_EvalResult_getAsLongLong(result) : 0;
    *is_large = is_integer && clang_EvalResult_isUnsignedInt(result) != 0 &&
                clang_EvalResult_getAsUnsigned(result) > INT64_MAX;
    clang_EvalResult_dispose(result);
    return is_integer;
}

bool rs_cursor_evaluate(CXCursor cursor, int64_t *value)
{
    bool is_large;
    return evaluate(cursor, value, &is_large) && !is_large;
}

bool rs_cursor_evaluate_bits(CXCursor cursor, long long *value)
{
    bool is_large;
    int64_t bits;
    const bool is_known = evaluate(cursor, &bits, &is_large);
    if (is_known)
        *value = bits;
    return is_known;
}

static enum CXChildVisitResult visit_attribute(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_CXXFinalAttr)
        *(bool *)data = true;
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_destructor(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_Destructor &&
        clang_CXXMethod_isDefaulted(cursor) == 0)
        *(bool *)data = true;
    return CXChildVisit_Continue;
}

static void describe_record(rs_syntax_declaration *of, CXCursor cursor)
{
    const CXCursor pattern = clang_getSpecializedCursorTemplate(cursor);
    of->is_anonymous = clang_Cursor_isAnonymous(cursor) != 0;
    clang_visitChildren(cursor, visit_attribute, &of->is_final);
    clang_visitChildren(cursor, visit_destructor, &of->has_destructor);
    /* Of an instance libclang shows methods in the template alone. */
    if (clang_Cursor_isNull(pattern) == 0)
        clang_visitChildren(pattern, visit_destructor, &of->has_destructor);
}

/* An array's extent is none of its values. */
static enum CXChildVisitResult visit_default(CXCursor cursor, CXCursor parent, CXClientData data)
{
    rs_syntax_declaration *field = data;
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    const bool is_array = field->type != NULL && field->type->kind == RS_TYPE_ARRAY;
    (void)parent;
    field->is_initialized |= clang_isExpression(kind) != 0 && kind != CXCursor_IntegerLiteral &&
                             kind != CXCursor_FloatingLiteral &&
                             !(is_array && kind != CXCursor_InitListExpr);
    return CXChildVisit_Continue;
}

static void describe_method(rs_syntax_declaration *of, CXCursor cursor, CXCursor parent)
{
    const CXSourceLocation place = clang_getCursorLocation(cursor);
    clang_visitChildren(cursor, visit_attribute, &of->is_final);
    of->is_const = clang_CXXMethod_isConst(cursor) != 0;
    of->is_copying = clang_CXXConstructor_isCopyConstructor(cursor) != 0 ||
                     clang_CXXConstructor_isMoveConstructor(cursor) != 0;
    of->is_written = clang_CXXMethod_isDefaulted(cursor) == 0 &&
                     clang_equalLocations(place, clang_getCursorLocation(parent)) == 0;
}

static void describe_variable(rs_syntax_declaration *of, CXCursor cursor)
{
    int64_t value;
    bool is_large;
    of->is_register = clang_Cursor_getStorageClass(cursor) == CX_SC_Register;
    of->is_initialized = clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(cursor)) == 0;
    if (of->kind == RS_DECLARATION_VARIABLE && of->type != NULL && of->type->is_const &&
        evaluate(cursor, &value, &is_large)) {
        of->value.kind = RS_CONSTANT_INTEGER;
        of->value.integer = value;
    }
}

void rs_describe_declaration(rs_syntax_reader *reader, rs_syntax_declaration *of, CXCursor cursor)
{
    const CXSourceLocation place = clang_getCursorLocation(cursor);
    const CXCursor parent = clang_getCursorSemanticParent(cursor);
    const enum CXCursorKind around = clang_getCursorKind(parent);
    unsigned offset;
    clang_getFileLocation(place, NULL, NULL, NULL, &offset);
    of->place = offset;
    of->is_main = clang_Location_isFromMainFile(place) != 0;
    of->is_global = around == CXCursor_TranslationUnit || around == CXCursor_Namespace;
    of->is_invalid = clang_isInvalidDeclaration(cursor) != 0;
    if (of->parent == NULL && !of->is_global)
        of->parent = rs_read_declaration(reader, parent);
    if (of->type == NULL)
        of->type = rs_read_type(reader, clang_getCursorType(cursor));
    of->written_type = "";
    if (of->kind == RS_DECLARATION_FIELD || of->kind == RS_DECLARATION_PARAMETER)
        of->written_type =
            rs_read_string(reader, clang_getTypeSpelling(clang_getCursorType(cursor)));
    if (of->kind == RS_DECLARATION_RECORD)
        describe_record(of, cursor);
    if (of->kind == RS_DECLARATION_FIELD)
        clang_visitChildren(cursor, visit_default, of);
    if (of->kind == RS_DECLARATION_FUNCTION && of->is_method)
        describe_method(of, cursor, parent);
    if (of->kind == RS_DECLARATION_VARIABLE || of->kind == RS_DECLARATION_PARAMETER)
        describe_variable(of, cursor);
}
