#!/usr/bin/env bash
# gpu_grids.sh OUT [ENGINE...]: what sections 6.1 and 6.4 of Sung's thesis measure, on this machine's GPU: restride-lab probe and
# restride-lab grids, which compares the results of all layouts. OUT gets figures, tables and a description of the device.
# ENGINE is cuda (default) or opencl. BUILD (default: build) is a build folder.
set -euo pipefail
out=${1:?a folder for the results}
shift
cd "$(dirname "$0")/../.."
lab=${BUILD:-build}/bin/restride-lab
mkdir -p "$out"
for engine in "${@:-cuda}"; do
    "$lab" probe --engine "$engine" --svg "$out/thesis-6.4-$engine.svg" --describe "$out/device-$engine.ini" \
        | tee "$out/probe-$engine.txt"
    mkdir -p "$out/$engine"
    "$lab" grids --engine "$engine" --repeat 9 --out "$out/$engine" | tee "$out/grids-$engine.txt"
done
