/* See elsewhere.h. */
#include "companion/elsewhere.h"

#include "companion/places.h"
#include "source/words.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const rs_syntax_file *from;
    rs_text to;
    size_t copied; /* of `from` */
    const char *folder, *why;
} moving;

static bool is_there(const char *folder, const char *name, size_t length)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s%.*s", folder, (int)length, name);
    const bool found = !path.failed && access(path.data, R_OK) == 0;
    rs_text_free(&path);
    return found;
}

/* A directive whose `#` is at `at`. */
static void move_directive(moving *m, size_t at)
{
    const char *text = m->from->text;
    size_t name = rs_blanks_skip(text, m->from->size, at + 1);
    const size_t length = rs_identifier_length(text + name);
    if (!rs_word_equals(text, name, length, "include")) {
        static const char *const others[] = {"include_next", "import", "embed"};
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            if (rs_word_equals(text, name, length, others[i]))
                m->why = "a directive looks for a file from the source's folder on";
        return;
    }
    name = rs_blanks_skip(text, m->from->size, name + length);
    if (name < m->from->size && text[name] == '<')
        return;
    const size_t open = name + 1;
    const char *close =
        open < m->from->size ? memchr(text + open, '"', m->from->size - open) : NULL;
    if (name >= m->from->size || text[name] != '"' || close == NULL) {
        m->why = "a macro names a header";
        return;
    }
    if (text[open] == '/' || !is_there(m->folder, text + open, (size_t)(close - text) - open))
        return;
    rs_text_add(&m->to, text + m->copied, open - m->copied);
    rs_text_add_string(&m->to, m->folder);
    m->copied = open;
}

/* Behind a raw string whose quote is at `at`. */
static size_t skip_raw(const rs_syntax_file *file, size_t at)
{
    rs_text end = RS_TEXT_EMPTY;
    const size_t length = strcspn(file->text + at + 1, "(");
    rs_text_format(&end, ")%.*s\"", (int)length, file->text + at + 1);
    const char *found = end.failed ? NULL : strstr(file->text + at, end.data);
    const size_t behind = found == NULL ? file->size : (size_t)(found - file->text) + end.size;
    rs_text_free(&end);
    return behind;
}

/* Behind one token. */
static size_t skip_token(const rs_syntax_file *file, size_t at)
{
    const size_t length = rs_identifier_length(file->text + at);
    if (length == 0)
        return rs_word_skip(file->text, file->size, at);
    const size_t behind = at + length;
    return file->text[behind] == '"' && file->text[behind - 1] == 'R' && length <= 3
               ? skip_raw(file, behind)
               : behind;
}

restride_status rs_companion_move(rs_text *text, const char *folder, const char **why)
{
    static const char *const words[] = {"__has_include", "__has_embed", "__BASE_FILE__",
                                        "__INCLUDE_LEVEL__"};
    const rs_syntax_file file = {NULL, text->data, text->size};
    moving m = {&file, RS_TEXT_EMPTY, 0, folder, NULL};
    bool is_line_begin = true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text->data, words[i]) != NULL)
            m.why = "it asks which files are there, or for its own";
    for (size_t at = 0; at < file.size && m.why == NULL;) {
        const size_t behind = rs_blanks_skip(file.text, file.size, at);
        if (behind > at) {
            is_line_begin |= memchr(file.text + at, '\n', behind - at) != NULL;
            at = behind;
        } else if (file.text[at] == '#' && is_line_begin) {
            move_directive(&m, at);
            at = rs_place_skip_directive(&file, at);
        } else {
            is_line_begin = false;
            at = skip_token(&file, at);
        }
    }
    *why = m.why;
    if (m.why != NULL) {
        rs_text_free(&m.to);
        return RESTRIDE_OK;
    }
    rs_text_add(&m.to, file.text + m.copied, file.size - m.copied);
    if (m.to.failed) {
        rs_text_free(&m.to);
        return rs_fail_memory("a companion");
    }
    rs_text_free(text);
    *text = m.to;
    return RESTRIDE_OK;
}
