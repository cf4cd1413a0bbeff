#!/usr/bin/python3
"""Redistributions of CUDA arrays from Python: every process runs this under mpirun, with `cupy` or `torch` behind it for arrays
of these on the GPUs, which the processes take in turn. Without, on the emulated device, whose memory is the process's own.
Leaves with 77 where mpi4py is missing."""
import ctypes
import sys

import numpy as np

try:
    from mpi4py import MPI
except ImportError:
    print("mpi4py is missing")
    sys.exit(77)

import restride as rs

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
kind = sys.argv[1] if len(sys.argv) > 1 else "emulated"
if kind == "emulated":
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)

    class OnDevice:
        """Device memory with the values of a NumPy array, and room for `room` bytes."""

        def __init__(self, values, room=0):
            pointer = ctypes.c_uint64()
            driver.cuCtxPushCurrent_v2(context)
            assert driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(max(values.nbytes, room))) == 0
            driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
            count = max(values.nbytes, room) // values.itemsize
            self.memory = np.frombuffer((ctypes.c_uint8 * (count * values.itemsize)).from_address(pointer.value), values.dtype)
            self.memory[: values.size] = values.ravel()
            shape = values.shape if room <= values.nbytes else (count,)
            self.__cuda_array_interface__ = {
                "shape": shape, "typestr": values.dtype.str, "data": (pointer.value, False), "strides": None, "version": 3
            }

    def seen(array):
        """What an array on the device holds, by its interface alone."""
        told = array.__cuda_array_interface__
        unit = np.dtype(told["typestr"])
        count = int(np.prod(told["shape"]))
        whole = (ctypes.c_uint8 * (count * unit.itemsize)).from_address(told["data"][0])
        assert told["strides"] is None or told["strides"][-1] == unit.itemsize
        return np.frombuffer(whole, unit).reshape(told["shape"]).copy()

else:
    library = __import__(kind)
    cuda = library.cuda
    if kind == "cupy":
        cuda.Device(rank % cuda.runtime.getDeviceCount()).use()
    else:
        cuda.set_device(rank % cuda.device_count())

    def OnDevice(values, room=0):
        """An array of that library with the values of a NumPy array, and room for `room` bytes."""
        put = library.asarray(values) if kind == "cupy" else library.from_numpy(values.copy()).cuda()
        if room <= values.nbytes:
            return put
        more = (room - values.nbytes) // values.itemsize
        rest = library.zeros(more, dtype=put.dtype) if kind == "cupy" else library.zeros(more, dtype=put.dtype, device="cuda")
        return library.concatenate([put.ravel(), rest]) if kind == "cupy" else library.cat([put.ravel(), rest])

    def seen(array):
        return array.get() if kind == "cupy" else array.cpu().numpy()


def check(right, what):
    if not right:
        print(f"process {rank}: {what}", flush=True)
        world.Abort(1)


def refused(call, words):
    try:
        call()
    except rs.Error as error:
        check(words in str(error), f"{error} does not say {words}")
    else:
        check(False, f"no error says {words}")


rows, cols = 40 * size, 30 * size
matrix = np.arange(rows * cols, dtype=np.float32).reshape(rows, cols)
part = OnDevice(matrix[40 * rank : 40 * rank + 40])
out = rs.distributed.redistribute(part, world, f"r:{rows} c:{cols}", "@r/40 r%40 c", "@c/30 c%30 r")
check(out.__cuda_array_interface__["data"] == part.__cuda_array_interface__["data"], "the part moved")
check(np.array_equal(seen(out), matrix.T[30 * rank : 30 * rank + 30]), "columns are wrong")

# A part that grows has room in a larger array.
count = 10 * size
numbers = np.arange(10, dtype=np.int64) + 10 * rank
way = rs.distributed.Redistribution(world, f"i:{count}", "@i/10 i%10", "i", like=OnDevice(numbers))
check(way.local_bytes == 8 * (count if rank == 0 else 10), "sizes are wrong")
whole = way(OnDevice(numbers, way.local_bytes))
check(np.array_equal(seen(whole), np.arange(count) if rank == 0 else []), "not all came to process 0")
refused(way.empty, "are on a device")
small = OnDevice(numbers)
refused(lambda: way(small if rank == 0 else OnDevice(numbers)), "take a larger array" if rank == 0 else "Process 0 failed")
refused(lambda: way(numbers if rank == 1 else OnDevice(numbers, way.local_bytes)), "not on the device" if rank == 1 else "Process 1")
way.close()

# Ragged parts of several types, there and back.
for dtype in (np.uint8, np.float16, np.int32, np.complex128):
    rows, cols = 37 * size - 5, 23 * size - 4
    matrix = (np.arange(rows * cols) % 251).astype(dtype).reshape(rows, cols)
    before, after = matrix[37 * rank : 37 * rank + 37], np.ascontiguousarray(matrix.T[23 * rank : 23 * rank + 23])
    both = rs.distributed.Redistribution(world, f"r:{rows} c:{cols}", "@r/37 r%37 c", "@c/23 c%23 r", like=OnDevice(before))
    back = rs.distributed.Redistribution(world, f"r:{rows} c:{cols}", "@c/23 c%23 r", "@r/37 r%37 c", like=OnDevice(before))
    there = both(OnDevice(before, both.local_bytes))
    check(np.array_equal(seen(there).reshape(after.shape), after), f"columns of {dtype.__name__} are wrong")
    again = back(OnDevice(after, back.local_bytes))
    check(np.array_equal(seen(again).reshape(before.shape), before), f"rows of {dtype.__name__} are wrong")
    both.close()
    back.close()
if rank == 0:
    print(f"CUDA arrays over processes are right: {kind}, {size} processes")
