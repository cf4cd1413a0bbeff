/* See toolkit.h. A toolkit is a folder with the headers of the runtime and of the compiler. */
#include "syntax/toolkit.h"

#include "base/text.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path that is too long for the system is one where nothing is. */
typedef struct {
    char text[PATH_MAX];
} path;

static path path_of(const char *folder, const char *name)
{
    path made;
    int length = snprintf(made.text, sizeof made.text, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof made.text)
        made.text[0] = '\0';
    return made;
}

static bool is_there(const char *folder, const char *name)
{
    const path file = path_of(folder, name);
    return access(file.text, R_OK) == 0;
}

/* Reads CUDART_VERSION from the header of the runtime's functions. */
static restride_status read_version(rs_toolkit *toolkit)
{
    static const char define[] = "#define CUDART_VERSION";
    const path header = path_of(toolkit->include, "cuda_runtime_api.h");
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = rs_text_read_file(&text, header.text);
    const char *found = status == RESTRIDE_OK && text.size > 0 ? strstr(text.data, define) : NULL;
    const long version = found != NULL ? strtol(found + strlen(define), NULL, 10) : 0;
    rs_text_free(&text);
    toolkit->version = version > 0 && version < 1000000 ? (int)version : 0;
    return status == RESTRIDE_OUT_OF_MEMORY ? status : RESTRIDE_OK;
}

/* The folder of the headers of a toolkit; an empty one if there is none. */
static path headers_in(const char *folder)
{
    static const char *const includes[] = {"include", "targets/x86_64-linux/include",
                                           "targets/sbsa-linux/include",
                                           "targets/aarch64-linux/include"};
    for (size_t i = 0; i < sizeof includes / sizeof includes[0]; i++) {
        const path include = path_of(folder, includes[i]);
        if (is_there(include.text, "cuda_runtime.h") && is_there(include.text, "crt/host_config.h"))
            return include;
    }
    return (path){""};
}

static bool is_toolkit(const char *folder)
{
    return headers_in(folder).text[0] != '\0';
}

/* The folder above the one of a program: of /usr/local/cuda/bin/nvcc, /usr/local/cuda. */
static bool above(const char *file, path *folder)
{
    *folder = path_of("", file);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(folder->text, '/');
        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    if (folder->text[0] == '\0')
        strcpy(folder->text, "/");
    return is_toolkit(folder->text);
}

static bool find_by_path(path *folder)
{
    for (const char *at = getenv("PATH"); at != NULL && *at != '\0';) {
        const int length = (int)strcspn(at, ":");
        path file, real;
        if (length > 0 &&
            snprintf(file.text, sizeof file.text, "%.*s/nvcc", length, at) < PATH_MAX &&
            access(file.text, X_OK) == 0 &&
            ((realpath(file.text, real.text) != NULL && above(real.text, folder)) ||
             above(file.text, folder)))
            return true;
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return false;
}

restride_status rs_toolkit_find(rs_toolkit *toolkit, const char *named)
{
    *toolkit = (rs_toolkit){NULL, NULL, 0};
    const char *variable = getenv("CUDA_PATH");
    path folder = {""}, real;
    if (named != NULL && !is_toolkit(named))
        return rs_fail(RESTRIDE_IO, "%s is no CUDA toolkit: it has no include/cuda_runtime.h.",
                       named);
    if (named != NULL)
        folder = path_of(named, "");
    else if (variable != NULL && *variable != '\0' && is_toolkit(variable))
        folder = path_of(variable, "");
    else if (!find_by_path(&folder))
        folder = is_toolkit("/usr/local/cuda") ? path_of("/usr/local/cuda", "") : (path){""};
    if (folder.text[0] == '\0' || realpath(folder.text, real.text) == NULL)
        return RESTRIDE_OK;
    toolkit->folder = strdup(real.text);
    toolkit->include = strdup(headers_in(real.text).text);
    restride_status status = toolkit->folder == NULL || toolkit->include == NULL
                                 ? rs_fail_memory("the name of the CUDA toolkit")
                                 : read_version(toolkit);
    if (status != RESTRIDE_OK)
        rs_toolkit_free(toolkit);
    return status;
}

void rs_toolkit_free(rs_toolkit *toolkit)
{
    free(toolkit->folder);
    free(toolkit->include);
    *toolkit = (rs_toolkit){NULL, NULL, 0};
}

/* Takes the newest version in a folder such as /usr/lib/gcc/x86_64-linux-gnu. */
static void take_newest(const char *folder, path *best, long *newest)
{
    DIR *versions = opendir(folder);
    for (struct dirent *v; versions != NULL && (v = readdir(versions)) != NULL;) {
        const path version = path_of(folder, v->d_name), include = path_of(version.text, "include");
        const long number = strtol(v->d_name, NULL, 10);
        if (number > *newest && is_there(include.text, "stddef.h")) {
            *best = include;
            *newest = number;
        }
    }
    if (versions != NULL)
        closedir(versions);
}

void rs_toolkit_add_gcc(rs_arguments *arguments, const char *root)
{
    path best = {""};
    long newest = 0;
    DIR *triples = opendir(root);
    for (struct dirent *t; triples != NULL && (t = readdir(triples)) != NULL;)
        if (t->d_name[0] != '.')
            take_newest(path_of(root, t->d_name).text, &best, &newest);
    if (triples != NULL)
        closedir(triples);
    if (newest > 0) {
        rs_arguments_add(arguments, "-idirafter");
        rs_arguments_add(arguments, "%s", best.text);
    }
}
