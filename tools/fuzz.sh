#!/usr/bin/env bash
# fuzz.sh [SECONDS] fuzzes the readers of foreign bytes, each for SECONDS (default: 10), with clang's libFuzzer and the
# address and undefined-behaviour sanitizers. It starts from fuzz/corpus and leaves that as it is; what breaks is written
# to build-fuzz/. Ends with status 77 where clang or libFuzzer is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
build=${BUILD:-build}-fuzz
mkdir -p "$build"

flags=(-std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -Wno-ignored-attributes
    -Iinclude -Isrc)
if ! clang "${flags[@]}" -x c - -o "$build/probe" 2>"$build/probe.log" <<<'#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *b, size_t n); int LLVMFuzzerTestOneInput(const unsigned char *b, size_t n) { return b == 0 && n != 0; }'; then
    echo "fuzz: clang with libFuzzer is missing (Debian: clang libclang-rt-dev)"
    exit 77
fi

# fuzz NAME SOURCES... builds and runs fuzz/NAME.c.
fuzz() {
    local name=$1
    shift
    clang "${flags[@]}" "fuzz/$name.c" "$@" -o "$build/$name"
    mkdir -p "$build/corpus-$name"
    echo "fuzz: $name for $seconds s"
    "$build/$name" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
        -artifact_prefix="$build/$name-" "$build/corpus-$name" "fuzz/corpus/$name" >"$build/$name.log" 2>&1 || {
        tail -n 40 "$build/$name.log"
        return 1
    }
    sed -nE 's/^stat::number_of_executed_units: +/fuzz: inputs tried: /p' "$build/$name.log"
}

base=(src/base/arithmetic.c src/base/list.c src/base/status.c src/base/text.c)
layout=(src/layout/accessor.c src/layout/accessor_cpp.c src/layout/cursor.c src/layout/layout.c src/layout/members.c src/layout/parse.c src/layout/record.c)
fuzz npy "${base[@]}" src/layout/record.c src/file/literal.c src/file/npy.c src/file/npy_type.c
fuzz layout "${base[@]}" "${layout[@]}"
fuzz journal "${base[@]}" src/base/owner.c src/engine/host/slim.c src/engine/host/tile.c src/file/change.c src/file/file.c \
    src/file/journal*.c src/file/mark.c src/file/steps*.c src/file/sum.c
fuzz config "${base[@]}" "${layout[@]}" src/base/json.c src/config/config.c -linih -ljansson
fuzz trace "${base[@]}" src/sim/trace.c
fuzz invocation "${base[@]}" src/base/json.c src/syntax/arguments.c src/syntax/commands.c src/syntax/options.c -ljansson
libclang=$(find /usr/lib/llvm-*/include/clang-c -maxdepth 0 2>/dev/null | sort -V | tail -n 1)
if [ -n "$libclang" ]; then
    libclang=${libclang%/include/clang-c}
    fuzz annotations "${base[@]}" src/rewrite/annotations.c src/source/query.c src/source/tree.c src/source/words.c \
        src/syntax/arena.c src/syntax/headers.c src/syntax/nodes.c src/syntax/clang/*.c -DRS_CLANG_OPENCL_HEADERS='""' -I"$libclang/include" \
        -L"$libclang/lib" -Wl,-rpath,"$libclang/lib" -lclang -ljansson
fi
