/* The arrays of a unit, and what a variable is that was not met before: one, or a parameter. */
#include "analyze/walk.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

bool rs_kind_is_address(enum CXTypeKind kind)
{
    return kind == CXType_Pointer || rs_kind_is_array(kind);
}

static rs_space space_of(CXType type)
{
    static const struct {
        const char *word;
        rs_space space;
    } words[] = {{"__local", RS_SPACE_LOCAL},
                 {"__constant", RS_SPACE_CONSTANT},
                 {"__private", RS_SPACE_PRIVATE}};
    CXString spelling = clang_getTypeSpelling(type);
    const char *text = clang_getCString(spelling);
    rs_space space = RS_SPACE_GLOBAL;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (text != NULL && strstr(text, words[i].word) != NULL) {
            space = words[i].space;
            break;
        }
    clang_disposeString(spelling);
    return space;
}

/* The type of the elements, and the declared extents. */
static CXType element_type(CXType type, int64_t extents[RS_SUBSCRIPT_LIMIT], int *dimensions)
{
    *dimensions = 0;
    type = clang_getCanonicalType(type);
    while (rs_kind_is_address(type.kind)) {
        int64_t extent = type.kind == CXType_ConstantArray ? clang_getArraySize(type) : 0;
        if (*dimensions < RS_SUBSCRIPT_LIMIT)
            extents[(*dimensions)++] = extent;
        type = type.kind == CXType_Pointer ? clang_getPointeeType(type)
                                           : clang_getArrayElementType(type);
        type = clang_getCanonicalType(type);
    }
    return type;
}

/* "float4" instead of clang's "float __attribute__((ext_vector_type(4)))"; the caller frees. */
static char *type_name(CXType type)
{
    bool vector = type.kind == CXType_ExtVector;
    CXString spelling =
        clang_getTypeSpelling(clang_getUnqualifiedType(vector ? clang_getElementType(type) : type));
    rs_text name = RS_TEXT_EMPTY;
    rs_text_add_string(&name, clang_getCString(spelling));
    if (vector)
        rs_text_format(&name, "%lld", clang_getNumElements(type));
    clang_disposeString(spelling);
    return rs_text_take(&name);
}

static int find_array(const rs_unit *unit, const char *name, uint64_t key)
{
    for (int i = 0; i < unit->array_count; i++)
        if (unit->arrays[i].key == key && strcmp(unit->arrays[i].name, name) == 0)
            return i;
    return -1;
}

rs_value rs_walk_array(rs_walk *walk, const char *name, uint64_t key, CXType type)
{
    rs_value value = rs_value_unknown(0, false);
    int found = find_array(walk->unit, name, key);
    if (found < 0) {
        rs_array *array = rs_unit_add_array(walk->unit, name);
        if (array == NULL) {
            walk->no_memory = true;
            return value;
        }
        found = walk->unit->array_count - 1;
        CXType element = element_type(type, array->extents, &array->dimensions);
        int64_t size = clang_Type_getSizeOf(element);
        array->vector = element.kind == CXType_ExtVector || element.kind == CXType_Vector;
        array->type = type_name(element);
        array->element = size > 0 ? size : 0;
        array->space = space_of(element);
        array->key = key;
        array->memory = array->owner = key;
        array->pitch = rs_type_pitch(type);
        array->scope = -1;
    }
    value.kind = RS_VALUE_ADDRESS;
    value.array = found;
    return value;
}

static bool has_child_of_kind(CXCursor cursor, enum CXCursorKind kind);

static enum CXChildVisitResult find_kind(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    enum CXCursorKind *wanted = data;
    if (clang_getCursorKind(cursor) != *wanted)
        return CXChildVisit_Continue;
    *wanted = CXCursor_InvalidFile;
    return CXChildVisit_Break;
}

static bool has_child_of_kind(CXCursor cursor, enum CXCursorKind kind)
{
    enum CXCursorKind wanted = kind;
    clang_visitChildren(cursor, find_kind, &wanted);
    return wanted == CXCursor_InvalidFile;
}

static void place_array(rs_walk *walk, int array, CXCursor declared)
{
    rs_array *a = &walk->unit->arrays[array];
    bool parameter = clang_getCursorKind(declared) == CXCursor_ParmDecl;
    a->argument = parameter;
    CXType type = clang_getCursorType(declared);
    if (rs_kind_is_array(clang_getCanonicalType(type).kind) && !parameter)
        a->space = space_of(type); /* the array's own, which its elements do not tell */
    bool shared = has_child_of_kind(declared, CXCursor_CUDASharedAttr);
    if (shared && clang_Cursor_getStorageClass(declared) == CX_SC_Extern)
        a->memory = a->owner = rs_name_key("extern __shared__"); /* all begin at one address */
    if (shared)
        a->space = RS_SPACE_LOCAL;
    else if (has_child_of_kind(declared, CXCursor_CUDAConstantAttr))
        a->space = RS_SPACE_CONSTANT;
    else if (a->space == RS_SPACE_GLOBAL && walk->unit->kernel && !parameter &&
             !rs_cursor_is_global(declared))
        a->space = RS_SPACE_PRIVATE;
    bool kept = clang_Cursor_getStorageClass(declared) == CX_SC_Static;
    bool initialized = !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(declared));
    a->filled = initialized || !(parameter || rs_cursor_is_global(declared));
    a->scope = parameter || kept || rs_cursor_is_global(declared) ? -1 : walk->loop;
}

rs_value rs_walk_fixed(rs_walk *walk, const char *name, uint64_t key, CXType type)
{
    int symbol = rs_symbols_find_keyed(&walk->unit->symbols, name, RS_SYMBOL_PARAMETER, key);
    if (symbol < 0)
        return rs_value_unknown(0, false);
    walk->unit->symbols.symbols[symbol].natural =
        type.kind >= CXType_Bool && type.kind <= CXType_UInt128;
    return rs_value_number(rs_polynomial_symbol(symbol));
}

/* A variable of a function's own whose declaration was not met: in a condition, or auto [n, m]. */
static bool is_overlooked(CXCursor declared)
{
    enum CXCursorKind kind = clang_getCursorKind(declared);
    return kind == CXCursor_UnexposedDecl ||
           (kind == CXCursor_VarDecl && !rs_variable_lasts(declared));
}

/* A variable that was not met before: an array, or a parameter of the analysis. */
static rs_value first_use(rs_walk *walk, CXCursor declared, uint64_t key, const char *name)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    if (rs_kind_is_reference(type.kind))
        type = clang_getCanonicalType(clang_getPointeeType(type));
    if (rs_kind_is_address(type.kind)) {
        int known = walk->unit->array_count;
        rs_value value = rs_walk_array(walk, name, key, type);
        if (walk->unit->array_count > known)
            place_array(walk, known, declared);
        if (value.kind == RS_VALUE_ADDRESS)
            rs_value_decay(&value, type);
        return value;
    }
    bool integer = (type.kind >= CXType_Bool && type.kind <= CXType_Int128) ||
                   type.kind == CXType_Enum || type.kind == CXType_Unexposed ||
                   type.kind == CXType_Dependent;
    if (!integer)
        return rs_value_unknown(0, false);
    if (clang_isConstQualifiedType(clang_getCursorType(declared)) != 0) {
        CXEvalResult result = clang_Cursor_Evaluate(declared);
        bool fixed = result != NULL && clang_EvalResult_getKind(result) == CXEval_Int;
        int64_t constant = fixed ? clang_EvalResult_getAsLongLong(result) : 0;
        if (result != NULL)
            clang_EvalResult_dispose(result);
        if (fixed)
            return rs_value_constant(constant);
    }
    bool overlooked = is_overlooked(declared), clobbered = rs_walk_is_clobbered(walk, key);
    if (overlooked || clobbered)
        return rs_value_number(rs_walk_auxiliary(
            walk, name, clobbered ? rs_walk_clobbered_varies(walk, key) : rs_walk_anything(walk),
            true, true));
    return rs_walk_fixed(walk, name, key, type);
}

/* Makes a reference that is a parameter what a pointer would be: the address of an element. */
static void bind_parameter(rs_walk *walk, CXCursor declared)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    CXType target = clang_getCanonicalType(clang_getPointeeType(type));
    uint64_t key = rs_cursor_key(declared);
    CXString spelling = clang_getCursorSpelling(declared);
    if (!rs_kind_is_address(target.kind)) {
        rs_value value = rs_walk_array(walk, clang_getCString(spelling), key, target);
        if (value.kind == RS_VALUE_ADDRESS) {
            place_array(walk, value.array, declared);
            walk->unit->arrays[value.array].pitch = rs_type_pitch(type);
            rs_value_decay(&value, type);
            rs_walk_set(walk, key, &value);
        }
    }
    clang_disposeString(spelling);
}

void rs_walk_bind_references(rs_walk *walk, int function)
{
    for (int child = walk->tree->nodes[function].first; child >= 0;
         child = walk->tree->nodes[child].next) {
        CXCursor cursor = walk->tree->nodes[child].cursor;
        CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
        if (walk->tree->nodes[child].kind == CXCursor_ParmDecl && rs_kind_is_reference(type.kind))
            bind_parameter(walk, cursor);
    }
}

rs_value rs_walk_declare(rs_walk *walk, CXCursor declared)
{
    CXString spelling = clang_getCursorSpelling(declared);
    rs_value value = first_use(walk, declared, rs_cursor_key(declared), clang_getCString(spelling));
    clang_disposeString(spelling);
    return value;
}
