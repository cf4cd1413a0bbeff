/* Matrix multiplication (Jang 2011, figure 2). */
enum { M = 512, N = 512, P = 512 };

void matmul(float A[M][P], float B[P][N], float C[M][N])
{
    for (int i1 = 0; i1 < M; i1++)
        for (int i2 = 0; i2 < N; i2++)
            for (int i3 = 0; i3 < P; i3++)
                C[i1][i2] += A[i1][i3] * B[i3][i2];
}
