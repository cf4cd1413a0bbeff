#!/usr/bin/env bash
# install_test.sh BUILD installs into a temporary prefix, moves that elsewhere, and checks what a user of the
# installation relies on: the command line, the exported names, pkg-config and find_package.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved

"$prefix/bin/restride" --version
"$prefix/bin/restride" doctor >"$work/doctor.txt" || {
    cat "$work/doctor.txt"
    exit 1
}
grep -q "lib/restride/librestride_layer.so is loaded" "$work/doctor.txt"
for file in include/restride/restride.h share/man/{man1/{restride,restride-run,restride-tune}.1,man3/restride_convert.3,man7/restride-layout.7} \
    share/bash-completion/completions/restride; do
    [ -f "$prefix/$file" ] || { echo "$file was not installed." >&2; exit 1; }
done

# The laboratory is a component of its own.
laboratory=$(find "$prefix" -name 'restride-lab*' -o -name apps -type d)
[ -z "$laboratory" ] || { echo "Installed without being asked for: $laboratory" >&2; exit 1; }
if [ -x "$build/bin/restride-lab" ]; then
    cmake --install "$build" --prefix "$prefix" --component laboratory >>"$work/install.log"
    "$prefix/bin/restride-lab" --version
    "$prefix/bin/restride-lab" patterns >"$work/patterns.txt"
fi

library=$(find "$prefix" -name librestride.so)
libdir=$(dirname "$library")
foreign=$(nm --dynamic --defined-only "$library" | awk '$3 !~ /^restride_/ && $3 !~ /^RESTRIDE_/ {print $3}')
[ -z "$foreign" ] || { echo "librestride.so exports foreign names: $foreign" >&2; exit 1; }

cat >"$work/consumer.c" <<'PROGRAM'
#include <restride/restride.h>
#include <stdio.h>

int main(void)
{
    restride_layout *layout = NULL;
    if (restride_layout_parse(&layout, "i:100 f:5", "i/32 f i%32") != RESTRIDE_OK) {
        fprintf(stderr, "%s\n", restride_last_error());
        return 1;
    }
    const size_t index[] = {33, 2};
    printf("%zu\n", restride_layout_offset(layout, index));
    restride_layout_destroy(layout);
    return 0;
}
PROGRAM
# Element 33 is lane 1 of tile 1: 32 * 5 words of the first tile, field 2 of 32 lanes, lane 1.
expected=225

check_consumer() {
    local answer
    answer=$(LD_LIBRARY_PATH=$libdir "$2")
    [ "$answer" = "$expected" ] || { echo "The program built with $1 printed $answer, not $expected." >&2; exit 1; }
    echo "a program built with $1 works"
}

export PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046
cc -std=c11 -Wall -Werror "$work/consumer.c" -o "$work/with_pkg_config" $(pkg-config --cflags --libs restride)
check_consumer pkg-config "$work/with_pkg_config"

cat >"$work/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(restride 0.1 REQUIRED)
add_executable(with_cmake consumer.c)
target_link_libraries(with_cmake PRIVATE restride::restride)
PROJECT
cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log"
cmake --build "$work/build" >"$work/build.log"
check_consumer find_package "$work/build/with_cmake"
