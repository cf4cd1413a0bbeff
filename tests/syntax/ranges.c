/*
 * For each node outside of macros: brackets in its bytes match; children are inside it, in order;
 * a name, a member, a literal and a call are written as the node says, and an operator stands
 * between its operands.
 */
#include "ranges.h"

#include "dump.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const rs_syntax *tree;
    rs_range_count *count;
} check;

static size_t skip_space(const rs_syntax_file *file, size_t at, size_t end)
{
    while (at < end) {
        const char *text = file->text + at;
        if (isspace((unsigned char)*text) || *text == '\\') {
            at++;
        } else if (strncmp(text, "//", 2) == 0) {
            while (at < end && file->text[at] != '\n')
                at++;
        } else if (strncmp(text, "/*", 2) == 0) {
            const char *close = strstr(text + 2, "*/");
            at = close == NULL ? end : (size_t)(close - file->text) + 2;
        } else {
            break;
        }
    }
    return at;
}

/* Brackets of each kind close in order. Strings and comments are passed over. */
static bool is_balanced(const rs_syntax_file *file, rs_syntax_range range)
{
    char open[256];
    size_t depth = 0;
    for (size_t at = range.begin; (at = skip_space(file, at, range.end)) < range.end; at++) {
        const char c = file->text[at];
        if (c == '"' || c == '\'') {
            for (at++; at < range.end && file->text[at] != c; at++)
                at += file->text[at] == '\\';
        } else if (strchr("([{", c) != NULL && depth < sizeof open) {
            open[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
        } else if (strchr(")]}", c) != NULL && (depth == 0 || open[--depth] != c)) {
            return false;
        }
    }
    return depth == 0;
}

static bool is_word(const rs_syntax_file *file, size_t begin, size_t end, const char *word)
{
    const size_t length = strlen(word);
    return end - begin == length && memcmp(file->text + begin, word, length) == 0;
}

/* The last word of a range is a name (`n::f`, `p->x`, `f<3>`). */
static bool has_name(const rs_syntax_file *file, rs_syntax_range range, const char *name)
{
    const size_t length = strlen(name);
    size_t end = range.end;
    if (end > range.begin && file->text[end - 1] == '>' && name[length - 1] != '>')
        while (end > range.begin && file->text[end - 1] != '<')
            end--;
    for (size_t at = range.begin; at + length <= range.end; at++)
        if (at + length <= end + 1 && memcmp(file->text + at, name, length) == 0)
            return true;
    return length == 0;
}

static bool is_between(const rs_syntax_file *file, const rs_syntax_node *node)
{
    const rs_syntax_node *left = node->children[0], *right = node->children[1];
    if (left->range.in_macro || right->range.in_macro)
        return true;
    size_t begin = skip_space(file, left->range.end, node->range.end), end = right->range.begin;
    while (end > begin && isspace((unsigned char)file->text[end - 1]))
        end--;
    const size_t length = strlen(node->symbol);
    return begin + length <= end && memcmp(file->text + begin, node->symbol, length) == 0 &&
           skip_space(file, begin + length, end) == end;
}

static bool is_right(const rs_syntax_file *file, const rs_syntax_node *node)
{
    const rs_syntax_range range = node->range;
    if (range.begin > range.end || range.end > file->size)
        return false;
    if (!is_balanced(file, range))
        return false;
    switch (node->kind) {
    case RS_NODE_REFERENCE:
        if (strncmp(node->declaration->name, "operator", 8) == 0 ||
            strncmp(node->declaration->name, "__", 2) == 0)
            return true;
        return has_name(file, range, node->declaration->name);
    case RS_NODE_MEMBER:
        return node->declaration == NULL || has_name(file, range, node->declaration->name);
    case RS_NODE_LITERAL:
        if (node->constant.kind == RS_CONSTANT_INTEGER &&
            isdigit((unsigned char)file->text[range.begin]) &&
            memchr(file->text + range.begin, '\'', range.end - range.begin) == NULL &&
            strncmp(file->text + range.begin, "0b", 2) != 0)
            return (long long)strtoull(file->text + range.begin, NULL, 0) == node->constant.integer;
        return true;
    case RS_NODE_BINARY:
    case RS_NODE_ASSIGN:
        return is_between(file, node);
    case RS_NODE_SUBSCRIPT:
        return file->text[range.end - 1] == ']' ||
               strncmp(file->text + range.end - 2, ":>", 2) == 0;
    case RS_NODE_PAREN:
        return file->text[range.begin] == '(' && file->text[range.end - 1] == ')';
    default:
        return !is_word(file, range.begin, range.end, ";");
    }
}

static bool visit(void *context, const rs_syntax_node *node)
{
    check *at = context;
    const rs_syntax_range range = node->range;
    at->count->nodes++;
    at->count->in_macros += range.in_macro;
    at->count->unknown += node->kind == RS_NODE_UNKNOWN;
    if (range.in_macro || range.file >= at->tree->file_count)
        return true;
    const rs_syntax_file *file = &at->tree->files[range.file];
    bool right = is_right(file, node);
    for (size_t i = 0; right && i < node->child_count; i++) {
        const rs_syntax_node *child = node->children[i];
        /* Several variables of one declaration share the words before them. */
        if (child != NULL && child->range.file == range.file && !child->range.in_macro)
            right = child->range.begin >= range.begin && child->range.end <= range.end;
    }
    if (!right && at->count->wrong++ == 0)
        snprintf(at->count->first, sizeof at->count->first, "%s:%zu: %s @%zu-%zu: %.*s", file->path,
                 rs_syntax_line(at->tree, range), node_word(node->kind), range.begin, range.end,
                 range.end - range.begin < 100 ? (int)(range.end - range.begin) : 100,
                 file->text + range.begin);
    return true;
}

void rs_check_ranges(const rs_syntax *tree, rs_range_count *count)
{
    check at = {tree, count};
    for (size_t i = 0; i < tree->declaration_count; i++)
        rs_syntax_walk(tree->declarations[i]->body, visit, &at);
}
