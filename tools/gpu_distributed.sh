#!/usr/bin/env bash
# usage: tools/gpu_distributed.sh [--gib N] [--cases N] [--packed FOLDER] [--emulated FOLDER] | --pack FOLDER
# Redistributions of CUDA memory on this machine's GPUs, one or more: compares random redistributions with the definition, and
# arrays of CuPy and PyTorch where these and mpi4py are. Measures a matrix by blocks of rows that becomes one by blocks of
# columns: a square one, whose devices exchange mirror blocks, and one that is not. With two GPUs it says how much longer that
# took than the local passes and NCCL's all-to-all, and how restride-lab scale computes with the rates of this machine. Needs
# Open MPI and nvcc, for NVRTC beside it; NCCL where there are two GPUs; CMake, pkg-config and jansson without --packed. The
# table comes last; 0: everything held.
#   --gib N            a matrix of N GiB on each GPU (32, or 45 % of what is free)
#   --cases N          random redistributions of each kind (80)
#   --packed FOLDER    takes the library and jansson from there (.packed, where that is) and builds none
#   --pack FOLDER      makes such a folder from build/, on a machine of the same kind; with mpi4py for Python 3.12
#   --emulated FOLDER  tries the script out with the driver that the tests emulate, and small matrices
set -uo pipefail
cd "$(dirname "$0")/.." || exit
gib=32 cases=80 packed=.packed emulated=
while [ $# -gt 0 ]; do
    case $1 in
    --gib) gib=$2 && shift ;;
    --cases) cases=$2 && shift ;;
    --packed) packed=$2 && shift ;;
    --pack)
        mkdir -p "$2"
        cp -L build/src/librestride.so "$2/librestride.so.0" && ln -sf librestride.so.0 "$2/librestride.so"
        find /usr/include -name 'jansson*.h' -exec cp -L {} "$2" \;
        cp -L "$(ldconfig -p | sed -n 's/.*libjansson.so.4.* => //p' | head -1)" "$2"
        python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 mpi4py --dest "$2" &&
            python3 -m zipfile -e "$2"/mpi4py-*.whl "$2/python" && rm "$2"/mpi4py-*.whl
        exit
        ;;
    --emulated) emulated=$(realpath "$2") && shift ;;
    *) sed -n '2,13s/^# //p' "$0" >&2 && exit 2 ;;
    esac
    shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table=$work/table
failed=0

step() { echo "== $* (second $SECONDS)"; }

# ---- libraries that are found at run time ----
library=$work/build/src
[ ! -e "$packed/librestride.so.0" ] || library=$(realpath "$packed")
paths=$library
if [ -n "$emulated" ]; then
    export EMULATED_FOLDER=$emulated EMULATED_SHARED=yes XDG_CACHE_HOME=$emulated/cache
    paths+=:$emulated gpus=1 megabytes=64
else
    toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")
    paths+=:$toolkit/lib64:$toolkit/targets/x86_64-linux/lib
    while read -r folder; do paths+=:$folder; done < <(python3 - <<'END' 2>/dev/null
import glob, os, sys
for root in sys.path:
    for name in ("libnccl.so.2", "libnvrtc.so.1[23]"):
        for file in glob.glob(os.path.join(root, "nvidia", "*", "lib", name)):
            print(os.path.dirname(file))
END
    )
    export XDG_CACHE_HOME=$work/cache
    gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
    megabytes=$(nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits | sort -n | head -1)
    nvidia-smi --query-gpu=name,memory.free,driver_version --format=csv,noheader | tee "$table"
fi
export RESTRIDE_WISDOM=
[ "$gpus" -gt 0 ] || { echo "there is no GPU"; exit 77; }

# ---- what is needed of the build ----
step build
export LD_LIBRARY_PATH=$paths:${LD_LIBRARY_PATH:-}
options=()
for name in TESTS EXAMPLES LAB REWRITE CONFIG OPENCL MPI; do options+=("-DRESTRIDE_$name=OFF"); done
[ "$library" != "$work/build/src" ] ||
    { cmake -S . -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DRESTRIDE_CUDA_ARCHITECTURES= "${options[@]}" >"$work/log" 2>&1 &&
        cmake --build "$work/build" --parallel "$(nproc)" --target restride >>"$work/log" 2>&1; } || { tail -30 "$work/log"; exit 1; }
common=(mpicc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Iinclude -Isrc "-I$library" src/distributed/mpi.c tests/engine/cuda/device.c)
libraries=("-L$library" -lrestride -ldl "-Wl,-rpath,$library" "-Wl,-rpath-link,$paths")
"${common[@]}" tests/distributed/mpi_redistribute.c tests/distributed/cases.c tests/engine/cuda/cuda_buffers.c -o "$work/redistribute" \
    "${libraries[@]}" && "${common[@]}" tests/distributed/measure_cuda.c -o "$work/measure" "${libraries[@]}" || exit 1

# over PROCESSES PROGRAM ARGUMENTS... : no run takes longer than two minutes and a half.
over() { timeout 150 tests/distributed/mpirun.sh mpirun "$@" 2>&1; }

# ---- against the definition ----
step "random redistributions"
check() { # WAY PROCESSES
    over "$2" "$work/redistribute" 1 "$cases" "$1" 25 | tail -3 | tee -a "$table"
    [ "${PIPESTATUS[0]}" -eq 0 ] || { failed=1 && echo "$1 with $2 processes FAILED" | tee -a "$table"; }
}
check staged 6
check peer 6
check kept 6
[ -n "$emulated" ] || check nccl 1
[ "$gpus" -lt 2 ] || { check peer 2 && check kept 2 && check nccl 2; }

# ---- from Python ----
step "arrays of Python's libraries"
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
libraries_of_python=(cupy torch)
if [ -n "$emulated" ]; then libraries_of_python=(emulated); else PYTHONPATH+=:$library/python; fi
for kind in "${libraries_of_python[@]}"; do
    if ! python3 -c "import mpi4py.MPI" 2>/dev/null || { [ -z "$emulated" ] && ! python3 -c "import $kind" 2>/dev/null; }; then
        echo "$kind or mpi4py is missing: NOT RUN" | tee -a "$table"
        continue
    fi
    for count in 3 2; do
        over "$count" python3 tests/distributed/mpi_python_device.py "$kind" | tail -5 | tee -a "$table"
        [ "${PIPESTATUS[0]}" -eq 0 ] || { failed=1 && echo "$kind with $count processes FAILED" | tee -a "$table"; }
    done
done

# ---- speed ----
# measure PROCESSES MEBIBYTES-A-PROCESS REPEATS WAY... : a matrix, its sides a multiple of 256; WIDE times as wide as high.
measure() {
    local side
    side=$(awk -v m="$2" -v p="$1" -v w="${WIDE:-1}" 'BEGIN { print int(sqrt(m * 262144 * p / w) / 256) * 256 }')
    over "$1" "$work/measure" "$side" "$((side * ${WIDE:-1}))" "${@:3}" | tee -a "$table"
    [ "${PIPESTATUS[0]}" -eq 0 ] || { failed=1 && echo "$* FAILED" | tee -a "$table"; }
}
most=$((gib * 1024))
if [ "$gpus" -ge 2 ]; then # a second array must fit for NCCL's exchange
    step "speed, two GPUs"
    [ $most -le $((megabytes * 45 / 100)) ] || most=$((megabytes * 45 / 100))
    measure 2 2048 5 kept peer nccl staged parts
    WIDE=2 measure 2 4096 5 kept peer nccl parts
    measure 2 $most 5 kept peer nccl parts
    [ "$gpus" -lt 4 ] || measure 4 $((most / 2)) 5 kept peer nccl parts
else
    step "speed, one GPU"
    [ $((2 * most)) -le $((megabytes * 80 / 100)) ] || most=$((megabytes * 40 / 100))
    measure 2 $((megabytes < 4096 ? 1 : 1024)) $((megabytes < 4096 ? 1 : 5)) kept peer staged parts
    [ -n "$emulated" ] || measure 2 $most 5 kept peer parts
    [ -n "$emulated" ] || measure 1 $most 3 nccl
fi
step table
cat "$table"
[ $failed -eq 0 ] && echo "all held" || echo "SOMETHING FAILED"
exit $failed
