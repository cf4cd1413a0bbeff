/* Parsing dimension lists and layout expressions (design section 3), and the checks that make a
 * layout a layout. */
#include "base/arithmetic.h"
#include "base/list.h"
#include "base/text.h"
#include "layout/cursor.h"
#include "layout/members.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of one term while the expression is checked: position and length in bytes. */
typedef struct {
    size_t position;
    size_t length;
} rs_span;

typedef struct {
    rs_cursor cursor;
    restride_layout *layout;
    rs_span *spans;  /* as many as the layout's terms */
    bool may_spread; /* terms over processes */
} expression_parser;

static int find_dimension(const restride_layout *layout, rs_layout_name name)
{
    for (int d = 0; d < layout->rank; d++)
        if (rs_name_equal(name, layout->dimensions[d].name))
            return d;
    return -1;
}

static restride_status add_dimension(restride_layout *layout, rs_layout_name name)
{
    if (!RS_LIST_GROW(layout->dimensions, layout->rank))
        return rs_fail_memory("a dimension");
    char *copy = rs_name_copy(name);
    if (copy == NULL)
        return rs_fail_memory("a dimension's name");
    layout->dimensions[layout->rank++] = (rs_dimension){.name = copy, .pad = 1};
    return RESTRIDE_OK;
}

/* Steps over "{", or "packed {". */
static bool accept_members(rs_cursor *cursor, bool *packed)
{
    size_t before = cursor->position;
    rs_layout_name word;
    bool named = rs_cursor_name(cursor, &word);
    *packed = named && rs_name_equal(word, "packed");
    rs_cursor_skip_blanks(cursor);
    if (named == *packed && rs_cursor_accept(cursor, '{'))
        return true;
    cursor->position = before;
    return false;
}

/* Reads what follows a dimension's name: an extent or members. */
static restride_status parse_extent(rs_cursor *cursor, restride_layout *layout,
                                    rs_dimension *dimension, size_t begin)
{
    if (rs_cursor_accept(cursor, ':'))
        return rs_cursor_number(cursor, "the extent of the dimension", &dimension->extent);
    rs_cursor_skip_blanks(cursor);
    bool packed;
    if (!accept_members(cursor, &packed))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, cursor->position,
                              "the dimension %s needs an extent, as in %s:64, or members, as in "
                              "%s{ float x; }.",
                              dimension->name, dimension->name, dimension->name);
    if (layout->record >= 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "%s is the second record, and only one dimension may be one; nest "
                              "its members in %s.",
                              dimension->name, layout->dimensions[layout->record].name);
    layout->record = layout->rank - 1;
    dimension->is_record = true;
    restride_status status = rs_members_parse(cursor, packed, &dimension->record);
    dimension->extent = dimension->record.leaf_count;
    return status;
}

/* Whether the word that was read is no dimension but the type of the elements: "y:64 x:64 float".
 */
static bool is_element(const rs_cursor *cursor, rs_layout_name word)
{
    rs_cursor ahead = *cursor;
    bool packed;
    if (ahead.text[ahead.position] == ':' || !rs_members_is_type(word))
        return false;
    rs_cursor_skip_blanks(&ahead);
    return !accept_members(&ahead, &packed);
}

/* Reads the type, which is the last word of the list. */
static restride_status parse_element(rs_cursor *cursor, restride_layout *layout, size_t begin,
                                     rs_layout_name first)
{
    restride_status status = rs_members_parse_element(cursor, begin, first, &layout->element);
    if (status != RESTRIDE_OK)
        return status;
    layout->unit = layout->element.size;
    if (layout->record >= 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "the record %s says what the elements are; leave out the type.",
                              layout->dimensions[layout->record].name);
    rs_cursor_skip_blanks(cursor);
    if (layout->rank == 0 || cursor->text[cursor->position] != '\0')
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "the type of the elements comes last, behind all dimensions, as in "
                              "y:64 x:64 float.");
    return RESTRIDE_OK;
}

static restride_status parse_dimension(rs_cursor *cursor, restride_layout *layout)
{
    size_t begin = cursor->position;
    rs_layout_name name;
    if (!rs_cursor_name(cursor, &name))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "a dimension such as i:64 is expected.");
    if (is_element(cursor, name))
        return parse_element(cursor, layout, begin, name);
    if (find_dimension(layout, name) >= 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "there are two dimensions named \"%.*s\".", RS_NAME_ARGUMENTS(name));
    if (layout->rank == RS_LAYOUT_MAX_RANK)
        return rs_cursor_fail(cursor, RESTRIDE_UNSUPPORTED, begin,
                              "there are more than %d dimensions.", RS_LAYOUT_MAX_RANK);
    restride_status status = add_dimension(layout, name);
    if (status != RESTRIDE_OK)
        return status;
    status = parse_extent(cursor, layout, &layout->dimensions[layout->rank - 1], begin);
    if (status != RESTRIDE_OK)
        return status;
    size_t end = cursor->position;
    rs_cursor_skip_blanks(cursor);
    bool separated =
        cursor->position > end || cursor->text[end] == '\0' || cursor->text[end - 1] == '}';
    if (!separated)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, end,
                              "a blank is expected after the extent of %s.",
                              layout->dimensions[layout->rank - 1].name);
    return RESTRIDE_OK;
}

static restride_status parse_dims(restride_layout *layout, rs_layout_fault *fault)
{
    rs_cursor cursor = {.text = layout->dims_text, .in_dims = true, .fault = fault};
    rs_cursor_skip_blanks(&cursor);
    if (cursor.text[cursor.position] == '\0')
        return rs_cursor_fail(&cursor, RESTRIDE_SYNTAX, cursor.position,
                              "it is empty; write the dimensions from slowest to fastest, as in "
                              "\"i:1000 f:5\".");
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && cursor.text[cursor.position] != '\0')
        status = parse_dimension(&cursor, layout);
    return status;
}

/* Writes the names of all dimensions for a sentence: "i, f". */
static void list_dimensions(const restride_layout *layout, rs_text *list)
{
    for (int d = 0; d < layout->rank; d++)
        rs_text_format(list, "%s%s", d > 0 ? ", " : "", layout->dimensions[d].name);
}

/* Reads the number behind "/" or "%". */
static restride_status parse_tile(rs_cursor *cursor, size_t *tile)
{
    rs_cursor_skip_blanks(cursor);
    size_t begin = cursor->position;
    restride_status status = rs_cursor_number(cursor, "the size of the tile", tile);
    if (status == RESTRIDE_OK && *tile == 0)
        status =
            rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin, "a tile has at least 1 element, not 0.");
    return status;
}

/* Steps over `wanted` with the blanks before it; without it, over nothing. */
static bool accept_operator(rs_cursor *cursor, char wanted)
{
    size_t before = cursor->position;
    rs_cursor_skip_blanks(cursor);
    if (rs_cursor_accept(cursor, wanted))
        return true;
    cursor->position = before;
    return false;
}

/* Reads what follows a term's name: "/A", "%B", ":pad". */
static restride_status parse_term_tail(rs_cursor *cursor, rs_term *term)
{
    bool quotient = accept_operator(cursor, '/');
    if (quotient) {
        restride_status status = parse_tile(cursor, &term->divisor);
        if (status != RESTRIDE_OK)
            return status;
    }
    if (accept_operator(cursor, '%')) {
        restride_status status = parse_tile(cursor, &term->modulus);
        if (status != RESTRIDE_OK)
            return status;
    }
    size_t colon = cursor->position;
    if (!rs_cursor_accept(cursor, ':'))
        return RESTRIDE_OK;
    rs_layout_name word;
    if (!rs_cursor_name(cursor, &word) || !rs_name_equal(word, "pad"))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, colon,
                              "only \":pad\" may follow a colon here; extents belong into the "
                              "dimension list.");
    if (!quotient)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, colon,
                              "only a quotient can be padded, as in i/32:pad.");
    term->padded = true;
    return RESTRIDE_OK;
}

/* Reads the "@" of a term that is spread over processes. */
static restride_status parse_spread(expression_parser *parser, bool *spread)
{
    rs_cursor *cursor = &parser->cursor;
    size_t begin = cursor->position;
    *spread = rs_cursor_accept(cursor, '@');
    if (*spread && !parser->may_spread)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "@ spreads the array over processes, which only "
                              "restride_plan_redistribute and restride show take.");
    rs_cursor_skip_blanks(cursor);
    return RESTRIDE_OK;
}

static restride_status parse_term(expression_parser *parser)
{
    rs_cursor *cursor = &parser->cursor;
    restride_layout *layout = parser->layout;
    rs_term term = {.divisor = 1};
    restride_status status = parse_spread(parser, &term.spread);
    if (status != RESTRIDE_OK)
        return status;
    size_t begin = cursor->position;
    rs_layout_name name;
    if (!rs_cursor_name(cursor, &name))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "a term such as i, i/32, i%%32 or i/32%%4 is expected.");
    int d = find_dimension(layout, name);
    if (d < 0) {
        rs_text list = RS_TEXT_EMPTY;
        list_dimensions(layout, &list);
        status = rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                                "there is no dimension \"%.*s\"; the dimensions are %.300s.",
                                RS_NAME_ARGUMENTS(name), list.failed ? "others" : list.data);
        rs_text_free(&list);
        return status;
    }
    term.dimension = d;
    status = parse_term_tail(cursor, &term);
    if (status != RESTRIDE_OK)
        return status;
    if (layout->dimensions[d].is_record && (term.divisor != 1 || term.modulus != 0 || term.padded))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "the record %s cannot be split into tiles; write %s alone.",
                              layout->dimensions[d].name, layout->dimensions[d].name);
    size_t end = cursor->position;
    rs_cursor_skip_blanks(cursor);
    if (cursor->position == end && cursor->text[end] != '\0')
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, end, "a blank is expected after the term.");
    if (layout->term_count == INT16_MAX)
        return rs_cursor_fail(cursor, RESTRIDE_UNSUPPORTED, begin, "there are more than %d terms.",
                              INT16_MAX);
    if (!RS_LIST_GROW(layout->terms, layout->term_count) ||
        !RS_LIST_GROW(parser->spans, layout->term_count))
        return rs_fail_memory("a layout's terms");
    parser->spans[layout->term_count] = (rs_span){begin, end - begin};
    layout->spread = layout->spread || term.spread;
    layout->terms[layout->term_count++] = term;
    return RESTRIDE_OK;
}

/* Whether term `a` is a less significant part of its dimension than `b`. */
static bool is_lower(const rs_term *a, const rs_term *b)
{
    if (a->divisor != b->divisor)
        return a->divisor < b->divisor;
    return a->modulus == 1 && b->modulus != 1; /* i%1 is always 0: it may stand beside i */
}

/* The least significant term of dimension `d` that was not passed yet; -1 when there is none. */
static int next_term(const restride_layout *layout, int d, const bool *passed)
{
    int best = -1;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->dimension == d && !passed[t] &&
            (best < 0 || is_lower(term, &layout->terms[best])))
            best = t;
    }
    return best;
}

#define SPAN_ARGUMENTS(parser, t)                                                                  \
    (int)((parser)->spans[t].length < 60 ? (parser)->spans[t].length : 60),                        \
        (parser)->cursor.text + (parser)->spans[t].position

/* Term `t` begins at `divisor` although the parts below it, up to term `below`, end at `expected`.
 */
static restride_status fail_chain(const expression_parser *parser, int below, int t,
                                  size_t expected)
{
    const rs_cursor *cursor = &parser->cursor;
    const rs_term *term = &parser->layout->terms[t];
    const char *name = parser->layout->dimensions[term->dimension].name;
    int later = below >= 0 && parser->spans[below].position > parser->spans[t].position ? below : t;
    if (below >= 0 && (expected == 0 || term->divisor < expected)) {
        int earlier = later == t ? below : t;
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, parser->spans[later].position,
                              "%.*s covers a part of the dimension %s that %.*s covers already.",
                              SPAN_ARGUMENTS(parser, later), name, SPAN_ARGUMENTS(parser, earlier));
    }
    if (below >= 0 && term->divisor % expected != 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, parser->spans[later].position,
                              "%.*s begins at %zu but %.*s ends at %zu, so the tiles do not nest; "
                              "the first number must be a multiple of the second.",
                              SPAN_ARGUMENTS(parser, t), term->divisor,
                              SPAN_ARGUMENTS(parser, below), expected);
    char part[64];
    if (expected == 1)
        snprintf(part, sizeof part, "%%%zu", term->divisor);
    else
        snprintf(part, sizeof part, "/%zu%%%zu", expected, term->divisor / expected);
    return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, parser->spans[t].position,
                          "the part %s%s is missing, which lies below %.*s.", name, part,
                          SPAN_ARGUMENTS(parser, t));
}

/* Checks that the terms of one dimension cover it exactly once: each part begins where the one
 * below it ends. */
static restride_status check_cover(const expression_parser *parser, int d, bool *passed)
{
    const rs_cursor *cursor = &parser->cursor;
    const restride_layout *layout = parser->layout;
    size_t expected = 1; /* where the next part begins; 0: nothing may follow */
    int below = -1;
    for (;;) {
        int t = next_term(layout, d, passed);
        if (t < 0)
            break;
        const rs_term *term = &layout->terms[t];
        if (term->divisor != expected)
            return fail_chain(parser, below, t, expected);
        if (!rs_size_multiply(term->divisor, term->modulus, &expected))
            return rs_cursor_fail(cursor, RESTRIDE_OVERFLOW, parser->spans[t].position,
                                  "%.*s reaches beyond 64 bits.", SPAN_ARGUMENTS(parser, t));
        passed[t] = true;
        below = t;
    }
    const char *name = layout->dimensions[d].name;
    if (below < 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, strlen(cursor->text),
                              "the dimension %s has no term.", name);
    if (expected != 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, parser->spans[below].position,
                              "the part %s/%zu is missing, which lies above %.*s.", name, expected,
                              SPAN_ARGUMENTS(parser, below));
    return RESTRIDE_OK;
}

/* Works out the padded extent and whether the last tile may be ragged. */
static restride_status check_tiles(const expression_parser *parser, int d)
{
    const restride_layout *layout = parser->layout;
    rs_dimension *dimension = &layout->dimensions[d];
    size_t top = 1;
    int previous = -1, disordered = -1;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->dimension != d)
            continue;
        if (term->padded && term->divisor > dimension->pad)
            dimension->pad = term->divisor;
        if (term->modulus == 1)
            continue; /* always 0, so its place does not matter */
        if (term->divisor > top)
            top = term->divisor;
        if (term->spread)
            continue; /* a process's own terms lie in memory */
        if (previous >= 0 && term->divisor > layout->terms[previous].divisor)
            disordered = t;
        previous = t;
    }
    dimension->descending = disordered < 0;
    if (layout->spread && dimension->pad > 1)
        return rs_cursor_fail(&parser->cursor, RESTRIDE_UNSUPPORTED, 0,
                              "%s is padded, and an array that is spread over processes cannot "
                              "be; leave out \":pad\".",
                              dimension->name);
    if (!rs_size_round_up(dimension->extent, dimension->pad, &dimension->padded_extent))
        return rs_cursor_fail(&parser->cursor, RESTRIDE_OVERFLOW, 0,
                              "the padded extent of %s does not fit into 64 bits.",
                              dimension->name);
    if (disordered >= 0 && dimension->padded_extent % top != 0)
        return rs_cursor_fail(&parser->cursor, RESTRIDE_SYNTAX, parser->spans[disordered].position,
                              "%zu does not divide the extent %zu of %s, and a ragged tile needs "
                              "the terms of %s from the largest tile to the smallest; reorder "
                              "them, or write %s/%zu:pad.",
                              top, dimension->extent, dimension->name, dimension->name,
                              dimension->name, top);
    return RESTRIDE_OK;
}

static restride_status check_size(restride_layout *layout)
{
    layout->size = layout->record >= 0 ? layout->dimensions[layout->record].record.size : 1;
    for (int d = 0; d < layout->rank; d++)
        if (d != layout->record &&
            !rs_size_multiply(layout->size, layout->dimensions[d].padded_extent, &layout->size))
            return rs_fail(RESTRIDE_OVERFLOW,
                           "The size of the array \"%.200s\" does not fit into 64 bits; its "
                           "extents are too large.",
                           layout->dims_text);
    size_t bytes;
    if (!rs_layout_count_bytes(layout, 0, &bytes))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "The array \"%.200s\" is more bytes than 64 bits can count; its extents are "
                       "too large.",
                       layout->dims_text);
    return RESTRIDE_OK;
}

/* Removes terms like i%1: their value is always 0, so the layout is the same without them. */
static void drop_constant_terms(restride_layout *layout)
{
    int kept = 0;
    for (int t = 0; t < layout->term_count; t++)
        if (layout->terms[t].modulus != 1)
            layout->terms[kept++] = layout->terms[t];
    layout->term_count = kept;
}

static restride_status parse_expression(restride_layout *layout, bool may_spread,
                                        rs_layout_fault *fault)
{
    expression_parser parser = {.cursor = {.text = layout->expression_text, .fault = fault},
                                .layout = layout,
                                .may_spread = may_spread};
    rs_cursor *cursor = &parser.cursor;
    restride_status status = RESTRIDE_OK;
    rs_cursor_skip_blanks(cursor);
    if (cursor->text[cursor->position] == '\0')
        status = rs_cursor_fail(cursor, RESTRIDE_SYNTAX, cursor->position,
                                "it is empty; write the terms from slowest to fastest, as in "
                                "\"i/32 f i%%32\".");
    while (status == RESTRIDE_OK && cursor->text[cursor->position] != '\0')
        status = parse_term(&parser);
    bool *passed = calloc((size_t)layout->term_count + 1, sizeof *passed);
    if (status == RESTRIDE_OK && passed == NULL)
        status = rs_fail_memory("a layout's terms");
    for (int d = 0; status == RESTRIDE_OK && d < layout->rank; d++) {
        status = check_cover(&parser, d, passed);
        if (status == RESTRIDE_OK)
            status = check_tiles(&parser, d);
    }
    free(passed);
    free(parser.spans);
    if (status == RESTRIDE_OK)
        status = check_size(layout);
    drop_constant_terms(layout);
    return status;
}

/* An empty layout with copies of its texts; NULL when memory is short. */
static restride_layout *create(const char *dims, const char *expression)
{
    restride_layout *layout = calloc(1, sizeof *layout);
    if (layout == NULL)
        return NULL;
    layout->record = -1;
    layout->dims_text = strdup(dims);
    layout->expression_text = strdup(expression);
    if (layout->dims_text == NULL || layout->expression_text == NULL) {
        restride_layout_destroy(layout);
        return NULL;
    }
    return layout;
}

/* Hands a finished layout to the caller, or frees it. */
static restride_status deliver(restride_layout *layout, restride_status status,
                               restride_layout **result)
{
    if (status != RESTRIDE_OK) {
        restride_layout_destroy(layout);
        layout = NULL;
    }
    *result = layout;
    return status;
}

static restride_status parse(restride_layout **layout, const char *dims, const char *expression,
                             bool may_spread, rs_layout_fault *fault)
{
    *layout = NULL;
    if (fault != NULL)
        *fault = (rs_layout_fault){.known = false};
    if (dims == NULL || expression == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "The %s is NULL; give a text.",
                       dims == NULL ? "dimension list" : "layout");
    restride_layout *created = create(dims, expression);
    if (created == NULL)
        return rs_fail_memory("a layout");
    restride_status status = parse_dims(created, fault);
    if (status == RESTRIDE_OK)
        status = parse_expression(created, may_spread, fault);
    return deliver(created, status, layout);
}

restride_status rs_layout_parse(restride_layout **layout, const char *dims, const char *expression,
                                rs_layout_fault *fault)
{
    return parse(layout, dims, expression, false, fault);
}

restride_status rs_layout_parse_spread(restride_layout **layout, const char *dims,
                                       const char *expression, rs_layout_fault *fault)
{
    return parse(layout, dims, expression, true, fault);
}

restride_status restride_layout_parse(restride_layout **layout, const char *dims,
                                      const char *expression)
{
    if (layout == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "There is no place for the layout: it is NULL.");
    return rs_layout_parse(layout, dims, expression, NULL);
}

restride_status rs_layout_of_record(restride_layout **layout, const rs_record *record, size_t count,
                                    const char *expression)
{
    *layout = NULL;
    rs_text dims = RS_TEXT_EMPTY;
    rs_text_format(&dims, "i:%zu f{ %zu bytes }", count, record->size);
    restride_layout *created = dims.failed ? NULL : create(dims.data, expression);
    rs_text_free(&dims);
    if (created == NULL)
        return rs_fail_memory("a layout");
    restride_status status = add_dimension(created, (rs_layout_name){"i", 1});
    if (status == RESTRIDE_OK)
        status = add_dimension(created, (rs_layout_name){"f", 1});
    if (status == RESTRIDE_OK) {
        created->record = 1;
        created->dimensions[0].extent = count;
        created->dimensions[1].is_record = true;
        created->dimensions[1].extent = record->leaf_count;
        status = rs_record_copy(&created->dimensions[1].record, record);
    }
    if (status == RESTRIDE_OK)
        status = parse_expression(created, false, NULL);
    return deliver(created, status, layout);
}
