#!/usr/bin/env bash
# verify.sh RESTRIDE REWRITER PARTICLES: --verify compares each transformed launch with the program's own form. It finds
# nothing where nothing is wrong; a rewritten kernel that is wrong on purpose is found and named, and the program's
# results are its own all the same.
restride=$1
rewriter=$2
particles=$3
source "$(dirname "$0")/../cli/expect.sh"

export XDG_CACHE_HOME=$work/cache
arguments=(--count 1003 --steps 5)
expect 0 "$particles" "${arguments[@]}" --dump "$work/plain"

expect 0 "$restride" run --verify --policy asta --report "$work/right.json" -- "$particles" "${arguments[@]}" --dump "$work/right"
says err 'verified [1-9][0-9]* launches: 0 different, 0 of kernels whose results change from run to run; 0 left out'
cmp "$work/plain" "$work/right" || complain "verification changes results"

# A rewriter whose kernels count bounces backwards; its answers have lengths.
cat >"$work/wrong" <<END
#!/bin/sh
"$rewriter" "\$@" | sed -u 's/p\.bounces++/p.bounces--/'
END
chmod +x "$work/wrong"
export XDG_CACHE_HOME=$work/wrong_cache
expect 1 "$restride" run --verify --policy asta --report "$work/wrong.json" -- \
    env RESTRIDE_REWRITER="$work/wrong" "$particles" "${arguments[@]}" --dump "$work/other"
says err 'verified launches left other bytes'
says err 'rewritten form of advance left other bytes.*argument 1 to, element [0-9]+, member bounces'
cmp "$work/plain" "$work/other" || complain "the program did not go on with its own results"

export XDG_CACHE_HOME=$work/other_cache
expect 0 "$restride" run --policy asta -- env RESTRIDE_REWRITER="$work/wrong" "$particles" "${arguments[@]}" --dump "$work/other"
cmp -s "$work/plain" "$work/other" && complain "the wrong kernel was not used"
finish
