#!/usr/bin/env bash
# usage: tools/gpu_plans.sh BUILD opencl|cuda [DEVICE]
#        tools/gpu_plans.sh BUILD first
# "first" times the first plans of thirteen kinds, each in a process of its own: through CUDA with the kernels that BUILD has
# compiled (-DRESTRIDE_CUDA_ARCHITECTURES=90), without them, again with what that has left in the cache, and behind
# restride tune --kernels alone; through OpenCL with an empty cache of the driver's and again. At last 10,000 random problems, each planned twice by CUDA.
# Otherwise the table of lab/docs/performance.md on plans: the shapes as float32, the papers' six as float64, and four of them
# once more with wisdom, which is measured before and thrown away at the end. SMALL=yes tries it out with small arrays.
set -euo pipefail
cd "$(dirname "$0")/.."
first() {
    local build=$1 work
    work=$(mktemp -d)
    export RESTRIDE_WISDOM=
    # A program finds compiled kernels in ../lib.
    mkdir -p "$work/with/bin" "$work/without/bin"
    cp "$build"/tests/engine/time_{first,plans} "$work/with/bin"
    cp "$build/tests/engine/time_first" "$work/without/bin"
    [ ! -d "$build/lib/kernels" ] || ln -s "$(realpath "$build/lib")" "$work/with/lib"
    kinds() { # TITLE ENGINE with|without CACHES [FROM]: each kind has a cache of its own, with what FROM has
        local kind=0 cache line
        echo "-- $1"
        while :; do
            cache=$work/$4/$kind
            [ -z "${5:-}" ] || { mkdir -p "$cache" && cp -r "$5/restride" "$cache"; }
            line=$(XDG_CACHE_HOME=$cache CUDA_CACHE_PATH=$cache/driver "$work/$3/bin/time_first" "$2" $kind) || break
            echo "$line"
            kind=$((kind + 1))
        done
    }
    goal() { # 30 ms for each
        awk 'match($0, /[0-9.]+ ms, again/) { count++; good += substr($0, RSTART) + 0 <= 30 }
            END { print good + 0 " of " count + 0 " first plans within 30 ms" }' "$work/times"
    }
    if [ -d "$work/with/lib" ]; then
        kinds "CUDA, empty cache, compiled kernels" cuda with none | tee "$work/times"
        goal
    fi
    cp "$build/bin/restride" "$work/without/bin"
    time XDG_CACHE_HOME=$work/kept CUDA_CACHE_PATH=$work/kept/driver "$work/without/bin/restride" tune --engine cuda --kernels
    kinds "CUDA, behind restride tune --kernels, no compiled kernels" cuda without tuned "$work/kept" | tee "$work/times"
    goal
    kinds "CUDA, empty cache, no compiled kernels" cuda without cuda
    kinds "CUDA, next process" cuda without cuda
    kinds "OpenCL, empty cache" opencl without opencl
    kinds "OpenCL, next process" opencl without opencl
    XDG_CACHE_HOME=$work/random "$work/with/bin/time_plans" cuda 10000 1e6
    rm -rf "$work"
}
if [ "${2:-}" = first ]; then
    first "$1"
    exit
fi
restride=${1:?}/bin/restride
where=(--engine "${2:?}" ${3:+--device "$3"})
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
all=() # as the program has them
papers=7200x1800,1800x7200,4000x3200,5100x2500,2500x5100,3300x3900
tuned=7200x1800,5100x2500,20000x5000
wide=5100x2500
tune=()
if [ -n "${SMALL:-}" ]; then
    papers=720x180,510x250
    tuned=720x512,510x1000 # below 1 MiB there is no wisdom
    wide=510x1000
    all=(--shape "720x180,510x250,1999x201")
    tune=(--seconds 0.1)
fi

export RESTRIDE_WISDOM=
"$restride" bench plans "${where[@]}" "${all[@]}"
"$restride" bench plans "${where[@]}" --shape $papers --type f64
echo "with wisdom"
export RESTRIDE_WISDOM=$work/wisdom.json
"$restride" tune "${where[@]}" "${tune[@]}" --shape $tuned >/dev/null
"$restride" tune "${where[@]}" "${tune[@]}" --shape $wide --type f64 >/dev/null
"$restride" bench plans "${where[@]}" --shape $tuned
"$restride" bench plans "${where[@]}" --shape $wide --type f64
