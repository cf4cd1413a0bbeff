/* Plans of small launches against the optimum over everything that their memory allows: all orders
 * of the threads, and all contents of the slots, with copies and gaps. */
#include "cmocka_all.h"
#include "irregular/launches.h"
#include "transpose/reference.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 8, MOST_OBJECTS = 5, MOST_EXTRA = 3, MOST_SLOTS = MOST_OBJECTS + MOST_EXTRA };
enum { SETS = 1 << MOST_OBJECTS, MOST_GROUPINGS = 4096, OBJECT_BYTES = 4 };

/* The sets of objects that the warps read, one bit an object: one set a warp, in some order of the
 * threads. */
typedef struct {
    unsigned sets[MOST_THREADS];
} grouping;

typedef struct {
    grouping groupings[MOST_GROUPINGS];
    size_t count;
    size_t warps;
} all_groupings;

/* Steps through all permutations of values[0 .. count), in lexicographic order. */
static bool next_permutation(uint64_t *values, size_t count)
{
    size_t i = count - 1;
    while (i > 0 && values[i - 1] >= values[i])
        i--;
    if (i == 0)
        return false;
    size_t k = count - 1;
    while (values[k] <= values[i - 1])
        k--;
    uint64_t swapped = values[i - 1];
    values[i - 1] = values[k];
    values[k] = swapped;
    for (size_t a = i, b = count - 1; a < b; a++, b--) {
        swapped = values[a];
        values[a] = values[b];
        values[b] = swapped;
    }
    return true;
}

static int compare_objects(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a;
    uint64_t other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

static void add_grouping(all_groupings *all, const launch_case *made, const uint64_t *object)
{
    grouping added = {{0}};
    for (size_t t = 0; t < made->launch.threads; t++)
        added.sets[t / made->launch.warp] |= 1U << object[t];
    for (size_t i = 0; i < all->count; i++)
        if (memcmp(&all->groupings[i], &added, sizeof added) == 0)
            return;
    assert_true(all->count < MOST_GROUPINGS);
    all->groupings[all->count++] = added;
}

static void find_groupings(all_groupings *all, const launch_case *made, bool keep_threads)
{
    uint64_t object[MOST_THREADS];
    memcpy(object, made->index, made->launch.threads * sizeof *object);
    *all = (all_groupings){.warps = warps_of(made)};
    if (keep_threads) {
        add_grouping(all, made, object);
        return;
    }
    qsort(object, made->launch.threads, sizeof *object, compare_objects);
    do {
        add_grouping(all, made, object);
    } while (next_permutation(object, made->launch.threads));
}

/* The fewest segments that hold each set of objects; `content` has the set of each segment. */
static void cover_sets(unsigned fewest[SETS], const unsigned *content, size_t segments)
{
    for (unsigned set = 0; set < SETS; set++)
        fewest[set] = MOST_SLOTS + 1;
    for (unsigned choice = 0; choice < 1U << segments; choice++) {
        unsigned held = 0;
        unsigned chosen = 0;
        for (size_t s = 0; s < segments; s++)
            if ((choice >> s & 1) != 0) {
                held |= content[s];
                chosen++;
            }
        for (unsigned set = 0; set < SETS; set++)
            if ((set & ~held) == 0 && chosen < fewest[set])
                fewest[set] = chosen;
    }
}

static size_t fewest_transactions(const all_groupings *all, const unsigned fewest[SETS])
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < all->count; i++) {
        size_t total = 0;
        for (size_t w = 0; w < all->warps; w++)
            total += fewest[all->groupings[i].sets[w]];
        best = total < best ? total : best;
    }
    return best;
}

/*
 * The optimum with `extra` slots more than there are objects: every content of the slots, each an
 * object or a gap, in which no object is missing.
 */
static size_t optimum(const launch_case *made, size_t extra, bool keep_threads)
{
    static all_groupings all;
    find_groupings(&all, made, keep_threads);
    size_t objects = made->reference.objects;
    size_t slots = objects + extra;
    size_t a_segment = made->launch.segment_bytes / OBJECT_BYTES;
    size_t contents = 1;
    for (size_t s = 0; s < slots; s++)
        contents *= objects + 1;
    size_t best = SIZE_MAX;
    for (size_t number = 0; number < contents; number++) {
        unsigned content[MOST_SLOTS] = {0};
        unsigned stored = 0;
        bool again = false; /* the same in another order inside a segment */
        size_t before = 0;
        size_t digits = number;
        for (size_t s = 0; s < slots; s++, digits /= objects + 1) {
            unsigned object = (1U << digits % (objects + 1)) & ((1U << objects) - 1);
            content[s / a_segment] |= object;
            stored |= object;
            again |= s % a_segment > 0 && digits % (objects + 1) < before;
            before = digits % (objects + 1);
        }
        if (again || stored != (1U << objects) - 1)
            continue;
        unsigned fewest[SETS];
        cover_sets(fewest, content, (slots + a_segment - 1) / a_segment);
        size_t total = fewest_transactions(&all, fewest);
        best = total < best ? total : best;
    }
    return best;
}

static launch_case make_small(uint64_t *seed, uint64_t *index)
{
    launch_case made = {{2 + test_random(seed, MOST_THREADS - 1), 2 + test_random(seed, 3), 0},
                        {NULL, 8, 1 + test_random(seed, MOST_OBJECTS), OBJECT_BYTES},
                        NULL,
                        NULL};
    made.launch.segment_bytes = OBJECT_BYTES * made.launch.warp;
    for (size_t t = 0; t < made.launch.threads; t++)
        index[t] = test_random(seed, made.reference.objects);
    made.index = index;
    made.reference.index = index;
    return made;
}

static void no_extra_memory_comes_near_the_optimum(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int n = 0; n < 200; n++) {
        uint64_t index[MOST_THREADS];
        launch_case made = make_small(&seed, index);
        size_t best = optimum(&made, 0, false);
        size_t warps = warps_of(&made);
        assert_true(best >= warps);
        size_t approximated = planned(&made, RESTRIDE_IRREGULAR_APPROXIMATION, 0);
        assert_true(approximated >= best);
        assert_true(approximated <= best + warps);
        assert_true(planned(&made, RESTRIDE_IRREGULAR_AUTO, 0) <= best);
        assert_int_equal(planned(&made, RESTRIDE_IRREGULAR_PADDING, 0), warps);
    }
}

/* Padding is refused, or it reaches the optimum for its memory; whatever wins is never better than
 * that, so its extra bytes are counted right, nor worse than the optimum and a segment a warp. */
static void padding_reaches_the_optimum_of_its_budget(void **state)
{
    (void)state;
    uint64_t seed = 11;
    size_t allowed = 0;
    size_t gained = 0;
    for (int n = 0; n < 120; n++) {
        uint64_t index[MOST_THREADS];
        launch_case made = make_small(&seed, index);
        size_t without = optimum(&made, 0, false);
        for (size_t extra = 1; extra <= MOST_EXTRA; extra++) {
            size_t best = optimum(&made, extra, false);
            size_t padded = planned(&made, RESTRIDE_IRREGULAR_PADDING, extra * OBJECT_BYTES);
            size_t won = planned(&made, RESTRIDE_IRREGULAR_AUTO, extra * OBJECT_BYTES);
            if (padded != SIZE_MAX)
                assert_int_equal(padded, best);
            assert_true(won >= best);
            assert_true(won <= best + warps_of(&made));
            allowed += padded != SIZE_MAX;
            gained += best < without && padded == best;
        }
    }
    assert_true(allowed > 100);
    assert_true(gained > 0); /* there are launches that need the copy or the gap */
}

/* The same with threads that stay: copies alone. */
static void duplication_stays_within_the_optimum_of_its_budget(void **state)
{
    (void)state;
    uint64_t seed = 23;
    size_t reached = 0;
    size_t short_of_memory = 0;
    for (int n = 0; n < 120; n++) {
        uint64_t index[MOST_THREADS];
        launch_case made = make_small(&seed, index);
        for (size_t extra = 1; extra < MOST_EXTRA; extra++) {
            size_t best = optimum(&made, extra, true);
            size_t partial = planned(&made, RESTRIDE_IRREGULAR_PARTIAL, extra * OBJECT_BYTES);
            size_t full = planned(&made, RESTRIDE_IRREGULAR_DUPLICATION, extra * OBJECT_BYTES);
            assert_true(partial >= best);
            assert_true(full == SIZE_MAX ? made.launch.threads > extra : full == warps_of(&made));
            reached += partial == best;
            short_of_memory += best > warps_of(&made);
        }
        assert_int_equal(planned(&made, RESTRIDE_IRREGULAR_PARTIAL, 0), warps_of(&made));
        assert_int_equal(planned(&made, RESTRIDE_IRREGULAR_DUPLICATION, 0), warps_of(&made));
    }
    assert_true(reached > 0 && short_of_memory > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_extra_memory_comes_near_the_optimum),
        cmocka_unit_test(padding_reaches_the_optimum_of_its_budget),
        cmocka_unit_test(duplication_stays_within_the_optimum_of_its_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
