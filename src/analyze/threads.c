/* The indices by which work-items and threads know themselves, under the same names in OpenCL C and
 * CUDA C. */
#include "analyze/walk.h"
#include "source/query.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 32 };

typedef struct {
    const char *spelling, *name;
    rs_symbol_kind kind;
    bool size;
} index_word;

/* name: what follows the dot is the dimension. */
static const index_word calls[] = {
    {"get_global_id", "global", RS_SYMBOL_GLOBAL, false},
    {"get_local_id", "local", RS_SYMBOL_LOCAL, false},
    {"get_group_id", "group", RS_SYMBOL_GROUP, false},
    {"get_local_size", "group_size", RS_SYMBOL_PARAMETER, true},
    {"get_enqueued_local_size", "group_size", RS_SYMBOL_PARAMETER, true},
    {"get_num_groups", "groups", RS_SYMBOL_PARAMETER, false},
    {"get_global_size", "global_size", RS_SYMBOL_PARAMETER, false},
    {"get_global_offset", "global_offset", RS_SYMBOL_PARAMETER, false}};

static const index_word members[] = {{"threadIdx", "local", RS_SYMBOL_LOCAL, false},
                                     {"blockIdx", "group", RS_SYMBOL_GROUP, false},
                                     {"blockDim", "group_size", RS_SYMBOL_PARAMETER, true},
                                     {"gridDim", "groups", RS_SYMBOL_PARAMETER, false}};

static rs_value index_value(rs_walk *walk, const index_word *word, int dimension)
{
    char name[NAME_ROOM];
    if (word->size && walk->unit->group[dimension] > 0)
        return rs_value_constant(walk->unit->group[dimension]);
    snprintf(name, sizeof name, "%s.%c", word->name, "xyz"[dimension]);
    int symbol = rs_symbols_find(&walk->unit->symbols, name, word->kind, dimension);
    if (symbol < 0)
        return rs_value_unknown(0, true);
    walk->unit->symbols.symbols[symbol].size = word->size;
    return rs_value_number(rs_polynomial_symbol(symbol));
}

bool rs_name_is_thread_call(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].spelling, name) == 0)
            return true;
    return false;
}

uint64_t rs_walk_lane(rs_walk *walk)
{
    rs_symbols *symbols = &walk->unit->symbols;
    int symbol = walk->unit->kernel ? rs_symbols_find(symbols, "local.x", RS_SYMBOL_LOCAL, 0) : -1;
    return symbol < 0 ? 0 : rs_symbol_depends(symbols, symbol);
}

uint64_t rs_walk_anything(rs_walk *walk)
{
    return rs_walk_columns(walk) | rs_walk_lane(walk);
}

/* ---- numbers that count through all dimensions ---- */

/* Whether an index of another dimension than the first is asked for at or below a node. */
static bool has_dimensions(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    char *text = tree->nodes[node].is == RS_NODE_CALL || tree->nodes[node].is == RS_NODE_MEMBER
                     ? rs_walk_source(walk, node)
                     : NULL;
    bool found = false;
    for (size_t i = 0; text != NULL && i < 3 && !found; i++) {
        size_t length = strlen(calls[i].spelling);
        found = strncmp(text, calls[i].spelling, length) == 0 && text[length] == '(' &&
                strcmp(text + length, "(0)") != 0;
    }
    for (size_t i = 0; text != NULL && i < 2 && !found; i++) {
        size_t length = strlen(members[i].spelling);
        found = strncmp(text, members[i].spelling, length) == 0 && text[length] == '.' &&
                text[length + 1] != 'x';
    }
    free(text);
    for (int child = tree->nodes[node].first; child >= 0 && !found; child = tree->nodes[child].next)
        found = has_dimensions(walk, child);
    return found;
}

/* How many dimensions a kernel seems to be launched with: one, unless it asks for others. */
static int launch_dimensions(const rs_walk *walk)
{
    const int64_t *group = walk->unit->group;
    if (group[0] > 0)
        return group[1] > 1 || group[2] > 1 ? 3 : 1;
    return has_dimensions(walk, walk->calls[0]) ? 3 : 1;
}

/* x + size.x * (y + size.y * z) */
static rs_value linear_value(rs_walk *walk, const index_word *index, const index_word *size)
{
    int last = launch_dimensions(walk) - 1;
    rs_value value = index_value(walk, index, last);
    for (int dimension = last - 1; dimension >= 0; dimension--) {
        rs_value extent = index_value(walk, size, dimension);
        rs_value own = index_value(walk, index, dimension);
        value = rs_walk_operate(walk, '*', &value, &extent);
        value = rs_walk_operate(walk, '+', &value, &own);
    }
    return value;
}

/* A number of which no more is known than that it varies with the work-item. */
static rs_value lane_value(rs_walk *walk, const char *name)
{
    rs_value value =
        rs_value_number(rs_walk_auxiliary(walk, name, rs_walk_lane(walk), false, false));
    if (value.kind == RS_VALUE_NUMBER)
        walk->unit->symbols.symbols[value.number.terms[0].symbols[0]].natural = true;
    return value;
}

static bool linear_call(rs_walk *walk, const char *name, rs_value *value)
{
    bool global = strcmp(name, "get_global_linear_id") == 0;
    bool lane =
        strcmp(name, "get_sub_group_local_id") == 0 || strcmp(name, "get_sub_group_id") == 0;
    if (!walk->unit->kernel || !(global || lane || strcmp(name, "get_local_linear_id") == 0))
        return false;
    *value = lane ? lane_value(walk, name + strlen("get_"))
                  : linear_value(walk, &calls[global ? 0 : 1], &calls[global ? 6 : 3]);
    return true;
}

bool rs_walk_thread_call(rs_walk *walk, const char *name, int node, rs_value *value)
{
    if (linear_call(walk, name, value))
        return true;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(calls[i].spelling, name) != 0)
            continue;
        int argument = walk->tree->nodes[node].first;
        argument = argument < 0 ? -1 : walk->tree->nodes[argument].next;
        rs_value which =
            argument < 0 ? rs_value_unknown(0, false) : rs_walk_evaluate(walk, argument);
        int64_t dimension = 0;
        bool fixed = which.kind == RS_VALUE_NUMBER &&
                     rs_polynomial_is_constant(&which.number, &dimension) && dimension >= 0 &&
                     dimension < 3;
        *value = fixed ? index_value(walk, &calls[i], (int)dimension)
                       : rs_value_unknown(rs_walk_anything(walk), true);
        return true;
    }
    return false;
}

bool rs_walk_thread_copy(rs_walk *walk, uint64_t key, const char *member, rs_value *value)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (key == rs_name_key(members[i].spelling))
            return rs_walk_thread_member(walk, members[i].spelling, member, value);
    return false;
}

bool rs_walk_thread_member(rs_walk *walk, const char *object, const char *member, rs_value *value)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (strcmp(members[i].spelling, object) == 0 && member[0] >= 'x' && member[0] <= 'z' &&
            member[1] == '\0') {
            *value = index_value(walk, &members[i], member[0] - 'x');
            return true;
        }
    return false;
}

/* ---- work-groups whose extents the source fixes ---- */

/* A number in decimal, octal or sixteens, in parentheses or not, up to the comma or the parenthesis
 * that ends its argument; `*at` is what stands before it, and then after it. Nothing else is read:
 * then the extents are not known. */
static bool read_extent(const char **at, int64_t *extent)
{
    const char *c = *at + 1;
    int open = 0;
    for (; isspace((unsigned char)*c) || *c == '('; c++)
        open += *c == '(';
    char *after;
    *extent = strtoll(c, &after, 0);
    if (after == c || *extent < 1)
        return false;
    c = after + strspn(after, "uUlL");
    for (; isspace((unsigned char)*c) || (*c == ')' && open > 0); c++)
        open -= *c == ')';
    *at = c;
    return open == 0 && (*c == ',' || *c == ')');
}

void rs_unit_read_group(rs_unit *unit, const char *text, size_t size)
{
    static const char word[] = "reqd_work_group_size";
    for (size_t i = 0; i + sizeof word < size; i++) {
        if (strncmp(text + i, word, sizeof word - 1) != 0)
            continue;
        const char *at = strchr(text + i, '(');
        int64_t extents[3];
        bool read = at != NULL;
        for (int dimension = 0; dimension < 3 && read; dimension++)
            read = read_extent(&at, &extents[dimension]);
        if (read)
            memcpy(unit->group, extents, sizeof extents);
        return;
    }
}
