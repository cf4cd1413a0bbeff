/* Keeps the user's line numbers in the new source, by #line where they do not follow by themselves.
 */
#include "rewrite/lines.h"

#include "base/list.h"
#include "source/output.h"
#include "source/words.h"

#include <stdlib.h>

static restride_status add_line(rs_source_lines *lines, rs_source_line line)
{
    if (!RS_LIST_GROW(lines->items, lines->count))
        return rs_fail_memory("the lines of a source");
    lines->items[lines->count++] = line;
    return RESTRIDE_OK;
}

/* The line at `offset`, which follows the last one; the flat text's places go before counting on.
 */
static rs_source_line next_line(const rs_flat *flat, const rs_source_lines *lines, size_t offset,
                                size_t *place, bool outside)
{
    rs_source_line line = {offset, 0, 1, outside};
    if (lines->count > 0) {
        line.file = lines->items[lines->count - 1].file;
        line.number = lines->items[lines->count - 1].number + 1;
    }
    while (*place < flat->place_count && flat->places[*place].offset <= offset) {
        line.file = flat->places[*place].file;
        line.number = flat->places[*place].line;
        (*place)++;
    }
    return line;
}

restride_status rs_source_lines_read(const rs_flat *flat, rs_source_lines *lines)
{
    size_t place = 0, depth = 0, at = 0;
    restride_status status = RESTRIDE_OK;
    *lines = (rs_source_lines){NULL, 0};
    bool start = true;
    while (at < flat->size && status == RESTRIDE_OK) {
        if (start)
            status = add_line(lines, next_line(flat, lines, at, &place, depth == 0));
        char c = flat->text[at];
        if (start && c == '#') {
            while (at < flat->size && flat->text[at] != '\n')
                at++;
            start = false;
            continue;
        }
        start = c == '\n';
        depth += c == '(' || c == '[';
        depth -= (c == ')' || c == ']') && depth > 0;
        at = rs_word_skip(flat->text, flat->size, at);
    }
    return status;
}

/* The first line that starts behind `offset`. */
static size_t lines_after(const rs_source_lines *lines, size_t offset)
{
    size_t low = 0, high = lines->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->items[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void write_number(rs_numbered_text *out, size_t file, size_t number)
{
    rs_text_format(&out->text, "#line %zu ", number);
    rs_quote_file(&out->text, out->flat->files[file]);
    rs_text_add_string(&out->text, "\n");
    out->file = file;
    out->number = number;
    out->counted = out->text.size;
}

void rs_numbered_add(rs_numbered_text *out, size_t begin, size_t end, bool numbered)
{
    size_t line = begin == 0 ? 0 : lines_after(&out->lines, begin - 1);
    while (numbered && line < out->lines.count && out->lines.items[line].offset < end) {
        const rs_source_line *l = &out->lines.items[line++];
        rs_text_add(&out->text, out->flat->shown + begin, l->offset - begin);
        begin = l->offset;
        bool at_start = out->text.size == 0 || out->text.data[out->text.size - 1] == '\n';
        /* Brings `number` up to the last line of the text. */
        for (; out->counted < out->text.size; out->counted++)
            out->number += out->text.data[out->counted] == '\n';
        if (l->outside && at_start && (out->file != l->file || out->number != l->number))
            write_number(out, l->file, l->number);
    }
    rs_text_add(&out->text, out->flat->shown + begin, end - begin);
}

void rs_numbered_start_line(rs_numbered_text *out, size_t offset)
{
    size_t line = lines_after(&out->lines, offset);
    if (out->text.size > 0 && out->text.data[out->text.size - 1] != '\n')
        rs_text_add_string(&out->text, "\n");
    if (line > 0)
        write_number(out, out->lines.items[line - 1].file, out->lines.items[line - 1].number);
}

restride_status rs_numbered_edit(const rs_flat *flat, rs_edits *edits, char **source)
{
    rs_numbered_text out = {flat, {NULL, 0}, RS_TEXT_EMPTY, 0, (size_t)-1, 1};
    restride_status status = rs_source_lines_read(flat, &out.lines);
    if (status != RESTRIDE_OK)
        return status;
    rs_edits_sort(edits);
    size_t at = 0;
    for (size_t i = 0; i < edits->count; i++) {
        const rs_edit *e = &edits->list[i];
        rs_numbered_add(&out, at, e->begin, true);
        rs_text_add_string(&out.text, e->text);
        for (size_t c = e->begin; c < e->end; c++)
            if (flat->text[c] == '\n')
                rs_text_add_string(&out.text, "\n");
        at = e->end;
    }
    rs_numbered_add(&out, at, flat->appendix, true);
    free(out.lines.items);
    *source = rs_text_take(&out.text);
    return *source != NULL ? RESTRIDE_OK : rs_fail_memory("the new source");
}
