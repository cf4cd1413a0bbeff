/*
 * The loops of the NAS kernel benchmark (D. Bailey and J. Barton, NASA TM-86711, 1985), written in
 * C from its description: each innermost loop of the seven programs, one function each and in their
 * order, but for those that only prepare tables and clear arrays. Loops around it are there where
 * they carry nothing that their indices do not show; otherwise their values are parameters.
 *
 * Arrays lie in memory as Fortran lays them, so subscripts have the other order; they count from 0.
 * Complex arrays are two, of real and imaginary parts. BTRIX's vectors l11 ... l55 and u12 ... u45
 * are the rows of two arrays.
 */
#include <math.h>

enum { NMAT = 250, ROWS = 40, DIAGONALS = 4, RIGHT = 3, SIDE = 128, EDGE = 30, BLOCK = 5 };

/* ---- MXM: a product of matrices, four columns at a time ---- */

void mxm(int l, int m, int n, double a[][256], double b[][128], double c[][256])
{
    for (int j = 0; j < m; j += 4)
        for (int k = 0; k < n; k++)
            for (int i = 0; i < l; i++)
                c[k][i] = c[k][i] + a[j][i] * b[k][j] + a[j + 1][i] * b[k][j + 1] +
                          a[j + 2][i] * b[k][j + 2] + a[j + 3][i] * b[k][j + 3];
}

/* ---- CFFT2D: Fourier transforms along the first dimension, then along the second. The places of
 * ---- two elements come from a table, the root w from another ---- */

void cfft2d_first(int up, int low, int n, double w_re, double w_im, double re[][SIDE],
                  double im[][SIDE])
{
    for (int k = 0; k < n; k++) {
        double apart_re = re[k][up] - re[k][low];
        double apart_im = im[k][up] - im[k][low];
        re[k][up] = re[k][up] + re[k][low];
        im[k][up] = im[k][up] + im[k][low];
        re[k][low] = apart_re * w_re - apart_im * w_im;
        im[k][low] = apart_re * w_im + apart_im * w_re;
    }
}

void cfft2d_first_exchange(int i, int place, int n, double re[][SIDE], double im[][SIDE])
{
    for (int k = 0; k < n; k++) {
        double kept_re = re[k][i];
        double kept_im = im[k][i];
        re[k][i] = re[k][place];
        im[k][i] = im[k][place];
        re[k][place] = kept_re;
        im[k][place] = kept_im;
    }
}

void cfft2d_second(int up, int low, int m, double w_re, double w_im, double re[][SIDE],
                   double im[][SIDE])
{
    for (int k = 0; k < m; k++) {
        double apart_re = re[up][k] - re[low][k];
        double apart_im = im[up][k] - im[low][k];
        re[up][k] = re[up][k] + re[low][k];
        im[up][k] = im[up][k] + im[low][k];
        re[low][k] = apart_re * w_re - apart_im * w_im;
        im[low][k] = apart_re * w_im + apart_im * w_re;
    }
}

void cfft2d_second_exchange(int i, int place, int m, double re[][SIDE], double im[][SIDE])
{
    for (int k = 0; k < m; k++) {
        double kept_re = re[i][k];
        double kept_im = im[i][k];
        re[i][k] = re[place][k];
        im[i][k] = im[place][k];
        re[place][k] = kept_re;
        im[place][k] = kept_im;
    }
}

/* ---- CHOLSKY: decomposition and substitution for many band matrices at once. a[j][i] are the
 * ---- elements i below the diagonal ---- */

void cholesky_update(int j, int i, int first, double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int jj = 1; jj <= first - i; jj++)
        for (int l = 0; l < NMAT; l++)
            a[j][i][l] = a[j][i][l] - a[j - i][jj][l] * a[j][i + jj][l];
}

void cholesky_scale(int j, int i, double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int l = 0; l < NMAT; l++)
        a[j][i][l] = a[j][i][l] * a[j - i][0][l];
}

void cholesky_least(int j, double epsilon, double epss[NMAT], double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int l = 0; l < NMAT; l++)
        epss[l] = epsilon * a[j][0][l];
}

void cholesky_diagonal(int j, int first, double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int jj = 1; jj <= first; jj++)
        for (int l = 0; l < NMAT; l++)
            a[j][0][l] = a[j][0][l] - a[j][jj][l] * a[j][jj][l];
}

void cholesky_invert(int j, double epss[NMAT], double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int l = 0; l < NMAT; l++)
        a[j][0][l] = 1.0 / sqrt(fabs(epss[l] + a[j][0][l]));
}

/* The right-hand sides have the matrices in their second dimension. */
void cholesky_solve(int k, int i, double b[ROWS][NMAT][RIGHT + 1],
                    double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int l = 0; l < NMAT; l++)
        b[k][l][i] = b[k][l][i] * a[k][0][l];
}

void cholesky_forward(int k, int i, int last, double b[ROWS][NMAT][RIGHT + 1],
                      double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int jj = 1; jj <= last; jj++)
        for (int l = 0; l < NMAT; l++)
            b[k + jj][l][i] = b[k + jj][l][i] - a[k + jj][jj][l] * b[k][l][i];
}

void cholesky_solve_back(int k, int i, double b[ROWS][NMAT][RIGHT + 1],
                         double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int l = 0; l < NMAT; l++)
        b[k][l][i] = b[k][l][i] * a[k][0][l];
}

void cholesky_back(int k, int i, int last, double b[ROWS][NMAT][RIGHT + 1],
                   double a[ROWS][DIAGONALS + 1][NMAT])
{
    for (int jj = 1; jj <= last; jj++)
        for (int l = 0; l < NMAT; l++)
            b[k - jj][l][i] = b[k - jj][l][i] - a[k][jj][l] * b[k][l][i];
}

/* ---- BTRIX: block-tridiagonal systems along j ---- */

void btrix_update(int j, int ls, int le, double a[EDGE][EDGE][BLOCK][BLOCK],
                  double b[EDGE][EDGE][BLOCK][BLOCK])
{
    for (int m = 0; m < BLOCK; m++)
        for (int n = 0; n < BLOCK; n++)
            for (int l = ls; l < le; l++)
                b[l][j][n][m] =
                    b[l][j][n][m] - a[l][j][0][m] * b[l][j - 1][n][0] -
                    a[l][j][1][m] * b[l][j - 1][n][1] - a[l][j][2][m] * b[l][j - 1][n][2] -
                    a[l][j][3][m] * b[l][j - 1][n][3] - a[l][j][4][m] * b[l][j - 1][n][4];
}

void btrix_decompose(int j, int ls, int le, double b[EDGE][EDGE][BLOCK][BLOCK],
                     double lower[BLOCK][BLOCK][EDGE], double upper[BLOCK][BLOCK][EDGE])
{
    for (int l = ls; l < le; l++) {
        lower[0][0][l] = 1.0 / b[l][j][0][0];
        upper[0][1][l] = b[l][j][1][0] * lower[0][0][l];
        upper[0][2][l] = b[l][j][2][0] * lower[0][0][l];
        upper[0][3][l] = b[l][j][3][0] * lower[0][0][l];
        upper[0][4][l] = b[l][j][4][0] * lower[0][0][l];
        lower[1][0][l] = b[l][j][0][1];
        lower[1][1][l] = 1.0 / (b[l][j][1][1] - lower[1][0][l] * upper[0][1][l]);
        upper[1][2][l] = (b[l][j][2][1] - lower[1][0][l] * upper[0][2][l]) * lower[1][1][l];
        upper[1][3][l] = (b[l][j][3][1] - lower[1][0][l] * upper[0][3][l]) * lower[1][1][l];
        upper[1][4][l] = (b[l][j][4][1] - lower[1][0][l] * upper[0][4][l]) * lower[1][1][l];
        lower[2][0][l] = b[l][j][0][2];
        lower[2][1][l] = b[l][j][1][2] - lower[2][0][l] * upper[0][1][l];
        lower[2][2][l] = 1.0 / (b[l][j][2][2] - lower[2][0][l] * upper[0][2][l] -
                                lower[2][1][l] * upper[1][2][l]);
        upper[2][3][l] =
            (b[l][j][3][2] - lower[2][0][l] * upper[0][3][l] - lower[2][1][l] * upper[1][3][l]) *
            lower[2][2][l];
        upper[2][4][l] =
            (b[l][j][4][2] - lower[2][0][l] * upper[0][4][l] - lower[2][1][l] * upper[1][4][l]) *
            lower[2][2][l];
    }
}

void btrix_decompose_rest(int j, int ls, int le, double b[EDGE][EDGE][BLOCK][BLOCK],
                          double lower[BLOCK][BLOCK][EDGE], double upper[BLOCK][BLOCK][EDGE])
{
    for (int l = ls; l < le; l++) {
        lower[3][0][l] = b[l][j][0][3];
        lower[3][1][l] = b[l][j][1][3] - lower[3][0][l] * upper[0][1][l];
        lower[3][2][l] =
            b[l][j][2][3] - lower[3][0][l] * upper[0][2][l] - lower[3][1][l] * upper[1][2][l];
        lower[3][3][l] = 1.0 / (b[l][j][3][3] - lower[3][0][l] * upper[0][3][l] -
                                lower[3][1][l] * upper[1][3][l] - lower[3][2][l] * upper[2][3][l]);
        upper[3][4][l] = (b[l][j][4][3] - lower[3][0][l] * upper[0][4][l] -
                          lower[3][1][l] * upper[1][4][l] - lower[3][2][l] * upper[2][4][l]) *
                         lower[3][3][l];
        lower[4][0][l] = b[l][j][0][4];
        lower[4][1][l] = b[l][j][1][4] - lower[4][0][l] * upper[0][1][l];
        lower[4][2][l] =
            b[l][j][2][4] - lower[4][0][l] * upper[0][2][l] - lower[4][1][l] * upper[1][2][l];
        lower[4][3][l] = b[l][j][3][4] - lower[4][0][l] * upper[0][3][l] -
                         lower[4][1][l] * upper[1][3][l] - lower[4][2][l] * upper[2][3][l];
        lower[4][4][l] = 1.0 / (b[l][j][4][4] - lower[4][0][l] * upper[0][4][l] -
                                lower[4][1][l] * upper[1][4][l] - lower[4][2][l] * upper[2][4][l] -
                                lower[4][3][l] * upper[3][4][l]);
    }
}

void btrix_right_side(int j, int k, int ls, int le, double a[EDGE][EDGE][BLOCK][BLOCK],
                      double s[BLOCK][EDGE][EDGE][EDGE])
{
    for (int m = 0; m < BLOCK; m++)
        for (int l = ls; l < le; l++)
            s[m][l][k][j] = s[m][l][k][j] - a[l][j][0][m] * s[0][l][k][j - 1] -
                            a[l][j][1][m] * s[1][l][k][j - 1] - a[l][j][2][m] * s[2][l][k][j - 1] -
                            a[l][j][3][m] * s[3][l][k][j - 1] - a[l][j][4][m] * s[4][l][k][j - 1];
}

void btrix_solve(int j, int k, int ls, int le, double lower[BLOCK][BLOCK][EDGE],
                 double upper[BLOCK][BLOCK][EDGE], double s[BLOCK][EDGE][EDGE][EDGE])
{
    for (int l = ls; l < le; l++) {
        double d1 = s[0][l][k][j] * lower[0][0][l];
        double d2 = (s[1][l][k][j] - lower[1][0][l] * d1) * lower[1][1][l];
        double d3 = (s[2][l][k][j] - lower[2][0][l] * d1 - lower[2][1][l] * d2) * lower[2][2][l];
        double d4 =
            (s[3][l][k][j] - lower[3][0][l] * d1 - lower[3][1][l] * d2 - lower[3][2][l] * d3) *
            lower[3][3][l];
        double d5 = (s[4][l][k][j] - lower[4][0][l] * d1 - lower[4][1][l] * d2 -
                     lower[4][2][l] * d3 - lower[4][3][l] * d4) *
                    lower[4][4][l];
        s[4][l][k][j] = d5;
        s[3][l][k][j] = d4 - upper[3][4][l] * d5;
        s[2][l][k][j] = d3 - upper[2][3][l] * s[3][l][k][j] - upper[2][4][l] * d5;
        s[1][l][k][j] = d2 - upper[1][2][l] * s[2][l][k][j] - upper[1][3][l] * s[3][l][k][j] -
                        upper[1][4][l] * d5;
        s[0][l][k][j] = d1 - upper[0][1][l] * s[1][l][k][j] - upper[0][2][l] * s[2][l][k][j] -
                        upper[0][3][l] * s[3][l][k][j] - upper[0][4][l] * d5;
    }
}

void btrix_upper(int j, int ls, int le, double c[EDGE][EDGE][BLOCK][BLOCK],
                 double lower[BLOCK][BLOCK][EDGE], double upper[BLOCK][BLOCK][EDGE],
                 double b[EDGE][EDGE][BLOCK][BLOCK])
{
    for (int n = 0; n < BLOCK; n++)
        for (int l = ls; l < le; l++) {
            double c1 = c[l][j][n][0] * lower[0][0][l];
            double c2 = (c[l][j][n][1] - lower[1][0][l] * c1) * lower[1][1][l];
            double c3 =
                (c[l][j][n][2] - lower[2][0][l] * c1 - lower[2][1][l] * c2) * lower[2][2][l];
            double c4 =
                (c[l][j][n][3] - lower[3][0][l] * c1 - lower[3][1][l] * c2 - lower[3][2][l] * c3) *
                lower[3][3][l];
            double c5 = (c[l][j][n][4] - lower[4][0][l] * c1 - lower[4][1][l] * c2 -
                         lower[4][2][l] * c3 - lower[4][3][l] * c4) *
                        lower[4][4][l];
            b[l][j][n][4] = c5;
            b[l][j][n][3] = c4 - upper[3][4][l] * c5;
            b[l][j][n][2] = c3 - upper[2][3][l] * b[l][j][n][3] - upper[2][4][l] * c5;
            b[l][j][n][1] = c2 - upper[1][2][l] * b[l][j][n][2] - upper[1][3][l] * b[l][j][n][3] -
                            upper[1][4][l] * c5;
            b[l][j][n][0] = c1 - upper[0][1][l] * b[l][j][n][1] - upper[0][2][l] * b[l][j][n][2] -
                            upper[0][3][l] * b[l][j][n][3] - upper[0][4][l] * c5;
        }
}

void btrix_back(int j, int k, int ls, int le, double b[EDGE][EDGE][BLOCK][BLOCK],
                double s[BLOCK][EDGE][EDGE][EDGE])
{
    for (int m = 0; m < BLOCK; m++)
        for (int l = ls; l < le; l++)
            s[m][l][k][j] = s[m][l][k][j] - b[l][j][0][m] * s[0][l][k][j + 1] -
                            b[l][j][1][m] * s[1][l][k][j + 1] - b[l][j][2][m] * s[2][l][k][j + 1] -
                            b[l][j][3][m] * s[3][l][k][j + 1] - b[l][j][4][m] * s[4][l][k][j + 1];
}

/* ---- GMTRY: geometry of the walls of a vortex method, and their influence on each other ---- */

double gmtry_length(int n, double x[], double y[])
{
    double length = 0;
    for (int k = 0; k < n; k++)
        length += hypot(x[k] - x[(k + 1) % n], y[k] - y[(k + 1) % n]);
    return length;
}

void gmtry_create(int n, double radius, double x[], double y[], double cx[], double cy[])
{
    for (int k = 0; k < n; k++) {
        double dx = x[(k + n - 1) % n] - x[(k + 1) % n];
        double dy = y[(k + n - 1) % n] - y[(k + 1) % n];
        double turned = radius / hypot(dx, dy);
        cx[k] = x[k] - turned * dy;
        cy[k] = y[k] + turned * dx;
    }
}

void gmtry_check(int n, double x[], double y[], double cx[], double cy[], double bounds[3],
                 int kink[1])
{
    double low = bounds[0], high = bounds[1], right = bounds[2];
    for (int k = 0; k < n; k++) {
        int next = (k + 1) % n;
        low = fmin(low, cy[k]);
        high = fmax(high, cy[k]);
        right = fmax(right, cx[k]);
        if ((cx[next] - cx[k]) * (x[next] - x[k]) + (cy[next] - cy[k]) * (y[next] - y[k]) > 0)
            kink[0] = k;
    }
    bounds[0] = low;
    bounds[1] = high;
    bounds[2] = right;
}

void gmtry_project(int n, double period, double limit, double cx[], double cy[], double px[],
                   double py[])
{
    for (int k = 0; k < n; k++) {
        px[k] = cx[k];
        py[k] = cy[k] - period * ((int)(5.0 + (cy[k] - limit) / period) - 5.0);
    }
}

/* exp(z) - exp(-z) for z from each point of creation to each point of the walls */
void gmtry_fill(int i0, int j0, int n, double scale, double least, double x[], double y[],
                double cx[], double cy[], double first[], double r[SIDE][SIDE])
{
    for (int j = 0; j < n; j++)
        for (int i = 1; i < n; i++) {
            double zx = (x[i] - cx[j]) * scale, zy = (y[i] - cy[j]) * scale;
            double real = (exp(zx) - exp(-zx)) * cos(zy), other = (exp(zx) + exp(-zx)) * sin(zy);
            r[j0 + j][i0 + i] = -log(first[j] / (least + real * real + other * other));
        }
}

void gmtry_eliminate(int i, int n, double r[SIDE][SIDE])
{
    for (int j = i + 1; j < n; j++) {
        r[i][j] = r[i][j] * r[i][i];
        for (int k = i + 1; k < n; k++)
            r[k][j] = r[k][j] - r[i][j] * r[k][i];
    }
}

/* ---- EMIT: new vortices at the walls ---- */

void emit_exponentials(int nv, double scale, double x[], double y[], double up_re[], double up_im[],
                       double down_re[], double down_im[])
{
    for (int i = 0; i < nv; i++) {
        up_re[i] = exp(x[i] * scale) * cos(y[i] * scale);
        up_im[i] = exp(x[i] * scale) * sin(y[i] * scale);
        double size = up_re[i] * up_re[i] + up_im[i] * up_im[i];
        down_re[i] = up_re[i] / size;
        down_im[i] = -up_im[i] / size;
    }
}

/* All vortices' share of the stream at one point w of a wall */
double emit_stream(int nv, double w_re, double w_im, double back_re, double back_im, double least,
                   double gamma[], double up_re[], double up_im[], double down_re[],
                   double down_im[], double ps[])
{
    double sum = 0;
    for (int i = 0; i < nv; i++) {
        double re =
            up_re[i] * back_re - up_im[i] * back_im - (w_re * down_re[i] - w_im * down_im[i]);
        double im =
            up_re[i] * back_im + up_im[i] * back_re - (w_re * down_im[i] + w_im * down_re[i]);
        ps[i] = gamma[i] * log(re * re + im * im + least);
        sum += ps[i];
    }
    return sum;
}

void emit_right_side(int i0, int n, double psi[], double rhs[])
{
    for (int k = 0; k < n; k++)
        rhs[i0 + k] = psi[k] - psi[0];
}

void emit_forward(int i, int n, double rhs[SIDE], double r[SIDE][SIDE])
{
    for (int j = i + 1; j < n; j++)
        rhs[j] = rhs[j] - r[i][j] * rhs[i];
}

void emit_back(int i, double rhs[SIDE], double r[SIDE][SIDE])
{
    for (int j = 0; j < i; j++)
        rhs[j] = rhs[j] - r[i][j] * rhs[i];
}

/* The new ones go to the end of the list; their momenta are summed up. */
void emit_create(int nv, int i0, int n, double ref_x, double ref_y, double cx[], double cy[],
                 double rhs[], double x[], double y[], double gamma[], double dpds[],
                 double force[2], double moment[1])
{
    for (int k = 0; k < n; k++) {
        x[nv] = cx[k];
        y[nv] = cy[k];
        gamma[nv] = rhs[i0 + k];
        force[0] = force[0] + gamma[nv] * x[nv];
        force[1] = force[1] + gamma[nv] * y[nv];
        moment[0] = moment[0] + gamma[nv] * ((x[nv] - ref_x) * (x[nv] - ref_x) +
                                             (y[nv] - ref_y) * (y[nv] - ref_y));
        dpds[k] = dpds[k] - gamma[nv];
        nv++;
    }
}

double emit_pressure(int n, double scale, double cp[], double dpds[])
{
    double most = -1e30;
    for (int k = 1; k < n; k++) {
        cp[k] = cp[k - 1] +
                (3.0 * (dpds[k] + dpds[k - 1]) + dpds[(k + 1) % n] + dpds[(k + n - 2) % n]) / scale;
        most = fmax(most, cp[k]);
    }
    return most;
}

void emit_normalize(int n, double most, double cp[])
{
    for (int k = 0; k < n; k++)
        cp[k] = cp[k] - most;
}

/* ---- VPENTA: three pentadiagonal systems at once. The recurrence runs over j, which is the
 * ---- dimension that lies together; the innermost loops run over k ---- */

void vpenta_first(int j, int kl, int ku, double c[SIDE][SIDE], double d[SIDE][SIDE],
                  double e[SIDE][SIDE], double f[3][SIDE][SIDE], double x[SIDE][SIDE],
                  double y[SIDE][SIDE])
{
    for (int k = kl; k < ku; k++) {
        double inverse = 1.0 / c[k][j];
        f[0][k][j] = f[0][k][j] * inverse;
        f[1][k][j] = f[1][k][j] * inverse;
        f[2][k][j] = f[2][k][j] * inverse;
        x[k][j] = d[k][j] * inverse;
        y[k][j] = e[k][j] * inverse;
    }
}

void vpenta_second(int j, int kl, int ku, double b[SIDE][SIDE], double c[SIDE][SIDE],
                   double d[SIDE][SIDE], double e[SIDE][SIDE], double f[3][SIDE][SIDE],
                   double x[SIDE][SIDE], double y[SIDE][SIDE])
{
    for (int k = kl; k < ku; k++) {
        double rld1 = b[k][j];
        double inverse = 1.0 / (c[k][j] - rld1 * x[k][j - 1]);
        f[0][k][j] = (f[0][k][j] - rld1 * f[0][k][j - 1]) * inverse;
        f[1][k][j] = (f[1][k][j] - rld1 * f[1][k][j - 1]) * inverse;
        f[2][k][j] = (f[2][k][j] - rld1 * f[2][k][j - 1]) * inverse;
        x[k][j] = (d[k][j] - rld1 * y[k][j - 1]) * inverse;
        y[k][j] = e[k][j] * inverse;
    }
}

void vpenta_forward(int jl, int ju, int kl, int ku, double a[SIDE][SIDE], double b[SIDE][SIDE],
                    double c[SIDE][SIDE], double d[SIDE][SIDE], double e[SIDE][SIDE],
                    double f[3][SIDE][SIDE], double x[SIDE][SIDE], double y[SIDE][SIDE])
{
    for (int j = jl + 2; j < ju; j++)
        for (int k = kl; k < ku; k++) {
            double rld2 = a[k][j];
            double rld1 = b[k][j] - rld2 * x[k][j - 2];
            double inverse = 1.0 / (c[k][j] - (rld2 * y[k][j - 2] + rld1 * x[k][j - 1]));
            f[0][k][j] = (f[0][k][j] - rld2 * f[0][k][j - 2] - rld1 * f[0][k][j - 1]) * inverse;
            f[1][k][j] = (f[1][k][j] - rld2 * f[1][k][j - 2] - rld1 * f[1][k][j - 1]) * inverse;
            f[2][k][j] = (f[2][k][j] - rld2 * f[2][k][j - 2] - rld1 * f[2][k][j - 1]) * inverse;
            x[k][j] = (d[k][j] - rld1 * y[k][j - 1]) * inverse;
            y[k][j] = e[k][j] * inverse;
        }
}

void vpenta_last_but_one(int j, int kl, int ku, double a[SIDE][SIDE], double b[SIDE][SIDE],
                         double c[SIDE][SIDE], double d[SIDE][SIDE], double f[3][SIDE][SIDE],
                         double x[SIDE][SIDE], double y[SIDE][SIDE])
{
    for (int k = kl; k < ku; k++) {
        double rld2 = a[k][j];
        double rld1 = b[k][j] - rld2 * x[k][j - 2];
        double inverse = 1.0 / (c[k][j] - (rld2 * y[k][j - 2] + rld1 * x[k][j - 1]));
        f[0][k][j] = (f[0][k][j] - rld2 * f[0][k][j - 2] - rld1 * f[0][k][j - 1]) * inverse;
        f[1][k][j] = (f[1][k][j] - rld2 * f[1][k][j - 2] - rld1 * f[1][k][j - 1]) * inverse;
        f[2][k][j] = (f[2][k][j] - rld2 * f[2][k][j - 2] - rld1 * f[2][k][j - 1]) * inverse;
        x[k][j] = (d[k][j] - rld1 * y[k][j - 1]) * inverse;
    }
}

void vpenta_last(int j, int kl, int ku, double a[SIDE][SIDE], double b[SIDE][SIDE],
                 double c[SIDE][SIDE], double f[3][SIDE][SIDE], double x[SIDE][SIDE],
                 double y[SIDE][SIDE])
{
    for (int k = kl; k < ku; k++) {
        double rld2 = a[k][j];
        double rld1 = b[k][j] - rld2 * x[k][j - 2];
        double inverse = 1.0 / (c[k][j] - (rld2 * y[k][j - 2] + rld1 * x[k][j - 1]));
        f[0][k][j] = (f[0][k][j] - rld2 * f[0][k][j - 2] - rld1 * f[0][k][j - 1]) * inverse;
        f[1][k][j] = (f[1][k][j] - rld2 * f[1][k][j - 2] - rld1 * f[1][k][j - 1]) * inverse;
        f[2][k][j] = (f[2][k][j] - rld2 * f[2][k][j - 2] - rld1 * f[2][k][j - 1]) * inverse;
    }
}

void vpenta_back_first(int ju, int kl, int ku, double f[3][SIDE][SIDE], double x[SIDE][SIDE])
{
    for (int k = kl; k < ku; k++) {
        f[0][k][ju - 1] = f[0][k][ju - 1] - x[k][ju - 1] * f[0][k][ju];
        f[1][k][ju - 1] = f[1][k][ju - 1] - x[k][ju - 1] * f[1][k][ju];
        f[2][k][ju - 1] = f[2][k][ju - 1] - x[k][ju - 1] * f[2][k][ju];
    }
}

void vpenta_back(int jl, int ju, int kl, int ku, double f[3][SIDE][SIDE], double x[SIDE][SIDE],
                 double y[SIDE][SIDE])
{
    for (int j = ju - 2; j >= jl; j--)
        for (int k = kl; k < ku; k++) {
            f[0][k][j] = f[0][k][j] - x[k][j] * f[0][k][j + 1] - y[k][j] * f[0][k][j + 2];
            f[1][k][j] = f[1][k][j] - x[k][j] * f[1][k][j + 1] - y[k][j] * f[1][k][j + 2];
            f[2][k][j] = f[2][k][j] - x[k][j] * f[2][k][j + 1] - y[k][j] * f[2][k][j + 2];
        }
}
