"""CUDA arrays that are known by __cuda_array_interface__ or DLPack alone, on the emulated device of tests/engine/cuda,
whose memory is this process's own. cuda_arrays.py runs with CuPy, PyTorch and JAX on a card."""

import ctypes
import unittest

import guarded as g
import numpy as np
import restride as rs
from hypothesis import given
from hypothesis import strategies as st

GUARD = 256
KINDS = [np.dtype(kind) for kind in ("u1", "f2", "i4", "f8", "c16")]
driver = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)


class Allocation:
    """Device memory, filled with what is in `content`, between guards."""

    def __init__(self, content):
        self.pointer = ctypes.c_uint64()
        driver.cuCtxPushCurrent_v2(context)
        assert driver.cuMemAlloc_v2(ctypes.byref(self.pointer), ctypes.c_size_t(content.nbytes + 2 * GUARD)) == 0
        driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
        whole = (ctypes.c_uint8 * (content.nbytes + 2 * GUARD)).from_address(self.pointer.value)
        self.memory = np.frombuffer(whole, np.uint8)
        self.memory[:] = 0xA5
        self.inside = self.memory[GUARD : GUARD + content.nbytes]
        self.inside[:] = content

    def check_guards(self):
        assert (self.memory[:GUARD] == 0xA5).all() and (self.memory[GUARD + self.inside.size :] == 0xA5).all()

    def __del__(self):
        driver.cuCtxPushCurrent_v2(context)
        driver.cuMemFree_v2(self.pointer)
        driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


class ByInterface:
    def __init__(self, allocation, view, **more):
        self.kept = allocation
        self.__cuda_array_interface__ = {
            "shape": view.shape,
            "typestr": view.dtype.str,
            "data": (view.__array_interface__["data"][0], False),
            "strides": view.strides,
            "version": 3,
            **more,
        }


class ByDlpack:
    def __init__(self, allocation, view):
        self.kept, self.view = allocation, view

    def __dlpack__(self, stream):
        assert stream == 1
        return self.view.__dlpack__()

    def __dlpack_device__(self):
        return (2, 0)


def view_of(array, guarded):
    """The same array in device memory, and its allocation."""
    allocation = Allocation(guarded.buffer[guarded.first : guarded.first + guarded.nbytes])
    return allocation, np.ndarray(array.shape, array.dtype, allocation.inside, 0, array.strides)


class Device(unittest.TestCase):
    @g.cases(60)
    @given(g.dense(st.sampled_from(KINDS)), st.data())
    def test_permute(self, made, data):
        guarded, a = made
        axes = data.draw(st.permutations(range(a.ndim)))
        allocation, view = view_of(a, guarded)
        wanted = a.transpose(axes).tobytes()
        kind = data.draw(st.sampled_from([ByInterface, ByDlpack]))
        if not a.nbytes:
            return
        b = rs.permute(kind(allocation, view), axes)
        self.assertIsInstance(b, rs.DeviceArray)
        told = b.__cuda_array_interface__
        self.assertEqual((b.shape, told["data"][0]), (a.transpose(axes).shape, view.ctypes.data))
        now = np.ndarray(told["shape"], a.dtype, allocation.inside, 0, told["strides"])
        self.assertEqual(now.tobytes(), wanted)
        allocation.check_guards()

    def made(self, shape=(300, 200), **more):
        a = np.random.default_rng(3).integers(0, 256, shape, dtype=np.uint8)
        allocation = Allocation(a.ravel())
        return a, ByInterface(allocation, allocation.inside.reshape(shape), **more), allocation

    def test_plan_and_convert(self):
        a, x, allocation = self.made()
        with rs.Plan(x) as p:
            self.assertEqual(p.describe()["engine"], "cuda")
            p(x)
            self.assertEqual(allocation.inside.tobytes(), a.T.tobytes())
            with self.assertRaisesRegex(rs.Error, "another device or stream"):
                p(np.zeros((300, 200), "u1"))
        self.assertIs(rs.convert(x, "a:200 b:300", "a b", "b a"), x)
        self.assertEqual(allocation.inside.tobytes(), a.tobytes())
        allocation.check_guards()

    def test_refused(self):
        a, x, allocation = self.made()
        told = x.__cuda_array_interface__
        for change, words in (
            ({"data": (told["data"][0], True)}, "read-only"),
            ({"data": (told["data"][0] + 1, False), "shape": (299, 200)}, "multiple of 16 bytes"),
            ({"strides": (200, 2), "shape": (300, 100)}, "gaps"),
            ({"strides": (-200, 1)}, "negative"),
            ({"mask": x}, "mask"),
        ):
            changed = ByInterface(allocation, allocation.inside.reshape(300, 200), **change)
            with self.assertRaisesRegex(rs.Error, words):
                rs.transpose(changed)
        with self.assertRaisesRegex(rs.Error, "copy it first"):
            rs.transpose(x, out_of_place=True)
        self.assertEqual(allocation.inside.tobytes(), a.tobytes())

    def test_out(self):
        a, x, allocation = self.made()
        target = Allocation(np.zeros(a.size, np.uint8))
        out = ByInterface(target, target.inside.reshape(a.T.shape))
        self.assertIs(rs.transpose(x, out=out), out)
        self.assertEqual(target.inside.tobytes(), a.T.tobytes())
        self.assertEqual(allocation.inside.tobytes(), a.tobytes())
        with self.assertRaisesRegex(rs.Error, "another device or stream"):
            rs.transpose(x, out=np.zeros(a.T.shape, "u1"))
        target.check_guards()
        allocation.check_guards()

    def test_own_stream(self):
        stream = ctypes.c_void_p()
        driver.cuCtxPushCurrent_v2(context)
        driver.cuStreamCreate(ctypes.byref(stream), 0)
        driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
        a, x, allocation = self.made(stream=stream.value)
        rs.transpose(x)
        self.assertEqual(allocation.inside.tobytes(), a.T.tobytes())
        allocation.check_guards()


if __name__ == "__main__":
    unittest.main()
