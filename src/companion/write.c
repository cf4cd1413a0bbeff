/* See write.h. Insertions are gathered by their places in the main file and written in order. */
#include "companion/write.h"

#include "base/list.h"
#include "companion/places.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t at;    /* in the main file */
    size_t order; /* of those at one place */
    rs_text text;
} insertion;

typedef struct {
    const rs_syntax *tree;
    size_t main_file;
    const char *shown; /* its name in line markers */
    size_t first;      /* where the main file's first function that is copied begins */
    insertion *at;
    size_t count;
    restride_status status;
} insertions;

static void add_line(rs_text *text, const insertions *all, size_t file, size_t at)
{
    const char *name = file == all->main_file ? all->shown : all->tree->files[file].path;
    rs_text_format(text, "\n#line %zu \"",
                   rs_syntax_line(all->tree, (rs_syntax_range){file, at, at, false}));
    for (; *name != '\0'; name++)
        rs_text_format(text, "%s%c", *name == '"' || *name == '\\' ? "\\" : "", *name);
    rs_text_add_string(text, "\"\n");
}

static void insert(insertions *all, size_t at, size_t order, rs_text *text)
{
    if (!RS_LIST_GROW(all->at, all->count)) {
        rs_text_free(text);
        all->status = rs_fail_memory("a companion");
        return;
    }
    all->at[all->count++] = (insertion){at, order, *text};
    *text = RS_TEXT_EMPTY;
}

/* --- places --- */

/* Where in the main file a text that ends at `end` of a file has been read. */
static bool find_place(const insertions *all, size_t file, size_t end, size_t *at)
{
    if (file == all->main_file) {
        *at = end;
        return true;
    }
    if (file < all->tree->file_count && rs_place_include(all->tree, all->main_file, file, at))
        return true;
    /* By a name that is not its own: all that functions see stands before them. */
    *at = rs_place_last_include(&all->tree->files[all->main_file], all->first);
    return *at > 0;
}

/* A toolkit's record is known behind the last #include before the first copy. */
static bool place_record(const insertions *all, const rs_syntax_declaration *record, size_t *at)
{
    const rs_syntax_range range = record->range;
    if (record->is_system || range.file >= all->tree->file_count) {
        *at = rs_place_last_include(&all->tree->files[all->main_file], all->first);
        return true;
    }
    const rs_syntax_file *file = &all->tree->files[range.file];
    return file->text != NULL && find_place(all, range.file, rs_place_behind(file, range.end), at);
}

/* --- copies --- */

/* Opens the namespaces of what a header declares; how many. */
static size_t open_namespaces(rs_text *text, const rs_syntax_declaration *of)
{
    static const char nameless[] = "(anonymous namespace)";
    const char *at = of->qualified, *end;
    size_t count = 0;
    rs_text_add_string(text, "\n");
    while ((end = strstr(at, "::")) != NULL && memchr(at, '<', (size_t)(end - at)) == NULL) {
        if (strncmp(at, nameless, sizeof nameless - 1) == 0)
            rs_text_add_string(text, "namespace {");
        else
            rs_text_format(text, "namespace %.*s {", (int)(end - at), at);
        at = end + 2;
        count++;
    }
    return count;
}

static void add_edited(rs_text *text, const rs_syntax_file *file, size_t begin, size_t end,
                       const rs_edits *edits)
{
    for (size_t i = 0; i < edits->count; i++) {
        const rs_edit *edit = &edits->list[i];
        if (edit->begin < begin || edit->end > end)
            continue;
        rs_text_add(text, file->text + begin, edit->begin - begin);
        rs_text_add_string(text, edit->text);
        begin = edit->end;
    }
    rs_text_add(text, file->text + begin, end - begin);
}

/* Begins a copy with a template header that has the form of the elements' numbers as its last
 * parameter; where the text goes on. */
static size_t add_template(rs_text *text, const rs_syntax_file *file, size_t head, size_t name,
                           const char *pointer)
{
    static const char form[] = "class restride_F";
    size_t at = head, word, length, depth = 0;
    if (!rs_word_next(file->text, name, &at, &word, &length) || word != head)
        at = head;
    if (at > head && rs_word_equals(file->text, word, length, "template")) {
        for (; at < name; at++) {
            depth += file->text[at] == '<';
            depth -= file->text[at] == '>';
            if (depth == 0 && file->text[at] == '>')
                break;
        }
        rs_text_add(text, file->text + head, at - head);
        rs_text_format(text, ", %s", form);
        if (pointer[0] != '\0')
            rs_text_format(text, " = typename %s::restride_form_type", pointer);
        return at;
    }
    rs_text_format(text, "template <%s> ", form);
    if (at > head && rs_word_equals(file->text, word, length, "extern")) {
        const size_t string = rs_blanks_skip(file->text, name, at);
        if (string < name && file->text[string] == '"') /* templates are no functions of C */
            return rs_word_skip(file->text, name, string);
    }
    return head;
}

/* A function that copies the element out, calls the toolkit's, and stores it back. */
static void insert_wrapper(insertions *all, const rs_companion_copy *copy, size_t which)
{
    const rs_syntax_declaration *function = copy->function;
    const rs_syntax_type *type = function->type, *returned = type->of;
    const bool returns = returned->kind != RS_TYPE_VOID;
    rs_text text = RS_TEXT_EMPTY, copied = RS_TEXT_EMPTY, stored = RS_TEXT_EMPTY,
            given = RS_TEXT_EMPTY;
    rs_text_format(&text, "\ntemplate <class restride_F> __device__ inline %s %s(", returned->name,
                   copy->name);
    for (size_t i = 0; i < type->parameter_count; i++) {
        const rs_syntax_type *one = type->parameters[i];
        const char *comma = i == 0 ? "" : ", ";
        if (copy->shapes[i] != RS_SHAPE_POINTER) {
            rs_text_format(&text, "%s%s p%zu", comma, one->name, i);
            rs_text_format(&given, "%sp%zu", comma, i);
            continue;
        }
        rs_text_format(&text, "%srestride_pointer<%s, restride_F> p%zu", comma, one->of->name, i);
        rs_text_format(&given, "%s&v%zu", comma, i);
        rs_text_format(&copied, "    %s v%zu = (*p%zu).get();\n", one->of->plain->name, i, i);
        if (!one->of->is_const)
            rs_text_format(&stored, "    *p%zu = v%zu;\n", i, i);
    }
    rs_text_format(&text, ")\n{\n%s    %s%s(%s);\n%s%s}\n", copied.data == NULL ? "" : copied.data,
                   returns ? "const auto restride_value = " : "", function->name,
                   given.data == NULL ? "" : given.data, stored.data == NULL ? "" : stored.data,
                   returns ? "    return restride_value;\n" : "");
    rs_text_free(&copied);
    rs_text_free(&stored);
    rs_text_free(&given);
    insert(all, rs_place_last_include(&all->tree->files[all->main_file], all->first), 1 + which,
           &text);
}

/* Behind the words for access before a method. */
static size_t skip_access(const rs_syntax_file *file, size_t head, size_t name)
{
    size_t at = head, word, length;
    while (rs_word_next(file->text, name, &at, &word, &length)) {
        const size_t colon = rs_blanks_skip(file->text, name, at);
        if ((rs_word_equals(file->text, word, length, "public") ||
             rs_word_equals(file->text, word, length, "private") ||
             rs_word_equals(file->text, word, length, "protected")) &&
            colon < name && file->text[colon] == ':')
            head = rs_blanks_skip(file->text, name, colon + 1);
    }
    return head;
}

/* A method as a function that gets the element. It stands behind the class, in one that derives
 * from it: a name in its text means what it meant in the class. */
static void insert_method(insertions *all, const rs_companion_copy *copy, size_t which,
                          const rs_syntax_type *const *records, size_t record_count)
{
    static const char nameless[] = "(anonymous namespace)::";
    const rs_syntax_declaration *method = copy->function, *record = NULL;
    const size_t index = method->name_range.file, length = rs_companion_class_length(method);
    const rs_syntax_file *file = &all->tree->files[index];
    const size_t name = method->name_range.begin, behind = name + strlen(method->name);
    const size_t head = skip_access(file, rs_place_head(file, name), name);
    const char *class_name = method->qualified;
    size_t at, open = rs_blanks_skip(file->text, file->size, behind);
    for (size_t i = 0; i < record_count; i++)
        if (strlen(records[i]->name) == length &&
            strncmp(records[i]->name, class_name, length) == 0)
            record = records[i]->declaration;
    if (record == NULL || open >= file->size || file->text[open] != '(' ||
        (name > head && file->text[name - 1] == ':') || !place_record(all, record, &at)) {
        all->status = rs_fail(RESTRIDE_UNSUPPORTED, "the method %s is not where its class is",
                              method->qualified);
        return;
    }
    size_t close = open, depth = 0;
    do {
        depth += file->text[close] == '(';
        depth -= file->text[close] == ')';
        close = rs_word_skip(file->text, file->size, close);
    } while (depth > 0 && close < method->body->range.begin);
    rs_text text = RS_TEXT_EMPTY;
    const size_t opened = index == all->main_file ? 0 : open_namespaces(&text, record);
    const size_t type_length = strlen(method->type->name);
    const bool is_const =
        type_length > 6 && strcmp(method->type->name + type_length - 6, " const") == 0;
    const size_t skipped =
        strncmp(class_name, nameless, sizeof nameless - 1) == 0 ? sizeof nameless - 1 : 0;
    rs_text_add_string(&text, "\ntemplate <class restride_F> struct ");
    rs_companion_method_class(&text, method, false);
    rs_text_format(&text, " : ::%.*s {", (int)(length - skipped), class_name + skipped);
    add_line(&text, all, index, head);
    rs_text_add_string(&text, "static ");
    add_edited(&text, file, head, name, &copy->edits);
    rs_text_format(&text, "%s(restride_lvalue<%s::%.*s, restride_F> restride_this%s", copy->name,
                   is_const ? "const " : "", (int)(length - skipped), class_name + skipped,
                   method->parameter_count > 0 ? ", " : "");
    add_edited(&text, file, open + 1, close, &copy->edits);
    rs_text_add_string(&text, " ");
    add_edited(&text, file, method->body->range.begin, method->range.end, &copy->edits);
    rs_text_add_string(&text, "\n};\n");
    for (size_t i = 0; i < opened; i++)
        rs_text_add_string(&text, "}");
    insert(all, at, 1 + which, &text);
}

static void insert_copy(insertions *all, const rs_companion_copy *copy, size_t which)
{
    const rs_syntax_declaration *function = copy->function;
    if (copy->is_wrapper) {
        insert_wrapper(all, copy, which);
        return;
    }
    const size_t index = function->name_range.file;
    const rs_syntax_file *file = &all->tree->files[index];
    const size_t head = rs_place_head(file, function->name_range.begin);
    size_t at;
    if (!find_place(all, index, function->range.end, &at)) {
        all->status = rs_fail(RESTRIDE_UNSUPPORTED, "No #include of %s is found.", file->path);
        return;
    }
    rs_text text = RS_TEXT_EMPTY;
    const size_t opened = index == all->main_file ? 0 : open_namespaces(&text, function);
    add_line(&text, all, index, head);
    const size_t name = function->name_range.begin, behind = name + strlen(function->name);
    add_edited(&text, file, add_template(&text, file, head, name, copy->form), name, &copy->edits);
    rs_text_add_string(&text, copy->name);
    add_edited(&text, file, behind, function->range.end, &copy->edits);
    for (size_t i = 0; i < opened; i++)
        rs_text_add_string(&text, "}");
    insert(all, at, 1 + which, &text);
}

/* --- records --- */

static void insert_records(insertions *all, const rs_syntax_type *const *records, size_t count,
                           const rs_companion_layout *layout)
{
    for (size_t i = 0; i < count && all->status == RESTRIDE_OK; i++) {
        size_t at;
        rs_text text = RS_TEXT_EMPTY;
        if (!place_record(all, records[i]->declaration, &at)) {
            all->status =
                rs_fail(RESTRIDE_UNSUPPORTED, "No #include of %s is found.", records[i]->name);
            break;
        }
        const rs_syntax_declaration *record = records[i]->declaration;
        const bool is_inside = !record->is_system && record->range.file == all->main_file;
        const size_t opened = is_inside ? 0 : open_namespaces(&text, record);
        rs_text_add_string(&text, "\n");
        all->status = rs_companion_accessors_write(&text, all->tree, records[i], layout);
        for (size_t k = 0; k < opened; k++)
            rs_text_add_string(&text, "}");
        insert(all, at, 0, &text);
    }
}

/* --- all together --- */

static int compare(const void *a, const void *b)
{
    const insertion *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
                          : (x->order > y->order) - (x->order < y->order);
}

/* A template's parameter is found through const only where the argument is. */
static const char conversions[] =
    "template <class T, class F> RESTRIDE_INLINE restride_pointer<const T, F>\n"
    "restride_const(const restride_pointer<T, F> &p)\n{\n    return p;\n}\n"
    "template <class T, class F> RESTRIDE_INLINE restride_lvalue<const T, F>\n"
    "restride_const(const restride_lvalue<T, F> &r)\n{\n    return r;\n}\n"
    "template <template <class, restride_size> class R, class L, class F, class Q, "
    "restride_size O>\n"
    "RESTRIDE_INLINE R<restride_place<L, F, const Q>, O>\n"
    "restride_const(const R<restride_place<L, F, Q>, O> &r)\n{\n"
    "    return R<restride_place<L, F, const Q>, O>(\n"
    "        restride_place<L, F, const Q>(r.restride_p, r.restride_p.base, "
    "r.restride_p.number));\n}\n";

static void add_all(rs_text *text, const insertions *all)
{
    const rs_syntax_file *file = &all->tree->files[all->main_file];
    size_t from = rs_place_begin(file);
    rs_text_add(text, file->text, from);
    rs_companion_prelude_write(text);
    rs_text_add_string(text, conversions);
    add_line(text, all, all->main_file, 0);
    for (size_t i = 0; i < all->count; i++) {
        const insertion *one = &all->at[i];
        rs_text_add(text, file->text + from, one->at - from);
        from = one->at;
        rs_text_add(text, one->text.data, one->text.size);
        if (i + 1 == all->count || all->at[i + 1].at != from)
            add_line(text, all, all->main_file, from);
    }
    rs_text_add(text, file->text + from, file->size - from);
}

restride_status rs_companion_write(rs_text *text, const rs_syntax *tree, size_t main_file,
                                   const char *shown, const rs_companion_copies *copies,
                                   const rs_syntax_type *const *records, size_t record_count,
                                   const rs_companion_layout *layout)
{
    insertions all = {tree, main_file, shown, tree->files[main_file].size, NULL, 0, RESTRIDE_OK};
    for (size_t i = 0; i < copies->count; i++) {
        const rs_syntax_range range = copies->at[i].function->range;
        if (!copies->at[i].is_wrapper && !copies->at[i].is_method && range.file == main_file &&
            range.begin < all.first)
            all.first = range.begin;
    }
    for (size_t i = 0; i < copies->count && all.status == RESTRIDE_OK; i++)
        if (copies->at[i].is_method)
            insert_method(&all, &copies->at[i], i, records, record_count);
        else
            insert_copy(&all, &copies->at[i], i);
    insert_records(&all, records, record_count, layout);
    if (all.count > 0)
        qsort(all.at, all.count, sizeof *all.at, compare);
    if (all.status == RESTRIDE_OK)
        add_all(text, &all);
    for (size_t i = 0; i < all.count; i++) {
        if (all.at[i].text.failed && all.status == RESTRIDE_OK)
            all.status = rs_fail_memory("a companion");
        rs_text_free(&all.at[i].text);
    }
    free(all.at);
    if (all.status == RESTRIDE_OK && text->failed)
        return rs_fail_memory("a companion");
    return all.status;
}
