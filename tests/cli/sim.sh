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
for device in gtx480 t10 k20 h100 h100-probe h200; do
    expect 0 "$restride" sim --show-device $device
    sed 's/^channels = .*/channels = 3/' "$work/out" >"$work/$device.ini"
    expect 0 "$restride" sim --dims 'i:20000 f:8' --layout 'i f' --device "$work/$device.ini"
done

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

finish
