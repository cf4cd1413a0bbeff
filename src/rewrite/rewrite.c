/* The contract of rewrite.h: reads the request, runs the steps, writes the reply. */
#include "rewrite/rewrite.h"

#include "base/text.h"
#include "layout/layout.h"
#include "rewrite/annotations.h"
#include "rewrite/doubts.h"
#include "rewrite/header.h"
#include "rewrite/includes.h"
#include "rewrite/model.h"
#include "rewrite/reorder.h"
#include "rewrite/reply.h"
#include "source/cuda.h"
#include "source/flatten.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Larger sources are left alone; offsets in libclang have 32 bits, and no kernel has so much text.
 */
enum { SOURCE_LIMIT = 64 << 20, SAMPLE_COUNT = 1 << 30 };

typedef struct {
    const char *file; /* NULL: nowhere */
    size_t line;
} place;

typedef struct {
    const json_t *request;
    const char *source, *file;
    rs_options options;
    char **definitions; /* "-DNAME=VALUE" from the request's macros */
    size_t definition_count;
    rs_annotations annotations;
    rs_flat flat;
    rs_tree tree;
    rs_model model;
    json_t *reply;
    place operators;    /* of a macro that uses # or ## */
    place device_names; /* of a name that only the device's compiler defines */
} rewriting;

/* "Nothing could be done": the reply is this sentence, and whether the request itself is wrong. */
static restride_status reply_error(rewriting *r, const char *sentence, bool bad_request)
{
    restride_status status = rs_reply_put(r->reply, "error", rs_reply_text(sentence));
    return status == RESTRIDE_OK ? rs_reply_put(r->reply, "bad_request", json_boolean(bad_request))
                                 : status;
}

/* Why the whole source stays as it is. */
static restride_status keep_source(rewriting *r, const char *reason, const char *file, size_t line)
{
    restride_status status = rs_reply_put(r->reply, "reason", rs_reply_text(reason));
    if (status == RESTRIDE_OK)
        status = rs_reply_put(r->reply, "file", rs_reply_text(file));
    if (status == RESTRIDE_OK)
        status = rs_reply_put(r->reply, "line", json_integer((json_int_t)line));
    return status;
}

/* ---- reading the request ---- */

static const char *text_member(const json_t *request, const char *key, const char *otherwise)
{
    const json_t *value = json_object_get(request, key);
    return json_is_string(value) ? json_string_value(value) : otherwise;
}

/* What is wrong with the request's form, or NULL. */
static const char *check_request(const json_t *request)
{
    static const struct {
        const char *key;
        json_type types[2];
        const char *sentence;
    } rules[] = {
        {"source", {JSON_STRING, JSON_STRING}, "The member \"source\" is not a string."},
        {"file", {JSON_STRING, JSON_STRING}, "The member \"file\" is not a string."},
        {"options", {JSON_STRING, JSON_STRING}, "The member \"options\" is not a string."},
        {"address_bits",
         {JSON_INTEGER, JSON_INTEGER},
         "The member \"address_bits\" is not 32 or 64."},
        {"tile", {JSON_INTEGER, JSON_INTEGER}, "The member \"tile\" is not an integer."},
        {"defaults", {JSON_OBJECT, JSON_OBJECT}, "The member \"defaults\" is not an object."},
        {"layouts", {JSON_OBJECT, JSON_OBJECT}, "The member \"layouts\" is not an object."},
        {"records", {JSON_OBJECT, JSON_OBJECT}, "The member \"records\" is not an object."},
        {"references", {JSON_OBJECT, JSON_OBJECT}, "The member \"references\" is not an object."},
        {"language", {JSON_STRING, JSON_STRING}, "The member \"language\" is not a string."},
        {"config", {JSON_OBJECT, JSON_OBJECT}, "The member \"config\" is not an object."},
        {"macros", {JSON_OBJECT, JSON_OBJECT}, "The member \"macros\" is not an object."},
        {"assume_undefined",
         {JSON_TRUE, JSON_FALSE},
         "The member \"assume_undefined\" is not true or false."},
        {"header", {JSON_TRUE, JSON_FALSE}, "The member \"header\" is not true or false."},
        {"comments", {JSON_TRUE, JSON_FALSE}, "The member \"comments\" is not true or false."},
        {"soa", {JSON_TRUE, JSON_FALSE}, "The member \"soa\" is not true or false."},
        {"full", {JSON_TRUE, JSON_FALSE}, "The member \"full\" is not true or false."},
    };
    if (!json_is_object(request))
        return "The request is not a JSON object.";
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const json_t *value = json_object_get(request, rules[i].key);
        if (value != NULL && json_typeof(value) != rules[i].types[0] &&
            json_typeof(value) != rules[i].types[1])
            return rules[i].sentence;
    }
    if (json_object_get(request, "source") == NULL)
        return "The request has no member \"source\".";
    const char *language = text_member(request, "language", "opencl");
    if (strcmp(language, "opencl") != 0 && strcmp(language, "cuda") != 0)
        return "The member \"language\" is neither opencl nor cuda.";
    const json_t *bits = json_object_get(request, "address_bits");
    if (bits != NULL && json_integer_value(bits) != 32 && json_integer_value(bits) != 64)
        return "The member \"address_bits\" is not 32 or 64.";
    if (json_object_size(json_object_get(request, "references")) > 0 &&
        strcmp(language, "opencl") != 0)
        return "References are reordered in OpenCL C alone.";
    const json_t *tile = json_object_get(request, "tile");
    if (tile != NULL && (json_integer_value(tile) < 1 || json_integer_value(tile) >= SAMPLE_COUNT))
        return "The member \"tile\" is not a sensible tile size; 32 is usual.";
    return NULL;
}

/* The macros that the device's compiler predefines, as options for cpp. One without a known value
 * is its own name, for that compiler to expand. */
static restride_status read_macros(rewriting *r)
{
    json_t *macros = json_object_get(r->request, "macros");
    r->definitions = calloc(json_object_size(macros) + 1, sizeof *r->definitions);
    if (r->definitions == NULL)
        return rs_fail_memory("the macros of a request");
    const char *name;
    json_t *value;
    json_object_foreach(macros, name, value)
    {
        if (!json_is_string(value) && !json_is_true(value))
            continue;
        rs_text option = RS_TEXT_EMPTY;
        rs_text_format(&option, "-D%s=%s", name,
                       json_is_true(value) ? name : json_string_value(value));
        char *text = rs_text_take(&option);
        if (text == NULL)
            return rs_fail_memory("the macros of a request");
        r->definitions[r->definition_count++] = text;
    }
    return RESTRIDE_OK;
}

/* ---- layouts ---- */

/* What an object says of "KERNEL.ARGUMENT", or else of "ARGUMENT"; NULL when neither is there. */
static const char *find_expression(const json_t *layouts, const char *full, const char *name)
{
    const char *expression = json_string_value(json_object_get(layouts, full));
    return expression != NULL ? expression : json_string_value(json_object_get(layouts, name));
}

/* The layout that the request, its configuration or a comment names for the argument, or else for
 * all of the kernel; "i f" when none does. */
static restride_status wanted_layout(const rewriting *r, const rs_argument *argument,
                                     rs_text *found)
{
    const json_t *layouts = json_object_get(r->request, "layouts");
    const json_t *config = json_object_get(json_object_get(r->request, "config"), "layouts");
    const json_t *defaults = json_object_get(r->request, "defaults");
    const json_t *tile = json_object_get(r->request, "tile");
    const char *kernel = r->model.functions[argument->function].name;
    rs_text full = RS_TEXT_EMPTY;
    rs_text_format(&full, "%s.%s", kernel, argument->name);
    if (full.failed)
        return rs_fail_memory("a layout");
    const char *expression = find_expression(layouts, full.data, argument->name);
    if (expression == NULL)
        expression = find_expression(config, full.data, argument->name);
    rs_text_free(&full);
    const rs_annotation *annotation = rs_annotations_find(&r->annotations, kernel, argument->name);
    if (expression == NULL && annotation != NULL)
        expression = annotation->layout;
    if (expression == NULL)
        expression = find_expression(defaults, kernel, "*");
    if (expression != NULL)
        rs_text_add_string(found, expression);
    else if (tile != NULL)
        rs_text_format(found, "i/%d f i%%%d", (int)json_integer_value(tile),
                       (int)json_integer_value(tile));
    else
        rs_text_add_string(found, "i f");
    return found->failed ? rs_fail_memory("a layout") : RESTRIDE_OK;
}

/* Parses the wanted layout of an argument that could have one; *sentence is set when the request is
 * wrong. */
static restride_status set_layout(rewriting *r, rs_argument *argument, const char **sentence)
{
    rs_text wanted = RS_TEXT_EMPTY;
    restride_status status = wanted_layout(r, argument, &wanted);
    if (status != RESTRIDE_OK)
        return status;
    restride_layout *layout;
    status = rs_layout_of_record(&layout, &r->model.structures[argument->structure].record,
                                 SAMPLE_COUNT, wanted.data);
    if (status != RESTRIDE_OK) {
        rs_text_free(&wanted);
        *sentence = restride_last_error();
        return status == RESTRIDE_OUT_OF_MEMORY ? status : RESTRIDE_OK;
    }
    rs_layout_form form = rs_layout_classify(layout, &argument->tile);
    restride_layout_destroy(layout);
    if (form == RS_FORM_AOS || (form == RS_FORM_SOA && argument->extent != NULL))
        status = rs_argument_refuse(argument, argument->offset, "layout requested");
    else if (form == RS_FORM_OTHER)
        *sentence =
            "Only the layouts \"i f\", \"f i\" and \"i/T f i%T\" can be written into a kernel.";
    argument->layout = rs_text_take(&wanted);
    return argument->layout == NULL ? rs_fail_memory("a layout") : status;
}

/* Whether "ARG" or "KERNEL.ARG" names an argument of the source. */
static bool is_argument(const rs_model *model, const char *name)
{
    for (int i = 0; i < model->argument_count; i++) {
        const rs_argument *argument = &model->arguments[i];
        if (rs_argument_kernel(model, argument) == NULL)
            continue;
        const char *kernel = rs_argument_kernel(model, argument)->name;
        size_t length = strlen(kernel);
        if (strcmp(name, argument->name) == 0 ||
            (strncmp(name, kernel, length) == 0 && name[length] == '.' &&
             strcmp(name + length + 1, argument->name) == 0))
            return true;
    }
    return false;
}

/* Whether an expression can be parsed at all, for arguments whose structure has no layout. */
static restride_status check_expression(const char *expression, const char **sentence)
{
    rs_record sample = {0, 0, 0, NULL};
    restride_layout *layout = NULL;
    restride_status status = rs_record_add_leaf(&sample, "x", 0, 4);
    if (status == RESTRIDE_OK)
        status = rs_record_complete(&sample, 4, 4);
    if (status == RESTRIDE_OK)
        status = rs_layout_of_record(&layout, &sample, SAMPLE_COUNT, expression);
    restride_layout_destroy(layout);
    rs_record_free(&sample);
    if (status != RESTRIDE_OK && status != RESTRIDE_OUT_OF_MEMORY) {
        *sentence = restride_last_error();
        return RESTRIDE_OK;
    }
    return status;
}

/* The names of a configuration that this source does not have: it may serve several programs. */
static restride_status list_unused(rewriting *r)
{
    static const char *const parts[] = {"layouts", "records"};
    const json_t *config = json_object_get(r->request, "config");
    json_t *unused = json_array(), *value;
    const char *name;
    for (size_t p = 0; unused != NULL && p < sizeof parts / sizeof parts[0]; p++)
        json_object_foreach(json_object_get(config, parts[p]), name, value)
        {
            if (!is_argument(&r->model, name))
                json_array_append_new(unused, json_string(name));
        }
    if (json_array_size(unused) > 0)
        return rs_reply_put(r->reply, "unused", unused);
    json_decref(unused);
    return RESTRIDE_OK;
}

static restride_status set_layouts(rewriting *r, bool *stopped)
{
    const char *name, *sentence = NULL;
    json_t *value;
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = RESTRIDE_OK;
    json_object_foreach(json_object_get(r->request, "layouts"), name, value)
    {
        if (!json_is_string(value))
            rs_text_format(&text, "The layout of %s is not a string.", name);
        else if (!is_argument(&r->model, name))
            rs_text_format(&text,
                           "No kernel has an argument %s that points to global or constant memory.",
                           name);
        else if (status == RESTRIDE_OK && sentence == NULL)
            status = check_expression(json_string_value(value), &sentence);
        if (text.size > 0)
            sentence = text.data;
    }
    if (status == RESTRIDE_OK && sentence == NULL)
        status = list_unused(r);
    for (int i = 0; i < r->model.argument_count && status == RESTRIDE_OK && sentence == NULL; i++)
        if (r->model.arguments[i].reason == NULL &&
            rs_argument_kernel(&r->model, &r->model.arguments[i]) != NULL)
            status = set_layout(r, &r->model.arguments[i], &sentence);
    *stopped = sentence != NULL;
    if (status == RESTRIDE_OK && sentence != NULL)
        status = reply_error(r, sentence, true);
    rs_text_free(&text);
    return status;
}

/* ---- the steps ---- */

static bool any_transformed(const rs_model *model)
{
    for (int i = 0; i < model->argument_count; i++)
        if (model->arguments[i].reason == NULL &&
            rs_argument_kernel(model, &model->arguments[i]) != NULL)
            return true;
    return false;
}

/* What a source tests to learn that an OpenCL compiler reads it. */
static const char *const usual_tests[] = {"__OPENCL_VERSION__", "__OPENCL_C_VERSION__",
                                          "__OPENCL__",         "CL_VERSION_1_0",
                                          "CL_VERSION_1_1",     "CL_VERSION_1_2"};

/* Adds a name, or the question for its value, that the request does not answer. */
static void add_unanswered(const rewriting *r, json_t *unknown, json_t *values, const char *name,
                           bool valued)
{
    const json_t *answer = json_object_get(json_object_get(r->request, "macros"), name);
    if (answer == NULL)
        json_array_append_new(unknown, json_string(name));
    if (valued && (answer == NULL || json_is_true(answer)))
        json_array_append_new(values, json_string(name));
}

/* Whether the text has the word, directives aside. */
static bool is_mentioned(const char *text, const char *name)
{
    const char *cursor = text, *line;
    size_t line_length;
    while ((line = rs_line_next(&cursor, &line_length)) != NULL) {
        size_t position = 0, word, length;
        while (line[0] != '#' && rs_word_next(line, line_length, &position, &word, &length))
            if (rs_word_equals(line, word, length, name))
                return true;
    }
    return false;
}

/*
 * Adds the macros that are known to be defined and still in the text, where libclang could take
 * them for something else than the device's compiler does. A floating constant decides nothing
 * there.
 */
static void add_mentioned(const rewriting *r, json_t *values)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(r->request, "macros"), name, value)
    {
        if (json_is_true(value) && !rs_names_floating_constant(name) &&
            is_mentioned(r->flat.text, name))
            json_array_append_new(values, json_string(name));
    }
}

/*
 * What the request does not answer; the reply asks for it when there is any. A source
 * that could not be preprocessed may have taken the wrong branch long before, in a file that cpp
 * then said nothing about: the usual tests are asked about too.
 */
static restride_status ask_for_macros(rewriting *r, bool *stopped)
{
    *stopped = false;
    if (json_is_true(json_object_get(r->request, "assume_undefined")))
        return RESTRIDE_OK;
    json_t *unknown = json_array(), *values = json_array();
    for (size_t i = 0; i < r->flat.unknown_count; i++)
        add_unanswered(r, unknown, values, r->flat.unknown[i].name, r->flat.unknown[i].valued);
    for (size_t i = 0; r->flat.failure != NULL && i < sizeof usual_tests / sizeof usual_tests[0];
         i++)
        add_unanswered(r, unknown, values, usual_tests[i], false);
    if (r->flat.failure == NULL)
        add_mentioned(r, values);
    *stopped = json_array_size(unknown) > 0 || json_array_size(values) > 0;
    if (!*stopped) {
        json_decref(unknown);
        json_decref(values);
        return RESTRIDE_OK;
    }
    restride_status status = rs_reply_put(r->reply, "unknown_macros", unknown);
    restride_status other = rs_reply_put(r->reply, "unknown_values", values);
    return status == RESTRIDE_OK ? other : status;
}

/* Whether a text has an identifier that starts with `prefix`; *where is its offset. */
static bool has_prefix(const char *text, size_t size, const char *prefix, size_t *where)
{
    size_t position = 0, length;
    while (rs_word_next(text, size, &position, where, &length))
        if (length >= strlen(prefix) && memcmp(text + *where, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

static restride_status keep_flat(rewriting *r, size_t offset, const char *reason)
{
    const char *file;
    size_t line;
    rs_flat_locate(&r->flat, offset, &file, &line);
    return keep_source(r, reason, file, line);
}

/* Keeps the whole source when a text that cpp reads asks what compilers answer differently. */
static restride_status check_questions(rewriting *r, const char *text, const char *file,
                                       bool *stopped)
{
    size_t line;
    const char *reason = rs_doubt_question(text, &line);
    *stopped = reason != NULL;
    return *stopped ? keep_source(r, reason, file, line) : RESTRIDE_OK;
}

/* Notes the first place, where there is a line. */
static void note_place(place *first, const char *file, size_t line)
{
    if (first->file == NULL && line > 0)
        *first = (place){file, line};
}

/* The same for the headers. */
static restride_status check_headers(rewriting *r, bool *stopped)
{
    *stopped = false;
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < r->flat.file_count && status == RESTRIDE_OK && !*stopped; i++) {
        const char *file = r->flat.files[i];
        if (file[0] == '\0' || file[0] == '<' || strcmp(file, r->file) == 0)
            continue;
        rs_text text = RS_TEXT_EMPTY;
        struct stat about; /* a device may have no end */
        bool regular = stat(file, &about) == 0 && S_ISREG(about.st_mode);
        status = regular ? rs_text_read_file(&text, file) : RESTRIDE_IO;
        if (status == RESTRIDE_OK) {
            status = check_questions(r, text.data, file, stopped);
            note_place(&r->operators, file, rs_doubt_operators(text.data));
            note_place(&r->device_names, file, rs_doubt_device_names(text.data));
        } else if (status == RESTRIDE_IO) { /* named by a #line directive */
            *stopped = true;
            status = keep_source(r, "a file that is named in the source cannot be read", file, 0);
        }
        rs_text_free(&text);
    }
    return status;
}

/* Keeps the source, as a failure of the tree at this node. */
static restride_status stop_at(rs_tree *tree, const rs_node *node, const char *reason)
{
    tree->failure = strdup(reason);
    tree->failure_offset = node->begin;
    return tree->failure != NULL ? RESTRIDE_OK : rs_fail_memory("a parsed source");
}

/*
 * Generated accesses name OpenCL's vector types (float4): a type definition inside a function could
 * give such a name another meaning there. Keeps the source then, as a failure of the tree.
 */
static restride_status find_hidden_type(rs_tree *tree)
{
    for (int n = 0; n < tree->node_count && tree->failure == NULL; n++) {
        const rs_node *node = &tree->nodes[n];
        if (node->kind != CXCursor_TypedefDecl || node->parent <= 0)
            continue;
        CXString spelling = clang_getCursorSpelling(node->cursor);
        const char *name = clang_getCString(spelling);
        size_t length = strlen(name);
        bool vector = length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9';
        clang_disposeString(spelling);
        if (!vector)
            continue;
        return stop_at(tree, node, "a type inside a function may hide a vector type");
    }
    return RESTRIDE_OK;
}

static bool keeps_its_value(CXCursor variable)
{
    CXType type = clang_getCursorType(variable);
    while (clang_getArrayElementType(type).kind != CXType_Invalid)
        type = clang_getArrayElementType(type);
    CXString spelling = clang_getTypeSpelling(type);
    const char *name = clang_getCString(spelling);
    bool constant = clang_isConstQualifiedType(type) || strstr(name, "__constant") != NULL ||
                    strstr(name, "sampler_t") != NULL;
    clang_disposeString(spelling);
    return constant;
}

/*
 * A variable that lives from launch to launch exists once in the program's own kernels and once in
 * the rewritten ones, where a kernel and its form for full tiles would have one each. Keeps the
 * source of a layer's request then, as a failure of the tree.
 */
static restride_status find_lasting_variable(rs_tree *tree)
{
    for (int n = 0; n < tree->node_count && tree->failure == NULL; n++) {
        const rs_node *node = &tree->nodes[n];
        if (node->kind != CXCursor_VarDecl || keeps_its_value(node->cursor) ||
            (node->parent > 0 && clang_Cursor_getStorageClass(node->cursor) != CX_SC_Static))
            continue;
        return stop_at(tree, node,
                       "a variable keeps its value from launch to launch, and kernels in two "
                       "layouts would not share it");
    }
    return RESTRIDE_OK;
}

static restride_status put_includes(rewriting *r)
{
    json_t *includes;
    restride_status status = rs_includes_describe(&r->flat, r->file, &r->options, &includes);
    return includes == NULL ? status : rs_reply_put(r->reply, "includes", includes);
}

/* Whether a macro without a known value has a name that is not seen to be a device's. */
static bool has_unusual_macro(const rewriting *r)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(r->request, "macros"), name, value)
    {
        if (json_is_true(value) && rs_doubt_device_names(name) == 0)
            return true;
    }
    return false;
}

/* Reads everything up to the syntax tree; *stopped when the reply is complete already. */
static restride_status read_source(rewriting *r, bool *stopped)
{
    *stopped = true;
    if (r->options.refused != NULL)
        return keep_source(r, "a build option changes how the source is read", r->file, 0);
    if (strlen(r->source) > SOURCE_LIMIT)
        return keep_source(r, "the source is too large", r->file, 0);
    if (strstr(r->source, "restride_") != NULL)
        return keep_source(r, "the source uses names that start with restride_", r->file, 0);
    size_t where = rs_doubt_nesting(r->source);
    if (where > 0)
        return keep_source(r, "an expression or statement is nested too deeply", r->file, where);
    const char *options = text_member(r->request, "options", "");
    if (strpbrk(options, "'\\") != NULL)
        return keep_source(r, "compilers disagree on the quotes in the build options", r->file, 0);
    restride_status status = check_questions(r, r->source, r->file, stopped);
    if (status == RESTRIDE_OK && !*stopped)
        status = check_questions(r, options, r->file, stopped);
    if (status != RESTRIDE_OK || *stopped)
        return status;
    note_place(&r->operators, r->file, rs_doubt_operators(r->source));
    note_place(&r->operators, "the build options", strchr(options, '#') != NULL);
    note_place(&r->device_names, r->file, rs_doubt_device_names(r->source));
    note_place(&r->device_names, "the build options", rs_doubt_device_names(options));
    note_place(&r->device_names, "the device's macros", has_unusual_macro(r));
    *stopped = true;
    rs_text appendix = RS_TEXT_EMPTY;
    rs_annotations_write(&r->annotations, r->file, &appendix);
    const rs_flat_request request = {r->source,
                                     r->file,
                                     &r->options,
                                     r->definitions,
                                     r->definition_count,
                                     appendix.data,
                                     json_is_true(json_object_get(r->request, "comments")),
                                     r->model.language == RS_CUDA_C};
    status = appendix.failed ? rs_fail_memory("an annotation") : rs_flatten(&r->flat, &request);
    rs_text_free(&appendix);
    if (status == RESTRIDE_IO)
        return reply_error(r, restride_last_error(), false);
    if (status != RESTRIDE_OK)
        return status;
    status = put_includes(r);
    if (status == RESTRIDE_OK)
        status = check_headers(r, stopped);
    if (status == RESTRIDE_OK && !*stopped)
        status = ask_for_macros(r, stopped);
    if (status != RESTRIDE_OK || *stopped)
        return status;
    *stopped = true;
    if (r->flat.failure != NULL)
        return keep_source(r, r->flat.failure, r->flat.failure_file, r->flat.failure_line);
    if (r->operators.file != NULL && r->device_names.file != NULL)
        return keep_source(r,
                           "a macro with # or ## (here) may get names that only the device's "
                           "compiler knows",
                           r->operators.file, r->operators.line);
    if (rs_doubt_packing(r->flat.text, &where))
        return keep_flat(r, where, "the packing of structures depends on a macro");
    if (has_prefix(r->flat.text, r->flat.appendix, "restride_", &where))
        return keep_flat(r, where, "the source uses names that start with restride_");
    if (json_object_size(json_object_get(r->request, "layouts")) == 0 &&
        json_object_size(json_object_get(r->request, "references")) == 0 &&
        json_object_size(json_object_get(r->request, "config")) == 0 && r->annotations.count == 0 &&
        !has_prefix(r->flat.text, r->flat.size, "struct", &where))
        return RESTRIDE_OK; /* and libclang's start is saved */
    *stopped = false;
    const json_t *bits = json_object_get(r->request, "address_bits");
    if (r->model.language == RS_CUDA_C)
        return rs_tree_parse_cuda(&r->tree, r->flat.text, r->flat.size);
    status = rs_tree_parse(&r->tree, r->flat.text, r->flat.size, r->options.standard,
                           bits != NULL ? (int)json_integer_value(bits) : 64);
    if (status == RESTRIDE_OK)
        status = find_hidden_type(&r->tree);
    if (status == RESTRIDE_OK && json_is_true(json_object_get(r->request, "full")))
        status = find_lasting_variable(&r->tree);
    return status;
}

static restride_status refuse_all(rewriting *r)
{
    restride_status status = keep_flat(r, r->tree.failure_offset, r->tree.failure);
    for (int i = 0; i < r->model.argument_count && status == RESTRIDE_OK; i++) {
        r->model.arguments[i].reason_offset = (size_t)-1;
        status = rs_argument_refuse(&r->model.arguments[i], r->tree.failure_offset, "%s",
                                    r->tree.failure);
    }
    return status;
}

static restride_status put_header(rewriting *r)
{
    rs_text header = RS_TEXT_EMPTY;
    restride_status status = rs_header_write(&r->model, r->file, &header);
    if (status == RESTRIDE_OK)
        status = rs_reply_put(r->reply, "header", rs_reply_text(header.data));
    rs_text_free(&header);
    return status;
}

static restride_status put_source(rewriting *r, const char *source)
{
    json_t *text = json_string(source);
    if (text == NULL)
        return reply_error(r, "A header is not a text in UTF-8.", false);
    restride_status status = rs_reply_put(r->reply, "source", text);
    return status == RESTRIDE_OK ? rs_reply_put(r->reply, "options", rs_reply_text(r->options.rest))
                                 : status;
}

/* References take the place of layouts: a request is about one or the other. */
static restride_status reorder(rewriting *r, const json_t *references, json_t *kernels)
{
    char *source = NULL, *sentence = NULL;
    restride_status status =
        rs_reorder_references(&r->model, references, kernels, &source, &sentence);
    if (status == RESTRIDE_OK && sentence != NULL)
        status = reply_error(r, sentence, true);
    if (status == RESTRIDE_OK && source != NULL)
        status = put_source(r, source);
    free(sentence);
    free(source);
    return status;
}

static restride_status run(rewriting *r)
{
    bool stopped;
    restride_status status = read_source(r, &stopped);
    json_t *kernels = json_array();
    if (status == RESTRIDE_OK && json_object_get(r->reply, "error") == NULL)
        status = rs_reply_put(r->reply, "kernels", json_incref(kernels));
    if (status == RESTRIDE_OK && !stopped && r->tree.unit == NULL) { /* not even parsed */
        stopped = true;
        status = keep_flat(r, r->tree.failure_offset, r->tree.failure);
    }
    if (status == RESTRIDE_OK && !stopped) {
        r->model.tree = &r->tree;
        r->model.flat = &r->flat;
        r->model.annotations = &r->annotations;
        status = rs_annotations_evaluate(&r->annotations, &r->tree);
    }
    if (status == RESTRIDE_OK && !stopped) {
        r->model.soa = json_is_true(json_object_get(r->request, "soa"));
        r->model.full =
            json_is_true(json_object_get(r->request, "full")) && r->model.language == RS_OPENCL_C;
        const json_t *bits = json_object_get(r->request, "address_bits");
        r->model.address_bits = bits != NULL ? (int)json_integer_value(bits) : 64;
        status = rs_model_find_functions(&r->model);
        const json_t *references = json_object_get(r->request, "references");
        if (status == RESTRIDE_OK && r->tree.failure != NULL)
            status = refuse_all(r);
        if (status == RESTRIDE_OK && json_object_size(references) > 0) {
            stopped = true;
            if (r->tree.failure == NULL)
                status = reorder(r, references, kernels);
        } else if (status == RESTRIDE_OK) {
            status = set_layouts(r, &stopped);
        }
    }
    if (status == RESTRIDE_OK && !stopped)
        status = rs_model_find_origins(&r->model);
    if (status == RESTRIDE_OK && !stopped)
        status = rs_model_understand(&r->model);
    if (status == RESTRIDE_OK && !stopped)
        status = rs_model_settle_calls(&r->model);
    if (status == RESTRIDE_OK && !stopped)
        status = rs_model_plan(&r->model);
    char *source = NULL;
    if (status == RESTRIDE_OK && !stopped && any_transformed(&r->model))
        status = rs_model_render(&r->model, &source);
    if (status == RESTRIDE_OK && !stopped)
        status = rs_reply_describe(&r->model, any_transformed(&r->model), kernels);
    if (status == RESTRIDE_OK && source != NULL)
        status = put_source(r, source);
    if (status == RESTRIDE_OK && source != NULL &&
        json_is_true(json_object_get(r->request, "header")))
        status = put_header(r);
    free(source);
    json_decref(kernels);
    if (status == RESTRIDE_OK && json_object_get(r->reply, "error") != NULL) {
        json_object_del(r->reply, "kernels");
        json_object_del(r->reply, "options");
    }
    return status;
}

static void free_rewriting(rewriting *r)
{
    rs_model_free(&r->model);
    rs_tree_free(&r->tree);
    rs_flat_free(&r->flat);
    rs_options_free(&r->options);
    rs_annotations_free(&r->annotations);
    for (size_t i = 0; i < r->definition_count; i++)
        free(r->definitions[i]);
    free(r->definitions);
}

restride_status rs_rewrite(const json_t *request, json_t **reply)
{
    rewriting r;
    memset(&r, 0, sizeof r);
    *reply = NULL;
    r.request = request;
    r.reply = json_object();
    if (r.reply == NULL)
        return rs_fail_memory("the rewriter's reply");
    restride_status status;
    const char *wrong = check_request(request);
    if (wrong != NULL) {
        status = reply_error(&r, wrong, true);
    } else {
        r.source = text_member(request, "source", "");
        r.file = text_member(request, "file", "kernel.cl");
        if (strcmp(text_member(request, "language", ""), "cuda") == 0)
            r.model.language = RS_CUDA_C;
        status = rs_options_parse(&r.options, text_member(request, "options", ""));
        if (status == RESTRIDE_OK)
            status = read_macros(&r);
        if (status == RESTRIDE_OK)
            status = rs_annotations_read(
                &r.annotations, json_object_get(request, "records"),
                json_object_get(json_object_get(request, "config"), "records"), r.source);
        if (status == RESTRIDE_OK)
            status = run(&r);
    }
    free_rewriting(&r);
    if (status == RESTRIDE_OK)
        *reply = r.reply;
    else
        json_decref(r.reply);
    return status;
}
