#!/usr/bin/env bash
# fresh_root.sh RESTRIDE SOURCE: in a new minimal root of Debian 12, which has not even make, the commands by which README.md
# and docs/python.md install, word by word and in order; then what the two pages show. Needs root, debootstrap, Debian's
# mirror and PyPI, 5 GB and some ten minutes; packages that apt has kept here are not downloaded again.
set -euo pipefail
source=$2
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    echo "skipped: it takes root and debootstrap"
    exit 77
fi
work=$(mktemp -d)
root=$work/root
leave() {
    umount "$root/proc" "$root/sys" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap leave EXIT
debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 || { tail -n 3 "$work/log" && echo "skipped: no Debian can be had" && exit 77; }
if ! mount -t proc proc "$root/proc" || ! mount -t sysfs -o ro sys "$root/sys"; then
    echo "skipped: /proc and /sys cannot be mounted"
    exit 77
fi
cp /etc/resolv.conf "$root/etc"
# What stands between this machine and PyPI may have certificates of its own.
certificates=/etc/ssl/certs/ca-certificates.crt
network=()
if [ -e "$certificates" ]; then
    cp -L "$certificates" "$root/etc/certificates-outside.crt"
    network=("PIP_CERT=/etc/certificates-outside.crt")
fi
for variable in http_proxy https_proxy no_proxy; do
    [ -z "${!variable:-}" ] || network+=("$variable=${!variable}")
done
for archive in /var/cache/apt/archives/*.deb; do
    [ ! -e "$archive" ] || cp "$archive" "$root/var/cache/apt/archives"
done
mkdir "$root/restride"
git -C "$source" ls-files -z | (cd "$source" && xargs -0 cp --parents -t "$root/restride")

# The commands of a page: the indented lines below "## Install" that belong to no example with "$ ".
commands() { awk '/^## / {on = $0 == "## Install"} on && /^    [^ $]/ {print substr($0, 5)}' "$source/$1"; }

# inside NAME COMMANDS: in the root, from the checkout, with nothing of this shell's but the way to PyPI.
inside() {
    echo "== $1"
    printf '%s\n' "$2"
    chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        "${network[@]}" bash -ec "cd /restride
$2" >"$work/log" 2>&1 || { tail -n 40 "$work/log" && echo "FAILED: $1" && exit 1; }
}

! [ -e "$root/usr/bin/make" ] || { echo "FAILED: the root is not minimal" && exit 1; }
inside "README.md, Install" "$(commands README.md)"
inside "README.md, its examples" 'python3 tests/cli/readme.py build/bin/restride README.md
restride doctor'
rm -rf "$root/restride/venv"
inside "docs/python.md, Install and its examples" "$(commands docs/python.md)
cd docs
python -m doctest -o IGNORE_EXCEPTION_DETAIL python.md
restride --version"
tail -n 1 "$work/log"
echo "all held"
