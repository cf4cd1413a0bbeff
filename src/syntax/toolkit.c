/* See toolkit.h. A toolkit is a folder with the headers of the runtime and of the compiler. */
#include "syntax/toolkit.h"

#include "base/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const char *folder, const char *name)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s", folder, name);
    bool found = !path.failed && access(path.data, R_OK) == 0;
    rs_text_free(&path);
    return found;
}

/* The number behind "#define NAME" in a header, or 0. */
static int read_version(const char *include, const char *header, const char *name)
{
    rs_text path = RS_TEXT_EMPTY, text = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s", include, header);
    long version = 0;
    if (!path.failed && rs_text_read_file(&text, path.data) == RESTRIDE_OK && text.size > 0) {
        const char *found = strstr(text.data, name);
        version = found != NULL ? strtol(found + strlen(name), NULL, 10) : 0;
    }
    rs_text_free(&path);
    rs_text_free(&text);
    return version > 0 && version < 1000000 ? (int)version : 0;
}

/* Whether the folder is a toolkit; then it is filled in. */
static bool try_folder(rs_toolkit *toolkit, const char *folder)
{
    static const char *const includes[] = {"include", "targets/x86_64-linux/include",
                                           "targets/sbsa-linux/include",
                                           "targets/aarch64-linux/include"};
    for (size_t i = 0; i < sizeof includes / sizeof includes[0]; i++) {
        rs_text include = RS_TEXT_EMPTY;
        rs_text_format(&include, "%s/%s", folder, includes[i]);
        if (!include.failed && is_there(include.data, "cuda_runtime.h") &&
            is_there(include.data, "crt/host_config.h")) {
            toolkit->folder = realpath(folder, NULL);
            toolkit->include = rs_text_take(&include);
            toolkit->version =
                read_version(toolkit->include, "cuda_runtime_api.h", "#define CUDART_VERSION");
            return true;
        }
        rs_text_free(&include);
    }
    return false;
}

/* The folder above the one of a program `file`: of /usr/local/cuda/bin/nvcc, /usr/local/cuda. */
static bool try_program(rs_toolkit *toolkit, const char *file)
{
    rs_text folder = RS_TEXT_EMPTY;
    rs_text_add_string(&folder, file);
    char *end = folder.failed ? NULL : strrchr(folder.data, '/');
    for (int i = 0; i < 2 && end != NULL; i++) {
        *end = '\0';
        end = i == 0 ? strrchr(folder.data, '/') : end;
    }
    bool found = end != NULL && try_folder(toolkit, end == folder.data ? "/" : folder.data);
    rs_text_free(&folder);
    return found;
}

static bool try_path(rs_toolkit *toolkit)
{
    bool found = false;
    for (const char *at = getenv("PATH"); at != NULL && *at != '\0' && !found;) {
        size_t length = strcspn(at, ":");
        rs_text file = RS_TEXT_EMPTY;
        rs_text_format(&file, "%.*s/nvcc", (int)length, at);
        if (length > 0 && !file.failed && access(file.data, X_OK) == 0) {
            char *target = realpath(file.data, NULL);
            found =
                (target != NULL && try_program(toolkit, target)) || try_program(toolkit, file.data);
            free(target);
        }
        rs_text_free(&file);
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return found;
}

restride_status rs_toolkit_find(rs_toolkit *toolkit, const char *named)
{
    *toolkit = (rs_toolkit){NULL, NULL, 0};
    const char *variable = getenv("CUDA_PATH");
    bool found;
    if (named != NULL)
        found = try_folder(toolkit, named);
    else
        found = (variable != NULL && *variable != '\0' && try_folder(toolkit, variable)) ||
                try_path(toolkit) || try_folder(toolkit, "/usr/local/cuda");
    if (named != NULL && !found)
        return rs_fail(RESTRIDE_IO, "%s is no CUDA toolkit: it has no include/cuda_runtime.h.",
                       named);
    if (found && (toolkit->folder == NULL || toolkit->include == NULL)) {
        rs_toolkit_free(toolkit);
        return rs_fail_memory("the name of the CUDA toolkit");
    }
    return RESTRIDE_OK;
}

void rs_toolkit_free(rs_toolkit *toolkit)
{
    free(toolkit->folder);
    free(toolkit->include);
    *toolkit = (rs_toolkit){NULL, NULL, 0};
}

void rs_toolkit_add_gcc(rs_arguments *arguments, const char *root)
{
    rs_text best = RS_TEXT_EMPTY;
    long newest = -1;
    DIR *triples = opendir(root);
    for (struct dirent *triple; triples != NULL && (triple = readdir(triples)) != NULL;) {
        rs_text folder = RS_TEXT_EMPTY;
        rs_text_format(&folder, "%s/%s", root, triple->d_name);
        DIR *versions = folder.failed || triple->d_name[0] == '.' ? NULL : opendir(folder.data);
        for (struct dirent *v; versions != NULL && (v = readdir(versions)) != NULL;) {
            long version = strtol(v->d_name, NULL, 10);
            rs_text include = RS_TEXT_EMPTY;
            rs_text_format(&include, "%s/%s/include", folder.data, v->d_name);
            if (version > newest && !include.failed && is_there(include.data, "stddef.h")) {
                rs_text_free(&best);
                best = include;
                newest = version;
            } else {
                rs_text_free(&include);
            }
        }
        if (versions != NULL)
            closedir(versions);
        rs_text_free(&folder);
    }
    if (triples != NULL)
        closedir(triples);
    if (best.data != NULL) {
        rs_arguments_add(arguments, "-idirafter");
        rs_arguments_add(arguments, "%s", best.data);
    }
    rs_text_free(&best);
}
