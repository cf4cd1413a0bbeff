/* See host_calls.h. */
#include "layout/host_calls.h"

#include "layout/layout.h"

#include <ctype.h>

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

void rs_host_calls_begin(rs_text *out, const char *file, const char *use)
{
    rs_text_add_string(out, "#pragma once\n/*\n * Made by Restride from ");
    for (const char *c = file; *c != '\0'; c++) /* nothing in the name may end the comment */
        rs_text_add(out, isprint((unsigned char)*c) && *c != '*' ? c : "?", 1);
    rs_text_format(
        out,
        ": how its rewritten kernels want their arrays.\n *\n"
        " * restride_KERNEL_ARGUMENT_marshal() converts a buffer of `count` structures in place, "
        "from the\n * program's order into the kernel's layout, or back.\n"
        " * restride_KERNEL_ARGUMENT_offset() is the byte at which a member of structure `index_i` "
        "lies.\n%s */\n"
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
        "}\n#endif\n",
        use);
}

restride_status rs_host_calls_add(rs_text *out, const char *name, const char *title,
                                  const rs_record *record, const char *source, const char *layout)
{
    rs_text members = RS_TEXT_EMPTY;
    restride_layout *parsed = NULL;
    write_members(record, &members);
    restride_status status = members.failed
                                 ? rs_fail_memory("a header")
                                 : rs_layout_of_record(&parsed, record, RS_SAMPLE_COUNT, layout);
    if (status == RESTRIDE_OK) {
        rs_text_format(out, "\n/* %s, %zu bytes each. */\n", title, record->size);
        rs_layout_write_offset(parsed, RESTRIDE_DIALECT_C, name, false, out);
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
                       name, members.data, layout, source, source);
    }
    restride_layout_destroy(parsed);
    rs_text_free(&members);
    return status;
}
