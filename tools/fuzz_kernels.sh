#!/usr/bin/env bash
# fuzz_kernels.sh [SECONDS [SEED]] runs random kernels as written and rewritten on an OpenCL device and compares all bytes,
# for SECONDS (default: 60; an hour is 3600). SEED (default: the time) is told, and finds a difference again. Needs a build in
# build/, or in $BUILD.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
export RESTRIDE_TEST_SECONDS=$seconds RESTRIDE_TEST_SEED=${2:-$(date +%s)000}
program=${BUILD:-build}/tests/rewrite/test_rewrite_random
[ -x "$program" ] || { echo "fuzz_kernels: $program is missing; build it first (make)"; exit 77; }
echo "fuzz_kernels: seed $RESTRIDE_TEST_SEED, $seconds s"
# Compiled kernels of a device's cache are of no use again.
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
export POCL_CACHE_DIR=$cache
"$program" 2>"$cache/errors" | grep -vE '^\[' || { tail -n 40 "$cache/errors"; exit 1; }
