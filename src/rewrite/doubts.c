/* Finds what cpp and the device's compiler could read differently. */
#include "rewrite/doubts.h"

#include "source/words.h"

#include <string.h>

bool rs_doubt_packing(const char *text, size_t *where)
{
    static const char *const known[] = {"pragma", "pack", "align", "push", "pop", "show"};
    const char *cursor = text, *line;
    size_t length;
    while ((line = rs_line_next(&cursor, &length)) != NULL) {
        size_t begin = (size_t)(line - text), position = begin, word, word_length, number = 0;
        if (line[strspn(line, " \t")] != '#')
            continue;
        position += strspn(line, " \t") + 1;
        bool packing = false;
        for (; rs_word_next(text, begin + length, &position, &word, &word_length); number++) {
            size_t k = 0;
            while (k < sizeof known / sizeof known[0] &&
                   !rs_word_equals(text, word, word_length, known[k]))
                k++;
            packing = packing || (number == 1 && (k == 1 || k == 2));
            *where = begin;
            if (packing && k == sizeof known / sizeof known[0])
                return true;
        }
    }
    return false;
}

/* What cpp would answer in place of the device's compiler, and so perhaps otherwise. */
static const struct {
    const char *words;
    const char *reason;
} preprocessor_questions[] = {
    {"__has_", "the source asks the compiler about its features (__has_...)"},
    {"elifdef", "compilers disagree on #elifdef"},
    {"elifndef", "compilers disagree on #elifndef"},
    {"__FILE__", "the source asks for the name of its file"},
    {"__BASE_FILE__", "the source asks for the name of its file"},
    {"__TIMESTAMP__", "the source asks for the time of its file"},
};

/* The length of a line's continuation (backslash, newline) at the start of `text`, or 0. */
static size_t continuation(const char *text)
{
    if (text[0] != '\\')
        return 0;
    return text[1] == '\n' ? 2 : text[1] == '\r' && text[2] == '\n' ? 3 : 0;
}

/* Whether `words` start at `text`, continuations inside them left out. */
static bool starts_here(const char *text, const char *words)
{
    while (*words != '\0') {
        size_t skipped = continuation(text);
        if (skipped > 0)
            text += skipped;
        else if (*text++ != *words++)
            return false;
    }
    return true;
}

const char *rs_doubt_question(const char *text, size_t *line)
{
    *line = 1;
    for (const char *c = text; *c != '\0'; c++) {
        *line += *c == '\n';
        for (size_t i = 0; i < sizeof preprocessor_questions / sizeof preprocessor_questions[0];
             i++)
            if (*c == preprocessor_questions[i].words[0] &&
                starts_here(c, preprocessor_questions[i].words))
                return preprocessor_questions[i].reason;
    }
    return NULL;
}

bool rs_doubt_operators(const char *text)
{
    const char *cursor = text, *line;
    size_t length;
    bool inside = false; /* a definition that goes on from the line before */
    while ((line = rs_line_next(&cursor, &length)) != NULL) {
        const char *end = line + length, *body = line;
        if (!inside) {
            body += strspn(line, " \t");
            if (body >= end || *body != '#')
                continue;
            body += 1 + strspn(body + 1, " \t");
            if (strncmp(body, "define", strlen("define")) != 0)
                continue;
        }
        if (memchr(body, '#', (size_t)(end - body)) != NULL)
            return true;
        inside =
            length > 0 && (end[-1] == '\\' || (end[-1] == '\r' && length > 1 && end[-2] == '\\'));
    }
    return false;
}

bool rs_doubt_device_names(const char *text)
{
    static const char *const prefixes[] = {
        "__OPENCL", "__IMAGE", "__ENDIAN", "__kernel_exec", "CL_",      "CLK_",     "cl_",
        "M_",       "FLT_",    "DBL_",     "HALF_",         "INT_",     "UINT_",    "LONG_",
        "ULONG_",   "CHAR_",   "SHRT_",    "NAN",           "INFINITY", "MAXFLOAT", "HUGE_VAL"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strstr(text, prefixes[i]) != NULL)
            return true;
    return false;
}
