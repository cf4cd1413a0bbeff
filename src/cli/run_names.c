/* Names of a configuration file that nothing in a run had: see run_report.h. */
#include "base/json.h"
#include "cli/run_report.h"

#include <string.h>

/* What a run knows of a name: a kernel without a list of arguments may have any. */
typedef struct {
    bool is_kernel, has_arguments, is_argument;
} sighting;

static bool has_argument(const json_t *arguments, const char *name)
{
    size_t i;
    json_t *argument;
    json_array_foreach((json_t *)arguments, i, argument)
    {
        const char *present = rs_json_string_of(argument, "name");
        if (present != NULL && strcmp(present, name) == 0)
            return true;
    }
    return false;
}

/* Looks for an argument of the kernel whose name has `length` bytes; `kernel` NULL: of any kernel.
 */
static sighting look_for(const json_t *report, const char *kernel, size_t length,
                         const char *argument)
{
    sighting seen = {false, false, false};
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(report, "kernels"), i, one)
    {
        const char *name = rs_json_string_of(one, "name");
        const json_t *arguments = json_object_get(one, "arguments");
        if (kernel != NULL && (strlen(name) != length || memcmp(name, kernel, length) != 0))
            continue;
        seen.is_kernel = true;
        seen.has_arguments = seen.has_arguments || json_array_size(arguments) > 0;
        seen.is_argument =
            seen.is_argument || (argument != NULL && has_argument(arguments, argument));
    }
    return seen;
}

static void note_once(json_t *notes, json_t *sentence)
{
    if (!rs_json_has(notes, sentence))
        json_array_append(notes, sentence);
    json_decref(sentence);
}

/* `name` is a kernel's, "KERNEL.ARGUMENT", or an argument's of all kernels. */
static void check_name(json_t *report, const char *name, bool is_kernel)
{
    const char *dot = strchr(name, '.');
    const size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name);
    const char *argument = is_kernel ? NULL : dot != NULL ? dot + 1 : name;
    const bool of_all = !is_kernel && dot == NULL;
    const sighting seen = look_for(report, of_all ? NULL : name, length, argument);
    json_t *notes = json_object_get(report, "notes");
    if (!seen.is_kernel && !of_all)
        note_once(notes,
                  json_sprintf("[%.*s]: in the configuration, but no kernel of this name was "
                               "seen.",
                               (int)length, name));
    else if (argument != NULL && seen.has_arguments && !seen.is_argument)
        note_once(
            notes,
            json_sprintf("%s: in the configuration, but no kernel here has this argument.", name));
}

void rs_run_report_check_names(json_t *report, const json_t *config)
{
    static const struct {
        const char *key;
        bool of_kernels;
    } lists[] = {{"kernels", true}, {"layouts", false}, {"records", false}};
    const char *name;
    json_t *value;
    if (json_array_size(json_object_get(report, "kernels")) == 0)
        return;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        json_object_foreach(json_object_get(config, lists[i].key), name, value)
            check_name(report, name, lists[i].of_kernels);
}
