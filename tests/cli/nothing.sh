#!/usr/bin/env bash
# nothing.sh RESTRIDE PROGRAM: a program without arrays of structures runs as before, and nothing is converted.
restride=$1
program=$2
source "$(dirname "$0")/expect.sh"

expect 0 "$program" --launches 3
expect 0 "$restride" run --quiet --report "$work/report.json" -- "$program" --launches 3
says out "^launches +3 "
holds "$work/report.json" 'r["kernels"] and all(k["transformed_launches"] == 0 for k in r["kernels"])'
holds "$work/report.json" 'not any(a["status"] == "transformed" for k in r["kernels"] for a in k["arguments"])'
holds "$work/report.json" 'r["marshal"] and not any(r["marshal"].values())'

# A configuration file alone makes its arrays ones of records; a build may be without such files.
printf '[add]\na = [n][4]\nc = [n][8]\n' >"$work/records.ini"
if "$restride" run --config "$work/records.ini" -- true; then
    expect 0 "$restride" run --quiet --policy asta --config "$work/records.ini" --report "$work/report.json" -- \
        "$program" --launches 3
    says out "^launches +3 "
    holds "$work/report.json" '[a["status"] for k in r["kernels"] for a in k["arguments"]].count("transformed") == 2'
    holds "$work/report.json" 'r["marshal"]["bytes"] > 0'
fi

# The program's own exit status comes through.
expect 1 "$restride" run --quiet -- "$program" --launches none
says err "needs a whole number"
finish
