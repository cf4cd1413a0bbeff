#!/usr/bin/env bash
# Checks the models in tools/model/ with spin: the right ones over all their states, and that each wrong variant is
# found to be wrong, so that the check can fail. The exit status is 0 when everything is as the table says.
set -uo pipefail
models=$(cd "$(dirname "$0")/model" && pwd)
command -v spin >/dev/null || { echo "spin is missing: tools/install-packages.sh installs it." >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# model, right or wrong, definitions
table="
claims right ROWS=2 COLS=3 WORKERS=2
claims right ROWS=2 COLS=3 WORKERS=3
claims right ROWS=2 COLS=4 WORKERS=2
claims right ROWS=3 COLS=3 WORKERS=2
claims right ROWS=2 COLS=5 WORKERS=2
claims right ROWS=2 COLS=3 WORKERS=2 WORDS=2
claims wrong PUBLISHED
claims wrong NO_CONFIRM
claims wrong NO_ACQUIRE
claims wrong NO_RELEASE
claims wrong LOAD_STORE_CLAIM
claims wrong STORE_FIRST
chains right ROWS=2 COLS=5 STRIDE=2
chains right ROWS=2 COLS=4 STRIDE=2
chains right ROWS=2 COLS=4 STRIDE=5
chains right ROWS=3 COLS=4 STRIDE=5
chains right ROWS=3 COLS=5 STRIDE=3
chains right ROWS=3 COLS=3 STRIDE=5
chains wrong NO_BARRIER
chains wrong NOT_SAVED
chains wrong NO_LEADERS ROWS=2 COLS=4 STRIDE=5
buffer right OPERATIONS=3
buffer right OPERATIONS=4
buffer right OPERATIONS=5 LAYOUTS=2
buffer wrong NO_READY
buffer wrong NO_USERS
buffer wrong ALL_IN_ORDER
buffer wrong NO_RESTORE
buffer wrong NOT_NOTED
team right THREADS=3
team right THREADS=3 SPURIOUS
team right THREADS=4 ROUNDS=2
team wrong WAIT_ONCE SPURIOUS
team wrong NO_ROUND
team wrong WAKE_ONE
team wrong EARLY_COUNT
journal right STEPS=2 TROUBLES=6
journal right STEPS=3 TROUBLES=4
journal wrong NOT_AGAIN
journal wrong NAME_FIRST
journal wrong NO_MARK_FIRST
journal wrong END_LATER
journal wrong ONE_SLOT
"

# verify MODEL DEFINITIONS... prints right or wrong, and the number of states; fails when the search was cut short.
verify() {
    local model=$1 definitions
    shift
    definitions=("${@/#/-D}")
    spin "${definitions[@]}" -a "$models/$model.pml" >spin.log 2>&1 || { cat spin.log; return 1; }
    cc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=2048 -o pan pan.c || return 1
    ./pan -m1000000 >pan.log 2>&1
    if grep -qE 'max search depth too small|out of memory|reached memory limit' pan.log; then
        echo "the search was cut short"
        return 1
    fi
    case $(sed -nE 's/.*errors: ([0-9]+).*/\1/p' pan.log) in
    0) echo "right $(sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' pan.log)" ;;
    [1-9]*) echo "wrong $(sed -nE 's/^pan:1: (.*) \(at depth.*/\1/p' pan.log)" ;;
    *) cat pan.log; return 1 ;;
    esac
}

# check LINE of the table, in a folder of its own.
check() {
    local model expected definitions found
    read -r model expected definitions <<<"$1"
    cd "$(mktemp -d "$work/XXXXXX")" || return 1
    # shellcheck disable=SC2086
    found=$(verify "$model" $definitions) || found="not checked: $found"
    if [ "${found%% *}" = "$expected" ]; then
        printf 'ok      %-7s %-40s %s\n' "$model" "$definitions" "$found"
    else
        printf 'FAILED  %-7s %-40s expected %s, found %s\n' "$model" "$definitions" "$expected" "$found"
        return 1
    fi
}

export -f verify check
export models work
# shellcheck disable=SC2016
grep . <<<"$table" | xargs -P "${JOBS:-$(nproc)}" -d '\n' -I {} bash -c 'check "$1"' check {}
