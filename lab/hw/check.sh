#!/usr/bin/env bash
# lab/hw/check.sh [all]: builds the hardware with Verilator, compares it with the cycle model in lab/sim, and synthesises it with
# Yosys, which must find no latch and warn of nothing. Without `all`, only the smaller shapes. Ends with status 77 where
# one of the tools is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in verilator yosys; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: $tool is not installed (make check-hw installs it)"
        exit 77
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=("$PWD/lab/sim/transformer.c" "$PWD/src/base/status.c" "$PWD/src/base/arithmetic.c")
for source in "${sources[@]}"; do
    cc -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -I. -c "$source" -o "$work/$(basename "$source" .c).o"
done
objects=("$work"/transformer.o "$work"/status.o "$work"/arithmetic.o)

# build NAME MODULE BENCH DEFINITIONS... -- PARAMETERS...: a test bench, which is then run.
build() {
    local name=$1 module=$2 bench=$3 flags="-I$PWD -I$PWD/src -I$PWD/include -I$PWD/lab/hw" parameters=()
    shift 3
    while [ "$1" != -- ]; do
        flags="$flags -D$1"
        shift
    done
    shift
    for parameter; do
        parameters+=("-G$parameter")
        flags="$flags -D$parameter"
    done
    verilator --cc --exe --build -Wall -Ilab/hw --Mdir "$work/$name" "${parameters[@]}" --top-module "$module" \
        -CFLAGS "$flags" "lab/hw/$module.v" "$PWD/lab/hw/$bench.cpp" "${objects[@]}" >"$work/$name.log" 2>&1 ||
        { cat "$work/$name.log"; exit 1; }
    "$work/$name/V$module"
}

number=0
while read -r tile fields bits bus step; do
    number=$((number + 1))
    for direction in forward backward; do
        module=transformer_$direction
        backward=0
        [ $direction = forward ] || backward=1
        build "$direction$number" $module bench_transformer MODULE=V$module "MODULE_HEADER='\"V$module.h\"'" \
            BACKWARD=$backward -- TILE=$tile MOST_FIELDS=$fields BITS=$bits BUS=$bus STEP=$step
    done
done < <(if [ "${1:-}" = all ]; then cat <<'SHAPES'
16 7 16 64 4
16 5 32 128 2
2 9 64 128 64
32 20 32 128 4
SHAPES
fi
cat <<'SHAPES'
4 5 8 16 4
8 6 32 64 8
SHAPES
)
for sizes in "2 5" "3 4"; do
    read -r size tile <<<"$sizes"
    build "translator$size$tile" translator bench_translator UNUSED -- ADDRESS=32 SIZE_LOG2="$size" TILE_LOG2="$tile"
done

# synthesise MODULE PARAMETERS...: cell counts; a latch, a warning or an unclean netlist ends the script.
synthesise() {
    local module=$1 parameters=""
    shift
    for parameter; do
        parameters="$parameters -set ${parameter/=/ }"
    done
    yosys -p "read_verilog lab/hw/$module.v lab/hw/pipeline.v; chparam $parameters $module; synth -flatten -top $module; check -assert;
        select -assert-none t:\$*latch* t:\$_DLATCH*; tee -o $work/$module.stat stat" >"$work/$module.yosys" 2>&1 ||
        { tail -n 5 "$work/$module.yosys"; exit 1; }
    if grep -E '^Warning|^Latch inferred' "$work/$module.yosys"; then
        echo "FAILED: Yosys warns of $module"
        exit 1
    fi
    awk -v module="$module" -v parameters="$*" '/Number of cells/ {cells = $NF}
        /_S?DFF/ {registers += $NF}
        END {printf "%s (%s): %d cells, %d of them registers\n", module, parameters, cells, registers}' "$work/$module.stat"
}
synthesise transformer_forward TILE=8 MOST_FIELDS=5 BITS=32 BUS=64 STEP=8
synthesise transformer_backward TILE=8 MOST_FIELDS=5 BITS=32 BUS=64 STEP=8
synthesise translator ADDRESS=32 SIZE_LOG2=2 TILE_LOG2=5 FIELD=5
