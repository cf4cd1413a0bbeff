#!/bin/sh
# mpich.sh BUILD SEED COUNT: the random redistributions with MPICH instead of the MPI that BUILD has. Leaves with 77 where
# MPICH is missing (Debian's mpich and libmpich-dev).
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
if ! command -v mpicc.mpich >/dev/null || ! command -v mpiexec.mpich >/dev/null; then
    echo "MPICH is missing"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mpicc.mpich -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g -Wall -Wextra -Werror -Iinclude -Isrc -rdynamic \
    tests/distributed/mpi_redistribute.c tests/distributed/mpi_checked.c tests/distributed/cases.c src/distributed/mpi.c \
    tests/engine/cuda/cuda_buffers.c tests/engine/cuda/device.c -o "$work/redistribute" "-L$build/src" -lrestride "-Wl,-rpath,$build/src"
tests/distributed/mpirun.sh mpiexec.mpich 9 "$work/redistribute" "$2" "$3"
