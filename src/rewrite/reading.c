/* From the request's source to its syntax tree, and what stops a source on the way. */
#include "rewrite/rewriting.h"

#include "base/json.h"
#include "base/text.h"
#include "rewrite/cpp_differences.h"
#include "rewrite/includes.h"
#include "rewrite/reply.h"
#include "source/words.h"

#include <string.h>
#include <sys/stat.h>

/* Larger sources are left alone; offsets in libclang have 32 bits, and no kernel has so much text.
 */
enum { SOURCE_LIMIT = 64 << 20 };

/* What a source tests to learn that an OpenCL compiler reads it. */
static const char *const usual_tests[] = {"__OPENCL_VERSION__", "__OPENCL_C_VERSION__",
                                          "__OPENCL__",         "CL_VERSION_1_0",
                                          "CL_VERSION_1_1",     "CL_VERSION_1_2"};

/* Adds a name, or the question for its value, that the request does not answer. */
static void add_unanswered(const rs_rewriting *r, json_t *unknown, json_t *values, const char *name,
                           bool valued)
{
    const json_t *answer = json_object_get(json_object_get(r->request, "macros"), name);
    if (answer == NULL)
        json_array_append_new(unknown, json_string(name));
    if (valued && (answer == NULL || json_is_true(answer)) && rs_fixed_value(name) == NULL)
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
 * them for something else than the device's compiler does. Constants of the language are none of
 * those.
 */
static void add_mentioned(const rs_rewriting *r, json_t *values)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(r->request, "macros"), name, value)
    {
        if (json_is_true(value) && !rs_names_constant(name) && is_mentioned(r->flat.text, name))
            json_array_append_new(values, json_string(name));
    }
}

/*
 * What the request does not answer; the reply asks for it when there is any. A source
 * that could not be preprocessed may have taken the wrong branch long before, in a file that cpp
 * then said nothing about: the usual tests are asked about too.
 */
static restride_status ask_for_macros(rs_rewriting *r, bool *stopped)
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
    restride_status status = rs_json_put(r->reply, "unknown_macros", unknown);
    restride_status other = rs_json_put(r->reply, "unknown_values", values);
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

/* Places without lines. */
static const char build_options[] = "the build options";
static const char device_macros[] = "the device's macros";

/* Notes the first place, where there is a line. */
static void note_place(rs_source_place *first, const char *file, size_t line)
{
    if (first->file == NULL && line > 0)
        *first = (rs_source_place){file, line};
}

/* The same for a place without lines. */
static void note_place_without_lines(rs_source_place *first, const char *place, bool is_there)
{
    if (first->file == NULL && is_there)
        *first = (rs_source_place){place, 0};
}

/* What may be taken for something else than the device's compiler takes it for. */
static void note_differences(rs_rewriting *r, const char *file, const char *text)
{
    note_place(&r->operators, file, rs_cpp_differs_operators(text));
    note_place(&r->device_names, file, rs_cpp_differs_device_names(text));
}

/* Keeps the whole source when a text that cpp reads asks what compilers answer differently. */
static restride_status check_questions(rs_rewriting *r, const char *text, const char *file,
                                       bool *stopped)
{
    size_t line;
    const char *reason = rs_cpp_differs_question(text, &line);
    *stopped = reason != NULL;
    return *stopped ? rs_keep_source(r, reason, file, file == build_options ? 0 : line)
                    : RESTRIDE_OK;
}

/* The same for the headers. */
static restride_status check_headers(rs_rewriting *r, bool *stopped)
{
    *stopped = false;
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < r->flat.file_count && status == RESTRIDE_OK && !*stopped; i++) {
        const char *file = r->flat.files[i];
        if (!r->flat.is_read[i])
            continue;
        rs_text text = RS_TEXT_EMPTY;
        struct stat about; /* a device may have no end */
        bool regular = stat(file, &about) == 0 && S_ISREG(about.st_mode);
        status = regular ? rs_text_read_file(&text, file) : RESTRIDE_IO;
        if (status == RESTRIDE_OK) {
            status = check_questions(r, text.data, file, stopped);
            note_differences(r, file, text.data);
        } else if (status == RESTRIDE_IO) {
            *stopped = true;
            status = rs_keep_source(r, "a header cannot be read", file, 0);
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

static bool keeps_its_value(const rs_syntax_type *type)
{
    return type->is_const || type->space == RS_SYNTAX_SPACE_CONSTANT ||
           strcmp(rs_type_element(type)->plain->name, "sampler_t") == 0;
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
        if (node->is != RS_NODE_VARIABLE || keeps_its_value(node->type) ||
            (node->parent > 0 && !node->declaration->is_static))
            continue;
        return stop_at(tree, node,
                       "a variable keeps its value from launch to launch, and kernels in two "
                       "layouts would not share it");
    }
    return RESTRIDE_OK;
}

static restride_status put_includes(rs_rewriting *r)
{
    json_t *includes;
    restride_status status = rs_includes_describe(&r->flat, &r->options, &includes);
    return includes == NULL ? status : rs_json_put(r->reply, "includes", includes);
}

/* Whether a macro without a known value has a name that is not seen to be a device's. */
static bool has_unusual_macro(const rs_rewriting *r)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(r->request, "macros"), name, value)
    {
        if (json_is_true(value) && rs_cpp_differs_device_names(name) == 0)
            return true;
    }
    return false;
}

/* Two places: that of the macro, and that of such a name, unless it is the same. */
static restride_status keep_for_operators(rs_rewriting *r)
{
    const rs_source_place *name = &r->device_names;
    rs_text reason = RS_TEXT_EMPTY;
    rs_text_add_string(&reason, "a macro with # or ## (here) may get names that only the device's "
                                "compiler knows");
    if (name->line > 0)
        rs_text_format(&reason, ", such as the one in %s:%zu", name->file, name->line);
    else if (name->file != r->operators.file)
        rs_text_format(&reason, ", such as one of %s", name->file);
    restride_status status =
        reason.failed ? rs_fail_memory("a reason")
                      : rs_keep_source(r, reason.data, r->operators.file, r->operators.line);
    rs_text_free(&reason);
    return status;
}

static restride_status parse(rs_rewriting *r)
{
    const json_t *bits = json_object_get(r->request, "address_bits");
    r->model.lacks_static = rs_options_are_before_static(&r->options);
    restride_status status =
        rs_tree_parse(&r->tree, r->flat.text, r->flat.size, r->options.standard,
                      bits != NULL ? (int)json_integer_value(bits) : 64);
    if (status == RESTRIDE_OK)
        status = rs_tree_forgive(&r->tree, rs_annotations_forgive);
    if (status == RESTRIDE_OK)
        status = rs_tree_describe(&r->tree, RS_SYNTAX_OPENCL);
    if (status == RESTRIDE_OK && json_is_true(json_object_get(r->request, "full")))
        status = find_lasting_variable(&r->tree);
    return status;
}

/* Whether a macro of the build options could be taken for what the rewriter writes: its values are
 * looked for where they are used. */
static bool defines_own_name(const rs_options *options)
{
    static const char own[] = "-Drestride_";
    bool found = false;
    for (size_t i = 0; i < options->preprocessor_count && !found; i++)
        found = strncmp(options->preprocessor[i], own, strlen(own)) == 0;
    return found;
}

/* Whether a text may declare a structure. */
static bool may_declare(const rs_rewriting *r)
{
    size_t where;
    return has_prefix(r->flat.text, r->flat.size, "struct", &where);
}

/* A program's sources have no folder for OpenCL, whose compilers look in the working directory. */
static rs_beside where_beside(const rs_rewriting *r)
{
    return json_is_true(json_object_get(r->request, "beside")) ? RS_BESIDE_FIRST
                                                               : RS_BESIDE_NOTHING;
}

/* What the text of the request alone is enough to keep the source for. */
static restride_status check_request(rs_rewriting *r, const char *options, bool *stopped)
{
    *stopped = true;
    if (r->options.refused != NULL)
        return rs_keep_source(r, "a build option changes how the source is read", r->file, 0);
    if (strlen(r->source) > SOURCE_LIMIT)
        return rs_keep_source(r, "the source is too large", r->file, 0);
    if (strstr(r->source, "restride_") != NULL)
        return rs_keep_source(r, "the source uses names that start with restride_", r->file, 0);
    size_t where = rs_cpp_differs_nesting(r->source);
    if (where > 0)
        return rs_keep_source(r, "an expression or statement is nested too deeply", r->file, where);
    if (defines_own_name(&r->options))
        return rs_keep_source(r, "the build options define names that start with restride_",
                              r->file, 0);
    if (strpbrk(options, "'\\") != NULL)
        return rs_keep_source(r, "compilers disagree on the quotes in the build options", r->file,
                              0);
    restride_status status = check_questions(r, r->source, r->file, stopped);
    return status == RESTRIDE_OK && !*stopped ? check_questions(r, options, build_options, stopped)
                                              : status;
}

static restride_status flatten(rs_rewriting *r, bool *stopped)
{
    rs_text appendix = RS_TEXT_EMPTY;
    rs_annotations_write(&r->annotations, r->file, &appendix);
    const rs_flat_request request = {.source = r->source,
                                     .file = r->file,
                                     .options = &r->options,
                                     .definitions = r->definitions,
                                     .definition_count = r->definition_count,
                                     .appendix = appendix.data,
                                     .comments =
                                         json_is_true(json_object_get(r->request, "comments")),
                                     .beside = where_beside(r)};
    restride_status status =
        appendix.failed ? rs_fail_memory("an annotation") : rs_flatten(&r->flat, &request);
    rs_text_free(&appendix);
    *stopped = status != RESTRIDE_OK;
    return status == RESTRIDE_IO ? rs_reply_error(r, restride_last_error(), false) : status;
}

/* What the flat text is enough to keep the source for, or to have nothing to do. */
static restride_status check_flat(rs_rewriting *r, bool *stopped)
{
    size_t where;
    *stopped = true;
    if (r->flat.failure != NULL)
        return rs_keep_source(r, r->flat.failure, r->flat.failure_file, r->flat.failure_line);
    if (r->operators.file != NULL && r->device_names.file != NULL)
        return keep_for_operators(r);
    if (rs_cpp_differs_packing(r->flat.text, &where))
        return rs_keep_flat(r, where, "the packing of structures depends on a macro");
    if (has_prefix(r->flat.text, r->flat.appendix, "restride_", &where))
        return rs_keep_flat(r, where, "the source uses names that start with restride_");
    /* Without anything to change libclang's start is saved. */
    *stopped = !json_is_true(json_object_get(r->request, "errors")) &&
               json_object_size(json_object_get(r->request, "layouts")) == 0 &&
               json_object_size(json_object_get(r->request, "references")) == 0 &&
               json_object_size(json_object_get(r->request, "config")) == 0 &&
               r->annotations.count == 0 && !may_declare(r);
    return RESTRIDE_OK;
}

/* Reads everything up to the syntax tree; *stopped when the reply is complete already. */
restride_status rs_read_source(rs_rewriting *r, bool *stopped)
{
    const char *options = rs_request_text(r->request, "options", "");
    restride_status status = check_request(r, options, stopped);
    if (status != RESTRIDE_OK || *stopped)
        return status;
    note_differences(r, r->file, r->source);
    note_place_without_lines(&r->operators, build_options, strchr(options, '#') != NULL);
    note_place_without_lines(&r->device_names, build_options,
                             rs_cpp_differs_device_names(options) > 0);
    note_place_without_lines(&r->device_names, device_macros, has_unusual_macro(r));
    status = flatten(r, stopped);
    if (status == RESTRIDE_OK && !*stopped)
        status = put_includes(r);
    if (status == RESTRIDE_OK && !*stopped)
        status = check_headers(r, stopped);
    if (status == RESTRIDE_OK && !*stopped)
        status = ask_for_macros(r, stopped);
    if (status == RESTRIDE_OK && !*stopped)
        status = check_flat(r, stopped);
    return status == RESTRIDE_OK && !*stopped ? parse(r) : status;
}
