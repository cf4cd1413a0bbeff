/*
 * The 24 Livermore loops, written in C from their published descriptions (F. McMahon, "The
 * Livermore Fortran Kernels", UCRL-53745, 1986): one pass of each, with zero-based arrays.
 */
#include <math.h>

/* 1: hydro fragment */
void kernel01(int n, double x[], double y[], double z[], double q, double r, double t)
{
    for (int k = 0; k < n; k++)
        x[k] = q + y[k] * (r * z[k + 10] + t * z[k + 11]);
}

/* 2: incomplete Cholesky conjugate gradient */
void kernel02(int n, double x[], double v[])
{
    int ii = n, from = 0, to = 0;
    do {
        from = to;
        to += ii;
        ii /= 2;
        int i = to;
        for (int k = from + 1; k < to; k += 2) {
            i++;
            x[i] = x[k] - v[k] * x[k - 1] - v[k + 1] * x[k + 1];
        }
    } while (ii > 0);
}

/* 3: inner product */
double kernel03(int n, double x[], double z[])
{
    double q = 0.0;
    for (int k = 0; k < n; k++)
        q += z[k] * x[k];
    return q;
}

/* 4: banded linear equations */
void kernel04(int n, double x[], double y[])
{
    for (int k = 6; k < 1001; k += 497) {
        int lw = k - 6;
        double sum = x[k - 1];
        for (int j = 4; j < n; j += 5) {
            sum -= x[lw] * y[j];
            lw++;
        }
        x[k - 1] = y[4] * sum;
    }
}

/* 5: tridiagonal elimination, below the diagonal */
void kernel05(int n, double x[], double y[], double z[])
{
    for (int i = 1; i < n; i++)
        x[i] = z[i] * (y[i] - x[i - 1]);
}

/* 6: general linear recurrence equations */
void kernel06(int n, double w[], double b[][64])
{
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++)
            w[i] += b[k][i] * w[i - k - 1];
}

/* 7: equation of state fragment */
void kernel07(int n, double x[], double y[], double z[], double u[], double q, double r, double t)
{
    for (int k = 0; k < n; k++)
        x[k] = u[k] + r * (z[k] + r * y[k]) +
               t * (u[k + 3] + r * (u[k + 2] + r * u[k + 1]) +
                    t * (u[k + 6] + q * (u[k + 5] + q * u[k + 4])));
}

/* 8: alternating direction implicit integration (one of its three grids; the others are alike) */
void kernel08(int n, double u[2][101][5], double du[101], double a, double sig)
{
    for (int kx = 1; kx < 3; kx++)
        for (int ky = 1; ky < n; ky++) {
            du[ky] = u[0][ky + 1][kx] - u[0][ky - 1][kx];
            u[1][ky][kx] = u[0][ky][kx] + a * du[ky] +
                           sig * (u[0][ky][kx + 1] - 2.0 * u[0][ky][kx] + u[0][ky][kx - 1]);
        }
}

/* 9: integrate predictors */
void kernel09(int n, double px[][25], double c0, double a, double b, double c)
{
    for (int i = 0; i < n; i++)
        px[i][0] =
            a * px[i][12] + b * px[i][11] + c * px[i][10] + c0 * (px[i][4] + px[i][5]) + px[i][2];
}

/* 10: difference predictors */
void kernel10(int n, double px[][25], double cx[][25])
{
    for (int i = 0; i < n; i++) {
        double ar, br, cr;
        ar = cx[i][4];
        br = ar - px[i][4];
        px[i][4] = ar;
        cr = br - px[i][5];
        px[i][5] = br;
        ar = cr - px[i][6];
        px[i][6] = cr;
        px[i][7] = ar;
    }
}

/* 11: first sum */
void kernel11(int n, double x[], double y[])
{
    for (int k = 1; k < n; k++)
        x[k] = x[k - 1] + y[k];
}

/* 12: first difference */
void kernel12(int n, double x[], double y[])
{
    for (int k = 0; k < n; k++)
        x[k] = y[k + 1] - y[k];
}

/* 13: two-dimensional particle in cell */
void kernel13(int n, double p[][4], double b[64][64], double c[64][64], double y[], double z[],
              int e[], int f[], double h[64][64])
{
    for (int ip = 0; ip < n; ip++) {
        int i1 = p[ip][0];
        int j1 = p[ip][1];
        i1 &= 63;
        j1 &= 63;
        p[ip][2] += b[j1][i1];
        p[ip][3] += c[j1][i1];
        p[ip][0] += p[ip][2];
        p[ip][1] += p[ip][3];
        int i2 = p[ip][0];
        int j2 = p[ip][1];
        i2 = (i2 & 63) - 1;
        j2 = (j2 & 63) - 1;
        p[ip][0] += y[i2 + 32];
        p[ip][1] += z[j2 + 32];
        i2 += e[i2 + 32];
        j2 += f[j2 + 32];
        h[j2][i2] += 1.0;
    }
}

/* 14: one-dimensional particle in cell */
void kernel14(int n, double vx[], double xx[], double grd[], int ix[], double xi[], double ex[],
              double dex[], double ex1[], double dex1[], int ir[], double rx[], double rh[],
              double flx)
{
    for (int k = 0; k < n; k++) {
        vx[k] = 0.0;
        xx[k] = 0.0;
        ix[k] = (int)grd[k];
        xi[k] = (double)ix[k];
        ex1[k] = ex[ix[k] - 1];
        dex1[k] = dex[ix[k] - 1];
    }
    for (int k = 0; k < n; k++) {
        vx[k] = vx[k] + ex1[k] + (xx[k] - xi[k]) * dex1[k];
        xx[k] = xx[k] + vx[k] + flx;
        ir[k] = (int)xx[k];
        rx[k] = xx[k] - ir[k];
        ir[k] = (ir[k] & 2047) + 1;
        xx[k] = rx[k] + ir[k];
    }
    for (int k = 0; k < n; k++) {
        rh[ir[k] - 1] += 1.0 - rx[k];
        rh[ir[k]] += rx[k];
    }
}

/* 15: casual Fortran */
void kernel15(int ng, int nz, double vy[][101], double vh[][101], double vf[][101],
              double vg[][101], double vs[][101])
{
    for (int j = 1; j < ng; j++)
        for (int k = 1; k < nz; k++) {
            double t = vh[j][k + 1] > vh[j][k] ? 0.053 : 0.073;
            double r, s;
            if (vf[j][k] < vf[j][k - 1]) {
                r = vh[j][k - 1] > vh[j + 1][k - 1] ? vh[j][k - 1] : vh[j + 1][k - 1];
                s = vf[j][k - 1];
            } else {
                r = vh[j][k] > vh[j + 1][k] ? vh[j][k] : vh[j + 1][k];
                s = vf[j][k];
            }
            vy[j][k] = sqrt(vg[j][k] * vg[j][k] + r * r) * t / s;
            vs[j][k] = sqrt(vh[j][k] * vh[j][k] + r * r) * t / s;
        }
}

/* 16: Monte Carlo search loop */
int kernel16(int n, int zone[], double plan[], double d[], double r, double s, double t)
{
    int lb = 2 * n, k2 = 0;
    for (int m = 0; m < zone[0]; m++) {
        int j2 = (n + n) * m + 1;
        for (int k = 1; k <= n; k++) {
            k2++;
            int j4 = j2 + k + k;
            int j5 = zone[j4 - 1];
            if (j5 < n) {
                if (j5 + lb < n ? plan[j5 - 1] < t : plan[j5 - 1] < s)
                    return k2;
            } else if (d[j5 - 1] < d[j5 - 2] * (t - d[j5 - 3]) + r) {
                return k2;
            }
        }
    }
    return k2;
}

/* 17: implicit, conditional computation */
void kernel17(int n, double vsp[], double vstp[], double vxne[], double vxnd[], double ve3[],
              double vlr[], double vlin[])
{
    double scale = 5.0 / 3.0, xnm = 1.0 / 3.0, e6 = 1.03 / 3.07;
    for (int i = n - 1; i >= 1; i--) {
        double e3 = xnm * vlr[i] + vlin[i];
        double xnei = vxne[i];
        vxnd[i] = e6;
        double xnc = scale * e3;
        if (xnm > xnc || xnei > xnc) {
            e6 = xnm * vsp[i] + vstp[i];
            vxne[i] = e6;
            xnm = e6;
            ve3[i] = e6;
        } else {
            ve3[i] = e3;
            e6 = e3 + e3 - xnm;
            vxne[i] = e3 + e3 - xnei;
            xnm = e6;
        }
    }
}

/* 18: two-dimensional explicit hydrodynamics fragment (its first loop nest) */
void kernel18(int n, double za[7][101], double zb[7][101], double zp[7][101], double zq[7][101],
              double zr[7][101], double zm[7][101])
{
    for (int k = 1; k < 6; k++)
        for (int j = 1; j < n; j++) {
            za[k][j] = (zp[k + 1][j - 1] + zq[k + 1][j - 1] - zp[k][j - 1] - zq[k][j - 1]) *
                       (zr[k][j] + zr[k][j - 1]) / (zm[k][j - 1] + zm[k + 1][j - 1]);
            zb[k][j] = (zp[k][j - 1] + zq[k][j - 1] - zp[k][j] - zq[k][j]) *
                       (zr[k][j] + zr[k - 1][j]) / (zm[k][j] + zm[k][j - 1]);
        }
}

/* 19: general linear recurrence equations */
void kernel19(int kb5i, double b5[], double sa[], double sb[], double stb5)
{
    for (int k = 0; k < 101; k++) {
        b5[k + kb5i] = sa[k] + stb5 * sb[k];
        stb5 = b5[k + kb5i] - stb5;
    }
    for (int i = 1; i <= 101; i++) {
        int k = 101 - i;
        b5[k + kb5i] = sa[k] + stb5 * sb[k];
        stb5 = b5[k + kb5i] - stb5;
    }
}

/* 20: discrete ordinates transport */
void kernel20(int n, double x[], double y[], double z[], double u[], double v[], double w[],
              double g[], double xx[], double vx[], double dk)
{
    for (int k = 0; k < n; k++) {
        double di = y[k] - g[k] / (xx[k] + dk);
        double dn = di != 0.0 ? z[k] / di : 0.2;
        x[k] = ((w[k] + v[k] * dn) * xx[k] + u[k]) / (vx[k] + v[k] * dn);
        xx[k + 1] = (x[k] - xx[k]) * dn + xx[k];
    }
}

/* 21: product of matrices */
void kernel21(int n, double px[][25], double vy[25][25], double cx[][25])
{
    for (int k = 0; k < 25; k++)
        for (int i = 0; i < 25; i++)
            for (int j = 0; j < n; j++)
                px[j][i] += vy[k][i] * cx[j][k];
}

/* 22: Planckian distribution */
void kernel22(int n, double y[], double u[], double v[], double w[], double x[])
{
    for (int k = 0; k < n; k++) {
        y[k] = u[k] / v[k];
        w[k] = x[k] / (exp(y[k]) - 1.0);
    }
}

/* 23: two-dimensional implicit hydrodynamics fragment */
void kernel23(int n, double za[7][101], double zb[7][101], double zr[7][101], double zu[7][101],
              double zv[7][101], double zz[7][101])
{
    for (int j = 1; j < 6; j++)
        for (int k = 1; k < n; k++) {
            double qa = za[j + 1][k] * zr[j][k] + za[j - 1][k] * zb[j][k] +
                        za[j][k + 1] * zu[j][k] + za[j][k - 1] * zv[j][k] + zz[j][k];
            za[j][k] += 0.175 * (qa - za[j][k]);
        }
}

/* 24: location of the first minimum */
int kernel24(int n, double x[])
{
    int m = 0;
    for (int k = 1; k < n; k++)
        if (x[k] < x[m])
            m = k;
    return m;
}
