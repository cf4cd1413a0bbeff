// Kernels of CUDA C++ that tools/gpu_rewrite.sh rewrites and runs beside what they were, with structures without padding, so
// that all bytes can be compared.
struct particle {
    float x, y, z, vx, vy, vz;
    int kind;
    unsigned int hits;
};

struct body {
    float4 place;
    float2 speed;
    double mass;
    int id[2];
    short left, right;
    float heat;
};

__device__ void kick(particle *p, float dt)
{
    p->x += dt * p->vx;
    p->y += dt * p->vy;
    p->z += dt * p->vz;
}

__device__ particle turned(const particle *p, int i)
{
    particle t = p[i];
    t.vx = -t.vx;
    return t;
}

// Structures: members, whole ones, helpers, atomics.
__global__ void advance(particle *p, const particle *old, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int next = i;
    p[next++] = old[next]; // C++17 has the right side first
    p[i].hits += next - i;
    kick(p + i, dt);
    if (p[i].kind % 3 == 0) {
        particle t = turned(old, i);
        t.hits++;
        p[i] = t;
    }
    atomicAdd(&p[i].hits, __ldg(&old[i].hits) & 7u);
    particle *own = &p[i];
    own->kind ^= i;
}

// Vectors, arrays and members of several sizes, in a template.
template <int times>
__global__ void settle(body *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 place = b[i].place;
    place.x += b[i].speed.x;
    place.y += b[i].speed.y;
    b[i].place = place;
    for (int k = 0; k < 2; k++)
        b[i].id[k] += b[i].left - k;
    b[i].mass *= times;
    b[i].right = (short)(b[i].left + 1);
    b[i].heat += (float)b[i].mass;
}

void settle_all(body *b, int n)
{
    settle<3><<<(n + 255) / 256, 256>>>(b, n);
}
