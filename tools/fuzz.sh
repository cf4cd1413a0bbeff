#!/usr/bin/env bash
# fuzz.sh [SECONDS] fuzzes the readers of foreign bytes, each for SECONDS (default: 10), with clang's libFuzzer and the
# address and undefined-behaviour sanitizers. It starts from fuzz/corpus and leaves that as it is; what breaks is written
# to build-fuzz/. Ends with status 77 where clang or libFuzzer is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
build=${BUILD:-build}-fuzz
mkdir -p "$build"

if ! clang -fsanitize=fuzzer -x c - -o "$build/probe" 2>"$build/probe.log" <<<'#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *b, size_t n); int LLVMFuzzerTestOneInput(const unsigned char *b, size_t n) { return b == 0 && n != 0; }'; then
    echo "fuzz: clang with libFuzzer is missing (Debian: clang libclang-rt-dev)"
    exit 77
fi
{
    cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g" -DRESTRIDE_FUZZ=ON \
        -DRESTRIDE_SANITIZE=address,undefined -DRESTRIDE_TESTS=OFF -DRESTRIDE_LAB=OFF -DRESTRIDE_EXAMPLES=OFF &&
        cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target fuzzers -- --no-print-directory --quiet
} >"$build/build.log" 2>&1 || {
    tail -n 40 "$build/build.log"
    exit 1
}

# fuzz NAME runs one fuzzer.
fuzz() {
    mkdir -p "$build/corpus-$1"
    "$build/fuzz/fuzz_$1" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
        -artifact_prefix="$build/$1-" "$build/corpus-$1" "fuzz/corpus/$1" >"$build/$1.log" 2>&1 || {
        tail -n 40 "$build/$1.log"
        return 1
    }
    sed -nE "s/^stat::number_of_executed_units: +/fuzz: $1 for $seconds s, inputs tried: /p" "$build/$1.log"
}
export -f fuzz
export build seconds
find "$build/fuzz" -name 'fuzz_*' -type f -printf '%f\n' | sed 's/^fuzz_//' | sort |
    xargs -P "${JOBS:-$(nproc)}" -I {} bash -c 'fuzz {}'
