#!/usr/bin/env bash
# usage: count_kernels.sh PRECOMPILE DRIVER COMPILER RESTRIDE
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

# A user has all kinds compiled at once; then no plan compiles one.
export PRECOMPILE_ARCHITECTURE=90 PRECOMPILE_OPENS=1 EMULATED_COMPILE=no RESTRIDE_WISDOM= XDG_CACHE_HOME=$work/user LD_LIBRARY_PATH=$2:$3
"$4" tune --engine cuda --kernels
count=$(find "$work/user/restride/kernels" -type f | wc -l)
echo "$count kernels of restride tune"
[ "$count" -ge 100 ]
"$1" 1000 1e6 random
[ "$(find "$work/user/restride/kernels" -type f | wc -l)" = "$count" ]
"$4" tune --kernels && exit 1
[ $? = 2 ]
