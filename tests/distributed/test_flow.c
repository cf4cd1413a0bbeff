/* What flows one way, for any amounts of bytes: every process finds room, and every byte arrives.
 */
#include "cmocka_all.h"
#include "distributed/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 12, CASES = 3000, NOBODY = -1 };

static uint64_t state = 4;

static size_t below(size_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((state >> 33) % limit);
}

/* Counts of any matrix: one dimension, of which each process is a coordinate on both sides. */
typedef struct {
    size_t size;
    size_t bytes[MOST * MOST];
    size_t numbers[MOST];
    rs_counts counts;
} matrix;

static void make_matrix(matrix *m)
{
    m->size = 1 + below(MOST);
    const size_t sparse = 1 + below(6);
    for (size_t i = 0; i < m->size * m->size; i++)
        m->bytes[i] = below(sparse) == 0 ? below(20) : 0;
    for (size_t p = 0; p < m->size; p++)
        m->numbers[p] = p;
    m->counts = (rs_counts){.processes = {m->size, m->size},
                            .rank = 1,
                            .unit = 1,
                            .coordinates = {m->numbers, m->numbers},
                            .units = {m->bytes},
                            .others = {m->size}};
}

static size_t excess(const matrix *m, size_t p, size_t q)
{
    const size_t there = m->bytes[p * m->size + q];
    const size_t back = m->bytes[q * m->size + p];
    return there > back ? there - back : 0;
}

/* As plans place them: what leaves from the end of the larger part, what arrives from its begin. */
static void check_room(const matrix *m, size_t p, const rs_flow_step *steps, size_t count)
{
    size_t leaving = 0;
    size_t arriving = 0;
    for (size_t q = 0; q < m->size; q++) {
        leaving += excess(m, p, q);
        arriving += excess(m, q, p);
    }
    const size_t room = leaving > arriving ? leaving : arriving;
    size_t send_at = room - leaving;
    size_t receive_at = 0;
    for (size_t s = 0; s < count; s++) {
        send_at += steps[s].to != NOBODY ? steps[s].bytes : 0;
        receive_at += steps[s].from != NOBODY ? steps[s].bytes : 0;
        assert_true(receive_at <= send_at);
    }
    assert_int_equal(send_at, room);
    assert_int_equal(receive_at, arriving);
}

/* The steps between two processes are the same for both, in the same order. */
static void check_pair(const matrix *m, rs_flow_step *steps[], const size_t counts[], size_t p,
                       size_t q)
{
    size_t sum = 0;
    size_t other = 0;
    for (size_t s = 0; s < counts[p]; s++) {
        if (steps[p][s].to != (int)q)
            continue;
        while (other < counts[q] && steps[q][other].from != (int)p)
            other++;
        assert_true(other < counts[q]);
        assert_int_equal(steps[q][other++].bytes, steps[p][s].bytes);
        sum += steps[p][s].bytes;
    }
    assert_int_equal(sum, excess(m, p, q));
}

static void every_byte_finds_room(void **unused)
{
    (void)unused;
    for (int i = 0; i < CASES; i++) {
        matrix m;
        rs_flow_step *steps[MOST];
        size_t counts[MOST];
        make_matrix(&m);
        for (size_t p = 0; p < m.size; p++) {
            assert_int_equal(rs_flow_plan(&m.counts, m.size, p, &steps[p], &counts[p]),
                             RESTRIDE_OK);
            check_room(&m, p, steps[p], counts[p]);
        }
        for (size_t p = 0; p < m.size; p++)
            for (size_t q = 0; q < m.size; q++)
                check_pair(&m, steps, counts, p, q);
        for (size_t p = 0; p < m.size; p++)
            free(steps[p]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_byte_finds_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
