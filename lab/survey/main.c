/*
 * restride-survey FOLDER [--jobs N] [--toolkit FOLDER] [--each] [--judge] [--rewrite FOLDER]
 * [-- OPTION...]: how far the front end reaches, and companions (companions.h).
 *
 * Reads every .cu and .cl file below a folder that holds a kernel, each in a process of its own, so
 * that a crash of the parser and a source without end cost one file. Counts the files without
 * errors, kernels, and their arguments that are arrays of structures: of 8 bytes and more, and no
 * built-in vectors. {} in an option stands for the file's folder. -I and -D of a Makefile there, or
 * in a folder around it, are followed. A file with errors that another one of its folder includes
 * counts as read where that one has none. Seconds are those of the processor.
 *
 * It is a program of its own, since nothing that may load an OpenCL driver is linked with libclang.
 */
#include "base/text.h"
#include "companions.h"
#include "facts/judged.h"
#include "judge/judge.h"
#include "syntax/tree.h"

#include <dirent.h>
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
    bool is_read;     /* to its end */
    bool is_included; /* read through another file */
    char first[120];  /* problem */
} answer;

typedef struct {
    char *at[OPTION_LIMIT];
    size_t count;
} words;

static char **files;
static size_t file_count, file_capacity;
static bool judges;            /* --judge */
static const char *companions; /* the folder of --rewrite */

static bool has_kernel(const char *path, int depth);

/* Whether a header that a source includes by a name in quotes has one. */
static bool includes_kernel(const char *path, const char *text, int depth)
{
    static const char word[] = "#include \"";
    const char *slash = strrchr(path, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - path) + 1;
    for (const char *at = text; (at = strstr(at, word)) != NULL;) {
        char header[4096];
        at += sizeof word - 1;
        const int length = (int)strcspn(at, "\"\n");
        if (snprintf(header, sizeof header, "%.*s%.*s", folder, path, length, at) <
                (int)sizeof header &&
            has_kernel(header, depth + 1))
            return true;
    }
    return false;
}

static bool has_kernel(const char *path, int depth)
{
    enum { DEEPEST = 4 };
    rs_text text = RS_TEXT_EMPTY;
    if (depth > DEEPEST || rs_text_read_file(&text, path) != RESTRIDE_OK)
        return false;
    rs_text_add(&text, "", 1);
    const bool has =
        strstr(text.data, "__global__") != NULL || strstr(text.data, "__kernel") != NULL ||
        strstr(text.data, "kernel void") != NULL || includes_kernel(path, text.data, depth);
    rs_text_free(&text);
    return has;
}

static bool is_opencl(const char *path)
{
    const size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".cl") == 0;
}

static int take_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)place;
    const size_t length = strlen(path);
    if (kind != FTW_F || length < 3 ||
        (strcmp(path + length - 3, ".cu") != 0 && strcmp(path + length - 3, ".cl") != 0) ||
        !has_kernel(path, 0))
        return 0;
    if (file_count == file_capacity) {
        file_capacity = 2 * file_capacity + 64;
        files = realloc(files, file_capacity * sizeof *files);
    }
    files[file_count++] = strdup(path);
    return 0;
}

/* --- one file --- */

/* What the judge of layouts says of each argument of a kernel, for an H200. */
static void print_judgement(rs_syntax *tree, const rs_syntax_declaration *kernel, const char *path)
{
    rs_fact_accesses facts;
    rs_judge_device device;
    rs_judge_kernel asked;
    rs_judgement found[RS_JUDGE_MOST_ARGUMENTS];
    double gain = 1;
    if (rs_fact_accesses_read(&facts, tree, kernel) != RESTRIDE_OK)
        return;
    if (rs_fact_judged(&asked, &facts) == RESTRIDE_OK && asked.argument_count > 0 &&
        rs_judge_read_device(&device, "h200") == RESTRIDE_OK &&
        rs_judge(&asked, &device, found, &gain) == RESTRIDE_OK)
        for (int i = 0; i < asked.argument_count; i++) {
            const rs_judge_argument *one = &asked.arguments[i];
            if (one->is_fixed || one->continues)
                continue;
            rs_text text = RS_TEXT_EMPTY;
            const int touched = rs_judge_touched(&asked, i);
            rs_judge_layout_print(&text, &found[i].layout);
            printf("%s\t%s\t%s\t%d of %d bytes\t%s (%d)\t%s\t%.2f\t%s\n", path, asked.name,
                   one->name, touched, one->element, rs_judge_lanes_text(one->lanes), one->group,
                   text.data, found[i].gain, found[i].reason);
            rs_text_free(&text);
        }
    rs_fact_accesses_free(&facts);
}

/* Whether a kernel is counted with a file: not those of another source that it includes. */
static bool is_of(const rs_syntax *tree, const rs_syntax_declaration *kernel, const char *path)
{
    if (kernel->range.file >= tree->file_count)
        return false;
    const char *own = tree->files[kernel->range.file].path, *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const size_t length = strlen(own), size = strlen(name);
    return (length >= size && strcmp(own + length - size, name) == 0) || length < 3 ||
           strcmp(own + length - 3, ".cu") != 0;
}

/* Instances of one template are one kernel. */
static bool is_same(const rs_syntax_declaration *a, const rs_syntax_declaration *b)
{
    return a->is_kernel && a->kind == RS_DECLARATION_FUNCTION &&
           a->name_range.file == b->name_range.file && a->name_range.begin == b->name_range.begin;
}

static bool is_first(const rs_syntax *tree, size_t which)
{
    for (size_t i = 0; i < which; i++)
        if (is_same(tree->declarations[i], tree->declarations[which]))
            return false;
    return true;
}

/* Whether a parameter is an array of structures, in one instance at least. */
static bool is_argument(const rs_syntax *tree, const rs_syntax_declaration *of, size_t which)
{
    for (size_t i = 0; i < tree->declaration_count; i++) {
        const rs_syntax_declaration *one = tree->declarations[i];
        if (is_same(one, of) && which < one->parameter_count &&
            rs_fact_is_array_of_structures(one->parameters[which]))
            return true;
    }
    return false;
}

static bool count_node(void *context, const rs_syntax_node *node)
{
    answer *reply = context;
    reply->nodes++;
    reply->unknown += node->kind == RS_NODE_UNKNOWN;
    return true;
}

static void count_tree(answer *reply, rs_syntax *tree, const char *path)
{
    reply->errors = tree->error_count;
    for (size_t i = 0; i < tree->problem_count && reply->first[0] == '\0'; i++)
        if (tree->problems[i].is_error)
            snprintf(reply->first, sizeof reply->first, "%zu: %s", tree->problems[i].line,
                     tree->problems[i].message);
    for (size_t i = 0; i < tree->declaration_count; i++) {
        const rs_syntax_declaration *of = tree->declarations[i];
        if (of->is_kernel && !is_of(tree, of, path))
            continue;
        rs_syntax_walk(of->body, count_node, reply);
        reply->templates += of->is_kernel && of->kind == RS_DECLARATION_TEMPLATE;
        if (!of->is_kernel || of->kind != RS_DECLARATION_FUNCTION)
            continue;
        if (judges)
            print_judgement(tree, of, path);
        if (!is_first(tree, i))
            continue;
        reply->kernels++;
        for (size_t k = 0; k < of->parameter_count; k++)
            reply->arguments += is_argument(tree, of, k);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
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

/* Makes a path of a folder and a name in it. */
static char *join(const char *folder, const char *name)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%s/%s", folder, name);
    return rs_text_take(&text);
}

/* -I and -D, as they stand in a Makefile; those with variables of its own are left out. */
static void take_options(words *options, const char *folder, char *text)
{
    for (char *word = strtok(text, " \t\n\\"); word != NULL; word = strtok(NULL, " \t\n\\")) {
        if (strchr(word, '$') != NULL || word[0] != '-' || word[1] == '\0' || word[2] == '\0' ||
            options->count == OPTION_LIMIT)
            continue;
        if (word[1] == 'D')
            options->at[options->count++] = strdup(word);
        if (word[1] == 'I') {
            char *path = word[2] == '/' ? strdup(word + 2) : join(folder, word + 2);
            rs_text option = RS_TEXT_EMPTY;
            rs_text_format(&option, "-I%s", path);
            options->at[options->count++] = rs_text_take(&option);
            free(path);
        }
    }
}

/* Of the nearest Makefile, three folders up at most. */
static void follow_makefile(words *options, const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (int i = 0; i < 4; i++) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            return;
        *slash = '\0';
        char *makefile = join(folder, "Makefile");
        rs_text text = RS_TEXT_EMPTY;
        const bool is_found =
            access(makefile, R_OK) == 0 && rs_text_read_file(&text, makefile) == RESTRIDE_OK;
        free(makefile);
        if (!is_found)
            continue;
        rs_text_add(&text, "", 1);
        take_options(options, folder, text.data);
        rs_text_free(&text);
        return;
    }
}

/* Counts the kernels of `of` in what `path` is read as. */
static void read_file(answer *reply, const char *of, const char *path, const char *toolkit,
                      const words *given)
{
    words options = {0};
    rs_invocation invocation;
    rs_syntax *tree = NULL;
    for (size_t i = 0; i < given->count; i++)
        options.at[options.count++] = fill_option(given->at[i], path);
    follow_makefile(&options, path);
    const double begin = now();
    const rs_invocation_request request = {.path = path,
                                           .options = (const char *const *)options.at,
                                           .option_count = options.count,
                                           .language =
                                               is_opencl(path) ? RS_SYNTAX_OPENCL : RS_SYNTAX_CUDA,
                                           .toolkit = toolkit};
    if (rs_invocation_make(&invocation, &request) != RESTRIDE_OK ||
        rs_syntax_read(&tree, &invocation) != RESTRIDE_OK) {
        snprintf(reply->first, sizeof reply->first, "%s", restride_last_error());
        return;
    }
    count_tree(reply, tree, of);
    if (companions != NULL && reply->arguments > 0 && !is_opencl(path))
        rs_survey_companion(tree, &request, of, companions, is_of);
    reply->seconds = now() - begin;
    reply->is_read = true;
}

/* Whether a source has an #include of a file of this name. */
static bool includes(const char *path, const char *name)
{
    rs_text text = RS_TEXT_EMPTY;
    bool has = false;
    if (rs_text_read_file(&text, path) != RESTRIDE_OK)
        return false;
    rs_text_add(&text, "", 1);
    for (const char *at = text.data; !has && (at = strstr(at, "#include")) != NULL; at++) {
        const char *end = strchr(at, '\n'), *found = strstr(at, name);
        has = found != NULL && end != NULL && found < end &&
              (found[-1] == '"' || found[-1] == '/') && found[strlen(name)] == '"';
    }
    rs_text_free(&text);
    return has;
}

/* A file that makes no whole source alone, through the one that includes it. */
static void read_includer(answer *reply, const char *path, const char *toolkit,
                          const words *options)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    char folder[4096];
    for (int up = 0; up < 2 && reply->errors > 0; up++) {
        const char *cut = strrchr(path, '/');
        for (int i = 0; i < up && cut != NULL && cut > path; i++)
            do
                cut--;
            while (cut > path && *cut != '/');
        snprintf(folder, sizeof folder, "%.*s", cut == NULL ? 1 : (int)(cut - path),
                 cut == NULL ? "." : path);
        DIR *entries = opendir(folder);
        for (struct dirent *one;
             entries != NULL && reply->errors > 0 && (one = readdir(entries)) != NULL;) {
            char *other = join(folder, one->d_name);
            const char *dot = strrchr(other, '.');
            answer whole = {.file = reply->file};
            if (dot != NULL &&
                (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cpp") == 0 || strcmp(dot, ".c") == 0 ||
                 strcmp(dot, ".cc") == 0) &&
                strcmp(other, path) != 0 && includes(other, name))
                read_file(&whole, path, other, toolkit, options);
            if (whole.is_read && whole.errors == 0) {
                whole.is_included = true;
                *reply = whole;
            }
            free(other);
        }
        if (entries != NULL)
            closedir(entries);
    }
}

/* --- all files --- */

/* Every jobs-th file; an answer is written at once, being shorter than a pipe's unit. */
static void serve(int output, size_t first, size_t jobs, const char *toolkit, const words *options)
{
    for (size_t i = first; i < file_count; i += jobs) {
        answer reply = {.file = i};
        const pid_t child = fork();
        if (child == 0) {
            alarm(SECONDS);
            read_file(&reply, files[i], files[i], toolkit, options);
            if (reply.errors > 0)
                read_includer(&reply, files[i], toolkit, options);
            fflush(stdout);
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
    size_t whole = 0, included = 0, holders = 0;
    double *seconds = calloc(count + 1, sizeof *seconds);
    for (size_t i = 0; i < count; i++) {
        whole += replies[i].is_read && replies[i].errors == 0;
        included += replies[i].is_included;
        sum.kernels += replies[i].kernels;
        sum.templates += replies[i].templates;
        sum.arguments += replies[i].arguments;
        sum.nodes += replies[i].nodes;
        sum.unknown += replies[i].unknown;
        holders += replies[i].arguments > 0;
        if (seconds != NULL)
            seconds[i] = replies[i].seconds;
    }
    printf("%zu files with a kernel, %zu read without errors, %zu of them through another file\n",
           count, whole, included);
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
        else if (strcmp(argv[at], "--judge") == 0)
            judges = true;
        else if (strcmp(argv[at], "--rewrite") == 0 && at + 1 < argc)
            companions = argv[++at];
        else if (nftw(argv[at], take_file, 16, FTW_PHYS) != 0)
            perror(argv[at]);
    }
    words options = {0};
    while (++at < argc && options.count < OPTION_LIMIT / 2)
        options.at[options.count++] = argv[at];
    int ends[2];
    if (jobs == 0 || jobs > 64 || file_count == 0 || pipe(ends) != 0) {
        fprintf(stderr, "usage: restride-survey FOLDER... [--jobs N] [--toolkit FOLDER] [--each] "
                        "[--judge] [--rewrite FOLDER] [-- OPTION...]\n");
        return 2;
    }
    for (size_t i = 0; i < jobs; i++)
        if (fork() == 0) {
            serve(ends[1], i, jobs, toolkit, &options);
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
