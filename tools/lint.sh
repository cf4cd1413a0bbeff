#!/usr/bin/env bash
# lint.sh BUILD checks the style of all tracked sources: clang-format, then clang-tidy with the compile commands of
# the build folder. lint.sh --format rewrites the files instead.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(git ls-files '*.c' '*.h' '*.cl')
if [ "${1:-}" = --format ]; then
    clang-format -i "${sources[@]}"
    exit 0
fi
build=${1:-build}
clang-format --dry-run -Werror "${sources[@]}"
# Only what was compiled can be checked by clang-tidy; a build without an optional part leaves that part out.
mapfile -t compiled < <(git ls-files 'src/*.c' 'examples/*.c' 'tests/*.c' 'lab/*.c' | while read -r file; do
    ! grep -qF "\"file\": \"$PWD/$file\"" "$build/compile_commands.json" || echo "$file"
done)
printf '%s\n' "${compiled[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" --warnings-as-errors='*' 2>&1 |
    sed -E '/^[0-9]+ warnings? generated\.$/d; /^Suppressed /d; /^Use -header-filter/d'
echo "lint: ${#sources[@]} files formatted, ${#compiled[@]} files tidy"
