/* Finds functions by their declarations, and where declarations start, without going through the
 * source each time: it may have thousands. */
#include "rewrite/model.h"

#include "base/list.h"
#include "source/query.h"
#include "source/words.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uintptr_t declaration;
    int function;
} declared_function;

static int compare_declared(const void *a, const void *b)
{
    const declared_function *x = a, *y = b;
    if (x->declaration != y->declaration)
        return x->declaration < y->declaration ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static restride_status sort_functions(rs_model *model)
{
    size_t count = (size_t)model->function_count;
    declared_function *sorted = malloc((count + 1) * sizeof *sorted);
    model->by_declaration = malloc((count + 1) * sizeof *model->by_declaration);
    if (sorted == NULL || model->by_declaration == NULL) {
        free(sorted);
        return rs_fail_memory("the functions of a source");
    }
    for (size_t f = 0; f < count; f++)
        sorted[f] = (declared_function){(uintptr_t)model->functions[f].declaration, (int)f};
    qsort(sorted, count, sizeof *sorted, compare_declared);
    for (size_t f = 0; f < count; f++)
        model->by_declaration[f] = sorted[f].function;
    free(sorted);
    return RESTRIDE_OK;
}

int rs_model_function(const rs_model *model, const rs_syntax_declaration *declaration)
{
    const uintptr_t wanted = (uintptr_t)declaration;
    int low = 0, high = model->function_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if ((uintptr_t)model->functions[model->by_declaration[middle]].declaration < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    const int found = low < model->function_count ? model->by_declaration[low] : -1;
    return found >= 0 && model->functions[found].declaration == declaration ? found : -1;
}

/* The byte behind the preprocessor line that starts at `at`. */
static size_t skip_line(const rs_tree *tree, size_t at)
{
    while (at < tree->size && tree->text[at] != '\n')
        at++;
    return at;
}

static restride_status add_end(rs_model *model, size_t end)
{
    if (!RS_LIST_GROW(model->declaration_ends, model->declaration_end_count))
        return rs_fail_memory("the declarations of a source");
    model->declaration_ends[model->declaration_end_count++] = end;
    return RESTRIDE_OK;
}

/* Every ";" and "}" outside of all brackets. */
static restride_status find_ends(rs_model *model)
{
    const rs_tree *tree = model->tree;
    size_t at = 0, depth = 0;
    restride_status status = RESTRIDE_OK;
    while (at < tree->size && status == RESTRIDE_OK) {
        char c = tree->text[at];
        if (c == '#' && (at == 0 || tree->text[at - 1] == '\n')) {
            at = skip_line(tree, at);
            continue;
        }
        depth += c == '(' || c == '[' || c == '{';
        depth -= (c == ')' || c == ']' || c == '}') && depth > 0;
        at = rs_word_skip(tree->text, tree->size, at);
        if (depth == 0 && (c == ';' || c == '}'))
            status = add_end(model, at);
    }
    return status;
}

restride_status rs_model_index_declarations(rs_model *model)
{
    restride_status status = sort_functions(model);
    if (status == RESTRIDE_OK) {
        /* Which functions are first declared outside of all others. */
        const rs_tree *tree = model->tree;
        for (int n = tree->node_count - 1; n > 0; n--) {
            const rs_node *node = &tree->nodes[n];
            int f = node->is == RS_NODE_FUNCTION ? rs_model_function(model, node->declaration) : -1;
            if (f >= 0)
                model->functions[f].first_node = node->parent == 0 ? n : -1;
        }
    }
    return status == RESTRIDE_OK ? find_ends(model) : status;
}

/* That is behind the last end of another before the name, and behind the preprocessor lines that
 * follow it. */
size_t rs_declaration_start(const rs_model *model, size_t name)
{
    const rs_tree *tree = model->tree;
    size_t low = 0, high = model->declaration_end_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model->declaration_ends[middle] <= name)
            low = middle + 1;
        else
            high = middle;
    }
    size_t start = low > 0 ? model->declaration_ends[low - 1] : 0;
    while (start < name) {
        if (tree->text[start] == '#')
            start = skip_line(tree, start);
        else if (isspace((unsigned char)tree->text[start]))
            start++;
        else
            break;
    }
    return start;
}
