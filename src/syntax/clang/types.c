/* Types, by clang's canonical ones: each is read once. */
#include "syntax/clang/reader.h"

#include <string.h>

/* What a kind of clang's is here. */
static const struct {
    enum CXTypeKind clang;
    rs_syntax_type_kind kind;
    bool is_signed;
} kinds[] = {
    {CXType_Void, RS_TYPE_VOID, false},
    {CXType_Bool, RS_TYPE_BOOL, false},
    {CXType_Char_U, RS_TYPE_INTEGER, false},
    {CXType_UChar, RS_TYPE_INTEGER, false},
    {CXType_Char16, RS_TYPE_INTEGER, false},
    {CXType_Char32, RS_TYPE_INTEGER, false},
    {CXType_UShort, RS_TYPE_INTEGER, false},
    {CXType_UInt, RS_TYPE_INTEGER, false},
    {CXType_ULong, RS_TYPE_INTEGER, false},
    {CXType_ULongLong, RS_TYPE_INTEGER, false},
    {CXType_UInt128, RS_TYPE_INTEGER, false},
    {CXType_Char_S, RS_TYPE_INTEGER, true},
    {CXType_SChar, RS_TYPE_INTEGER, true},
    {CXType_WChar, RS_TYPE_INTEGER, true},
    {CXType_Short, RS_TYPE_INTEGER, true},
    {CXType_Int, RS_TYPE_INTEGER, true},
    {CXType_Long, RS_TYPE_INTEGER, true},
    {CXType_LongLong, RS_TYPE_INTEGER, true},
    {CXType_Int128, RS_TYPE_INTEGER, true},
    {CXType_Half, RS_TYPE_FLOAT, true},
    {CXType_Float16, RS_TYPE_FLOAT, true},
    {CXType_BFloat16, RS_TYPE_FLOAT, true},
    {CXType_Float, RS_TYPE_FLOAT, true},
    {CXType_Double, RS_TYPE_FLOAT, true},
    {CXType_LongDouble, RS_TYPE_FLOAT, true},
    {CXType_Float128, RS_TYPE_FLOAT, true},
    {CXType_Enum, RS_TYPE_ENUM, false},
    {CXType_Pointer, RS_TYPE_POINTER, false},
    {CXType_LValueReference, RS_TYPE_REFERENCE, false},
    {CXType_RValueReference, RS_TYPE_REFERENCE, false},
    {CXType_ConstantArray, RS_TYPE_ARRAY, false},
    {CXType_IncompleteArray, RS_TYPE_ARRAY, false},
    {CXType_VariableArray, RS_TYPE_ARRAY, false},
    {CXType_DependentSizedArray, RS_TYPE_ARRAY, false},
    {CXType_Vector, RS_TYPE_VECTOR, false},
    {CXType_ExtVector, RS_TYPE_VECTOR, false},
    {CXType_Record, RS_TYPE_RECORD, false},
    {CXType_FunctionProto, RS_TYPE_FUNCTION, false},
    {CXType_FunctionNoProto, RS_TYPE_FUNCTION, false},
    {CXType_Atomic, RS_TYPE_ATOMIC, false},
    {CXType_NullPtr, RS_TYPE_NULLPTR, false},
};

/* clang's numbers of OpenCL's spaces (LangAS). */
static rs_syntax_space space_of(unsigned number)
{
    static const rs_syntax_space spaces[] = {RS_SYNTAX_SPACE_ANY,     RS_SYNTAX_SPACE_GLOBAL,
                                             RS_SYNTAX_SPACE_SHARED,  RS_SYNTAX_SPACE_CONSTANT,
                                             RS_SYNTAX_SPACE_PRIVATE, RS_SYNTAX_SPACE_GENERIC,
                                             RS_SYNTAX_SPACE_GLOBAL,  RS_SYNTAX_SPACE_GLOBAL};
    return number < sizeof spaces / sizeof spaces[0] ? spaces[number] : RS_SYNTAX_SPACE_ANY;
}

static void read_function(rs_syntax_reader *reader, rs_syntax_type *type, CXType clang)
{
    const int count = clang_getNumArgTypes(clang);
    type->of = rs_read_type(reader, clang_getResultType(clang));
    type->is_variadic = clang_isFunctionTypeVariadic(clang) != 0;
    if (count <= 0)
        return;
    const rs_syntax_type **parameters =
        rs_syntax_allocate(reader->tree, (size_t)count * sizeof *parameters);
    if (parameters == NULL)
        return;
    for (int i = 0; i < count; i++)
        parameters[i] = rs_read_type(reader, clang_getArgType(clang, (unsigned)i));
    type->parameters = parameters;
    type->parameter_count = (size_t)count;
}

static void read_parts(rs_syntax_reader *reader, rs_syntax_type *type, CXType clang)
{
    switch (type->kind) {
    case RS_TYPE_POINTER:
    case RS_TYPE_REFERENCE:
        type->of = rs_read_type(reader, clang_getPointeeType(clang));
        break;
    case RS_TYPE_ARRAY:
    case RS_TYPE_VECTOR:
        type->of = rs_read_type(reader, clang_getElementType(clang));
        type->count = clang_getNumElements(clang);
        break;
    case RS_TYPE_ATOMIC:
        type->of = rs_read_type(reader, clang_Type_getValueType(clang));
        break;
    case RS_TYPE_FUNCTION:
        read_function(reader, type, clang);
        break;
    case RS_TYPE_ENUM:
        type->of =
            rs_read_type(reader, clang_getEnumDeclIntegerType(clang_getTypeDeclaration(clang)));
        type->is_signed = type->of != NULL && type->of->is_signed;
        type->declaration = rs_read_declaration(reader, clang_getTypeDeclaration(clang));
        break;
    case RS_TYPE_RECORD:
        type->declaration = rs_read_declaration(reader, clang_getTypeDeclaration(clang));
        break;
    default:
        break;
    }
}

static rs_syntax_type *add_type(rs_syntax_reader *reader, CXType clang)
{
    rs_syntax_type *type = rs_syntax_allocate(reader->tree, sizeof *type);
    if (type == NULL || !rs_map_set(&reader->types, clang.data[0], type)) {
        reader->tree->out_of_memory = true;
        return NULL;
    }
    type->kind = RS_TYPE_OTHER;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].clang == clang.kind) {
            type->kind = kinds[i].kind;
            type->is_signed = kinds[i].is_signed;
        }
    type->name = rs_read_string(reader, clang_getTypeSpelling(clang));
    type->is_const = clang_isConstQualifiedType(clang) != 0;
    type->is_volatile = clang_isVolatileQualifiedType(clang) != 0;
    type->is_restrict = clang_isRestrictQualifiedType(clang) != 0;
    type->is_unbounded = clang.kind == CXType_IncompleteArray;
    type->is_rvalue = clang.kind == CXType_RValueReference;
    type->is_dependent = clang.kind == CXType_Unexposed || clang.kind == CXType_Dependent;
    type->space = space_of(clang_getAddressSpace(clang));
    type->count = -1;
    /* Asked about one of its placeholders, as threadIdx.x has, libclang would never answer. */
    const bool has_size = type->kind != RS_TYPE_VOID && type->kind != RS_TYPE_FUNCTION &&
                          type->kind != RS_TYPE_REFERENCE && type->kind != RS_TYPE_OTHER;
    type->size = has_size ? clang_Type_getSizeOf(clang) : -1;
    type->align = has_size ? clang_Type_getAlignOf(clang) : -1;
    if (type->size < 0)
        type->size = type->align = -1;
    return type;
}

const rs_syntax_type *rs_read_type(rs_syntax_reader *reader, CXType type)
{
    const CXType canonical = clang_getCanonicalType(type);
    if (canonical.kind == CXType_Invalid || canonical.data[0] == NULL)
        return NULL;
    const rs_syntax_type *found = rs_map_get(&reader->types, canonical.data[0]);
    if (found != NULL)
        return found;
    rs_syntax_type *added = add_type(reader, canonical);
    if (added == NULL)
        return NULL;
    const CXType plain = clang_getCanonicalType(clang_getUnqualifiedType(canonical));
    added->plain = plain.data[0] == canonical.data[0] ? added : rs_read_type(reader, plain);
    if (added->plain == NULL)
        added->plain = added;
    read_parts(reader, added, canonical);
    return added;
}
