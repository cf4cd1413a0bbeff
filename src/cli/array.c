/* Arrays in files, for the verbs that change them in place; see array.h. */
#include "cli/array.h"
#include "base/arithmetic.h"
#include "base/json.h"
#include "console/fail.h"
#include "console/progress.h"
#include "file/mark.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY_PARTS = 4, LARGE_RUN_BYTES = 4096 };

/* ---- options ---- */

bool rs_array_take_offset(const char *value, void *field)
{
    rs_array_options *options = field;
    options->offset.given = true;
    return rs_cli_read_bytes(value, &options->offset.bytes);
}

bool rs_array_take_engine(const char *value, void *field)
{
    (void)field;
    return strcmp(value, "host") == 0;
}

int rs_array_read_options(rs_array_options *options, int argc, char **argv,
                          const rs_cli_option *table, void *into)
{
    int exit_status = rs_cli_read_options(options->verb, argc, argv, table, into);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (optind + 1 != argc)
        return rs_cli_fail(RS_EXIT_USAGE, options->verb, "It takes one file, and %d were given.",
                           argc - optind);
    options->path = argv[optind];
    return RS_EXIT_DONE;
}

/* ---- interruptions ---- */

/* A page that the disk cannot deliver, or that is no longer part of the file. */
static void end_by_bus_error(int signal_number)
{
    static const char sentence[] =
        "restride: the file was cut or its disk failed while it was converted; it is now between "
        "the two layouts.\n";
    ssize_t ignored = write(STDERR_FILENO, sentence, sizeof sentence - 1);
    (void)ignored;
    (void)signal_number;
    _exit(RS_EXIT_FAILED);
}

static void watch_bus_errors(void)
{
    struct sigaction action = {.sa_handler = end_by_bus_error};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static volatile sig_atomic_t stop;

static void stop_soon(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

/* A run with a journal ends at Ctrl-C between two steps; a second one ends it at once. */
static void watch_interruptions(void)
{
    struct sigaction action = {.sa_handler = stop_soon};
    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static rs_journaled journaled(rs_file_array *array, rs_progress_bar *bar)
{
    watch_bus_errors();
    watch_interruptions();
    rs_progress_bar_begin(bar);
    return (rs_journaled){.file = &array->file,
                          .journal = array->options->journal,
                          .purpose = array->purpose,
                          .step_bytes = array->options->memory / MEMORY_PARTS,
                          .run = {rs_progress_bar_tell, bar},
                          .stop = &stop};
}

static restride_status resume(rs_file_array *array)
{
    rs_progress_bar bar;
    const rs_journaled how = journaled(array, &bar);
    restride_status status = rs_journaled_resume(&how, &array->found);
    rs_progress_bar_end(&bar);
    return status;
}

/* ---- the array ---- */

void rs_array_write_shape(char *text, size_t size, int rank, const size_t shape[])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < rank && used < size; i++) {
        int length = snprintf(text + used, size - used, i > 0 ? " x %zu" : "%zu", shape[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* Whether an array does not fit into memory together with what else is there. */
static bool beyond_memory(size_t bytes)
{
    return bytes > rs_cli_memory() / 2;
}

static restride_status read_npy(rs_file_array *array)
{
    size_t count = array->file.bytes < RS_NPY_MAX_HEADER ? array->file.bytes : RS_NPY_MAX_HEADER;
    void *bytes = malloc(count + 1);
    if (bytes == NULL)
        return rs_fail_memory("a header");
    restride_status status = rs_file_read(&array->file, 0, bytes, count);
    if (status == RESTRIDE_OK)
        status = rs_npy_read(&array->npy, array->file.path, bytes, count, array->file.bytes);
    free(bytes);
    if (status != RESTRIDE_OK)
        return status;
    array->is_npy = true;
    array->unit = array->npy.item_bytes;
    array->offset = array->npy.header_bytes;
    array->rank = array->npy.rank;
    array->fortran_order = array->npy.fortran_order;
    memcpy(array->shape, array->npy.shape, sizeof array->shape);
    return RESTRIDE_OK;
}

restride_status rs_array_check_bytes(const rs_file_array *array, size_t bytes)
{
    size_t end;
    bool fits = rs_size_add(array->offset, bytes, &end) && end <= array->file.bytes;
    if (fits && (array->is_npy || array->options->offset.given || end == array->file.bytes))
        return RESTRIDE_OK;
    if (fits)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "%s has %zu bytes, and the array would take only %zu; if it begins at byte "
                       "0 all the same, give --offset 0.",
                       array->file.path, array->file.bytes, bytes);
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "%s has %zu bytes, and the array would take %zu from byte %zu on; check its "
                   "shape and type.",
                   array->file.path, array->file.bytes, bytes, array->offset);
}

static restride_status read_shape(rs_file_array *array)
{
    array->unit = array->options->unit;
    array->offset = array->options->offset.bytes;
    if (array->options->shape == NULL)
        return RESTRIDE_OK;
    rs_cli_read_list(array->options->shape, 'x', RS_ARRAY_MAX_RANK, array->shape, &array->rank);
    size_t bytes = array->unit;
    for (int i = 0; i < array->rank; i++)
        if (!rs_size_multiply(bytes, array->shape[i], &bytes))
            return rs_fail(RESTRIDE_OVERFLOW,
                           "An array of %s elements has more bytes than a size "
                           "can hold.",
                           array->options->shape);
    return rs_array_check_bytes(array, bytes);
}

static restride_status find_array(rs_file_array *array)
{
    const rs_array_options *options = array->options;
    restride_status status = options->raw ? read_shape(array) : read_npy(array);
    if (status == RESTRIDE_OK)
        status = restride_engine_create_host(&array->engine, (int)options->threads);
    return status;
}

static void close_array(rs_file_array *array)
{
    restride_engine_destroy(array->engine);
    array->engine = NULL;
    rs_npy_free(&array->npy);
    rs_file_close(&array->file);
}

static restride_status open_array(rs_file_array *array, const rs_array_options *options,
                                  const char *purpose)
{
    *array = (rs_file_array){.options = options, .purpose = purpose};
    restride_status status = rs_file_open(&array->file, options->path, !options->explain);
    /* Before the header is looked at: the change may have been interrupted in it. */
    if (status == RESTRIDE_OK)
        array->file.beyond_memory = beyond_memory(array->file.bytes);
    if (status == RESTRIDE_OK && options->journal != NULL && !options->explain)
        status = resume(array);
    if (status == RESTRIDE_OK && array->found == RS_JOURNALED_NONE && !options->explain)
        status = rs_mark_check(&array->file);
    if (status == RESTRIDE_OK && array->found == RS_JOURNALED_NONE)
        status = find_array(array);
    if (status != RESTRIDE_OK)
        close_array(array);
    return status;
}

static size_t plan_memory(const rs_file_array *array)
{
    return array->options->memory != 0 ? array->options->memory : rs_cli_memory() / MEMORY_PARTS;
}

/* An array that does not fit into memory moves by whole pages, in blocks of a good part of memory.
 */
restride_plan_options rs_array_plan_options(const rs_file_array *array, size_t bytes)
{
    restride_plan_options options = {.scratch_bytes = array->options->memory};
    if (beyond_memory(bytes)) {
        options.run_bytes = LARGE_RUN_BYTES;
        options.scratch_bytes = plan_memory(array);
    }
    return options;
}

/* ---- reports ---- */

static void print_number(const json_t *object, const char *name, const char *format)
{
    const json_t *number = json_object_get(object, name);
    if (json_integer_value(number) != 0)
        printf(format, (long long)json_integer_value(number));
}

static void print_stage(size_t number, const json_t *stage)
{
    printf("  %zu. %s (%s):", number, rs_json_string_of(stage, "name"),
           rs_json_string_of(stage, "method"));
    print_number(stage, "blocks", " %lld x");
    print_number(stage, "rows", " %lld");
    print_number(stage, "cols", " x %lld");
    print_number(stage, "element_bytes", " elements of %lld bytes");
    print_number(stage, "tail", ", tail %lld");
    print_number(stage, "threads", ", %lld threads");
    print_number(stage, "scratch_bytes", ", scratch %lld bytes");
    putchar('\n');
}

static void explain(const rs_file_array *array, const rs_array_run *run, const json_t *plan)
{
    const json_t *stages = json_object_get(plan, "stages");
    const char *method = rs_json_string_of(plan, "method");
    const char *why = rs_json_string_of(plan, "why");
    printf("%s: %s becomes %s, %zu bytes in place.\n", array->file.path, run->from, run->to,
           run->bytes);
    if (method != NULL)
        printf("method: %s\n", method);
    if (why != NULL)
        printf("why: %s\n", why);
    printf("scratch: %zu bytes\n", restride_plan_scratch_bytes(run->plan));
    printf("stages: %zu\n", json_array_size(stages));
    for (size_t i = 0; i < json_array_size(stages); i++)
        print_stage(i + 1, json_array_get(stages, i));
}

static double gigabytes_a_second(const rs_array_run *run, double seconds)
{
    return seconds > 0 ? 2e-9 * (double)run->bytes / seconds : 0;
}

static int print_json(const rs_file_array *array, const rs_array_run *run, json_t *plan,
                      double seconds)
{
    json_t *object =
        json_pack("{s:o, s:s, s:s, s:I, s:b, s:O}", "file", rs_json_string(array->file.path),
                  "from", run->from, "to", run->to, "bytes", (json_int_t)run->bytes, "changed",
                  !array->options->explain, "plan", plan);
    if (object != NULL && !array->options->explain) {
        json_object_set_new(object, "seconds", json_real(seconds));
        json_object_set_new(object, "gbps", json_real(gigabytes_a_second(run, seconds)));
    }
    if (object != NULL && run->note != NULL)
        json_object_set_new(object, "note", json_string(run->note));
    return rs_cli_print_json(array->options->verb, object);
}

static int print_plan(const rs_file_array *array, const rs_array_run *run, double seconds)
{
    char *text = restride_plan_describe(run->plan);
    json_t *plan = text == NULL ? NULL : json_loads(text, 0, NULL);
    int exit_status = RS_EXIT_DONE;
    free(text);
    if (plan == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, array->options->verb,
                           "There is not enough memory for the report.");
    if (array->options->json)
        exit_status = print_json(array, run, plan, seconds);
    else
        explain(array, run, plan);
    json_decref(plan);
    return exit_status;
}

static int report(const rs_file_array *array, const rs_array_run *run, double seconds)
{
    const rs_array_options *options = array->options;
    if (!options->json && !options->explain) {
        printf("%s: %s is now %s (%zu bytes in %.3f s, %.2f GB/s).%s%s\n", array->file.path,
               run->from, run->to, run->bytes, seconds, gigabytes_a_second(run, seconds),
               run->note != NULL ? " " : "", run->note != NULL ? run->note : "");
        return RS_EXIT_DONE;
    }
    int exit_status = print_plan(array, run, seconds);
    if (exit_status != RS_EXIT_DONE && !options->explain)
        rs_cli_fail(exit_status, options->verb, "%s is %s all the same.", array->file.path,
                    run->to);
    return exit_status;
}

/* ---- the run ---- */

/* A file that does not stay in memory is read and written in large pieces, not page by page. */
static restride_status run_stored(rs_file_array *array, const rs_array_run *run, bool *possible)
{
    watch_bus_errors();
    rs_progress_bar bar;
    rs_progress_bar_begin(&bar);
    const rs_journaled how = {.file = &array->file,
                              .purpose = array->purpose,
                              .step_bytes = plan_memory(array) / MEMORY_PARTS,
                              .run = {rs_progress_bar_tell, &bar}};
    const rs_journaled_change change = {run->plan, array->offset, run->header,
                                        run->header != NULL ? array->npy.header_bytes : 0};
    restride_status status = rs_journaled_run_straight(&how, &change, possible);
    rs_progress_bar_end(&bar);
    return status;
}

static restride_status run_mapped(rs_file_array *array, const rs_array_run *run)
{
    void *data;
    bool stored = false;
    restride_status status = rs_file_fill_holes(&array->file);
    if (status == RESTRIDE_OK && array->file.beyond_memory)
        status = run_stored(array, run, &stored);
    if (stored)
        return status;
    if (status == RESTRIDE_OK)
        status = rs_file_map(&array->file, array->offset, &data);
    if (status != RESTRIDE_OK)
        return status;
    watch_bus_errors();
    rs_progress_bar bar;
    rs_progress_bar_begin(&bar);
    const restride_run_options options = {rs_progress_bar_tell, &bar};
    status = restride_execute_with(run->plan, data, &options);
    rs_progress_bar_end(&bar);
    if (status == RESTRIDE_OK && run->header != NULL)
        status = rs_file_write(&array->file, 0, run->header, array->npy.header_bytes);
    return status == RESTRIDE_OK ? rs_file_sync(&array->file) : status;
}

static restride_status run_journaled(rs_file_array *array, const rs_array_run *run)
{
    rs_progress_bar bar;
    const rs_journaled how = journaled(array, &bar);
    const rs_journaled_change change = {run->plan, array->offset, run->header,
                                        run->header != NULL ? array->npy.header_bytes : 0};
    restride_status status = rs_journaled_run(&how, &change);
    rs_progress_bar_end(&bar);
    return status;
}

static restride_status run_plan(rs_file_array *array, const rs_array_run *run)
{
    if (array->options->explain)
        return RESTRIDE_OK;
    return array->options->journal != NULL ? run_journaled(array, run) : run_mapped(array, run);
}

int rs_array_convert(rs_file_array *array, const rs_array_run *run)
{
    double started = rs_seconds_now();
    if (run_plan(array, run) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, array->options->verb);
    return report(array, run, rs_seconds_now() - started);
}

/* What is said when the journal has decided. */
static int report_found(const rs_file_array *array)
{
    bool resumed = array->found == RS_JOURNALED_RESUMED;
    if (array->options->json)
        printf("{\n  \"changed\": %s,\n  \"resumed\": %s\n}\n", resumed ? "true" : "false",
               resumed ? "true" : "false");
    else if (resumed)
        printf("%s: the interrupted \"%s\" has been finished.\n", array->file.path, array->purpose);
    else
        printf(
            "%s: \"%s\" is already done, and nothing was changed; delete the journal %s to do it "
            "once more.\n",
            array->file.path, array->purpose, array->options->journal);
    return RS_EXIT_DONE;
}

int rs_array_change(const rs_array_options *options, char *purpose,
                    int (*change)(rs_file_array *array, const void *options), const void *how)
{
    rs_file_array array;
    int exit_status;
    if (purpose == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, options->verb, "There is not enough memory.");
    if (open_array(&array, options, purpose) != RESTRIDE_OK) {
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, options->verb);
    } else {
        exit_status = array.found != RS_JOURNALED_NONE ? report_found(&array) : change(&array, how);
        close_array(&array);
    }
    free(purpose);
    return exit_status;
}
