/* See copies.h. */
#include "analyze/copies.h"

#include "analyze/extents.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

enum { FACTOR_LIMIT = 24, EXPAND_LIMIT = 8 };

/* A number and other factors, in order; `unknown`: what is no such product. */
typedef struct {
    const rs_translation_unit *program;
    const rs_propagation *found;
    int via;      /* the call whose arguments stand for parameters, or 0 */
    size_t there; /* where names mean what they mean in the extents */
    long long number;
    int count;
    bool unknown;
    char factors[FACTOR_LIMIT][64];
} product;

static void add_factor(product *p, const char *text, size_t length)
{
    if (p->count == FACTOR_LIMIT || length >= sizeof p->factors[0]) {
        p->unknown = true;
        return;
    }
    int at = p->count++;
    char factor[64];
    memcpy(factor, text, length);
    factor[length] = '\0';
    for (; at > 0 && strcmp(p->factors[at - 1], factor) > 0; at--)
        memcpy(p->factors[at], p->factors[at - 1], sizeof factor);
    memcpy(p->factors[at], factor, length + 1);
}

static void multiply(product *p, long long by)
{
    if (by <= 0 || p->number > (1LL << 60) / by)
        p->unknown = true;
    else
        p->number *= by;
}

/* Extents are names, numbers and products of them; any other one is a factor as it is. */
static void add_extent(product *p, const char *extent)
{
    static const char in_words[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    if (extent == NULL) {
        p->unknown = true;
        return;
    }
    if (extent[strspn(extent, in_words)] != '\0' && strpbrk(extent, "+-/%()") != NULL) {
        add_factor(p, extent, strlen(extent));
        return;
    }
    for (; *extent != '\0'; extent += *extent == '*') {
        size_t length = strspn(extent, in_words);
        char *end;
        long long number = strtoll(extent, &end, 10);
        if (length == 0)
            p->unknown = true;
        else if (end == extent + length && (*extent != '0' || length == 1))
            multiply(p, number);
        else
            add_factor(p, extent, length);
        extent += length;
        if (p->unknown)
            return;
    }
}

static void add_node(product *p, int node, int depth);

/* The argument that a call of the source has for a parameter; -1 for none. */
static int argument_for(const rs_tree *tree, int call, int parameter)
{
    int argument = rs_node_argument(tree, call);
    for (int i = tree->nodes[tree->nodes[parameter].parent].first; i >= 0 && argument >= 0;
         i = tree->nodes[i].next) {
        if (tree->nodes[i].is != RS_NODE_PARAMETER)
            continue;
        if (i == parameter)
            return argument;
        argument = tree->nodes[argument].next;
    }
    return -1;
}

/* A name of a size is that of an extent, or what it was set to. */
static void add_name(product *p, int node, int depth)
{
    const rs_tree *tree = &p->program->tree;
    const rs_node *n = &tree->nodes[node];
    const rs_syntax_declaration *declared = n->declaration;
    int declaration = -1;
    for (int i = 1; i < tree->node_count && declaration < 0; i++)
        if ((tree->nodes[i].is == RS_NODE_VARIABLE || tree->nodes[i].is == RS_NODE_PARAMETER ||
             tree->nodes[i].is == RS_NODE_ENUMERATOR) &&
            tree->nodes[i].declaration == declared)
            declaration = i;
    if (declaration < 0 || !rs_extent_is_settled(tree, declaration, n->begin)) {
        p->unknown = true;
        return;
    }
    int via = p->via, argument = -1;
    if (via > 0 && tree->nodes[declaration].is == RS_NODE_PARAMETER)
        argument = argument_for(tree, via, declaration);
    if (argument >= 0) {
        p->via = 0;
        add_node(p, argument, depth + 1);
        p->via = via;
    } else if (rs_extent_resolve(tree, tree->text + n->begin, n->end - n->begin, p->there) ==
               declaration) {
        add_factor(p, tree->text + n->begin, n->end - n->begin);
    } else if (tree->nodes[declaration].is == RS_NODE_VARIABLE &&
               rs_node_initializer(tree, declaration) >= 0 &&
               rs_extent_is_settled(tree, declaration, tree->nodes[declaration].begin)) {
        add_node(p, rs_node_initializer(tree, declaration), depth + 1);
    } else {
        p->unknown = true;
    }
}

static void add_number(product *p, int node)
{
    int64_t value;
    if (rs_tree_evaluate(&p->program->tree, node, &value))
        multiply(p, value);
    else
        p->unknown = true;
}

/* Whether sizeof is asked of what the source declares: a type that was supplied, or a structure of
 * such, has another size. */
static bool has_known_size(const rs_translation_unit *program, const rs_node *n)
{
    static const char language[] = "sizeof char short int long float double const signed unsigned";
    const char *text = program->tree.text + n->begin;
    bool types = strstr(program->supplied, "typedef") != NULL;
    size_t at = 0, word, length;
    while (rs_word_next(text, n->end - n->begin, &at, &word, &length))
        if (types ? !rs_words_have(language, 0, strlen(language), text + word, length)
                  : rs_words_have(program->supplied, 0, strlen(program->supplied), text + word,
                                  length))
            return false;
    return true;
}

/* Bytes of a type that is one name, or words of the language; 0 for others. */
static long long size_of_words(const rs_translation_unit *program, int node, const char *words,
                               size_t length)
{
    const rs_tree *tree = &program->tree;
    static const struct {
        const char *name;
        long long size;
    } known[] = {{"char", 1},        {"signed char", 1},    {"unsigned char", 1}, {"short", 2},
                 {"int", 4},         {"unsigned", 4},       {"unsigned int", 4},  {"long", 8},
                 {"float", 4},       {"unsigned short", 2}, {"unsigned long", 8}, {"double", 8},
                 {"long double", 16}};
    while (length > 0 && strchr(" \t\n", words[length - 1]) != NULL)
        length--;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].name) == length && memcmp(known[i].name, words, length) == 0)
            return known[i].size;
    if (strstr(program->supplied, "typedef") != NULL) /* it may be made of such */
        return 0;
    RS_EACH_CHILD(child, tree, node)
        if (tree->nodes[child].is == RS_NODE_TYPE_NAME &&
            tree->nodes[child].end <= (size_t)(words - tree->text) + length)
            return rs_type_bytes(tree->nodes[child].type);
    return 0;
}

/* Whether an extent that is written at a byte is that of the grid's function, and does not change.
 */
static bool means_the_same(const product *p, const char *extent, size_t at)
{
    const rs_tree *tree = &p->program->tree;
    size_t from = 0, word, length;
    bool same = p->via == 0 && rs_extent_is_plain(extent) &&
                rs_extent_means_same(tree, extent, at, p->there);
    while (same && rs_word_next(extent, strlen(extent), &from, &word, &length)) {
        int declaration = rs_extent_resolve(tree, extent + word, length, p->there);
        same = declaration >= 0 && rs_extent_is_settled(tree, declaration, at);
    }
    return same;
}

/* sizeof(double[n][m]); false for other forms. */
static bool add_array_size(product *p, int node)
{
    const rs_tree *tree = &p->program->tree;
    const rs_node *n = &tree->nodes[node];
    const char *text = tree->text + n->begin, *end = tree->text + n->end;
    const char *open = memchr(text, '(', n->end - n->begin);
    const char *bracket = memchr(text, '[', n->end - n->begin);
    if (open == NULL || bracket == NULL || memchr(open + 1, '(', (size_t)(bracket - open)) != NULL)
        return false;
    open += 1 + strspn(open + 1, " \t\n");
    long long size = size_of_words(p->program, node, open, (size_t)(bracket - open));
    if (size <= 0)
        return false;
    multiply(p, size);
    while (bracket < end && *bracket == '[') {
        const char *close = memchr(bracket, ']', (size_t)(end - bracket));
        char extent[64];
        size_t length = 0;
        for (const char *c = bracket + 1; close != NULL && c < close && length < 63; c++)
            if (strchr(" \t\n", *c) == NULL)
                extent[length++] = *c;
        extent[length] = '\0';
        if (close == NULL || length == 0 || length == 63 || !means_the_same(p, extent, n->begin))
            p->unknown = true;
        else
            add_extent(p, extent);
        if (close == NULL)
            return true;
        bracket = close + 1 + strspn(close + 1, " \t\n");
    }
    p->unknown = p->unknown || *bracket != ')';
    return true;
}

static void add_size(product *p, int node)
{
    for (int i = 0; i < p->found->measure_count; i++) {
        const rs_grid_measure *measure = &p->found->measures[i];
        const rs_grid *grid = &p->program->grids.grids[measure->grid];
        if (measure->node != node)
            continue;
        multiply(p, p->found->sizes[measure->grid]);
        for (int d = measure->depth; d < grid->rank; d++)
            add_extent(p, grid->extents[d]);
        return;
    }
    if (add_array_size(p, node))
        return;
    if (!has_known_size(p->program, &p->program->tree.nodes[node]))
        p->unknown = true;
    else
        add_number(p, node);
}

static void add_node(product *p, int node, int depth)
{
    const rs_tree *tree = &p->program->tree;
    node = node >= 0 ? rs_node_inner(tree, node) : -1;
    if (node < 0 || depth > EXPAND_LIMIT || p->unknown) {
        p->unknown = true;
        return;
    }
    switch ((int)tree->nodes[node].is) {
    case RS_NODE_REFERENCE:
        add_name(p, node, depth);
        return;
    case RS_NODE_INTEGER:
        add_number(p, node);
        return;
    case RS_NODE_SIZEOF:
        add_size(p, node);
        return;
    case RS_NODE_CAST:
    case RS_NODE_STATIC_CAST:
        p->unknown = rs_type_bytes(rs_type_of(tree, node)) < 4;
        add_node(p, rs_node_last(tree, node), depth + 1);
        return;
    case RS_NODE_BINARY:
        if (rs_node_is_binary(tree, node, "*")) {
            add_node(p, rs_node_child(tree, node, 0), depth + 1);
            add_node(p, rs_node_child(tree, node, 1), depth + 1);
            return;
        }
    }
    /* As an extent is written: without blanks. */
    char text[64];
    size_t length = 0, word_at = 0, word, size;
    for (size_t at = tree->nodes[node].begin; at < tree->nodes[node].end && length < 63; at++)
        if (strchr(" \t\n", tree->text[at]) == NULL)
            text[length++] = tree->text[at];
    text[length] = '\0';
    p->unknown = p->unknown || length == 63 || p->via > 0 || !rs_extent_is_plain(text) ||
                 !rs_extent_means_same(tree, text, tree->nodes[node].begin, p->there);
    while (!p->unknown && rs_word_next(text, length, &word_at, &word, &size)) {
        int declaration = rs_extent_resolve(tree, text + word, size, p->there);
        p->unknown =
            declaration < 0 || !rs_extent_is_settled(tree, declaration, tree->nodes[node].begin);
    }
    if (!p->unknown)
        add_factor(p, text, length);
}

/* The number of bytes that a call allocates. */
static void add_allocation(product *p, int call)
{
    static const struct {
        const char *name;
        int first, second;
    } known[] = {{"malloc", 1, 0}, {"calloc", 1, 2}, {"posix_memalign", 3, 0}};
    const rs_tree *tree = &p->program->tree;
    const char *name = call > 0 ? tree->nodes[call].name : "";
    int first = 2, second = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0) {
            first = known[i].first;
            second = known[i].second;
        }
    p->unknown = call <= 0;
    if (call > 0)
        add_node(p, rs_node_child(tree, call, first), 0);
    if (call > 0 && second > 0)
        add_node(p, rs_node_child(tree, call, second), 0);
}

/* Whether so many bytes are all of a grid: the same product as its extents and an element. */
static bool is_whole(const rs_propagation *found, const rs_translation_unit *program,
                     const rs_grid_copy *copy)
{
    const rs_grid *grid = &program->grids.grids[copy->grid];
    product size = {program, found, copy->via, grid->name, 1, 0, false, {{0}}}, all = size;
    if (copy->allocation)
        add_allocation(&size, copy->size);
    else
        add_node(&size, copy->size, 0);
    multiply(&all, found->sizes[copy->grid]);
    for (int d = 0; d < grid->rank; d++)
        add_extent(&all, d == 0 && grid->extents[0] == NULL ? found->outer[copy->grid]
                                                            : grid->extents[d]);
    bool same =
        !size.unknown && !all.unknown && size.number == all.number && size.count == all.count;
    for (int i = 0; same && i < all.count; i++)
        same = strcmp(size.factors[i], all.factors[i]) == 0;
    return same;
}

restride_status rs_copies_check(rs_propagation *found, const rs_translation_unit *program,
                                char *const *layouts)
{
    for (int i = 0; i < found->copy_count; i++) {
        const rs_grid_copy *copy = &found->copies[i];
        int class = rs_grid_class(found, copy->class);
        rs_note *reason = &found->kept[class];
        if (layouts[class] == NULL || reason->sentence != NULL || is_whole(found, program, copy))
            continue;
        const char *file;
        size_t line, where = copy->size > 0 ? program->tree.nodes[copy->size].begin
                                            : program->grids.grids[copy->grid].name;
        rs_flat_locate(&program->flat, where, &file, &line);
        *reason = (rs_note){
            strdup(file), (int)line,
            strdup(copy->allocation ? "the memory is not known to be as large as the extents say"
                                    : "a part of the grid is copied or filled; its first bytes are "
                                      "other elements in a layout")};
        if (reason->file == NULL || reason->sentence == NULL)
            return rs_fail_memory("a reason");
    }
    return RESTRIDE_OK;
}
