/*
 * What must stay as it is: for each source the argument `a` (or all of them) is kept, and the reply
 * names the line that is the reason. Also what a request with wrong layouts is told.
 */
#include "ask.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#define P "typedef struct { float x, y; int id; int v[4]; } P;\n"                    /* line 1 */
#define D "typedef struct { float x; char c; int v[4]; struct { int k; } in; } P;\n" /* mixed */

typedef struct {
    const char *source;
    int line;
    const char *fragment; /* of the reason */
} refusal;

static const refusal refusals[] = {
    /* the pointer itself */
    {P "kernel void f(global P *a, global P *b) {\n a = b;\n a->x = 1; }", 4, "several buffers"},
    {D "kernel void f(global P *a) {\n global float *q = (global float *)a; *q = 1; }", 3, "cast"},
    {P "kernel void f(global P *a) {\n global float2 *q = (global float2 *)a; q->x = 1; }", 3,
     "cast"},
    {P
     "kernel void f(global P *a) {\n global P *q = (global P *)((global int *)a + 1); q->x = 1; }",
     3, "cast"},
    {P "kernel void f(global P *a, global ulong *b) {\n *b = (ulong)a; }", 3, "cast"},
    {P "kernel void f(global P *a) {\n global void *q = a; }", 3, "converted"},
    {P "kernel void f(global P *a) {\n wait_group_events(1, (event_t *)a); }", 3, "cast"},
    {P "kernel void f(global P *a) {\n global P *q[2] = {a, a}; q[0]->x = 1; }", 3, "pointer"},
    {P "kernel void f(global P *a) {\n struct { global P *q; } s; s.q = a; s.q->x = 1; }", 3,
     "not followed"},
    {P "kernel void f(global P *a) {\n struct { global P *q; } s = {a}; s.q->x = 1; }", 3,
     "pointer"},
    {P "kernel void f(global P *a) {\n global P *q, **r = &q; *r = a; q->x = 1; }", 3,
     "not followed"},
    {P "kernel void f(global P *a) {\n global P *q = a;\n global P **r = &q; (*r)->x = 1; }", 4,
     "operator"},
    {D "kernel void f(global P *a) {\n event_t e = async_work_group_copy((local int *)0, (global "
       "int *)a, 1, 0); }",
     3, "cast"},
    {P "kernel void f(global P *a, int n) {\n ({ n++; a; })->x = 1; }", 3, "statement"},
    {P "kernel void f(global P *a, int n) {\n (a ?: a + 1)->x = 1; }", 3, "pointer"},
    {D "kernel void f(global P *a) {\n prefetch((global int *)a, 4); }", 3, "cast"},
    {D "kernel void f(global P *a) {\n prefetch(&a->x, 4); }", 3, "address of a member"},
    /* pointers that meet others */
    {P "kernel void f(global P *a, global P *b, int n) {\n global P *q = n ? a : b;\n q->x = 1; }",
     3, "several buffers"},
    {P "kernel void f(global P *a, global P *b, int n) {\n (n ? b : a)->x = 1; }", 3,
     "several buffers"},
    {P "kernel void f(global P *a, global P *b, int n) {\n global P *q = b; q->x = 1;\n if (n)\n q "
       "= a; }",
     5, "several buffers"},
    {P "kernel void f(global P *a, global P *b, global P *c) {\n global P *q = b, *r;\n q = c; r = "
       "q;\n r = a; q = r; }",
     5, "several buffers"},
    {P "kernel void f(global P *a, global P *b, int n) {\n a[n].x = 1; if (n)\n b = a; b->x = 1; }",
     4, "several buffers"},
    {P "kernel void f(global P *a, global int *b) {\n global int *q = &a->id;\n q = b; *q = 1; }",
     3, "several buffers"},
    {P "kernel void f(global P *a, ulong b) {\n global P *q = (global P *)b;\n q = a; q->x = 1; }",
     4, "not followed"},
    {P "kernel void f(global P *a, global ulong *b) {\n global P *q = a;\n q = (global P *)(*b + "
       "8); q->x = 1; }",
     3, "not followed"},
    {P "kernel void f(global P *a, int n) {\n __typeof__(a) q;\n q = (n, q)[1].x > 0 ? a : "
       "(__typeof__(a))n; a[n].x = 1; }",
     4, "not followed"},
    {P
     "constant P t[2] = {{1}, {2}};\nkernel void f(constant P *a, global float *b) {\n constant P "
     "*q = a;\n q = t; *b = q->x; }",
     4, "not followed"},
    /* helpers */
    {P "void g(global P *q);\nkernel void f(global P *a) {\n g(a); }", 4, "not in the source"},
    {D "void g(global P *q) {\n global int *r = (global int *)q; *r = 1; }\nkernel void f(global P "
       "*a) { g(a); }",
     3, "by g, which gets it"},
    {D "void h(global P *q) {\n prefetch((global int *)q, 1); }\nvoid g(global P *q) { h(q + "
       "1); }\nkernel void f(global P *a) { g(&a[1]); }",
     3, "by h, which gets it"},
    {P
     "void g(global P *q, global P *r, int n) {\n q = n ? q : r; q->x = 1; }\nkernel void f(global "
     "P *a) { g(a, a, 1); }",
     3, "several buffers"},
    {P
     "global P *g(global P *q, global P *r, int n) {\n return n ? q : r; }\nkernel void f(global P "
     "*a) { g(a, a, 1)->x = 1; }",
     3, "several parameters, which may be of several buffers (by g"},
    {P
     "global P *g(global P *q, global P *r) { return r; }\nkernel void f(global P *a, global P *b) "
     "{\n global P *q = a; q = g(a, b);\n q->x = 1; }",
     4, "several buffers"},
    {P
     "global P *g(global P *q, ulong r) {\n if (r) return (global P *)r; return q; }\nkernel void "
     "f(global P *a) { g(a, 0)->x = 1; }",
     4, "not followed"},
    {P
     "struct R { int k; } g(global P *q) {\n q->x = 1; struct R r = {1}; return r; }\nkernel void "
     "f(global P *a) { g(a); }",
     2, ""},
    {P "void g(P *q) { q->x = 1; }\nkernel void f(global P *a) {\n a->x = 1; g((P *)a); }", 4,
     "cast"},
    {D
     "void g(global float *q, int n) { q[n] = 1; }\nkernel void f(global P *a) {\n g((global float "
     "*)&a->c, 2); }",
     4, "address of a member"},
    {"typedef struct { int x, y; } P;\nkernel void f(global P *a) {\n global P *q = a; int P = "
     "3; q->x = P; }",
     3, "hides"},
    {"typedef struct { uint4 q; int x; } P;\nkernel void f(global P *a) {\n int uint4 = 3;\n "
     "a->q.x += uint4; }",
     4, "hides the type uint4"},
    {"typedef struct { float4 q; int x; } P;\nkernel void f(global P *a) {\n typedef float2 "
     "float4; float4 t;\n t = a->q.xy; }",
     4, "hides the type float4"},
    {"//DL: AoS: a[n][6]\nkernel void f(global float4 *a, int float4) {\n a[float4].x = 1; }", 3,
     "hides the type float4"},
    {"typedef struct { int2 q; int x; } P;\nint g(global P *q) { int int2(int); return q->q.y; "
     "}\nkernel void f(global P *a) {\n a->x = g(a); }",
     2, "hides the type int2 (by g, which gets it)"},
    {P "int g(global P *q) { return q->x + sizeof(__func__); }\nkernel void f(global P *a) {\n "
       "a->x = g(a); }",
     2, "asks for its own name"},
    {P "kernel void f(global P *b,\n global P *a) { b->x = a->x = sizeof(__PRETTY_FUNCTION__); }",
     3, "asks for its own name"},
    /* members */
    {D "kernel void f(global P *a, int n) {\n global float *q = &a[n].x; *q = 1; }", 3,
     "address of a member"},
    {D "kernel void f(global P *a, int n) {\n global int *q = a[n].v; q[1] = 1; }", 3,
     "array member is used as a pointer"},
    {D "kernel void f(global P *a, int n) {\n *(&a[n].x + 1) = 1; }", 3, "address of a member"},
    {D "kernel void f(global P *a, int n) {\n *a[n].v = 1; }", 3, "array member"},
    {D "kernel void f(global P *a, int n) {\n *(a[n].v + 1) = 1; }", 3, "array member"},
    {D "void g(global int *q) { *q = 1; }\nkernel void f(global P *a) {\n g(&a->v[1]); }", 4,
     "address of a member"},
    {"typedef struct { int k; union { struct In { short x, y; } in; int i; } u; } P;\nkernel void "
     "f(global P *a) {\n global struct In *q = &a->u.in; q->x = 1; }",
     3, "inside one"},
    {"struct In { float x; uchar c; }; typedef struct { int k; struct In in; uchar d; double e; } "
     "__attribute__((packed)) P;\nkernel void f(global P *a) {\n global struct In *q = &a->in; "
     "q->x = 1; }",
     1, "not aligned"},
    {"struct In { int x, y; }; typedef struct { double k; struct In in; } P;\nvoid g(global struct "
     "In *q) {\n global int *r = &q->x; r[1] = 2; }\nkernel void f(global P *a) {\n g(&a->in); }",
     5, "follows pointers to members of a nested structure"},
    {"struct In { int x, y; }; struct Mid { struct In in; int w; }; typedef struct { double k; "
     "struct Mid m; } P;\nvoid h(global int *q) { q[1] = 2; }\nvoid g(global struct In *q) { "
     "h(&q->x); }\nvoid e(global struct Mid *q) { g(&q->in); }\nkernel void f(global P *a) {\n "
     "e(&a->m); }",
     6, "nested structure"},
    /* functions of OpenCL that get pointers */
    {D "kernel void f(global P *a, int n) {\n int4 t = vload4(n, a->v); }", 3, "array member"},
    {D "kernel void f(global P *a) {\n int4 t = vload4(1, a->v); }", 3, "array member"},
    {D "kernel void f(global P *a) {\n int3 t = vload3(-1, a->v); }", 3, "array member"},
    {D "kernel void f(global P *a) {\n int2 t = vload2(0, a->v + 1); }", 3, "array member"},
    {D "kernel void f(global P *a) {\n vstore2((int2)(1, 2), 0, &a->v[0]); }", 3,
     "address of a member"},
    {D "kernel void f(global P *a, local int *b) {\n event_t e = async_work_group_copy(b, a->v, 4, "
       "0); }",
     3, "array member"},
    {P "void vstore2(int2 v, uint i, global int *q) { ((global char *)q)[i] = v.x; }\nkernel void "
       "f(global P *a) {\n vstore2((int2)(1, 2), 0, &a->id); }",
     2, "by vstore2"},
    {P "kernel void f(global P *a) {\n vstore_half(1.5f, 2, (global half *)a); }", 3, "cast"},
    {"//DL: AoS: a[n][6]\nkernel void f(global half *a, global float *b) {\n b[0] = vload_half(1, "
     "a); }",
     3, "not in the source"},
    {"//DL: AoS: a[n][6]\nkernel void f(global float3 *a, local float3 *b) {\n event_t e = "
     "async_work_group_copy(b, a, 2, 0); }",
     3, "not in the source"},
    {"//DL: AoS: a[n][6]\nvoid barrier(int k) { }\nkernel void f(global float *a, local float *b) "
     "{\n event_t e = async_work_group_copy(b, a, 2, 0); }",
     4, "not in the source"},
    {"//DL: AoS: a[n][6]\nkernel void f(global float *a, global float *b, int n) {\n "
     "vstore4(vload4("
     "0, n ? a : b), 0, b); }",
     3, "several buffers"},
    {"//DL: AoS: a[n][6]\nkernel void f(global float *a, global float *b, int n) {\n float4 r; "
     "b[0] "
     "= fract(vload4(0, b), a + n).x; }",
     3, ""},
    {"typedef struct { int v[2][3]; } P;\nkernel void f(global P *a) {\n global int (*q)[3] = "
     "a->v; q[0][1] = 1; }",
     3, "array member"},
    {P "int atomic_mine(volatile global int *q) {\n return ((volatile global char *)q)[1]; "
       "}\nkernel void f(global P *a) {\n "
       "atomic_mine(&a->id); }",
     3, "by atomic_mine"},
    {P "kernel void f(global P *a, int n) {\n a[n].x = fract(1.5f, &a[n].y); }", 3,
     "not in the source"},
    {P "kernel void f(global P *a, int n) {\n a[n].v[4] = 1; }", 3, "past its end"},
    {P "kernel void f(global P *a, int n) {\n a[n].v[-1] = 1; }", 3, "past its end"},
    {P "kernel void f(global P *a, int n) {\n atomic_inc(&a[n].v[4]); }", 3, "past its end"},
    {P "kernel void f(global P *a, int n) {\n a[n].x = *&a[n].v[5]; }", 3, "past its end"},
    {P "kernel void f(global P *a, int n) {\n a[0].v[n] = 1; }", 3, "one fixed structure"},
    {P "kernel void f(global P *a, int n) {\n (a + 2)->v[n] = 1; }", 3, "one fixed structure"},
    /* lines behind macros that leave no text */
    {"#define N 4\n#define M(x) \\\n x\n\n\n" D
     "#undef N\nkernel void f(global P *a) {\n a->x = 1;\n *(global int *)M(a) = 1; }",
     10, "cast"},
    /* calls and unusual places */
    {P "kernel void f(global P *a) { a->x = 1; }\nkernel void g(global int *b, global P *c) {\n "
       "f(c); }",
     4, "called from another function"},
    {P "kernel void f(global P *a, int n) {\n#pragma mine a\n a[n].x = 1; }", 3, "not seen"},
    /* structures */
    {"typedef struct {\n union { float x; int y[2]; } u; int z; } U;\nkernel void f(global U *a) { "
     "a->z = 1; }",
     2, "union that is not aligned"},
    {"typedef struct {\n union { float x[4]; int y; }; int z; } U;\nkernel void f(global U *a) { "
     "a->z "
     "= 1; }",
     2, "union that is not aligned"},
    {"typedef struct { union V { float x; int y; } u; int z; } U;\nkernel void f(global U *a) {\n "
     "union V v = a->u; a->z = v.y; }",
     3, "a union"},
    {"typedef struct { union { float x; struct S { short y, w; } s; } u; int z; } U;\nkernel void "
     "f(global U *a) {\n a->u.s = a[1].u.s; }",
     3, "inside one"},
    {"typedef struct { union { float x; struct { int y : 3; }; }; int z; } U;\nkernel void "
     "f(global U "
     "*a) {\n a->y = 1; }",
     1, "bit-fields"},
    {"typedef union { float x; struct { int y; } z; } U;\nkernel void f(global U *a) { a->x = 1; }",
     1, "union"},
    {"typedef struct {\n int x;\n int y : 3; int z; } B;\nkernel void f(global B *a) { a->x = 1; }",
     3, "bit-field"},
    {"typedef struct\n __attribute__((packed)) { char c; int x; } K;\nkernel void f(global K *a) { "
     "a->x = 1; }",
     0, "aligned"},
    {"#pragma pack(1)\ntypedef struct { float4 v; char c; } K;\nkernel void f(global K *a) { a->c "
     "= 1; }",
     2, "aligned"},
    {"typedef struct { int x; } S1;\nkernel void f(\n global S1 *a) { a->x = 1; }", 3,
     "only one member"},
    {"struct I;\nkernel void f(global struct I *a, global int *b) { *b = 1; }", 1, "not complete"},
    {"typedef struct { int n;\n global int *q; } G;\nkernel void f(global G *a) { a->n = 1; }", 2,
     ""},
    {"typedef struct { int n; struct {\n global int *x; }; } A;\nkernel void f(global A *a) { a->n "
     "= "
     "1; }",
     2, "x"},
    {"typedef struct { int n; struct { int x, y; } in; } A;\nkernel void f(global A *a, global A "
     "*b) {\n a->in = b->in; }",
     3, "without a name"},
    {"kernel void f(global float *a) { a[0] = 1; }\nstruct X { int y; };", 1,
     "not an array of structures"},
    /* flat arrays */
    {"//DL: AoS: a[n][1]\nkernel void f(\n global float *a) { a[0] = 1; }", 3,
     "records, 1 (kernel.cl:1), is not"},
    {"//DL: AoS: a[n][2 - 2]\nkernel void f(\n global float *a) { a[0] = 1; }", 3,
     "is not a number"},
    {"//DL: AoS: a[n][5000]\nkernel void f(\n global float *a) { a[0] = 1; }", 3, "more than 4096"},
    {"//DL: AoS: a[n][3}; int x]\nkernel void f(\n global float *a) { a[0] = 1; } struct X { int "
     "x; };",
     3, "not an array of structures"},
    {"//DL: AoS: a[n]\nkernel void f(\n global float *a) { a[0] = 1; } struct X { int x; };", 3,
     "not an array of structures"},
    {"kernel void f(global float *a) { a[0] = 1; }\n\n//DL: AoS: a[n][MISSING]", 1,
     "MISSING (kernel.cl:3)"},
    {"//DL: AoS: a[n][3]\nkernel void f(global float *a) {\n *(global int *)a = 1; }", 3, "cast"},
    {"//DL: AoS: a[n][3]\nkernel void f(global float *a) {\n *(global float2 *)(a + 2) = 1; }", 3,
     "cast"},
    {"//DL: AoS: a[n][3]\nkernel void f(\n global int **a) { }", 0, ""},
    {"//DL: SoA: a[1][n]\nkernel void f(\n global float *a) { a[0] = 1; }", 3,
     "records, 1 (kernel.cl:1), is not"},
    {"//DL: SoA: a[3][n;]\nkernel void f(\n global float *a) { a[0] = 1; } struct X { int x; };", 3,
     "not an array of structures"},
    {"// restride: a[3][n]: f i -> f i\nkernel void f(\n global float *a) { a[0] = 1; }", 3,
     "layout requested"},
    {"kernel void f(global float *a, int n) { a[n] = 1; }\n\n//DL: SoA: a[MISSING][n]", 1,
     "MISSING (kernel.cl:3)"},
    {"//DL: SoA: a[3][n]\nkernel void f(global float *a, int n) {\n *(global int *)(a + n) = 1; }",
     3, "cast"},
    /* whole sources */
    {P "kernel void f(global P *a) { a->x = 1; }\nint g() {\n return unknown(); }", 4, "unknown"},
    {P "kernel void f(global P *a) { a->x = 1; }\nvoid g(float restride_x) { }", 0, "restride_"},
};

/* What is wrong with the reply for one row, or NULL; `where` is the argument, or the whole reply.
 */
static const char *find_fault(const refusal *r, const json_t *where)
{
    const char *reason = string_of(where, "reason");
    if (strcmp(string_of(where, "status"), "transformed") == 0)
        return "transformed, wrongly";
    if (r->line != 0 && number_of(where, "line") != r->line)
        return "the line is wrong";
    if (reason[0] == '\0' || strstr(reason, r->fragment) == NULL)
        return "the reason is wrong";
    if (strcmp(string_of(where, "file"), "kernel.cl") != 0)
        return "the file is wrong";
    return NULL;
}

static void test_what_is_not_understood_stays(void **state)
{
    (void)state;
    int faults = 0;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        json_t *reply = ask_for_tiles(refusals[i].source, "", 32);
        const json_t *argument = find_argument(reply, "f", "a");
        const json_t *where = argument != NULL ? argument : reply;
        const char *fault = find_fault(&refusals[i], where);
        if (fault != NULL) {
            print_error("%s: line %lld: %s:\n%s\n", fault, number_of(where, "line"),
                        string_of(where, "reason"), refusals[i].source);
            faults++;
        }
        json_decref(reply);
    }
    assert_int_equal(faults, 0);
}

static void test_records_of_flat_arrays(void **state)
{
    (void)state;
    static const char source[] =
        "#define LENGTH 2\nenum { MORE = 1 };\n// restride: b[n][4]: f i\n"
        "kernel void f(global float *a, global float *b) { a[0] = b[1]; }\n"
        "kernel void g(global int *a) { a[1] = 1; }";
    json_t *reply =
        ask(json_pack("{s:s, s:s, s:i, s:{s:s, s:s, s:s}}", "source", source, "options", "", "tile",
                      8, "records", "a", "3", "f.a", "LENGTH + MORE + 2", "c", "9"));
    static const struct {
        const char *kernel, *argument, *layout, *last;
        int length;
    } rows[] = {{"f", "a", "i/8 f i%8", "[4]", 5},
                {"f", "b", "f i", "[3]", 4},
                {"g", "a", "i/8 f i%8", "[2]", 3}};
    for (int i = 0; i < 3; i++) {
        const json_t *argument = find_argument(reply, rows[i].kernel, rows[i].argument);
        assert_string_equal(string_of(argument, "layout"), rows[i].layout);
        rs_record record;
        read_record(argument, &record);
        assert_int_equal(record.leaf_count, rows[i].length);
        assert_int_equal(record.size, 4 * rows[i].length);
        assert_string_equal(record.leaves[record.leaf_count - 1].name, rows[i].last);
        rs_record_free(&record);
    }
    assert_null(strstr(string_of(reply, "source"), "restride_record_"));
    json_decref(reply);
}

/* A length that this source cannot tell keeps the array that it is about. */
static void test_lengths_that_are_not_known(void **state)
{
    (void)state;
    static const struct {
        const char *record, *configured, *comment;
        const char *reason; /* of the flat array; "": it is transformed */
    } rows[] = {
        {"2", "NOPE", "[n][NOPE]", ""},
        {"NOPE", "2", "[n][2]", "NOPE (--record), is not a number above 1 in this source"},
        {NULL, "NOPE", "[n][2]", "NOPE (test.ini:7), is not a number above 1 in this source"},
        {NULL, NULL, "[n][NOPE]", "NOPE (kernel.cl:2), is not a number above 1 in this source"},
        {NULL, NULL, "[n][LENGHT]", "LENGHT (kernel.cl:2), is not"}, /* LENGTH is meant */
        {NULL, NULL, "[n][4 5]", "4 5 (kernel.cl:2), is not"},
        {NULL, NULL, "[n][1]", "1 (kernel.cl:2), is not"},
        {NULL, NULL, "[n][n]", "n (kernel.cl:2), is not"},
        {NULL, NULL, "[n][4 // 2]", "it is not an array of structures"},
        {NULL, NULL, "[n][LENGTH]", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[512];
        snprintf(source, sizeof source,
                 "struct P { float x, y; };\n//DL: AoS: b%s\nenum { LENGTH = 2 };\nkernel void "
                 "f(global struct P "
                 "*a, global float *b, int n) { a[n].x = b[2 * n]; }\n",
                 rows[i].comment);
        json_t *config = json_pack("{s:{s:s}, s:{s:s}}", "records", "missing", "WHAT * 3", "places",
                                   "b", "test.ini:7");
        json_t *request = json_pack("{s:s, s:s, s:i, s:{}, s:o}", "source", source, "file",
                                    "kernel.cl", "tile", 32, "records", "config", config);
        if (rows[i].record != NULL)
            json_object_set_new(json_object_get(request, "records"), "b",
                                json_string(rows[i].record));
        if (rows[i].configured != NULL)
            json_object_set_new(json_object_get(config, "records"), "b",
                                json_string(rows[i].configured));
        json_t *reply = ask(request);
        const json_t *a = find_argument(reply, "f", "a"), *b = find_argument(reply, "f", "b");
        if (strcmp(string_of(a, "status"), "transformed") != 0)
            fail_msg("%s: %s", source, string_of(reply, "reason"));
        if (strstr(string_of(b, "reason"), rows[i].reason) == NULL ||
            (strcmp(string_of(b, "status"), "kept") == 0) != (rows[i].reason[0] != '\0'))
            fail_msg("%s: %s", source, string_of(b, "reason"));
        json_decref(reply);
    }
}

/* An error of the source is none of the lines behind it. */
static void test_errors_before_lengths(void **state)
{
    (void)state;
    static const char *const ends[] = {"int x =", "int g(", "int h() {", "enum {", "int y[", "}"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char source[512];
        snprintf(source, sizeof source,
                 "//DL: AoS: a[n][NOPE]\n//DL: AoS: b[n][2]\nkernel void f(global float *a, global "
                 "float *b) { *a = *b; }\n%s\n",
                 ends[i]);
        json_t *reply = ask_for_tiles(source, "", 32);
        if (json_object_get(reply, "source") != NULL || string_of(reply, "reason")[0] == '\0')
            fail_msg("%s", source);
        json_decref(reply);
    }
}

static const char two_kernels[] = P "kernel void f(global P *a, global P *b) { a->x = b->y; "
                                    "}\nkernel void g(global P *a) { a->x = 2; }\n"
                                    "kernel void h(global int *i) { *i = 1; }";

static json_t *ask_with_layouts(const char *name, const char *expression)
{
    return ask(json_pack("{s:s, s:s, s:{s:s}}", "source", two_kernels, "options", "", "layouts",
                         name, expression));
}

static void test_layouts_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *expression, *layouts[3]; /* of f.a, f.b, g.a */
    } rows[] = {
        {"a", "f i", {"f i", "i f", "f i"}},
        {"g.a", "i/8 f i%8", {"i f", "i f", "i/8 f i%8"}},
        {"b", "i f", {"i f", "i f", "i f"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *reply = ask_with_layouts(rows[i].name, rows[i].expression);
        const json_t *arguments[] = {find_argument(reply, "f", "a"), find_argument(reply, "f", "b"),
                                     find_argument(reply, "g", "a")};
        for (int k = 0; k < 3; k++) {
            assert_string_equal(string_of(arguments[k], "layout"), rows[i].layouts[k]);
            bool kept = strcmp(rows[i].layouts[k], "i f") == 0;
            assert_string_equal(string_of(arguments[k], "status"), kept ? "kept" : "transformed");
            if (kept)
                assert_string_equal(string_of(arguments[k], "reason"), "layout requested");
        }
        json_decref(reply);
    }
}

static void test_wrong_layouts_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *name, *expression, *fragment;
    } rows[] = {
        {"a", "i/", ""},
        {"a", "i f i", ""},
        {"a", "i/8 f i%8:pad", ""},
        {"a", "f i%8 i/8", ""},
        {"c", "f i", "no argument c"},
        {"i", "f j", ""}, /* kept anyway, but the expression is wrong */
        {"g.b", "f i", "g.b"},
        {"h.a", "f i", "h.a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *reply = ask_with_layouts(rows[i].name, rows[i].expression);
        if (string_of(reply, "error")[0] == '\0' ||
            !json_is_true(json_object_get(reply, "bad_request")))
            fail_msg("no error for %s: %s", rows[i].name, rows[i].expression);
        assert_null(json_object_get(reply, "kernels"));
        assert_null(json_object_get(reply, "source"));
        json_decref(reply);
    }
}

static void test_the_reply_describes_the_record(void **state)
{
    (void)state;
    json_t *reply = ask_for_tiles(two_kernels, "-cl-mad-enable -DX=1 -I . -cl-std=CL1.2", 16);
    const json_t *a = find_argument(reply, "f", "a"), *b = find_argument(reply, "f", "b");
    assert_string_equal(string_of(reply, "options"), "-cl-mad-enable -cl-std=CL1.2");
    assert_string_equal(string_of(a, "type"), "__global P *");
    assert_string_equal(string_of(a, "layout"), "i/16 f i%16");
    assert_int_equal(number_of(a, "tile"), 16);
    assert_int_equal(number_of(a, "count_argument"), 2);
    assert_int_equal(number_of(b, "count_argument"), 3);
    rs_record record;
    read_record(b, &record);
    assert_int_equal(record.size, 28);
    assert_int_equal(record.alignment, 4);
    assert_int_equal(record.leaf_count, 7);
    assert_string_equal(record.leaves[5].name, "v[2]");
    assert_int_equal(record.leaves[5].offset, 20);
    rs_record_free(&record);
    json_decref(reply);
}

/* Who does not say that it heeds where members lie gets no array in SoA. */
static void test_arrays_of_members(void **state)
{
    (void)state;
    json_t *reply =
        ask(json_pack("{s:s, s:i, s:b}", "source",
                      "kernel void f(global float *a, int n) { a[n] = 1; }\n//DL: SoA: a[3][n]\n",
                      "tile", 32, "assume_undefined", 1));
    const json_t *argument = find_argument(reply, "f", "a");
    assert_string_equal(string_of(argument, "status"), "kept");
    assert_non_null(strstr(string_of(argument, "reason"), "array in SoA"));
    json_decref(reply);
}

/* The layer launches kernels of two programs, which have their own variables. */
static void test_variables_that_last(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *inside;
        bool lasts;
    } rows[] = {
        {"global int seen;", "seen = 1;", true},
        {"static global int seen[2];", "seen[0] = 1;", true},
        {"", "static global int seen; seen = 1;", true},
        {"static global const int *seen;", "", true},
        {"constant int *seen;", "", true}, /* the pointer itself is global */
        {"constant int *constant seen = 0;", "", false},
        {"constant int seen[2] = {1, 2};", "", false},
        {"const global int seen = 1;", "", false},
        {"constant sampler_t seen = 0;", "local int q[4]; int z; q[0] = z = 1;", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[400];
        snprintf(source, sizeof source,
                 "typedef struct { float x; int y; } p;\n%s\n"
                 "kernel void mark(global p *a) { %s a[get_global_id(0)].y += 1; }\n",
                 rows[i].variable, rows[i].inside);
        json_t *reply = ask_for_tiles(source, "-cl-std=CL2.0", 32);
        if ((strstr(string_of(reply, "reason"), "keeps its value") != NULL) != rows[i].lasts ||
            (json_object_get(reply, "source") == NULL) != rows[i].lasts)
            fail_msg("%s: \"%s\"", source, string_of(reply, "reason"));
        json_decref(reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_of_members),
        cmocka_unit_test(test_variables_that_last),
        cmocka_unit_test(test_what_is_not_understood_stays),
        cmocka_unit_test(test_records_of_flat_arrays),
        cmocka_unit_test(test_lengths_that_are_not_known),
        cmocka_unit_test(test_errors_before_lengths),
        cmocka_unit_test(test_layouts_by_name),
        cmocka_unit_test(test_wrong_layouts_are_errors),
        cmocka_unit_test(test_the_reply_describes_the_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
