/* Writes the header for host programs: see header.h. */
#include "rewrite/header.h"

#include "layout/layout.h"

#include <ctype.h>
#include <string.h>

/* The members of a record by their sizes: a conversion moves bytes, whatever they mean. */
static void write_members(const rs_record *record, rs_text *out)
{
    static const struct {
        size_t size;
        const char *type;
    } types[] = {{1, "uchar"},  {2, "ushort"}, {4, "uint"},    {8, "ulong"},
                 {16, "uint4"}, {32, "uint8"}, {64, "uint16"}, {128, "ulong16"}};
    rs_text_add_string(out, "f{");
    for (size_t i = 0; i < record->leaf_count; i++)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
            if (types[t].size == record->leaves[i].size)
                rs_text_format(out, " %s m%zu;", types[t].type, i);
    rs_text_add_string(out, " }");
}

static void write_common(const char *file, rs_text *out)
{
    rs_text_add_string(out, "#pragma once\n/*\n * Made by Restride from ");
    for (const char *c = file; *c != '\0'; c++) /* nothing in the name may end the comment */
        rs_text_add(out, isprint((unsigned char)*c) && *c != '*' ? c : "?", 1);
    rs_text_add_string(
        out,
        ": how its rewritten kernels want their arrays.\n *\n"
        " * restride_KERNEL_ARGUMENT_marshal() converts a buffer of `count` structures in place, "
        "from "
        "the\n * program's order into the kernel's layout, or back. The kernel gets the number of "
        "structures "
        "in each\n * such buffer behind its own arguments, in their order, as unsigned long.\n"
        " * restride_KERNEL_ARGUMENT_offset() is the byte at which a member of structure `index_i` "
        "lies.\n */\n"
        "#ifndef RESTRIDE_MARSHAL_ONCE\n#define RESTRIDE_MARSHAL_ONCE\n\n"
        "#include <restride/layout.h>\n#include <restride/plan.h>\n\n#include <stdint.h>\n"
        "#include <stdio.h>\n\n"
        "static inline restride_status restride_marshal_records(restride_engine *engine, void "
        "*buffer,\n"
        "                                                       const char *dims, const char "
        "*from,\n"
        "                                                       const char *to)\n"
        "{\n"
        "    restride_layout *source = NULL, *target = NULL;\n"
        "    restride_plan *plan = NULL;\n"
        "    restride_status status = restride_layout_parse(&source, dims, from);\n"
        "    if (status == RESTRIDE_OK)\n"
        "        status = restride_layout_parse(&target, dims, to);\n"
        "    if (status == RESTRIDE_OK)\n"
        "        status = restride_plan_convert(&plan, engine, source, target);\n"
        "    if (status == RESTRIDE_OK)\n"
        "        status = restride_execute(plan, buffer);\n"
        "    restride_plan_destroy(plan);\n"
        "    restride_layout_destroy(source);\n"
        "    restride_layout_destroy(target);\n"
        "    return status;\n"
        "}\n#endif\n");
}

static restride_status write_argument(const rs_model *model, const rs_pointer_parameter *argument,
                                      rs_text *out)
{
    const rs_structure *s = &model->structures[argument->structure];
    const char *source = argument->extent != NULL ? "f i" : "i f";
    rs_text name = RS_TEXT_EMPTY, record = RS_TEXT_EMPTY;
    rs_text_format(&name, "restride_%s_%s", model->functions[argument->function].name,
                   argument->name);
    write_members(&s->record, &record);
    restride_layout *layout = NULL;
    restride_status status =
        name.failed || record.failed ? rs_fail_memory("a header") : RESTRIDE_OK;
    if (status == RESTRIDE_OK)
        status = rs_layout_of_record(&layout, &s->record, RS_SAMPLE_COUNT, argument->layout);
    if (status == RESTRIDE_OK) {
        rs_text_format(out, "\n/* Argument %u of %s: %s, %zu bytes each. */\n", argument->index,
                       model->functions[argument->function].name,
                       s->name != NULL ? s->name : "records", s->record.size);
        rs_layout_write_offset(layout, RESTRIDE_DIALECT_C, name.data, false, out);
        rs_text_format(out,
                       "static inline restride_status %s_marshal(restride_engine *engine, void "
                       "*buffer, size_t count, int back)\n{\n"
                       "    static const char record[] = \"%s\";\n"
                       "    static const char layout[] = \"%s\";\n"
                       "    char dims[sizeof record + 32];\n"
                       "    snprintf(dims, sizeof dims, \"i:%%zu %%s\", count, record);\n"
                       "    return restride_marshal_records(engine, buffer, dims, back ? layout : "
                       "\"%s\",\n"
                       "                                    back ? \"%s\" : layout);\n}\n",
                       name.data, record.data, argument->layout, source, source);
    }
    restride_layout_destroy(layout);
    rs_text_free(&name);
    rs_text_free(&record);
    return status;
}

static bool is_written(const rs_model *model, const rs_pointer_parameter *argument)
{
    return argument->reason == NULL && rs_argument_kernel(model, argument) != NULL;
}

/* Letter number i of "KERNEL_ARGUMENT". */
static char letter_of(const rs_model *model, const rs_pointer_parameter *argument, size_t i)
{
    const char *kernel = model->functions[argument->function].name;
    size_t length = strlen(kernel);
    return i < length ? kernel[i] : i == length ? '_' : argument->name[i - length - 1];
}

static bool have_same_functions(const rs_model *model, const rs_pointer_parameter *a,
                                const rs_pointer_parameter *b)
{
    size_t i = 0;
    while (letter_of(model, a, i) == letter_of(model, b, i) && letter_of(model, a, i) != '\0')
        i++;
    return letter_of(model, a, i) == letter_of(model, b, i);
}

restride_status rs_header_refuse_twins(const rs_model *model)
{
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < model->argument_count; i++)
        for (int k = 0; k < i && status == RESTRIDE_OK; k++) {
            rs_pointer_parameter *second = &model->arguments[i];
            const rs_pointer_parameter *first = &model->arguments[k];
            if (is_written(model, first) && is_written(model, second) &&
                have_same_functions(model, first, second))
                status = rs_argument_refuse(second, second->offset,
                                            "the header has functions restride_%s_%s for another "
                                            "argument",
                                            model->functions[second->function].name, second->name);
        }
    return status;
}

restride_status rs_header_write(const rs_model *model, const char *file, rs_text *out)
{
    restride_status status = RESTRIDE_OK;
    write_common(file, out);
    for (int i = 0; i < model->argument_count && status == RESTRIDE_OK; i++)
        if (is_written(model, &model->arguments[i]))
            status = write_argument(model, &model->arguments[i], out);
    if (status == RESTRIDE_OK && out->failed)
        status = rs_fail_memory("a header");
    return status;
}
