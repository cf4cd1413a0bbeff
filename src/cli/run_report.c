/* Gathers the parts of a run's report, which each process wrote. */
#include "cli/run_report.h"

#include "base/child.h"
#include "base/json.h"
#include "base/text.h"
#include "restride/version.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends a part's list. Objects get the process that wrote them and the number of its part; words
 * are added once. */
static void append_all(json_t *list, const json_t *more, const json_t *process, json_int_t number)
{
    size_t i;
    json_t *value;
    json_array_foreach((json_t *)more, i, value)
    {
        if (json_is_object(value)) {
            json_object_set(value, "process", (json_t *)process);
            json_object_set_new(value, "part", json_integer(number));
        }
        if (!json_is_string(value) || !rs_json_has(list, value))
            json_array_append(list, value);
    }
}

static void add_number(json_t *object, const char *key, const json_t *more)
{
    json_t *value = json_object_get(more, key);
    json_t *sum = json_object_get(object, key);
    if (json_is_integer(sum))
        json_integer_set(sum, json_integer_value(sum) + json_integer_value(value));
    else
        json_real_set(sum, json_number_value(sum) + json_number_value(value));
}

static void count_one(json_t *report, const char *key)
{
    json_t *number = json_object_get(report, key);
    json_integer_set(number, json_integer_value(number) + 1);
}

/* The part of a process without an end: its counts may be too small, and 0 may mean not counted
 * yet. */
static void forget_zeros(json_t *report, json_t *part)
{
    static const char *const counts[] = {
        "launches", "transformed_launches", "timed_launches", "timed_transformed_launches",
        "seconds",  "transformed_seconds",  "policy"};
    size_t i;
    json_t *kernel;
    bool has_counts = false;
    json_array_foreach(json_object_get(part, "kernels"), i, kernel)
    {
        if (rs_json_integer_of(kernel, "launches") > 0) {
            has_counts = true;
            continue;
        }
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            json_object_del(kernel, counts[c]);
        if (json_object_get(kernel, "held_reason") == NULL)
            json_object_set_new(kernel, "held_reason",
                                json_string("what the program launched is not known"));
    }
    if (has_counts) {
        json_object_set(report, "counted_seconds", json_object_get(part, "counted_seconds"));
    } else {
        json_object_del(part, "marshal");
        count_one(report, "uncounted");
    }
}

/* Whether the process that wrote a part goes on, be it as another program. */
static bool still_runs(const json_t *part)
{
    const json_int_t start = rs_json_integer_of(part, "process_start");
    const long process = (long)rs_json_integer_of(part, "process");
    return start != 0 && rs_process_start(process) == (unsigned long long)start;
}

static bool is_final(const json_t *part)
{
    return rs_json_flag_of(part, "at_end");
}

/* A process may write its last part and end after an earlier one was read. Where it no longer runs,
 * the file is read again. NULL when there is none. */
static json_t *read_part(const char *path)
{
    json_t *part = json_load_file(path, 0, NULL);
    if (part == NULL || is_final(part) || still_runs(part))
        return part;
    json_t *last = json_load_file(path, 0, NULL);
    if (last == NULL)
        return part;
    json_decref(part);
    return last;
}

/* Counts a part's process once, also where it became another program: its number and start stay. */
static void count_process(json_t *report, const json_t *part)
{
    const json_int_t start = rs_json_integer_of(part, "process_start");
    json_t *known = json_object_get(report, "known_processes");
    json_t *process =
        json_sprintf("%lld, %lld", rs_json_integer_of(part, "process"), (long long)start);
    if (start == 0 || !rs_json_has(known, process)) {
        count_one(report, "processes");
        json_array_append(known, process);
    }
    json_decref(process);
}

static void add_verified(json_t *report, const json_t *more)
{
    static const char *const counts[] = {"launches", "different", "unsteady", "left_out"};
    if (more != NULL && json_object_get(report, "verified") == NULL)
        json_object_set_new(report, "verified",
                            json_pack("{s:i, s:i, s:i, s:i}", counts[0], 0, counts[1], 0, counts[2],
                                      0, counts[3], 0));
    for (size_t i = 0; more != NULL && i < sizeof counts / sizeof counts[0]; i++)
        add_number(json_object_get(report, "verified"), counts[i], more);
}

static void add_part(json_t *report, json_t *part)
{
    if (!is_final(part)) {
        count_one(report, "unfinished");
        if (still_runs(part))
            count_one(report, "running");
        else if (json_equal(json_object_get(part, "process"),
                            json_object_get(report, "ended_by_signal")))
            count_one(report, "signalled");
        forget_zeros(report, part);
    }
    static const char *const lists[] = {"devices", "kernels", "notes", "timeline"};
    static const char *const sums[] = {"count",       "bytes",      "timed",
                                       "timed_bytes", "seconds",    "parts",
                                       "part_bytes",  "from_birth", "from_birth_bytes"};
    const json_t *process = json_object_get(part, "process");
    const json_int_t number = 1 + rs_json_integer_of(report, "programs");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        append_all(json_object_get(report, lists[i]), json_object_get(part, lists[i]), process,
                   number);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        add_number(json_object_get(report, "marshal"), sums[i], json_object_get(part, "marshal"));
    add_verified(report, json_object_get(part, "verified"));
    count_one(report, "programs");
    count_process(report, part);
}

/* ---- what kernels are called ---- */

static json_int_t count_up(json_t *counts, const char *key)
{
    const json_int_t count = rs_json_integer_of(counts, key) + 1;
    json_object_set_new(counts, key, json_integer(count));
    return count;
}

/* Labels that kernels can have, from the shortest to the one that is a kernel's own. */
enum { LABELS = 4 };

static const char *write_label(rs_text *text, int label, const json_t *kernel, const char *name)
{
    const json_int_t program = rs_json_integer_of(kernel, "program");
    const json_int_t process = rs_json_integer_of(kernel, "process");
    const json_int_t part = rs_json_integer_of(kernel, "part");
    rs_text_free(text);
    rs_text_add_string(text, name);
    if (label == 1)
        rs_text_format(text, " (program %lld)", (long long)program);
    if (label == 2)
        rs_text_format(text, " (program %lld of process %lld)", (long long)program,
                       (long long)process);
    if (label == 3)
        rs_text_format(text, " (program %lld of process %lld, part %lld)", (long long)program,
                       (long long)process, (long long)part);
    return text->data != NULL && !text->failed ? text->data : "";
}

/* Gives each kernel the shortest label that no other has, and the bars of the time line theirs. */
static void label_kernels(json_t *report)
{
    json_t *kernels = json_object_get(report, "kernels"), *kernel;
    json_t *counts = json_object(), *labels = json_object();
    rs_text text = RS_TEXT_EMPTY;
    size_t i;
    json_array_foreach(kernels, i, kernel)
    {
        const char *name = rs_json_string_of(kernel, "name");
        for (int label = 0; label < LABELS; label++)
            count_up(counts, write_label(&text, label, kernel, name));
    }
    json_array_foreach(kernels, i, kernel)
    {
        const char *name = rs_json_string_of(kernel, "name");
        int label = 0;
        while (label < LABELS - 1 &&
               rs_json_integer_of(counts, write_label(&text, label, kernel, name)) > 1)
            label++;
        json_object_set_new(kernel, "label", json_string(write_label(&text, label, kernel, name)));
        json_object_set(labels, write_label(&text, LABELS - 1, kernel, name),
                        json_object_get(kernel, "label"));
    }
    json_array_foreach(json_object_get(report, "timeline"), i, kernel)
    {
        const char *name = rs_json_string_of(kernel, "kernel");
        if (name != NULL)
            json_object_set(kernel, "label",
                            json_object_get(labels, write_label(&text, LABELS - 1, kernel, name)));
    }
    rs_text_free(&text);
    json_decref(counts);
    json_decref(labels);
}

/* ---- the parts ---- */

/* Notes what is not counted of `count` processes; `one` and `many` are what one or several of them
 * did. */
static void note_uncounted(json_t *report, json_int_t count, const char *one, const char *many)
{
    const json_int_t all = rs_json_integer_of(report, "programs");
    const bool became = all > rs_json_integer_of(report, "processes");
    json_t *note;
    if (count == 0)
        return;
    if (all > 1)
        note = json_sprintf("%lld of %lld %s with OpenCL or CUDA %s: the last of %s launches and "
                            "conversions may not be counted.",
                            (long long)count, (long long)all, became ? "programs" : "processes",
                            count == 1 ? one : many, count == 1 ? "its" : "their");
    else if (json_object_get(report, "counted_seconds") == NULL)
        note = json_sprintf("The program %s: what it launched and converted is not known.", one);
    else
        note = json_sprintf("The program %s: what it did later than %.3f s after its first call "
                            "of OpenCL or CUDA is not counted.",
                            one, rs_json_number_of(report, "counted_seconds"));
    json_array_insert_new(json_object_get(report, "notes"), 0, note);
}

/* A signal is known to have ended the program itself; of its children that cannot be told. */
static void note_unfinished(json_t *report, int signal)
{
    const json_int_t running = rs_json_integer_of(report, "running");
    const json_int_t signalled = rs_json_integer_of(report, "signalled");
    const json_int_t unfinished = rs_json_integer_of(report, "unfinished");
    rs_text by_signal = RS_TEXT_EMPTY;
    if (signalled > 0)
        rs_text_format(&by_signal, "was ended by signal %d (%s)", signal, strsignal(signal));
    if (by_signal.data != NULL)
        note_uncounted(report, signalled, by_signal.data, by_signal.data);
    rs_text_free(&by_signal);
    note_uncounted(report, running, "was still running when the command ended",
                   "were still running when the command ended");
    note_uncounted(report, unfinished - running - signalled,
                   "ended without running its exit functions (by _exit, abort or a signal), "
                   "became another program (by exec), or could not write its report",
                   "ended without running their exit functions (by _exit, abort or a signal), "
                   "became other programs (by exec), or could not write their report");
}

bool rs_run_report_is_counted(const json_t *report)
{
    return rs_json_integer_of(report, "uncounted") < rs_json_integer_of(report, "programs");
}

/* The file of a part, and not one that a process was writing as it ended. */
static int is_part(const struct dirent *entry)
{
    const char *name = entry->d_name;
    static const char ending[] = ".json";
    const size_t length = strlen(name), last = sizeof ending - 1;
    return length > last && strcmp(name + length - last, ending) == 0;
}

static void add_file(json_t *report, const char *folder, const char *name)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s", folder, name);
    if (path.failed)
        return;
    json_t *part = read_part(path.data);
    if (part != NULL)
        add_part(report, part);
    json_decref(part);
    unlink(path.data);
    rs_text_free(&path);
}

json_t *rs_run_report_gather(const char *folder, char **program, const char *policy, size_t tile,
                             const rs_process_result *result)
{
    json_t *words = json_array();
    for (char **word = program; *word != NULL; word++)
        json_array_append_new(words, rs_json_string(*word));
    json_t *report = json_pack(
        "{s:s, s:o, s:s, s:I, s:f, s:i, s:i, s:[], s:[], s:{s:i, s:i, s:i, s:i, s:f, s:i, s:i, "
        "s:i, s:i}, "
        "s:[], s:[], s:[], s:i, s:i, s:i, s:i, s:i, s:i, s:I}",
        "restride", RESTRIDE_VERSION_STRING, "program", words, "policy", policy, "tile",
        (json_int_t)tile, "seconds", result->seconds, "exit_status", result->exit_status, "signal",
        result->signal, "devices", "kernels", "marshal", "count", 0, "bytes", 0, "timed", 0,
        "timed_bytes", 0, "seconds", 0.0, "parts", 0, "part_bytes", 0, "from_birth", 0,
        "from_birth_bytes", 0, "notes", "timeline", "known_processes", "processes", 0, "programs",
        0, "unfinished", 0, "running", 0, "uncounted", 0, "signalled", 0, "ended_by_signal",
        (json_int_t)(result->signal != 0 ? result->process : -1));
    struct dirent **entries = NULL;
    const int count =
        report != NULL && folder != NULL ? scandir(folder, &entries, is_part, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        add_file(report, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    note_unfinished(report, result->signal);
    json_object_del(report, "ended_by_signal");
    json_object_del(report, "counted_seconds");
    json_object_del(report, "known_processes");
    label_kernels(report);
    return report;
}

/* ---- in a few lines ---- */

static void count_argument(rs_run_counts *counts, const json_t *argument)
{
    static const char *const names[RS_ARGUMENT_STATUSES] = {"transformed", "tried", "possible",
                                                            "kept"};
    const char *status = rs_json_string_of(argument, "status");
    for (size_t i = 0; status != NULL && i < RS_ARGUMENT_STATUSES; i++)
        counts->arguments[i] += strcmp(names[i], status) == 0;
}

rs_run_counts rs_run_report_count(const json_t *report)
{
    rs_run_counts counts = {0};
    bool tiles = false, planes = false;
    size_t i, j;
    json_t *kernel, *argument;
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        counts.launches += rs_json_number_of(kernel, "launches");
        counts.timed += rs_run_report_timed(kernel, RS_LAUNCHES);
        counts.seconds += rs_json_number_of(kernel, "seconds");
        json_array_foreach(json_object_get(kernel, "arguments"), j, argument)
        {
            const size_t before = counts.arguments[RS_TRANSFORMED];
            count_argument(&counts, argument);
            if (counts.arguments[RS_TRANSFORMED] > before)
                *(rs_json_integer_of(argument, "tile") > 0 ? &tiles : &planes) = true;
        }
    }
    counts.layout = tiles && planes ? "the ASTA or SoA layout"
                    : tiles         ? "the ASTA layout"
                    : planes        ? "the SoA layout"
                                    : "another layout";
    return counts;
}

double rs_run_report_timed(const json_t *object, rs_timed_amount amount)
{
    static const struct {
        const char *timed, *all, *seconds;
    } names[] = {
        [RS_LAUNCHES] = {"timed_launches", "launches", "seconds"},
        [RS_MOVED_LAUNCHES] = {"timed_transformed_launches", "transformed_launches",
                               "transformed_seconds"},
        [RS_CONVERSIONS] = {"timed", "count", "seconds"},
        [RS_CONVERTED_BYTES] = {"timed_bytes", "bytes", "seconds"},
    };
    const json_t *timed = json_object_get(object, names[amount].timed);
    if (timed != NULL)
        return json_number_value(timed);
    return rs_json_number_of(object, names[amount].seconds) > 0
               ? rs_json_number_of(object, names[amount].all)
               : 0;
}

void rs_run_report_add_share(rs_text *text, double timed, double all)
{
    if (timed < all)
        rs_text_format(text, " (%.0f of %.0f)", timed, all);
}
