#!/usr/bin/env bash
# escapes.sh RESTRIDE CC: ways in which a grid's address, the address of its pointer, or memory that holds either can go
# where the propagation does not follow. Each is a function of one program, with a grid `a` of its own, which is kept or
# changed; the program that is written runs beside the original under the address sanitizer and prints the same.
restride=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../cli/expect.sh"
cd "$work" || exit 1

cat >head.c <<'END_OF_HEAD'
#include <assert.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define START double (*a)[ny][nx] = malloc(nz * sizeof *a), (*b)[ny][nx] = malloc(nz * sizeof *b); FILL(a, 1) FILL(b, 7)
#define FILL(g, by) for (int z = 0; z < nz; z++) for (int y = 0; y < ny; y++) for (int x = 0; x < nx; x++) \
    g[z][y][x] = by * (z * 131 + y * 17 + x * 3);
#define SHOW(value) printf("%d %g\n", __LINE__, (double)(value));
#define FREE free(a); free(b);
static void *file_variable;
static double of_file(void) { return ((double *)file_variable)[300]; }
static double variable(int n, ...) { va_list l; va_start(l, n); double *p = va_arg(l, double *); va_end(l); return p[300]; }
static double through(int n, int m, double (**g)[n][m]) { return (*g)[1][2][3]; }
static void *identity(void *p) { return p; }
static void hand_out(void **to, void *p) { *to = p; }
struct holder { void *p; };
static double held(struct holder h) { return ((double *)h.p)[300]; }
static void *make(int ny, int nx) { double (*made)[ny][nx] = malloc(7 * sizeof *made); memset(made, 0, 7 * sizeof *made); made[1][2][3] = 5; return made; }
static void zero(int nz, int ny, int nx, double zeroed[nz][ny][nx]) { zeroed[1][2][3] = 0; }
static int columns = 13;
static void grow(void) { columns = 5; }
static int from_file = 13;
static int change_file(const void *x, const void *y) { from_file = 5; return 0; }
static void change_void(void) { from_file = 5; }
static int *kept_address;
static void keep_address(int *p) { kept_address = p; *p = 13; }
static void rows(int ny, int nx, double r[ny][nx]) { r[0][0] = 1; }
static void larger(int n, int m, int o, double p[n][m][o]) { p[n][1][2] = 5; printf("%g\n", p[n + 1][2][3]); }
static void in_round(int ny, int nx, double r[ny][nx]) { r[0][0] = 1; }
static void few(int ny, int nx, double f[ny][nx - 1]) { f[0][0] = 1; }
static void one(int nz, int ny, int nx, double o[nz][ny][nx]) { o[0][0][0] += 1; }
static void via(int m, int ny, int nx, double (*p)[ny][nx]) { one(m, ny, nx, p); p[2][9][9] = 77; }
static double first(int nz, int ny, int nx, double [*][*][*]);
static double second(int, int m, int o, double (*)[m][o]);
static double third(int n, int m, int o, double before[n][m][o]);
static double first(int nz, int ny, int nx, double p[nz][ny][nx]) { return p[1][2][3]; }
static double second(int nz, int ny, int nx, double p[nz][ny][nx]) { return p[1][2][3]; }
static double third(int nz, int ny, int nx, double p[nz][ny][nx]) { return p[1][2][3]; }
typedef double made(int n, int m, int o, double q[n][m][o]);
static made fourth;
static double fourth(int nz, int ny, int nx, double p[nz][ny][nx]) { return p[1][2][3]; }
static double both(int n, int m, int o, double p[n][m][o]) { return p[1][2][3]; }
static void unread(int n, int m, int o) { double *z = calloc(n * m * o, sizeof *z); z[200] = 5; printf("%" PRId64 "\n", (int64_t)both(n, m, o, (void *)z)); free(z); }
static void at_end(void *p) { printf("%g\n", (*(double **)p)[300]); }
END_OF_HEAD

cp head.c program.c
count=0
: >expected
# a WHAT BODY: what becomes of a, "changed" or a part of the reason why it is kept.
a() {
    count=$((count + 1))
    {
        echo -n "static void told_$count(int nz, int ny, int nx, double g[nz][ny][nx]) { g[0][0][0] += 1; } "
        echo "static void case_$count(int nz, int ny, int nx) { START told_$count(nz, ny, nx, a); $2 FREE }"
    } >>program.c
    echo "$(wc -l <program.c) $1" >>expected
}

# Members, unions, lists, elements.
a 'a place that is not followed gets the address' 'struct { double (*p)[11][13]; } u; u.p = a; SHOW(u.p[1][2][3])'
a 'a place that is not followed gets the address' 'union { void *v; double *f; } u; u.v = a; SHOW(u.f[300])'
a 'a place that is not followed gets the address' 'union { double (*p)[11][13]; void *v; } u; u.v = a; SHOW(u.p[1][2][3])'
a 'a list of values' 'struct holder h = {a}; SHOW(held(h))'
a 'a construct that is not followed' 'SHOW(held((struct holder){.p = a}))'
a 'a construct that is not followed' 'SHOW(((double *)*(void *[]){a})[300])'
a 'a place that is not followed gets the address' 'void *two[2]; two[0] = a; double *q = two[0]; SHOW(q[300])'
# The bytes and the address of the pointer.
a 'the address of the pointer a is not followed' 'void *v; memcpy(&v, &a, sizeof v); double *q = v; SHOW(q[300])'
a 'the address of the pointer a is not followed' 'double (**pp)[ny][nx] = &a; SHOW((*pp)[1][2][3])'
a 'the address of the pointer a is not followed' 'SHOW(through(ny, nx, &a))'
a 'is not followed' 'void **pp = nz > 99 ? (void **)&b : (void **)&a; void *old = a; *pp = b; SHOW(a[1][2][3]) a = old;'
a 'is not followed' 'void **pp = (void **)&a, ***ppp = &pp; double *q = **ppp; SHOW(q[300])'
a 'the address of the pointer a is not followed' 'char *c = (char *)&a; void *v; for (int i = 0; i < 8; i++) ((char *)&v)[i] = c[i]; SHOW(((double *)v)[300])'
a 'not followed' 'void *v = __atomic_load_n((void **)&a, 0); SHOW(((double *)v)[300])'
# Arguments without a parameter, results, variables that outlive a call.
a 'an argument that has no parameter' 'SHOW(variable(1, a))'
a 'q, which is not followed as a grid' 'double *q = identity(a); SHOW(q[300])'
a 'q, which is not followed as a grid' 'double (*q)[11][13] = identity(a); SHOW(q[1][2][3])'
a 'q, which is not followed as a grid' 'double *q = memcpy(a, b, nz * sizeof *a); SHOW(q[300])'
a 'a place that is not followed' 'struct holder h; hand_out(&h.p, a); SHOW(held(h))'
a 'a place that is not followed' 'file_variable = a; SHOW(of_file())'
a 'a place that is not followed' 'static void *kept; kept = a; SHOW(((double *)kept)[300])'
# Expressions.
a 'a cast loses the extents' 'size_t u = (size_t)a; SHOW(((double *)u)[300])'
a 'a construct that is not followed' 'SHOW(({ double *q = (void *)a; q[300]; }))'
a 'a construct that is not followed' 'SHOW(((double *)_Generic(1, int: (void *)a, default: (void *)b))[300])'
a 'a cast loses the extents' 'SHOW(300 [(double *)(void *)a])'
a 'a cast loses the extents' 'SHOW(((double(*)[nx][ny])(void *)a)[1][2][3])'
a 'not followed' '__asm__("" : : "r"(a) : "memory"); SHOW(a[1][2][3])'
a 'realloc, which is not followed' 'a = realloc(a, 2 * nz * sizeof *a); SHOW(a[1][2][3])'
a 'a cast loses the extents' 'long off = (char *)(void *)b - (char *)(void *)a; SHOW(*(double *)((char *)(void *)b - off + 2400))'
a 'have different extents' '{ int ny = 13, nx = 11; double (*q)[ny][nx] = (void *)a; SHOW(q[1][2][3]) }'
a "no grid" 'void *v = malloc(nz * sizeof *a), *w = v; double (*old)[ny][nx] = a; a = v; FILL(a, 3) SHOW(((double *)w)[300]) free(v); a = old;'
# Assignments that happen on one way only.
a changed 'void *old = a; (void)(nz > 99 && (a = b)); SHOW(a[1][2][3]) a = old;'
a changed 'void *old = a; (void)(nz > 99 ? (a = b) : 0); SHOW(a[1][2][3]) a = old;'
# Memory with two names, and functions that are handed other memory as well.
a changed 'void *v = malloc(nz * sizeof *a); memcpy(v, a, nz * sizeof *a); double (*q)[ny][nx] = v; SHOW(q[1][2][3]) free(v);'
a changed 'double (*q)[ny][nx], (*r)[ny][nx]; q = r = malloc(nz * sizeof *q); FILL(q, 2) SHOW(r[1][2][3] + a[1][2][3]) free(q);'
a changed 'double (*q)[ny][nx] = make(nx, ny); SHOW(q[1][2][3] + a[1][2][3]) free(q);'
a 'a call that is not followed may set zeroed' 'zero(nz, ny, nx, a); double *raw = calloc(nz, sizeof *a); raw[nx * ny + 2 * nx + 3] = 1; (nz > 99 ? zero : zero)(nz, ny, nx, (void *)raw); SHOW(raw[nx * ny + 2 * nx + 3] + a[1][2][3]) free(raw);'
# Extents that are no longer what they were.
a changed 'double (*q)[columns] = malloc(ny * sizeof *q); q[3][4] = 8; q[2][9] = 9; grow(); SHOW(q[3][4] + q[2][9] + a[1][2][3]) free(q); columns = 13;'
a 'nx, an extent, is changed' 'int *p = &nx; double (*q)[ny][nx] = a; *p = 5; SHOW(q[1][2][3]) *p = 13;'
of_columns='double (*a)[n] = calloc(ny, sizeof *a); rows(ny, n, a); a[3][4] = 8; a[2][9] = 9;'
a 'extents of a are more than' 'void (*f)(void) = change_void; from_file = 13; { double (*a)[from_file] = calloc(ny, sizeof *a); rows(ny, from_file, a); a[3][4] = 8; a[2][9] = 9; f(); SHOW(a[3][4] + a[2][9]) free(a); }'
a 'extents of a are more than' 'int k[3] = {1, 2, 3}; from_file = 13; { double (*a)[from_file] = calloc(ny, sizeof *a); rows(ny, from_file, a); a[3][4] = 8; a[2][9] = 9; qsort(k, 3, 4, change_file); SHOW(a[3][4] + a[2][9]) free(a); }'
a 'extents of a are more than' "int n; keep_address(&n); { $of_columns *kept_address = 5; SHOW(a[3][4] + a[2][9]) free(a); }"
a 'extents of a are more than' "int n = 13; { $of_columns __asm__(\"\" : \"+r\"(n)); SHOW(a[3][4] + a[2][9]) free(a); }"
a changed "int n; sscanf(\"13\", \"%d\", &n); { $of_columns SHOW(a[3][4] + a[2][9]) free(a); }"
# What is found by its text: brackets in strings, attributes.
a changed 'double (*q)[ny][nx] = a; for (q = (puts("("), b); q != a; q = a) { SHOW(q[1][2][3]) }'
a 'a variable whose address is not followed gets' '{ __attribute__((cleanup(at_end))) double (*q)[ny][nx] = a; q[1][2][3] += 1; }'
# sizeof of a part: in the grid's own initializer, too, it is what it was.
a changed 'double (*q)[nx] = malloc(ny * sizeof *q); q[ny - 1][nx - 1] = 4; SHOW(q[ny - 1][nx - 1] + sizeof *q) free(q);'
a changed 'double (*q)[nx] = malloc(ny * sizeof(*q)); q[ny - 1][nx - 1] = 4; SHOW(q[ny - 1][nx - 1] + sizeof q[0]) free(q);'
a changed 'double (*q)[ny][nx] = malloc(nz * ny * sizeof **q); FILL(q, 5) SHOW(q[nz - 1][ny - 1][nx - 1] + sizeof q[0][1]) free(q);'
a changed 'double (*q)[ny][nx] = calloc(nz * ny * nx, sizeof q[0][0][0]); FILL(q, 5) SHOW(q[nz - 1][ny - 1][nx - 1] + sizeof ***q + sizeof q) free(q);'
a changed 'double (*q)[nx]; q = (double (*)[nx])malloc(ny * sizeof *(double (*)[nx])0); q[ny - 1][nx - 1] = 4; SHOW(q[ny - 1][nx - 1]) free(q);'
a 'sizeof asks for a part of a' 'SHOW(sizeof *(nz ? a : b))'
a 'sizeof asks for a part of a' 'int k = 0; SHOW(sizeof a[k++] + k)'
a changed 'SHOW(sizeof(a) + sizeof a[0] + sizeof(*a[1]) + sizeof a[nz][ny])'
# Copies and fills are of whole grids, or the first bytes are other elements.
a 'a part of the grid' 'memcpy(b, a, ny * nx * sizeof(double)); SHOW(b[1][2][3] + b[0][9][9])'
a 'a part of the grid' 'memset(a, 0, sizeof *a); SHOW(a[1][2][3] + a[0][9][9])'
a 'a part of the grid' 'size_t some = (nz - 1) * sizeof *a; memset(a, 0, some); SHOW(a[nz - 1][2][3] + a[0][9][9])'
a 'a part of the grid' 'memmove(a, b, 800); SHOW(a[1][2][3] + a[0][9][9])'
a changed 'double (*q)[nx] = calloc(nx, sizeof *q), (*r)[nx] = calloc(nx, sizeof *r); memcpy(q, r, nx * sizeof *r); SHOW(q[1][2]) free(q); free(r);'
a changed 'size_t all = nz * sizeof *a; memcpy(b, a, all); memset(a, 0, sizeof(double) * nz * ny * nx); SHOW(b[1][2][3] + a[1][2][3])'
a 'a part of the grid' 'memset(a, 0, nz * ny * nx); SHOW(a[1][2][3] + a[6][9][9] + a[2][9][9])'
a 'a part of the grid' 'memset(a, 0, sizeof(float) * nz * ny * nx); SHOW(a[1][2][3] + a[6][9][9] + a[2][9][9])'
a 'a part of the grid' 'memset(a, 0, nz * sizeof *a >> 1); SHOW(a[1][2][3] + a[6][9][9] + a[2][9][9])'
a 'a part of the grid' 'size_t n = nz * sizeof *a; n -= sizeof *a; memset(a, 0, n); SHOW(a[1][2][3] + a[6][9][9] + a[2][9][9])'
a 'a part of the grid' '{ double (*a)[nx - 1] = malloc(ny * sizeof *a); few(ny, nx, a); memset(a, 0, ny * sizeof *a); a[3][4] = 1; a[ny - 1][3] = 9; memset(a, 0, (ny - 1) * sizeof *a); SHOW(a[3][4] + a[ny - 1][3]) free(a); }'
# Memory that is larger than the extents, which a function tells, and memory from elsewhere.
a 'the memory is not known to be as large' 'void *old = a; double (*q)[ny][nx] = calloc(nz + 2, sizeof *q); q[nz + 1][2][3] = 4; larger(nz, ny, nx, q); FILL(q, 2) SHOW(q[nz][1][2]) a = q; free(a); a = old;'
a changed 'double (*q)[nx]; void *v; posix_memalign(&v, 64, sizeof(double) * (size_t)ny * nx); q = v; rows(ny, nx, q); SHOW(q[0][0]) free(q);'
a 'extents of p are more than' 'via(nz - 1, ny, nx, a); SHOW(a[1][2][3] + a[2][9][9])'
# What the compiler does not read, as headers of the system are not read, may use all of its function.
a 'the compiler does not understand' 'printf("%" PRId64 "\n", (int64_t)((double *)a)[300]);'
a 'the compiler does not understand' 'SHOW(both(nz, ny, nx, a)) unread(nz, ny, nx);'
a 'a part of the grid' 'memset(a, 0, nz * ny * nx * 2 * sizeof(in_port_t)); SHOW(a[1][2][3] + a[6][9][9])'
a 'a directive to the compiler' '_Pragma("omp simd if(a[1][1][1] > 0)") for (int i = 0; i < 3; i++) printf("%g\n", a[1][2][i]);'
a changed 'double (*q)[nx] = malloc(sizeof(double[ny][nx])); q[ny - 1][nx - 1] = 4; rows(ny, nx, q); SHOW(q[ny - 1][nx - 1]) free(q);'
a changed 'struct pair { double a; int b; } (*q)[nx] = calloc(ny, sizeof(struct pair[nx])); q[ny - 1][nx - 1].b = 4; void *v = q; v = memset(v, 0, sizeof(struct pair[ny][nx])); SHOW(q[ny - 1][nx - 1].b) free(q);'
a 'the memory is not known to be as large' 'void *old = a; double (*q)[ny][nx] = calloc(1, sizeof(double[nz + 1][ny][nx])); FILL(q, 2) a = q; SHOW(a[nz - 1][2][3]) free(a); a = old;'
a 'a part of the grid' 'memset(a, 0, sizeof(double[nz - 1][ny][nx])); SHOW(a[1][2][3] + a[6][9][9])'
a 'a part of the grid' 'memset(a, 0, sizeof(float[nz][ny][nx])); SHOW(a[1][2][3] + a[6][9][9])'
a 'a part of the grid' '{ int ny = 3; memset(a, 0, sizeof(double[nz][ny][nx])); } SHOW(a[1][2][3] + a[6][9][9] + a[1][9][9])'
# Functions of the system that read the pointer, or write one element.
a changed 'assert(a); assert(a != NULL && b); SHOW(a[1][2][3])'
a changed 'if (sscanf("4.5 6", "%lf %lf", &a[1][2][3], &a[6][9][9]) == 2) { SHOW(a[1][2][3] + a[6][9][9]) }'
a 'the address of a part' 'if (sscanf("4567890123456789", "%16c", &a[1][2][3]) == 1) { SHOW(a[1][2][4]) }'
# Subscripts in other words, and variables with the name of an extent.
a 'a subscript is not written in brackets' 'SHOW(a<:1:>[2]<:3:>)'
a 'a subscript is' 'SHOW(1[a][2][3])'
a changed 'for (int nx = 0; nx < 3; nx++) puts("x"); SHOW(a[1][2][3])'
a 'the name of an extent is not' 'for (int nx = 0; nx < 3; nx++) SHOW(a[1][2][nx])'
# New memory that is filled before it is a grid.
a "no grid" 'void *v = malloc(nz * sizeof *a); memset(v, 1, 200); double (*q)[ny][nx] = v; FILL(q, 2) void *old = a; a = q; SHOW(a[1][2][3]) free(a); a = old;'
# Extents that others hide, that are a round of a loop's own, and with words beside each other.
a 'the name of an extent' '{ typedef int ny; SHOW(a[1][2][3]) }'
a 'the next round of a loop' 'void *s = 0; for (int k = 0; k < 3; k++) { int n = 12 - k * 4, r = 8; double (*a)[n]; if (s) a = s; else { a = calloc(r * n, 8); s = a; } a[3][2] += 1 + k; in_round(r, n, a); SHOW(a[3][2]) } free(s);'
a changed 'double (*q)[sizeof nx + ny] = calloc(2, sizeof *q); q[1][3] = 4; SHOW(q[1][3]) free(q);'
# Declarations of functions besides those with the bodies; extents by names that are others there.
a 'p is declared in another way' 'SHOW(first(nz, ny, nx, a))'
a 'p is declared in another way' 'SHOW(second(nz, ny, nx, a))'
a changed 'SHOW(third(nz, ny, nx, a))'
a 'p is declared in another way' 'SHOW(fourth(nz, ny, nx, a))'
# Variables that have the type of another one; what is no grid keeps that.
a changed '{ __typeof__(a) t = a; a = b; b = t; } SHOW(a[1][2][3] + b[1][2][3])'
a changed 'for (int k = 0; k < 3; k++) { typeof (a) t = a; a = b; b = t; a[k][0][0] = k; } SHOW(a[1][0][0] + b[1][0][0] + a[1][2][3])'
a 'an access by what is declared as no grid' '__typeof__(a) t = b; SHOW(t[1][2][3])'
a 'gets a name with the type of a' '__typeof__(a) t = calloc(nz, sizeof *t); t[1][2][3] = 5; SHOW(t[1][2][3]) free(t);'
a 'has the address of a' '__typeof__(a[0]) t; __typeof__(a) u = a; memcpy(t, u[1], sizeof t); SHOW(t[2][3])'
a changed '__typeof__(a) t; t = a; if (nz > 99) t = b; SHOW((a == t) + a[1][2][3])'
a 'gets a name with the type of a' '__typeof__(a) t = a; void *v = malloc(9); t = v; SHOW(a != t) free(v);'
a 'sizeof asks for a part' '__typeof__(a) t = a; SHOW(sizeof *t)'
# What casts and other names of the same are followed.
a changed 'SHOW(((double(*)[ny][nx])(void *)a)[1][2][3])'
a changed 'double (*q)[ny][nx] = (double (*)[ny][nx])(void *)a; SHOW(q[6][10][12])'
a changed 'double (*q)[ny][nx] = identity(a); SHOW(q[6][10][12])'

{
    echo 'int main(void) {' # so all cases are called, and what their helpers had is no more behind them
    for i in $(seq "$count"); do echo "case_$i(7, 11, 13);"; done
    echo 'return 0; }'
} >>program.c
flags="-std=gnu11 -w -g -O1 -Werror=incompatible-pointer-types"
echo 'int main(void) { return 0; }' >probe.c
"$cc" -fsanitize=address -o probe probe.c 2>"$work/err" && flags="$flags -fsanitize=address"
expect 0 "$restride" analyze --apply layout program.c --layout 'a: j/4 k/8 i j%4 k%8' -o new.c
cp out said
while read -r line what; do
    if [ "$what" = changed ]; then
        grep -q "^a (line $line): transformed to" said || complain "a of line $line is not changed: $(grep "^a (line $line)" said)"
    else
        grep "^a (line $line): kept: program.c:" said | grep -q "$what" ||
            complain "a of line $line: $(grep "^a (line $line)" said), not \"$what\""
    fi
done <expected
for name in program new; do
    # shellcheck disable=SC2086
    expect 0 "$cc" $flags -o "$name" "$name.c"
    expect 0 ./"$name"
    cp out "$name.printed"
done
cmp program.printed new.printed || {
    diff program.printed new.printed >out
    complain "the program prints something else"
}
finish
