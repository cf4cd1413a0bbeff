/*
 * Declarations of pointers and references to elements: the words of their type are kept where they
 * name the element, so that a template's parameter stays one, and the stars become a class.
 */
#include "companion/edit.h"
#include "source/words.h"

#include <string.h>

enum { TYPE_LENGTH = 240 };

/* The element's type, as it is written. */
typedef struct {
    char element[TYPE_LENGTH]; /* "const Body"; "" where the words say `auto` */
    bool is_const;             /* the pointer itself is */
    bool is_known;
} spelled;

static bool is_dropped(const char *text, size_t word, size_t length)
{
    return rs_is_among(text + word, length, "restrict __restrict__ __restrict register volatile");
}

/* Words that stand behind the last star: const, or what says nothing of the element. */
static bool read_behind(spelled *type, const char *text, size_t begin, size_t end)
{
    size_t word, length;
    while (rs_word_next(text, end, &begin, &word, &length)) {
        if (rs_word_equals(text, word, length, "const"))
            type->is_const = true;
        else if (!is_dropped(text, word, length))
            return false;
    }
    return true;
}

/* What is between `begin` and a name: words, and one star or ampersand. Without one it is an
 * array's element where `is_array`. */
static spelled read_type(const rs_syntax_file *file, size_t begin, size_t end, char mark,
                         bool is_array)
{
    spelled type = {"", false, false};
    size_t star = end, marks = 0;
    for (size_t i = begin; i < end; i++)
        if (file->text[i] == mark) {
            star = i;
            marks++;
        }
    const bool is_auto = rs_words_have(file->text, begin, star, "auto", 4);
    if (marks == 0 && is_auto)
        type.is_known = true;
    if (marks + is_array != 1)
        return type;
    if (!read_behind(&type, file->text, marks == 1 ? star : end, end))
        return type;
    type.is_known = true;
    while (star > begin && strchr(" \t\r\n", file->text[star - 1]) != NULL)
        star--;
    if (!is_auto) {
        if (star - begin >= sizeof type.element || star == begin)
            type.is_known = false;
        else
            memcpy(type.element, file->text + begin, star - begin);
        if (memchr(type.element, '/', sizeof type.element) != NULL ||
            rs_words_have(file->text, begin, star, "volatile", 8))
            type.is_known = false; /* a comment, which may have any word */
    }
    return type;
}

/* A name of the type that holds anywhere; "" when there may be none. */
static void name_type(const rs_companion_editing *at, const rs_syntax_declaration *of,
                      spelled *type)
{
    const rs_syntax_type *element = of->type == NULL ? NULL : of->type->of;
    if (type->is_known || at->frame->function->is_instance || element == NULL ||
        strchr(element->name, '(') != NULL || strlen(element->name) >= sizeof type->element)
        return;
    strcpy(type->element, element->name);
    type->is_known = true;
}

static bool is_array_form(const rs_syntax_file *file, const rs_syntax_declaration *of)
{
    const size_t next = rs_blanks_skip(file->text, file->size, of->name_range.end);
    return next < file->size && file->text[next] == '[';
}

/* --- parameters --- */

/* What all parameters of a kernel add behind the last one, and at the begin of the body. */
typedef struct {
    rs_text extents, pointers;
} kernel_head;

static void retype_kernel_parameter(rs_companion_editing *at, const rs_syntax_declaration *of,
                                    kernel_head *head)
{
    const uint64_t arguments = rs_fact_declaration_shape(at->frame, of).arguments;
    if (of->name[0] == '\0')
        return;
    spelled type = read_type(at->file, of->range.begin, of->name_range.begin, '*',
                             is_array_form(at->file, of));
    if (!type.is_known || type.element[0] == '\0')
        name_type(at, of, &type);
    if (!type.is_known || type.element[0] == '\0' || !rs_companion_is_text(at, of->name_range)) {
        rs_companion_fail(at, arguments, of->range,
                          "this type is written in a way that cannot be changed");
        return;
    }
    rs_text_format(&head->extents, ", restride_extent %s__extent", of->name);
    rs_text_format(&head->pointers, " %srestride_pointer<%s, restride_F> %s(%s__, %s__extent);",
                   type.is_const ? "const " : "", type.element, of->name, of->name, of->name);
}

/* Where a parameter's default begins, or its end. */
static size_t default_begin(const rs_syntax_file *file, const rs_syntax_declaration *of)
{
    size_t at = of->name[0] == '\0' ? of->range.begin : of->name_range.end;
    int depth = 0; /* below 0 behind a name in parentheses */
    while (at < of->range.end) {
        const size_t next = rs_blanks_skip(file->text, of->range.end, at);
        if (next >= of->range.end)
            break;
        if (depth <= 0 && file->text[next] == '=')
            return at;
        depth += strchr("([{", file->text[next]) != NULL;
        depth -= strchr(")]}", file->text[next]) != NULL;
        at = rs_word_skip(file->text, of->range.end, next);
    }
    return of->range.end;
}

/* What stands behind a parameter's name, and behind all of it in place of its default: extents
 * follow, which have none. */
static void end_kernel_parameter(rs_companion_editing *at, const rs_syntax_declaration *of,
                                 const char *suffix, const char *extents)
{
    const size_t end = default_begin(at->file, of), name = of->name_range.end;
    const bool is_array = of->name[0] != '\0' && end > name;
    if (is_array && suffix[0] != '\0')
        rs_companion_edit(at, name, name, "%s", suffix);
    if ((!is_array && suffix[0] != '\0') || extents[0] != '\0' || end < of->range.end)
        rs_companion_edit(at, end, of->range.end, "%s%s", is_array ? "" : suffix, extents);
}

static void retype_kernel(rs_companion_editing *at)
{
    const rs_syntax_declaration *function = at->frame->function, *of = NULL;
    const rs_syntax_range body = function->body->range;
    kernel_head head = {RS_TEXT_EMPTY, RS_TEXT_EMPTY};
    for (size_t i = 0; i < function->parameter_count; i++) {
        of = function->parameters[i];
        if (at->frame->parameters[i].shape == RS_SHAPE_POINTER)
            retype_kernel_parameter(at, of, &head);
    }
    bool is_text = of != NULL && rs_companion_is_text(at, body);
    for (size_t i = 0; i < function->parameter_count; i++)
        is_text &= rs_companion_is_text(at, function->parameters[i]->range);
    if (!is_text)
        rs_companion_fail(at, ~UINT64_C(0), function->range, "the function is a macro's text");
    is_text &= head.pointers.size > 0;
    for (size_t i = 0; is_text && i < function->parameter_count; i++)
        end_kernel_parameter(at, function->parameters[i],
                             at->frame->parameters[i].shape == RS_SHAPE_POINTER ? "__" : "",
                             i + 1 == function->parameter_count ? head.extents.data : "");
    if (is_text)
        rs_companion_edit(at, body.begin + 1, body.begin + 1, "%s", head.pointers.data);
    rs_text_free(&head.extents);
    rs_text_free(&head.pointers);
}

/* Whether a template's parameter alone stands for the pointer, and for nothing in the body. */
static bool is_found_by_deduction(rs_companion_editing *at, const rs_syntax_declaration *of,
                                  size_t end)
{
    const rs_syntax_declaration *function = at->frame->function;
    size_t from = of->range.begin, word, length;
    if (!function->is_instance || memchr(at->file->text + from, '*', end - from) != NULL ||
        !rs_companion_is_text(at, of->range))
        return false;
    while (rs_word_next(at->file->text, end, &from, &word, &length))
        if (!rs_word_equals(at->file->text, word, length, "const") &&
            !is_dropped(at->file->text, word, length))
            break;
    if (length == 0 || memchr(at->file->text + word + length, ':', end - word - length) != NULL)
        return false;
    if (rs_words_have(at->file->text, function->body->range.begin, function->body->range.end,
                      at->file->text + word, length) ||
        length >= sizeof at->form)
        return false;
    memcpy(at->form, at->file->text + word, length);
    at->form[length] = '\0';
    return true;
}

static void retype_parameter(rs_companion_editing *at, const rs_syntax_declaration *of,
                             rs_fact_element element)
{
    const bool is_pointer = element.shape == RS_SHAPE_POINTER;
    const bool is_array = is_pointer && is_array_form(at->file, of);
    const size_t end = of->name[0] == '\0' ? of->range.end : of->name_range.begin;
    spelled type = read_type(at->file, of->range.begin, end, is_pointer ? '*' : '&', is_array);
    if (is_pointer && !is_array && is_found_by_deduction(at, of, end))
        return;
    if (is_pointer && type.element[0] == '\0')
        name_type(at, of, &type);
    if (!type.is_known || type.element[0] == '\0' || element.shape == RS_SHAPE_RECORD ||
        !rs_companion_is_text(at, of->range)) {
        rs_companion_fail(at, element.arguments, of->range,
                          element.shape == RS_SHAPE_RECORD
                              ? "a member that is a structure is given to a function"
                              : "this type is written in a way that cannot be changed");
        return;
    }
    rs_companion_edit(at, of->range.begin, end, "%srestride_%s<%s, restride_F> ",
                      type.is_const ? "const " : "", is_pointer ? "pointer" : "lvalue",
                      type.element);
    if (is_array)
        rs_companion_edit(at, of->name_range.end, of->range.end, "%s", "");
}

void rs_companion_retype_parameters(rs_companion_editing *at, bool is_kernel)
{
    const rs_syntax_declaration *function = at->frame->function;
    if (is_kernel)
        retype_kernel(at);
    for (size_t i = 0; !is_kernel && i < function->parameter_count; i++) {
        const rs_fact_element element = at->frame->parameters[i];
        if (element.shape != RS_SHAPE_POINTER && element.shape != RS_SHAPE_ELEMENT &&
            element.shape != RS_SHAPE_RECORD)
            continue;
        retype_parameter(at, function->parameters[i], element);
    }
}

/* --- variables --- */

/* The words that all variables of a declaration share: up to the first star, ampersand or name. */
static size_t shared_end(const rs_syntax_file *file, const rs_syntax_declaration *first)
{
    size_t at = first->range.begin;
    while (at < first->name_range.begin && file->text[at] != '*' && file->text[at] != '&')
        at++;
    while (at > first->range.begin && strchr(" \t\r\n", file->text[at - 1]) != NULL)
        at--;
    return at;
}

static void retype_variable(rs_companion_editing *at, const rs_syntax_declaration *of,
                            rs_fact_element element, size_t words, size_t words_end, size_t begin,
                            const char *before)
{
    const size_t name = of->name_range.begin;
    if (element.shape == RS_SHAPE_ELEMENT || element.shape == RS_SHAPE_RECORD) {
        rs_companion_edit(at, begin, name, "%sauto &&", before);
        return;
    }
    /* The shared words, and the star that is this variable's own. */
    spelled type = read_type(at->file, words, words_end, '*', true);
    const bool is_auto = rs_words_have(at->file->text, words, words_end, "auto", 4);
    spelled own = read_type(at->file, of->range.begin > words_end ? of->range.begin : words_end,
                            name, '*', false);
    size_t stars = 0;
    for (size_t i = of->range.begin; i < name; i++)
        stars += at->file->text[i] == '*';
    if (is_auto && stars <= 1) {
        rs_companion_edit(at, begin, name, "%sauto ", before);
        return;
    }
    if (stars != 1) {
        type.is_known = false;
        name_type(at, of, &type);
    }
    if (!type.is_known || type.element[0] == '\0')
        rs_companion_fail(at, element.arguments, of->range,
                          "this type is written in a way that cannot be changed");
    else
        rs_companion_edit(at, begin, name, "%s%srestride_pointer<%s, restride_F> ", before,
                          own.is_const ? "const " : "", type.element);
}

static bool is_retyped(rs_fact_element element)
{
    return element.shape == RS_SHAPE_POINTER || element.shape == RS_SHAPE_ELEMENT ||
           element.shape == RS_SHAPE_RECORD;
}

/* The comma behind a variable becomes the begin of another declaration. */
static void split(rs_companion_editing *at, size_t behind, rs_syntax_range range, size_t words,
                  size_t length)
{
    const size_t comma = rs_blanks_skip(at->file->text, at->file->size, behind);
    if (comma < at->file->size && at->file->text[comma] == ',')
        rs_companion_edit(at, comma, comma + 1, "; %.*s", (int)length, at->file->text + words);
    else
        rs_companion_fail(at, ~UINT64_C(0), range, "several pointers are declared at once");
}

void rs_companion_retype_variables(rs_companion_editing *at, const rs_syntax_node *declare,
                                   bool is_alone)
{
    const size_t count = declare->child_count;
    uint64_t arguments = 0;
    bool is_text = true;
    for (size_t i = 0; i < count; i++) {
        const rs_syntax_declaration *of = declare->children[i]->declaration;
        arguments |= is_retyped(rs_fact_declaration_shape(at->frame, of))
                         ? rs_fact_declaration_shape(at->frame, of).arguments
                         : 0;
        is_text &= rs_companion_is_text(at, of->range) && rs_companion_is_text(at, of->name_range);
    }
    if (arguments == 0)
        return;
    const rs_syntax_declaration *first = declare->children[0]->declaration;
    if (!is_text || (count > 1 && !is_alone)) {
        rs_companion_fail(at, arguments, declare->range,
                          is_text ? "several pointers are declared at once"
                                  : "an element is used in a macro's text");
        return;
    }
    const size_t words = first->range.begin, words_end = shared_end(at->file, first);
    const size_t length = words_end - words;
    if (length >= TYPE_LENGTH) {
        rs_companion_fail(at, arguments, declare->range,
                          "this type is written in a way that cannot be changed");
        return;
    }
    size_t behind = words;
    for (size_t i = 0; i < count; i++) {
        const rs_syntax_declaration *of = declare->children[i]->declaration;
        const rs_fact_element element = rs_fact_declaration_shape(at->frame, of);
        if (is_retyped(element))
            retype_variable(at, of, element, words, words_end, behind, i == 0 ? "" : "; ");
        else if (i > 0) /* a declaration of its own, as all after a split */
            split(at, behind, of->range, words, length);
        behind = of->range.end;
    }
}
