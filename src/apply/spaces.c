/* Choosing the spaces of a nest's arrays, and what their tiles are. */
#include "apply/spaces.h"

#include "apply/types.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

enum { TILE_BYTES = 16384 };

/* ---- the threads ---- */

static int innermost_thread(const rs_nest *nest)
{
    for (int i = 0; i < nest->count; i++)
        if (nest->loops[i].dimension == 0)
            return i;
    return -1;
}

/* The one loop among the statements of the innermost thread's body; -1 for none or several. */
static int loop_inside(const rs_nest *nest, int thread)
{
    const rs_tree *tree = &nest->program->tree;
    int body = nest->loops[thread].parts.body, found = -1, count = 0;
    for (int i = thread + 1; i < nest->count; i++) {
        int parent = tree->nodes[nest->loops[i].node].parent;
        if (nest->loops[i].node != body && parent != body)
            continue;
        found = i;
        count++;
    }
    return count == 1 ? found : -1;
}

/* Whether all work-items of a group run a loop alike. */
static bool is_uniform(const rs_nest *nest, const rs_nest_loop *loop)
{
    const rs_symbols *symbols = &nest->unit->symbols;
    if (!loop->countable)
        return false;
    rs_quantity count = rs_range_count(nest, loop);
    return rs_polynomial_depends(&count.above, symbols) == 0 &&
           rs_polynomial_depends(&loop->first, symbols) == 0;
}

/* Whether statements that a work-item without work must not run can be left out around barriers. */
static bool has_plain_body(const rs_nest *nest, int thread, int inner)
{
    const rs_tree *tree = &nest->program->tree;
    int body = nest->loops[thread].parts.body;
    if (inner < 0 || nest->loops[inner].node == body)
        return true;
    RS_EACH_CHILD(child, tree, body) {
        bool memory = false;
        for (int i = 0; i < nest->unit->reference_count; i++)
            memory = memory || (nest->unit->references[i].offset >= tree->nodes[child].begin &&
                                nest->unit->references[i].offset < tree->nodes[child].end);
        if (tree->nodes[child].is == RS_NODE_DECLARE && memory)
            return false;
    }
    return true;
}

static const char *why_no_tiles(const rs_nest *nest, const rs_spaces *spaces)
{
    int thread = innermost_thread(nest);
    for (int i = 0; i <= thread; i++)
        if (!is_uniform(nest, &nest->loops[i]))
            return "the work-items of a group do not run all loops alike";
    if (spaces->inner >= 0 && !is_uniform(nest, &nest->loops[spaces->inner]))
        return "the loop inside the threads differs between them";
    if (!has_plain_body(nest, thread, spaces->inner))
        return "a variable of a work-item begins with loaded data";
    return NULL;
}

/* ---- tiles ---- */

/* The factors of the loops' symbols in a row, and what is left; false when a factor is no number or
 * the row moves with a loop deeper inside. */
static bool split_row(const rs_nest *nest, const rs_spaces *spaces, const rs_polynomial *row,
                      int64_t factors[RS_NEST_LIMIT], rs_polynomial *rest)
{
    *rest = *row;
    for (int i = 0; i < nest->count; i++) {
        int power, symbol = nest->unit->loops[nest->loops[i].loop].symbol;
        rs_polynomial factor = rs_polynomial_coefficient(row, symbol, &power);
        factors[i] = 0;
        if (power == 0)
            continue;
        bool inside =
            nest->loops[i].dimension < 0 && i != spaces->inner && i > innermost_thread(nest);
        if (power > 1 || inside || !rs_polynomial_is_constant(&factor, &factors[i]))
            return false;
        *rest = rs_polynomial_without(rest, symbol);
    }
    return rs_polynomial_depends(rest, &nest->unit->symbols) == 0;
}

/* How many iterations of a loop a tile covers. */
static int64_t covered(const rs_nest *nest, const rs_spaces *spaces, int loop)
{
    int dimension = nest->loops[loop].dimension;
    return dimension >= 0 ? spaces->group[dimension] : loop == spaces->inner ? RS_SPACES_TILE : 1;
}

/* How far a row of one reference reaches in a tile. */
static int64_t reach_of(const rs_nest *nest, const rs_spaces *spaces, const int64_t *factors)
{
    int64_t reach = 1;
    for (int i = 0; i < nest->count; i++)
        reach += (factors[i] < 0 ? -factors[i] : factors[i]) * (covered(nest, spaces, i) - 1);
    return reach;
}

/* One row of one reference. */
typedef struct {
    int64_t factors[RS_NEST_LIMIT];
    rs_polynomial offset, least, most;
} tile_row;

/* Lets a row of the tile reach another reference as well; false when it is not known how far apart
 * they are. */
static bool widen_row(rs_placing *tile, int row, const tile_row *r, int64_t reach)
{
    int64_t apart, below, above;
    rs_polynomial moved = rs_polynomial_subtract(&r->offset, &tile->offset[row]);
    rs_polynomial low = rs_polynomial_subtract(&r->least, &tile->least[row]);
    rs_polynomial high = rs_polynomial_subtract(&r->most, &tile->most[row]);
    if (memcmp(tile->factors[row], r->factors, sizeof r->factors) != 0 ||
        !rs_polynomial_is_constant(&moved, &apart) || !rs_polynomial_is_constant(&low, &below) ||
        !rs_polynomial_is_constant(&high, &above))
        return false;
    if (apart < 0) {
        tile->extent[row] -= apart;
        tile->offset[row] = r->offset;
    } else if (reach + apart > tile->extent[row]) {
        tile->extent[row] = reach + apart;
    }
    tile->least[row] = below < 0 ? r->least : tile->least[row];
    tile->most[row] = above > 0 ? r->most : tile->most[row];
    return true;
}

/* Makes the tile reach one reference more. */
static bool add_to_tile(const rs_nest *nest, const rs_spaces *spaces, rs_placing *tile,
                        int reference, bool first)
{
    const rs_reference *r = &nest->unit->references[reference];
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided;
    int count = rs_reference_rows(nest->unit, r, rows, &divided);
    if (divided || nest->accesses->accesses[reference].approximated ||
        (!first && count != tile->rows))
        return false;
    tile->rows = count;
    for (int row = 0; row < count; row++) {
        tile_row own;
        memset(&own, 0, sizeof own);
        if (!split_row(nest, spaces, &rows[row], own.factors, &own.offset) ||
            !rs_range_of(nest, &rows[row], r->loop, &own.least, &own.most))
            return false;
        int64_t reach = reach_of(nest, spaces, own.factors);
        if (first) {
            memcpy(tile->factors[row], own.factors, sizeof own.factors);
            tile->offset[row] = own.offset;
            tile->least[row] = own.least;
            tile->most[row] = own.most;
            tile->extent[row] = reach;
        } else if (!widen_row(tile, row, &own, reach))
            return false;
    }
    return true;
}

/* Whether the last subscript of a reference moves inside an element of its array. */
static bool is_within_element(const rs_nest *nest, int reference)
{
    const rs_reference *r = &nest->unit->references[reference];
    return r->count > 0 && r->strides[r->count - 1] > 0 &&
           r->strides[r->count - 1] < nest->unit->arrays[r->array].element;
}

static const char *describe_tile(const rs_nest *nest, const rs_spaces *spaces, rs_placing *tile,
                                 int array)
{
    bool first = true;
    for (int i = 0; i < nest->unit->reference_count; i++) {
        if (!rs_nest_has(nest, i) || nest->unit->references[i].array != array)
            continue;
        if (nest->unit->references[i].written)
            return "it is written";
        if (is_within_element(nest, i))
            return "it is read in an array that is a member";
        if (spaces->inner >= 0 && !rs_nest_loop_has(nest, &nest->loops[spaces->inner], i))
            return "it is read outside the loop that tiles are loaded for";
        if (!add_to_tile(nest, spaces, tile, i, first))
            return "what a work-group reads of it is no box";
        first = false;
    }
    int64_t bytes = nest->unit->arrays[array].element;
    for (int row = 0; row < tile->rows; row++)
        bytes = bytes <= TILE_BYTES && tile->extent[row] <= TILE_BYTES ? bytes * tile->extent[row]
                                                                       : TILE_BYTES + 1;
    return bytes > TILE_BYTES ? "its tile is too large" : NULL;
}

/* ---- images ---- */

/* Every reference has to be a plain subscript of the argument itself. */
static const char *why_no_image(const rs_nest *nest, int array)
{
    const rs_tree *tree = &nest->program->tree;
    if (nest->unit->arrays[array].element > 4)
        return "not all devices have images of elements over 4 bytes";
    for (int node = nest->node; node < tree->node_count && node >= 0; node++) {
        if (tree->nodes[node].begin >= tree->nodes[nest->node].end)
            break;
        if (!rs_node_is_memory(tree, node))
            continue;
        int reference = rs_nest_reference(nest, node);
        if (reference < 0 || nest->unit->references[reference].array != array)
            continue;
        if (nest->unit->references[reference].member != NULL)
            return "an image has no structures";
        if (tree->nodes[node].is != RS_NODE_SUBSCRIPT)
            return "it is read through a pointer";
    }
    return NULL;
}

/* ---- the choice ---- */

static bool is_used(const rs_nest *nest, int array)
{
    for (int i = 0; i < nest->unit->reference_count; i++)
        if (rs_nest_has(nest, i) && nest->unit->references[i].array == array)
            return nest->unit->arrays[array].argument;
    return false;
}

restride_status rs_spaces_choose(rs_spaces *spaces, const rs_kernels *kernels,
                                 const rs_device_model *device)
{
    static const int64_t groups[4][3] = {{1, 1, 1}, {128, 1, 1}, {16, 16, 1}, {16, 4, 4}};
    rs_nest *nest = kernels->nest;
    rs_accesses accesses = {nest->unit, NULL, NULL};
    bool *threads = calloc((size_t)nest->unit->loop_count + 1, sizeof *threads);
    spaces->arrays = calloc((size_t)nest->unit->array_count + 1, sizeof *spaces->arrays);
    if (threads == NULL || spaces->arrays == NULL) {
        free(threads);
        return rs_fail_memory("the memory spaces");
    }
    if (nest->dimensions == 0)
        rs_nest_refuse(nest, nest->node, "no loop of the nest has independent iterations");
    for (int i = 0; i < nest->count; i++)
        threads[nest->loops[i].loop] = nest->loops[i].dimension >= 0;
    memcpy(spaces->group, groups[nest->dimensions], sizeof spaces->group);
    spaces->inner = nest->dimensions > 0 ? loop_inside(nest, innermost_thread(nest)) : -1;
    restride_status status = rs_accesses_make(&accesses, nest->unit, threads);
    const char *no_tiles = nest->dimensions > 0 ? why_no_tiles(nest, spaces) : NULL;
    for (int i = 0; i < nest->unit->array_count && status == RESTRIDE_OK; i++) {
        spaces->arrays[i].used = is_used(nest, i);
        spaces->arrays[i].wanted = rs_array_place(&accesses, i, device).memory;
        if (spaces->arrays[i].used && nest->refusal == NULL) {
            rs_placing *p = &spaces->arrays[i];
            p->placed = p->wanted;
            if (p->wanted == RS_MEMORY_SHARED)
                p->reason = no_tiles != NULL ? no_tiles : describe_tile(nest, spaces, p, i);
            else if (p->wanted == RS_MEMORY_TEXTURE)
                p->reason = why_no_image(nest, i);
            if (p->reason != NULL)
                p->placed = RS_MEMORY_GLOBAL;
        }
        spaces->staged = spaces->staged ||
                         (spaces->arrays[i].used && spaces->arrays[i].placed == RS_MEMORY_SHARED);
    }
    rs_accesses_free(&accesses);
    free(threads);
    return status;
}

void rs_spaces_free(rs_spaces *spaces)
{
    free(spaces->arrays);
}

/* ---- JSON ---- */

void rs_spaces_describe(const rs_spaces *spaces, const rs_kernels *kernels, json_t *entry)
{
    const rs_unit *unit = kernels->nest->unit;
    json_t *arrays = json_array();
    for (int i = 0; i < unit->array_count; i++) {
        const rs_placing *p = &spaces->arrays[i];
        if (!p->used)
            continue;
        json_t *array = json_pack("{s:s, s:s, s:s}", "name", unit->arrays[i].name, "memory",
                                  rs_memory_text(p->placed), "wanted", rs_memory_text(p->wanted));
        if (p->reason != NULL)
            json_object_set_new(array, "reason", json_string(p->reason));
        json_t *tile = json_array();
        for (int row = 0; row < p->rows && p->placed == RS_MEMORY_SHARED; row++)
            json_array_append_new(tile, json_integer((json_int_t)p->extent[row]));
        json_object_set_new(array, "tile", tile);
        json_array_append_new(arrays, array);
    }
    json_object_set_new(entry, "arrays", arrays);
    json_object_set_new(entry, "group",
                        json_pack("[I, I, I]", (json_int_t)spaces->group[0],
                                  (json_int_t)spaces->group[1], (json_int_t)spaces->group[2]));
}
