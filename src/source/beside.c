/* See beside.h. Comments and continued lines may stand between the words of a directive. */
#include "source/beside.h"

#include "source/words.h"

#include <string.h>
#include <unistd.h>

/* Keeps flatten.c from taking a directive for one whose header may stay. */
#define NO_MARK "/**/"

/* The length of a line end that a backslash takes away; 0: there is none. */
static size_t splice_length(const char *c)
{
    if (c[0] != '\\')
        return 0;
    size_t blanks = strspn(c + 1, " \t\r");
    return c[1 + blanks] == '\n' ? blanks + 2 : 0;
}

/* The length of the comment at a place, of its line end none; 0: there is none. */
static size_t comment_length(const char *c)
{
    size_t length = 2;
    if (c[0] != '/' || (c[1] != '/' && c[1] != '*'))
        return 0;
    if (c[1] == '*') {
        const char *close = strstr(c + 2, "*/");
        return close == NULL ? strlen(c) : (size_t)(close - c) + 2;
    }
    while (c[length] != '\0' && c[length] != '\n')
        length += splice_length(c + length) > 0 ? splice_length(c + length) : 1;
    return length;
}

/* Passes blanks, comments and continued lines; what is behind may be the line's end. */
static const char *skip_space(const char *c)
{
    size_t length = 1;
    while (length > 0) {
        length = strspn(c, " \t\r\f\v");
        length += splice_length(c + length);
        length += comment_length(c + length);
        c += length;
    }
    return c;
}

/* The next line that nothing continues into. */
static const char *skip_line(const char *c)
{
    while (*c != '\0' && *c != '\n') {
        size_t length = splice_length(c);
        length = length > 0 ? length : comment_length(c);
        if (length == 0 && (*c == '"' || *c == '\''))
            length = rs_word_skip(c, strcspn(c, "\n"), 0);
        /* An apostrophe of a text or number that no other one follows ends with its line. */
        if (length > 1 && c[length - 1] != *c && (*c == '"' || *c == '\''))
            length = 1;
        c += length > 0 ? length : 1;
    }
    return *c == '\n' ? c + 1 : c;
}

bool rs_include_next(const char *source, size_t *position, rs_include *found)
{
    for (const char *line = source + *position; *line != '\0';) {
        const char *c = skip_space(line), *hash = c;
        size_t mark = *c == '#' ? 1 : (strncmp(c, "%:", 2) == 0 ? 2 : 0);
        const char *word = skip_space(c + mark);
        size_t length = rs_identifier_length(word);
        line = skip_line(c);
        if (mark == 0 || !(rs_word_equals(word, 0, length, "include") ||
                           rs_word_equals(word, 0, length, "include_next") ||
                           rs_word_equals(word, 0, length, "import")))
            continue;
        c = skip_space(word + length);
        *position = (size_t)(line - source);
        size_t quoted = *c == '"' ? 1 + strcspn(c + 1, "\"\n") : 0;
        if (*c == '<' || *c == '\n' || *c == '\0' || (quoted > 0 && c[quoted] != '"'))
            continue;
        *found = (rs_include){(size_t)(hash - source), (size_t)(c - source), 0, quoted > 0};
        found->end = quoted > 0 ? found->name + quoted + 1 : *position;
        if (quoted == 0 && found->end > found->name && source[found->end - 1] == '\n')
            found->end--;
        return true;
    }
    return false;
}

bool rs_include_write(rs_text *output, const rs_flat_request *request, const char *name,
                      size_t length, const rs_include *replaced)
{
    const char *slash = strrchr(request->file, '/');
    if (slash == NULL || length == 0 || name[0] == '/')
        return false;
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%.*s%.*s", (int)(slash + 1 - request->file), request->file, (int)length,
                   name);
    bool beside = !path.failed && access(path.data, R_OK) == 0 && strchr(path.data, '"') == NULL;
    bool written = beside || request->beside == RS_BESIDE_ALONE;
    if (written) {
        rs_text_add_string(output, "#include ");
        for (size_t i = replaced->hash; i < replaced->end; i++)
            if (request->source[i] == '\n')
                rs_text_add_string(output, "\\\n");
        if (beside)
            rs_text_format(output, "\"%s\"", path.data);
        else /* in the folders of the options, not in the one that cpp is in */
            rs_text_format(output, "%s<%.*s>", request->quoted_stay ? "" : NO_MARK, (int)length,
                           name);
    }
    rs_text_free(&path);
    return written;
}
