/*
 * restride-lab check: runs what --apply makes beside the nests as they were.
 */
#include "lab/cli/lab.h"

#include "base/json.h"
#include "console/fail.h"
#include "lab/cli/analyzer.h"
#include "lab/cli/check_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: restride-lab check FILE.c --apply vector|memory [OPTIONS]... [-- COMPILER OPTIONS]\n\n"
    "Runs each nest that was changed on an OpenCL device with random data (integers from 0 to "
    "99): as\n"
    "it is written, in one work-item; with its independent loops as threads; and changed. All "
    "elements\n"
    "have to be the same, bit for bit, unless the order of a sum was changed. Then it prints the "
    "times.\n\n"
    "  --set NAME=VALUE an integer parameter of the functions (default: values with which they\n"
    "                   stay inside their arrays are looked for)\n"
    "  --elements A=N   of an array whose size is not known: one that is read at random\n"
    "  --size N         the largest value to try (1003)\n"
    "  --memory MIB     for all arrays of a nest (256)\n"
    "  --serial N       the most iterations that one work-item runs as they are written; larger\n"
    "                   nests are compared with their threads alone (67108864)\n"
    "  --device D       gpu, cpu, its number or a part of its name (default: the first GPU, else\n"
    "                   the first device)\n"
    "  --repeat N       times, of which the median is printed (3); a short kernel is launched "
    "back to\n"
    "                   back for two milliseconds, on what it left\n"
    "  --seed N         of the data (1)\n"
    "  --json           everything as JSON\n"
    "  -h, --help       this page\n\n"
    "The other options are those of restride analyze --apply.\n";

typedef struct {
    json_t *given;
    int64_t size, memory;
    const char *device;
    rs_check_settings run;
    bool json;
} settings;

/* ---- arguments ---- */

static bool read_number(const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return *text != '\0' && *end == '\0' && value >= least && value <= most;
}

static bool take_given(json_t *given, const char *text)
{
    int64_t value;
    const char *sign = strchr(text, '=');
    if (sign == NULL || sign == text || !read_number(sign + 1, INT32_MIN, INT64_MAX, &value))
        return false;
    char *name = strndup(text, (size_t)(sign - text));
    bool ok = name != NULL && json_object_set_new(given, name, json_integer(value)) == 0;
    free(name);
    return ok;
}

static bool take_option(settings *s, const char *name, const char *value)
{
    int64_t number;
    bool ok;
    if (strcmp(name, "set") == 0)
        return take_given(s->given, value);
    if (strcmp(name, "device") == 0) {
        s->device = value;
        return true;
    }
    bool none = strcmp(name, "repeat") == 0 || strcmp(name, "serial") == 0;
    ok = read_number(value, none ? 0 : 1, INT32_MAX, &number);
    if (strcmp(name, "size") == 0)
        s->size = number;
    else if (strcmp(name, "serial") == 0)
        s->run.most_trips = (size_t)number;
    else if (strcmp(name, "memory") == 0)
        s->memory = number;
    else if (strcmp(name, "repeat") == 0)
        s->run.repeat = (int)number;
    else
        s->run.seed = (uint64_t)number;
    return ok;
}

/* The name of one of our options that take a value, and where the value is. */
static const char *own_option(const char *argument, const char **value)
{
    static const char *const names[] = {"set",    "device", "size", "memory",
                                        "serial", "repeat", "seed"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(argument, "--", 2) != 0 || strncmp(argument + 2, names[i], length) != 0 ||
            (argument[2 + length] != '\0' && argument[2 + length] != '='))
            continue;
        *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
        return names[i];
    }
    return NULL;
}

/* Whether the analyzer wants the option too: it decides the parameters that predictions are for. */
static bool is_shared(const char *name)
{
    return strcmp(name, "set") == 0 || strcmp(name, "size") == 0 || strcmp(name, "memory") == 0;
}

enum { MORE_ARGUMENTS = 6 }; /* that the analyzer gets beyond ours, with the NULL at the end */

/* Takes what is ours; the rest, with "--json", is for the analyzer. */
static int split_arguments(int argc, char **argv, settings *s, char **rest)
{
    static char json[] = "--json", size[] = "--size=1003", memory[] = "--memory=256";
    int count = 0;
    bool over = false;
    rest[count++] = argv[0];
    rest[count++] = json;
    rest[count++] = size; /* what the user gives comes later, and counts */
    rest[count++] = memory;
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        over = over || strcmp(argv[i], "--") == 0;
        const char *name = over ? NULL : own_option(argv[i], &value);
        if (name != NULL) {
            int first = i;
            if (value == NULL && ++i < argc)
                value = argv[i];
            if (value == NULL || !take_option(s, name, value))
                return rs_cli_fail(RS_EXIT_USAGE, argv[0],
                                   "--%s cannot be \"%s\"; restride-lab check --help says "
                                   "what it takes.",
                                   name, value != NULL ? value : "");
            for (int j = first; j <= i && is_shared(name); j++)
                rest[count++] = argv[j];
        } else if (!over && strcmp(argv[i], json) == 0) {
            s->json = true;
        } else {
            rest[count++] = argv[i];
        }
    }
    rest[count] = NULL;
    return RS_EXIT_DONE;
}

/* ---- the results ---- */

static json_t *describe(const rs_check_result *result)
{
    json_t *values = json_object();
    for (int i = 0; i < result->values.count; i++)
        json_object_set_new(values, result->values.names[i],
                            json_integer((json_int_t)result->values.values[i]));
    json_t *check =
        json_pack("{s:b, s:o, s:b, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:i}", "equal",
                  result->array == NULL, "values", values, "with_original", result->ran_original,
                  "elements", (json_int_t)result->elements, "different",
                  (json_int_t)result->different, "largest", result->largest, "threads",
                  result->threads, "pack", result->pack, "changed", result->changed, "unpack",
                  result->unpack, "again", result->again, "launches", result->launches);
    if (result->ran_original)
        json_object_set_new(check, "original", json_real(result->original));
    return check;
}

static void print_values(const rs_values *values)
{
    for (int i = 0; i < values->count; i++)
        printf("%s%s=%lld", i > 0 ? ", " : " with ", values->names[i],
               (long long)values->values[i]);
}

static double predicted_gain(const json_t *nest)
{
    const json_t *predicted = json_object_get(nest, "predicted");
    double changed = rs_json_number_of(predicted, "changed");
    return changed > 0 ? rs_json_number_of(predicted, "threads") / changed : 0;
}

static void print_result(const json_t *nest, const rs_check_result *r)
{
    const char *along = rs_json_string_of(nest, "along");
    printf("%s, line %d%s%s", rs_json_string_of(nest, "function"),
           (int)rs_json_integer_of(nest, "line"), along != NULL ? ": along " : "",
           along != NULL ? along : "");
    print_values(&r->values);
    if (r->array != NULL)
        printf(": WRONG at %s[%zu]", r->array, r->first);
    else if (r->different == 0)
        printf(": the same bit for bit");
    else
        printf(": within %.1e, a sum in another order", r->largest);
    if (r->launches > 0)
        printf(
            "\n    threads %.4g ms (%.1f %% apart when timed again), changed %.4g ms: %.2f times "
            "as fast",
            1e3 * r->threads, 100 * fabs(r->again / r->threads - 1), 1e3 * r->changed,
            r->threads / r->changed);
    if (json_object_get(nest, "predicted") != NULL)
        printf(", predicted on an H100 %.2f", predicted_gain(nest));
    if (r->pack + r->unpack > 0)
        printf(", packing %.4g ms", 1e3 * (r->pack + r->unpack));
    printf("\n");
}

static void print_refusal(const json_t *nest)
{
    printf("%s, line %d: left as it is: %s (line %d)\n", rs_json_string_of(nest, "function"),
           (int)rs_json_integer_of(nest, "line"), rs_json_string_of(nest, "reason"),
           (int)rs_json_integer_of(nest, "reason_line"));
}

/* An array whose size is not known, and was not given either; NULL when there is none. */
static const char *unsized_array(const json_t *nest)
{
    size_t i;
    json_t *parameter;
    json_array_foreach(json_object_get(nest, "parameters"), i, parameter)
    {
        if (json_is_null(json_object_get(parameter, "sizes")))
            return rs_json_string_of(parameter, "name");
    }
    return NULL;
}

static int check_nest(const char *verb, const settings *s, rs_check_device *device, json_t *nest)
{
    rs_check_result result;
    memset(&result, 0, sizeof result);
    if (!rs_json_flag_of(nest, "applied")) {
        if (!s->json)
            print_refusal(nest);
        return RS_EXIT_DONE;
    }
    const char *unsized = unsized_array(nest);
    if (unsized != NULL)
        return rs_cli_fail(RS_EXIT_FAILED, verb,
                           "%s, line %d, cannot be checked: the size of %s is not known; give it "
                           "with --elements %s=N.",
                           rs_json_string_of(nest, "function"),
                           (int)rs_json_integer_of(nest, "line"), unsized, unsized);
    restride_status status =
        rs_values_choose(&result.values, nest, s->given, s->size, (size_t)s->memory << 20);
    if (status == RESTRIDE_OK)
        status = rs_check_run(device, nest, &s->run, &result);
    if (status != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    json_object_set_new(nest, "check", describe(&result));
    if (!s->json)
        print_result(nest, &result);
    return result.array == NULL ? RS_EXIT_DONE : RS_EXIT_FAILED;
}

static int check_all(const char *verb, settings *s, json_t *reply)
{
    size_t i;
    json_t *nest;
    rs_check_device *device = NULL;
    int exit_status = RS_EXIT_DONE;
    s->run.width = (int)rs_json_integer_of(reply, "width");
    if (rs_check_open(&device, s->device) != RESTRIDE_OK ||
        rs_check_build(device, rs_json_string_of(reply, "source")) != RESTRIDE_OK) {
        rs_check_close(device);
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    }
    double launch, group;
    json_object_set_new(reply, "device", json_string(rs_check_device_name(device)));
    if (s->json && s->run.repeat > 0) {
        if (rs_check_time_launch(device, &launch, &group) != RESTRIDE_OK) {
            rs_check_close(device);
            return rs_cli_fail_last(RS_EXIT_FAILED, verb);
        }
        json_object_set_new(reply, "launch", json_real(launch));
        json_object_set_new(reply, "launch_group", json_real(group));
    }
    if (!s->json)
        printf("on %s\n", rs_check_device_name(device));
    json_array_foreach(json_object_get(reply, "nests"), i, nest)
    {
        int status = check_nest(verb, s, device, nest);
        exit_status = status != RS_EXIT_DONE ? status : exit_status;
    }
    rs_check_close(device);
    if (!s->json)
        return exit_status;
    json_incref(reply);
    int printed = rs_cli_print_json(verb, reply);
    return printed != RS_EXIT_DONE ? printed : exit_status;
}

int rs_lab_check(int argc, char **argv)
{
    settings s = {json_object(), 1003, 256, NULL, {4, 3, 1, (size_t)1 << 26}, false};
    json_t *reply = NULL;
    const char *verb = argv[0];
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            json_decref(s.given);
            return RS_EXIT_DONE;
        }
    char **rest = calloc((size_t)argc + MORE_ARGUMENTS, sizeof *rest);
    int exit_status = rest == NULL
                          ? rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory.")
                          : split_arguments(argc, argv, &s, rest);
    if (exit_status == RS_EXIT_DONE)
        exit_status = rs_lab_run_analyzer(verb, rest, &reply);
    if (exit_status == RS_EXIT_DONE && json_object_get(reply, "nests") == NULL)
        exit_status =
            rs_cli_fail(RS_EXIT_USAGE, verb, "It takes --apply vector or --apply memory.");
    if (exit_status == RS_EXIT_DONE)
        exit_status = check_all(verb, &s, reply);
    json_decref(reply);
    json_decref(s.given);
    free(rest);
    return exit_status;
}
