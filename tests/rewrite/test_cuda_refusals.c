/* CUDA C++: what keeps an array as it is, with the line and the reason. */
#include "ask.h"
#include "cmocka_all.h"

#include <string.h>

#define K "__global__ void f(P *a, P *b, int n) {\n "

static const struct {
    const char *source;
    int line;
    const char *fragment;
} refused[] = {
    {"__global__ void f(P *a) {\n P &p = a[0]; p.x = 1; }", 3, "structure is used in a way"},
    {"__global__ void f(P *a) {\n const P &p = a[0]; a[1].x = p.x; }", 3, "structure is used"},
    {"__device__ void g(P &p) { p.x = 1; }\n__global__ void f(P *a) {\n g(a[1]); }", 4,
     "by reference"},
    {"__device__ float g(const P &p) { return p.x; }\n__global__ void f(P *a) {\n g(a[1]); }", 4,
     "by reference"},
    {"__global__ void f(P *a) {\n auto g = [=](int i) { a[i].x = 1; }; g(0); }", 3, "lambda"},
    {"__global__ void f(P *a) {\n float *q = reinterpret_cast<float *>(a); *q = 1; }", 3,
     "pointer"},
    {"__global__ void f(P *a) {\n P *&q = a; q->x = 1; }", 3, "not followed"},
    {"__global__ void f(P *a) {\n P *q = a + 1; ((float *&)q)++; q->x = 1; }", 3, "not followed"},
    {"typedef float *&R;\n__global__ void f(P *a) {\n P *q = a + 1; ((R)q)++; q->x = 1; }", 4,
     "not followed"},
    {"template <class T> __device__ void g(T *p) { p->x = 1; }\n__global__ void f(P *a) {\n "
     "g(a); }",
     4, "passed to a template"},
    {"struct G { static __device__ void g(P *p) { p->x = 1; } };\n__global__ void f(P *a) {\n "
     "G::g(a); }",
     4, "function of a class"},
    {"__device__ void g(P *p);\n__global__ void f(P *a) {\n g(a); }", 4, "not in the source"},
    {"__global__ void f(P *a) {\n __shared__ P s[4]; P *q = s; if (a) q = a; q->x = 1; }", 3,
     "not followed"},
    {"struct Q { float x; int i; Q() : x(1) {} };\n__global__ void f(Q *a) { a->x = 1; }", 2,
     "plain data"},
    {"struct Q { float x; int i; Q() = default; explicit Q(const Q &) = default; "
     "};\n__global__ "
     "void f(Q *a) {\n a->x = 1; Q t(a[1]); }",
     4, "how it is copied"},
    {"struct I { int i; I() = default; I(const I &) = delete; I &operator=(const I &) = "
     "default; "
     "};\nstruct Q { float x; I i; };\n__global__ void f(Q *a) {\n a[1] = a[2]; }",
     5, "how it is copied"},
    {"struct Q { float x; int i; template <class T> __device__ Q &operator=(T &&v) { i = 7; "
     "return *this; } };\n__global__ void f(Q *a, Q *b) {\n Q t = *b; a[1] = t; }",
     4, "assigned to"},
    {"struct Q { float x; int i; Q &operator=(const Q &) = default; template <class T> "
     "__device__ Q &operator=(T &&v) { return *this; } };\n__global__ void f(Q *a) {\n Q t; t "
     "= a[1]; }",
     4, "assigned to"},
    {"struct Q { float x; int i; Q &operator=(Q &) = default; };\n__global__ void f(Q *a) {\n "
     "Q t; t = a[1]; }",
     4, "assigned to"},
    {"struct I { int i; template <class T> __device__ I &operator=(T &&v) { return *this; } "
     "};\nstruct Q { float x; I i; };\n__global__ void f(Q *a, const Q *b) {\n a[1] = *b; }",
     5, "assigned to"},
    {"template <class T> struct V { T x; int i; template <class U> __device__ V &operator=(U "
     "&&v) { return *this; } };\n__global__ void f(V<int> *a, const V<int> *b) {\n a[1] = *b; "
     "}",
     4, "assigned to"},
    {"template <class T> struct V { T x; int i; V() = default; explicit V(const V &) = "
     "default; "
     "};\n__global__ void f(V<int> *a) {\n V<int> t(a[1]); }",
     4, "how it is copied"},
    {"template <class T> struct V : T { int i, k; };\nstruct B { template <class T> __device__ "
     "B "
     "&operator=(T &&v) { return *this; } };\n__global__ void f(V<B> *a, const V<B> *b) {\n "
     "a->i = b->i; a[1] = *b; }",
     5, "a template chooses"},
    {"template <class T> struct B { template <class U> __device__ B &operator=(U &&v) { return "
     "*this; } };\ntemplate <class T> struct V : B<T> { T x; int i; };\n__global__ void "
     "f(V<int> *a, const V<int> *b) {\n a->i = b->i; a[1] = *b; }",
     5, "assigned to"},
    {"template <class T> struct B { };\ntemplate <> struct B<int> { template <class U> "
     "__device__ B &operator=(U &&v) { return *this; } };\ntemplate <class T> struct V : B<T> "
     "{ "
     "T x; int i; };\n__global__ void f(V<int> *a, const V<int> *b) {\n a[1] = *b; }",
     6, "a template chooses"},
    {"template <class T> struct V { T x; int i; };\ntemplate <> struct V<int> { int x, i; V() "
     "= "
     "default; explicit V(const V &) = default; };\n__global__ void f(V<int> *a) {\n V<int> "
     "t(a[1]); }",
     5, "how it is copied"},
    {"struct __attribute__((packed)) Q { short s; char c, d; float x; };\n__global__ void f(Q "
     "*a) {\n a->x = 1; }",
     2, "the structure is packed"},
    {"namespace N { __device__ int P; }\nusing namespace N;\ntemplate <class T> struct V { T "
     "t; "
     "int i; };\ntypedef V<struct P> W;\n__global__ void f(W *a, W *b) {\n a[1] = *b; }",
     7, "hides a part of the type V<P>"},
    {"struct Q { float x; int i; Q() = default; template <class T> __device__ Q(T &&v) : i(7) "
     "{} };\n__global__ void f(const Q *a) {\n Q t = a[1]; }",
     4, "how it is copied"},
    {"struct Q { float x; int i; ~Q() = delete; };\n__global__ void f(Q *a, Q *b) {\n a[1] = "
     "*b; }",
     4, "destroyed"},
    {"struct B { };\nstruct Q : B { using B::operator=; float x; int i; };\n__global__ void "
     "f(Q *a, B b) {\n a[1] = b; }",
     5, "derived from"},
    {"template <class T> struct G { T *p; __device__ G(T &r) : p(&r) {} G() = default; };\n" K
     "G<float> h[1] = {a[1].v[0]}; }",
     4, "the member itself"},
    {"struct Q { float x; int i; __device__ float get() const { return x; } };\n__global__ "
     "void "
     "f(Q *a) {\n a[1].i = a->get(); }",
     4, "a function of the structure is called"},
    {"struct Q { float x; enum { ONE } e; };\n__global__ void f(Q *a) { a->x = 1; }", 2,
     "enumeration whose name"},
    {"enum E { ONE };\nstruct Q { float x; E e; };\n__global__ void f(Q *a) {\n int E = 1; "
     "a->e = "
     "ONE; struct E { int k; }; a->e = ONE; }",
     5, "hides the type enum E"},
    {"struct Q { float x; int i; Q() = default; Q(Q &) = default; };\n__global__ void f(Q *a) "
     "{\n "
     "Q t = a[1]; }",
     4, "how it is copied"},
    {"__device__ void g(const P &p) { }\n" K "P t; g(n ? a[1] : t); }", 4, "a structure"},
    {K "P t; (n ? a[1] : t).x = 1; }", 3, "a structure"},
    {"__device__ float g(const float &x) { return x; }\n__global__ void f(P *a) {\n g(a->x); }", 4,
     "may refer to the member"},
    /* In C++ these stand for the structure, the member or the pointer itself. */
    {K "const P &r = a[1] = *b; r.x; }", 3, "structure's assignment"},
    {K "auto &&r = (a[1] = *b); r.x = 5; }", 3, "structure's assignment"},
    {K "(a[1] = *b).x = 4; }", 3, "structure's assignment"},
    {K "float *p = (a[1] = *b).v; p[1] = 4; }", 3, "structure's assignment"},
    {"__device__ void g(const P &p) { }\n" K "g(a[1] = *b); }", 4, "structure's assignment"},
    {K "const P &r{a[1]}; }", 3, "braces"},
    {"struct H { const P &r; };\n" K "H h{a[1]}; }", 4, "braces"},
    {"__device__ void g(const P &p) { }\n" K "g({a[1]}); }", 4, "braces"},
    {"struct H { const P &r; __device__ H(const P &p) : r(p) {} };\n" K "H h(a[1]); }", 4,
     "by reference"},
    {"struct H { __device__ H &operator=(const P &p) { return *this; } };\n" K "H h; h = a[1]; }",
     4, "by reference"},
    {"struct H { float &r; };\n" K "H h{a[1].v[0]}; (&h.r)[1] = 9; }", 4, "the member itself"},
    {"struct G { const float *p; __device__ G(const float &r) : p(&r) {} G() = default; };\n"
     "struct H { G g; };\n" K "H h = {a[1].v[0]}; }",
     5, "the member itself"},
    {K "((int &)a[1].v[0]) = 7; }", 3, "the member itself"},
    {K "int t = ((float (&)[4])a[1].v[0])[2]; }", 3, "the member itself"},
    {K "float *p = &(a[1].v[0] = 4); p[1] = 9; }", 3, "the member itself"},
    {K "float &r = a[1].v[0] += 4; (&r)[1] = 9; }", 3, "the member itself"},
    {K "float &r = ++a[1].v[0]; (&r)[1] = 9; }", 3, "the member itself"},
    {K "float *p = &(n, a[1].v[0]); p[1] = 9; }", 3, "the member itself"},
    {K "(n ? a[1].x : b->x) = 9; }", 3, "the member itself"},
    {K "volatile float &r = a[1].v[0]; (&r)[1] = 9; }", 3, "the member itself"},
    {"__device__ int same(const int &k) { return k; }\n" K
     "float &r = a[same(1)].v[0]; (&r)[1] = 9; }",
     4, "the member itself"},
    {"__device__ void g(float &r) { (&r)[1] = 9; }\n" K "g(a[1].v[0] = 4); }", 4,
     "the member itself"},
    {"__global__ void f(P a[], P *b) {\n P *&q = a; q = b; a->x = 1; }", 3, "not followed"},
    {"__global__ void f(const P a[4], const P *b) {\n const P *const &q = a; a = b; P s = *q; "
     "}",
     3, "not followed"},
    {K "const P *q = a; const P *w = a; (n ? q : w) = b; b->y = q->x; }", 3, "not followed"},
    {K "const P *q = a;\n (n, q) = b; b->y = q->x; }", 3, "not followed"},
    {K "const P *q = a;\n (q += 0) = b; b->y = q->x; }", 3, "not followed"},
    {K "const P *q = a;\n ++q = b; b->y = q->x; }", 3, "not followed"},
    {K "const P *q = a;\n const P *&r = q = a; r = b; b->y = q->x; }", 3, "not followed"},
    /* What the new code would evaluate in another order, or convert otherwise. */
    {K "b->x = a[n++].v[n]; }", 3, "changes what another part"},
    {K "(a++)->v[a - b] = 1; }", 3, "changes what another part"},
    {K "int &m = n; b->x = a[n++].v[m]; }", 3, "changes what another part"},
    {"__device__ int next(int &k) { return k++; }\n" K "b->x = a[next(n)].v[n]; }", 4,
     "changes what another part"},
    {"__device__ int c;\n__device__ int next() { return c++; }\n" K "b->x = a[next()].v[next()]; }",
     5, "changes what another part"},
    {"__device__ int next(unsigned long k) { return (*(int *)k)++; }\n" K
     "a[next((unsigned long)&n)].v[n] = 3; }",
     4, "changes what another part"},
    {"__device__ int now(unsigned long k) { int *p = (int *)k; return p[0]; }\n" K
     "int s = 0; a[s = n].v[now((unsigned long)&s)] = 3; }",
     4, "changes what another part"},
    {"__device__ int next(int k[]) { return k[0]++; }\n" K "a[next(&n)].v[n] = 3; }", 4,
     "changes what another part"},
    {K "int s = 0, *p = &s; a[*p].v[s++] = 3; }", 3, "changes what another part"},
    {K "int s = 0; auto g = [&] { return s; }; a[g()].v[s++] = 3; }", 3,
     "changes what another part"},
    {K "int s[2] = {0, 1}; a[s[1]].v[s[n & 1]++] = 3; }", 3, "changes what another part"},
    {"__global__ void f(P *a, int *k, int k2[], int n) {\n (a + k2[0])->v[*k = n] = 1; }", 3,
     "changes what another part"},
    {"__device__ int k[4], c;\n" K "a[atomicAdd(&c, 1)].v[k[0]] = 3; }", 4,
     "changes what another part"},
    {"struct X { int k; __device__ operator int() const { return k; } explicit __device__ "
     "operator "
     "long() const { return 0; } };\n" K "X i{n}; a[i].x = 1; }",
     4, "becomes a number"},
    {"struct X { int k; __device__ operator int() const { return k; } };\n" K
     "X i{n}; a->v[i] = 1; }",
     4, "becomes a number"},
    {"struct X { int k; __device__ operator int() const { return k; } explicit __device__ "
     "operator long() const { return 0; } };\n" K "X i{n}, j{0}; a[(n ? (i) : j)].x = 1; }",
     4, "becomes a number"},
    {"struct X { int k; __device__ operator int() const { return k; } explicit __device__ "
     "operator long() const { return 0; } };\n__device__ X g() { return X{1}; }\n" K
     "(a + (n, g()))->x = 1; }",
     5, "becomes a number"},
    /* Only plain functions are atomic. */
    {"struct X { static __device__ void atomicOne(float *p) { p[1] = 1; } };\n" K
     "X::atomicOne(&a->x); }",
     4, "function of a class"},
    {"struct "
     "atomicOne { "
     "__device__ atomicOne(int *p) { p[-1] = 1; } };\n" K "atomicOne(&a->id); }",
     4, "function of a class"},
    {"__device__ void g(int *p) { p[-1] = 1; }\n" K "void (*atomicOne)(int *) = g; "
     "atomicOne(&a->id); }",
     4, "in a way that is not followed"},
    {"struct X { static __device__ void prefetch(P *p, int n) { p->x = 1; } };\n" K
     "X::prefetch(a, n); }",
     4, "function of a class"},
    /* Functions of which there can be no copy. */
    {"__device__ float g(const P *p, int k = 0) { return p[k].x; }\n" K "g(a); }", 2,
     "default arguments"},
    {"__device__ float g(const P *p, int k = 0);\n" K
     "g(a); }\n__device__ float g(const P *p, int k) { return p[k].x; }",
     5, "default arguments"},
    {"__global__ void f(P *a, int n = 3) { a->x = n; }", 2, "the kernel has default arguments"},
    {"__global__ void f(P *a, int n = 3);\n__global__ void f(P *a, int n) { a->x = n; }", 3,
     "the kernel has default arguments"},
    {"__device__ void g(const P *) { }\n" K "g(a); }", 2, "it has no name (by g"},
    {"[[nodiscard]] __device__ float g(const P *p) { return p->x; }\n" K "g(a); }", 2, "attribute"},
    {"constexpr __device__ float g(const P *p) { return p->x; }\n" K "g(a); }", 2, "constant"},
    {"__device__ int g(const P *p) { static int k; return k += p->id; }\n" K "g(a); }", 2,
     "its calls share a variable"},
    {"__device__ int g(const P *p) { __shared__ int k[2]; return k[0] += p->id; }\n" K "g(a); }", 2,
     "its calls share a variable"},
    {"__device__ int g(const P *p) { return p->id; }\n" K "(g)(a); }", 4,
     "in a way that is not followed"},
    {"__device__ int g(const P *p) { return p->id + sizeof(__FUNCTION__); }\n" K "g(a); }", 2,
     "asks for its own name"},
    {K "P *q = a; { using P = double; P t = 1;\n q->x = t; } }", 4, "hides the type P"},
    {K "P *q = a; struct P { float x; } t{1};\n q->x = t.x; }", 4, "hides the type P"},
    {"namespace { struct S { float x; int y; }; }\n__global__ void f(S *a) {\n S *q = a; { "
     "struct "
     "S { int k; } z;\n q->x = 1; } }",
     5, "hides the type struct S"},
    {"template <class F> struct V { float x; int y; };\n__global__ void f(V<int (*)(int)> *a) "
     "{\n a[1] = a[0]; }",
     4, "whose name cannot be written"},
    {"template <class F> struct V { float x; int y; };\n__global__ void f(V<int (*)(int)> *a) "
     "{\n auto q = a;\n q->x = 1; }",
     5, "whose name cannot be written"},
    {"namespace M { struct P { int k; }; }\n" K "P *q = a; using namespace M;\n q->x = 1; }", 5,
     "hides the type P"},
    {"namespace N { struct Q { float x; int y; }; }\nnamespace M { struct Q { int k; }; }\n"
     "__global__ void f(N::Q *a) {\n N::Q *q = a; { namespace N = M;\n q->x = 1; } }",
     6, "hides the type N::Q"},
    {"typedef struct { float x; int y; } L;\n__global__ void f(L *a, L *b) {\n L *q = a; { "
     "auto "
     "[L, y] = *b;\n q->x = y; } }",
     5, "hides the type L"},
    {"template <class T> struct V { T x; int y; };\n__global__ void f(V<int> *a) {\n V<int> *q "
     "= a; int V = 3;\n q->y = V; }",
     5, "hides the type V<int>"},
    {"template <class T> struct V { T x; int y; };\nint P(int);\n__global__ void f(V<struct P> "
     "*a) {\n a[1] = a[0]; }",
     5, "hides a part of the type V<P>"},
    {"namespace N { struct P { short s; }; }\nusing namespace N;\n__global__ void f(struct ::P "
     "*a) {\n a[1] = a[0]; }",
     5, "hides a part of the type"},
    {"template <class T> struct V { T x; int y; };\nnamespace N { struct P { short s; }; "
     "}\nusing "
     "namespace N;\n__global__ void f(V< ::P> *a) {\n a[1] = a[0]; }",
     6, "hides a part of the type V<P>"},
    {"struct Q { float x; int y; template <class T> __device__ operator T &() { static T k; "
     "return k; } };\n__global__ void f(Q *a, Q *b) {\n Q t = *b; a[1] = t; }",
     4, "converts itself to any reference"},
    {"class G { struct I { int i; short s; }; I i; friend __global__ void f(G *a); "
     "};\n__global__ void f(G *a) {\n a[1].i = a[0].i; }",
     4, "belongs to a class alone"},
    {"template <class T> struct V { T x; int y; };\nclass G { struct I { int i; short s; }; "
     "V<I> "
     "i; friend __global__ void f(G *a); };\n__global__ void f(G *a) {\n a[1].i = a[0].i; }",
     5, "belongs to a class alone"},
    {"struct G { struct { int i; short s; } i; int k; };\n__global__ void f(G *a) {\n a[1].i = "
     "a[0].i; }",
     4, "a structure without a name"},
    {"namespace s { __global__ void f(P *a) { a->x = 1; } }", 2, "namespace"},
    {"extern \"C\" { __global__ void f(P *a) { a->x = 1; } }", 2, "namespace"},
    {"__global__ void f(float4 *a) { a->x = 1; }", 2, "not an array of structures"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char source[1024] = "struct P { float x, y; int id; float v[4]; };\n";
        strcat(source, refused[i].source);
        json_t *reply = ask(json_pack("{s:s, s:s, s:i, s:s}", "source", source, "file", "kernel.cu",
                                      "tile", 32, "language", "cuda"));
        const json_t *argument = find_argument(reply, "f", "a");
        if (argument == NULL)
            fail_msg("%s: %s", source, string_of(reply, "reason"));
        if (strcmp(string_of(argument, "status"), "kept") != 0)
            fail_msg("%s: transformed", source);
        if (strstr(string_of(argument, "reason"), refused[i].fragment) == NULL ||
            number_of(argument, "line") != refused[i].line)
            fail_msg("%s: line %lld: %s", source, number_of(argument, "line"),
                     string_of(argument, "reason"));
        json_decref(reply);
    }
}

/* What looks like a reason, and is none. */
static void test_no_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *language, *source;
    } transformed[] = {
        {"cuda", "struct G { int k; __device__ int rank() const { return k; } };\n__constant__ int "
                 "order[4];\n__device__ int c, next[4];\n" K
                 "G g{n}; int k = 0; a[next[n]].v[k++] = 3; a[g.rank()].v[k++] = 3; "
                 "a[atomicAdd(&c, 1)].v[order[n]] = 3; *(a[b->id].v + k++) = 3; }"},
        {"cuda",
         "struct X { int k; __device__ operator int() const { return k; } __device__ operator "
         "bool() const { return k; } };\n" K "X x{n}; a[static_cast<int>(x)].id = 1; "
         "a[(int)x].id = 1; a[int(x) + n].v[(int)n & 3] = 1; a[x ? 0 : n].id = 1; }"},
        {"cuda",
         "namespace N { struct Q { struct P { short s; } p; }; }\nnamespace M { struct P { short "
         "s; }; }\n" K "using namespace M; a[1] = a[0]; }"},
        {"cuda", "__device__ float g(const P *p) { extern __shared__ float s[]; s[threadIdx.x] = "
                 "p->x; return s[0]; }\n" K "b->x = g(a); }"},
        {"cuda", "__device__ float g(const P *p) { static const float w[2] = {1, 2}; static "
                 "constexpr int k = 1; return p->x * w[k]; }\n" K "b->x = g(a); }"},
        {"opencl", "float g(global struct P *p) { static constant float w[2] = {1, 2}; return p->x "
                   "* w[1]; }\nkernel void f(global struct P *a) { a[1].x = g(a); }"},
    };
    for (size_t i = 0; i < sizeof transformed / sizeof transformed[0]; i++) {
        char source[1024] = "struct P { float x, y; int id; float v[4]; };\n";
        strcat(source, transformed[i].source);
        bool cuda = strcmp(transformed[i].language, "cuda") == 0;
        json_t *reply = ask(json_pack("{s:s, s:s, s:s, s:i, s:s}", "source", source, "file",
                                      "kernel.cu", "options", cuda ? "" : "-cl-std=CL2.0", "tile",
                                      32, "language", transformed[i].language));
        const json_t *argument = find_argument(reply, "f", "a");
        if (argument == NULL || strcmp(string_of(argument, "status"), "transformed") != 0)
            fail_msg("%s: %s", source, string_of(argument == NULL ? reply : argument, "reason"));
        json_decref(reply);
    }
}

static void test_template(void **state)
{
    (void)state;
    json_t *reply = ask(json_pack("{s:s, s:s, s:i, s:s}", "source",
                                  "struct P { float x; double y; };\ntemplate <int T>\n__global__ "
                                  "void f(P *a) { a[T].x = 1; }\n",
                                  "file", "kernel.cu", "tile", 32, "language", "cuda"));
    const json_t *kernel = json_array_get(json_object_get(reply, "kernels"), 0);
    assert_string_equal(string_of(kernel, "name"), "f");
    assert_string_equal(string_of(kernel, "reason"), "the kernel is a template");
    assert_int_equal(number_of(kernel, "line"), 3);
    json_decref(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_refusals),
        cmocka_unit_test(test_template),
    };
    return cmocka_run_group_tests_name("rewrite_cuda_refusals", tests, NULL, NULL);
}
