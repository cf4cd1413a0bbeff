/* What the reply says of each kernel and argument: see rewrite.h. */
#include "rewrite/reply.h"

#include "base/json.h"
#include "rewrite/pattern.h"
#include "source/query.h"

restride_status rs_reply_explain_at(json_t *object, const char *reason, const rs_flat *flat,
                                    size_t offset)
{
    const char *file;
    size_t line;
    rs_flat_locate(flat, offset, &file, &line);
    return rs_json_explain(object, reason, file, line);
}

static json_t *describe_record(const rs_structure *s)
{
    json_t *leaves = json_array();
    for (size_t i = 0; leaves != NULL && i < s->member_count; i++)
        json_array_append_new(leaves, json_pack("{s:s, s:s, s:I, s:I}", "name", s->members[i].path,
                                                "type", s->members[i].type, "offset",
                                                (json_int_t)s->members[i].offset, "size",
                                                (json_int_t)s->members[i].size));
    return json_pack("{s:s, s:I, s:I, s:o}", "name", s->name != NULL ? s->name : "", "size",
                     (json_int_t)s->record.size, "alignment", (json_int_t)s->record.alignment,
                     "leaves", leaves);
}

static restride_status describe_access(const rs_model *model, const rs_fact_accesses *facts,
                                       const rs_pointer_parameter *argument, json_t *entry)
{
    rs_usage usage;
    restride_status status =
        rs_usage_find(model, facts, (int)(argument - model->arguments), &usage);
    if (status != RESTRIDE_OK)
        return status;
    json_t *accesses = json_object();
    for (rs_pattern p = RS_PATTERN_UNIT; p < RS_PATTERN_COUNT; p++)
        json_object_set_new(accesses, rs_pattern_name(p),
                            json_integer((json_int_t)usage.accesses[p]));
    const rs_structure *s = &model->structures[argument->structure];
    json_t *access = json_pack(
        "{s:I, s:I, s:I, s:b, s:b, s:s, s:s, s:o}", "bytes_used", (json_int_t)usage.bytes_used,
        "record_bytes", (json_int_t)s->record.size, "fields_used", (json_int_t)usage.members_used,
        "reads", usage.is_read, "writes", usage.is_written, "members", usage.members, "pattern",
        rs_pattern_name(rs_usage_pattern(&usage)), "accesses", accesses);
    rs_usage_free(&usage);
    return rs_json_put(entry, "access", access);
}

/* What the program itself keeps the array in, as far as is known. */
static const char *own_layout(const rs_model *model, const rs_pointer_parameter *argument)
{
    const rs_annotation *annotation = rs_annotations_find(
        model->annotations, rs_argument_kernel(model, argument)->name, argument->name);
    return annotation != NULL && annotation->extent != NULL ? "f i" : "i f";
}

static restride_status describe_argument(const rs_model *model, const rs_fact_accesses *facts,
                                         const rs_pointer_parameter *argument, json_t *list)
{
    bool kept = argument->reason != NULL;
    json_t *entry =
        json_pack("{s:I, s:s, s:s, s:s, s:s}", "index", (json_int_t)argument->index, "name",
                  argument->name, "type", argument->type, "status", kept ? "kept" : "transformed",
                  "layout", kept ? own_layout(model, argument) : argument->layout);
    if (entry == NULL || json_array_append_new(list, entry) != 0)
        return rs_fail_memory("the rewriter's reply");
    if (kept)
        return rs_reply_explain_at(entry, argument->reason, model->flat, argument->reason_offset);
    restride_status status =
        rs_json_add(entry, json_pack("{s:o, s:I}", "record",
                                     describe_record(&model->structures[argument->structure]),
                                     "tile", (json_int_t)argument->tile));
    if (status == RESTRIDE_OK && argument->extent != NULL)
        status = rs_json_put(entry, "source_layout", json_string("f i"));
    if (status == RESTRIDE_OK)
        status = rs_json_put(entry, "count_argument", json_integer(argument->count_argument));
    return status == RESTRIDE_OK ? describe_access(model, facts, argument, entry) : status;
}

/* Where a parameter's value lies, and the type and size of it or of what it points to. */
static json_t *describe_parameter(const rs_syntax_declaration *declared)
{
    const rs_syntax_type *type = rs_declared_type(declared), *target = type;
    const char *space = "value";
    if (rs_type_is_pointer(type) && !rs_pointer_target(type, &target, &space))
        space = "__local";
    char leaf[RS_TYPE_NAME_SIZE];
    bool vector3;
    if (!rs_leaf_type_name(target, leaf, &vector3))
        leaf[0] = '\0';
    if (leaf[0] == '\0' && target->kind != RS_TYPE_RECORD)
        space = "other";
    return json_pack("{s:s, s:s, s:s, s:I}", "name", declared->name, "space", space, "type", leaf,
                     "bytes", (json_int_t)rs_type_bytes(target));
}

/* All parameters in their order; `arguments` are those of them that have a structure. */
static restride_status describe_parameters(const rs_model *model, const rs_function *kernel,
                                           json_t *entry)
{
    json_t *parameters = json_array();
    restride_status status = rs_json_put(entry, "parameters", parameters);
    for (int i = 0; i < kernel->parameter_count && status == RESTRIDE_OK; i++) {
        json_t *parameter = describe_parameter(rs_parameter(kernel->declaration, i));
        if (parameter == NULL || json_array_append_new(parameters, parameter) != 0)
            return rs_fail_memory("the rewriter's reply");
    }
    for (int i = 0; i < kernel->argument_count && status == RESTRIDE_OK; i++) {
        const rs_pointer_parameter *argument = &model->arguments[kernel->first_argument + i];
        const rs_structure *s =
            argument->structure < 0 ? NULL : &model->structures[argument->structure];
        if (s != NULL && s->failure == NULL)
            status = rs_json_put(json_array_get(parameters, argument->index), "record",
                                 describe_record(s));
    }
    return status;
}

static restride_status describe_arguments(const rs_model *model, const rs_function *kernel,
                                          json_t *arguments)
{
    rs_fact_accesses facts = {.kernel = NULL};
    bool transformed = false;
    for (int i = 0; i < kernel->argument_count; i++)
        transformed |= model->arguments[kernel->first_argument + i].reason == NULL;
    restride_status status =
        transformed ? rs_fact_accesses_read(&facts, model->tree->syntax, kernel->declaration)
                    : RESTRIDE_OK;
    for (int i = 0; i < kernel->argument_count && status == RESTRIDE_OK; i++)
        status = describe_argument(model, &facts, &model->arguments[kernel->first_argument + i],
                                   arguments);
    rs_fact_accesses_free(&facts);
    return status;
}

restride_status rs_reply_describe(const rs_model *model, json_t *kernels)
{
    restride_status status = RESTRIDE_OK;
    for (int f = 0; f < model->function_count && status == RESTRIDE_OK; f++) {
        const rs_function *kernel = &model->functions[f];
        if (!kernel->kernel)
            continue;
        json_t *arguments = json_array();
        json_t *entry = json_pack("{s:s, s:o}", "name", kernel->name, "arguments", arguments);
        if (entry == NULL || json_array_append_new(kernels, entry) != 0)
            return rs_fail_memory("the rewriter's reply");
        status = describe_parameters(model, kernel, entry);
        if (status == RESTRIDE_OK && rs_model_full_instance(model, f) >= 0)
            status = rs_json_put(entry, "full_kernel", json_sprintf(RS_FULL_KERNEL, kernel->name));
        if (status == RESTRIDE_OK)
            status = describe_arguments(model, kernel, arguments);
    }
    return status;
}
