/*
 * Seven loops of Linpack (J. Dongarra et al.), written in C: the vector operations that it spends
 * its time in, with unit stride and with a stride that the caller gives.
 */
#include <math.h>

void axpy(int n, double a, double dx[], double dy[])
{
    for (int i = 0; i < n; i++)
        dy[i] = dy[i] + a * dx[i];
}

void axpy_strided(int n, double a, double dx[], int incx, double dy[], int incy)
{
    int ix = 0, iy = 0;
    for (int i = 0; i < n; i++) {
        dy[iy] = dy[iy] + a * dx[ix];
        ix += incx;
        iy += incy;
    }
}

double dot(int n, double dx[], double dy[])
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += dx[i] * dy[i];
    return sum;
}

void scale(int n, double a, double dx[])
{
    for (int i = 0; i < n; i++)
        dx[i] = a * dx[i];
}

void scale_strided(int n, double a, double dx[], int incx)
{
    for (int i = 0; i < n * incx; i += incx)
        dx[i] = a * dx[i];
}

int index_of_largest(int n, double dx[])
{
    int largest = 0;
    double size = fabs(dx[0]);
    for (int i = 1; i < n; i++)
        if (fabs(dx[i]) > size) {
            largest = i;
            size = fabs(dx[i]);
        }
    return largest;
}

void matrix_times_vector(int n1, double y[], int n2, double x[], double m[][200])
{
    for (int j = 0; j < n2; j++)
        for (int i = 0; i < n1; i++)
            y[i] = y[i] + x[j] * m[j][i];
}
