/* The first allocations of the reader, and each 16th behind them, fail: then the tree is
 * refused, or whole; nothing leaks. */
#include "cmocka_all.h"
#include "faults/heap.h"
#include "syntax/tree.h"

#include <string.h>

static const char source[] =
    "template <class T> struct P { T x, y[3]; union { int i; float f; }; };\n"
    "struct A : P<float> { A(float v) : z(v) {} float z; };\n"
    "template <class T> __device__ T get(const P<T> &p, int k = 2) { return p.y[k] + p.f; }\n"
    "template <class T> __global__ void k(P<T> *p, int n) {\n"
    "  for (int i = threadIdx.x; i < n; i += 3) { P<T> &q = p[i]; q.x = get(q);\n"
    "    auto f = [&](int j) { return p[j].i; }; if (f(1) > 2) { A a(2); q = p[n]; } }\n"
    "  switch (n) { case 1: return; default: atomicAdd(&p[n].i, 1); } }\n"
    "void run(P<float> *p) { k<<<1, 2>>>(p, 3); }\n";

static restride_status read_source(const rs_invocation *invocation)
{
    rs_syntax *tree;
    const restride_status status = rs_syntax_read(&tree, invocation);
    if (status == RESTRIDE_OK) {
        size_t kernels = 0;
        for (size_t i = 0; i < tree->declaration_count; i++)
            kernels += tree->declarations[i]->is_kernel && tree->declarations[i]->body != NULL;
        assert_int_equal(kernels, 1);
        rs_syntax_free(tree);
    }
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    rs_invocation invocation;
    const rs_invocation_request request = {
        .path = "/f.cu", .text = source, .size = sizeof source - 1, .toolkit = ""};
    assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_OK);
    size_t call = 0, tries = 0, failures = 0;
    for (bool is_done = false; !is_done; call += call < 40 ? 1 : 16, tries++) {
        heap_watch(call, tries % 2 == 0 ? HEAP_FAILS_ONCE : HEAP_FAILS_ON);
        const restride_status status = read_source(&invocation);
        const heap_report report = heap_stop();
        is_done = report.refused == 0;
        assert_int_equal(report.live, 0);
        if (status != RESTRIDE_OK)
            assert_int_equal(status, RESTRIDE_OUT_OF_MEMORY);
        failures += status != RESTRIDE_OK;
    }
    assert_true(tries > 40 && failures > tries / 2);
    rs_invocation_free(&invocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
