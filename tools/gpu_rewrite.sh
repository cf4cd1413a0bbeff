#!/usr/bin/env bash
# usage: tools/gpu_rewrite.sh [--build FOLDER] [--compile] [RECORDS]...
# Makes the companion of kernels of CUDA C++, compiles it with nvcc, runs both forms on a GPU with arrays of RECORDS
# records (default: 1003 1000003 4000000), converts with the calls of the generated header, and compares all bytes. With
# --compile nothing is run on a GPU. Ends with status 77 where there is no nvcc, or no rewriter or CUDA engine in the build.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build
compile=false
records=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --compile) compile=true ;;
    [0-9]*) records+=("$1") ;;
    *)
        sed -n '2,5s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#records[@]} -gt 0 ] || records=(1003 1000003 4000000)
PATH=$PATH:/usr/local/cuda/bin
library=$(cd "$build/src" && pwd)
"$build/bin/restride" rewrite --help >/dev/null 2>&1 || { echo "gpu_rewrite: this build has no rewriter" && exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sources=$PWD/tests/companion/cuda
"$build/bin/restride" rewrite "$sources/kernels.cu" --header "$folder/marshal.h" -o "$folder/kernels.companion.cu" 2>"$folder/said" ||
    { cat "$folder/said" && exit 1; }
[ "$(grep -c 'transformed' "$folder/said")" = 3 ] || { cat "$folder/said" && exit 1; }

macros=(-DREWRITTEN_HEADER="\"$folder/marshal.h\"" -DREWRITTEN_KERNELS="\"$folder/kernels.companion.cu\"")
links=(-Iinclude -L"$library" -lrestride)
# The header is C++, and holds with the host engine.
"${CXX:-c++}" -std=c++14 -Wall -Wextra -Werror "${macros[@]}" "$sources/header.cpp" -o "$folder/header" "${links[@]}" -Wl,-rpath,"$library"
"$folder/header"
echo "gpu_rewrite: the header holds on the host"

grep -q restride_engine_create_cuda "$library/librestride.so" || { echo "gpu_rewrite: this build has no CUDA engine" && exit 77; }
command -v nvcc >/dev/null || { echo "gpu_rewrite: there is no nvcc" && exit 77; }
architecture=native
! $compile || architecture=sm_90
nvcc -std=c++17 -O2 -arch="$architecture" "${macros[@]}" "$sources/compare.cu" -o "$folder/compare" "${links[@]}" \
    -Xlinker -rpath,"$library"
echo "gpu_rewrite: nvcc compiles both forms"
! $compile || exit 0
for count in "${records[@]}"; do
    "$folder/compare" "$count"
done
echo "gpu_rewrite: all held"
