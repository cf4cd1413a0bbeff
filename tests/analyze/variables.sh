#!/usr/bin/env bash
# variables.sh RESTRIDE: what is known of variables that are members of others, that pointers and references change, that
# functions change, and that only some ways through the source assign. Expectations are derived from the sources by hand.
restride=$1
source "$(dirname "$0")/../cli/expect.sh"
cd "$work"

declarations='struct in { int k; }; struct s { int n, m; struct in in; }; struct g { float *p; int n; }; union u { int a; float b; };
typedef struct { float *p; int n; } copied;
int total;
void unknown(int *p);
void unknown_record(struct s *p);
void nothing(void);
static void add(int *p) { *p += 1; }
static void set_total(int v) { total = v; }
static struct s make(int n) { struct s r; r.n = n; r.m = 2 * n; return r; }'

# analyze FILE PARAMETERS BODY: one function; the answer is in out.
analyze() {
    echo "$declarations void f($2) { $3 }" >"$1"
    expect 0 "$restride" analyze "$1"
}
# follows PARAMETERS BODY M O: the store is of this matrix and offset, and the loop carries nothing.
follows() {
    analyze "${file:-follows.c}" "$1" "$2"
    says out "M \[$3\]  o \[$4\]"
    says out 'loop i \(its iterations are threads\): carries nothing'
}
# carries WHAT PARAMETERS BODY: loop i carries a value through WHAT.
carries() {
    analyze "${file:-carries.c}" "$2" "$3"
    says out "loop i: carries a value through $1(\$|[, (;])"
}

loop='for (int i = 0; i < 20; i++)'
# Members grow by what is added to them, are copied with their records, and carry what they are given.
follows 'float *x' "struct s v; v.n = 0; $loop { v.n += 2; x[v.n + i] = 1; }" 3 2
follows 'float *x, struct s v' "$loop { x[v.n] = 1; v.n++; }" 1 v.n
# A member may have the name of the structure that it is in.
follows 'float *x, int t' "struct inner { int a; }; struct outer { struct inner a; } v; v.a.a = t; v.a.a += 2; $loop x[v.a.a + i] = 1;" 1 't \+ 2'
follows 'float *x' "struct s v, w; v.n = 1; w = v; v.n = 9; w.n += 1; $loop x[w.n + 2 * i] = 1;" 2 2
follows 'float *x, int n' "struct s v = make(n); $loop x[v.m + i] = 1;" 1 '2\*n'
follows 'float *x' "struct s v; v.in.k = 3; $loop x[v.in.k + i] = 1;" 1 3
carries v.n 'float *x' "struct s v; v.n = 0; $loop { x[v.n] = x[i]; v.n = 3; }"
carries v.n 'float *x' "struct s v = {0, 0}; $loop { x[v.n + i] = 1; v.n = 5; }"
carries v.n 'float *x' "struct s v; v.n = 0; $loop { for (int j = 0; j < 3; j++) v.n += 1; x[v.n] = 1; }"
carries v.n 'float *x, struct s *t' "struct s v = {0}; $loop { x[v.n] = 1; v = t[i]; }"
carries 'x, perhaps' 'float *x, struct s *t' "$loop { struct s v = t[i]; x[v.n] = 1; }"
says out '~t\[i\]\.n'
carries 'x, perhaps' 'float *x' "union u v; v.a = 0; $loop { v.b = i; x[2 * i + v.a] = 1; }"
# One pointer, whatever record it is in.
carries 'h->p' 'struct g *h' "copied v; v.p = h->p; $loop v.p[i + 1] = h->p[i];"
carries 'h->p' 'struct g *h' "struct g v = *h; $loop v.p[i + 1] = h->p[i];"
carries '[vw].p' 'struct g v' "struct g w = v; $loop v.p[i + 1] = w.p[i];"

# What is read through a pointer that may lead to a variable is that variable's perhaps; through one that does, surely.
carries 'd, perhaps' 'float **w, char *x' "float d; $loop { d = w[i][3]; char *q = (char *)&d; for (int j = 0; j < 4; j++) x[4 * i + j] = q[j]; }"
carries 'd, perhaps' 'float **w, char *x' "float d; int n = 0; $loop { d = w[i][3]; char *q = (char *)&d, *t = x + n; for (int j = 0; j < 4; j++) *t++ = *q++; n += 4; }"
carries '\*q' 'int *w, float *x' "int d = 0, *q = &d; $loop { x[*q + i] = 1; d = w[i]; }"

# Through pointers and references.
follows 'float x[]' "$loop *x++ = i;" 1 0
follows 'float *x' "int n = 0, *p = &n; $loop { *p += 1; x[n] = 1; }" 1 1
follows 'float *x' "struct s v; v.n = 1; struct s *q = &v; $loop { q->n += 1; x[v.n + i] = 1; }" 2 2
follows 'float *x' "int n = 3; add(&n); $loop x[i + n] = 1;" 1 4
carries n 'float *x' "int n = 0, *p = &n; $loop { x[n] = 1; *p = 5; }"
carries n 'float *x' "int n = 0, *p = &n; $loop { x[i + 3 * n] = x[i] + 1; *p ^= 1; }"
carries n 'float *x' "int n = 0, *p = &n, **q = &p; $loop { **q += 1; x[n] = 1; }"
carries n 'float *x' "int n = 0; $loop { add(&n); x[n] = 1; }"
carries '\*p' 'float *x' "int n = 0; $loop { int *p = &n; *p = *p * 3 + 1; x[n] = 1; }"
carries n 'float *x, int c' "int n = 0, m = 0; $loop { int *p = c > i ? &n : &m; *p += 1; x[2 * i + n] = 1; }"
carries v.n 'float *x, struct s *t' "struct s v = {0}, *q = &v; $loop { x[v.n] = 1; *q = t[i]; }"
carries 'n, perhaps' 'float *x' "int n = 0; $loop { unknown(&n); x[n + 2 * i] = 1; }"
carries '\*q, perhaps' 'float *x' "struct s v; v.n = 1; struct s *q = &v; $loop { unknown_record(q); x[v.n + i] = 1; }"
carries 'x, perhaps' 'float *x' "int n = 0; unknown(&n); $loop { nothing(); x[n + 2 * i] = 1; }"
file=reference.cu
follows 'float *x' "int n = 0; int &r = n; $loop { r += 1; x[2 * i + n] = 1; }" 3 1
carries n 'float *x' "int n = 0; auto l = [&](int &r) { r += 1; n++; }; int k = 0; $loop { l(k); x[2 * i + n] = 1; n = 3 * n; }"
in_c=$declarations
declarations="$declarations static void more(int &r) { r += 1; }"
follows 'float *x' "int n = 2; more(n); $loop x[i + n] = 1;" 1 3
carries n 'float *x' "int n = 2; $loop { x[i + n] = 1; more(n); }"
unset file
declarations=$in_c

# Functions change variables of the file; so do functions that are not there.
carries total 'float *x' "total = 0; $loop { x[i + total] = x[i] + 1; set_total(3); }"
carries total 'float *x' "total = 0; $loop { x[i + total] = x[i] + 1; nothing(); }"

# What one way alone assigns is the case of that way alone.
other='x, perhaps'
carries "$other" 'float *x, int n, int c' "if (c) n = 5; $loop x[i + n] = x[i + 5] + 1;"
carries "$other" 'float *x, int n, int c' "if (c) ; else n = 5; $loop x[i + n] = x[i + 5] + 1;"
carries "$other" 'float *x, struct s v, int c' "if (c) v.n = 5; $loop x[i + v.n] = x[i + 5] + 1;"
carries "$other" 'float *x, float *y, int c' "float *z = x; if (c) x = y; $loop x[i + 1] = z[i];"
carries "$other" 'float *x, int c' "$loop { int j = 0; c > i ? (j = 1) : (j = 2); x[i + j] = x[i + 2] + 1; }"
carries "$other" 'float *x, int c' "$loop { int j = 0; c > 5 && (j = 1); x[i + j] = x[i + 1] + 1; }"
carries "$other" 'float *x, int c' "int k = 0; switch (c) { case 0: k = 5; case 1: k += 1; break; default: k = 6; } $loop x[i + k] = x[i + 1] + 1;"
carries "$other" 'float *x, int n' "int k = 0; for (int j = 0; j < n; j++) k = 7; $loop x[i + k] = x[i + 7] + 1;"
carries "$other" 'float *x, int *y' "int k = 0; for (int j = 0; j < 9; j++) { if (y[j]) continue; k = 7; } $loop x[i + k] = x[i + 7] + 1;"
follows 'float *x' "int k = 0; for (int j = 0; j < 9; j++) k = 7; $loop x[i + k] = x[i + 7] + 1;" 1 7
carries "$other" 'float *x, int n' "struct s v = make(4); for (int j = 0; j < n; j++) v = make(7); $loop x[i + v.n] = x[i + 7] + 1;"
# Jumps.
carries "$other" 'float *x' "$loop { int j = 0; again: x[i + j] = x[i] + 1; j++; if (j < 5) goto again; }"
carries "$other" 'float *x, int c' "$loop { int j = 0; if (c > i) goto end; j = 7; end: x[i + j] = x[i + 7] + 1; }"
# Behind a loop its variable is the end only where the loop came to its end.
carries "$other" 'float *x, float *y' "$loop { int k; for (k = 0; k < 9; k++) if (y[k] > 0) break; x[i * 10 + 10 + k] = x[i * 10 + 19] + 1; }"
carries "$other" 'float *x, float *y' "$loop { int k; for (k = 0; k < 9 && y[k] > 0; k++) ; x[i * 10 + 10 + k] = x[i * 10 + 19] + 1; }"
carries x 'float *x, int n' "int k; for (k = 5; k < n; k++) ; $loop x[i + k] = x[i + n] + 1;"
follows 'float *x, unsigned n' "unsigned k; for (k = 0; k < n; k++) ; $loop x[i + k] = x[i + n] + 1;" 1 n
# An unsigned number that starts over is another one in 64 bits, by a cast and without one.
carries x 'float *x, unsigned u' "$loop x[i + (unsigned long)(u - 1) % 7] = x[i + ((unsigned long)u - 1) % 7] + 1;"
carries x 'float *x, unsigned u' "unsigned long d = u - 1; $loop x[i + d % 7] = x[i + ((unsigned long)u - 1) % 7] + 1;"
carries x 'float *x, unsigned u, unsigned long s' "$loop x[i + (s + (u - 1)) % 7] = x[i + (s + u - 1) % 7] + 1;"
follows 'float *x, unsigned u' "$loop x[i + (unsigned long)(u + 1)] = x[i + (unsigned long)u + 1] + 1;" 1 'u \+ 1'
carries 'x, perhaps' 'float *x' "for (int i = 5; i < 10; i++) x[i + 0xffffffffu] = x[i] + 1;"
carries u 'float *x' "unsigned u = 9; for (int i = 5; i < 10; i++) { x[u] = x[i] + 1; u += 0xffffffffu; }"
# A bound or a start that is a choice says nothing.
carries x 'float *x' "for (int j = 0; j < 20; j++) for (int i = 0; i < (j > 5 ? j : 5); i++) x[i] = x[i + 3] + j;"
carries x 'float *x' "for (int j = 0; j < 20; j++) for (int i = j > 5 ? j : 5; i < 30; i++) x[i] = x[i - 3] + j;"
finish
