/*
 * What a rewritten kernel computes with arrays of structures: every understood form alone and many
 * together, run on a device against the kernel as it was written, for several tile sizes and for
 * counts that they do not divide.
 */
#include "base/text.h"
#include "behaviours.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const behaviour behaviours[] = {
    {"a[i].f", ONE("P") "a[i].x = a[i].y + 1.0f; a[i].id = i; }", {P}, "t"},
    {"i[a].f", ONE("P") "i[a].x = (n - 1 - i)[a].y; a[i].z = i[a].y; }", {P}, "t"},
    {"the thesis's annotation",
     "//DL: AoS: a[global_size(0)]\n" ONE("P") "a[i].x += 1; }",
     {P},
     "t"},
    {"(a + i)->f", ONE("P") "(a + i)->x = (i + a)->y; (a + i)->id += 3; }", {P}, "t"},
    {"*(a + i)", ONE("P") "(*(a + i)).x = (*(i + a)).z; }", {P}, "t"},
    {"(a + i)[j]", ONE("P") "(a + n)[i - n].x = (a + i - 0)[0].y; (((a)) + i)->z = 2; }", {P}, "t"},
    {"a - i",
     ONE("P") "(a + n - 1 - i)->id = i; (a - (-i))->y = 7; (a + (uint)n - (uint)(n - i))->z = i; }",
     {P},
     "t"},
    {"*a and a->f", ONE("P") "if (i == 0) { a->x = 3; (*a).y = a->x * 2; } }", {P}, "t"},
    {"operators",
     ONE("P") "a[i].x += 1; a[i].y *= 2; a[i].id <<= 1; a[i].id++; --a[i].next; a[i].id ^= "
              "~a[i].id; a[i].z = -a[i].z; if (!a[i].id || a[i].x > 2 && a[i].y < 3) a[i].id = 5; "
              "}",
     {P},
     "t"},
    {"side effects once",
     ONE("P") "int j = i; a[j++].id = 11; a[i].next = j; int k = i; a[k += 0, k].x++; a[i].y = k; "
              "}",
     {P},
     "t"},
    {"comma and ternary indexes",
     ONE("P") "a[i % 2 ? i : i].x = 1; a[(0, i)].y = a[i < n / 2 ? n - 1 - i : i].z; }",
     {P},
     "t"},
    {"unsigned and long indexes",
     ONE("P") "uint u = i; ulong l = i; uchar c = i; a[u].x = 1; a[l].y = 2; a[(size_t)i].z = 3; "
              "if (i < 250) a[c].id = 4; a[get_global_id(0)].next = 5; }",
     {P},
     "t"},
    {"nested accesses",
     TWO("P", "P") "uint k = a[i].next % (uint)n; b[i].x = a[a[k].next % (uint)n].y + a[b[k].next "
                   "% (uint)n].z; b[i].id = a[a[a[i].next % n].next % n].id; }",
     {P, P},
     "tt"},
    {"array members",
     ONE("struct N") "for (int j = 0; j < 2; j++) for (int k = 0; k < 3; k++) a[i].v[j][k] = "
                     "a[i].v[1 - j][2 - k] + j; a[i].many[i % 2].a = 1[a[i].many].b; (a + i)->v[(i "
                     "& 1)][i % 3] += 1; (a[i].v[0])[1]++; }",
     {N},
     "t"},
    {"nested members",
     ONE("struct N") "a[i].in.a = a[i].in.b; (a[i].in).b++; (*(a + i)).many[1].a -= 2; a[i].w = "
                     "((a[i]).in).a; }",
     {N},
     "t"},
    {"whole loads",
     TWO("struct N", "struct N") "struct N s = a[i]; s.w += 1; b[i] = s; }",
     {N, N},
     "tt"},
    {"whole copies keep padding",
     TWO("struct M", "struct M") "b[n - 1 - i] = a[i]; }",
     {M, M},
     "tt"},
    {"whole copies keep the bytes of a bool",
     TWO("struct L", "struct L") "struct L s = a[n - 1 - i]; s.k = i; b[i] = s; }",
     {L, L},
     "tt"},
    {"whole copies in a row",
     TWO("P", "P") "P s = {1, 2, 3, 4, 5}; if (i % 2) a[i] = b[i] = s; else s = b[i] = *(a + i); "
                   "a[i].next = s.next; }",
     {P, P},
     "tt"},
    {"nested structures whole",
     TWO("struct N", "struct N") "In t = a[i].in; b[i].many[i % 2] = t; b[i].in = a[i].many[(i + "
                                 "1) % 2]; t = a[i].in; t.b = i; a[i].in = t; }",
     {N, N},
     "tt"},
    {"assignment as a value",
     ONE("P") "P s = a[i]; s.x = 4; a[i].id = (a[i] = s).next; float t = a[i].y = 3; a[i].z = t; "
              "(a[i]) = s; }",
     {P},
     "t"},
    {"structures of members alike as arrays of them",
     "struct Quad { float x, y, z, w; };\nvoid onward(global float *f) { f[1] += f[2]; }\nvoid "
     "turned(global P *p) { global int *k = (global int *)p; k[3] ^= 1; }\n" TWO(
         "struct Quad", "P") "float4 v = vload4(i, (global float *)a); vstore4(v.wzyx, 0, (global "
                             "float *)(a + i)); vstore2(v.xy, 1, (global float *)&a[i].x); global "
                             "float *q = (global float "
                             "*)&b[i]; q[1] = q[0] + 2; q += 2; *q = ((global float *)b)[5 * i]; "
                             "((global int *)b)[5 * i + "
                             "3] = *(global int *)&b[i].next; onward((global float *)b + 5 * i); "
                             "turned(b + i); const "
                             "global uint *k = (const global uint *)(b + i) + 4; a[i].w = *k; }",
     {16, P},
     "tt"},
    {"copies of structures of members alike in a work-group",
     "struct Four { float x, y, z, w; };\nkernel void f(global struct Four *a, global struct Four "
     "*b, int n) { local struct Four t[16]; int g = get_group_id(0) * 16, l = get_local_id(0), i = "
     "g "
     "+ l, m = min(16, n - g); event_t e = async_work_group_copy((local float *)t, (const global "
     "float *)(a + g), 4 * m, 0); wait_group_events(1, &e); if (l < m) b[i].y = t[m - 1 - l].x; "
     "barrier(CLK_LOCAL_MEM_FENCE); if (l < m) t[l].z = i; barrier(CLK_LOCAL_MEM_FENCE); e = "
     "async_work_group_copy((global float *)&a[g], (local float *)t, 4 * m, 0); "
     "wait_group_events(1, &e); }",
     {16, 16},
     "tt"},
    {"designated values",
     TWO("struct N",
         "P") "struct N t = {.in = a[i].in, .many = {[1] = a[i].many[0]}, .w = b[i].x}; "
              "t.many[0] = (In){.a = a[i].in.b, .b = 4}; a[i] = t; b[i] = (P){.id = "
              "b[i].id, .z = a[i].w}; }",
     {N, P},
     "tt"},
    {"names of other functions",
     "int of_node(int P) { int In = P; return In; } void of_none(float float4);" ONE(
         "P") "global P *q = a + i; q->id = of_node(i); P t = *q; t.x = 1; *q = t; }",
     {P},
     "t"},
    {"packed, with its members at multiples of their sizes",
     "typedef struct __attribute__((packed)) { ushort s; uchar c, d; float x; } K;" TWO(
         "K", "K") "a[i].x += a[i].s; a[i].d ^= b[i].c; K t = b[i]; t.s = i; b[i] = t; }",
     {8, 8},
     "tt"},
    {"pointers to nested structures",
     ONE("struct N") "global In *q = &a[i].in; q->a += 3; (*q).b = q->a; q = &a[i].many[1]; "
                     "q->b++; "
                     "q--; q->a = 5; global In *r = a[i].many; r[1].b ^= 1; (r + 1)->a++; }",
     {N},
     "t"},
    {"nested structures loaded and stored through pointers",
     TWO("struct N",
         "struct N") "global In *q = &b[i].in; In t = *q; t.b = i; *q = t; global In *r = "
                     "a[i].many; r[i % 2] = t; b[i].many[0] = *(r + 1); a[i].w = (q[0] = "
                     "r[0]).a; }",
     {N, N},
     "tt"},
    {"helpers that get nested structures",
     "void more(global In *q, int k) { q[k].a += 1; q->b = q[k].a; } In whole(const global In *q) "
     "{ "
     "return *q; } global In *inner(global struct N *s) { return &s->in; } " ONE(
         "struct N") "more(&a[i].in, 0); more(a[i].many, 1); In t = whole(&a[i].many[1]); a[i].w = "
                     "t.a; inner(a + i)->a ^= 2; }",
     {N},
     "t"},
    {"one helper for arrays and for nested structures",
     "void also(global In *q) { q->a += 1; q->b ^= 1; } " TWO(
         "struct N", "In") "also(&a[i].in); also(b + i); }",
     {N, 4},
     "tt"},
    {"atomics on members of nested structures",
     "struct A { int k; float x; }; struct B { float f; struct A in[2]; short s; };" ONE(
         "struct B") "global struct A *q = &a[i].in[1]; atomic_add(&q->k, 3); q->x = 1; "
                     "atomic_xchg(&(q - 1)->k, i); }",
     {24},
     "t"},
    {"conditional structures",
     TWO("P", "P") "P s = i % 3 ? a[i] : b[i]; a[i].x = (i % 2 ? a[i] : s).y; b[i] = (a[i], s); }",
     {P, P},
     "tt"},
    {"helpers by value",
     "static float len(P p) { return p.x * p.x + p.y; }\nstatic P flip(P p) { p.x = p.y; p.id = "
     "-p.id; return p; }\n" ONE(
         "P") "a[i].z = len(a[i]); a[i] = flip(a[i]); a[i].y = flip(*(a + i)).z; }",
     {P},
     "t"},
    {"vectors",
     ONE("V") "a[i].q.xy = a[i].q.zw; a[i].q.w += a[i].r.x; a[i].r = a[i].s.yz; a[i].q.xyz = "
              "a[i].s * 2; a[i].q[1] = 3; a[i].q.s0 = dot(a[i].q, a[i].q); a[i].r.lo = "
              "a[i].q.hi.x; }",
     {V},
     "t"},
    {"vectors whole",
     TWO("V", "V") "V s = a[n - 1 - i]; s.q.x = 1; s.k = i; b[i] = s; }",
     {V, V},
     "tt"},
    {"vectors copied", TWO("V", "V") "b[n - 1 - i] = a[i]; }", {V, V}, "tt"},
    {"mixed types",
     ONE("struct M") "a[i].d = a[i].d / 2 + a[i].i; a[i].c = a[i].s; a[i].s = a[i].t + 300; a[i].t "
                     ">>= 1; a[i].i = (int)a[i].d; }",
     {M},
     "t"},
    {"enumerations",
     ONE("W") "a[i].e = i % 2 ? FIRST : SECOND; a[i].l = a[i].e + a[i].u[i % 3]; a[i].u[0]++; }",
     {W},
     "t"},
    {"atomics",
     "kernel void f(global P *a, int n) { int i = get_global_id(0); if (i < n) { atomic_add(&a[i / "
     "4].id, 3); atom_inc(&(a[0].id)); atomic_max(&(a + i / 8)->next, (uint)i); "
     "atomic_xchg(&a[i].x, 1.5f); } }",
     {P},
     "t"},
    {"sizeof",
     ONE("P") "a[i].id = sizeof(a[i]) + sizeof(*a) + sizeof a[i].x; a[i].next = sizeof(P); }",
     {P},
     "t"},
    {"casts",
     ONE("P") "a[i].id = (int)a[i].x; a[i].x = as_float(a[i].next & 0x3fffffffu); (void)a[i].y; "
              "a[i].y = (float)(a[i].id); a[i].z = convert_float(a[i].id); }",
     {P},
     "t"},
    {"constant",
     "kernel void f(constant P *a, global P *b, int n) { int i = get_global_id(0); if (i < n) { "
     "b[i].x = a[n - 1 - i].y; b[i].id = (a + i)->id; P s = a[i]; b[i].y = s.z; } }",
     {P, P},
     "tt"},
    {"const and restrict",
     "kernel void f(const global P *restrict a, global P *restrict const b, int n) { int i = "
     "get_global_id(0); if (i < n) { b[i].x = a[n - 1 - i].y; b[i] = a[i]; b[i].id++; } }",
     {P, P},
     "tt"},
    {"volatile",
     "kernel void f(volatile global P *a, int n) { int i = get_global_id(0); if (i < n) { a[i].x "
     "+= a[i].y; a[i].id = i; atomic_inc(&a[i].next); } }",
     {P},
     "t"},
    {"typedef of a pointer",
     "typedef global P *Ptr;\nkernel void f(Ptr a, int n) { int i = get_global_id(0); if (i < n) { "
     "a[i].x = a->y; } }",
     {P},
     "t"},
    {"array parameters",
     "kernel void f(global P a[], global P b[4], int n) { int i = get_global_id(0); if (i < n) { "
     "a[i].x = b[i].y; (b + i)->id = i; } }",
     {P, P},
     "tt"},
    {"names in inner scopes",
     ONE("P") "a[i].x = 2; { P a[2]; a[0].x = 1; a[1] = a[0]; i += (int)a[1].x - 1; } struct { int "
              "a; } s = {.a = 3}; a[i].id = s.a; for (int a = 0; a < 1; a++) i += a; a[i].y = 1; "
              "goto a; a: a[i].z = 4; }",
     {P},
     "t"},
    {"one kept, one not",
     TWO("P", "P") "global P *q = b + i; q->x = a[i].x; a[i].y = (ulong)b > 0 ? q->y : 0; }",
     {P, P},
     "tk"},
    {"a pointer in a variable",
     ONE("P") "global P *q = a + i; q->x = q->y + 1; (*q).id = i; q[0].z = 3; *q = q[0]; }",
     {P},
     "t"},
    {"addresses of structures",
     ONE("P") "global P *q = &a[i], *const r = &*(a + (n - 1 - i)); q->x = r->y; (&a[i])->id += "
              "3; (&q[0])->z = (&(*r))->y; global P *s; s = &q[n - 1 - i - i]; q->next = s == r; }",
     {P},
     "t"},
    {"pointers that are moved",
     ONE("P") "global P *q = a; q += i; q->x = 1; if (i + 1 < n) { q++; (--q)->y = 2; q->z = "
              "(q + 1)->next; ++q; q -= 1; } global P *r = a + n; float s = 0; for (r--; r > q; "
              "r--) "
              "s += r->next; q->id = (int)s; global P *t = a; while (t != a + n) s += t++->next & "
              "3; "
              "q->y = s; }",
     {P},
     "t"},
    {"side effects of pointers once",
     ONE("P") "global P *q = a + i; (q++)->x = 3; a[i].id = (int)(q - a); (--q)->y = 1; P t = "
              "a[i]; "
              "t.z = 5; *q++ = t; q[-1].next = (uint)(q - (a + i)); }",
     {P},
     "t"},
    {"the parameter is moved",
     ONE("P") "a += i; a->x = 1; a[0].y = 2; (a - i + n - 1 - i)->z; a->id = a[n - 1 - i - "
              "i].next; "
              "P s = *a; a->z = s.x; *a = s; }",
     {P},
     "t"},
    {"pointers chosen",
     ONE("P") "global P *q = i % 2 ? a + i : &a[n - 1 - i]; float s = q->z + (i & 1 ? q : a)->y + "
              "(n, q)[0].z; global P *r; if (i % 3) r = q; else r = a; a[i].x = s + r->y; }",
     {P},
     "t"},
    {"pointers into two buffers",
     TWO("P", "struct N") "global P *q = a + i; global struct N *r = b + i; q->x = r->w; "
                          "r->v[i % 2][2] = q->z; r->in.b = q->id; r->many[1] = r->in; }",
     {P, N},
     "tt"},
    {"comparisons and differences",
     ONE("P") "global P *q = a + i, *e = a + n; int d = (int)(e - q); if (q < e && e > a && q <= "
              "e && !(q == e) && q) a[i].id = d; if (!q || q != a) a[i].next = (uint)(q - a); "
              "a[i].x = e - q > 3 ? 1 : 2; }",
     {P},
     "t"},
    {"pointers without a target",
     ONE("P") "global P *q = 0, *r = (global P *)0; if (i % 2) q = a + i; if (q) q->x = 7; a[i].id "
              "= r == 0; r = q != 0 ? q : a; a[i].y = r->y; }",
     {P},
     "t"},
    {"const and volatile pointers",
     ONE("P") "const global P *q = a + i; volatile global P *r = a + i; r->x = q->y; r->id += 1; P "
              "s = *q; s.z = 9; a[i] = s; global P *t = (global P *)q; t->next = 4; }",
     {P},
     "t"},
    {"a constant buffer by pointer",
     "kernel void f(constant P *a, global P *b, int n) { int i = get_global_id(0); constant P *q = "
     "a + n - 1; if (i < n) { q -= i; global P *r = b + i; r->x = q->y; *r = *q; r->id = 5; } }",
     {P, P},
     "tt"},
    {"pointers to members that are alike",
     ONE("P") "global float *q = &a[i].x; q[1] = q[0] + *(q + 2); *q = 3; global uint *u = &a[i]."
              "next; *u += 2; global float *y = &(a + i)->y; float s = *y++; a[i].id = (int)s + (y "
              "== q + 2); global float *w = &a[0].x; w[5 * i + 2] = 8; }",
     {P},
     "t"},
    {"array members as pointers",
     "typedef struct { float v[4]; float w[2][2]; } A;\n" ONE(
         "A") "global float *q = a[i].v; q[3] = 1; *q = q[n & 3]; *(a[i].v + 1) = q[5]; *a[i].v += "
              "1; global float *r = a[i].w[1]; r[0] = r[-1]; q += 4; *q = 6; for (q = a[i].v; q != "
              "&a[i].v[4]; q++) *q += q - a[i].v; "
              "*&(a[i].w[0][2]) += 1; }",
     {32},
     "t"},
    {"atomics through pointers",
     "kernel void f(global P *a, int n) { int i = get_global_id(0); if (i < n) { global P *q = a + "
     "i / 4; atomic_add(&q->id, 3); atom_inc(&(*a).id); volatile global uint *u = &a[i / 8].next; "
     "atomic_max(u, (uint)i); atomic_inc(u + 5 * (i / 100)); } }",
     {P},
     "t"},
    {"helpers get pointers",
     "float get(const global P *q, int k) { return q[k].y + q->y; }\nstatic void put(global P *q, "
     "float x) { q->x = x; q++; q[-1].z = x * 2; }\n" ONE(
         "P") "float s = get(a, i); put(a + i, s); put(&a[i], get(&a[n - 1 - i], 0)); global P *q "
              "= "
              "a + i; put(q, q->x + get(q, 0)); }",
     {P},
     "t"},
    {"helpers of helpers",
     "void set(global P *q, int k);\nint sum(global P *q, global P *r);\nvoid both(global P *q, "
     "global P *r, int k) { if (k > 0) set(q + k, k); else set(r, 0); q[k].next = (uint)sum(r, q + "
     "k); }\nvoid set(global P *q, int k) { q->id = k; }\nint sum(global P *q, global P *r) { "
     "return q->id & r->id; }\n" TWO("P", "P") "both(a, b + i, i); set(b + i, i + 3); b[i].x = 2; "
                                               "}",
     {P, P},
     "tt"},
    {"helpers of both kinds of buffers",
     "void copy(global P *q, const global P *r) { q->x = r->y; *q = *r; q->id++; }\nkernel void "
     "f(global P *a, global P *b, global float *c, int n) { int i = get_global_id(0); if (i < n) { "
     "copy(a + i, b + i); c[i] = (float)((ulong)b & 1); copy(b + i, b + i); } }",
     {P, P, 4},
     "tkk"},
    {"helpers that give pointers back",
     "global P *at(global P *q, int k) { return k < 0 ? q : &q[k]; }\nglobal float *member(global "
     "P "
     "*q) { return &q->x; }\nglobal P *same(global P *q) { return at(q, 0); }\n" ONE(
         "P") "at(a, i)->x = 3; global P *q = at(a, i); q->y = same(q)->x; member(q)[2] = *member("
              "at(a, i)); *same(at(a, i)) = a[i]; a[i].id = (int)(at(a, i) - a); }",
     {P},
     "t"},
    {"helpers that get members",
     "float add(global float *q, const global float *r) { *q += 1; return q[1] + *r; }\n" ONE(
         "P") "a[i].z = add(&a[i].x, &a[i].y); float t[3] = {1, 2, 3}; global P *q = a + i; "
              "q->y = t[1] + add(&q->x, &q->y); }",
     {P},
     "t"},
    {"helpers in index expressions",
     "uint next(global P *q, uint k, int n) { return q[k % (uint)n].next % (uint)n; }\n" ONE(
         "P") "a[i].x = a[next(a, next(a, (uint)i, n), n)].y; a[(next(a, 0, n), i)].z = 1; }",
     {P},
     "t"},
    {"initialiser lists",
     TWO("P",
         "V") "struct { float4 q; float x[2]; P p; } s = {b[i].q, {a[i].x, b[i].s.y}, a[i]}; P "
              "t[2] = {a[i], {.x = a[i].y, .id = i}}; float4 v = {a[i].z, b[i].r, 1}; b[i].q = "
              "s.q + v.yzwx; a[i].y = s.x[1] + t[1].x; a[i].z = s.p.x + t[0].y; b[i].k = t[1].id; "
              "b[i].r = (float2)(a[i].x, b[i].q.w); a[i].next = (uint)(P){a[i].x, 2}.y; }",
     {P, V},
     "tt"},
    {"array members of a helper's structure",
     "void fill(global struct N *q, int k) { for (int j = 0; j < 3; j++) q->v[k][j] = q[0].v[1 - "
     "k][j] + j; q->many[k].b = 3; }\n" ONE("struct N") "fill(a + i, i % 2); }",
     {N},
     "t"},
    {"unions",
     ONE("U") "a[i].t = a[i].v.x + 1; a[i].v.y = a[i].i & 255; a[i].u.e[i & 3] = a[i].h.lo; "
              "a[i].h.hi += 2; a[i].b[i & 1]++; a[i].u.q.z ^= a[i].m; a[i].w[i & 1].n += "
              "(uint)a[i].w[0].g; global U *p = a + i; p->w[1].g = p->u.e[3]; p->k = atomic_add("
              "&p->i, 3); }",
     {U},
     "t"},
    {"unions copied",
     TWO("U", "U") "U s = a[n - 1 - i]; s.i = i; s.u.e[2] = 1; b[i] = s; b[i].m = a[i].i; }",
     {U, U},
     "tt"},
    {"control flow and pointers",
     ONE("P") "global P *q = a; switch (i % 4) { case 0: q = a + i; break; case 1: q += i; "
              "default: q = &a[i]; } for (global P *r = q; r < q + 1; ++r) r->x = 2; do { q->id++; "
              "} while (q->id & 3); goto end; end: q->y = 1; }",
     {P},
     "t"},
    {"loops and branches",
     ONE("P") "float s = 0; for (int j = i; j < n && j < i + 5; j++) { if (a[j].next & 1) "
              "continue; "
              "s += a[j].y; } while (a[i].id & 3) a[i].id++; do { a[i].x = s; } while (0); switch "
              "(a[i].id & 4) { case 0: a[i].z = 1; break; default: a[i].z = 2; } }",
     {P},
     "t"},
    {"macros",
     "#define AT(k) a[k]\n#define GET(p, i, f) ((p)[(i)].f)\n#define SWAP(u, v) do { REAL t = u; u "
     "= v; v = t; } while (0)\n#ifdef NONE\nerror\n#endif\n#if STEP > 1\n" ONE(
         "P") "SWAP(GET(a, i, x), AT(i).y);\n GET(a,\n i, z) = STEP; AT(AT(i).next % n ? i : i).id "
              "= __LINE__; }\n#endif\n",
     {P},
     "t"},
    {"written lanes",
     ONE("V") "a[i].q.wzyx = a[i].q; a[i].q.hi = a[i].q.even; a[i].q.odd += a[i].r; a[i].q.s3 = "
              "a[i].k; (a + i)->s.yx = a[i].q.s01; (*(a + i)).r.y *= 2; (a[i].q).xw = "
              "(float2)(a[i].s.z, 2); a[i].q.lo.y = 3; a[i].q.hi.lo++; a[i].s.zy = a[i].s.xz; "
              "global "
              "V *p = a + i; p->q.zx -= p->q.yw; float4 t = a[i].q.ywzx = a[i].q; a[i].k = t.x > "
              "0; "
              "a[i].q.xyz = a[i].q.zyx; }",
     {V},
     "t"},
    {"multi-line text",
     ONE("P") "\n\n\n  a\n [ i\n ] /* c */ . // d\n x\n =\n 1;\n a[i] /* } */ .y = '}' + "
              "\"{;\"[0]; }",
     {P},
     "t"},
    {"forward declarations",
     "kernel void f(global P *, int);\nkernel void f(global P *b, int n);\n" ONE(
         "P") "a[i].x = 1; }\nkernel void f(global P *q, int m);",
     {P},
     "t"},
    {"several kernels",
     "kernel __attribute__((reqd_work_group_size(16, 1, 1))) void g(global struct N *a, global P "
     "*b) { a[0].w = b[0].x; }\n#pragma OPENCL FP_CONTRACT OFF\n"
     "__attribute__((vec_type_hint(float4)))\nkernel "
     "void f(global P *a, global P *b, int n) { int i = get_global_id(0); if (i < n) { a[i].x = "
     "b[i].y; b[i] = a[i]; } }\nkernel void h(global int *x) { *x = 1; }",
     {P, P},
     "tt"},
    {"local memory and barriers",
     "kernel void f(global P *a, int n) { local P t[16]; local float s[16]; int i = "
     "get_global_id(0), l = get_local_id(0); if (i < n) { t[l] = a[i]; s[l] = a[i].y; } "
     "barrier(CLK_LOCAL_MEM_FENCE); if (i < n) { a[i].x = t[(l ^ 1) + get_group_id(0) * 16 < n ? l "
     "^ 1 : l].z; a[i].z = s[l]; } }",
     {P},
     "t"},
    {"printf strings",
     ONE("P") "if (i > 1000000) printf(\"a[i].x a %d\\n\", a[i].id); a[i].y = 'a'; }",
     {P},
     "t"},
    {"over-aligned",
     "typedef struct __attribute__((aligned(32))) { int a; float b; } Q;\nkernel void f(global Q "
     "*a, global Q *b, int n) { int i = get_global_id(0); if (i < n) { b[i] = a[i]; b[i].a++; } }",
     {32, 32},
     "tt"},
    {"pack of no effect",
     "#pragma pack(push, 4)\ntypedef struct { int a; float b[3]; } Q4;\n#pragma pack(pop)\nkernel "
     "void f(global Q4 *a, int n) { int i = get_global_id(0); if (i < n) { a[i].b[i % 3] = a[i].a; "
     "} }",
     {16},
     "t"},
};

enum { COUNT = sizeof behaviours / sizeof behaviours[0] };

/* All cases in one source: case i has the kernel f<i>. */
static char *whole_source(void)
{
    rs_text source = RS_TEXT_EMPTY;
    rs_text_add_string(&source, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" RECORDS);
    for (int i = 0; i < COUNT; i++)
        rs_text_format(&source, "#define f f%d\n%s\n#undef f\n", i, behaviours[i].text);
    char *taken = rs_text_take(&source);
    assert_non_null(taken);
    return taken;
}

static void test_results_are_the_same(void **state)
{
    (void)state;
    static const struct {
        int tile;
        size_t n;
    } sizes[] = {{16, 100}, {32, 33}, {64, 50}, {7, 131}, {16, 96}, {32, 64}};
    static const char options[] = "-DREAL=float -DSTEP=4/2";
    if (!device_available())
        skip();
    char *source = whole_source();
    cl_program original = device_build(source, options);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        json_t *reply = ask_for_tiles(source, options, sizes[s].tile);
        cl_program rewritten =
            device_build(string_of(reply, "source"), string_of(reply, "options"));
        for (int i = (int)(s % 2); i < COUNT; i += 2) { /* each case with three of the sizes */
            char kernel[16];
            snprintf(kernel, sizeof kernel, "f%d", i);
            run_behaviour(&behaviours[i], kernel, original, rewritten, reply, sizes[s].n);
        }
        clReleaseProgram(rewritten);
        json_decref(reply);
    }
    clReleaseProgram(original);
    free(source);
}

/* Each buffer of a kernel has a layout of its own, also where one helper gets them all. */
static void test_different_layouts(void **state)
{
    (void)state;
    static const char source[] = "typedef struct { float x, y, z; int id; uint next; } P;\n"
                                 "void kick(global P *p, int k) { p[k].x += 2; p->id++; }\n"
                                 "kernel void f(global P *a, global P *b, global P *c, int n) { "
                                 "int i = get_global_id(0); if "
                                 "(i >= n) return; kick(a + i, 0); kick(b + i, 0); kick(c + i, 0); "
                                 "P s = b[i]; s.y = a[i].z; "
                                 "c[i] = s; a[i].next = b[n - 1 - i].next; }\n";
    if (!device_available())
        skip();
    cl_program original = device_build(source, "");
    json_t *reply =
        ask(json_pack("{s:s, s:b, s:i, s:{s:s, s:s}}", "source", source, "assume_undefined", 1,
                      "tile", 32, "layouts", "a", "f i", "f.b", "i/7 f i%7"));
    cl_program rewritten = device_build(string_of(reply, "source"), "");
    static const char *const layouts[] = {"f i", "i/7 f i%7", "i/32 f i%32"};
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        assert_string_equal(string_of(find_argument(reply, "f", names[i]), "layout"), layouts[i]);
    const device_case test = {"different layouts", "f", 3, {"a", "b", "c"}, {P, P, P}};
    device_compare(&test, original, rewritten, reply, 100, 1);
    device_compare(&test, original, rewritten, reply, 37, 2);
    clReleaseProgram(original);
    clReleaseProgram(rewritten);
    json_decref(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_the_same),
        cmocka_unit_test(test_different_layouts),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_release();
    return failed;
}
