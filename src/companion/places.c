/* See places.h. */
#include "companion/places.h"

#include "source/words.h"

#include <string.h>

enum { INCLUDE_DEPTH = 16 };

static size_t skip_blank(const rs_syntax_file *file, size_t at)
{
    return rs_blanks_skip(file->text, file->size, at);
}

size_t rs_place_begin(const rs_syntax_file *file)
{
    return file->size >= 3 && memcmp(file->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

size_t rs_place_skip_directive(const rs_syntax_file *file, size_t at)
{
    const char *text = file->text;
    bool in_comment = false;
    for (; at < file->size && (text[at] != '\n' || in_comment); at++) {
        const char next = at + 1 < file->size ? text[at + 1] : '\0';
        if (in_comment ? text[at] == '*' && next == '/' : text[at] == '/' && next == '*')
            in_comment = !in_comment;
        else if (text[at] != '\\')
            continue;
        at++; /* past what begins or ends a comment, or the end of a line that goes on */
    }
    return at < file->size ? at : file->size;
}

size_t rs_place_head(const rs_syntax_file *file, size_t name)
{
    size_t head = 0, at = rs_place_begin(file), depth = 0;
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
            at = rs_place_skip_directive(file, at);
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

/* The next directive at `*at` or behind it; false at the end of the text. */
static bool next_directive(const rs_syntax_file *file, size_t *at, size_t *end)
{
    if (*at == 0)
        *at = rs_place_begin(file);
    bool is_line_begin = *at == rs_place_begin(file) || *at >= file->size ||
                         file->text[*at - 1] == '\n' || file->text[*at] == '\n';
    while (*at < file->size) {
        const size_t behind = skip_blank(file, *at);
        if (behind > *at) {
            is_line_begin |= memchr(file->text + *at, '\n', behind - *at) != NULL;
            *at = behind;
        } else if (file->text[*at] == '#' && is_line_begin) {
            *end = rs_place_skip_directive(file, *at);
            return true;
        } else {
            is_line_begin = false;
            *at = rs_word_skip(file->text, file->size, *at);
        }
    }
    return false;
}

static bool is_include(const rs_syntax_file *file, size_t at, size_t end)
{
    size_t word, length;
    at = rs_blanks_skip(file->text, end, at + 1);
    return rs_word_next(file->text, end, &at, &word, &length) &&
           rs_word_equals(file->text, word, length, "include");
}

size_t rs_place_last_include(const rs_syntax_file *file, size_t end)
{
    size_t found = 0;
    for (size_t at = 0, behind; next_directive(file, &at, &behind) && at < end; at = behind)
        if (is_include(file, at, behind))
            found = behind;
    return found;
}

/* Behind the first #include in a file that reads `wanted`. */
static bool find_include(const rs_syntax *tree, size_t in, size_t wanted, int depth, size_t *found)
{
    const rs_syntax_file *file = &tree->files[in];
    if (file->text == NULL || depth == INCLUDE_DEPTH)
        return false;
    for (size_t at = 0, end; next_directive(file, &at, &end); at = end)
        for (size_t other = 0, unused; is_include(file, at, end) && other < tree->file_count;
             other++)
            if (other != in && names_file(file, at + 1, end, base_name(tree->files[other].path)) &&
                (other == wanted || find_include(tree, other, wanted, depth + 1, &unused))) {
                *found = end;
                return true;
            }
    return false;
}

bool rs_place_include(const rs_syntax *tree, size_t in, size_t header, size_t *at)
{
    return find_include(tree, in, header, 0, at);
}
