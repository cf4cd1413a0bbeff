/* y = A x, the matrix in ELL form with WIDTH entries a row; entries that a row lacks are 0. */
#pragma OPENCL FP_CONTRACT OFF
// restride: values[n][WIDTH]
// restride: columns[n][WIDTH]
#ifndef AT
#define AT(array, row, k) (array)[(row)*WIDTH + (k)]
#endif

__kernel void multiply(__global const float *values, __global const uint *columns,
                       __global const float *x, __global float *y, ulong count)
{
    const size_t row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; k++)
        sum += AT(values, row, k) * x[AT(columns, row, k)];
    y[row] = sum;
}
