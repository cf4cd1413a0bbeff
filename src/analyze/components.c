/* Which components of a vector are named. */
#include "analyze/components.h"
#include "base/text.h"
#include "source/query.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 64, PADDED_COUNT = 3, LETTERS = 4 };

int rs_component_number(const char *name)
{
    static const char letters[] = "xyzwrgba", digits[] = "0123456789abcdef";
    const char *found = NULL;
    if (strlen(name) == 1 && (found = strchr(letters, name[0])) != NULL)
        return (int)(found - letters) % LETTERS;
    if (strlen(name) == 2 && (name[0] == 's' || name[0] == 'S') &&
        (found = strchr(digits, tolower((unsigned char)name[1]))) != NULL)
        return (int)(found - digits);
    return -1;
}

void rs_components_name(const rs_tree *tree, int node, int base, char *name, size_t room)
{
    size_t end = tree->nodes[node].end, begin = end;
    while (begin > tree->nodes[base].end && isalnum((unsigned char)tree->text[begin - 1]))
        begin--;
    snprintf(name, room, "%.*s", (int)(end - begin), tree->text + begin);
}

/* Whether a word for half of a vector of `count` names component `i` of it. */
static bool is_in_half(const char *word, int i, int count)
{
    const bool upper = i >= (count + 1) / 2, odd = i % 2 != 0;
    return word[0] == 'l' ? !upper : word[0] == 'h' ? upper : word[0] == 'o' ? odd : !odd;
}

static bool is_half(const char *name)
{
    return rs_is_among(name, strlen(name), "lo hi even odd");
}

/* Keeps of some components those that a name stands for. */
static bool pick(rs_components *some, const char *name)
{
    const rs_components from = *some;
    const bool digits = strlen(name) > 1 && (name[0] == 's' || name[0] == 'S');
    some->count = 0;
    for (int i = 0; is_half(name) && i < from.count; i++)
        if (is_in_half(name, i, from.count))
            some->numbers[some->count++] = from.numbers[i];
    if (is_half(name))
        return some->count > 0;
    for (const char *c = digits ? name + 1 : name; *c != '\0'; c++) {
        const char one[] = {digits ? 's' : *c, digits ? *c : '\0', '\0'};
        int number = rs_component_number(one);
        if (number < 0 || number >= from.count || some->count == RS_COMPONENT_LIMIT)
            return false;
        some->numbers[some->count++] = from.numbers[number];
    }
    return some->count > 0;
}

/* The vector whose components a member access at `node` names, or an invalid type. */
static const rs_syntax_type *vector_below(const rs_tree *tree, int node)
{
    int base = rs_node_child(tree, node, 0);
    if (base < 0)
        return &rs_type_none;
    const rs_syntax_type *type = rs_type_of(tree, base);
    return type->kind == RS_TYPE_POINTER ? rs_type_below(type) : type;
}

static int count_of(const rs_syntax_type *vector)
{
    bool plain = vector->kind == RS_TYPE_VECTOR;
    long long count = plain ? vector->count : -1;
    return count <= RS_COMPONENT_LIMIT ? (int)count : -1;
}

static bool is_named(const rs_tree *tree, int node, int like)
{
    return node >= 0 && tree->nodes[node].is == tree->nodes[like].is &&
           count_of(vector_below(tree, node)) > 0;
}

bool rs_components_read(const rs_tree *tree, int node, rs_components *named)
{
    char name[NAME_ROOM];
    const rs_syntax_type *vector = vector_below(tree, node);
    const int count = count_of(vector);
    if (count <= 0)
        return false;
    const int base = rs_node_child(tree, node, 0), inner = rs_node_inner(tree, base);
    *named = (rs_components){.count = count};
    named->size = rs_type_bytes(vector) / (count == PADDED_COUNT ? count + 1 : count);
    for (int i = 0; i < count; i++)
        named->numbers[i] = i;
    if (is_named(tree, inner, node))
        rs_components_read(tree, inner, named);
    const rs_components all = *named; /* of what is picked from */
    rs_components_name(tree, node, base, name, sizeof name);
    if (named->guessed || !pick(named, name)) {
        *named = all;
        named->guessed = true;
    }
    return true;
}
