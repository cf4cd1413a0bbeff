/* Panels of columns: they cover the matrix once, and what lies below their results is right. */
#include "transfer/panels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void panels_cover_the_matrix(void **state)
{
    (void)state;
    static const size_t sides[] = {1, 2, 7, 64, 100, 1000, 4097};
    static const size_t counts[] = {0, 1, 2, 3, 16, 5000};
    for (size_t r = 0; r < 7; r++)
        for (size_t c = 0; c < 7; c++)
            for (size_t n = 0; n < 6; n++)
                for (size_t unit = 1; unit <= 12; unit += 11) {
                    rs_panels p = rs_panels_cut(sides[r], sides[c], unit, counts[n]);
                    size_t end = 0;
                    for (size_t k = 0; k < p.count; k++) {
                        assert_int_equal(rs_panels_begin(&p, k), end);
                        assert_true(rs_panels_end(&p, k) > end);
                        end = rs_panels_end(&p, k);
                        /* The result of panels 0 to k ends in the row before, or at its end. */
                        size_t rows = rs_panels_rows_below(&p, k);
                        assert_true(rows * sides[c] >= end * sides[r]);
                        assert_true((rows - 1) * sides[c] < end * sides[r]);
                    }
                    assert_int_equal(end, sides[c]);
                    assert_int_equal(rs_panels_rows_below(&p, p.count - 1), sides[r]);
                }
}

static void even_panels_are_aligned(void **state)
{
    (void)state;
    rs_panels p;
    assert_true(rs_panels_cut_evenly(&p, 7200, 1800, 4, 8, 512));
    assert_int_equal(p.count * p.width, 1800);
    assert_int_equal(p.width * 7200 * 4 % 512, 0);
    assert_int_equal(p.count, 9); /* 225 columns would begin elsewhere */
    assert_false(rs_panels_cut_evenly(&p, 7200, 1801, 4, 8, 512));
    assert_false(rs_panels_cut_evenly(&p, 3, 10, 1, 2, 512));
}

static void rows_of_panels_are_whole_lines(void **state)
{
    (void)state;
    rs_panels p = rs_panels_cut(7200, 1800, 4, 0);
    assert_true(p.count > 1);
    assert_int_equal(p.width * 4 % 128, 0);
    p = rs_panels_cut(1000, 1000, 12, 4);
    assert_int_equal(p.width * 12 % 128, 0);
    /* Narrow ones would be slow on the bus. */
    p = rs_panels_cut(100000000, 8, 4, 0);
    assert_int_equal(p.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_cover_the_matrix),
        cmocka_unit_test(even_panels_are_aligned),
        cmocka_unit_test(rows_of_panels_are_whole_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
