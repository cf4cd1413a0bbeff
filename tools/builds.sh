#!/usr/bin/env bash
# builds.sh builds the product the ways in which others build it, from a source tree without git: with each of gcc 12 to 14 and
# clang 14 to 19 that is there, as a static library, without any optional part, into DESTDIR, and, where Debian's cross
# compiler and libraries for arm64 are there (tools/install-packages.sh --cross), for aarch64, whose tests of the host's
# rooms run under qemu-user. A warning is a failure here; users get warnings as warnings.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
jobs=${JOBS:-$(nproc)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=$work/restride
mkdir "$source"
if [ -e .git ]; then
    git ls-files -z | xargs -0 cp --parents -t "$source"
else
    cp -r . "$source"
fi

product=(-DRESTRIDE_LAB=OFF -DRESTRIDE_TESTS=OFF -DRESTRIDE_EXAMPLES=OFF -DRESTRIDE_WERROR=ON -DRESTRIDE_CUDA_ARCHITECTURES=)

# build NAME OPTIONS... configures and builds in a folder of that name.
build() {
    local name=$1
    shift
    cmake -S "$source" -B "$work/$name" "$@" >"$work/log" 2>&1 &&
        cmake --build "$work/$name" --parallel "$jobs" >"$work/log" 2>&1 || {
        grep -E "warning|error|Error" "$work/log" | head -20 || tail -20 "$work/log"
        echo "$name: failed" >&2
        return 1
    }
    echo "$name: built"
}

for compiler in gcc-{12,13,14} clang-{14,15,16,17,18,19}; do
    command -v "$compiler" >/dev/null || { echo "$compiler: not here"; continue; }
    build "$compiler" "${product[@]}" -DCMAKE_C_COMPILER="$(command -v "$compiler")"
    "$work/$compiler/bin/restride" --version
    rm -rf "${work:?}/$compiler"
done

build minimal "${product[@]}" -DRESTRIDE_OPENCL=OFF -DRESTRIDE_CUDA=OFF -DRESTRIDE_REWRITE=OFF -DRESTRIDE_CONFIG=OFF
"$work/minimal/bin/restride" show 'i f' >/dev/null

# A static library, installed below DESTDIR; a program finds it through pkg-config and through CMake.
build static "${product[@]}" -DBUILD_SHARED_LIBS=OFF -DRESTRIDE_REWRITE=OFF -DCMAKE_INSTALL_PREFIX=/usr
DESTDIR=$work/destdir cmake --install "$work/static" >"$work/log"
[ "$(ls "$work/destdir")" = usr ] || { echo "DESTDIR holds more than usr" >&2; exit 1; }
library=$(find "$work/destdir" -name librestride.a)
mkdir "$work/user"
cat >"$work/user/user.c" <<'PROGRAM'
#include <restride/restride.h>
int main(void)
{
    float a[6] = {1, 2, 3, 4, 5, 6};
    return restride_transpose(a, 2, 3, sizeof a[0]) != RESTRIDE_OK || a[1] != 4;
}
PROGRAM
cat >"$work/user/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(restride REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE restride::restride)
PROJECT
export PKG_CONFIG_PATH=${library%/*}/pkgconfig
# shellcheck disable=SC2046
cc "$work/user/user.c" -o "$work/user/alone" $(pkg-config --static --cflags --libs restride)
"$work/user/alone"
cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$work/destdir/usr" >"$work/log"
cmake --build "$work/user/build" >"$work/log"
"$work/user/build/user"
! ldd "$work/user/alone" | grep restride || { echo "the program is not static" >&2; exit 1; }
unset PKG_CONFIG_PATH
echo "static: a program with pkg-config and one with CMake run"
rm -rf "$work/static" "$work/destdir"

# For another machine: nothing that is built runs before the tests.
if ! command -v aarch64-linux-gnu-gcc qemu-aarch64-static >/dev/null || ! [ -e /usr/lib/aarch64-linux-gnu/libjansson.so ]; then
    echo "aarch64: tools/install-packages.sh --cross installs what it takes; left out"
    exit 0
fi
build aarch64 -DCMAKE_TOOLCHAIN_FILE="$source/cmake/aarch64-linux-gnu.cmake" -DRESTRIDE_LAB=OFF -DRESTRIDE_EXAMPLES=OFF \
    -DRESTRIDE_REWRITE=OFF -DRESTRIDE_OPENCL=OFF
file=$(file -L "$work/aarch64/src/librestride.so" 2>/dev/null || readelf -h "$work/aarch64/src/librestride.so")
grep -qi aarch64 <<<"$file" || { echo "librestride.so is not for aarch64" >&2; exit 1; }
cd "$work/aarch64"
RESTRIDE_WISDOM="" ctest --output-on-failure --parallel "$jobs" --timeout 900 --label-exclude long \
    --tests-regex '^(base|numbers|layout_(record|parse|offset|draw)|transpose|permute|convert|once|team|npy|hpp)$' |
    tail -n 25
cd "$root"
