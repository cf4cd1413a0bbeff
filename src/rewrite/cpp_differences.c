/* Finds what cpp and the device's compiler could read differently. */
#include "rewrite/cpp_differences.h"

#include "base/text.h"
#include "source/words.h"

#include <string.h>

bool rs_cpp_differs_packing(const char *text, size_t *where)
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

const char *rs_cpp_differs_question(const char *text, size_t *line)
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

size_t rs_cpp_differs_nesting(const char *text)
{
    enum { LIMIT = 1000 };
    size_t line = 1, depth = 0;
    for (const char *c = text; *c != '\0' && depth <= LIMIT; c++) {
        line += *c == '\n';
        depth += *c == '(';
        depth -= *c == ')' && depth > 0;
        if (*c == ';' || *c == '{' || *c == '}')
            depth = 0;
    }
    return depth > LIMIT ? line : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The last character of a literal that begins here, where it ends on its line; else its first. */
static const char *end_of_literal(const char *begin)
{
    for (const char *c = begin + 1; *c != '\0' && *c != '\n'; c++) {
        if (*c == *begin)
            return c;
        if (*c == '\\' && c[1] != '\0' && c[1] != '\n')
            c++;
    }
    return begin;
}

/* The last character of a comment that begins here, or NULL where none does. A comment that a
 * backslash goes on with is taken to end on its line. */
static const char *end_of_comment(const char *begin)
{
    if (begin[0] != '/' || (begin[1] != '/' && begin[1] != '*'))
        return NULL;
    const char *behind = begin[1] == '/' ? strchr(begin, '\n') : strstr(begin + 2, "*/");
    if (behind == NULL)
        return begin + strlen(begin) - 1;
    return begin[1] == '/' ? behind - 1 : behind + 1;
}

/* Whether the line goes on behind a backslash; blanks after it are not agreed upon. */
static bool is_joined(const char *line)
{
    size_t length = strcspn(line, "\n");
    while (length > 0 && is_blank(line[length - 1]))
        length--;
    return length > 0 && line[length - 1] == '\\';
}

/* Whether it takes more to see where comments and literals end: trigraphs, raw strings, digits in
 * groups, and lines joined within what begins or ends one. */
static bool is_hard_to_read(const char *text)
{
    static const char *const signs[] = {"?\?/", "R\"", "/\\\n", "*\\\n", "/\\\r", "*\\\r"};
    bool is_hard = false;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        is_hard = is_hard || strstr(text, signs[i]) != NULL;
    for (const char *c = text; *c != '\0' && !is_hard; c++) {
        const char *end = end_of_comment(c);
        if (end != NULL) {
            is_hard = c[1] == '/' && is_joined(c);
            c = end;
        } else if (*c == '"' || *c == '\'') {
            end = end_of_literal(c);
            is_hard = (end == c && is_joined(c)) || (*c == '\'' && c > text && is_letter(c[-1]));
            c = end;
        }
    }
    return is_hard;
}

/* Each # that begins no line is taken for an operator, in whatever spelling, but those in comments
 * and literals that are easily seen. */
size_t rs_cpp_differs_operators(const char *text)
{
    bool is_hard = is_hard_to_read(text);
    size_t line = 1;
    bool begins = true; /* only blanks and comments stood on this line */
    char last = '\0';
    for (const char *c = text; *c != '\0'; c++) {
        const char *end = is_hard ? NULL : end_of_comment(c);
        for (; end != NULL && c < end; c++)
            line += *c == '\n';
        if (end != NULL) {
            last = *c;
            continue;
        }
        if (*c == '\n') {
            line++;
            begins = last != '\\';
            last = '\0';
        }
        if (*c == '\n' || is_blank(*c))
            continue;
        bool is_hash = *c == '#' || (c[0] == '%' && c[1] == ':') || strncmp(c, "?\?=", 3) == 0;
        if (is_hash && !begins)
            return line;
        if (!is_hard && (*c == '"' || *c == '\''))
            c = end_of_literal(c);
        begins = false;
        last = *c;
    }
    return 0;
}

/* Lines of a source one after the other, those that a backslash joins taken together. */
typedef struct {
    const char *cursor, *begin, *end;
    size_t number; /* of the first of the lines; 1 is the first of the text */
    size_t next;
} joined_lines;

static bool next_joined(joined_lines *lines)
{
    size_t length;
    lines->begin = rs_line_next(&lines->cursor, &length);
    lines->number = lines->next;
    for (const char *line = lines->begin; line != NULL;
         line = rs_line_next(&lines->cursor, &length)) {
        lines->end = line + length;
        lines->next++;
        const char *last = lines->end;
        while (last > line && is_blank(last[-1]))
            last--;
        if (last == line || last[-1] != '\\')
            break;
    }
    return lines->begin != NULL;
}

/* Whether the lines are a directive that expands no macro. */
static bool is_aside(const joined_lines *lines)
{
    static const char *const names[] = {"ifdef", "ifndef", "undef", "pragma"};
    const char *name = lines->begin + strspn(lines->begin, " \t");
    if (name >= lines->end || *name != '#')
        return false;
    name += 1 + strspn(name + 1, " \t");
    for (const char *c = name; c + 1 < lines->end; c++)
        if (c[0] == '*' && c[1] == '/')
            return false; /* the directive may be a comment, and other text follow */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (starts_here(name, names[i]))
            return true;
    return false;
}

/* Whether a name of the compiler's begins here that is no word of the language. */
static bool is_reserved(const char *text)
{
    static const char *const words[] = {
        "kernel",    "global",     "local",      "constant",    "private", "generic",
        "read_only", "write_only", "read_write", "attribute__", "const",   "inline",
        "restrict",  "volatile",   "inline__",   "restrict__",  "LINE__"};
    if (!starts_here(text, "__"))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(text + 2, words[i], length) == 0 && !is_letter(text[2 + length]) &&
            text[2 + length] != '\\')
            return false;
    }
    return true;
}

static bool is_device_name(const char *text)
{
    static const char *const parts[] = {
        "__OPENCL", "__IMAGE", "__ENDIAN", "__kernel_exec", "CL_",      "CLK_",     "cl_",
        "M_",       "FLT_",    "DBL_",     "HALF_",         "INT_",     "UINT_",    "LONG_",
        "ULONG_",   "CHAR_",   "SHRT_",    "NAN",           "INFINITY", "MAXFLOAT", "HUGE_VAL"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (starts_here(text, parts[i]))
            return true;
    return false;
}

const char *rs_fixed_value(const char *name)
{
    static const char *const values[][2] = {
        {"CHAR_BIT", "8"},
        {"CHAR_MAX", "127"},
        {"CHAR_MIN", "(-127 - 1)"},
        {"SCHAR_MAX", "127"},
        {"SCHAR_MIN", "(-127 - 1)"},
        {"UCHAR_MAX", "255"},
        {"SHRT_MAX", "32767"},
        {"SHRT_MIN", "(-32767 - 1)"},
        {"USHRT_MAX", "65535"},
        {"INT_MAX", "2147483647"},
        {"INT_MIN", "(-2147483647 - 1)"},
        {"UINT_MAX", "0xffffffffU"},
        {"LONG_MAX", "0x7fffffffffffffffL"},
        {"LONG_MIN", "(-0x7fffffffffffffffL - 1)"},
        {"ULONG_MAX", "0xffffffffffffffffUL"},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (strcmp(name, values[i][0]) == 0)
            return values[i][1];
    return NULL;
}

bool rs_names_constant(const char *name)
{
    return rs_is_among(name, strlen(name),
                       "FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON HALF_MAX "
                       "HALF_MIN HALF_EPSILON MAXFLOAT HUGE_VALF HUGE_VAL INFINITY NAN NULL") ||
           starts_here(name, "M_") || rs_fixed_value(name) != NULL;
}

size_t rs_cpp_differs_device_names(const char *text)
{
    joined_lines lines = {.cursor = text, .next = 1};
    while (next_joined(&lines)) {
        if (is_aside(&lines))
            continue;
        for (const char *c = lines.begin; c < lines.end; c++)
            if (is_device_name(c) || (is_reserved(c) && (c == lines.begin || !is_letter(c[-1]))))
                return lines.number;
    }
    return 0;
}
