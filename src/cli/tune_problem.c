/* See tune_problem.h. */
#include "cli/tune_problem.h"
#include "console/fail.h"
#include "console/options.h"
#include "layout/layout.h"

#include <stdio.h>
#include <string.h>

enum { MOST_RANK = 10 };

/* Copies what comes before the next comma; *list moves behind it, and is NULL at the end. */
static bool next_word(const char **list, char *word, size_t size)
{
    size_t length = strcspn(*list, ",");
    if (length >= size)
        return false;
    memcpy(word, *list, length);
    word[length] = '\0';
    *list = (*list)[length] == '\0' ? NULL : *list + length + 1;
    return true;
}

static bool read_sides(const char *text, rs_tune_problem *problem)
{
    if (!rs_cli_read_list(text, 'x', MOST_RANK, problem->sides, &problem->rank))
        return false;
    for (int i = 0; i < problem->rank; i++)
        if (problem->sides[i] == 0)
            return false;
    return true;
}

/* ---- the three kinds ---- */

static bool read_shape(rs_tune_problem *problem, const char *word)
{
    bool fine = read_sides(word, problem) && problem->rank == 2;
    snprintf(problem->name, sizeof problem->name, "%zu x %zu", problem->sides[0],
             problem->sides[1]);
    return fine;
}

static bool read_axes(rs_tune_problem *problem, const char *word)
{
    snprintf(problem->name, sizeof problem->name, "%s to %s", problem->words->dims, word);
    problem->permuted = true;
    return read_sides(problem->words->dims, problem) &&
           rs_cli_read_axes(&word, problem->rank, problem->axes) && *word == '\0';
}

typedef struct {
    const char *option;
    const char *list;
    bool (*read)(rs_tune_problem *problem, const char *word);
} problem_list;

static int read_list(const rs_tune_words *words, const problem_list *list,
                     rs_tune_problem problems[], size_t *count)
{
    char word[64];
    for (const char *rest = list->list; rest != NULL;) {
        bool fine = *count < RS_TUNE_MOST_PROBLEMS && next_word(&rest, word, sizeof word);
        if (fine) {
            problems[*count] = (rs_tune_problem){.words = words};
            fine = list->read(&problems[*count], word);
            ++*count;
        }
        if (!fine)
            return rs_cli_fail(RS_EXIT_USAGE, "tune",
                               "--%s cannot be \"%s\"; see restride tune --help.", list->option,
                               list->list);
    }
    return RS_EXIT_DONE;
}

/* Whether the dimension list says how large the elements or members are. */
static bool dims_say_type(const rs_tune_problem *p)
{
    return p->from->record >= 0 || p->from->unit != 0;
}

static int read_conversion(const rs_tune_words *words, rs_tune_problem problems[], size_t *count)
{
    rs_tune_problem *p = &problems[(*count)++];
    *p = (rs_tune_problem){.words = words};
    snprintf(p->name, sizeof p->name, "%s: %s to %s", words->dims, words->from, words->to);
    if (restride_layout_parse(&p->from, words->dims, words->from) != RESTRIDE_OK ||
        restride_layout_parse(&p->to, words->dims, words->to) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_USAGE, "tune");
    if (dims_say_type(p) && words->type.name != NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "tune",
                           "The dimensions say how large the elements or members are; leave out "
                           "--type.");
    return RS_EXIT_DONE;
}

static int check_words(const rs_tune_words *words)
{
    bool layouts = words->from != NULL || words->to != NULL;
    if (layouts && (words->from == NULL || words->to == NULL || words->dims == NULL))
        return rs_cli_fail(RS_EXIT_USAGE, "tune",
                           "A conversion needs --dims, --from and --to, as restride convert takes "
                           "them.");
    if ((layouts || words->shapes != NULL) && words->axes != NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "tune",
                           "One of --shape, --axes, and --from with --to at a time.");
    if (layouts ? words->shapes != NULL : words->axes == NULL && words->dims != NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "tune",
                           "--dims is for --axes, or for --from and --to, and takes no --shape.");
    if (words->axes != NULL && words->dims == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "tune",
                           "Which sizes? For example --dims 64x56x56x64 --axes %s.", words->axes);
    if (words->batch != 1 && words->shapes == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "tune", "--batch is for --shape.");
    return RS_EXIT_DONE;
}

int rs_tune_problems_read(const rs_tune_words *words, rs_tune_problem problems[], size_t *count)
{
    *count = 0;
    int status = check_words(words);
    if (status != RS_EXIT_DONE)
        return status;
    const problem_list shapes = {"shape", words->shapes, read_shape};
    const problem_list axes = {"axes", words->axes, read_axes};
    if (words->shapes != NULL)
        return read_list(words, &shapes, problems, count);
    if (words->axes != NULL)
        return read_list(words, &axes, problems, count);
    return words->from != NULL ? read_conversion(words, problems, count) : RS_EXIT_DONE;
}

void rs_tune_problems_free(rs_tune_problem problems[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        restride_layout_destroy(problems[i].from);
        restride_layout_destroy(problems[i].to);
    }
}

/* ---- measuring ---- */

restride_status rs_tune_problem_measure(const rs_tune_problem *problem, restride_engine *engine,
                                        const restride_tune_options *options,
                                        restride_tuning *tuning)
{
    const rs_tune_words *words = problem->words;
    if (problem->from != NULL)
        return restride_tune_convert(engine, problem->from, problem->to,
                                     dims_say_type(problem) ? 0 : words->type.bytes, options,
                                     tuning);
    if (problem->permuted)
        return restride_tune_permute(engine, problem->rank, problem->sides, problem->axes,
                                     words->type.bytes, options, tuning);
    return restride_tune_transpose(engine, problem->sides[0], problem->sides[1], words->type.bytes,
                                   words->batch, options, tuning);
}

static json_t *numbers_json(const rs_tune_problem *problem, bool axes)
{
    json_t *array = json_array();
    for (int i = 0; i < problem->rank; i++)
        json_array_append_new(array, json_integer(axes ? (json_int_t)problem->axes[i]
                                                       : (json_int_t)problem->sides[i]));
    return array;
}

json_t *rs_tune_problem_describe(const rs_tune_problem *problem)
{
    const rs_tune_words *words = problem->words;
    const char *type = words->type.name != NULL ? words->type.name : "f32";
    if (problem->from != NULL)
        return json_pack("{s:s, s:s, s:s, s:s*}", "dims", words->dims, "from", words->from, "to",
                         words->to, "type", dims_say_type(problem) ? NULL : type);
    if (problem->permuted)
        return json_pack("{s:o, s:o, s:s}", "dims", numbers_json(problem, false), "axes",
                         numbers_json(problem, true), "type", type);
    return json_pack("{s:I, s:I, s:s, s:I}", "rows", (json_int_t)problem->sides[0], "cols",
                     (json_int_t)problem->sides[1], "type", type, "batch",
                     (json_int_t)words->batch);
}
