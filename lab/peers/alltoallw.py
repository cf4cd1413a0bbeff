#!/usr/bin/env python3
"""A matrix of doubles by blocks of rows becomes one by blocks of columns: mpirun -n N alltoallw.py ROWS COLS REPEATS

MPI's Alltoallw, with types of MPI for the blocks and a second array, beside rs.distributed in place: the shortest of REPEATS
runs in turns, and the memory of the arrays and of the plan. ROWS and COLS are multiples of the processes.
"""
import sys

import numpy as np
import restride as rs
from mpi4py import MPI

world = MPI.COMM_WORLD
size, rank = world.Get_size(), world.Get_rank()
rows, cols, repeats = map(int, sys.argv[1:4])
own_rows, own_cols = rows // size, cols // size

before = (np.arange(own_rows)[:, None] + rank * own_rows) * float(cols) + np.arange(cols)
expected = np.arange(rows)[:, None] * float(cols) + np.arange(own_cols) + rank * own_cols
sends = [MPI.DOUBLE.Create_subarray([own_rows, cols], [own_rows, own_cols], [0, p * own_cols]).Commit() for p in range(size)]
receives = [MPI.DOUBLE.Create_contiguous(own_rows * own_cols).Commit() for _ in range(size)]
ones, zeros = [1] * size, [0] * size
places = [p * own_rows * own_cols * 8 for p in range(size)]
after = np.empty((rows, own_cols))
way = rs.distributed.Redistribution(
    world, f"r:{rows} c:{cols}", f"@r/{own_rows} r%{own_rows} c", f"@c/{own_cols} r c%{own_cols}"
)
part = way.empty()
best = [1e9, 1e9]
for _ in range(repeats):
    world.Barrier()
    begun = MPI.Wtime()
    world.Alltoallw([before, (ones, zeros), sends], [after, (ones, places), receives])
    world.Barrier()
    best[0] = min(best[0], MPI.Wtime() - begun)
    part[:] = before
    world.Barrier()
    begun = MPI.Wtime()
    columns = way(part)
    world.Barrier()
    best[1] = min(best[1], MPI.Wtime() - begun)
    assert np.array_equal(after, expected) and np.array_equal(columns, expected)
if rank == 0:
    scratch = way.describe()["scratch_bytes"]
    print(
        f"{rows} x {cols}, {size} processes: Alltoallw {1e3 * best[0]:.2f} ms with {2 * before.nbytes >> 10} KiB each, "
        f"in place {1e3 * best[1]:.2f} ms with {before.nbytes + scratch >> 10} KiB, ratio {best[0] / best[1]:.2f}"
    )
way.close()
