#!/usr/bin/env bash
# probe.sh LAB RESTRIDE EMULATED: restride-lab probe on models whose steering bits are known, on a CPU, and on an emulated CUDA
# device (EMULATED is its folder, or empty).
lab=$1
restride=$2
emulated=$3
source "$(dirname "$0")/../../tests/cli/expect.sh"
cd "$work" || exit 1

# The model of the T10 takes its channels from bits 6 to 8; with bits 9 to 11 they move.
if "$restride" sim --show-device t10 >t10.ini 2>/dev/null; then
    expect 0 "$lab" probe --model t10 --quick
    says out '^memory: bits 6 to 8 of an address steer; .* 6 7 8\. The worst stride leaves 13 %'
    sed -i 's/^interleave_bytes = .*/interleave_bytes = 512/; s/^row_bytes = .*/row_bytes = 512/' t10.ini
    expect 0 "$lab" probe --model t10.ini --quick --json --svg strides.svg
    says out '"figure": "thesis-6.4"'
    /usr/bin/python3 - out <<'END' || complain "not the steering bits of the model"
import json, sys
report = json.load(open(sys.argv[1]))
memory = report["steering"]["memory"]
assert memory["bits"] == [9, 10, 11], memory["bits"]
assert memory["range"] == [6, 11]
assert abs(memory["worst_level"] - 1 / 8) < 0.02
rates = dict(zip(report["figure"]["series"][0]["x"], report["figure"]["series"][0]["y"]))
assert rates[1024] < rates[512] / 1.8, "4096 bytes are not half of 2048"
END
    grep -q '</svg>' strides.svg || complain "no picture was drawn"
    expect 0 "$lab" probe --model t10 --quick --describe mine.ini --base k20
    expect 0 "$restride" sim --dims 'i:20000 f:8' --layout 'i f' --device mine.ini
    expect 1 "$lab" probe --model no-such-device --quick
    says err 'no-such-device'
    expect 1 "$lab" probe --model t10 --quick --describe mine.ini --base c64
    says err 'There is no device "c64"'
fi
expect 2 "$lab" probe --tolerance 0
expect 2 "$lab" probe --engine host
expect 2 "$lab" probe extra

# On a CPU the numbers mean little; that there are some, and a description that can be read, is checked.
probe_device() {
    expect 0 "$lab" probe --engine "$1" --quick --bytes 4M --json --describe device.ini
    for member in '"memory_bytes": [0-9]+' '"gb_per_second": [0-9]' '"name": "cache"'; do
        says out "$member"
    done
    [ ! -e t10.ini ] || expect 0 "$restride" sim --dims 'i:20000 f:8' --layout 'i f' --device device.ini
}
for engine in opencl cuda; do
    expect 1 "$lab" probe --engine $engine --device "no such device"
    says err '^restride-lab probe: (No|There is no|This build has no) '
done
if "$restride" bench transpose --engine opencl --shape 2x3 --repeat 1 >/dev/null 2>&1; then
    probe_device opencl
    expect 1 "$lab" probe --engine opencl --quick --bytes 1K
    says err 'too few|cannot be'
fi
if [ -n "$emulated" ]; then
    export LD_LIBRARY_PATH=$emulated EMULATED_FOLDER=$emulated XDG_CACHE_HOME=$emulated/cache
    probe_device cuda
fi
finish
