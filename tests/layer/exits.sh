#!/usr/bin/env bash
# exits.sh RESTRIDE PROGRAM RUNS: the program ends by exit() while its threads launch, after another time in each run. Six runs
# find what the driver compiled before, and the next six must compile all again: a compiler may be at work when exit() begins.
# The program must end well without the layer first.
set -euo pipefail
restride=$1 program=$2 runs=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/kept RESTRIDE_WISDOM=

run() { # NUMBER COMMAND...
    local cache=$folder/pocl status=0
    [ $(($1 / 6 % 2)) -eq 0 ] || cache=$(mktemp -d -p "$folder")
    POCL_CACHE_DIR=$cache timeout 120 "${@:2}" >"$folder/output" 2>&1 || status=$?
    [ "$cache" = "$folder/pocl" ] || rm -rf "$cache"
    return $status
}

kinds=(main other joined)
policies=(asta soa)
for who in "${kinds[@]}"; do
    run 0 "$program" "$who" 1000 || { cat "$folder/output"; echo "exits: $who fails without the layer" >&2; exit 1; }
done
for ((i = 0; i < runs; i++)); do
    who=${kinds[i % 3]} policy=${policies[i / 3 % 2]} delay=$((i * 7919 % 40000))
    run "$i" "$restride" run --policy "$policy" -- "$program" "$who" "$delay" || {
        status=$?
        cat "$folder/output"
        echo "exits: status $status in run $i: policy $policy, $who, after $delay us" >&2
        exit 1
    }
done
echo "exits: $runs runs"
