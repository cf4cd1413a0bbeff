/* See declared.h. */
#include "analyze/declared.h"

#include "analyze/symbols.h"
#include "source/query.h"

#include <stdio.h>
#include <string.h>

bool rs_cursor_copy_name(char name[RS_CURSOR_NAME_ROOM], CXCursor cursor)
{
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *text = clang_getCString(spelling);
    snprintf(name, RS_CURSOR_NAME_ROOM, "%s", text != NULL ? text : "");
    clang_disposeString(spelling);
    return name[0] != '\0';
}

uint64_t rs_name_key(const char *name)
{
    return (rs_name_hash(name) & 0x7fffffffffffffffu) | (uint64_t)1 << 63;
}

uint64_t rs_cursor_key(CXCursor cursor)
{
    char name[RS_CURSOR_NAME_ROOM];
    if (clang_Location_isFromMainFile(clang_getCursorLocation(cursor)) != 0)
        return (uint64_t)rs_cursor_offset(cursor) & 0xffffffffu;
    rs_cursor_copy_name(name, cursor);
    return rs_name_key(name);
}

bool rs_cursor_is_global(CXCursor declared)
{
    enum CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(declared));
    return parent == CXCursor_TranslationUnit || parent == CXCursor_Namespace;
}

bool rs_variable_lasts(CXCursor declared)
{
    enum CX_StorageClass storage = clang_Cursor_getStorageClass(declared);
    return clang_getCursorKind(declared) == CXCursor_VarDecl &&
           (storage == CX_SC_Static || storage == CX_SC_Extern || rs_cursor_is_global(declared));
}

static enum CXChildVisitResult find_constant(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_CUDAConstantAttr)
        return CXChildVisit_Continue;
    *(bool *)data = true;
    return CXChildVisit_Break;
}

bool rs_variable_is_constant(CXCursor declared)
{
    CXType type = clang_getCursorType(declared);
    bool constant = clang_isConstQualifiedType(clang_getCanonicalType(type)) != 0;
    CXString spelling = clang_getTypeSpelling(type);
    const char *text = clang_getCString(spelling);
    const char *star = text == NULL ? NULL : strrchr(text, '*');
    text = star != NULL ? star : text;
    constant = constant || (text != NULL && strstr(text, "__constant") != NULL);
    clang_disposeString(spelling);
    clang_visitChildren(declared, find_constant, &constant);
    return constant;
}

static enum CXChildVisitResult find_shared(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_CUDASharedAttr)
        return CXChildVisit_Continue;
    *(bool *)data = true;
    return CXChildVisit_Break;
}

bool rs_variable_is_shared(CXCursor declared)
{
    bool shared = false;
    clang_visitChildren(declared, find_shared, &shared);
    return shared;
}

bool rs_variable_is_open(CXCursor declared)
{
    const bool shared = !rs_cursor_is_global(declared) &&
                        clang_Cursor_getStorageClass(declared) != CX_SC_Extern &&
                        rs_variable_is_shared(declared);
    return rs_variable_lasts(declared) && !shared;
}

bool rs_constructor_is_written(CXCursor constructor)
{
    CXCursor class = clang_getCursorSemanticParent(constructor);
    return clang_CXXMethod_isDefaulted(constructor) == 0 &&
           clang_equalLocations(clang_getCursorLocation(constructor),
                                clang_getCursorLocation(class)) == 0;
}
