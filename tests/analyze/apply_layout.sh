#!/usr/bin/env bash
# apply_layout.sh RESTRIDE CC: layouts of grids through pointers (Sung 2013, section 6.3.4), derived by hand, and the
# sources that come out: C programs give what they gave before, CUDA C can be read by a compiler.
restride=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../cli/expect.sh"
cd "$work" || exit 1

kernel='__global__ void relax(int ny, int nx, float to[ny][nx][4], float from[ny][nx][4])
{
    int i = threadIdx.x, j = blockIdx.x;
    to[j][i][0] = from[j][i][1] + from[j + 1][i][2];
}'
new='cudaMalloc((void **)&'
size=', 16 * ny * nx)'

# apply NAME BODY [DECLARATIONS]: a host function around BODY with grids a, b and c, which are new memory.
# Lines: 1 to 5 the kernel, 6 the declarations, 7 the grids, 8 their memory, 9 the body.
apply() {
    {
        echo "$kernel"
        echo "$3"
        echo "void step(int ny, int nx, int n, int which, float *plain) { float (*a)[nx][4], (*b)[nx][4], (*c)[nx][4];"
        echo "${new}a$size; ${new}b$size; ${new}c$size;"
        echo "$2 }"
    } >"$1.cu"
    expect 0 "$restride" analyze --apply layout "$1.cu" -o "$1.out.cu" --steering 12 --burst 64
    "$restride" analyze --apply layout "$1.cu" --json >"$1.json" 2>/dev/null
}

clang=$(command -v clang)
cat >cuda.h <<'END'
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; __host__ __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1); };
extern __device__ uint3 threadIdx, blockIdx;
int cudaMalloc(void **, unsigned long);
int cudaMemcpy(void *, const void *, unsigned long, int);
int cudaFree(void *);
typedef struct CUstream_st *cudaStream_t;
extern "C" int cudaConfigureCall(dim3, dim3, unsigned long = 0, cudaStream_t = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, unsigned long = 0, cudaStream_t = 0);
extern "C" int cudaLaunchKernel(const void *, dim3, dim3, void **, unsigned long, cudaStream_t);
END

# grids NAME STATE EXPECTED: the grids with that state, by class: "a,b,c to,from"; the output can be compiled.
grids() {
    if [ -n "$clang" ]; then
        expect 0 clang -x cuda --cuda-host-only -nocudainc -nocudalib -include "$PWD/cuda.h" -fsyntax-only "$1.out.cu" \
            -Wno-unknown-cuda-version -Werror=incompatible-pointer-types
    fi
    /usr/bin/python3 - "$@" <<'END' || complain "$1: $2 grids are not $3"
import json, sys
name, state, expected = sys.argv[1:]
classes = {}
for grid in json.load(open(name + ".json"))["grids"]:
    if grid["state"] == state:
        classes.setdefault(grid["class"], []).append(grid["name"])
found = " ".join(sorted(",".join(names) for names in classes.values()))
if found != expected:
    print("found:", found)
    sys.exit(1)
END
}
# reason NAME LINE TEXT: a and what is handed over with it are kept for this reason.
reason() {
    /usr/bin/python3 - "$@" <<'END' || complain "$1: the reason is not line $2: $3"
import json, sys
name, line, text = sys.argv[1:]
kept = {grid["name"]: grid for grid in json.load(open(name + ".json"))["grids"] if grid["state"] == "kept"}
a = kept.get("a", {"at": 0, "reason": "a is not kept"})
if a["at"] != int(line) or text not in a["reason"] or (line != "6" and "to" not in kept):
    print("found:", a["at"], a["reason"])
    sys.exit(1)
END
}

launch='relax<<<ny - 1, nx>>>(ny, nx,'

# Listing 6.1 with 128 threads, 32 groups, bursts of 64 bytes and enough steering bits: the thesis' layout.
apply plain "$launch a, b);"
says out '^to \(line 1\): transformed to "i/32 j/128 k i%32 j%128"$'
grep -q 'restride_grid_[0-9]*_offset(ny, nx, 4, (j + 1), (i), (2))' plain.out.cu || complain "no flattened access"
grep -q 'relax(int ny, int nx, float \*to, float \*from)' plain.out.cu || complain "no flat parameter"
grids plain transformed "from,b to,a"

# Table 6.1: p = q hands the layout over. Two grids that are swapped in a loop have one; a third has its own.
apply swapped "float (*t)[nx][4]; for (int s = 0; s < n; s++) { $launch a, b); t = a; a = b; b = t; }"
grids swapped transformed "to,from,a,b,t"
apply own "float (*t)[nx][4]; t = a; $launch t, t); t = c; c[0][0][0] = t[0][0][1];" \
    'void other(int ny, int nx, float g[ny][nx][4]) { g[0][0][0] = 1; }'
grids own transformed "to,from,a" # t is a when it is handed over, and c in the end
grids own row-major "b c,t g"

# Aliases through parameters, through a helper's pointers to pointers, and through what a function returns.
helper='__device__ float left(int ny, int nx, float g[ny][nx][4], int j) { return g[j][0][1]; }'
apply alias "$launch a, b); walk(ny, nx, a); walk(ny, nx, b);" \
    'void walk(int h, int w, float alias[h][w][4]) { float (*same)[w][4] = alias; same[h - 1][0][0] = alias[0][0][0]; }'
grids alias transformed "to,from,alias,same,a,b"
apply rotated "for (int s = 0; s < n; s++) { $launch a, c); rotate((void **)&a, (void **)&b, (void **)&c); }" \
    'void rotate(void **p, void **q, void **r) { void *t = *p; *p = *q; *q = *r; *r = t; }'
grids rotated transformed "to,from,a,b,c"
apply returned "float (*t)[nx][4] = (float (*)[nx][4])choose(a, b, n); $launch t, c);" \
    'void *choose(void *p, void *q, int n) { if (n > 3) return p; return q; }'
grids returned transformed "from,c to,a,b,t"

# Table 6.2: the meet at a condition, a branch, a switch and behind a break.
apply chosen "$launch which ? a : b, c);"
grids chosen transformed "from,c to,a,b"
apply branched "float (*t)[nx][4]; if (which) t = a; else t = b; $launch t, t); $launch c, c);"
grids branched transformed "to,from,a,b,c,t"
apply switched "float (*t)[nx][4] = a; switch (which) { case 1: t = b; break; case 2: t = c; } t[0][0][0] = 1;"
grids switched row-major "a,b,c,t"
apply broken "float (*t)[nx][4] = a; while (n--) { if (n == which) { t = b; break; } t = a; } t[0][0][0] = c[0][0][0];"
grids broken row-major "a,b,t c"

# Incompatible: a grid and memory that is none; extents that differ; what no flattening function can express.
apply mixed "float (*t)[nx][4] = a; if (which) t = (float (*)[nx][4])plain; $launch t, b);"
reason mixed 9 'a pointer may be t or memory that is no grid'
apply extents "float (*t)[ny][4]; t = a; $launch t, b);"
reason extents 9 'have different extents or elements'
apply crossed "relax<<<1, 1>>>(nx, ny, a, b);"
reason crossed 9 'the extents or elements of a are not those of to'
apply moved "$launch a + 1, b);"
reason moved 9 'arithmetic on the address of a'
apply stepped "a++; $launch a, b);"
reason stepped 9 'arithmetic moves a pointer of a'
apply rows "float (*t)[nx][4]; $launch a, b); relax<<<1, nx>>>(2 * ny, nx, c, c); t = a; t = c; t[0][0][0] = 1; t = which ? a : c;"
reason rows 7 'have different first extents'
apply row "float *r = a[1][2]; r[0] = 1; $launch a, b);"
reason row 9 'not all subscripts are given of a'
apply element "float *e = &a[1][2][3]; *e = 1; $launch a, b);"
reason element 9 'the address of a part of a'
apply cast "float *flat = (float *)a; flat[0] = 1; $launch a, b);"
reason cast 9 'a cast loses the extents of a'
apply escapes "unknown(a); $launch a, b);" 'void unknown(void *);'
reason escapes 9 'unknown, which is not followed, gets the address of a'
apply copied "cudaMemcpy(a, plain, 16 * ny * nx, 1); $launch a, b);"
reason copied 9 'a pointer may be a or memory that is no grid'
apply changed "nx = 7; $launch a, b);"
reason changed 9 'nx, an extent, is changed'
apply measured "n = sizeof(*(which ? a : b)); $launch a, b);"
reason measured 9 'sizeof asks for a part of a'
apply recursive "again(ny, nx, a, n); $launch a, b);" \
    'void again(int ny, int nx, float g[ny][nx][4], int n) { if (n > 0) again(ny, nx, g, n - 1); }'
reason recursive 6 'a recursive call gets the address of g'
apply jumping "again: $launch a, b); if (n--) goto again;"
reason jumping 9 'goto is not followed'

# Constructors and operators of classes, and declarations in conditions.
holder='struct holder { void *p; holder(void *q) : p(q) {} float get() const { return ((float *)p)[30]; } }; holder operator<<(void *p, holder h);'
apply constructed "holder h(a); plain[0] = h.get(); $launch a, b);" "$holder"
reason constructed 9 'a constructor or an operator'
apply operated "holder h = a << holder(plain); $launch a, b);" "$holder"
reason operated 9 'a constructor or an operator'
apply switching "switch (void *p = a; n) { default: plain[0] = ((float *)p)[30]; } $launch a, b);"
reason switching 9 'a switch that is not followed'
apply looping "for (int k = 0; void *p = k ? nullptr : (void *)a; k++) plain[0] = ((float *)p)[30]; $launch a, b);"
reason looping 9 'a condition that is not followed'

# What types decide, and what stands before a body.
apply overloaded "plain[0] = other(ny, nx, plain); $launch a, b);" \
    'float other(int ny, int nx, const float *p) { return 1; } float other(int ny, int nx, float p[ny][nx][4]) { return 2; }'
grep -q '^p .*one of several functions of a name' <(expect 0 "$restride" analyze --apply layout overloaded.cu -o overloaded.out.cu; cat out) ||
    complain "an overloaded function's parameter is not kept"
apply before "plain[0] = first(ny, nx, a); $launch a, b);" \
    'auto first(int ny, int nx, float p[ny][nx][4]) -> decltype(p[0][0][0] + 1) { return p[1][2][3]; }'
reason before 6 'p is used before the body of its function'

# Flat pointers with comments: the next pointer of that name is the grid; t, which has none, hands it over.
kernel='// restride: grid to[ny][nx]
// restride: grid from[ny][nx]
__global__ void smooth(int ny, int nx, float *to, const float *from)
{
    int i = threadIdx.x, j = blockIdx.x;
    to[j * nx + i] = from[j * nx + i] + from[(j + 1) * nx + i];
}'
# Lines: 1 to 7 the kernel, 8 to 10 the grids, 11 the body.
flat() {
    {
        echo "$kernel"
        echo '// restride: grid a[ny][nx]'
        echo '// restride: grid b[ny][nx]'
        echo "void step(int ny, int nx, int n, float *plain) { float *a, *b, *t; ${new}a, 4 * ny * nx); ${new}b, 4 * ny * nx);"
        echo "$2 }"
    } >"$1.cu"
    expect 0 "$restride" analyze --apply layout "$1.cu" -o "$1.out.cu" --active 256
    "$restride" analyze --apply layout "$1.cu" --active 256 --json >"$1.json" 2>/dev/null
}
flat flat_swap 'for (int s = 0; s < n; s++) { smooth<<<ny - 1, nx>>>(ny, nx, a, b); t = a; a = b; b = t; } a[3] = t[4];'
grids flat_swap transformed "to,from,a,b"
grep -q 'to\[restride_grid_[0-9]*_rows(ny, nx, (j \* nx + i))\] =' flat_swap.out.cu || complain "no flattened access"
flat flat_moved 'smooth<<<ny - 1, nx>>>(ny, nx, a + nx, b);'
reason flat_moved 11 'arithmetic on the address of a'
flat flat_mixed 'if (n) a = plain; smooth<<<ny - 1, nx>>>(ny, nx, a, b);'
reason flat_mixed 11 'a is set to memory that is no grid'
flat flat_bytes 'char *bytes = (char *)a; bytes[7] = 1; smooth<<<ny - 1, nx>>>(ny, nx, a, b);'
reason flat_bytes 11 'an access to elements of another size of a'

# Where a function that gets a flat pointer has no extents, or its own of the same names, nothing can be written.
flat_of() {
    kernel=${kernel%$'\n'}$'\n'"$4"
    flat "$1" 'smooth<<<ny - 1, nx>>>(ny, nx, a, b); plain[0] = of(a, nx, ny);'
    kernel=${kernel%$'\n'*}
    reason "$1" "$2" "$3"
}
hidden="the name of an extent is not the grid's variable here"
flat_of flat_bare 8 "$hidden" 'float of(float *p, int n, int m) { return p[30]; }'
flat_of flat_turned 8 "$hidden" 'float of(float *p, int ny, int nx) { return p[30]; }'
flat_of flat_binding 8 "$hidden" 'struct two { int n, m; }; float of(float *p, int n, int m) { auto [ny, nx] = two{n, m}; return p[30]; }'
flat_of flat_template 12 'a template, or one of several' 'template <class T> float of(T *p, int n, int m) { return p[30]; }'
flat_of flat_overloaded 12 'a template, or one of several' 'float of(float *p, int n, int m) { return 1; } float of(void *p, int n, int m) { return 2; }'
# A range is not followed.
flat flat_range 'for (void *p : {(void *)a, (void *)b}) plain[0] = ((float *)p)[30]; smooth<<<ny - 1, nx>>>(ny, nx, a, b);'
reason flat_range 11 'the compiler does not understand what is here'

# Whole programs in C, in several layouts and with extents that tiles do not divide.
program() {
    expect 0 "$restride" analyze --apply layout "$here/grids/$1.c" --layout "$2" -o new.c
    grep -q '_offset(' new.c || complain "$1 was not changed"
    expect 0 "$cc" -std=gnu11 -O1 -o new new.c
    expect 0 "$cc" -std=gnu11 -O1 -o old "$here/grids/$1.c"
    for arguments in "" "5 6 7" "5 6 7 8" "3 40 65" "1 1 1"; do
        # shellcheck disable=SC2086
        [ "$(./old $arguments)" = "$(./new $arguments)" ] || complain "$1 $arguments gives something else with $2"
    done
}
for layout in 'now: i j/8 k/32 j%8 k%32' 'swap: k j i' 'last: i/2 j k/16 i%2 k%16' 'from: i/4 j/4 k/4 i%4 j%4 k%4'; do
    program heat "$layout"
done

program large 'grid: i/2 j i%2'
program qualified 'grid: j/4 k/8 i j%4 k%8'

# Rows in parentheses, one pair or more.
echo 'void k(int n, float grid[n][n][n], int i) { (grid[i])[1][2] = 1; ((grid[i])[1])[i] = (grid)[i][2][3]; }' >rows.c
expect 0 "$restride" analyze --apply layout rows.c --layout 'grid: k j i' -o rows.new.c
[ "$(grep -oE 'grid\[restride_grid_0_offset' rows.new.c | wc -l)" = 2 ] || complain "rows in parentheses were not changed"
expect 0 "$cc" -std=gnu11 -Werror -c -o rows.o rows.new.c

# A function of the source has the name that a flattening function would have.
printf '#include <stdio.h>\nstatic int restride_grid_0_offset(int n) { return n; }\nvoid k(int n, float grid[n][9], int i) { grid[i][0] = restride_grid_0_offset(i); }\n' >named.c
expect 0 "$restride" analyze --apply layout named.c --layout 'grid: i/4 j i%4' -o named.new.c
expect 0 "$cc" -std=gnu11 -Wall -c -o named.o named.new.c
# The words of a type are no grid.
printf 'struct cell { int a; };\nint k(int n, int m) { return sizeof(unsigned char[n][m]) + sizeof(struct cell[n][m]); }\n' >types.c
expect 0 "$restride" analyze --apply layout types.c -o types.new.c
says out '^No grid is declared'

# keeps TEXT BODY: a function of C around BODY keeps its grid for this reason.
keeps() {
    {
        echo 'void *malloc(unsigned long); typedef float row[11]; struct s { float (*a)[11]; }; static row *same(row *a) { return a; }'
        echo 'static void fill(int n, float g[n + 1][2 * n]) { g[n][n] = 1; }'
        echo "void k(int ny, int nx, float grid[ny][nx]) { $2 }"
    } >keeps.c
    expect 0 "$restride" analyze --apply layout keeps.c --layout 'grid: j i' --layout 'g: i/3 j i%3' -o keeps.new.c
    says out "kept: .*$1"
}
keeps "the name of an extent is not the grid's variable here" '{ int ny = 3; grid[ny][ny] = 9; }'
keeps 'a list of values, which is not followed, gets the address of grid' 'struct s q = {grid}; q.a[2][3] = 5;'
keeps 'the address of a part of grid' 'atomize(&grid[1][2]);'
keeps 'a, which is not followed as a grid, gets the address of grid' 'same(grid)[2][3] = 5;'
keeps 'g is set to memory that is no grid' 'float (*k)[10] = malloc(240); fill(5, k); grid[1][1] = k[3][4];'

# A header of the user's becomes text, and what it has of the system's is still there.
printf '#include <stddef.h>\nextern size_t big;\n' >user.h
printf '#include "user.h"\nvoid k(float grid[8][big], int i, int j) { grid[i][j] = 1; }\n' >headers.c
expect 0 "$restride" analyze --apply layout headers.c --layout 'grid: i/4 j i%4' -o headers.new.c
grep -q '_offset(' headers.new.c || complain "headers.c was not changed"
expect 0 "$cc" -std=gnu11 -c -o headers.o headers.new.c

# What a source defines before a header that the compiler reads is there for it.
printf '#define NDEBUG\n#define WIDE(x) ((x) + 1)\n#include <assert.h>\n#undef NDEBUG\nint k(int n, int m, float grid[n][m], int i) { assert(i++ < 0); grid[i][WIDE(i)] = 1; return i; }\n' >asserting.c
expect 0 "$restride" analyze --apply layout asserting.c --layout 'grid: i/4 j i%4' -o asserting.new.c
grep -q '_offset(' asserting.new.c || complain "asserting.c was not changed"
expect 0 "$cc" -std=gnu11 -S -O1 -o asserting.s asserting.new.c
! grep -q assert_fail asserting.s || complain "NDEBUG was lost"

# In C++ a pointer may be chosen and assigned to.
printf '// restride: grid g[n][m]\nvoid f(int n, int m, float *g, float *h)\n{\n    float *t = g;\n    (n > 3 ? t : g) = h;\n    t[2 * m + 3] = 1;\n}\n' >chosen.cu
expect 0 "$restride" analyze --apply layout chosen.cu --layout 'g: i/4 j i%4' -o chosen.new.cu
says out 'g .line 2.: kept: chosen.cu:5: a place that is not followed may change the address of g'

# Headers of the user's that are not found may define and declare anything; found ones become text.
mkdir -p far
printf 'enum { far_value = 7 };\n' >far/math_far.h
printf '#ifndef OWN_H\n#define OWN_H\n#include "near.h"\n#endif\n' >own.h
printf '#ifndef STEP\n#define STEP 3\n#endif\n' >far/near.h
printf '#include "own.h"\n#  include "math_far.h"\nvoid k(int n, float grid[n][9], int i, int j) { grid[i][j] = far_value + STEP; }\n' >missing.c
expect 1 "$restride" analyze --apply layout missing.c --layout 'grid: i/4 j i%4' -o missing.new.c
says err 'own.h:3: The header near.h was not found; name its folder behind --, with -I.'
printf '#include "math_far.h"\nvoid k(int n, float grid[n][9], int i, int j) { grid[i][j] = 1; }\n' >missing_too.c
expect 1 "$restride" analyze --apply layout missing_too.c --layout 'grid: i/4 j i%4' -o missing.new.c
says err 'missing_too.c:1: The header math_far.h was not found'
expect 0 "$restride" analyze --apply layout missing.c --layout 'grid: i/4 j i%4' -o missing.new.c -- -Ifar
grep -q '_offset(' missing.new.c || complain "missing.c was not changed"
expect 0 "$cc" -std=gnu11 -c -o missing.o missing.new.c

# Loops in loops that declare pointers are walked twice each; too many are told with their line.
python3 -c 'n = 25
print("void f(int n, double p[n][n]) {\n" + "for (int i = 0; i < n; i++) { void *t = p;\n" * n + "p[0][1] = 1;" + "}" * n + "}")' >nested.c
expect 1 "$restride" analyze --apply layout nested.c -o nested.new.c
says err 'nested.c:[0-9]+: The program is too large to follow its grids'

# Arguments of the flattening function are ints where all extents and indices fit into them, and of 64 bits otherwise.
words() { # EXTENT INDEX EXPECTED: a function, since a kernel has no size_t
    echo "void f($1 n, $1 m, __global float g[n][m], $2 i) { short j = 3; g[i][j + 1] = 2 * g[i + 1][j]; }" >words.cl
    expect 0 "$restride" analyze --apply layout words.cl --layout 'g: i/4 j i%4' -o words.out.cl
    grep -q "_offset($3 extent_i, $3 extent_j, $3 index_i, $3 index_j)" words.out.cl || complain "extents $1, index $2: no $3"
}
words int int int
words short uchar int
words int long ulong
words int uint ulong
words long int ulong
words uint int ulong
words size_t size_t ulong

# What cannot be done is said.
echo 'void f(float *a) { a[0] = 1; }' >none.c
expect 0 "$restride" analyze --apply layout none.c -o none.out.c
says out '^No grid is declared'
expect 1 "$restride" analyze --apply layout "$here/grids/heat.c" --layout 'now: i j k/8'
expect 1 "$restride" analyze --apply layout "$here/grids/heat.c" --layout 'now: k%8 i j k/8'
says err 'divide'
expect 1 "$restride" analyze --apply layout "$here/grids/heat.c" --layout 'now: i/32:pad j k i%32'
says err 'needs more memory'
expect 1 "$restride" analyze --apply layout "$here/grids/heat.c" --layout 'now: i k j' --layout 'next: k j i'
says err 'cannot have the layout'
printf 'struct field {\n    int n;\n    float (*cells)[64];\n};\nvoid clear(struct field *f)\n{\n    f->cells[0][0] = 0;\n}\n' >member.c
expect 0 "$restride" analyze --apply layout member.c -o member.new.c
says err 'member.c:3: cells stays in rows: it is a member of a structure'
expect 2 "$restride" analyze --apply layout "$here/grids/heat.c" --layout 'now'
expect 2 "$restride" analyze --apply paint "$here/grids/heat.c"
finish
