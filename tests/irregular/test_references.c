/*
 * The references of real programs: the neighbours of a graph whose degrees follow a power law, the
 * cells of particles, and the columns of a sparse matrix. Every thread's object, the transactions
 * and the bounds are checked for each method; what is printed is the table of docs/irregular.md.
 */
#include "cmocka_all.h"
#include "irregular/launches.h"
#include "transpose/reference.h"

#include <stdio.h>
#include <stdlib.h>

enum { WARP = 32 };

static launch_case make_launch(size_t threads, size_t objects, size_t object_bytes)
{
    launch_case made = {{threads, WARP, 32}, {NULL, 8, objects, object_bytes}, NULL, NULL};
    made.index = calloc(threads, sizeof *made.index);
    assert_non_null(made.index);
    made.reference.index = made.index;
    uint64_t seed = 2;
    make_array(&made, &seed);
    return made;
}

static void print_facts(const char *name, const launch_case *made, int method)
{
    const restride_irregular_options options = {.method = (restride_irregular_method)method};
    restride_irregular *plan;
    assert_int_equal(restride_irregular_plan(&plan, &made->launch, &made->reference, 1, &options),
                     RESTRIDE_OK);
    const restride_irregular_facts facts = restride_irregular_plan_facts(plan, 0);
    print_message("%s, segments of %zu, method %d: %zu to %zu of at best %zu, bound %zu, %zu bytes "
                  "more\n",
                  name, made->launch.segment_bytes, method, facts.transactions_before,
                  facts.transactions_after, facts.transactions_best, facts.transactions_bound,
                  facts.extra_bytes);
    assert_true(facts.transactions_after < facts.transactions_before);
    restride_irregular_destroy(plan);
}

/* Segments of today's GPUs and of older ones. */
static void check_references(const char *name, launch_case *made)
{
    for (made->launch.segment_bytes = 32; made->launch.segment_bytes <= 128;
         made->launch.segment_bytes *= 4)
        for (int method = RESTRIDE_IRREGULAR_AUTO; method <= METHODS; method++) {
            check_method(made, method, 2);
            print_facts(name, made, method);
        }
    free_case(made);
}

/* Mixes the vertices' numbers: those of a real graph say nothing of its degrees. */
static void number_at_random(uint64_t *number, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = test_random(seed, i + 1);
        number[i] = number[k];
        number[k] = i;
    }
}

/*
 * A graph that grows: each new vertex has edges to ends of edges there are, so those with many
 * neighbours gain more (Barabasi and Albert 1999), and degrees follow a power law with exponent 3.
 * The references are the neighbours of vertex 0, 1, ..., one after the other.
 */
static void a_graph_with_hubs_gains(void **state)
{
    (void)state;
    enum { VERTICES = 8000, EDGES_EACH = 4, ENDS = 2 * VERTICES * EDGES_EACH };
    uint64_t seed = 17;
    uint64_t *end = malloc(ENDS * sizeof *end); /* of edge e: 2e and 2e + 1 */
    uint64_t *number = malloc(VERTICES * sizeof *number);
    size_t *place = calloc(VERTICES + 1, sizeof *place);
    assert_true(end != NULL && number != NULL && place != NULL);
    for (size_t e = 0; e < ENDS / 2; e++) {
        end[2 * e] = e / EDGES_EACH;
        end[2 * e + 1] = e == 0 ? 0 : end[test_random(&seed, 2 * e)];
    }
    number_at_random(number, VERTICES, &seed);
    size_t most = 0;
    for (size_t i = 0; i < ENDS; i++) {
        end[i] = number[end[i]];
        place[end[i] + 1]++;
        most = place[end[i] + 1] > most ? place[end[i] + 1] : most;
    }
    assert_true(most > 30 * ENDS / VERTICES); /* a hub has far more neighbours than the mean */
    for (size_t v = 0; v < VERTICES; v++)
        place[v + 1] += place[v];
    launch_case made = make_launch(ENDS, VERTICES, sizeof(float));
    for (size_t i = 0; i < ENDS; i++)
        made.index[place[end[i]]++] = end[i ^ 1];
    check_references("graph", &made);
    free(place);
    free(number);
    free(end);
}

/* Particles of a cloud that is denser in the middle, in no order, each in a cell of 4 floats. */
static void particles_in_cells_gain(void **state)
{
    (void)state;
    enum { PARTICLES = 40000, SIDE = 16, AXES = 3, DRAWS = 3, STEPS = 1000 };
    uint64_t seed = 29;
    launch_case made = make_launch(PARTICLES, SIDE * SIDE * SIDE, 4 * sizeof(float));
    for (size_t p = 0; p < PARTICLES; p++) {
        size_t cell = 0;
        for (int axis = 0; axis < AXES; axis++) {
            size_t position = 0;
            for (int draw = 0; draw < DRAWS; draw++)
                position += test_random(&seed, STEPS);
            cell = cell * SIDE + position * SIDE / (DRAWS * STEPS);
        }
        made.index[p] = cell;
    }
    check_references("particles", &made);
}

typedef struct {
    size_t row;
    size_t column;
} matrix_entry;

static int compare_entries(const void *a, const void *b)
{
    const matrix_entry *one = a;
    const matrix_entry *other = b;
    if (one->row != other->row)
        return one->row < other->row ? -1 : 1;
    return one->column < other->column ? -1 : one->column > other->column;
}

/* All entries of a symmetric matrix in a Matrix Market file, row by row; NULL: there is no file. */
static matrix_entry *read_matrix(const char *path, size_t *count, size_t *columns)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    char line[256];
    size_t rows = 0;
    size_t stored = 0;
    while (fgets(line, sizeof line, file) != NULL && line[0] == '%')
        continue;
    assert_int_equal(sscanf(line, "%zu %zu %zu", &rows, columns, &stored), 3);
    matrix_entry *entries = malloc(2 * stored * sizeof *entries);
    assert_non_null(entries);
    *count = 0;
    for (size_t i = 0; i < stored; i++) {
        matrix_entry entry;
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(sscanf(line, "%zu %zu", &entry.row, &entry.column), 2);
        entry.row--;
        entry.column--;
        entries[(*count)++] = entry;
        if (entry.row != entry.column)
            entries[(*count)++] = (matrix_entry){entry.column, entry.row};
    }
    fclose(file);
    qsort(entries, *count, sizeof *entries, compare_entries);
    return entries;
}

/* Sparse matrix times vector with a thread an entry: each reads the vector at its column. */
static void a_real_matrix_gains(void **state)
{
    (void)state;
    size_t count = 0;
    size_t columns = 0;
    matrix_entry *entries = read_matrix(RESTRIDE_SHARED_DATA "/bcsstk18.mtx", &count, &columns);
    if (entries == NULL) {
        print_message("skipped: there is no bcsstk18.mtx beside the checkout\n");
        skip();
    }
    launch_case made = make_launch(count, columns, sizeof(float));
    for (size_t i = 0; i < count; i++)
        made.index[i] = entries[i].column;
    free(entries);
    check_references("bcsstk18", &made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_with_hubs_gains),
        cmocka_unit_test(particles_in_cells_gain),
        cmocka_unit_test(a_real_matrix_gains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
