/*
 * accessors_of SOURCE.cu TILE GROUP prints what the companion writes for the record that the first
 * parameter of each kernel of the source points to: as JSON, the prelude, and for each kernel by
 * its name the accessors, the line for friends, and the leaves of the record; or why it is not
 * known.
 */
#include "companion/accessors.h"
#include "syntax/tree.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *leaves_of(const rs_syntax *tree, const rs_syntax_type *record)
{
    rs_record leaves;
    json_t *list = json_array();
    if (rs_companion_record_of(&leaves, tree, record) != RESTRIDE_OK)
        return list;
    for (size_t i = 0; i < leaves.leaf_count; i++)
        json_array_append_new(list, json_pack("{sIsIsb}", "at", (json_int_t)leaves.leaves[i].offset,
                                              "size", (json_int_t)leaves.leaves[i].size, "padding",
                                              leaves.leaves[i].padding));
    rs_record_free(&leaves);
    return list;
}

static json_t *describe(const rs_syntax *tree, const rs_syntax_type *record,
                        const rs_companion_layout *layout)
{
    const char *why;
    if (!rs_companion_record_is_known(tree, record, &why))
        return json_pack("{ss}", "why", why);
    rs_text text = RS_TEXT_EMPTY, friends = RS_TEXT_EMPTY, expression = RS_TEXT_EMPTY;
    json_t *answer = json_object();
    if (rs_companion_accessors_write(&text, tree, record, layout) != RESTRIDE_OK)
        exit(1);
    rs_companion_friend_write(&friends, record);
    rs_companion_layout_write(&expression, layout);
    json_object_set_new(answer, "text", json_string(text.data));
    json_object_set_new(answer, "friends", json_string(friends.data));
    json_object_set_new(answer, "layout", json_string(expression.data));
    json_object_set_new(answer, "size", json_integer(record->size));
    json_object_set_new(answer, "leaves", leaves_of(tree, record));
    rs_text_free(&text);
    rs_text_free(&friends);
    rs_text_free(&expression);
    return answer;
}

static int fail(const char *what)
{
    fprintf(stderr, "accessors_of: %s: %s\n", what, restride_last_error());
    return 1;
}

int main(int argc, char *argv[])
{
    if (argc != 4)
        return 2;
    const rs_companion_layout layout = {(size_t)atoi(argv[2]), (size_t)atoi(argv[3])};
    const rs_invocation_request request = {
        .path = argv[1], .language = RS_SYNTAX_CUDA, .toolkit = getenv("TOOLKIT") ? NULL : ""};
    rs_invocation how;
    rs_syntax *tree;
    if (rs_invocation_make(&how, &request) != RESTRIDE_OK)
        return fail(argv[1]);
    if (rs_syntax_read(&tree, &how) != RESTRIDE_OK)
        return fail(argv[1]);
    for (size_t i = 0; i < tree->problem_count; i++)
        fprintf(stderr, "%s:%zu: %s\n", argv[1], tree->problems[i].line, tree->problems[i].message);
    rs_text prelude = RS_TEXT_EMPTY;
    rs_companion_prelude_write(&prelude);
    json_t *answer = json_pack("{ss}", "prelude", prelude.data), *kernels = json_object();
    for (size_t i = 0; i < tree->declaration_count; i++) {
        const rs_syntax_declaration *function = tree->declarations[i];
        if (function->is_kernel && function->kind == RS_DECLARATION_FUNCTION)
            json_object_set_new(kernels, function->name,
                                describe(tree, function->parameters[0]->type->of, &layout));
    }
    json_object_set_new(answer, "kernels", kernels);
    json_dumpf(answer, stdout, JSON_COMPACT);
    const int failed = tree->error_count > 0;
    json_decref(answer);
    rs_text_free(&prelude);
    rs_syntax_free(tree);
    rs_invocation_free(&how);
    return failed;
}
