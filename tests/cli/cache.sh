#!/usr/bin/env bash
# cache.sh RESTRIDE PROGRAM: what the rewriter answered is found again by a later run, also where there is no rewriter;
# an entry that is damaged, or that others could have written, is not.
restride=$1
program=$2
source "$(dirname "$0")/expect.sh"

export XDG_CACHE_HOME="$work/cache"
options="--size 20 18 13 --steps 3"
entries="$work/cache/restride/rewritten"

# An installation of its own, without the rewriter.
mkdir -p "$work/alone/bin" "$work/alone/lib"
cp "$restride" "$work/alone/bin/"
cp "$(dirname "$restride")"/../lib/librestride_{layer,loader}.so "$work/alone/lib/"

# run NAME EXPECTED RESTRIDE OPTIONS...: leaves the same dump; EXPECTED transformed arguments are in the report.
run() {
    local name=$1 expected=$2 which=$3
    shift 3
    # shellcheck disable=SC2086
    expect 0 "$which" run --quiet --policy asta --report "$work/$name.json" "$@" -- "$program" $options --dump "$work/$name.bin"
    cmp "$work/plain.bin" "$work/$name.bin" || complain "$name: the results differ"
    grep -q '"status": "transformed"' "$work/$name.json"
    [ $? -eq "$expected" ] || complain "$name: transformed or not, against what was expected"
}

# shellcheck disable=SC2086
expect 0 "$program" $options --dump "$work/plain.bin"
run nothing_there 1 "$restride" --cache-only
run first 0 "$restride"
[ "$(find "$entries" -type f | wc -l)" -ge 2 ] || complain "nothing was kept in $entries"
run second 0 "$restride"
run only 0 "$restride" --cache-only
run without_rewriter 0 "$work/alone/bin/restride" --cache-only
# Without that option nothing is followed, and what is missing is told, once.
# shellcheck disable=SC2086
expect 0 "$work/alone/bin/restride" run --policy asta --report "$work/missing.json" -- "$program" $options
says err "restride-rewrite was not found .*The program runs as it is; with --cache-only"
[ "$(wc -l <"$work/err")" -eq 1 ] || complain "more than the missing part was told"
grep -q "A part of Restride was missing" "$work/missing.json" || complain "the report does not tell what is missing"
run other_tile 1 "$restride" --cache-only --tile 16
chmod 777 "$entries"
run writable_by_others 1 "$restride" --cache-only
chmod 700 "$entries"
for entry in "$entries"/*; do
    printf 'x' | dd of="$entry" bs=1 seek=90 conv=notrunc status=none
done
run damaged 1 "$restride" --cache-only
run written_again 0 "$restride"
run only_again 0 "$restride" --cache-only
finish
