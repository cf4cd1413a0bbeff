#!/bin/sh
# mpirun.sh MPIEXEC COUNT PROGRAM ARGUMENTS...: runs a program as so many MPI processes on this machine, also as root and on
# fewer processors. No message leaves it: Open MPI and MPICH use shared memory and the loopback alone.
set -eu
mpiexec=$1 count=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_pml=ob1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
export MPICH_INTERFACE_HOSTNAME=localhost FI_PROVIDER=tcp
exec "$mpiexec" -n "$count" "$@"
