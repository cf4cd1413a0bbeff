/*
 * Kernels over an array of structures for `restride-lab judge`: what the lanes of a warp do with
 * its elements, and the layout, are the host's definitions.
 *
 * CLASS: what an rs_judge_lanes says. WORDS of an element, of which USED are touched, evenly
 * spread. GROUP: elements of a lane, RANGE those that it walks along. TILE and TILE_GROUP: the
 * layout i/(TILE_GROUP*TILE) i%TILE_GROUP f i/TILE_GROUP%TILE; TILE 0: SoA; SPLIT: the used words
 * alone as an AoS. WORK: multiplications and additions for each used word. WRITES, or only reads.
 */
#define WORD_OF(u) ((u)*WORDS / USED)

FUNCTION int place(int n, int i, int u)
{
#if SPLIT
    return i * USED + u;
#elif TILE == 0
    return WORD_OF(u) * n + i;
#else
    int group = i / TILE_GROUP, k = i % TILE_GROUP;
    return ((group / TILE * TILE_GROUP + k) * WORDS + WORD_OF(u)) * TILE + group % TILE;
#endif
}

FUNCTION float work(float value)
{
    for (int w = 0; w < WORK; w++)
        value = value * 0.999f + 0.25f;
    return value;
}

FUNCTION float visit(GLOBAL float *p, int n, int i)
{
    float values[USED], sum = 0;
    UNROLL
    for (int u = 0; u < USED; u++)
        values[u] = p[place(n, i, u)];
    UNROLL
    for (int u = 0; u < USED; u++) {
        values[u] = work(values[u]);
        sum += values[u];
    }
#if WRITES
    UNROLL
    for (int u = 0; u < USED; u++)
        p[place(n, i, u)] = values[u];
#endif
    return sum;
}

KERNEL visit_elements(GLOBAL float *p, GLOBAL float *out, GLOBAL const int *chosen, int n,
                      int threads, int visits, LOCAL_ARRAY(uint, unused))
{
    int id = (int)(GROUP_ID * LOCAL_SIZE + LOCAL_ID);
    float sum = 0;
    if (id >= threads)
        return;
#if CLASS == 0
    sum = visit(p, n, id);
#elif CLASS == 1
    UNROLL
    for (int k = 0; k < GROUP; k++)
        sum += visit(p, n, id * GROUP + k);
#elif CLASS == 2
    int at = place(n, id / USED, id % USED);
    sum = work(p[at]);
#if WRITES
    p[at] = sum;
#endif
#elif CLASS == 3
    for (int e = 0; e < visits; e++)
        sum += visit(p, n, e);
#elif CLASS == 4
    sum = visit(p, n, chosen[id]);
#else
    for (int e = 0; e < RANGE; e++)
        sum += visit(p, n, id * RANGE + e);
#endif
    out[id] = sum;
}

/* Numbers that depend on the element and the word alone. */
KERNEL fill_elements(GLOBAL float *p, GLOBAL int *chosen, int n)
{
    int i = (int)(GROUP_ID * LOCAL_SIZE + LOCAL_ID);
    if (i >= n)
        return;
    for (int u = 0; u < USED; u++)
        p[place(n, i, u)] = (float)((uint)(i * 31 + u * 7) % 1024u) * 0.125f;
    chosen[i] = (int)(((ulong)(uint)i * 2654435761ul + 12345ul) % (ulong)(uint)n);
}

KERNEL sum_elements(GLOBAL const float *p, GLOBAL float *out, int n)
{
    int i = (int)(GROUP_ID * LOCAL_SIZE + LOCAL_ID);
    float sum = 0;
    if (i >= n)
        return;
    for (int u = 0; u < USED; u++)
        sum = sum * 0.5f + p[place(n, i, u)];
    out[i] = sum;
}
