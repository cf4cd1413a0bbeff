#!/usr/bin/env bash
# Everything that must hold: a build without warnings and its tests, the same under the address and undefined-behaviour
# sanitizers, the models, the style, what holds of every file (tools/house.sh), and an installation that others can build
# against. --long runs the slow tests too, and builds for other compilers and aarch64.
# The last line is "N passed, N failed"; the exit status is 0 when none failed.
set -uo pipefail
cd "$(dirname "$0")/.."

build=${BUILD:-build}
jobs=${JOBS:-$(nproc)}
tests=(--label-exclude long)
[ "${1:-}" != --long ] || tests=()
passed=0
failed=0
failures=()

# step NAME COMMAND... counts one check.
step() {
    local name=$1
    shift
    echo "== $name"
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        failures+=("$name")
    fi
}

# compile FOLDER OPTIONS...
compile() {
    local folder=$1
    shift
    cmake -S . -B "$folder" -DRESTRIDE_WERROR=ON "$@" >"$folder.configure.log" 2>&1 || {
        cat "$folder.configure.log"
        return 1
    }
    rm -f "$folder.configure.log"
    cmake --build "$folder" --parallel "$jobs" -- --no-print-directory --quiet
}

# run_tests FOLDER counts every test of a build folder.
run_tests() {
    local folder=$1 summary
    echo "== tests of $folder"
    ctest --test-dir "$folder" --output-on-failure --parallel "$jobs" --timeout 600 "${tests[@]}" |
        tee "$folder/tests.log"
    summary=$(sed -nE 's/.*tests passed, ([0-9]+) tests failed out of ([0-9]+).*/\1 \2/p' "$folder/tests.log")
    if [ -z "$summary" ]; then
        failed=$((failed + 1))
        failures+=("tests of $folder could not run")
        return
    fi
    failed=$((failed + ${summary% *}))
    passed=$((passed + ${summary#* } - ${summary% *}))
    [ "${summary% *}" -eq 0 ] || failures+=("tests of $folder")
}

# Fuzzing takes clang with libFuzzer, which not every machine has.
fuzz_briefly() {
    local status=0
    tools/fuzz.sh 10 || status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ]
}

# Random kernels, rewritten and not: another minute of them for each commit, which its next check repeats.
fuzz_kernels() {
    local status=0
    BUILD=$build tools/fuzz_kernels.sh 60 "$(git log -1 --format=%ct 2>/dev/null || echo 1)000" || status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ]
}

step "build" compile "$build"
run_tests "$build"

export LSAN_OPTIONS=suppressions=$PWD/tools/lsan.supp:print_suppressions=0
# The sanitizers find the same in code that is optimized less, which compiles in two thirds of the time.
step "build with sanitizers" compile "$build-sanitize" -DRESTRIDE_SANITIZE=address,undefined \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG"
run_tests "$build-sanitize"

step "models" tools/model_check.sh
step "fuzzing" fuzz_briefly
step "random kernels" fuzz_kernels
step "style" tools/lint.sh "$build"
step "house" tools/house.sh
step "installation" tools/install_test.sh "$build"
step "interface" tools/abi.sh "$build"
[ "${1:-}" != --long ] || step "other builds" tools/builds.sh

for failure in "${failures[@]}"; do
    echo "failed: $failure"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
