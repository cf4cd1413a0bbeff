#!/usr/bin/env python3
"""cuda_arrays.py [CASES]: the tests of test_arrays.py with arrays of CuPy, PyTorch and JAX on a card; times and memory.

Needs a CUDA device and those of the three libraries that are to be tried; says which are missing. Each array lies in
the middle of a buffer on the card, and what NumPy makes of the same bytes is what must come out. The last line is
"N libraries, M cases, 0 wrong"; the exit status is 1 where something is wrong.
"""

import statistics
import sys
import time

import guarded as g
import numpy as np
import restride as rs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
KINDS = [np.dtype(kind) for kind in ("?", "u1", "i1", "i2", "f2", "i4", "f4", "f8", "u4", "c8", "c16", "i8")]
counted = {}


class Cupy:
    name = "CuPy"

    def __init__(self):
        import cupy

        self.cupy = cupy

    def upload(self, buffer):
        return self.cupy.asarray(buffer)

    def view(self, memory, first, array):
        pointer = memory.data + first
        return self.cupy.ndarray(array.shape, array.dtype, pointer, array.strides)

    def download(self, array):
        return self.cupy.asnumpy(array)

    def address(self, array):
        return array.data.ptr


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch

        torch.zeros(1, device="cuda")
        self.torch = torch

    def upload(self, buffer):
        return self.torch.from_numpy(buffer.copy()).cuda()

    def view(self, memory, first, array):
        kind = self.torch.from_numpy(np.zeros(1, array.dtype)).dtype
        room = memory[first : first + max(array.nbytes, array.itemsize)].view(kind)
        strides = [step // array.itemsize for step in array.strides]
        return room.as_strided(array.shape, strides, room.storage_offset())

    def download(self, array):
        return array.cpu().numpy()

    def address(self, array):
        return array.data_ptr()


def cases(library):
    def plain(made):
        return made[1].dtype.itemsize in (1, 2, 4, 8, 16)

    @settings(
        max_examples=CASES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(g.dense(st.sampled_from(KINDS)).filter(plain), st.data())
    def permute(made, data):
        guarded, a = made
        if library.name == "PyTorch" and a.dtype == np.dtype("u4"):
            return
        axes = list(data.draw(st.permutations(range(a.ndim))))
        order = data.draw(st.sampled_from("KKCF"))
        first = guarded.first
        if library.name == "PyTorch" and first % a.itemsize:
            return  # PyTorch has no such views
        memory = library.upload(guarded.buffer)
        x = library.view(memory, first, a)
        counted[library.name] = counted.get(library.name, 0) + 1
        before = library.download(memory)
        if library.address(x) % 16 and a.nbytes:
            try:
                rs.permute(x, axes, order=order)
            except rs.Error as refused:
                assert "16 bytes" in str(refused), refused
            else:
                raise AssertionError("an address that is no multiple of 16 was taken")
            assert (library.download(memory) == before).all()
            return
        wanted = np.ascontiguousarray(g.raw(a).transpose(axes)).tobytes()
        b = rs.permute(x, axes, order=order)
        assert tuple(b.shape) == tuple(a.shape[axis] for axis in axes)
        assert type(b) is type(x)
        assert library.address(b) == library.address(x) or not a.nbytes
        assert np.ascontiguousarray(library.download(b)).tobytes() == wanted, (a.shape, a.strides, a.dtype, axes, order)
        after = library.download(memory)
        assert (after[:first] == before[:first]).all(), "bytes before the array"
        assert (after[first + a.nbytes :] == before[first + a.nbytes :]).all(), "bytes after the array"

    permute()


def refusals(cupy):
    a = cupy.zeros((8, 8), "f4")
    for view in (a[:, ::2], a[::-1], cupy.broadcast_to(cupy.zeros(4, "f4"), (3, 4)), a.ravel()[1:].reshape(7, 9)):
        try:
            rs.transpose(view)
        except rs.Error as refused:
            print("refused:", refused)
            wanted = cupy.asnumpy(view).T
            assert (cupy.asnumpy(rs.transpose(view, out_of_place=True)) == wanted).all()
        else:
            raise AssertionError("a view was taken")


def streams(cupy):
    """Work before and after on the caller's own stream, without any wait between."""
    host = np.random.default_rng(1).random((3000, 2000)).astype("f4")
    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.ptds, cupy.cuda.Stream.null):
        with stream:
            for _ in range(20):
                x = cupy.asarray(host)
                for _ in range(30):
                    x += 1
                b = rs.transpose(x)
                b -= 30
                assert np.allclose(cupy.asnumpy(b), host.T, atol=1e-3)
    print("streams: own, per thread and default in order")


def torch_streams(torch):
    host = torch.rand(3000, 2000)
    for _ in range(20):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = host.cuda(non_blocking=True)
            for _ in range(30):
                x += 1
            b = rs.transpose(x)
            b -= 30
            good = torch.allclose(b.cpu(), host.T, atol=1e-3)
        assert good
    print("streams of PyTorch in order")


def interfaces(cupy):
    """What is known by __cuda_array_interface__ or by DLPack alone."""
    host = np.arange(600000, dtype="i4").reshape(2, 300, 1000)

    class ByInterface:
        def __init__(self, array):
            self.kept, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    class ByDlpack:
        def __init__(self, array):
            self.kept = array

        def __dlpack__(self, **how):
            return self.kept.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.kept.__dlpack_device__()

    for kind in (ByInterface, ByDlpack):
        x = cupy.asarray(host)
        b = rs.permute(kind(x), (2, 0, 1))
        assert isinstance(b, rs.DeviceArray)
        assert (cupy.asnumpy(cupy.asarray(b)) == host.transpose(2, 0, 1)).all()
    x = cupy.asarray(host)
    assert rs.convert(x, "a:2 b:300 c:1000", "a b c", "c a b") is x
    assert (cupy.asnumpy(x).ravel() == host.transpose(2, 0, 1).ravel()).all()
    print("__cuda_array_interface__ and DLPack alone: right")


def jax_arrays():
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as missing:
        print(f"JAX: {missing}")
        return
    wrong = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        shape = tuple(int(n) for n in random.integers(1, 90, random.integers(1, 5)))
        axes = tuple(int(axis) for axis in random.permutation(len(shape)))
        host = random.random(shape).astype("f4")
        x = jnp.asarray(host)
        copied = rs.permute(x, axes, out_of_place=True)
        wrong += not (np.asarray(x) == host).all() or not (np.asarray(copied) == host.transpose(axes)).all()
        address = x.unsafe_buffer_pointer()
        b = rs.permute(x, axes)
        wrong += not (np.asarray(b) == host.transpose(axes)).all() or b.unsafe_buffer_pointer() != address
        wrong += not x.is_deleted()
    counted["JAX"] = 60
    print(f"JAX {jax.__version__} on {jax.devices()[0]}: 60 donated and copied, {wrong} wrong")
    assert not wrong


SHAPES = [
    ((12000, 8000), (1, 0), "f4"),
    ((20000, 20000), (1, 0), "f4"),
    ((31000, 9000), (1, 0), "f4"),
    ((512, 600, 700), (2, 1, 0), "f4"),
    ((64, 224, 224, 64), (0, 3, 1, 2), "f4"),
    ((128, 1024, 16, 64), (0, 2, 1, 3), "f2"),
]


def median_ms(call, synchronize):
    call()
    synchronize()
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        call()
        synchronize()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def table(cupy, torch):
    print(f"{'array, axes':<38}{'in place':>10}{'CuPy':>10}{'PyTorch':>10}   extra MiB: in place, theirs")
    for shape, axes, kind in SHAPES:
        x = cupy.ones(shape, kind)
        plan = rs.Plan(x, axes)
        ours = median_ms(lambda: plan(x), cupy.cuda.runtime.deviceSynchronize)
        extra = plan.scratch_bytes
        plan.close()
        theirs = median_ms(lambda: cupy.ascontiguousarray(x.transpose(axes)), cupy.cuda.runtime.deviceSynchronize)
        nbytes = x.nbytes
        del x
        cupy.get_default_memory_pool().free_all_blocks()
        t = torch.ones(shape, dtype=getattr(torch, {"f4": "float32", "f2": "float16"}[kind]), device="cuda")
        torchs = median_ms(lambda: t.permute(axes).contiguous(), torch.cuda.synchronize)
        del t
        torch.cuda.empty_cache()
        what = "x".join(map(str, shape)) + " " + "".join(map(str, axes)) + " " + kind
        print(
            f"{what:<38}{ours:>7.2f} ms{theirs:>7.2f} ms{torchs:>7.2f} ms   {extra / 2**20:.1f}, {nbytes / 2**20:.0f}",
            flush=True,
        )


def main():
    libraries = []
    for kind in (Cupy, Torch):
        try:
            libraries.append(kind())
        except ImportError as missing:
            print(f"{kind.name}: {missing}")
    for library in libraries:
        begin = time.perf_counter()
        cases(library)
        print(f"{library.name}: {counted[library.name]} cases right in {time.perf_counter() - begin:.0f} s", flush=True)
    by_name = {library.name: library for library in libraries}
    if "CuPy" in by_name:
        refusals(by_name["CuPy"].cupy)
        streams(by_name["CuPy"].cupy)
        interfaces(by_name["CuPy"].cupy)
    if "PyTorch" in by_name:
        torch_streams(by_name["PyTorch"].torch)
    if len(libraries) == 2:
        table(by_name["CuPy"].cupy, by_name["PyTorch"].torch)
    jax_arrays()
    print(f"{len(counted)} libraries, {sum(counted.values())} cases, 0 wrong")


if __name__ == "__main__":
    main()
