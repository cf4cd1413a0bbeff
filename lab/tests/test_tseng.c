/* The kernels of Tseng 2014 on the model: what the paper says of its figures, and counts by hand.
 */
#include "cmocka_all.h"
#include "lab/sim/tseng.h"

static rs_tseng_times simulate(rs_tseng_kernel kernel, rs_tseng_version version, size_t tile,
                               size_t delay)
{
    const rs_tseng_run run = {kernel, version, tile, delay};
    rs_tseng_times times;
    assert_int_equal(rs_tseng_simulate(&run, &times), RESTRIDE_OK);
    return times;
}

/* Section 4.2: ASTA gains most where accesses are regular, and the transformer gains more. */
static void the_transformer_is_never_behind(void **state)
{
    (void)state;
    double gains[RS_TSENG_KERNELS];
    for (int k = 0; k < RS_TSENG_KERNELS; k++) {
        const rs_tseng_times aos = simulate((rs_tseng_kernel)k, RS_TSENG_AOS, 32, 0);
        const rs_tseng_times asta = simulate((rs_tseng_kernel)k, RS_TSENG_ASTA, 32, 0);
        const rs_tseng_times dlt = simulate((rs_tseng_kernel)k, RS_TSENG_DLT, 32, 0);
        /* The translated addresses are those of ASTA; only instructions differ. */
        assert_memory_equal(&asta.counts, &dlt.counts, sizeof dlt.counts);
        assert_true(dlt.ns < asta.ns && dlt.ns < aos.ns);
        gains[k] = aos.ns / dlt.ns;
    }
    assert_true(gains[RS_TSENG_LBM] > gains[RS_TSENG_BLACK_SCHOLES]);
    assert_true(gains[RS_TSENG_BLACK_SCHOLES] > gains[RS_TSENG_SPMV]);
    assert_true(gains[RS_TSENG_LBM] > 2 && gains[RS_TSENG_LBM] < 2.77);
    assert_true(gains[RS_TSENG_SPMV] > 1 && gains[RS_TSENG_SPMV] < 1.1);
}

/* Section 4.3: tiles of half a warp are worse, and longer ones than a warp no better. */
static void tiles_of_a_warp_suffice(void **state)
{
    (void)state;
    for (int k = 0; k < RS_TSENG_KERNELS; k++) {
        double half = simulate((rs_tseng_kernel)k, RS_TSENG_DLT, 16, 0).ns;
        double whole = simulate((rs_tseng_kernel)k, RS_TSENG_DLT, 32, 0).ns;
        double twice = simulate((rs_tseng_kernel)k, RS_TSENG_DLT, 64, 0).ns;
        assert_true(half > whole);
        assert_true(twice > 0.98 * whole && twice <= whole);
    }
}

/* Section 4.4: the delay counts where loads wait for one another. */
static void delays_cost_kernels_that_wait(void **state)
{
    (void)state;
    for (int k = 0; k < RS_TSENG_KERNELS; k++) {
        const rs_tseng_times without = simulate((rs_tseng_kernel)k, RS_TSENG_DLT, 32, 0);
        const rs_tseng_times with = simulate((rs_tseng_kernel)k, RS_TSENG_DLT, 32, RS_TSENG_DELAY);
        assert_true(with.ns > without.ns);
        assert_true((with.ns > 1.01 * without.ns) == (k == RS_TSENG_SPMV));
        /* 75 cycles on 450; in SpMV the loads of plain arrays, a third of the waits, stay. */
        double longer = with.latency_ns / without.latency_ns - 1;
        double share = k == RS_TSENG_SPMV ? 2.0 / 3 : 1;
        assert_true(longer > 0.98 * share / 6 && longer < 1.001 * share / 6);
        const rs_tseng_times asta = simulate((rs_tseng_kernel)k, RS_TSENG_ASTA, 32, RS_TSENG_DELAY);
        assert_true(asta.latency_ns == without.latency_ns);
    }
}

static void counts_are_those_of_the_kernels(void **state)
{
    (void)state;
    /* 5 accesses of 32 options a warp; in tiles each touches a line, as AoS five. */
    const rs_tseng_times options = simulate(RS_TSENG_BLACK_SCHOLES, RS_TSENG_DLT, 32, 0);
    assert_int_equal(options.counts.warps, 15 * 48 * 8);
    assert_int_equal(options.counts.accesses, 5 * options.counts.warps);
    assert_int_equal(options.counts.lines, options.counts.accesses);
    assert_int_equal(options.counts.useful_bytes, options.counts.accesses * 128);
    assert_int_equal(options.counts.moved_bytes, options.counts.useful_bytes);
    const rs_tseng_times structures = simulate(RS_TSENG_BLACK_SCHOLES, RS_TSENG_AOS, 32, 0);
    assert_int_equal(structures.counts.lines, 5 * structures.counts.accesses);
    /* 20 reads and 20 writes a warp; cells to the left and right lie over a tile's border. */
    const rs_tseng_times cells = simulate(RS_TSENG_LBM, RS_TSENG_DLT, 32, 0);
    assert_int_equal(cells.counts.accesses, 40 * cells.counts.warps);
    assert_true(cells.counts.lines > cells.counts.accesses);
    assert_true(cells.counts.lines < 2 * cells.counts.accesses);
    /* Three accesses a row and four a nonzero. */
    const rs_tseng_times rows = simulate(RS_TSENG_SPMV, RS_TSENG_AOS, 32, 0);
    assert_int_equal(rows.counts.warps, 146688 / 32);
    assert_int_equal((rows.counts.accesses - 3 * rows.counts.warps) % 4, 0);
    const rs_tseng_run bad = {RS_TSENG_LBM, RS_TSENG_DLT, 0, 0};
    rs_tseng_times times;
    assert_int_equal(rs_tseng_simulate(&bad, &times), RESTRIDE_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_transformer_is_never_behind),
        cmocka_unit_test(tiles_of_a_warp_suffice),
        cmocka_unit_test(delays_cost_kernels_that_wait),
        cmocka_unit_test(counts_are_those_of_the_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
