/* See commands.h. */
#include "syntax/commands.h"

#include "base/json.h"
#include "syntax/options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char memory_subject[] = "a compilation database";

static const char *string_of(const json_t *entry, const char *member)
{
    return json_string_value(json_object_get(entry, member));
}

/* The directory of an entry, absolute; relative ones begin at that of the file. */
static char *directory_of(const json_t *entry, const char *file)
{
    const char *directory = string_of(entry, "directory"), *slash = strrchr(file, '/');
    rs_text base = RS_TEXT_EMPTY;
    char here[PATH_MAX];
    if (file[0] != '/' && getcwd(here, sizeof here) != NULL)
        rs_text_format(&base, "%s/", here);
    rs_text_add(&base, file, slash != NULL ? (size_t)(slash - file) : 0);
    char *folder =
        base.failed ? NULL : rs_syntax_absolute(base.data, directory != NULL ? directory : ".");
    rs_text_free(&base);
    return folder;
}

/* Whether the entry is for the source, by this name or through symbolic links by another. */
static restride_status compare(const json_t *entry, const char *directory, const char *source,
                               bool *same)
{
    const char *file = string_of(entry, "file");
    *same = false;
    if (file == NULL)
        return RESTRIDE_OK;
    char *path = rs_syntax_absolute(directory, file);
    if (path == NULL)
        return rs_fail_memory(memory_subject);
    *same = strcmp(path, source) == 0;
    if (!*same) {
        char real[PATH_MAX], wanted[PATH_MAX];
        *same = realpath(path, real) != NULL && realpath(source, wanted) != NULL &&
                strcmp(real, wanted) == 0;
    }
    free(path);
    return RESTRIDE_OK;
}

/* Keeps the options of all words: not the compiler and what starts it, the source, "--". */
static void keep_options(rs_commands *commands, const rs_arguments *all, const json_t *entry)
{
    const char *file = string_of(entry, "file");
    bool begun = false;
    for (size_t i = 0; i < all->count; i++) {
        const char *word = all->items[i], *slash = strrchr(word, '/');
        const char *name = slash != NULL ? slash + 1 : word;
        begun = begun || word[0] == '-' || word[0] == '@';
        if (!begun)
            commands->nvcc = commands->nvcc || strncmp(name, "nvcc", 4) == 0;
        else if (strcmp(word, "--") != 0 && (file == NULL || strcmp(word, file) != 0))
            rs_arguments_add(&commands->words, "%s", word);
    }
}

static restride_status read_entry(rs_commands *commands, const json_t *entry)
{
    rs_arguments all = {NULL, 0, false};
    const json_t *list = json_object_get(entry, "arguments");
    const char *line = string_of(entry, "command");
    if (json_is_array(list)) {
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *word = json_string_value(json_array_get(list, i));
            if (word != NULL)
                rs_arguments_add(&all, "%s", word);
        }
    } else if (line != NULL) {
        rs_arguments_split(&all, line, "");
    }
    keep_options(commands, &all, entry);
    bool failed = all.failed || commands->words.failed;
    rs_arguments_free(&all);
    return failed ? rs_fail_memory(memory_subject) : RESTRIDE_OK;
}

restride_status rs_commands_parse(rs_commands *commands, const char *text, size_t size,
                                  const char *file, const char *source)
{
    *commands = (rs_commands){NULL, {NULL, 0, false}, false};
    restride_status status = RESTRIDE_OK;
    json_t *database = json_loadb(text, size, 0, NULL);
    if (!json_is_array(database)) {
        json_decref(database);
        return rs_fail(RESTRIDE_IO, "%s is no compilation database: it is no array in JSON.", file);
    }
    bool found = false;
    for (size_t i = 0; i < json_array_size(database) && !found && status == RESTRIDE_OK; i++) {
        const json_t *entry = json_array_get(database, i);
        char *directory = directory_of(entry, file);
        status = directory == NULL ? rs_fail_memory(memory_subject)
                                   : compare(entry, directory, source, &found);
        if (status == RESTRIDE_OK && found) {
            status = read_entry(commands, entry);
            commands->directory = directory;
            directory = NULL;
        }
        free(directory);
    }
    json_decref(database);
    if (status == RESTRIDE_OK && !found)
        status = rs_fail(RESTRIDE_IO, "%s has no entry for %s.", file, source);
    if (status != RESTRIDE_OK)
        rs_commands_free(commands);
    return status;
}

restride_status rs_commands_read(rs_commands *commands, const char *file, const char *source)
{
    *commands = (rs_commands){NULL, {NULL, 0, false}, false};
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = rs_text_read_file(&text, file);
    if (status == RESTRIDE_OK)
        status = rs_commands_parse(commands, text.data != NULL ? text.data : "", text.size, file,
                                   source);
    rs_text_free(&text);
    return status;
}

void rs_commands_free(rs_commands *commands)
{
    free(commands->directory);
    rs_arguments_free(&commands->words);
    *commands = (rs_commands){NULL, {NULL, 0, false}, false};
}
