/* Describes the included files of a source: see includes.h. */
#include "rewrite/includes.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Sources with more files are read anew each time. */
enum { FILE_LIMIT = 64, FOLDER_LIMIT = 2 * FILE_LIMIT };

typedef struct {
    json_t *files, *absent;
    char *folders[FOLDER_LIMIT]; /* where cpp looks; "" is the working directory */
    size_t folder_count;
    bool failed; /* memory is short */
    bool unsure; /* something is not followed */
} search;

static void add_folder(search *s, const char *begin, size_t length)
{
    while (length > 1 && begin[length - 1] == '/')
        length--;
    for (size_t i = 0; i < s->folder_count; i++)
        if (strlen(s->folders[i]) == length && memcmp(s->folders[i], begin, length) == 0)
            return;
    if (s->folder_count == FOLDER_LIMIT) {
        s->unsure = true;
        return;
    }
    char *folder = strndup(begin, length);
    s->failed = s->failed || folder == NULL;
    if (folder != NULL)
        s->folders[s->folder_count++] = folder;
}

static void add_file(search *s, const char *path)
{
    char signature[RS_SIGNATURE_SIZE];
    const char *slash = strrchr(path, '/');
    if (!rs_file_signature(path, signature) || json_object_size(s->files) == FILE_LIMIT) {
        s->unsure = true;
        return;
    }
    s->failed = s->failed || json_object_set_new(s->files, path, json_string(signature)) != 0;
    if (slash != NULL)
        add_folder(s, path, (size_t)(slash - path));
}

/* Notes FOLDER/NAME when there is no such file. */
static void note_absent(search *s, const char *folder, const char *name)
{
    rs_text path = RS_TEXT_EMPTY;
    struct stat about;
    rs_text_format(&path, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
    s->failed = s->failed || path.failed;
    if (!path.failed && stat(path.data, &about) != 0)
        s->failed = s->failed || json_array_append_new(s->absent, json_string(path.data)) != 0;
    rs_text_free(&path);
}

/* Whatever name a file was included by, the folders that do not have that name. */
static void note_others(search *s, const char *path)
{
    for (size_t i = 0; i < s->folder_count && !s->failed; i++) {
        size_t length = strlen(s->folders[i]);
        const char *name = path;
        if (length > 0) {
            if (strncmp(path, s->folders[i], length) != 0 || path[length] != '/')
                continue;
            name = path + length + 1;
        }
        for (size_t k = 0; k < s->folder_count && name[0] != '/'; k++)
            note_absent(s, s->folders[k], name);
    }
}

restride_status rs_includes_describe(const rs_flat *flat, const rs_options *options,
                                     json_t **includes)
{
    search s = {.files = json_object(), .absent = json_array()};
    const char *path;
    json_t *signature;
    s.failed = s.files == NULL || s.absent == NULL;
    s.unsure = flat->failure != NULL; /* a file that is missing may be there the next time */
    if (!s.failed) {
        /* Where cpp looks: beside each file, and in the folders of the build options. */
        static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH"};
        add_folder(&s, "", 0);
        for (size_t i = 0; i < options->preprocessor_count; i++) {
            const char *option = options->preprocessor[i];
            if (strncmp(option, "-I", 2) != 0)
                continue;
            s.unsure = s.unsure || option[2] == '=' || option[2] == '-';
            add_folder(&s, option + 2, strlen(option + 2));
        }
        for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
            s.unsure = s.unsure || getenv(variables[i]) != NULL;
    }
    for (size_t i = 0; i < flat->file_count && !s.failed && !s.unsure; i++)
        if (flat->is_read[i])
            add_file(&s, flat->files[i]);
    json_object_foreach(s.files, path, signature)
    {
        if (!s.failed && !s.unsure)
            note_others(&s, path);
    }
    *includes = NULL;
    if (!s.failed && !s.unsure) {
        *includes = json_pack("{s:O, s:O}", "files", s.files, "absent", s.absent);
        s.failed = *includes == NULL;
    }
    json_decref(s.files);
    json_decref(s.absent);
    for (size_t i = 0; i < s.folder_count; i++)
        free(s.folders[i]);
    return s.failed ? rs_fail_memory("the files of a source") : RESTRIDE_OK;
}
