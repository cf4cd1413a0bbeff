/* See companions.h. */
#include "companions.h"

#include "companion/companion.h"

#include <stdio.h>
#include <string.h>

static void print_arguments(const rs_syntax *tree, const rs_companion *companion, const char *file,
                            rs_survey_counts *counts)
{
    for (size_t i = 0; i < companion->kernel_count; i++) {
        const rs_companion_kernel *kernel = &companion->kernels[i];
        for (size_t k = 0; counts(tree, kernel->kernel, file) && k < 64; k++) {
            const struct rs_companion_reason *reason = &kernel->reasons[k];
            if ((kernel->found >> k & 1) == 0)
                continue;
            printf("%s\t%s\t%s\t", file, kernel->kernel->name, kernel->kernel->parameters[k]->name);
            if (reason->what == NULL)
                printf("transformed\n");
            else
                printf("kept\t%s:%zu\t%s\n",
                       reason->range.file < tree->file_count ? tree->files[reason->range.file].path
                                                             : file,
                       rs_syntax_line(tree, reason->range), reason->what);
        }
    }
}

/* FOLDER/a_b_c.cu for a/b/c.cu. */
static void name_output(rs_text *name, const char *folder, const char *file, const char *ending)
{
    rs_text_format(name, "%s/", folder);
    for (const char *at = file; *at != '\0'; at++)
        rs_text_format(name, "%c", *at == '/' ? '_' : *at);
    rs_text_add_string(name, ending);
}

static void write_output(const char *folder, const char *file, const char *ending, rs_text *text)
{
    rs_text name = RS_TEXT_EMPTY;
    name_output(&name, folder, file, ending);
    if (name.failed || text->failed ||
        rs_text_write_file(name.data, text->data, text->size) != RESTRIDE_OK)
        fprintf(stderr, "%s: %s\n", file, restride_last_error());
    rs_text_free(&name);
    rs_text_free(text);
}

void rs_survey_companion(rs_syntax *tree, const rs_invocation_request *how, const char *file,
                         const char *folder, rs_survey_counts *counts)
{
    rs_companion companion;
    const rs_companion_layout layout = {32, 1};
    if (rs_companion_make(&companion, tree, how, &layout, NULL, NULL) != RESTRIDE_OK) {
        fprintf(stderr, "%s: %s\n", file, restride_last_error());
        return;
    }
    print_arguments(tree, &companion, file, counts);
    if (companion.text.size > 0) {
        rs_text options = RS_TEXT_EMPTY;
        const char *slash = strrchr(how->path, '/');
        rs_text_add_string(&companion.text, companion.uses.size > 0 ? companion.uses.data : "");
        rs_text_add_string(&companion.text, "\n");
        rs_text_format(&options, "-I%.*s", slash == NULL ? 1 : (int)(slash - how->path),
                       slash == NULL ? "." : how->path);
        for (size_t i = 0; i < how->option_count; i++)
            rs_text_format(&options, " %s", how->options[i]);
        write_output(folder, file, "", &companion.text);
        write_output(folder, file, ".options", &options);
    }
    rs_companion_free(&companion);
}
