/* What is asked of a tree that was read: walks and lines. */
#include "syntax/tree.h"

const rs_syntax_node *rs_syntax_plain(const rs_syntax_node *node)
{
    while (node != NULL &&
           (node->kind == RS_NODE_PAREN ||
            (node->kind == RS_NODE_IMPLICIT &&
             (node->conversion == RS_CONVERSION_LOAD || node->conversion == RS_CONVERSION_QUALIFY ||
              node->conversion == RS_CONVERSION_TEMPORARY))))
        node = node->children[0];
    return node;
}

bool rs_syntax_walk(const rs_syntax_node *node, rs_syntax_visit *visit, void *context)
{
    if (node == NULL)
        return true;
    if (!visit(context, node))
        return false;
    for (size_t i = 0; i < node->child_count; i++)
        if (!rs_syntax_walk(node->children[i], visit, context))
            return false;
    return true;
}

size_t rs_syntax_line(const rs_syntax *tree, rs_syntax_range range)
{
    if (range.file >= tree->file_count || tree->files[range.file].text == NULL)
        return 0;
    const rs_syntax_file *file = &tree->files[range.file];
    size_t line = 1;
    for (size_t i = 0; i < range.begin && i < file->size; i++)
        line += file->text[i] == '\n';
    return line;
}
