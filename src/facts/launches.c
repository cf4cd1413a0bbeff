/* How many threads a group has: CUDA's launches of a kernel in the same source. */
#include "facts/walk.h"

typedef struct {
    const rs_syntax_declaration *kernel;
    double group;
    bool differs;
} launch_search;

/* A constant, also one behind the name of a variable that never changes; 0: none. */
static double extent_of(const rs_syntax_node *node)
{
    const rs_syntax_node *plain = rs_syntax_plain(node);
    if (plain == NULL)
        return 0;
    if (plain->constant.kind == RS_CONSTANT_INTEGER)
        return plain->constant.integer > 0 ? (double)plain->constant.integer : 0;
    if (plain->kind == RS_NODE_REFERENCE && plain->declaration->initializer != NULL &&
        plain->declaration->type != NULL && plain->declaration->type->is_const)
        return extent_of(plain->declaration->initializer);
    return 0;
}

/* 256, or dim3(16, 16), also as a variable; 0: not known. */
static double threads_of(const rs_syntax_node *node)
{
    const rs_syntax_node *plain = rs_syntax_plain(node);
    if (plain == NULL)
        return 0;
    if (plain->kind == RS_NODE_REFERENCE && plain->declaration->initializer != NULL &&
        plain->declaration->type != NULL && plain->declaration->type->kind == RS_TYPE_RECORD)
        return threads_of(plain->declaration->initializer);
    if (plain->kind != RS_NODE_CONSTRUCT && plain->kind != RS_NODE_CAST &&
        plain->kind != RS_NODE_IMPLICIT && plain->kind != RS_NODE_LIST)
        return extent_of(plain);
    double threads = 1;
    for (size_t i = 0; i < plain->child_count; i++)
        if (plain->children[i]->kind != RS_NODE_DEFAULT_ARGUMENT)
            threads *= threads_of(plain->children[i]);
    return plain->child_count > 0 ? threads : 0;
}

static bool visit_launch(void *context, const rs_syntax_node *node)
{
    launch_search *at = context;
    if (node->kind != RS_NODE_LAUNCH || node->declaration != at->kernel || node->child_count < 2 ||
        node->children[1]->child_count < 2)
        return true;
    const double threads = threads_of(node->children[1]->children[1]);
    at->differs = at->differs || threads <= 0 || (at->group > 0 && threads != at->group);
    at->group = threads;
    return true;
}

double rs_fact_launched_group(const rs_syntax *tree, const rs_syntax_declaration *kernel)
{
    launch_search at = {.kernel = kernel};
    for (size_t i = 0; i < tree->declaration_count; i++)
        rs_syntax_walk(tree->declarations[i]->body, visit_launch, &at);
    return at.differs || at.group > 1024 ? 0 : at.group;
}
