#!/usr/bin/env bash
# usage: tools/gpu_goals.sh pack [BUILD]                        here: into dist/goals, what the other machine needs (about 30 MB)
#        tools/gpu_goals.sh [--emulated FOLDER] [OPTION] [STEP]...   there, or here where dist/goals is: bench/gpu_goals.py with these
# In one run of at most six minutes: tables of in-place tensors, matrices and records beside their goals, a copy and PyTorch;
# what more scratch memory gains; random problems and how many take the expected time. STEPs of their own are choice (the
# planner's against the best plan tried), opencl, copies (bench/gpu_copy.py: from one buffer to another) and campaign (random
# plans by 16 processes; --count N, --state FOLDER to go on). --seconds S bounds a run. Git ignores dist: whoever copies the tree
# to the other machine copies dist/goals besides. --emulated tries it out with small arrays and the driver that the tests
# emulate, below BUILD/tests/engine/cuda/emulated. The exit status is 0 when every element was right.
set -euo pipefail
cd "$(dirname "$0")/.."
packed=$PWD/dist/goals

pack() {
    local build=${1:-build-goals} target
    # Kernels are compiled for the card, and found by their sources: they are of the same tree as the programs.
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DRESTRIDE_CUDA_ARCHITECTURES=90 -DRESTRIDE_REWRITE=OFF -DRESTRIDE_MPI=OFF \
        -DRESTRIDE_EXAMPLES=OFF -DRESTRIDE_CONFIG=OFF >/dev/null
    for target in restride precompiled_kernels time_permute measure_cuda restride_lab campaign; do
        cmake --build "$build" --parallel 2 --target $target -- --no-print-directory --quiet >/dev/null
    done
    rm -rf "$packed"
    mkdir -p "$packed/bin" "$packed/lib/restride"
    cp "$build"/tests/engine/{time_permute,campaign} "$build/tests/engine/cuda/measure_cuda" "$build/bin/restride-lab" "$packed/bin"
    cp -L "$build/src/librestride.so.0" "$packed/lib"
    cp -r "$build/lib/kernels" "$packed/lib/restride"
    cp -L "$(ldd "$packed/bin/campaign" | awk '/libjansson/ {print $3}')" "$packed/lib"
    strip "$packed"/bin/* "$packed/lib/librestride.so.0"
    du -sh "$packed"
}

if [ "${1:-}" = pack ]; then
    pack "${@:2}"
    exit
fi
[ -x "$packed/bin/measure_cuda" ] || { echo "gpu_goals: there is no dist/goals; make it by: tools/gpu_goals.sh pack" >&2 && exit 2; }
paths=$packed/lib
options=(--programs "$packed/bin")
if [ "${1:-}" = --emulated ]; then
    emulated=$(realpath "${2:?}")
    export EMULATED_FOLDER=$emulated XDG_CACHE_HOME=$emulated/cache
    paths+=:$emulated
    options+=(--small)
    shift 2
else
    command -v nvidia-smi >/dev/null || { echo "gpu_goals: there is no GPU" >&2 && exit 77; }
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
    toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")
    paths+=:$toolkit/lib64:$toolkit/targets/x86_64-linux/lib
    export RESTRIDE_TEST_DEVICE=${RESTRIDE_TEST_DEVICE:-NVIDIA}
fi
export LD_LIBRARY_PATH=$paths:${LD_LIBRARY_PATH:-} RESTRIDE_WISDOM='' RESTRIDE_LOG=${RESTRIDE_LOG:-error}
if [ "${1:-}" = copies ]; then
    exec python3 bench/gpu_copy.py "${@:2}" "$packed/lib/librestride.so.0"
fi
exec python3 bench/gpu_goals.py "${options[@]}" "$@"
