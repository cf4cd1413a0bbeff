"""cuda_programs.py NAME SECONDS: one program that uses a GPU from Python, for bench/gpu_programs.py. It does some work whose
results do not depend on time, then a loop of as many rounds as LOOP_ROUNDS says, or as take so many seconds. It prints one line of
JSON: the rounds, the loop's seconds, and a digest of all results."""
import hashlib
import json
import os
import sys
import time

STRUCTURES = r"""
struct Body { float x, y, z, u, v, w, mass, charge, more[8]; };
extern "C" __global__ void move(Body *b, int n, float dt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    b[i].x += dt * b[i].u;
    b[i].y += dt * b[i].v;
    b[i].z += dt * b[i].w;
    b[i].u -= dt * b[i].x * b[i].charge / b[i].mass;
    for (int k = 0; k < 8; k++) b[i].more[k] += b[i].x;
}
extern "C" __global__ void weigh(const Body *b, float *sums, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sums[i] += b[i].mass * (b[i].x + b[i].more[7]);
}
"""
SCALE = r"""
extern "C" __global__ void scale(const float *a, float *b, float k, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = k * a[i] + b[i] * 0.5f;
}
"""


def run_loop(once, wait):
    """Rounds of the loop, by count or by time, and their seconds."""
    wanted, seconds = int(os.environ.get("LOOP_ROUNDS", "0")), float(sys.argv[2])
    for _ in range(3):
        once()
    wait()
    began, rounds = time.perf_counter(), 0
    while rounds < wanted or (wanted == 0 and time.perf_counter() - began < seconds):
        for _ in range(10):
            once()
        wait()
        rounds += 1
    return rounds, time.perf_counter() - began


def finish(results, rounds=0, seconds=0.0, **more):
    digest = hashlib.sha256()
    for one in results:
        digest.update(one.tobytes())
    print(json.dumps({"rounds": rounds, "seconds": seconds, "digest": digest.hexdigest()[:16], **more}))


def start():
    import cupy

    a = cupy.arange(1000, dtype=cupy.float32)
    finish([cupy.asnumpy(a * 2 + 1)])


def cupy_kernels():
    """Kernels of floats, ufuncs, cuBLAS: nothing has another layout."""
    import cupy

    n = 1 << 22
    scale = cupy.RawKernel(SCALE, "scale")
    a = cupy.arange(n, dtype=cupy.float32) % 97
    b, m = cupy.zeros_like(a), (cupy.arange(512 * 512, dtype=cupy.float32) % 13).reshape(512, 512)

    def once():
        scale((n // 256,), (256,), (a, b, cupy.float32(0.25), cupy.int32(n)))
        cupy.maximum(b, 3, out=b)
        return m @ m

    rounds, seconds = run_loop(once, cupy.cuda.get_current_stream().synchronize)
    b[:] = 0
    for _ in range(5):
        product = once()
    finish([cupy.asnumpy(b), cupy.asnumpy(product), cupy.asnumpy(cupy.sort(a)[::1000])], rounds, seconds)


def cupy_structures():
    """An array of structures in memory of its own, and one in CuPy's pool."""
    import cupy

    n, steps = 1 << 21, 300
    module = cupy.RawModule(code=STRUCTURES, options=("-std=c++17",))
    move, weigh = module.get_function("move"), module.get_function("weigh")
    results = []
    began = time.perf_counter()
    for allocator in (None, cupy.get_default_memory_pool().malloc):
        cupy.cuda.set_allocator(allocator)
        bodies = (cupy.arange(n * 16, dtype=cupy.float32) % 31 + 1) / 8
        sums = cupy.zeros(n, dtype=cupy.float32)
        for _ in range(steps):
            move((n // 256,), (256,), (bodies, cupy.int32(n), cupy.float32(0.001)))
            weigh((n // 256,), (256,), (bodies, sums, cupy.int32(n)))
        results += [cupy.asnumpy(bodies), cupy.asnumpy(sums)]
    finish(results, 1, time.perf_counter() - began)


def torch_model(is_compiled):
    import torch

    torch.manual_seed(7)
    torch.backends.cuda.matmul.allow_tf32 = False
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 512)).cuda()
    points = torch.randn(1024, 512, device="cuda")
    call = torch.compile(model) if is_compiled else model

    def once():
        with torch.no_grad():
            return torch.softmax(call(points) * 2 + points, dim=1)

    rounds, seconds = run_loop(once, torch.cuda.synchronize)
    results = [once().cpu().numpy(), torch.sort(points.flatten())[0].cpu().numpy(), torch.cumsum(points, 0).cpu().numpy()]
    power = torch.cuda.jiterator._create_jit_fn("template <typename T> T power(T x, T y) { return x * x * x + y; }")  # by NVRTC
    results.append(power(points, points).cpu().numpy())
    finish(results, rounds, seconds)


def numba_kernels():
    import numba.cuda
    import numpy

    @numba.cuda.jit
    def scale(a, b, k):
        i = numba.cuda.grid(1)
        if i < a.size:
            b[i] = k * a[i] + b[i] * 0.5

    host = numpy.arange(1 << 20, dtype=numpy.float32) % 97
    a, b = numba.cuda.to_device(host), numba.cuda.to_device(host)
    rounds, seconds = run_loop(lambda: scale[4096, 256](a, b, numpy.float32(0.25)), numba.cuda.synchronize)
    b.copy_to_device(host)
    scale[4096, 256](a, b, numpy.float32(0.25))
    finish([b.copy_to_host()], rounds, seconds)


PROGRAMS = {
    "start": start,
    "cupy": cupy_kernels,
    "structures": cupy_structures,
    "torch": lambda: torch_model(False),
    "compile": lambda: torch_model(True),
    "numba": numba_kernels,
}
if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
