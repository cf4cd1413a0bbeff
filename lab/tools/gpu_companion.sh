#!/usr/bin/env bash
# gpu_companion.sh [--compile] [--sass FOLDER]: the kernels of lab/kernels/forms.cu on this machine's GPU: arrays of structures, ASTA written
# by hand, and the accessors that the companion writes. Needs nvcc and a build in build/, or in $BUILD; or $ACCESSORS, made
# before with --write FILE on a machine without a GPU.
set -euo pipefail
cd "$(dirname "$0")/../.."
writer=${BUILD:-build}/tests/companion/accessors_of
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

write() { # the prelude, and the accessors of all records of forms.cuh
    {
        cat lab/kernels/forms.cuh
        for record in State Matrix Shot Body Cell Option; do echo "__global__ void k$record($record *p) { (void)sizeof *p; }"; done
    } >"$folder/records.cu"
    for group in 1 4; do "$writer" "$folder/records.cu" 32 $group >"$folder/$group.json"; done
    python3 - "$folder" <<'END'
import json, sys
told = {group: json.load(open(f"{sys.argv[1]}/{group}.json")) for group in (1, 4)}
print(told[1]["prelude"])
for record in ("State", "Matrix", "Shot", "Body", "Cell", "Option"):
    print(told[4 if record == "Matrix" else 1]["kernels"]["k" + record]["text"])
END
}

if [ "${1:-}" = --write ]; then
    write >"$2"
    exit
fi
if [ -n "${ACCESSORS:-}" ]; then cp "$ACCESSORS" "$folder/forms_accessors.cuh"; else write >"$folder/forms_accessors.cuh"; fi
nvcc -O3 -std=c++17 -arch="${ARCH:-sm_90}" -Ilab/kernels -I"$folder" lab/kernels/forms.cu -o "${FORMS:-$folder/forms}"
[ "${1:-}" = --compile ] || "${FORMS:-$folder/forms}" "$@"
