#include "rewrite/names.h"

#include "base/list.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is declared ---- */

static restride_status add(rs_names *names, rs_name_kind kind, uintptr_t function, const char *text)
{
    if (text[0] == '\0')
        return RESTRIDE_OK; /* a parameter may have no name */
    rs_name name = {kind, function, strdup(text), strlen(text)};
    if (name.text == NULL || !RS_LIST_GROW(names->items, names->count)) {
        free(name.text);
        return rs_fail_memory("the names of a source");
    }
    names->items[names->count++] = name;
    return RESTRIDE_OK;
}

static int compare_names(const void *a, const void *b)
{
    const rs_name *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return memcmp(x->text, y->text, x->length);
}

static restride_status add_node(rs_names *names, const rs_tree *tree, int n)
{
    int up = tree->nodes[n].parent;
    while (up > 0 && tree->nodes[up].is != RS_NODE_FUNCTION)
        up = tree->nodes[up].parent;
    if (up <= 0)
        return RESTRIDE_OK;
    const uintptr_t function = (uintptr_t)tree->nodes[up].declaration;
    restride_status status = add(names, RS_NAME_INSIDE, function, tree->nodes[n].name);
    if (status == RESTRIDE_OK &&
        (tree->nodes[n].is == RS_NODE_STRUCT || tree->nodes[n].is == RS_NODE_UNION ||
         tree->nodes[n].is == RS_NODE_ENUM))
        status = add(names, RS_NAME_TYPE_INSIDE, function, tree->nodes[n].name);
    return status;
}

restride_status rs_names_find(rs_names *names, const rs_tree *tree)
{
    *names = (rs_names){NULL, 0};
    restride_status status = RESTRIDE_OK;
    for (int n = 0; n < tree->node_count && status == RESTRIDE_OK; n++)
        if (tree->nodes[n].group == RS_NODES_DECLARE && tree->nodes[n].is != RS_NODE_FIELD)
            status = add_node(names, tree, n);
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    return status;
}

void rs_names_free(rs_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i].text);
    free(names->items);
    *names = (rs_names){NULL, 0};
}

/* ---- what they hide ---- */

bool rs_names_hide(const rs_names *names, const rs_function *function, const char *type)
{
    size_t size = strlen(type), position = 0, word, length;
    bool tagged = false, hidden = false;
    while (!hidden && names->count > 0 && rs_word_next(type, size, &position, &word, &length)) {
        const rs_name wanted = {tagged ? RS_NAME_TYPE_INSIDE : RS_NAME_INSIDE,
                                (uintptr_t)function->declaration, (char *)type + word, length};
        const bool is_tag = rs_word_equals(type, word, length, "struct") ||
                            rs_word_equals(type, word, length, "union") ||
                            rs_word_equals(type, word, length, "enum");
        hidden = !is_tag && bsearch(&wanted, names->items, names->count, sizeof *names->items,
                                    compare_names) != NULL;
        tagged = is_tag;
    }
    return hidden;
}
