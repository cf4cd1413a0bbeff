#!/usr/bin/env bash
# carried.sh RESTRIDE: what an iteration of a loop leaves for a later one: through elements, variables, memory that others write,
# and functions that are not followed.
restride=$1
source "$(dirname "$0")/../cli/expect.sh"
facts_of=$(cd "$(dirname "$0")" && pwd)/facts.py
facts() { /usr/bin/python3 -S "$facts_of" "$restride" "$@"; }
cd "$work"

# analyze NAME BODY: the loop nest BODY over arrays X and Y.
analyze() {
    echo "enum { N = 256, M = 256 }; void $1(float X[N][M], float Y[N][2 * M], float x[N], float y[N + 16], int shift) { $2 }" >"$1.c"
    expect 0 facts "$1.c" "${@:3}"
}

# A flat subscript has rows that its loops are not seen to leave.
flat() { # flat BODY CARRIED-BY-I CARRIED-BY-J
    echo "void f(int n, int m, unsigned k, float *x) { $1 }" >flat.c
    expect 0 facts flat.c
    says out "loop i[^:]*: carries $2\$"
    says out "loop j[^:]*: carries $3\$"
}
over='a value through x, perhaps .*'
ij='for (int i = 0; i < n; i++) for (int j = 0; j'
flat "$ij < n; j++) x[n * i + j] = 1;" nothing nothing
flat "$ij < m; j++) x[n * i + j] = 1;" nothing nothing
flat "$ij < 8; j++) x[n * i + j] = 1;" nothing nothing
flat "$ij < n - 1; j++) x[n * i + j] = x[n * i + j + 1];" nothing 'a value through x .*'
flat "$ij < n; j++) if (j + 1 < n) x[n * i + j] = x[n * i + j + 1];" nothing 'a value through x.*'
flat "$ij < n; j += 2) x[n * i + j] = 1;" nothing nothing
flat "$ij < n; j++) x[n * j + i] = 1;" nothing nothing
flat "for (int i = 1; i < n; i++) for (int j = i; j < n; j++) x[n * i + j - i] = 1;" nothing nothing
flat "$ij <= n; j++) x[n * i + j] = 1;" "$over" nothing
flat "$ij < 2 * n; j++) x[n * i + j] = 1;" "$over" nothing
flat "$ij < n; j++) x[n * i + 2 * j] = 1;" "$over" nothing
flat "$ij < n; j++) x[n * i + j] = x[n * i + j + 1];" "$over" 'a value through x .*'
flat "$ij < n; j++) x[n * i + j] = x[n * i + j - 1];" "$over" 'a value through x .*'
flat "$ij < 2 * n; j++) x[n * j + i] = 1;" nothing nothing
flat "for (int i = 0; i < 2 * n; i++) for (int j = 0; j < n; j++) x[n * j + i] = 1;" "$over" nothing
flat "for (int i = 0; i < n; i++) for (int j = n; j >= 0; j--) x[n * i + j] = 1;" "$over" nothing
flat "for (int l = 0; l < k; l++) for (int i = 0; i < m; i++) for (int j = 0; j <= n; j++) x[l * n * m + i * n + j] = 1;" "$over" nothing
flat "for (int l = 0; l < k; l++) for (int i = 0; i <= m; i++) for (int j = 0; j < n; j++) x[l * n * m + i * n + j] = 1;" nothing nothing
says out "loop l.*: carries $over"

# Components of vectors are compared one by one.
components() { # components BODY CARRIED
    echo "kernel void k(global float4 *x) { for (int i = 0; i < 10; i++) { $1 } }" >components.cl
    expect 0 facts components.cl
    says out "loop i: carries $2\$"
}
components 'x[i + 1].xy = 1; x[i].zw = 2;' nothing
components 'x[i + 1].hi = x[i].lo;' nothing
components 'x[i + 1].xy = x[i].yz;' 'a value through x \(.*'
components 'x[i + 1].wx = x[i].yz;' nothing
components 'x[i + 1].even = x[i].odd;' nothing
components 'x[i + 1].even = x[i].xy;' 'a value through x \(.*'

# What the walk does not follow exactly may carry anything: each nest touches only its own elements, but nobody says so.
cat >unsupported.h <<'END'
int plain_next(int n) { return n + 1; }
typedef union { int i; float f; } both;
typedef struct { int n, bits : 3; } counter;
float as_float(int n) { both b; b.i = n; return b.f; }
END
unsupported() { # unsupported NAME BODY CONSTRUCT
    echo "#include \"unsupported.h\"
        void $1(float x[100], int c[100], float X[10][10], float **rows, both u[100], counter s[100], int n) { $2 }" >"$1.c"
    expect 0 facts "$1.c"
    says out "loop i.*: carries a value through $3.*, perhaps"
}
unsupported jumping 'for (int i = 0; i < 10; i++) { again: x[i] = 1; if (c[i]) goto again; }' ''
unsupported number 'for (int i = 0; i < 10; i++) *(float *)((long)x + 4 * i) = 1;' ''
unsupported inside 'for (int i = 0; i < 10; i++) x[i] = as_float(i);' 'b\.i'
unsupported united 'for (int i = 0; i < 10; i++) u[i].i = 1;' 'u\[i\].i'
unsupported bits 'for (int i = 0; i < 10; i++) s[i].bits = 1;' 's\[i\].bits'
plain() {
    echo "#include \"unsupported.h\"
        #include <math.h>
        void $1(float x[100], int c[100], float X[10][10], float **rows, both u[100], counter s[100], int n) { $2 }" >"$1.c"
    expect 0 facts "$1.c"
    says out "loop i.*: carries nothing"
}
plain jumps_not 'for (int i = 0; i < 10; i++) { if (c[i]) continue; x[i] = 1; }'
plain calls 'for (int i = 0; i < 10; i++) x[i] = sqrtf(fabsf(x[i])) + (float)plain_next(i);'
plain chooses 'for (int i = 0; i < 10; i++) x[i] = c[i] && n > 3 ? 1 : 2;'
plain casts 'float *p = (float *)x; for (int i = 0; i < 10; i++) p[i] = (float)(int)p[i];'
plain rows 'for (int i = 0; i < 10; i++) X[i][0] = rows[i][0];'
plain members 'for (int i = 0; i < 10; i++) s[i].n = 1;'
echo '__kernel void one(__global float4 *x) { for (int i = 0; i < 10; i++) x[i].y = sqrt(x[i].s0) + dot(x[i], x[i]); }' >plain.cl
expect 0 facts plain.cl
says out 'loop i: carries nothing'

# A function object in a loop is what its body does, and its return is its own; one that nobody is seen to call is not.
object() { # NAME BODY ANSWER
    echo "template <class F> void apply(F f, int n) { for (int j = 0; j < n; j++) f(j); } void ext(void *p);
        void $1(float *x, int *c, int n) { for (int i = 0; i < 10; i++) { $2 } }" >"$1.cu"
    expect 0 facts "$1.cu"
    says out "loop i.*: $3\$"
}
object called 'auto f = [=]() { x[i * 32] = 1; }; f();' 'carries nothing'
object nested 'apply([&](int j) { apply([&](int l) { x[100 * i + 10 * j + l] = 1; }, 10); }, 10);' 'carries nothing'
object returns 'auto f = [&](int k) { if (k > n) return 1; while (k < n) { k++; continue; } return k; }; x[i] = f(i);' 'carries nothing'
object conflicts 'auto f = [=]() { x[i + 1] = x[i]; }; f();' 'carries a value through x .*'
object uncalled 'auto f = [=]() { x[i + 1] = x[i]; }; c[i] = 1; ext(&f);' 'carries a value through .*'
object unfollowed 'auto f = [y = i + 1, x]() { x[y] = x[y - 1]; }; c[i] = 1; f();' 'carries a value through .*, perhaps.*'
object counts 'auto f = [y = n++]() {}; x[n] = 1;' 'carries a value through .*'
object 'deep' 'auto f = [&](auto &self, int k) -> int { return k > 3 ? self(self, k - 1) : 1; }; x[f(f, i)] = 1;' 'carries a value through x.*'
says err 'self calls itself'

# A structure of numbers that is handed over, to a launch or to a function that is not there, leads nowhere.
cat >numbers.cu <<'END'
struct options { int n; float w; };
void show(options o);
__global__ void step(float *from, float *to) { to[threadIdx.x] = from[threadIdx.x]; }
void launched(const float *in, float *out, float *d, int n, options o)
{
    dim3 g(n / 256), b = g;
    for (int i = 0; i < n; i++) { out[i] = in[i] * o.w; show(o); }
    step<<<g, b>>>(d, d);
}
END
expect 0 facts numbers.cu
says out 'loop i \(its iterations are threads\): carries nothing'
says out ' in: .*read-only'
! grep -qE '^  [gbo]: ' out || complain "a structure of numbers is an array"
cat >launches.cu <<'END'
__global__ void step(float *from, float *to) { to[threadIdx.x] = from[threadIdx.x]; }
void ping(float *a, float *b, float *c, int n)
{
    dim3 g(n / 256);
    for (int t = 0; t < n; t++) { step<<<g, 256>>>(a, b); c[t] = 1; }
}
END
expect 0 facts launches.cu
says out 'loop t: carries a value through step.*, perhaps'

# What a group has in common stays in a loop in which no work-item meets others and this function stores nothing there.
group() { # group NAME LANGUAGE BODY ANSWER of "loop i"
    echo "$before" >"$1.$2"
    if [ "$2" = cl ]; then
        echo "kernel void $1(global int *x, global int *c, local int *s, local float *f, int n) { local int v, w; int l = get_local_id(0); $3 }"
    else
        echo "__global__ void $1(int *x, int *c, int n) { __shared__ int s[8], v, w; int l = threadIdx.x; $3 }"
    fi >>"$1.$2"
    expect 0 facts "$1.$2"
    says out "loop i: $4\$"
}
stays='carries nothing'
changes='carries a value through x, perhaps \(lines .*\)'
before='__device__ int here(int i) { return i + 1; } __device__ int there(int i) { __syncthreads(); return i; }
    __device__ int deeper(int i) { return there(i); } __device__ int again(int i) { return i > 0 ? again(i - 1) : 0; } __device__ int unseen(int i);
    __device__ volatile int flag;'
filled='if (l == 0) { s[1] = c[0]; v = c[1]; } __syncthreads();'
group element cu "$filled for (int i = 0; i < n; i++) x[s[1] + i] = 1;" "$stays"
group variable cu "$filled for (int i = 0; i < n; i++) x[v + i] = 1;" "$stays"
group by_rows cu "$filled for (int i = l; i < n; i += blockDim.x) x[s[1] * n + i] = 1;" "$stays"
group two cu "$filled int a = s[1] + v; int b = s[1] + v; for (int i = 0; i < n; i++) x[a + 2 * i] = x[b + 2 * i + 1];" "$stays"
group with_functions cu "$filled for (int i = 0; i < n; i++) x[s[1] + i] = here(min(c[i], i)) + (int)sqrtf(c[i]) + threadIdx.x;" "$stays"
group by_lane cu "s[l] = c[l]; __syncthreads(); int b = s[l]; for (int i = 0; i < n; i++) x[b + s[7 - l] + i] = 1;" "$stays"
group inner cu "for (int t = 0; t < n; t++) { $filled for (int i = 0; i < n; i++) x[s[1] + v + i] = 1; __syncthreads(); }" "$stays"
says out 'loop t: carries a value through'
for meeting in '__syncthreads();' 'there(i);' 'deeper(i);' 'again(i);' 'unseen(i);' 'nowhere(i);' '__threadfence_block();' 'atomicAdd(&c[n], 1);' 'c[i] = flag;' \
    'asm volatile("bar.sync 0;" : : : "memory");' '__shfl_sync(-1, i, 0);' '((volatile int *)c)[i] = 1;'; do
    group met cu "$filled for (int i = 0; i < n; i++) { x[s[1] + i] = 1; $meeting }" "carries a value through .*, perhaps.*"
    group met cu "$filled for (int i = 0; i < n; i++) { x[v + i] = 1; $meeting }" "carries a value through .*, perhaps.*"
done
for store in 's[1] = 2;' '*(int *)&s[l] = 2;' 'int *p = s + 1; *p = i;' 'atomicExch(&s[1], i);'; do
    group stored cu "$filled for (int i = 0; i < n; i++) { x[s[1] + i] = 1; if (l == 0) { $store } }" 'carries a value through .*'
    group stored cu "$filled for (int t = 0; t < n; t++) { if (l == 0) { $store } for (int i = 0; i < n; i++) x[s[1] + i] = 1; }" "$stays"
done
# Names of OpenCL's functions are anybody's in CUDA, and an object becomes a number by a function of its class.
before='#include "missing.h"
    struct B { int v; __device__ operator int() { __syncthreads(); return 0; } }; struct V { int x, y; };'
for meeting in 'cross();' 'step(i);' 'c[i] = dot(c[i], i);' 'c[i] = clamp(c[i], 0, 1);' 'sqrt();' 'B q; c[i] = abs(q);' 'B q; c[i] = max(q, 1);'; do
    group met cu "$filled for (int i = 0; i < n; i++) { x[s[1] + i] = 1; $meeting }" "carries a value through .*, perhaps.*"
done
for other in 'c[i] = abs(c[i]) + sqrt(c[i]) + __float2int_rn(i);' 'c[i] = __ldg(&c[i]);' 'V a = {1, i}, b; b = a; c[i] = b.y;'; do
    group apart cu "$filled for (int i = 0; i < n; i++) { x[s[1] + i] = 1; $other }" "$stays"
done
before=
# All arrays of a group's memory without extents are one, whatever their types.
outside='extern __shared__ int p[]; extern __shared__ float q[]; extern __shared__ char z[]; extern __shared__ double d[];'
group one_memory cu "$outside for (int i = 0; i < n; i++) { c[i] = p[i]; q[i + 1] = i; }" 'carries a value through .*'
group one_memory cu "$outside for (int i = 0; i < n; i++) { c[i] = d[i]; q[i + 1] = i; }" 'carries a value through .*'
group one_memory cu "$outside for (int i = 0; i < n; i++) { c[i] = z[i]; q[i + 1] = i; }" 'carries a value through .*'
group one_memory cu "$outside int *t = (int *)z; for (int i = 0; i < n; i++) { c[i] = t[i]; q[i + 1] = i; }" 'carries a value through .*'
group one_memory cu "$outside p[l] = c[l]; __syncthreads(); for (int i = 0; i < n; i++) { x[p[0] * n + i] = 1; q[i] = i; }" 'carries a value through .*'
group own_element cu "$outside for (int i = 0; i < n; i++) { c[i] = p[i]; q[i] = i; }" "$stays"
group others cu "$outside for (int i = 0; i < n; i++) { c[i] = s[i]; q[i + 1] = i; }" "$stays"
group stored_variable cu "$filled for (int i = 0; i < n; i++) { x[v + i] = 1; if (l == 0) v = i; }" 'carries a value through v'
group beside cu "$filled for (int i = 0; i < n; i++) { x[v + i] = 1; if (l == 0) w = i; }" "$stays"
group jumping cu "$filled for (int i = 0; i < n; i++) { again: x[s[1] + i] = 1; if (c[i]) goto again; }" 'carries a value through .*, perhaps.*'
group pointed cu "__shared__ int *p[2]; if (l == 0) p[1] = c; __syncthreads(); for (int i = 0; i < n; i++) x[p[1][0] + i] = 1;" 'carries a value through .*, perhaps.*'
group either cu "int *p = n > 3 ? s : c; if (l == 0) c[0] = 3; for (int i = 0; i < n; i++) x[p[0] + i] = 1;" 'carries a value through .*, perhaps.*'
group global cu "if (l == 0) c[0] = 3; __syncthreads(); for (int i = 0; i < n; i++) x[c[0] + i] = 1;" "$changes"
# Before and behind a barrier they are two numbers; the ways to write one are many.
for meeting in '__syncthreads();' 'there(1);' 'asm volatile("bar.sync 0;");' 'back: if (l == 0) s[1]++; if (n > c[0]) goto back;'; do
    group two cu "$filled int a = s[1]; $meeting int b = s[1]; for (int i = 0; i < n; i++) x[a + 2 * i] = x[b + 2 * i + 1];" 'carries a value through x.*'
    group two cu "$filled int a = v; ${meeting/s\[1\]/v} int b = v; for (int i = 0; i < n; i++) x[a + 2 * i] = x[b + 2 * i + 1];" 'carries a value through x.*'
done
before='int there(int i) { barrier(1); return i; }'
filled='if (l == 0) { s[1] = c[0]; v = c[1]; } barrier(1);'
group element cl "$filled for (int i = 0; i < n; i++) x[s[1] + i] = 1;" "$stays"
group variable cl "$filled for (int i = 0; i < n; i++) x[v + i] = 1;" "$stays"
for meeting in 'barrier(1);' 'there(i);' 'mem_fence(1);' 'atomic_inc(c + n);' 'work_group_barrier(1);' 'sub_group_barrier(1);' 'nowhere(i);' \
    'work_group_barrier(CLK_LOCAL_MEM_FENCE);' 'atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);' \
    'nowhere(CLK_LOCAL_MEM_FENCE);'; do
    group met cl "$filled for (int i = 0; i < n; i++) { x[s[1] + v + i] = 1; $meeting }" 'carries a value through .*, perhaps.*'
done
# A function that is not there may do anything with what it is handed, numbers with a name of the compiler's too.
for other in 'nowhere(x);' 'nowhere(CLK_LOCAL_MEM_FENCE, x);' 'nowhere(i, x, CLK_GLOBAL_MEM_FENCE);'; do
    group missing cl "for (int i = 0; i < n; i++) { c[i] = x[i]; $other }" 'carries a value through x, perhaps.*'
done
for index in 'nowhere(i)' 'nowhere(CLK_LOCAL_MEM_FENCE, n)'; do
    group missing cl "for (int i = 0; i < n; i++) { int k = $index; x[k] = c[i]; }" 'carries a value through x, perhaps.*'
done

# Bounds that are loaded leave out which elements each iteration has; what they do not decide is as it was.
bounded() { # NAME BODY ANSWER of "loop i"
    echo "struct two { int a, b; }; int next(int i); void $1(struct two *v, int *row, float *x, int n, int l) { for (int i = 0; i < n; i++) $2 }" >"$1.c"
    expect 0 facts "$1.c"
    says out "loop i: carries $3 \(lines 1 and 1\)(; can be left early)?\$"
}
bounded members 'for (int j = v[i].a; j < v[i].b; j++) x[j * 32 + l] = 1;' 'a value through x, perhaps'
bounded rows 'for (int j = row[i]; j < row[i + 1]; j++) x[j] += 1;' 'a reduction through x, perhaps'
bounded lengths 'for (int j = 0; j < row[i]; j++) x[i * 32 + j] = 1;' 'a value through x, perhaps'
bounded deeper 'for (int j = row[i]; j < row[i + 1]; j++) for (int k = j; k < j + 4; k++) x[k] = 1;' 'a value through x, perhaps'
bounded unknown 'for (int j = 0; next(j); j++) x[i * 32 + j] = 1;' 'a value through x, perhaps'
bounded one_element 'for (int j = row[i]; j < row[i + 1]; j++) x[3] = j;' 'a value through x'
bounded before 'for (int j = row[i]; j < row[i + 1]; j++) x[i + 1] = x[i] + 1;' 'a value through x'
bounded parameters 'for (int j = l; j < n; j++) x[i + j] = 1;' 'a value through x'
bounded triangle 'for (int j = i; j < n; j++) x[j] = 1;' 'a value through x'

# What only some function may change is carried perhaps; what is seen to be assigned is carried.
methods() { # NAME BODY ANSWER of "loop i"
    echo "struct W { float *p; int k; __device__ float get(int i) { return p[i]; } __device__ void set(int i, float v) { p[i] = v; }
            __device__ int now() const { return k; } __device__ int next() { return k++; } __device__ float &operator[](int i) { return p[i]; } };
        __device__ void ext(W *w); __global__ void $1(W a, W b, float *x, int n) { for (int i = 0; i < n; i++) { $2 } }" >"$1.cu"
    expect 0 facts "$1.cu"
    says out "loop i: carries $3\$"
}
methods two_objects 'b.set(i + 1, a.get(i));' 'a value through p, perhaps'
methods operators 'b[i + 1] = a[i];' 'a value through p, perhaps'
methods handed_over 'ext(&a); x[i] = a.p[i];' 'a value through a, perhaps'
methods counts 'x[a.next()] = 1;' 'a value through k, perhaps'
methods by_name 'a.k = a.k * 3 + 1; x[a.k] = 1;' 'a value through a.k'
methods beside_a_name 'a.set(i, 1); a.k = 3; x[i] = a.p[i];' 'a value through .*, perhaps.*'
methods members 'b.p[i + 1] = a.p[i];' 'nothing'
methods beside 'x[i] = b.now() + a.now();' 'nothing'

# A pointer's bound counts elements where it is one of the same row.
bounded pointer 'for (float *p = x; p < x + 4; p++) *p = i;' 'a value through x'
bounded pointer_by_two 'for (float *p = x; p < x + 8; p += 2) p[i] = 1;' 'a value through x'
bounded pointer_too_far 'for (float *p = x + 10 * i; p <= x + 10 * i + 10; p++) *p = 1;' 'a value through x'
bounded pointer_loaded 'for (float *p = x + 10 * i; p < x + row[i]; p++) *p = 1;' 'a value through x, perhaps'
bounded pointer_of_others 'for (float *p = x; p < (float *)v; p++) *p = 1;' 'a value through x, perhaps'
analyze pointer_rows 'for (int i = 0; i < 20; i++) for (float *p = x + 10 * i; p != x + 10 * i + 10; p++) *p = 1;'
says out 'loop i \(its iterations are threads\): carries nothing'
analyze pointer_back 'for (float *p = x + shift; p > x; p--) p[0] = p[-1] + 1; for (float *p = x + 3; p >= x; p--) y[p - x] = 1;'
says out 'loop p: carries a value through x'
analyze pointer_behind 'float *p; for (p = x; p < x + 8; p++) *p = 1; for (int i = 0; i < 9; i++) y[i] = p[i];'
says out 'loop i: carries a value through p, perhaps'
echo 'struct h { float *p; }; void f(struct h *h, float *q, int n) { for (int i = 0; i < n; i++) for (float *p = h->p + 4 * i; p < h->p + 4 * i + 4; p++) { *p = i; h->p = q; } }' >pointer_stored.c
expect 0 "$restride" analyze pointer_stored.c --json
says out '"room": "\?"'

# So do conditions and jumps in it, where they vary with the iterations that are compared; those of the program do not.
bounded broken 'for (int j = 0; j < 20; j++) { if (row[j]) break; x[i * 10 + j] = 1; }' 'a value through x, perhaps'
bounded broken_below 'for (int j = 0; j < 20; j++) { x[i * 10 + j] = 1; if (row[j]) break; }' 'a value through x, perhaps'
bounded left_early 'for (int j = 0; j < 20; j++) { if (row[j]) return; x[i * 10 + j] = 1; }' 'a value through x, perhaps'
bounded jumped 'for (int j = 0; j < 20; j++) { if (row[j]) goto next; x[i * 10 + j] = 1; next:; }' 'a value through x, perhaps'
bounded continued 'for (int j = 0; j < 20; j++) { if (j >= 10) continue; x[i * 10 + j] = 1; }' 'a value through x, perhaps'
bounded continued_inside 'for (int j = 0; j < 20; j++) { if (n) { if (row[j]) { next(j); continue; } } x[i * 10 + j] = 1; }' 'a value through x, perhaps'
bounded conditional 'for (int j = 0; j < 20; j++) { if (j < 10) x[i * 10 + j] = 1; }' 'a value through x, perhaps'
bounded otherwise 'for (int j = 0; j < 20; j++) { if (j >= 10) next(j); else x[i * 10 + j] = 1; }' 'a value through x, perhaps'
bounded chosen 'for (int j = 0; j < 20; j++) j < 10 ? x[i * 10 + j] = 1 : 0;' 'a value through x, perhaps'
bounded both 'for (int j = 0; j < 20; j++) j < 10 && (x[i * 10 + j] = 1);' 'a value through x, perhaps'
bounded cases 'for (int j = 0; j < 20; j++) switch (j / 10) { case 0: x[i * 10 + j] = 1; }' 'a value through x, perhaps'
bounded case_left 'for (int j = 0; j < 20; j++) switch (n) { case 0: if (j > 9) break; x[i * 10 + j] = 1; }' 'a value through x, perhaps'
bounded two_conditions 'for (int j = 0; j < 20 && row[j]; j++) x[i * 10 + j] = 1;' 'a value through x, perhaps'
bounded every_other '{ if (i % 2) x[i] = x[i - 1]; }' 'a value through x, perhaps'
bounded once '{ if (i == 5) x[0] = 1; }' 'a value through x, perhaps'
bounded behind_a_switch 'for (int j = 0; j < 20; j++) { switch (j) { case 0: break; } x[i * 10 + j] = 1; }' 'a value through x'
bounded behind_a_loop '{ for (int j = 0; j < 20; j++) if (row[j]) break; x[i + 1] = x[i]; }' 'a value through x'
bounded of_the_program 'for (int j = 0; j < 20; j++) { if (n > l) x[i * 10 + j] = 1; }' 'a value through x'
bounded ended '{ if (row[i]) break; x[i + 1] = x[i]; }' 'a value through x'
bounded inner_ended 'for (int j = 0; j < 20; j++) { if (row[j]) break; x[i + 1] = x[i]; }' 'a value through x'
bounded behind_a_condition 'for (int j = 0; j < 20; j++) { if (row[j]) l = 2; x[i * 10 + j] = 1; }' 'a value through x'
called() { # NAME STATEMENT ANSWER of "loop i"
    echo "static void some(int j, float *x) { if (j > 9) return; x[j] = 1; } void $1(float *x, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < 20; j++) { $2 } }" >"$1.c"
    expect 0 facts "$1.c"
    says out "loop i: carries $3 \(lines 1 and 1\)"
}
called function_left 'some(j, x + i * 10);' 'a value through x, perhaps'
called behind_a_function 'some(j, x + n); x[i * 10 + j] = 1;' 'a value through x'

# A function that is not there may read what it is handed the address of, and what is beside it in a structure.
given() { # LANGUAGE NAME BODY ANSWER of "loop i"
    echo "struct R { unsigned s, t; }; struct P { unsigned *p; }; int next(struct R *r), sum(struct R r), first(const unsigned *p), through(struct P p);
        int rand_r(unsigned *seed); void ext(int *p);" >"$2.$1"
    if [ "$1" = cu ]; then
        echo "struct Q { int n; __device__ int next(); __device__ int now() const; }; __device__ int draw(R &r); __device__ int look(const R &r);
            struct H { int *p; }; __device__ void hold(H h); struct N { int &r; }; __device__ void hold_too(const N &n);
            __global__ void $2(Q *in, int *a, int *c, int n) { $3 }"
    else
        echo "void $2(int *a, int *c, int n) { $3 }"
    fi >>"$2.$1"
    expect 0 facts "$2.$1"
    says out "loop i.*: carries $4\$"
}
loop='for (int i = 0; i < n; i++)'
given c seed "unsigned x = 0; $loop a[i] = rand_r(&x);" 'a value through x, perhaps'
given c pointer "unsigned x = 0, *p = &x; $loop a[i] = rand_r(p);" 'a value through \*p, perhaps'
given c either "unsigned x = 0, y = 0, *p = n > 3 ? &x : &y; $loop a[i] = rand_r(p);" 'a value through .*, perhaps'
given c held "unsigned x = 0; struct P p = {&x}; $loop a[i] = through(p);" 'a value through .*, perhaps.*'
given c changed "int x = 0; $loop { ext(&x); x = -x; a[i] = x; }" 'a value through x, perhaps'
given c constant "unsigned x = 0; $loop { a[i] = first(&x); x = i; }" 'a value through x, perhaps'
given c structure "struct R r = {0, 0}; $loop a[i] = next(&r);" 'a value through r, perhaps'
given c member "struct R r = {0, 0}; $loop a[i] = rand_r(&r.s);" 'a value through r.s, perhaps'
given c copied "struct R r = {0, 0}; $loop { a[i] = sum(r); r.s = a[i] * 3; }" 'a value through r, perhaps'
given c on_one_way "int x, y = 0; $loop { if (c[i]) ext(&y); else y = i; x = y; y = i; a[i] = x; }" 'a value through y, perhaps'
given c nested "int x = 0; for (int j = 0; j < n; j++) $loop { ext(&x); a[i] = x; x = x * 2; }" 'a value through x, perhaps'
given c summed "int s = 0; $loop { s += c[i]; ext(&s); } a[0] = s;" 'a value through s, perhaps'
given c summed_after "int s = 0; $loop { ext(&s); s += c[i]; } a[0] = s;" 'a value through s, perhaps'
given c summed_alone "int s = 0; ext(&s); $loop s += c[i]; ext(&s);" 'a reduction through s'
given c assigned "unsigned x; $loop { x = i; a[i] = rand_r(&x); }" 'nothing'
given c declared "$loop { unsigned x = i; a[i] = rand_r(&x); }" 'nothing'
given cu reference "R r; $loop a[i] = draw(r);" 'a value through r, perhaps'
given cu method "Q q; $loop a[i] = q.next();" 'a value through q, perhaps'
given cu constant_method "Q q; $loop { a[i] = q.now(); q.n = i; }" 'a value through q, perhaps'
given cu copy "Q q = in[threadIdx.x]; $loop a[i] = q.next();" 'a value through q, perhaps'
given cu random "curandState s; curand_init(1, 2, 3, &s); $loop a[i] = curand(&s);" 'a value through s, perhaps'
says out 'vectors never: .*; s carries its value from one iteration to the next, perhaps$'
given c certain "int x = 0; $loop { a[i] = x; x = c[i] * 3; }" 'a value through x'
says out 'vectors never: .*; x carries its value from one iteration to the next$'
given cu list "$loop in[i] = Q{i};" 'nothing'
given cu braces "$loop in[i] = {i};" 'nothing'
given cu literal "$loop in[i] = (Q){i};" 'nothing'
given cu pair "int2 *d = (int2 *)c; $loop d[i] = int2{i, 1};" 'nothing'
given cu empty "$loop { Q q{}; in[i] = q; }" 'nothing'
given cu list_of_address "int k = 0; $loop { H h; h = H{&k}; hold(h); a[k] = 1; }" 'a value through .*, perhaps.*'
given cu list_of_reference "int k = 0; $loop { hold_too(N{k}); a[k] = 1; }" 'a value through .*'
given cu same_number "int k = 0; $loop { int &r{k}; r = r * 3 + 1; a[k] = 1; }" 'a value through .*'
given cu same_object "Q k; $loop { Q &r{k}; r.n = r.n * 3 + 1; a[k.n] = 1; }" 'a value through .*'
given cu filled "float s, d; $loop { sincosf(c[i], &s, &d); a[i] = s + d; }" 'nothing'
given c filled "double w, v; $loop { w = 1; a[i] = modf(c[i], &v) + v; }" 'nothing'
given c own_name "unsigned x = 0; int modf(int i, unsigned *p); $loop a[i] = modf(i, &x);" 'a value through x, perhaps'

# Equal for numbers that are not negative and fit, and only then.
carries='loop i: carries a value through x'
analyze masked 'for (int i = 4; i < 200; i++) x[i + (shift & 3)] = x[i + shift % 4] + 1;'
says out "$carries"
analyze shifted_right 'for (int i = 4; i < 200; i++) x[i + (shift >> 1)] = x[i + shift / 2] + 1;'
says out "$carries"
analyze unsigned_rest 'for (int i = 4; i < 200; i++) x[i + shift % 4] = x[i + shift % 4u] + 1;'
says out "$carries"
analyze narrowed 'for (int i = 4; i < 200; i++) x[i + shift] = x[i + (char)shift] + 1;'
says out "$carries"
analyze narrow_variable 'char c = shift; for (int i = 4; i < 200; i++) x[i + shift] = x[i + c] + 1;'
says out "$carries"
analyze same_mask 'for (int i = 4; i < 200; i++) x[i + (shift & 3)] = x[i + (shift & 3)] + 1;'
says out 'loop i .*: carries nothing'
analyze natural 'for (int j = 0; j < 9; j++) for (int i = 4; i < 200; i++) x[i + (j & 3)] = x[i + j % 4] + 1;'
says out 'loop i .*: carries nothing'
analyze varying 'int u = 0; for (int i = 0; i < 20; i++) { int t = i % 3; u += t; x[u] = 1; }'
says out 'loop i: carries a value through u'
# A bound that the loop moves, and a variable that outlives the iterations.
analyze shrinking 'for (int i = 0; i < shift; i++) { shift -= 1; x[i] = y[i]; }'
says out 'loop i: carries a value through shift'
analyze counted_down 'for (int i = 0; i < shift--; i++) x[i] = y[i];'
says out 'loop i: carries a value through shift'
analyze kept 'for (int i = 0; i < 20; i++) { static int s; s = 3 * s + 1; x[i] = s; }'
says out 'loop i: carries a value through s'
analyze kept_array 'for (int i = 0; i < 20; i++) { static float s[2]; x[i] = s[0]; s[0] = y[i]; }'
says out 'loop i: carries a value through s'
# A reduction has one operator, no integer that is cut off each time, and no use of its values on the way.
through='loop i: carries a value through'
analyze horner 'float s = 0; for (int i = 0; i < 9; i++) { s += x[i]; s *= y[i]; } x[0] = s;'
says out "$through s"
analyze either 'int s = 0; for (int i = 0; i < 9; i++) { if (i & 1) s ^= (int)x[i]; else s &= (int)x[i]; } x[0] = s;'
says out "$through s"
analyze cut_off 'int s = 0; for (int i = 0; i < 9; i++) s += x[i] * 0.5f; x[0] = s;'
says out "$through s"
analyze cut_off_sum 'int s = 0; for (int i = 0; i < 9; i++) s = s + x[i]; x[0] = s;'
says out "$through s"
analyze cut_off_element 'int *z = (int *)y; for (int i = 0; i < 9; i++) z[0] += x[i];'
says out "$through y"
analyze cut_off_sum_element 'int *z = (int *)y; for (int i = 0; i < 9; i++) z[0] = z[0] + x[i];'
says out "$through y"
analyze divided 'for (int i = 0; i < 9; i++) y[0] /= x[i];'
says out "$through y"
analyze truth '_Bool s = 0; for (int i = 0; i < 9; i++) s += (int)x[i]; x[0] = s;'
says out "$through s"
analyze prefix 'float s = 0; for (int i = 0; i < 9; i++) y[i] = (s += x[i]);'
says out "$through s"
analyze prefix_element 'for (int i = 0; i < 9; i++) y[i] = x[100] += x[i];'
says out "$through x"
reduces='loop i: carries a reduction through'
analyze both_signs 'float s = 0; for (int i = 0; i < 9; i++) { s += x[i]; s -= x[i + 1]; } x[0] = s;'
says out "$reduces s"
analyze some_terms 'for (int i = 0; i < 9; i++) if (x[i] > 0) y[0] += x[i];'
says out "$reduces y"
analyze sum_element 'for (int i = 0; i < 9; i++) y[0] = y[0] + x[i];'
says out "$reduces y"
analyze read_binary 'for (int i = 0; i < 9; i++) x[i + 0b100] = x[i] + 1;'
says out "$carries"
# What holds a pointer hands over what that leads to.
held() { # NAME BODY
    echo "struct g { float *p; int n; }; struct t { int n; }; void ext(struct g *v); void ext_copy(struct g v); void ext_pointer(float **p);
          void ext_plain(struct t *t); void $1(float *x, float *y) { struct g v; struct t t; v.p = x; float *p = x; for (int i = 0; i < 9; i++) { $2 } }" >"$1.c"
    expect 0 facts "$1.c"
}
for call in 'ext(&v);' 'ext_copy(v);' 'ext_pointer(&p);'; do
    held holder "x[i] = 1; $call"
    says out 'loop i: carries a value through .*, perhaps'
    held holder "y[i] = x[i]; $call"
    ! grep -qE '^  x:.*read-only' out || complain "x is read-only"
done
held none 'y[i] = x[i]; ext_plain(&t);'
says out 'loop i: carries a value through t, perhaps'
says out '^  x:.*read-only'
# What is handed to functions that are not followed may be touched around the address.
handed() { # NAME BODY
    echo "int rand(void); void ext(float *p); void *memcpy(void *, const void *, unsigned long);
          int fread(void *, unsigned long, unsigned long, void *); int puts(const char *);
          void $1(float *x, float *y, char *text) { for (int i = 0; i < 9; i++) { $2 } }" >"$1.c"
    expect 0 facts "$1.c"
}
handed elsewhere 'ext(x + 2 * i);'
says out "$through x, perhaps"
handed copied 'memcpy(x + 2 * i, y, 40);'
says out "$through x, perhaps"
handed filled 'fread(x, 4, 1, y); y[i] = x[0];'
says out "$through x, perhaps"
handed printed 'puts(text); y[i] = 1;'
says out 'loop i .*: carries nothing'
handed two_places 'x[rand()] = x[rand()];'
says out "$through x, perhaps"
handed two_places_sum 'x[rand()] = x[rand()] + 1;'
says out "$through x, perhaps"
for header in '' '#include <stdio.h>'; do
    printf '%s\nvoid told(float *y) { for (int i = 0; i < 10; i++) { fprintf(stderr, "%%d", i); y[i] = 1; } }\n' "$header" >told.c
    expect 0 facts told.c
    says out 'loop i .*: carries nothing'
    ! grep -qE '(read|write) +stderr' out || complain "a file is an array"
done
# A square is no row and column of a matrix.
analyze squared 'for (int i = 0; i < 9; i++) y[100 + (i + shift) * (i + shift)] = 1;'
says out 'loop i: carries a value through y, perhaps'
# A reference that is a parameter is what a pointer would be.
referred() { # NAME PARAMETERS BODY ANSWER
    echo "struct two { int a, b; }; void $1($2) { $3 }" >"$1.cu"
    expect 0 facts "$1.cu"
    says out "loop i.*: $4"
}
sum='for (int i = 0; i < 9; i++) o[i + k] = o[i + m];'
referred kept 'float &a, float *b' 'for (int i = 0; i < 9; i++) b[i] = a;' 'carries nothing'
referred last 'float &a, float *b' 'for (int i = 0; i < 9; i++) a = b[i];' 'carries a value through a'
referred summed 'float &a, float *b' 'for (int i = 0; i < 9; i++) a += b[i];' 'carries a reduction through a'
referred beside 'int &a, int *b, float *o' "int k = a; b[0] = 5; int m = a; $sum" 'carries a value through o'
referred both 'int &a, int &b, float *o' "int k = a; b = 5; int m = a; $sum" 'carries a value through o'
referred pointed 'int &a, int *b, float *o' "int k = *b; a = 5; int m = *b; $sum" 'carries a value through o'
referred same 'const two &t, float *o' "int k = t.a, m = t.a; $sum" 'carries nothing'
# A loaded number is the same one until something is stored.
loaded() { # NAME PARAMETERS BODY
    echo "struct s { int n; }; int idx[4]; static int look(int k) { return idx[k]; } void change(int *p); void $1($2) { $3 }" >"$1.c"
    expect 0 facts "$1.c"
}
shifted='for (int i = 0; i < 1000; i++) x[i + a] = x[i + b] + 1;'
loaded stored 'int *p, float *x' "int a = p[0]; p[0] = 5; int b = p[0]; $shifted"
says out "$carries"
loaded aliased 'int *p, int *q, float *x' "int a = p[0]; q[0] = 5; int b = p[0]; $shifted"
says out "$carries"
loaded member 'struct s *q, float *x' "int a = q->n; q->n = a + 3; int b = q->n; $shifted"
says out "$carries"
loaded named 'const int *idx, float *x' "int a = idx[0], b = look(0); $shifted"
says out "$carries"
loaded called 'int *p, float *x' "int a = p[0]; change(p); int b = p[0]; $shifted"
says out "$carries"
loaded around 'int *p, float *x' "int a = p[0]; for (int j = 0; j < 9; j++) { int b = p[0]; $shifted p[0] = 7; }"
says out "$carries"
loaded again 'int *p, float *x' "int a = p[0]; x[0] = 5; int b = p[0]; $shifted"
says out 'loop i .*: carries nothing'
# In a loop that stores it, it is another one in each iteration.
loaded counting 'int *p, float *x' 'for (int i = 0; i < 9; i++) { x[p[0]] = 1; p[0] += 2; }'
says out 'M \[0 1\]  o \[0\]  \( \| i ~p\[0\]\)'
loaded outside 'int *p, float *x' 'for (int j = 0; j < 9; j++) { for (int i = 0; i < 9; i++) x[i + p[0]] = 1; p[0] = j; }'
says out 'M \[1 0 1\]  o \[0\]  \(i \| j ~p\[0\]\)'
loaded beside 'int *p, float *x' 'for (int j = 0; j < 9; j++) { for (int i = 0; i < 9; i++) x[i + p[0]] = 1; x[j] = 2; }'
says out 'o \[p\[0\]\]'
# What grows by another step in every iteration has no closed form.
analyze growing 'int u = 0; for (int i = 0; i < 20; i++) { u += i; x[u] = x[u] + 1; }'
says out 'loop i: carries a value through u'
analyze small 'unsigned char c = 0; for (int i = 0; i < 20; i++) { c += 1; x[c] = 1; }'
says out 'loop i: carries a value through c'

# What a variable grows by in one iteration is what it grows by in all of them, or else the loop carries it.
carries() { # VARIABLE BODY
    analyze carries "$2"
    says out "loop [ij]: carries a value through $1( |\$)"
}
carries s 'int s = 0; for (int i = 0; i < N; i++) { int t = i % 3; s += t; x[i] = y[s]; }'
carries s 'int s = 0; for (int i = 0; i < N; i++) { for (int j = 0; j < i; j++) s += 2; x[i] = y[s]; }'
carries s 'int s = 0; for (int i = 0; i < N; i++) { if (i & shift) continue; s += 1; x[i] = y[s]; }'
carries s 'int s = 0; for (int i = 0; i < N; i++) { i < shift && (s += 1); x[i] = y[s]; }'
carries i 'for (int i = 1; i < N; i += i) x[i] = y[i + 1];'
carries i 'for (int i = 0; i < N; i++, i++) x[i] = y[i + 1];'
carries i 'for (int i = 0; i < N; i += shift, shift++) x[i] = y[i + 1];'
# Nor may the loop change how many iterations it has.
carries shift 'for (int i = 0; i < shift; i++) { shift -= 1; x[i] = y[i]; }'
carries shift 'for (int i = 0; i < shift--; i++) x[i] = y[i];'
# What the step of a loop touches is touched in each iteration.
analyze stepping 'for (int i = 0; i < N; x[i] = 1, i++) y[i] = 2;'
says out 'write x\[i\]'
says out 'loop i \(its iterations are threads\): carries nothing'
analyze stepping 'for (int i = 0; i < N - 1; x[i + 1] = x[i], i++) y[i] = 2;'
says out 'loop i: carries a value through x'
analyze stepping 'for (int i = 0; i < N - 1; i++, x[i] = y[i + 2]) y[i] = 2;'
says out 'loop i: carries a value through y'
says out 'M \[1\]  o \[3\]'
analyze stepping 'float s = 0; for (int i = 0; i < N; s += x[i], i++) y[i] = 2; y[0] = s;'
says out 'loop i: carries a reduction through s'
analyze stepping 'int k = 0; for (int i = 0; i < N; i++, x[k] = 1) { k = i; if (y[i] > 0) { k = 7; continue; } }'
says out 'random \(approximated\)'
# A static variable is one for all iterations.
carries s 'for (int i = 0; i < N; i++) { static int s; s += 1; x[i] = s; }'
carries s 'for (int i = 0; i < N; i++) { static int s[4]; s[0] += 1; x[i] = s[0]; }'
analyze counts 'int s = 0; for (int i = 0; i < N; i++) { s += 2; x[i] = y[s + shift]; } while (s < 10) { x[s] = 1; s++; }'
says out 'loop i \(its iterations are threads\): carries nothing'
says out 'loop while \(its iterations are threads\): carries nothing'

# Texts that differ behind their first 60 bytes, and variables that share a name, are not taken for the same.
cat >names.c <<'END'
int m;
static void put(float x[4096], int i) { x[i + m] = 1; }
void longer(float x[4096])
{
    for (int a_rather_long_name_of_a_loop = 0; a_rather_long_name_of_a_loop < 1000; a_rather_long_name_of_a_loop++)
        x[a_rather_long_name_of_a_loop + a_rather_long_name_of_a_loop + 2] =
            x[a_rather_long_name_of_a_loop + a_rather_long_name_of_a_loop + 0] + 1;
}
void shadowed(float x[4096], float y[4096], int m)
{
    for (int i = 0; i < 1000; i++) {
        y[i] = x[i + m];
        put(x, i);
    }
}
END
expect 0 facts names.c
says out 'loop a_rather_long_name_of_a_loop: carries a value through x \(lines 6 and 7\)'
says out 'loop i: carries a value through x \(lines 12 and 2\)'
says out 'x\[a_rather_long_name_of_a_loop \+ a_rather_long_name_of_a_\.\.\.$'
says out 'o \[m\.2\]'
finish
