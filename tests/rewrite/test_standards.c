/* The new source in other versions of OpenCL C: 2.0, whose pointers may have no address space,
 * and 1.0 and 1.1. */
#include "behaviours.h"
#include "cmocka_all.h"
#include "source/tree.h"

#include <stdio.h>
#include <string.h>

/* OpenCL C 2.0: pointers without an address space, and atomic types. */
static const behaviour generic_behaviours[] = {
    {"pointers without an address space",
     "typedef struct { float x, y, z; int id; uint next; } P; float get(const P *p, int k) { "
     "return "
     "p[k].y; } void put(P *p, float v) { p->x = v; p++; } P whole(P *p) { return *p; } " TWO(
         "P",
         "P") "P *q = a + i; q->z = 4; put(&a[i], get(b, i)); put(q, 3); const P *r = i % 2 ? b "
              "+ i : &b[i]; q->id = (q - a) + r->id; P s = whole(b + i); q->next = s.next; "
              "int *k = &q->id; *k += 1; }",
     {P, P},
     "tt"},
    {"private pointers beside them",
     "typedef struct { float x, y; } P; float get(const P *p) { return p->y; } " ONE(
         "P") "P s = a[i], *q = &s; q->x = 5; a[i].x = get(q) + get(a + i); }",
     {8},
     "t"},
    {"atomic types",
     "typedef struct { float x; atomic_int k; short s; atomic_uint u; } P; " ONE(
         "P") "atomic_fetch_add(&a[i].k, 2); global P *q = a + i; atomic_fetch_or_explicit(&q->u, "
              "5u, memory_order_relaxed); a[i].x = atomic_load(&a[i].k); }",
     {16},
     "t"},
};

/* Whether libclang reads the new source, where no device can run it. */
static void check_compiles(const behaviour *b, const char *options, const char *standard)
{
    json_t *reply = ask_for_tiles(b->text, options, 32);
    const char *source = string_of(reply, "source");
    rs_tree tree;
    for (int i = 0; b->expected[i] != '\0'; i++)
        assert_string_equal(string_of(find_argument(reply, "f", i == 0 ? "a" : "b"), "status"),
                            "transformed");
    assert_int_equal(rs_tree_parse(&tree, source, strlen(source), standard, 64), RESTRIDE_OK);
    if (tree.failure != NULL)
        fail_msg("%s: %s in\n%s", b->title, tree.failure, source);
    rs_tree_free(&tree);
    json_decref(reply);
}

static void test_generic_pointers(void **state)
{
    (void)state;
    enum { GENERIC_COUNT = sizeof generic_behaviours / sizeof generic_behaviours[0] };
    for (size_t i = 0; i < GENERIC_COUNT; i++)
        check_compiles(&generic_behaviours[i], "-cl-std=CL2.0", "CL2.0");
    if (!device_available() || !device_has_generic_pointers()) {
        print_message("No device here knows pointers without an address space.\n");
        return;
    }
    for (size_t i = 0; i < GENERIC_COUNT; i++)
        run_alone(&generic_behaviours[i], "-cl-std=CL2.0", i % 2 == 0 ? 16 : 7);
}

/* OpenCL C 1.0 and 1.1 have no static functions: neither those that are generated nor the copies of
 * helpers may be any. */
static void test_before_static_functions(void **state)
{
    (void)state;
    static const behaviour old[] = {
        {"a helper, a structure and members",
         "typedef struct { float x; int k; short s; } P;\n"
         "float half_of(global P *p) { p->k++; return p->x / 2; }\n" ONE(
             "P") "P s = a[i]; s.x += half_of(a + i); a[i] = s; a[i].s = 3; }",
         {12},
         "t"},
        {"vectors, and a structure that is written in parts",
         "typedef struct { float4 v; float w[3]; int k; } P;\n" ONE(
             "P") "a[i].v.xy = a[i].w[1]; vstore2(a[i].v.zw, 0, a[i].w); a[i].k = i; }",
         {32},
         "t"},
    };
    static const char *const standards[] = {"CL1.0", "CL1.1", "cl1.1"};
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        for (size_t k = 0; k < sizeof standards / sizeof standards[0]; k++) {
            char options[32];
            snprintf(options, sizeof options, "-cl-std=%s", standards[k]);
            check_compiles(&old[i], options, standards[k]);
        }
        if (device_available())
            run_alone(&old[i], "-cl-std=CL1.1", 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generic_pointers),
        cmocka_unit_test(test_before_static_functions),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_release();
    return failed;
}
