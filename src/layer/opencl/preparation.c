/*
 * Creating its first kernel prepares a program: the rewriter is asked for a second program. That
 * one is built when a launch wants it (rewritten.c), or at once where the policy forces it or an
 * earlier run promises a gain. The program's own handle, source, build log and kernels stay the
 * driver's; only launches choose between the two programs.
 */
#include "layer/opencl/programs.h"

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "layer/core/device_layouts.h"
#include "layer/core/file_limit.h"
#include "layer/core/policy.h"
#include "layer/core/process_exit.h"
#include "layer/core/report.h"
#include "layer/core/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_uint address_bits(cl_device_id device)
{
    cl_uint bits = 64;
    rs_driver()->clGetDeviceInfo(device, CL_DEVICE_ADDRESS_BITS, sizeof bits, &bits, NULL);
    return bits;
}

static bool same_address_bits(const rs_layer_program *program)
{
    for (cl_uint d = 1; d < program->device_count; d++)
        if (address_bits(program->devices[d]) != address_bits(program->devices[0]))
            return false;
    return true;
}

/* Whether something in a program may be an array of records: a structure in its source, or a flat
 * array that a comment or the configuration tells. */
static bool may_have_records(const rs_layer_program *program)
{
    static const char *const signs[] = {"struct", "include", "DL:", "restride:"};
    bool found = strstr(program->options, "struct") != NULL ||
                 json_object_size(json_object_get(rs_the_layer()->settings.config, "records")) > 0;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        found = found || strstr(program->core.source, signs[i]) != NULL;
    return found;
}

/* Why no rewriting is worth trying, or NULL. */
static const char *reason_to_leave(const rs_layer_program *program)
{
    if (rs_the_layer()->settings.policy == RS_POLICY_OFF)
        return "the policy is off";
    if (rs_exit_has_begun(rs_the_layer()))
        return "the program is ending";
    if (rs_the_layer()->frozen != NULL)
        return rs_the_layer()->frozen;
    if (program->unknown != NULL)
        return program->unknown;
    if (program->core.source == NULL || program->options == NULL)
        return "its source is not known";
    if (program->device_count == 0)
        return "it is not known which devices the program was built for";
    if (!same_address_bits(program))
        return "the program was built for devices with addresses of different sizes";
    if (!may_have_records(program))
        return "the program has no structures";
    if (rs_file_limit_is_small())
        return rs_file_limit_reason;
    return NULL;
}

static void add_default(json_t *layouts, const char *kernel)
{
    const int tile = (int)rs_the_layer()->settings.tile;
    json_object_set_new(layouts, kernel,
                        rs_policy_of_kernel(rs_the_layer(), kernel) == RS_POLICY_SOA
                            ? json_string("f i")
                            : json_sprintf("i/%d f i%%%d", tile, tile));
}

/* The layout that the policy wants in each kernel that has one of its own, and in all others. */
static json_t *default_layouts(void)
{
    const char *kernel;
    json_t *section, *layouts = json_object();
    add_default(layouts, "*");
    json_object_foreach(json_object_get(rs_the_layer()->settings.config, "kernels"), kernel,
                        section) add_default(layouts, kernel);
    return layouts;
}

/* Accesses to arrays in SoA are coalesced already: only policy asta converts such arrays. */
static bool changes_soa(void)
{
    const char *kernel;
    json_t *section;
    bool found = rs_policy_of_kernel(rs_the_layer(), "*") == RS_POLICY_ASTA;
    json_object_foreach(json_object_get(rs_the_layer()->settings.config, "kernels"), kernel,
                        section) found =
        found || rs_policy_of_kernel(rs_the_layer(), kernel) == RS_POLICY_ASTA;
    return found;
}

/* ---- the rewriter ---- */

/* A process may build any number of programs. The first NAMED_ONE_BY_ONE have a note each that says
 * why they were not rewritten. The first WRITTEN_AT_ONCE write the report at once, so that it names
 * their kernels even if the process ends without a last report. */
enum { NAMED_ONE_BY_ONE = 100, WRITTEN_AT_ONCE = 16 };

static void note(const rs_layer_program *program, const char *why, char **left)
{
    free(*left);
    *left = strdup(why);
    rs_layer_lock(rs_the_layer());
    if (program->core.number <= NAMED_ONE_BY_ONE)
        rs_report_note(rs_the_layer(), "Program %u was not rewritten: %s.", program->core.number,
                       why);
    else
        rs_report_note(rs_the_layer(), "Some of the programs after program %d were not rewritten.",
                       NAMED_ONE_BY_ONE);
    rs_layer_unlock(rs_the_layer());
}

/* A sentence of the library as a part of another one; the caller frees it. */
static char *part_of_sentence(const char *sentence)
{
    const size_t length = strlen(sentence);
    char *part = strndup(sentence, length - (length > 0 && sentence[length - 1] == '.'));
    if (part != NULL && strncmp(part, "The ", strlen("The ")) == 0)
        part[0] = 't';
    return part;
}

static void note_sentence(const rs_layer_program *program, const char *sentence, char **left)
{
    char *why = part_of_sentence(sentence);
    if (why != NULL)
        note(program, why, left);
    free(why);
}

static const char unanswered[] =
    "the device's compiler could not be asked about the macros that its source tests";

/* What the rewriter answered, and what it was told. */
typedef struct {
    json_t *reply;   /* NULL: there is none */
    char *left;      /* why there is none */
    json_t *assumed; /* macros; NULL: the compiler was asked about all of them now */
    bool is_guessed; /* some of them, from their names */
    char *key;       /* under which they are kept */
} answer;

/* What compilers have worked beside the program counts against further builds. */
static void count_seconds(double since) RS_UNLOCKED
{
    rs_layer *layer = rs_the_layer();
    rs_layer_lock(layer);
    layer->builds.spent += rs_seconds_now() - since;
    rs_layer_unlock(layer);
}

static void assume(answer *made, json_t *macros)
{
    json_decref(made->assumed);
    made->assumed = json_incref(macros);
    made->is_guessed = true;
}

/* Answers what the rewriter could not know. Beside the program its compiler is entered only where
 * the names do not tell. False: it cannot be known, and `left` says why. */
static bool answer_questions(const rs_layer_program *program, bool is_beside, json_t *request,
                             answer *made)
{
    json_t *names = json_object_get(made->reply, "unknown_macros");
    json_t *values = json_object_get(made->reply, "unknown_values");
    json_t *macros = json_object_get(request, "macros");
    bool differ = false;
    if (is_beside && rs_macros_assume(program, names, values, macros)) {
        assume(made, macros);
        return true;
    }
    const double start = rs_seconds_now();
    const bool known = rs_macros_ask(program, names, values, macros, &differ);
    if (is_beside)
        count_seconds(start);
    if (known && !made->is_guessed) /* even if the program ends before the rewriter answers */
        rs_macros_remember(made->key, macros);
    if (!known)
        note(program,
             differ ? "the compilers of its devices define the macros that its source tests "
                      "differently"
             : rs_exit_has_begun(rs_the_layer())
                 ? "the program ended before the device's compiler was asked about the macros that "
                   "its source tests"
                 : unanswered,
             &made->left);
    return known;
}

/* Answers the rewriter's questions about macros until it has none; each answer can uncover new
 * ones. Answers of earlier runs are used again without asking the compiler. */
static answer ask_rewriter(const rs_layer_program *program, bool is_beside)
{
    enum { ROUNDS = 8 };
    answer made = {.reply = NULL};
    json_t *source = json_string(program->core.source);
    if (source == NULL) {
        note(program, "its source is not a text in UTF-8; save it in UTF-8", &made.left);
        return made;
    }
    json_t *request =
        json_pack("{s:o, s:o, s:s, s:i, s:o, s:b, s:b, s:{}}", "source", source, "file",
                  json_sprintf("program-%u.cl", program->core.number), "options", program->options,
                  "address_bits", (int)address_bits(program->devices[0]), "defaults",
                  default_layouts(), "soa", (int)changes_soa(), "full", 1, "macros");
    if (rs_the_layer()->settings.config != NULL)
        json_object_set(request, "config", rs_the_layer()->settings.config);
    if (request != NULL && program->device_count == 1) {
        made.key = rs_macros_key(program, request);
        made.assumed = rs_macros_recall(made.key);
    }
    json_t *macros = json_object_get(request, "macros");
    if (made.assumed != NULL)
        json_object_update(macros, made.assumed);
    else if (is_beside && request != NULL && rs_macros_assume_undefined(program, macros))
        assume(&made, macros);
    for (int round = 0; request != NULL && round < ROUNDS; round++) {
        json_decref(made.reply);
        made.reply = NULL;
        if (rs_rewriter_ask(&rs_the_layer()->rewriter, request, is_beside, &made.reply) !=
            RESTRIDE_OK) {
            note_sentence(program, restride_last_error(), &made.left);
            break;
        }
        json_t *unknown = json_object_get(made.reply, "unknown_macros");
        json_t *values = json_object_get(made.reply, "unknown_values");
        if (json_array_size(unknown) == 0 && json_array_size(values) == 0)
            break;
        const bool is_last = round == ROUNDS - 1;
        if (is_last)
            note(program, unanswered, &made.left);
        if (is_last || !answer_questions(program, is_beside, request, &made)) {
            json_decref(made.reply);
            made.reply = NULL;
            break;
        }
    }
    json_decref(request);
    const char *refused = json_string_value(json_object_get(made.reply, "error"));
    if (refused != NULL)
        note_sentence(program, refused, &made.left);
    return made;
}

/* Why the rewriter left the whole source as it is, with the place; NULL when it did not. */
static char *reason_of_reply(const json_t *reply)
{
    const char *reason = json_string_value(json_object_get(reply, "reason"));
    rs_text text = RS_TEXT_EMPTY;
    if (reason == NULL)
        return NULL;
    rs_json_add_place(&text, reply);
    rs_text_add_string(&text, reason);
    return rs_text_take(&text);
}

/* The text of one line of the source, without the spaces around it; NULL when there is none. */
static json_t *source_line(const char *source, json_int_t line)
{
    for (; line > 1 && source != NULL; line--) {
        source = strchr(source, '\n');
        source += source != NULL;
    }
    if (source == NULL || line < 1)
        return NULL;
    source += strspn(source, " \t");
    size_t length = strcspn(source, "\r\n");
    while (length > 0 && (source[length - 1] == ' ' || source[length - 1] == '\t'))
        length--;
    return json_stringn(source, length);
}

/* Adds to each reason the text of its line; the text of headers is not available. */
static void add_source_lines(const rs_layer_program *program, json_t *kernels)
{
    size_t i, j;
    json_t *kernel, *argument;
    char own_file[32];
    snprintf(own_file, sizeof own_file, "program-%u.cl", program->core.number);
    json_array_foreach(kernels, i, kernel)
    {
        json_array_foreach(json_object_get(kernel, "arguments"), j, argument)
        {
            const char *file = json_string_value(json_object_get(argument, "file"));
            json_t *line = json_object_get(argument, "line");
            if (file != NULL && line != NULL && strcmp(file, own_file) == 0)
                json_object_set_new(argument, "source_line",
                                    source_line(program->core.source, json_integer_value(line)));
        }
    }
}

/* A part of the rewriter's reply; the caller frees it. NULL: it has none. */
static char *part_of(const json_t *reply, const char *key)
{
    const char *part = json_string_value(json_object_get(reply, key));
    return part != NULL ? strdup(part) : NULL;
}

/* What came of rewriting a program. */
typedef struct {
    char *left;
    json_t *kernels;
    rs_rewritten_source source;
    bool is_wanted; /* a build was tried */
    void *program;
    const char *refused;
} rewriting;

static bool is_whole(const rs_rewritten_source *source)
{
    return source->text != NULL && source->options != NULL;
}

static rewriting rewrite(rs_layer_program *program, bool is_beside)
{
    const answer got = ask_rewriter(program, is_beside);
    rewriting made = {.left = got.left != NULL ? got.left : reason_of_reply(got.reply),
                      .kernels = json_incref(json_object_get(got.reply, "kernels")),
                      .source = {.text = part_of(got.reply, "source"),
                                 .options = part_of(got.reply, "options"),
                                 .macros = got.assumed,
                                 .macros_key = got.key}};
    add_source_lines(program, made.kernels);
    json_decref(got.reply);
    rs_layer_lock(rs_the_layer());
    made.is_wanted = is_whole(&made.source) && !rs_exit_has_begun(rs_the_layer()) &&
                     rs_program_is_wanted(program, made.kernels);
    program->is_promising = made.is_wanted;
    rs_layer_unlock(rs_the_layer());
    const double start = rs_seconds_now();
    if (made.is_wanted)
        made.program = rs_program_build_rewritten(program, &made.source, &made.refused);
    if (made.is_wanted && is_beside)
        count_seconds(start);
    return made;
}

static void take_over(rs_layer_program *program, const rewriting *made) RS_LOCKED
{
    program->left = made->left;
    program->kernels = made->kernels;
    program->rewritten_source = made->source;
    if (made->is_wanted)
        rs_program_take_rewritten(program, made->program, made->refused);
    else if (is_whole(&made->source))
        program->rewritten_build = RS_BUILD_WAITS;
}

static void report_program(rs_layer_program *program) RS_LOCKED
{
    size_t i;
    json_t *kernel;
    json_array_foreach(program->kernels, i, kernel)
    {
        const char *name = json_string_value(json_object_get(kernel, "name"));
        rs_kernel_facts *facts = name != NULL ? rs_report_kernel(&program->core, name) : NULL;
        if (program->left != NULL)
            rs_report_hold(facts, 0, program->left);
        if (facts != NULL && facts->arguments == NULL)
            facts->arguments = json_incref(json_object_get(kernel, "arguments"));
    }
    rs_report_begin(rs_the_layer());
    if (program->core.number <= WRITTEN_AT_ONCE)
        rs_report_write(rs_the_layer(), false);
    else
        rs_report_keep_up(rs_the_layer());
}

static bool is_awaited(const rs_layer_program *program) RS_LOCKED
{
    return program != NULL && program->preparation == RS_BEING_PREPARED && !rs_build_is_inside() &&
           !rs_exit_has_begun(rs_the_layer());
}

/* Waits while another thread prepares the program, for a bounded time: that thread may itself wait
 * for this one. Returns with the lock: the record, or NULL. */
static rs_layer_program *lock_prepared(cl_program handle) RS_LOCKS
{
    rs_layer *layer = rs_the_layer();
    const double longest = 30, end = rs_seconds_now() + longest;
    bool is_in_time = true;
    for (;;) {
        const unsigned long long seen = rs_layer_changes(layer);
        rs_layer_lock(layer);
        rs_layer_program *program = rs_program_find(handle);
        if (!is_awaited(program) || !is_in_time)
            return program;
        rs_layer_unlock(layer);
        is_in_time = rs_layer_wait(layer, seen, end);
    }
}

void rs_program_wait_prepared(cl_program handle)
{
    lock_prepared(handle);
    rs_layer_unlock(rs_the_layer());
}

/* Whether a program is to be prepared; if there is a reason against it, notes that. */
static bool wants_preparation(rs_layer_program *program) RS_LOCKED
{
    if (program == NULL || program->preparation != RS_UNPREPARED)
        return false;
    const char *reason = reason_to_leave(program);
    if (reason == NULL)
        return true;
    program->left = strdup(reason);
    program->preparation = RS_PREPARED;
    return false;
}

static void begin_preparation(rs_layer_program *program) RS_LOCKED
{
    program->preparation = RS_BEING_PREPARED;
    program->is_promising = false;
    program->live_kernels++;
}

static void end_preparation(rs_layer_program *program, const rewriting *made) RS_LOCKED
{
    take_over(program, made);
    program->preparation = RS_PREPARED;
    report_program(program);
    rs_kernels_take_targets(program);
    program->live_kernels--;
    rs_program_trim(program);
}

/* The compiler is called without the lock: it may call the program's own function, which the
 * program passed to clCreateContext(). */
void rs_program_prepare(cl_program handle)
{
    rs_layer_program *program = lock_prepared(handle);
    if (wants_preparation(program) && rs_build_begin(rs_the_layer())) {
        sigset_t before;
        begin_preparation(program);
        rs_layer_unlock(rs_the_layer());
        rs_file_limit_ignore(&before);
        const rewriting made = rewrite(program, false);
        rs_file_limit_restore(&before);
        rs_layer_lock(rs_the_layer());
        rs_build_end(rs_the_layer());
        end_preparation(program, &made);
        rs_layer_wake(rs_the_layer());
    }
    rs_layer_unlock(rs_the_layer());
}

/* ---- beside the program ---- */

/* Whether launches may run before the program is prepared: under policy auto, unless a report times
 * them or the configuration has kernels. In a first run auto keeps the first launches' layout. */
static bool may_launch_unprepared(void)
{
    const rs_layer_settings *settings = &rs_the_layer()->settings;
    return settings->policy == RS_POLICY_AUTO && !rs_report_times(rs_the_layer()) &&
           json_object_size(json_object_get(settings->config, "kernels")) == 0;
}

static void prepare_beside(void *data) RS_UNLOCKED
{
    rs_layer_program *program = data;
    rs_group context = program->context;
    const rewriting made = rewrite(program, true);
    rs_layer_lock(rs_the_layer());
    end_preparation(program, &made);
    rs_layer_unlock(rs_the_layer());
    rs_api_group_release(context);
}

/* False: it has to be prepared by this thread. */
static bool begin_beside(rs_layer_program *program) RS_LOCKED
{
    if (!may_launch_unprepared() || rs_build_is_inside() || !rs_api_group_retain(program->context))
        return false;
    begin_preparation(program);
    if (rs_build_beside(rs_the_layer(), prepare_beside, program))
        return true;
    program->preparation = RS_UNPREPARED;
    program->live_kernels--;
    rs_api_group_release(program->context);
    return false;
}

/* Waits for a reply that an earlier run has stored, for a short time, which is enough; and longer
 * where that run promises a gain. Not for one that the rewriter is asked for. */
static void wait_for_preparation(cl_program handle) RS_UNLOCKED
{
    rs_layer *layer = rs_the_layer();
    const double longest = 30, start = rs_seconds_now();
    const double end = start + rs_policy_build_budget(start - layer->loaded_at);
    double now = start;
    for (;;) {
        const unsigned long long seen = rs_layer_changes(layer);
        rs_layer_lock(layer);
        const rs_layer_program *program = rs_program_find(handle);
        const double until =
            program != NULL && program->is_promising ? start + longest : end - layer->builds.waited;
        const bool is_asked =
            program != NULL && !program->is_promising && rs_rewriter_is_awaited(&layer->rewriter);
        if (!is_awaited(program) || is_asked || now >= until) {
            layer->builds.waited += now - start;
            rs_layer_unlock(layer);
            return;
        }
        rs_layer_unlock(layer);
        rs_layer_wait(layer, seen, until);
        now = rs_seconds_now();
    }
}

void rs_program_begin_preparing(cl_program handle)
{
    rs_layer_lock(rs_the_layer());
    rs_layer_program *program = rs_program_find(handle);
    const bool is_begun =
        may_launch_unprepared() && wants_preparation(program) && begin_beside(program);
    const bool is_beside =
        may_launch_unprepared() && program != NULL && program->preparation != RS_UNPREPARED;
    rs_layer_unlock(rs_the_layer());
    if (is_begun)
        wait_for_preparation(handle);
    else if (!is_beside)
        rs_program_prepare(handle);
}
