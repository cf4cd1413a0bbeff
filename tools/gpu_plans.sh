#!/usr/bin/env bash
# usage: tools/gpu_plans.sh BUILD opencl|cuda [DEVICE]
# The table of lab/docs/performance.md on plans: the shapes as float32, the papers' six as float64, and four of them once more
# with wisdom, which is measured before and thrown away at the end. SMALL=yes tries it out with small arrays.
set -euo pipefail
cd "$(dirname "$0")/.."
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
