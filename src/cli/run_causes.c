/* Why a run transformed nothing: the reasons in its report, each once, whole programs first. */
#include "base/json.h"
#include "cli/run_report.h"

#include "base/text.h"

#include <string.h>

/* A whole program's reason may begin with its place, "FILE:LINE: " or one without lines. The length
 * of that without the ": ", or 0. */
static size_t place_length(const char *reason)
{
    static const char *const without_lines[] = {"the build options", "the device's macros"};
    const char *end = strstr(reason, ": ");
    const size_t length = end != NULL ? (size_t)(end - reason) : 0;
    bool is_place = memchr(reason, ' ', length) == NULL;
    for (size_t i = 0; i < sizeof without_lines / sizeof without_lines[0]; i++)
        is_place = is_place || (length == strlen(without_lines[i]) &&
                                strncmp(reason, without_lines[i], length) == 0);
    return is_place ? length : 0;
}

/* Adds one to the cause of that reason. Places differ from one to the next: the first is told, and
 * no second one (", such as the one in ..."). */
static void count_cause(json_t *causes, const char *kept, const char *reason, json_t *place)
{
    const char *second = strstr(reason, ", such as ");
    json_t *text =
        json_stringn(reason, second != NULL ? (size_t)(second - reason) : strlen(reason));
    size_t i;
    json_t *cause;
    json_array_foreach(causes, i, cause)
    {
        if (!json_equal(json_object_get(cause, "reason"), text))
            continue;
        json_object_set_new(cause, "count", json_integer(1 + rs_json_integer_of(cause, "count")));
        json_decref(text);
        json_decref(place);
        return;
    }
    json_array_append_new(causes, json_pack("{s:s, s:i, s:o, s:o*}", "kept", kept, "count", 1,
                                            "reason", text, "place", place));
}

/* A program whose kernels have no arguments in the report stays as a whole. Each is counted once;
 * program 0 stands for many. */
static void count_programs(const json_t *report, json_t *causes)
{
    size_t i;
    json_t *kernel, *seen = json_object();
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        const char *reason = rs_json_string_of(kernel, "held_reason");
        const json_int_t program = rs_json_integer_of(kernel, "program");
        char number[64];
        if (reason == NULL || program == 0 ||
            json_array_size(json_object_get(kernel, "arguments")) > 0)
            continue;
        snprintf(number, sizeof number, "%lld, %lld", (long long)program,
                 rs_json_integer_of(kernel, "part"));
        const size_t place = place_length(reason);
        const char *sentence = reason + place + (place > 0 ? strlen(": ") : 0);
        if (json_object_get(seen, number) == NULL)
            count_cause(causes, "program", sentence,
                        place > 0 ? json_stringn(reason, place) : NULL);
        json_object_set_new(seen, number, json_true());
    }
    json_decref(seen);
}

static void count_arguments(const json_t *report, json_t *causes)
{
    size_t i, j;
    json_t *kernel, *argument;
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        json_array_foreach(json_object_get(kernel, "arguments"), j, argument)
        {
            const char *status = rs_json_string_of(argument, "status");
            const char *reason = rs_json_string_of(argument, "reason");
            const char *file = rs_json_string_of(argument, "file");
            if (status == NULL || strcmp(status, "kept") != 0 || reason == NULL)
                continue;
            count_cause(causes, "argument", reason,
                        file != NULL
                            ? json_sprintf("%s:%lld", file, rs_json_integer_of(argument, "line"))
                            : NULL);
        }
    }
}

static json_int_t count_of(const json_t *cause)
{
    return rs_json_integer_of(cause, "count");
}

/* Moves the causes of one list behind those of another, the most frequent first. */
static void append_sorted(json_t *causes, json_t *more)
{
    while (json_array_size(more) > 0) {
        size_t most = 0;
        for (size_t i = 1; i < json_array_size(more); i++)
            if (count_of(json_array_get(more, i)) > count_of(json_array_get(more, most)))
                most = i;
        json_array_append(causes, json_array_get(more, most));
        json_array_remove(more, most);
    }
    json_decref(more);
}

void rs_run_report_add_causes(json_t *report)
{
    json_t *causes = json_array(), *programs = json_array(), *arguments = json_array();
    const char *policy = rs_json_string_of(report, "policy");
    if (strcmp(policy, "off") != 0 && rs_run_report_count(report).arguments[RS_TRANSFORMED] == 0) {
        count_programs(report, programs);
        count_arguments(report, arguments);
    }
    append_sorted(causes, programs);
    append_sorted(causes, arguments);
    json_object_set_new(report, "causes", causes);
}

void rs_run_report_write_causes(const json_t *report, rs_text *text)
{
    const json_t *causes = json_object_get(report, "causes");
    const size_t count = json_array_size(causes);
    size_t i;
    json_t *cause;
    json_array_foreach((json_t *)causes, i, cause)
    {
        const char *place = rs_json_string_of(cause, "place");
        const bool is_one = count_of(cause) == 1;
        if (i == RS_TOLD_CAUSES)
            break;
        rs_text_format(text, "; %lld %s%s kept: %s", (long long)count_of(cause),
                       rs_json_string_of(cause, "kept"), is_one ? "" : "s",
                       rs_json_string_of(cause, "reason"));
        if (place != NULL)
            rs_text_format(text, " (%s%s)", place, is_one ? "" : ", ...");
    }
    if (count > RS_TOLD_CAUSES)
        rs_text_format(text, "; %zu more reason%s in a --report", count - RS_TOLD_CAUSES,
                       count - RS_TOLD_CAUSES == 1 ? "" : "s");
}
