#include "runs.h"

#include "base/folder.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char report_path[128], config_path[128];

static char *folder;

const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

int make_folder(void **state)
{
    (void)state;
    if (rs_folder_create(&folder) != RESTRIDE_OK)
        return 1;
    snprintf(report_path, sizeof report_path, "%s", in_folder("report.json"));
    snprintf(config_path, sizeof config_path, "%s", in_folder("config.ini"));
    return 0;
}

int remove_folder(void **state)
{
    (void)state;
    rs_folder_remove(folder);
    return 0;
}

void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

void write_config(const char *text)
{
    write_file(config_path, text);
}

int run(const char *format, ...)
{
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_in_range(length, 1, (int)sizeof command - 200);
    snprintf(command + length, sizeof command - (size_t)length, " >/dev/null 2>%s",
             in_folder("errors"));
    unlink(report_path);
    return system(command);
}

int exit_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

const char *errors(void)
{
    static char text[65536];
    FILE *file = fopen(in_folder("errors"), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

json_t *report(void)
{
    json_t *loaded = json_load_file(report_path, 0, NULL);
    assert_non_null(loaded);
    return loaded;
}

json_t *kernel_of(json_t *loaded, const char *name)
{
    json_t *kernel = rs_json_named(json_object_get(loaded, "kernels"), name);
    if (kernel == NULL)
        fail_msg("the report has no kernel %s", name);
    return kernel;
}

long number_of(const json_t *object, const char *key)
{
    return (long)json_number_value(json_object_get(object, key));
}

const char *argument_word(const json_t *kernel, size_t index, const char *key)
{
    json_t *argument = json_array_get(json_object_get(kernel, "arguments"), index);
    const char *word = json_string_value(json_object_get(argument, key));
    return word != NULL ? word : "";
}

long transformed_launches(void)
{
    size_t i;
    long transformed = 0;
    json_t *loaded = report(), *kernel;
    json_array_foreach(json_object_get(loaded, "kernels"), i, kernel)
    {
        transformed += number_of(kernel, "transformed_launches");
    }
    json_decref(loaded);
    return transformed;
}
