/*
 * Two pieces of memory change their words; one of them may be another device's. Each thread reads
 * several words of both before it writes them, so that enough of them travel at once. The host
 * defines THREADS.
 */
enum { AT_ONCE = 4 };

KERNEL swap(word *own, word *other, ulong words)
{
    const ulong step = (ulong)gridDim.x * THREADS;
    word there[AT_ONCE];
    word here[AT_ONCE];
    for (ulong first = (ulong)blockIdx.x * THREADS + threadIdx.x; first < words;
         first += AT_ONCE * step) {
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * step < words) {
                there[k] = other[first + k * step];
                here[k] = own[first + k * step];
            }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * step < words) {
                other[first + k * step] = here[k];
                own[first + k * step] = there[k];
            }
    }
}
