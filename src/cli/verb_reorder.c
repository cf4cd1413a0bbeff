/* restride reorder INDEX: an order of data and threads for A[P[t]]. */
#include "base/arithmetic.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "file/npy.h"
#include "restride/irregular.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: restride reorder INDEX.npy (--data ARRAY.npy | --objects N --type TYPE) [OPTIONS]...\n"
    "\n"
    "For kernels in which thread t reads A[P[t]]. A GPU runs its threads in warps, and each warp "
    "pays\n"
    "one memory transaction for every memory segment that its reads touch. If P jumps about, that "
    "is up\n"
    "to one for each thread. This verb finds new places (slots) for the objects of A, and if it "
    "may "
    "a\n"
    "new order of the threads, so that the threads of a warp read neighbours. Nothing is changed; "
    "what\n"
    "was found is printed and, on request, written to new files.\n"
    "\n"
    "  INDEX.npy          P: 4- or 8-byte integers, in the order of the threads\n"
    "  --data ARRAY.npy   A; its first axis counts the objects\n"
    "  --objects N        the number of objects in A, where A itself is not at hand,\n"
    "  --type TYPE        and what one is: f32, f64, ... or a number of bytes\n"
    "  --warp N           threads that read at once (default: 32)\n"
    "  --segment BYTES    what one transaction moves: 32 on today's GPUs (default), 128 on old "
    "ones\n"
    "  --method METHOD    auto: the fewest transactions (default)\n"
    "                     duplication: each thread gets its own object, in the threads' order\n"
    "                     partial: copies for the warps that gain most, within --budget\n"
    "                     padding: threads sorted by object; few copies, the fewest transactions\n"
    "                     approximation: threads in groups, no copies, within a proven bound\n"
    "  --budget BYTES     memory for copies and gaps (64M; default: no limit)\n"
    "  --keep-threads     the threads stay in their order; only copies are allowed\n"
    "  --threads N        processors that make the plan (default: all)\n"
    "  --write-index F    the new P: the slot that each new thread reads\n"
    "  --write-order F    for each new thread the old one whose work it does\n"
    "  --write-slots F    the new A, from --data\n"
    "  --json             prints JSON\n"
    "\n"
    "Break-even is the number of launches after which the transactions saved repay the "
    "reordering.\n"
    "\n"
    "Example, the vector that a sparse matrix reads in y = M x, with M's column numbers in P:\n"
    "  restride reorder columns.npy --objects 11948 --type f32 --write-index new-columns.npy \\\n"
    "      --write-order order.npy\n";

enum { MOST_THREADS = 256 };

typedef struct {
    const char *index_path;
    const char *data_path;
    const char *write_index;
    const char *write_order;
    const char *write_slots;
    size_t objects;
    size_t object_bytes;
    bool json;
    restride_launch launch;
    restride_irregular_options plan;
} reorder_options;

/* A .npy file in memory. */
typedef struct {
    rs_text text;
    rs_npy npy;
    const unsigned char *values;
} npy_file;

static const char *const method_names[] = {"auto", "duplication", "partial", "padding",
                                           "approximation"};
enum { METHODS = sizeof method_names / sizeof method_names[0] };

/* ---- options ---- */

static bool read_method(const char *text, restride_irregular_method *method)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(text, method_names[i]) == 0) {
            *method = (restride_irregular_method)i;
            return true;
        }
    return false;
}

static bool read_budget(const char *text, size_t *bytes)
{
    return rs_cli_read_bytes(text, bytes) && *bytes > 0;
}

static bool read_processors(const char *text, int *processors)
{
    size_t count;
    if (!rs_cli_read_count(text, &count) || count == 0 || count > MOST_THREADS)
        return false;
    *processors = (int)count;
    return true;
}

static bool take_path(const char *value, const char **path)
{
    *path = value;
    return true;
}

static bool take_option(void *target, int option, const char *value)
{
    reorder_options *options = target;
    switch (option) {
    case 'd':
        return take_path(value, &options->data_path);
    case 'n':
        return rs_cli_read_count(value, &options->objects) && options->objects > 0;
    case 't':
        return rs_cli_read_type(value, &options->object_bytes);
    case 'w':
        return rs_cli_read_count(value, &options->launch.warp) && options->launch.warp > 0;
    case 's':
        return rs_cli_read_bytes(value, &options->launch.segment_bytes) &&
               options->launch.segment_bytes > 0;
    case 'm':
        return read_method(value, &options->plan.method);
    case 'b':
        return read_budget(value, &options->plan.extra_bytes);
    case 'k':
        options->plan.keep_threads = 1;
        return true;
    case 'p':
        return read_processors(value, &options->plan.processors);
    case 'I':
        return take_path(value, &options->write_index);
    case 'O':
        return take_path(value, &options->write_order);
    case 'S':
        return take_path(value, &options->write_slots);
    default:
        options->json = true;
        return true;
    }
}

static int check_options(const reorder_options *options, int arguments)
{
    if (arguments != 1)
        return rs_cli_fail(RS_EXIT_USAGE, "reorder",
                           "Give one index file, not %d; restride reorder --help explains.",
                           arguments);
    bool described = options->objects > 0 && options->object_bytes > 0;
    bool partly = options->objects > 0 || options->object_bytes > 0;
    if ((options->data_path != NULL) == partly || partly != described)
        return rs_cli_fail(RS_EXIT_USAGE, "reorder",
                           "Say what the array is, by --data or by --objects and --type.");
    if (options->write_slots != NULL && options->data_path == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "reorder",
                           "--write-slots needs the array itself: give --data.");
    return RS_EXIT_DONE;
}

static int read_options(int argc, char **argv, reorder_options *options)
{
    static const struct option names[] = {{"data", required_argument, NULL, 'd'},
                                          {"objects", required_argument, NULL, 'n'},
                                          {"type", required_argument, NULL, 't'},
                                          {"warp", required_argument, NULL, 'w'},
                                          {"segment", required_argument, NULL, 's'},
                                          {"method", required_argument, NULL, 'm'},
                                          {"budget", required_argument, NULL, 'b'},
                                          {"keep-threads", no_argument, NULL, 'k'},
                                          {"threads", required_argument, NULL, 'p'},
                                          {"write-index", required_argument, NULL, 'I'},
                                          {"write-order", required_argument, NULL, 'O'},
                                          {"write-slots", required_argument, NULL, 'S'},
                                          {"json", no_argument, NULL, 'j'},
                                          {NULL, 0, NULL, 0}};
    *options = (reorder_options){.launch = {0, 32, 32}};
    int exit_status = rs_cli_read_options("reorder", argc, argv, names, take_option, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    exit_status = check_options(options, argc - optind);
    options->index_path = exit_status == RS_EXIT_DONE ? argv[optind] : NULL;
    return exit_status;
}

/* ---- files ---- */

static void close_npy(npy_file *file)
{
    rs_npy_free(&file->npy);
    rs_text_free(&file->text);
}

static restride_status open_npy(npy_file *file, const char *path)
{
    *file = (npy_file){.text = RS_TEXT_EMPTY};
    restride_status status = rs_text_read_file(&file->text, path);
    if (status == RESTRIDE_OK)
        status = rs_npy_read(&file->npy, path, file->text.data, file->text.size, file->text.size);
    if (status != RESTRIDE_OK) {
        rs_text_free(&file->text);
        return status;
    }
    if (file->npy.fortran_order && file->npy.rank > 1) {
        close_npy(file);
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The array in %s is in Fortran order; save it in C order.", path);
    }
    file->values = (const unsigned char *)file->text.data + file->npy.header_bytes;
    return RESTRIDE_OK;
}

/* The header's quotes are part of the type's text. */
static restride_status check_index(const npy_file *file, const char *path)
{
    static const char *const types[] = {"<u4", "<i4", "<u8", "<i8"};
    size_t length = strlen(file->npy.type);
    for (size_t i = 0; file->npy.rank == 1 && i < sizeof types / sizeof types[0]; i++)
        if (length == strlen(types[i]) + 2 && strncmp(file->npy.type + 1, types[i], 3) == 0)
            return RESTRIDE_OK;
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The array in %s, of type %s, cannot be an index: save one axis of 4- or 8-byte "
                   "integers.",
                   path, file->npy.type);
}

/* One axis of `count` entries, then the axes of `like` from its second on, if there is one. */
static restride_status write_npy(const char *path, const char *type, size_t count,
                                 const rs_npy *like, const void *values, size_t bytes)
{
    enum { PREFIX = 10, ALIGNMENT = 64 };
    rs_text header = RS_TEXT_EMPTY;
    rs_text_format(&header, "{'descr': %s, 'fortran_order': False, 'shape': (%zu,", type, count);
    for (int axis = 1; like != NULL && axis < like->rank; axis++)
        rs_text_format(&header, " %zu,", like->shape[axis]);
    rs_text_add_string(&header, "), }");
    while ((PREFIX + header.size + 1) % ALIGNMENT != 0 && !header.failed)
        rs_text_add_string(&header, " ");
    rs_text_add_string(&header, "\n");
    rs_text file = RS_TEXT_EMPTY;
    const char length[] = {(char)(header.size & 0xff), (char)(header.size >> 8)};
    rs_text_add(&file, "\x93NUMPY\1\0", 8);
    rs_text_add(&file, length, sizeof length);
    rs_text_add(&file, header.data, header.size);
    rs_text_add(&file, values, bytes);
    restride_status status;
    if (header.size > UINT16_MAX)
        status = rs_fail(RESTRIDE_UNSUPPORTED, "The type of the array is too long for %s.", path);
    else if (header.failed || file.failed)
        status = rs_fail_memory("a file's contents");
    else
        status = rs_text_write_file(path, file.data, file.size);
    rs_text_free(&header);
    rs_text_free(&file);
    return status;
}

static restride_status write_index(const restride_irregular *plan, const reorder_options *options,
                                   const npy_file *index)
{
    size_t bytes = options->launch.threads * index->npy.item_bytes;
    void *values = malloc(bytes);
    if (values == NULL)
        return rs_fail_memory("the new index array");
    restride_status status = restride_irregular_index(plan, 0, values);
    if (status == RESTRIDE_OK)
        status = write_npy(options->write_index, index->npy.type, options->launch.threads, NULL,
                           values, bytes);
    free(values);
    return status;
}

static restride_status write_order(const restride_irregular *plan, const reorder_options *options)
{
    size_t bytes = options->launch.threads * sizeof(size_t);
    size_t *order = malloc(bytes);
    if (order == NULL)
        return rs_fail_memory("the order of threads");
    restride_irregular_order(plan, order);
    restride_status status =
        write_npy(options->write_order, "'<u8'", options->launch.threads, NULL, order, bytes);
    free(order);
    return status;
}

static restride_status write_slots(const restride_irregular *plan, const reorder_options *options,
                                   const npy_file *data)
{
    size_t count = restride_irregular_slots(plan, 0);
    void *slots = malloc(count * options->object_bytes);
    if (slots == NULL)
        return rs_fail_memory("the new array");
    restride_irregular_gather(plan, 0, data->values, slots);
    restride_status status = write_npy(options->write_slots, data->npy.type, count, &data->npy,
                                       slots, count * options->object_bytes);
    free(slots);
    return status;
}

/* ---- report ---- */

static int print_json(const restride_irregular *plan, const restride_irregular_facts *facts)
{
    json_t *report = json_pack("{s:s, s:b, s:{s:I, s:I, s:I, s:I}, s:I, s:I}", "method",
                               method_names[restride_irregular_plan_method(plan)], "moves_threads",
                               restride_irregular_moves_threads(plan), "transactions", "before",
                               (json_int_t)facts->transactions_before, "after",
                               (json_int_t)facts->transactions_after, "bound",
                               (json_int_t)facts->transactions_bound, "best",
                               (json_int_t)facts->transactions_best, "slots",
                               (json_int_t)restride_irregular_slots(plan, 0), "extra_bytes",
                               (json_int_t)facts->extra_bytes);
    if (report != NULL)
        json_object_set_new(report, "break_even_launches",
                            facts->break_even == SIZE_MAX
                                ? json_null()
                                : json_integer((json_int_t)facts->break_even));
    char *text = rs_json_text(report);
    json_decref(report);
    int written = text == NULL ? -1 : puts(text);
    free(text);
    return written < 0 ? rs_cli_fail(RS_EXIT_FAILED, "reorder", "The JSON could not be written.")
                       : RS_EXIT_DONE;
}

static int print_text(const restride_irregular *plan, const restride_irregular_facts *facts)
{
    printf("method        %s, threads %s\n", method_names[restride_irregular_plan_method(plan)],
           restride_irregular_moves_threads(plan) ? "in a new order" : "as they are");
    printf("transactions  %zu before, %zu after (%.2f times fewer)\n", facts->transactions_before,
           facts->transactions_after,
           (double)facts->transactions_before / (double)facts->transactions_after);
    printf("limits        %zu at best, %zu by the method's bound\n", facts->transactions_best,
           facts->transactions_bound);
    printf("memory        %zu slots, %zu bytes more than the array\n",
           restride_irregular_slots(plan, 0), facts->extra_bytes);
    if (facts->break_even == SIZE_MAX)
        puts("break-even    never: no transaction is saved");
    else
        printf("break-even    after %zu launches\n", facts->break_even);
    return RS_EXIT_DONE;
}

/* ---- work ---- */

/* What --data says of the objects. */
static void describe_objects(reorder_options *options, const npy_file *data)
{
    options->objects = data->npy.rank > 0 ? data->npy.shape[0] : 1;
    options->object_bytes = data->npy.data_bytes / options->objects;
}

static restride_status make_plan(restride_irregular **plan, reorder_options *options,
                                 const npy_file *index)
{
    options->launch.threads = index->npy.shape[0];
    const restride_reference reference = {index->values, index->npy.item_bytes, options->objects,
                                          options->object_bytes};
    return restride_irregular_plan(plan, &options->launch, &reference, 1, &options->plan);
}

static restride_status write_files(const restride_irregular *plan, const reorder_options *options,
                                   const npy_file *index, const npy_file *data)
{
    restride_status status = RESTRIDE_OK;
    if (options->write_index != NULL)
        status = write_index(plan, options, index);
    if (status == RESTRIDE_OK && options->write_order != NULL)
        status = write_order(plan, options);
    if (status == RESTRIDE_OK && options->write_slots != NULL)
        status = write_slots(plan, options, data);
    return status;
}

static int reorder(reorder_options *options, const npy_file *index, const npy_file *data)
{
    restride_irregular *plan;
    if (check_index(index, options->index_path) != RESTRIDE_OK ||
        make_plan(&plan, options, index) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "reorder");
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    int exit_status;
    if (write_files(plan, options, index, data) != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "reorder");
    else
        exit_status = options->json ? print_json(plan, &facts) : print_text(plan, &facts);
    restride_irregular_destroy(plan);
    return exit_status;
}

int rs_verb_reorder(int argc, char **argv)
{
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    reorder_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    npy_file index;
    npy_file data = {.text = RS_TEXT_EMPTY};
    if (open_npy(&index, options.index_path) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "reorder");
    if (options.data_path != NULL && open_npy(&data, options.data_path) != RESTRIDE_OK) {
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "reorder");
    } else {
        if (options.data_path != NULL)
            describe_objects(&options, &data);
        exit_status = reorder(&options, &index, &data);
        if (options.data_path != NULL)
            close_npy(&data);
    }
    close_npy(&index);
    return exit_status;
}
