/* Finds declarations of grids by their words; see grids.h. */
#include "analyze/grids.h"

#include "base/list.h"
#include "base/text.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t size;
} source;

/* ---- words ---- */

static size_t skip_blanks(const source *s, size_t at)
{
    while (at < s->size && isspace((unsigned char)s->text[at]))
        at++;
    return at;
}

/* The byte before `at`, blanks aside; 0 bytes at the beginning. */
static size_t before(const source *s, size_t at)
{
    while (at > 0 && isspace((unsigned char)s->text[at - 1]))
        at--;
    return at;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The word that ends before `at`; its length. */
static size_t word_before(const source *s, size_t at, size_t *word)
{
    size_t end = before(s, at);
    *word = end;
    while (*word > 0 && in_word(s->text[*word - 1]))
        (*word)--;
    return end > *word && !isdigit((unsigned char)s->text[*word]) ? end - *word : 0;
}

/* The last word of a type, as in sizeof(unsigned char[n][m]): no name. */
static bool is_type_word(const source *s, size_t word, size_t length)
{
    if (rs_is_among(s->text + word, length,
                    "char short int long float double signed unsigned const volatile"))
        return true;
    size_t before_it, size = word_before(s, word, &before_it);
    return rs_is_among(s->text + before_it, size, "struct union enum");
}

static bool follows_type(const source *s, size_t at)
{
    size_t word, length = word_before(s, at, &word);
    /* A word after which an expression may stand; every other one before a name is a type. */
    return length > 0 && !rs_is_among(s->text + word, length, "return else case goto do sizeof");
}

/* Whether `at` lies in the parameters of a function: in round brackets outside of any body. */
static bool in_parameters(const source *s, size_t at)
{
    int round = 0;
    while (at > 0) {
        char c = s->text[--at];
        round += c == '(';
        round -= c == ')';
        if (c == ';' || c == '{' || c == '}')
            break;
    }
    return round > 0;
}

/* ---- declarations ---- */

static size_t matching_bracket(const source *s, size_t at)
{
    int depth = 0;
    for (; at < s->size; at++) {
        depth += s->text[at] == '[';
        depth -= s->text[at] == ']';
        if (depth == 0)
            return at;
    }
    return s->size;
}

static bool is_number(const char *text)
{
    size_t length = strlen(text);
    return isdigit((unsigned char)text[0]) &&
           strspn(text, "0123456789xXabcdefABCDEFuUlL") == length;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The text between two bytes, with no blanks but between names; NULL for nothing. */
static char *copy_extent(const source *s, size_t begin, size_t end, bool *no_memory)
{
    char *copy = malloc(end - begin + 1);
    size_t length = 0;
    *no_memory = *no_memory || copy == NULL;
    for (size_t i = begin; copy != NULL && i < end; i++) {
        if (isspace((unsigned char)s->text[i]))
            continue;
        if (length > 0 && is_name(copy[length - 1]) && is_name(s->text[i]) &&
            isspace((unsigned char)s->text[i - 1]))
            copy[length++] = ' ';
        copy[length++] = s->text[i];
    }
    if (copy == NULL || length == 0) {
        free(copy);
        return NULL;
    }
    copy[length] = '\0';
    return copy;
}

static bool is_qualifier(const source *s, size_t word, size_t length)
{
    return rs_is_among(s->text + word, length, "static const restrict __restrict__ __restrict");
}

/* Where an extent begins behind `static` and qualifiers: [static restrict n]. */
static size_t skip_qualifiers(const source *s, size_t at)
{
    at = skip_blanks(s, at);
    for (size_t length = rs_identifier_length(s->text + at); is_qualifier(s, at, length);
         length = rs_identifier_length(s->text + at))
        at = skip_blanks(s, at + length);
    return at;
}

/* Reads the brackets from `at` on; false when they are not those of a grid. */
static bool read_brackets(const source *s, size_t at, rs_grid *grid, bool *no_memory)
{
    bool variable = false;
    grid->first = at;
    while (at < s->size && s->text[at] == '[' && grid->rank < RS_SUBSCRIPT_LIMIT) {
        size_t end = matching_bracket(s, at);
        if (end == s->size)
            return false;
        char *extent = copy_extent(s, skip_qualifiers(s, at + 1), end, no_memory);
        variable = variable || (extent != NULL && !is_number(extent));
        grid->extents[grid->rank++] = extent;
        grid->last = end + 1;
        at = skip_blanks(s, end + 1);
    }
    return variable && grid->rank >= 2;
}

/* The name before a bracket, or the (*name) or (*) there. */
static bool read_declarator(const source *s, size_t bracket, rs_grid *grid)
{
    size_t word, length = word_before(s, bracket, &word);
    if (length > 0) {
        *grid = (rs_grid){.name = word, .name_length = length, .parameter = true};
        return follows_type(s, word) && !is_type_word(s, word, length) && in_parameters(s, word);
    }
    size_t close = before(s, bracket);
    if (close == 0 || s->text[close - 1] != ')')
        return false;
    length = word_before(s, close - 1, &word);
    size_t star = before(s, length > 0 ? word : close - 1);
    for (size_t qualifier, long_as = word_before(s, star, &qualifier);
         length > 0 && is_qualifier(s, qualifier, long_as);
         long_as = word_before(s, star, &qualifier))
        star = before(s, qualifier);
    if (star == 0 || s->text[star - 1] != '*')
        return false;
    size_t open = before(s, star - 1);
    if (open == 0 || s->text[open - 1] != '(')
        return false;
    *grid = (rs_grid){.name = length > 0 ? word : open - 1, .name_length = length, .rank = 1};
    size_t previous = before(s, open - 1);
    return follows_type(s, open - 1) ||
           (previous > 0 && s->text[previous - 1] == ',' && length > 0);
}

static void free_extents(rs_grid *grid)
{
    for (int d = 0; d < grid->rank; d++)
        free(grid->extents[d]);
}

static bool add(rs_grids *grids, const rs_grid *grid)
{
    if (!RS_LIST_GROW(grids->grids, grids->count))
        return false;
    grids->grids[grids->count++] = *grid;
    return true;
}

static void find_declared(rs_grids *grids, const source *s, bool *no_memory)
{
    for (size_t at = 0; at < s->size && !*no_memory; at = rs_word_skip(s->text, s->size, at)) {
        rs_grid grid;
        if (s->text[at] != '[' || !read_declarator(s, at, &grid))
            continue;
        bool found = read_brackets(s, at, &grid, no_memory);
        if (found && add(grids, &grid)) {
            at = grid.last - 1;
            continue;
        }
        *no_memory = *no_memory || found;
        free_extents(&grid);
    }
}

/* ---- comments ---- */

/* The next "*name" that follows a type, or another name of its declaration; or 0. */
static size_t find_pointer(const source *s, size_t from, const char *name, size_t length)
{
    size_t at = from, word, word_length;
    while (rs_word_next(s->text, s->size, &at, &word, &word_length)) {
        if (word_length != length || strncmp(s->text + word, name, length) != 0)
            continue;
        size_t previous, star = before(s, word);
        size_t qualifier = word_before(s, star, &previous);
        if (is_qualifier(s, previous, qualifier))
            star = before(s, previous);
        if (star == 0 || s->text[star - 1] != '*')
            continue;
        size_t type = before(s, star - 1);
        if (follows_type(s, star - 1) || (type > 0 && s->text[type - 1] == ','))
            return word;
    }
    return 0;
}

/* Comments that tell the extents of the next flat pointer of a name. */
static void find_told(rs_grids *grids, const source *s, const char *shown, bool *no_memory)
{
    static const char mark[] = "restride: grid ";
    const source comments = {shown, s->size};
    for (const char *found = strstr(shown, mark); found != NULL && !*no_memory;
         found = strstr(found + 1, mark)) {
        size_t name = (size_t)(found - shown) + strlen(mark);
        size_t length = rs_identifier_length(shown + name);
        size_t bracket = skip_blanks(&comments, name + length);
        rs_grid grid = {.flat = true, .name_length = length};
        if (s->text[name] != ' ' || length == 0) /* no comment */
            continue;
        grid.name = find_pointer(s, bracket, shown + name, length);
        bool told = read_brackets(&comments, bracket, &grid, no_memory) && grid.name != 0;
        grid.first = grid.last = grid.name;
        if (!told || !add(grids, &grid)) {
            *no_memory = *no_memory || told;
            free_extents(&grid);
        }
    }
}

restride_status rs_grids_find(rs_grids *grids, const char *text, const char *shown, size_t size)
{
    const source s = {text, size};
    bool no_memory = false;
    *grids = (rs_grids){NULL, 0};
    find_declared(grids, &s, &no_memory);
    if (!no_memory)
        find_told(grids, &s, shown, &no_memory);
    if (no_memory)
        rs_grids_free(grids);
    return no_memory ? rs_fail_memory("the grids of a source") : RESTRIDE_OK;
}

int rs_grid_subscripts(const rs_grid *grid)
{
    return grid->flat ? 1 : grid->rank;
}

/* ---- what is parsed ---- */

/* Each becomes 1, so that all such types are the same. */
static void blank_extent(char *text, size_t begin, size_t end)
{
    bool number = true;
    for (size_t i = begin; i < end; i++)
        number = number && (isdigit((unsigned char)text[i]) || isspace((unsigned char)text[i]));
    if (number || begin == end)
        return;
    for (size_t i = begin; i < end; i++)
        if (text[i] != '\n')
            text[i] = ' ';
    text[begin] = '1';
}

void rs_grids_blank(const rs_grids *grids, char *text)
{
    for (int g = 0; g < grids->count; g++) {
        const source s = {text, grids->grids[g].last};
        for (size_t at = grids->grids[g].first; at < s.size; at++)
            if (text[at] == '[') {
                size_t end = matching_bracket(&s, at);
                blank_extent(text, at + 1, end);
                at = end;
            }
    }
}

int rs_grids_at(const rs_grids *grids, size_t offset)
{
    for (int g = 0; g < grids->count; g++)
        if (grids->grids[g].name_length > 0 && grids->grids[g].name == offset)
            return g;
    return -1;
}

void rs_grids_forget_extents(const rs_grids *grids, rs_model_set *set)
{
    for (int u = 0; u < set->unit_count; u++)
        for (int a = 0; a < set->units[u].array_count; a++) {
            rs_array *array = &set->units[u].arrays[a];
            int g = array->key >> 32 == 0 ? rs_grids_at(grids, (size_t)array->key) : -1;
            for (int d = 0; g >= 0 && d < grids->grids[g].rank; d++) {
                const char *extent = grids->grids[g].extents[d];
                if (extent == NULL || !is_number(extent))
                    array->extents[d] = 0;
            }
        }
}

void rs_grids_free(rs_grids *grids)
{
    for (int g = 0; g < grids->count; g++)
        free_extents(&grids->grids[g]);
    free(grids->grids);
    *grids = (rs_grids){NULL, 0};
}
