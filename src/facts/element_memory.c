/* Pointers to the arrays' structures that memory holds: they may point into the arrays. */
#include "facts/element_walk.h"

/* Loads by a function, or by those that it calls, through pointers that are no variables of it. */
typedef struct {
    rs_fact_elements *facts;
    const rs_fact_frame *frame; /* or NULL: nothing in the function has a shape */
    const rs_syntax_declaration *function;
    rs_map *done; /* functions that were looked through */
} look;

static bool check(const look *at, const rs_syntax_node *node)
{
    const rs_syntax_type *to = rs_element_pointee(node->type);
    if (to == NULL || to->kind != RS_TYPE_RECORD || node->kind != RS_NODE_IMPLICIT ||
        node->conversion != RS_CONVERSION_LOAD)
        return true;
    const rs_syntax_node *place = rs_syntax_plain(node->children[0]);
    if ((at->frame != NULL && rs_fact_node_shape(at->frame, place).shape == RS_SHAPE_POINTER) ||
        (place->kind == RS_NODE_REFERENCE && place->declaration->parent == at->function))
        return true;
    const rs_syntax_declaration *kernel = at->facts->kernel;
    for (size_t i = 0; i < kernel->parameter_count && i < 64; i++)
        if (at->facts->frames[0]->parameters[i].shape != RS_SHAPE_NONE &&
            rs_element_pointee(kernel->parameters[i]->type) == to)
            rs_element_refuse(at->facts, UINT64_C(1) << i, node->range,
                              "memory holds pointers to such structures");
    return true;
}

void rs_element_check_memory(rs_fact_elements *facts, const rs_fact_frame *frame,
                             const rs_syntax_node *node)
{
    const look at = {facts, frame, frame->function, NULL};
    check(&at, node);
}

static bool look_through(void *context, const rs_syntax_node *node)
{
    const look *at = context;
    const bool calls = node->kind == RS_NODE_CALL || node->kind == RS_NODE_CONSTRUCT ||
                       node->kind == RS_NODE_LAMBDA;
    const rs_syntax_declaration *called = calls ? node->declaration : NULL;
    if (called != NULL && !called->is_system && rs_map_get(at->done, called) == NULL) {
        look inside = {at->facts, NULL, called, at->done};
        at->facts->failed |= !rs_map_set(at->done, called, (void *)1);
        rs_syntax_walk(rs_syntax_body(at->facts->tree, called), look_through, &inside);
    }
    return at->frame != NULL || check(at, node);
}

void rs_element_check_called(rs_fact_elements *facts)
{
    rs_map done = RS_MAP_EMPTY;
    for (size_t i = 0; i < facts->frame_count; i++)
        facts->failed |= !rs_map_set(&done, facts->frames[i]->function, (void *)1);
    for (size_t i = 0; i < facts->frame_count && !facts->failed; i++) {
        look at = {facts, facts->frames[i], facts->frames[i]->function, &done};
        rs_syntax_walk(rs_syntax_body(facts->tree, at.function), look_through, &at);
    }
    rs_map_free(&done);
}
