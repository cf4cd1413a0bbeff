#!/usr/bin/env bash
# identical.sh RESTRIDE PROGRAM: an example gives the same bytes without Restride, with the policy off, and in the ASTA
# layout with several tiles; and it was really transformed.
restride=$1
program=$2
source "$(dirname "$0")/expect.sh"

case $(basename "$program") in
lbm) options="--size 20 18 13 --steps 7" ;;
particles) options="--count 10007 --steps 9" ;;
esac

# shellcheck disable=SC2086
expect 0 "$program" $options --dump "$work/plain.bin"
[ -s "$work/plain.bin" ] || complain "no dump was written"

# same NAME OPTIONS...: a run under Restride leaves the same dump.
same() {
    local name=$1
    shift
    # shellcheck disable=SC2086
    expect 0 "$restride" run --quiet --report "$work/$name.json" "$@" -- "$program" $options --dump "$work/$name.bin"
    cmp "$work/plain.bin" "$work/$name.bin" || complain "$*: the results differ"
}

same off --policy off
! grep -q '"status": "transformed"' "$work/off.json" || complain "the policy off transformed something"
for tile in 16 32 64; do
    same "tile$tile" --policy asta --tile "$tile"
    grep -q '"status": "transformed"' "$work/tile$tile.json" || complain "tile $tile: nothing was transformed"
done
if [ "$(basename "$program")" = particles ]; then
    grep -qE '"reason": "the (address of a structure is taken|pointer is cast)"' "$work/tile32.json" ||
        complain "the cast in fingerprint was not refused"
fi
finish
