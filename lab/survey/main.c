/*
 * restride-survey FOLDER [--jobs N] [--toolkit FOLDER] [--each] [-- OPTION...]: how far the front
 * end reaches.
 *
 * Reads every .cu and .cl file below a folder that holds a kernel, each in a process of its own, so
 * that a crash of the parser and a source without end cost one file. Counts the files without
 * errors, kernels, and their arguments that are arrays of structures: of 8 bytes and more, and no
 * built-in vectors. {} in an option stands for the file's folder.
 *
 * It is a program of its own, since nothing that may load an OpenCL driver is linked with libclang.
 */
#include "base/text.h"
#include "syntax/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 60, OPTION_LIMIT = 64 };

typedef struct {
    size_t file; /* its index */
    double seconds;
    size_t errors, kernels, templates, arguments, nodes, unknown;
    bool is_read;    /* to its end */
    char first[120]; /* problem */
} answer;

static char **files;
static size_t file_count, file_capacity;

static bool has_kernel(const char *path)
{
    rs_text text = RS_TEXT_EMPTY;
    if (rs_text_read_file(&text, path) != RESTRIDE_OK)
        return false;
    rs_text_add(&text, "", 1);
    const bool has = strstr(text.data, "__global__") != NULL ||
                     strstr(text.data, "__kernel") != NULL ||
                     strstr(text.data, "kernel void") != NULL;
    rs_text_free(&text);
    return has;
}

static int take_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)place;
    const size_t length = strlen(path);
    if (kind != FTW_F || length < 3 ||
        (strcmp(path + length - 3, ".cu") != 0 && strcmp(path + length - 3, ".cl") != 0) ||
        !has_kernel(path))
        return 0;
    if (file_count == file_capacity) {
        file_capacity = 2 * file_capacity + 64;
        files = realloc(files, file_capacity * sizeof *files);
    }
    files[file_count++] = strdup(path);
    return 0;
}

/* --- one file --- */

static bool is_vector(const rs_syntax_type *type)
{
    static const char *const words[] = {"char",     "uchar",     "short", "ushort",
                                        "int",      "uint",      "long",  "ulong",
                                        "longlong", "ulonglong", "float", "double"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t length = strlen(words[i]);
        const char *name = type->plain->name;
        if (strncmp(name, words[i], length) == 0 && strchr("1234", name[length]) != NULL &&
            name[length] != '\0' && (name[length + 1] == '\0' || name[length + 1] == '_'))
            return true;
    }
    return false;
}

static bool is_array_of_structures(const rs_syntax_type *type)
{
    return type != NULL && type->kind == RS_TYPE_POINTER && type->of != NULL &&
           type->of->kind == RS_TYPE_RECORD && type->of->size >= 8 && !is_vector(type->of);
}

/* Instances of one template are one kernel: the argument counts once. */
static bool is_first(const rs_syntax *tree, size_t which)
{
    const rs_syntax_declaration *of = tree->declarations[which];
    for (size_t i = 0; i < which; i++)
        if (tree->declarations[i]->is_kernel &&
            tree->declarations[i]->kind == RS_DECLARATION_FUNCTION &&
            tree->declarations[i]->name_range.file == of->name_range.file &&
            tree->declarations[i]->name_range.begin == of->name_range.begin)
            return false;
    return true;
}

static bool count_node(void *context, const rs_syntax_node *node)
{
    answer *reply = context;
    reply->nodes++;
    reply->unknown += node->kind == RS_NODE_UNKNOWN;
    return true;
}

static void count_tree(answer *reply, const rs_syntax *tree)
{
    reply->errors = tree->error_count;
    for (size_t i = 0; i < tree->problem_count && reply->first[0] == '\0'; i++)
        if (tree->problems[i].is_error)
            snprintf(reply->first, sizeof reply->first, "%zu: %s", tree->problems[i].line,
                     tree->problems[i].message);
    for (size_t i = 0; i < tree->declaration_count; i++) {
        const rs_syntax_declaration *of = tree->declarations[i];
        rs_syntax_walk(of->body, count_node, reply);
        reply->templates += of->is_kernel && of->kind == RS_DECLARATION_TEMPLATE;
        if (!of->is_kernel || of->kind != RS_DECLARATION_FUNCTION || !is_first(tree, i))
            continue;
        reply->kernels++;
        for (size_t k = 0; k < of->parameter_count; k++)
            reply->arguments += is_array_of_structures(of->parameters[k]->type);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* {} as the folder of the file. */
static char *fill_option(const char *option, const char *path)
{
    rs_text text = RS_TEXT_EMPTY;
    const char *braces = strstr(option, "{}"), *slash = strrchr(path, '/');
    if (braces == NULL)
        return strdup(option);
    rs_text_add(&text, option, (size_t)(braces - option));
    rs_text_add(&text, path, slash == NULL ? 0 : (size_t)(slash - path));
    rs_text_add_string(&text, braces + 2);
    return rs_text_take(&text);
}

static void read_file(answer *reply, const char *path, const char *toolkit, char **options,
                      size_t option_count)
{
    const char *filled[OPTION_LIMIT];
    rs_invocation invocation;
    rs_syntax *tree = NULL;
    for (size_t i = 0; i < option_count; i++)
        filled[i] = fill_option(options[i], path);
    const double begin = now();
    const rs_invocation_request request = {
        .path = path, .options = filled, .option_count = option_count, .toolkit = toolkit};
    if (rs_invocation_make(&invocation, &request) != RESTRIDE_OK ||
        rs_syntax_read(&tree, &invocation) != RESTRIDE_OK) {
        snprintf(reply->first, sizeof reply->first, "%s", restride_last_error());
        return;
    }
    count_tree(reply, tree);
    reply->seconds = now() - begin;
    reply->is_read = true;
}

/* --- all files --- */

/* Every jobs-th file; an answer is written at once, being shorter than a pipe's unit. */
static void serve(int output, size_t first, size_t jobs, const char *toolkit, char **options,
                  size_t option_count)
{
    for (size_t i = first; i < file_count; i += jobs) {
        answer reply = {.file = i};
        const pid_t child = fork();
        if (child == 0) {
            alarm(SECONDS);
            read_file(&reply, files[i], toolkit, options, option_count);
            _exit(write(output, &reply, sizeof reply) == (ssize_t)sizeof reply ? 0 : 1);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
            snprintf(reply.first, sizeof reply.first, "the parser ended with status %d", status);
            if (write(output, &reply, sizeof reply) != (ssize_t)sizeof reply)
                return;
        }
    }
}

static int compare_seconds(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print_sum(const answer *replies, size_t count)
{
    answer sum = {0};
    size_t whole = 0, holders = 0;
    double *seconds = calloc(count + 1, sizeof *seconds);
    for (size_t i = 0; i < count; i++) {
        whole += replies[i].is_read && replies[i].errors == 0;
        sum.kernels += replies[i].kernels;
        sum.templates += replies[i].templates;
        sum.arguments += replies[i].arguments;
        sum.nodes += replies[i].nodes;
        sum.unknown += replies[i].unknown;
        holders += replies[i].arguments > 0;
        if (seconds != NULL)
            seconds[i] = replies[i].seconds;
    }
    printf("%zu files with a kernel, %zu read without errors\n", count, whole);
    printf("%zu kernels, %zu templates of kernels, %zu arguments that are arrays of structures, in "
           "%zu files\n",
           sum.kernels, sum.templates, sum.arguments, holders);
    printf("%zu nodes, %zu unknown\n", sum.nodes, sum.unknown);
    if (seconds != NULL && count > 0) {
        qsort(seconds, count, sizeof *seconds, compare_seconds);
        printf("seconds a file: median %.2f, 95 %% below %.2f, at most %.2f\n", seconds[count / 2],
               seconds[count * 95 / 100], seconds[count - 1]);
    }
    free(seconds);
}

static size_t gather(int input, answer *replies, bool each)
{
    size_t count = 0;
    while (count < file_count &&
           read(input, &replies[count], sizeof *replies) == (ssize_t)sizeof *replies) {
        const answer *one = &replies[count++];
        if (each)
            printf("%s\t%.3f\t%zu\t%zu\t%zu\t%zu\t%zu\t%s\n", files[one->file], one->seconds,
                   one->errors, one->kernels, one->arguments, one->nodes, one->unknown, one->first);
    }
    return count;
}

int main(int argc, char **argv)
{
    size_t jobs = 1;
    const char *toolkit = NULL;
    bool each = false;
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "--jobs") == 0 && at + 1 < argc)
            jobs = strtoul(argv[++at], NULL, 10);
        else if (strcmp(argv[at], "--toolkit") == 0 && at + 1 < argc)
            toolkit = argv[++at];
        else if (strcmp(argv[at], "--each") == 0)
            each = true;
        else if (nftw(argv[at], take_file, 16, FTW_PHYS) != 0)
            perror(argv[at]);
    }
    char **options = at < argc ? argv + at + 1 : argv + at;
    const size_t option_count = (size_t)(argv + argc - options);
    int ends[2];
    if (jobs == 0 || jobs > 64 || file_count == 0 || option_count > OPTION_LIMIT ||
        pipe(ends) != 0) {
        fprintf(stderr, "usage: restride-survey FOLDER... [--jobs N] [--toolkit FOLDER] [--each] "
                        "[-- OPTION...]\n");
        return 2;
    }
    for (size_t i = 0; i < jobs; i++)
        if (fork() == 0) {
            serve(ends[1], i, jobs, toolkit, options, option_count);
            _exit(0);
        }
    close(ends[1]);
    answer *replies = calloc(file_count, sizeof *replies);
    if (replies != NULL)
        print_sum(replies, gather(ends[0], replies, each));
    while (wait(NULL) > 0) {
    }
    free(replies);
    return 0;
}
