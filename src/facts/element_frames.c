/* See elements.h: frames, rounds until nothing changes, refusals in the last one. */
#include "facts/elements.h"

#include "base/list.h"
#include "facts/element_walk.h"

#include <stdlib.h>
#include <string.h>

enum { ROUND_LIMIT = 64, FRAME_LIMIT = 1000 };

/* --- what is known --- */

static rs_fact_element look_up(const rs_map *map, const void *key)
{
    const rs_fact_element *found = rs_map_get(map, key);
    return found == NULL ? (rs_fact_element){RS_SHAPE_NONE, 0} : *found;
}

rs_fact_element rs_fact_node_shape(const rs_fact_frame *frame, const rs_syntax_node *node)
{
    return look_up(&frame->nodes, node);
}

rs_fact_element rs_fact_declaration_shape(const rs_fact_frame *frame,
                                          const rs_syntax_declaration *declaration)
{
    return look_up(&frame->declarations, declaration);
}

/* Adds what is new; false where another shape is known. */
static bool merge(rs_fact_elements *facts, rs_map *map, const void *key, rs_fact_element element)
{
    rs_fact_element *known = rs_map_get(map, key);
    if (known == NULL) {
        known = calloc(1, sizeof *known);
        if (known == NULL || !rs_map_set(map, key, known)) {
            free(known);
            facts->failed = true;
            return true;
        }
        known->shape = element.shape;
        facts->has_changed = true;
    }
    facts->has_changed |= (element.arguments & ~known->arguments) != 0;
    known->arguments |= element.arguments;
    return known->shape == element.shape;
}

void rs_element_bind(rs_fact_elements *facts, rs_fact_frame *frame,
                     const rs_syntax_declaration *declaration, rs_fact_element element,
                     rs_syntax_range range)
{
    if (!merge(facts, &frame->declarations, declaration, element))
        rs_element_refuse(
            facts, rs_fact_declaration_shape(frame, declaration).arguments | element.arguments,
            range, "a variable gets pointers of different kinds");
}

void rs_element_enter(rs_fact_elements *facts, rs_fact_frame *frame, const rs_syntax_node *call,
                      rs_fact_frame *entered)
{
    facts->failed |= !rs_map_set(&frame->calls, call, entered);
}

void rs_element_refuse(rs_fact_elements *facts, uint64_t arguments, rs_syntax_range range,
                       const char *what)
{
    if (arguments == 0 || !facts->is_final)
        return;
    if (RS_LIST_GROW(facts->refusals, facts->refusal_count))
        facts->refusals[facts->refusal_count++] = (rs_fact_refusal){arguments, range, what};
    else
        facts->failed = true;
}

void rs_element_leave_out(rs_fact_elements *facts, rs_fact_frame *frame, rs_syntax_range range)
{
    if (RS_LIST_GROW(frame->unread, frame->unread_count))
        frame->unread[frame->unread_count++] = range;
    else
        facts->failed = true;
}

uint64_t rs_element_all(const rs_fact_frame *frame)
{
    uint64_t all = frame->object.arguments;
    size_t position = 0;
    const rs_fact_element *one;
    while ((one = rs_map_next(&frame->declarations, &position)) != NULL)
        all |= one->arguments;
    return all;
}

/* --- frames --- */

static bool has_shapes(const rs_fact_frame *frame, const rs_syntax_declaration *function,
                       const rs_fact_element *parameters, rs_fact_element object)
{
    if (frame->function != function || frame->object.shape != object.shape)
        return false;
    for (size_t i = 0; i < function->parameter_count; i++)
        if (frame->parameters[i].shape != parameters[i].shape)
            return false;
    return true;
}

rs_fact_frame *rs_element_frame(rs_fact_elements *facts, const rs_syntax_declaration *function,
                                const rs_fact_element *parameters, rs_fact_element object)
{
    rs_fact_frame *frame = NULL;
    for (size_t i = 0; i < facts->frame_count && frame == NULL; i++)
        if (has_shapes(facts->frames[i], function, parameters, object))
            frame = facts->frames[i];
    if (frame == NULL) {
        facts->failed |=
            facts->frame_count >= FRAME_LIMIT || !RS_LIST_GROW(facts->frames, facts->frame_count);
        if (facts->failed)
            return NULL;
        frame = calloc(1, sizeof *frame);
        rs_fact_element *own = calloc(function->parameter_count + 1, sizeof *own);
        if (frame == NULL || own == NULL) {
            free(frame);
            free(own);
            facts->failed = true;
            return NULL;
        }
        frame->function = function;
        frame->parameters = own;
        facts->frames[facts->frame_count++] = frame;
        facts->has_changed = true;
    }
    facts->has_changed |= (object.arguments & ~frame->object.arguments) != 0;
    frame->object.shape = object.shape;
    frame->object.arguments |= object.arguments;
    for (size_t i = 0; i < function->parameter_count; i++) {
        frame->parameters[i].shape = parameters[i].shape;
        frame->parameters[i].arguments |= parameters[i].arguments;
        if (parameters[i].shape != RS_SHAPE_NONE)
            rs_element_bind(facts, frame, function->parameters[i], parameters[i],
                            function->parameters[i]->range);
    }
    return frame;
}

static void look(rs_fact_elements *facts)
{
    for (size_t i = 0; i < facts->frame_count && !facts->failed; i++) {
        rs_element_see(facts, facts->frames[i],
                       rs_syntax_body(facts->tree, facts->frames[i]->function));
        if (facts->is_final)
            rs_element_read_text(facts, facts->frames[i]);
    }
}

restride_status rs_fact_elements_read(rs_fact_elements *facts, rs_syntax *tree,
                                      const rs_syntax_declaration *kernel, uint64_t arguments,
                                      rs_fact_is_whole *is_whole)
{
    memset(facts, 0, sizeof *facts);
    facts->is_whole = is_whole;
    facts->tree = tree;
    facts->kernel = kernel;
    rs_fact_element *parameters = calloc(kernel->parameter_count + 1, sizeof *parameters);
    if (parameters == NULL)
        return rs_fail_memory("where a kernel's elements go");
    for (size_t i = 0; i < kernel->parameter_count && i < 64; i++)
        if ((arguments >> i & 1) != 0)
            parameters[i] = (rs_fact_element){RS_SHAPE_POINTER, UINT64_C(1) << i};
    rs_element_frame(facts, kernel, parameters, (rs_fact_element){RS_SHAPE_NONE, 0});
    free(parameters);
    int rounds = 0;
    do {
        facts->has_changed = false;
        look(facts);
    } while (facts->has_changed && !facts->failed && ++rounds < ROUND_LIMIT);
    facts->is_final = true;
    if (rounds == ROUND_LIMIT)
        rs_element_refuse(facts, arguments, kernel->range, "functions call each other too deeply");
    look(facts);
    rs_element_check_called(facts);
    if (!facts->failed && !tree->out_of_memory)
        return RESTRIDE_OK;
    rs_fact_elements_free(facts);
    return rs_fail_memory("where a kernel's elements go");
}

static void free_values(rs_map *map)
{
    size_t position = 0;
    void *value;
    while ((value = rs_map_next(map, &position)) != NULL)
        free(value);
    rs_map_free(map);
}

void rs_fact_elements_free(rs_fact_elements *facts)
{
    for (size_t i = 0; i < facts->frame_count; i++) {
        free_values(&facts->frames[i]->nodes);
        free_values(&facts->frames[i]->declarations);
        rs_map_free(&facts->frames[i]->calls);
        free(facts->frames[i]->parameters);
        free(facts->frames[i]->unread);
        free(facts->frames[i]);
    }
    free((void *)facts->frames);
    free(facts->refusals);
    memset(facts, 0, sizeof *facts);
}
