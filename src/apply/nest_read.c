/* Reading a loop nest: what may be done with each of its loops. */
#include "apply/nest_read.h"

#include "analyze/dependence.h"
#include "analyze/vector.h"
#include "apply/range.h"
#include "apply/types.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* ---- references ---- */

/* Whether "i*N + j" is the element [i][j] indeed: every j there is below N. */
static bool is_divided_soundly(const rs_nest *nest, int reference)
{
    const rs_access *access = &nest->accesses->accesses[reference];
    const rs_reference *r = access->reference;
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT], flat = rs_polynomial_constant(0);
    bool divided;
    int count = rs_reference_rows(nest->unit, r, rows, &divided);
    if (count != 2) /* the strides of more dimensions are not kept */
        return false;
    /* The stride is what row 0 was multiplied by: (flat - row 1) / row 0. */
    flat = rs_polynomial_subtract(&r->subscripts[0], &rows[1]);
    rs_polynomial least, most, stride = rs_polynomial_unknown();
    for (int i = 0; i < nest->unit->symbols.count && !stride.known; i++) {
        rs_polynomial symbol = rs_polynomial_symbol(i);
        rs_polynomial product = rs_polynomial_multiply(&rows[0], &symbol);
        if (rs_polynomial_equal(&product, &flat))
            stride = symbol;
    }
    if (!stride.known || !rs_range_of(nest, &rows[1], r->loop, &least, &most))
        return false;
    rs_polynomial room = rs_polynomial_subtract(&stride, &most);
    int64_t above, below;
    return rs_polynomial_is_constant(&least, &below) && below >= 0 &&
           rs_polynomial_is_constant(&room, &above) && above >= 1;
}

static bool check_reference(rs_nest *nest, int index)
{
    const rs_access *access = &nest->accesses->accesses[index];
    const rs_reference *r = access->reference;
    const rs_array *array = &nest->unit->arrays[r->array];
    const rs_node *statement = &nest->program->tree.nodes[nest->node];
    if (r->offset < statement->begin || r->offset >= statement->end)
        return rs_nest_refuse_at(nest, statement->begin,
                                 "%s is accessed in a function that is called", array->name);
    if (!r->understood || r->anywhere || (access->classes & RS_CLASS_UNKNOWN) != 0)
        return rs_nest_refuse_at(nest, r->offset, "%s is not followed", r->text);
    if (nest->for_spaces && !array->written && array->argument)
        return true;
    if (rs_access_is_random(access))
        return rs_nest_refuse_at(nest, r->offset, "%s is a random access", r->text);
    if (access->approximated)
        return rs_nest_refuse_at(nest, r->offset, "%s is not affine in the loops", r->text);
    if (r->atomic)
        return rs_nest_refuse_at(nest, r->offset, "%s is an atomic access", r->text);
    if (!array->argument || array->space == RS_SPACE_LOCAL || array->space == RS_SPACE_PRIVATE)
        return rs_nest_refuse_at(nest, r->offset, "%s is no argument of the function", array->name);
    if (access->divided && array->written && !is_divided_soundly(nest, index))
        return rs_nest_refuse_at(
            nest, r->offset, "%s is not known to stay inside one row of what seems to be a matrix",
            r->text);
    return true;
}

static bool check_references(rs_nest *nest)
{
    int inside = 0;
    for (int i = 0; i < nest->unit->reference_count; i++) {
        if (!rs_nest_has(nest, i))
            continue;
        inside++;
        if (!check_reference(nest, i))
            return false;
    }
    return inside > 0 || rs_nest_refuse(nest, nest->node, "the loops access no array");
}

/* ---- loops ---- */

static int find_loop(const rs_nest *nest, int node)
{
    for (int i = 0; i < nest->unit->loop_count; i++)
        if (nest->unit->loops[i].offset == nest->program->tree.nodes[node].begin)
            return i;
    return -1;
}

/* Whether the first value of a loop's variable is known not to be negative. */
static bool begins_natural(const rs_nest *nest, const rs_nest_loop *loop)
{
    const rs_loop *known = &nest->unit->loops[loop->loop];
    if (known->step == 1)
        return rs_polynomial_is_natural(&known->lower, &nest->unit->symbols);
    int64_t first;
    return rs_tree_evaluate(&nest->program->tree, loop->begin, &first) && first >= 0;
}

/*
 * Whether the analysis' bound is the whole condition, and compares what C compares: as unsigned
 * numbers only what is not negative.
 */
static bool is_plain_condition(const rs_nest *nest, const rs_nest_loop *loop)
{
    enum { INT_SIZE = 4 };
    const rs_tree *tree = &nest->program->tree;
    const rs_loop *known = &nest->unit->loops[loop->loop];
    rs_nest_condition c = rs_nest_condition_of(nest, loop);
    if (c.end < 0 || c.down != (known->step < 0))
        return false;
    int power;
    int64_t own = 0;
    rs_polynomial factor = rs_polynomial_coefficient(&known->bound, known->symbol, &power);
    if (power != 1 || !rs_polynomial_is_constant(&factor, &own) ||
        own != (known->step < 0 ? known->step : -known->step))
        return false; /* the end moves with the variable */
    const rs_syntax_type *end = rs_type_of(tree, rs_node_inner(tree, c.end));
    const rs_syntax_type *type = rs_type_of(tree, rs_node_child(tree, loop->parts.begin, 0));
    int64_t size = end->size;
    bool as_unsigned = rs_type_is_unsigned(end) && size >= INT_SIZE && size >= type->size;
    return !as_unsigned || (!c.down && begins_natural(nest, loop));
}

/* "int i = first": the name, and the node of the first value. */
static bool read_variable(rs_nest *nest, rs_nest_loop *loop)
{
    const rs_tree *tree = &nest->program->tree;
    int begin = loop->parts.begin;
    int declared = begin < 0 ? -1 : rs_node_child(tree, begin, 0);
    if (declared < 0 || tree->nodes[begin].is != RS_NODE_DECLARE ||
        tree->nodes[declared].is != RS_NODE_VARIABLE || tree->nodes[declared].next >= 0)
        return false;
    const rs_syntax_type *type = rs_type_of(tree, declared);
    loop->variable = strdup(tree->nodes[declared].name);
    RS_EACH_CHILD(child, tree, declared)
        loop->begin = child;
    return loop->variable != NULL && loop->begin >= 0 && type->kind == RS_TYPE_INTEGER &&
           type->is_signed && (type->size == 4 || type->size == 8);
}

static bool add_loop(rs_nest *nest, int node)
{
    if (nest->count == RS_NEST_LIMIT)
        return rs_nest_refuse(nest, node, "the nest has more than %d loops", RS_NEST_LIMIT);
    rs_nest_loop *loop = &nest->loops[nest->count++];
    *loop = (rs_nest_loop){node,  rs_for_read(&nest->program->tree, node),
                           -1,    NULL,
                           -1,    rs_polynomial_constant(0),
                           false, false,
                           false, -1};
    loop->loop = find_loop(nest, node);
    if (loop->loop < 0)
        return rs_nest_refuse(nest, node, "the analysis did not follow this loop");
    const rs_loop *known = &nest->unit->loops[loop->loop];
    loop->countable = read_variable(nest, loop) && known->step != 0 && known->bound.known &&
                      !known->leaves_early && is_plain_condition(nest, loop);
    loop->first = known->step == 1 ? known->lower : rs_polynomial_constant(0);
    return true;
}

static bool find_loops(rs_nest *nest, int node)
{
    const rs_tree *tree = &nest->program->tree;
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        const int kind = tree->nodes[at].is;
        if (kind == RS_NODE_WHILE || kind == RS_NODE_DO || kind == RS_NODE_GOTO ||
            kind == RS_NODE_RETURN || kind == RS_NODE_BREAK || kind == RS_NODE_SWITCH)
            return rs_nest_refuse(nest, at, "only for loops that run to their ends are changed");
        if (kind == RS_NODE_FOR && !add_loop(nest, at))
            return false;
    }
    return true;
}

/* Asks isl of each loop whether its iterations are independent in the whole nest. */
static restride_status judge_loops(rs_nest *nest)
{
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < nest->count && status == RESTRIDE_OK; i++) {
        rs_dependence found;
        rs_nest_loop *loop = &nest->loops[i];
        status = rs_dependence_between(nest->unit, loop->loop, nest->loops[0].loop, &found);
        if (status != RESTRIDE_OK)
            break;
        loop->independent = loop->countable && found.kind == RS_CARRIED_NOTHING;
        loop->reduction = loop->countable && found.kind == RS_CARRIED_REDUCTION;
        free(found.what);
    }
    return status;
}

/* The one loop that a loop's body consists of; -1 for anything else. */
static int only_child(const rs_nest *nest, int at)
{
    const rs_tree *tree = &nest->program->tree;
    int body = nest->loops[at].parts.body;
    if (body >= 0 && tree->nodes[body].is == RS_NODE_COMPOUND) {
        body = tree->nodes[body].first;
        if (body >= 0 && tree->nodes[body].next >= 0)
            return -1;
    }
    for (int i = at + 1; i < nest->count; i++)
        if (nest->loops[i].node == body)
            return i;
    return -1;
}

/*
 * Whether the iterations of a loop are the same ones in all iterations of the loops around it that
 * bring values from one to the next: then what a work-item left there it finds there again.
 */
static bool stays_in_place(const rs_nest *nest, int at)
{
    const rs_symbols *symbols = &nest->unit->symbols;
    const rs_loop *own = &nest->unit->loops[nest->loops[at].loop];
    uint64_t moved =
        rs_polynomial_depends(&own->lower, symbols) | rs_polynomial_depends(&own->bound, symbols);
    for (int i = 0; i < nest->count; i++) {
        const rs_nest_loop *outer = &nest->loops[i];
        uint64_t symbol = rs_symbol_depends(symbols, nest->unit->loops[outer->loop].symbol);
        if (i != at && !outer->independent && (moved & symbol) != 0 &&
            rs_unit_is_within(nest->unit, nest->loops[at].loop, outer->loop))
            return false;
    }
    return true;
}

static int count_moved(const rs_nest *nest, const rs_nest_loop *loop)
{
    int count = 0;
    for (int i = 0; i < nest->unit->reference_count; i++)
        count += rs_nest_loop_has(nest, loop, i) &&
                 rs_access_row(&nest->accesses->accesses[i], nest->unit,
                               nest->unit->loops[loop->loop].symbol) >= 0;
    return count;
}

static bool refuse_loop(rs_nest *nest, const rs_nest_loop *loop)
{
    rs_dependence found;
    if (!loop->countable)
        return rs_nest_refuse(
            nest, loop->node,
            "the loop has to count an int or long of its own by a constant to a plain bound");
    if (rs_dependence_between(nest->unit, loop->loop, nest->loops[0].loop, &found) != RESTRIDE_OK)
        return false;
    rs_nest_refuse(nest, loop->node, "%s%s brings values from one iteration of %s to another",
                   found.certain ? "" : "perhaps ", found.what != NULL ? found.what : "a variable",
                   loop->variable);
    if (found.first > 0)
        nest->refusal_line = found.first;
    free(found.what);
    return false;
}

/* The loop that moves most references, of those that were not tried; inner ones win ties. */
static int best_loop(const rs_nest *nest)
{
    int best = -1, most = 1;
    for (int i = 0; i < nest->count; i++) {
        const rs_nest_loop *loop = &nest->loops[i];
        int moved = loop->independent || loop->reduction ? count_moved(nest, loop) : 0;
        if (moved < most || nest->tried[i])
            continue;
        most = moved;
        best = i;
    }
    return best;
}

static int named_loop(const rs_nest *nest, const char *name)
{
    for (int i = 0; i < nest->count; i++)
        if (nest->loops[i].variable != NULL && strcmp(nest->loops[i].variable, name) == 0)
            return i;
    return -1;
}

static bool choose_vector(rs_nest *nest, const char *along)
{
    int best = along != NULL ? named_loop(nest, along) : best_loop(nest);
    if (best < 0 && along != NULL)
        return rs_nest_refuse(nest, nest->node, "no loop of the nest is called %s", along);
    if (best < 0)
        return refuse_loop(nest, &nest->loops[nest->count - 1]);
    nest->vector = best;
    nest->tried[best] = true;
    const rs_nest_loop *loop = &nest->loops[best];
    return loop->independent || loop->reduction || refuse_loop(nest, loop);
}

bool rs_nest_retry(rs_nest *nest)
{
    int next = nest->vector < 0 ? -1 : best_loop(nest);
    if (next < 0)
        return false;
    nest->vector = next;
    nest->tried[next] = true;
    free(nest->refusal);
    nest->refusal = NULL;
    return true;
}

restride_status rs_nest_read(rs_nest *nest, const rs_translation_unit *program,
                             const rs_accesses *accesses, int function, int node, const char *along,
                             bool for_spaces)
{
    memset(nest, 0, sizeof *nest);
    nest->program = program;
    nest->accesses = accesses;
    nest->unit = accesses->unit;
    nest->function = function;
    nest->node = node;
    nest->vector = -1;
    nest->for_spaces = for_spaces;
    if (!find_loops(nest, node) || !check_references(nest))
        return nest->refusal != NULL ? RESTRIDE_OK : rs_fail_memory("a loop nest");
    restride_status status = judge_loops(nest);
    if (status != RESTRIDE_OK)
        return status;
    /* The innermost three of the independent loops that nothing stands beside. */
    int chain[RS_NEST_LIMIT], count = 0;
    for (int at = 0; at >= 0; at = only_child(nest, at))
        if (nest->loops[at].independent && stays_in_place(nest, at))
            chain[count++] = at;
    for (int i = count - 1; i >= 0 && nest->dimensions < 3; i--)
        nest->loops[chain[i]].dimension = nest->dimensions++;
    if (!for_spaces && !choose_vector(nest, along) && nest->refusal == NULL)
        return rs_fail_memory("a loop nest");
    return RESTRIDE_OK;
}
