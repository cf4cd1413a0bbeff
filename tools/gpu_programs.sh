#!/usr/bin/env bash
# usage: tools/gpu_programs.sh pack [BUILD [LIBCLANG]]   here: into dist/programs, what the other machine needs
#        tools/gpu_programs.sh [OPTION] [STEP]...        there: bench/gpu_programs.py with these
# Whole programs that use CUDA, plainly and under `restride run`: CuPy, PyTorch with and without torch.compile, Numba, and programs
# in C++ that nvcc and `restride nvcc` have built here. Results are the same, what is lost where nothing is transformed, how
# much later programs start, what a launch costs, and what lbm and particles gain. Git ignores dist: whoever copies the tree to
# the other machine copies dist/programs besides. LIBCLANG is that of the Python package libclang: it needs no other library.
set -euo pipefail
cd "$(dirname "$0")/.."
packed=$PWD/dist/programs

pack() {
    local build=${1:-build} libclang=${2:-} program library
    PATH=$PATH:/usr/local/cuda/bin
    rm -rf "$packed"
    mkdir -p "$packed/programs" "$packed/lib"
    cmake --install "$build" --prefix "$packed/all" >/dev/null
    mkdir -p "$packed/bin" "$packed/lib/restride"
    cp "$packed/all/bin/restride" "$packed/bin"
    cp "$packed/all/lib/restride"/{librestride_layer.so,librestride_layer_cuda.so,librestride_loader.so,restride-rewrite} "$packed/lib/restride"
    rm -rf "$packed/all"
    for library in $(ldd "$packed/bin/restride" | awk '/libjansson|libinih/ {print $3}'); do
        cp -L "$library" "$packed/lib"
    done
    [ -z "$libclang" ] || cp -L "$libclang" "$packed/lib/$(readelf -d "$packed/lib/restride/restride-rewrite" | sed -n 's/.*\[\(libclang[^]]*\)\].*/\1/p')"
    for program in lbm particles; do
        flags=(-std=c++17 -O3 -arch=sm_90)
        "$build/bin/restride" nvcc "${flags[@]}" "examples/cuda/$program.cu" -o "$packed/programs/$program"
        nvcc "${flags[@]}" "examples/cuda/$program.cu" -o "$packed/programs/$program.plain"
        nvcc "${flags[@]}" "examples/cuda/${program}_tiled.cu" -o "$packed/programs/$program.tiled"
    done
    "${CC:-cc}" -c tests/layer/cuda/gpu/forms.c -o "$packed/forms.o"
    nvcc -std=c++17 -O2 -arch=sm_90 tests/layer/cuda/gpu/program.cu "$packed/forms.o" -o "$packed/programs/launches"
    rm "$packed/forms.o"
    strip "$packed"/{bin,programs}/* "$packed"/lib/*.so* "$packed/lib/restride"/*
    [ -z "$libclang" ] || gzip -f "$packed"/lib/libclang*
    du -sh "$packed"
}

if [ "${1:-}" = pack ]; then
    pack "${@:2}"
    exit
fi
[ -x "$packed/bin/restride" ] || { echo "gpu_programs: there is no dist/programs; make it by: tools/gpu_programs.sh pack" >&2 && exit 2; }
gunzip -f "$packed"/lib/libclang*.gz 2>/dev/null || true
command -v nvidia-smi >/dev/null || { echo "gpu_programs: there is no GPU" >&2 && exit 77; }
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
exec python3 bench/gpu_programs.py "$packed" "$@"
