// Runs each kernel of kernels.cu as it was written and its second form, converts with the calls of the generated
// header, and compares all bytes. Prints times in milliseconds; the exit status is 0 when everything held.
#include REWRITTEN_HEADER

#include <restride/cuda.h>
#include <restride/status.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include REWRITTEN_KERNELS

enum { BLOCK = 256, LAUNCHES = 3 };

static void need(bool good, const char *what)
{
    if (good)
        return;
    std::fprintf(stderr, "compare: %s: %s; %s\n", what, cudaGetErrorString(cudaGetLastError()), restride_last_error());
    std::exit(1);
}

// Floats and ints that are sensible whatever type reads them.
static std::vector<unsigned> numbers(size_t bytes)
{
    std::vector<unsigned> words(bytes / 4);
    unsigned state = 7;
    for (unsigned &word : words) {
        state = state * 1664525u + 1013904223u;
        word = 0x3f800000u + (state >> 9);
    }
    return words;
}

static void *upload(const std::vector<unsigned> &words)
{
    void *buffer = nullptr;
    need(cudaMalloc(&buffer, words.size() * 4) == cudaSuccess, "memory");
    need(cudaMemcpy(buffer, words.data(), words.size() * 4, cudaMemcpyHostToDevice) == cudaSuccess, "upload");
    return buffer;
}

struct timer {
    cudaEvent_t begin, end;
    timer()
    {
        cudaEventCreate(&begin);
        cudaEventCreate(&end);
    }
    template <class F> float operator()(F run)
    {
        float best = 1e30f;
        for (int k = 0; k < LAUNCHES; k++) {
            float once;
            cudaEventRecord(begin);
            run();
            cudaEventRecord(end);
            need(cudaEventSynchronize(end) == cudaSuccess, "a kernel");
            cudaEventElapsedTime(&once, begin, end);
            best = once < best ? once : best;
        }
        return best;
    }
};

static bool same_bytes(const char *name, const void *expected, const void *found, size_t bytes)
{
    std::vector<unsigned char> a(bytes), b(bytes);
    need(cudaMemcpy(a.data(), expected, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "download");
    need(cudaMemcpy(b.data(), found, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "download");
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i]) {
            std::printf("%s: byte %zu is %02x instead of %02x\n", name, i, b[i], a[i]);
            return false;
        }
    return true;
}

// One kernel with its array; `marshal` converts there and back.
template <class Marshal, class Original, class Rewritten>
static bool compare(const char *name, restride_engine *engine, size_t bytes, size_t count, Marshal marshal,
                    Original run_original, Rewritten run_rewritten)
{
    const std::vector<unsigned> words = numbers(bytes);
    void *own = upload(words), *moved = upload(words);
    timer time;
    float before = time([&] { run_original(own); });
    float there = 0, back = 0, after = 0;
    cudaEvent_t at[3];
    for (cudaEvent_t &event : at)
        cudaEventCreate(&event);
    need(marshal(engine, moved, count, 0) == RESTRIDE_OK && marshal(engine, moved, count, 1) == RESTRIDE_OK, "a conversion");
    cudaEventRecord(at[0]);
    need(marshal(engine, moved, count, 0) == RESTRIDE_OK, "a conversion");
    cudaEventRecord(at[1]);
    after = time([&] { run_rewritten(moved); });
    cudaEventRecord(at[2]);
    need(marshal(engine, moved, count, 1) == RESTRIDE_OK, "a conversion");
    need(cudaDeviceSynchronize() == cudaSuccess, "the kernels");
    cudaEventElapsedTime(&there, at[0], at[1]);
    (void)back;
    bool same = same_bytes(name, own, moved, bytes);
    std::printf("%-8s %9zu records of %3zu bytes: %8.3f ms as written, %8.3f ms rewritten (%5.2f times), %8.3f ms to convert: %s\n",
                name, count, bytes / count, before, after, before / after, there, same ? "same" : "DIFFERENT");
    cudaFree(own);
    cudaFree(moved);
    return same;
}

int main(int argc, char **argv)
{
    const size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000003;
    const int n = (int)count, blocks = (n + BLOCK - 1) / BLOCK;
    restride_engine *engine = nullptr;
    need(cudaFree(nullptr) == cudaSuccess, "a device");
    need(restride_engine_create_cuda(&engine, nullptr) == RESTRIDE_OK, "an engine");
    const restride_extent extent = {n, 0};
    bool good = true;
    {
        void *old = upload(numbers(count * sizeof(particle))), *moved_old = upload(numbers(count * sizeof(particle)));
        need(restride_advance_old_marshal(engine, moved_old, count, 0) == RESTRIDE_OK, "a conversion");
        good &= compare(
            "advance", engine, count * sizeof(particle), count, restride_advance_p_marshal,
            [&](void *p) { advance<<<blocks, BLOCK>>>((particle *)p, (const particle *)old, 0.5f, n); },
            [&](void *p) {
                restride_advance_form(restride_is_full(count), restride_is_large(count, sizeof(particle)))<<<blocks, BLOCK>>>(
                    (particle *)p, (const particle *)moved_old, 0.5f, n, extent, extent);
            });
        cudaFree(old);
        cudaFree(moved_old);
    }
    good &= compare(
        "settle", engine, count * sizeof(body), count, restride_settle_3_b_marshal,
        [&](void *b) { settle_all((body *)b, n); },
        [&](void *b) {
            restride_settle_3_form(restride_is_full(count), restride_is_large(count, sizeof(body)))<<<blocks, BLOCK>>>((body *)b, n,
                                                                                                                       extent);
        });
    restride_engine_destroy(engine);
    return good ? 0 : 1;
}
