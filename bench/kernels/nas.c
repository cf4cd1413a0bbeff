/*
 * Loops of the NAS kernel benchmark (D. Bailey and J. Barton, NASA TM-86711, 1985), written in C
 * from its description: those of MXM, CHOLSKY, VPENTA, GMTRY, EMIT and CFFT2D that decide their
 * patterns.
 */
#include <math.h>

enum { NMAT = 250, ROWS = 40, DIAGONALS = 4, RIGHT = 3, SIDE = 128 };

/* MXM: four products at a time */
void mxm(int l, int m, int n, double a[][256], double b[][128], double c[][256])
{
    for (int j = 0; j < m; j += 4)
        for (int k = 0; k < n; k++)
            for (int i = 0; i < l; i++)
                c[k][i] = c[k][i] + a[j][i] * b[k][j] + a[j + 1][i] * b[k][j + 1] +
                          a[j + 2][i] * b[k][j + 2] + a[j + 3][i] * b[k][j + 3];
}

/* CHOLSKY: the update of one column by earlier ones, for all matrices at once */
void cholesky_update(int j, int i, double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int jj = 1; jj < DIAGONALS; jj++)
        for (int l = 0; l < NMAT; l++)
            a[j][i][l] = a[j][i][l] - a[j][i - jj][l] * a[j - jj][jj][l];
}

/* CHOLSKY: the solution, which reads the right-hand sides by another dimension */
void cholesky_solve(int k, int i, double b[RIGHT][NMAT][ROWS], double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int l = 0; l < NMAT; l++)
        b[i][l][k] = b[i][l][k] * a[k][0][l];
}

/* VPENTA: forward elimination; the recurrence runs over j, the vectors over k */
void vpenta_forward(int jl, int ju, int kl, int ku, double x[SIDE][SIDE], double y[SIDE][SIDE],
                    double f[SIDE][SIDE], double a[SIDE][SIDE], double b[SIDE][SIDE])
{
    for (int j = jl + 2; j < ju; j++)
        for (int k = kl; k < ku; k++) {
            double rld2 = a[j][k];
            double rld1 = b[j][k] - rld2 * x[j - 2][k];
            x[j][k] = (rld1 - y[j - 1][k] * x[j - 1][k]) * rld2;
            f[j][k] = (f[j][k] - rld2 * f[j - 2][k] - rld1 * f[j - 1][k]) * x[j][k];
        }
}

/* VPENTA: back substitution into the transposed result */
void vpenta_back(int jl, int ju, int kl, int ku, double x[SIDE][SIDE], double y[SIDE][SIDE],
                 double f[SIDE][SIDE], double out[SIDE][SIDE])
{
    for (int j = jl; j < ju; j++)
        for (int k = kl; k < ku; k++)
            out[k][j] = f[j][k] - x[j][k] * f[j + 1][k] - y[j][k] * f[j + 2][k];
}

/* GMTRY: Gaussian elimination */
void gmtry_eliminate(int i, int n, double r[SIDE][SIDE])
{
    for (int j = i + 1; j < n; j++)
        for (int k = i + 1; k < n; k++)
            r[j][k] = r[j][k] - r[i][k] * r[j][i];
}

/* GMTRY: the matrix of the influence of walls on each other */
void gmtry_fill(int n, double zx[], double zy[], double r[SIDE][SIDE])
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            r[j][k] = log((zx[k] - zx[j]) * (zx[k] - zx[j]) + (zy[k] - zy[j]) * (zy[k] - zy[j]));
}

/* EMIT: new vortices move to the end of the list */
void emit_push(int nv, int nw, int nc[], double z[], double zv[])
{
    for (int i = 0; i < nw; i++)
        zv[nv + nc[i]] = z[i];
}

/* EMIT: the pressure at the walls */
void emit_pressure(int n, double ps[], double gamma[], double rate)
{
    for (int k = 1; k < n; k++)
        ps[k] = ps[k - 1] + gamma[k] * rate;
}

/* CFFT2D: one stage of a row's transform */
void cfft2d_stage(int half, int span, double x[][SIDE], double w[], double y[][SIDE])
{
    for (int row = 0; row < SIDE; row++)
        for (int i = 0; i < half; i++) {
            y[row][2 * i] = x[row][i] + x[row][i + half];
            y[row][2 * i + 1] = (x[row][i] - x[row][i + half]) * w[i * span];
        }
}
