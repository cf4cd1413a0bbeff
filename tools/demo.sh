#!/usr/bin/env bash
# demo.sh BUILD runs the lattice-Boltzmann example without Restride and with it, compares every byte of the results, and
# shows the times. SIZE, STEPS and DEVICE (cpu, gpu or any) can be set in the environment.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
size=${SIZE:-64} steps=${STEPS:-200} device=${DEVICE:-any}

restride=$build/bin/restride
program=$build/bin/examples/lbm
demo=$build/demo
mkdir -p "$demo"
arguments=(--size "$size" --steps "$steps" --device "$device")

# run NAME COMMAND...: the command's output goes to a file, the seconds of the whole run to $seconds.
run() {
    local name=$1 start
    shift
    echo "running: $*"
    start=$(date +%s.%N)
    "$@" >"$demo/$name.txt"
    seconds=$(echo "$(date +%s.%N) $start" | awk '{printf "%.2f", $1 - $2}')
}

# The first run of a kernel compiles it; these runs fill the driver's cache, so that the others compare like with like.
echo "Warming up (the drivers compile the kernels)."
"$program" --size "$size" --steps 2 --device "$device" >/dev/null
"$restride" run --quiet --policy asta -- "$program" --size "$size" --steps 2 --device "$device" >/dev/null

run without "$program" "${arguments[@]}" --output "$demo/without.ppm" --dump "$demo/without.bin"
seconds_without=$seconds
"$restride" run --quiet --policy off --report "$demo/off.json" -- "$program" "${arguments[@]}" >/dev/null
run with "$restride" run --policy asta --report "$demo/report.html" --report "$demo/report.json" \
    --baseline "$demo/off.json" -- \
    "$program" "${arguments[@]}" --output "$demo/with.ppm" --dump "$demo/with.bin"
seconds_with=$seconds

same=yes
cmp "$demo/without.bin" "$demo/with.bin" || same=no

# loop FILE and kernels FILE: the seconds that the program printed.
loop() { sed -nE 's/^steps .* in ([0-9.]+) s, of which.*/\1/p' "$demo/$1.txt"; }
kernels() { sed -nE 's/.*of which ([0-9.]+) s in kernels.*/\1/p' "$demo/$1.txt"; }
# marshal MEMBER: a member of "marshal" in the JSON report, which has one member a line.
marshal() { sed -n '/"marshal": {/,/}/p' "$demo/report.json" | sed -nE "s/.*\"$1\": ([0-9.eE+-]+).*/\1/p"; }

echo
sed -n 's/^device  */device: /p; s/^lattice  *\([0-9].*\)/lattice: \1/p' "$demo/without.txt"
printf '\n%-24s %12s %12s\n' "seconds" "without" "with"
printf '%-24s %12s %12s\n' "whole run" "$seconds_without" "$seconds_with"
printf '%-24s %12s %12s\n' "the loop of $steps steps" "$(loop without)" "$(loop with)"
printf '%-24s %12s %12s\n' "of which in kernels" "$(kernels without)" "$(kernels with)"
printf '%-24s %12s %12.3f\n' "converting buffers" "-" "$(marshal seconds)"
printf '\n%s conversions moved %s bytes in place.\n' "$(marshal count)" "$(marshal bytes)"
if [ "$same" = yes ]; then
    echo "All $(stat --format=%s "$demo/with.bin") bytes of the final lattice are the same with and without."
else
    echo "The results differ; this must not happen. The dumps are $demo/without.bin and $demo/with.bin."
fi
cat <<TEXT

A CPU gains nothing and may lose: its caches keep the rest of each structure for the next cell anyway. The gain is on
GPUs, where neighbouring threads read at the same time; there, set DEVICE=gpu and a larger SIZE.

report      $demo/report.html
pictures    $demo/without.ppm and $demo/with.ppm
TEXT
[ "$same" = yes ]
