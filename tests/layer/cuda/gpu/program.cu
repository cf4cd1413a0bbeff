/*
 * program RECORDS STEPS FILE: a program of CUDA for tools/gpu_layer_cuda.sh, with second forms by
 * hand (forms.c describes them). It moves an array of structures for so many steps, in two streams
 * and with a few kernels and copies that need the program's layout, and writes all bytes to FILE.
 * It prints the seconds of its kernels, and the nanoseconds of a launch that has nothing to gain.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct body {
    float x, y, z, u, v, w, mass, charge, more[8];
};
struct restride_extent {
    long long count, first;
};

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t code = call;                                                             \
        if (code != cudaSuccess) {                                                                 \
            std::printf("%s: %s\n", #call, cudaGetErrorString(code));                              \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

/* ---- kernels, and the forms for "i/32 f i%32" ---- */

template <bool is_full, class I> struct place {
    float *base;
    I count;
    __device__ float &at(I i, int member) const
    {
        const I first = i & ~I(31);
        const I rest = count - first;
        const I span = is_full || rest > 32 ? I(32) : rest;
        return base[first * I(sizeof(body) / sizeof(float)) + member * span + (i & 31)];
    }
};

struct plain {
    float *base;
    __device__ float &at(long long i, int member) const
    {
        return base[i * (long long)(sizeof(body) / sizeof(float)) + member];
    }
};

template <class P> __device__ void move_one(const P &p, long long i, float dt)
{
    p.at(i, 0) += dt * p.at(i, 3);
    p.at(i, 1) += dt * p.at(i, 4);
    p.at(i, 2) += dt * p.at(i, 5);
    p.at(i, 3) -= dt * p.at(i, 0) * p.at(i, 7) / p.at(i, 6);
}

template <class P> __device__ void weigh_one(const P &p, long long i, float *sums)
{
    sums[i] += p.at(i, 6) * (p.at(i, 0) + p.at(i, 8));
}

__device__ inline long long thread_number()
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void move(body *b, int n, float dt)
{
    if (thread_number() < n)
        move_one(plain{(float *)b}, thread_number(), dt);
}

extern "C" __global__ void weigh(const body *b, float *sums, int n)
{
    if (thread_number() < n)
        weigh_one(plain{(float *)b}, thread_number(), sums);
}

#define FORMS(name, is_full, I)                                                                    \
    extern "C" __global__ void move_##name(body *b, int n, float dt, restride_extent e)            \
    {                                                                                              \
        if (thread_number() < n)                                                                   \
            move_one(place<is_full, I>{(float *)b, (I)e.count}, thread_number(), dt);              \
    }                                                                                              \
    extern "C" __global__ void weigh_##name(const body *b, float *sums, int n, restride_extent e)  \
    {                                                                                              \
        if (thread_number() < n)                                                                   \
            weigh_one(place<is_full, I>{(float *)b, (I)e.count}, thread_number(), sums);           \
    }
FORMS(full, true, int)
FORMS(ragged, false, int)
FORMS(full_large, true, long long)
FORMS(ragged_large, false, long long)

/* Not described, so it may use anything. */
__global__ void turn(body *b, int n)
{
    if (thread_number() < n)
        b[thread_number()].w += b[thread_number()].u;
}

__global__ void nothing(int *at)
{
    if (at != nullptr)
        *at = 0;
}

/* ---- the program ---- */

static double now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static unsigned blocks(size_t n)
{
    return (unsigned)((n + 255) / 256);
}

static double launch_nanoseconds()
{
    const int rounds = 20, launches = 1000;
    double best = 1;
    for (int round = 0; round < rounds; round++) {
        CHECK(cudaDeviceSynchronize());
        const double start = now();
        for (int i = 0; i < launches; i++)
            nothing<<<1, 32>>>(nullptr);
        const double took = (now() - start) / launches;
        best = took < best ? took : best;
    }
    CHECK(cudaDeviceSynchronize());
    return best * 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const size_t n = std::strtoull(argv[1], nullptr, 10);
    const int steps = std::atoi(argv[2]);
    std::vector<body> bodies(n);
    std::vector<float> sums(n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof(body) / sizeof(float); k++)
            ((float *)&bodies[i])[k] = 1 + float((i * 7 + k * 13) % 101) / 8;
    body *device;
    float *device_sums;
    cudaStream_t other;
    cudaEvent_t begin, end, ready;
    CHECK(cudaMalloc(&device, n * sizeof(body)));
    CHECK(cudaMalloc(&device_sums, n * sizeof(float)));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaMemcpy(device, bodies.data(), n * sizeof(body), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_sums, 0, n * sizeof(float)));
    const double start = now();
    CHECK(cudaEventRecord(begin));
    for (int step = 0; step < steps; step++) {
        move<<<blocks(n), 256>>>(device, (int)n, 0.01f);
        CHECK(cudaEventRecord(ready));
        CHECK(cudaStreamWaitEvent(other, ready));
        weigh<<<blocks(n), 256, 0, other>>>(device, device_sums, (int)n);
        CHECK(cudaEventRecord(ready, other));
        CHECK(cudaStreamWaitEvent(0, ready));
        if (step == steps / 2)
            turn<<<blocks(n), 256>>>(device, (int)n);
    }
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    const double took = now() - start;
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaMemcpy(bodies.data(), device, n * sizeof(body), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums.data(), device_sums, n * sizeof(float), cudaMemcpyDeviceToHost));
    const double nanoseconds = launch_nanoseconds();
    std::printf("%.6f %.6f %.0f\n", milliseconds * 1e-3, took, nanoseconds);
    FILE *file = std::fopen(argv[3], "wb");
    if (file == nullptr || std::fwrite(bodies.data(), sizeof(body), n, file) != n ||
        std::fwrite(sums.data(), sizeof(float), n, file) != n)
        return 1;
    std::fclose(file);
    return 0;
}
