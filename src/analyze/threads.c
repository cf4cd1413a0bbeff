/* The indices by which work-items and threads know themselves, under the same names in OpenCL C and
 * CUDA C. */
#include "analyze/walk.h"
#include "source/query.h"

#include <stdio.h>
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

bool rs_walk_thread_call(rs_walk *walk, const char *name, int node, rs_value *value)
{
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
        *value = fixed ? index_value(walk, &calls[i], (int)dimension) : rs_value_unknown(0, true);
        return true;
    }
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
