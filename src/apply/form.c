/* Forms: moves and work of a kernel, from the references and expressions of its nest. */
#include "apply/form.h"

#include "apply/types.h"
#include "base/json.h"
#include "source/query.h"

#include <math.h>
#include <string.h>

enum { UNKNOWN_ITERATIONS = 1024, UNKNOWN_EXTENT = 1024, VECTOR_PIECE = 16, ARRAY_SHIFT = 36 };

static const int64_t most_iterations = (int64_t)1 << 40;

typedef struct {
    rs_nest_form *form;
    const rs_kernels *kernels;
    const rs_spaces *spaces;
    bool changed;
    const json_t *description;
    const rs_values *values;
    int64_t numbers[RS_FORM_NUMBERS]; /* of the unit's symbols, in the first iteration */
} maker;

/* ---- numbers ---- */

/* A source may have places beyond all numbers. Nobody can run it, so any place will do. */
static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t number_of(const maker *m, const rs_polynomial *p)
{
    int64_t sum = 0;
    for (int t = 0; t < p->count; t++) {
        int64_t product = p->terms[t].coefficient;
        for (int s = 0; s < RS_DEGREE_LIMIT && p->terms[t].symbols[s] >= 0; s++) {
            int symbol = p->terms[t].symbols[s];
            product = times(product, symbol < RS_FORM_NUMBERS ? m->numbers[symbol] : 0);
        }
        sum = plus(sum, product);
    }
    return sum;
}

static int64_t given_number(const maker *m, const char *name)
{
    for (int i = 0; i < m->values->count; i++)
        if (strcmp(m->values->names[i], name) == 0)
            return m->values->values[i];
    return 0;
}

/* Parameters as given; every loop at its first iteration, outer ones first. */
static void set_numbers(maker *m)
{
    const rs_nest *nest = m->kernels->nest;
    const rs_symbols *symbols = &nest->unit->symbols;
    for (int i = 0; i < symbols->count && i < RS_FORM_NUMBERS; i++)
        m->numbers[i] = symbols->symbols[i].kind == RS_SYMBOL_PARAMETER
                            ? given_number(m, symbols->symbols[i].name)
                            : 0;
    for (int i = 0; i < nest->count; i++) {
        int symbol = nest->unit->loops[nest->loops[i].loop].symbol;
        if (symbol < RS_FORM_NUMBERS)
            m->numbers[symbol] = number_of(m, &nest->loops[i].first);
    }
}

static int64_t iterations_of(const maker *m, const rs_nest_loop *loop)
{
    rs_quantity count;
    if (!rs_range_count_most(m->kernels->nest, loop, &count) || count.divisor <= 0)
        return UNKNOWN_ITERATIONS;
    int64_t number = number_of(m, &count.above) / count.divisor;
    return number < 0 ? 0 : number > most_iterations ? most_iterations : number;
}

static int64_t array_bytes(const maker *m, const rs_array *array)
{
    const json_t *sizes = json_object_get(
        rs_json_named(json_object_get(m->description, "parameters"), array->name), "sizes");
    size_t count = sizes == NULL ? 0 : rs_values_largest(m->values, sizes);
    return times((int64_t)(count == 0 ? 1 << 20 : count), array->element);
}

/* ---- loops ---- */

static int deepest_loop(const rs_nest *nest)
{
    int deepest = 0, most = -1;
    for (int i = 0; i < nest->count; i++) {
        int depth = 0;
        for (int at = nest->loops[i].loop; at >= 0; at = nest->unit->loops[at].parent)
            depth++;
        if (depth > most) {
            most = depth;
            deepest = i;
        }
    }
    return deepest;
}

static void add_loops(maker *m)
{
    rs_nest_form *form = m->form;
    const rs_nest *nest = form->nest;
    int deepest = nest->loops[deepest_loop(nest)].loop;
    for (int i = 0; i < nest->count; i++) {
        const rs_nest_loop *loop = &nest->loops[i];
        if (!rs_unit_is_within(nest->unit, deepest, loop->loop))
            continue;
        rs_form_loop *made = &form->loops[form->loop_count++];
        int64_t all = iterations_of(m, loop);
        bool vectors = m->changed && m->spaces == NULL && i == nest->vector;
        int64_t width = vectors ? m->kernels->width : 1;
        *made = (rs_form_loop){i, loop->dimension, all / width, all / width};
        form->rest = form->rest || all % width != 0;
        if (loop->dimension >= 0) {
            int64_t items = (int64_t)form->launch.global[loop->dimension];
            made->rounds = (made->iterations + items - 1) / items;
        }
        if (vectors)
            form->vector_rounds = made->rounds > 0 ? (double)made->rounds : 1;
    }
}

static int depth_of(const rs_nest_form *form, int loop)
{
    int depth = -1;
    for (int i = 0; i < form->loop_count; i++)
        if (rs_unit_is_within(form->nest->unit, loop, form->nest->loops[form->loops[i].loop].loop))
            depth = i;
    return depth;
}

/* ---- places ---- */

/* Bytes from one subscript of an array, or of a reference to it, to the next. */
static int64_t pitch_of(const rs_array *array, const rs_reference *r, int row)
{
    int64_t bytes = array->element;
    if (r != NULL && r->strides[row] > 0)
        return r->strides[row];
    for (int inner = row + 1; inner < array->dimensions; inner++)
        bytes = times(bytes, array->extents[inner] > 0 ? array->extents[inner] : UNKNOWN_EXTENT);
    return bytes;
}

static int64_t place_of(const maker *m, const rs_reference *r)
{
    int64_t sum = r->member_offset;
    for (int row = 0; row < r->count; row++)
        sum = plus(sum, times(number_of(m, &r->subscripts[row]),
                              pitch_of(&m->form->nest->unit->arrays[r->array], r, row)));
    return sum;
}

/* Of a copy: rows of the other subscripts, each with the iterations of the vectors' loop. */
static int64_t place_in_copy(const maker *m, const rs_reference *r, const rs_copy *copy)
{
    const rs_nest *nest = m->form->nest;
    const rs_nest_loop *loop = &nest->loops[nest->vector];
    int symbol = nest->unit->loops[loop->loop].symbol;
    rs_polynomial rows[RS_SUBSCRIPT_LIMIT];
    bool divided;
    int count = rs_reference_rows(nest->unit, r, rows, &divided);
    int64_t at = 0, length = iterations_of(m, loop);
    for (int i = 0; i + 1 < copy->rows; i++) {
        int row = rs_copy_row(copy, i);
        int64_t least = number_of(m, &copy->least[row]);
        int64_t extent = plus(minus(number_of(m, &copy->most[row]), least), 1);
        at = plus(times(at, extent), row < count ? minus(number_of(m, &rows[row]), least) : 0);
    }
    int64_t first = number_of(m, &loop->first);
    at = plus(times(at, length), minus(m->numbers[symbol], first));
    return times(at, nest->unit->arrays[r->array].element);
}

/* Fills base and strides of a move by going one iteration along each loop. */
static void find_strides(maker *m, rs_move *move, const rs_reference *r, const rs_copy *copy)
{
    const rs_nest *nest = m->form->nest;
    move->base = copy != NULL ? place_in_copy(m, r, copy) : place_of(m, r);
    for (int i = 0; i < m->form->loop_count; i++) {
        int symbol = nest->unit->loops[nest->loops[m->form->loops[i].loop].loop].symbol;
        if (symbol >= RS_FORM_NUMBERS)
            continue;
        m->numbers[symbol]++;
        move->stride[i] =
            minus(copy != NULL ? place_in_copy(m, r, copy) : place_of(m, r), move->base);
        m->numbers[symbol]--;
    }
}

/* Arrays and copies lie far from each other, and not all on one set of a cache. */
static int64_t start_of(int number)
{
    return ((int64_t)(number + 1) << ARRAY_SHIFT) + (int64_t)number * 8320;
}

/* ---- moves ---- */

static bool is_repeated(const rs_nest *nest, int reference)
{
    const rs_access *accesses = nest->accesses->accesses;
    for (int i = 0; i < reference; i++)
        if (rs_nest_has(nest, i) &&
            accesses[i].reference->loop == accesses[reference].reference->loop &&
            accesses[i].reference->written == accesses[reference].reference->written &&
            rs_access_same(&accesses[i], &accesses[reference]))
            return true;
    return false;
}

static rs_move plain_move(maker *m, int reference)
{
    const rs_nest *nest = m->form->nest;
    const rs_reference *r = &nest->unit->references[reference];
    const rs_access *access = &nest->accesses->accesses[reference];
    rs_move move;
    memset(&move, 0, sizeof move);
    move.array = r->array;
    move.written = r->written;
    move.random = rs_access_is_random(access);
    move.range = array_bytes(m, &nest->unit->arrays[r->array]);
    move.depth = depth_of(m->form, r->loop);
    move.order = r->order;
    move.bytes = r->width > 0 ? (int)r->width : 4;
    move.pieces = 1;
    find_strides(m, &move, r, NULL);
    move.base = plus(move.base, start_of(r->array));
    return move;
}

/* Elements side by side in pieces of up to 16 bytes, others one by one. */
static void widen(maker *m, rs_move *move, int reference)
{
    const rs_nest *nest = m->form->nest;
    int width = m->kernels->width, depth = -1;
    rs_placed placed = m->kernels->copies->placed[reference];
    for (int i = 0; i < m->form->loop_count; i++)
        depth = m->form->loops[i].loop == nest->vector ? i : depth;
    if (depth < 0 || move->depth < depth)
        return;
    if (placed == RS_PLACED_COPY) {
        int number = m->kernels->copies->copy_of[reference];
        find_strides(m, move, &nest->unit->references[reference],
                     &m->kernels->copies->copies[number]);
        move->base = plus(move->base, start_of(nest->unit->array_count + number));
    }
    int64_t apart = move->stride[depth];
    move->stride[depth] = times(apart, width);
    if (placed == RS_PLACED_UNIFORM)
        return;
    bool whole = placed == RS_PLACED_ALIGNED || placed == RS_PLACED_COPY;
    int all = width * move->bytes;
    move->pieces = !whole ? width : all <= VECTOR_PIECE ? 1 : all / VECTOR_PIECE;
    move->bytes = whole ? all / move->pieces : move->bytes;
    move->apart = whole ? move->bytes : apart;
}

static bool is_first_of_array(const rs_nest *nest, int reference)
{
    for (int i = 0; i < reference; i++)
        if (rs_nest_has(nest, i) &&
            nest->unit->references[i].array == nest->unit->references[reference].array)
            return false;
    return true;
}

static void add_move(rs_nest_form *form, const rs_move *move)
{
    if (form->move_count < RS_FORM_LIMIT)
        form->moves[form->move_count++] = *move;
}

/* What fills a tile: before the first reference that uses it. */
static void add_fill(maker *m, const rs_move *use)
{
    const rs_nest *nest = m->form->nest;
    const rs_placing *p = &m->spaces->arrays[use->array];
    const rs_array *array = &nest->unit->arrays[use->array];
    rs_move fill = *use;
    fill.kind = RS_MOVE_TILE_FILL;
    fill.order = -1;
    fill.rows = p->rows;
    fill.bytes = (int)array->element;
    fill.base = start_of(use->array);
    memset(fill.stride, 0, sizeof fill.stride);
    for (int row = 0; row < p->rows; row++) {
        fill.extent[row] = p->extent[row];
        fill.pitch[row] = pitch_of(array, NULL, row);
        fill.base = plus(fill.base, times(number_of(m, &p->offset[row]), fill.pitch[row]));
        for (int i = 0; i < m->form->loop_count; i++) {
            int loop = m->form->loops[i].loop;
            int64_t stride = times(p->factors[row][loop], fill.pitch[row]);
            fill.stride[i] = plus(fill.stride[i], stride);
            fill.base = plus(fill.base, times(stride, number_of(m, &nest->loops[loop].first)));
        }
    }
    add_move(m->form, &fill);
}

static bool is_fixed(const maker *m, const rs_move *move, int loop)
{
    for (int i = 0; i < m->form->loop_count; i++)
        if (m->form->loops[i].loop == loop)
            return move->depth >= i && move->stride[i] == 0;
    return false;
}

/* Whether the loop inside the threads reads tiles and constants alone. Nothing in global memory
 * overlaps those, so compilers keep its sums in registers. */
static bool is_separate(maker *m)
{
    const rs_nest *nest = m->form->nest;
    int inner = m->spaces->inner;
    for (int i = 0; i < nest->unit->reference_count && inner >= 0; i++) {
        if (!rs_nest_has(nest, i) || !rs_nest_loop_has(nest, &nest->loops[inner], i) ||
            m->spaces->arrays[nest->unit->references[i].array].placed != RS_MEMORY_GLOBAL)
            continue;
        rs_move move = plain_move(m, i);
        if (!is_fixed(m, &move, inner))
            return false;
    }
    return inner >= 0;
}

static void keep_in_register(rs_nest_form *form, rs_move *move, int loop)
{
    for (int i = 0; i < form->loop_count; i++)
        if (form->loops[i].loop == loop && move->depth >= i)
            move->depth = i - 1;
}

static void place_move(maker *m, rs_move *move, int reference, bool separate)
{
    static const rs_move_kind kinds[] = {[RS_MEMORY_GLOBAL] = RS_MOVE_GLOBAL,
                                         [RS_MEMORY_CONSTANT] = RS_MOVE_CONSTANT,
                                         [RS_MEMORY_TEXTURE] = RS_MOVE_TEXTURE,
                                         [RS_MEMORY_SHARED] = RS_MOVE_TILE};
    const rs_nest *nest = m->form->nest;
    move->kind = kinds[m->spaces->arrays[move->array].placed];
    if (move->kind == RS_MOVE_TILE && is_first_of_array(nest, reference))
        add_fill(m, move);
    if (m->spaces->staged && separate && move->kind == RS_MOVE_GLOBAL &&
        is_fixed(m, move, m->spaces->inner))
        keep_in_register(m->form, move, m->spaces->inner);
}

static void add_moves(maker *m)
{
    const rs_nest *nest = m->form->nest;
    bool placed = m->changed && m->spaces != NULL;
    bool separate = placed && m->spaces->staged && is_separate(m);
    for (int i = 0; i < nest->unit->reference_count; i++) {
        if (!rs_nest_has(nest, i) || is_repeated(nest, i))
            continue;
        rs_move move = plain_move(m, i);
        const rs_array *array = &nest->unit->arrays[move.array];
        if (placed)
            place_move(m, &move, i, separate);
        else if (m->changed && nest->loops[nest->vector].reduction && array->written &&
                 m->kernels->copies->placed[i] == RS_PLACED_UNIFORM)
            keep_in_register(m->form, &move, nest->vector);
        else if (m->changed)
            widen(m, &move, i);
        if (nest->unit->references[i].read && nest->unit->references[i].written) {
            rs_move load = move;
            load.written = false;
            add_move(m->form, &load);
        }
        add_move(m->form, &move);
    }
}

/* ---- work ---- */

typedef struct {
    const char *name;
    double wide, narrow;
} cost;

/* Instructions of the functions that programs call, in double and float. */
static const cost functions[] = {{"sqrt", 16, 3},  {"fabs", 1, 1},  {"exp", 30, 8}, {"log", 40, 10},
                                 {"pow", 120, 30}, {"sin", 40, 20}, {"cos", 40, 20}};
static const double other_function = 20, wide_quotient = 16, narrow_quotient = 4,
                    integer_quotient = 5;

static double function_cost(const char *text, bool wide)
{
    double found = other_function;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        size_t length = strlen(functions[i].name);
        if (strncmp(text, functions[i].name, length) == 0 && strlen(text + length) <= 1)
            found = wide ? functions[i].wide : functions[i].narrow;
    }
    return found;
}

/* Instructions of one node, without those below it. */
static double node_cost(const rs_tree *tree, int node, rs_kind kind)
{
    int what = tree->nodes[node].is;
    bool wide = kind == RS_KIND_DOUBLE;
    if (what == RS_NODE_CALL)
        return function_cost(tree->nodes[node].name, wide);
    if (what == RS_NODE_CONDITIONAL)
        return 1;
    if (what != RS_NODE_BINARY && what != RS_NODE_ASSIGN)
        return 0;
    if (rs_node_is_binary(tree, node, "="))
        return 0;
    bool divides = rs_node_is_binary(tree, node, "/ /= %");
    return !divides                   ? 1
           : rs_kind_is_integer(kind) ? integer_quotient
           : wide                     ? wide_quotient
                                      : narrow_quotient;
}

/* What lies in the innermost loop of the form; inner loops run once for each of its iterations. */
static void add_arithmetic(maker *m, int loop)
{
    const rs_tree *tree = &m->form->nest->program->tree;
    rs_work *work = &m->form->work;
    int root = m->form->nest->loops[loop].parts.body;
    for (int node = root; root >= 0 && node < tree->node_count; node++) {
        if (tree->nodes[node].begin >= tree->nodes[root].end)
            break;
        rs_kind kind = rs_kind_of(rs_type_of(tree, node));
        double instructions = node_cost(tree, node, kind);
        if (kind == RS_KIND_DOUBLE)
            work->wide += instructions;
        else if (kind == RS_KIND_FLOAT)
            work->narrow += instructions;
        else
            work->integers += instructions / 4; /* mostly joined with others */
    }
}

/* Integer instructions: for a place in memory, by the kind of move; around the body of a loop, with
 * vectors and without; for each row of an element that is loaded into a tile. Compilers that unroll
 * a loop need fewer. */
static const double places[] = {
    [RS_MOVE_GLOBAL] = 3, [RS_MOVE_CONSTANT] = 1, [RS_MOVE_TEXTURE] = 6, [RS_MOVE_TILE] = 3};
static const double plain_loop = 5, vector_loop = 14, unrolled_places = 0.4, fill_row = 12,
                    fill_element = 8;

static bool has_stores(const rs_nest_form *form)
{
    for (int i = 0; i < form->move_count; i++)
        if (form->moves[i].written && form->moves[i].depth + 1 == form->loop_count)
            return true;
    return false;
}

/* Elements that a work-item loads into a tile: the mean over all rounds. */
static void add_filling(rs_nest_form *form, const rs_move *move)
{
    double elements = 1, items = 1;
    for (int row = 0; row < move->rows; row++)
        elements *= (double)move->extent[row];
    for (int i = 0; i < 3; i++)
        items *= (double)form->launch.local[i];
    bool inner = move->depth >= 0 && form->loops[move->depth].dimension < 0;
    double each = ceil(elements / items), share = inner ? 1.0 / RS_SPACES_TILE : 1;
    form->work.integers += each * share * (fill_element + fill_row * move->rows);
    form->fills += each * share;
    form->barriers += share * 2;
}

/* Whether all work-items of a group go to the same place: that is found once for them. */
static bool is_the_same_for_all(const rs_nest_form *form, const rs_move *move)
{
    for (int i = 0; i < form->loop_count; i++)
        if (form->loops[i].dimension >= 0 && move->stride[i] != 0)
            return false;
    return !move->random;
}

static void add_work(maker *m)
{
    rs_nest_form *form = m->form;
    rs_work *work = &form->work;
    const rs_form_loop *innermost = &form->loops[form->loop_count - 1];
    add_arithmetic(m, innermost->loop);
    bool vectors = m->changed && m->spaces == NULL;
    bool inside = vectors && depth_of(form, form->nest->loops[form->nest->vector].loop) >= 0;
    if (inside) {
        work->wide *= m->kernels->width;
        work->narrow *= m->kernels->width;
        work->integers *= m->kernels->width;
    }
    form->unrolled = !has_stores(form) && !inside;
    double less = form->unrolled ? unrolled_places : 1;
    work->integers += vectors ? vector_loop : plain_loop * less;
    form->registers = 24;
    for (int i = 0; i < form->move_count; i++) {
        const rs_move *move = &form->moves[i];
        double words = move->bytes / 4.0 * move->pieces;
        if (move->kind == RS_MOVE_TILE_FILL)
            add_filling(form, move);
        if (move->kind == RS_MOVE_TILE_FILL || move->depth + 1 < form->loop_count)
            continue;
        form->registers += words < 1 ? 1 : words;
        rs_move_kind kind = move->kind == RS_MOVE_GLOBAL && is_the_same_for_all(form, move)
                                ? RS_MOVE_CONSTANT
                                : move->kind;
        work->integers += places[kind] * less * (move->apart == move->bytes ? 1 : move->pieces);
    }
}

void rs_form_make(rs_nest_form *form, const rs_kernels *kernels, const rs_spaces *spaces,
                  bool changed, const json_t *description, const rs_values *values)
{
    maker m = {form, kernels, spaces, changed, description, values, {0}};
    memset(form, 0, sizeof *form);
    form->nest = kernels->nest;
    form->launch = rs_launch_of(values, description, changed, kernels->width);
    form->bytes = (int64_t)rs_values_bytes(values, description, kernels->width);
    set_numbers(&m);
    add_loops(&m);
    add_moves(&m);
    add_work(&m);
}
