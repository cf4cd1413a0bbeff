#!/usr/bin/env bash
# gpu_companion.sh [ELEMENTS [BODIES]]: the kernels of lab/kernels/forms.cu on this machine's GPU: arrays of structures, ASTA written by
# hand, and the accessors that companions have. --compile only compares the loads and stores of the last two in PTX. Needs nvcc and
# a build in build/, or in $BUILD; or $ACCESSORS, made before with --write FILE on a machine without a GPU.
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
command -v nvcc >/dev/null || { echo "gpu_companion: there is no nvcc"; exit 77; }
compile=(nvcc -O3 -std=c++17 -arch="${ARCH:-sm_90}" -Ilab/kernels -I"$folder" lab/kernels/forms.cu)
if [ "${1:-}" = --compile ]; then
    "${compile[@]}" -ptx -o "$folder/forms.ptx"
    python3 - "$folder/forms.ptx" <<'END'
import re, sys
text, wrong = open(sys.argv[1]).read(), 0
for kernel in ("gibbs", "dslash", "projectile", "nbody", "lbm", "options"):
    counts = []
    for form in ("_handP", "_ownI13restride_formIiLb1"):
        begin = re.search(rf"entry _Z\d+{kernel}{form}", text).start()
        body = text[begin:text.index("\n}", begin)]
        kinds = {"read-only loads": r"ld\.global\.nc", "loads": r"ld\.global\.(?!nc)", "stores": r"st\.global", "local": r"(ld|st)\.local"}
        counts.append({name: len(re.findall(kind, body)) for name, kind in kinds.items()})
    wrong |= counts[0] != counts[1]
    print(kernel, counts[0] if counts[0] == counts[1] else f"by hand {counts[0]}, accessors {counts[1]}")
sys.exit(wrong)
END
    exit
fi
"${compile[@]}" -o "${FORMS:-$folder/forms}"
[ -n "${FORMS:-}" ] || "$folder/forms" "$@"
