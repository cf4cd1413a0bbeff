#!/usr/bin/env bash
# usage: tools/gpu_copy.sh [--build FOLDER] [--seconds N] [--only TEXT] [--beside LIBRARY]...
# Checks and times conversions from one buffer to another on a GPU, with PyTorch (bench/gpu_copy.py): random problems for N
# seconds (60), byte by byte with canaries, then a table of matrices, tensors and records beside the device's copy and
# PyTorch's. --beside adds columns for other builds of the library. Without a librestride.so in FOLDER/src (build) it is
# built there. The exit status is 0 when everything held, 77 where there is no GPU or no PyTorch.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build
options=()
beside=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --seconds | --only) options+=("$1" "${2:?}") && shift ;;
    --beside) beside+=("${2:?}") && shift ;;
    *)
        sed -n '2,6s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
    { echo "gpu_copy: there is no PyTorch with a GPU" && exit 77; }
library=$build/src/librestride.so
if [ ! -e "$library" ]; then
    cmake -S . -B "$build" -DRESTRIDE_OPENCL=OFF -DRESTRIDE_REWRITE=OFF -DRESTRIDE_CONFIG=OFF -DRESTRIDE_MPI=OFF \
        -DRESTRIDE_LAB=OFF >/dev/null
    cmake --build "$build" --parallel --target restride -- --no-print-directory --quiet >/dev/null
fi
export RESTRIDE_LOG=${RESTRIDE_LOG:-error}
LD_LIBRARY_PATH=$(realpath "$build/src"):${LD_LIBRARY_PATH:-} python3 bench/gpu_copy.py "${options[@]}" "$library" "${beside[@]}"
