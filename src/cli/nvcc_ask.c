/* See nvcc.h: what nvcc says that it would do. */
#include "base/child.h"
#include "base/list.h"
#include "cli/nvcc.h"

#include <stdlib.h>
#include <string.h>

void rs_words_add(rs_words *words, const char *word)
{
    if (words->failed)
        return;
    /* NULL is behind them */
    words->failed =
        !RS_LIST_GROW(words->at, words->count) || !RS_LIST_GROW(words->at, words->count + 1);
    if (words->failed)
        return;
    words->at[words->count] = strdup(word);
    words->failed = words->at[words->count] == NULL;
    words->count += !words->failed;
    words->at[words->count] = NULL;
}

void rs_words_free(rs_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
    *words = (rs_words){NULL, 0, false};
}

static bool has(const rs_words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->at[i], word) == 0)
            return true;
    return false;
}

/* Splits a line as a shell does that expands nothing. */
static void split(rs_words *words, const char *line, size_t length)
{
    for (size_t at = 0; at < length;) {
        rs_text word = RS_TEXT_EMPTY;
        char quote = '\0';
        at += strspn(line + at, " \t\r\n");
        if (at >= length)
            break;
        rs_text_add(&word, "", 0);
        for (; at < length && (quote != '\0' || strchr(" \t\r\n", line[at]) == NULL); at++) {
            if (line[at] == '\\' && quote != '\'' && at + 1 < length)
                rs_text_add(&word, &line[++at], 1);
            else if (line[at] == quote)
                quote = '\0';
            else if (quote == '\0' && (line[at] == '"' || line[at] == '\''))
                quote = line[at];
            else
                rs_text_add(&word, &line[at], 1);
        }
        words->failed |= word.failed;
        if (!word.failed)
            rs_words_add(words, word.size > 0 ? word.data : "");
        rs_text_free(&word);
    }
}

/* --- files of options --- */

enum { MOST_DEPTH = 8 };

static bool spread(rs_nvcc *call, char *const words[], size_t count, int depth);

static bool spread_file(rs_nvcc *call, const char *names, int depth)
{
    bool is_read = depth < MOST_DEPTH;
    call->is_spread = true;
    while (*names != '\0' && is_read) {
        const size_t length = strcspn(names, ",");
        char *name = strndup(names, length);
        rs_text text = RS_TEXT_EMPTY;
        rs_words words = {NULL, 0, false};
        is_read = name != NULL && rs_text_read_file(&text, name) == RESTRIDE_OK;
        if (is_read && text.size > 0)
            split(&words, text.data, text.size);
        is_read = is_read && !words.failed && spread(call, words.at, words.count, depth + 1);
        rs_words_free(&words);
        rs_text_free(&text);
        free(name);
        names += length + (names[length] == ',');
    }
    return is_read;
}

/* Adds words, those of files of options in their place. */
static bool spread(rs_nvcc *call, char *const words[], size_t count, int depth)
{
    static const char *const options[] = {"--options-file", "-optf"};
    bool is_read = true;
    for (size_t i = 0; i < count && is_read; i++) {
        const char *file = words[i][0] == '@' ? words[i] + 1 : NULL;
        for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
            const size_t length = strlen(options[k]);
            if (strncmp(words[i], options[k], length) != 0)
                continue;
            if (words[i][length] == '=')
                file = words[i] + length + 1;
            else if (words[i][length] == '\0' && i + 1 < count)
                file = words[++i];
        }
        if (file != NULL)
            is_read = spread_file(call, file, depth);
        else
            rs_words_add(&call->arguments, words[i]);
    }
    return is_read && !call->arguments.failed;
}

/* --- the dry run --- */

/* The word behind `name` in a command; NULL: none. */
static const char *value_of(const rs_words *words, const char *name)
{
    for (size_t i = 0; i + 1 < words->count; i++)
        if (strcmp(words->at[i], name) == 0)
            return words->at[i + 1];
    return NULL;
}

/* Whether a command behind `line` compiles the file into an object. */
static bool becomes_object(const char *line, const char *file)
{
    const size_t length = strlen(file);
    for (const char *found = line; (found = strstr(found, file)) != NULL; found += length) {
        const char *begin = found, *end = found + strcspn(found, "\n");
        while (begin > line && begin[-1] != '\n')
            begin--;
        const char *compile = strstr(begin, " -c ");
        if (compile != NULL && compile < end)
            return true;
    }
    return false;
}

static void read_command(rs_nvcc *call, const char *line, size_t length)
{
    static const char depends[] = "-- Filter Dependencies -- > ";
    rs_words words = {NULL, 0, false};
    if (length > sizeof depends - 1 && strncmp(line, depends, sizeof depends - 1) == 0) {
        char *file = strndup(line + sizeof depends - 1, length - (sizeof depends - 1));
        while (file != NULL && strlen(file) > 0 && strchr(" \r", file[strlen(file) - 1]) != NULL)
            file[strlen(file) - 1] = '\0';
        if (file != NULL)
            rs_words_add(&call->dependencies, file);
        free(file);
        return;
    }
    split(&words, line, length);
    const char *slash = words.count > 0 ? strrchr(words.at[0], '/') : NULL;
    if (words.count > 0 && strcmp(slash != NULL ? slash + 1 : words.at[0], "cudafe++") == 0) {
        const char *source = value_of(&words, "--orig_src_file_name"),
                   *file = value_of(&words, "--gen_c_file_name");
        if (source != NULL && file != NULL && becomes_object(line + length, file) &&
            !has(&call->sources, source))
            rs_words_add(&call->sources, source);
    }
    rs_words_free(&words);
}

static void read_dry_run(rs_nvcc *call, const char *text)
{
    static const char mark[] = "#$ ";
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        if (strncmp(line, mark, sizeof mark - 1) == 0)
            read_command(call, line + sizeof mark - 1, length - (sizeof mark - 1));
        line += length + (line[length] == '\n');
    }
}

/* What nvcc would do otherwise than compile, or only says. */
static bool is_unusual(const rs_words *arguments)
{
    static const char *const words[] = {"-dryrun", "--dryrun", "-run",
                                        "--run",   "-clean",   "--clean-targets"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has(arguments, words[i]))
            return true;
    return false;
}

bool rs_nvcc_ask(rs_nvcc *call)
{
    rs_text output = RS_TEXT_EMPTY, said = RS_TEXT_EMPTY;
    rs_words command = {NULL, 0, false}, given = call->arguments;
    int exit_status = 1;
    call->arguments = (rs_words){NULL, 0, false};
    bool is_known = spread(call, given.at, given.count, 0) && !is_unusual(&call->arguments);
    rs_words_free(&given);
    rs_words_add(&command, call->nvcc);
    rs_words_add(&command, "--dryrun");
    for (size_t i = 0; i < call->arguments.count; i++)
        rs_words_add(&command, call->arguments.at[i]);
    is_known = is_known && !command.failed &&
               rs_child_run(command.at, "", 0, &output, &said, &exit_status) == RESTRIDE_OK &&
               exit_status == 0 && said.size > 0;
    if (is_known)
        read_dry_run(call, said.data);
    rs_words_free(&command);
    rs_text_free(&output);
    rs_text_free(&said);
    return is_known && call->sources.count > 0 && !call->sources.failed &&
           !call->dependencies.failed;
}

void rs_nvcc_free(rs_nvcc *call)
{
    rs_words_free(&call->arguments);
    rs_words_free(&call->sources);
    rs_words_free(&call->dependencies);
}
