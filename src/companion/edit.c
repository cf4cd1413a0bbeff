/* See copies.h: which functions are copied, and the edits of their bodies. */
#include "companion/copies.h"

#include "base/list.h"
#include "companion/edit.h"
#include "companion/members.h"
#include "source/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- edits --- */

void rs_companion_fail(rs_companion_editing *at, uint64_t arguments, rs_syntax_range range,
                       const char *what)
{
    if (at->problem->what == NULL)
        *at->problem = (rs_companion_problem){arguments, range, what};
}

bool rs_companion_is_text(const rs_companion_editing *at, rs_syntax_range range)
{
    return range.file == at->file_index && !range.in_macro;
}

void rs_companion_edit(rs_companion_editing *at, size_t begin, size_t end, const char *format, ...)
{
    rs_text text = RS_TEXT_EMPTY;
    char *line = NULL;
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (length >= 0)
        line = malloc((size_t)length + 1);
    if (line == NULL) {
        at->status = rs_fail_memory("copies of functions");
        return;
    }
    va_start(values, format);
    vsnprintf(line, (size_t)length + 1, format, values);
    va_end(values);
    bool is_known = false;
    for (size_t i = 0; i < at->edits->count; i++) {
        const rs_edit *one = &at->edits->list[i];
        is_known |= one->begin == begin && one->end == end && strcmp(one->text, line) == 0;
    }
    rs_text_add_string(&text, line);
    free(line);
    if (!is_known && at->status == RESTRIDE_OK)
        at->status = rs_edits_add(at->edits, begin, end, &text);
    else
        rs_text_free(&text);
}

/* --- bodies --- */

static rs_fact_element shape_of(const rs_companion_editing *at, const rs_syntax_node *node)
{
    return rs_fact_node_shape(at->frame, node);
}

static bool is_record(rs_fact_element element)
{
    return element.shape == RS_SHAPE_ELEMENT || element.shape == RS_SHAPE_RECORD;
}

static const rs_syntax_node *written(const rs_syntax_node *node)
{
    while (node->kind == RS_NODE_IMPLICIT)
        node = node->children[0];
    return node;
}

/* Whether a place, or what a pointer leads to, is copied as a whole by its bytes. */
static bool check_copies(rs_companion_editing *at, const rs_syntax_node *node)
{
    const rs_syntax_type *type = node->type;
    if (shape_of(at, node).shape == RS_SHAPE_POINTER && type != NULL)
        type = type->of;
    if (type == NULL || !rs_members_have_own_copies(type))
        return true;
    rs_companion_fail(at, shape_of(at, node).arguments, node->range, RS_FACT_OWN_COPIES);
    return false;
}

static const char value_of[] = ".get()";
static const char copy_of[] = ".restride_copy().lvalue()"; /* where a reference is asked for */

/* One of these in place of the element; of `pointer->`, through the element that it points to. */
static void read_value(rs_companion_editing *at, const rs_syntax_node *node, const char *read,
                       bool is_pointer)
{
    const rs_syntax_node *text = written(node);
    const rs_fact_element element = shape_of(at, node);
    if (!rs_companion_is_text(at, text->range)) {
        rs_companion_fail(at, element.arguments, node->range,
                          "an element is used in a macro's text");
        return;
    }
    if (!check_copies(at, node))
        return;
    /* Between its sides and the value no text can stand without a change of what is assigned. */
    if (text->kind == RS_NODE_CALL && strncmp(text->declaration->name, "operator", 8) == 0) {
        rs_companion_fail(at, element.arguments, node->range,
                          "the value of an assignment to an element is used");
        return;
    }
    const bool is_postfix = text->kind == RS_NODE_SUBSCRIPT || text->kind == RS_NODE_REFERENCE ||
                            text->kind == RS_NODE_MEMBER || text->kind == RS_NODE_CALL ||
                            text->kind == RS_NODE_PAREN;
    if (is_pointer)
        rs_companion_edit(at, text->range.begin, text->range.begin, "(*");
    else if (!is_postfix)
        rs_companion_edit(at, text->range.begin, text->range.begin, "(");
    if (!is_pointer) {
        rs_companion_edit(at, text->range.end, text->range.end, "%s%s", is_postfix ? "" : ")",
                          read);
        return;
    }
    size_t arrow = rs_blanks_skip(at->file->text, at->file->size, text->range.end);
    if (arrow + 2 > at->file->size || memcmp(at->file->text + arrow, "->", 2) != 0)
        rs_companion_fail(at, element.arguments, node->range,
                          "an element is used in a macro's text");
    else
        rs_companion_edit(at, text->range.end, arrow + 2, ")%s.", read);
}

/* The name in front of a call's arguments, behind namespaces. */
static void rename_call(rs_companion_editing *at, const rs_syntax_node *node,
                        const rs_syntax_declaration *called, const char *suffix)
{
    const rs_syntax_node *callee = written(node->children[0]);
    const rs_syntax_range range = callee->range;
    const size_t length = strlen(called->name);
    size_t from = range.begin, word, size;
    bool is_found = false;
    if (rs_companion_is_text(at, range))
        while (!is_found && rs_word_next(at->file->text, range.end, &from, &word, &size)) {
            const size_t next = rs_blanks_skip(at->file->text, range.end, word + size);
            is_found = size == length && memcmp(at->file->text + word, called->name, size) == 0 &&
                       (next + 1 >= range.end || memcmp(at->file->text + next, "::", 2) != 0);
        }
    if (is_found)
        rs_companion_edit(at, word + length, word + length, "%s", suffix);
    else
        rs_companion_fail(at, rs_fact_node_shape(at->frame, node).arguments | ~UINT64_C(0),
                          node->range, "an element is used in a macro's text");
}

static const char *suffix_of(const rs_companion_copies *copies, const rs_fact_frame *frame);
static void wrap_call(rs_companion_editing *at, const rs_syntax_node *node);

/* What a copy's parameter or an `auto` gets is found by deduction, which does not add const. */
static void make_const(rs_companion_editing *at, const rs_syntax_node *node,
                       const rs_syntax_declaration *to, rs_fact_element element)
{
    const rs_syntax_node *text = written(node);
    if ((element.shape != RS_SHAPE_POINTER && !is_record(element)) || !to->type->of->is_const)
        return;
    if (!rs_companion_is_text(at, text->range)) {
        rs_companion_fail(at, shape_of(at, node).arguments, node->range,
                          "an element is used in a macro's text");
        return;
    }
    rs_companion_edit(at, text->range.begin, text->range.begin, "restride_const(");
    rs_companion_edit(at, text->range.end, text->range.end, ")");
}

size_t rs_companion_class_length(const rs_syntax_declaration *method)
{
    const size_t length = strlen(method->qualified), own = strlen(method->name) + 2;
    return length > own ? length - own : 0;
}

void rs_companion_method_class(rs_text *text, const rs_syntax_declaration *method,
                               bool is_qualified)
{
    static const char nameless[] = "(anonymous namespace)::";
    const char *at = method->qualified, *end;
    rs_text_add_string(text, is_qualified ? "::" : "");
    for (const char *behind = at + rs_companion_class_length(method);
         is_qualified && (end = strstr(at, "::")) != NULL && end < behind; at = end + 2)
        if (strncmp(at, nameless, sizeof nameless - 1) != 0)
            rs_text_add(text, at, (size_t)(end + 2 - at));
    rs_text_format(text, "restride_%s_%zu_%zu", method->name, method->name_range.file,
                   method->name_range.begin);
}

/* `object.method(` becomes `CLASS<restride_F>::method__asta(object, `. */
static void call_method(rs_companion_editing *at, const rs_syntax_node *node, const char *suffix)
{
    const rs_syntax_node *object = written(node->children[0]);
    const char *name = node->declaration->name, *text = at->file->text;
    const size_t length = strlen(name), size = at->file->size;
    const bool has_arguments =
        node->child_count > 1 && node->children[1]->kind != RS_NODE_DEFAULT_ARGUMENT;
    size_t next = rs_blanks_skip(text, size, object->range.end);
    bool is_found = rs_companion_is_text(at, object->range) && object->kind != RS_NODE_THIS &&
                    next + length + 3 < size;
    if (is_found) {
        next = rs_blanks_skip(text, size, next + (text[next] == '.' ? 1 : 2));
        is_found = next + length < size && memcmp(text + next, name, length) == 0;
        next = rs_blanks_skip(text, size, next + length);
        is_found = is_found && next < size && text[next] == '(';
    }
    if (!is_found) {
        rs_companion_fail(at, rs_fact_node_shape(at->frame, node->children[0]).arguments,
                          node->range, "a method is called in a way that is not followed");
        return;
    }
    rs_text holder = RS_TEXT_EMPTY;
    rs_companion_method_class(&holder, node->declaration, true);
    rs_companion_edit(at, object->range.begin, object->range.begin, "%s<restride_F>::%s%s(%s",
                      holder.failed ? "" : holder.data, name, suffix, node->is_arrow ? "*(" : "");
    rs_text_free(&holder);
    rs_companion_edit(at, object->range.end, next + 1, "%s%s", node->is_arrow ? ")" : "",
                      has_arguments ? ", " : "");
}

/* In a method's copy, members are those of the element that it gets. */
static void edit_this(rs_companion_editing *at, const rs_syntax_node *node)
{
    const rs_syntax_node *object = node->children[0];
    const size_t begin = object->range.begin, end = object->range.end;
    size_t arrow = rs_blanks_skip(at->file->text, at->file->size, end);
    if (!rs_companion_is_text(at, node->range) || !rs_companion_is_text(at, object->range)) {
        rs_companion_fail(at, at->frame->object.arguments, node->range,
                          "an element is used in a macro's text");
    } else if (begin == end) {
        rs_companion_edit(at, node->range.begin, node->range.begin, "restride_this.");
    } else if (arrow + 2 <= at->file->size && memcmp(at->file->text + arrow, "->", 2) == 0) {
        rs_companion_edit(at, begin, arrow + 2, "restride_this.");
    }
}

static void edit_call(rs_companion_editing *at, const rs_syntax_node *node)
{
    const rs_syntax_declaration *called = node->declaration;
    const rs_fact_frame *entered = rs_map_get(&at->frame->calls, node);
    if (called == NULL)
        return;
    if (!called->is_system && (entered == NULL || !rs_companion_is_copied(entered)))
        rs_companion_check_call(at, node);
    if (called->is_method && !called->is_static && node->child_count > 0) {
        const rs_fact_element object = shape_of(at, node->children[0]);
        const bool is_assignment = strcmp(called->name, "operator=") == 0;
        if (entered != NULL && entered->object.shape != RS_SHAPE_NONE) {
            call_method(at, node, suffix_of(at->copies, entered));
            return;
        }
        if (is_record(object) && is_assignment)
            check_copies(at, node->children[0]);
        else if (is_record(object))
            read_value(at, node->children[0], copy_of, false);
        if (object.shape == RS_SHAPE_POINTER)
            read_value(at, node->children[0], copy_of, true);
    }
    for (size_t i = 1; i < node->child_count; i++)
        if (is_record(shape_of(at, node->children[i])) &&
            (entered == NULL || entered->parameters[i - 1].shape == RS_SHAPE_NONE))
            read_value(at, node->children[i], copy_of, false);
    for (size_t i = 1; entered != NULL && i < node->child_count; i++)
        make_const(at, node->children[i], entered->function->parameters[i - 1],
                   entered->parameters[i - 1]);
    if (entered != NULL && rs_companion_is_copied(entered))
        rename_call(at, node, called, suffix_of(at->copies, entered));
    if (rs_fact_works_on_element(called))
        wrap_call(at, node);
}

static void edit_node(rs_companion_editing *at, const rs_syntax_node *node, bool is_alone)
{
    if (node == NULL || at->problem->what != NULL || at->status != RESTRIDE_OK)
        return;
    if (node->kind == RS_NODE_DECLARE)
        rs_companion_retype_variables(at, node, is_alone);
    if (node->kind == RS_NODE_VARIABLE) {
        /* Functions are chosen through a reference to const as the source says, and through a
         * pointer. */
        const rs_fact_element element = rs_fact_declaration_shape(at->frame, node->declaration);
        if (node->child_count > 0 && node->children[0] != NULL &&
            shape_of(at, node->children[0]).shape == element.shape)
            make_const(at, node->children[0], node->declaration, element);
    }
    if (node->kind == RS_NODE_CALL)
        edit_call(at, node);
    if (node->kind == RS_NODE_MEMBER && node->child_count == 1 &&
        node->children[0]->kind == RS_NODE_THIS && at->frame->object.shape != RS_SHAPE_NONE) {
        edit_this(at, node);
        return;
    }
    if (node->kind == RS_NODE_THIS && at->frame->object.shape != RS_SHAPE_NONE)
        rs_companion_fail(at, at->frame->object.arguments, node->range,
                          "a method that may change an element uses its own address");
    if (node->kind == RS_NODE_CONSTRUCT && node->child_count == 1 &&
        is_record(shape_of(at, node->children[0])))
        read_value(at, node->children[0], value_of, false);
    for (size_t i = 0; i < node->child_count; i++)
        if ((node->kind == RS_NODE_LIST || node->kind == RS_NODE_DESIGNATED) &&
            node->children[i] != NULL && is_record(shape_of(at, node->children[i])))
            read_value(at, node->children[i], value_of, false);
    if (node->kind == RS_NODE_IMPLICIT && node->conversion == RS_CONVERSION_LOAD &&
        shape_of(at, node->children[0]).shape == RS_SHAPE_BITS)
        read_value(at, node->children[0], value_of, false);
    for (size_t i = 0; i < node->child_count; i++)
        edit_node(at, node->children[i],
                  node->kind == RS_NODE_COMPOUND || node->kind == RS_NODE_CASE ||
                      node->kind == RS_NODE_DEFAULT);
}

/* --- copies --- */

bool rs_companion_is_copied(const rs_fact_frame *frame)
{
    if (frame->object.shape != RS_SHAPE_NONE)
        return true;
    for (size_t i = 0; i < frame->function->parameter_count; i++) {
        const rs_fact_shape shape = frame->parameters[i].shape;
        if (shape == RS_SHAPE_POINTER || shape == RS_SHAPE_ELEMENT || shape == RS_SHAPE_RECORD)
            return true;
    }
    return false;
}

/* Of one text: instances of a template are. */
static bool is_same_text(const rs_syntax_declaration *a, const rs_syntax_declaration *b)
{
    if (a->is_system || b->is_system)
        return a == b;
    return a->name_range.file == b->name_range.file && a->name_range.begin == b->name_range.begin;
}

static bool is_same_copy(const rs_companion_copy *copy, const rs_fact_frame *frame)
{
    if (!is_same_text(copy->function, frame->function) ||
        copy->is_method != (frame->object.shape != RS_SHAPE_NONE))
        return false;
    for (size_t i = 0; i < frame->function->parameter_count; i++)
        if (copy->shapes[i] != frame->parameters[i].shape)
            return false;
    return true;
}

static const rs_companion_copy *find_copy(const rs_companion_copies *copies,
                                          const rs_fact_frame *frame)
{
    for (size_t i = 0; i < copies->count; i++)
        if (is_same_copy(&copies->at[i], frame))
            return &copies->at[i];
    return NULL;
}

static const char *suffix_of(const rs_companion_copies *copies, const rs_fact_frame *frame)
{
    const rs_companion_copy *copy = find_copy(copies, frame);
    return copy == NULL ? "__asta" : copy->name + strlen(frame->function->name);
}

static bool is_same_edits(const rs_edits *a, const rs_edits *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i].begin != b->list[i].begin || a->list[i].end != b->list[i].end ||
            strcmp(a->list[i].text, b->list[i].text) != 0)
            return false;
    return true;
}

/* One name for one text, so that no overload is chosen again. Kernels, which nothing calls, keep
 * the name that a launch expects. */
static char *make_name(const rs_companion_copies *copies, const rs_syntax_declaration *function)
{
    rs_text name = RS_TEXT_EMPTY;
    int others = 0;
    for (size_t i = 0; i < copies->count; i++)
        others += function->is_kernel ? is_same_text(copies->at[i].function, function)
                                      : strcmp(copies->at[i].function->name, function->name) == 0;
    rs_text_format(&name, "%s__asta", function->name);
    if (others > 0)
        rs_text_format(&name, "%d", others + 1);
    return rs_text_take(&name);
}

static restride_status append(rs_companion_copies *copies, const rs_syntax_declaration *function,
                              const rs_fact_element *parameters, rs_edits edits)
{
    if (!RS_LIST_GROW(copies->at, copies->count)) {
        rs_edits_free(&edits);
        return rs_fail_memory("copies of functions");
    }
    rs_fact_shape *shapes = calloc(function->parameter_count + 1, sizeof *shapes);
    for (size_t i = 0; shapes != NULL && i < function->parameter_count; i++)
        shapes[i] = parameters[i].shape;
    char *name = make_name(copies, function);
    copies->at[copies->count++] =
        (rs_companion_copy){.function = function, .shapes = shapes, .name = name, .edits = edits};
    return shapes == NULL || name == NULL ? rs_fail_memory("copies of functions") : RESTRIDE_OK;
}

/* The toolkit's function gets a copy of the element: by a function of its own. */
static void wrap_call(rs_companion_editing *at, const rs_syntax_node *node)
{
    const rs_syntax_declaration *called = node->declaration;
    rs_fact_element *given = calloc(called->parameter_count + 1, sizeof *given);
    uint64_t arguments = 0;
    if (given == NULL) {
        at->status = rs_fail_memory("copies of functions");
        return;
    }
    for (size_t i = 1; i < node->child_count && i <= called->parameter_count; i++) {
        given[i - 1] = shape_of(at, node->children[i]);
        arguments |= given[i - 1].arguments;
    }
    const rs_fact_frame frame = {.function = called, .parameters = given};
    if (arguments != 0 && find_copy(at->copies, &frame) == NULL && at->status == RESTRIDE_OK) {
        at->status = append(at->copies, called, given, (rs_edits){NULL, 0});
        if (at->status == RESTRIDE_OK)
            at->copies->at[at->copies->count - 1].is_wrapper = true;
    }
    if (arguments != 0 && at->status == RESTRIDE_OK)
        rename_call(at, node, called, suffix_of(at->copies, &frame));
    free(given);
}

/* A method's copy stands behind its class, and gets a reference to an element of that class. */
static void check_method(rs_companion_editing *at, const rs_fact_elements *facts)
{
    const rs_syntax_declaration *method = at->frame->function, *kernel = facts->kernel;
    const size_t name = method->name_range.begin, length = rs_companion_class_length(method);
    bool is_of_element = false;
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const rs_syntax_type *type = kernel->parameters[i]->type;
        is_of_element |= facts->frames[0]->parameters[i].shape == RS_SHAPE_POINTER &&
                         strlen(type->of->plain->name) == length &&
                         strncmp(type->of->plain->name, method->qualified, length) == 0;
    }
    if (!is_of_element)
        rs_companion_fail(at, at->frame->object.arguments, method->range,
                          "a method of a base class may change an element");
    else if (name > 0 && at->file->text[name - 1] == ':')
        rs_companion_fail(at, at->frame->object.arguments, method->range,
                          "a method that may change an element is defined outside its class");
}

/* Text that was not read is left out with a mark in its place, as many lines. */
static void leave_out(rs_companion_editing *at)
{
    for (size_t i = 0; i < at->frame->unread_count; i++) {
        const rs_syntax_range range = at->frame->unread[i];
        rs_text lines = RS_TEXT_EMPTY;
        for (size_t k = range.begin; k < range.end; k++)
            if (at->file->text[k] == '\n')
                rs_text_add_string(&lines, "\n");
        if (lines.failed)
            at->status = rs_fail_memory("copies of functions");
        else
            rs_companion_edit(at, range.begin, range.end, "RESTRIDE_NOT_READ%s", lines.data);
        rs_text_free(&lines);
    }
}

static restride_status edit_frame(rs_companion_copies *copies, const rs_fact_elements *facts,
                                  const rs_fact_frame *frame, rs_edits *edits, char *form,
                                  rs_companion_problem *problem)
{
    const rs_syntax_declaration *function = frame->function;
    const rs_syntax_range name = function->name_range;
    rs_companion_editing at = {.tree = facts->tree,
                               .copies = copies,
                               .frame = frame,
                               .file_index = function->range.file,
                               .edits = edits,
                               .problem = problem,
                               .status = RESTRIDE_OK};
    if (name.file >= facts->tree->file_count || facts->tree->files[name.file].text == NULL ||
        name.in_macro || function->range.in_macro ||
        (function->is_method && frame->object.shape == RS_SHAPE_NONE)) {
        rs_companion_fail(&at, ~UINT64_C(0), function->range,
                          function->is_method ? "an element goes to a method of something else"
                                              : "the function is a macro's text");
        return RESTRIDE_OK;
    }
    at.file = &facts->tree->files[name.file];
    if (frame->object.shape != RS_SHAPE_NONE)
        check_method(&at, facts);
    rs_companion_check_macros(&at, function->is_method || at.file_index != copies->main_file);
    edit_node(&at, function->body, false);
    rs_companion_retype_parameters(&at, function == facts->kernel);
    rs_companion_unroll(&at);
    leave_out(&at);
    rs_edits_sort(edits);
    strcpy(form, at.form);
    return at.status;
}

static restride_status add_frame(rs_companion_copies *copies, const rs_fact_elements *facts,
                                 const rs_fact_frame *frame, rs_map *done,
                                 rs_companion_problem *problem)
{
    if (rs_map_get(done, frame) != NULL)
        return RESTRIDE_OK;
    if (!rs_map_set(done, frame, (void *)1))
        return rs_fail_memory("copies of functions");
    restride_status status = RESTRIDE_OK;
    size_t position = 0;
    const rs_fact_frame *entered;
    while (status == RESTRIDE_OK && problem->what == NULL &&
           (entered = rs_map_next(&frame->calls, &position)) != NULL)
        status = add_frame(copies, facts, entered, done, problem);
    if (status != RESTRIDE_OK || problem->what != NULL || !rs_companion_is_copied(frame))
        return status;
    rs_edits edits = {NULL, 0};
    char form[sizeof copies->at->form] = "";
    status = edit_frame(copies, facts, frame, &edits, form, problem);
    const rs_companion_copy *same = find_copy(copies, frame);
    if (problem->what == NULL && same != NULL && !is_same_edits(&same->edits, &edits))
        *problem = (rs_companion_problem){~UINT64_C(0), frame->function->range,
                                          "instances of a template need different copies"};
    if (status != RESTRIDE_OK || problem->what != NULL || same != NULL) {
        rs_edits_free(&edits);
        return status;
    }
    status = append(copies, frame->function, frame->parameters, edits);
    if (status != RESTRIDE_OK)
        return status;
    strcpy(copies->at[copies->count - 1].form, form);
    copies->at[copies->count - 1].is_method = frame->object.shape != RS_SHAPE_NONE;
    copies->at[copies->count - 1].is_kernel = frame->function == facts->kernel;
    return status;
}

void rs_companion_copies_drop(rs_companion_copies *copies, size_t count)
{
    while (copies->count > count) {
        rs_companion_copy *last = &copies->at[--copies->count];
        free((void *)last->shapes);
        free(last->name);
        rs_edits_free(&last->edits);
    }
}

restride_status rs_companion_copies_add(rs_companion_copies *copies, const rs_fact_elements *facts,
                                        rs_companion_problem *problem)
{
    const size_t count = copies->count;
    rs_map done = RS_MAP_EMPTY;
    *problem = (rs_companion_problem){0, {0, 0, 0, false}, NULL};
    const restride_status status = add_frame(copies, facts, facts->frames[0], &done, problem);
    rs_map_free(&done);
    if (status != RESTRIDE_OK || problem->what != NULL)
        rs_companion_copies_drop(copies, count);
    return status;
}

void rs_companion_copies_free(rs_companion_copies *copies)
{
    rs_companion_copies_drop(copies, 0);
    free(copies->at);
    *copies = (rs_companion_copies){NULL, 0, 0};
}
