/* Fuzzes what reads options: the first byte says whose they are. What is accepted names only
 * absolute folders, and no option of its own making. */
#include "syntax/commands.h"
#include "syntax/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check(const rs_syntax_options *options)
{
    for (size_t i = 0; i < options->arguments.count; i++) {
        const char *word = options->arguments.items[i];
        if (strncmp(word, "-I", 2) == 0 && word[2] != '/')
            abort();
        if (strcmp(word, "-include") == 0 || strcmp(word, "-imacros") == 0)
            i++; /* with any name */
        else if (strncmp(word, "-X", 2) == 0 || strncmp(word, "-load", 5) == 0)
            abort();
    }
}

static void read_options(rs_syntax_dialect dialect, const char *text)
{
    rs_arguments words = {NULL, 0, false};
    rs_syntax_options options = {.language = RS_SYNTAX_BY_NAME};
    rs_arguments_split(&words, text, "");
    if (rs_syntax_options_add(&options, dialect, (const char *const *)words.items, words.count,
                              "/folder") == RESTRIDE_OK)
        check(&options);
    rs_syntax_options_free(&options);
    rs_arguments_free(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rs_commands commands;
    char *text = count > 0 ? strndup((const char *)bytes + 1, count - 1) : NULL;
    if (text == NULL)
        return 0;
    if (bytes[0] == 'j') {
        if (rs_commands_parse(&commands, (const char *)bytes + 1, count - 1,
                              "/a/compile_commands.json", "/a/k.cu") == RESTRIDE_OK) {
            if (commands.directory == NULL || commands.directory[0] != '/')
                abort();
            rs_commands_free(&commands);
        }
    } else {
        read_options(bytes[0] == 'l'   ? RS_SYNTAX_CL
                     : bytes[0] == 'c' ? RS_SYNTAX_CC
                                       : RS_SYNTAX_NVCC,
                     text);
    }
    free(text);
    return 0;
}
