/*
 * What the tree does not show, but a copy of the text would have: operands of sizeof and decltype
 * in types, and conditional text that was not read. A name in it that has a shape is a refusal.
 */
#include "facts/element_walk.h"

#include "base/text.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    rs_fact_elements *facts;
    rs_fact_frame *frame;
    const rs_syntax_file *file;
    size_t index; /* of the file */
} reading;

/* The arguments of the declarations with a shape that have this name. */
static uint64_t find_name(const rs_fact_frame *frame, const char *word, size_t length)
{
    uint64_t found = 0;
    for (size_t i = 0; i < frame->declarations.capacity; i++) {
        const rs_syntax_declaration *of = frame->declarations.entries[i].key;
        const rs_fact_element *element = frame->declarations.entries[i].value;
        if (of != NULL && strlen(of->name) == length && memcmp(of->name, word, length) == 0)
            found |= element->arguments;
    }
    return found;
}

/* The next identifier outside comments, in [*at, end). */
static bool next_name(const rs_syntax_file *file, size_t end, size_t *at, size_t *name,
                      size_t *length)
{
    while (*at < end) {
        const size_t behind = rs_blanks_skip(file->text, end, *at);
        if (behind > *at) {
            *at = behind;
            continue;
        }
        *name = *at;
        *length = rs_identifier_length(file->text + *at);
        *at = *length > 0 ? *at + *length : rs_word_skip(file->text, end, *at);
        if (*length > 0)
            return true;
    }
    return false;
}

static uint64_t find_names(const rs_fact_frame *frame, const rs_syntax_file *file, size_t begin,
                           size_t end)
{
    uint64_t found = 0;
    size_t name, length;
    while (next_name(file, end, &begin, &name, &length))
        found |= find_name(frame, file->text + name, length);
    return found;
}

uint64_t rs_element_named(const rs_fact_elements *facts, const rs_fact_frame *frame,
                          rs_syntax_range range)
{
    if (range.file >= facts->tree->file_count || facts->tree->files[range.file].text == NULL ||
        range.in_macro)
        return rs_element_all(frame);
    return find_names(frame, &facts->tree->files[range.file], range.begin, range.end);
}

/* --- operands that are not evaluated --- */

enum { MACRO_DEPTH = 4 };

/* The next place of a word in a file, from `at`; or NULL. */
static const char *find_word(const char *at, const rs_syntax_file *file, const char *word)
{
    const size_t length = strlen(word);
    const char *const end = file->text + file->size;
    while (at != NULL && (size_t)(end - at) >= length && memcmp(at, word, length) != 0)
        at = memchr(at + 1, word[0], (size_t)(end - at) - 1);
    return at != NULL && (size_t)(end - at) >= length ? at : NULL;
}

static bool is_unevaluated(const char *word, size_t length)
{
    return rs_is_among(word, length,
                       "sizeof alignof _Alignof __alignof__ alignas decltype typeof __typeof__ "
                       "__typeof __decltype typeid noexcept");
}

/* Whether a macro of the user's files has one of these words in its text, or such a macro. */
static bool has_unevaluated(const rs_syntax *tree, const char *name, size_t length, int depth)
{
    for (size_t i = 0; i < tree->file_count; i++) {
        const rs_syntax_file *file = &tree->files[i];
        size_t at = 0, word, size;
        for (const char *found = file->text; depth < MACRO_DEPTH && found != NULL &&
                                             (found = find_word(found, file, "define")) != NULL;
             found += 6) {
            at = (size_t)(found - file->text) + 6;
            if (!next_name(file, file->size, &at, &word, &size) || size != length ||
                memcmp(file->text + word, name, length) != 0)
                continue;
            size_t end = at;
            for (; end < file->size && file->text[end] != '\n'; end++)
                end += file->text[end] == '\\' && end + 1 < file->size;
            while (next_name(file, end, &at, &word, &size))
                if (is_unevaluated(file->text + word, size) ||
                    has_unevaluated(tree, file->text + word, size, depth + 1))
                    return true;
        }
    }
    return false;
}

/* Behind the operand: a pair of parentheses and what may follow, up to a comma or the like. */
static size_t operand_end(const rs_syntax_file *file, size_t at, size_t end)
{
    int depth = 0;
    while (at < end) {
        const size_t behind = rs_blanks_skip(file->text, end, at);
        if (behind > at) {
            at = behind;
            continue;
        }
        const char c = file->text[at];
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (depth < 0 || (depth == 0 && strchr(",;{}", c) != NULL))
            return at;
        at = rs_word_skip(file->text, end, at);
    }
    return end;
}

static rs_syntax_range place(const reading *at, size_t begin, size_t end)
{
    return (rs_syntax_range){at->index, begin, end, false};
}

static void read_operands(const reading *at, size_t begin, size_t end)
{
    size_t name, length, from = begin;
    while (next_name(at->file, end, &from, &name, &length)) {
        const size_t next = rs_blanks_skip(at->file->text, end, from);
        const bool is_word = is_unevaluated(at->file->text + name, length);
        if (!is_word && (next >= end || at->file->text[next] != '('))
            continue;
        const size_t behind =
            is_word ? operand_end(at->file, from, end) : operand_end(at->file, next + 1, end);
        const uint64_t named = find_names(at->frame, at->file, from, behind);
        if (named != 0 &&
            (is_word || has_unevaluated(at->facts->tree, at->file->text + name, length, 0)))
            rs_element_refuse(at->facts, named, place(at, name, behind),
                              "the type or the size of an element is asked");
    }
}

/* --- conditional text --- */

typedef struct {
    size_t file, begin, end;
} region;

static bool is_outside(void *context, const rs_syntax_node *node)
{
    const region *at = context;
    return node->range.file != at->file || node->range.begin < at->begin ||
           node->range.end > at->end;
}

/* Whether no comment goes over an end of a text in front of a directive. */
static bool is_closed(const rs_syntax_file *file, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        const size_t behind = rs_blanks_skip(file->text, file->size, at);
        if (behind > end + strspn(file->text + end, " \t") ||
            (file->text[at] == '*' && file->text[at + 1] == '/'))
            return false;
        at = behind > at ? behind : rs_word_skip(file->text, end, at);
    }
    return true;
}

/* Whether all text of a function can be taken line by line, and says the same for each device. */
static bool is_plain(const rs_syntax_file *file, rs_syntax_range range)
{
    for (size_t at = range.begin; at + 1 < range.end; at++)
        if (file->text[at] == 'R' && file->text[at + 1] == '"')
            return false;
    return !rs_words_have(file->text, range.begin, range.end, "__CUDA_ARCH__", 13);
}

/* A copy leaves such text out, and cannot be compiled where it would hold. What depends on the
 * device is asked anew for each of them, and for the host. */
static void read_region(const reading *at, size_t begin, size_t end)
{
    region inside = {at->index, begin, end};
    const uint64_t named = find_names(at->frame, at->file, begin, end);
    if (named == 0 ||
        !rs_syntax_walk(rs_syntax_body(at->facts->tree, at->frame->function), is_outside, &inside))
        return;
    if (is_closed(at->file, begin, end) && is_plain(at->file, at->frame->function->range))
        rs_element_leave_out(at->facts, at->frame, place(at, begin, end));
    else
        rs_element_refuse(at->facts, named, place(at, begin, end),
                          "conditional text that was not read uses the array");
}

/* Behind a line and those that continue it. */
static size_t line_end(const char *text, size_t at, size_t end)
{
    while (at < end && text[at] != '\n')
        at += text[at] == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

static bool begins_with(const char *text, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(end - text) >= length && memcmp(text, word, length) == 0;
}

static void read_conditions(const reading *at, size_t begin, size_t end)
{
    size_t region_begin = 0, depth = 0;
    const char *text = at->file->text;
    for (size_t line = begin; line < end;) {
        const size_t next = line_end(text, line, end);
        size_t word = line;
        while (word < next && (text[word] == ' ' || text[word] == '\t'))
            word++;
        if (word < next && text[word] == '#') {
            for (word++; word < next && (text[word] == ' ' || text[word] == '\t');)
                word++;
            const char *at_word = text + word, *behind = text + next;
            if (begins_with(at_word, behind, "if") || begins_with(at_word, behind, "el") ||
                begins_with(at_word, behind, "endif")) {
                if (depth > 0)
                    read_region(at, region_begin, line);
                depth += begins_with(at_word, behind, "if");
                depth -= begins_with(at_word, behind, "endif") && depth > 0;
                region_begin = next;
            } else if (begins_with(at_word, behind, "include")) {
                rs_element_refuse(at->facts, rs_element_all(at->frame), place(at, line, next),
                                  "the function's text is in several files");
            }
        }
        line = next;
    }
}

void rs_element_read_text(rs_fact_elements *facts, rs_fact_frame *frame)
{
    const rs_syntax_range range = frame->function->range;
    if (range.file >= facts->tree->file_count || facts->tree->files[range.file].text == NULL ||
        range.in_macro) {
        rs_element_refuse(facts, rs_element_all(frame), range, "the function is a macro's text");
        return;
    }
    const reading at = {facts, frame, &facts->tree->files[range.file], range.file};
    read_operands(&at, range.begin, range.end);
    read_conditions(&at, range.begin, range.end);
}
