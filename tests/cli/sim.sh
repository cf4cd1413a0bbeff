#!/usr/bin/env bash
# sim.sh RESTRIDE: restride sim compares layouts, lists and shows devices, and refuses bad input.
restride=$1
source "$(dirname "$0")/expect.sh"

layouts=(--layout 'i f' --layout 'f i' --layout 'i/32 f i%32')
expect 0 "$restride" sim --dims 'i:20000 f:16' "${layouts[@]}"
says out '^NVIDIA H100'
says out '^i f +16\.00 +1\.00 .* 1\.00$'
says out '^i/32 f i%32 +1\.00 +1\.00 .* [3-6]\.[0-9]+$'
expect 0 "$restride" sim --dims 'i:20000 f:16' "${layouts[@]}" --device k20 --json --svg "$work/load.svg" --fields 4
for member in '"layout": "f i"' '"balance": [0-9]' '"moved_bytes": [0-9]' '"gain": [0-9]'; do
    says out "$member"
done
grep -q '</svg>' "$work/load.svg" || complain "no picture was drawn"

expect 0 "$restride" sim --devices
says out '^gtx480 +NVIDIA'
for device in gtx480 t10 k20 h100 h100-probe; do
    expect 0 "$restride" sim --show-device $device
    sed 's/^channels = .*/channels = 3/' "$work/out" >"$work/$device.ini"
    expect 0 "$restride" sim --dims 'i:20000 f:8' --layout 'i f' --device "$work/$device.ini"
done

# How fast the model is: on one of today's cores 10 million accesses a second, beside other work or sanitizers less.
expect 0 "$restride" bench sim --device t10 --bytes 1M
says out '^side by side, whole lines +[0-9.]+ M'
expect 0 "$restride" bench sim --bytes 1M --json
says out '"per_second": [0-9]{6}'
expect 1 "$restride" bench sim --device no-such-file
expect 2 "$restride" bench sim --fast

echo 'warp = 3' >"$work/bad.ini"
expect 1 "$restride" sim --dims 'i:9 f:8' --layout 'i f' --device "$work/bad.ini"
says err 'bad.ini:1: warp is unknown'
sed 's/^queue = .*/queue = 1000/' "$work/k20.ini" >"$work/bad.ini"
expect 1 "$restride" sim --dims 'i:9 f:8' --layout 'i f' --device "$work/bad.ini"
says err 'queue is more than 256'
sed 's/^l2_ways = .*/l2_ways = 100000/; s/^l2_bytes = .*/l2_bytes = 12800000/' "$work/k20.ini" >"$work/bad.ini"
expect 1 "$restride" sim --dims 'i:9 f:8' --layout 'i f' --device "$work/bad.ini"
says err 'l2_ways is more than 65536'
sed 's/^l2_ns = .*/l2_ns = 100000/' "$work/k20.ini" >"$work/bad.ini"
expect 1 "$restride" sim --dims 'i:9 f:8' --layout 'i f' --device "$work/bad.ini" --svg "$work/nothing.svg"
says err 'l2_ns more than memory_ns'
[ ! -e "$work/nothing.svg" ] || complain "a picture of no device was drawn"
expect 1 "$restride" sim --dims 'i:100000000000000 f:8' --layout 'i f' --bytes 1M
says err 'too large for the model'
expect 1 "$restride" sim --dims 'i:9 f:8' --layout 'i f' --device "$work/no-such-file"
says err 'no-such-file'
expect 1 "$restride" sim --dims 'i:9 f:8' --layout 'i g'
expect 1 "$restride" sim --dims 'i:9 f:8' --layout 'i f' --fields 9
says err 'two dimensions, records and fields'
expect 1 "$restride" sim --dims 'i:9 f:8' --layout 'i f' --element 17
expect 1 "$restride" sim --dims 'i:0 f:8' --layout 'i f' --svg "$work/nothing.svg"
says err 'no records'
[ ! -e "$work/nothing.svg" ] || complain "a picture of an empty array was drawn"
expect 2 "$restride" sim --dims 'i:9 f:8'
expect 2 "$restride" sim --dims 'i:9 f:8' --layout 'i f' --bytes 0
expect 2 "$restride" sim --show-device c64

# The data layout transformer: with 4 bits a cycle both stages of a chunk take K * Size * 8 / 4 cycles.
expect 0 "$restride" sim dlt --help
expect 0 "$restride" sim dlt --tile 32 --fields 5 --bus 128
says out 'bus to A +40 cycles'
says out 'B to C +40 cycles'
says out 'balanced with 4 bits'
expect 0 "$restride" sim dlt --step 2 --json
says out '"b_to_c": 320'
expect 2 "$restride" sim dlt --tile 24
says err 'give --step'
expect 2 "$restride" sim dlt --tile 3 --element 8 --step 1
says err 'whole bus words'
expect 2 "$restride" sim dlt --fields 0
expect 0 "$restride" sim dlt --figures --out "$work/figures"
says out '^tseng-9: '
says out '^AoS with transformer +1\.[0-9]+ +2\.[0-9]+ '
for figure in 6 7 9; do
    grep -q '</svg>' "$work/figures/tseng-$figure.svg" || complain "figure $figure was not drawn"
    grep -q speed_over_aos "$work/figures/tseng-$figure.json" || complain "figure $figure has no numbers"
done
expect 1 "$restride" sim dlt --out /dev/null/figures
finish
