/*
 * restride-analyze, the program behind `restride analyze`: the access patterns of the kernels and
 * loops of a file, and what follows from them. libclang and isl live here alone.
 */
#include "analyze/analyze.h"
#include "analyze/apply_layout.h"
#include "apply/apply.h"
#include "base/json.h"
#include "console/fail.h"
#include "console/options.h"
#include "programs/analyze/report.h"
#include "source/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_help_analyze[]; /* help.txt */

/* What --apply can do, and how its result is printed. */
typedef struct {
    const char *name;
    restride_status (*apply)(const json_t *request, json_t **reply);
    void (*report)(rs_text *text, const json_t *reply);
} application;

static const application *find_application(const char *name)
{
    static const application applications[] = {{"vector", rs_apply, rs_application_text},
                                               {"memory", rs_apply, rs_application_text},
                                               {"layout", rs_apply_layout, rs_grids_text}};
    for (size_t i = 0; i < sizeof applications / sizeof applications[0]; i++)
        if (strcmp(applications[i].name, name) == 0)
            return &applications[i];
    return NULL;
}

typedef struct {
    const char *file, *output;
    json_t *request;
    const application *apply; /* NULL: nothing */
    bool json, html;
} settings;

/* "NAME,NAME" */
static int read_names(const char *verb, json_t *request, const char *key, const char *names)
{
    json_t *list = json_array();
    for (const char *c = names; *c != '\0';) {
        size_t length = strcspn(c, ",");
        char *name = strndup(c, length);
        json_array_append_new(list, rs_json_string(name));
        free(name);
        c += length + (c[length] == ',');
    }
    return json_object_set_new(request, key, list) == 0
               ? RS_EXIT_DONE
               : rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory.");
}

static int read_number(const char *verb, json_t *request, const char *key, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    long least = strcmp(key, "steering") == 0 ? 0 : 1;
    if (*text == '\0' || *end != '\0' || value < least || value > 1 << 20)
        return rs_cli_fail(RS_EXIT_USAGE, verb, "\"%s\" is no number for --%s.", text, key);
    json_object_set_new(request, key, json_integer(value));
    return RS_EXIT_DONE;
}

static int read_width(const char *verb, json_t *request, const char *key, const char *text)
{
    static const char *const widths[] = {"2", "4", "8", "16"};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (strcmp(text, widths[i]) == 0)
            return read_number(verb, request, key, text);
    return rs_cli_fail(RS_EXIT_USAGE, verb, "--width takes 2, 4, 8 or 16, not \"%s\".", text);
}

/* "X", "X,Y" or "X,Y,Z" */
static int read_group(const char *verb, json_t *request, const char *key, const char *text)
{
    json_t *group = json_array();
    const char *c = text;
    for (bool more = true; more; c++) {
        char *end;
        long value = strtol(c, &end, 10);
        more = *end == ',';
        if (end == c || value < 1 || value > 1 << 16 || (*end != '\0' && !more) ||
            json_array_size(group) == 3) {
            json_decref(group);
            return rs_cli_fail(RS_EXIT_USAGE, verb, "\"%s\" is no work-group for --group.", text);
        }
        json_array_append_new(group, json_integer(value));
        c = end;
    }
    json_object_set_new(request, key, group);
    return RS_EXIT_DONE;
}

static int read_size(const char *verb, json_t *request, const char *key, const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 1 || value > INT32_MAX)
        return rs_cli_fail(RS_EXIT_USAGE, verb, "\"%s\" is no number for --%s.", text, key);
    json_object_set_new(request, key, json_integer(value));
    return RS_EXIT_DONE;
}

/* "NAME=NUMBER" */
static int read_assignment(const char *verb, json_t *request, const char *key, const char *text)
{
    char *end = NULL;
    const char *sign = strchr(text, '=');
    long long value = sign == NULL ? 0 : strtoll(sign + 1, &end, 10);
    if (sign == NULL || sign == text || end == sign + 1 || *end != '\0')
        return rs_cli_fail(RS_EXIT_USAGE, verb, "\"%s\" is no NAME=NUMBER for --%s.", text, key);
    if (json_object_get(request, key) == NULL)
        json_object_set_new(request, key, json_object());
    char *name = strndup(text, (size_t)(sign - text));
    int failed = name == NULL ||
                 json_object_set_new(json_object_get(request, key), name, json_integer(value)) != 0;
    free(name);
    return failed ? rs_cli_fail(RS_EXIT_USAGE, verb, "\"%s\" is no text.", text) : RS_EXIT_DONE;
}

/* "NAME: LAYOUT" */
static int read_layout(const char *verb, json_t *request, const char *key, const char *text)
{
    size_t length = strcspn(text, ":");
    if (length == 0 || text[length] != ':')
        return rs_cli_fail(RS_EXIT_USAGE, verb,
                           "\"%s\" is no layout; give a grid's name, a colon and the layout.",
                           text);
    (void)key;
    json_t *layouts = json_object_get(request, "layouts");
    if (layouts == NULL) {
        layouts = json_object();
        json_object_set_new(request, "layouts", layouts);
    }
    const char *layout = text + length + 1 + strspn(text + length + 1, " ");
    char *name = strndup(text, length);
    int failed = name == NULL || json_object_set_new(layouts, name, json_string(layout)) != 0;
    free(name);
    return failed ? rs_cli_fail(RS_EXIT_USAGE, verb, "\"%s\" is no text.", text) : RS_EXIT_DONE;
}

static int read_text(const char *verb, json_t *request, const char *key, const char *text)
{
    (void)verb;
    json_object_set_new(request, key, rs_json_string(text));
    return RS_EXIT_DONE;
}

/* The options that go into the request under their names. */
static const struct {
    const char *name;
    int (*read)(const char *verb, json_t *request, const char *key, const char *text);
} request_options[] = {
    {"threads", read_names}, {"warp", read_number},     {"burst", read_number},
    {"active", read_number}, {"steering", read_number}, {"constant", read_number},
    {"group", read_group},   {"width", read_width},     {"along", read_text},
    {"layout", read_layout}, {"set", read_assignment},  {"elements", read_assignment},
    {"size", read_size},     {"memory", read_size},     {"apply", read_text},
};
enum { REQUEST_OPTIONS = sizeof request_options / sizeof request_options[0], OTHER_OPTIONS = 4 };

static int take_option(const char *verb, settings *s, int which)
{
    const char *name = request_options[which].name;
    if (strcmp(name, "apply") == 0 && (s->apply = find_application(optarg)) == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, verb,
                           "--apply takes vector, memory or layout, not \"%s\".", optarg);
    return request_options[which].read(verb, s->request, name, optarg);
}

static int read_arguments(int argc, char **argv, settings *s, bool *help)
{
    struct option options[REQUEST_OPTIONS + OTHER_OPTIONS + 1] = {
        [REQUEST_OPTIONS] = {"json", no_argument, NULL, 'j'},
        {"html", no_argument, NULL, 'H'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'}};
    for (int i = 0; i < REQUEST_OPTIONS; i++)
        options[i] = (struct option){request_options[i].name, required_argument, NULL, 'r'};
    int option, exit_status = RS_EXIT_DONE, which = 0;
    while (exit_status == RS_EXIT_DONE &&
           (option = rs_cli_next_option(argv[0], argc, argv, "o:h", options, &which)) != -1) {
        switch (option) {
        case 'r':
            exit_status = take_option(argv[0], s, which);
            break;
        case 'j':
            s->json = true;
            break;
        case 'H':
            s->html = true;
            break;
        case 'o':
            s->output = optarg;
            break;
        case 'h':
            *help = true;
            return RS_EXIT_DONE;
        default:
            return RS_EXIT_USAGE;
        }
    }
    return exit_status;
}

static bool has_loop(const json_t *reply, const char *name)
{
    size_t u, l;
    json_t *unit, *loop;
    json_array_foreach(json_object_get(reply, "units"), u, unit)
    {
        json_array_foreach(json_object_get(unit, "loops"), l, loop)
        {
            if (strcmp(rs_json_string_of(loop, "name"), name) == 0)
                return true;
        }
    }
    return false;
}

/* Whether each loop that --threads names is there, once the source has been read. */
static int check_threads(const char *verb, const settings *s, const json_t *reply)
{
    size_t i;
    json_t *name;
    if (s->apply != NULL || !rs_json_flag_of(reply, "readable"))
        return RS_EXIT_DONE;
    json_array_foreach(json_object_get(s->request, "threads"), i, name)
    {
        const char *text = json_string_value(name);
        if (text == NULL || (strcmp(text, "none") != 0 && !has_loop(reply, text)))
            return rs_cli_fail(RS_EXIT_USAGE, verb,
                               "--threads names the loops of C that become threads, and %s has no "
                               "loop \"%s\".",
                               s->file, text != NULL ? text : "");
    }
    return RS_EXIT_DONE;
}

static void print_notes(const json_t *reply)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(reply, "notes"), i, note)
        fprintf(stderr, "%s:%lld: %s\n", rs_json_string_of(note, "file"),
                rs_json_integer_of(note, "line"), rs_json_string_of(note, "sentence"));
}

static int write_text(const char *verb, const char *output, const rs_text *text)
{
    if (text->failed)
        return rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory.");
    if (output != NULL && rs_text_write_file(output, text->data, text->size) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    if (output == NULL && (fputs(text->data, stdout) < 0 || fflush(stdout) != 0))
        return rs_cli_fail(RS_EXIT_FAILED, verb, "Standard output could not be written.");
    return RS_EXIT_DONE;
}

static int write_json(const char *verb, const char *output, const json_t *reply)
{
    rs_text text = RS_TEXT_EMPTY;
    char *json = rs_json_text(reply);
    rs_text_add_string(&text, json != NULL ? json : "");
    rs_text_add_string(&text, "\n");
    text.failed = text.failed || json == NULL;
    free(json);
    int exit_status = write_text(verb, output, &text);
    rs_text_free(&text);
    return exit_status;
}

/* The kernels, and what was done: on standard output, or on standard error where that has the
 * kernels. With --json, one of both. */
static int write_application(const char *verb, const settings *s, const json_t *reply)
{
    rs_text source = RS_TEXT_EMPTY, report = RS_TEXT_EMPTY;
    int exit_status = RS_EXIT_DONE;
    rs_text_add_string(&source, rs_json_string_of(reply, "source"));
    s->apply->report(&report, reply);
    if (s->output != NULL || !s->json)
        exit_status = write_text(verb, s->output, &source);
    if (exit_status == RS_EXIT_DONE && s->json)
        exit_status = write_json(verb, NULL, reply);
    else if (exit_status == RS_EXIT_DONE && s->output != NULL)
        exit_status = write_text(verb, NULL, &report);
    else if (exit_status == RS_EXIT_DONE && !report.failed)
        fputs(report.data, stderr);
    rs_text_free(&source);
    rs_text_free(&report);
    return exit_status;
}

static int write_reply(const char *verb, const settings *s, const json_t *reply)
{
    rs_text text = RS_TEXT_EMPTY;
    if (s->apply != NULL)
        return write_application(verb, s, reply);
    if (s->json)
        return write_json(verb, s->output, reply);
    if (s->html)
        rs_analysis_html(&text, reply);
    else
        rs_analysis_text(&text, reply);
    int exit_status = write_text(verb, s->output, &text);
    rs_text_free(&text);
    return exit_status;
}

/* The source as JSON. Letters of older encodings, as in comments, become question marks. */
static json_t *text_of(const rs_text *source)
{
    if (source->size == 0)
        return json_string("");
    json_t *text = memchr(source->data, '\0', source->size) != NULL
                       ? NULL
                       : json_stringn(source->data, source->size);
    for (size_t i = 0; text == NULL && i < source->size; i++) {
        if (source->data[i] == '\0')
            return NULL;
        if ((unsigned char)source->data[i] >= 0x80)
            source->data[i] = '?';
    }
    return text != NULL ? text : json_stringn(source->data, source->size);
}

static int analyze_file(const char *verb, settings *s, char *const options[], int option_count)
{
    rs_text source = RS_TEXT_EMPTY, joined = RS_TEXT_EMPTY;
    rs_options_join(&joined, options, option_count, s->file);
    if (rs_text_read_file(&source, s->file) != RESTRIDE_OK) {
        rs_text_free(&joined);
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    }
    json_t *text = text_of(&source);
    int exit_status = RS_EXIT_DONE;
    json_t *reply = NULL;
    if (text == NULL)
        exit_status = rs_cli_fail(RS_EXIT_FAILED, verb, "%s is not a text.", s->file);
    json_object_set_new(s->request, "source", text);
    json_object_set_new(s->request, "file", rs_json_string(s->file));
    json_object_set_new(s->request, "options", rs_json_string(joined.data));
    rs_text_free(&source);
    rs_text_free(&joined);
    if (exit_status == RS_EXIT_DONE) {
        restride_status status =
            s->apply != NULL ? s->apply->apply(s->request, &reply) : rs_analyze(s->request, &reply);
        if (status == RESTRIDE_OK && s->apply == NULL)
            status = rs_advice_check(s->request, reply);
        if (status != RESTRIDE_OK)
            exit_status = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    }
    if (exit_status == RS_EXIT_DONE) {
        exit_status = check_threads(verb, s, reply);
    }
    if (exit_status == RS_EXIT_DONE) {
        print_notes(reply);
        exit_status = write_reply(verb, s, reply);
        if (exit_status == RS_EXIT_DONE && !rs_json_flag_of(reply, "readable"))
            exit_status = RS_EXIT_FAILED;
    }
    json_decref(reply);
    return exit_status;
}

int main(int argc, char **argv)
{
    static char verb[] = "analyze";
    argv[0] = verb; /* the name in messages, however this program was started */
    settings s = {.request = json_object()};
    bool help = false;
    int own = 0;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    int exit_status = read_arguments(own, argv, &s, &help);
    if (exit_status == RS_EXIT_DONE && help) {
        fputs(rs_help_analyze, stdout);
    } else if (exit_status == RS_EXIT_DONE && optind != own - 1) {
        exit_status = rs_cli_fail(RS_EXIT_USAGE, verb,
                                  "Give one source file; restride analyze --help explains.");
    } else if (exit_status == RS_EXIT_DONE && s.json && s.html) {
        exit_status = rs_cli_fail(RS_EXIT_USAGE, verb, "Give one of --json and --html.");
    } else if (exit_status == RS_EXIT_DONE) {
        s.file = argv[optind];
        int first = own < argc ? own + 1 : argc;
        exit_status = analyze_file(verb, &s, argv + first, argc - first);
    }
    json_decref(s.request);
    return exit_status;
}
