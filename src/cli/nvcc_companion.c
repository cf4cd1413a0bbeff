/* See nvcc.h: companions of sources, which the rewriter makes, and the files that name them. */
#include "base/child.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/store.h"
#include "cli/nvcc.h"
#include "console/parts.h"
#include "layer/cuda/forms.h"
#include "layout/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the rewriter --- */

/* The folder of a source with a slash at its end, and whether it is relative. A relative one gets
 * the working folder before it, with two slashes between: so no compiler names another file like
 * that, and what stands before them can be taken away from names. */
static char *folder_of(const char *source, char **prefix)
{
    const char *slash = strrchr(source, '/');
    rs_text folder = RS_TEXT_EMPTY, before = RS_TEXT_EMPTY;
    *prefix = NULL;
    if (source[0] != '/') {
        char *here = getcwd(NULL, 0);
        rs_text_format(&before, "%s/.//", here == NULL ? "" : here);
        before.failed |= here == NULL;
        free(here);
        rs_text_add_string(&folder, before.failed ? "" : before.data);
        folder.failed |= before.failed;
        *prefix = rs_text_take(&before);
    }
    if (slash != NULL)
        rs_text_add(&folder, source, (size_t)(slash - source) + 1);
    rs_text_add_string(&folder, "");
    return rs_text_take(&folder);
}

static json_t *ask_rewriter(const rs_nvcc *call, const char *source, const rs_text *text,
                            const char *folder)
{
    char *path = NULL, flag[] = "--request";
    json_t *options = json_array(), *reply = NULL;
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int exit_status = 1;
    for (size_t i = 0; i < call->arguments.count; i++)
        if (strcmp(call->arguments.at[i], source) != 0)
            json_array_append_new(options, json_string(call->arguments.at[i]));
    json_t *request = json_pack("{s:s#, s:s, s:{s:o, s:i, s:s}}", "source", text->data,
                                (int)text->size, "file", source, "companion", "options", options,
                                "tile", RS_LAYOUT_TILE, "folder", folder);
    char *dump = request == NULL ? NULL : json_dumps(request, JSON_COMPACT);
    if (dump != NULL && rs_cli_part_path(RS_PART_REWRITER, &path) == RESTRIDE_OK) {
        char *const arguments[] = {path, flag, NULL};
        if (rs_child_run(arguments, dump, strlen(dump), &output, &errors, &exit_status) ==
                RESTRIDE_OK &&
            exit_status == 0)
            reply = json_loadb(output.data, output.size, 0, NULL);
    }
    free(dump);
    free(path);
    json_decref(request);
    rs_text_free(&output);
    rs_text_free(&errors);
    return reply;
}

/* --- what became of a source --- */

static void explain_kernel(const char *source, const json_t *kernel)
{
    const char *name = rs_json_string_of(kernel, "name");
    size_t i;
    json_t *argument;
    json_array_foreach(json_object_get(kernel, "arguments"), i, argument)
    {
        const char *reason = rs_json_string_of(argument, "reason");
        rs_text place = RS_TEXT_EMPTY;
        rs_json_add_place(&place, argument);
        fprintf(stderr, "restride nvcc: %s: %s.%s: %s%s%s\n", source, name,
                rs_json_string_of(argument, "name"), reason == NULL ? "transformed to " : "kept: ",
                reason == NULL || place.data == NULL ? "" : place.data,
                reason == NULL ? rs_json_string_of(argument, "layout") : reason);
        rs_text_free(&place);
    }
}

static void explain(const char *source, const json_t *reply)
{
    size_t i, count = 0;
    json_t *kernel;
    const char *why = rs_json_string_of(reply, "reason");
    rs_text place = RS_TEXT_EMPTY;
    json_array_foreach(json_object_get(reply, "kernels"), i, kernel)
    {
        explain_kernel(source, kernel);
        count += json_array_size(json_object_get(kernel, "arguments"));
    }
    rs_json_add_place(&place, reply);
    if (why == NULL)
        why = rs_json_string_of(reply, "error");
    if (why == NULL && reply == NULL)
        why = "the rewriter did not answer";
    if (why == NULL && count == 0)
        why = "no kernel here has an array of structures";
    if (why != NULL)
        fprintf(stderr, "restride nvcc: %s: kept: %s%s\n", source,
                place.data == NULL ? "" : place.data, why);
    rs_text_free(&place);
}

/* --- files --- */

/* A note of ELF, in assembly; the second pass of nvcc, for the device, takes none. */
void rs_nvcc_describe(rs_text *text, const char *description)
{
    enum { LINE = 2000 };
    size_t length = 0;
    rs_text_format(text,
                   "\n#ifndef __CUDA_ARCH__\n"
                   "__asm__(\".pushsection %s,\\\"a\\\",@note\\n\"\n"
                   "\".balign 4\\n.long %zu, 2f - 1f, %d\\n.asciz \\\"%s\\\"\\n.balign 4\\n1:\\n\"",
                   RS_FORMS_SECTION, sizeof RS_FORMS_OWNER, RS_FORMS_NOTE, RS_FORMS_OWNER);
    for (const char *at = description; *at != '\0'; at++) {
        if (length++ % LINE == 0)
            rs_text_format(text, "%s\n\".ascii \\\"", length == 1 ? "" : "\\\"\\n\"");
        if (*at == '"' || *at == '\\')
            rs_text_format(text, "\\\\\\%s%c", *at == '\\' ? "\\" : "", *at);
        else
            rs_text_add(text, at, 1);
    }
    rs_text_add_string(text, "\\\"\\n\"\n\"2: .balign 4\\n.popsection\\n\");\n#endif\n");
}

/* Names as they are in the companion, with the working folder's before relative ones. */
static void replace(rs_text *text, const char *from, const char *to)
{
    rs_text mended = RS_TEXT_EMPTY;
    const char *at = text->data, *found;
    rs_text_add(&mended, "", 0);
    while ((found = strstr(at, from)) != NULL) {
        rs_text_add(&mended, at, (size_t)(found - at));
        rs_text_add_string(&mended, to);
        at = found + strlen(from);
    }
    rs_text_add_string(&mended, at);
    rs_text_free(text);
    *text = mended;
}

/* As make reads a name. */
static void add_escaped(rs_text *text, const char *name)
{
    for (; *name != '\0'; name++)
        rs_text_format(text, "%s%c",
                       strchr(" #", *name) != NULL ? "\\"
                       : *name == '$'              ? "$"
                                                   : "",
                       *name);
}

restride_status rs_nvcc_mend(const char *file, const rs_nvcc_companion companions[], size_t count)
{
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = rs_text_read_file(&text, file);
    for (size_t i = 0; i < count && status == RESTRIDE_OK && text.size > 0; i++) {
        rs_text from = RS_TEXT_EMPTY, to = RS_TEXT_EMPTY, prefix = RS_TEXT_EMPTY,
                again = RS_TEXT_EMPTY;
        if (companions[i].path == NULL)
            continue;
        add_escaped(&from, companions[i].path);
        add_escaped(&to, companions[i].source);
        if (companions[i].prefix != NULL)
            add_escaped(&prefix, companions[i].prefix);
        /* The companion's line markers make the source a header of its own, too. */
        rs_text_format(&again, "    %s \\\n", to.failed ? "" : to.data);
        if (!again.failed && !text.failed)
            replace(&text, again.data, "");
        if (!from.failed && !to.failed && !text.failed)
            replace(&text, from.data, to.data);
        if (prefix.size > 0 && !prefix.failed && !text.failed)
            replace(&text, prefix.data, "");
        if (from.failed || to.failed || prefix.failed || text.failed)
            status = rs_fail_memory("a file of dependencies");
        rs_text_free(&from);
        rs_text_free(&to);
        rs_text_free(&prefix);
        rs_text_free(&again);
    }
    if (status == RESTRIDE_OK)
        status = rs_text_write_file(file, text.data, text.size);
    rs_text_free(&text);
    return status;
}

/* A file of the name in the cache, or else in a folder of its own. */
static void put_file(rs_nvcc_companion *companion, const char *name, const rs_text *text)
{
    rs_text path = RS_TEXT_EMPTY;
    companion->path = rs_store_put("companions", name, text->data, text->size);
    if (companion->path != NULL || rs_folder_create(&companion->folder) != RESTRIDE_OK)
        return;
    rs_text_format(&path, "%s/%s", companion->folder, name);
    if (!path.failed && rs_text_write_file(path.data, text->data, text->size) == RESTRIDE_OK)
        companion->path = rs_text_take(&path);
    rs_text_free(&path);
}

/* Puts the companion with all that belongs to it where nvcc finds it under the source's name. */
static void write_companion(rs_nvcc_companion *companion, const char *source, const json_t *reply)
{
    const char *slash = strrchr(source, '/'), *uses = rs_json_string_of(reply, "uses");
    char *description = json_dumps(json_object_get(reply, "forms"),
                                   JSON_COMPACT | JSON_ENSURE_ASCII | JSON_SORT_KEYS);
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, rs_json_string_of(reply, "source"));
    rs_text_add_string(&text, "\n");
    rs_text_add_string(&text, uses == NULL ? "" : uses);
    if (description != NULL)
        rs_nvcc_describe(&text, description);
    if (description != NULL && !text.failed)
        put_file(companion, slash != NULL ? slash + 1 : source, &text);
    free(description);
    rs_text_free(&text);
}

void rs_nvcc_companion_free(rs_nvcc_companion *companion)
{
    free(companion->path);
    free(companion->prefix);
    rs_folder_remove(companion->folder);
    *companion = (rs_nvcc_companion){.source = companion->source};
}

void rs_nvcc_make(const rs_nvcc *call, const char *source, bool explains,
                  rs_nvcc_companion *companion)
{
    rs_text text = RS_TEXT_EMPTY;
    json_t *reply = NULL;
    *companion = (rs_nvcc_companion){.source = source};
    char *folder = folder_of(source, &companion->prefix);
    if (folder != NULL && rs_text_read_file(&text, source) == RESTRIDE_OK && text.size > 0)
        reply = ask_rewriter(call, source, &text, folder);
    if (explains)
        explain(source, reply);
    if (json_object_get(reply, "forms") != NULL && rs_json_string_of(reply, "source") != NULL)
        write_companion(companion, source, reply);
    json_decref(reply);
    rs_text_free(&text);
    free(folder);
}
