/* Compares a run with an earlier one, kernel by kernel: see run_report.h. */
#include "cli/run_report.h"

#include "base/json.h"
#include "base/text.h"

restride_status rs_run_report_read(json_t **report, const char *path)
{
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = rs_text_read_file(&text, path);
    if (status != RESTRIDE_OK)
        return status;
    *report = json_loadb(text.size > 0 ? text.data : "", text.size, 0, NULL);
    rs_text_free(&text);
    if (json_is_array(json_object_get(*report, "kernels")))
        return RESTRIDE_OK;
    json_decref(*report);
    *report = NULL;
    return rs_fail(RESTRIDE_SYNTAX, "%s is no JSON report of restride run.", path);
}

/* Whether both are of the same name and source. Reports of older versions have the program's number
 * instead of the source; number 0 stands for many programs. */
static bool is_same(const json_t *kernel, const json_t *earlier)
{
    const char *const identity =
        json_object_get(earlier, "source") != NULL && json_object_get(kernel, "source") != NULL
            ? "source"
            : "program";
    return rs_json_number_of(kernel, "program") > 0 &&
           json_equal(json_object_get(kernel, "name"), json_object_get(earlier, "name")) &&
           json_equal(json_object_get(kernel, identity), json_object_get(earlier, identity));
}

/* Takes a kernel's counterpart out of the earlier ones, so that each is compared once. The caller
 * owns it; NULL when none is left. */
static json_t *take_same(json_t *earlier, const json_t *kernel)
{
    size_t i;
    json_t *one;
    json_array_foreach(earlier, i, one)
    {
        if (!is_same(kernel, one))
            continue;
        json_incref(one);
        json_array_remove(earlier, i);
        return one;
    }
    return NULL;
}

static size_t count_launched(const json_t *kernels)
{
    size_t i, count = 0;
    json_t *kernel;
    json_array_foreach((json_t *)kernels, i, kernel)
    {
        count += rs_json_number_of(kernel, "launches") > 0;
    }
    return count;
}

/* "1 kernel was ...", "2 kernels were ...". */
static void note_kernels(json_t *report, size_t count, const char *one, const char *many,
                         const char *what)
{
    if (count > 0)
        json_array_append_new(json_object_get(report, "notes"),
                              json_sprintf("%zu %s %s", count, count == 1 ? one : many, what));
}

/* Runs may differ in how often they launch a kernel: what counts is the time of a launch. */
typedef struct {
    double before, after, launches; /* timed ones of the kernels that are compared */
    size_t scaled;                  /* kernels with another number of timed launches */
} comparison;

static void compare_kernel(comparison *sums, json_t *kernel, const json_t *earlier)
{
    const double launches = rs_run_report_timed(kernel, RS_LAUNCHES);
    const double launches_before = rs_run_report_timed(earlier, RS_LAUNCHES);
    const double before = rs_json_number_of(earlier, "seconds") / launches_before * launches;
    json_object_set_new(kernel, "baseline_seconds", json_real(before));
    json_object_set_new(kernel, "baseline_launches", json_integer((json_int_t)launches_before));
    sums->before += before;
    sums->after += rs_json_number_of(kernel, "seconds");
    sums->launches += launches;
    sums->scaled += launches_before != launches;
}

void rs_run_report_compare(json_t *report, const json_t *baseline, const char *baseline_path)
{
    comparison sums = {0, 0, 0, 0};
    size_t i, uncompared = 0, untimed = 0;
    json_t *kernel, *earlier = json_copy(json_object_get(baseline, "kernels"));
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        json_t *same = take_same(earlier, kernel);
        if (rs_run_report_timed(same, RS_LAUNCHES) > 0 &&
            rs_run_report_timed(kernel, RS_LAUNCHES) > 0) {
            compare_kernel(&sums, kernel, same);
        } else if (rs_json_number_of(same, "launches") > 0 &&
                   rs_json_number_of(kernel, "launches") > 0) {
            untimed++;
        } else if (rs_json_number_of(same, "launches") + rs_json_number_of(kernel, "launches") >
                   0) {
            uncompared++;
        }
        json_decref(same);
    }
    note_kernels(report, uncompared + count_launched(earlier), "kernel was", "kernels were",
                 "launched in this run alone or in the baseline's alone: not compared.");
    note_kernels(report, untimed, "kernel has", "kernels have",
                 "no launch with a time in this run or in the baseline: not compared.");
    note_kernels(report, sums.scaled, "kernel has", "kernels have",
                 "another number of timed launches than in the baseline: compared by the time of a "
                 "launch.");
    json_decref(earlier);
    const double marshal = rs_json_number_of(json_object_get(report, "marshal"), "seconds");
    const double gained = sums.before - sums.after;
    json_t *result = json_pack(
        "{s:o, s:f, s:f, s:f, s:f, s:f}", "file", rs_json_string(baseline_path), "seconds",
        rs_json_number_of(baseline, "seconds"), "kernel_seconds", sums.before, "compared_seconds",
        sums.after, "compared_launches", sums.launches, "gained_seconds", gained - marshal);
    if (sums.after > 0 && sums.before > 0)
        json_object_set_new(result, "speedup", json_real(sums.before / sums.after));
    if (sums.after > 0 && gained > 0 && marshal > 0)
        json_object_set_new(result, "paid_back_launches",
                            json_real(marshal / (gained / sums.launches)));
    json_object_set_new(report, "baseline", result);
}
