#!/usr/bin/env bash
# usage: tools/gpu_random_cuda.sh [--build FOLDER] [--count N] [--seconds S] [--jobs N] [--again] [--compile] [--part N]...
# N random programs of calls of the CUDA driver (default 20000) on a GPU, plainly and under `restride run`, with policies asta and
# auto, one thread and 16, both kinds of default streams: all bytes that they read back are the same. What has passed is noted in
# FOLDER (default: build), so that the same command goes on after S seconds (default 540) or a failure; --again forgets it. N jobs
# (default 4) run at a time. With --compile nothing is run. A part that differed runs plainly once more, which says whether it
# is the program itself that gives other bytes from run to run; --part N shows where: which call is the first whose sum differs.
# 0 when nothing differed so far, 77 where there is no nvcc.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

build=build count=20000 seconds=540 jobs=4 again=false compile=false wanted=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --count) count=${2:?} && shift ;;
    --seconds) seconds=${2:?} && shift ;;
    --jobs) jobs=${2:?} && shift ;;
    --again) again=true ;;
    --compile) compile=true ;;
    --part) wanted+=("${2:?}") && shift ;;
    *)
        sed -n '2,9s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
. tools/gpu_layer.sh
passed=$PWD/$build/gpu_random_cuda.passed
$again && rm -f "$passed" "$passed.counts"
touch "$passed"
export RESTRIDE_WISDOM=
sources=tests/layer/cuda
stubs=$(dirname "$(command -v nvcc)")/../lib64/stubs
parts=(program.c sequence.c starts.c memories.c elsewhere.c arrays.c birth.c calls.c description.c)
nvcc -std=c++17 -O2 -fmad=false -arch=$architecture -cubin $sources/gpu/random.cu -o "$work/kernels.cubin" &&
    "${CC:-cc}" -std=gnu11 -O2 -D_GNU_SOURCE "${parts[@]/#/$sources/}" -o "$work/program" \
        -L"$stubs" -lcuda -ldl -lpthread || exit 1
echo "gpu_random_cuda: the programs are built"
! $compile || exit 0

# try NUMBER POLICY FLAGS EACH SIZE: one part, so many programs by one process, or by each of 16 threads fewer.
try() {
    local mine=$work/part$1
    local arguments=("$work/program" "$work/kernels.cubin" $((1 + $1 * 1000)) "$4" "$3")
    if ! timeout 120 "${arguments[@]}" >"$mine.plain" 2>&1; then
        echo "part $1: the plain run failed: $(tail -n 1 "$mine.plain")"
        return 1
    fi
    timeout 300 "$restride" run "${only[@]}" --quiet --policy "$2" --report "$mine.json" -- "${arguments[@]}" >"$mine.run" 2>&1
    if ! cmp -s "$mine.plain" "$mine.run"; then
        timeout 120 "${arguments[@]}" >"$mine.again" 2>&1
        cmp -s "$mine.plain" "$mine.again" && who="plainly twice the same" || who="plainly it differs FROM ITSELF"
        echo "part $1 DIFFERS: seed $((1 + $1 * 1000)), $4 programs, flags \"$3\", policy $2, $who: $(tail -n 1 "$mine.run")"
        return 1
    fi
    echo "$1" >>"$passed"
    python3 - "$mine.json" "$2" "$5" >>"$passed.counts" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
kernels = report["kernels"]
print(sys.argv[2], sys.argv[3], sum(k["launches"] for k in kernels), sum(k["transformed_launches"] for k in kernels), report["marshal"]["count"])
END
}

# look NUMBER POLICY FLAGS EACH: the same part three times plainly, under policy off and twice under its own, with each call said.
look() {
    local mine=$work/part$1 run
    local arguments=("$work/program" "$work/kernels.cubin" $((1 + $1 * 1000)) "$4" "$3s")
    for run in plain plain plain off "$2" "$2"; do
        if [ "$run" = plain ]; then
            timeout 120 "${arguments[@]}" >"$mine.now" 2>&1
        else
            timeout 120 "$restride" run "${only[@]}" --quiet --policy "$run" -- "${arguments[@]}" >"$mine.now" 2>&1
        fi
        [ -e "$mine.first" ] || cp "$mine.now" "$mine.first"
        echo "part $1, flags \"$3\", $run: $(cmp -s "$mine.first" "$mine.now" && echo same || echo OTHER)"
        diff <(nl -ba "$mine.first") <(nl -ba "$mine.now") | head -n 12
    done
}

part=100 failed=0 began=$SECONDS programs=0 running=0
kinds=("asta :$part" "auto :$part" "asta p:$part" "auto kp:$part" "asta tp:3" "auto tp:3" "asta k:$part" "auto p:$part")
# describe NUMBER: sets the policy, the flags and the number of programs of a part.
describe() {
    local kind=${kinds[$1 % ${#kinds[@]}]}
    policy=${kind%% *} flags=${kind#* } each=${kind##*:}
    flags=${flags%:*}
}

for number in "${wanted[@]}"; do
    describe "$number"
    look "$number" "$policy" "$flags" "$each"
done
[ ${#wanted[@]} = 0 ] || exit 0
for ((number = 0; programs < count && SECONDS - began < seconds; number++)); do
    describe "$number"
    size=$each
    [ "$flags" != tp ] || size=$((16 * each))
    programs=$((programs + size))
    grep -qx "$number" "$passed" && continue
    if [ $running = "$jobs" ]; then
        wait -n || failed=$((failed + 1))
        running=$((running - 1))
    fi
    try "$number" "$policy" "$flags" "$each" "$size" &
    running=$((running + 1))
done
for (( ; running > 0; running--)); do wait -n || failed=$((failed + 1)); done
echo
echo "policy  programs  launches  transformed  conversions"
[ ! -r "$passed.counts" ] || awk '{ p[$1] += $2; l[$1] += $3; t[$1] += $4; c[$1] += $5 }
    END { for (k in p) printf "%-7s %8d %9d %12d %12d\n", k, p[k], l[k], t[k], c[k] }' "$passed.counts"
[ "$programs" -ge "$count" ] && state="all $count programs were run" || state="$programs of $count programs so far: run it again to go on"
[ $failed = 0 ] && echo "gpu_random_cuda: $state, 0 differences" || echo "gpu_random_cuda: $state, $failed parts DIFFER"
exit $((failed > 0))
