/*
 * Reads what cpp wrote: drops its line markers and definitions, and remembers where each line came
 * from. Comments are blanked in the text that is parsed, and stay in the one that is shown.
 */
#include "source/output.h"

#include "base/list.h"
#include "base/text.h"
#include "source/macro_names.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* More blank lines than these in a row become a jump of the line number. */
enum { BLANK_LIMIT = 7 };

static const char memory_subject[] = "a preprocessed source";

void rs_comments_blank(char *text)
{
    size_t size = strlen(text), at = 0;
    while (at < size) {
        size_t end = at;
        if (text[at] == '/' && text[at + 1] == '/') {
            end = at + strcspn(text + at, "\n");
        } else if (text[at] == '/' && text[at + 1] == '*') {
            const char *close = strstr(text + at + 2, "*/");
            end = close == NULL ? size : (size_t)(close - text) + 2;
        }
        if (end == at) {
            at = rs_word_skip(text, size, at);
            continue;
        }
        for (; at < end; at++)
            if (text[at] != '\n')
                text[at] = ' ';
    }
}

static bool find_file(rs_flat *flat, const char *name, size_t length, size_t *index)
{
    for (size_t i = flat->file_count; i > 0; i--)
        if (strlen(flat->files[i - 1]) == length && memcmp(flat->files[i - 1], name, length) == 0) {
            *index = i - 1;
            return true;
        }
    *index = flat->file_count;
    bool room = RS_LIST_GROW(flat->is_read, *index) && RS_LIST_GROW(flat->files, *index);
    char *copy = room ? strndup(name, length) : NULL;
    if (copy == NULL)
        return false;
    flat->is_read[*index] = false;
    flat->files[flat->file_count++] = copy;
    return true;
}

void rs_quote_file(rs_text *text, const char *file)
{
    rs_text_add_string(text, "\"");
    for (const char *c = file; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            rs_text_add_string(text, "\\");
        rs_text_add(text, *c == '\n' ? " " : c, 1);
    }
    rs_text_add_string(text, "\"");
}

void rs_unquote_file(rs_text *name, const char *quoted, size_t length)
{
    rs_text_add(name, "", 0);
    for (size_t i = 0; i < length; i++) {
        char c = quoted[i];
        if (c == '\\' && i + 3 < length && strspn(quoted + i + 1, "01234567") >= 3) {
            c = (char)((quoted[i + 1] - '0') * 64 + (quoted[i + 2] - '0') * 8 + quoted[i + 3] -
                       '0');
            i += 3;
        } else if (c == '\\' && i + 1 < length) {
            i++;
            c = quoted[i];
            if (c == 'n')
                c = '\n';
        }
        rs_text_add(name, &c, 1);
    }
}

/* Adds the file of a marker. */
static bool find_quoted_file(rs_flat *flat, const char *quoted, size_t length, size_t *index)
{
    rs_text name = RS_TEXT_EMPTY;
    rs_unquote_file(&name, quoted, length);
    bool found = !name.failed && find_file(flat, name.data, name.size, index);
    rs_text_free(&name);
    return found;
}

/* Reads the marker "# LINE "FILE" FLAGS"; false when the line is something else or memory is short.
 */
static bool read_marker(rs_flat *flat, const char *text, size_t length, size_t *line, size_t *file)
{
    if (length < 5 || text[0] != '#' || text[1] != ' ' || !isdigit((unsigned char)text[2]))
        return false;
    char *end;
    size_t number = strtoul(text + 2, &end, 10);
    const char *name = end + strspn(end, " \t");
    const char *stop = text + length;
    while (stop > name && *stop != '"')
        stop--;
    if (*name != '"' || stop == name ||
        !find_quoted_file(flat, name + 1, (size_t)(stop - name - 1), file))
        return false;
    *line = number;
    /* Flag 1 is for the start of a file. */
    flat->is_read[*file] =
        flat->is_read[*file] || (text + length - stop > 2 && stop[1] == ' ' && stop[2] == '1');
    return true;
}

/* The two texts, and what the last place says about the next line. */
typedef struct {
    rs_flat *flat;
    rs_text text, shown;
    size_t expected, expected_file;
    int blank_lines;         /* in a row */
    const char *last_asking; /* in what is read, a line in which the compiler reads a header or
                                finds macros; or NULL */
} reader;

static bool add_place(reader *r, size_t line, size_t file)
{
    rs_flat *flat = r->flat;
    if (!RS_LIST_GROW(flat->places, flat->place_count))
        return false;
    flat->places[flat->place_count++] = (rs_place){r->text.size, line, file};
    return true;
}

/* Adds the same bytes to both texts. */
static void add_both(reader *r, const char *bytes)
{
    rs_text_add_string(&r->text, bytes);
    rs_text_add_string(&r->shown, bytes);
}

/*
 * What becomes of a definition or "#undef": "#undef NAME" if the name is still in the text, for it
 * is no macro there even if the device's compiler predefines one; else nothing.
 */
static void add_definition(reader *r, const char *name, const rs_macro_names *macros)
{
    size_t length = rs_identifier_length(name);
    if (!rs_macro_names_mentioned(macros, name, length))
        return;
    add_both(r, "#undef ");
    rs_text_add(&r->text, name, length);
    rs_text_add(&r->shown, name, length);
}

/* What only the compiler reads: the parser gets blanks. */
static void add_shown(reader *r, const char *line, size_t length)
{
    rs_text_add(&r->shown, line, length);
    for (size_t i = 0; i < length; i++)
        rs_text_add_string(&r->text, " ");
}

/* Whether a header that the compiler reads, or a pragma, may ask for the macro of a line. A name
 * that nothing mentions any more changes nothing else. */
static bool may_be_asked(const reader *r, const char *line, const char *name,
                         const rs_macro_names *macros)
{
    return name != NULL && r->last_asking != NULL && line < r->last_asking &&
           !rs_macro_names_mentioned(macros, name, rs_identifier_length(name));
}

/* A header that the compiler reads: the parser, which does not have it, gets blanks. */
static void add_include(reader *r, const char *shown, size_t length)
{
    const char *end = shown + length, *open = memchr(shown, '"', length);
    const char *close = open != NULL ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (close == NULL)
        return;
    add_shown(r, "#include ", strlen("#include "));
    add_shown(r, open + 1, (size_t)(close - open - 1));
    add_shown(r, close + 1, (size_t)(end - close - 1));
}

/* Adds one line of cpp's output, as it is parsed and as it is shown. */
static void add_line(reader *r, const char *line, const char *shown, size_t length,
                     const rs_macro_names *macros)
{
    const char *name = rs_macro_name_in(line);
    if (may_be_asked(r, line, name, macros)) {
        add_shown(r, line, length);
    } else if (name != NULL) {
        add_definition(r, name, macros);
    } else {
        size_t skipped = 0;
        if (strncmp(line, RS_INCLUDE_MARK, strlen(RS_INCLUDE_MARK)) == 0) {
            add_include(r, shown, length);
            add_both(r, "\n");
            return;
        }
        if (strncmp(line, RS_UNROLL_MARK, strlen(RS_UNROLL_MARK)) == 0) {
            add_both(r, "#pragma unroll");
            skipped = strlen(RS_UNROLL_MARK);
        }
        rs_text_add(&r->text, line + skipped, length - skipped);
        rs_text_add(&r->shown, shown + skipped, length - skipped);
    }
    add_both(r, "\n");
}

/* Whether a line leaves nothing: it is only kept to keep the count of lines. */
static bool is_empty(const reader *r, const char *line, const char *shown, size_t length,
                     const rs_macro_names *macros)
{
    const char *name = rs_macro_name_in(line);
    if (name != NULL)
        return !may_be_asked(r, line, name, macros) &&
               !rs_macro_names_mentioned(macros, name, rs_identifier_length(name));
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)shown[i]))
            return false;
    return true;
}

static bool read_line(reader *r, const char *line, const char *shown, size_t length, size_t number,
                      size_t file, const rs_macro_names *macros)
{
    bool follows = number == r->expected && file == r->expected_file;
    if (is_empty(r, line, shown, length, macros)) {
        if (!follows || r->blank_lines == BLANK_LIMIT)
            return true;
        r->blank_lines++;
        add_both(r, "\n");
    } else {
        if (!follows && !add_place(r, number, file))
            return false;
        r->blank_lines = 0;
        add_line(r, line, shown, length, macros);
    }
    r->expected = number + 1;
    r->expected_file = file;
    return true;
}

/* Finds the last mark and blanks it; the source's own names have no such prefix. */
static void find_appendix(rs_flat *flat)
{
    static const char mark[] = "\n" RS_APPENDIX_MARK "\n";
    char *last = NULL;
    for (char *found = strstr(flat->text, mark); found != NULL; found = strstr(found + 1, mark))
        last = found;
    if (last == NULL)
        return;
    flat->appendix = (size_t)(last - flat->text) + 1;
    memset(last + 1, ' ', strlen(RS_APPENDIX_MARK));
}

/* The last line in which a header that the compiler reads, or a pragma, may ask for a macro. */
static const char *find_last_asking(const char *output, const rs_macro_names *macros)
{
    static const char mark[] = "\n" RS_INCLUDE_MARK, pragma[] = "\n#pragma";
    const char *last = NULL;
    for (const char *found = output; (found = strstr(found, mark)) != NULL; found++)
        last = found;
    for (const char *found = last != NULL ? last : output; (found = strstr(found, pragma)) != NULL;
         found++) {
        size_t at = strlen(pragma), end = at + strcspn(found + at, "\n"), word, length;
        bool extension = rs_words_have(found, at, end, "OPENCL", strlen("OPENCL"));
        while (!extension && rs_word_next(found, end, &at, &word, &length))
            if (rs_macro_names_have(macros, found + word, length))
                last = found;
    }
    return last;
}

restride_status rs_flat_read_output(rs_flat *flat, const char *output, const char *shown)
{
    reader r = {flat, RS_TEXT_EMPTY, RS_TEXT_EMPTY, 0, (size_t)-1, 0, NULL};
    const char *cursor = output, *line;
    size_t length, number = 1, file = 0;
    rs_macro_names macros;
    restride_status status = rs_macro_names_read(&macros, output);
    if (status != RESTRIDE_OK)
        return status;
    r.last_asking = find_last_asking(output, &macros);
    bool ok = find_file(flat, "", 0, &file);
    do /* what is predefined */
        line = rs_line_next(&cursor, &length);
    while (line != NULL && !rs_word_equals(line, 0, length, RS_SOURCE_MARK));
    const bool found = line != NULL;
    while (ok && (line = rs_line_next(&cursor, &length)) != NULL) {
        if (read_marker(flat, line, length, &number, &file))
            continue;
        ok = read_line(&r, line, shown + (line - output), length, number, file, &macros);
        number++;
    }
    rs_macro_names_free(&macros);
    rs_text_add(&r.text, "", 0);
    rs_text_add(&r.shown, "", 0);
    flat->size = flat->appendix = r.text.size;
    flat->text = rs_text_take(&r.text);
    flat->shown = rs_text_take(&r.shown);
    if (!ok || flat->text == NULL || flat->shown == NULL)
        return rs_fail_memory(memory_subject);
    if (!found)
        return rs_fail(RESTRIDE_IO, "The preprocessor's output does not have the source.");
    find_appendix(flat);
    return RESTRIDE_OK;
}

/* ---- comparing two texts ---- */

/* The next character of a text in which only line ends at directives count; runs of white space are
 * one blank. */
static char next_character(const char **cursor, bool *directive)
{
    const char *c = *cursor;
    bool line_end = false;
    while (isspace((unsigned char)*c))
        line_end = *c++ == '\n' || line_end;
    if (c == *cursor) {
        *cursor += *c != '\0';
        return *c;
    }
    *cursor = c;
    if (line_end && (*directive || *c == '#')) {
        *directive = *c == '#';
        return '\n';
    }
    return *c == '\0' ? '\0' : ' ';
}

bool rs_flat_same_words(const char *a, const char *b)
{
    a += strspn(a, " \t\n");
    b += strspn(b, " \t\n");
    bool in_a = *a == '#', in_b = *b == '#';
    char x, y;
    do {
        x = next_character(&a, &in_a);
        y = next_character(&b, &in_b);
    } while (x == y && x != '\0');
    if (x == '\n' && y == '\0')
        return *a == '\0';
    if (y == '\n' && x == '\0')
        return *b == '\0';
    return x == y;
}
