#!/usr/bin/env bash
# abi.sh BUILD compares the binary interface of BUILD's librestride.so with the one that was kept: names may be added;
# what goes away or changes fails. abi.sh --update BUILD keeps the interface as it is, in src/librestride.abi.
#
# The file is kept at each release, and when the interface is changed on purpose, with a line in CHANGELOG.md. The
# comparison is with the file of the last tag, and before the first tag with the one of the checkout. A part that BUILD
# leaves out (RESTRIDE_OPENCL, RESTRIDE_CUDA) would be missing, so it must have all.
set -euo pipefail
cd "$(dirname "$0")/.."
update=false
if [ "${1:-}" = --update ]; then
    update=true
    shift
fi
build=${1:-build}
kept=src/librestride.abi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Structures that users cannot see the inside of may change.
cat >"$work/private" <<'SUPPRESSIONS'
[suppress_type]
  name_regexp = ^(rs_.*|restride_(engine|host_memory|irregular|irregular_device|layout|offload|plan|transfer))$
SUPPRESSIONS

abidw --exported-interfaces-only --drop-undefined-syms --no-elf-needed --no-corpus-path --no-comp-dir-path \
    --no-show-locs --no-parameter-names --type-id-style hash --headers-dir include --drop-private-types \
    "$build/src/librestride.so" >"$work/now.abi"
if $update; then
    cp "$work/now.abi" "$kept"
    exit 0
fi
tag=$(git describe --tags --abbrev=0 2>/dev/null) || tag=
if [ -n "$tag" ]; then
    git show "$tag:$kept" >"$work/kept.abi"
else
    cp "$kept" "$work/kept.abi"
fi
if abidiff --no-added-syms --suppressions "$work/private" "$work/kept.abi" "$work/now.abi"; then
    echo "the binary interface is that of ${tag:-$kept}, $(grep -c "<elf-symbol " "$work/now.abi") names"
else
    echo "The binary interface has changed; undo that, or run tools/abi.sh --update and say it in CHANGELOG.md." >&2
    exit 1
fi
