/* clang's locations as bytes of files. */
#include "syntax/clang/reader.h"

#include <ctype.h>
#include <string.h>

bool rs_is_system(rs_syntax_reader *reader, CXSourceLocation location)
{
    CXFile file;
    clang_getExpansionLocation(location, &file, NULL, NULL, NULL);
    if (file == NULL || clang_Location_isInSystemHeader(location) != 0)
        return true;
    const char *folder = reader->toolkit;
    if (clang_Location_isFromMainFile(location) != 0 || reader->is_borrowed)
        return clang_Location_isFromMainFile(location) ==
               0; /* a flat source has all of the user's */
    CXString name = clang_getFileName(file);
    const char *path = clang_getCString(name);
    bool is_system = path == NULL;
    if (!is_system && folder != NULL && folder[0] != '\0')
        is_system = strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/';
    for (size_t i = 0; !is_system && i < reader->virtual_count; i++)
        is_system = strcmp(reader->virtual_paths[i], path) == 0;
    clang_disposeString(name);
    return is_system;
}

static size_t add_file(rs_syntax_reader *reader, CXFile file)
{
    rs_syntax *tree = reader->tree;
    if (!rs_syntax_check(tree, RS_LIST_GROW(tree->files, tree->file_count)) ||
        !rs_syntax_check(tree, RS_LIST_GROW(reader->clang_files, tree->file_count)))
        return RS_NO_FILE;
    rs_syntax_file *added = (rs_syntax_file *)&tree->files[tree->file_count];
    *added = (rs_syntax_file){rs_read_string(reader, clang_getFileName(file)), NULL, 0};
    added->text = clang_getFileContents(reader->unit, file, &added->size);
    reader->clang_files[tree->file_count] = file;
    return tree->file_count++;
}

static size_t find_file(rs_syntax_reader *reader, CXFile file)
{
    const size_t count = reader->tree->file_count;
    if (file == NULL)
        return RS_NO_FILE;
    for (size_t i = 0; i < count; i++) {
        const size_t which = (reader->last_file + i) % count;
        if (clang_File_isEqual(reader->clang_files[which], file) != 0)
            return reader->last_file = which;
    }
    const size_t added = add_file(reader, file);
    if (added != RS_NO_FILE)
        reader->last_file = added;
    return added;
}

const rs_syntax_file *rs_file_of(const rs_syntax_reader *reader, rs_syntax_range range)
{
    if (range.file >= reader->tree->file_count)
        return NULL;
    const rs_syntax_file *file = &reader->tree->files[range.file];
    return file->text == NULL ? NULL : file;
}

/* Behind a string, a character or a comment that begins there, or the next byte. */
static size_t skip_one(const rs_syntax_file *file, size_t at)
{
    const char *text = file->text;
    const char first = text[at], second = at + 1 < file->size ? text[at + 1] : '\0';
    if (first == '/' && second == '/') {
        while (at < file->size && text[at] != '\n')
            at++;
    } else if (first == '/' && second == '*') {
        for (at += 2; at + 1 < file->size && !(text[at] == '*' && text[at + 1] == '/');)
            at++;
        at += 2;
    } else if (first == '"' || first == '\'') {
        for (at++; at < file->size && text[at] != first && text[at] != '\n'; at++)
            at += text[at] == '\\';
        at++;
    } else {
        at++;
    }
    return at < file->size ? at : file->size;
}

size_t rs_skip_blanks(const rs_syntax_file *file, size_t at)
{
    while (at < file->size &&
           (isspace((unsigned char)file->text[at]) ||
            (file->text[at] == '\\' && at + 1 < file->size && file->text[at + 1] == '\n') ||
            (file->text[at] == '/' && at + 1 < file->size &&
             (file->text[at + 1] == '/' || file->text[at + 1] == '*'))))
        at = skip_one(file, at);
    return at;
}

/* Behind the call of a macro whose name begins there, with its arguments in parentheses. */
static size_t call_end(const rs_syntax_file *file, size_t at)
{
    while (at < file->size && (isalnum((unsigned char)file->text[at]) || file->text[at] == '_'))
        at++;
    size_t open = rs_skip_blanks(file, at);
    if (open >= file->size || file->text[open] != '(')
        return at;
    size_t depth = 0;
    while (open < file->size) {
        depth += file->text[open] == '(';
        depth -= file->text[open] == ')';
        open = skip_one(file, open);
        if (depth == 0)
            return open;
    }
    return at;
}

typedef struct {
    CXFile file;
    unsigned file_offset; /* in a macro's argument, where it is written */
    unsigned expansion_offset;
    unsigned raw;
    bool in_macro; /* also in an argument */
} edge;

/* The highest bit of a location says that it is in a macro, in all versions of clang. */
static edge find_edge(CXSourceLocation location)
{
    edge found;
    clang_getFileLocation(location, &found.file, NULL, NULL, &found.file_offset);
    clang_getExpansionLocation(location, NULL, NULL, NULL, &found.expansion_offset);
    found.raw = location.int_data;
    found.in_macro = (found.raw & 0x80000000u) != 0;
    return found;
}

/*
 * Both edges in one argument of a macro are as far apart for clang as in the file. Else a node with
 * an edge in a macro covers the macro's whole call; it is more than that call where its other edge
 * is outside.
 */
rs_syntax_range rs_read_range(rs_syntax_reader *reader, CXSourceRange range)
{
    const edge begin = find_edge(clang_getRangeStart(range)),
               end = find_edge(clang_getRangeEnd(range));
    rs_syntax_range found = {find_file(reader, begin.file), begin.file_offset, end.file_offset,
                             false};
    const rs_syntax_file *file = rs_file_of(reader, found);
    if (file == NULL || begin.file == NULL || end.file == NULL ||
        clang_File_isEqual(begin.file, end.file) == 0) {
        found.end = found.begin;
        found.in_macro = true;
        return found;
    }
    const bool is_argument = begin.in_macro && end.in_macro &&
                             begin.file_offset != begin.expansion_offset &&
                             end.raw - begin.raw == end.file_offset - begin.file_offset;
    if (is_argument || (!begin.in_macro && !end.in_macro))
        return found;
    if (begin.in_macro)
        found.begin = begin.expansion_offset;
    if (end.in_macro)
        found.end = call_end(file, end.expansion_offset);
    found.in_macro = begin.in_macro && found.end <= call_end(file, found.begin);
    return found;
}
