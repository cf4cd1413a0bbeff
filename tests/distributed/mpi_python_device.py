#!/usr/bin/python3
"""Redistributions of CUDA arrays from Python, on the emulated device, whose memory is the process's own: every process runs
this under mpirun. Leaves with 77 where mpi4py is missing."""
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
if rank == 0:
    print("CUDA arrays over processes are right")
