/* What a rewritten kernel computes with plain arrays of records whose length a comment tells. */
#include "behaviours.h"
#include "cmocka_all.h"

/* Flat arrays, each in a source of its own: an annotation holds for all arguments of its name. The
 * sizes are those of the records. */
static const behaviour flat_behaviours[] = {
    {"record and member",
     "//DL: AoS: a[n][5]\n" ONE(
         "float") "a[5 * i] = a[i * 5 + 1] + 1; a[2 + i * 5] = a[(i + 1) * 5 - 2]; a[4 + (5 * (i - "
                  "1) + 5)] += 2; a[10 * i - 5 * i + 3] *= 2; a[i * 15 / 3 + 1]++; }",
     {20},
     "t"},
    {"any index",
     "/* DL: AoS: a[global_size(0)][7] */\n" ONE(
         "int") "for (int e = 0; e < 7; e++) a[i * 7 + e] += e * a[7 * i + (e + 3) % 7]; int k = i "
                "* 7; a[k] = 1; a[k + 2] = a[k + 1]; int j = 3; a[7 * i + j++] = j; a[(k += 7) - "
                "7 + 6] = k; a[(k, i) * 7 + 5] -= k; }",
     {28},
     "t"},
    {"types of indexes",
     "//DL: AoS: a[n][5]\n" ONE(
         "float") "uint u = i, z = n; size_t s = i; long l = i; uchar c = 5; a[5 * u] = 1; a[5u * "
                  "(u - z) + 5u * z + 1u] = 2; a[s * 5 + 2] = 3; a[(s - 1) * 5 + 8] = a[s * 5 - 5 "
                  "+ "
                  "5]; a[l * 5 - (-4)] = c; a[get_global_id(0) * c + 1] += u; }",
     {20},
     "t"},
    {"macros, enumerators and margins",
     "enum { C, N, S, FLAGS, ENTRIES = FLAGS + 2 };\n#define W 4\n#define MARGIN (W * ENTRIES)\n"
     "#define AT(g, x, y, e) ((g)[ENTRIES * ((x) + (y) * W) + (e)])\n"
     "//DL: AoS: a[n][ENTRIES]\n// restride: b[n] [(W + 1)] : f i\n" TWO(
         "float", "const float") "int x = i % W, y = i / W; if (i < W) return; a += MARGIN; b += "
                                 "MARGIN; AT(a, x, y - 1, C) = AT(b, x, y - 1, N); AT(a, x, y - 1, "
                                 "S) += AT(b, x - 1 + 1, y - 1, FLAGS) * 2; a[(i - W) * 5 + 4] = "
                                 "b[i * 5 - MARGIN]; }",
     {20, 20},
     "tt"},
    {"pointers and helpers",
     "//DL: AoS: a[n][6]\nfloat sum(const global float *q, int k) { float s = 0; while (k-- > 0) s "
     "+= *q++; return s; }\nglobal float *cell(global float *q, int k) { return q + 6 * k; }\n" ONE(
         "float") "global float *q = a + 6 * i, *r = &a[i * 6 + 3]; *q = sum(q + 1, 5); r[-1] = "
                  "*r; r[1] = q[r - q]; *(r + 2) = cell(a, i)[1]; q += 1; (*q)++; }",
     {24},
     "t"},
    {"atomics on flat arrays",
     "//DL: AoS: a[n][3]\nkernel void f(global int *a, int n) { int i = get_global_id(0); if (i < "
     "n) "
     "{ atomic_add(&a[3 * (i / 4) + 1], 3); atomic_inc(a + 3 * (i / 2)); global int *q = a + 2; "
     "atomic_max(q, i); } }",
     {12},
     "t"},
    {"vectors and constant memory",
     "//DL: AoS: a[n][3]\n//DL: AoS: b[n][4]\nkernel void f(global float4 *a, constant uchar2 *b, "
     "int "
     "n) { int i = get_global_id(0); if (i < n) { a[3 * i].xz = a[3 * i + 1].yw + b[4 * i + 3].x; "
     "a[i * 3 + 2][1] = b[4 * (n - 1 - i)].y; } }",
     {48, 8},
     "tt"},
    {"flat arrays beside structures",
     RECORDS "//DL: AoS: b[n][4]\n" TWO(
         "P", "uint") "global uint *q = n > 1000000 ? &a[i].next : &a[i].next; b[4 * i + 1] = *q; "
                      "a[i].id = b[4 * i] & 0xff; *q = b[i * 4 + 3]; }",
     {P, 16},
     "tt"},
};

static void test_flat_arrays(void **state)
{
    (void)state;
    if (!device_available())
        skip();
    for (size_t i = 0; i < sizeof flat_behaviours / sizeof flat_behaviours[0]; i++)
        run_alone(&flat_behaviours[i], "", i % 2 == 0 ? 16 : 7);
}

/* Functions of OpenCL that read or write several elements. */
#define GROUP                                                                                      \
    "int l = get_local_id(0), g = get_group_id(0) * 16, m = n - g < 16 ? n - g : 16; local float " \
    "t[80]; for (int k = l; k < 80; k += 16) t[k] = 7; barrier(CLK_LOCAL_MEM_FENCE); "
static const behaviour block_behaviours[] = {
    {"lanes through pointers",
     "//DL: AoS: a[n][3]\n//DL: AoS: b[n][2]\nvoid set(global float4 *q) { q->lo += q[1].hi; "
     "(q + 1)->y = q->z; }\nkernel void f(global float4 *a, global float3 *b, int n) { int i = "
     "get_global_id(0); if (i >= n) return; global float4 *p = a + 3 * i; p->x = 4; (p + 1)->yz = "
     "p->xw; set(p + 1); const volatile global float4 *c = p; p[1].x = c->z + 1; (a + 3 * i + "
     "2)->s3 -= 2; ++p->w; p++->y = 5; b += 2 * i; b->x = p->y; (b + 1)->zx = b->yz; }",
     {48, 32},
     "tt"},
    {"vectors of a flat array",
     "//DL: AoS: a[n][20]\n//DL: AoS: b[n][20]\n" TWO(
         "float",
         "const float") "vstore4(vload4(i * 5 + 1, b), i * 5, a); vstore4(vload4(1, b + 20 "
                        "* i), 1, a + 20 * i); global float *q = a + 20 * i + 8; "
                        "vstore3(vload3(2, q - 1) + 1, 0, q); const global float *r = &b[i "
                        "* 20]; q += 3; vstore2((float2)(r[19], 3), 0, q); int k = 5 * i; "
                        "vstore8(vload8(0, b + 4 * k++ + 2).s76543210, 0, a + 12 + 20 * i); "
                        "a[20 * i] += k; }",
     {80, 80},
     "tt"},
    {"vectors that cross records",
     "//DL: AoS: a[n][3]\n//DL: AoS: b[n][5]\n" TWO(
         "int",
         "const short") "if (i % 4 == 0 && i + 4 <= n) { int4 v = convert_int4(vload4((5 * (n "
                        "- 2)) / 4, b)); vstore8((int8)(1, 2, 3, 4, 5, 6, 7, i) + a[3 * i + 11], "
                        "0, a + 3 * i); "
                        "vstore4(vload4(1, a + i * 3 + 4) + v, 2, &a[i * 3]); short16 w = "
                        "vload16(0, b + 5 * i + 3); "
                        "a[3 * i + 1] += w.sf + w.s0; vstore3(vload3((uchar)2, a + 3 * i + 1).zyx, "
                        "(long)i, a + 1); "
                        "} }",
     {12, 10},
     "tt"},
    {"vectors of structures",
     RECORDS "typedef struct { float c[4], d[2], e; } F; float4 get(const global float *q, int k) "
             "{ return vload4(k, q); } " TWO(
                 "F", "struct N") "vstore4(get(a[i].c, 0) + 1, 0, "
                                  "&a[i].c[1]); vstore2(vload2(1, &a[i].c[0]), 0, a[i].d); a[i].e "
                                  "= vload3(0, b[i].v[1]).z "
                                  "+ vload3(0, (b + i)->v[i & 1]).x; vstore2((float2)(i, 2), 0, "
                                  "b[i].v[0]); vstore3(vload3("
                                  "0, b[i].v[0]), 0, b[i].v[1]); }",
     {28, N},
     "tt"},
    {"vectors of constant memory and chosen pointers",
     "//DL: AoS: a[n][6]\n//DL: AoS: b[n][4]\nkernel void f(global uint *a, constant uint *b, int "
     "n) "
     "{ int i = get_global_id(0); if (i < n) { global uint *q = a + 6 * i; vstore4(vload4(i, b), "
     "0, "
     "i % 2 ? q : q + 2); vstore2(vload2(0, b + 4 * (n - 1 - i)) ^ vload4(0, q).yz, 1, q + (i & "
     "1)); "
     "prefetch(q, 3); } }",
     {24, 16},
     "tt"},
    {"copies into local memory",
     "//DL: AoS: a[n][5]\nkernel void f(global float *a, int n) { " GROUP
     "event_t e = async_work_group_copy(t, a + 5 * g, m * 5, 0); wait_group_events(1, &e); float s "
     "= "
     "0; for (int k = 0; k < m * 5; k++) s += t[k] * (k % 3); if (l < m) a[5 * (g + l) + 2] = s; }",
     {20},
     "t"},
    {"copies out of local memory",
     "//DL: AoS: a[n][5]\nvoid put(global float *q, const local float *t, int m, event_t *e) { *e "
     "= "
     "async_work_group_copy(q, t, m, *e); }\nkernel void f(global float *a, int n) { " GROUP
     "t[5 * l] = l; t[5 * l + 3] = n; barrier(CLK_LOCAL_MEM_FENCE); event_t e = "
     "async_work_group_copy(t + 1, (const global float *)a + 5 * g, 2, 0); wait_group_events(1, "
     "&e); "
     "put(&a[5 "
     "* g], t, m * 5 - 1, &e); wait_group_events(1, &e); if (l < m) a[5 * (g + l)] += a[5 * (g + "
     "(l ^ "
     "1) % m) + 4]; }",
     {20},
     "t"},
    {"strided copies",
     "//DL: AoS: a[n][5]\n//DL: AoS: b[n][5]\nkernel void f(global float *a, const global float "
     "*b, "
     "int n) { " GROUP "event_t e[2]; e[0] = async_work_group_strided_copy(t, b + 5 * g + 1, "
     "(size_t)m, 5, 0); e[1] = "
     "async_work_group_strided_copy(t + 16, &b[5 * g + 3], m, 5, e[0]); wait_group_events(2, e); "
     "t[l] += t[16 + m - 1]; barrier(CLK_LOCAL_MEM_FENCE); e[0] = async_work_group_strided_copy(a "
     "+ 2 "
     "+ 5 * g, t, m, 5, 0); wait_group_events(1, e); }",
     {20, 20},
     "tt"},
};

static void test_blocks(void **state)
{
    (void)state;
    if (!device_available())
        skip();
    for (size_t i = 0; i < sizeof block_behaviours / sizeof block_behaviours[0]; i++)
        run_alone(&block_behaviours[i], "", i % 2 == 0 ? 16 : 7);
}

/* Arrays that hold each member of all records together. */
static const behaviour soa_behaviours[] = {
    {"member and record",
     "//DL: SoA: a[5][n]\n" ONE(
         "float") "a[i] = a[n + i] + 1; a[i + 2 * n] = a[n * 4 + (n - 1 - i)]; a[(1 + 2) * n + i] "
                  "+= "
                  "2; for (int f = 0; f < 4; f++) a[f * n + i] *= f; a[n + n + i]++; a[4 * n - n + "
                  "i] -= 1; (a + n)[i] = 3; (a + i + n)[n * 2] = 4; }",
     {20},
     "t"},
    {"any index",
     "/* restride: a[7][n]: f i -> i/8 f i%8 */\n" ONE(
         "int") "a[i * 7 + 3] = i; a[7 * i + 4] += a[7 * i + 3]; int k = 7 * i; a[k] = 1; a[k++ + "
                "1] "
                "= k; a[7 * n + k - (n - 1) * 7 - 2] ^= 3; }",
     {28},
     "t"},
    {"types of indexes",
     "//DL: SoA: a[6][z]\n" ONE("uint") "uint z = n, u = i; size_t s = i; long l = i; ulong zz = "
                                        "n; a[u] = 1; a[u + z] = 2; "
                                        "a[u - z + 3 * z] = 3; a[s + 3 * zz] = 4; a[l + 4 * "
                                        "(long)z] = 5; a[(u - 1) + z * 5 "
                                        "+ 1] = 6; a[z - (z - u)] += 7; a[(uchar)1 * z + i] += 8; "
                                        "a[u + (z ^ 0xffffffffu) + 1 + z * "
                                        "3] += 9; }",
     {24},
     "t"},
    {"extents of other sizes",
     "#define W 37\n#define V (5 * 4)\n//DL: SoA: a[6][W]\n//DL: SoA: b[4][V]\n" TWO(
         "float", "float") "if (i < W) { a[0 * W + i] = 1; a[W + i] = 3; a[i + 5 * W] += a[W + "
                           "i]; for (int "
                           "f = 1; f < 5; f++) a[f * W + i] += f; } if (i < V) { b[i + V * 3] = i; "
                           "b[V + i] = "
                           "b[i + 2 * V]; } }",
     {24, 16},
     "tt"},
    {"sizes from functions",
     "static int next(local int *k) { return ++*k; }\n#define CELLS get_global_size(0)\n"
     "//DL: SoA: a[3][CELLS]\n//DL: SoA: b[5][next(&k)]\n//DL: SoA: c[2][cells]\nkernel void "
     "f(global "
     "float *a, global float *b, global int *c, int n) { int i = get_global_id(0), cells = n; if "
     "(i < "
     "n) { a[(CELLS * 2 + i) % (3 * n)] += 1; c[cells + i] = c[i] + 1; c[i] = (cells += 2); b[i] = "
     "c[i "
     "+ cells - 2]; } }",
     {12, 20, 8},
     "tkt"},
    {"moved pointers and helpers",
     "//DL: SoA: a[4][n]\n//DL: SoA: b[4][n]\nfloat sum(const global float *q, int i, int n) { "
     "float s "
     "= 0; for (int f = 0; f < 3; f++) s += q[f * n + i]; return s; }\nglobal float *plane(global "
     "float "
     "*q, int f, int m) { return q + f * m; }\n" TWO(
         "float",
         "const float") "global float *q = a + n, *r = &a[i]; q[i] = sum(b, i, n) + sum(b + n, "
                        "n - 1 - i, n); r[2 * n] = 2; r += 3 * n; *r = *(r - n) + q[n + i]; "
                        "plane(a, 0, n)[i] = b[3 * n + i]; plane(q, 2, n)[i] += 1; }",
     {16, 16},
     "tt"},
    {"vectors, atomics and copies",
     "//DL: SoA: a[3][n]\n//DL: SoA: b[4][n]\nkernel void f(global int *a, global float4 *b, int "
     "n) { "
     "int i = get_global_id(0); local int t[16]; int g = get_group_id(0) * 16, m = n - g < 16 ? n "
     "- g "
     ": 16; event_t e = async_work_group_copy(t, a + n + g, m, 0); wait_group_events(1, &e); if (i "
     "< n) "
     "atomic_add(&a[2 * n + i / 3], t[get_local_id(0)]); if (i < n / 4) { vstore4(vload4(i, a + n) "
     "+ "
     "vload4(0, a + n + 1), i, a); global int *q = a + 2 * n; prefetch(q, 3); } if (i < n) { b[n + "
     "i].xz = b[i].yw; b[3 * n + i] = b[2 * n + (n - 1 - i)]; } }",
     {12, 64},
     "tt"},
    {"beside other arrays",
     RECORDS
     "//DL: AoS: b[n][3]\n// restride: c[3][n] : f i -> i/4 f i%4\nkernel void f(global P *a, "
     "global float *b, global float *c, int n) { int i = get_global_id(0); if (i < n) { c[2 * n + "
     "i] = "
     "a[i].x + b[3 * i + 1]; b[3 * i] = c[n + (int)(a[i].id & 1) * n + i]; a[i].y = c[i]; c[i] = "
     "c[n * (i % 3) + i]; } }",
     {P, 12, 12},
     "ttt"},
};

static void test_arrays_of_members(void **state)
{
    (void)state;
    if (!device_available())
        skip();
    for (size_t i = 0; i < sizeof soa_behaviours / sizeof soa_behaviours[0]; i++)
        run_alone(&soa_behaviours[i], "", i % 2 == 0 ? 16 : 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_arrays),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_arrays_of_members),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_release();
    return failed;
}
