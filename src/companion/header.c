/* See header.h. */
#include "companion/header.h"

#include "layout/host_calls.h"

#include <ctype.h>
#include <string.h>

static const char use[] =
    " * restride_KERNEL_form(is_full, is_large) is the second form of a kernel for a launch; it "
    "holds\n * where the companion is included. Behind its own arguments it gets an extent "
    "{count, first} for\n * each such buffer, in their order. is_full: restride_is_full() of all "
    "counts; is_large:\n * restride_is_large() of one of them.\n";

/* "sim::scale<float, 3>" becomes "sim_scale_float_3". */
static void write_letters(rs_text *out, const char *name)
{
    bool is_gap = false;
    for (const char *c = name; *c != '\0'; c++) {
        const bool is_letter = isalnum((unsigned char)*c) || *c == '_';
        if (is_letter && is_gap)
            rs_text_add_string(out, "_");
        if (is_letter)
            rs_text_add(out, c, 1);
        is_gap = !is_letter;
    }
}

/* "restride_KERNEL" or "restride_KERNEL_ARGUMENT"; with a number where the header has that already:
 * names that differ in other signs alone are the same here. */
static void write_name(rs_text *name, const rs_text *header, const char *kernel,
                       const char *argument, const char *ending)
{
    for (size_t number = 1; !name->failed; number++) {
        rs_text whole = RS_TEXT_EMPTY;
        name->size = 0;
        rs_text_add_string(name, "restride_");
        write_letters(name, kernel);
        rs_text_format(name, "%s%s", argument == NULL ? "" : "_", argument == NULL ? "" : argument);
        if (number > 1)
            rs_text_format(name, "_%zu", number);
        rs_text_format(&whole, " %s%s(", name->failed ? "" : name->data, ending);
        const bool is_new = whole.failed || strstr(header->data, whole.data) == NULL;
        name->failed |= whole.failed;
        rs_text_free(&whole);
        if (is_new)
            return;
    }
}

static restride_status add_argument(rs_text *out, const rs_syntax *tree,
                                    const rs_companion_instance *instance, size_t which,
                                    const char *layout)
{
    const rs_syntax_declaration *argument = instance->kernel->parameters[which];
    rs_text name = RS_TEXT_EMPTY, title = RS_TEXT_EMPTY;
    rs_record record;
    restride_status status = rs_companion_record_of(&record, tree, argument->type->of->plain);
    if (status != RESTRIDE_OK)
        return status;
    write_name(&name, out, instance->name, argument->name, "_marshal");
    rs_text_format(&title, "Argument %zu of %s: %s", which, instance->name,
                   argument->type->of->plain->name);
    status = name.failed || title.failed
                 ? rs_fail_memory("a header")
                 : rs_host_calls_add(out, name.data, title.data, &record, "i f", layout);
    rs_text_free(&name);
    rs_text_free(&title);
    rs_record_free(&record);
    return status;
}

static restride_status add_instance(rs_text *out, const rs_syntax *tree,
                                    const rs_companion_instance *instance, const char *layout)
{
    rs_text name = RS_TEXT_EMPTY;
    write_name(&name, out, instance->name, NULL, "_form");
    restride_status status = name.failed ? rs_fail_memory("a header") : RESTRIDE_OK;
    for (size_t i = 0; i < instance->kernel->parameter_count && status == RESTRIDE_OK; i++)
        if (i < 64 && (instance->transformed >> i & 1) != 0)
            status = add_argument(out, tree, instance, i, layout);
    if (status == RESTRIDE_OK) /* full, ragged, full_large, ragged_large */
        rs_text_format(out,
                       "#define %s_form(is_full, is_large) \\\n"
                       "    ((is_large) ? ((is_full) ? &%s : &%s) \\\n"
                       "                : ((is_full) ? &%s : &%s))\n",
                       name.data, instance->names[2], instance->names[3], instance->names[0],
                       instance->names[1]);
    rs_text_free(&name);
    return status;
}

restride_status rs_companion_header_write(rs_text *out, const rs_syntax *tree,
                                          const rs_companion *companion, const char *file,
                                          const rs_companion_layout *layout)
{
    const size_t tile = layout->tile * (layout->group == 0 ? 1 : layout->group);
    rs_text written = RS_TEXT_EMPTY;
    restride_status status = RESTRIDE_OK;
    rs_companion_layout_write(&written, layout);
    rs_host_calls_begin(out, file, use);
    rs_text_add_string(out, "\nstatic inline bool restride_is_full(size_t count)\n{\n");
    if (tile == 0) /* its members follow each other by the count */
        rs_text_add_string(out, "    (void)count;\n    return false;\n}\n");
    else
        rs_text_format(out, "    return count %% %zu == 0;\n}\n", tile);
    rs_text_format(out,
                   "static inline bool restride_is_large(size_t count, size_t size)\n{\n"
                   "    return (count + %zu) * size >= (size_t)1 << 31;\n}\n",
                   tile);
    if (written.failed)
        status = rs_fail_memory("a header");
    for (size_t i = 0; i < companion->instances.count && status == RESTRIDE_OK; i++)
        status = add_instance(out, tree, &companion->instances.at[i], written.data);
    rs_text_free(&written);
    return status == RESTRIDE_OK && out->failed ? rs_fail_memory("a header") : status;
}
