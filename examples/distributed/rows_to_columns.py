"""A matrix by blocks of rows becomes one by blocks of columns: mpirun -n 4 python3 rows_to_columns.py

As a DTensor goes from Shard(0) to Shard(1), but each process keeps its memory: there is no second array.
"""
import numpy as np
import restride as rs
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
rows, cols = 1000 * size, 500 * size

part = np.empty((1000, cols), np.float32)  # rows 1000 rank and following
part[:] = (1000 * rank + np.arange(1000))[:, None] * 7 + np.arange(cols)

columns = rs.distributed.redistribute(part, world, f"r:{rows} c:{cols}", "@r/1000 r%1000 c", "@c/500 r c%500")

expected = np.arange(rows)[:, None] * 7 + (500 * rank + np.arange(500))
assert columns.shape == (rows, 500) and np.array_equal(columns, expected)
if rank == 0:
    print(f"{size} processes hold {rows} x 500 of {rows} x {cols}")
