/* The report: see report.h. */
#include "layer/core/report.h"

#include "base/child.h"
#include "base/json.h"
#include "base/log.h"
#include "layer/core/timing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernels that are listed one by one, also after their programs were released: a program may build
 * others without end. */
enum { MOST_KERNELS = 512 };

/* There is room for a note on each program that is named. */
enum { MOST_NOTES = 256 };

/* The end of the list of facts. */
static rs_kernel_facts **end_of_list(rs_layer *layer, size_t *count)
{
    rs_kernel_facts **place = &layer->facts;
    for (*count = 0; *place != NULL; place = &(*place)->next)
        ++*count;
    return place;
}

/* New facts behind all others; NULL when memory is short. */
static rs_kernel_facts *add_facts(rs_layer *layer, unsigned program_number, const char *name)
{
    size_t count;
    rs_kernel_facts **place = end_of_list(layer, &count), *facts = calloc(1, sizeof *facts);
    if (facts == NULL)
        return NULL;
    facts->name = strdup(name);
    if (facts->name == NULL) {
        free(facts);
        return NULL;
    }
    facts->program_number = program_number;
    facts->is_brief = program_number > 0 && count >= MOST_KERNELS;
    *place = facts;
    return facts;
}

static rs_kernel_facts *find_kernel(rs_layer *layer, unsigned program_number, const char *name)
{
    for (rs_kernel_facts *facts = layer->facts; facts != NULL; facts = facts->next)
        if (facts->program_number == program_number && strcmp(facts->name, name) == 0)
            return facts;
    return add_facts(layer, program_number, name);
}

unsigned rs_report_program_of(const rs_layer *layer, unsigned long long source, const char *name)
{
    for (const rs_kernel_facts *facts = layer->facts; facts != NULL; facts = facts->next)
        if (facts->program_number > 0 && facts->source == source && strcmp(facts->name, name) == 0)
            return facts->program_number;
    return 0;
}

rs_kernel_facts *rs_report_kernel(const rs_program *program, const char *name)
{
    rs_kernel_facts *facts = find_kernel(program->layer, program->number, name);
    if (facts != NULL) {
        facts->source = program->hash;
        facts->has_source = program->source != NULL;
    }
    return facts;
}

/* ---- programs without end ---- */

/* Where the counts of a released program's kernel go: to the same kernel of an earlier program of
 * its source, or to those of all others. NULL when memory is short. */
static rs_kernel_facts *facts_to_join(rs_layer *layer, const rs_kernel_facts *joining) RS_LOCKED
{
    for (rs_kernel_facts *facts = layer->facts; facts != NULL; facts = facts->next)
        if (!facts->is_brief && joining->has_source && facts->source == joining->source &&
            strcmp(facts->name, joining->name) == 0)
            return facts;
    rs_kernel_facts *others = find_kernel(layer, 0, "(kernels of later programs)");
    rs_report_hold(others, 0, "kernels of many programs are counted together here");
    return others;
}

static void add_decisions(rs_kernel_facts *facts, const char *reason, size_t count)
{
    for (size_t i = 0; i < RS_MOST_REASONS; i++) {
        rs_decision_count *decision = &facts->decisions[i];
        if (decision->reason == NULL)
            decision->reason = reason;
        if (decision->reason == reason) {
            decision->count += count;
            return;
        }
    }
}

void rs_report_count_decision(rs_kernel_facts *facts, const char *reason)
{
    add_decisions(facts, reason, 1);
}

static void join(rs_layer *layer, rs_kernel_facts *facts, rs_kernel_facts *joining) RS_LOCKED
{
    facts->launches += joining->launches;
    facts->transformed_launches += joining->transformed_launches;
    facts->timed_launches += joining->timed_launches;
    facts->timed_transformed += joining->timed_transformed;
    facts->seconds += joining->seconds;
    facts->transformed_seconds += joining->transformed_seconds;
    for (size_t i = 0; i < RS_MOST_REASONS && joining->decisions[i].reason != NULL; i++)
        add_decisions(facts, joining->decisions[i].reason, joining->decisions[i].count);
    rs_timing_move(layer, joining, facts);
    free(joining->name);
    free(joining->held_reason);
    json_decref(joining->arguments);
    free(joining);
}

/* A kernel that was launched has the place of one that was not, if there is any: of a program that
 * was released. */
static void keep_launched(rs_layer *layer, rs_kernel_facts *launched)
{
    rs_kernel_facts *idle = layer->facts;
    while (idle != NULL && (idle->is_brief || !idle->is_released || idle->launches > 0 ||
                            idle->program_number == 0))
        idle = idle->next;
    if (idle == NULL)
        return;
    idle->is_brief = true;
    launched->is_brief = false;
}

void rs_report_release_program(const rs_program *program)
{
    rs_layer *layer = program->layer;
    rs_kernel_facts **place = &layer->facts;
    for (rs_kernel_facts *facts = *place; facts != NULL; facts = facts->next)
        facts->is_released = facts->is_released || facts->program_number == program->number;
    for (rs_kernel_facts *facts = *place; facts != NULL; facts = facts->next)
        if (facts->is_brief && facts->launches > 0 && facts->program_number == program->number)
            keep_launched(layer, facts);
    while (*place != NULL) {
        rs_kernel_facts *facts = *place, *joined = NULL;
        if (facts->is_brief && facts->is_released)
            joined = facts_to_join(layer, facts);
        if (joined == NULL) {
            place = &facts->next;
            continue;
        }
        *place = facts->next;
        join(layer, joined, facts);
        rs_report_note(layer,
                       "The program has more than %d kernels: those of programs that it released "
                       "are counted with the first of the same source, and all others together.",
                       MOST_KERNELS);
    }
}

void rs_report_hold(rs_kernel_facts *facts, size_t argument, const char *reason)
{
    if (facts == NULL)
        return;
    facts->held_argument = argument;
    if (facts->held_reason != NULL && strcmp(facts->held_reason, reason) == 0)
        return;
    free(facts->held_reason);
    facts->held_reason = strdup(reason);
}

static json_t *describe_decisions(const rs_kernel_facts *facts)
{
    json_t *decisions = json_object();
    for (size_t i = 0; i < RS_MOST_REASONS && facts->decisions[i].reason != NULL; i++)
        json_object_set_new(decisions, facts->decisions[i].reason,
                            json_integer((json_int_t)facts->decisions[i].count));
    return decisions;
}

void rs_report_release_hold(rs_kernel_facts *facts, const char *reason)
{
    if (facts->held_reason == NULL || strcmp(facts->held_reason, reason) != 0)
        return;
    free(facts->held_reason);
    facts->held_reason = NULL;
}

/* ---- notes ---- */

/* Adds a string to a list once. */
static void add_once(json_t **list, const char *text)
{
    json_t *string = rs_json_string(text);
    if (*list == NULL)
        *list = json_array();
    if (!rs_json_has(*list, string))
        json_array_append(*list, string);
    json_decref(string);
}

RS_PRINTF(3, 0)
static void add_note(rs_layer *layer, bool always, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *sentence = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (sentence == NULL)
        return;
    vsnprintf(sentence, (size_t)length + 1, format, arguments);
    rs_log(RS_LOG_WARNING, "%s", sentence);
    if (always || json_array_size(layer->report.notes) < MOST_NOTES)
        add_once(&layer->report.notes, sentence);
    else
        add_once(&layer->report.notes, "There were more notes than these.");
    free(sentence);
}

void rs_report_note(rs_layer *layer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(layer, false, format, arguments);
    va_end(arguments);
}

void rs_report_note_always(rs_layer *layer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(layer, true, format, arguments);
    va_end(arguments);
}

void rs_report_device(rs_layer *layer, rs_device device)
{
    char *name = rs_report_wanted(layer) ? rs_api_device_name(device) : NULL;
    if (name != NULL)
        add_once(&layer->report.devices, name);
    free(name);
}

bool rs_report_is_transformed(const json_t *argument)
{
    const char *status = json_string_value(json_object_get(argument, "status"));
    return status != NULL && strcmp(status, "transformed") == 0;
}

void rs_report_keep(json_t *argument, const char *reason)
{
    const char *own = json_string_value(json_object_get(argument, "source_layout"));
    json_object_set_new(argument, "status", json_string("kept"));
    json_object_set_new(argument, "layout", json_string(own != NULL ? own : "i f"));
    json_object_set_new(argument, "reason", json_string(reason));
}

/* Whether the policy kept the launches in the other layout, and did not only try it. */
static bool is_chosen(const rs_kernel_facts *facts)
{
    return facts->known == NULL || facts->known->reason == NULL || facts->known->last_rewritten ||
           2 * facts->transformed_launches >= facts->launches;
}

/* Whether the rewriter can have one of the arguments in another layout. */
static bool has_target(const rs_kernel_facts *facts)
{
    size_t i;
    json_t *argument;
    json_array_foreach(facts->arguments, i, argument)
    {
        if (rs_report_is_transformed(argument))
            return true;
    }
    return false;
}

/* Why no launch of the kernel was in another layout; NULL when nothing stood in the way, or the
 * arguments have their own reasons. */
static const char *reason_of(const rs_kernel_facts *facts, bool at_end)
{
    if (facts->held_reason != NULL || facts->launches > 0 || !has_target(facts))
        return facts->held_reason;
    return at_end ? "the kernel was not launched" : "what the program launched is not known";
}

/* Says of an argument that the rewriter can have in another layout what came of it. */
static void describe_target(json_t *argument, const rs_kernel_facts *facts, bool at_end)
{
    const char *reason = reason_of(facts, at_end);
    const size_t index = (size_t)json_integer_value(json_object_get(argument, "index"));
    if (facts->transformed_launches > 0 && is_chosen(facts))
        return;
    if (facts->transformed_launches > 0) {
        json_object_set_new(argument, "status", json_string("tried"));
        json_object_set_new(argument, "reason", json_string(facts->known->reason));
    } else if (facts->held_reason == NULL) {
        json_object_set_new(argument, "status", json_string("possible"));
        json_object_set_new(argument, "reason",
                            json_string(reason != NULL ? reason : "no launch could have it"));
    } else {
        rs_report_keep(argument, index == facts->held_argument
                                     ? reason
                                     : "another argument of the kernel was kept");
    }
}

/* The arguments as the rewriter described them, corrected by what happened at the launches. */
static json_t *arguments_of(const rs_kernel_facts *facts, bool at_end)
{
    json_t *arguments = facts->arguments != NULL ? json_deep_copy(facts->arguments) : json_array();
    size_t i;
    json_t *argument;
    json_array_foreach(arguments, i, argument)
    {
        if (rs_report_is_transformed(argument))
            describe_target(argument, facts, at_end);
    }
    return arguments;
}

/* What policy auto chose, and from what: seconds are those of the last launch's work-items, where
 * there were any as it chose, the ones that it chose by. */
static json_t *describe_policy(const rs_known_kernel *known)
{
    const rs_policy_knowledge *k = &known->knowledge;
    const bool by_times = known->own_seconds > 0 && known->moved_seconds > 0;
    const double own = by_times ? known->own_seconds : rs_policy_time(&k->own);
    const double moved = by_times ? known->moved_seconds : rs_policy_time(&k->moved);
    return json_pack("{s:s, s:s, s:b, s:f, s:f, s:f, s:I, s:I, s:b}", "choice",
                     known->last_rewritten ? "rewritten" : "own", "reason", known->reason,
                     "measured", k->own.count > 0 && k->moved.count > 0, "predicted_ratio",
                     k->predicted_ratio, "own_seconds", own * known->work_items,
                     "rewritten_seconds", moved * known->work_items, "bytes_to_convert",
                     (json_int_t)known->bytes_to_convert, "usual_run", (json_int_t)k->usual_run,
                     "from_wisdom", known->from_wisdom);
}

void rs_report_forget(rs_layer *layer)
{
    for (rs_kernel_facts *facts = layer->facts; facts != NULL; facts = facts->next) {
        facts->launches = facts->transformed_launches = 0;
        facts->timed_launches = facts->timed_transformed = 0;
        facts->seconds = facts->transformed_seconds = 0;
        memset(facts->decisions, 0, sizeof facts->decisions);
        facts->is_inherited = true;
    }
    memset(&layer->verified, 0, sizeof layer->verified);
    json_decref(layer->report.notes);
    json_decref(layer->report.devices);
    layer->report.notes = layer->report.devices = NULL;
}

static json_t *describe_kernel(const rs_kernel_facts *facts, bool at_end)
{
    const char *reason = reason_of(facts, at_end);
    json_t *kernel = json_pack(
        "{s:o, s:i, s:o, s:I, s:I, s:I, s:I, s:f, s:f, s:o}", "name", rs_json_string(facts->name),
        "program", (int)facts->program_number, "source", json_sprintf("%016llx", facts->source),
        "launches", (json_int_t)facts->launches, "transformed_launches",
        (json_int_t)facts->transformed_launches, "timed_launches",
        (json_int_t)facts->timed_launches, "timed_transformed_launches",
        (json_int_t)facts->timed_transformed, "seconds", facts->seconds, "transformed_seconds",
        facts->transformed_seconds, "arguments", arguments_of(facts, at_end));
    if (reason != NULL && (facts->launches == 0 || facts->launches > facts->transformed_launches))
        json_object_set_new(kernel, "held_reason", rs_json_string(reason));
    if (facts->known != NULL && facts->known->reason != NULL)
        json_object_set_new(kernel, "policy", describe_policy(facts->known));
    if (facts->decisions[0].reason != NULL)
        json_object_set_new(kernel, "decisions", describe_decisions(facts));
    return kernel;
}

json_t *rs_report_describe(rs_layer *layer, bool at_end)
{
    json_t *kernels = json_array();
    long process;
    const unsigned long long start = rs_process_own_start(&process);
    rs_conversion_sums sums = rs_timing_conversions(layer);
    for (const rs_kernel_facts *facts = layer->facts; facts != NULL; facts = facts->next)
        if (!facts->is_inherited || facts->launches > 0)
            json_array_append_new(kernels, describe_kernel(facts, at_end));
    json_t *verified = NULL;
    if (layer->settings.verifies)
        verified = json_pack("{s:I, s:I, s:I, s:I}", "launches", (json_int_t)layer->verified.count,
                             "different", (json_int_t)layer->verified.different, "unsteady",
                             (json_int_t)layer->verified.unsteady, "left_out",
                             (json_int_t)layer->verified.left_out);
    return json_pack(
        "{s:o*, s:I, s:I, s:b, s:f, s:s, s:I, s:O?, s:o, s:{s:I, s:I, s:I, s:I, s:f, s:I, "
        "s:I, s:I, s:I}, s:O?, s:o}",
        "verified", verified, "process", (json_int_t)process, "process_start", (json_int_t)start,
        "at_end", (int)at_end, "counted_seconds", rs_seconds_now() - layer->loaded_at, "policy",
        rs_policy_name(layer->settings.policy), "tile", (json_int_t)layer->settings.tile, "devices",
        layer->report.devices, "kernels", kernels, "marshal", "count", (json_int_t)sums.count,
        "bytes", (json_int_t)sums.bytes, "timed", (json_int_t)sums.timed_count, "timed_bytes",
        (json_int_t)sums.timed_bytes, "seconds", sums.seconds, "parts", (json_int_t)sums.part_count,
        "part_bytes", (json_int_t)sums.part_bytes, "from_birth", (json_int_t)sums.blank_count,
        "from_birth_bytes", (json_int_t)sums.blank_bytes, "notes", layer->report.notes, "timeline",
        at_end ? rs_timing_line(layer) : json_array());
}
