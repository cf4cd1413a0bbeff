/* Kernels over an array of structures that the layer converts, one that takes it for an array in
 * SoA, and two that keep it from doing so. */
typedef struct {
    float x;
    float v[3];
    uint n;
    uchar tag;
} cell;

__kernel void bump(__global cell *cells, uint by)
{
    size_t i = get_global_id(0);
    cells[i].x += (float)by;
    cells[i].v[by % 3] = cells[i].x;
    cells[i].n ^= by * 2654435761u;
    cells[i].tag += 1;
}

/* Reads one buffer, writes the other; they may be the same one. */
__kernel void join(__global cell *to, __global const cell *from)
{
    size_t i = get_global_id(0);
    to[i].n += from[i].n;
    to[i].v[1] = from[i].v[2];
}

__kernel void take(__global const cell *cells, __global uint *out)
{
    size_t i = get_global_id(0);
    out[i] = cells[i].n + cells[i].tag;
}

/* The same buffer as plain words: not an array of structures here, so it must be AoS. */
__kernel void words(__global uint *all, uint by)
{
    size_t i = get_global_id(0);
    all[i * 6 + 4] += by;
}

/* And as six planes of words, each of which has one word for every cell. */
// DL: SoA: planes[6][count]
__kernel void sweep(__global uint *planes, uint count, uint by)
{
    size_t i = get_global_id(0);
    for (uint f = 0; f < 6; f++)
        planes[f * count + i] ^= (by + f) << f;
}

/* A structure for one argument and words for another. */
__kernel void both(__global cell *cells, __global const uint *all)
{
    size_t i = get_global_id(0);
    cells[i].tag = (uchar)all[i * 6 + 4];
}
