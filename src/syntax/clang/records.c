/* Structures, classes and unions with their layouts. */
#include "syntax/clang/reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    rs_syntax_reader *reader;
    rs_syntax_declaration *record;
    const rs_syntax_declaration **fields;
    rs_syntax_base *bases;
} visit;

static enum CXVisitorResult visit_field(CXCursor cursor, CXClientData data)
{
    visit *at = data;
    rs_syntax_declaration *field = rs_read_declaration(at->reader, cursor);
    if (field == NULL ||
        !rs_syntax_check(at->reader->tree, RS_LIST_GROW(at->fields, at->record->field_count)))
        return CXVisit_Break;
    field->parent = at->record;
    at->fields[at->record->field_count++] = field;
    return CXVisit_Continue;
}

/* Whether a function that is not defaulted takes part in copies of its class. Bytes are copied all
 * the same where some are deleted, but not the destructor. */
static bool copies(CXCursor cursor)
{
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    const bool is_deleted = clang_getCursorAvailability(cursor) == CXAvailability_NotAvailable;
    if (clang_CXXMethod_isDefaulted(cursor) != 0 || (is_deleted && kind != CXCursor_Destructor))
        return false;
    if (kind == CXCursor_Constructor)
        return clang_CXXConstructor_isCopyConstructor(cursor) != 0 ||
               clang_CXXConstructor_isMoveConstructor(cursor) != 0;
    if (kind != CXCursor_CXXMethod || clang_Cursor_getNumArguments(cursor) != 1)
        return kind == CXCursor_Destructor;
    const enum CXTypeKind given =
        clang_getCanonicalType(clang_getCursorType(clang_Cursor_getArgument(cursor, 0))).kind;
    CXString name = clang_getCursorSpelling(cursor);
    const bool assigns = strcmp(clang_getCString(name), "operator=") == 0 &&
                         (given == CXType_LValueReference || given == CXType_RValueReference);
    clang_disposeString(name);
    return assigns;
}

static enum CXChildVisitResult visit_member(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    visit *at = data;
    if (clang_CXXMethod_isVirtual(cursor) != 0)
        at->record->is_polymorphic = true;
    at->record->has_own_copies |= copies(cursor);
    if (clang_getCursorKind(cursor) != CXCursor_CXXBaseSpecifier)
        return CXChildVisit_Continue;
    if (!rs_syntax_check(at->reader->tree, RS_LIST_GROW(at->bases, at->record->base_count)))
        return CXChildVisit_Break;
    const rs_syntax_type *type = rs_read_type(at->reader, clang_getCursorType(cursor));
    if (type != NULL)
        at->bases[at->record->base_count++] =
            (rs_syntax_base){type, -1, clang_isVirtualBase(cursor) != 0};
    return CXChildVisit_Continue;
}

/*
 * The Itanium ABI puts the first base at 0 (one that has a pointer to virtual functions where the
 * class has one), and an empty one too, unless another empty one is there. What is behind is
 * not derived here.
 */
static void place_bases(rs_syntax_declaration *record, rs_syntax_base *bases)
{
    bool is_first = true, is_polymorphic = record->is_polymorphic;
    for (size_t i = 0; i < record->base_count; i++) {
        const rs_syntax_declaration *base = bases[i].type->declaration;
        is_polymorphic |= bases[i].is_virtual || (base != NULL && base->is_polymorphic);
    }
    record->is_polymorphic = is_polymorphic;
    for (size_t i = 0; i < record->base_count; i++) {
        const rs_syntax_declaration *base = bases[i].type->declaration;
        if (base == NULL || bases[i].is_virtual || !base->is_defined) {
            is_first = false;
            continue;
        }
        if (is_first && base->is_polymorphic == is_polymorphic)
            bases[i].offset = 0;
        is_first = false;
    }
}

/* Moves what was found into the arena. */
static void *keep(rs_syntax_reader *reader, const void *found, size_t size)
{
    void *kept = rs_syntax_allocate(reader->tree, size);
    if (kept != NULL && size > 0)
        memcpy(kept, found, size);
    return kept;
}

void rs_read_record(rs_syntax_reader *reader, rs_syntax_declaration *record, CXType type,
                    CXCursor cursor)
{
    visit at = {reader, record, NULL, NULL};
    const CXCursor pattern = clang_getSpecializedCursorTemplate(cursor);
    record->is_union = clang_getCursorKind(cursor) == CXCursor_UnionDecl;
    record->is_lambda = strstr(record->qualified, "(lambda at ") != NULL;
    record->is_instance = clang_Cursor_isNull(pattern) == 0;
    record->is_defined = clang_Type_getSizeOf(type) >= 0;
    if (!record->is_defined)
        return;
    record->is_plain = clang_isPODType(type) != 0;
    clang_Type_visitFields(type, visit_field, &at);
    clang_visitChildren(cursor, visit_member, &at);
    /* clang shows the members of an instance, but its bases and methods in the template alone: not
     * those of an explicit specialization, which has its own. */
    if (record->is_instance && record->base_count == 0 &&
        clang_equalLocations(clang_getCursorLocation(cursor), clang_getCursorLocation(pattern)) !=
            0)
        clang_visitChildren(pattern, visit_member, &at);
    if (at.bases != NULL)
        place_bases(record, at.bases);
    record->fields = keep(reader, at.fields, record->field_count * sizeof at.fields[0]);
    record->bases = keep(reader, at.bases, record->base_count * sizeof at.bases[0]);
    if (record->fields == NULL || record->bases == NULL)
        record->field_count = record->base_count = 0;
    free((void *)at.fields);
    free(at.bases);
}
