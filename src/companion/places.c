/* See places.h. */
#include "companion/places.h"

#include "source/words.h"

#include <string.h>

enum { INCLUDE_DEPTH = 16 };

/* Behind the comment or the blank at `at`, else `at`. */
static size_t skip_blank(const rs_syntax_file *file, size_t at)
{
    const char *text = file->text;
    const char next = at + 1 < file->size ? text[at + 1] : '\0';
    if (text[at] == '/' && next == '/') {
        while (at < file->size && text[at] != '\n')
            at += text[at] == '\\' && at + 1 < file->size ? 2 : 1;
    } else if (text[at] == '/' && next == '*') {
        for (at += 2; at + 1 < file->size && (text[at] != '*' || text[at + 1] != '/');)
            at++;
        at = at + 2 < file->size ? at + 2 : file->size;
    } else if (strchr(" \t\r\n\f\v\\", text[at]) != NULL) {
        at++;
    }
    return at;
}

/* Behind a directive's last line. */
static size_t skip_directive(const rs_syntax_file *file, size_t at)
{
    while (at < file->size && file->text[at] != '\n') {
        const size_t behind = skip_blank(file, at);
        if (file->text[at] == '\\' && at + 1 < file->size)
            at += 2;
        else if (file->text[at] == '/' && behind > at + 1)
            at = behind;
        else
            at++;
    }
    return at;
}

size_t rs_place_head(const rs_syntax_file *file, size_t name)
{
    size_t head = 0, at = 0, depth = 0;
    bool is_begun = false, is_line_begin = true;
    while (at < name && at < file->size) {
        const char c = file->text[at];
        const size_t behind = skip_blank(file, at);
        if (behind > at) {
            is_line_begin |= memchr(file->text + at, '\n', behind - at) != NULL;
            at = behind;
            continue;
        }
        if (c == '#' && is_line_begin) {
            at = skip_directive(file, at);
            is_begun &= depth > 0;
            continue;
        }
        is_line_begin = false;
        if (!is_begun)
            head = at;
        is_begun = true;
        depth += c == '(';
        depth -= c == ')' && depth > 0;
        if (depth == 0 && (c == ';' || c == '{' || c == '}'))
            is_begun = false;
        at = rs_word_skip(file->text, file->size, at);
    }
    return is_begun ? head : name;
}

size_t rs_place_behind(const rs_syntax_file *file, size_t end)
{
    size_t at = end;
    while (at < file->size && file->text[at] != ';' && file->text[at] != '{' &&
           file->text[at] != '}' && file->text[at] != '#') {
        const size_t behind = skip_blank(file, at);
        at = behind > at ? behind : rs_word_skip(file->text, file->size, at);
    }
    return at < file->size && file->text[at] == ';' ? at + 1 : end;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* The file of the tree that an #include at `at` may name, by the last part of its path. */
static bool names_file(const rs_syntax_file *file, size_t at, size_t end, const char *wanted)
{
    const size_t length = strlen(wanted);
    for (; at + length < end; at++)
        if (memcmp(file->text + at, wanted, length) == 0 &&
            strchr("\"</", file->text[at - 1]) != NULL &&
            strchr("\">", file->text[at + length]) != NULL)
            return true;
    return false;
}

/* Behind the first #include in a file that reads `wanted`. */
static bool find_include(const rs_syntax *tree, size_t in, size_t wanted, int depth, size_t *found)
{
    const rs_syntax_file *file = &tree->files[in];
    if (file->text == NULL || depth == INCLUDE_DEPTH)
        return false;
    bool is_line_begin = true;
    for (size_t at = 0; at < file->size;) {
        const size_t behind = skip_blank(file, at);
        if (behind > at) {
            is_line_begin |= memchr(file->text + at, '\n', behind - at) != NULL;
            at = behind;
            continue;
        }
        if (file->text[at] != '#' || !is_line_begin) {
            is_line_begin = false;
            at = rs_word_skip(file->text, file->size, at);
            continue;
        }
        const size_t end = skip_directive(file, at);
        for (size_t other = 0, unused; other < tree->file_count; other++)
            if (other != in && names_file(file, at + 1, end, base_name(tree->files[other].path)) &&
                (other == wanted || find_include(tree, other, wanted, depth + 1, &unused))) {
                *found = end;
                return true;
            }
        at = end;
    }
    return false;
}

bool rs_place_include(const rs_syntax *tree, size_t header, size_t *at)
{
    return find_include(tree, 0, header, 0, at);
}
