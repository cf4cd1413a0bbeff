#!/usr/bin/env bash
# bench.sh RESTRIDE EMULATED: the measurements on small inputs; EMULATED is the folder of an emulated CUDA driver, or empty.
restride=$1
emulated=$2
source "$(dirname "$0")/expect.sh"
cd "$work" || exit 1

# a_device ENGINE: whether this build and this machine have one.
a_device() {
    "$restride" bench transpose --engine "$1" --shape 2x3 --repeat 1 >/dev/null 2>&1
}

check_transpose() {
    expect 0 "$restride" bench transpose --engine "$1" --shape 60x40,33x33,1x7 --repeat 2 --json
    says out '"engine": "'"$1"'"'
    says out '"ratio"'
    [ "$(grep -c '"verified": true' out)" -eq 3 ] || complain "not all shapes are verified"
}

# Two plans of two shapes behind the first ones, each with a run of its own.
check_plans() {
    expect 0 "$restride" bench plans --engine "$1" --shape 60x40,33x31 --type f64 --repeat 3 --json
    /usr/bin/python3 - "$1" <<'END' || complain "the times of plans are none"
import json, sys
report = json.load(open("out"))
assert report["engine"] == sys.argv[1] and report["repeat"] == 3
assert [(row["rows"], row["cols"], row["type"]) for row in report["results"]] == [(60, 40, "f64"), (33, 31, "f64")]
for row in report["results"]:
    assert 0 < row["plan_seconds"] <= row["longest_plan_seconds"] and row["first_plan_seconds"] > 0 and row["run_seconds"] > 0
    assert row["plan"]["bytes"] == row["rows"] * row["cols"] * 8 and row["plan"]["method"]
END
    expect 0 "$restride" bench plans --engine "$1" --shape 60x40 --repeat 2
    says out '^ +60 x 40 +f32( +[0-9.]+){5}  [a-z0-9]'
}

check_transfers() {
    expect 0 "$restride" bench offload --engine "$1" --shape 128x96 --shape 33x40 --parts 2,4 --repeat 1 --json
    says out '"overlap": "both"'
    says out '"overlap": "back"'
    says out '"speedup"'
    expect 0 "$restride" bench transfer --engine "$1" --words 5,8 --bytes 20K --chunk 4K --repeat 1 --json
    [ "$(grep -c '"verified": true' out)" -eq 2 ] || complain "not all records are verified"
    expect 0 "$restride" bench transfer --engine "$1" --pageable --bytes 20K --chunk 4K --repeat 1
}

check_transpose host
check_plans host
expect 1 "$restride" bench plans --shape 4294967296x4294967296
expect 2 "$restride" bench transpose --engine steam --shape 2x3
says err '^restride bench transpose: --engine cannot be "steam"'
expect 2 "$restride" bench offload --engine host --shape 2x3
expect 2 "$restride" bench offload
says err "Which shape"
expect 2 "$restride" bench transfer --words 8,0
for wrong in "transpose --repeat 0" "transpose --threads 257" "permute --repeat 10001" "plans --repeat 1001" "plans --shape 3x0" "transfer --bytes 0"; do
    expect 2 "$restride" bench $wrong
    says err "cannot be \"${wrong##* }\"; restride bench ${wrong%% *} --help says what it takes"
done
for engine in opencl cuda; do
    expect 1 "$restride" bench transpose --engine $engine --device "no such device" --shape 2x3
    says err '^restride bench: (No|There is no|This build has no) '
done
if a_device opencl; then
    check_transpose opencl
    check_plans opencl
    check_transfers opencl
fi
if [ -n "$emulated" ]; then
    export LD_LIBRARY_PATH=$emulated EMULATED_FOLDER=$emulated XDG_CACHE_HOME=$emulated/cache
    check_transpose cuda
    check_plans cuda
    check_transfers cuda
fi
finish
