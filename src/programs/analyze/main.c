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

#include <stdint.h>
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
    bool json, html, help;
} settings;

/* "NAME,NAME" */
static bool put_names(json_t *request, const rs_cli_option *option, const char *names)
{
    json_t *list = json_array();
    for (const char *c = names; *c != '\0';) {
        size_t length = strcspn(c, ",");
        char *name = strndup(c, length);
        json_array_append_new(list, rs_json_string(name));
        free(name);
        c += length + (c[length] == ',');
    }
    return json_object_set_new(request, option->name, list) == 0;
}

static bool put_number(json_t *request, const rs_cli_option *option, const char *text)
{
    size_t value;
    return rs_cli_read_count(text, &value) && value >= option->least && value <= option->most &&
           json_object_set_new(request, option->name, json_integer((json_int_t)value)) == 0;
}

/* "X", "X,Y" or "X,Y,Z" */
static bool put_group(json_t *request, const rs_cli_option *option, const char *text)
{
    enum { MOST_EXTENT = 1 << 16 };
    size_t extents[3];
    int count;
    if (!rs_cli_read_list(text, ',', 3, extents, &count))
        return false;
    json_t *group = json_array();
    bool taken = json_object_set_new(request, option->name, group) == 0;
    for (int i = 0; i < count && taken; i++)
        taken = extents[i] >= 1 && extents[i] <= MOST_EXTENT &&
                json_array_append_new(group, json_integer((json_int_t)extents[i])) == 0;
    return taken;
}

/* Adds a member to the object `key` of the request. */
static bool put_member(json_t *request, const char *key, const char *name, size_t length,
                       json_t *value)
{
    char *member = strndup(name, length);
    if (json_object_get(request, key) == NULL)
        json_object_set_new(request, key, json_object());
    bool put =
        member != NULL && json_object_set_new(json_object_get(request, key), member, value) == 0;
    free(member);
    return put;
}

/* "NAME=NUMBER" */
static bool put_assignment(json_t *request, const rs_cli_option *option, const char *text)
{
    char *end = NULL;
    const char *sign = strchr(text, '=');
    long long value = sign == NULL ? 0 : strtoll(sign + 1, &end, 10);
    return sign != NULL && sign != text && end != sign + 1 && *end == '\0' &&
           put_member(request, option->name, text, (size_t)(sign - text), json_integer(value));
}

/* "NAME: LAYOUT" */
static bool put_layout(json_t *request, const rs_cli_option *option, const char *text)
{
    size_t length = strcspn(text, ":");
    (void)option;
    return length > 0 && text[length] == ':' &&
           put_member(request, "layouts", text, length,
                      json_string(text + length + 1 + strspn(text + length + 1, " ")));
}

static bool put_text(json_t *request, const rs_cli_option *option, const char *text)
{
    return json_object_set_new(request, option->name, rs_json_string(text)) == 0;
}

static bool put_width(json_t *request, const rs_cli_option *option, const char *text)
{
    size_t width;
    return rs_cli_read_count(text, &width) && width >= 2 && width <= 16 &&
           (width & (width - 1)) == 0 && put_number(request, option, text);
}

static bool take_application(const char *name, void *into)
{
    settings *s = into;
    s->apply = find_application(name);
    return s->apply != NULL &&
           json_object_set_new(s->request, "apply", json_string(s->apply->name)) == 0;
}

static int read_options(int argc, char **argv, settings *s)
{
    enum { MOST = 1 << 20 };
    static const char number[] = "a number from 1 to 1048576";
    static const char large[] = "a number from 1 to 2147483647";
    static const char assignment[] = "NAME=NUMBER";
    static const rs_cli_option table[] = {
        {RS_CLI_JSON("threads", settings, request, put_names)},
        {RS_CLI_JSON("warp", settings, request, put_number), .least = 1, .most = MOST,
         .takes = number},
        {RS_CLI_JSON("burst", settings, request, put_number), .least = 1, .most = MOST,
         .takes = number},
        {RS_CLI_JSON("active", settings, request, put_number), .least = 1, .most = MOST,
         .takes = number},
        {RS_CLI_JSON("constant", settings, request, put_number), .least = 1, .most = MOST,
         .takes = number},
        {RS_CLI_JSON("steering", settings, request, put_number), .most = MOST,
         .takes = "a number from 0 to 1048576"},
        {RS_CLI_JSON("size", settings, request, put_number), .least = 1, .most = INT32_MAX,
         .takes = large},
        {RS_CLI_JSON("memory", settings, request, put_number), .least = 1, .most = INT32_MAX,
         .takes = large},
        {RS_CLI_JSON("width", settings, request, put_width), .most = MOST,
         .takes = "2, 4, 8 or 16"},
        {RS_CLI_JSON("group", settings, request, put_group),
         .takes = "the threads of a work-group, X,Y,Z"},
        {RS_CLI_JSON("along", settings, request, put_text)},
        {RS_CLI_JSON("device", settings, request, put_text)},
        {RS_CLI_JSON("layout", settings, request, put_layout),
         .takes = "a grid's name, a colon and its layout"},
        {RS_CLI_JSON("set", settings, request, put_assignment), .takes = assignment},
        {RS_CLI_JSON("elements", settings, request, put_assignment), .takes = assignment},
        {RS_CLI_WHOLE("apply", take_application), .takes = "vector, memory or layout"},
        {RS_CLI_FLAG("json", settings, json)},
        {RS_CLI_FLAG("html", settings, html)},
        {RS_CLI_TEXT("output", settings, output), .letter = 'o'},
        {RS_CLI_FLAG("help", settings, help), .letter = 'h'},
        {0},
    };
    return rs_cli_read_options(argv[0], argc, argv, table, s);
}

static bool has_loop(const json_t *reply, const char *name)
{
    size_t u;
    json_t *unit;
    json_array_foreach(json_object_get(reply, "units"), u, unit)
    {
        if (rs_json_named(json_object_get(unit, "loops"), name) != NULL)
            return true;
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
            status = rs_advice_check(s->request, options, option_count, reply);
        if (status == RESTRIDE_OK && s->apply == NULL)
            rs_kernels_judge(s->file, options, option_count, s->request, reply);
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
    int own = 0;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    int exit_status = read_options(own, argv, &s);
    if (exit_status == RS_EXIT_DONE && s.help) {
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
