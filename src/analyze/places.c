/* Where expressions are stored: variables, and elements of arrays. */
#include "analyze/walk.h"
#include "source/query.h"
#include "source/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 128, REFERENCE_LIMIT = 20000 };

static uint64_t hash(const char *text)
{
    uint64_t value = 1469598103934665603u;
    for (const char *c = text; *c != '\0'; c++)
        value = (value ^ (unsigned char)*c) * 1099511628211u;
    return value;
}

static bool copy_name(char name[NAME_ROOM], CXCursor cursor)
{
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *text = clang_getCString(spelling);
    snprintf(name, NAME_ROOM, "%s", text != NULL ? text : "");
    clang_disposeString(spelling);
    return name[0] != '\0';
}

uint64_t rs_cursor_key(const rs_walk *walk, CXCursor cursor)
{
    (void)walk;
    char name[NAME_ROOM];
    if (clang_Location_isFromMainFile(clang_getCursorLocation(cursor)) != 0)
        return (uint64_t)rs_cursor_offset(cursor) & 0xffffffffu;
    copy_name(name, cursor);
    return (hash(name) & 0x7fffffffffffffffu) | (uint64_t)1 << 63;
}

int rs_walk_line(const rs_walk *walk, int node)
{
    const char *file;
    size_t line;
    rs_flat_locate(&walk->program->flat, walk->tree->nodes[node].begin, &file, &line);
    return (int)line;
}

const char *rs_walk_file(const rs_walk *walk, int node)
{
    const char *file;
    size_t line;
    rs_flat_locate(&walk->program->flat, walk->tree->nodes[node].begin, &file, &line);
    return file;
}

/* ---- arrays ---- */

static bool is_array_kind(enum CXTypeKind kind)
{
    return kind == CXType_ConstantArray || kind == CXType_IncompleteArray ||
           kind == CXType_VariableArray || kind == CXType_DependentSizedArray;
}

static bool is_address_kind(enum CXTypeKind kind)
{
    return kind == CXType_Pointer || is_array_kind(kind);
}

static bool is_reference_kind(enum CXTypeKind kind)
{
    return kind == CXType_LValueReference || kind == CXType_RValueReference;
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
    while (is_address_kind(type.kind)) {
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

/* Whether a declaration is a variable outside all functions. */
static bool is_global(CXCursor declared)
{
    enum CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(declared));
    return parent == CXCursor_TranslationUnit || parent == CXCursor_Namespace;
}

static void place_array(rs_walk *walk, int array, CXCursor declared)
{
    rs_array *a = &walk->unit->arrays[array];
    bool parameter = clang_getCursorKind(declared) == CXCursor_ParmDecl;
    a->argument = parameter;
    if (has_child_of_kind(declared, CXCursor_CUDASharedAttr))
        a->space = RS_SPACE_LOCAL;
    else if (has_child_of_kind(declared, CXCursor_CUDAConstantAttr))
        a->space = RS_SPACE_CONSTANT;
    else if (a->space == RS_SPACE_GLOBAL && walk->unit->kernel && !parameter &&
             !is_global(declared))
        a->space = RS_SPACE_PRIVATE;
    bool kept = clang_Cursor_getStorageClass(declared) == CX_SC_Static;
    bool initialized = !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(declared));
    a->filled = initialized || !(parameter || is_global(declared));
    a->scope = parameter || kept || is_global(declared) ? -1 : walk->loop;
}

/* A variable that was not met before: an array, or a parameter of the analysis. */
static rs_value first_use(rs_walk *walk, CXCursor declared, uint64_t key, const char *name)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    if (is_reference_kind(type.kind))
        type = clang_getCanonicalType(clang_getPointeeType(type));
    if (is_address_kind(type.kind)) {
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
    int symbol = rs_symbols_find_keyed(&walk->unit->symbols, name, RS_SYMBOL_PARAMETER, key);
    if (symbol < 0)
        return rs_value_unknown(0, false);
    walk->unit->symbols.symbols[symbol].natural =
        type.kind >= CXType_Bool && type.kind <= CXType_UInt128;
    return rs_value_number(rs_polynomial_symbol(symbol));
}

rs_value rs_walk_declare(rs_walk *walk, CXCursor declared)
{
    CXString spelling = clang_getCursorSpelling(declared);
    rs_value value =
        first_use(walk, declared, rs_cursor_key(walk, declared), clang_getCString(spelling));
    clang_disposeString(spelling);
    return value;
}

/* ---- variables ---- */

static rs_location at_variable(uint64_t key)
{
    return (rs_location){RS_PLACE_VARIABLE, key, rs_value_unknown(0, false), false};
}

static rs_location nowhere(void)
{
    return (rs_location){RS_PLACE_NONE, 0, rs_value_unknown(0, true), false};
}

static rs_location at_address(const rs_value *address)
{
    if (address->kind == RS_VALUE_POINTER)
        return at_variable(address->key);
    if (address->kind != RS_VALUE_ADDRESS)
        return nowhere();
    return (rs_location){RS_PLACE_MEMORY, 0, *address, false};
}

/* What a reference is another name of; false when the variable is none, or nothing is known. */
static bool referred(const rs_walk *walk, CXCursor declared, uint64_t key, rs_location *place)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    int known = is_reference_kind(type.kind) ? rs_walk_find(walk, key) : -1;
    if (known < 0 || (walk->values[known].kind != RS_VALUE_POINTER &&
                      walk->values[known].kind != RS_VALUE_ADDRESS))
        return false;
    *place = at_address(&walk->values[known]);
    return true;
}

void rs_walk_read_carried(rs_walk *walk, int value, const char *name, bool reduction)
{
    while (value >= 0 && walk->values[value].carried_loop >= 0) {
        rs_loop *loop = &walk->unit->loops[walk->values[value].carried_loop];
        char **slot = reduction ? &loop->reduced : &loop->carried;
        if (*slot == NULL)
            *slot = strdup(name);
        value = walk->values[value].carried_from;
    }
}

static bool is_record_kind(enum CXTypeKind kind)
{
    return kind == CXType_Record || kind == CXType_Vector || kind == CXType_ExtVector;
}

/* The value of a record with what is known of its members. */
static rs_value copy_of(const rs_walk *walk, const rs_value *value, uint64_t key)
{
    rs_value copy = *value;
    if (value->kind != RS_VALUE_UNKNOWN && value->kind != RS_VALUE_RECORD)
        return copy;
    copy.kind = RS_VALUE_RECORD;
    copy.key = key;
    copy.untouched = rs_walk_find(walk, key) < 0;
    for (int i = 0; i < walk->variables.count; i++) {
        const rs_binding *binding = &walk->variables.bindings[i];
        if (binding->key == key || !rs_walk_is_part(walk, binding->key, key))
            continue;
        copy.depends |= rs_value_depends(walk, &walk->values[binding->value]);
        copy.data = copy.data || rs_value_has_data(walk, &walk->values[binding->value]);
    }
    return copy;
}

static rs_value read_key(rs_walk *walk, CXCursor declared, uint64_t key, const char *name)
{
    int known = rs_walk_find(walk, key);
    if (known >= 0) {
        if (walk->values[known].carried_loop >= 0)
            rs_walk_read_carried(walk, known, name, false);
        rs_value value = walk->values[known];
        value.carried_loop = -1;
        return value;
    }
    rs_value value = first_use(walk, declared, key, name);
    if (value.kind == RS_VALUE_NUMBER)
        rs_walk_set(walk, key, &value);
    rs_walk_set_initial(walk, key, &value);
    return value;
}

rs_value rs_walk_variable(rs_walk *walk, int node)
{
    node = rs_node_inner(walk->tree, node);
    if (node >= 0 && walk->tree->nodes[node].kind == CXCursor_MemberRefExpr) {
        rs_location place = rs_walk_locate(walk, node);
        return rs_walk_load(walk, &place, node);
    }
    if (node < 0 || walk->tree->nodes[node].kind != CXCursor_DeclRefExpr)
        return rs_value_unknown(0, true);
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    char name[NAME_ROOM];
    if (clang_Cursor_isNull(declared) || !copy_name(name, declared))
        return rs_value_unknown(0, true);
    if (clang_getCursorKind(declared) == CXCursor_EnumConstantDecl)
        return rs_value_constant(clang_getEnumConstantDeclValue(declared));
    uint64_t key = rs_cursor_key(walk, declared);
    rs_location place;
    if (referred(walk, declared, key, &place))
        return rs_walk_load(walk, &place, node);
    rs_value value = read_key(walk, declared, key, name);
    CXType type = rs_node_type(walk->tree, node);
    return is_record_kind(type.kind) ? copy_of(walk, &value, key)
                                     : rs_walk_view(walk, &value, type);
}

/* ---- locations ---- */

static rs_location locate_name(rs_walk *walk, int node)
{
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    if (clang_Cursor_isNull(declared))
        return nowhere();
    uint64_t key = rs_cursor_key(walk, declared);
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    rs_location place;
    if (referred(walk, declared, key, &place))
        return place;
    bool array = is_array_kind(type.kind) && clang_getCursorKind(declared) != CXCursor_ParmDecl;
    if (array && rs_walk_find(walk, key) < 0) {
        rs_value value = rs_walk_variable(walk, node);
        if (value.kind == RS_VALUE_ADDRESS && value.count > 0)
            value.count--;
        return at_address(&value);
    }
    return at_variable(key);
}

/* An address that is not known: the references to it are shown, as unknown ones. */
static rs_location at_lost(rs_walk *walk, int base)
{
    char *name = rs_walk_text(walk, base);
    if (name == NULL) {
        walk->no_memory = true;
        return nowhere();
    }
    rs_value value = rs_walk_array(walk, name, hash(name), rs_node_type(walk->tree, base));
    free(name);
    value.lost = true;
    return at_address(&value);
}

static bool is_pointer(const rs_walk *walk, int node)
{
    return rs_node_is_pointer(walk->tree, node) && !walk->exhausted && !walk->no_memory;
}

static rs_location locate_element(rs_walk *walk, int node)
{
    int base = rs_node_child(walk->tree, node, 0), index = rs_node_child(walk->tree, node, 1);
    if (index < 0)
        return nowhere();
    rs_value address = rs_walk_evaluate(walk, base);
    rs_value by = rs_walk_evaluate(walk, index);
    if (by.kind == RS_VALUE_UNKNOWN) {
        char *name = rs_walk_text(walk, index);
        bool approximated = by.approximated;
        by = rs_value_number(rs_walk_number(walk, &by, name != NULL ? name : "?"));
        by.approximated = approximated;
        free(name);
    }
    int64_t offset;
    if (address.kind == RS_VALUE_POINTER && rs_polynomial_is_constant(&by.number, &offset) &&
        offset == 0)
        return at_address(&address);
    rs_value moved = rs_walk_operate(walk, '+', &address, &by);
    int row = rs_node_inner(walk->tree, base);
    if (row >= 0 && is_array_kind(rs_node_type(walk->tree, row).kind))
        moved.loose = address.loose; /* x[i][j] stays in its row */
    bool lost = moved.kind != RS_VALUE_ADDRESS && is_pointer(walk, base);
    return lost ? at_lost(walk, base) : at_address(&moved);
}

static rs_location locate_target(rs_walk *walk, int node)
{
    int pointer = rs_node_child(walk->tree, node, 0);
    rs_value address = rs_walk_evaluate(walk, pointer);
    bool lost = address.kind != RS_VALUE_ADDRESS && address.kind != RS_VALUE_POINTER &&
                is_pointer(walk, pointer);
    return lost ? at_lost(walk, pointer) : at_address(&address);
}

/* The member of an element: the same subscripts, and some of its bytes. */
static rs_location locate_member_of(rs_walk *walk, const rs_value *record, CXCursor field,
                                    const char *name)
{
    rs_location place = at_address(record);
    size_t used = strlen(place.address.member);
    snprintf(place.address.member + used, sizeof place.address.member - used, "%s%s",
             used > 0 ? "." : "", name);
    long long bits = clang_Cursor_getOffsetOfField(field);
    place.address.member_offset += bits > 0 ? bits / 8 : 0;
    (void)walk;
    return place;
}

/* The number of a single component of a vector, x, y, z, w or s0 to sf; -1 for several. */
static int component_number(const char *name)
{
    static const char letters[] = "xyzw", digits[] = "0123456789abcdef";
    const char *found = NULL;
    if (strlen(name) == 1 && (found = strchr(letters, name[0])) != NULL)
        return (int)(found - letters);
    if (strlen(name) == 2 && (name[0] == 's' || name[0] == 'S') &&
        (found = strchr(digits, tolower((unsigned char)name[1]))) != NULL)
        return (int)(found - digits);
    return -1;
}

/* Components of a vector: one has its place, several are taken for the whole vector. */
static void locate_component(rs_walk *walk, rs_location *place, const char *name, int base,
                             int node)
{
    int number = component_number(name);
    if (place->address.width > 0)
        return; /* one of several */
    if (number >= 0)
        place->address.member_offset +=
            number * clang_Type_getSizeOf(rs_node_type(walk->tree, node));
    else
        place->address.width = clang_Type_getSizeOf(rs_node_type(walk->tree, base));
}

/* A member of a variable; what shares its bytes with others is some part of the whole variable. */
static rs_location at_member(rs_walk *walk, uint64_t key, CXCursor field, const char *name)
{
    char component[NAME_ROOM];
    int64_t offset = 0;
    rs_location place = at_variable(key);
    if (clang_getCursorKind(field) != CXCursor_FieldDecl) {
        int number = component_number(name);
        place.part = number < 0;
        snprintf(component, sizeof component, "s%d", number);
        name = component;
    } else {
        CXCursor parent = clang_getCursorSemanticParent(field);
        long long bits = clang_Cursor_getOffsetOfField(field);
        offset = bits > 0 ? bits / 8 : 0;
        place.part = clang_getCursorKind(parent) == CXCursor_UnionDecl ||
                     clang_Cursor_isBitField(field) != 0 || name[0] == '\0' ||
                     clang_Cursor_isAnonymous(parent) != 0;
    }
    if (!place.part)
        place.key = rs_walk_member(walk, key, name, offset);
    return place;
}

static rs_location locate_member(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    int base = rs_node_child(tree, node, 0);
    char name[NAME_ROOM];
    CXCursor field = clang_getCursorReferenced(tree->nodes[node].cursor);
    if (base < 0)
        return nowhere(); /* a member of "this" */
    if (!copy_name(name, tree->nodes[node].cursor)) {
        /* A component of a vector: the name is what stands at the end. */
        size_t end = tree->nodes[node].end, begin = end;
        while (begin > tree->nodes[base].end && rs_identifier_length(tree->text + begin - 1) > 0)
            begin--;
        snprintf(name, sizeof name, "%.*s", (int)(end - begin), tree->text + begin);
    }
    int inner = rs_node_inner(tree, base);
    rs_value value = rs_value_unknown(0, false);
    if (inner >= 0 && tree->nodes[inner].kind == CXCursor_DeclRefExpr) {
        char object[NAME_ROOM];
        copy_name(object, clang_getCursorReferenced(tree->nodes[inner].cursor));
        if (rs_walk_thread_member(walk, object, name, &value)) {
            rs_location place = nowhere();
            place.address = value;
            return place;
        }
    }
    if (rs_node_is_pointer(tree, base)) {
        rs_value address = rs_walk_evaluate(walk, base);
        if (address.kind == RS_VALUE_POINTER)
            return at_member(walk, address.key, field, name);
        if (address.kind != RS_VALUE_ADDRESS && is_pointer(walk, base))
            address = at_lost(walk, base).address;
        return address.kind == RS_VALUE_ADDRESS ? locate_member_of(walk, &address, field, name)
                                                : nowhere();
    }
    rs_location record = rs_walk_locate(walk, base);
    if (record.kind == RS_PLACE_VARIABLE && !record.part)
        return at_member(walk, record.key, field, name);
    if (record.kind == RS_PLACE_MEMORY) {
        record = locate_member_of(walk, &record.address, field, name);
        if (clang_getCursorKind(field) != CXCursor_FieldDecl)
            locate_component(walk, &record, name, inner, node);
    }
    return record;
}

bool rs_walk_is_component(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    int child = rs_node_child(tree, node, 0);
    if (tree->nodes[node].kind != CXCursor_UnexposedExpr || child < 0 ||
        tree->nodes[child].next >= 0)
        return false;
    size_t at = tree->nodes[child].end;
    while (at < tree->nodes[node].end && (tree->text[at] == ' ' || tree->text[at] == '\n'))
        at++;
    return at < tree->nodes[node].end && tree->text[at] == '.';
}

rs_location rs_walk_locate(rs_walk *walk, int node)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0 || walk->exhausted || walk->no_memory)
        return nowhere();
    switch ((int)walk->tree->nodes[node].kind) {
    case CXCursor_DeclRefExpr:
        return locate_name(walk, node);
    case CXCursor_ArraySubscriptExpr:
        return locate_element(walk, node);
    case CXCursor_MemberRefExpr:
        return locate_member(walk, node);
    case CXCursor_UnaryOperator:
        if (rs_node_is_prefix(walk->tree, node, "*"))
            return locate_target(walk, node);
        break;
    default:
        break;
    }
    if (rs_walk_is_component(walk, node))
        return locate_member(walk, node);
    rs_location place = nowhere();
    place.address = rs_walk_evaluate(walk, node);
    place.address.data = true;
    return place;
}

/* ---- reading and writing ---- */

bool rs_type_may_hold_index(CXType type)
{
    bool vector = type.kind == CXType_Vector || type.kind == CXType_ExtVector;
    CXType element = vector ? clang_getCanonicalType(clang_getElementType(type)) : type;
    bool floating = (element.kind >= CXType_Float && element.kind <= CXType_LongDouble) ||
                    element.kind == CXType_Half || element.kind == CXType_Float16 ||
                    element.kind == CXType_Float128;
    return !floating && element.kind != CXType_Pointer;
}

rs_reference *rs_walk_refer(rs_walk *walk, const rs_value *address, int node, CXType type)
{
    if (walk->unit->reference_count >= REFERENCE_LIMIT)
        walk->exhausted = true;
    rs_reference *r = walk->exhausted ? NULL : rs_unit_add_reference(walk->unit);
    if (r == NULL) {
        walk->no_memory = walk->no_memory || !walk->exhausted;
        return NULL;
    }
    int64_t size = clang_Type_getSizeOf(type);
    r->array = address->array;
    r->line = rs_walk_line(walk, node);
    r->offset = walk->tree->nodes[node].begin;
    r->count = address->count;
    for (int i = 0; i < address->count; i++)
        r->subscripts[i] = rs_walk_fold(walk, &address->subscripts[i]);
    r->member = address->member[0] != '\0' ? strdup(address->member) : NULL;
    r->member_offset = address->member_offset;
    r->width = address->width > 0 ? address->width : size > 0 ? size : 0;
    memcpy(r->strides, address->strides, sizeof r->strides);
    r->path = address->path;
    r->pointers = address->pointers;
    r->loose = address->loose;
    r->loop = walk->loop;
    r->order = walk->order++;
    r->guarded = walk->guards > 0;
    r->approximated = address->approximated;
    r->understood = !address->lost;
    r->anywhere = address->lost;
    r->text = rs_walk_text(walk, node);
    rs_array *array = &walk->unit->arrays[address->array];
    if (address->count > array->dimensions)
        array->dimensions = address->count;
    return r;
}

/* A pointer that is itself a member: the array it points to has the name of the path. */
static rs_value pointed_array(rs_walk *walk, const rs_value *address, CXType type)
{
    const rs_array *owner = &walk->unit->arrays[address->array];
    rs_text name = RS_TEXT_EMPTY;
    bool many = false;
    for (int i = 0; i < address->count; i++)
        many = many || !rs_polynomial_is_zero(&address->subscripts[i]);
    rs_text_format(&name, "%s%s%s", owner->name, many ? "[]." : "->", address->member);
    uint64_t key = owner->key ^ (hash(address->member) << 32), memory = owner->memory;
    rs_value value =
        name.failed ? rs_value_unknown(0, true) : rs_walk_array(walk, name.data, key, type);
    rs_text_free(&name);
    if (value.kind != RS_VALUE_ADDRESS)
        return value;
    rs_array *array = &walk->unit->arrays[value.array];
    array->owner = memory;
    array->pointer = address->member_offset;
    array->memory = (memory ^ (uint64_t)(address->member_offset + 1) << 48) * 1099511628211u;
    for (int i = 0; many && i < address->count; i++)
        value.subscripts[value.count++] = address->subscripts[i];
    value.lost = address->lost;
    value.approximated = address->approximated;
    rs_value_follow(&value, type);
    return value;
}

/* A symbol by its name, the array and what may have been stored since: never 0. */
static uint64_t loaded_key(const rs_walk *walk, const char *name, int array)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%s %d %ld", name, array, walk->stores);
    uint64_t key = text.failed ? 1 : hash(text.data);
    rs_text_free(&text);
    return key | 1;
}

/* The symbol of a loaded number: the same for the same element until something is stored. */
static rs_value loaded_number(rs_walk *walk, const rs_value *address)
{
    rs_text name = RS_TEXT_EMPTY;
    rs_text_add_string(&name, walk->unit->arrays[address->array].name);
    for (int i = 0; i < address->count; i++) {
        rs_polynomial folded = rs_walk_fold(walk, &address->subscripts[i]);
        rs_text_add_string(&name, "[");
        rs_polynomial_print(&name, &folded, &walk->unit->symbols);
        rs_text_add_string(&name, "]");
    }
    if (address->member[0] != '\0')
        rs_text_format(&name, ".%s", address->member);
    bool exact = !name.failed && name.size < 100;
    uint64_t depends = rs_value_depends(walk, address);
    rs_symbols *symbols = &walk->unit->symbols;
    int symbol = !exact ? -1
                        : rs_symbols_find_keyed(symbols, name.data, RS_SYMBOL_AUXILIARY,
                                                loaded_key(walk, name.data, address->array));
    rs_text_free(&name);
    if (symbol < 0)
        return rs_value_number(rs_walk_auxiliary(walk, "loaded", depends, true, true));
    symbols->symbols[symbol].depends |= depends;
    symbols->symbols[symbol].data = true;
    return rs_value_number(rs_polynomial_symbol(symbol));
}

/* Whether the variable of a member has contents that are not followed: it is no parameter. */
static bool was_filled(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    while (node >= 0 && tree->nodes[node].kind != CXCursor_DeclRefExpr)
        node = tree->nodes[node].first;
    if (node < 0)
        return true;
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    bool given =
        clang_getCursorKind(declared) == CXCursor_ParmDecl ? walk->depth <= 1 : is_global(declared);
    return !given || !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(declared));
}

/* The nearest variable that a member is one of and that was assigned as a whole; -1: none was. */
static int assigned_whole(const rs_walk *walk, uint64_t key)
{
    int known = -1;
    for (uint64_t whole = rs_walk_whole(walk, key); whole != 0 && known < 0;
         whole = rs_walk_whole(walk, whole))
        known = rs_walk_find(walk, whole);
    return known;
}

/* A key for what a variable held between two assignments. */
static uint64_t key_of_value(uint64_t key, int value)
{
    return (key + (uint64_t)(value + 1) * 0x9e3779b97f4a7c15u) | 1;
}

static rs_value array_of(rs_walk *walk, const char *name, uint64_t key, CXType type)
{
    rs_value value = rs_walk_array(walk, name, key, type);
    if (value.kind == RS_VALUE_ADDRESS)
        rs_value_decay(&value, type);
    return value;
}

/* A symbol that is the same in all iterations. */
static rs_value fixed_number(rs_walk *walk, const char *name, uint64_t key, CXType type)
{
    int symbol = rs_symbols_find_keyed(&walk->unit->symbols, name, RS_SYMBOL_PARAMETER, key);
    if (symbol < 0)
        return rs_value_unknown(0, false);
    walk->unit->symbols.symbols[symbol].natural =
        type.kind >= CXType_Bool && type.kind <= CXType_UInt128;
    return rs_value_number(rs_polynomial_symbol(symbol));
}

/* A member of a variable of which nothing was assigned yet. */
static rs_value untouched(rs_walk *walk, const rs_location *place, int node, CXType type)
{
    rs_value value = rs_value_unknown(0, false);
    char *text = rs_walk_source(walk, node);
    bool integer = type.kind >= CXType_Bool && type.kind <= CXType_Int128;
    if (text == NULL)
        walk->no_memory = true;
    else if (is_address_kind(type.kind))
        value = array_of(walk, text, place->key, type);
    else if (integer)
        value = fixed_number(walk, text, place->key, type);
    free(text);
    value.lost = type.kind == CXType_Pointer && was_filled(walk, node);
    return value;
}

/* Adds "m.n" of a member of the nearest variable that was assigned as a whole; gives its offset. */
static int64_t add_path(const rs_walk *walk, rs_text *path, uint64_t key)
{
    for (int i = 0; i < walk->member_count; i++) {
        const rs_member *member = &walk->members[i];
        if (member->key != key)
            continue;
        int64_t offset = member->offset;
        if (rs_walk_find(walk, member->whole) < 0)
            offset += add_path(walk, path, member->whole);
        rs_text_format(path, "%s%s", path->size > 0 ? "." : "", member->name);
        return offset;
    }
    return 0;
}

/* What was a member of the element that a record was loaded from. */
static rs_value part_of_element(rs_walk *walk, const rs_value *record, const char *path,
                                int64_t offset, CXType type)
{
    rs_value address = *record;
    address.kind = RS_VALUE_ADDRESS;
    address.member_offset += offset;
    size_t used = strlen(address.member);
    snprintf(address.member + used, sizeof address.member - used, "%s%s", used > 0 ? "." : "",
             path);
    if (type.kind == CXType_Pointer)
        return pointed_array(walk, &address, type);
    return walk->stores == record->stores
               ? loaded_number(walk, &address)
               : rs_value_number(
                     rs_walk_auxiliary(walk, path, rs_value_depends(walk, record), true, true));
}

/* The same of a variable that a record was copied from and that was not assigned before that. */
static rs_value part_of_copied(rs_walk *walk, const rs_value *record, const char *path, int node,
                               CXType type)
{
    rs_location source = at_variable(record->key);
    char *names = strdup(path), *rest;
    if (names == NULL)
        walk->no_memory = true;
    for (char *name = names == NULL ? NULL : strtok_r(names, ".", &rest); name != NULL;
         name = strtok_r(NULL, ".", &rest))
        source.key = rs_walk_member(walk, source.key, name, 0);
    free(names);
    int initial = rs_walk_find_initial(walk, source.key);
    if (initial >= 0)
        return walk->values[initial];
    if (assigned_whole(walk, source.key) >= 0 || rs_walk_find(walk, source.key) >= 0)
        return type.kind == CXType_Pointer ? at_lost(walk, node).address
                                           : rs_value_unknown(0, true);
    rs_value value = untouched(walk, &source, node, type);
    rs_walk_set_initial(walk, source.key, &value);
    rs_walk_set(walk, source.key, &value);
    return value;
}

static rs_value part_by_kind(rs_walk *walk, int whole, const rs_location *place, int node,
                             CXType type)
{
    rs_value record = walk->values[whole];
    uint64_t depends = rs_value_depends(walk, &record);
    bool integer = type.kind >= CXType_Bool && type.kind <= CXType_Int128;
    bool pointer = type.kind == CXType_Pointer, array = is_array_kind(type.kind);
    bool fixed = depends == 0 && record.carried_loop < 0;
    bool copied = record.kind == RS_VALUE_RECORD && record.carried_loop < 0;
    rs_value value = rs_value_unknown(depends, record.data);
    rs_text path = RS_TEXT_EMPTY;
    int64_t offset = add_path(walk, &path, place->key);
    char *text = rs_walk_source(walk, node);
    if (text == NULL || path.failed || path.data == NULL)
        walk->no_memory = true;
    else if (copied && record.array >= 0 && (integer || pointer))
        value = part_of_element(walk, &record, path.data, offset, type);
    else if (copied && record.untouched && record.array < 0 && (integer || pointer))
        value = part_of_copied(walk, &record, path.data, node, type);
    else if (array)
        value = array_of(walk, text, place->key, type);
    else if (pointer)
        value = fixed && !copied ? array_of(walk, text, key_of_value(place->key, whole), type)
                                 : at_lost(walk, node).address;
    else if (integer && fixed && !record.data)
        value = fixed_number(walk, text, key_of_value(place->key, whole), type);
    else if (integer)
        value = rs_value_number(rs_walk_auxiliary(walk, text, depends, record.data, true));
    rs_text_free(&path);
    free(text);
    value.lost = value.lost || (pointer && !copied && was_filled(walk, node));
    return value;
}

/* A member of a variable that was assigned as a whole. */
static rs_value part_of(rs_walk *walk, int whole, const rs_location *place, int node, CXType type)
{
    rs_value value = part_by_kind(walk, whole, place, node, type);
    value.depends |= rs_value_depends(walk, &walk->values[whole]);
    value.carried_loop = walk->values[whole].carried_loop;
    value.carried_from = walk->values[whole].carried_from;
    return value;
}

/* Whether an expression is the name of the variable with a key, and not of a reference to it. */
static bool names(const rs_walk *walk, int node, uint64_t key)
{
    node = rs_node_inner(walk->tree, node);
    return node >= 0 && walk->tree->nodes[node].kind == CXCursor_DeclRefExpr &&
           rs_cursor_key(walk, clang_getCursorReferenced(walk->tree->nodes[node].cursor)) == key;
}

static rs_value load_variable(rs_walk *walk, const rs_location *place, int node, CXType type)
{
    int known = rs_walk_find(walk, place->key);
    int whole = known >= 0 ? -1 : assigned_whole(walk, place->key);
    if (known < 0 && names(walk, node, place->key))
        return rs_walk_variable(walk, node);
    if (known < 0) {
        rs_value value = whole >= 0 ? part_of(walk, whole, place, node, type)
                                    : untouched(walk, place, node, type);
        if (is_array_kind(type.kind))
            return value; /* it is memory, and has no value of its own */
        known = rs_walk_keep(walk, &value);
        if (whole < 0)
            rs_walk_set_initial(walk, place->key, &value);
        if (!walk->exhausted && !place->part)
            rs_walk_set(walk, place->key, &value);
    }
    rs_value value = walk->values[known];
    if (value.carried_loop >= 0) {
        char *name = rs_walk_text(walk, node);
        rs_walk_read_carried(walk, known, name != NULL ? name : "?", false);
        free(name);
    }
    value.carried_loop = -1;
    if (place->part || is_record_kind(type.kind))
        value = copy_of(walk, &value, place->key);
    if (place->part && value.kind != RS_VALUE_UNKNOWN) /* its bytes have another meaning */
        value = rs_value_unknown(rs_value_depends(walk, &value), true);
    return rs_walk_view(walk, &value, type);
}

rs_value rs_walk_load(rs_walk *walk, const rs_location *place, int node)
{
    CXType type = rs_node_type(walk->tree, node);
    if (place->kind == RS_PLACE_NONE)
        return place->address;
    if (place->kind == RS_PLACE_VARIABLE)
        return load_variable(walk, place, node, type);
    rs_value address = place->address;
    if (is_array_kind(type.kind)) {
        rs_value_decay(&address, type);
        return address;
    }
    rs_reference *reference = rs_walk_refer(walk, &address, node, type);
    if (reference == NULL)
        return rs_value_unknown(0, true);
    reference->read = true;
    reference->loads_pointer = type.kind == CXType_Pointer;
    if (type.kind == CXType_Pointer && address.member[0] != '\0')
        return pointed_array(walk, &address, type);
    if (type.kind == CXType_Pointer) {
        rs_value_follow(&address, type);
        return address;
    }
    walk->unit->arrays[address.array].read = true;
    bool integer =
        (type.kind >= CXType_Bool && type.kind <= CXType_Int128) || type.kind == CXType_Enum;
    if (integer)
        return loaded_number(walk, &address);
    if (!is_record_kind(type.kind) || address.lost)
        return rs_value_unknown(rs_value_depends(walk, &address), true);
    address.kind = RS_VALUE_RECORD;
    address.key = 0;
    address.data = true;
    address.stores = walk->stores;
    return address;
}

/* What a variable may keep: integers that are unknown get a symbol with the variable's name. */
static rs_value stored_value(rs_walk *walk, const rs_value *value, int node)
{
    enum CXTypeKind kind = rs_node_type(walk->tree, node).kind;
    bool integer = kind >= CXType_Bool && kind <= CXType_Int128;
    rs_value stored = *value;
    stored.carried_loop = -1;
    if (integer && value->kind == RS_VALUE_UNKNOWN) {
        char *name = rs_walk_text(walk, node);
        stored = rs_value_number(rs_walk_number(walk, value, name != NULL ? name : "?"));
        stored.approximated = value->approximated;
        free(name);
    } else if (!integer && value->kind == RS_VALUE_NUMBER) {
        stored = rs_value_unknown(rs_value_depends(walk, value), rs_value_has_data(walk, value));
    }
    return stored;
}

/* A pointer that some call returned: an array of its own, with the pointer's name. */
static rs_value new_array(rs_walk *walk, uint64_t key, int node)
{
    char *name = rs_walk_text(walk, node);
    rs_value value = name == NULL ? rs_value_unknown(0, true)
                                  : rs_walk_array(walk, name, key, rs_node_type(walk->tree, node));
    free(name);
    if (value.kind == RS_VALUE_ADDRESS)
        rs_value_decay(&value, rs_node_type(walk->tree, node));
    return value;
}

/* What a variable was before its first store, where it may have been something. */
static void keep_initial(rs_walk *walk, const rs_location *place, int node)
{
    node = rs_node_inner(walk->tree, node);
    enum CXCursorKind kind = node < 0 ? CXCursor_InvalidFile : walk->tree->nodes[node].kind;
    if (kind == CXCursor_MemberRefExpr && assigned_whole(walk, place->key) < 0)
        (void)load_variable(walk, place, node, rs_node_type(walk->tree, node));
    if (kind != CXCursor_DeclRefExpr)
        return;
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    if (clang_getCursorKind(declared) == CXCursor_ParmDecl || rs_variable_lasts(declared))
        (void)rs_walk_variable(walk, node);
}

/* A record's arrays are memory: assigning the record writes them. */
static void write_arrays(rs_walk *walk, uint64_t key, int node)
{
    for (int i = 0; i < walk->unit->array_count; i++) {
        uint64_t of = walk->unit->arrays[i].key;
        if (of == key || rs_walk_whole(walk, of) == 0 || !rs_walk_is_part(walk, of, key))
            continue;
        rs_value all = rs_value_unknown(0, true);
        all.array = i;
        rs_reference *reference = rs_walk_refer(walk, &all, node, rs_node_type(walk->tree, node));
        if (reference == NULL)
            return;
        reference->understood = false;
        reference->written = walk->unit->arrays[i].written = true;
        walk->stores++;
    }
}

static void store_variable(rs_walk *walk, const rs_location *place, const rs_value *value, int node)
{
    if (rs_walk_find(walk, place->key) < 0)
        keep_initial(walk, place, node);
    rs_value stored = stored_value(walk, value, node);
    if (place->part) {
        int known = rs_walk_find(walk, place->key);
        rs_value old = known < 0 ? rs_value_unknown(0, false) : walk->values[known];
        old = copy_of(walk, &old, place->key);
        stored =
            rs_value_unknown(rs_value_depends(walk, &old) | rs_value_depends(walk, value), true);
    } else if (stored.kind == RS_VALUE_UNKNOWN && is_pointer(walk, node)) {
        stored = new_array(walk, place->key, node);
        stored.lost = value->lost;
    }
    stored = rs_walk_view(walk, &stored, rs_node_type(walk->tree, node));
    if (place->part || is_record_kind(rs_node_type(walk->tree, node).kind))
        write_arrays(walk, place->key, node);
    rs_walk_set(walk, place->key, &stored);
}

void rs_walk_store(rs_walk *walk, const rs_location *place, const rs_value *value, int node,
                   bool reads)
{
    CXType type = rs_node_type(walk->tree, node);
    if (place->kind == RS_PLACE_VARIABLE) {
        store_variable(walk, place, value, node);
    } else if (place->kind == RS_PLACE_MEMORY) {
        rs_reference *reference = rs_walk_refer(walk, &place->address, node, type);
        if (reference == NULL)
            return;
        rs_array *array = &walk->unit->arrays[place->address.array];
        reference->written = true;
        reference->read = reads;
        walk->stores += rs_type_may_hold_index(type);
        array->written = true;
        array->read = array->read || reads;
        rs_walk_disturb(walk, rs_stored_of(type), array->argument || place->address.lost,
                        place->address.lost);
    } else {
        rs_walk_disturb(walk, rs_stored_of(type), true, true);
    }
}

/* ---- names of other things ---- */

uint64_t rs_walk_columns(const rs_walk *walk)
{
    uint64_t columns = 0;
    for (int loop = walk->loop; loop >= 0; loop = walk->unit->loops[loop].parent)
        columns |= rs_symbol_depends(&walk->unit->symbols, walk->unit->loops[loop].symbol);
    return columns;
}

bool rs_walk_has(const rs_walk *walk, uint64_t key)
{
    for (int i = 0; i < walk->depth; i++) {
        const rs_node *routine = &walk->tree->nodes[walk->calls[i]];
        if (key >= routine->begin && key < routine->end)
            return true;
    }
    return false;
}

/* Whether something is known of a variable or a member of it; of others there is nothing to forget.
 */
static bool is_known(const rs_walk *walk, uint64_t key)
{
    bool known = rs_walk_find(walk, key) >= 0;
    for (int i = 0; i < walk->member_count && !known; i++)
        known = rs_walk_is_part(walk, walk->members[i].key, key) &&
                rs_walk_find(walk, walk->members[i].key) >= 0;
    return known;
}

void rs_walk_disturb(rs_walk *walk, rs_stored stored, bool lasting_too, bool others_too)
{
    rs_value changed = rs_value_unknown(rs_walk_columns(walk), true);
    for (int i = 0; i < walk->exposed->count; i++) {
        const rs_exposed *e = &walk->exposed->list[i];
        bool reached = e->lasts ? lasting_too : others_too && rs_walk_has(walk, e->key);
        if (reached && rs_stored_may_change(stored, e->type) && is_known(walk, e->key))
            rs_walk_set(walk, e->key, &changed);
    }
}

bool rs_walk_names_variable(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    node = node < 0 ? -1 : rs_node_inner(tree, node);
    int base = node < 0 ? -1 : rs_node_child(tree, node, 0);
    if (node < 0)
        return false;
    if (tree->nodes[node].kind == CXCursor_DeclRefExpr) {
        CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
        enum CXCursorKind kind = clang_getCursorKind(declared);
        return kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl;
    }
    bool member =
        tree->nodes[node].kind == CXCursor_MemberRefExpr || rs_walk_is_component(walk, node);
    bool target =
        tree->nodes[node].kind == CXCursor_UnaryOperator && rs_node_is_prefix(tree, node, "*");
    if (base < 0 || !(member || target))
        return false;
    base = rs_node_inner(tree, base);
    if (member && !rs_node_is_pointer(tree, base))
        return rs_walk_names_variable(walk, base);
    if (tree->nodes[base].kind != CXCursor_DeclRefExpr)
        return false;
    CXCursor declared = clang_getCursorReferenced(tree->nodes[base].cursor);
    int known = rs_walk_find(walk, rs_cursor_key(walk, declared));
    return known >= 0 && walk->values[known].kind == RS_VALUE_POINTER &&
           clang_getCanonicalType(clang_getCursorType(declared)).kind == CXType_Pointer;
}

void rs_walk_touch(rs_walk *walk, const rs_location *place, int node)
{
    if (rs_walk_find(walk, place->key) >= 0 || assigned_whole(walk, place->key) >= 0)
        return;
    rs_value value = rs_walk_evaluate(walk, node);
    if (rs_walk_find(walk, place->key) < 0 && value.kind != RS_VALUE_RECORD)
        rs_walk_set(walk, place->key, &value);
}

void rs_walk_bind_reference(rs_walk *walk, uint64_t key, int node)
{
    rs_location place = node < 0 ? nowhere() : rs_walk_locate(walk, node);
    rs_value target = place.address;
    if (place.kind == RS_PLACE_VARIABLE && !place.part) {
        rs_walk_touch(walk, &place, node);
        target = rs_value_unknown(0, false);
        target.kind = RS_VALUE_POINTER;
        target.key = place.key;
    } else if (place.kind != RS_PLACE_MEMORY) {
        rs_value value = node < 0 ? target : rs_walk_load(walk, &place, node);
        target = rs_value_unknown(0, false);
        target.kind = RS_VALUE_POINTER;
        target.key = rs_walk_member(walk, key, "&", 0);
        rs_walk_set(walk, target.key, &value);
    }
    rs_walk_set(walk, key, &target);
}
