/*
 * What the reply says about each array's use: how the records of neighbouring work-items lie to
 * each other, and how many bytes of a record are used.
 */
#include "ask.h"
#include "cmocka_all.h"

#include <string.h>

#define HEAD                                                                                       \
    "typedef struct { float x, y; int id; int v[4]; } P;\n"                                        \
    "float second(global const P *p, int k) { return p[k].v[2]; }\n"                               \
    "int me(void) { return get_global_id(0); }\n"                                                  \
    "kernel void f(global P *a, global const int *list, int n) { int i = get_global_id(0); "

typedef struct {
    const char *body, *pattern;
    int bytes;
    const char *ways; /* "r", "w" or "rw" */
} use;

static const use uses[] = {
    {"a[i].x = 1;", "unit", 4, "w"},
    {"a[i].x += 1;", "unit", 4, "rw"},
    {"a[i].v[n] = a[i].y;", "unit", 20, "rw"},
    {"a[i].v[1]++;", "unit", 4, "rw"},
    {"atomic_add(&a[i].id, 1);", "unit", 4, "rw"},
    {"P s = a[i + n];", "unit", 28, "r"},
    {"P s = {1, 2}; a[n - 1 - i] = s;", "unit", 28, "w"},
    {"for (int j = i; j < n; j += get_global_size(0)) a[j].x = 1;", "unit", 4, "w"},
    {"int j; j = me(); (a + j)->y = 1;", "unit", 4, "w"},
    {"global P *q = &a[i]; q += n; q->x = q->y;", "unit", 8, "rw"},
    {"global P *q = a; q += i; q->x = 1;", "unit", 4, "w"},
    {"a[get_local_id(0) + get_group_id(0) * get_local_size(0)].x = 1;", "unit", 4, "w"},
    {"int x = i % n, y = i / n; a[y * n + x].x = 1;", "unit", 4, "w"},
    {"a[i ^ n].x = 1;", "unit", 4, "w"},
    {"a[min(i, n - 1)].x = 1;", "unit", 4, "w"},
    {"float t = second(a + i, 1);", "unit", 4, "r"},
    {"float t = second(a + i, 1) + second(a, n);", "uniform", 4, "r"},
    {"global P *q = n > 2 ? a + i : &a[i + n]; q->x = 1;", "unit", 4, "w"},
    {"int s = 5 * i; s = n; a[s].x = 1; a[s].y = 1;", "uniform", 8, "w"},
    {"for (int k = 0; k < n; k++) a[i].x += a[k].y + a[k].v[0] + a[0].v[1];", "uniform", 16, "rw"},
    {"a[get_global_id(1)].x = 1;", "uniform", 4, "w"},
    {"int t = list[n]; a[t].x = 1;", "uniform", 4, "w"},
    {"a[2 * i].x = 1;", "strided", 4, "w"},
    {"a[i * n].x = 1;", "strided", 4, "w"},
    {"a[i << 2].x = 1;", "strided", 4, "w"},
    {"int j = 4 * i; for (; j < 4 * i + 4; j++) a[j].x = 1;", "strided", 4, "w"},
    {"a[i / 4].x = 1;", "other", 4, "w"},
    {"a[list[i]].x = 1;", "other", 4, "w"},
    {"int t = i; while (t > 0) { t = list[t]; a[t].y = 1; }", "other", 4, "w"},
    {"global P *q = a + list[i]; q->x = q->y;", "other", 8, "rw"},
};

static void check_use(const json_t *access, const use *u, const char *where)
{
    const char *pattern = string_of(access, "pattern");
    bool reads = json_is_true(json_object_get(access, "reads"));
    bool writes = json_is_true(json_object_get(access, "writes"));
    if (strcmp(pattern, u->pattern) != 0)
        fail_msg("%s: %s instead of %s", where, pattern, u->pattern);
    if (number_of(access, "bytes_used") != u->bytes)
        fail_msg("%s: %lld bytes", where, number_of(access, "bytes_used"));
    if (reads != (strchr(u->ways, 'r') != NULL) || writes != (strchr(u->ways, 'w') != NULL))
        fail_msg("%s: read %d, written %d", where, reads, writes);
}

static void test_uses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        char source[1024] = HEAD;
        strcat(source, uses[i].body);
        strcat(source, " }\n");
        json_t *reply = ask_for_tiles(source, "", 32);
        const json_t *argument = find_argument(reply, "f", "a");
        assert_string_equal(string_of(argument, "status"), "transformed");
        const json_t *access = json_object_get(argument, "access");
        assert_int_equal(number_of(access, "record_bytes"), 28);
        check_use(access, &uses[i], uses[i].body);
        json_decref(reply);
    }
}

/* Flat arrays: the distance counts members, and records are what is compared. */
static void test_flat(void **state)
{
    (void)state;
    static const use flat[] = {
        {"a[3 + 20 * i] = 1;", "unit", 4, "w"},
        {"a[e + 20 * i] = 1;", "unit", 80, "w"},
        {"global float *q = a + 20 * i; q[5] = 1;", "unit", 80, "w"},
        {"a += 20 * e; a[20 * (i + e)] = 1;", "unit", 4, "w"},
        {"a[i] = 1;", "other", 80, "w"},
        {"a[40 * i] = 1;", "strided", 4, "w"},
        {"a[20 * e] = 1;", "uniform", 4, "w"},
        {"float4 v = vload4(5 * i, a); a[20 * i] = v.x;", "unit", 16, "rw"},
        {"local float t[64]; async_work_group_strided_copy(t, a + 3, 64, 20, 0);", "unit", 80, "r"},
    };
    for (size_t i = 0; i < sizeof flat / sizeof flat[0]; i++) {
        char source[512] = "// restride: a[n][20]\nkernel void f(global float *a, int e) { int i = "
                           "get_global_id(0); ";
        strcat(source, flat[i].body);
        strcat(source, " }\n");
        json_t *reply = ask_for_tiles(source, "", 32);
        const json_t *argument = find_argument(reply, "f", "a");
        assert_string_equal(string_of(argument, "status"), "transformed");
        check_use(json_object_get(argument, "access"), &flat[i], flat[i].body);
        json_decref(reply);
    }
}

/* Arrays in SoA: neighbouring records are neighbouring numbers there. */
static void test_arrays_of_members(void **state)
{
    (void)state;
    static const use soa[] = {
        {"a[3 * n + i] = 1;", "unit", 4, "w"},    {"a[i] += a[i + n];", "unit", 8, "rw"},
        {"a[e * n + i] = 1;", "unit", 80, "w"},   {"a[n * 2 + 20 * i] = 1;", "strided", 4, "w"},
        {"a[n * 2 + e] = 1;", "uniform", 4, "w"}, {"a[n * 20 + i] = 1;", "unit", 80, "w"},
    };
    for (size_t i = 0; i < sizeof soa / sizeof soa[0]; i++) {
        char source[512] =
            "//DL: SoA: a[20][n]\nkernel void f(global float *a, int e, int n) { int "
            "i = get_global_id(0); ";
        strcat(source, soa[i].body);
        strcat(source, " }\n");
        json_t *reply = ask_for_tiles(source, "", 32);
        const json_t *argument = find_argument(reply, "f", "a");
        assert_string_equal(string_of(argument, "status"), "transformed");
        assert_string_equal(string_of(argument, "source_layout"), "f i");
        check_use(json_object_get(argument, "access"), &soa[i], soa[i].body);
        json_decref(reply);
    }
}

/* Helpers that call helpers many times over end soon. */
static void test_many_ways(void **state)
{
    (void)state;
    char source[8192] = "typedef struct { float x, y; } P;\n"
                        "void g0(global P *p) { p->x = 1; }\n";
    for (int i = 1; i < 40; i++) {
        char line[128];
        snprintf(line, sizeof line, "void g%d(global P *p) { g%d(p); g%d(p + 1); }\n", i, i - 1,
                 i - 1);
        strcat(source, line);
    }
    strcat(source, "kernel void f(global P *a) { g39(a + get_global_id(0)); }\n");
    json_t *reply = ask_for_tiles(source, "", 32);
    const json_t *argument = find_argument(reply, "f", "a");
    assert_string_equal(string_of(argument, "status"), "transformed");
    assert_int_equal(number_of(json_object_get(argument, "access"), "bytes_used"), 4);
    json_decref(reply);
}

/* Which kernels have a copy for arrays whose tiles are all full. */
static void test_copies_for_full_tiles(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool copied;
    } cases[] = {
        {"a[i].x = 1;", false},
        {"a[i].v[1 + 1] = 1;", false},
        {"a[i].v[n & 3] = sizeof(__func__);", false},
        {"a[i].v[n & 3] = 1;", true},
        {"for (int k = 0; k < 4; k++) a[i].v[k] = 1;", true},
        {"a[i] = a[i + 1];", false},
        {"a[i].x = any(a + i, n);", true},
        {"a[i].x = n; int w[4]; w[n & 3] = a[i].v[0]; a[i].v[1] = w[0];", false},
        {"b[i * 5 + 2] = 1;", false},
        {"b[i * 5 + n] = 1;", true},
        {"b[n] = 1;", true},
        {"global float *q = b; q[i] = 1;", true},
    };
    char source[2048];
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        /* The helper stands in its own case alone. */
        bool helper = strstr(cases[c].body, "any(") != NULL;
        snprintf(
            source, sizeof source,
            "typedef struct { float x, y; int v[4]; } P;\n// restride: b[n][5]\n%s"
            "kernel void f(global P *a, global float *b, int n) { int i = get_global_id(0); %s "
            "}\n",
            helper ? "int any(global P *p, int n) { return p->v[n & 3]; }\n" : "", cases[c].body);
        json_t *reply = ask_for_tiles(source, "", 32);
        const json_t *kernel = json_array_get(json_object_get(reply, "kernels"), 0);
        assert_string_equal(string_of(kernel, "full_kernel"),
                            cases[c].copied ? "restride_full_f" : "");
        if ((strstr(string_of(reply, "source"), "restride_full_f(") != NULL) != cases[c].copied)
            fail_msg("%s: %s", cases[c].body, string_of(reply, "source"));
        json_decref(reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_arrays_of_members),
        cmocka_unit_test(test_many_ways),
        cmocka_unit_test(test_copies_for_full_tiles),
    };
    return cmocka_run_group_tests_name("rewrite_access", tests, NULL, NULL);
}
