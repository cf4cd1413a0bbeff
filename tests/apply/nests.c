/*
 * Loop nests for --apply: "must change" or "must stay" stands before each, with the rules or the
 * reason that the report has to name. Sizes leave a rest behind the last whole vector.
 */
#include <math.h>

enum { N = 37, M = 23, PAD = 40 };

/* must change: shift + reverse */
void reversed(float X[N][M], float Y[N][PAD])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            X[i][j] = Y[i][M - j] + 1;
}

/* must change: duplicate + shift */
void shifted(int n, float x[], float y[], float q, float r)
{
    for (int i = 0; i < n; i++)
        x[i] = q * y[i + 10] + r * y[i + 11];
}

/* must change: skew */
void overlapping(float X[N][M], float Y[N][N + M])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            X[i][j] = Y[i][i + j] + 1;
}

/* must change: skew; both rows begin elsewhere */
void overlapping_further(float X[N][M], float Y[N + 2][N + M + 4])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            X[i][j] = Y[i + 2][i + j + 3] * Y[i][i + j];
}

/* must change: gather stride */
void strided(float X[N][M], float Y[N][2 * M])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            X[i][j] = Y[i][2 * j] + 1;
}

/* must change: dimension switch */
void turned(double X[N][M], double Y[M][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            X[i][j] = X[i][j] * Y[j][i];
}

/* must change: shift + reverse + gather stride; Livermore 19 as far as Jang 2011 transforms it */
void kernel19(int kb5i, double b5[], double sa[], double sb[], double stb5)
{
    for (int i = 1; i <= 101; i++)
        b5[101 - i + kb5i] = sa[101 - i] + stb5 * sb[2 * (101 - i)];
}

/* must change: unpacked after */
void written_turned(float X[M][N], float Y[N][M], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < M; j++)
            X[j][i] = X[j][i] * 0.5f + Y[i][j];
}

/* must change: unpacked after */
void written_reversed(int n, int x[])
{
    for (int i = 0; i < n; i++)
        x[n - 1 - i] = 3 * x[n - 1 - i] + i;
}

/* must change: element by element */
void triangular(float X[N][N], float y[])
{
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++)
            X[j][i] = X[j][i] + y[j];
}

/* must change: vector */
void downwards(int n, float x[], float y[])
{
    for (long i = n - 1; i >= 0; i--)
        x[i] = y[i] / (1.0f + x[i]);
}

/* must change: vector */
void conversions(int n, double d[], float f[], int k[], short s[], unsigned char u[])
{
    for (int i = 0; i < n; i++) {
        double sum = f[i] + d[i] * i;
        float narrow = sum / 3;
        k[i] = (int)sum + u[i] % 7 - s[i];
        d[i] = narrow + (k[i] > 40) + (s[i] << 2);
        u[i] += k[i];
        s[i] = -u[i];
    }
}

/* must change: vector */
void choices(int n, float x[], float y[], double z[])
{
    for (int i = 0; i < n; i++) {
        float larger = x[i] > y[i] ? x[i] : y[i];
        z[i] = larger > 1.2f && !(y[i] < 0.9) || i % 5 == 0 ? z[i] * 2 : larger;
    }
}

static float blend(float a, double b, int c)
{
    return c > 5 ? a * (float)b : a - 1;
}

/* must change: vector */
void calls(int n, float x[], double y[], float z[])
{
    for (int i = 0; i < n; i++) {
        y[i] = sqrt(x[i]) + pow(y[i], 1.5);
        z[i] = blend(z[i], fabsf(x[i] - 1), i) + fmaxf(x[i], 0.7f);
    }
}

/* must change: vector; an inner loop that is the same for all elements */
void polynomial(int n, int degree, float x[], float c[], float out[])
{
    for (int i = 0; i < n; i++) {
        float value = 0;
        for (int d = 0; d < degree; d++)
            value = value * x[i] + c[d];
        out[i] = value;
    }
}

/* must change: the order of a sum is changed */
float minus(int n, float x[], float y[])
{
    float rest = 1000.0f;
    for (int i = 0; i < n; i++)
        rest -= x[i] * y[i];
    return rest;
}

/* must change: dimension switch; a sum for each row, all rows together */
void row_sums(float X[N][M], double sums[N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            sums[i] = sums[i] + X[i][j] - 0.25;
}

/* must change: vector; only every third element is touched */
void thirds(int n, float x[])
{
    for (int i = 1; i < n; i += 3)
        x[i] = x[i] + 1;
}

/* must change: vector of a copy; a flat matrix of n columns */
void flat(int n, float a[], float b[], float c[])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i * n + j] = a[j * n + i] + b[i * n + j];
}

struct point {
    float x, y, z, w;
};

/* must change: element by element */
void lengths(int n, struct point p[], float out[])
{
    for (int i = 0; i < n; i++)
        out[i] = sqrtf(p[i].x * p[i].x + p[i].y * p[i].y);
}

/* must change: unaligned vector; the sweeps stay in order */
void sweeps(float X[N][PAD], int steps)
{
    for (int t = 1; t < steps; t++)
        for (int j = 1; j < M; j++)
            X[t][j] = X[t - 1][j] * 0.5f + t;
}

/* must stay: x brings values from one iteration of i to another */
void serial(int n, float x[], float y[])
{
    for (int i = 1; i < n; i++)
        x[i] = x[i - 1] + y[i];
}

/* must stay: x brings values from one iteration of i to another */
void near(int n, float x[])
{
    for (int i = 0; i < n; i++)
        x[i + 3] = x[i] + 1;
}

/* must stay: X brings values from one iteration of j to another */
void diagonal(float X[N][PAD])
{
    for (int t = 1; t < N; t++)
        for (int j = 1; j < M; j++)
            X[t][j] = X[t - 1][j - 1] + 1;
}

/* must stay: is a random access */
void scattered(int n, int p[], float x[], float y[])
{
    for (int i = 0; i < n; i++)
        x[i] = y[p[i]];
}

/* must stay: is a condition that differs */
void guarded(int n, float x[], float y[])
{
    for (int i = 0; i < n; i++)
        if (y[i] > 1)
            x[i] = y[i];
}

/* must stay: is read under a condition */
void speculative(int n, float x[], float y[])
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] > 1 ? y[2 * i - n] : 0;
}

/* must stay: is not known to stay inside one row */
void wide_rows(int n, int m, float x[])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i * n + j] = x[i * n + j] + 1;
}

/* must stay: only for loops that run to their ends are changed */
void leaving(int n, float x[])
{
    for (int i = 0; i < n; i++) {
        if (x[i] > 2)
            break;
        x[i] = 1;
    }
}

/* must stay: last brings values from one iteration of i */
void carried(int n, float x[], float y[])
{
    float last = 0;
    for (int i = 0; i < n; i++) {
        x[i] = y[i] - last;
        last = y[i];
    }
}

/* must stay: assigns the same variable in all iterations, and is no sum */
float product(int n, float x[])
{
    float all = 1;
    for (int i = 0; i < n; i++)
        all *= x[i];
    return all;
}

/* must stay: count an int or long of its own */
void unsigned_count(unsigned n, float x[])
{
    for (unsigned i = 0; i < n; i++)
        x[i] = 1;
}

float table[100];

/* must stay: is no argument of the function */
void global_table(int n, float x[])
{
    for (int i = 0; i < n; i++)
        x[i] = table[i];
}

/* must stay: a parameter of the nest is assigned */
void growing(int n, float x[], float y[], int u)
{
    for (int i = 0; i < n; i++)
        y[i] = x[u++];
}

/* must stay: a parameter of the nest is assigned */
void walking(int n, float x[], float y[])
{
    for (int i = 0; i < n; i++)
        y[i] = *x++;
}

/* must stay: assigns inside an expression */
void growing_rows(float X[N][M], float y[])
{
    for (int i = 0; i < N; i++) {
        int u = i;
        for (int j = 0; j < M; j++)
            X[i][j] = y[u++];
    }
}

/* must stay: the nest declares a pointer */
void walking_rows(float X[N][M], float y[])
{
    for (int i = 0; i < N; i++) {
        float *from = y + i;
        for (int j = 0; j < M; j++)
            X[i][j] = from[j];
    }
}

/* must stay: count an int or long of its own */
void shrinking(int n, float x[], float y[])
{
    for (int i = 0; i < n; i++) {
        n -= 1;
        y[i] = x[i];
    }
}

/* must stay: sum brings values from one iteration of i to another */
void kept(int n, float x[])
{
    for (int i = 0; i < n; i++) {
        static int sum;
        sum += 1;
        x[i] = sum;
    }
}

static float table_of(int i)
{
    return table[i];
}

static float table_twice(int i)
{
    return 2 * table_of(i);
}

static float gathered(float value)
{
    static float sum;
    sum += value;
    return sum;
}

/* must stay: sum brings values from one iteration of i to another */
void through_static(int n, float x[])
{
    for (int i = 0; i < n; i++)
        x[i] = gathered(x[i]);
}

static float raised(float value)
{
    static float by = 3;
    return value + by;
}

/* must stay: a function is called that kernels do not have */
void reads_static(int n, float x[])
{
    for (int i = 0; i < n; i++)
        x[i] = raised(x[i]);
}

/* must stay: is accessed in a function that is called */
void through_file(int n, float x[])
{
    for (int i = 0; i < n; i++)
        x[i] = table_twice(i);
}
