#!/usr/bin/python3
"""Redistributions from Python: every process runs this under mpirun. Leaves with 77 where mpi4py is missing."""
import pickle
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


def blocks(whole, block):
    return whole[rank * block:(rank + 1) * block]


def rows_to_columns():
    matrix = np.arange(40 * size * 30 * size, dtype=np.float32).reshape(40 * size, 30 * size)
    dims = f"r:{40 * size} c:{30 * size}"
    part = blocks(matrix, 40).copy()
    address = part.__array_interface__["data"][0]
    out = rs.distributed.redistribute(part, world, dims, "@r/40 r%40 c", "@c/30 c%30 r")
    check(out.__array_interface__["data"][0] == address, "the part moved to other memory")
    check(np.array_equal(out, blocks(matrix.T, 30)), "columns are wrong")
    back = rs.distributed.redistribute(out, world, dims, "@c/30 c%30 r", "@r/40 r%40 c", scratch_bytes=20000)
    check(np.array_equal(back, blocks(matrix, 40)), "rows are wrong")


def parts_that_grow():
    count = 10 * size
    way = rs.distributed.Redistribution(world, f"i:{count}", "@i/10 i%10", "i", np.int64)
    part = way.empty()
    check(part.shape == (10,) and way.local_bytes == 8 * (count if rank == 0 else 10), "sizes are wrong")
    for round in range(3):
        part[:] = np.arange(10) + 10 * rank + round
        whole = way(part)
        check(np.array_equal(whole, np.arange(count) + round if rank == 0 else []), "not all came to process 0")
    check(way.describe()["processes"] == size, "the description is wrong")
    small = np.zeros(10, np.int64)
    if size > 1:
        refused(lambda: way(small), f"{80 * size} are needed" if rank == 0 else "Process 0 failed")
    way.close()
    refused(way.describe, "was closed")


def records():
    record = np.dtype([("x", np.float32), ("k", np.int32)])
    members = np.zeros(6 * size, record)
    members["x"], members["k"] = np.arange(6 * size), np.arange(6 * size) * 3
    way = rs.distributed.Redistribution(world, f"i:{6 * size} f{{ float x; int k; }}", "@i/6 i%6 f", "@f i")
    part = way.empty()
    part[:] = blocks(members, 6).view(np.uint8)
    out = way(part)
    expected = members["x"] if rank == 0 else members["k"] if rank == 1 else np.zeros(0, np.float32)
    check(np.array_equal(out.view(expected.dtype), expected), "members are wrong")
    way.close()


def mistakes():
    part = np.zeros(4, np.float32)
    refused(lambda: rs.distributed.redistribute(part, world, f"i:{4 * size}", "@i/4 i%4", "@i/3"), "is missing")
    layout = "@i/4 i%4" if rank == 0 else "@i/5 i%5"
    if size > 1:
        refused(lambda: rs.distributed.redistribute(part, world, f"i:{4 * size}", layout, "i"), "other arguments")
    refused(lambda: rs.distributed.redistribute(part, world, f"i:{4 * size}", "@i/4 i%4", "@i/4 i%4", scratch_bytes=-1),
            "scratch_bytes")
    make, dims = rs.distributed.Redistribution, f"i:{4 * size}"
    for communicator in (None, MPI.COMM_NULL):
        refused(lambda: make(communicator, dims, "@i/4 i%4", "i"), "MPI.COMM_WORLD")
    for kind in ("nonsense", object, "S0"):
        refused(lambda: make(world, dims, "@i/4 i%4", "i", kind), "fixed size")
    for timeout in ("x", -1, float("nan")):
        refused(lambda: make(world, dims, "@i/4 i%4", "i", timeout=timeout), "seconds above 0")
    way = make(world, dims, "@i/4 i%4", "@i/4 i%4")
    for wrong, words in ((None, "a NumPy array"), ([1, 2, 3, 4], "a NumPy array"), (np.zeros(8)[::2], "without gaps"),
                         (np.array([None] * 4), "Python objects"), (np.ma.zeros(4), "mask"),
                         (np.frombuffer(bytes(32)), "read-only"), (np.zeros(8, "f4"), "4 bytes, not 8")):
        refused(lambda: way(wrong), words)
    refused(lambda: pickle.dumps(way), "stays in its process")
    way.close()


rows_to_columns()
parts_that_grow()
if size > 1:
    records()
mistakes()
if rank == 0:
    print(f"right on {size} processes")
