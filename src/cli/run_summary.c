/* The summary of a run, two or three lines: what came of the kernels' arguments, and the cause
 * where nothing was transformed. */
#include "cli/run_report.h"

#include "base/json.h"
#include "base/text.h"
#include "console/page.h"

#include <string.h>

/* What the layout gained against the baseline, when there is one. */
static void print_gain(const json_t *report, FILE *stream)
{
    const json_t *baseline = json_object_get(report, "baseline");
    const json_t *paid_back = json_object_get(baseline, "paid_back_launches");
    if (json_object_get(baseline, "speedup") == NULL)
        return;
    fprintf(stream, "restride: against the baseline's %.6f s the kernels took %.6f s (%.2f times)",
            rs_json_number_of(baseline, "kernel_seconds"),
            rs_json_number_of(baseline, "compared_seconds"),
            rs_json_number_of(baseline, "speedup"));
    if (paid_back != NULL)
        fprintf(stream, "; the conversions were paid back after %.1f launches",
                json_number_value(paid_back));
    fprintf(stream, ".\n");
}

/* Whether a reason is among the causes, which the line before has told. */
static bool is_cause(const json_t *report, const char *reason)
{
    size_t i;
    json_t *cause;
    json_array_foreach(json_object_get(report, "causes"), i, cause)
    {
        if (strcmp(rs_json_string_of(cause, "reason"), reason) == 0)
            return true;
    }
    return false;
}

/* What policy auto chose for the kernel that was launched most. */
static void print_choice(const json_t *report, FILE *stream)
{
    const json_t *most = NULL;
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        if (json_object_get(kernel, "policy") != NULL &&
            (most == NULL ||
             rs_json_number_of(kernel, "launches") > rs_json_number_of(most, "launches")))
            most = kernel;
    }
    if (most == NULL)
        return;
    const json_t *policy = json_object_get(most, "policy");
    const char *reason = rs_json_string_of(policy, "reason");
    double own = rs_json_number_of(policy, "own_seconds");
    double rewritten = rs_json_number_of(policy, "rewritten_seconds");
    const bool has_times = own > 0 && rewritten > 0;
    if (!has_times && is_cause(report, reason))
        return;
    fprintf(stream, "restride: %s: %s", rs_json_string_of(most, "label"), reason);
    if (has_times)
        fprintf(stream, " (%.4f ms a launch in its own layout, %.4f ms in the other)", 1e3 * own,
                1e3 * rewritten);
    fprintf(stream, ".\n");
}

/* Programs that the layer saw no source of, which the lines above do not count. */
static void print_unknown(const json_t *report, FILE *stream)
{
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        const char *reason = rs_json_string_of(kernel, "held_reason");
        if (json_array_size(json_object_get(kernel, "arguments")) > 0 || reason == NULL ||
            strstr(reason, "binary") == NULL || is_cause(report, reason))
            continue;
        fprintf(stream, "restride: Kernel %s ran as it is: %s.\n",
                rs_json_string_of(kernel, "label"), reason);
        return;
    }
}

/* "2 kernel arguments in the ASTA layout, 1 tried, 0 kept". */
static void print_counts(const rs_run_counts *counts, FILE *stream)
{
    const size_t *arguments = counts->arguments;
    fprintf(stream, "restride: %zu kernel argument%s in %s", arguments[RS_TRANSFORMED],
            arguments[RS_TRANSFORMED] == 1 ? "" : "s", counts->layout);
    if (arguments[RS_TRIED] > 0)
        fprintf(stream, ", %zu tried", arguments[RS_TRIED]);
    if (arguments[RS_POSSIBLE] > 0)
        fprintf(stream, ", %zu possible", arguments[RS_POSSIBLE]);
    fprintf(stream, ", %zu kept", arguments[RS_KEPT]);
}

/* ", 2 arrays from birth (5.6 MB)": those that took none. */
static void print_births(const json_t *marshal, FILE *stream)
{
    const json_int_t births = rs_json_integer_of(marshal, "from_birth");
    rs_text amount = RS_TEXT_EMPTY;
    if (births == 0)
        return;
    rs_page_bytes(&amount, rs_json_number_of(marshal, "from_birth_bytes"));
    fprintf(stream, ", %lld array%s from birth (%s)", (long long)births, births == 1 ? "" : "s",
            amount.data != NULL ? amount.data : "");
    rs_text_free(&amount);
}

/* "; 10 launches, 3 conversions of 8.4 MB in all". */
static void print_commands(const rs_run_counts *counts, const json_t *marshal, FILE *stream)
{
    const json_int_t conversions = rs_json_integer_of(marshal, "count");
    rs_text amount = RS_TEXT_EMPTY;
    rs_page_bytes(&amount, rs_json_number_of(marshal, "bytes"));
    fprintf(stream, "; %.0f launch%s, %lld conversion%s", counts->launches,
            counts->launches == 1 ? "" : "es", (long long)conversions, conversions == 1 ? "" : "s");
    if (conversions > 0 && amount.data != NULL)
        fprintf(stream, " of %s in all", amount.data);
    rs_text_free(&amount);
    print_births(marshal, stream);
}

/* Ends the line; where nothing was transformed, with the reasons. */
static void print_causes(const json_t *report, const rs_run_counts *counts, FILE *stream)
{
    const size_t *arguments = counts->arguments;
    rs_text causes = RS_TEXT_EMPTY;
    rs_run_report_write_causes(report, &causes);
    if (causes.data != NULL)
        fputs(causes.data, stream);
    else if (strcmp(rs_json_string_of(report, "policy"), "off") != 0 &&
             arguments[RS_TRANSFORMED] + arguments[RS_TRIED] + arguments[RS_POSSIBLE] == 0 &&
             json_array_size(json_object_get(report, "notes")) == 0)
        fputs(json_array_size(json_object_get(report, "kernels")) > 0
                  ? "; no kernel has an array of structures"
                  : "; the program made no kernel",
              stream);
    fputs(".\n", stream);
    rs_text_free(&causes);
}

static void print_all_counts(const json_t *report, bool with_times, FILE *stream)
{
    const rs_run_counts counts = rs_run_report_count(report);
    const json_t *marshal = json_object_get(report, "marshal");
    const double marshal_seconds = rs_json_number_of(marshal, "seconds");
    const double gigabytes = rs_run_report_timed(marshal, RS_CONVERTED_BYTES) * 1e-9;
    rs_text launched = RS_TEXT_EMPTY, converted = RS_TEXT_EMPTY;
    rs_run_report_add_share(&launched, counts.timed, counts.launches);
    rs_run_report_add_share(&converted, rs_run_report_timed(marshal, RS_CONVERSIONS),
                            rs_json_number_of(marshal, "count"));
    print_counts(&counts, stream);
    print_commands(&counts, marshal, stream);
    print_causes(report, &counts, stream);
    if (with_times)
        fprintf(stream,
                "restride: kernels %.3f s%s, conversions %.6f s%s (%.0f GB/s read and written), "
                "the whole run %.3f s.\n",
                counts.seconds, launched.data != NULL ? launched.data : "", marshal_seconds,
                converted.data != NULL ? converted.data : "",
                marshal_seconds > 0 ? 2 * gigabytes / marshal_seconds : 0,
                rs_json_number_of(report, "seconds"));
    else
        print_choice(report, stream);
    print_gain(report, stream);
    rs_text_free(&launched);
    rs_text_free(&converted);
}

static void print_verified(const json_t *verified, FILE *stream)
{
    if (verified != NULL)
        fprintf(stream,
                "restride: verified %lld launches: %lld different, %lld of kernels whose results "
                "change from run to run; %lld left out.\n",
                (long long)rs_json_integer_of(verified, "launches"),
                (long long)rs_json_integer_of(verified, "different"),
                (long long)rs_json_integer_of(verified, "unsteady"),
                (long long)rs_json_integer_of(verified, "left_out"));
}

/* "Program 2 was not rewritten: REASON.", of a reason that the first line tells. */
static bool is_told(const json_t *report, const char *note)
{
    const json_t *causes = json_object_get(report, "causes");
    bool told = false;
    for (size_t i = 0; i < RS_TOLD_CAUSES && !told && i < json_array_size(causes); i++) {
        const json_t *cause = json_array_get(causes, i);
        told = strcmp(rs_json_string_of(cause, "kept"), "program") == 0 &&
               strstr(note, rs_json_string_of(cause, "reason")) != NULL;
    }
    return told && strncmp(note, "Program ", strlen("Program ")) == 0;
}

void rs_run_report_summary(const json_t *report, bool with_times, FILE *stream)
{
    if (rs_run_report_is_counted(report))
        print_all_counts(report, with_times, stream);
    print_unknown(report, stream);
    print_verified(json_object_get(report, "verified"), stream);
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(report, "notes"), i, note)
    {
        if (!is_told(report, json_string_value(note)))
            fprintf(stream, "restride: %s\n", json_string_value(note));
    }
}
