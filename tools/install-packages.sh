#!/bin/sh
# Installs the Debian packages that building, testing and running Restride need, as root. Without root it prints the
# command and stops if one is missing. This is the only list of them.
set -eu

packages="build-essential cmake pkg-config git cpp libjansson-dev libinih-dev
    opencl-headers ocl-icd-opencl-dev ocl-icd-libopencl1 pocl-opencl-icd
    libisl-dev libgmp-dev libcmocka-dev python3-numpy python3-hypothesis mypy oclgrind liboclgrind-dev spin clang-format clang-tidy universal-ctags clang libclang-rt-dev chromium
    gfortran abigail-tools man-db mandoc python3 python3-venv libopenmpi-dev openmpi-bin python3-mpi4py"

# For the hardware in lab/hw/, on request.
if [ "${1:-}" = --hardware ]; then
    packages="$packages verilator yosys"
fi

# For aarch64, on request: libraries of another architecture, so that Debian's own cross compiler has something to link with.
if [ "${1:-}" = --cross ]; then
    [ ! -e /usr/lib/aarch64-linux-gnu/libjansson.so ] || exit 0
    cross="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static libc6-dev:arm64 libjansson-dev:arm64 libinih-dev:arm64
        libcmocka-dev:arm64"
    if ! command -v dpkg >/dev/null || [ "$(id -u)" -ne 0 ]; then
        echo "To build for aarch64, as root on Debian: dpkg --add-architecture arm64 && apt-get update && apt-get install" $cross
        exit 0
    fi
    dpkg --add-architecture arm64
    apt-get update --quiet
    DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends $cross
    exit 0
fi

# libclang 17 or newer serves; 19 is the one that the project is tested with.
libclang_preferred=libclang-19-dev
libclang_pattern='^libclang-(1[7-9]|[2-9][0-9])-dev$'

if ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian or Ubuntu system, so nothing was installed; install the equivalents of:"
    echo "   " $packages $libclang_preferred
    exit 0
fi

installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' $packages 'libclang-*-dev' 2>/dev/null |
    sed -n 's/^installed //p') || true
missing=
for package in $packages; do
    echo "$installed" | grep -qx "$package" || missing="$missing $package"
done
if ! echo "$installed" | grep -qE "$libclang_pattern"; then
    missing="$missing $libclang_preferred"
fi
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "Some packages are missing; as root, run:" >&2
    echo "    apt-get update && apt-get install --yes --no-install-recommends$missing" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet
case $missing in
*$libclang_preferred*)
    if ! apt-cache show --no-all-versions $libclang_preferred >/dev/null 2>&1; then
        newest=$(apt-cache pkgnames libclang- | grep -E "$libclang_pattern" | sort --version-sort | tail -n 1)
        [ -n "$newest" ] || { echo "No libclang-NN-dev of 17 or newer is available from apt." >&2; exit 1; }
        missing=$(echo "$missing" | sed "s/$libclang_preferred/$newest/")
    fi
    ;;
esac
apt-get install --quiet --yes --no-install-recommends $missing
