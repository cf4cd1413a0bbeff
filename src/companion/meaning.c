/*
 * Whether the names in a text mean the same where its copy stands, which is behind the original.
 *
 * A copy is a template: calls whose arguments are parts of elements are looked up once more when it
 * is used, so an overload that comes after the original could be taken. And a macro that has
 * several definitions may have another one at the copy's place: behind a header or a class, or
 * behind the original where that has directives of its own.
 */
#include "companion/edit.h"
#include "source/words.h"

#include <string.h>

/* Where a function, or its template, was met first in the order of the source. */
static size_t order_of(const rs_syntax *tree, const rs_syntax_declaration *function)
{
    for (size_t i = 0; i < tree->declaration_count; i++)
        if (tree->declarations[i]->name_range.file == function->name_range.file &&
            tree->declarations[i]->name_range.begin == function->name_range.begin)
            return i;
    return tree->declaration_count;
}

static bool has_later_overload(const rs_companion_editing *at, const rs_syntax_declaration *called)
{
    const size_t own = order_of(at->tree, at->frame->function);
    for (size_t i = own + 1; i < at->tree->declaration_count; i++) {
        const rs_syntax_declaration *one = at->tree->declarations[i];
        if ((one->kind == RS_DECLARATION_FUNCTION || one->kind == RS_DECLARATION_TEMPLATE) &&
            !one->is_method && !one->is_instance && strcmp(one->name, called->name) == 0 &&
            order_of(at->tree, called) != i)
            return true;
    }
    return false;
}

void rs_companion_check_call(rs_companion_editing *at, const rs_syntax_node *node)
{
    const rs_syntax_declaration *called = node->declaration;
    if (!called->is_method && has_later_overload(at, called))
        rs_companion_fail(at, ~UINT64_C(0), node->range,
                          "an overload of a function that is called stands behind");
}

/* Whether a text defines or ends a macro at `from` or behind it. */
static bool defines(const char *text, size_t from, const char *name, size_t length)
{
    size_t size = 0;
    for (const char *line = text; line != NULL && *line != '\0';
         line += size, line += *line == '\n') {
        size = strcspn(line, "\n");
        const char *word = line + strspn(line, " \t");
        if (*word++ != '#' || line < text + from)
            continue;
        word += strspn(word, " \t");
        const bool ends = strncmp(word, "undef", 5) == 0;
        if (!ends && strncmp(word, "define", 6) != 0)
            continue;
        word += ends ? 5 : 6;
        word += strspn(word, " \t");
        if (rs_identifier_length(word) == length && memcmp(word, name, length) == 0)
            return true;
    }
    return false;
}

/* Whether a macro may change between a place in a file and the end of its #include: behind the
 * place, or by several headers. */
static bool may_change(const rs_companion_editing *at, size_t from, const char *name, size_t length)
{
    size_t others = 0;
    for (size_t i = 0; i < at->tree->file_count; i++)
        if (i != at->copies->main_file && defines(at->tree->files[i].text, 0, name, length))
            others++;
    return others > 1 || defines(at->file->text, from, name, length);
}

static bool has_definitions(const rs_syntax_file *file, rs_syntax_range range)
{
    for (size_t at = range.begin; at < range.end; at++)
        if (file->text[at] == '#' && at + 1 < range.end) {
            const size_t word = rs_blanks_skip(file->text, range.end, at + 1);
            const size_t length = rs_identifier_length(file->text + word);
            if (rs_word_equals(file->text, word, length, "define") ||
                rs_word_equals(file->text, word, length, "undef"))
                return true;
        }
    return false;
}

void rs_companion_check_macros(rs_companion_editing *at, bool is_elsewhere)
{
    const rs_syntax_range range = at->frame->function->range;
    size_t from = range.begin, word, length;
    if (!is_elsewhere && !has_definitions(at->file, range))
        return;
    while (rs_word_next(at->file->text, range.end, &from, &word, &length))
        if (may_change(at, range.begin, at->file->text + word, length)) {
            rs_companion_fail(at, ~UINT64_C(0),
                              (rs_syntax_range){at->file_index, word, word + length, false},
                              "a macro whose definition may change behind it is used");
            return;
        }
}
