#!/usr/bin/env bash
# gpu_gather.sh BUILD [--device-only]: irregular references on this machine's GPU at 10^8 references, before and after
# reordering, planned on the host and on the device; every result is checked.
set -euo pipefail
gather=${1:-build}/lab/gather/bench_gather
for kind in uniform power; do
    "$gather" --device gpu --references 100000000 --objects 25000000 --kind $kind "${@:2}"
done
