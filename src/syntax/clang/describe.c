/* See describe.h. */
#include "syntax/clang/describe.h"

#include "syntax/clang/reader.h"

#include <stdlib.h>
#include <string.h>

/* One more than the kind of a node; 0 for what has none of its own. */
static const short kinds[] = {
    [CXCursor_CompoundStmt] = RS_NODE_COMPOUND + 1,
    [CXCursor_DeclStmt] = RS_NODE_DECLARE + 1,
    [CXCursor_VarDecl] = RS_NODE_VARIABLE + 1,
    [CXCursor_IfStmt] = RS_NODE_IF + 1,
    [CXCursor_ForStmt] = RS_NODE_FOR + 1,
    [CXCursor_CXXForRangeStmt] = RS_NODE_RANGE_FOR + 1,
    [CXCursor_WhileStmt] = RS_NODE_WHILE + 1,
    [CXCursor_DoStmt] = RS_NODE_DO + 1,
    [CXCursor_SwitchStmt] = RS_NODE_SWITCH + 1,
    [CXCursor_CaseStmt] = RS_NODE_CASE + 1,
    [CXCursor_DefaultStmt] = RS_NODE_DEFAULT + 1,
    [CXCursor_LabelStmt] = RS_NODE_LABEL + 1,
    [CXCursor_GotoStmt] = RS_NODE_GOTO + 1,
    [CXCursor_IndirectGotoStmt] = RS_NODE_INDIRECT_GOTO + 1,
    [CXCursor_BreakStmt] = RS_NODE_BREAK + 1,
    [CXCursor_ContinueStmt] = RS_NODE_CONTINUE + 1,
    [CXCursor_ReturnStmt] = RS_NODE_RETURN + 1,
    [CXCursor_NullStmt] = RS_NODE_EMPTY + 1,
    [CXCursor_GCCAsmStmt] = RS_NODE_ASM + 1,
    [CXCursor_MSAsmStmt] = RS_NODE_ASM + 1,
    [CXCursor_UnexposedStmt] = RS_NODE_ATTRIBUTED + 1,
    [CXCursor_DeclRefExpr] = RS_NODE_REFERENCE + 1,
    [CXCursor_CXXThisExpr] = RS_NODE_THIS + 1,
    [CXCursor_MemberRefExpr] = RS_NODE_MEMBER + 1,
    [CXCursor_ArraySubscriptExpr] = RS_NODE_SUBSCRIPT + 1,
    [CXCursor_CallExpr] = RS_NODE_CALL + 1,
    [CXCursor_InitListExpr] = RS_NODE_LIST + 1,
    [CXCursor_ParenExpr] = RS_NODE_PAREN + 1,
    [CXCursor_UnaryOperator] = RS_NODE_UNARY + 1,
    [CXCursor_BinaryOperator] = RS_NODE_BINARY + 1,
    [CXCursor_CompoundAssignOperator] = RS_NODE_ASSIGN + 1,
    [CXCursor_ConditionalOperator] = RS_NODE_CONDITIONAL + 1,
    [CXCursor_CStyleCastExpr] = RS_NODE_CAST + 1,
    [CXCursor_UnexposedExpr] = RS_NODE_IMPLICIT + 1,
    [CXCursor_UnaryExpr] = RS_NODE_SIZEOF + 1,
    [CXCursor_LambdaExpr] = RS_NODE_LAMBDA + 1,
    [CXCursor_BlockExpr] = RS_NODE_BLOCK + 1,
    [CXCursor_StmtExpr] = RS_NODE_STATEMENTS + 1,
    [CXCursor_CXXNewExpr] = RS_NODE_NEW + 1,
    [CXCursor_CXXDeleteExpr] = RS_NODE_DELETE + 1,
    [CXCursor_TranslationUnit] = RS_NODE_SOURCE + 1,
    [CXCursor_Namespace] = RS_NODE_NAMESPACE + 1,
    [CXCursor_FunctionDecl] = RS_NODE_FUNCTION + 1,
    [CXCursor_FunctionTemplate] = RS_NODE_TEMPLATE + 1,
    [CXCursor_CXXMethod] = RS_NODE_METHOD + 1,
    [CXCursor_ConversionFunction] = RS_NODE_CONVERSION + 1,
    [CXCursor_Constructor] = RS_NODE_CONSTRUCTOR + 1,
    [CXCursor_Destructor] = RS_NODE_DESTRUCTOR + 1,
    [CXCursor_ParmDecl] = RS_NODE_PARAMETER + 1,
    [CXCursor_FieldDecl] = RS_NODE_FIELD + 1,
    [CXCursor_StructDecl] = RS_NODE_STRUCT + 1,
    [CXCursor_ClassDecl] = RS_NODE_CLASS + 1,
    [CXCursor_UnionDecl] = RS_NODE_UNION + 1,
    [CXCursor_EnumDecl] = RS_NODE_ENUM + 1,
    [CXCursor_EnumConstantDecl] = RS_NODE_ENUMERATOR + 1,
    [CXCursor_TypedefDecl] = RS_NODE_TYPEDEF + 1,
    [CXCursor_TemplateTypeParameter] = RS_NODE_TYPE_PARAMETER + 1,
    [CXCursor_NonTypeTemplateParameter] = RS_NODE_VALUE_PARAMETER + 1,
    [CXCursor_UnexposedDecl] = RS_NODE_UNKNOWN_DECLARATION + 1,
    [CXCursor_IntegerLiteral] = RS_NODE_INTEGER + 1,
    [CXCursor_FloatingLiteral] = RS_NODE_FLOATING + 1,
    [CXCursor_CharacterLiteral] = RS_NODE_CHARACTER + 1,
    [CXCursor_StringLiteral] = RS_NODE_STRING + 1,
    [CXCursor_CXXBoolLiteralExpr] = RS_NODE_TRUTH_VALUE + 1,
    [CXCursor_CXXNullPtrLiteralExpr] = RS_NODE_NULL_POINTER + 1,
    [CXCursor_GNUNullExpr] = RS_NODE_NULL_POINTER + 1,
    [CXCursor_CompoundLiteralExpr] = RS_NODE_COMPOUND_LITERAL + 1,
    [CXCursor_CXXStaticCastExpr] = RS_NODE_STATIC_CAST + 1,
    [CXCursor_CXXReinterpretCastExpr] = RS_NODE_REINTERPRET_CAST + 1,
    [CXCursor_CXXConstCastExpr] = RS_NODE_CONST_CAST + 1,
    [CXCursor_CXXFunctionalCastExpr] = RS_NODE_FUNCTIONAL_CAST + 1,
    [CXCursor_CXXBaseSpecifier] = RS_NODE_BASE + 1,
    [CXCursor_TypeRef] = RS_NODE_TYPE_NAME + 1,
    [CXCursor_TemplateRef] = RS_NODE_TEMPLATE_NAME + 1,
    [CXCursor_NamespaceRef] = RS_NODE_NAMESPACE_NAME + 1,
    [CXCursor_MemberRef] = RS_NODE_MEMBER_NAME + 1,
    [CXCursor_VariableRef] = RS_NODE_VARIABLE_NAME + 1,
    [CXCursor_LabelRef] = RS_NODE_LABEL_NAME + 1,
    [CXCursor_CUDAGlobalAttr] = RS_NODE_KERNEL_ATTRIBUTE + 1,
    [CXCursor_CUDADeviceAttr] = RS_NODE_DEVICE_ATTRIBUTE + 1,
    [CXCursor_CUDAHostAttr] = RS_NODE_HOST_ATTRIBUTE + 1,
    [CXCursor_CUDASharedAttr] = RS_NODE_SHARED_ATTRIBUTE + 1,
    [CXCursor_CUDAConstantAttr] = RS_NODE_CONSTANT_ATTRIBUTE + 1,
};

int rs_cursor_kind(enum CXCursorKind kind)
{
    const bool is_known = (size_t)kind < sizeof kinds / sizeof kinds[0] && kinds[kind] != 0;
    return is_known ? kinds[kind] - 1 : RS_NODE_UNKNOWN;
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

const char *rs_cursor_symbol(CXCursor cursor)
{
    static const char *const unary[] = {
        "?",       "++", "--", "++", "--",     "&",      "*",
        "+",       "-",  "~",  "!",  "__real", "__imag", "__extension__",
        "co_await"};
    static const char *const binary[] = {"?",  ".*",  "->*", "*",  "/",  "%",  "+",  "-",  "<<",
                                         ">>", "<=>", "<",   ">",  "<=", ">=", "==", "!=", "&",
                                         "^",  "|",   "&&",  "||", "=",  "*=", "/=", "%=", "+=",
                                         "-=", "<<=", ">>=", "&=", "^=", "|=", ","};
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    size_t which;
    if (kind == CXCursor_UnaryOperator) {
        which = (size_t)clang_getCursorUnaryOperatorKind(cursor);
        return unary[which < sizeof unary / sizeof unary[0] ? which : 0];
    }
    if (kind != CXCursor_BinaryOperator && kind != CXCursor_CompoundAssignOperator)
        return "";
    which = (size_t)clang_getCursorBinaryOperatorKind(cursor);
    return binary[which < sizeof binary / sizeof binary[0] ? which : 0];
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
