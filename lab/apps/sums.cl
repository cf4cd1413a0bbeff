/* Every member of a structure of WIDTH floats is read and written: the mean of all is mixed in. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef AT
#define RECORDS float
#define MEMBER(i, k) AT(records, i, k)
#else
typedef struct {
    float f[WIDTH];
} record;
#define RECORDS record
#define MEMBER(i, k) records[i].f[k]
#endif

__kernel void blend(__global RECORDS *records, ulong count)
{
    const size_t i = get_global_id(0);
    float f[WIDTH];
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; k++) {
        f[k] = MEMBER(i, k);
        sum += f[k];
    }
    sum /= (float)WIDTH;
    for (int k = 0; k < WIDTH; k++)
        MEMBER(i, k) = 0.5f * (f[k] + sum);
}
