#!/usr/bin/env bash
# usage: tools/gpu_nvcc.sh [--build FOLDER] [--compile]
# Builds examples/cuda/ with `restride nvcc`, runs each program plainly and under `restride run` with the policies asta and
# auto, compares all bytes of the results, and prints the times of kernels beside those of versions with tiles written by
# hand. With --compile nothing is run on a GPU. Ends with status 77 where there is no nvcc or no rewriter in the build.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build
compile=false
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?} && shift ;;
    --compile) compile=true ;;
    *)
        sed -n '2,5s/^# //p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
PATH=$PATH:/usr/local/cuda/bin
restride=$PWD/$build/bin/restride
command -v nvcc >/dev/null || { echo "gpu_nvcc: there is no nvcc" && exit 77; }
"$restride" nvcc --help >/dev/null 2>&1 || { echo "gpu_nvcc: this build has no rewriter" && exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache # what other runs have learned does not count
architecture=native
! $compile || architecture=sm_90
flags=(-std=c++17 -O3 -arch="$architecture")
for program in lbm particles; do
    RESTRIDE_EXPLAIN=1 "$restride" nvcc "${flags[@]}" "examples/cuda/$program.cu" -o "$folder/$program" 2>"$folder/said"
    grep -q transformed "$folder/said" || { cat "$folder/said" && exit 1; }
    nvcc "${flags[@]}" "examples/cuda/$program.cu" -o "$folder/$program.plain"
    nvcc "${flags[@]}" "examples/cuda/${program}_tiled.cu" -o "$folder/$program.tiled"
    readelf -SW "$folder/$program" | grep -q restride_forms || { echo "gpu_nvcc: no description in $program" && exit 1; }
done
echo "gpu_nvcc: all are compiled"
! $compile || exit 0

# run NAME FILE COMMAND...: the milliseconds of kernels, best of three runs, into times[NAME]; the result of the first must be
# that of nvcc.
declare -A times
wrong=0
run() {
    local name=$1 result=$2 best="" line dump
    shift 2
    for turn in 1 2 3; do
        dump=()
        [ $turn -gt 1 ] || dump=(--dump "$folder/now")
        line=$("$@" "${dump[@]}" 2>"$folder/said") || { cat "$folder/said" && exit 1; }
        line=$(sed -E 's/.*kernels ([0-9.]+) ms,.*/\1/' <<<"$line")
        best=$(printf '%s\n' "$line" "${best:-$line}" | sort -g | head -1)
        [ $turn -eq 1 ] || continue
        [ -e "$result" ] || cp "$folder/now" "$result"
        cmp -s "$folder/now" "$result" || { echo "gpu_nvcc: $name: another result" && wrong=1; }
    done
    times[$name]=$best
}

policies=()
if "$restride" run --help 2>/dev/null | grep -q CUDA; then
    policies=(asta auto)
fi
sizes=("lbm --size 64 --steps 400" "lbm --size 128 --steps 400" "particles --count 100003 --steps 1000" "particles --count 8000003 --steps 400")
for size in "${sizes[@]}"; do
    read -ra words <<<"$size"
    program=${words[0]}
    arguments=("${words[@]:1}")
    result=$folder/result
    rm -f "$result"
    run "$size|nvcc" "$result" "$folder/$program.plain" "${arguments[@]}"
    run "$size|restride nvcc" "$result" "$folder/$program" "${arguments[@]}"
    run "$size|by hand" "$result" "$folder/$program.tiled" "${arguments[@]}"
    for policy in "${policies[@]}"; do
        run "$size|$policy" "$result" "$restride" run --policy "$policy" -- "$folder/$program" "${arguments[@]}"
    done
done

columns=(nvcc "restride nvcc" "by hand" "${policies[@]}")
printf '\n%-44s' "milliseconds of kernels, best of 3"
printf '%16s' "${columns[@]}"
echo
for size in "${sizes[@]}"; do
    printf '%-44s' "$size"
    for column in "${columns[@]}"; do
        printf '%16s' "${times[$size|$column]}"
    done
    echo
done
[ ${#policies[@]} -gt 0 ] || echo "gpu_nvcc: restride run follows no CUDA programs in this build"
[ "$wrong" -eq 0 ] || exit 1
echo "gpu_nvcc: all results are the same"
