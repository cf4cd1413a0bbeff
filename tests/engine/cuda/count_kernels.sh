#!/usr/bin/env bash
# usage: count_kernels.sh PRECOMPILE DRIVER COMPILER
# 10,000 random problems ask for at most 200 kernels, with each generation's shared memory. DRIVER and COMPILER are folders of
# a driver without a device and of a compiler that compiles nothing.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for architecture in 80 90; do
    PRECOMPILE_ARCHITECTURE=$architecture EMULATED_COMPILE=no RESTRIDE_WISDOM= XDG_CACHE_HOME=$work/$architecture \
        LD_LIBRARY_PATH=$2:$3 "$1" 10000 1e6 random
    count=$(find "$work/$architecture/restride/kernels" -type f | wc -l)
    echo "$count kernels for compute capability $architecture"
    [ "$count" -ge 100 ] && [ "$count" -le 200 ]
done
