/* Each thread reads one object through the index array. */
kernel void gather(global const float *restrict slots, global const uint *restrict index,
                   global float *restrict result, ulong threads)
{
    size_t t = get_global_id(0);
    if (t < threads)
        result[t] = 2.0f * slots[index[t]];
}
