/*
 * restride-rewrite, the program behind `restride rewrite`: shows a kernel's source rewritten for
 * other layouts, and says argument by argument what was transformed and what was refused, and why.
 * With --request it answers one request of the OpenCL layer; with --libclang it names the libclang
 * that it works with.
 */
#include "console/fail.h"

#include "base/json.h"
#include "base/store.h"
#include "base/text.h"
#include "config/config.h"
#include "console/options.h"
#include "layout/layout.h"
#include "programs/rewrite/companion.h"
#include "programs/rewrite/foretell.h"
#include "rewrite/rewrite.h"
#include "source/options.h"
#include "syntax/headers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int print_libclang(void)
{
    char *version = rs_clang_version();
    const bool is_printed = version != NULL && puts(version) >= 0;
    free(version);
    return is_printed ? RS_EXIT_DONE : RS_EXIT_FAILED;
}

typedef struct {
    const char *file, *output, *header;
    json_t *layouts, *records, *references, *config;
    const char *config_path, *tile_text;
    size_t tile; /* 0: not given */
    bool json, request, help;
} settings;

static void print_usage(FILE *stream)
{
    fprintf(
        stream,
        "usage: restride rewrite KERNEL.cl|KERNEL.cu [OPTIONS]... [-- COMPILER OPTIONS]\n"
        "\n"
        "Writes the kernels with their arrays of structures in another layout; of CUDA C++ the "
        "whole\n"
        "source, with second forms NAME__asta behind the kernels. Standard error gets one\n"
        "line per argument: what it became, or the line that is the reason why it stays as it is.\n"
        "\n"
        "  --layout 'ARG: EXPRESSION'  the layout of an argument (or KERNEL.ARG): \"i f\", \"f i\" "
        "or\n"
        "                              \"i/T f i%%T\"; may be repeated\n"
        "  --record 'ARG: LENGTH'      the members of each record of a flat array, such as 20, or "
        "a\n"
        "                              macro; \"SoA: [20][n]\" for one that holds each member of "
        "all n\n"
        "                              records together\n"
        "  --tile T                    \"i/T f i%%T\" for all other arguments; %d when no layout "
        "is given\n"
        "  --config FILE               layouts from a file, with a section for each kernel\n"
        "  --header FILE               a header for the host program: where members lie, and the "
        "calls\n"
        "                              that convert buffers; beside CUDA C++, also how a launch\n"
        "                              chooses a second form\n"
        "  --reorder 'ARG: INDEX'      reads of ARG[INDEX[i]], i the work-item, take what a plan "
        "of\n"
        "                              restride/irregular.h makes of the two, as added arguments;\n"
        "                              instead of layouts\n"
        "  --json                      the whole reply as JSON on standard output\n"
        "  -o, --output FILE           writes there instead of standard output\n"
        "  -h, --help                  this page\n"
        "\n"
        "COMPILER OPTIONS are the build options of the program, such as -DN=8 and -I.\n"
        "\n"
        "Examples:\n"
        "  restride rewrite kernel.cl -o new.cl\n"
        "  restride rewrite kernel.cl --layout 'cells: f i' -- -DSIZE=64\n"
        "  restride rewrite kernel.cu --header kernel.h -o new.cu\n",
        RS_LAYOUT_TILE);
}

/* Keeps a reply that can be checked later: one about a source with includes says which. `keep` has
 * the kind and the keys of the entries; NULL: none. */
static void keep_reply(const json_t *keep, const char *source, const json_t *reply)
{
    size_t i;
    json_t *key;
    const char *kind = json_string_value(json_object_get(keep, "kind"));
    char *text = json_dumps(reply, JSON_COMPACT);
    const bool has_includes = source == NULL || strstr(source, "include") != NULL;
    if (kind != NULL && text != NULL && json_object_get(reply, "error") == NULL &&
        (!has_includes || json_object_get(reply, "includes") != NULL))
        json_array_foreach(json_object_get(keep, "keys"), i, key)
        {
            rs_store_write(kind, json_string_value(key), json_string_length(key), text,
                           strlen(text));
        }
    free(text);
}

/* What the program has open was inherited, its standard error too. Who waits until all of that is
 * closed would wait for this process. */
static void close_inherited(void)
{
    DIR *files = opendir("/proc/self/fd");
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    for (const struct dirent *file; files != NULL && (file = readdir(files)) != NULL;) {
        const int descriptor = atoi(file->d_name);
        if (descriptor > STDERR_FILENO && descriptor != dirfd(files))
            close(descriptor);
    }
    if (files != NULL)
        closedir(files);
}

/* The layer's program goes on meanwhile: its child ends, and another process answers. A blank says
 * so. Where both want the same processor, the program has nearly all of it. */
static void leave_program(void)
{
    const int last = 19;
    const pid_t other = fork();
    if (other > 0)
        _exit(RS_EXIT_DONE);
    close_inherited();
    if (other == 0)
        setpriority(PRIO_PROCESS, 0, last);
    putchar(' ');
    fflush(stdout);
}

/* Answers a request on standard input with a reply on standard output. The layer waits for a
 * minute, and ends this process then; the limit is for the preprocessor, too, which would go on for
 * ever with macros that double and double again. A program that has ended meanwhile reads no reply:
 * its next run finds it kept. */
static int answer_request(const char *verb)
{
    const struct rlimit seconds = {60, 60};
    setrlimit(RLIMIT_CPU, &seconds);
    json_error_t error;
    json_t *request = json_loadf(stdin, 0, &error);
    if (request == NULL && feof(stdin)) /* the program was killed: its terminal is not ours */
        return RS_EXIT_FAILED;
    if (request == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, verb, "The request is not JSON: %s.", error.text);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (json_is_true(json_object_get(request, "beside")))
        leave_program();
    json_t *reply = NULL;
    const bool is_companion = json_object_get(request, "companion") != NULL;
    restride_status status =
        is_companion ? rs_companion_answer(request, &reply) : rs_rewrite(request, &reply);
    if (status != RESTRIDE_OK) {
        json_decref(request);
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    }
#ifdef RESTRIDE_HAVE_JUDGE
    if (!is_companion)
        rs_foretell(request, reply);
#endif
    const bool is_written = json_dumpf(reply, stdout, JSON_COMPACT) == 0 && fflush(stdout) == 0;
    const bool has_ended = !is_written && errno == EPIPE;
    keep_reply(json_object_get(request, "keep"),
               json_string_value(json_object_get(request, "source")), reply);
    json_decref(request);
    json_decref(reply);
    if (!is_written && !has_ended)
        return rs_cli_fail(RS_EXIT_FAILED, verb, "The reply could not be written.");
    return RS_EXIT_DONE;
}

/* "ARG: EXPRESSION", into an object. */
static bool put_named(json_t *object, const rs_cli_option *option, const char *text)
{
    (void)option;
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text)
        return false;
    size_t length = (size_t)(colon - text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    const char *expression = colon + 1 + strspn(colon + 1, " ");
    char *name = strndup(text, length);
    bool taken = name != NULL && *expression != '\0' &&
                 json_object_set_new(object, name, json_string(expression)) == 0;
    free(name);
    return taken;
}

static int read_options(int argc, char **argv, settings *s)
{
    static const char named[] = "'ARG: EXPRESSION'";
    static const rs_cli_option table[] = {
        {RS_CLI_JSON("layout", settings, layouts, put_named), .takes = named},
        {RS_CLI_JSON("record", settings, records, put_named), .takes = named},
        {RS_CLI_JSON("reorder", settings, references, put_named), .takes = named},
        {RS_CLI_TEXT("config", settings, config_path)},
        {RS_CLI_TEXT("header", settings, header)},
        {RS_CLI_TEXT("tile", settings, tile_text)},
        {RS_CLI_FLAG("json", settings, json)},
        {RS_CLI_TEXT("output", settings, output), .letter = 'o'},
        {RS_CLI_FLAG("request", settings, request)},
        {RS_CLI_FLAG("help", settings, help), .letter = 'h'},
        {0},
    };
    int exit_status = rs_cli_read_options(argv[0], argc, argv, table, s);
    if (exit_status != RS_EXIT_DONE || s->help)
        return exit_status;
    if (s->tile_text != NULL && (!rs_cli_read_count(s->tile_text, &s->tile) || s->tile < 1 ||
                                 s->tile > RS_LAYOUT_MOST_TILE))
        return rs_cli_fail(RS_EXIT_USAGE, argv[0],
                           "\"%s\" is not a tile size; give a number such as 32.", s->tile_text);
    if (s->config_path != NULL && rs_config_read(s->config_path, &s->config) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_USAGE, argv[0]);
    return RS_EXIT_DONE;
}

static void print_arguments(const char *file, const json_t *reply)
{
    size_t k, i, count = 0;
    json_t *kernel, *argument, *unused;
    json_array_foreach(json_object_get(reply, "unused"), i, unused)
    {
        fprintf(stderr, "%s: in the configuration, but no kernel here has this argument\n",
                json_string_value(unused));
    }
    json_array_foreach(json_object_get(reply, "kernels"), k, kernel)
    {
        const char *kernel_name = rs_json_string_of(kernel, "name");
        const char *whole = rs_json_string_of(kernel, "reason");
        if (whole != NULL)
            fprintf(stderr, "%s: kept: %s:%lld: %s\n", kernel_name,
                    rs_json_string_of(kernel, "file"), rs_json_integer_of(kernel, "line"), whole);
        json_array_foreach(json_object_get(kernel, "arguments"), i, argument)
        {
            count++;
            const char *name = rs_json_string_of(argument, "name");
            const char *reason = rs_json_string_of(argument, "reason");
            if (reason == NULL)
                fprintf(stderr, "%s.%s: transformed to \"%s\"\n", kernel_name, name,
                        rs_json_string_of(argument, "layout"));
            else
                fprintf(stderr, "%s.%s: kept: %s:%lld: %s\n", kernel_name, name,
                        rs_json_string_of(argument, "file"), rs_json_integer_of(argument, "line"),
                        reason);
        }
    }
    if (count == 0)
        fprintf(stderr, "%s: kept: no kernel here has an array of structures\n", file);
}

/* What --reorder made of each kernel. */
static void print_references(const json_t *reply)
{
    size_t k, i;
    json_t *kernel, *reference;
    json_array_foreach(json_object_get(reply, "kernels"), k, kernel)
    {
        const char *name = rs_json_string_of(kernel, "name");
        const json_t *order = json_object_get(kernel, "order_argument");
        const json_t *stays = json_object_get(kernel, "threads_stay");
        json_array_foreach(json_object_get(kernel, "references"), i, reference)
        {
            const char *array = rs_json_string_of(reference, "array");
            const char *reason = rs_json_string_of(reference, "reason");
            if (reason == NULL)
                fprintf(stderr, "%s.%s: reordered: slots are argument %lld, their index %lld\n",
                        name, array, rs_json_integer_of(reference, "slots_argument"),
                        rs_json_integer_of(reference, "index_argument"));
            else
                fprintf(stderr, "%s.%s: kept: %s:%lld: %s\n", name, array,
                        rs_json_string_of(reference, "file"), rs_json_integer_of(reference, "line"),
                        reason);
        }
        if (stays != NULL)
            fprintf(stderr, "%s: the threads stay: %s:%lld: %s\n", name,
                    rs_json_string_of(stays, "file"), rs_json_integer_of(stays, "line"),
                    rs_json_string_of(stays, "reason"));
        else if (order != NULL)
            fprintf(stderr,
                    "%s: the threads move: their order is argument %lld, their number %lld\n", name,
                    json_integer_value(order), rs_json_integer_of(kernel, "threads_argument"));
    }
}

/* Writes what the user asked for; the exit status. */
static int write_reply(const char *verb, const settings *s, const json_t *reply,
                       const rs_text *original)
{
    const char *text = rs_json_string_of(reply, "source");
    const char *header = rs_json_string_of(reply, "header");
    char *dump = NULL;
    if (header == NULL)
        header = "/* Restride transformed nothing. */\n";
    if (s->json) {
        dump = rs_json_text(reply);
        if (dump == NULL)
            return rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory for the reply.");
        text = dump;
    } else if (text == NULL) {
        text = original->data; /* nothing was transformed */
    }
    int exit_status = RS_EXIT_DONE;
    if (s->header != NULL && rs_text_write_file(s->header, header, strlen(header)) != RESTRIDE_OK) {
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    } else if (s->output != NULL) {
        if (rs_text_write_file(s->output, text, strlen(text)) != RESTRIDE_OK)
            exit_status = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    } else if (fputs(text, stdout) < 0 || (s->json && putchar('\n') == EOF) ||
               fflush(stdout) != 0) {
        exit_status = rs_cli_fail(RS_EXIT_FAILED, verb, "Standard output could not be written.");
    }
    free(dump);
    return exit_status;
}

/* What compilers of OpenCL C 1.2 define; `restride run` asks the device's own compiler instead. */
static json_t *usual_macros(void)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "__OPENCL_VERSION__", "120",
                     "__OPENCL_C_VERSION__", "120", "CL_VERSION_1_0", "100", "CL_VERSION_1_1",
                     "110", "CL_VERSION_1_2", "120", "__ENDIAN_LITTLE__", "1", "__IMAGE_SUPPORT__",
                     "1", "cl_khr_fp64", "1");
}

static bool is_cuda(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot != NULL && (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0);
}

/* What helps where a source is read without the program around it. */
static const char *advice_for(const char *file, const char *reason)
{
    if (is_cuda(file))
        return "";
    if (strstr(reason, "undeclared identifier") != NULL ||
        strstr(reason, "unknown type name") != NULL)
        return " (what the program's build options define goes behind --, as in -- -DN=8)";
    return "";
}

/* The whole source stays as it is: says why. With --json the reply is written all the same. */
static int tell_kept(const char *verb, const settings *s, const json_t *reply,
                     const rs_text *source, const char *reason)
{
    rs_text place = RS_TEXT_EMPTY;
    const int written = s->json ? write_reply(verb, s, reply, source) : RS_EXIT_DONE;
    rs_json_add_place(&place, reply);
    const int exit_status =
        rs_cli_fail(RS_EXIT_FAILED, verb, "%s%s%s", place.data != NULL ? place.data : "", reason,
                    advice_for(s->file, reason));
    rs_text_free(&place);
    return written == RS_EXIT_DONE ? exit_status : written;
}

/* Prints what a reply says, and writes what it has; the exit status. */
static int finish(const char *verb, const settings *s, const json_t *reply, const rs_text *source)
{
    const char *error = rs_json_string_of(reply, "error");
    const char *reason = rs_json_string_of(reply, "reason");
    if (error != NULL) {
        bool usage = rs_json_flag_of(reply, "bad_request");
        return rs_cli_fail(usage ? RS_EXIT_USAGE : RS_EXIT_FAILED, verb, "%s", error);
    }
    if (reason != NULL && json_object_get(reply, "source") == NULL)
        return tell_kept(verb, s, reply, source, reason);
    if (json_object_size(s->references) > 0)
        print_references(reply);
    else
        print_arguments(s->file, reply);
    return write_reply(verb, s, reply, source);
}

static int rewrite_text(const char *verb, const settings *s, const rs_text *source,
                        const char *options)
{
    bool has_zero = memchr(source->data, '\0', source->size) != NULL;
    json_t *text = has_zero ? NULL : json_stringn(source->data, source->size);
    if (text == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, verb, "%s is not a text in UTF-8.", s->file);
    json_t *request =
        json_pack("{s:o, s:o, s:o, s:O, s:O, s:o, s:b, s:b, s:b, s:b, s:b}", "source", text, "file",
                  rs_json_string(s->file), "options", rs_json_string(options), "layouts",
                  s->layouts, "records", s->records, "macros", usual_macros(), "assume_undefined",
                  1, "comments", 1, "soa", 1, "beside", 1, "errors", 1);
    if (request != NULL && json_object_size(s->references) > 0)
        json_object_set(request, "references", s->references);
    if (request != NULL && s->header != NULL)
        json_object_set_new(request, "header", json_true());
    if (request != NULL && s->config != NULL)
        json_object_set(request, "config", s->config);
    size_t tile = s->tile == 0 && json_object_size(s->layouts) == 0 ? RS_LAYOUT_TILE : s->tile;
    if (request != NULL && tile > 0)
        json_object_set_new(request, "tile", json_integer((json_int_t)tile));
    json_t *reply = NULL;
    restride_status status =
        request == NULL ? rs_fail_memory("the request") : rs_rewrite(request, &reply);
    json_decref(request);
    if (status != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    const int exit_status = finish(verb, s, reply, source);
    json_decref(reply);
    return exit_status;
}

static int make_companion(const char *verb, const settings *s, const rs_text *source,
                          char *const options[], int option_count)
{
    if (json_object_size(s->records) > 0 || json_object_size(s->references) > 0 ||
        json_object_size(json_object_get(s->config, "records")) > 0)
        return rs_cli_fail(RS_EXIT_USAGE, verb,
                           "%s is CUDA C++, whose flat arrays and irregular references stay: put "
                           "each record into a structure.",
                           s->file);
    if (strstr(source->data, "//DL:") != NULL)
        fprintf(stderr,
                "%s: kept: flat arrays of CUDA C++, which //DL: describes: put each record into a "
                "structure\n",
                s->file);
    const rs_companion_request request = {
        .path = s->file,
        .options = (const char *const *)options,
        .option_count = (size_t)option_count,
        .tile = s->tile == 0 && json_object_size(s->layouts) == 0 ? RS_LAYOUT_TILE : s->tile,
        .layouts = s->layouts,
        .config = json_object_get(s->config, "layouts"),
        .has_header = s->header != NULL,
        .judge = rs_companion_own_judge()};
    json_t *reply = NULL;
    if (rs_companion_reply(&request, &reply) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    const int exit_status = finish(verb, s, reply, source);
    json_decref(reply);
    return exit_status;
}

static int rewrite_file(const char *verb, const settings *s, char *const options[],
                        int option_count)
{
    rs_text source = RS_TEXT_EMPTY, joined = RS_TEXT_EMPTY;
    rs_text_add(&source, "", 0);
    rs_options_join(&joined, options, option_count, s->file);
    int exit_status;
    if (rs_text_read_file(&source, s->file) != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    else if (is_cuda(s->file))
        exit_status = make_companion(verb, s, &source, options, option_count);
    else if (joined.failed)
        exit_status = rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory.");
    else
        exit_status = rewrite_text(verb, s, &source, joined.data);
    rs_text_free(&source);
    rs_text_free(&joined);
    return exit_status;
}

int main(int argc, char **argv)
{
    static char verb[] = "rewrite";
    argv[0] = verb; /* the name in messages, however this program was started */
    if (argc == 2 && strcmp(argv[1], "--libclang") == 0)
        return print_libclang();
    settings s = {.layouts = json_object(), .records = json_object(), .references = json_object()};
    if (s.layouts == NULL || s.records == NULL || s.references == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, argv[0], "There is not enough memory.");
    /* What follows "--" is for the compiler. */
    int own = 0;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    int exit_status = read_options(own, argv, &s);
    if (exit_status == RS_EXIT_DONE && s.help) {
        print_usage(stdout);
    } else if (exit_status == RS_EXIT_DONE && s.request) {
        exit_status = answer_request(argv[0]);
    } else if (exit_status == RS_EXIT_DONE && optind != own - 1) {
        exit_status = rs_cli_fail(RS_EXIT_USAGE, argv[0],
                                  "Give one kernel file; restride rewrite --help explains.");
    } else if (exit_status == RS_EXIT_DONE && json_object_size(s.references) > 0 &&
               (json_object_size(s.layouts) > 0 || json_object_size(s.records) > 0 || s.tile > 0 ||
                s.config != NULL || s.header != NULL)) {
        exit_status = rs_cli_fail(RS_EXIT_USAGE, argv[0],
                                  "--reorder goes alone: rewrite for layouts in another run.");
    } else if (exit_status == RS_EXIT_DONE) {
        s.file = argv[optind];
        int first = own < argc ? own + 1 : argc;
        exit_status = rewrite_file(argv[0], &s, argv + first, argc - first);
    }
    json_decref(s.layouts);
    json_decref(s.records);
    json_decref(s.references);
    json_decref(s.config);
    return exit_status;
}
